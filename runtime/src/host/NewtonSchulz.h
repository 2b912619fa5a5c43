//===- NewtonSchulz.h - the nearest orthogonal matrix, for Muon -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_NEWTONSCHULZ_H
#define VEELINE_RUNTIME_HOST_NEWTONSCHULZ_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::host {

/// Jordan et al., "Muon: An optimizer for hidden layers in neural networks"
/// (2024): starting from x / |x|, the iteration x = a x + (b x x' + c (x x')^2)
/// x moves all singular values close to 1. Optimizers.h has the number of
/// steps, and a, b and c of each. The library computes the products.
class NewtonSchulz {
public:
  /// Creates the iteration for a row-major matrix. Call this function and `run`
  /// with one OpenMP thread (OneThread.h).
  static Expected<std::unique_ptr<NewtonSchulz>>
  create(artifact::DataType type, int64_t rows, int64_t columns);

  /// Replaces `matrix` by the result. `squares` is the sum of its squares.
  /// `workspace` has as many elements as newtonSchulzElements returns.
  Status run(void *matrix, double squares, void *workspace);

private:
  template <typename T>
  Status runTyped(T *matrix, double squares, T *workspace);
  Status multiply(library::PreparedCall &call, const void *a, const void *b,
                  void *c) {
    return call.run(a, b, c, scratch.data());
  }

  artifact::DataType type = artifact::DataType::f32;
  /// The shorter side, and the number of elements.
  int64_t small = 0, numElements = 0;
  /// The products x x', its square, and a symmetric matrix times x.
  std::unique_ptr<library::PreparedCall> gram, square, apply;
  std::vector<char> scratch; ///< The scratch memory of the library.
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_NEWTONSCHULZ_H
