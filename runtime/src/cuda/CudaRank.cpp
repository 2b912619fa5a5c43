//===- CudaRank.cpp - a rank with its arena on a GPU ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaRank.h"

#include "veeline/Base/Check.h"

#include <cstring>

using namespace veeline;
using namespace veeline::cuda;

/// The byte makes a NaN in f32 and in f64, so that reading poison also shows in
/// the loss.
static constexpr unsigned char poisonByte = 0xff;
/// The number of bytes of an arena that are read at a time.
static constexpr int64_t inspectedBytes = int64_t(16) << 20;

static api::DevicePointer addressOf(const void *place) {
  return reinterpret_cast<api::DevicePointer>(place);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status CudaRank::allocateArena(std::shared_ptr<Device> newDevice,
                               int64_t bytes) {
  device = std::move(newDevice);
  return arena.allocateIfFree(*device, bytes);
}

Status CudaRank::prepare(const artifact::Artifact &artifact, const BlasLt &blas,
                         const Cudnn *dnn, bool isPoisoned) {
  code = &*artifact.metadata.device;
  for (const artifact::RankParam &entry : description->params) {
    const artifact::Parameter &param = artifact.metadata.params[entry.param];
    updates.push_back({static_cast<size_t>(entry.param),
                       updateRule(artifact.metadata.optimizer, param.shape),
                       param.shape.size() >= 2});
  }
  VEELINE_TRY(makeStreams());
  if (isPoisoned)
    VEELINE_TRY(VEELINE_CALL(
        driver(), cuMemsetD8Async, arena.address(), poisonByte,
        static_cast<size_t>(description->arenaBytes), computeStream()));
  VEELINE_TRY(allocatePinned(artifact.metadata));
  VEELINE_TRY(prepareLibraries(blas, dnn));
  places.resize(artifact.metadata.batches.size() +
                artifact.metadata.buffers.size());
  for (const artifact::Input &input : description->inputs)
    places[input.input] = arena.data() + input.offset;
  placesBefore.resize(places.size());
  for (const artifact::Input &input : description->inputsBefore)
    placesBefore[input.input] = arena.data() + input.offset;
  // Initially, no step has skipped its changes.
  if (description->clipOffset >= 0)
    VEELINE_TRY(VEELINE_CALL(
        driver(), cuMemsetD8Async,
        arena.address() + static_cast<uint64_t>(description->clipOffset), 0,
        sizeof(struct veeline_clipping), computeStream()));
  return writeConstants(artifact);
}

Status CudaRank::prepareLibraries(const BlasLt &blas, const Cudnn *dnn) {
  auto measured = measure(MemoryBook::libraries);
  VEELINE_TRY(gemms.prepare(blas, description->gemms, libraryBytes()));
  return prepareDnn(dnn);
}

/// Prepares the tables of what cuDNN computes, with or without cuDNN.
Status CudaRank::prepareDnn(const Cudnn *dnn) {
  DnnContext *context = nullptr;
  if (dnn && (!description->convolutions.empty() ||
              !description->attentions.empty())) {
    // cuDNN may not support this GPU.
    DnnResult created = dnnContext.create(*dnn);
    if (!created.isUnsupported())
      VEELINE_TRY(dnn->check(created));
    context = created.ok() ? &dnnContext : nullptr;
  }
  VEELINE_TRY(convolutions.prepare(driver(), context, description->convolutions,
                                   libraryPlace(), libraryBytes(),
                                   computeStream()));
  return attentions.prepare(context, description->attentions, libraryBytes());
}

/// Creates as many streams as the tables name.
Status CudaRank::makeStreams() {
  numMessageStreams = 1;
  for (const artifact::Channel &channel : program->channels)
    if (channel.fromRank == index || channel.toRank == index)
      numMessageStreams =
          std::max({numMessageStreams, channel.streamOf(true) + 1,
                    channel.streamOf(false) + 1});
  for (const artifact::Reduction &reduction : description->reductions)
    numMessageStreams = std::max(numMessageStreams, reduction.stream + 1);
  int32_t count = numMessageStreams + numComputeStreams() - 1;
  if (description->numOffloads > 0)
    count += 2;
  for (int32_t i = 0; i < count; ++i)
    VEELINE_TRY(streams.emplace_back().create(*device));
  for (int32_t i = 0; i < description->events; ++i)
    VEELINE_TRY(events.emplace_back().create(*device));
  for (int32_t i = 1; i < count; ++i)
    VEELINE_TRY(joined.emplace_back().create(*device));
  for (Event *event : {&ended[0], &ended[1], &reached})
    VEELINE_TRY(event->create(*device));
  VEELINE_TRY(prepareOffloads());
  return stepMarks.allocate(*device, 2);
}

Status CudaRank::prepareOffloads() {
  if (description->numOffloads == 0)
    return Status::success();
  VEELINE_TRY(offloaded.allocate(*device, description->hostBytes));
  for (int32_t i = 0; i < description->numOffloads; ++i)
    for (std::vector<Event> *events : {&left, &returned})
      VEELINE_TRY(events->emplace_back().create(*device));
  VEELINE_TRY(beforeOut.create(*device));
  return beforeBack.create(*device);
}

Status CudaRank::writeConstants(const artifact::Artifact &artifact) {
  for (const artifact::Constant &constant : description->constants)
    VEELINE_TRY(VEELINE_CALL(
        driver(), cuMemcpyHtoDAsync_v2, arena.address() + constant.offset,
        artifact.values[constant.section].data(),
        static_cast<size_t>(constant.bytes), computeStream()));
  return VEELINE_CALL(driver(), cuStreamSynchronize, computeStream());
}

//===----------------------------------------------------------------------===//
// Inspecting the arena
//===----------------------------------------------------------------------===//

Status CudaRank::readArena(int64_t offset, std::string &bytes) {
  VEELINE_TRY(VEELINE_CALL(driver(), cuMemcpyDtoHAsync_v2, bytes.data(),
                           arena.address() + static_cast<uint64_t>(offset),
                           bytes.size(), computeStream()));
  return VEELINE_CALL(driver(), cuStreamSynchronize, computeStream());
}

static bool isPoison(char byte) {
  return static_cast<unsigned char>(byte) == poisonByte;
}

/// Adds the number of lines of 64 bytes from `offset` to `end` that were
/// written.
Status CudaRank::countLines(int64_t offset, int64_t end, int64_t &lines) {
  constexpr int64_t line = 64;
  for (std::string bytes; offset < end;
       offset += static_cast<int64_t>(bytes.size())) {
    bytes.resize(static_cast<size_t>(std::min(inspectedBytes, end - offset)));
    VEELINE_TRY(readArena(offset, bytes));
    for (size_t i = 0; i < bytes.size(); i += line)
      lines += !std::all_of(bytes.data() + i,
                            bytes.data() + std::min(i + line, bytes.size()),
                            isPoison);
  }
  return Status::success();
}

Status CudaRank::inspectArena(DeviceUse &use) {
  VEELINE_TRY(device->makeCurrent());
  VEELINE_TRY(arena.checkSize());
  use.offloaded = offloaded.bytes();
  use.pinned = use.offloaded + pinned.bytes() + stepMarks.bytes();
  std::vector<std::pair<int64_t, int64_t>> regions;
  regions.reserve(description->regions.size() + 1);
  for (const artifact::Region &region : description->regions)
    regions.emplace_back(region.offset, region.offset + region.bytes);
  std::sort(regions.begin(), regions.end());
  regions.emplace_back(description->arenaBytes, description->arenaBytes);
  int64_t covered = 0;
  for (auto [begin, end] : regions) {
    VEELINE_TRY(countLines(covered, begin, use.strayLines));
    covered = std::max(covered, end);
  }
  std::string bytes;
  for (int64_t end = description->arenaBytes; end > 0 && use.highWater == 0;) {
    bytes.resize(static_cast<size_t>(std::min(inspectedBytes, end)));
    end -= static_cast<int64_t>(bytes.size());
    VEELINE_TRY(readArena(end, bytes));
    auto last = std::find_if_not(bytes.rbegin(), bytes.rend(), isPoison);
    if (last != bytes.rend())
      use.highWater = end + (bytes.rend() - last);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

void CudaRank::setStream(int32_t stream) {
  VEELINE_CHECK(stream >= 0 && stream < numComputeStreams(),
                "a compute stream that the rank does not have");
  current = stream;
}

void CudaRank::recordEvent(int32_t event) {
  VEELINE_CHECK(event >= 0 && static_cast<size_t>(event) < events.size(),
                "an event that the rank does not have");
  auto lock = serialize();
  (void)require(events[event].record(currentStream()));
}

void CudaRank::waitForEvent(int32_t event) {
  VEELINE_CHECK(event >= 0 && static_cast<size_t>(event) < events.size(),
                "an event that the rank does not have");
  auto lock = serialize();
  (void)require(events[event].holdUp(currentStream()));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void CudaRank::failOnDevice(const char *what) {
  fail(std::string(what) + ", which code for a GPU never does: the artifact's "
                           "target is cuda");
}

bool CudaRank::carriesLength(int32_t channel) const {
  return channelOf(channel).kind == artifact::ChannelKind::shape;
}

void CudaRank::groupBegin() {
  VEELINE_CHECK(!isInGroup, "a group of messages begins inside of another");
  isInGroup = true;
  transport->beginGroup(*this);
}

void CudaRank::groupEnd() {
  VEELINE_CHECK(isInGroup, "a group of messages ends that has not begun");
  isInGroup = false;
  transport->endGroup(*this);
}

void CudaRank::recvPost(int32_t channel, void *slot) {
  const artifact::Channel &description = checkedReceiver(channel);
  // A length is received on the stack of the host's code, not on the device.
  if (carriesLength(channel))
    return channels[channel]->post(*this, &lengthPlaces[slot]);
  VEELINE_CHECK(arena.contains(slot, description.messageBytes),
                "the place for a message is not in the arena");
  transport->settle(*this, description.streamOf(/*isSend=*/false));
  if (!failed)
    transport->post(*this, channel, slot);
}

void CudaRank::recvWait(int32_t channel) {
  (void)checkedReceiver(channel);
  if (carriesLength(channel))
    return channels[channel]->wait(*this);
  transport->wait(*this, channel);
}

void CudaRank::send(int32_t channel, int32_t microbatch, const void *value) {
  const artifact::Channel &description = checkedSender(channel);
  if (carriesLength(channel)) {
    void *slot = channels[channel]->acquire(*this);
    if (!slot)
      return;
    std::memcpy(slot, &lengthPlaces[value], sizeof(int64_t));
    return channels[channel]->commit(*this);
  }
  int64_t bytes = microbatchBytes(description, microbatch);
  VEELINE_CHECK(arena.contains(value, bytes),
                "a value to send is not in the arena");
  transport->settle(*this, description.stream);
  if (description.kind == artifact::ChannelKind::paramGradient)
    sentGradients.push_back(
        {static_cast<const char *>(value), bytes, description.stream});
  if (!failed)
    transport->send(*this, channel, value, bytes);
}

/// Waits for sends of accumulators before they are zeroed. Other memory that is
/// sent is not written before the next send. An accumulator that is sent late
/// may be zeroed by the step after before that.
void CudaRank::settleGradients(const void *target, int64_t bytes) {
  const auto *begin = static_cast<const char *>(target);
  std::erase_if(sentGradients, [&](const SentGradient &sent) {
    if (sent.value >= begin + bytes || begin >= sent.value + sent.bytes)
      return false;
    transport->settle(*this, sent.stream);
    return true;
  });
}

void *CudaRank::sendAcquire(int32_t) {
  failOnDevice("a place at the receiver is asked for");
  return nullptr;
}

void CudaRank::sendCommit(int32_t) { failOnDevice("a message is committed"); }

void CudaRank::sendCopy(int32_t, int32_t, void *, const void *) {
  failOnDevice("a message is copied");
}

static void checkReduction(int32_t reduction, const artifact::Rank &rank) {
  VEELINE_CHECK(reduction >= 0 &&
                    static_cast<size_t>(reduction) < rank.reductions.size(),
                "gradients are added up that are not in the rank's table");
}

void CudaRank::reducePost(int32_t reduction) {
  ::checkReduction(reduction, *description);
  transport->settle(*this, description->reductions[reduction].stream);
  if (!failed)
    transport->postSum(*this, reduction);
}

void CudaRank::reduceWait(int32_t reduction) {
  ::checkReduction(reduction, *description);
  transport->waitForSum(*this, reduction);
}

void CudaRank::lengthReceived(int32_t microbatch, const void *length) {
  agreeOnLength(microbatch, lengthPlaces[length], "what another rank says");
}

void CudaRank::writeLength(int32_t microbatch, void *length) {
  lengthPlaces[length] = lengthOf(microbatch);
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

int64_t CudaRank::libraryBytes() const {
  return description->libraryBytes / numComputeStreams();
}

void *CudaRank::libraryPlace() const {
  return description->libraryBytes > 0
             ? arena.data() + description->libraryOffset +
                   current * libraryBytes()
             : nullptr;
}

/// `call` issues entry `index` of a table.
template <typename Call>
void CudaRank::callLibrary(const char *what, int32_t index, Call call) {
  auto lock = serialize();
  auto measured = measure(MemoryBook::libraries);
  if (Status status = call(); !status.ok())
    fail(std::string(what) + " " + std::to_string(index) + ": " +
         status.message());
}

bool CudaRank::hasGemm(int32_t gemm) {
  VEELINE_CHECK(gemm >= 0 && static_cast<size_t>(gemm) < gemms.size(),
                "a matrix product that is not in the rank's table");
  return gemms.has(gemm);
}

void CudaRank::gemm(int32_t gemm, const void *a, const void *b, void *c,
                    void *scratch) {
  gemmEpilogue(gemm, a, b, c, nullptr, nullptr, scratch);
}

void CudaRank::gemmEpilogue(int32_t gemm, const void *a, const void *b, void *c,
                            const void *bias, void *aux, void *scratch) {
  if (!hasGemm(gemm))
    return fail("matrix product " + std::to_string(gemm) +
                " is called, and cuBLASLt has no algorithm for its epilogue");
  auto isMissing = [&](bool isThere, const void *place, const char *what) {
    if (isThere == (place != nullptr))
      return false;
    fail("matrix product " + std::to_string(gemm) +
         (place ? " is called with " : " has ") + what +
         (place ? ", and has none" : ", and is called without"));
    return true;
  };
  if (isMissing(gemms.hasBias(gemm), bias, "a bias") ||
      isMissing(gemms.hasAux(gemm), aux, "a matrix beside c"))
    return;
  callLibrary("matrix product", gemm, [&] {
    return gemms.run(gemm, {a, b, c, bias, aux, scratch}, libraryPlace(),
                     currentStream());
  });
}

bool CudaRank::hasConvolution(int32_t convolution) {
  VEELINE_CHECK(convolution >= 0 &&
                    static_cast<size_t>(convolution) < convolutions.size(),
                "a convolution that is not in the rank's table");
  return convolutions.has(convolution);
}

void CudaRank::convolution(int32_t convolution, const void *a, const void *b,
                           void *c, void *scratch) {
  if (!hasConvolution(convolution))
    return fail("convolution " + std::to_string(convolution) +
                " is called, and no library computes it");
  callLibrary("convolution", convolution, [&] {
    return convolutions.run(convolution, a, b, c, scratch, libraryPlace(),
                            currentStream());
  });
}

bool CudaRank::hasAttention(int32_t attention) {
  VEELINE_CHECK(attention >= 0 &&
                    static_cast<size_t>(attention) < attentions.size(),
                "an attention that is not in the rank's table");
  return attentions.has(attention);
}

void CudaRank::attention(int32_t attention, const AttentionOperands &operands) {
  if (!hasAttention(attention))
    return fail("attention " + std::to_string(attention) +
                " is called, and no library computes it");
  callLibrary("attention", attention, [&] {
    return attentions.run(attention, operands, libraryPlace(), currentStream());
  });
}

void CudaRank::launch(int32_t kernel, const uint64_t *arguments) {
  (void)launchOn(currentStream(), kernel, 0, arguments);
}

bool CudaRank::findKernel(int32_t kernel) {
  VEELINE_CHECK(kernel >= 0 && kernel < numKernels(),
                "a kernel that is not in the artifact's table");
  auto index = static_cast<size_t>(kernel);
  if (device->hasKernel(index))
    return true;
  // Loading may wait for the device, which runs nothing during a capture.
  if (captureMutex) {
    fail(
        "kernel '" + code->kernels[index].name +
        "' is launched in a step that is captured and was not in those before: "
        "steps that differ are issued one by one, with --eager");
    return false;
  }
  auto measured = measure(MemoryBook::kernels);
  return require(device->findKernel(index));
}

bool CudaRank::launchOn(api::Stream stream, int32_t kernel, int64_t blocks,
                        const uint64_t *arguments) {
  if (!findKernel(kernel))
    return false;
  auto lock = serialize();
  const artifact::Kernel &entry = code->kernels[kernel];
  void *parameters[512];
  for (int32_t i = 0; i < entry.numArguments; ++i)
    parameters[i] = const_cast<uint64_t *>(arguments + i);
  auto part = [](const std::array<int32_t, 3> &sizes, int i) {
    return static_cast<unsigned>(sizes[i]);
  };
  // The driver may leave a part of loading to the launch.
  auto measured = measure(MemoryBook::kernels);
  api::Result result = driver().cuLaunchKernel(
      device->kernel(static_cast<size_t>(kernel)),
      blocks ? static_cast<unsigned>(blocks) : part(entry.grid, 0),
      part(entry.grid, 1), part(entry.grid, 2), part(entry.block, 0),
      part(entry.block, 1), part(entry.block, 2),
      static_cast<unsigned>(entry.sharedBytes), stream, parameters, nullptr);
  return result == api::success ||
         require(driver().check("cuLaunchKernel (" + entry.name + ")", result));
}

/// The number of elements that a block of 256 threads of a sum kernel sums.
static constexpr int64_t elementsOfBlock = 1024;

bool CudaRank::launchSum(api::Stream stream, int32_t kernel,
                         api::DevicePointer result,
                         const std::vector<api::DevicePointer> &parts,
                         int64_t elements) {
  std::vector<uint64_t> arguments = {result};
  arguments.insert(arguments.end(), parts.begin(), parts.end());
  arguments.push_back(static_cast<uint64_t>(elements));
  int64_t blocks = (elements + elementsOfBlock - 1) / elementsOfBlock;
  return launchOn(stream, kernel, blocks, arguments.data());
}

void CudaRank::copy(void *target, const void *source, int64_t bytes) {
  VEELINE_CHECK(arena.contains(target, bytes), "a copy leads out of the arena");
  if (bytes == 0)
    return;
  auto lock = serialize();
  (void)require(VEELINE_CALL(driver(), cuMemcpyDtoDAsync_v2, addressOf(target),
                             addressOf(source), static_cast<size_t>(bytes),
                             currentStream()));
}

//===----------------------------------------------------------------------===//
// Offloading
//===----------------------------------------------------------------------===//

void CudaRank::offload(int32_t part, int64_t offset, const void *source,
                       int64_t bytes) {
  VEELINE_CHECK(part >= 0 && static_cast<size_t>(part) < left.size() &&
                    arena.contains(source, bytes) && offset >= 0 &&
                    offset <= description->hostBytes - bytes,
                "what is offloaded is not in the arena, or has no place");
  auto lock = serialize();
  (void)(require(beforeOut.record(currentStream())) &&
         require(beforeOut.holdUp(outStream())) &&
         (bytes == 0 ||
          require(VEELINE_CALL(driver(), cuMemcpyDtoHAsync_v2,
                               offloaded.data() + offset, addressOf(source),
                               static_cast<size_t>(bytes), outStream()))) &&
         require(left[part].record(outStream())));
}

void CudaRank::release(int32_t part) {
  VEELINE_CHECK(part >= 0 && static_cast<size_t>(part) < left.size(),
                "a part that the rank does not offload");
  auto lock = serialize();
  (void)require(left[part].holdUp(currentStream()));
}

void CudaRank::reload(int32_t part, void *target, int64_t offset,
                      int64_t bytes) {
  VEELINE_CHECK(part >= 0 && static_cast<size_t>(part) < returned.size() &&
                    arena.contains(target, bytes) && offset >= 0 &&
                    offset <= description->hostBytes - bytes,
                "what was offloaded has no place, or comes back to none");
  auto lock = serialize();
  (void)(require(beforeBack.record(currentStream())) &&
         require(beforeBack.holdUp(backStream())) &&
         (bytes == 0 ||
          require(VEELINE_CALL(driver(), cuMemcpyHtoDAsync_v2,
                               addressOf(target), offloaded.data() + offset,
                               static_cast<size_t>(bytes), backStream()))) &&
         require(returned[part].record(backStream())));
}

void CudaRank::restore(int32_t part) {
  VEELINE_CHECK(part >= 0 && static_cast<size_t>(part) < returned.size(),
                "a part that the rank does not offload");
  auto lock = serialize();
  (void)require(returned[part].holdUp(currentStream()));
}

void CudaRank::zero(void *target, int64_t bytes) {
  VEELINE_CHECK(arena.contains(target, bytes),
                "what is zeroed is not in the arena");
  if (bytes == 0)
    return;
  settleGradients(target, bytes);
  auto lock = serialize();
  (void)require(VEELINE_CALL(driver(), cuMemsetD8Async, addressOf(target), 0,
                             static_cast<size_t>(bytes), currentStream()));
}

uint64_t CudaRank::load(const void *address, int32_t bytes) {
  VEELINE_CHECK(bytes >= 1 && bytes <= 8, "a load is not of 1 to 8 bytes");
  if (captureMutex) {
    fail("it reads back what it has computed, and the artifact does not say so "
         "(reads_back)");
    return 0;
  }
  uint64_t value = 0;
  char *word = pinned.data() + wordAt;
  bool isThere = require(VEELINE_CALL(
                     driver(), cuMemcpyDtoHAsync_v2, word, addressOf(address),
                     static_cast<size_t>(bytes), currentStream())) &&
                 awaitIssued();
  if (isThere)
    std::memcpy(&value, word, static_cast<size_t>(bytes));
  return value;
}

const void *CudaRank::constant(int32_t constant) {
  VEELINE_CHECK(constant >= 0 && static_cast<size_t>(constant) <
                                     description->constants.size(),
                "a constant that is not in the rank's table");
  return arena.data() + description->constants[constant].offset;
}

const void *CudaRank::settingsPlace() {
  int64_t offset = isInStepBefore ? description->settingsBeforeOffset
                                  : description->settingsOffset;
  VEELINE_CHECK(offset >= 0, "a rank without settings");
  return arena.data() + offset;
}

void *CudaRank::norm(int32_t param) {
  VEELINE_CHECK(param >= 0 &&
                    static_cast<size_t>(param) < description->params.size() &&
                    description->normParts > 0,
                "a norm that the rank does not have");
  return arena.data() + description->normsOffset +
         int64_t(8) * param * description->normParts;
}

void CudaRank::update(int32_t, void *, void *, const void *const *, int32_t) {
  failOnDevice("a parameter is updated by the host");
}

void CudaRank::report(int32_t result, int32_t microbatch, const void *value) {
  checkReport(result, microbatch);
  if (description->resultsOffset < 0)
    return fail("it reports a result, and the artifact has no place for that "
                "(results_offset)");
  auto lock = serialize();
  auto at = static_cast<size_t>(result) * static_cast<size_t>(microbatches) +
            static_cast<size_t>(microbatch);
  int64_t bytes = artifact::byteSize((*resultTypes)[result].type);
  auto place = static_cast<uint64_t>(description->resultsOffset) + 8 * at;
  if (require(VEELINE_CALL(driver(), cuMemcpyDtoDAsync_v2,
                           arena.address() + place, addressOf(value),
                           static_cast<size_t>(bytes), currentStream())))
    isReported[at] = true;
}

void CudaRank::lateEnd() {
  auto lock = serialize();
  if (normBytes() > 0 &&
      !require(VEELINE_CALL(
          driver(), cuMemcpyDtoHAsync_v2, pinned.data() + lateNormsAt,
          arena.address() + static_cast<uint64_t>(description->normsOffset),
          static_cast<size_t>(normBytes()), computeStream())))
    return;
  // If late work runs alone, that is so when the turn has ended.
  if (require(stepMarks.write(computeStream(), 1, 1)) &&
      settings != otherSettings)
    whenLateIssued();
}

void CudaRank::opBegin(int32_t op) {
  VEELINE_CHECK(currentOp == -1, "an op begins inside of another");
  currentOp.store(op, std::memory_order_relaxed);
  move();
  transport->beginOp(*this, op);
  if (!times.empty())
    (void)require(times[timedSlot]->begin(op, currentStream()));
}

void CudaRank::opEnd(int32_t op) {
  VEELINE_CHECK(currentOp == op, "an op ends that has not begun");
  if (!times.empty())
    (void)require(times[timedSlot]->end(
        op, lengthOf(description->ops[op].microbatch), currentStream()));
  lastOp.store(op, std::memory_order_relaxed);
  currentOp.store(-1, std::memory_order_relaxed);
  move();
}
