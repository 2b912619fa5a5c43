//===- RankMetadata.cpp - the metadata of a rank's program ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankMetadata.h"
#include "UpdateCosts.h"

#include "veeline/Analysis/CostModel.h"
#include "veeline/Conversion/AttentionDesc.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"
#include <limits>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

namespace {

/// Describes the program of one rank.
class RankWriter {
public:
  RankWriter(PipelineOp pipeline, const ChannelTable &channels,
             ProgramOp program, const MemoryPlan &plan,
             ConstantSections &constants)
      : pipeline(pipeline), edges(pipeline), channels(channels),
        program(program), plan(plan), constants(constants),
        params(pipeline.getParams()), chunks(pipeline.getChunks()),
        timeline(getTimelineOps(program)), reductions(getReductions(program)),
        updateCosts(pipeline, plan) {}

  FailureOr<artifact::Rank> write(int32_t object);

private:
  artifact::Op describeOp(Operation *op);
  void describeParams();
  void describeRounded();
  void describeOutputs();
  LogicalResult describeDevice(const MemoryPlan::Device &device);
  LogicalResult describeConstants(const MemoryPlan::Device &device);
  void describeSlices(Operation *op, int64_t number);
  int32_t getChunk(Operation *reduction);
  bool isUpdateOfScattered(int64_t param);
  void describeOwnedStates();
  void describeReductions();
  SmallVector<artifact::RegionKind> getResultKinds(Operation *op);
  llvm::DenseMap<Operation *, int64_t> numberOps();
  void
  describeReductionSlots(const llvm::DenseMap<Operation *, int64_t> &numbers);
  std::string nameSlot(OpResult result);
  void describeSlots();
  void describeHost(const llvm::DenseMap<Operation *, int64_t> &numbers);
  void addRegion(std::string name, artifact::RegionKind kind, int64_t offset,
                 int64_t bytes, int64_t first = -1, int64_t last = -1);
  int64_t getParamBytes(int64_t param) {
    return getByteSize(params[param].getValue().getType());
  }

  PipelineOp pipeline;
  EdgeTable edges;
  const ChannelTable &channels;
  ProgramOp program;
  const MemoryPlan &plan;
  ConstantSections &constants;
  SmallVector<ParamOp> params;
  SmallVector<ChunkOp> chunks;
  SmallVector<Operation *> timeline;
  SmallVector<Reduction> reductions;
  UpdateCosts updateCosts;
  SymbolTableCollection symbols;
  artifact::Rank rank;
};

} // namespace

static void setPredicted(Operation *op, artifact::Op &result) {
  auto times = op->getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
  if (!times)
    return;
  result.predictedBegin = times[0] / 1000.0;
  result.predictedEnd = times[1] / 1000.0;
}

/// Sets the duration of an op. `settleTimes` sets its begin later.
static void setDuration(double nanoseconds, artifact::Op &result) {
  result.predictedBegin = 0;
  result.predictedEnd = nanoseconds / 1000.0;
}

