// Steps that wait for no update: what is sent late, what one turn receives and the next one waits for, where older values lie, and which of
// them the three functions of a step use.

// RUN: split-file %s %t && cd %t
// RUN: veeline-opt net.mlir --pipe-schedule="schedule=pipedream-2bw microbatches=3" --pipe-insert-communication --pipe-verify-communication=model=mpi > doubled.mlir
// RUN: FileCheck %s --check-prefix=FIRST < doubled.mlir
// RUN: FileCheck %s --check-prefix=MIDDLE < doubled.mlir
// RUN: FileCheck %s --check-prefix=LAST < doubled.mlir

// The first stage has two late backwards. The gradient of the first one was posted in the turn before; that of the second one
// is late as well.

// FIRST-LABEL: pipe.program @net_rank0 of @net stage(0) {
// FIRST-NEXT:  ^bb0(%[[H:.*]]: !pipe.handle<tensor<2xf32>>, %[[R1:.*]]: tensor<2xf32>, %[[R2:.*]]: tensor<2xf32>):
// FIRST:         pipe.forward chunk(0) microbatch(0)
// FIRST:         %[[D1:.*]] = pipe.wait %[[H]]
// FIRST:         pipe.backward late chunk(0) microbatch(1) (%[[D1]], %[[R1]])
// FIRST:         pipe.forward chunk(0) microbatch(1)
// FIRST:         %[[L:.*]] = pipe.recv late edge(0) gradient microbatch(2)
// FIRST:         %[[D2:.*]] = pipe.wait %[[L]]
// FIRST:         pipe.backward late chunk(0) microbatch(2) (%[[D2]], %[[R2]])
// FIRST:         %[[G:.*]] = pipe.gradient late param(0) chunk(0)
// FIRST-NEXT:    pipe.update late param(0) (%[[G]])
// FIRST:         pipe.forward chunk(0) microbatch(2)
// FIRST:         %[[N:.*]] = pipe.recv edge(0) gradient microbatch(1)
// FIRST:         pipe.backward chunk(0) microbatch(0)
// FIRST-NEXT:    pipe.carry %[[N]], %{{.*}}, %{{.*}} : !pipe.handle<tensor<2xf32>>, tensor<2xf32>, tensor<2xf32>

// MIDDLE-LABEL: pipe.program @net_rank1 of @net stage(1) {
// MIDDLE:         %[[B:.*]] = pipe.backward late chunk(1) microbatch(2)
// MIDDLE-NEXT:    pipe.send late %[[B]] edge(0) gradient microbatch(2)
// MIDDLE:         pipe.update late param(1)
// MIDDLE:         %[[A:.*]] = pipe.backward chunk(1) microbatch(1)
// MIDDLE:         pipe.send %[[A]] edge(0) gradient microbatch(1)

// The last stage has no late backward. It updates before the first one.

// LAST-LABEL: pipe.program @net_rank2 of @net stage(2) {
// LAST:         pipe.gradient late param(2) chunk(2)
// LAST-NEXT:    pipe.update late param(2)
// LAST:         pipe.backward chunk(2) microbatch(0)
// LAST-NOT:     late

// Other strategies wait at the end of the turn.

// RUN: veeline-opt net.mlir --pipe-schedule="schedule=pipedream-2bw microbatches=3" --pipe-insert-communication="strategy=p2p" --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=WAITS
// WAITS-LABEL: pipe.program @net_rank0 of @net stage(0) {
// WAITS:         %[[N:.*]] = pipe.recv edge(0) gradient microbatch(1)
// WAITS-NEXT:    %[[V:.*]] = pipe.wait %[[N]]
// WAITS:         pipe.carry %[[V]],

// Older values: one of each parameter, and two on the first stage where values are stashed, rounded up to three, which divides three microbatches.

// RUN: veeline-opt doubled.mlir --pipe-bufferize-chunks --pipe-plan-memory="optimizer=sgd" > planned.mlir && FileCheck %s --check-prefix=PLAN < planned.mlir
// PLAN: pipe.program @net_rank0 {{.*}}params = [array<i64: 0, 0, -1, 0, 1>]{{.*}}versions = [array<i64: 64>]
// RUN: veeline-opt net.mlir --pipe-schedule="schedule=pipedream microbatches=3" --pipe-insert-communication --pipe-bufferize-chunks --pipe-plan-memory="optimizer=sgd" > stashed.mlir && FileCheck %s --check-prefix=STASHED < stashed.mlir
// STASHED: pipe.program @net_rank0 {{.*}}versions = [array<i64: 64, 128, 192>]
// STASHED: pipe.program @net_rank1 {{.*}}versions = [array<i64: 64>]
// STASHED-NOT: versions

