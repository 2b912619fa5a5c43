//===- CudaRank.h - a rank with its arena on a GPU --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDARANK_H
#define VEELINE_RUNTIME_CUDA_CUDARANK_H

#include "AttentionDnn.h"
#include "ConvolutionDnn.h"
#include "Device.h"
#include "DeviceUse.h"
#include "GemmLt.h"
#include "OpTimes.h"
#include "Rank.h"
#include "Transport.h"

#include <mutex>
#include <unordered_map>

namespace veeline::cuda {

/// A rank on a GPU. Its thread issues the operations of a step, in order, into
/// the compute stream that it has selected last. Messages have their own
/// streams; events order them relative to compute streams.
class CudaRank final : public veeline_rank {
public:
  /// Allocates the arena on `newDevice`, which has to be current. If there is
  /// too little memory, that is not an error, but the arena does not exist.
  Status allocateArena(std::shared_ptr<Device> newDevice, int64_t bytes);
  /// Creates everything else that the rank needs, and chooses algorithms of
  /// libraries. The device has to be current. `dnn` may be null.
  Status prepare(const artifact::Artifact &artifact, const BlasLt &blas,
                 const Cudnn *dnn, bool isPoisoned);
  /// Called after `prepare`, and before the rank's first step.
  void setTransport(std::unique_ptr<Transport> newTransport) {
    transport = std::move(newTransport);
  }
  /// Keeps the last `timelineEvents` events, from the next step on. `origin` is
  /// that of the device.
  Status keepTimes(const StepOrigin &origin, size_t timelineEvents);
  /// Wakes the rank from waits for other ranks. May be called from any thread.
  void abort() {
    if (transport)
      transport->abort();
  }

  // The functions below are called before and after a step. Their errors are
  // those of the device. `slot` distinguishes the steps in flight.
  /// Issues the copies of what the step reads. `inputs` are those of Executor,
  /// from the rank's first microbatch on. With `followsUnknown`, the host does
  /// not know yet whether the step before has changed anything.
  Status beginStep(size_t slot, const void *const *inputs,
                   const StepSettings &settings, bool followsUnknown,
                   bool isReplayed);
  /// Issues the copies of what late work reads when it runs alone.
  Status beginLate();
  /// Ends the step in all streams: later operations in the first stream come
  /// after all of it.
  Status endStep();
  /// Issues the copies to the host of what the step has reported.
  Status readBack(size_t slot);
  /// Waits until these copies are done. Returns false if `isEnough` is set and
  /// returned true before.
  Expected<bool> awaitStep(size_t slot,
                           const std::function<bool()> &isEnough = nullptr) {
    return transport->await(*this, ended[slot], isEnough);
  }
  /// Whether the device has run all late work of the step before, in `ofStep`.
  bool isLateOver(const StepSettings &ofStep) const {
    return stepMarks.read(0) == static_cast<uint32_t>(ofStep.step) &&
           stepMarks.read(1) == 1;
  }
  /// Waits until the device has run all late work of the step before. `slot` is
  /// that of `ofStep`.
  Status awaitLate(size_t slot, const StepSettings &ofStep);
  /// Waits until the current compute stream has run everything that was issued
  /// to it.
  bool awaitIssued();
  /// After a fault: waits until the device has run everything that was issued.
  void drain() {
    // During a capture, nothing is under way.
    if (!captureMutex)
      transport->drain(*this);
  }
  /// Inspects the messages of a step that the device has run.
  void inspectStep(size_t slot) { transport->inspectStep(*this, slot); }
  void inspectGradients(const std::vector<double> &squares) {
    transport->inspectGradients(*this, squares);
  }
  /// Keeps the step in `slot`, which was captured, for replays.
  void keepForGraph(size_t slot) { transport->keepForGraph(slot); }
  const std::vector<Stream> &allStreams() const { return streams; }
  /// Adds the times of a step that has ended, perhaps by a fault, to the
  /// timeline, and those of late work that ran alone after it. `number` is that
  /// of its origin.
  void addTimes(size_t slot, uint32_t number, int64_t ofStep);
  /// Writes the results that were reported in a step that has ended. `all` has
  /// the form of veeline_rank::results.
  void readReports(size_t slot, const StepSettings &ofStep, double *all) const;
  /// Writes the squared norm of the averaged gradient of entry `param`, or the
  /// numbers of its own parts (as in RankStep), as reported in the step in
  /// `slot`. If microbatches have their own updates, this is a mean over all
  /// updates, of which it has the part of those in time.
  void readNorms(size_t slot, size_t param, double *numbers) const;
  /// What clipping required in the step in `slot`, if updates wait for the norm
  /// of all gradients. Called once for each step, in their order.
  Clip takeClip(size_t slot);
  /// Writes the same numbers of an entry that is updated late, as reported
  /// last, or the part of late updates.
  void readLateNorms(size_t param, double *numbers) const;
  /// Sets the rank's step to that of its device.
  void showStep();

