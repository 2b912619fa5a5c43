// Programs that wait for no update: what parses and prints, and what is refused.

// RUN: split-file %s %t && cd %t
// RUN: cat doubled.mlir net.mlir > right.mlir && veeline-opt right.mlir | FileCheck %s
// RUN: veeline-opt right.mlir -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt right.mlir -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK-NEXT:  ^bb0(%[[R:.*]]: tensor<3xf32>, %[[H:.*]]: !pipe.handle<tensor<2xf32>>):
// CHECK-NEXT:    %[[F0:.*]]:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
// CHECK-NEXT:    %[[OLD:.*]] = pipe.wait %[[H]] : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    pipe.send late %[[OLD]] edge(0) activation microbatch(0) : tensor<2xf32>
// CHECK-NEXT:    pipe.backward late chunk(0) microbatch(1) (%[[OLD]], %[[R]]) : (tensor<2xf32>, tensor<3xf32>) -> ()
// CHECK-NEXT:    %[[G:.*]] = pipe.gradient late param(0) chunk(0) : tensor<2xf32>
// CHECK-NEXT:    pipe.update late param(0) (%[[G]]) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:    %[[V:.*]] = pipe.edge_value late edge(0) gradient microbatch(0) : tensor<2xf32>
// CHECK-NEXT:    %[[L:.*]] = pipe.recv late edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    %[[F1:.*]]:2 = pipe.forward
// CHECK:         %[[N:.*]] = pipe.recv edge(0) gradient microbatch(1) : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    pipe.carry %[[F1]]#1, %[[N]] : tensor<3xf32>, !pipe.handle<tensor<2xf32>>
// CHECK-LABEL: pipe.pipeline @net {{.*}} microbatches(2) asynchronous(double_buffered) {

// RUN: sed 's/double_buffered/stashed/' net.mlir > stash.mlir && cat stashed.mlir stash.mlir | veeline-opt | FileCheck %s --check-prefix=STASHED
// STASHED:      pipe.update late param(0) microbatch(1)
// STASHED:      pipe.backward chunk(0) microbatch(0)
// STASHED-NEXT: %[[G:.*]] = pipe.gradient param(0) chunk(0) microbatch(0) : tensor<2xf32>
// STASHED-NEXT: pipe.update param(0) microbatch(0) (%[[G]]) : (tensor<2xf32>) -> tensor<2xf32>
// STASHED:      asynchronous(stashed)

// Of replicas, updates take sums of one microbatch.

// RUN: sed 's/microbatches(2)/& replicas(2)/' stash.mlir > replicas.mlir
// RUN: sed 's/%\([a-z]*\) = pipe.gradient \(.*\) : \(tensor<2xf32>\)/%x\1 = pipe.all_reduce \2 communicator(1) : !pipe.handle<\3> %\1 = pipe.wait %x\1 : !pipe.handle<\3>/' stashed.mlir > sums.mlir
// RUN: cat sums.mlir replicas.mlir | veeline-opt | FileCheck %s --check-prefix=SUMS
// RUN: sed '/all_reduce late/s/ microbatch(1)//' sums.mlir > other-sum.mlir && cat other-sum.mlir replicas.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// SUMS:      pipe.backward chunk(0) microbatch(0)
// SUMS-NEXT: %[[H:.*]] = pipe.all_reduce param(0) chunk(0) microbatch(0) communicator(1) : !pipe.handle<tensor<2xf32>>
// SUMS-NEXT: %[[S:.*]] = pipe.wait %[[H]]
// SUMS-NEXT: pipe.update param(0) microbatch(0) (%[[S]])

// RUN: sed 's/ asynchronous(double_buffered)//' net.mlir > plain.mlir
// RUN: cat late.mlir plain.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=SYNCHRONOUS
// RUN: cat message.mlir plain.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=MESSAGE
// RUN: cat handle.mlir plain.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=HANDLE
// RUN: cat unawaited.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=UNAWAITED
// RUN: cat microbatch.mlir plain.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=MICROBATCH
// RUN: cat split.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: sed "s/backward_weight/recomputation/" split.mlir > again.mlir && sed "s/backward_weight = \(@[a-z0-9_]*\)/backward = \1, recomputation = \1/" net.mlir > ahead.mlir && cat again.mlir ahead.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=AHEAD
// RUN: cat after.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: cat in-time.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=IN-TIME
// RUN: cat begun.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=BEGUN
// RUN: cat gradient.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=GRADIENT
// RUN: cat assign.mlir net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=ASSIGN
// RUN: cat turns.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: cat forwards.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=FORWARDS
// RUN: cat order.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: grep -v 'pipe.update late' stashed.mlir > missing.mlir && cat missing.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: cat other.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: cat whole.mlir stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=WHOLE

