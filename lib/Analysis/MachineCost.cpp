//===- MachineCost.cpp - times by a machine's table -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/MachineCost.h"

#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/CostOpInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

#include <algorithm>

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             tensor::ExtractSliceOp, pipe::BoundaryOp>(op);
}

/// Whether `op` is a padding that the library takes as parameters, so that no
/// padded image is ever in memory.
static bool isInLibrary(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  return pad && isLibraryPadding(pad);
}

/// The value that `value` is a view of. A slice counts as a value of its own,
/// because one slice of an argument may be in a cache where others are not.
static Value getWhole(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && !isa<tensor::ExtractSliceOp>(op) &&
         (isView(op) || isInLibrary(op))) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return value;
}

double MachineCost::timeOf(StringRef name, double size, double amount) const {
  return amount > 0 ? amount / table.getRate(name, std::max(size, 1.0)) : 0;
}

double MachineCost::timeOfBytes(StringRef name, uint64_t bytes) const {
  return timeOf(name, bytes, bytes);
}

/// The time to move `bytes` of the `size` bytes that an op of class `name`
/// moves, at a reuse distance of `distance`. Beyond the distance at which the
/// class was measured, the rate is that of a larger loop that touches
/// `distance` bytes. To convert this to a size: an elementwise loop reads two
/// operands and writes a third, which counts twice; a transposing loop reads
/// one operand by columns and two by rows.
double MachineCost::timeToMove(StringRef name, uint64_t bytes, uint64_t size,
                               uint64_t distance) const {
  double sizeOfDistance = name == "elementwise"  ? 4.0 / 3
                          : name == "transposed" ? 1.0 / 3
                                                 : 1;
  double larger =
      distance > MachineTable::coldBytes ? distance * sizeOfDistance : 0;
  return timeOf(name, std::max<double>(size, larger), bytes);
}

uint64_t MachineCost::getDistance(Value value) const {
  value = getWhole(value);
  auto last = lastUses.find(value);
  if (last != lastUses.end())
    return std::min(clock - last->second, cycle);
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || isa<BlockArgument>(getWhole(slice.getSource())))
    return cycle;
  return getDistance(slice.getSource());
}

void MachineCost::touch(Value value, uint64_t bytes) {
  clock += bytes;
  lastUses[getWhole(value)] = clock;
}

//===----------------------------------------------------------------------===//
// Calls of the library
//===----------------------------------------------------------------------===//

static int64_t countOf(ArrayRef<int64_t> ranges, std::optional<unsigned> loop) {
  return loop && !ShapedType::isDynamic(ranges[*loop]) ? ranges[*loop] : 1;
}

/// The layout of x: `last` if its channels are next to each other in memory.
static StringRef getLayout(linalg::LinalgOp op,
                           const Convolution &convolution) {
  AffineMap x = op.getIndexingMapsArray()[convolution.x];
  std::optional<unsigned> channels = findDimension(
      x, convolution.input ? convolution.input : convolution.group);
  return channels && *channels + 1 == x.getNumResults() ? "last" : "first";
}

static StringRef getWindowClass(ArrayRef<int64_t> ranges,
                                const Convolution &convolution) {
  int64_t inputs = countOf(ranges, convolution.input);
  if (countOf(ranges, convolution.group) > 1 && inputs == 1)
    return "depthwise";
  if (inputs <= 4)
    return "image";
  bool isPointwise = true, isStrided = false;
  for (const ConvolutionWindow &window : convolution.windows) {
    isPointwise &= ranges[window.kernel] == 1;
    isStrided |= window.stride > 1;
  }
  return isPointwise ? "pointwise" : isStrided ? "strided" : "window";
}

static StringRef getKind(ConvolutionKind kind) {
  switch (kind) {
  case ConvolutionKind::Forward:
    return "forward";
  case ConvolutionKind::BackwardData:
    return "data";
  case ConvolutionKind::BackwardWeights:
    return "weights";
  }
  return "forward";
}

/// The bytes of `type` in the library, which computes in f32 if types are
/// smaller.
static uint64_t getLibraryBytes(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  bool isSmall = element && element.getWidth() < 32;
  return getByteSize(type) * (isSmall ? 32 / element.getWidth() : 1);
}

