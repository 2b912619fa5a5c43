//===- DeviceModule.h - the kernels of an artifact --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_DEVICEMODULE_H
#define VEELINE_COMPILER_DEVICEMODULE_H

#include "veeline/Compiler/CodeCache.h"
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

  /// Has `other` number its kernels after those taken so far.
  void share(mlir::ModuleOp other);
  /// Takes the kernels out of `other`, whose functions launch them.
  void take(mlir::ModuleOp other);
  /// Describes what only `other`, the module of the steps of `program`, shows:
  /// which ranks read values back, and which kernels add up gradients.
  void describe(mlir::ModuleOp other, artifact::Program &program);

  /// The key of the kernels' image: of kernels as `take` takes them.
  llvm::Expected<std::string> getKey(const CodeCache &cache,
                                     const GpuTargetOptions &options);

  /// Takes the image from the cache; false if it is not there.
  llvm::Expected<bool> find(const CodeCache &cache, llvm::StringRef key,
                            const GpuTargetOptions &options,
                            artifact::Artifact &artifact);

  /// Compiles the kernels, which are in the NVVM dialect, to one image, and
  /// describes them. The image is added to `cache`, if there is one.
  llvm::Error compile(const GpuTargetOptions &options, const CodeCache *cache,
                      llvm::StringRef key, artifact::Artifact &artifact);

private:
  llvm::Error describe(GpuImage image, const GpuTargetOptions &options,
                       artifact::Artifact &artifact);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::gpu::GPUModuleOp kernels;
  mlir::ArrayAttr table;
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_DEVICEMODULE_H
