// Work of the step before: what parses and prints, and what is refused.

// RUN: split-file %s %t && cd %t
// RUN: cat right.mlir net.mlir | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: cat right.mlir net.mlir | veeline-opt -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK-NEXT:  ^bb0(%[[S:.*]]: tensor<5xf32>):
// CHECK-NEXT:    %[[X:.*]] = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
// CHECK-NEXT:    pipe.backward_weight late chunk(1) microbatch(0) (%[[S]]) : (tensor<5xf32>) -> ()
// CHECK-NEXT:    %[[G:.*]] = pipe.gradient late param(1) chunk(1) : tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = pipe.update late param(1) (%[[G]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[F:.*]]:2 = pipe.forward chunk(1) microbatch(0) (%[[X]]) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
// CHECK-NEXT:    %[[B:.*]]:2 = pipe.backward_input chunk(1) microbatch(0) (%[[F]]#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
// CHECK-NEXT:    %[[C:.*]] = pipe.copy %[[B]]#1 : tensor<5xf32>
// CHECK-NEXT:    pipe.backward_weight chunk(0) microbatch(0) (%[[B]]#0) : (tensor<2xf32>) -> ()
// CHECK-NEXT:    pipe.carry %[[C]] : tensor<5xf32>

// RUN: cat absent.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: cat middle.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=MIDDLE
// RUN: cat types.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: cat early.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: cat new.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: cat begun.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=BEGUN
// RUN: cat used.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=USED
// RUN: cat not-late.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NOT-LATE
// RUN: cat no-update.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=NO-UPDATE
// RUN: cat after.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: cat read.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=READ

// ABSENT:    'pipe.program' op takes 1 values of the step before, but no pipe.carry at its end gives them
// MIDDLE:    'pipe.carry' op is not the last op of its program
// TYPES:     'pipe.carry' op gives 'tensor<2xf32>' to the next step, which takes 'tensor<5xf32>'
// TYPES:     note: the program is here
// EARLY:     'pipe.forward' op is of this step, but takes a value of the step before as operand 0
// NEW:       'pipe.backward_weight' op is of the step before, but takes a value of this step as operand 0
// NEW:       note: the value is made here
// BEGUN:     'pipe.backward_weight' op is of the step before, but its chunk has begun this one; move it before the first pipe.forward of chunk 1
// BEGUN:     note: the chunk begins here
// USED:      'pipe.update' op is the update of the step before, but chunk 1, which uses the parameter, has begun this one
// USED:      note: the chunk begins here
// NOT-LATE:  'pipe.update' op has to be late, as a pipe.backward_weight of chunk 1, which uses the parameter, is
// NOT-LATE:  note: that is here
// NO-UPDATE: 'pipe.backward_weight' op is of the step before, but no update of that step follows: add a late pipe.update of the parameters of chunk 1
// AFTER:     'pipe.backward_weight' op is of the step before, but a parameter of chunk 1 is updated already; move it before the update
// AFTER:     note: the update is here
// READ:      'pipe.backward_weight' op adds to the gradients of chunk 1 after they were read; read them after the last microbatch
// READ:      note: they are read here

//--- right.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %g = pipe.gradient late param(1) chunk(1) : tensor<4xf32>
  %w = pipe.update late param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  %c = pipe.copy %b#1 : tensor<5xf32>
  pipe.backward_weight chunk(0) microbatch(0) (%b#0) : (tensor<2xf32>) -> ()
  pipe.carry %c : tensor<5xf32>
}
//--- absent.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
}
//--- middle.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<2xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.carry %x : tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
}
//--- types.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.carry %x : tensor<2xf32>
}
//--- early.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<2xf32>):
  %f:2 = pipe.forward chunk(1) microbatch(0) (%s) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.carry %x : tensor<2xf32>
}
//--- new.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.backward_weight late chunk(1) microbatch(0) (%b#1) : (tensor<5xf32>) -> ()
}
//--- begun.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.carry %b#1 : tensor<5xf32>
}
//--- used.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %g = pipe.gradient late param(1) chunk(1) : tensor<4xf32>
  %w = pipe.update late param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.carry %b#1 : tensor<5xf32>
}
//--- not-late.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  %g = pipe.gradient param(1) chunk(1) : tensor<4xf32>
  %w = pipe.update param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  pipe.carry %b#1 : tensor<5xf32>
}
//--- no-update.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.carry %b#1 : tensor<5xf32>
}
//--- after.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %g = pipe.gradient param(1) chunk(1) : tensor<4xf32>
  %w = pipe.update param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.carry %b#1 : tensor<5xf32>
}
//--- read.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%s: tensor<5xf32>):
  %g = pipe.gradient late param(1) chunk(1) : tensor<4xf32>
  %w = pipe.update late param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  pipe.backward_weight late chunk(1) microbatch(0) (%s) : (tensor<5xf32>) -> ()
  %x = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %f:2 = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
  %b:2 = pipe.backward_input chunk(1) microbatch(0) (%f#1) : (tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>)
  pipe.carry %b#1 : tensor<5xf32>
}
//--- net.mlir
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(interleaved) microbatches(1) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w0 = pipe.param <"w0", init = zeros> : tensor<4xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w0) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w1) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
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
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
