//===- inventory.h - the libraries and GPUs of a machine --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_INVENTORY_H
#define VEELINE_INVENTORY_H

#include <string>
#include <vector>

namespace veeline {

/// Files of libraries that have other names than usual. Empty: the usual name.
struct LibraryFiles {
  std::string cudaDriver, cublasLt, nccl, cudnn;
};

/// A library that `veeline train` loads when it needs it.
struct LibraryReport {
  std::string name;    ///< "cuDNN"
  std::string version; ///< Empty if the library cannot be used.
  std::string problem; ///< Why it cannot be used, and what to do about it.
  std::string loss;    ///< What cannot be done without it.
};

struct DeviceReport {
  std::string name; ///< As the driver says it.
  std::string chip; ///< "sm_90"
};

struct Inventory {
  std::vector<LibraryReport> libraries;
  /// In the order of the CUDA driver; none without it.
  std::vector<DeviceReport> devices;
};

/// Loads each library as `veeline train` does, and asks for its version.
/// `modules` is the directory of Veeline's own modules, one of which is linked
/// to MPI. What is missing is no error.
Inventory takeInventory(const LibraryFiles &files, const std::string &modules);

/// A line for each library and GPU, as `veeline doctor` prints them. For what
/// is missing, a second one says why.
std::string toText(const Inventory &inventory);

} // namespace veeline

#endif // VEELINE_INVENTORY_H
