// RUN: veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint | FileCheck %s
// RUN: veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint --pipe-partition=stages=2 | FileCheck %s --check-prefix=CUT
// RUN: veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint --pipe-partition="stages=2 forward-only" | FileCheck %s --check-prefix=FORWARD
// RUN: veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint --pipe-partition=stages=2 --pipe-differentiate --pipe-split-backward | FileCheck %s --check-prefix=SPLIT

// The model has what its loss needs, and the private function all.
// CHECK-LABEL: func.func @net(
// CHECK-SAME:    -> tensor<f32> attributes {pipe.joint = @net_joint}
// CHECK-COUNT-1: linalg.matmul
// CHECK-NOT:     linalg.transpose
// CHECK-LABEL: func.func private @net_joint(
// CHECK-SAME:    -> (tensor<f32>, tensor<2x4xf32> {pipe.gradient_of = "v"}, tensor<4x4xf32> {pipe.gradient_of = "w"})
// CHECK-COUNT-2: linalg.matmul

// The gradient of h, which the second chunk sends, is v: no op computes it.
// The first chunk multiplies it with x.
// CUT:       pipe.chunk 0 @net_chunk0
// CUT-LABEL: func.func private @net_chunk0_joint(
// CUT-SAME:    %[[X:.*]]: tensor<2x4xf32>, %{{.*}}: tensor<4x4xf32>, %[[DH:.*]]: tensor<2x4xf32>)
// CUT-SAME:    -> (tensor<2x4xf32>, tensor<4x4xf32>)
// CUT:         %[[XT:.*]] = linalg.transpose ins(%[[X]]
// CUT:         %[[DW:.*]] = linalg.matmul ins(%{{.*}}, %[[DH]]
// CUT:         return %{{.*}}, %[[DW]]
// CUT-LABEL: func.func private @net_chunk1_joint(

// FORWARD-NOT: joint

// SPLIT-NOT:   joint
// SPLIT-LABEL: func.func private @net_chunk0_backward_weight(
// SPLIT-SAME:    #pipe.role<operand 0>
// SPLIT-SAME:    #pipe.role<result_grad 0>
// SPLIT-SAME:    -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>})
