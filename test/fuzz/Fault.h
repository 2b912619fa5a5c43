//===- Fault.h - deliberate miscompilation ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_FAULT_H
#define VEELINE_TEST_FUZZ_FAULT_H

#include <optional>
#include <string_view>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace veeline::fuzz {

/// What a compiler could do wrong, each found by one check alone. A checker
/// that finds nothing has to find these.
enum class Fault {
  none,
  /// Gradients of parameters are 1e-5 too large, in every program alike: only
  /// differences of losses show it.
  gradient,
  /// W computes them 1e-6 larger than the fused backward does: only bits show
  /// it, in programs that split.
  split,
  /// W multiplies matrices that lie in memory the other way round: a library
  /// may add up in another order there. The compiler itself refuses it.
  layout,
  /// In pipelined programs what the second forward of a chunk leaves lies where
  /// that of the first one does.
  memory
};

/// The fault of that name; nothing where there is none.
std::optional<Fault> findFault(std::string_view name);

/// Puts `gradient`, `split` or `layout` into the functions of chunks, on
/// tensors.
void miscompileFunctions(mlir::ModuleOp module, Fault fault);
/// Puts `memory` into programs whose memory is planned.
void miscompilePrograms(mlir::ModuleOp module, Fault fault);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_FAULT_H