artifact::Op RankWriter::describeOp(Operation *op) {
  artifact::Op result;
  result.stream = getComputeStream(op);
  result.late = isLate(op);
  if (std::optional<schedule::Op> work = getScheduleOp(op)) {
    using Kind = schedule::OpKind;
    result.kind =
        work->kind == Kind::Forward         ? artifact::OpKind::forward
        : work->kind == Kind::Backward      ? artifact::OpKind::backward
        : work->kind == Kind::Recompute     ? artifact::OpKind::recomputation
        : work->kind == Kind::BackwardInput ? artifact::OpKind::backwardInput
                                            : artifact::OpKind::backwardWeight;
    result.chunk = work->chunk;
    result.microbatch = work->microbatch;
    setPredicted(op, result);
    return result;
  }
  auto setMessage = [&](auto message, artifact::OpKind kind) {
    result.kind = kind;
    result.channel = channels.find(message);
    if (edges[message.getEdge()].isValue())
      result.microbatch = message.getMicrobatch();
  };
  if (auto send = dyn_cast<SendOp>(op))
    setMessage(send, artifact::OpKind::send);
  if (RecvOp recv = getReceive(op))
    setMessage(recv, artifact::OpKind::recv);
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    bool isPost = reduction.ops.back() == op,
         isWait = reduction.firstWait == op;
    if (!isPost && !isWait)
      continue;
    using Kind = artifact::OpKind;
    result.kind = reduction.isGather()
                      ? (isPost ? Kind::allGather : Kind::allGatherWait)
                      : (isPost ? Kind::allReduce : Kind::allReduceWait);
    result.reduction = i;
    if (isWait)
      setPredicted(op, result);
  }
  if (auto update = dyn_cast<UpdateOp>(op)) {
    result.kind = artifact::OpKind::update;
    result.param = update.getParam();
    setDuration(updateCosts.estimate(update), result);
  }
  if (isa<ValidateOp>(op))
    result.kind = artifact::OpKind::validate;
  auto setCopy = [&](auto copy, artifact::OpKind kind) {
    result.kind = kind;
    result.chunk = static_cast<int32_t>(copy.getChunk());
    result.microbatch = static_cast<int32_t>(copy.getMicrobatch());
  };
  if (auto offload = dyn_cast<OffloadOp>(op))
    setCopy(offload, artifact::OpKind::offload);
  if (auto reload = dyn_cast<ReloadOp>(op))
    setCopy(reload, artifact::OpKind::reload);
  if (auto norm = dyn_cast<SquaredNormOp>(op)) {
    result.kind = artifact::OpKind::norm;
    result.param = norm.getParam();
    setDuration(updateCosts.estimate(norm), result);
  }
  return result;
}

void RankWriter::addRegion(std::string name, artifact::RegionKind kind,
                           int64_t offset, int64_t bytes, int64_t first,
                           int64_t last) {
  if (bytes == 0)
    return;
  rank.regions.push_back({std::move(name), kind, offset, bytes,
                          static_cast<int32_t>(first),
                          static_cast<int32_t>(last)});
}

/// Whether the rank gets no more than its share of the parameter's gradient.
bool RankWriter::isUpdateOfScattered(int64_t param) {
  return llvm::any_of(
      program.getBody().front().getOps<UpdateOp>(), [&](UpdateOp update) {
        return static_cast<int64_t>(update.getParam()) == param &&
               takesScattered(update);
      });
}

/// Describes parameters, with their optimiser state and gradient accumulators.
void RankWriter::describeParams() {
  int64_t shards = pipeline.getShards(program.getStage());
  for (const MemoryPlan::Param &param : plan.params) {
    std::string name = params[param.param].getParam().getName().str();
    int64_t bytes = getParamBytes(param.param);
    addRegion(name, artifact::RegionKind::param, param.value, bytes);
    if (param.state >= 0 && param.owner < 0)
      addRegion(name + (shards > 1 ? " state, 1/" + std::to_string(shards)
                                   : " state"),
                artifact::RegionKind::state, param.state, param.stateBytes);
    if (param.kept >= 0)
      addRegion(name + " before its update", artifact::RegionKind::state,
                param.kept, bytes + param.stateBytes);
    for (auto [i, place] : llvm::enumerate(param.versions))
      addRegion(name + " older value " + std::to_string(i),
                artifact::RegionKind::param, place, bytes);
    artifact::RankParam entry;
    entry.versionOffsets.assign(param.versions.begin(), param.versions.end());
    entry.param = param.param;
    entry.valueOffset = param.value;
    entry.stateOffset = param.state;
    entry.isHome = param.isHome;
    if (param.isHome)
      entry.shards = static_cast<int32_t>(shards);
    entry.scattered = isUpdateOfScattered(param.param);
    entry.owner = static_cast<int32_t>(param.owner);
    for (const MemoryPlan::Accumulator &accumulator : plan.accumulators) {
      if (accumulator.param != param.param)
        continue;
      entry.gradients.push_back(
          {static_cast<int32_t>(accumulator.chunk), accumulator.offset});
      addRegion(name + " gradient of chunk " +
                    std::to_string(accumulator.chunk),
                artifact::RegionKind::gradient, accumulator.offset, bytes);
    }
    rank.params.push_back(std::move(entry));
  }
  describeOwnedStates();
}

