//===- CalibrateLibrary.cpp - measuring products and convolutions ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

#include "veeline/Library/Convolution.h"
#include "veeline/Library/Gemm.h"
#include "veeline/Library/OneThread.h"

#include "veeline/Base/Median.h"
#include "veeline/Base/ProcessLimits.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <thread>

using namespace veeline;
using namespace veeline::compiler;
using artifact::ConvolutionKind;
using library::PreparedCall;

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

Buffer compiler::allocateFloats(int64_t bytes) {
  auto size = static_cast<size_t>(bytes / 64 + 2) * 64;
  Buffer memory(static_cast<char *>(std::aligned_alloc(64, size)), &std::free);
  if (!memory)
    llvm::report_bad_alloc_error("no memory for a calibration");
  auto *values = reinterpret_cast<float *>(memory.get());
  for (size_t i = 0; i < size / sizeof(float); ++i)
    values[i] = static_cast<float>(i * 7919 % 2003) / 1000.0f - 1.0f;
  return memory;
}

ColdOperands::ColdOperands(int64_t bytes)
    : stride((bytes + 63) / 64 * 64),
      count(std::max<int64_t>(MachineTable::coldBytes / stride, 3)),
      pool(allocateFloats(stride * count)) {}

/// The processor time of this thread, which excludes that of other processes.
static double getProcessorNanoseconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

int64_t compiler::countMeasuredCores() {
  // The largest operands take 200 MB for each core.
  constexpr int64_t most = 8;
  int64_t gibibytes = getAllowedMemory().value_or(most << 30) >> 30;
  return std::min(countUsableCores(), std::clamp<int64_t>(gibibytes, 1, most));
}

namespace {
/// Runs each of `works` repeatedly on a thread of its own, until it is
/// destroyed.
class Neighbours {
public:
  explicit Neighbours(llvm::ArrayRef<Work> works) {
    for (const Work &work : works)
      threads.emplace_back([this, &work] {
        OneThread oneThread;
        while (!isDone.load(std::memory_order_relaxed))
          work();
      });
  }
  ~Neighbours() {
    isDone = true;
    for (std::thread &thread : threads)
      thread.join();
  }
  Neighbours(const Neighbours &) = delete;
  Neighbours &operator=(const Neighbours &) = delete;

private:
  std::atomic<bool> isDone = false;
  std::vector<std::thread> threads;
};
} // namespace

double compiler::measureNanoseconds(llvm::ArrayRef<Work> works) {
  constexpr double enough = 30e6;
  constexpr size_t fewest = 7, most = 400;
  // Work that takes less than this is run many times in one measurement.
  constexpr double shortest = 20e3;
  const Work &run = works.front();
  Neighbours neighbours(works.drop_front());
  run();
  double once = getProcessorNanoseconds();
  run();
  once = std::max(getProcessorNanoseconds() - once, 1.0);
  auto runs = static_cast<int64_t>(std::ceil(shortest / once));
  std::vector<double> times;
  for (double total = 0;
       times.size() < fewest || (total < enough && times.size() < most);) {
    double begin = getProcessorNanoseconds();
    for (int64_t i = 0; i < runs; ++i)
      run();
    double time = getProcessorNanoseconds() - begin;
    times.push_back(time / double(runs));
    total += time;
  }
  // The median, not the minimum: a step is not alone on the machine either.
  return std::max(medianOf(std::move(times)), 1.0);
}

/// The rate of a call that does `amount` in `time`, without the fixed cost of a
/// call. That cost was measured as the time of the smallest product. Calls that
/// take hardly longer are limited to half of their time.
static double getRate(const MachineTable &table, double amount, double time) {
  return amount / std::max(time - table.callNanoseconds, time / 2);
}

