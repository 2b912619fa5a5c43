//===- GpuCode.cpp - the gpu dialect to the NVVM dialect ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// The name of the intrinsic if `op` is one instruction of a GPU. Otherwise
/// empty.
static std::string findIntrinsic(Operation *op) {
  if (isa<arith::MaxNumFOp>(op))
    return "llvm.maxnum";
  if (isa<arith::MinNumFOp>(op))
    return "llvm.minnum";
  if (isa<LLVM::FAbsOp, LLVM::SqrtOp, LLVM::FFloorOp, LLVM::FCeilOp,
          LLVM::CopySignOp, LLVM::RoundEvenOp, LLVM::RoundOp, LLVM::FTruncOp>(
          op))
    return "llvm." + op->getName().stripDialect().split('.').second.str();
  return {};
}

namespace {

/// Turns ops that are one instruction of a GPU into calls of LLVM's intrinsics
/// by name. The conversion of the gpu dialect would turn them into calls of
/// libdevice; it does not change calls.
struct NameIntrinsics
    : PassWrapper<NameIntrinsics, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NameIntrinsics)

  StringRef getName() const override { return "NameIntrinsics"; }

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      std::string name = findIntrinsic(op);
      if (name.empty())
        return;
      OpBuilder builder(op);
      auto call = LLVM::CallIntrinsicOp::create(
          builder, op->getLoc(), op->getResult(0).getType(),
          builder.getStringAttr(name), op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    });
  }
};

/// Makes dynamic shared memory an external variable. A launch determines its
/// size. If it were defined in this module, it would have one byte, and other
/// variables might follow.
struct DeclareDynamicMemory
    : PassWrapper<DeclareDynamicMemory, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeclareDynamicMemory)

  StringRef getName() const override { return "DeclareDynamicMemory"; }

  void runOnOperation() override {
    for (auto global : getOperation().getOps<LLVM::GlobalOp>()) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(global.getType());
      if (global.getAddrSpace() == sharedSpace && array &&
          array.getNumElements() == 0)
        global.setLinkage(LLVM::Linkage::External);
    }
  }

  static constexpr unsigned sharedSpace = 3;
};

/// Makes the atomic sums of a kernel relaxed. Nobody reads them before the
/// kernel ends, so they need no order with other accesses.
struct RelaxAtomics
    : PassWrapper<RelaxAtomics, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RelaxAtomics)

  StringRef getName() const override { return "RelaxAtomics"; }

  void runOnOperation() override {
    getOperation()->walk([](LLVM::AtomicRMWOp op) {
      op.setOrdering(LLVM::AtomicOrdering::monotonic);
      op.setSyncscope("device");
    });
  }
};

/// Moves the annotation of a loop to a property of its branch, where LLVM
/// expects it. Lowering to branches leaves it as another attribute.
struct AnnotateBranches
    : PassWrapper<AnnotateBranches, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AnnotateBranches)

  StringRef getName() const override { return "AnnotateBranches"; }

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
          op->getDiscardableAttr(veeline::loopAnnotationAttrName));
      if (!annotation)
        return;
      if (auto branch = dyn_cast<LLVM::BrOp>(op))
        branch.setLoopAnnotationAttr(annotation);
      else if (auto branch = dyn_cast<LLVM::CondBrOp>(op))
        branch.setLoopAnnotationAttr(annotation);
      op->removeDiscardableAttr(veeline::loopAnnotationAttrName);
    });
  }
};

/// Lowers the shared memory of kernels, before anything else is lowered.
struct LowerSharedMemory
    : PassWrapper<LowerSharedMemory, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerSharedMemory)

  StringRef getName() const override { return "LowerSharedMemory"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override { veeline::lowerSharedMemory(getOperation()); }
};

} // namespace

/// Simplifies each function by itself. In a module, one function that changes
/// would have all others looked at again.
static void addCleanup(OpPassManager &modules) {
  OpPassManager &functions = modules.nestAny();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
}

void veeline::buildGpuCodePipeline(OpPassManager &passManager) {
  OpPassManager &modules = passManager.nest<gpu::GPUModuleOp>();
  modules.addPass(std::make_unique<LowerSharedMemory>());
  addCleanup(modules);
  modules.nestAny().addPass(createLoopInvariantCodeMotionPass());
  modules.addPass(createPipeExpandMath());
  OpPassManager &functions = modules.nestAny();
  functions.addPass(memref::createExpandStridedMetadataPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createSCFToControlFlowPass());
  modules.addPass(createConvertVectorToLLVMPass());
  // This comes before the conversion of the gpu dialect, which would call
  // libdevice for functions that are one instruction.
  modules.addPass(createConvertMathToLLVMPass());
  modules.addPass(std::make_unique<NameIntrinsics>());
  modules.addPass(createConvertNVGPUToNVVMPass());
  ConvertGpuOpsToNVVMOpsOptions options;
  options.indexBitwidth = 64;
  options.useBarePtrCallConv = true;
  modules.addPass(createConvertGpuOpsToNVVMOps(options));
  modules.addPass(std::make_unique<DeclareDynamicMemory>());
  modules.addPass(std::make_unique<RelaxAtomics>());
  modules.addPass(std::make_unique<AnnotateBranches>());
  addCleanup(modules);
  modules.addPass(createReconcileUnrealizedCastsPass());
}