/// One region for the states that different ranks of the stage own, which lie
/// at the same places.
void RankWriter::describeOwnedStates() {
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0, count = 0;
  for (const MemoryPlan::Param &param : plan.params) {
    if (param.owner < 0 || param.state < 0)
      continue;
    ++count;
    begin = std::min(begin, param.state);
    end = std::max(end, param.state + param.stateBytes);
  }
  if (count > 0)
    addRegion("states of this rank's part of " + std::to_string(count) +
                  " parameters",
              artifact::RegionKind::state, begin, end - begin);
}

void RankWriter::describeRounded() {
  for (const MemoryPlan::Rounded &entry : plan.rounded) {
    ParamOp param = params[entry.param];
    auto type = cast<RankedTensorType>(param.getValue().getType());
    std::string name;
    llvm::raw_string_ostream(name)
        << param.getParam().getName() << " as " << entry.element;
    int64_t bytes = getByteSize(type.clone(entry.element));
    addRegion(name, artifact::RegionKind::param, entry.offset, bytes);
    for (auto [i, place] : llvm::enumerate(entry.versions))
      addRegion(name + ", older value " + std::to_string(i),
                artifact::RegionKind::param, place, bytes);
  }
}

void RankWriter::describeOutputs() {
  for (const MemoryPlan::Output &output : plan.outputs) {
    rank.outputs.push_back(
        {static_cast<int32_t>(output.result), output.offset});
    addRegion("result " + std::to_string(output.result),
              artifact::RegionKind::other, output.offset, output.bytes);
  }
}

static std::string describeWork(Operation *op) {
  std::optional<schedule::Op> work = getScheduleOp(op);
  auto describeCopy = [](const char *name, auto copy) {
    return std::string(name) + " c" + std::to_string(copy.getChunk()) + " m" +
           std::to_string(copy.getMicrobatch());
  };
  if (auto offload = dyn_cast<OffloadOp>(op))
    return describeCopy("offload", offload);
  if (auto reload = dyn_cast<ReloadOp>(op))
    return describeCopy("reload", reload);
  if (!work)
    return op->getName().stripDialect().str();
  return std::string(schedule::toString(work->kind)) + " c" +
         std::to_string(work->chunk) + " m" + std::to_string(work->microbatch);
}

/// Constants that this rank does not use get an empty section.
LogicalResult RankWriter::describeConstants(const MemoryPlan::Device &device) {
  rank.constants.resize(constants.size());
  for (const MemoryPlan::Constant &constant : device.constants) {
    FailureOr<int32_t> section = constants.getSection(constant.constant);
    if (failed(section))
      return failure();
    rank.constants[constant.constant] = {*section, constant.offset,
                                         constant.bytes};
    addRegion("constant " + std::to_string(constant.constant),
              artifact::RegionKind::constant, constant.offset, constant.bytes);
  }
  for (artifact::Constant &constant : rank.constants)
    if (constant.bytes == 0)
      constant.section = constants.getEmptySection();
  return success();
}

