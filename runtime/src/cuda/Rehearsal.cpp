//===- Rehearsal.cpp - loading what a step needs before it runs -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rehearsal.h"

using namespace veeline;
using namespace veeline::cuda;

namespace {
/// Stands for a rank in a step that loads kernels and makes library calls, but
/// does not send, receive or launch kernels.
class Stage final : public veeline_rank {
public:
  explicit Stage(CudaRank &rank);

  /// Runs `step`. If lengths vary, all microbatches have the length number
  /// `version`.
  Status run(veeline_step_fn step, int32_t version);

  void recvPost(int32_t, void *) override {}
  void recvWait(int32_t) override {}
  void *sendAcquire(int32_t) override { return nullptr; }
  void sendCommit(int32_t) override {}
  void sendCopy(int32_t, int32_t, void *, const void *) override {}
  void send(int32_t, int32_t, const void *) override {}
  void groupBegin() override {}
  void groupEnd() override {}
  void setStream(int32_t) override {}
  void recordEvent(int32_t) override {}
  void waitForEvent(int32_t) override {}
  void offload(int32_t, int64_t, const void *, int64_t) override {}
  void release(int32_t) override {}
  void reload(int32_t, void *, int64_t, int64_t) override {}
  void restore(int32_t) override {}
  void reducePost(int32_t) override {}
  void reduceWait(int32_t) override {}
  void lengthReceived(int32_t, const void *) override {}
  void writeLength(int32_t, void *) override {}
  void gemm(int32_t gemm, const void *a, const void *b, void *c,
            void *scratch) override {
    gemmEpilogue(gemm, a, b, c, nullptr, nullptr, scratch);
  }
  void gemmEpilogue(int32_t gemm, const void *a, const void *b, void *c,
                    const void *bias, void *aux, void *scratch) override {
    if (isFirst(gemms, gemm))
      rank.gemmEpilogue(gemm, a, b, c, bias, aux, scratch);
    failed = rank.failed;
  }
  bool hasGemm(int32_t gemm) override { return rank.hasGemm(gemm); }
  void convolution(int32_t convolution, const void *a, const void *b, void *c,
                   void *scratch) override {
    if (isFirst(convolutions, convolution))
      rank.convolution(convolution, a, b, c, scratch);
    failed = rank.failed;
  }
  bool hasConvolution(int32_t convolution) override {
    return rank.hasConvolution(convolution);
  }
  void attention(int32_t attention,
                 const AttentionOperands &operands) override {
    if (isFirst(attentions, attention))
      rank.attention(attention, operands);
    failed = rank.failed;
  }
  bool hasAttention(int32_t attention) override {
    return rank.hasAttention(attention);
  }
  void launch(int32_t kernel, const uint64_t *) override {
    failed = !rank.findKernel(kernel);
  }
  void copy(void *, const void *, int64_t) override {}
  void zero(void *, int64_t) override {}
  uint64_t load(const void *, int32_t) override { return 0; }
  const void *constant(int32_t constant) override {
    return rank.constant(constant);
  }
  const void *settingsPlace() override { return rank.settingsPlace(); }
  void *norm(int32_t param) override { return rank.norm(param); }
  void update(int32_t, void *, void *, const void *const *, int32_t) override {}
  void report(int32_t, int32_t, const void *) override {}
  void opBegin(int32_t) override {}
  void opEnd(int32_t) override {}

private:
  static bool isFirst(std::vector<bool> &made, int32_t index) {
    bool isNew = !made[static_cast<size_t>(index)];
    made[static_cast<size_t>(index)] = true;
    return isNew;
  }

  CudaRank &rank;
  const StepSettings noSettings;
  std::vector<int64_t> lengthsOfData;
  /// The entries called so far.
  std::vector<bool> gemms, convolutions, attentions;
};
} // namespace

Stage::Stage(CudaRank &rank)
    : rank(rank), gemms(rank.description->gemms.size()),
      convolutions(rank.description->convolutions.size()),
      attentions(rank.description->attentions.size()) {
  index = rank.index;
  program = rank.program;
  description = rank.description;
  fault = rank.fault;
  discard.resize(sizeof(int64_t));
  settings = otherSettings = &noSettings;
  inputsBefore = rank.inputPlacesBefore();
  microbatches = rank.microbatches;
  allMicrobatches = rank.allMicrobatches;
  lengths = rank.lengths;
  shares = rank.shares;
}

Status Stage::run(veeline_step_fn step, int32_t version) {
  auto count = static_cast<size_t>(microbatches);
  if (!lengths->empty()) {
    versions.assign(count, version);
    otherVersions = versions;
    lengthsOfData.assign(count, (*lengths)[static_cast<size_t>(version)]);
    dataLengths = lengthsOfData.data();
  }
  step(this, rank.memory().data(), rank.inputPlaces());
  return fault->status();
}

/// Loads the sum kernels of a rank's reductions, because no step launches these
/// itself.
static Status findSums(CudaRank &rank) {
  for (const artifact::Reduction &reduction : rank.description->reductions)
    for (const artifact::ReducedPiece &piece : reduction.pieces)
      if (piece.sumKernel >= 0 && !rank.findKernel(piece.sumKernel))
        return rank.fault->status();
  return Status::success();
}

Status cuda::rehearse(CudaRank &rank,
                      std::initializer_list<veeline_step_fn> steps) {
  VEELINE_TRY(findSums(rank));
  // The launches of such a step depend on values that it computes, so all
  // kernels are loaded.
  if (rank.description->readsBack) {
    for (int32_t i = 0; i < rank.numKernels(); ++i)
      if (!rank.findKernel(i))
        return rank.fault->status();
    return Status::success();
  }
  Stage stage(rank);
  auto versions = std::max(static_cast<int32_t>(rank.lengths->size()), 1);
  for (veeline_step_fn step : steps)
    for (int32_t version = 0; step && version < versions; ++version)
      VEELINE_TRY(stage.run(step, version));
  (void)rank.require(
      VEELINE_CALL(rank.driver(), cuStreamSynchronize, rank.computeStream()));
  return rank.fault->status();
}
