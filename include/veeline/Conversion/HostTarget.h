//===- HostTarget.h - compiling modules to CPU code -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last steps of host compilation. A module of functions on memrefs and
// loops is lowered to the LLVM dialect, compiled to an object for a CPU, and
// linked to a shared object. Every step fails with an error that says what to
// do; none of them aborts.
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

/// Registers the dialects and interfaces that host code generation and the
/// translation to LLVM IR need.
void registerHostTarget(mlir::DialectRegistry &registry);

/// Adds the passes that lower loops, vectors, memrefs and functions to the
/// LLVM dialect. A memref of static shape is passed as a bare pointer.
void buildLowerToLLVMPipeline(mlir::OpPassManager &passManager);

struct HostTargetOptions {
  /// A name that LLVM knows (`znver4`, `x86-64-v3`), or `native`.
  std::string cpu = "native";
  /// The optimisation level, 0 to 3.
  unsigned optimizationLevel = 3;
  /// The path of GNU ld or lld. Empty: the first of `ld`, `ld.lld-22` and
  /// `ld.lld` that is on PATH or in LLVM's own directory.
  std::string linker;
};

/// Checks `options` before anything is compiled. Fails for a CPU that LLVM does
/// not know, and if there is no linker.
llvm::Error checkHostTarget(const HostTargetOptions &options);

/// The path of the linker that `options` ask for; an error where there is none.
llvm::Expected<std::string> findLinker(const HostTargetOptions &options);

/// Relocatable machine code.
struct HostObject {
  std::vector<char> bytes;
  std::string triple;
  /// The name of the CPU. `native` is resolved.
  std::string cpu;
  /// The instruction set extensions that the code may use, as LLVM names them
  /// (`avx2`, `fma`, `avx512f`), sorted.
  std::vector<std::string> features;
};

/// The HostObject that compileToObject would return, without bytes. Fails if
/// the CPU is unknown.
llvm::Expected<HostObject> describeHostObject(const HostTargetOptions &options);

/// Compiles `module`, which must be in the LLVM dialect only. No optimisation
/// changes a floating-point result: nothing is contracted or reassociated, and
/// calls of math functions are not replaced. Fails if the CPU is unknown or the
/// module cannot be translated.
llvm::Expected<HostObject> compileToObject(mlir::ModuleOp module,
                                           const HostTargetOptions &options);

/// As compileToObject, but returns assembly text: for tests and for reading.
llvm::Expected<std::string> compileToAssembly(mlir::ModuleOp module,
                                              const HostTargetOptions &options);

/// Links `objects` to one shared object and returns its bytes. The linker runs
/// as a separate process; its messages are part of the error. Undefined
/// symbols, such as those of the runtime and libm, are resolved when the shared
/// object is loaded.
llvm::Expected<std::vector<char>>
linkSharedObject(llvm::ArrayRef<const HostObject *> objects,
                 const HostTargetOptions &options);

/// Ends running linkers and assemblers, and waits for their end, because they
/// could still write files that nobody deletes. For signal handlers that end
/// the process; async-signal-safe.
void stopLinkers();

/// A shared object that is loaded into this process. The destructor unloads it.
class LoadedObject {
public:
  static llvm::Expected<LoadedObject> load(llvm::ArrayRef<char> bytes);
  LoadedObject(LoadedObject &&other);
  LoadedObject &operator=(LoadedObject &&other);
  ~LoadedObject();

  /// The address of a symbol; an error if there is none.
  llvm::Expected<void *> lookup(llvm::StringRef symbol) const;

private:
  explicit LoadedObject(void *handle) : handle(handle) {}
  void *handle;
};

} // namespace veeline

#endif // VEELINE_CONVERSION_HOSTTARGET_H
