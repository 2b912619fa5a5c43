// DEFINE: %{options} = strategy=overlap
// DEFINE: %{model} = mpi
// DEFINE: %{replicas} = 1
// DEFINE: %{schedule} = veeline-opt %s "--pipe-schedule=schedule=1f1b microbatches=3 replicas=%{replicas}"
// DEFINE: %{split} = %{schedule} "--pipe-insert-communication=%{options} split-messages=3" --pipe-verify-communication=model=%{model} -o %t.mlir
// DEFINE: %{whole} = %{schedule} "--pipe-insert-communication=%{options}" | sed -n /pipe.program/,/}/p > %t.whole && sed 's/ parts([0-9]*)//' %t.mlir | sed -n /pipe.program/,/}/p | cmp - %t.whole

// Both ends of each message have three parts, or two where there are only two
// elements. Nothing else changes, whatever the strategy.
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir
// REDEFINE: %{options} = strategy=p2p
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir
// REDEFINE: %{model} = nccl
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir
// REDEFINE: %{options} = strategy=batched
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir && FileCheck %s --check-prefix=GROUPS < %t.mlir
// REDEFINE: %{options} = strategy=ring
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir && FileCheck %s --check-prefix=GROUPS < %t.mlir
// REDEFINE: %{options} = model=nccl
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir
// REDEFINE: %{replicas} = 2
// REDEFINE: %{options} = strategy=batched
// RUN: %{split} && %{whole} && FileCheck %s < %t.mlir && FileCheck %s --check-prefix=SUMS < %t.mlir

// One part is what there is without the option.
// RUN: veeline-opt %s "--pipe-schedule=schedule=1f1b microbatches=3" "--pipe-insert-communication=split-messages=1" | FileCheck %s --check-prefix=ONE
// ONE:     pipe.send
// ONE-NOT: parts(

// DEFINE: %{parts} = 0
// DEFINE: %{wrong} = not veeline-opt %s --pipe-insert-communication=split-messages=%{parts} 2>&1
// RUN: %{wrong} | FileCheck %s --check-prefix=WRONG -DPARTS=0
// REDEFINE: %{parts} = -4
// RUN: %{wrong} | FileCheck %s --check-prefix=WRONG -DPARTS=-4
// REDEFINE: %{parts} = 1025
// RUN: %{wrong} | FileCheck %s --check-prefix=WRONG -DPARTS=1025
// WRONG: error: messages cannot be split into [[PARTS]] parts; split-messages takes a number from 1 to 1024
// REDEFINE: %{parts} = many
// RUN: %{wrong} | FileCheck %s --check-prefix=NUMBER
// NUMBER: 'many' value invalid

// CHECK-LABEL: pipe.program @tied_rank0
// CHECK-DAG:   pipe.send {{.*}} edge(0) activation microbatch(2) {{.*}}parts(2) : tensor<2xf32>
// CHECK-DAG:   pipe.recv edge(0) gradient microbatch(2) {{.*}}parts(2) : !pipe.handle<tensor<2xf32>>
// CHECK-DAG:   pipe.recv edge(1) gradient microbatch(0) {{.*}}parts(3) : !pipe.handle<tensor<8xf32>>
// CHECK-DAG:   pipe.send {{.*}} edge(1) activation microbatch(0) {{.*}}parts(3) : tensor<8xf32>
// CHECK-LABEL: pipe.program @tied_rank1
// CHECK-DAG:   pipe.recv edge(0) activation microbatch(2) {{.*}}parts(2) : !pipe.handle<tensor<2xf32>>
// CHECK-DAG:   pipe.send {{.*}} edge(0) gradient microbatch(2) {{.*}}parts(2) : tensor<2xf32>
// CHECK-DAG:   pipe.send {{.*}} edge(1) gradient microbatch(0) {{.*}}parts(3) : tensor<8xf32>
// CHECK-DAG:   pipe.recv edge(1) activation microbatch(0) {{.*}}parts(3) : !pipe.handle<tensor<8xf32>>

// GROUPS: pipe.send copying {{.*}} edge(0) {{.*}} group([[G:[0-9]+]]) parts(2)
// GROUPS: pipe.recv edge(0) {{.*}} group([[G]]) parts(2)

// SUMS: pipe.all_reduce param(0) chunk(0)
// SUMS-NOT: parts
// SUMS-SAME: !pipe.handle

// A chain of two stages with a tied parameter.
pipe.pipeline @tied stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>},
        tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<3xf32> {pipe.role = #pipe.role<residual 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