/// Describes the parts that only the arena of a GPU has.
LogicalResult RankWriter::describeDevice(const MemoryPlan::Device &device) {
  SmallVector<StringRef> names;
  for (BatchOp batch : pipeline.getBatches())
    names.push_back(batch.getName());
  for (BufferOp buffer : pipeline.getBuffers())
    names.push_back(buffer.getName());
  using Kind = artifact::RegionKind;
  for (const MemoryPlan::Input &input : device.inputs) {
    rank.inputs.push_back(
        {static_cast<int32_t>(input.input), input.offset, input.bytes});
    addRegion(names[input.input].str(), Kind::input, input.offset, input.bytes);
  }
  for (const MemoryPlan::Input &input : device.inputsBefore) {
    rank.inputsBefore.push_back(
        {static_cast<int32_t>(input.input), input.offset, input.bytes});
    addRegion((names[input.input] + " of the step before").str(), Kind::input,
              input.offset, input.bytes);
  }
  if (failed(describeConstants(device)))
    return failure();
  rank.libraryOffset = device.libraryOffset;
  rank.libraryBytes = device.libraryBytes;
  rank.computeStreams = device.streams;
  rank.events = device.events;
  int64_t ofStream = device.libraryBytes / device.streams;
  for (int64_t stream = 0; stream != device.streams; ++stream)
    addRegion(
        device.streams == 1 ? "libraries"
                            : "libraries on stream " + std::to_string(stream),
        Kind::library, device.libraryOffset + stream * ofStream, ofStream);
  if (device.resultBytes > 0) {
    rank.resultsOffset = device.resultsOffset;
    addRegion("results", Kind::report, device.resultsOffset,
              device.resultBytes);
  }
  if (device.settingsOffset < 0)
    return success();
  rank.settingsOffset = device.settingsOffset;
  rank.numSettings = device.numSettings;
  addRegion("settings", Kind::settings, device.settingsOffset,
            plan.getSettingsBytes());
  if (device.clipOffset >= 0) {
    rank.clipOffset = device.clipOffset;
    addRegion("what clips gradients", Kind::settings, device.clipOffset,
              plan.getClipBytes());
  }
  if (device.settingsBeforeOffset >= 0) {
    rank.settingsBeforeOffset = device.settingsBeforeOffset;
    addRegion("settings of the step before", Kind::settings,
              device.settingsBeforeOffset, plan.getSettingsBytes());
  }
  if (device.normParts == 0)
    return success();
  rank.normsOffset = device.normsOffset;
  rank.normParts = device.normParts;
  addRegion("parts of norms", Kind::report, device.normsOffset,
            device.getNormBytes(plan.params.size()));
  return success();
}

/// Adds the copies of microbatches that kernels cannot read in place.
void RankWriter::describeSlices(Operation *op, int64_t number) {
  auto slices = op->getAttrOfType<DenseI64ArrayAttr>(sliceOffsetsAttrName);
  if (!slices)
    return;
  schedule::Op work = *getScheduleOp(op);
  FailureOr<ChunkSignature> signature = getChunkSignature(
      getFunction(symbols, chunks[work.chunk], getFunctionKind(work.kind)));
  if (failed(signature))
    return;
  for (auto [argument, offset] : llvm::enumerate(slices.asArrayRef()))
    if (offset >= 0)
      addRegion("microbatch for " + describeWork(op),
                artifact::RegionKind::input, offset,
                getByteSize(signature->arguments[argument].type), number,
                number);
}

/// The chunk of a reduction. For a gather, the first chunk that uses the
/// parameter.
int32_t RankWriter::getChunk(Operation *reduction) {
  if (auto sum = dyn_cast<AllReduceOp>(reduction))
    return static_cast<int32_t>(sum.getChunk());
  Value param = params[getReducedParam(reduction)].getValue();
  return static_cast<int32_t>(getChunkUses(param).front().first);
}

void RankWriter::describeReductions() {
  for (Reduction &reduction : reductions) {
    Operation *first = reduction.ops.front();
    artifact::Reduction entry;
    entry.chunk = getChunk(first);
    auto setStream = [&](auto op) {
      entry.stream = op.getStream();
      entry.communicator = op.getCommunicator();
    };
    if (plan.device && reduction.isGather())
      setStream(cast<AllGatherOp>(first));
    else if (plan.device)
      setStream(cast<AllReduceOp>(first));
    rank.reductions.push_back(std::move(entry));
  }
  for (const MemoryPlan::ReducedPiece &piece : plan.reduced) {
    Type element = cast<ShapedType>(params[piece.param].getValue().getType())
                       .getElementType();
    const Reduction &reduction = reductions[piece.reduction];
    bool isDivided = reduction.isGather() || reduction.scatters(piece.param);
    int64_t owner = isDivided ? plan.findParam(piece.param)->owner : -1;
    rank.reductions[piece.reduction].pieces.push_back(
        {element.isF64() ? artifact::DataType::f64 : artifact::DataType::f32,
         piece.offset, piece.numElements, piece.buffer, piece.stride,
         /*sumKernel=*/-1, reduction.isGather(),
         reduction.scatters(piece.param), static_cast<int32_t>(owner)});
  }
}

