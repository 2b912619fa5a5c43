//===- CompiledModule.cpp - IR compiled and called in a test --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"

#include "Elements.h"

#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Pipelines/Pipelines.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <map>
#include <utility>

using namespace mlir;
using namespace veeline;
using namespace veeline::test;

//===----------------------------------------------------------------------===//
// The matrix products of the module that runs
//===----------------------------------------------------------------------===//

static const LibraryTables *currentTables = nullptr;

namespace {
/// Floats of 16 bits, or of f32 that are rounded to tf32 when they are read.
struct Elements {
  char *place;
  standin::Element type;
  bool isTf32;

  float operator[](int64_t i) const {
    double value = standin::elementAt(type, place + i * standin::bytesOf(type));
    return static_cast<float>(isTf32 ? standin::roundToTf32(value) : value);
  }
  Elements operator+(int64_t i) const {
    return {place + i * standin::bytesOf(type), type, isTf32};
  }
};
} // namespace

static standin::Element getElement(Type type) {
  return type.isF16()    ? standin::Element::f16
         : type.isBF16() ? standin::Element::bf16
                         : standin::Element::f32;
}

static Elements getElements(const void *place, Type type, bool isTf32 = false) {
  return {static_cast<char *>(const_cast<void *>(place)), getElement(type),
          isTf32};
}

static void set(float *place, float value) { *place = value; }
static void set(double *place, double value) { *place = value; }
static void set(const Elements &place, float value) {
  standin::store(place.type, place.place, value);
}

/// Runs one product of the batch. Its first elements are at a, b and c.
template <typename In, typename Out>
static void multiply(const GemmDesc &desc, In a, In b, Out c) {
  auto last = [](const auto &strides) { return strides.end() - 2; };
  auto aStride = last(desc.aStrides), bStride = last(desc.bStrides);
  auto cStride = last(desc.cStrides);
  for (int64_t i = 0; i < desc.m; ++i)
    for (int64_t j = 0; j < desc.n; ++j) {
      std::decay_t<decltype(a[0])> sum = 0;
      for (int64_t k = 0; k < desc.k; ++k)
        sum += a[i * aStride[0] + k * aStride[1]] *
               b[k * bStride[0] + j * bStride[1]];
      Out result = c + (i * cStride[0] + j * cStride[1]);
      set(result, desc.accumulate ? result[0] + sum : sum);
    }
}

template <typename In, typename Out>
static void multiplyBatch(const GemmDesc &desc, unsigned dim, In a, In b,
                          Out c) {
  if (dim == desc.batch.size())
    return multiply(desc, a, b, c);
  for (int64_t i = 0; i < desc.batch[dim]; ++i)
    multiplyBatch(desc, dim + 1, a + i * desc.aStrides[dim],
                  b + i * desc.bStrides[dim], c + i * desc.cStrides[dim]);
}

extern "C" __attribute__((visibility("default"))) void
veeline_gemm(void *, int32_t gemm, const void *a, const void *b, void *c,
             void *scratch) {
  const GemmDesc &desc = currentTables->gemms.at(gemm);
  ASSERT_EQ(scratch == nullptr, desc.scratchBytes == 0);
  if (scratch)
    std::fill_n(static_cast<char *>(scratch), desc.scratchBytes, char(-1));
  if (desc.dtype.isF64())
    multiplyBatch(desc, 0, static_cast<const double *>(a),
                  static_cast<const double *>(b), static_cast<double *>(c));
  else if (desc.dtype.isF32() && !desc.isTf32)
    multiplyBatch(desc, 0, static_cast<const float *>(a),
                  static_cast<const float *>(b), static_cast<float *>(c));
  else
    multiplyBatch(desc, 0, getElements(a, desc.dtype, desc.isTf32),
                  getElements(b, desc.dtype, desc.isTf32),
                  getElements(c, desc.cType));
}

//===----------------------------------------------------------------------===//
// The convolutions of the module that runs
//===----------------------------------------------------------------------===//