/// Measures the call that `prepare` makes, in nanoseconds. Its three operands
/// have at most `bytes` bytes.
template <typename Prepare>
static llvm::Expected<double> measureCall(Prepare prepare, int64_t bytes,
                                          int64_t cores) {
  std::vector<Work> works;
  for (int64_t i = 0; i != cores; ++i) {
    auto made = prepare();
    if (!made.ok())
      return llvm::createStringError(made.message());
    std::shared_ptr<PreparedCall> call = std::move(*made);
    auto operands = std::make_shared<ColdOperands>(bytes);
    std::shared_ptr<char> scratch = allocateFloats(call->scratchBytes());
    works.push_back([call, operands, scratch] {
      char *a = operands->next(), *b = operands->next(), *c = operands->next();
      (void)call->run(a, b, c, scratch.get());
    });
  }
  return measureNanoseconds(works);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static llvm::Expected<double> measureProduct(int64_t m, int64_t n, int64_t k,
                                             artifact::DataType type,
                                             int64_t cores) {
  artifact::Gemm gemm;
  gemm.type = gemm.cType = type;
  gemm.compute = artifact::computeTypeOf(type);
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.aStrides = {k, 1};
  gemm.bStrides = gemm.cStrides = {n, 1};
  return measureCall([&] { return library::prepareGemm(gemm); },
                     std::max({m * k, k * n, m * n}) * artifact::byteSize(type),
                     cores);
}

static llvm::Error measureProducts(MachineTable &table, const std::string &name,
                                   artifact::DataType type,
                                   llvm::ArrayRef<int64_t> sizes,
                                   int64_t cores) {
  for (int64_t size : sizes) {
    auto time = measureProduct(size, size, size, type, cores);
    if (!time)
      return time.takeError();
    double flops = 2.0 * double(size) * double(size) * double(size);
    table.add(name, flops, getRate(table, flops, *time));
  }
  return llvm::Error::success();
}

/// Measures a row times a matrix, and a column times a row. Both spend more
/// time on memory than on arithmetic.
static llvm::Error measureRows(MachineTable &table, int64_t cores) {
  // No powers of two: their rows would share cache sets.
  for (int64_t size : {120, 504, 1000, 1400, 2008, 4040}) {
    auto row = measureProduct(1, size, size, artifact::DataType::f32, cores);
    if (!row)
      return row.takeError();
    auto outer = measureProduct(size, size, 1, artifact::DataType::f32, cores);
    if (!outer)
      return outer.takeError();
    double bytes = 4.0 * double(size * size);
    table.add("row", bytes, getRate(table, bytes, *row));
    table.add("outer", bytes, getRate(table, bytes, *outer));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// Channels are numbers per group.
struct Shape {
  const char *name;
  int64_t groups, inputs, outputs, size, kernel, stride;
};
} // namespace

/// Ordered by size within each class.
static constexpr Shape shapes[] = {
    {"image", 1, 1, 6, 28, 5, 1},         {"image", 1, 3, 16, 64, 3, 1},
    {"image", 1, 3, 64, 64, 3, 1},        {"pointwise", 1, 6, 6, 28, 1, 1},
    {"pointwise", 1, 16, 16, 56, 1, 1},   {"pointwise", 1, 64, 64, 28, 1, 1},
    {"pointwise", 1, 256, 256, 14, 1, 1}, {"pointwise", 1, 512, 512, 7, 1, 1},
    {"window", 1, 6, 6, 28, 3, 1},        {"window", 1, 16, 16, 56, 3, 1},
    {"window", 1, 64, 64, 28, 3, 1},      {"window", 1, 256, 256, 14, 3, 1},
    {"window", 1, 512, 512, 7, 3, 1},     {"strided", 1, 6, 6, 28, 3, 2},
    {"strided", 1, 16, 16, 56, 3, 2},     {"strided", 1, 64, 64, 28, 3, 2},
    {"strided", 1, 256, 256, 14, 3, 2},   {"depthwise", 32, 1, 1, 14, 3, 1},
    {"depthwise", 64, 1, 1, 56, 3, 1},    {"depthwise", 96, 1, 1, 112, 3, 1},
};

static artifact::Convolution describe(const Shape &shape, bool channelsLast,
                                      ConvolutionKind kind) {
  artifact::Convolution c;
  c.kind = kind;
  c.batch = 1;
  c.groups = shape.groups;
  c.inputs = shape.inputs;
  c.outputs = shape.outputs;
  int64_t k = shape.kernel, padding = k / 2;
  int64_t size = (shape.size + 2 * padding - k) / shape.stride + 1;
  c.xSizes.assign(2, shape.size);
  c.ySizes.assign(2, size);
  c.wSizes.assign(2, k);
  c.strides.assign(2, shape.stride);
  c.dilations.assign(2, 1);
  c.padding.assign(2, padding);
  auto arrange = [&](int64_t channels, int64_t extent) {
    int64_t all = c.groups * channels, area = extent * extent;
    return channelsLast ? std::vector<int64_t>{area * all, channels, 1,
                                               extent * all, all}
                        : std::vector<int64_t>{area * all, channels * area,
                                               area, extent, 1};
  };
  c.xStrides = arrange(c.inputs, shape.size);
  c.yStrides = arrange(c.outputs, size);
  int64_t all = c.groups * c.outputs;
  c.wStrides = channelsLast
                   ? std::vector<int64_t>{c.outputs, 1, all, k * c.inputs * all,
                                          c.inputs * all}
                   : std::vector<int64_t>{c.outputs * c.inputs * k * k,
                                          c.inputs * k * k, k * k, k, 1};
  return c;
}

static llvm::Error measureConvolution(MachineTable &table, const Shape &shape,
                                      bool channelsLast, ConvolutionKind kind,
                                      const char *nameOfKind, int64_t cores) {
  artifact::Convolution c = describe(shape, channelsLast, kind);
  int64_t x = c.batch * c.groups * c.inputs * c.xSizes[0] * c.xSizes[1];
  int64_t y = c.batch * c.groups * c.outputs * c.ySizes[0] * c.ySizes[1];
  int64_t w = c.groups * c.inputs * c.outputs * c.wSizes[0] * c.wSizes[1];
  auto time = measureCall([&] { return library::prepareConvolution(c); },
                          4 * std::max({x, y, w}), cores);
  if (!time)
    return time.takeError();
  double flops = 2.0 * double(y) * double(c.inputs * c.wSizes[0] * c.wSizes[1]);
  // Depthwise convolutions spend most of their time on memory.
  bool isDepthwise = shape.groups > 1;
  double size = isDepthwise ? 4.0 * double(x + y) : double(c.outputs);
  double amount = isDepthwise ? size : flops;
  std::string name = std::string(channelsLast ? "last " : "first ") +
                     shape.name + " " + nameOfKind;
  table.add(name, size, getRate(table, amount, *time));
  return llvm::Error::success();
}

static llvm::Error measureConvolutions(MachineTable &table, int64_t cores) {
  for (bool channelsLast : {true, false})
    for (const Shape &shape : shapes)
      for (auto [kind, name] :
           {std::pair(ConvolutionKind::forward, "forward"),
            std::pair(ConvolutionKind::backwardData, "data"),
            std::pair(ConvolutionKind::backwardWeights, "weights")})
        if (llvm::Error error = measureConvolution(table, shape, channelsLast,
                                                   kind, name, cores))
          return error;
  return llvm::Error::success();
}

llvm::Error compiler::measureLibrary(MachineTable &table, int64_t cores) {
  // Ranks run the library with one thread, too.
  OneThread oneThread;
  auto smallest = measureProduct(4, 4, 4, artifact::DataType::f32, cores);
  if (!smallest)
    return smallest.takeError();
  table.callNanoseconds = *smallest;
  if (llvm::Error error =
          measureProducts(table, "product f32", artifact::DataType::f32,
                          {16, 32, 64, 128, 256, 512, 1024}, cores))
    return error;
  if (llvm::Error error = measureProducts(
          table, "product f64", artifact::DataType::f64, {16, 64, 256}, cores))
    return error;
  if (llvm::Error error = measureRows(table, cores))
    return error;
  return measureConvolutions(table, cores);
}
