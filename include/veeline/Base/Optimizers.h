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
#include <span>
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
  adafactor, ///< Of matrices it keeps means of rows and of columns.
  muon       ///< Of matrices; of other parameters it is AdamW.
};

/// "sgd", "sgd-momentum", "sgd-nesterov", "adam", "adamw", "nadamw", "lion",
/// "adafactor", "muon".
std::string_view name(Optimizer optimizer);
/// "adamw with error feedback".
std::string describeOptimizer(Optimizer optimizer, bool errorFeedback);
/// The inverse of name(); none where `text` names no optimiser.
std::optional<Optimizer> parseOptimizer(std::string_view text);
/// All names, in the order of the enumerators.
std::vector<std::string> optimizerNames();
/// "sgd, sgd-momentum, ... or muon".
std::string listOptimizers();

/// The shapes of what is kept of a parameter of a shape, one after the other,
/// in the parameter's type: nothing, the momentum, first moments and then
/// second ones, of a matrix that Muon updates the momentum and then what it
/// works on, all of the parameter's shape; of Adafactor the second moments, of
/// a matrix their means of rows and then of columns. With error feedback one
/// more of the parameter's shape at the end, for the update before.
std::vector<std::vector<int64_t>> stateShapes(Optimizer optimizer,
                                              bool errorFeedback,
                                              std::span<const int64_t> shape);
/// The elements of all these. Allocates nothing.
int64_t stateElements(Optimizer optimizer, bool errorFeedback,
                      std::span<const int64_t> shape);
/// Whether an update of an element is a function of that element alone, so that
/// it has the same bits on all targets.
bool isElementwise(Optimizer optimizer);
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
  int64_t shards = 1;        ///< The update is of one of so many shares.
};
/// `stateBytes` are those of the share.
UpdateTraffic updateTraffic(int64_t bytes, int64_t stateBytes,
                            const UpdateKind &kind);

/// Adafactor's constants, those of section 8 of its paper
/// (runtime/src/host/Update.h has it): what is added to the square of a
/// gradient, the least root mean square of a parameter by which its rate is
/// scaled, the greatest of an update, and the exponent of the decay of moments.
inline constexpr double adafactorEpsilon = 1e-30, adafactorLeastScale = 1e-3,
                        adafactorClip = 1, adafactorDecay = 0.8;

/// Muon's steps x = a x + (b x x' + c (x x')^2) x.
/// runtime/src/host/NewtonSchulz.h has the source.
inline constexpr int newtonSchulzSteps = 5;
inline constexpr double newtonSchulzA = 3.4445, newtonSchulzB = -4.7750,
                        newtonSchulzC = 2.0315;

} // namespace veeline

#endif // VEELINE_BASE_OPTIMIZERS_H
