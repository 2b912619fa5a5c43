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
/// (2024): steps x = a x + (b x x' + c (x x')^2) x from x / |x| bring all
/// singular values near 1. Optimizers.h has how many, and with which a, b and
/// c. The products are those of the library.
class NewtonSchulz {
public:
  /// For a row-major matrix. To be called, as `run`, with one OpenMP thread
  /// (OneThread.h).
  static Expected<std::unique_ptr<NewtonSchulz>>
  create(artifact::DataType type, int64_t rows, int64_t columns);

  /// Replaces `matrix`, whose sum of squares is `squares`. `workspace` has
  /// as many elements as newtonSchulzElements says.
  Status run(void *matrix, double squares, void *workspace);

private:
  template <typename T>
  Status runTyped(T *matrix, double squares, T *workspace);
  Status multiply(library::PreparedCall &call, const void *a, const void *b,
                  void *c) {
    return call.run(a, b, c, scratch.data());
  }

  artifact::DataType type = artifact::DataType::f32;
  int64_t small = 0, numElements = 0; ///< The lesser side, and all elements.
  /// x x', its square, and the product of a symmetric matrix and x.
  std::unique_ptr<library::PreparedCall> gram, square, apply;
  std::vector<char> scratch; ///< What the library asks for.
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_NEWTONSCHULZ_H
