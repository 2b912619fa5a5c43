/*===- Compile.h - models to artifacts, in C ----------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* This is the interface of libveeline-c-compile, which loads MLIR and        *|
|* oneDNN. It compiles a model to an artifact in memory, for                  *|
|* veeline-c/Training.h, and runs passes on a module. This header needs none  *|
|* of MLIR's headers; Mlir.h is for programs that use MLIR themselves.        *|
|* Support.h has the rules of ownership and threads.                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VEELINE_C_COMPILE_H
#define VEELINE_C_COMPILE_H

#include "veeline-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Diagnostics
\*===----------------------------------------------------------------------===*/

typedef enum VeelineSeverity {
  VeelineSeverityError = 0,
  VeelineSeverityWarning = 1,
  VeelineSeverityRemark = 2,
  VeelineSeverityNote = 3
} VeelineSeverity;

/** A message about a place in a model. */
typedef struct VeelineDiagnostic {
  VeelineSeverity severity;
  /** A file, or the name of a text; "" if the message is about neither. */
  const char *file;
  /** From 1; 0 without a file. */
  int64_t line, column;
  const char *message;
  const struct VeelineDiagnostic *notes;
  size_t numNotes;
} VeelineDiagnostic;

/** The function that a handler is passed to calls it on its own thread, before
    it returns, once for each diagnostic in the order in which they are emitted.
    `diagnostic` is valid until the handler returns. A handler must not throw,
    and may be NULL. With or without one, the status of the function has the
    first error, with place and notes. */
typedef void (*VeelineDiagnosticHandler)(const VeelineDiagnostic *diagnostic,
                                         void *userData);

/*===----------------------------------------------------------------------===*\
|* Modules
\*===----------------------------------------------------------------------===*/

/** An MLIR module with a context of its own, which has upstream's dialects and
    those of Veeline. One thread may use it at a time. */
typedef struct VeelineModule {
  void *ptr;
} VeelineModule;

/** Parses the `length` bytes of `text`, MLIR as text or bytecode. `name` stands
    for its file in diagnostics; NULL: "<memory>". Errors (VeelineFailed): it is
    malformed, or does not verify. */
VEELINE_C_EXPORTED VeelineStatus veelineModuleParse(
    const char *text, size_t length, const char *name,
    VeelineDiagnosticHandler handler, void *userData, VeelineModule *module);
/** The same for a file. */
VEELINE_C_EXPORTED VeelineStatus
veelineModuleRead(const char *path, VeelineDiagnosticHandler handler,
                  void *userData, VeelineModule *module);
VEELINE_C_EXPORTED void veelineModuleDestroy(VeelineModule module);

/** Runs passes on the module: "pipe-partition{stages=2},canonicalize", or the
    same in "builtin.module(...)"; all of upstream and Veeline, pipelines too.
    Errors: VeelineInvalid if the text is not a pipeline of passes, and nothing
    has run; VeelineFailed if a pass fails, which leaves the module as the pass
    left it. The handler hears either. What is wrong with the value of an
    option, as in {stages=x}, LLVM prints to standard error, too. */
VEELINE_C_EXPORTED VeelineStatus
veelineModuleSetByPasses(VeelineModule module, const char *passes,
                         VeelineDiagnosticHandler handler, void *userData);

/** The module as text, and as bytecode. */
VEELINE_C_EXPORTED VeelineStatus veelineModuleToText(VeelineModule module,
                                                     VeelineString *text);
VEELINE_C_EXPORTED VeelineStatus
veelineModuleToBytecode(VeelineModule module, VeelineString *bytecode);

/*===----------------------------------------------------------------------===*\
|* Artifacts
\*===----------------------------------------------------------------------===*/

/** The names of the options of compiling, one after the other; NULL after the
    last one. They are those of `veeline compile`, but help, json, quiet and
   output.
 */
VEELINE_C_EXPORTED const char *veelineCompileOptionAt(size_t index);

/** The bytes of an artifact. */
typedef struct VeelineArtifact {
  void *ptr;
} VeelineArtifact;

/** Compiles the module, which does not change. A model that does not follow the
    input contract is imported first (docs/import.md), as by the command.
    Errors: VeelineInvalid for options, VeelineFailed for the model and this
    machine. */
VEELINE_C_EXPORTED VeelineStatus
veelineModuleCompile(VeelineModule module, const VeelineOption *options,
                     size_t numOptions, VeelineDiagnosticHandler handler,
                     void *userData, VeelineArtifact *artifact);
VEELINE_C_EXPORTED void veelineArtifactDestroy(VeelineArtifact artifact);

/** The bytes, for veelineTrainingOpenInMemory, belong to the artifact. */
VEELINE_C_EXPORTED const void *veelineArtifactData(VeelineArtifact artifact);
VEELINE_C_EXPORTED size_t veelineArtifactSize(VeelineArtifact artifact);
/** Writes the file that `veeline compile` would have written, atomically. */
VEELINE_C_EXPORTED VeelineStatus veelineArtifactSave(VeelineArtifact artifact,
                                                     const char *path);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_COMPILE_H */
