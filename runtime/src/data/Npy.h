//===- Npy.h - arrays of NumPy ----------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_NPY_H
#define VEELINE_RUNTIME_DATA_NPY_H

#include "Tensor.h"

namespace veeline::data {

/// Parses a whole .npy file (NumPy enhancement proposal 1; versions 1.0 to
/// 3.0): little-endian, in C order, of one of our element types. The tensor
/// points into `file`. Messages do not name the file.
Expected<Tensor> parseNpy(std::string_view file);

/// An array as its header describes it, of any element type.
struct NpyArray {
  std::string descr; ///< As in "<u2".
  bool isFortran = false;
  std::vector<int64_t> shape;
  std::string_view content; ///< What follows the header.
};

/// Parses only the header.
Expected<NpyArray> parseNpyArray(std::string_view file);

/// Returns the header of a .npy file, version 1.0, in C order. The rows follow
/// it. `type` must not be bf16, which NumPy lacks.
std::string npyHeader(artifact::DataType type,
                      const std::vector<int64_t> &shape);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_NPY_H
