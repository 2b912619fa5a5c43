//===- StreamOrder.cpp - compute streams of a program ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"

#include <map>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

int64_t veeline::pipe::getComputeStream(Operation *op) {
  auto attr = op->getAttrOfType<IntegerAttr>(computeStreamAttrName);
  return attr ? attr.getInt() : 0;
}

ArrayRef<int64_t> veeline::pipe::getAwaitedEvents(Operation *op) {
  auto attr = op->getAttrOfType<DenseI64ArrayAttr>(awaitedEventsAttrName);
  return attr ? attr.asArrayRef() : ArrayRef<int64_t>();
}

std::optional<int64_t> veeline::pipe::getRecordedEvent(Operation *op) {
  auto attr = op->getAttrOfType<IntegerAttr>(recordedEventAttrName);
  return attr ? std::optional(attr.getInt()) : std::nullopt;
}

static LogicalResult verifyOp(Operation *op, const StreamCounts &counts,
                              llvm::SmallDenseSet<int64_t> &recorded) {
  int64_t stream = getComputeStream(op);
  if (stream < 0 || stream >= counts.streams)
    return op->emitOpError() << "is on compute stream " << stream
                             << ", but its program has " << counts.streams;
  for (int64_t event : getAwaitedEvents(op))
    if (!recorded.contains(event))
      return op->emitOpError()
             << "waits for event " << event << ", which no op before records";
  std::optional<int64_t> event = getRecordedEvent(op);
  if (!event)
    return success();
  if (*event < 0 || *event >= counts.events)
    return op->emitOpError() << "records event " << *event
                             << ", but its program has " << counts.events;
  recorded.insert(*event);
  return success();
}

FailureOr<StreamCounts> veeline::pipe::getStreamCounts(ProgramOp program) {
  StreamCounts counts;
  if (Attribute attr = program->getAttr(computeStreamsAttrName)) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!numbers || numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 0)
      return program.emitOpError()
             << "attribute '" << computeStreamsAttrName
             << "' has to be an array of two numbers, of compute streams and "
                "of events, found "
             << attr;
    counts = {numbers[0], numbers[1]};
  }
  llvm::SmallDenseSet<int64_t> recorded;
  for (Operation &op : program.getBody().front())
    if (failed(verifyOp(&op, counts, recorded)))
      return failure();
  return counts;
}

//===----------------------------------------------------------------------===//
// Ops that have ended
//===----------------------------------------------------------------------===//

static void merge(MutableArrayRef<int64_t> point, ArrayRef<int64_t> other) {
  for (auto [number, of] : llvm::zip_equal(point, other))
    number = std::max(number, of);
}

StreamOrder::StreamOrder(int64_t numStreams)
    : known(numStreams, Point(numStreams, -1)), opsOf(numStreams) {}

/// For each stream, the last op that is over when `op` is.
StreamOrder::Point StreamOrder::getEnd(Operation *op) const {
  int64_t number = getNumber(op);
  Point end = atBegin[number];
  end[getComputeStream(op)] = number;
  return end;
}

/// The op that posted what `op` waits for, or null. The transfer begins after
/// the post.
static Operation *getPost(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  return wait ? wait.getHandle().getDefiningOp() : nullptr;
}

void StreamOrder::append(Operation *op, ArrayRef<Operation *> awaited,
                         ArrayRef<int64_t> received) {
  int64_t number = getNumOps(), stream = getComputeStream(op);
  Point &point = known[stream];
  for (Operation *other : awaited)
    merge(point, getEnd(other));
  if (Operation *post = getPost(op))
    merge(point, getEnd(post));
  if (!received.empty())
    merge(point, received);
  numbers[op] = number;
  atBegin.push_back(point);
  opsOf[stream].push_back(number);
  point[stream] = number;
}

bool StreamOrder::isKnown(int64_t stream, Operation *earlier) const {
  return known[stream][getComputeStream(earlier)] >= getNumber(earlier);
}

bool StreamOrder::isOverWith(Operation *earlier, Operation *op) const {
  return getEnd(op)[getComputeStream(earlier)] >= getNumber(earlier);
}

void StreamOrder::include(Point &point, Operation *op) const {
  int64_t &last = point[getComputeStream(op)];
  last = std::max(last, getNumber(op));
}