/// The time of our own loops that convert operands of smaller types to f32 and
/// the result back. Bytes that they write count twice.
double MachineCost::estimateConversions(linalg::LinalgOp op) const {
  double time = 0;
  auto convert = [&](uint64_t from, uint64_t to) {
    if (from != to)
      time += timeOfBytes("elementwise", from + 2 * to);
  };
  for (Value operand : op.getDpsInputs())
    convert(getByteSize(operand.getType()), getLibraryBytes(operand.getType()));
  Type result = op->getResult(0).getType();
  convert(getLibraryBytes(result), getByteSize(result));
  return time;
}

/// The time of a convolution. Adds the time of reading weights from memory and
/// of reordering them, because weights were in a cache when the class was
/// measured.
double MachineCost::estimateConvolution(linalg::LinalgOp op,
                                        const Convolution &convolution) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto bytesOf = [&](unsigned operand) {
    return getLibraryBytes(op->getOperand(operand).getType());
  };
  uint64_t images = bytesOf(convolution.x) + bytesOf(convolution.y);
  StringRef window = getWindowClass(ranges, convolution);
  std::string name = (getLayout(op, convolution) + " " + window + " " +
                      getKind(convolution.kind))
                         .str();
  int64_t inputs = countOf(ranges, convolution.input);
  int64_t outputs = countOf(ranges, convolution.output);
  double compute =
      window == "depthwise"
          ? timeOfBytes(name, images)
          : timeOf(name,
                   window == "image" ? outputs : std::min(inputs, outputs),
                   estimateCost(op).contractionFlops);
  uint64_t weights = 2 * bytesOf(convolution.w);
  double time = std::max(compute, timeOfBytes("elementwise", images)) +
                timeToMove("elementwise", weights, weights, cycle) +
                estimateConversions(op) + table.callNanoseconds;
  for (Value operand : op.getDpsInputs())
    touch(operand, getByteSize(operand.getType()));
  touch(op->getResult(0), getByteSize(op->getResult(0).getType()));
  return time;
}

/// The number of products in a batch. Their size does not depend on it.
static int64_t countBatch(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop = 0; loop != ranges.size(); ++loop)
    if (llvm::all_of(op.getIndexingMapsArray(),
                     [&](AffineMap map) { return map.isFunctionOfDim(loop); }))
      count *= countOf(ranges, loop);
  return count;
}

static StringRef getProductClass(Type result) {
  return getElementTypeOrSelf(result).isF64() ? "product f64" : "product f32";
}

double MachineCost::estimateProduct(linalg::LinalgOp op) {
  double flops = estimateCost(op).contractionFlops;
  int64_t batch = std::max<int64_t>(countBatch(op), 1);
  uint64_t read = 0, written = getLibraryBytes(op->getResult(0).getType());
  for (Value operand : op.getDpsInputs())
    read += getLibraryBytes(operand.getType());
  double memory = 0;
  for (Value operand : op.getDpsInputs())
    memory += timeToMove("row", getLibraryBytes(operand.getType()), read,
                         getDistance(operand));
  memory += timeToMove("outer", written, written, cycle);
  for (Value operand : op.getDpsInputs())
    touch(operand, getByteSize(operand.getType()));
  touch(op->getResult(0), getByteSize(op->getResult(0).getType()));
  StringRef name = getProductClass(op->getResult(0).getType());
  return std::max(timeOf(name, flops / batch, flops), memory) +
         estimateConversions(op) + table.callNanoseconds;
}

/// The time of attention: that of its products, then of a softmax, whose scores
/// go at least through a cache.
double MachineCost::estimateAttention(Operation *op) {
  OpCost cost = estimateCost(op);
  auto attention = cast<pipe::AttentionOpInterface>(op);
  double one = cost.contractionFlops;
  for (int64_t extent : ArrayRef(attention.getScoreShape()).drop_back(2))
    one /= ShapedType::isDynamic(extent) ? 1 : std::max<int64_t>(extent, 1);
  // The operands include the destinations of results.
  for (Value operand : op->getOperands())
    touch(operand, getByteSize(operand.getType()));
  for (Value result : op->getResults())
    touch(result, 0);
  return timeOf("product f32", one, cost.contractionFlops) +
         timeOf("function", 1, cost.otherFlops / 16.0) +
         timeOfBytes("elementwise", cost.bytes) + table.callNanoseconds;
}

