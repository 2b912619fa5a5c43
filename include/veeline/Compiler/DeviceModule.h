//===- DeviceModule.h - the kernels of an artifact --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_DEVICEMODULE_H
#define VEELINE_COMPILER_DEVICEMODULE_H

#include "veeline/Conversion/GpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/artifact.h"

namespace veeline::compiler {

/// The kernels of all modules of an artifact, which become one image. Equal
/// kernels of several modules are one.
class DeviceModule {
public:
  explicit DeviceModule(mlir::MLIRContext &context);

  mlir::ModuleOp getModule() { return *module; }

  /// Has `other` number its kernels after those that there are.
  void share(mlir::ModuleOp other);
  /// Takes the kernels out of `other`, whose functions launch them.
  void take(mlir::ModuleOp other);
  /// What only shows in `other`, the module of the steps of `program`: which
  /// ranks read values back, and which kernels add up gradients.
  void describe(mlir::ModuleOp other, artifact::Program &program);

  /// Makes the image of kernels that are in the NVVM dialect, and describes
  /// them.
  llvm::Error compile(const GpuTargetOptions &options,
                      artifact::Artifact &artifact);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::gpu::GPUModuleOp kernels;
  mlir::ArrayAttr table;
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_DEVICEMODULE_H
