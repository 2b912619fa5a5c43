// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=file:%t/order.csv microbatches=3" -o %t/scheduled.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi -o %t/overlap.mlir
// RUN: FileCheck %s --input-file %t/overlap.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=model=nccl --pipe-verify-communication=model=nccl | FileCheck %s
// RUN: %python %t/swap.py pipe.send < %t/overlap.mlir > %t/sends.mlir
// RUN: not veeline-opt %t/sends.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=SENDS
// RUN: %python %t/swap.py pipe.wait < %t/overlap.mlir > %t/waits.mlir
// RUN: not veeline-opt %t/waits.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=WAITS

// The second rank needs microbatch 0 first, but microbatch 1 is sent before it:
// what is sent first is waited for first.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:       pipe.send {{.*}}edge(0) activation microbatch(1)
// CHECK:       pipe.send {{.*}}edge(0) activation microbatch(0)
// CHECK:       pipe.send {{.*}}edge(0) activation microbatch(2)
// CHECK-LABEL: pipe.program @net_rank1
// CHECK:       %[[ONE:.*]] = pipe.recv edge(0) activation microbatch(1)
// CHECK:       %[[ZERO:.*]] = pipe.recv edge(0) activation microbatch(0)
// CHECK-DAG:   %[[X1:.*]] = pipe.wait %[[ONE]]
// CHECK-NEXT:  %[[X0:.*]] = pipe.wait %[[ZERO]]
// CHECK:       pipe.forward chunk(1) microbatch(0) (%[[X0]])
// CHECK:       pipe.forward chunk(1) microbatch(1) (%[[X1]])

// SENDS: error: 'pipe.send' op is about microbatch 0 of edge 0, but the receive that is posted then is of microbatch 1: between two ranks the messages of an edge and direction are sent, received and waited for in one order
// WAITS: error: 'pipe.wait' op is about microbatch 0 of edge 0, but the receive that is posted then is of microbatch 1: between two ranks

//--- swap.py
"""Exchanges what the first two OPS of an activation of edge 0, or of handles of one, are about."""
import re
import sys

op, lines = sys.argv[1], sys.stdin.read().splitlines(keepends=True)
handles = {m[1] for line in lines if (m := re.match(r" *(%\w+) = pipe.recv edge\(0\) activation", line))}
program, found = 0, []
for number, line in enumerate(lines):
    program += "pipe.program" in line
    if op == "pipe.send" and program == 1 and re.search(r"pipe.send .*edge\(0\) activation", line):
        found.append((number, re.search(r"microbatch\((\d)\)", line)))
    elif op == "pipe.wait" and program == 2 and (m := re.search(r"pipe.wait (%\w+)", line)) and m[1] in handles:
        found.append((number, m))
(a, first), (b, second) = found[:2]
lines[a] = lines[a][: first.start(1)] + second[1] + lines[a][first.end(1) :]
lines[b] = lines[b][: second.start(1)] + first[1] + lines[b][second.end(1) :]
sys.stdout.write("".join(lines))
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

//--- order.csv
0F1,0F0,0F2,0B0,0B1,0B2
1F0,1B0,1F1,1B1,1F2,1B2
