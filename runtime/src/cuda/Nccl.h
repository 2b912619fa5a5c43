//===- Nccl.h - the functions of NCCL --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_NCCL_H
#define VEELINE_RUNTIME_CUDA_NCCL_H

#include "NcclApi.h"

#include "veeline/artifact.h"
#include "veeline/status.h"

#include <string>

namespace veeline::cuda {

/// Loaded, and of a version that we know.
struct Nccl {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_NCCL_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  /// `path` is a file, or empty for the usual one.
  static Expected<Nccl> load(const std::string &path);

  /// As in "ncclSend: ncclSystemError (2): unhandled system error; socket was
  /// closed", the end of which NCCL says of `comm`, or of all where that is
  /// null. That something is in progress is no error.
  Status check(const std::string &call, api::NcclResult result,
               api::Comm comm = nullptr) const;

  int version = 0; ///< 22809.
};

/// As what messages of this type travel, and as how many elements each.
struct NcclType {
  int number;
  int64_t elements;
};
/// The error is that of a type that the table has no row for.
Expected<NcclType> ncclTypeOf(artifact::DataType type);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_NCCL_H
