//===- Cudnn.h - the functions of cuDNN -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_CUDNN_H
#define VEELINE_RUNTIME_CUDA_CUDNN_H

#include "CudnnGraphApi.h"
#include "Driver.h"

namespace veeline::cuda {

/// Whether a status means that cuDNN does not support a request.
inline bool isUnsupported(api::DnnStatus status) {
  return status >= api::dnnNotSupported && status < api::dnnInternalError;
}

/// The result of a call of cuDNN. "Not supported" need not be an error; that is
/// up to the caller. Any other failure is an error.
struct DnnResult {
  const char *call = "";
  api::DnnStatus status = api::dnnSuccess;

  bool ok() const { return status == api::dnnSuccess; }
  bool isUnsupported() const { return cuda::isUnsupported(status); }
};

/// The functions of cuDNN, of a supported version.
struct Cudnn {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_CUDNN_FUNCTIONS(VEELINE_DECLARE)
  VEELINE_CUDNN_GRAPH_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  static Expected<Cudnn> load(const std::string &path);
  Status check(const std::string &call, api::DnnStatus status) const;
  Status check(const DnnResult &result) const {
    return check(result.call, result.status);
  }

  size_t version = 0; ///< 91900 is 9.19.0.
};

/// A rank's handle for calls of cuDNN.
class DnnContext {
public:
  DnnContext() = default;
  DnnContext(const DnnContext &) = delete;
  DnnContext &operator=(const DnnContext &) = delete;
  ~DnnContext() {
    if (handle)
      (void)library->cudnnDestroy(handle);
  }

  /// Creates the handle for the current device.
  DnnResult create(const Cudnn &dnn);
  /// Sets the stream of later calls.
  Status setStream(api::Stream newStream);

  const Cudnn &dnn() const { return *library; }
  api::DnnHandle get() const { return handle; }

private:
  const Cudnn *library = nullptr;
  api::DnnHandle handle = nullptr;
  api::Stream stream = nullptr;
};

/// The error if loading `part` of a program by cuDNN fails with `message`, and
/// what to do about it.
inline Status refuse(const std::string &part, const std::string &message) {
  return Status::error(part + ": " + message +
                       "; --cudnn none does without cuDNN");
}

} // namespace veeline::cuda

/// The DnnResult of a call of `library`, a Cudnn.
#define VEELINE_DNN_CALL(library, function, ...)                               \
  (::veeline::cuda::DnnResult{#function, (library).function(__VA_ARGS__)})

/// Returns from the function if the DnnResult `expression` is not a success.
#define VEELINE_DNN_TRY(expression)                                            \
  do {                                                                         \
    if (::veeline::cuda::DnnResult tried = (expression); !tried.ok())          \
      return tried;                                                            \
  } while (false)

#endif // VEELINE_RUNTIME_CUDA_CUDNN_H
