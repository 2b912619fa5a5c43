//===- Rank.h - the common part of ranks on all targets ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_RANK_H
#define VEELINE_RUNTIME_ENGINE_RANK_H

#include "Channel.h"
#include "Executor.h"
#include "Fault.h"
#include "Network.h"
#include "Reduction.h"
#include "Timeline.h"

#include "veeline/Base/Shards.h"
#include "veeline/artifact.h"
#include "veeline/runtime.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace veeline {
/// The operands of veeline_attention and veeline_attention_backward; null if
/// the entry lacks the operand. The entry says which of them are written.
struct AttentionOperands {
  void *query, *key, *value, *mask, *output, *lse;
  void *outputGrad, *queryGrad, *keyGrad, *valueGrad;
  void *scratch;
};
} // namespace veeline

/// The rank that the functions of the C ABI get. It has virtual functions for
/// those of runtime.h, which targets implement, and the state that transports
/// use. While a step runs, only the rank's own thread touches it, but others
/// may read the atomics.
struct veeline_rank {
  veeline_rank() = default;
  veeline_rank(const veeline_rank &) = delete;
  veeline_rank &operator=(const veeline_rank &) = delete;
  virtual ~veeline_rank() = default;

  // The functions below are not called after a fault. If one of them detects a
  // fault, its result is not used.
  virtual void recvPost(int32_t channel, void *slot) = 0;
  virtual void recvWait(int32_t channel) = 0;
  /// Null if it detects a fault.
  virtual void *sendAcquire(int32_t channel) = 0;
  virtual void sendCommit(int32_t channel) = 0;
  virtual void sendCopy(int32_t channel, int32_t microbatch, void *slot,
                        const void *value) = 0;
  virtual void send(int32_t channel, int32_t microbatch, const void *value) = 0;
  virtual void groupBegin() = 0;
  virtual void groupEnd() = 0;
  virtual void setStream(int32_t stream) = 0;
  virtual void recordEvent(int32_t event) = 0;
  virtual void waitForEvent(int32_t event) = 0;
  virtual void offload(int32_t part, int64_t offset, const void *source,
                       int64_t bytes) = 0;
  virtual void release(int32_t part) = 0;
  virtual void reload(int32_t part, void *target, int64_t offset,
                      int64_t bytes) = 0;
  virtual void restore(int32_t part) = 0;
  virtual void reducePost(int32_t reduction) = 0;
  virtual void reduceWait(int32_t reduction) = 0;
  virtual void lengthReceived(int32_t microbatch, const void *length) = 0;
  virtual void writeLength(int32_t microbatch, void *length) = 0;
  virtual void gemm(int32_t gemm, const void *a, const void *b, void *c,
                    void *scratch) = 0;
  virtual void gemmEpilogue(int32_t gemm, const void *a, const void *b, void *c,
                            const void *bias, void *aux, void *scratch) = 0;
  virtual bool hasGemm(int32_t gemm) = 0;
  virtual void convolution(int32_t convolution, const void *a, const void *b,
                           void *c, void *scratch) = 0;
  virtual bool hasConvolution(int32_t convolution) = 0;
  virtual void attention(int32_t attention,
                         const veeline::AttentionOperands &operands) = 0;
  virtual bool hasAttention(int32_t attention) = 0;
  virtual void launch(int32_t kernel, const uint64_t *arguments) = 0;
  virtual void copy(void *target, const void *source, int64_t bytes) = 0;
  virtual void zero(void *target, int64_t bytes) = 0;
  virtual uint64_t load(const void *address, int32_t bytes) = 0;
  virtual const void *constant(int32_t constant) = 0;
  virtual const void *settingsPlace() = 0;
  virtual void *norm(int32_t param) = 0;
  virtual void update(int32_t param, void *value, void *state,
                      const void *const *gradients, int32_t numGradients) = 0;
  // Supported only on a CPU.
  virtual void updateMicrobatch(int32_t microbatch, int32_t param, void *value,
                                void *state, const void *const *gradients,
                                int32_t numGradients);
  virtual double squaredNormOf(int32_t param, const void *const *gradients,
                               int32_t numGradients);
  /// Returns the factor by which updates multiply gradients.
  virtual double decideClip(const double *norms, int32_t numNorms);
  virtual void updateClipped(int32_t param, void *value, void *state,
                             const void *const *gradients, int32_t numGradients,
                             double factor);
  /// Returns false if the turn is void.
  virtual bool validate();
  virtual void updateOptimistic(int32_t param, void *value, void *state,
                                const void *const *gradients,
                                int32_t numGradients, void *kept);
  virtual void report(int32_t result, int32_t microbatch,
                      const void *value) = 0;
  virtual void opBegin(int32_t op) = 0;
  virtual void opEnd(int32_t op) = 0;
  /// Called when all late work of the step before has run.
  virtual void lateEnd() {}

