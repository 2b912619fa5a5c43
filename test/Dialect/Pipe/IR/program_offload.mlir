// Values that wait in the host's memory: what parses and prints, and what is refused.

// RUN: split-file %s %t && cd %t
// RUN: cat right.mlir net.mlir | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK:         %[[F:.*]]:2 = pipe.forward chunk(1)
// CHECK-NEXT:    %[[A:.*]] = pipe.offload chunk(1) microbatch(0) (%[[F]]#1) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    pipe.release chunk(1) microbatch(0) (%[[F]]#1) : tensor<3xf32>
// CHECK-NEXT:    %[[C:.*]] = pipe.reload chunk(1) microbatch(0) (%[[A]]) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    %[[R:.*]] = pipe.restore chunk(1) microbatch(0) (%[[C]]) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT:    pipe.backward chunk(1) microbatch(0) (%[[R]])

// RUN: cat twice.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: cat nothing.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: cat no-release.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NO-RELEASE
// RUN: cat no-restore.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NO-RESTORE
// RUN: cat other.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: cat early.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: cat coming.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=COMING
// RUN: cat types.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TYPES

// RUN: cat elsewhere.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: cat not-back.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NOT-BACK

// ELSEWHERE:  'pipe.offload' op has to follow the pipe.forward of this chunk and microbatch, and there is none before it
// NOT-BACK:   'pipe.backward' op stands before the pipe.restore of what its chunk has offloaded of this microbatch
// NOT-BACK:   note: it leaves here
// TWICE:      'pipe.offload' op of this chunk and microbatch comes a second time
// TWICE:      note: the first one is here
// NOTHING:    'pipe.offload' op offloads nothing
// NO-RELEASE: 'pipe.reload' op of this chunk and microbatch has to follow a pipe.release, and there is none before it
// NO-RESTORE: 'pipe.offload' op has no pipe.restore in this program, which ends with what it offloads in the host's memory
// OTHER:      'pipe.release' op has to take the operands of the op before it, in their order
// OTHER:      note: that op is here
// EARLY:      'pipe.backward' op takes a value that is on its way between the memories of host and device; take the result of the pipe.restore
// EARLY:      note: it leaves here
// COMING:     'pipe.backward' op takes a value that is on its way between the memories of host and device; take the result of the pipe.restore
// TYPES:      'pipe.offload' op gives its values at another place, so results have the types of its operands

//--- right.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  pipe.release chunk(1) microbatch(0) (%r) : tensor<3xf32>
  %c = pipe.reload chunk(1) microbatch(0) (%a) : (tensor<3xf32>) -> tensor<3xf32>
  %b = pipe.restore chunk(1) microbatch(0) (%c) : (tensor<3xf32>) -> tensor<3xf32>
  %d = pipe.backward chunk(1) microbatch(0) (%b) : (tensor<3xf32>) -> tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%d) : (tensor<2xf32>) -> ()
}

//--- elsewhere.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %a = pipe.offload chunk(77) microbatch(99) (%x) : (tensor<2xf32>) -> tensor<2xf32>
}

//--- not-back.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  %d = pipe.backward chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<2xf32>
}

//--- twice.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  %b = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
}

//--- nothing.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.offload chunk(0) microbatch(0) () : () -> ()
}

//--- no-release.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  %c = pipe.reload chunk(1) microbatch(0) (%a) : (tensor<3xf32>) -> tensor<3xf32>
}

//--- no-restore.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  pipe.release chunk(1) microbatch(0) (%r) : tensor<3xf32>
}

//--- other.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  pipe.release chunk(1) microbatch(0) (%x) : tensor<2xf32>
}

//--- early.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  pipe.release chunk(1) microbatch(0) (%r) : tensor<3xf32>
  %c = pipe.reload chunk(1) microbatch(0) (%a) : (tensor<3xf32>) -> tensor<3xf32>
  %b = pipe.restore chunk(1) microbatch(0) (%c) : (tensor<3xf32>) -> tensor<3xf32>
  %d = pipe.backward chunk(1) microbatch(0) (%a) : (tensor<3xf32>) -> tensor<2xf32>
}

//--- coming.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<3xf32>
  pipe.release chunk(1) microbatch(0) (%r) : tensor<3xf32>
  %c = pipe.reload chunk(1) microbatch(0) (%a) : (tensor<3xf32>) -> tensor<3xf32>
  %b = pipe.restore chunk(1) microbatch(0) (%c) : (tensor<3xf32>) -> tensor<3xf32>
  %d = pipe.backward chunk(1) microbatch(0) (%c) : (tensor<3xf32>) -> tensor<2xf32>
}

//--- types.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %l, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %a = pipe.offload chunk(1) microbatch(0) (%r) : (tensor<3xf32>) -> tensor<4xf32>
}

//--- net.mlir
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(interleaved) microbatches(1) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w0 = pipe.param <"w0", init = zeros> : tensor<4xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w0) {forward = @c0_forward, backward = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w1) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
