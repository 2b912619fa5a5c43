//===- GpuTarget.h - GPU modules to code for NVIDIA GPUs --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last steps of GPU compilation: from a gpu.module in the NVVM dialect to
// PTX, in this process, and from PTX to an image for several chips, by the
// assembler of a CUDA toolkit. Every step fails with an error that says what to
// do. What would make LLVM abort is refused before.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_GPUTARGET_H
#define VEELINE_CONVERSION_GPUTARGET_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace veeline {

/// Registers what the translation of GPU modules to LLVM IR needs.
void registerGpuTarget(mlir::DialectRegistry &registry);

struct GpuTargetOptions {
  /// Make native code for these. Empty: PTX alone, which the driver compiles.
  std::vector<std::string> chips = {"sm_80", "sm_90", "sm_100"};
  /// Add PTX of the highest portable one of `chips`, for later chips.
  bool ptx = true;
  /// The directory of a CUDA toolkit, with bin/ptxas and bin/fatbinary. Empty:
  /// that of $CUDA_HOME or $CUDA_PATH, else /usr/local/cuda, else that of the
  /// ptxas on PATH.
  std::string toolkit;
  /// 0 to 3, as compilers count, of PTX. The assembler optimises anyway.
  unsigned optimizationLevel = 3;
};

/// The resources that a kernel uses on a chip, as the assembler reports them.
struct GpuKernelUse {
  std::string kernel, chip;
  int64_t registers = 0, spillBytes = 0, stackBytes = 0, sharedBytes = 0;
};

struct GpuImage {
  /// What cuModuleLoadData takes: a fat binary, or the text of PTX with a zero
  /// at its end.
  std::string bytes;
  /// The chip of the PTX in it, empty where there is none.
  std::string ptxChip;
  /// As in "13.0"; empty where no toolkit was used.
  std::string toolkitVersion;
  /// In the order of the chips.
  std::vector<GpuKernelUse> uses;
};

/// Compiles `module`, which is in the LLVM and NVVM dialects alone, to PTX for
/// `chip`. No optimisation changes a floating-point result: nothing is
/// contracted or flushed to zero. Looks for the toolkit only if a kernel needs
/// its libdevice. Fails where the chip is unknown or the module does not
/// translate.
llvm::Expected<std::string> compileToPtx(mlir::gpu::GPUModuleOp module,
                                         llvm::StringRef chip,
                                         const GpuTargetOptions &options = {});

/// The files of the toolkit that compileToImage may read or run: none where PTX
/// alone is wanted and there is no toolkit. Fails as checkGpuTarget does.
llvm::Expected<std::vector<std::string>>
listGpuTools(const GpuTargetOptions &options);

/// Checks `options` before there is a module, as compileToImage does: fails for
/// an unknown chip, and for a toolkit that is missing or older than a chip.
llvm::Error checkGpuTarget(const GpuTargetOptions &options);

/// Compiles `module` for all chips of `options` to one image. Runs the
/// assembler once for each chip, side by side.
llvm::Expected<GpuImage> compileToImage(mlir::gpu::GPUModuleOp module,
                                        const GpuTargetOptions &options);

} // namespace veeline

#endif // VEELINE_CONVERSION_GPUTARGET_H
