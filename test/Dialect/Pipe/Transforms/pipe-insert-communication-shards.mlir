// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1 microbatches=2 replicas=3 shard-optimizer" -o %t/scheduled.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi -o %t/sent.mlir
// RUN: FileCheck %s --input-file %t/sent.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=model=nccl --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=p2p --pipe-verify-communication=model=nccl -o %t/p2p.mlir && FileCheck %s --check-prefix=P2P --input-file %t/p2p.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=ring --pipe-verify-communication=model=nccl -o /dev/null
// RUN: not veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1 shard-optimizer" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/ shard_optimizer//; s/ scattered//' %t/sent.mlir > %t/plain.mlir && not veeline-opt %t/plain.mlir 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: sed '0,/\(all_gather .*\) param(1)/s//\1 param(0)/' %t/sent.mlir > %t/other.mlir && not veeline-opt %t/other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER

// What is sent of a parameter is the whole, so its gather is waited for before that. The next turn gathers the other parameter.
// CHECK:       pipe.pipeline @net stages(2) {{.*}} replicas(3) shard_optimizer
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:       pipe.all_gather late %{{.*}} param(1) communicator(1)
// CHECK:       %[[U0:.*]] = pipe.update param(0)
// CHECK:       %[[U1:.*]] = pipe.update param(1)
// CHECK-NEXT:  %[[H0:.*]] = pipe.all_gather %[[U0]] param(0) communicator(1) group({{[0-9]+}}) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:  %[[V0:.*]] = pipe.wait %[[H0]]
// CHECK-NEXT:  pipe.send %[[V0]] edge(1) activation
// CHECK-NEXT:  pipe.carry %[[U1]]
// CHECK-NEXT:  }
// CHECK-LABEL: pipe.program @net_rank1
// CHECK-NOT:   pipe.all_gather

// Updates that follow each other are gathered as one, after the last of them.
// P2P: pipe.all_gather %{{.*}} param(0) stream(0) communicator(1) group(

// ALONE: error: 'pipe.pipeline' op has 'shard_optimizer', but no stage has ranks that could share its updates; give it 'replicas' or 'stage_replicas'
// PLAIN: error: 'pipe.all_gather' op gathers shares, but updates of stage 0 are not shared out by 'shard_optimizer'
// OTHER: error: 'pipe.all_gather' op takes something else than the pipe.update of parameter 0
// OTHER: note: found this

// Each rank gets its share of a gradient that nothing but its update takes. Where ranks go on while messages are sent, and nothing of the step needs
// a parameter, the next turn gathers it and waits before the first op that uses it.
// RUN: veeline-opt %t/own.mlir --pipe-schedule="schedule=1f1b microbatches=2 replicas=3 shard-optimizer" -o %t/own-scheduled.mlir
// RUN: veeline-opt %t/own-scheduled.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=NEXT
// RUN: veeline-opt %t/own-scheduled.mlir --pipe-insert-communication=model=nccl --pipe-verify-communication=model=nccl | FileCheck %s --check-prefix=NEXT
// RUN: veeline-opt %t/own-scheduled.mlir --pipe-insert-communication=strategy=duplex --pipe-verify-communication=model=nccl-duplex | FileCheck %s --check-prefix=NEXT
// RUN: veeline-opt %t/own-scheduled.mlir --pipe-insert-communication=strategy=ring --pipe-verify-communication=model=nccl | FileCheck %s --check-prefix=OWN
// NEXT-LABEL: pipe.program @net_rank0
// NEXT-NEXT:  ^bb0(%[[W0:.*]]: tensor<8xf32>, %[[W1:.*]]: tensor<4xf32>):
// NEXT-NEXT:  %[[H0:.*]] = pipe.all_gather late %[[W0]] param(0) communicator(1) group([[G:[0-9]+]])
// NEXT-NEXT:  %[[H1:.*]] = pipe.all_gather late %[[W1]] param(1) communicator(1) group([[G]])
// NEXT:       pipe.wait %[[H0]]
// NEXT-NEXT:  pipe.wait %[[H1]]
// NEXT-NEXT:  pipe.forward chunk(0) microbatch(0)
// NEXT:       pipe.all_reduce scattered param(0) chunk(0)
// NEXT-NEXT:  pipe.all_reduce scattered param(1) chunk(0)
// NEXT:       %[[U0:.*]] = pipe.update param(0)
// NEXT:       %[[U1:.*]] = pipe.update param(1)
// NEXT-NEXT:  pipe.carry %[[U0]], %[[U1]]
// NEXT-NEXT:  }
// NEXT-LABEL: pipe.program @net_rank1
// NEXT:       %[[H2:.*]] = pipe.all_gather late %{{.*}} param(2)
// NEXT:       pipe.wait %[[H2]]
// NEXT-NEXT:  pipe.forward chunk(1) microbatch(0)
// OWN:        pipe.all_reduce scattered param(0)
// OWN:        %[[H:.*]] = pipe.all_gather %
// OWN:        pipe.wait %[[H]]
// OWN-NOT:    late

