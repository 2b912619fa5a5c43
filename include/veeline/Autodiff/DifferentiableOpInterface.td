//===- DifferentiableOpInterface.td - what an op's derivative is ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_TD
#define VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::veeline::autodiff";
  let description = [{
    An op that knows its reverse-mode derivative. One rule serves the op at both
    places where it may stand: in the body of a chunk, on tensors, and inside the
    region of a structured op, on scalars. `docs/differentiation.md` says how a
    rule is written and registered.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits, through `builder`, the gradients of those operands that `adjoint`
      wants, from the gradients of the results that `adjoint` has, and
      contributes them to `adjoint`. On failure the rule has emitted an error
      at the op.
    }], "::llvm::LogicalResult", "differentiate",
    (ins "::mlir::OpBuilder &":$builder, "::veeline::autodiff::Adjoint &":$adjoint)>
  ];
}

#endif // VEELINE_AUTODIFF_DIFFERENTIABLEOPINTERFACE_TD
