//===- Pipeline.cpp - --pipe-import ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "veeline/Import/Passes.h"

using namespace mlir;
using namespace veeline;

/// Adds upstream's passes for TOSA in the order of upstream's own pipeline. Its
/// validation is left out, because it refuses ops that its conversions support.
static void addTosaPasses(OpPassManager &function) {
  function.addPass(tosa::createTosaOptionalDecompositionsPass());
  function.addPass(tosa::createTosaInferShapesPass());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(createTosaToSCFPass());
  function.addPass(tosa::createTosaToLinalgNamed());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(createTosaToTensorPass());
  function.addPass(tosa::createTosaToLinalg());
  // Lowers the reshapes that TosaToLinalg creates for tiles.
  function.addPass(createTosaToTensorPass());
  function.addPass(createTosaToArithPass());
}

void veeline::buildImportPipeline(OpPassManager &passManager,
                                  const ImportOptions &options) {
  passManager.addPass(createPipeImportEntry({options.entry}));
  passManager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passManager.addPass(createSymbolDCEPass());
  passManager.addPass(createPipeImportConstants());
  OpPassManager &function = passManager.nest<func::FuncOp>();
  addTosaPasses(function);
  function.addPass(createPipeImportOps());
  // This has to run before parameters are chosen. Otherwise they would be
  // rounded to the floats of the file.
  passManager.addPass(createPipeImportRetype({options.retype}));
  PipeImportResultsOptions results;
  results.loss = options.loss;
  results.result = options.result;
  results.params = llvm::to_vector(options.params);
  results.freeze = llvm::to_vector(options.freeze);
  results.buffer = llvm::to_vector(options.buffer);
  results.forwardOnly = options.forwardOnly;
  passManager.addPass(createPipeImportResults(results));
  PipeImportParamsOptions params;
  params.params = llvm::to_vector(options.params);
  params.freeze = llvm::to_vector(options.freeze);
  params.buffer = llvm::to_vector(options.buffer);
  params.verbose = options.verbose;
  passManager.addPass(createPipeImportParams(params));
  passManager.addPass(createPipeImportBatch({options.microbatchSize}));
  passManager.addPass(
      createPipeImportLoss({options.loss, options.result,
                            options.microbatchSize, options.forwardOnly}));
  passManager.addPass(createCanonicalizerPass());
  passManager.addPass(createCSEPass());
}

namespace {
struct ImportPipelineOptions : PassPipelineOptions<ImportPipelineOptions> {
  Option<std::string> entry{*this, "entry",
                            llvm::cl::desc("The model function")};
  ListOption<std::string> params{
      *this, "params", llvm::cl::desc("Arguments that are parameters")};
  ListOption<std::string> freeze{
      *this, "freeze", llvm::cl::desc("Parameters that are not trained")};
  ListOption<std::string> buffer{
      *this, "buffer",
      llvm::cl::desc("Arguments that are the same for all data")};
  Option<std::string> loss{*this, "loss",
                           llvm::cl::desc("cross-entropy, mse or sum")};
  Option<int64_t> result{*this, "result",
                         llvm::cl::desc("The result that the loss is made of"),
                         llvm::cl::init(anyResult)};
  Option<int64_t> microbatchSize{*this, "microbatch-size",
                                 llvm::cl::desc("Samples of a microbatch"),
                                 llvm::cl::init(1)};
  Option<std::string> retype{*this, "retype",
                             llvm::cl::desc("f64: compute in it")};
  Option<bool> verbose{*this, "verbose",
                       llvm::cl::desc("A remark at each argument"),
                       llvm::cl::init(false)};
  Option<bool> forwardOnly{*this, "forward-only",
                           llvm::cl::desc("The model is not trained"),
                           llvm::cl::init(false)};
};
} // namespace

void veeline::registerImportPipeline() {
  PassPipelineRegistration<ImportPipelineOptions>(
      "pipe-import", "From a function as others export them to the contract",
      [](OpPassManager &passManager, const ImportPipelineOptions &given) {
        ImportOptions options;
        options.entry = given.entry;
        options.params.assign(given.params.begin(), given.params.end());
        options.freeze.assign(given.freeze.begin(), given.freeze.end());
        options.buffer.assign(given.buffer.begin(), given.buffer.end());
        options.loss = given.loss;
        options.result = given.result;
        options.microbatchSize = given.microbatchSize;
        options.retype = given.retype;
        options.verbose = given.verbose;
        options.forwardOnly = given.forwardOnly;
        buildImportPipeline(passManager, options);
      });
}