int64_t StreamOrder::findFirstAfter(const Point &point, int64_t stream) const {
  // What is known to be over only grows along a stream, so search by bisection.
  auto first = llvm::partition_point(opsOf[stream], [&](int64_t number) {
    for (auto [last, over] : llvm::zip_equal(point, atBegin[number]))
      if (last > over)
        return true;
    return false;
  });
  return first == opsOf[stream].end() ? getNumOps() : *first;
}

//===----------------------------------------------------------------------===//
// All ranks
//===----------------------------------------------------------------------===//

namespace {

/// Runs through the programs of all ranks in the order of execution. Tracks,
/// for each stream, what it knows to be over on all streams.
class OrderBuilder {
public:
  OrderBuilder(PipelineOp pipeline, ArrayRef<ProgramOp> programs)
      : channels(pipeline, programs) {
    for (ProgramOp program : programs) {
      ranks.emplace_back().program = program;
      ranks.back().next = program.getBody().front().begin();
    }
  }

  FailureOr<std::vector<StreamOrder>> build();

private:
  /// For each stream of all ranks, the number of an op, or -1. Empty if no rank
  /// has more than one stream, because then it is not needed.
  using Knowledge = std::vector<int64_t>;
  struct Rank {
    ProgramOp program;
    Block::iterator next;
    size_t firstStream = 0, numStreams = 1;
    std::vector<Knowledge> known; ///< For each stream of the rank.
    // For each event, the op that records it, and what that op knew.
    llvm::DenseMap<int64_t, Operation *> recorders;
    llvm::DenseMap<int64_t, Knowledge> recorded;

    bool isOver() { return next == program.getBody().front().end(); }
  };

  bool advance(size_t number, bool isForced);
  void run(size_t number, Operation *op, const Knowledge *message);
  template <typename OpT>
  std::pair<int64_t, int64_t> getKey(OpT message) const {
    return {channels.find(message),
            static_cast<int64_t>(message.getMicrobatch())};
  }

  ChannelTable channels;
  SmallVector<Rank> ranks;
  std::vector<StreamOrder> orders;
  /// For each channel and microbatch, what the sending stream knew.
  using Messages = std::map<std::pair<int64_t, int64_t>, Knowledge>;
  Messages messages;
  bool isSerial = true;
};

} // namespace

/// The receive that an op waits for, unless it is that of a length.
static RecvOp getReceivedValue(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  auto recv = wait ? wait.getHandle().getDefiningOp<RecvOp>() : RecvOp();
  return recv && !isLength(recv) ? recv : RecvOp();
}

/// Runs `op`. `message` is what the sender of the awaited message knew, or
/// null.
void OrderBuilder::run(size_t number, Operation *op, const Knowledge *message) {
  Rank &rank = ranks[number];
  StreamOrder &order = orders[number];
  int64_t stream = getComputeStream(op);
  Knowledge &known = rank.known[stream];
  SmallVector<Operation *> awaited;
  for (int64_t event : getAwaitedEvents(op)) {
    awaited.push_back(rank.recorders.lookup(event));
    merge(known, rank.recorded[event]);
  }
  ArrayRef<int64_t> received;
  if (message) {
    merge(known, *message);
    received =
        ArrayRef<int64_t>(*message).slice(rank.firstStream, rank.numStreams);
  }
  // A message leaves after all earlier ops on its stream.
  if (auto send = dyn_cast<SendOp>(op); send && !isSerial && !isLength(op))
    messages.try_emplace(getKey(send), known);
  if (!isSerial)
    known[rank.firstStream + stream] = order.getNumOps();
  order.append(op, awaited, received);
  if (std::optional<int64_t> event = getRecordedEvent(op)) {
    rank.recorders[*event] = op;
    rank.recorded[*event] = known;
  }
}

/// Runs a rank up to the first wait for a message that was not sent yet.
/// Returns whether any op ran. A program that has not been verified may wait
/// forever. With `isForced`, the first such wait is passed, without the
/// knowledge of a sender.
bool OrderBuilder::advance(size_t number, bool isForced) {
  bool hasMoved = false;
  for (Rank &rank = ranks[number]; !rank.isOver(); ++rank.next) {
    RecvOp recv = isSerial ? RecvOp() : getReceivedValue(&*rank.next);
    // A message is waited for only once.
    auto message =
        recv ? messages.extract(getKey(recv)) : Messages::node_type();
    if (recv && !message && !std::exchange(isForced, false))
      return hasMoved;
    run(number, &*rank.next, message ? &message.mapped() : nullptr);
    hasMoved = true;
  }
  return hasMoved;
}

