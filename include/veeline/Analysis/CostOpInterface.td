//===- CostOpInterface.td - what an op costs ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_COSTOPINTERFACE_TD
#define VEELINE_ANALYSIS_COSTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::veeline";
  let description = [{
    An op that knows its work. Cuts, schedules and choices of what to compute
    again are made with it. An op that is neither structured nor has this
    interface counts as one that reads its operands and writes its results, with
    one FLOP for each element of a single result.
  }];
  let methods = [
    InterfaceMethod<[{
      The work of one run of the op, whose operands and results have static
      shapes.
    }], "::veeline::OpCost", "estimateCost">
  ];
}

#endif // VEELINE_ANALYSIS_COSTOPINTERFACE_TD
