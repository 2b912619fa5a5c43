// RUN: veeline-opt %s --pipe-verify-communication=model=mpi | FileCheck %s
// RUN: not veeline-opt %s --pipe-verify-communication 2>&1 | FileCheck %s --check-prefix=NCCL
// RUN: not veeline-opt %s --pipe-verify-communication=model=tcp 2>&1 | FileCheck %s --check-prefix=MODEL

// A receive that is posted ahead holds up sends under the rules of NCCL, and
// nobody under those of MPI. The pass changes nothing.
// CHECK:      %[[H:.*]] = pipe.recv edge(0) gradient
// CHECK-NEXT: pipe.send copying %{{.*}} edge(0) activation
// CHECK-NEXT: pipe.wait %[[H]]
// NCCL: can wait for ever: 2 ranks wait for each other in a circle
// MODEL: for the --model option: Cannot find option named 'tcp'

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
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %h = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  pipe.send copying %0 edge(0) activation microbatch(0) : tensor<2xf32>
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}
pipe.program @net_rank1 of @net stage(1) {
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  pipe.send %x edge(0) gradient microbatch(0) : tensor<2xf32>
}
