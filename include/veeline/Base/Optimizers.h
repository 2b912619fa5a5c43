//===- Optimizers.h - the names and sizes of optimisers ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts about optimisers that the compiler needs to plan memory and the runtime
// to update parameters. Formulas are in runtime/src/host/Update.h.
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
  adafactor, ///< For a matrix it keeps means of rows and of columns.
  muon       ///< For matrices; other parameters are updated by AdamW.
};

/// "sgd", "sgd-momentum", "sgd-nesterov", "adam", "adamw", "nadamw", "lion",
/// "adafactor", "muon".
std::string_view name(Optimizer optimizer);
/// "adamw with error feedback".
std::string describeOptimizer(Optimizer optimizer, bool errorFeedback);
/// The inverse of name(); none if `text` names no optimiser.
std::optional<Optimizer> parseOptimizer(std::string_view text);
/// All names, in the order of the enumerators.
std::vector<std::string> optimizerNames();
/// "sgd, sgd-momentum, ... or muon".
std::string listOptimizers();

/// The shapes of an optimiser's state for a parameter of `shape`. The tensors
/// follow one another in memory and have the parameter's element type:
/// - SGD: none; with momentum, and Lion: the momentum;
/// - Adam and its variants: the first moments, then the second ones;
/// - Muon, for a matrix: the momentum, then a workspace of the same shape;
/// - Adafactor: the second moments; for a matrix, their means of rows, then
///   those of columns.
/// Error feedback appends one tensor of the parameter's shape, the previous
/// update.
std::vector<std::vector<int64_t>> stateShapes(Optimizer optimizer,
                                              bool errorFeedback,
                                              std::span<const int64_t> shape);
/// The number of elements of all these together. Allocates nothing.
int64_t stateElements(Optimizer optimizer, bool errorFeedback,
                      std::span<const int64_t> shape);
/// Whether the update of an element depends on that element alone. Then it has
/// the same bits on all targets.
bool isElementwise(Optimizer optimizer);
/// The optimiser that updates a parameter of `shape`: `optimizer`, except that
/// Muon leaves what is not a matrix to AdamW.
Optimizer updateRule(Optimizer optimizer, const std::vector<int64_t> &shape);
/// The elements of scratch memory that a Muon update of a matrix needs besides
/// its state. A GPU needs more.
int64_t newtonSchulzElements(int64_t rows, int64_t columns);

/// The bytes that an update reads and writes.
struct UpdateTraffic {
  int64_t read = 0, written = 0;
};

/// What determines `UpdateTraffic`, besides the sizes of a parameter and its
/// state.
struct UpdateKind {
  int64_t numGradients = 1;  ///< The number of gradients that are added up.
  bool keepsState = false;   ///< Copies value and state first, to restore them.
  bool keepsVersion = false; ///< Copies the value, for later forwards.
  int64_t shards = 1;        ///< The update is of one of this many shards.
};
/// The traffic of an update. `bytes` is the size of the whole parameter,
/// `stateBytes` that of the shard's state.
UpdateTraffic updateTraffic(int64_t bytes, int64_t stateBytes,
                            const UpdateKind &kind);

/// Adafactor's constants, from section 8 of the paper (cited in
/// runtime/src/host/Update.h): the number added to the square of a gradient,
/// the least root mean square of a parameter that scales its rate, the greatest
/// root mean square of an update, and the exponent of the moments' decay.
inline constexpr double adafactorEpsilon = 1e-30, adafactorLeastScale = 1e-3,
                        adafactorClip = 1, adafactorDecay = 0.8;

/// Muon's Newton-Schulz iteration x = a x + (b x x' + c (x x')^2) x. The source
/// is cited in runtime/src/host/NewtonSchulz.h.
inline constexpr int newtonSchulzSteps = 5;
inline constexpr double newtonSchulzA = 3.4445, newtonSchulzB = -4.7750,
                        newtonSchulzC = 2.0315;

} // namespace veeline

#endif // VEELINE_BASE_OPTIMIZERS_H
