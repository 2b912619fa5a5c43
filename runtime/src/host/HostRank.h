//===- HostRank.h - a rank with its arena on the host -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_HOSTRANK_H
#define VEELINE_RUNTIME_HOST_HOSTRANK_H

#include "Arena.h"
#include "Rank.h"
#include "TensorTrace.h"
#include "Update.h"
#include "veeline/Library/PreparedCall.h"

#include <functional>

namespace veeline::host {

struct HostRank final : veeline_rank {
  void recvPost(int32_t channel, void *slot) override;
  void recvWait(int32_t channel) override;
  void *sendAcquire(int32_t channel) override;
  void sendCommit(int32_t channel) override;
  void sendCopy(int32_t channel, int32_t microbatch, void *slot,
                const void *value) override;
  void send(int32_t channel, int32_t microbatch, const void *value) override;
  void groupBegin() override {}
  void groupEnd() override {}
  void setStream(int32_t) override {}
  void recordEvent(int32_t) override {}
  void waitForEvent(int32_t) override {}
  void offload(int32_t part, int64_t offset, const void *source,
               int64_t bytes) override;
  void release(int32_t) override {}
  void reload(int32_t part, void *target, int64_t offset,
              int64_t bytes) override;
  void restore(int32_t) override {}
  void reducePost(int32_t reduction) override;
  void reduceWait(int32_t reduction) override;
  void lengthReceived(int32_t microbatch, const void *length) override;
  void writeLength(int32_t microbatch, void *length) override;
  void gemm(int32_t gemm, const void *a, const void *b, void *c,
            void *scratch) override;
  void gemmEpilogue(int32_t gemm, const void *a, const void *b, void *c,
                    const void *bias, void *aux, void *scratch) override;
  bool hasGemm(int32_t) override { return true; }
  void convolution(int32_t convolution, const void *a, const void *b, void *c,
                   void *scratch) override;
  bool hasConvolution(int32_t) override { return true; }
  void attention(int32_t attention, const AttentionOperands &) override;
  bool hasAttention(int32_t) override { return false; }
  void launch(int32_t kernel, const uint64_t *arguments) override;
  void copy(void *target, const void *source, int64_t bytes) override;
  void zero(void *target, int64_t bytes) override;
  uint64_t load(const void *address, int32_t bytes) override;
  const void *constant(int32_t constant) override;
  const void *settingsPlace() override;
  void *norm(int32_t param) override;
  void update(int32_t param, void *value, void *state,
              const void *const *gradients, int32_t numGradients) override;
  void updateMicrobatch(int32_t microbatch, int32_t param, void *value,
                        void *state, const void *const *gradients,
                        int32_t numGradients) override;
  double squaredNormOf(int32_t param, const void *const *gradients,
                       int32_t numGradients) override;
  double decideClip(const double *norms, int32_t numNorms) override;
  void updateClipped(int32_t param, void *value, void *state,
                     const void *const *gradients, int32_t numGradients,
                     double factor) override;
  bool validate() override;
  void updateOptimistic(int32_t param, void *value, void *state,
                        const void *const *gradients, int32_t numGradients,
                        void *kept) override;
  void report(int32_t result, int32_t microbatch, const void *value) override;
  void opBegin(int32_t op) override;
  void opEnd(int32_t op) override;
  void lateEnd() override;

  /// Whether the `bytes` at `place` are inside of this rank's arena.
  bool owns(const void *place, int64_t bytes) const {
    return arena->contains(place, bytes);
  }

  const engine::Arena *arena = nullptr;
  /// The arena of offloaded values. It stands for memory outside of the rank's
  /// arena.
  const engine::Arena *hostArena = nullptr;
  library::CallTable gemms;
  library::CallTable convolutions;
  std::vector<ParamUpdate> updates;
  Clip clip; ///< The clipping of the last step that had one.
  /// Sets the clipping of the step before, once it is known. Returns false
  /// after a fault.
  std::function<bool(Clip &)> awaitClip;
  /// Whether this turn repeats the updates of the step before, with the
  /// settings of that step, `redone`.
  bool isVoid = false;
  const StepSettings *redone = nullptr;
  size_t numLateUpdated = 0; ///< The number of `lateUpdates` done in this turn.
  /// `whenNormsKnown` is called in a step when its `lateUpdates` are done, if
  /// updates are validated. `whenWhole` is called when all late work of the
  /// step before has run.
  std::function<void()> whenNormsKnown, whenWhole;
  std::unique_ptr<engine::TensorTrace> trace; ///< Null unless it was asked for.

  /// Writes what the rank knows of the norm of an update at `numbers`, as in
  /// RankStep::squaredNorms.
  void noteNorm(size_t param, double *numbers) const;

private:
  void noteLateNorms();
  void countLateUpdate(int32_t param);
  void runCall(library::CallTable &table, int32_t index, const void *a,
               const void *b, void *c, void *scratch);
  void checkCall(const library::CallTable &table, int32_t index,
                 const void *scratch) const;
  void checkGradients(int32_t param, const void *const *gradients,
                      int32_t numGradients) const;
  void checkUpdate(int32_t param, const void *value, const void *state,
                   const void *const *gradients, int32_t numGradients) const;
  /// The settings of the updates of a step, without skipped steps.
  StepSettings withoutSkipped(StepSettings ofStep) const;
  /// Copies the value and the state of a parameter to `kept`, or back.
  void keep(int32_t param, void *value, void *state, void *kept,
            bool isBack) const;
  void failUnless(const Status &status);
  /// Fails at a call that only code for a GPU makes.
  void failOnHost(const std::string &what);
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_HOSTRANK_H
