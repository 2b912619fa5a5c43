// Programs whose updates know the norm of all gradients: messages of norms, and
// what is refused.

// RUN: split-file %s %t && cd %t
// RUN: cat right.mlir net.mlir | veeline-opt --pipe-insert-communication --pipe-verify-communication=model=mpi | FileCheck %s
// RUN: cat own.mlir net.mlir | not veeline-opt --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: cat absent.mlir net.mlir | not veeline-opt --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: cat fewer.mlir net.mlir | not veeline-opt --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=FEWER
// RUN: cat other.mlir net.mlir | not veeline-opt --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: pipe.program @rank0
// CHECK:         %[[N:.*]] = pipe.squared_norm param(0) (%{{.*}}, %{{.*}})
// CHECK-NEXT:    %[[SOME:.*]] = pipe.gather_norms [0](%[[N]]) -> tensor<2xf64>
// CHECK-NEXT:    pipe.send %[[SOME]] edge(2) activation microbatch(0)
// CHECK:         %[[COMPLETE:.*]] = pipe.wait %{{.*}} : !pipe.handle<tensor<2xf64>>
// CHECK:         %[[ALL:.*]] = pipe.gather_norms []() after %[[COMPLETE]]
// CHECK-NEXT:    pipe.clip %[[ALL]]
// CHECK-LABEL: pipe.program @rank1
// CHECK:         %[[BEFORE:.*]] = pipe.wait %{{.*}} : !pipe.handle<tensor<2xf64>>
// CHECK-NEXT:    %[[ALL:.*]] = pipe.gather_norms [1](%{{.*}}) after %[[BEFORE]]
// CHECK-NEXT:    pipe.send %[[ALL]] edge(2) gradient microbatch(0)

// OWN:   'pipe.clip' op does not take the norms of all stages: those that the stage before sends and those of the stage's own parameters, on the last stage, and what the next stage sends back, on others
// FEWER: 'pipe.gather_norms' op does not have the norms of the parameters that its program updates
// OTHER: 'pipe.squared_norm' op is not of the gradients of parameter 0
// OTHER: note: the parameter is updated here

//--- right.mlir
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %h = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  %n = pipe.squared_norm param(0) (%g, %h) : tensor<8xf32>, tensor<8xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(2) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %w = pipe.update param(0) (%g, %h) clipped %factor : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %h = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %g = pipe.gradient param(1) chunk(1) : tensor<3xf32>
  %n = pipe.squared_norm param(1) (%g) : tensor<3xf32>
  %before = pipe.edge_value edge(2) activation microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [1] (%n) after %before : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %v = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %v : tensor<8xf32>
  %w = pipe.update param(1) (%g) clipped %factor : (tensor<3xf32>) -> tensor<3xf32>
}
//--- own.mlir
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %h = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  %n = pipe.squared_norm param(0) (%g, %h) : tensor<8xf32>, tensor<8xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(2) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %some : tensor<2xf64>
  %w = pipe.update param(0) (%g, %h) clipped %factor : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %h = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %g = pipe.gradient param(1) chunk(1) : tensor<3xf32>
  %n = pipe.squared_norm param(1) (%g) : tensor<3xf32>
  %before = pipe.edge_value edge(2) activation microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [1] (%n) after %before : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %v = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %v : tensor<8xf32>
  %w = pipe.update param(1) (%g) clipped %factor : (tensor<3xf32>) -> tensor<3xf32>
}
//--- absent.mlir
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %h = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  %n = pipe.squared_norm param(0) (%g, %h) : tensor<8xf32>, tensor<8xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(2) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %w = pipe.update param(0) (%g, %h) clipped %factor : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %h = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %g = pipe.gradient param(1) chunk(1) : tensor<3xf32>
  %n = pipe.squared_norm param(1) (%g) : tensor<3xf32>
  %before = pipe.edge_value edge(2) activation microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [1] (%n) -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %v = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %v : tensor<8xf32>
  %w = pipe.update param(1) (%g) clipped %factor : (tensor<3xf32>) -> tensor<3xf32>
}
//--- fewer.mlir
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %h = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  %n = pipe.squared_norm param(0) (%g, %h) : tensor<8xf32>, tensor<8xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(2) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %w = pipe.update param(0) (%g, %h) clipped %factor : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %h = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %g = pipe.gradient param(1) chunk(1) : tensor<3xf32>
  %n = pipe.squared_norm param(1) (%g) : tensor<3xf32>
  %before = pipe.edge_value edge(2) activation microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %before : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %v = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %v : tensor<8xf32>
  %w = pipe.update param(1) (%g) clipped %factor : (tensor<3xf32>) -> tensor<3xf32>
}
//--- other.mlir
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %h = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  %n = pipe.squared_norm param(0) (%g) : tensor<8xf32>
  %some = pipe.gather_norms [0] (%n) -> tensor<2xf64>
  %complete = pipe.edge_value edge(2) gradient microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [] () after %complete : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %w = pipe.update param(0) (%g, %h) clipped %factor : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %h = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %g = pipe.gradient param(1) chunk(1) : tensor<3xf32>
  %n = pipe.squared_norm param(1) (%g) : tensor<3xf32>
  %before = pipe.edge_value edge(2) activation microbatch(0) : tensor<2xf64>
  %all = pipe.gather_norms [1] (%n) after %before : tensor<2xf64> -> tensor<2xf64>
  %factor = pipe.clip %all : tensor<2xf64>
  %v = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %v : tensor<8xf32>
  %w = pipe.update param(1) (%g) clipped %factor : (tensor<3xf32>) -> tensor<3xf32>
}
//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) clip_sync(barrier) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w0 = pipe.param <"w0", init = zeros> : tensor<8xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<3xf32>
  %0 = pipe.chunk 0 @c0(%x, %w0) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w1, %w0) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<3xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<3xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<3xf32> {pipe.role = #pipe.role<operand 1>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 2>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<3xf32> {pipe.role = #pipe.role<operand 1>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<param_grad 1>},
        tensor<8xf32> {pipe.role = #pipe.role<param_grad 2>})