  /// For each batch argument and buffer, its place in the arena, or null.
  const void *const *inputPlaces() const { return places.data(); }
  /// For each batch argument and buffer, the place of that of the step before,
  /// for late work.
  const void *const *inputPlacesBefore() const { return placesBefore.data(); }
  const DeviceMemory &memory() const { return arena; }
  /// Sets the members of `use` about the arena, which was poisoned.
  Status inspectArena(DeviceUse &use);
  /// The number of its entries that no library computes.
  size_t missingEpilogues() const { return gemms.countMissing(); }
  size_t missingConvolutions() const { return convolutions.countMissing(); }
  size_t missingAttentions() const { return attentions.countMissing(); }
  const Device &gpu() const { return *device; }

  const Driver &driver() const { return device->driver(); }
  /// The stream for what comes before and after a step's operations.
  api::Stream computeStream() const { return streams[0].get(); }
  api::Stream stream(int32_t number) const { return streams[number].get(); }
  /// The number of a compute stream among all streams: the first is 0, the
  /// others come after the streams that the tables of messages name.
  int32_t computeNumber(int32_t compute) const {
    return compute == 0 ? 0 : numMessageStreams + compute - 1;
  }
  int32_t numComputeStreams() const { return description->computeStreams; }
  /// The compute stream to which operations are issued, and its number among
  /// all streams.
  int32_t currentCompute() const { return current; }
  int32_t currentNumber() const { return computeNumber(current); }
  api::Stream currentStream() const { return stream(currentNumber()); }
  /// Whether `status` is a success. An error becomes the rank's fault.
  bool require(const Status &status);
  /// A lock for calls of the driver while all ranks are captured into one
  /// graph, because graphs are not thread-safe. A rank with this lock never
  /// waits for another rank.
  std::unique_lock<std::mutex> serialize() {
    return captureMutex ? std::unique_lock<std::mutex>(*captureMutex)
                        : std::unique_lock<std::mutex>();
  }
  std::mutex *captureMutex = nullptr;
  /// Called when a step has issued all late work of the step before.
  std::function<void()> whenLateIssued;

  /// What the GPU did, while `timeline` has what the host did. Null if it was
  /// not asked for.
  std::unique_ptr<engine::Timeline> deviceTimeline;

  int32_t numKernels() const {
    return static_cast<int32_t>(code->kernels.size());
  }
  /// Loads the kernel unless a rank of the device has already launched it.
  bool findKernel(int32_t kernel);
  /// Launches with the grid of the table or, if `blocks` is not 0, with that
  /// many blocks in the first dimension.
  bool launchOn(api::Stream stream, int32_t kernel, int64_t blocks,
                const uint64_t *arguments);
  /// Launches a kernel for sums: result = parts[0] + parts[1] + ..., in this
  /// order. The result may be one of the parts.
  bool launchSum(api::Stream stream, int32_t kernel, api::DevicePointer result,
                 const std::vector<api::DevicePointer> &parts,
                 int64_t elements);