  int32_t index = 0;
  const veeline::artifact::Program *program = nullptr;
  const veeline::artifact::Rank *description = nullptr;
  veeline::engine::Fault *fault = nullptr;
  veeline::engine::Network *network = nullptr; ///< Null: ranks are threads.

  /// Whether this rank has seen a fault. Then every call returns at once.
  bool failed = false;
  // The rank's thread writes the following atomics until it sees a fault.
  // Signal handlers also read them.
  /// The running entry of the table of operations; -1 between entries.
  std::atomic<int32_t> currentOp{-1};
  /// The last entry that has ended in this step, or -1.
  std::atomic<int32_t> lastOp{-1};
  /// What the rank waits for, numbered as for Group::waitFor, or -1.
  std::atomic<int32_t> awaited{-1};
  /// Counts begins and ends of operations and waits, so it shows progress.
  std::atomic<uint32_t> moves{0};
  /// The step that this rank is in, or was in last; counted from 1.
  std::atomic<int64_t> step{0};
  /// True from the begin of a step to its end on this rank.
  std::atomic<bool> isInStep{false};
  /// Whether the rank prints, which may block until another program reads the
  /// output.
  std::atomic<bool> isPrinting{false};
  bool isInStepBefore = false; ///< Whether late work runs.

  /// The channels of the rank's replica, numbered as in a file.
  std::vector<veeline::engine::Channel *> channels;
  int32_t firstChannel = 0; ///< The first one's number in the program.
  /// The pieces of each reduction of the rank's table.
  std::vector<std::vector<std::unique_ptr<veeline::engine::Reduction>>>
      reductions;
  /// The number of reductions that are posted and not yet waited for.
  int32_t reductionsUnderWay = 0;
  std::vector<char> discard; ///< Where sends write after a fault.
  const veeline::StepSettings *settings = nullptr;
  /// The difference between the number of a step and that of its update. Steps
  /// without updates do not count in the optimiser's bias correction.
  int64_t numSkipped = 0;
  /// The settings of the step before, while work of it may be late. While late
  /// work runs, `settings` and `versions` belong to the step before, and these
  /// to the current one.
  const veeline::StepSettings *otherSettings = nullptr;
  /// The entries of the rank's table of parameters whose updates run in the
  /// next step, in order.
  std::vector<size_t> lateUpdates;
  /// By entry of the table of parameters: the elements that this rank updates,
  /// and the size of the parameter's elements before them, in bytes.
  struct Share {
    veeline::Shard elements;
    int64_t offset = 0;
    /// The elements whose gradients the rank gets, and the norm parts that it
    /// knows of these. On a GPU code computes norm parts from `normOffset` on,
    /// of which the rank's begin `normsBefore` parts later.
    veeline::Shard reduced, normParts;
    int64_t normOffset = 0, normsBefore = 0;
  };
  std::vector<Share> shares;
  /// By entry of the table of parameters: where in RankStep::squaredNorms its
  /// numbers begin.
  std::vector<size_t> normPlaces;
  std::vector<int32_t> otherVersions;
  const void *const *inputsBefore = nullptr;
  double *squaredNormsBefore = nullptr; ///< As in RankStep.
  int32_t microbatches = 1;             ///< Those of the rank's replica.
  int32_t allMicrobatches = 1;          ///< Those of all replicas.

  /// The lengths that microbatches can have. For each microbatch, `versions`
  /// has the index of its length in this step, or -1 while the length is not
  /// known.
  const std::vector<int64_t> *lengths = nullptr;
  std::vector<int32_t> versions;
  /// The length of each microbatch according to the rank's own data.
  const int64_t *dataLengths = nullptr;

