// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK-NEXT:    %[[F:.*]]:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
// CHECK-NEXT:    pipe.send %[[F]]#0 edge(0) activation microbatch(0) : tensor<2xf32>
// CHECK-NEXT:    pipe.send copying %[[F]]#0 edge(0) activation microbatch(1) stream(0) communicator(2) group(3) : tensor<2xf32>
// CHECK-NEXT:    %{{.*}} = pipe.recv edge(0) gradient microbatch(1) stream(0) communicator(2) group(3) parts(2) : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    %[[H:.*]] = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    %[[D:.*]] = pipe.wait %[[H]] : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    %[[E:.*]] = pipe.edge_value edge(0) gradient microbatch(1) : tensor<2xf32>
// CHECK-NEXT:    %[[S:.*]] = pipe.add %[[D]], %[[E]] : tensor<2xf32>
// CHECK-NEXT:    pipe.backward_weight chunk(0) microbatch(0) (%[[S]], %[[F]]#1) : (tensor<2xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    pipe.backward chunk(0) microbatch(1) (%[[D]], %[[F]]#1) : (tensor<2xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    %[[G0:.*]] = pipe.gradient param(0) chunk(0) : tensor<4xf32>
// CHECK-NEXT:    %[[G1:.*]] = pipe.edge_value edge(1) gradient microbatch(0) : tensor<4xf32>
// CHECK-NEXT:    %[[W:.*]] = pipe.update param(0) (%[[G0]], %[[G1]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    pipe.send %[[W]] edge(1) activation microbatch(0) parts(4) : tensor<4xf32>
// CHECK-NEXT:  }
// CHECK-LABEL: pipe.program @net_rank1 of @net stage(1) attributes {memory = {bytes = 64 : i64}} {
// CHECK-NEXT:    %[[X:.*]] = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
// CHECK-NEXT:    %[[F:.*]]:2 = pipe.forward chunk(1) microbatch(0) (%[[X]]) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
// CHECK-NEXT:    %[[B:.*]]:2 = pipe.backward_input chunk(1) microbatch(0) (%[[F]]#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
// CHECK-NEXT:    pipe.backward_weight chunk(1) microbatch(0) (%[[B]]#1) : (tensor<5xf32>) -> ()
// CHECK-NEXT:    %[[DX1:.*]] = pipe.backward chunk(1) microbatch(1) (%[[F]]#1) : (tensor<3xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[W:.*]] = pipe.edge_value edge(1) activation microbatch(0) : tensor<4xf32>
// CHECK-NEXT:    pipe.assign param(0) %[[W]] : tensor<4xf32>
// CHECK-NEXT:  }

pipe.program @net_rank0 of @net stage(0) {
  %f:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.send %f#0 edge(0) activation microbatch(0) : tensor<2xf32>
  pipe.send copying %f#0 edge(0) activation microbatch(1) stream(0) communicator(2) group(3) : tensor<2xf32>
  %i = pipe.recv edge(0) gradient microbatch(1) stream(0) communicator(2) group(3) parts(2) : !pipe.handle<tensor<2xf32>>
  // What is the default is not printed.
  %h = pipe.recv edge(0) gradient microbatch(0) stream(1) communicator(0) parts(1) : !pipe.handle<tensor<2xf32>>
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  %e = pipe.edge_value edge(0) gradient microbatch(1) : tensor<2xf32>
  %s = pipe.add %d, %e : tensor<2xf32>
  pipe.backward_weight chunk(0) microbatch(0) (%s, %f#1) : (tensor<2xf32>, tensor<3xf32>) -> ()
  pipe.backward chunk(0) microbatch(1) (%d, %f#1) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g0 = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %g1 = pipe.edge_value edge(1) gradient microbatch(0) : tensor<4xf32>
  %w = pipe.update param(0) (%g0, %g1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pipe.send %w edge(1) activation microbatch(0) parts(4) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) attributes {memory = {bytes = 64 : i64}} {
  %x = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.backward_weight chunk(1) microbatch(0) (%b#1) : (tensor<5xf32>) -> ()
  %dx1 = pipe.backward chunk(1) microbatch(1) (%f#1) : (tensor<3xf32>) -> tensor<2xf32>
  %w = pipe.edge_value edge(1) activation microbatch(0) : tensor<4xf32>
  pipe.assign param(0) %w : tensor<4xf32>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