// Of a parameter of 80 floats each of three ranks has two moments of 32: shares begin at multiples of 16, and those of the last rank
// overlap the share before.
// RUN: veeline-opt %t/plan.mlir --pipe-plan-memory -o %t/planned.mlir && FileCheck %s --check-prefix=PLAN --input-file %t/planned.mlir
// RUN: veeline-opt %t/planned.mlir --pipe-lower-to-runtime | FileCheck %s --check-prefix=LOWER
// RUN: veeline-opt %t/plan.mlir --pipe-plan-memory=target=cuda | veeline-opt --pipe-lower-to-runtime=target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: grep -v all_gather %t/planned.mlir | sed '/pipe.wait %3/d' > %t/apart.mlir && not veeline-opt %t/apart.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=APART
// PLAN: params = [array<i64: 0, 0, 320, 256, 1>]
// PLAN-SAME: reduced = [array<i64: 0, 0, {{[0-9]+}}, 80, {{[0-9]+}}, 128>, array<i64: 1, 0, 0, 80, {{[0-9]+}}, 0>]
// LOWER: call @veeline_update
// LOWER: call @veeline_reduce_post
// LOWER: call @veeline_reduce_wait
// CUDA:  %[[SHARE:.*]] = call @veeline_shard
// CUDA:  llvm.getelementptr %{{.*}}[%[[SHARE]]]
// CUDA:  call @pipe_adamw{{.*}}32
// APART: error: 'pipe.update' op is of a share of the parameter, which nothing gathers; run --pipe-insert-communication first

// By muon, each matrix is of one rank; the largest goes first. States of different ranks are at one place.
// RUN: veeline-opt %t/matrices.mlir --pipe-plan-memory=optimizer=muon | FileCheck %s --check-prefix=OWNERS
// OWNERS: owners = array<i64: 1, 0, 1, -1>
// OWNERS-SAME: params = [array<i64: 0, 0, [[A:[0-9]+]], {{[0-9]+}}, 1>, array<i64: 1, {{[0-9]+}}, [[A]], {{[0-9]+}}, 1>,

//--- own.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf32>
  %v = pipe.param <"v", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %v) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_input, backward_weight = @c1_weight} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}, tensor<4xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_input(tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @c1_weight(tensor<2xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})

//--- matrices.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %u = pipe.param <"u", init = zeros> : tensor<4x4xf32>
  %v = pipe.param <"v", init = zeros> : tensor<8x8xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<80xf32>
  %0 = pipe.chunk 0 @c(%x, %u, %v, %w, %b) {forward = @f, backward = @g, backward_weight = @g} : (tensor<4xf32>, tensor<4x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<80xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<4x4xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<80xf32>) -> tensor<f32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<8x8xf32> {pipe.role = #pipe.role<param_grad 2>}, tensor<4x8xf32> {pipe.role = #pipe.role<param_grad 3>}, tensor<80xf32> {pipe.role = #pipe.role<param_grad 4>})
pipe.program @net_rank0 of @net stage(0) {
}

//--- plan.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(3) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<80xf32>
  %0 = pipe.chunk 0 @c(%x, %w) {forward = @f, backward = @g, backward_weight = @g} : (tensor<4xf32>, tensor<80xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<80xf32>) -> tensor<f32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<80xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @net_rank0 of @net stage(0) {
  %h0 = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<80xf32>>
  %g0 = pipe.wait %h0 : !pipe.handle<tensor<80xf32>>
  %w0 = pipe.update param(0) (%g0) : (tensor<80xf32>) -> tensor<80xf32>
  %h1 = pipe.all_gather %w0 param(0) communicator(1) : !pipe.handle<tensor<80xf32>>
  %w1 = pipe.wait %h1 : !pipe.handle<tensor<80xf32>>
}

//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_input, backward_weight = @c1_weight} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}, tensor<4xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_input(tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @c1_weight(tensor<2xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
