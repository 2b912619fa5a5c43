//===- KernelCheck.cpp - a kernel against its host twin -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace veeline::gpu;

namespace {

class KernelChecker {
public:
  KernelChecker(const Kernel &code, const CheckOptions &options)
      : code(code), options(options), seed(options.seed),
        isExact(!code.info.addsFloats && !hasOtherFunctions()),
        unit(code.info.unit), numAdded(static_cast<double>(code.info.numAdded)),
        params(code.info.params) {}

  KernelVerdict run();

private:
  /// Functions of f64 are libdevice's on a GPU, and the C library's here.
  bool hasOtherFunctions() const { return code.info.callsDoubleFunctions; }
  bool checkParams();
  bool fail(const std::string &what);
  bool chooseBound();
  std::string runTwin(Arguments &arguments);
  bool runThreads(Arguments &arguments, Order order);
  std::string emulate(Arguments &arguments, Order order);
  bool check(Style style);
  void measure(const Arguments &input, const Arguments &reference);
  void addMoves(Arguments &changed, const Arguments &reference, double scale);
  double getAllowed(size_t argument, int64_t i, double value) const;
  bool compare(const Arguments &reference, const Arguments &result);
  bool compareElement(size_t argument, int64_t i, const Buffer &expected,
                      const Buffer &found);
  std::string describe(size_t argument, int64_t i, const Buffer &a,
                       const Buffer &b) const;

  const Kernel &code;
  const CheckOptions &options;
  uint64_t seed;
  bool isExact;
  double unit;
  /// The numbers that the longest sum adds.
  double numAdded;
  /// Sums and products themselves are in a narrow type.
  bool isNarrow() const { return unit > epsilonOf(ElementKind::f32); }
  const std::vector<KernelParam> &params;
  int64_t bound = 1;
  KernelVerdict verdict;
  /// The first read of undefined data in the last run.
  std::string garbage;
  /// How far every result moves when inputs change by a few roundings, and the
  /// root mean square of that for each argument.
  std::vector<std::vector<double>> moved;
  std::vector<double> meanMoved;
};

} // namespace

bool KernelChecker::fail(const std::string &what) {
  if (verdict.difference.empty())
    verdict.difference = garbage.empty() ? what : what + "; " + garbage;
  return false;
}

bool KernelChecker::checkParams() {
  for (size_t i = 0; i < params.size(); ++i)
    if (!params[i].kind || params[i].count < 0)
      return fail("argument " + std::to_string(i) +
                  " has a type that has no data here");
  return true;
}

std::string KernelChecker::runTwin(Arguments &arguments) {
  RunOptions run;
  run.ranges = arguments.getRanges();
  std::vector<const void *> places = arguments.getParams();
  ++verdict.numRuns;
  return veeline::gpu::runTwin(code, places.data(), run);
}

bool KernelChecker::runThreads(Arguments &arguments, Order order) {
  ++verdict.numRuns;
  std::string wrong =
      options.run ? options.run(arguments) : emulate(arguments, order);
  if (wrong.empty())
    wrong = arguments.checkGuards();
  return wrong.empty() || fail(wrong);
}

std::string KernelChecker::emulate(Arguments &arguments, Order order) {
  RunOptions run;
  run.order = order;
  run.seed = seed;
  run.ranges = arguments.getRanges();
  std::vector<const void *> places = arguments.getParams();
  Launch launch = {code.info.grid, code.info.blockSize, code.info.sharedBytes,
                   places.data()};
  return veeline::gpu::runThreads(*code.threads, launch, run, &garbage);
}

/// Finds the largest indices for which the twin stays within its buffers.
bool KernelChecker::chooseBound() {
  std::string wrong;
  for (bound = code.info.indexedSize; bound; bound /= 2) {
    Arguments arguments(params, 64);
    arguments.fill(Style::positive, bound, seed);
    wrong = runTwin(arguments);
    if (wrong.empty())
      return true;
  }
  return fail(wrong);
}

/// Runs the twin on changed inputs, and records how far results move, times
/// `scale`.
void KernelChecker::addMoves(Arguments &changed, const Arguments &reference,
                             double scale) {
  if (!runTwin(changed).empty())
    return;
  for (size_t i = 0; i < moved.size(); ++i)
    for (int64_t j = 0; params[i].isWritten && j < params[i].count; ++j) {
      double change = scale * std::abs(changed.buffers[i].get(j) -
                                       reference.buffers[i].get(j));
      double &most = moved[i][static_cast<size_t>(j)];
      if (change > most)
        most = change;
    }
}