/// For each result of an op, the kind of its region.
SmallVector<artifact::RegionKind> RankWriter::getResultKinds(Operation *op) {
  SmallVector<artifact::RegionKind> kinds(op->getNumResults(),
                                          artifact::RegionKind::edge);
  std::optional<schedule::Op> work = getScheduleOp(op);
  func::FuncOp func = work ? getFunction(symbols, chunks[work->chunk],
                                         getFunctionKind(work->kind))
                           : func::FuncOp();
  FailureOr<ChunkSignature> signature =
      func ? getChunkSignature(func) : FailureOr<ChunkSignature>(failure());
  if (isa<SquaredNormOp, GatherNormsOp, ClipOp>(op))
    kinds.assign(kinds.size(), artifact::RegionKind::other);
  if (isa<ReloadOp>(op))
    kinds.assign(kinds.size(), artifact::RegionKind::residual);
  if (failed(signature))
    return kinds;
  SmallVector<ChunkValue> values =
      getCarried(chunks[work->chunk], signature->results);
  for (auto [kind, value] : llvm::zip(kinds, values)) {
    if (value.kind == RoleKind::Residual || value.kind == RoleKind::Recomputed)
      kind = artifact::RegionKind::residual;
    if (value.kind == RoleKind::Saved)
      kind = artifact::RegionKind::saved;
  }
  return kinds;
}

/// For each op of the program, the number of the timeline op that runs, or runs
/// next.
llvm::DenseMap<Operation *, int64_t> RankWriter::numberOps() {
  llvm::DenseMap<Operation *, int64_t> numbers;
  int64_t next = 0, count = timeline.size();
  for (Operation &op : program.getBody().front()) {
    numbers[&op] = std::min(next, count - 1);
    if (next != count && timeline[next] == &op)
      ++next;
  }
  return numbers;
}

namespace {
/// Finds the last op that takes a value. If ops of the next step take it, the
/// last of those.
class LastUse {
public:
  LastUse(ProgramOp program, bool isDevice,
          const llvm::DenseMap<Operation *, int64_t> &numbers)
      : program(program), numbers(numbers) {
    if (isDevice)
      sendEnds = findSendEnds(program);
  }

  int64_t find(Value value) {
    last = numbers.lookup(value.getDefiningOp());
    ofNext = -1;
    addUses(value);
    for (OpOperand &use : value.getUses()) {
      if (auto wait = dyn_cast<WaitOp>(use.getOwner()))
        addUses(wait.getValue());
      if (auto restore = dyn_cast<RestoreOp>(use.getOwner()))
        addUses(restore.getCopies()[use.getOperandNumber()]);
    }
    return ofNext >= 0 ? ofNext : last;
  }

private:
  void addUses(Value used) {
    for (OpOperand &use : used.getUses()) {
      Operation *user = use.getOwner();
      last = std::max(last, numbers.lookup(user));
      if (Operation *end = sendEnds.lookup(user))
        last = std::max(last, numbers.lookup(end));
      if (isa<CarryOp>(user))
        addUsesOfNext(program.getBody().getArgument(use.getOperandNumber()));
    }
  }

  void addUsesOfNext(Value carried) {
    for (Operation *user : carried.getUsers()) {
      ofNext = std::max(ofNext, numbers.lookup(user));
      if (auto wait = dyn_cast<WaitOp>(user))
        for (Operation *taker : wait->getUsers())
          ofNext = std::max(ofNext, numbers.lookup(taker));
    }
  }

  ProgramOp program;
  const llvm::DenseMap<Operation *, int64_t> &numbers;
  llvm::DenseMap<Operation *, Operation *> sendEnds;
  int64_t last = -1, ofNext = -1;
};
} // namespace