FailureOr<std::vector<StreamOrder>> OrderBuilder::build() {
  size_t numStreams = 0;
  for (Rank &rank : ranks) {
    FailureOr<StreamCounts> counts = getStreamCounts(rank.program);
    if (failed(counts))
      return failure();
    rank.firstStream = numStreams;
    rank.numStreams = counts->streams;
    numStreams += counts->streams;
    isSerial &= counts->streams == 1;
    orders.emplace_back(counts->streams);
  }
  for (Rank &rank : ranks)
    rank.known.assign(rank.numStreams,
                      Knowledge(isSerial ? 0 : numStreams, -1));
  while (!llvm::all_of(ranks, [](Rank &rank) { return rank.isOver(); })) {
    bool hasMoved = false;
    for (size_t i = 0; i != ranks.size(); ++i)
      hasMoved |= advance(i, /*isForced=*/false);
    for (size_t i = 0; i != ranks.size() && !hasMoved; ++i)
      hasMoved = advance(i, /*isForced=*/true);
  }
  return std::move(orders);
}

FailureOr<std::vector<StreamOrder>>
veeline::pipe::getStreamOrders(PipelineOp pipeline,
                               ArrayRef<ProgramOp> programs) {
  return OrderBuilder(pipeline, programs).build();
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

ProgramDependences::ProgramDependences(ProgramOp program) {
  for (Reduction &reduction : getReductions(program))
    for (Operation *op : reduction.ops)
      for (Operation *user : op->getResult(0).getUsers())
        firstWaits[user] = reduction.firstWait;
}

void ProgramDependences::addAccumulation(
    int64_t chunk, SmallVectorImpl<Operation *> &sources) {
  if (Operation *last = lastOfChunk.lookup(chunk))
    sources.push_back(last);
}

void ProgramDependences::addSource(Value value,
                                   SmallVectorImpl<Operation *> &sources) {
  Operation *op = value.getDefiningOp();
  // A value of the step before exists already.
  if (!op)
    return;
  if (auto gradient = dyn_cast<GradientOp>(op))
    addAccumulation(gradient.getChunk(), sources);
  else if (!isa<HandleType>(value.getType()))
    sources.push_back(op);
}

/// Whether the values of a parameter are those of other ranks, too, from `op`
/// on.
static bool isEndOfLateGather(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  return wait && wait.getHandle().getDefiningOp<AllGatherOp>() && isLate(wait);
}

SmallVector<Operation *> ProgramDependences::next(Operation *op) {
  SmallVector<Operation *> sources;
  for (Value operand : op->getOperands())
    addSource(operand, sources);
  bool isWrite = isa<UpdateOp, AssignOp>(op);
  std::optional<schedule::Op> work = getScheduleOp(op);
  if (lastWrite && (isWrite || work))
    sources.push_back(lastWrite);
  if (isWrite)
    for (auto [stream, last] : lastOfStream)
      sources.push_back(last);
  if (work)
    addAccumulation(work->chunk, sources);
  if (auto sum = dyn_cast<AllReduceOp>(op))
    addAccumulation(sum.getChunk(), sources);
  if (isReduction(op) && previous && isReduction(previous)) {
    Attribute group = op->getAttr("group");
    if (group && previous->getAttr("group") == group)
      sources.push_back(previous);
  }
  if (Operation *first = firstWaits.lookup(op); first && first != op)
    sources.push_back(first);
  if (isWrite || isEndOfLateGather(op))
    lastWrite = op;
  if (work)
    lastOfChunk[work->chunk] = lastOfStream[getComputeStream(op)] = op;
  previous = op;
  return sources;
}

LogicalResult veeline::pipe::verifyStreamOrder(ProgramOp program,
                                               const StreamOrder &order) {
  ProgramDependences dependences(program);
  for (Operation &op : program.getBody().front())
    for (Operation *source : dependences.next(&op)) {
      StreamOrder::Point point = order.getNone();
      order.include(point, source);
      int64_t stream = getComputeStream(&op);
      if (order.findFirstAfter(point, stream) <= order.getNumber(&op))
        continue;
      InFlightDiagnostic diagnostic =
          op.emitOpError()
          << "on compute stream " << stream
          << " may begin before what it needs of compute stream "
          << getComputeStream(source)
          << " is over: no event orders them; run --pipe-assign-streams";
      diagnostic.attachNote(source->getLoc()) << "this op has to come first";
      return diagnostic;
    }
  return success();
}
