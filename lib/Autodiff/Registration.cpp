//===- Registration.cpp - derivative rules of upstream dialects -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/Registration.h"

#include "AttentionRules.h"
#include "Emit.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void veeline::autodiff::registerDerivativeInterfaces(
    DialectRegistry &registry) {
  registerArithRules(registry);
  registerAttentionRules(registry);
  registerMathRules(registry);
  registerLinalgRules(registry);
  registerScfRules(registry);
  registerTensorRules(registry);
}

std::vector<std::string>
veeline::autodiff::listDifferentiableOps(MLIRContext &context) {
  std::vector<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<DifferentiableOpInterface>())
      names.push_back(name.getStringRef().str());
  llvm::sort(names);
  return names;
}