// On a GPU, each microbatch of a pipeline that stashes values has settings of its own for its updates, in a turn and for those of the turn before.

// RUN: veeline-opt net.mlir --pipe-schedule="schedule=pipedream microbatches=3" --pipe-insert-communication="strategy=p2p model=nccl" --pipe-bufferize-chunks="target=cuda" --pipe-plan-memory="target=cuda" | FileCheck %s --check-prefix=CUDA
// CUDA: pipe.program @net_rank0 {{.*}}settings_before = {{[0-9]+}} : i64, settings_count = 3 : i64

// In a turn among others, forwards before the update use the newest value, and others an older one. In a first one all use the latter. What is late keeps the
// value before it updates. Gradients are added up from zero once those of the step before are read.

// RUN: veeline-opt planned.mlir --pipe-lower-to-runtime | FileCheck %s --check-prefix=STEP
// STEP-LABEL: func.func @net_rank0_step(
// STEP:         call @f0(%arg0, %{{[0-9]+}}, %[[NEW:[0-9]+]], %
// STEP:         call @b0
// STEP:         call @f0(%arg0, %{{[0-9]+}}, %[[NEW]], %
// STEP:         call @b0
// STEP-NEXT:    call @veeline_op_end
// STEP:         "llvm.intr.memcpy"
// STEP:         call @veeline_update(
// STEP-NOT:     call @f0(%arg0, %{{[0-9]+}}, %[[NEW]], %
// STEP:         call @f0(
// STEP:         "llvm.intr.memset"
// STEP:         call @b0
// STEP-LABEL: func.func @net_rank0_first_step(
// STEP:         call @f0(%arg0, %{{[0-9]+}}, %[[OLD:[0-9]+]], %
// STEP-NOT:     call @b0
// STEP-NOT:     call @veeline_update(
// STEP:         call @f0(%arg0, %{{[0-9]+}}, %[[OLD]], %
// STEP:         call @f0(%arg0, %{{[0-9]+}}, %[[OLD]], %
// STEP:         "llvm.intr.memset"
// STEP:         call @b0
// STEP-LABEL: func.func @net_rank0_late(
// STEP-NOT:     call @f0
// STEP:         call @b0
// STEP:         call @b0
// STEP:         "llvm.intr.memcpy"
// STEP:         call @veeline_update(
// STEP-LABEL: func.func @net_rank1_step(

// RUN: sed 's/, versions = .array<i64: 64>.//' planned.mlir > damaged.mlir && not cmp planned.mlir damaged.mlir
// RUN: not veeline-opt damaged.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: 'pipe.program' op has a plan with other older values than its updates leave; run --pipe-plan-memory again

//--- net.mlir
pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w0 = pipe.param <"w0", init = zeros> : tensor<2xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<2xf32>
  %w2 = pipe.param <"w2", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w0) {forward = @f0, backward = @b0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w1) {forward = @f0, backward = @b1} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.chunk 2 @c2(%1, %w2) {forward = @f2, backward = @b2} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %2 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c2(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @f0(%x: tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, %w: tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<2xf32> {pipe.role = #pipe.role<residual 0>}) {
  %0 = arith.mulf %x, %w : tensor<2xf32>
  %1 = arith.addf %0, %w : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @b0(%d: tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, %r: tensor<2xf32> {pipe.role = #pipe.role<residual 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  %0 = arith.mulf %d, %r : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @b1(%w: tensor<2xf32> {pipe.role = #pipe.role<operand 1>}, %d: tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, %r: tensor<2xf32> {pipe.role = #pipe.role<residual 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  %0 = arith.mulf %d, %w : tensor<2xf32>
  %1 = arith.mulf %d, %r : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @f2(%x: tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, %w: tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<2xf32> {pipe.role = #pipe.role<residual 0>}) {
  %0 = arith.mulf %x, %w : tensor<2xf32>
  %c = arith.constant dense<1.0> : tensor<f32>
  return %c, %0 : tensor<f32>, tensor<2xf32>
}
func.func private @b2(%w: tensor<2xf32> {pipe.role = #pipe.role<operand 1>}, %r: tensor<2xf32> {pipe.role = #pipe.role<residual 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  %0 = arith.mulf %r, %w : tensor<2xf32>
  return %0, %r : tensor<2xf32>, tensor<2xf32>
}
