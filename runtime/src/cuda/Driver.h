//===- Driver.h - the CUDA driver and cuBLASLt ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DRIVER_H
#define VEELINE_RUNTIME_CUDA_DRIVER_H

#include "BlasLtApi.h"
#include "CudaApi.h"

#include "veeline/status.h"

#include <string>

namespace veeline::cuda {

/// The functions of the CUDA driver, of a supported version and initialised.
struct Driver {
#define VEELINE_DECLARE(name, parameters) api::Result(*name) parameters;
  VEELINE_CUDA_FUNCTIONS(VEELINE_DECLARE)
  VEELINE_CUDA_LATER_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  /// Loads the driver from the file `path` or, if it is empty, from the usual
  /// one.
  static Expected<Driver> load(const std::string &path);

  /// Converts a result to a Status. The error reads like "cuMemAlloc_v2:
  /// CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  Status check(const std::string &call, api::Result result) const;

  int version = 0; ///< The CUDA version that it supports: 13000 is 13.0.
};

/// The functions of cuBLASLt.
struct BlasLt {
#define VEELINE_DECLARE(type, name, parameters) type(*name) parameters;
  VEELINE_BLASLT_FUNCTIONS(VEELINE_DECLARE)
#undef VEELINE_DECLARE

  static Expected<BlasLt> load(const std::string &path);
  Status check(const std::string &call, api::BlasStatus status) const;

  size_t version = 0; ///< 130100 is 13.1.0.
};

/// "13.0" for 13000.
std::string versionText(int version);

} // namespace veeline::cuda

/// Calls `function` of `library`, a Driver or another table of functions, and
/// returns its Status.
#define VEELINE_CALL(library, function, ...)                                   \
  (library).check(#function, (library).function(__VA_ARGS__))

#endif // VEELINE_RUNTIME_CUDA_DRIVER_H
