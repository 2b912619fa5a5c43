//===- CompiledModule.cpp - IR compiled and called in a test --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModule.h"

#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <utility>

using namespace mlir;
using namespace veeline;
using namespace veeline::test;

//===----------------------------------------------------------------------===//
// The matrix products of the module that runs
//===----------------------------------------------------------------------===//

static const std::vector<GemmDesc> *currentGemms = nullptr;

/// Runs one product of the batch whose first elements are a, b and c.
template <typename T>
static void multiply(const GemmDesc &desc, const T *a, const T *b, T *c) {
  auto last = [](const auto &strides) { return strides.end() - 2; };
  auto aStride = last(desc.aStrides), bStride = last(desc.bStrides);
  auto cStride = last(desc.cStrides);
  for (int64_t i = 0; i < desc.m; ++i)
    for (int64_t j = 0; j < desc.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < desc.k; ++k)
        sum += a[i * aStride[0] + k * aStride[1]] *
               b[k * bStride[0] + j * bStride[1]];
      c[i * cStride[0] + j * cStride[1]] = sum;
    }
}

template <typename T>
static void multiplyBatch(const GemmDesc &desc, unsigned dim, const T *a,
                          const T *b, T *c) {
  if (dim == desc.batch.size())
    return multiply(desc, a, b, c);
  for (int64_t i = 0; i < desc.batch[dim]; ++i)
    multiplyBatch(desc, dim + 1, a + i * desc.aStrides[dim],
                  b + i * desc.bStrides[dim], c + i * desc.cStrides[dim]);
}

extern "C" __attribute__((visibility("default"))) void
veeline_gemm(void *, int32_t gemm, const void *a, const void *b, void *c,
             void *scratch) {
  const GemmDesc &desc = currentGemms->at(gemm);
  ASSERT_EQ(scratch == nullptr, desc.scratchBytes == 0);
  if (scratch)
    std::fill_n(static_cast<char *>(scratch), desc.scratchBytes, char(-1));
  if (desc.dtype.isF64())
    multiplyBatch(desc, 0, static_cast<const double *>(a),
                  static_cast<const double *>(b), static_cast<double *>(c));
  else
    multiplyBatch(desc, 0, static_cast<const float *>(a),
                  static_cast<const float *>(b), static_cast<float *>(c));
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
  bufferize.gemmScratch = [&](const GemmDesc &) {
    return options.gemmScratchBytes;
  };
  PassManager passManager(context.get());
  buildBufferizeChunksPipeline(passManager, bufferize);
  ASSERT_TRUE(succeeded(passManager.run(*module)));
  readAttributes(*module);
  PassManager lowering(context.get());
  buildHostCodePipeline(lowering);
  ASSERT_TRUE(succeeded(lowering.run(*module)));
  HostTargetOptions target;
  target.cpu = options.cpu;
  llvm::Expected<HostObject> object = compileToObject(*module, target);
  ASSERT_TRUE(static_cast<bool>(object)) << toString(object.takeError());
  compiled = std::make_unique<HostObject>(std::move(*object));
  auto bytes = linkSharedObject(*compiled, target);
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
      descriptors.push_back(*GemmDesc::fromAttribute(entry));
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
  currentGemms = &descriptors;
  callFunction<0>(*address, arguments);
}