//===----------------------------------------------------------------------===//
// Loops of generated code
//===----------------------------------------------------------------------===//

static bool isMap(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumReductionLoops() == 0;
}

/// Whether `op` is a loop that computes its inputs instead of loading them.
static bool isFusing(Operation *op) {
  return isa<linalg::LinalgOp>(op) && !isContraction(op);
}

/// Whether a value is never in memory because its users compute it. `depth`
/// bounds the number of views that are looked through.
static bool isComputedByUsers(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  // A call that adds to a fill with zeros overwrites its result instead, so
  // nothing reads the zeros.
  if (isa<linalg::FillOp>(op))
    return llvm::all_of(value.getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  if (isView(op) && !isComputedByUsers(op->getOperand(0), depth - 1))
    return false;
  if (!isView(op) && !isMap(op))
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return isFusing(user) ||
           (isView(user) && user->getNumResults() == 1 &&
            llvm::all_of(user->getResult(0).getUsers(), isFusing));
  });
}

/// A write counts twice, because a cache line is read before it is written.
static uint64_t getWrittenBytes(Value result) {
  return 2 * getByteSize(result.getType());
}

static bool readsOutput(linalg::LinalgOp op, OpOperand &operand) {
  return op.payloadUsesValueFromOperand(&operand);
}

/// Whether `op` has windows, like a pooling. It then reads an element once for
/// each window that contains it.
static bool hasWindows(linalg::LinalgOp op) {
  return llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return !map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
}

/// The extent of the dimension that vectors run along.
static int64_t getLastExtent(Type type) {
  auto shaped = cast<ShapedType>(type);
  int64_t rank = shaped.getRank();
  return rank == 0 || shaped.isDynamicDim(rank - 1)
             ? 1
             : shaped.getDimSize(rank - 1);
}