/// Counts through all indices below `limits`, the last one first.
static bool advance(std::vector<int64_t> &index,
                    const std::vector<int64_t> &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

/// Calls `visit` with the places in x, w and y of every product, and whether x
/// has that place or is zero there.
template <typename Visitor>
static void visitProducts(const ConvolutionDesc &desc, Visitor &&visit) {
  size_t rank = desc.xSizes.size();
  std::vector<int64_t> limits{desc.batch, desc.groups, desc.outputs,
                              desc.inputs};
  limits.insert(limits.end(), desc.ySizes.begin(), desc.ySizes.end());
  limits.insert(limits.end(), desc.wSizes.begin(), desc.wSizes.end());
  std::vector<int64_t> at(limits.size());
  do {
    int64_t n = at[0], g = at[1], f = at[2], c = at[3];
    int64_t x =
        n * desc.xStrides[0] + g * desc.xStrides[1] + c * desc.xStrides[2];
    int64_t w =
        g * desc.wStrides[0] + f * desc.wStrides[1] + c * desc.wStrides[2];
    int64_t y =
        n * desc.yStrides[0] + g * desc.yStrides[1] + f * desc.yStrides[2];
    bool isInside = true;
    for (size_t i = 0; i < rank; ++i) {
      int64_t o = at[4 + i], k = at[4 + rank + i];
      int64_t position =
          o * desc.strides[i] + k * desc.dilations[i] - desc.padding[i];
      isInside &= position >= 0 && position < desc.xSizes[i];
      x += position * desc.xStrides[3 + i];
      w += k * desc.wStrides[3 + i];
      y += o * desc.yStrides[3 + i];
    }
    visit(x, w, y, isInside);
  } while (advance(at, limits));
}

namespace {
/// The sums of a result, by place.
using Sums = std::map<int64_t, double>;
} // namespace

/// Makes a zero for every element of x: windows need not see all of them.
static Sums makeImage(const ConvolutionDesc &desc) {
  std::vector<int64_t> limits{desc.batch, desc.groups, desc.inputs};
  limits.insert(limits.end(), desc.xSizes.begin(), desc.xSizes.end());
  std::vector<int64_t> at(limits.size());
  Sums sums;
  do {
    int64_t place = 0;
    for (size_t i = 0; i < at.size(); ++i)
      place += at[i] * desc.xStrides[i];
    sums[place] = 0;
  } while (advance(at, limits));
  return sums;
}

/// Adds up in f64, and rounds once.
static Sums convolve(const ConvolutionDesc &desc, const Elements &first,
                     const Elements &second) {
  bool givesX = desc.kind == ConvolutionKind::BackwardData;
  bool givesW = desc.kind == ConvolutionKind::BackwardWeights;
  Sums sums = givesX ? makeImage(desc) : Sums();
  visitProducts(desc, [&](int64_t x, int64_t w, int64_t y, bool isInside) {
    if (givesX && !isInside)
      return;
    double &sum = sums[givesX ? x : givesW ? w : y];
    if (isInside)
      sum += double(first[givesX ? y : x]) * second[givesW ? y : w];
  });
  return sums;
}

extern "C" __attribute__((visibility("default"))) void
veeline_convolution(void *, int32_t index, const void *a, const void *b,
                    void *c, void *scratch) {
  const ConvolutionDesc &desc = currentTables->convolutions.at(index);
  ASSERT_EQ(scratch == nullptr, desc.scratchBytes == 0);
  if (scratch)
    std::fill_n(static_cast<char *>(scratch), desc.scratchBytes, char(-1));
  Elements result = getElements(c, desc.dtype);
  for (auto [place, sum] :
       convolve(desc, getElements(a, desc.dtype, desc.isTf32),
                getElements(b, desc.dtype, desc.isTf32)))
    set(result + place, static_cast<float>(sum));
}

extern "C" __attribute__((visibility("default"))) int32_t
veeline_has_convolution(void *, int32_t) {
  return currentTables->hasConvolutions;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

CompiledModule::CompiledModule(const std::string &source,
                               const CompileOptions &options)
    : context(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED)) {
  build(source, options);
}

void CompiledModule::build(const std::string &source,
                           const CompileOptions &options) {
  DialectRegistry registry;
  registry.insert<pipe::PipeDialect>();
  registerBufferization(registry);
  registerHostTarget(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                  math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  context->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, context.get());
  ASSERT_TRUE(module);
  BufferizeChunksOptions bufferize;
  bufferize.fuse = options.fuse;
  bufferize.keepAttention = options.keepAttention;
  bufferize.target = options.target;
  bufferize.tf32 = options.tf32;
  bufferize.gemmScratch = [&](const GemmDesc &) {
    return options.gemmScratchBytes;
  };
  bufferize.convolutionScratch = [&](const ConvolutionDesc &) {
    return options.convolutionScratchBytes;
  };
  ASSERT_TRUE(succeeded(runPhase(*module, [&](OpPassManager &passManager) {
    buildBufferizeChunksPipeline(passManager, bufferize);
  })));
  readAttributes(*module);
  ASSERT_TRUE(succeeded(runPhase(*module, [](OpPassManager &passManager) {
    buildHostCodePipeline(passManager);
  })));
  HostTargetOptions target;
  target.cpu = options.cpu;
  target.optimizationLevel = options.optimizationLevel;
  llvm::Expected<HostObject> object = compileToObject(*module, target);
  ASSERT_TRUE(static_cast<bool>(object)) << toString(object.takeError());
  compiled = std::make_unique<HostObject>(std::move(*object));
  auto bytes = linkSharedObject(&*compiled, target);
  ASSERT_TRUE(static_cast<bool>(bytes)) << toString(bytes.takeError());
  auto handle = LoadedObject::load(*bytes);
  ASSERT_TRUE(static_cast<bool>(handle)) << toString(handle.takeError());
  loaded = std::make_unique<LoadedObject>(std::move(*handle));
}

void CompiledModule::readAttributes(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    ++functionCount;
    auto bytes =
        function->getAttrOfType<IntegerAttr>(pipe::workspaceBytesAttrName);
    auto peak =
        function->getAttrOfType<IntegerAttr>(pipe::workspacePeakAttrName);
    if (bytes && peak)
      workspaces[function.getName().str()] = {bytes.getInt(), peak.getInt()};
  }
  if (auto gemms = module->getAttrOfType<ArrayAttr>(gemmsAttrName))
    for (auto entry : gemms.getAsRange<DictionaryAttr>())
      tables.gemms.push_back(*GemmDesc::fromAttribute(entry));
  if (auto entries = module->getAttrOfType<ArrayAttr>(convolutionsAttrName))
    for (auto entry : entries.getAsRange<DictionaryAttr>())
      tables.convolutions.push_back(*ConvolutionDesc::fromAttribute(entry));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

template <size_t... I>
static void callWith(void *function, const std::vector<void *> &arguments,
                     std::index_sequence<I...>) {
  reinterpret_cast<void (*)(decltype((void)I, (void *)nullptr)...)>(function)(
      arguments[I]...);
}

template <size_t N>
static void callFunction(void *function, const std::vector<void *> &arguments) {
  if constexpr (N <= 100) {
    if (arguments.size() == N)
      return callWith(function, arguments, std::make_index_sequence<N>());
    callFunction<N + 1>(function, arguments);
  } else {
    FAIL() << "more arguments than tests call with";
  }
}

void CompiledModule::call(const std::string &name,
                          std::vector<void *> arguments) {
  ASSERT_TRUE(loaded);
  auto address = loaded->lookup(name);
  ASSERT_TRUE(static_cast<bool>(address)) << toString(address.takeError());
  // 64 bytes of alignment, and a NaN in every float that nobody wrote.
  uint64_t bytes = workspaceBytes(name);
  std::unique_ptr<char, decltype(&std::free)> workspace(
      static_cast<char *>(std::aligned_alloc(64, (bytes / 64 + 1) * 64)),
      &std::free);
  std::fill_n(workspace.get(), bytes, char(-1));
  arguments.insert(arguments.begin(), nullptr);
  arguments.push_back(workspace.get());
  currentTables = &tables;
  callFunction<0>(*address, arguments);
}
