//===- InitAll.h - registers all of Veeline ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_INITALL_H
#define VEELINE_INITALL_H

#include "mlir/IR/DialectRegistry.h"
#include "veeline/Autodiff/Registration.h"
#include "veeline/Conversion/GpuTarget.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Import/Passes.h"
#include "veeline/MlirVersion.h"
#include "veeline/Pipelines/Passes.h"
#include "veeline/Pipelines/Pipelines.h"

namespace veeline {

/// Registers Veeline's dialects, and its interfaces on ops of upstream
/// dialects.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<pipe::PipeDialect>();
  pipe::registerTransformOps(registry);
  autodiff::registerDerivativeInterfaces(registry);
  registerBufferization(registry);
  registerHostTarget(registry);
  registerGpuTarget(registry);
}

/// Registers every pass and pass pipeline of Veeline.
inline void registerAllPasses() {
  pipe::registerPipePasses();
  registerImportPasses();
  registerImportPipeline();
  registerConversionPasses();
  registerConversionPipelines();
  registerMemoryPasses();
  registerPipelines();
}

/// Registers those of upstream, too, with their extensions.
void registerEveryDialect(mlir::DialectRegistry &registry);
void registerEveryPass();

} // namespace veeline

#endif // VEELINE_INITALL_H
