//===- Cudnn.cpp - the functions of cuDNN ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cudnn.h"

#include "Library.h"

using namespace veeline;
using namespace veeline::cuda;

/// Versions with the same major number are compatible.
static constexpr size_t leastVersion = 90000, nextVersion = 100000;

Status Cudnn::check(const std::string &call, api::DnnStatus status) const {
  if (status == api::dnnSuccess)
    return Status::success();
  const char *text = cudnnGetErrorString(status);
  return Status::error(call + ": " + (text ? text : "an unknown error") + " (" +
                       std::to_string(status) + ")");
}

Expected<Cudnn> Cudnn::load(const std::string &path) {
  VEELINE_TRY_VALUE(
      Library library,
      Library::open({"cuDNN, which computes convolutions and attention",
                     "--cudnn",
                     "install cuDNN 9",
                     {"libcudnn.so.9"}},
                    path));
  Cudnn dnn;
#define VEELINE_FIND(type, name, parameters)                                   \
  VEELINE_TRY(library.find(#name, dnn.name, "cuDNN of version 9"));
  VEELINE_CUDNN_FUNCTIONS(VEELINE_FIND)
  VEELINE_CUDNN_GRAPH_FUNCTIONS(VEELINE_FIND)
#undef VEELINE_FIND
  dnn.version = dnn.cudnnGetVersion();
  if (dnn.version < leastVersion || dnn.version >= nextVersion)
    return Status::error(
        "cuDNN '" + library.path() + "' has version " +
        std::to_string(dnn.version / 10000) + "." +
        std::to_string(dnn.version / 100 % 100) +
        ", and 9 is needed; install that, or do without it (--cudnn none)");
  return dnn;
}

DnnResult DnnContext::create(const Cudnn &dnn) {
  library = &dnn;
  return VEELINE_DNN_CALL(dnn, cudnnCreate, &handle);
}

Status DnnContext::setStream(api::Stream newStream) {
  if (stream == newStream)
    return Status::success();
  VEELINE_TRY(VEELINE_CALL(*library, cudnnSetStream, handle, newStream));
  stream = newStream;
  return Status::success();
}
