//===- Optimizers.h - the names and sizes of optimisers --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler, which plans memory, and the runtime, which updates
// parameters, have to agree on. Formulas are in runtime/src/host/Update.h.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_OPTIMIZERS_H
#define VEELINE_BASE_OPTIMIZERS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace veeline {

enum class Optimizer {
  sgd,
  sgdMomentum,
  sgdNesterov,
  adam, ///< Weight decay is a part of the gradient.
  adamw,
  nadamw, ///< AdamW with Nesterov's momentum.
  lion,
  muon ///< Of matrices; of other parameters it is AdamW.
};

/// "sgd", "sgd-momentum", "sgd-nesterov", "adam", "adamw", "nadamw", "lion",
/// "muon".
std::string_view name(Optimizer optimizer);
/// "adamw with error feedback".
std::string describeOptimizer(Optimizer optimizer, bool errorFeedback);
/// The inverse of name(); none where `text` names no optimiser.
std::optional<Optimizer> parseOptimizer(std::string_view text);
/// All names, in the order of the enumerators.
std::vector<std::string> optimizerNames();
/// "sgd, sgd-momentum, ... or muon".
std::string listOptimizers();

/// Elements of state for each element of a parameter, in the parameter's type:
/// 0, 1 (momentum), 2 (first moments of all elements, then second; of a matrix
/// that Muon updates the momentum, then what it works on); with error feedback
/// one more at the end, for the update before.
int64_t stateSlots(Optimizer optimizer, bool errorFeedback);
/// What updates a parameter of a shape: `optimizer`, but for parameters that it
/// is not for.
Optimizer updateRule(Optimizer optimizer, const std::vector<int64_t> &shape);
/// Elements of memory in which a Muon update of a matrix works, besides its
/// state. A GPU has more.
int64_t newtonSchulzElements(int64_t rows, int64_t columns);

/// The bytes that an update moves.
struct UpdateTraffic {
  int64_t read = 0, written = 0;
};

/// What decides that, besides the sizes of a parameter and its state.
struct UpdateKind {
  int64_t numGradients = 1;  ///< How many are added up.
  bool keepsState = false;   ///< Copies what it replaces, to restore it.
  bool keepsVersion = false; ///< Copies the value alone, for forwards to come.
};
UpdateTraffic updateTraffic(int64_t bytes, int64_t stateBytes,
                            const UpdateKind &kind);

/// Muon's steps x = a x + (b x x' + c (x x')^2) x.
/// runtime/src/host/NewtonSchulz.h has the source.
inline constexpr int newtonSchulzSteps = 5;
inline constexpr double newtonSchulzA = 3.4445, newtonSchulzB = -4.7750,
                        newtonSchulzC = 2.0315;

} // namespace veeline

#endif // VEELINE_BASE_OPTIMIZERS_H
