//===- Cudnn.h - the functions of cuDNN ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDNN_H
#define VEELINE_RUNTIME_CUDA_CUDNN_H

#include "CudnnGraphApi.h"
#include "Driver.h"

namespace veeline::cuda {

/// The functions of cuDNN, loaded and of a version that we know.
struct Cudnn {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_CUDNN_FUNCTIONS(VEELINE_DECLARE)
  VEELINE_CUDNN_GRAPH_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  static Expected<Cudnn> load(const std::string &path);
  Status check(const std::string &call, api::DnnStatus status) const;

  size_t version = 0; ///< 91900.
};

/// A handle for the calls of a rank.
class DnnContext {
public:
  DnnContext() = default;
  DnnContext(const DnnContext &) = delete;
  DnnContext &operator=(const DnnContext &) = delete;
  ~DnnContext() {
    if (handle)
      (void)library->cudnnDestroy(handle);
  }

  /// For the device that is current.
  Status create(const Cudnn &dnn);
  /// Where the next calls go.
  Status setStream(api::Stream newStream);

  const Cudnn &dnn() const { return *library; }
  api::DnnHandle get() const { return handle; }

private:
  const Cudnn *library = nullptr;
  api::DnnHandle handle = nullptr;
  api::Stream stream = nullptr;
};

/// What `message` says of a part of a program that cuDNN was asked for when it
/// was loaded, and what to do.
inline Status refuse(const std::string &part, const std::string &message) {
  return Status::error(part + ": " + message +
                       "; --cudnn none does without cuDNN");
}

/// Whether cuDNN says that it has nothing for what it is asked for.
inline bool isUnsupported(api::DnnStatus status) {
  return status >= api::dnnNotSupported && status < api::dnnInternalError;
}

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_CUDNN_H
