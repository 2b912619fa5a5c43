//===- Cudnn.h - the functions of cuDNN ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDNN_H
#define VEELINE_RUNTIME_CUDA_CUDNN_H

#include "CudnnApi.h"
#include "Driver.h"

namespace veeline::cuda {

/// The functions of cuDNN, loaded and of a version that we know.
struct Cudnn {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_CUDNN_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  static Expected<Cudnn> load(const std::string &path);
  Status check(const std::string &call, api::DnnStatus status) const;

  size_t version = 0; ///< 91900.
};

/// Whether cuDNN says that it has nothing for what it is asked for.
inline bool isUnsupported(api::DnnStatus status) {
  return status >= api::dnnNotSupported && status < api::dnnInternalError;
}

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDNN_H
