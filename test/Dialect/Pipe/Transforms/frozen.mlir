// Frozen parameters stay parameters, without gradients and updates. The state of the optimiser has no room for them, and two stages
// that use one exchange nothing for it.
// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-partition="stages=2" --pipe-differentiate --pipe-split-backward | FileCheck %s
// RUN: veeline-opt %t/net.mlir --pipe-partition="stages=2" --pipe-differentiate --pipe-split-backward --pipe-schedule="schedule=1f1b microbatches=2" \
// RUN:   --pipe-insert-communication --pipe-verify-communication | FileCheck %s --check-prefix=PROGRAM
// RUN: veeline-opt %t/net.mlir --pipe-partition="stages=2" --pipe-differentiate --pipe-split-backward --pipe-schedule="schedule=pipedream microbatches=2" \
// RUN:   --pipe-insert-communication --pipe-verify-communication | FileCheck %s --check-prefix=STASHED
// RUN: not veeline-opt %t/all.mlir --pipe-partition="stages=1" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: veeline-opt %t/all.mlir --pipe-partition="stages=1 forward-only" | FileCheck %s --check-prefix=FORWARD
// RUN: not veeline-opt %S/Inputs/joint.mlir --pipe-import-params=freeze=w --pipe-separate-joint 2>&1 | FileCheck %s --check-prefix=JOINT

// CHECK:      pipe.param <"w", init = ones> {pipe.frozen} : tensor<4xf32>
// CHECK-NEXT: pipe.param <"v", init = ones> : tensor<4xf32>
// CHECK:      func.func private @net_chunk1_backward_weight(
// CHECK-SAME: -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad [[#]]>}) {
// CHECK-NOT:  param_grad

// PROGRAM:     pipe.program @net_rank1
// PROGRAM:     pipe.gradient param(1)
// PROGRAM-NOT: pipe.gradient
// PROGRAM:     pipe.update param(1)
// PROGRAM-NOT: pipe.{{update|assign}}

// STASHED:     pipe.update param(1)

// ALL: error: the model has nothing to train: all its parameters are frozen; leave out of --freeze what is to be trained
// FORWARD: pipe.pipeline @all {{.*}}pipe.forward_only
// JOINT: error: parameter "{{.*}}" is frozen, but the model brings its own derivative, which trains all its parameters; make the argument a buffer

//--- net.mlir
#row = affine_map<(i) -> (i)>
#nothing = affine_map<(i) -> ()>
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>, pipe.frozen},
               %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> {
  %a = arith.mulf %x, %w : tensor<4xf32>
  %b = pipe.boundary %a : tensor<4xf32>
  %c = arith.mulf %b, %w : tensor<4xf32>
  %d = arith.mulf %c, %v : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%d : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}

//--- all.mlir
func.func @all(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>, pipe.frozen}) -> tensor<f32> {
  %a = arith.mulf %x, %w : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%a : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}
