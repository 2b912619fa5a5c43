//===- CompiledModule.h - IR that a test compiles and calls -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_CONVERSION_COMPILEDMODULE_H
#define VEELINE_TEST_UNIT_CONVERSION_COMPILEDMODULE_H

#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace veeline::test {

struct CompileOptions {
  bool fuse = true;
  bool keepAttention = false;
  /// Kernels for a GPU are compiled for this machine, too.
  KernelTarget target = KernelTarget::Host;
  bool tf32 = false;
  std::string cpu = "native";
  unsigned optimizationLevel = 3;
  uint64_t gemmScratchBytes = 0;
  uint64_t convolutionScratchBytes = 0;
};

/// The tables to which the calls of a module refer.
struct LibraryTables {
  std::vector<GemmDesc> gemms;
  std::vector<ConvolutionDesc> convolutions;
  /// Whether a library computes convolutions, which the module asks.
  bool hasConvolutions = true;
};

/// A module of chunk functions, compiled for this machine. Plain loops compute
/// matrix products (in the order of k) and convolutions.
class CompiledModule {
public:
  CompiledModule(const std::string &source, const CompileOptions &options = {});

  /// Calls a chunk function with its arguments and out-parameters, in order.
  /// Adds the rank and a workspace filled with NaN.
  void call(const std::string &name, std::vector<void *> arguments);

  /// The bytes of the workspace of `name`, and the largest sum of buffers in it
  /// that are live at once.
  uint64_t workspaceBytes(const std::string &name) const {
    return workspaces.at(name).first;
  }
  uint64_t peakLiveBytes(const std::string &name) const {
    return workspaces.at(name).second;
  }
  const std::vector<GemmDesc> &gemms() const { return tables.gemms; }
  const std::vector<ConvolutionDesc> &convolutions() const {
    return tables.convolutions;
  }
  /// Sets whether a library computes convolutions, which a module for a GPU
  /// asks.
  void setHasConvolutions(bool value) { tables.hasConvolutions = value; }
  /// The number of functions in the compiled module, including kernels.
  unsigned numFunctions() const { return functionCount; }
  const HostObject &object() const { return *compiled; }

private:
  void build(const std::string &source, const CompileOptions &options);
  void readAttributes(mlir::ModuleOp module);

  std::unique_ptr<mlir::MLIRContext> context;
  std::map<std::string, std::pair<uint64_t, uint64_t>> workspaces;
  LibraryTables tables;
  unsigned functionCount = 0;
  std::unique_ptr<HostObject> compiled;
  std::unique_ptr<LoadedObject> loaded;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_CONVERSION_COMPILEDMODULE_H