// SYNCHRONOUS: 'pipe.backward' op is late, but the pipeline is not 'asynchronous': only a pipe.backward_weight may be
// MESSAGE:     'pipe.edge_value' op is late, but the pipeline is not 'asynchronous': only a pipe.backward_weight may be
// HANDLE:      'pipe.carry' op gives a handle to the next step, but the pipeline is not 'asynchronous'
// UNAWAITED:   'pipe.carry' op gives handle 0 to the next step, which waits for a handle once, as this one gives it once
// FORWARDS:    'pipe.forward' op is of microbatch 1 where microbatch 0 is next; in a pipeline that is 'asynchronous(stashed)' they ascend
// ORDER:       'pipe.backward' op is number 0 of its chunk, expected a late one of microbatch 1: on stage 0 of 2 of a pipeline that is 'asynchronous(stashed)' the last 1 are late
// MISSING:     'pipe.update' op is one of 1 updates of parameter 0, but its chunk has 2 pipe.backward; each is followed by one
// MICROBATCH:  'pipe.gradient' op is of one microbatch, but the pipeline is not 'asynchronous(stashed)'
// SPLIT:       'pipe.backward_weight' op is part of a backward; a pipeline that is 'asynchronous' runs whole ones, pipe.backward
// AHEAD:       'pipe.recomputation' op runs ahead of a backward of the same step; in a pipeline that is 'asynchronous' they recompute inside
// AFTER:       'pipe.backward' op is of the step before, but follows one of this step of the same chunk
// AFTER:       note: that is here
// IN-TIME:     'pipe.update' op of a pipeline that is 'asynchronous(double_buffered)' is late, and of all microbatches
// BEGUN:       'pipe.update' op is of the step before, but a pipe.backward of this step has added to its gradients
// BEGUN:       note: that is here
// GRADIENT:    'pipe.gradient' op is of the step before, but a pipe.backward of this step has added to the gradient
// GRADIENT:    note: that is here
// ASSIGN:      'pipe.assign' op of a pipeline that is 'asynchronous(double_buffered)' is late
// TURNS:       'pipe.backward' op is number 0 of its chunk, after 2 pipe.forward; in a pipeline that is 'asynchronous(stashed)' the two take turns
// OTHER:       'pipe.update' op is of microbatch 1, but its gradient is not: it has to follow the pipe.backward of the same microbatch
// OTHER:       note: the gradient is here
// WHOLE:       'pipe.update' op of a pipeline that is 'asynchronous(stashed)' is of one microbatch; say which

// RUN: sed 's/asynchronous/clip_sync(barrier) asynchronous/' net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=CLIPS
// RUN: sed 's/microbatches(2)/& stage_replicas [1, 2]/' net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/stages(2) chunks_per_stage(1) placement(linear)/stages(1) chunks_per_stage(2) placement(interleaved)/' net.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CLIPS:  'pipe.pipeline' op is 'asynchronous(double_buffered)' and has 'clip_sync', but no step ends with the norm of all gradients
// WIDE:   'pipe.pipeline' op is 'asynchronous(double_buffered)' and has 'stage_replicas'; its stages have one rank each
// RUN: sed 's/@c1(%0)/@c1(%w)/' stash.mlir | not veeline-opt 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: 'pipe.pipeline' op is 'asynchronous(stashed)' and has a parameter that several stages use, whose gradients are added up once in a step
// CHUNKS: 'pipe.pipeline' op is 'asynchronous(double_buffered)' and has several chunks a stage; expected one

