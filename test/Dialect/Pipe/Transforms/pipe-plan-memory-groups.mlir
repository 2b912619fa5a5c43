// RUN: veeline-opt %s --pipe-plan-memory | FileCheck %s

// The receives of a group go before its sends and keep their order; each group
// stays by itself.
// CHECK:      pipe.wait
// CHECK-NEXT: pipe.recv edge(0) activation microbatch(1) stream(0) group(0)
// CHECK-NEXT: pipe.recv edge(0) activation microbatch(2) stream(0) group(0)
// CHECK-NEXT: pipe.send copying %{{.*}} edge(0) gradient microbatch(0) stream(0) group(0)
// CHECK-NEXT: pipe.recv edge(0) activation microbatch(3) stream(0) group(1)
// CHECK-NEXT: pipe.send copying %{{.*}} edge(0) gradient microbatch(1) stream(0) group(1)
// CHECK-NEXT: pipe.wait

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank1 of @net stage(1) {
  %h0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
  %h1 = pipe.recv edge(0) activation microbatch(1) stream(0) group(0) : !pipe.handle<tensor<2xf32>>
  pipe.send copying %x0 edge(0) gradient microbatch(0) stream(0) group(0) : tensor<2xf32>
  %h2 = pipe.recv edge(0) activation microbatch(2) stream(0) group(0) : !pipe.handle<tensor<2xf32>>
  pipe.send copying %x0 edge(0) gradient microbatch(1) stream(0) group(1) : tensor<2xf32>
  %h3 = pipe.recv edge(0) activation microbatch(3) stream(0) group(1) : !pipe.handle<tensor<2xf32>>
  %x1 = pipe.wait %h1 : !pipe.handle<tensor<2xf32>>
  %x2 = pipe.wait %h2 : !pipe.handle<tensor<2xf32>>
  %x3 = pipe.wait %h3 : !pipe.handle<tensor<2xf32>>
}
