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

/// What a compiler could do wrong. Each fault is found by one check alone, so
/// that it shows that this check works.
enum class Fault {
  none,
  /// Gradients of parameters are 1e-5 too large, in every program alike: only
  /// finite differences of losses show it.
  gradient,
  /// W computes gradients about 1e-6 larger than the fused backward does: only
  /// comparing bits shows it, in programs that split the backward.
  split,
  /// W multiplies matrices that lie transposed in memory, where a library may
  /// add up in another order. The compiler itself refuses this.
  layout,
  /// In pipelined programs, the results of every forward of a chunk lie where
  /// those of its first one do.
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