  /// The results of this step, [result][microbatch of all replicas], which all
  /// ranks share. The pointer is to the first microbatch of the rank's replica.
  /// Each entry is reported once a step.
  double *results = nullptr;
  const std::vector<veeline::artifact::Result> *resultTypes = nullptr;

  std::unique_ptr<veeline::engine::Timeline> timeline; ///< Null: not requested.

  void move() {
    // Only one thread writes, so a locked instruction is not needed.
    moves.store(moves.load(std::memory_order_relaxed) + 1,
                std::memory_order_release);
  }

  /// Notes that the rank waits for `what` (see Group::waitFor), or for nothing
  /// if it is -1.
  void await(int32_t what) {
    awaited.store(what, std::memory_order_relaxed);
    move();
  }

  /// Advances messages and reductions while the rank computes.
  void progress() {
    if (network)
      network->progress();
    progressMessages();
  }
  void progressMessages() {
    if (network)
      for (veeline::engine::Channel *channel : channels)
        if (channel)
          channel->progress(*this);
    if (reductionsUnderWay == 0)
      return;
    for (auto &pieces : reductions)
      for (auto &piece : pieces)
        piece->progress(*this);
  }

  /// The length of a microbatch; 0 if it is not known or does not vary.
  int64_t lengthOf(int32_t microbatch) const {
    bool isKnown = microbatch >= 0 &&
                   static_cast<size_t>(microbatch) < versions.size() &&
                   versions[microbatch] >= 0;
    return isKnown ? (*lengths)[versions[microbatch]] : 0;
  }

  /// The size of a microbatch's message on `channel`; that of the shortest
  /// message if the length is not known.
  int64_t microbatchBytes(const veeline::artifact::Channel &channel,
                          int32_t microbatch) const {
    bool varies = !channel.lengthShapes.empty();
    return channel.bytesOf(varies ? std::max(versions[microbatch], 0) : 0);
  }

  /// The index of the length of message `number` of `channel`, counted since
  /// the start; 0 if the length is not known or does not vary.
  size_t messageLength(const veeline::artifact::Channel &channel,
                       uint32_t number) const {
    int32_t version = channel.lengthShapes.empty()
                          ? 0
                          : versions[channel.microbatchOf(number)];
    return version < 0 ? 0 : static_cast<size_t>(version);
  }
  int64_t messageBytes(const veeline::artifact::Channel &channel,
                       uint32_t number) const {
    return channel.bytesOf(messageLength(channel, number));
  }

  /// Fills `lateUpdates` from the table of operations.
  void listLateUpdates();
  /// Fills `shares` from the table of parameters.
  void listShares(const veeline::artifact::Metadata &metadata);
  static Share shareOf(const veeline::artifact::RankParam &entry,
                       int64_t elements, int32_t member, int64_t size);

  /// Switches between the current step and the step before.
  void changeStep() {
    isInStepBefore = !isInStepBefore;
    std::swap(settings, otherSettings);
    std::swap(versions, otherVersions);
    step.store(settings->step, std::memory_order_relaxed);
    if (timeline)
      timeline->setStep(static_cast<int32_t>(settings->step));
  }

  /// Records the first fault of the program and stops this rank.
  void fail(const std::string &message);
  /// Fails with a message about a channel; `what` follows the channel's name.
  void failOnChannel(int32_t channel, const std::string &what) {
    fail("channel " + std::to_string(channel) + what);
  }

  /// Sets the length of a microbatch that `source` has determined. Fails if
  /// there is no version for the length, or if another length is already known.
  void agreeOnLength(int32_t microbatch, int64_t length, const char *source);

  // Checks of what compiled code must do right, in builds with checks.
  const veeline::artifact::Channel &channelOf(int32_t channel) const;
  const veeline::artifact::Channel &checkedReceiver(int32_t channel) const;
  const veeline::artifact::Channel &checkedSender(int32_t channel) const;
  void checkReduction(int32_t reduction) const;
  void checkReport(int32_t result, int32_t microbatch) const;
  /// Reads the result at `place`, of a step with `ofStep`. A loss is returned
  /// without its scale.
  double readResult(int32_t result, const void *place,
                    const veeline::StepSettings &ofStep) const;
};

#endif // VEELINE_RUNTIME_ENGINE_RANK_H