void KernelChecker::measure(const Arguments &input,
                            const Arguments &reference) {
  moved.clear();
  for (const KernelParam &param : params)
    moved.emplace_back(param.isWritten ? static_cast<size_t>(param.count) : 0);
  const uint64_t numTrials = options.isBrief ? 1 : 3;
  const double part = (isNarrow() ? 2 : 16) * unit;
  for (uint64_t trial = 0; trial < numTrials; ++trial) {
    Arguments other(params, 64), narrow(params, 64);
    other.copyFrom(input);
    other.perturb(part, seed + trial);
    addMoves(other, reference, 1);
    narrow.copyFrom(input);
    if (double most = narrow.perturbNarrow(part, seed + trial))
      addMoves(narrow, reference, part / most);
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

/// The difference that another order of additions may make. Partial sums differ
/// by some roundings of what was added up. How far these move the result was
/// measured with changed inputs.
double KernelChecker::getAllowed(size_t argument, int64_t i,
                                 double value) const {
  // A twin has a few partial sums, each with a rounding for every number.
  double part = unit * std::max<double>(128, numAdded / 64), moves = 8;
  if (isNarrow()) {
    // A long sum in a narrow type loses what is added to it, or not, depending
    // on the order.
    part = unit * std::max<double>(16, numAdded);
    moves *= std::sqrt(numAdded);
  }
  part = std::max(part, 4 * epsilonOf(*params[argument].kind));
  return part * std::abs(value) +
         moves * moved[argument][static_cast<size_t>(i)] +
         2 * meanMoved[argument];
}

static std::string print(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string KernelChecker::describe(size_t argument, int64_t i, const Buffer &a,
                                    const Buffer &b) const {
  const KernelParam &param = params[argument];
  std::string type = param.isBuffer ? std::to_string(param.count) + " of " : "";
  return "element " + std::to_string(i) + " of argument " +
         std::to_string(argument) + " (" + type + nameOf(*param.kind) +
         ") is " + print("%.17g", a.get(i)) + " of the twin, " +
         print("%.17g", b.get(i)) + " of the threads";
}

bool KernelChecker::compareElement(size_t argument, int64_t i,
                                   const Buffer &expected,
                                   const Buffer &found) {
  if (expected.equals(found, i))
    return true;
  if (isExact || !params[argument].isWritten ||
      !isFloat(*params[argument].kind))
    return fail(describe(argument, i, expected, found));
  verdict.hasSameBits = false;
  double a = expected.get(i), b = found.get(i);
  if (a == b)
    return true;
  double ratio = std::abs(a - b) / getAllowed(argument, i, a);
  if (!(ratio <= 1))
    return fail(describe(argument, i, expected, found) + ", " +
                print("%.2f times what is allowed", ratio));
  verdict.worst = std::max(verdict.worst, ratio);
  return true;
}

bool KernelChecker::compare(const Arguments &reference,
                            const Arguments &result) {
  for (size_t i = 0; i < params.size(); ++i)
    for (int64_t j = 0; j < params[i].count; ++j)
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
  Arguments input(params, 64), reference(params, 64);
  input.fill(style, bound, seed);
  reference.copyFrom(input);
  if (std::string wrong = runTwin(reference); !wrong.empty())
    return fail(wrong);
  if (!isExact)
    measure(input, reference);
  // Buffers of a GPU's kernels start at multiples of 16 bytes.
  Arguments result(params, 16);
  result.copyFrom(input);
  bool isFirst = style == Style::positive;
  Order order = isFirst                        ? Order::forward
                : style == Style::signedValues ? Order::warps
                                               : Order::random;
  if (!runThreads(result, order) || !compare(reference, result))
    return false;
  if (!isFirst)
    return true;
  std::vector<Order> others = {Order::backward, Order::random};
  if (options.run)
    others.pop_back();
  for (Order order : others) {
    Arguments again(params, 16);
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
  if (!checkParams() || !chooseBound() || !check(Style::positive) ||
      !check(Style::signedValues) || options.isBrief)
    return verdict;
  // In f16, sums of outliers are infinite or not, depending on their order.
  if (isExact)
    check(Style::special);
  else if (!isNarrow() && std::all_of(params.begin(), params.end(),
                                      [](const KernelParam &param) {
                                        return param.shift == 0;
                                      }))
    check(Style::outliers);
  return verdict;
}

KernelVerdict veeline::gpu::checkKernel(const Kernel &code,
                                        const CheckOptions &options) {
  return KernelChecker(code, options).run();
}