void RankWriter::describeReductionSlots(
    const llvm::DenseMap<Operation *, int64_t> &numbers) {
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    Operation *first = reduction.ops.front();
    int64_t offset =
        first->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName)[0];
    int64_t bytes = 0, members = pipeline.getNumMembers(program.getStage());
    for (const artifact::ReducedPiece &piece : rank.reductions[i].pieces)
      bytes = std::max(bytes, piece.bufferOffset +
                                  (members - 1) * piece.stride - offset);
    addRegion("all-reduce of chunk " +
                  std::to_string(rank.reductions[i].chunk) +
                  " between processes",
              artifact::RegionKind::message, offset, bytes,
              numbers.lookup(first), numbers.lookup(reduction.lastWait));
  }
}

/// The op that waits until an offloaded value has left the device.
static Operation *findRelease(OffloadOp offload) {
  for (Operation *user : offload.getValues().front().getUsers())
    if (auto release = dyn_cast<ReleaseOp>(user);
        release && release.getChunk() == offload.getChunk() &&
        release.getMicrobatch() == offload.getMicrobatch())
      return release;
  return nullptr;
}

/// The name of a slot that holds `result`.
std::string RankWriter::nameSlot(OpResult result) {
  auto recv = dyn_cast<RecvOp>(result.getOwner());
  if (!recv)
    return "result " + std::to_string(result.getResultNumber()) + " of " +
           describeWork(result.getOwner());
  bool isShape = recv.getDirection() == Direction::Shape;
  int64_t microbatch =
      edges[recv.getEdge()].isValue() ? recv.getMicrobatch() : 0;
  return (isShape ? "shape of edge " : "message of edge ") +
         std::to_string(recv.getEdge()) + " m" + std::to_string(microbatch);
}

void RankWriter::describeSlots() {
  llvm::DenseMap<Operation *, int64_t> numbers = numberOps();
  LastUse lastUse(program, plan.device.has_value(), numbers);
  describeReductionSlots(numbers);
  describeHost(numbers);
  for (Operation &op : program.getBody().front()) {
    // Offloaded values are in the host's memory.
    if (isReduction(&op) || isa<OffloadOp>(op))
      continue;
    int64_t number = numbers.lookup(&op);
    if (auto workspace = op.getAttrOfType<IntegerAttr>(workspaceOffsetAttrName))
      addRegion("workspace of " + describeWork(&op),
                artifact::RegionKind::workspace, workspace.getInt(),
                op.getAttrOfType<IntegerAttr>(workspaceSizeAttrName).getInt(),
                number, number);
    describeSlices(&op, number);
    auto offsets = op.getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
    if (!offsets)
      continue;
    auto recv = dyn_cast<RecvOp>(op);
    SmallVector<artifact::RegionKind> kinds = getResultKinds(&op);
    for (OpResult result : op.getResults()) {
      int64_t offset = offsets[result.getResultNumber()];
      if (offset < 0)
        continue;
      Type type =
          recv ? recv.getHandle().getType().getValue() : result.getType();
      addRegion(nameSlot(result),
                recv ? artifact::RegionKind::message
                     : kinds[result.getResultNumber()],
                offset, getByteSize(type), number, lastUse.find(result));
    }
  }
}

