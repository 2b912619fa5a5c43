//===- KernelCheck.cpp - a kernel against its host twin -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"

#include "Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

bool veeline::gpu::hasFloatReduction(KernelSource source) {
  return source.twin
      .walk([](linalg::LinalgOp op) {
        bool hasFloats = llvm::any_of(op.getDpsInits(), [](Value init) {
          return isa<FloatType>(getElementTypeOrSelf(init.getType()));
        });
        return hasFloats && op.getNumReductionLoops() ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if `value` is computed from a number of a buffer.
static bool isLoadedInteger(Value value) {
  if (!value.getType().isIntOrIndex())
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !value.getType().isIndex();
  return isa<memref::LoadOp>(op) ||
         (isa<arith::ArithDialect>(op->getDialect()) &&
          llvm::any_of(op->getOperands(), isLoadedInteger));
}

/// The smallest dimension that a number of a buffer is an index of.
static int64_t getIndexedSize(KernelSource source) {
  int64_t smallest = 1000;
  auto include = [&](MemRefType type, ValueRange indices) {
    for (auto [size, index] : llvm::zip(type.getShape(), indices))
      if (isLoadedInteger(index))
        smallest = std::min(smallest, size);
  };
  source.twin.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      include(load.getMemRefType(), load.getIndices());
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      include(store.getMemRefType(), store.getIndices());
  });
  return smallest;
}

static std::optional<ElementKind> getKind(Type type) {
  if (type.isF64())
    return ElementKind::f64;
  if (type.isF32())
    return ElementKind::f32;
  if (type.isBF16())
    return ElementKind::bf16;
  if (type.isF16())
    return ElementKind::f16;
  if (type.isIndex() || type.isInteger(64))
    return ElementKind::i64;
  if (type.isInteger(32))
    return ElementKind::i32;
  if (type.isInteger(16))
    return ElementKind::i16;
  if (type.isInteger(8))
    return ElementKind::i8;
  if (type.isInteger(1))
    return ElementKind::i1;
  return std::nullopt;
}

/// The most iterations of loops that an op reduces.
static double countAdded(KernelSource source) {
  int64_t most = 1;
  source.twin.walk([&](linalg::LinalgOp op) {
    int64_t count = 1;
    for (auto [size, kind] :
         llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        count *= size;
    most = std::max(most, count);
  });
  return static_cast<double>(most);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

/// What floats of a run are like.
enum class Style { positive, signedValues, outliers, special };

struct Argument {
  ElementKind kind;
  int64_t count;
  bool isBuffer, isRead;
};

/// The arguments of one run.
class Arguments {
public:
  Arguments(ArrayRef<Argument> types, int64_t alignment);

  /// Integers are below `bound`: they may be indices.
  void fill(Style style, int64_t bound, uint64_t seed);
  void copyFrom(const Arguments &other);
  /// Changes every float by up to `part` of it.
  void perturb(double part, uint64_t seed);

  std::vector<const void *> getParams();
  std::vector<BufferRange> getRanges() const;
  std::string checkGuards() const;

  ArrayRef<Argument> types;
  std::vector<Buffer> buffers;

private:
  std::vector<void *> addresses;
};

} // namespace

Arguments::Arguments(ArrayRef<Argument> types, int64_t alignment)
    : types(types) {
  buffers.reserve(types.size());
  for (const Argument &argument : types)
    buffers.emplace_back(argument.kind, argument.count, alignment);
  for (Buffer &buffer : buffers)
    addresses.push_back(buffer.data());
}

static double draw(std::mt19937_64 &engine, double low, double high) {
  return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
}

static double drawFloat(std::mt19937_64 &engine, Style style) {
  if (style == Style::positive)
    return draw(engine, 0.1, 2);
  static const double special[] = {0.0,
                                   -0.0,
                                   1e-42,
                                   -1e-42,
                                   1e30,
                                   -1e30,
                                   88.0,
                                   -100.0,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  // Of what a maximum is taken of, the largest matters even if it cancels.
  if (style == Style::outliers && engine() % 256 == 0)
    return draw(engine, -2, 2) * std::pow(10, draw(engine, 0, 3));
  if (style == Style::special && engine() % 8 == 0)
    return special[engine() % std::size(special)];
  return draw(engine, -2, 2);
}

void Arguments::fill(Style style, int64_t bound, uint64_t seed) {
  // Integers are the same in every style.
  std::mt19937_64 engine(seed), integers(seed + 1);
  for (Buffer &buffer : buffers) {
    auto below = static_cast<uint64_t>(bound);
    if (buffer.kind() == ElementKind::i1)
      below = 2;
    if (buffer.kind() == ElementKind::i8)
      below = std::min<uint64_t>(below, 100);
    for (int64_t i = 0; i < buffer.count(); ++i)
      buffer.set(i, isFloat(buffer.kind())
                        ? drawFloat(engine, style)
                        : static_cast<double>(integers() % below));
  }
}

void Arguments::copyFrom(const Arguments &other) {
  for (size_t i = 0; i < buffers.size(); ++i)
    buffers[i].copyFrom(other.buffers[i]);
}

void Arguments::perturb(double part, uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (Buffer &buffer : buffers)
    if (isFloat(buffer.kind()))
      for (int64_t i = 0; i < buffer.count(); ++i)
        buffer.set(i, buffer.get(i) * (1 + draw(engine, -part, part)));
}

std::vector<const void *> Arguments::getParams() {
  std::vector<const void *> params;
  for (size_t i = 0; i < buffers.size(); ++i)
    params.push_back(types[i].isBuffer
                         ? static_cast<const void *>(&addresses[i])
                         : buffers[i].data());
  return params;
}

std::vector<BufferRange> Arguments::getRanges() const {
  std::vector<BufferRange> ranges;
  for (size_t i = 0; i < buffers.size(); ++i)
    ranges.push_back({"argument " + std::to_string(i), buffers[i].data(),
                      buffers[i].bytes(), bytesOf(buffers[i].kind()),
                      !types[i].isRead});
  return ranges;
}

std::string Arguments::checkGuards() const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].areGuardsWhole())
      return "memory beside argument " + std::to_string(i) + " is written";
  return {};
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {

class KernelChecker {
public:
  KernelChecker(KernelSource source, const Kernel &code, uint64_t seed)
      : source(source), code(code), seed(seed) {}

  KernelVerdict run();

private:
  bool readTypes();
  bool fail(const std::string &what);
  bool chooseBound();
  std::string runTwin(Arguments &arguments);
  bool runThreads(Arguments &arguments, Order order);
  bool check(Style style);
  void measure(const Arguments &input, const Arguments &reference);
  double getAllowed(size_t argument, int64_t i, double value) const;
  bool compare(const Arguments &reference, const Arguments &result);
  bool compareElement(size_t argument, int64_t i, const Buffer &expected,
                      const Buffer &found);
  std::string describe(size_t argument, int64_t i, const Buffer &a,
                       const Buffer &b) const;

  KernelSource source;
  const Kernel &code;
  uint64_t seed;
  bool isExact = true;
  double unit = 0;
  /// Of the longest sum.
  double numAdded = 1;
  /// Sums and products themselves are in a narrow type.
  bool isNarrow() const { return unit > epsilonOf(ElementKind::f32); }
  std::vector<Argument> types;
  int64_t bound = 1;
  KernelVerdict verdict;
  /// Of the last run: what was read that has no meaning.
  std::string garbage;
  /// How far results move where inputs do so by a few roundings, and the mean
  /// of that.
  std::vector<std::vector<double>> moved;
  std::vector<double> meanMoved;
};

} // namespace

bool KernelChecker::fail(const std::string &what) {
  if (verdict.difference.empty())
    verdict.difference = garbage.empty() ? what : what + "; " + garbage;
  return false;
}

bool KernelChecker::readTypes() {
  for (unsigned i = 0; i < source.threads.getNumArguments(); ++i) {
    Type type = source.threads.getArgument(i).getType();
    auto memref = dyn_cast<MemRefType>(type);
    auto kind = getKind(memref ? memref.getElementType() : type);
    if (!kind || (memref && !memref.hasStaticShape()))
      return fail("argument " + std::to_string(i) +
                  " has a type that has no data here");
    bool isRead = !memref || source.threads.getArgAttr(
                                 i, LLVM::LLVMDialect::getReadonlyAttrName());
    types.push_back({*kind, memref ? memref.getNumElements() : 1,
                     memref != nullptr, isRead});
  }
  return true;
}

std::string KernelChecker::runTwin(Arguments &arguments) {
  RunOptions options;
  options.ranges = arguments.getRanges();
  std::vector<const void *> params = arguments.getParams();
  ++verdict.numRuns;
  return veeline::gpu::runTwin(code, params.data(), options);
}

bool KernelChecker::runThreads(Arguments &arguments, Order order) {
  RunOptions options;
  options.order = order;
  options.seed = seed;
  options.ranges = arguments.getRanges();
  std::vector<const void *> params = arguments.getParams();
  ++verdict.numRuns;
  std::string wrong =
      veeline::gpu::runThreads(code, params.data(), options, &garbage);
  if (wrong.empty())
    wrong = arguments.checkGuards();
  return wrong.empty() || fail(wrong);
}

/// The largest indices for which the twin stays within its buffers.
bool KernelChecker::chooseBound() {
  std::string wrong;
  for (bound = getIndexedSize(source); bound; bound /= 2) {
    Arguments arguments(types, 64);
    arguments.fill(Style::positive, bound, seed);
    wrong = runTwin(arguments);
    if (wrong.empty())
      return true;
  }
  return fail(wrong);
}

/// What a rounding of the narrowest sums and products is.
static double getUnit(KernelSource source) {
  double unit = 0;
  source.twin.walk([&](Operation *op) {
    if (!isa<arith::ArithDialect>(op->getDialect()) ||
        isa<arith::ConstantOp, arith::TruncFOp, arith::ExtFOp>(op))
      return;
    auto kind = getKind(getElementTypeOrSelf(op->getResult(0).getType()));
    unit = std::max(unit, kind ? epsilonOf(*kind) : 0);
  });
  return unit;
}

void KernelChecker::measure(const Arguments &input,
                            const Arguments &reference) {
  moved.clear();
  for (const Buffer &buffer : reference.buffers)
    moved.emplace_back(static_cast<size_t>(buffer.count()));
  constexpr uint64_t numTrials = 3;
  for (uint64_t trial = 0; trial < numTrials; ++trial) {
    Arguments other(types, 64);
    other.copyFrom(input);
    other.perturb((isNarrow() ? 2 : 16) * unit, seed + trial);
    if (std::string wrong = runTwin(other); !wrong.empty())
      continue;
    for (size_t i = 0; i < moved.size(); ++i)
      for (int64_t j = 0; j < types[i].count; ++j) {
        double change =
            std::abs(other.buffers[i].get(j) - reference.buffers[i].get(j));
        double &most = moved[i][static_cast<size_t>(j)];
        if (change > most)
          most = change;
      }
  }
  meanMoved.clear();
  for (const std::vector<double> &changes : moved) {
    double sum = 0;
    for (double change : changes)
      sum += std::isfinite(change) ? change * change : 0;
    meanMoved.push_back(std::sqrt(
        sum / static_cast<double>(std::max<size_t>(1, changes.size()))));
  }
}

/// Partial sums in another order differ by some roundings of what was added up.
/// How much that is of the result, the changed inputs say.
double KernelChecker::getAllowed(size_t argument, int64_t i,
                                 double value) const {
  double part = 128 * unit, moves = 8;
  if (isNarrow()) {
    // What is added to a long sum in a narrow type is lost, or not, by the
    // order.
    part = unit * std::max<double>(16, numAdded);
    moves *= std::sqrt(numAdded);
  }
  part = std::max(part, 4 * epsilonOf(types[argument].kind));
  return part * std::abs(value) +
         moves * moved[argument][static_cast<size_t>(i)] +
         2 * meanMoved[argument];
}

std::string KernelChecker::describe(size_t argument, int64_t i, const Buffer &a,
                                    const Buffer &b) const {
  Type type = func::FuncOp(source.twin).getArgumentTypes()[argument];
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "element " << i << " of argument " << argument << " (" << type
         << ") is " << llvm::format("%.17g", a.get(i)) << " of the twin, "
         << llvm::format("%.17g", b.get(i)) << " of the threads";
  return text;
}

bool KernelChecker::compareElement(size_t argument, int64_t i,
                                   const Buffer &expected,
                                   const Buffer &found) {
  if (expected.equals(found, i))
    return true;
  if (isExact || !isFloat(types[argument].kind))
    return fail(describe(argument, i, expected, found));
  verdict.hasSameBits = false;
  double a = expected.get(i), b = found.get(i);
  if (a == b)
    return true;
  double ratio = std::abs(a - b) / getAllowed(argument, i, a);
  if (!(ratio <= 1))
    return fail(describe(argument, i, expected, found) + ", " +
                llvm::formatv("{0:f} times what is allowed", ratio).str());
  verdict.worst = std::max(verdict.worst, ratio);
  return true;
}

bool KernelChecker::compare(const Arguments &reference,
                            const Arguments &result) {
  for (size_t i = 0; i < types.size(); ++i)
    for (int64_t j = 0; j < types[i].count; ++j)
      if (!compareElement(i, j, reference.buffers[i], result.buffers[i]))
        return false;
  return true;
}

static std::string findOtherBits(const Arguments &a, const Arguments &b) {
  for (size_t i = 0; i < a.buffers.size(); ++i)
    for (int64_t j = 0; j < a.buffers[i].count(); ++j)
      if (!a.buffers[i].equals(b.buffers[i], j))
        return "element " + std::to_string(j) + " of argument " +
               std::to_string(i) + " depends on the order in which threads run";
  return {};
}

bool KernelChecker::check(Style style) {
  Arguments input(types, 64), reference(types, 64);
  input.fill(style, bound, seed);
  reference.copyFrom(input);
  if (std::string wrong = runTwin(reference); !wrong.empty())
    return fail(wrong);
  if (!isExact)
    measure(input, reference);
  // Buffers of a GPU's kernels start at multiples of 16 bytes.
  Arguments result(types, 16);
  result.copyFrom(input);
  bool isFirst = style == Style::positive;
  if (!runThreads(result, isFirst ? Order::forward : Order::random) ||
      !compare(reference, result))
    return false;
  if (!isFirst)
    return true;
  for (Order order : {Order::backward, Order::random}) {
    Arguments again(types, 16);
    again.copyFrom(input);
    if (!runThreads(again, order))
      return false;
    std::string wrong = findOtherBits(result, again);
    if (!wrong.empty())
      return fail(wrong);
  }
  return true;
}

KernelVerdict KernelChecker::run() {
  isExact = !hasFloatReduction(source);
  unit = getUnit(source);
  numAdded = countAdded(source);
  if (readTypes() && chooseBound() && check(Style::positive) &&
      check(Style::signedValues)) {
    // In f16 sums of outliers are infinite, or not, by their order.
    if (isExact)
      check(Style::special);
    else if (!isNarrow())
      check(Style::outliers);
  }
  return verdict;
}

KernelVerdict veeline::gpu::checkKernel(KernelSource source, const Kernel &code,
                                        uint64_t seed) {
  return KernelChecker(source, code, seed).run();
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<KernelLibrary>>
load(ArrayRef<char> bytes) {
  llvm::SmallString<128> path;
  int file = -1;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile(
          "veeline-kernels", "so", file, path))
    return llvm::createStringError(code, "cannot make a temporary file");
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  std::string message;
  auto library = KernelLibrary::open(path.str().str(), message);
  llvm::sys::fs::remove(path);
  if (!library)
    return llvm::createStringError("the kernels cannot be loaded: " + message);
  return library;
}

llvm::Error
veeline::gpu::checkKernels(ArrayRef<KernelSource> kernels, uint64_t seed,
                           llvm::function_ref<void(KernelSource, const Kernel &,
                                                   const KernelVerdict &)>
                               report) {
  KernelCodeOptions options;
  options.checkAccesses = true;
  options.optimizationLevel = 1;
  auto bytes = compileKernels(kernels, options);
  if (!bytes)
    return bytes.takeError();
  auto library = load(*bytes);
  if (!library)
    return library.takeError();
  for (KernelSource source : kernels) {
    Kernel code;
    if (!(*library)->find(source.name(), code))
      return llvm::createStringError("the library lacks " + source.name());
    report(source, code, checkKernel(source, code, seed));
  }
  return llvm::Error::success();
}
