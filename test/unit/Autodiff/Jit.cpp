//===- Jit.cpp - runs functions on tensors through upstream lowerings -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Jit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "veeline/Autodiff/Registration.h"
#include "veeline/Dialect/Pipe/IR/AttentionParts.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstring>

using namespace mlir;
using namespace veeline::test;

Array::Array(RankedTensorType type) : type(type) {
  Type element = type.getElementType();
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bytes.resize(type.getNumElements() * ((bits + 7) / 8));
}

double Array::get(int64_t i) const {
  Type element = type.getElementType();
  auto as = [&](auto zero) {
    std::memcpy(&zero, bytes.data() + i * sizeof(zero), sizeof(zero));
    return zero;
  };
  if (element.isF64())
    return as(double());
  if (element.isF32())
    return as(float());
  if (element.isInteger(64) || element.isIndex())
    return as(int64_t());
  if (element.isInteger(32))
    return as(int32_t());
  if (element.isBF16())
    return APFloat(APFloat::BFloat(), APInt(16, as(uint16_t())))
        .convertToFloat();
  if (element.isF16())
    return APFloat(APFloat::IEEEhalf(), APInt(16, as(uint16_t())))
        .convertToFloat();
  return as(int8_t());
}

void Array::set(int64_t i, double value) {
  Type element = type.getElementType();
  auto put = [&](auto v) {
    std::memcpy(bytes.data() + i * sizeof(v), &v, sizeof(v));
  };
  auto putHalf = [&](const llvm::fltSemantics &semantics) {
    APFloat half(value);
    bool losesInfo;
    half.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    put(static_cast<uint16_t>(half.bitcastToAPInt().getZExtValue()));
  };
  if (element.isF64())
    put(value);
  else if (element.isF32())
    put(static_cast<float>(value));
  else if (element.isInteger(64) || element.isIndex())
    put(static_cast<int64_t>(value));
  else if (element.isInteger(32))
    put(static_cast<int32_t>(value));
  else if (element.isBF16())
    putHalf(APFloat::BFloat());
  else if (element.isF16())
    putHalf(APFloat::IEEEhalf());
  else
    put(static_cast<int8_t>(value));
}

void veeline::test::registerTestDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<veeline::pipe::PipeDialect>();
  veeline::autodiff::registerDerivativeInterfaces(registry);
}

/// Decomposes what one-shot bufferization does not take: softmax, attention and
/// concat.
static LogicalResult decompose(ModuleOp module) {
  SmallVector<linalg::AggregatedOpInterface> ops;
  module.walk([&](linalg::AggregatedOpInterface op) { ops.push_back(op); });
  IRRewriter rewriter(module.getContext());
  for (linalg::AggregatedOpInterface op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
  }
  SmallVector<veeline::pipe::AttentionOpInterface> attentions;
  module.walk([&](veeline::pipe::AttentionOpInterface op) {
    attentions.push_back(op);
  });
  for (veeline::pipe::AttentionOpInterface op : attentions) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, veeline::pipe::decomposeAttention(rewriter, op));
  }
  RewritePatternSet patterns(module.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

static constexpr StringLiteral pipeline =
    "builtin.module("
    "func.func(convert-elementwise-to-linalg),"
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "allow-return-allocs-from-loops=true "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{"
    "modify-public-functions=true},"
    "buffer-deallocation-pipeline,"
    "func.func(convert-linalg-to-loops),"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "func.func(arith-expand),"
    "convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts)";

static LogicalResult lower(ModuleOp module) {
  static bool registered = (registerAllPasses(), true);
  (void)registered;
  for (auto func : module.getOps<func::FuncOp>()) {
    func.setPublic();
    func.setAllArgAttrs(ArrayRef<DictionaryAttr>());
    func.setAllResultAttrs(ArrayRef<DictionaryAttr>());
    for (unsigned i = 0; i != func.getNumArguments(); ++i)
      func.setArgAttr(i, "bufferization.writable",
                      BoolAttr::get(module.getContext(), false));
    func->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                  UnitAttr::get(module.getContext()));
  }
  if (failed(decompose(module)))
    return failure();
  PassManager manager(module.getContext());
  // Upstream's passes take twice as long with it.
  manager.enableVerifier(false);
  if (failed(parsePassPipeline(
          pipeline.drop_front(strlen("builtin.module(")).drop_back(), manager)))
    return failure();
  return manager.run(module);
}

JitModule::JitModule() = default;
JitModule::~JitModule() = default;

std::unique_ptr<JitModule> JitModule::compile(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  if (failed(lower(module)))
    return nullptr;
  StringRef libraries[] = {VEELINE_RUNNER_UTILS, VEELINE_FLOAT16_UTILS};
  ExecutionEngineOptions options;
  options.sharedLibPaths = libraries;
  auto fail = [&](llvm::Error error) {
    module.emitError() << llvm::toString(std::move(error));
    return nullptr;
  };
  // The engine makes its own machine before it looks at its option of a level.
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return fail(target.takeError());
  target->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto machine = target->createTargetMachine();
  if (!machine)
    return fail(machine.takeError());
  auto engine = ExecutionEngine::create(module, options, std::move(*machine));
  if (!engine)
    return fail(engine.takeError());
  std::unique_ptr<JitModule> compiled(new JitModule());
  compiled->engine = std::move(*engine);
  return compiled;
}

/// A memref descriptor: two pointers, offset, sizes, strides.
static std::vector<int64_t> describe(Array &array) {
  int64_t pointer = reinterpret_cast<int64_t>(array.bytes.data());
  std::vector<int64_t> words = {pointer, pointer, 0};
  ArrayRef<int64_t> shape = array.type.getShape();
  words.insert(words.end(), shape.begin(), shape.end());
  int64_t rank = shape.size();
  words.resize(3 + 2 * rank);
  int64_t stride = 1;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    words[3 + rank + dim] = stride;
    stride *= shape[dim];
  }
  return words;
}

void JitModule::run(StringRef name, ArrayRef<Array *> arguments,
                    MutableArrayRef<Array> results) {
  std::vector<std::vector<int64_t>> descriptors;
  for (Array *argument : arguments)
    descriptors.push_back(describe(*argument));
  for (Array &result : results)
    descriptors.push_back(describe(result));
  std::vector<void *> pointers(descriptors.size()), packed;
  for (size_t i = 0; i != descriptors.size(); ++i) {
    pointers[i] = descriptors[i].data();
    packed.push_back(static_cast<void *>(&pointers[i]));
  }
  llvm::Error error =
      engine->invokePacked(("_mlir_ciface_" + name).str(), packed);
  if (error) {
    fprintf(stderr, "%s\n", llvm::toString(std::move(error)).c_str());
    abort();
  }
}