/// Describes offloaded values: their places in the host's memory, and the times
/// of copies in both directions.
void RankWriter::describeHost(
    const llvm::DenseMap<Operation *, int64_t> &numbers) {
  auto bandwidth = pipeline->getAttrOfType<FloatAttr>(offloadAttrName);
  for (auto offload : program.getBody().front().getOps<OffloadOp>()) {
    auto reload = cast<ReloadOp>(*offload.getCopies().front().user_begin());
    Operation *restore = *reload.getCopies().front().user_begin();
    Operation *release = findRelease(offload);
    auto offsets = offload->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
    int64_t sum = 0;
    for (auto [copy, offset] :
         llvm::zip_equal(offload.getCopies(), offsets.asArrayRef())) {
      int64_t bytes = getByteSize(copy.getType());
      sum += bytes;
      rank.hostRegions.push_back(
          {"result " + std::to_string(cast<OpResult>(copy).getResultNumber()) +
               " of " + describeWork(offload),
           artifact::RegionKind::residual, offset, bytes,
           static_cast<int32_t>(numbers.lookup(offload)),
           static_cast<int32_t>(numbers.lookup(restore))});
    }
    if (bandwidth && release)
      rank.hostCopies.push_back({static_cast<int32_t>(numbers.lookup(offload)),
                                 static_cast<int32_t>(numbers.lookup(reload)),
                                 static_cast<int32_t>(numbers.lookup(release)),
                                 sum / bandwidth.getValueAsDouble() / 1000});
  }
}

/// Reads a table of `Desc` entries of a module. `pass` writes the table; `what`
/// is its name in errors. Compiled code refers to entries by number, so none
/// may be missing.
template <typename Desc>
static auto describeTable(ModuleOp module, StringRef table, StringRef what,
                          StringRef pass)
    -> FailureOr<std::vector<decltype(toArtifact(std::declval<Desc>()))>> {
  std::vector<decltype(toArtifact(std::declval<Desc>()))> entries;
  auto array = module->getAttrOfType<ArrayAttr>(table);
  if (!array)
    return entries;
  for (auto [i, attr] : llvm::enumerate(array)) {
    auto dict = dyn_cast<DictionaryAttr>(attr);
    FailureOr<Desc> desc = failure();
    if (dict)
      desc = Desc::fromAttribute(dict);
    if (failed(desc))
      return module.emitError()
             << "entry " << i << " of '" << table << "' does not describe a "
             << what << ": " << attr << "; run --" << pass << " again";
    entries.push_back(toArtifact(*desc));
  }
  return entries;
}

FailureOr<artifact::Rank> RankWriter::write(int32_t object) {
  auto module = program->getParentOfType<ModuleOp>();
  auto gemms = describeTable<GemmDesc>(module, gemmsAttrName, "matrix product",
                                       "pipe-lower-gemms");
  auto convolutions = describeTable<ConvolutionDesc>(
      module, convolutionsAttrName, "convolution", "pipe-lower-convolutions");
  auto attentions = describeTable<AttentionDesc>(
      module, attentionsAttrName, "call of attention", "pipe-call-attention");
  if (failed(gemms) || failed(convolutions) || failed(attentions))
    return failure();
  rank.stepSymbol = getStepName(program);
  if (hasLateOps(program)) {
    rank.firstStepSymbol = getStepName(program, StepPart::First);
    rank.lateSymbol = getStepName(program, StepPart::Late);
  }
  rank.object = object;
  rank.arenaBytes = plan.arenaBytes;
  rank.hostBytes = plan.hostBytes;
  rank.numOffloads = static_cast<int32_t>(
      llvm::range_size(program.getBody().front().getOps<OffloadOp>()));
  rank.peakLiveBytes = plan.peakLiveBytes;
  rank.gemms = std::move(*gemms);
  rank.convolutions = std::move(*convolutions);
  rank.attentions = std::move(*attentions);
  for (Operation *op : timeline)
    rank.ops.push_back(describeOp(op));
  describeParams();
  describeRounded();
  describeOutputs();
  rank.updateWorkspace = plan.updateWorkspace;
  addRegion("workspace of updates", artifact::RegionKind::workspace,
            plan.updateWorkspace, plan.updateWorkspaceBytes);
  if (plan.device && failed(describeDevice(*plan.device)))
    return failure();
  describeReductions();
  describeSlots();
  return std::move(rank);
}

FailureOr<artifact::Rank>
compiler::describeRank(PipelineOp pipeline, const ChannelTable &channels,
                       ProgramOp program, const MemoryPlan &plan,
                       ConstantSections &constants, int32_t object) {
  return RankWriter(pipeline, channels, program, plan, constants).write(object);
}
