// A dialect with one op, and what Veeline has to know of it.

include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "veeline/Analysis/CostOpInterface.td"
include "veeline/Autodiff/DifferentiableOpInterface.td"

def Act_Dialect : Dialect {
  let name = "act";
  let cppNamespace = "::act";
}

def Act_SoftsignOp : Op<Act_Dialect, "softsign", [
    Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<CostOpInterface>,
    DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>]> {
  let summary = "x / (1 + |x|) of each element";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