//--- doubled.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%r: tensor<3xf32>, %h: !pipe.handle<tensor<2xf32>>):
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  pipe.send late %d edge(0) activation microbatch(0) : tensor<2xf32>
  pipe.backward late chunk(0) microbatch(1) (%d, %r) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g = pipe.gradient late param(0) chunk(0) : tensor<2xf32>
  %w = pipe.update late param(0) (%g) : (tensor<2xf32>) -> tensor<2xf32>
  %v = pipe.edge_value late edge(0) gradient microbatch(0) : tensor<2xf32>
  %l = pipe.recv late edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %y, %q = pipe.forward chunk(0) microbatch(1) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %e = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%e, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %n = pipe.recv edge(0) gradient microbatch(1) : !pipe.handle<tensor<2xf32>>
  pipe.carry %q, %n : tensor<3xf32>, !pipe.handle<tensor<2xf32>>
}
//--- stashed.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%r: tensor<3xf32>, %d: tensor<2xf32>):
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward late chunk(0) microbatch(1) (%d, %r) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %l = pipe.gradient late param(0) chunk(0) microbatch(1) : tensor<2xf32>
  %v = pipe.update late param(0) microbatch(1) (%l) : (tensor<2xf32>) -> tensor<2xf32>
  %y, %q = pipe.forward chunk(0) microbatch(1) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %e = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%e, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) microbatch(0) : tensor<2xf32>
  %w = pipe.update param(0) microbatch(0) (%g) : (tensor<2xf32>) -> tensor<2xf32>
  %f = pipe.edge_value edge(0) gradient microbatch(1) : tensor<2xf32>
  pipe.carry %q, %f : tensor<3xf32>, tensor<2xf32>
}
//--- microbatch.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient param(0) chunk(0) microbatch(0) : tensor<2xf32>
}
//--- handle.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%h: !pipe.handle<tensor<2xf32>>):
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  %n = pipe.recv edge(0) gradient microbatch(1) : !pipe.handle<tensor<2xf32>>
  pipe.carry %n : !pipe.handle<tensor<2xf32>>
}
//--- unawaited.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%h: !pipe.handle<tensor<2xf32>>):
  %n = pipe.recv edge(0) gradient microbatch(1) : !pipe.handle<tensor<2xf32>>
  pipe.carry %n : !pipe.handle<tensor<2xf32>>
}
//--- forwards.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(1) () : () -> (tensor<2xf32>, tensor<3xf32>)
}
//--- order.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
}
//--- late.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%r: tensor<3xf32>, %d: tensor<2xf32>):
  pipe.backward late chunk(0) microbatch(1) (%d, %r) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.carry %s, %x : tensor<3xf32>, tensor<2xf32>
}
//--- message.mlir
pipe.program @net_rank0 of @net stage(0) {
  %v = pipe.edge_value late edge(0) gradient microbatch(0) : tensor<2xf32>
}
//--- split.mlir
pipe.program @net_rank1 of @net stage(1) {
  pipe.backward_weight chunk(1) microbatch(0) () : () -> ()
}
//--- after.mlir
pipe.program @net_rank0 of @net stage(0) {
^bb0(%r: tensor<3xf32>, %d: tensor<2xf32>):
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  pipe.backward late chunk(0) microbatch(1) (%d, %r) : (tensor<2xf32>, tensor<3xf32>) -> ()
  pipe.carry %s, %x : tensor<3xf32>, tensor<2xf32>
}
//--- in-time.mlir
pipe.program @net_rank0 of @net stage(0) {
  %g = pipe.gradient late param(0) chunk(0) : tensor<2xf32>
  %w = pipe.update late param(0) microbatch(1) (%g) : (tensor<2xf32>) -> tensor<2xf32>
}
//--- begun.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %g = pipe.gradient late param(0) chunk(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %w = pipe.update late param(0) (%g) : (tensor<2xf32>) -> tensor<2xf32>
}
//--- gradient.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g = pipe.gradient late param(0) chunk(0) : tensor<2xf32>
}
//--- assign.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.assign param(0) %x : tensor<2xf32>
}
//--- turns.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %y, %q = pipe.forward chunk(0) microbatch(1) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
}
//--- other.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) microbatch(0) : tensor<2xf32>
  %w = pipe.update param(0) microbatch(1) (%g) : (tensor<2xf32>) -> tensor<2xf32>
}
//--- whole.mlir
pipe.program @net_rank0 of @net stage(0) {
  %x, %s = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.backward chunk(0) microbatch(0) (%x, %s) : (tensor<2xf32>, tensor<3xf32>) -> ()
  %g = pipe.gradient param(0) chunk(0) microbatch(0) : tensor<2xf32>
  %w = pipe.update param(0) (%g) : (tensor<2xf32>) -> tensor<2xf32>
}
//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) asynchronous(double_buffered) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward = @b0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1, backward_weight = @w1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @b0(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @f1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @w1()
