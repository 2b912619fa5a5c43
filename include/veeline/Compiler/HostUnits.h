//===- HostUnits.h - the host code of steps ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_HOSTUNITS_H
#define VEELINE_COMPILER_HOSTUNITS_H

#include "veeline/Compiler/CodeCache.h"
#include "veeline/Conversion/HostTarget.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace veeline::compiler {

/// The machine code of steps.
struct StepCode {
  /// A shared object for each step.
  std::vector<std::string> objects;
  std::string cpu;
  std::vector<std::string> features; ///< As in HostObject.
};

/// Compiles the host code of the steps of several modules. Each function is
/// compiled once, however many steps call it. Kernels call nothing; those that
/// are equal in several modules are also compiled once. A unit is one of a
/// step's functions, or a set of a module's other functions. Units are compiled
/// in parallel. A step is linked from the units that it reaches, without
/// functions that it does not reach.
class HostUnits {
public:
  HostUnits();
  ~HostUnits();

  /// The names of a step's functions.
  using Step = std::vector<std::string>;

  /// Adds steps of `module`, on which the passes of host code have not run yet.
  /// The module must live until compile() has returned.
  void add(mlir::ModuleOp module, llvm::ArrayRef<Step> steps);

  /// Compiles all steps, at least one, and returns them in the order in which
  /// they were added. Units in `cache`, if it is given, are not compiled again.
  /// The error has no message if diagnostics have been emitted.
  llvm::Expected<StepCode> compile(const HostTargetOptions &target,
                                   const CodeCache *cache = nullptr);

  /// The number of units.
  size_t getNumUnits() const;
  /// The number of units that were in the cache.
  size_t getNumCached() const;

private:
  struct Node;
  struct Source;
  struct Unit;

  void findCalls();
  void markReachable();
  void divide();
  mlir::OwningOpRef<mlir::ModuleOp> extract(Unit &unit);
  void addFunction(Node &node, mlir::OpBuilder &builder);
  llvm::Error compileUnit(Unit &unit, HostTargetOptions target,
                          const CodeCache *cache);
  llvm::Expected<StepCode> link(const HostTargetOptions &target);

  std::vector<Source> sources;
  std::vector<Unit> units;
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_HOSTUNITS_H