  void recvPost(int32_t channel, void *slot) override;
  void recvWait(int32_t channel) override;
  void *sendAcquire(int32_t channel) override;
  void sendCommit(int32_t channel) override;
  void sendCopy(int32_t channel, int32_t microbatch, void *slot,
                const void *value) override;
  void send(int32_t channel, int32_t microbatch, const void *value) override;
  void groupBegin() override;
  void groupEnd() override;
  void setStream(int32_t stream) override;
  void recordEvent(int32_t event) override;
  void waitForEvent(int32_t event) override;
  void offload(int32_t part, int64_t offset, const void *source,
               int64_t bytes) override;
  void release(int32_t part) override;
  void reload(int32_t part, void *target, int64_t offset,
              int64_t bytes) override;
  void restore(int32_t part) override;
  void reducePost(int32_t reduction) override;
  void reduceWait(int32_t reduction) override;
  void lengthReceived(int32_t microbatch, const void *length) override;
  void writeLength(int32_t microbatch, void *length) override;
  void gemm(int32_t gemm, const void *a, const void *b, void *c,
            void *scratch) override;
  void gemmEpilogue(int32_t gemm, const void *a, const void *b, void *c,
                    const void *bias, void *aux, void *scratch) override;
  void convolution(int32_t convolution, const void *a, const void *b, void *c,
                   void *scratch) override;
  bool hasGemm(int32_t gemm) override;
  bool hasConvolution(int32_t convolution) override;
  void attention(int32_t attention, const AttentionOperands &operands) override;
  bool hasAttention(int32_t attention) override;
  void launch(int32_t kernel, const uint64_t *arguments) override;
  void copy(void *target, const void *source, int64_t bytes) override;
  void zero(void *target, int64_t bytes) override;
  uint64_t load(const void *address, int32_t bytes) override;
  const void *constant(int32_t constant) override;
  const void *settingsPlace() override;
  void *norm(int32_t param) override;
  void update(int32_t param, void *value, void *state,
              const void *const *gradients, int32_t numGradients) override;
  void report(int32_t result, int32_t microbatch, const void *value) override;
  void opBegin(int32_t op) override;
  void opEnd(int32_t op) override;
  void lateEnd() override;

private:
  /// An accumulator that is being sent to the rank that updates its parameter,
  /// on message stream `stream`.
  struct SentGradient {
    const char *value;
    int64_t bytes;
    int32_t stream;
  };
  void settleGradients(const void *target, int64_t bytes);
  Status makeStreams();
  Status prepareOffloads();
  Status prepareLibraries(const BlasLt &blas, const Cudnn *dnn);
  Status prepareDnn(const Cudnn *dnn);
  Status writeConstants(const artifact::Artifact &artifact);
  Status readArena(int64_t offset, std::string &bytes);
  Status countLines(int64_t offset, int64_t end, int64_t &lines);
  Status allocatePinned(const artifact::Metadata &metadata);
  char *placeOfSlot(size_t slot) const {
    return pinned.data() + static_cast<int64_t>(slot) * slotBytes;
  }
  int64_t normBytes() const;
  int64_t resultBytes() const;
  // These functions issue copies in the first compute stream.
  Status write(int64_t offset, const char *place, int64_t bytes);
  Status moveWithin(int64_t target, int64_t source, int64_t bytes);
  Status keepBefore();
  Status writeSettings(char *place, const StepSettings &settings,
                       bool followsUnknown);
  int64_t strideOfAll() const;
  int64_t settingsBytes() const;
  void fillAllSettings(char *place, const StepSettings &settings,
                       int32_t m) const;
  bool isStashed() const;
  void readNorms(const char *norms, size_t param, double *numbers) const;
  double sumOfParts(const char *norms, size_t param) const;
  /// The workspace of library calls in the current compute stream, or null if
  /// the rank has none.
  void *libraryPlace() const;
  /// The size of that workspace in bytes.
  int64_t libraryBytes() const;
  template <typename Call>
  void callLibrary(const char *what, int32_t index, Call call);
  void failOnDevice(const char *what);
  bool carriesLength(int32_t channel) const;

  std::shared_ptr<Device> device;
  const artifact::DeviceCode *code = nullptr;
  /// How a parameter of the rank's table is updated.
  struct UpdateKind {
    size_t param;
    Optimizer optimizer;
    bool decays;
  };
  std::vector<UpdateKind> updates;
  /// By number; see computeNumber. If anything is offloaded, the last two are
  /// for copies to the host's memory and back.
  std::vector<Stream> streams;
  int32_t numMessageStreams = 1; ///< Includes number 0.
  int32_t current = 0;
  std::vector<Event> events; ///< Events that order compute streams.
  DeviceMemory arena;
  /// The memory of offloaded values; by part, the ends of its copies there and
  /// back; and the events after which these copies begin.
  PinnedMemory offloaded;
  std::vector<Event> left, returned;
  Event beforeOut, beforeBack;
  api::Stream outStream() const { return streams[streams.size() - 2].get(); }
  api::Stream backStream() const { return streams.back().get(); }
  GemmTable gemms;
  DnnContext dnnContext; ///< Outlives the tables that use it.
  ConvolutionTable convolutions;
  AttentionTable attentions;
  std::vector<const void *> places, placesBefore;

  /// Memory of the host. For each slot, it has inputs, settings, limits of
  /// gradients, the outcome of clipping, norms and results, in this order. Then
  /// come norms of what was updated late, and one word.
  PinnedMemory pinned;
  int64_t settingsAt = 0, limitsAt = 0, outcomeAt = 0, normsAt = 0;
  int64_t resultsAt = 0, slotBytes = 0;
  int64_t lateNormsAt = 0, wordAt = 0;
  /// By result and microbatch of the rank. The same in each step.
  std::vector<char> isReported;
  Event ended[2]; ///< By slot: the host may read what the step has reported.
  Event reached;  ///< For awaitIssued.
  /// For each stream but the first: its step has ended.
  std::vector<Event> joined;
  /// The step that the device is in; and 1 after all late work in it has run.
  Marks stepMarks;

  /// By slot, then those of late work that runs alone. Empty if not asked for.
  std::vector<std::unique_ptr<OpTimes>> times;
  size_t timedSlot = 0; ///< The slot of the step that is being issued.
  std::unique_ptr<Transport> transport;
  bool isInGroup = false;
  /// The gradients that were sent since they were last zeroed.
  std::vector<SentGradient> sentGradients;
  MemoryBook::Scope measure(MemoryBook::Part part) {
    return {device->book(), part};
  }
  /// Lengths, which are sent from host to host, by the address that the step
  /// has for each.
  std::unordered_map<const void *, int64_t> lengthPlaces;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDARANK_H
