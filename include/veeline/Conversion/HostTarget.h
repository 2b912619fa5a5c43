//===- HostTarget.h - modules to native code for a CPU ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last steps of host compilation: from a module of functions on memrefs and
// loops to the LLVM dialect, to an object for a CPU, to a shared object. Every
// step fails with an error that says what to do; none of them aborts.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_HOSTTARGET_H
#define VEELINE_CONVERSION_HOSTTARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace veeline {

/// Registers what the passes of host code generation and the translation to
/// LLVM IR need.
void registerHostTarget(mlir::DialectRegistry &registry);

/// Adds the passes that lower loops, vectors, memrefs and functions to the
/// LLVM dialect. A memref of static shape is passed as a bare pointer.
void buildLowerToLLVMPipeline(mlir::OpPassManager &passManager);

struct HostTargetOptions {
  /// A name that LLVM knows (`znver4`, `x86-64-v3`), or `native`.
  std::string cpu = "native";
  /// 0 to 3, as compilers count.
  unsigned optimizationLevel = 3;
  /// The path of GNU ld or lld. Empty: the first of `ld`, `ld.lld-22` and
  /// `ld.lld`, each looked for on PATH and in LLVM's own directory.
  std::string linker;
};

/// Checks `options` before anything is compiled: fails for a CPU that LLVM does
/// not know, and where there is no linker.
llvm::Error checkHostTarget(const HostTargetOptions &options);

/// Relocatable machine code.
struct HostObject {
  std::vector<char> bytes;
  std::string triple;
  /// The name of the CPU, resolved where it was `native`.
  std::string cpu;
  /// The instruction set extensions that the code may use, by LLVM's names
  /// (`avx2`, `fma`, `avx512f`), sorted.
  std::vector<std::string> features;
};

/// The object without bytes that compileToObject fills. Fails where the CPU is
/// unknown.
llvm::Expected<HostObject> describeHostObject(const HostTargetOptions &options);

/// Compiles `module`, which is in the LLVM dialect alone. No optimisation
/// changes a floating-point result: nothing is contracted or reassociated, and
/// calls of math functions are not replaced. Fails where the CPU is unknown or
/// the module does not translate.
llvm::Expected<HostObject> compileToObject(mlir::ModuleOp module,
                                           const HostTargetOptions &options);

/// As compileToObject, but returns assembly text: for tests and for reading.
llvm::Expected<std::string> compileToAssembly(mlir::ModuleOp module,
                                              const HostTargetOptions &options);

/// Links `objects` to one shared object and returns its bytes. Runs the linker
/// as a process of its own; what it says on failure is part of the error.
/// Undefined symbols (the runtime's, libm's) are resolved when it is loaded.
llvm::Expected<std::vector<char>>
linkSharedObject(llvm::ArrayRef<const HostObject *> objects,
                 const HostTargetOptions &options);

/// Ends the linkers and assemblers that run, and waits until they are gone: one
/// that goes on could write files that nobody deletes. For signal handlers that
/// end the process; async-signal-safe.
void stopLinkers();

/// A shared object loaded into this process, unloaded with the value.
class LoadedObject {
public:
  static llvm::Expected<LoadedObject> load(llvm::ArrayRef<char> bytes);
  LoadedObject(LoadedObject &&other);
  LoadedObject &operator=(LoadedObject &&other);
  ~LoadedObject();

  /// The address of a symbol; an error where there is none.
  llvm::Expected<void *> lookup(llvm::StringRef symbol) const;

private:
  explicit LoadedObject(void *handle) : handle(handle) {}
  void *handle;
};

} // namespace veeline

#endif // VEELINE_CONVERSION_HOSTTARGET_H