/// The innermost dimension of the results of a map that has more than one
/// element.
static AffineExpr getFastest(AffineMap map, ArrayRef<int64_t> ranges) {
  for (AffineExpr result : llvm::reverse(map.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (!loop || ranges[loop.getPosition()] != 1)
      return result;
  }
  return {};
}

/// Whether neighbours in the result are in different rows of the operand, as in
/// a transposition.
static bool isTransposed(linalg::LinalgOp op, OpOperand &operand) {
  if (!isMap(op))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  AffineMap from = op.getMatchingIndexingMap(&operand);
  AffineMap to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto fastest = dyn_cast_or_null<AffineDimExpr>(getFastest(to, ranges));
  return fastest && from.isFunctionOfDim(fastest.getPosition()) &&
         getFastest(from, ranges) != fastest;
}

namespace {
/// What the body of a loop computes, in all iterations.
struct BodyCounts {
  double iterations = 1, arithmetic = 0, functions = 0;
};
} // namespace

static BodyCounts countBody(linalg::LinalgOp op) {
  BodyCounts counts;
  for (int64_t range : op.getStaticLoopRanges())
    counts.iterations *= ShapedType::isDynamic(range) ? 1 : range;
  for (Operation &nested : *op.getBlock()) {
    if (isa<math::MathDialect>(nested.getDialect()))
      counts.functions += counts.iterations;
    else if (isa<arith::ArithDialect>(nested.getDialect()) &&
             !isa<arith::ConstantOp>(nested))
      counts.arithmetic += counts.iterations;
  }
  return counts;
}

namespace {
/// A tensor that a loop reads or writes.
struct Movement {
  Value value;
  StringRef name; ///< The name of its class.
  uint64_t bytes;
  bool isWritten = false;
};
} // namespace

/// All that `op`, which is not a library call, reads and writes.
static SmallVector<Movement> getMovements(linalg::LinalgOp op) {
  SmallVector<Movement> moved;
  StringRef rows = isMap(op) ? "elementwise" : "sum";
  llvm::SmallDenseSet<Value> seen;
  for (OpOperand *input : op.getDpsInputOperands())
    if (seen.insert(input->get()).second && !isComputedByUsers(input->get()))
      moved.push_back({input->get(),
                       isTransposed(op, *input) ? "transposed" : rows,
                       getByteSize(input->get().getType())});
  for (OpOperand &output : op.getDpsInitsMutable()) {
    Value result = op.getTiedOpResult(&output);
    if (!isComputedByUsers(result))
      moved.push_back({result, rows, getWrittenBytes(result), true});
    else if (readsOutput(op, output) && isMap(op) &&
             !isComputedByUsers(output.get()))
      moved.push_back({output.get(), rows, getByteSize(result.getType())});
  }
  return moved;
}

double MachineCost::estimateLoops(linalg::LinalgOp op) {
  SmallVector<Movement> moved = getMovements(op);
  double memory = 0;
  for (const Movement &one : moved) {
    uint64_t size = 0;
    for (const Movement &other : moved)
      size += other.name == one.name ? other.bytes : 0;
    memory += timeToMove(one.name, one.bytes, size,
                         one.isWritten ? cycle : getDistance(one.value));
  }
  for (const Movement &one : moved)
    touch(one.value, getByteSize(one.value.getType()));
  BodyCounts counts = countBody(op);
  double functions = timeOf("function", 1, counts.functions);
  double compute =
      hasWindows(op)
          ? timeOf("window", getLastExtent(op->getResult(0).getType()),
                   counts.iterations)
          : timeOf("arithmetic", 1, counts.arithmetic);
  return std::max(compute + functions, memory);
}

/// The time of an op that only moves data: a padding, an insertion or a gather.
/// Half of what it moves is written. The tensor that something is inserted into
/// is not copied.
double MachineCost::estimateCopy(Operation *op) {
  uint64_t read = estimateCost(op).bytes / 2, written = 2 * read;
  if (read == 0)
    return 0;
  uint64_t distance =
      op->getNumOperands() ? getDistance(op->getOperand(0)) : cycle;
  double time = timeToMove("elementwise", read, read + written, distance) +
                timeToMove("elementwise", written, read + written, cycle);
  if (op->getNumOperands())
    touch(op->getOperand(0), read);
  for (Value result : op->getResults())
    touch(result, written / 2);
  return time;
}

/// The time of an op that declares its own work: the time of its products and
/// other arithmetic, or of the bytes that it moves if that is longer.
double MachineCost::estimateWork(Operation *op) {
  OpCost cost = estimateCost(op);
  double compute =
      timeOf("product f32", cost.contractionFlops, cost.contractionFlops) +
      timeOf("arithmetic", 1, cost.otherFlops);
  return std::max(compute, estimateCopy(op));
}

double MachineCost::estimate(Region &region) {
  double time = 0;
  for (Operation &op : region.getOps())
    time += estimate(&op);
  return time;
}

double MachineCost::estimate(Operation *op) {
  if (isa<CostOpInterface>(op))
    return estimateWork(op);
  if (isa<pipe::AttentionOpInterface>(op))
    return estimateAttention(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!isContraction(op))
      return estimateLoops(structured);
    if (isLibraryConvolution(structured))
      return estimateConvolution(structured, *matchConvolution(structured));
    return estimateProduct(structured);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    uint64_t count = trips ? trips->getZExtValue() : 1, begin = clock;
    // What an iteration passes on to the next one has just been written.
    for (Value value : loop.getRegionIterArgs())
      touch(value, 0);
    double time = estimate(loop.getRegion()) * count;
    clock = begin + (clock - begin) * count;
    for (Value value : loop.getResults())
      touch(value, 0);
    return time;
  }
  // Which branch runs is not known, so the longer one counts.
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return std::max(estimate(branch.getThenRegion()),
                    estimate(branch.getElseRegion()));
  if (isInLibrary(op))
    return 0;
  return estimateCopy(op);
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

uint64_t veeline::getFootprint(Block &block) {
  uint64_t bytes = 0;
  for (BlockArgument argument : block.getArguments())
    bytes += getByteSize(argument.getType());
  for (Operation &op : block)
    // The tensor that something is inserted into is not copied.
    if (!isView(&op) && !isInLibrary(&op) && !isa<tensor::InsertSliceOp>(op))
      for (Value result : op.getResults())
        if (isa<ShapedType>(result.getType()) && !isComputedByUsers(result))
          bytes += getByteSize(result.getType());
  return bytes;
}

double MachineCost::estimateAccumulation(uint64_t bytes) const {
  // The new gradient was just written; the sum is read from memory and written
  // back.
  return timeToMove("elementwise", bytes, 3 * bytes, 0) +
         timeToMove("elementwise", 2 * bytes, 3 * bytes, cycle);
}
