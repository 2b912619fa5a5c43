//===- Nccl.h - the functions of NCCL ---------------------------*- C++ -*-===//
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

/// The functions of NCCL, of a supported version.
struct Nccl {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_NCCL_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  /// Loads NCCL from the file `path` or, if it is empty, from the usual one.
  static Expected<Nccl> load(const std::string &path);

  /// Converts a result to a Status. The error reads like "ncclSend:
  /// ncclSystemError (2): unhandled system error; socket was closed". Its end
  /// is NCCL's last error of `comm` or, if that is null, of any communicator.
  /// ncclInProgress is not an error.
  Status check(const std::string &call, api::NcclResult result,
               api::Comm comm = nullptr) const;

  int version = 0; ///< 22809 is 2.28.9.
};

/// The NCCL type for elements of a type, and the number of its elements for
/// each of ours.
struct NcclType {
  int number;
  int64_t elements;
};
/// Fails for a type without a row in VEELINE_NCCL_TYPES.
Expected<NcclType> ncclTypeOf(artifact::DataType type);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_NCCL_H
