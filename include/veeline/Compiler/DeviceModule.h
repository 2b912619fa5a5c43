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

/// Collects the kernels of all modules of an artifact and compiles them to one
/// image. Equal kernels of several modules are merged.
class DeviceModule {
public:
  explicit DeviceModule(mlir::MLIRContext &context);

  mlir::ModuleOp getModule() { return *module; }

  /// Makes `other` number its kernels after those taken so far.
  void share(mlir::ModuleOp other);
  /// Moves the kernels out of `other`, whose functions launch them.
  void take(mlir::ModuleOp other);
  /// Describes what only `other` shows, the module of the steps of `program`:
  /// which ranks read values back, and which kernels add up gradients.
  void describe(mlir::ModuleOp other, artifact::Program &program);

  /// The cache key of the image, for the kernels in the form in which `take`
  /// takes them.
  llvm::Expected<std::string> getKey(const CodeCache &cache,
                                     const GpuTargetOptions &options);

  /// Takes the image from the cache; false if the cache does not have it.
  llvm::Expected<bool> find(const CodeCache &cache, llvm::StringRef key,
                            const GpuTargetOptions &options,
                            artifact::Artifact &artifact);

  /// Compiles the kernels, which are in the NVVM dialect, to one image, and
  /// describes them. Adds the image to `cache` if it is given.
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
