/*===- Mlir.h - for programs that use MLIR's C API ----------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* This is another part of libveeline-c-compile, in which modules and pass    *|
|* managers are those of mlir-c. The program has to use the libMLIR that this *|
|* library is linked to.                                                      *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VEELINE_C_MLIR_H
#define VEELINE_C_MLIR_H

#include "mlir-c/IR.h"
#include "veeline-c/Compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Adds the dialect `pipe`, and Veeline's interfaces of upstream's dialects, to
    `registry`; not upstream's dialects themselves. */
VEELINE_C_EXPORTED void veelineRegisterDialects(MlirDialectRegistry registry);
/** Registers all of Veeline's passes and pipelines in this process, for
    mlirParsePassPipeline. May be called more than once. */
VEELINE_C_EXPORTED void veelineRegisterPasses(void);

/** Does what veelineModuleCompile does, for a module of the program. Upstream's
    dialects and those of Veeline are added to its context. The module does not
    change. No other thread may use its context meanwhile. */
VEELINE_C_EXPORTED VeelineStatus
veelineMlirModuleCompile(MlirModule module, const VeelineOption *options,
                         size_t numOptions, VeelineDiagnosticHandler handler,
                         void *userData, VeelineArtifact *artifact);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_MLIR_H */
