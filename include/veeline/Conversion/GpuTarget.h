//===- GpuTarget.h - compiling GPU modules to native code -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last steps of GPU compilation. A gpu.module in the NVVM dialect is
// compiled to PTX in this process. The assembler of a CUDA toolkit then
// compiles PTX to an image for several chips. Every step fails with an error
// that says what to do. Inputs that would make LLVM abort are rejected first.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_GPUTARGET_H
#define VEELINE_CONVERSION_GPUTARGET_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace veeline {

/// Registers the dialects and interfaces that the translation of GPU modules to
/// LLVM IR needs.
void registerGpuTarget(mlir::DialectRegistry &registry);

struct GpuTargetOptions {
  /// The chips of native code. Empty: PTX alone, which the driver compiles.
  std::vector<std::string> chips = {"sm_80", "sm_90", "sm_100"};
  /// Whether to add PTX for the highest portable one of `chips`, for later
  /// chips.
  bool ptx = true;
  /// The directory of a CUDA toolkit, with bin/ptxas and bin/fatbinary. Empty:
  /// $CUDA_HOME or $CUDA_PATH, else /usr/local/cuda, else the toolkit of the
  /// ptxas on PATH.
  std::string toolkit;
  /// The optimisation level of PTX, 0 to 3. The assembler always optimises.
  unsigned optimizationLevel = 3;
};

/// The resources that a kernel uses on a chip, as the assembler reports them.
struct GpuKernelUse {
  std::string kernel, chip;
  int64_t registers = 0, spillBytes = 0, stackBytes = 0, sharedBytes = 0;
};

struct GpuImage {
  /// The argument of cuModuleLoadData: a fat binary, or PTX text with a
  /// terminating zero.
  std::string bytes;
  /// The chip of the PTX in the image; empty if there is none.
  std::string ptxChip;
  /// As in "13.0"; empty if no toolkit was used.
  std::string toolkitVersion;
  /// In the order of the chips.
  std::vector<GpuKernelUse> uses;
};

/// Compiles `module`, which must be in the LLVM and NVVM dialects only, to PTX
/// for `chip`. No optimisation changes a floating-point result: nothing is
/// contracted or flushed to zero. Searches for the toolkit only if a kernel
/// needs its libdevice. Fails if the chip is unknown or the module cannot be
/// translated.
llvm::Expected<std::string> compileToPtx(mlir::gpu::GPUModuleOp module,
                                         llvm::StringRef chip,
                                         const GpuTargetOptions &options = {});

/// The files of the toolkit that compileToImage may read or run; none if only
/// PTX is wanted and there is no toolkit. Fails as checkGpuTarget does.
llvm::Expected<std::vector<std::string>>
listGpuTools(const GpuTargetOptions &options);

/// The version of the toolkit that `options` lead to, as "13.0". The error
/// lists where it was looked for.
llvm::Expected<std::string> findToolkit(const GpuTargetOptions &options);

/// Checks `options` before there is a module. Fails for an unknown chip, and
/// for a toolkit that is missing or does not know a chip.
llvm::Error checkGpuTarget(const GpuTargetOptions &options);

/// Compiles `module` for all chips of `options` to one image. Runs the
/// assembler once for each chip, in parallel.
llvm::Expected<GpuImage> compileToImage(mlir::gpu::GPUModuleOp module,
                                        const GpuTargetOptions &options);

} // namespace veeline

#endif // VEELINE_CONVERSION_GPUTARGET_H
