// RUN: split-file %s %t && cd %t
// RUN: veeline-opt v.mlir --pipe-schedule="schedule=file:order.csv microbatches=2" | FileCheck %s
// RUN: veeline-opt v.mlir --pipe-schedule="schedule=file:order.json microbatches=2" | FileCheck %s
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:order.csv microbatches=3" 2>&1 | FileCheck %s --check-prefix=MICROBATCHES
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:linear.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:one.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:interleaved.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=PLACEMENT
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:list.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:block.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:descending.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:circle.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=CIRCLE
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:cell.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=CELL
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:flush.json microbatches=2" 2>&1 | FileCheck %s --check-prefix=FLUSH
// RUN: not veeline-opt v.mlir --pipe-schedule="schedule=file:absent.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not veeline-opt fused.mlir --pipe-schedule="schedule=file:split.csv" 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not veeline-opt split.mlir --pipe-schedule="schedule=file:fused.csv" 2>&1 | FileCheck %s --check-prefix=SPLIT

// The order of the file: fused and split backwards. Chunk 0 owes nobody an input gradient, so 0I is left out.
// CHECK-LABEL: pipe.pipeline @net stages(2) chunks_per_stage(2) placement(v) microbatches(2) schedule("file:order.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:         pipe.forward chunk(0) microbatch(0)
// CHECK:         pipe.forward chunk(3) microbatch(0)
// CHECK:         pipe.backward chunk(3) microbatch(0)
// CHECK:         pipe.forward chunk(0) microbatch(1)
// CHECK:         pipe.forward chunk(3) microbatch(1)
// CHECK:         pipe.backward_input chunk(3) microbatch(1)
// CHECK-NOT:     pipe.backward_input chunk(0)
// CHECK:         pipe.backward_weight chunk(0) microbatch(0)
// CHECK:         pipe.backward chunk(0) microbatch(1)
// CHECK-LABEL: pipe.program @net_rank1

// MICROBATCHES: v.mlir:1:1: error: 'pipe.pipeline' op has 3 microbatches, but 'order.csv' has 2
// CHUNKS:       v.mlir:1:1: error: 'pipe.pipeline' op has 4 chunks, but 'linear.csv' has 2
// STAGES:       v.mlir:1:1: error: 'pipe.pipeline' op has 2 stages, but 'one.csv' has 1
// PLACEMENT:    v.mlir:1:1: error: 'pipe.pipeline' op has placement 'v', where chunk 2 is on stage 1, but in 'interleaved.csv' it is on stage 0: that placement is 'interleaved'
// LIST:         v.mlir:1:1: error: 'pipe.pipeline' op has placement 'v', where chunk 0 is on stage 0, but in 'list.csv' it is on stage 1: that placement is 'list'
// BLOCK:        v.mlir:1:1: error: 'pipe.pipeline' op cannot be compiled with the order of 'block.csv': stage 1, steps 4 and 5: F of chunk 2, microbatch 1 and BW of chunk 1, microbatch 0 run together, and compiled programs run one operation after the other; write them as two cells
// ORDER:        v.mlir:1:1: error: 'pipe.pipeline' op cannot run the order of 'descending.csv': stage 1, step 5: BW of chunk 2, microbatch 0 comes after microbatch 1 at step 4
// ORDER-NEXT:   stage 1, steps 1..7: 1F1 2F0 2F1 2BW1 [2BW0] 1BW0 1BW1
// CIRCLE:       v.mlir:1:1: error: 'pipe.pipeline' op cannot run the order of 'circle.csv': stage {{.*}} waits for
// CELL:         v.mlir:1:1: error: 'pipe.pipeline' op has no schedule: cell.csv:2:5: '2G0' has the unknown action 'G'
// FLUSH:        v.mlir:1:1: error: 'pipe.pipeline' op cannot be compiled with an order of schedule 'pipedream' from a file; take the schedule by its name, or '1f1b', which has the same order with a flush
// ABSENT:       v.mlir:1:1: error: 'pipe.pipeline' op has no schedule: cannot read 'absent.csv': No such file or directory
// FUSED:        fused.mlir:1:1: error: 'pipe.pipeline' op cannot run schedule 'file:split.csv': stage 0, step 1: W of chunk 0, microbatch 0: the chunk's backward is not split; run --pipe-split-backward first
// SPLIT:        split.mlir:1:1: error: 'pipe.pipeline' op cannot run schedule 'file:fused.csv': stage 0, step 1: BW of chunk 0, microbatch 0: the chunk has no fused backward

//--- v.mlir
pipe.pipeline @net stages(2) chunks_per_stage(2) placement(v) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f, backward = @b0, backward_weight = @b0} : (tensor<f32>) -> tensor<f32>
  %1 = pipe.chunk 1 @c(%0) {forward = @f, backward = @b, backward_input = @b} : (tensor<f32>) -> tensor<f32>
  %2 = pipe.chunk 2 @c(%1) {forward = @f, backward = @b, backward_input = @b} : (tensor<f32>) -> tensor<f32>
  %3 = pipe.chunk 3 @c(%2) {forward = @f, backward = @b3, backward_input = @b3} : (tensor<f32>) -> tensor<f32>
  pipe.yield %3 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b0(tensor<f32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>})
func.func private @b(tensor<f32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<f32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @b3(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<operand_grad 0>})

//--- order.csv
0F0,3F0,3B0,0F1,3F1,3I1,0I0,0W0,3W1,0B1
1F0,2F0,1F1,2F1,2B0,1B0,2I1,1I1,2W1,1W1
//--- order.json
{"name": "own", "order": [["0F0", "3F0", "3B0", "0F1", "3F1", "3I1", "0I0", "0W0", "3W1", "0B1"],
 ["1F0", "2F0", "1F1", "2F1", "2B0", "1B0", "2I1", "1I1", "2W1", "1W1"]]}
//--- linear.csv
0F0,0F1,0B0,0B1
1F0,1B0,1F1,1B1
//--- one.csv
0F0,0F1,0B0,0B1
//--- interleaved.csv
0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1
1F0,1F1,3F0,3F1,3B0,3B1,1B0,1B1
//--- list.csv
1F0,1F1,2F0,2F1,2B0,2B1,1B0,1B1
0F0,0F1,3F0,3F1,3B0,3B1,0B0,0B1
//--- block.csv
0F0,3F0,3B0,0F1,3F1,3B1,0B0,0B1
1F0,2F0,1F1,2B0,(2F1;1B0)OVERLAP_F_B,2B1,1B1
//--- descending.csv
0F0,0F1,3F0,3F1,3B0,3B1,0B0,0B1
1F0,1F1,2F0,2F1,2B1,2B0,1B0,1B1
//--- circle.csv
0F0,3F0,3B0,0B0,0F1,3F1,3B1,0B1
1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1
//--- cell.csv
0F0,0F1,3F0,3F1,3B0,3B1,0B0,0B1
1F0,2G0
//--- flush.json
{"name": "pipedream", "order": [["0F0", "3F0", "3B0", "0F1", "3F1", "3B1", "0B0", "0B1"],
 ["1F0", "2F0", "1F1", "2F1", "2B0", "1B0", "2B1", "1B1"]]}

//--- fused.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f, backward = @b} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b() -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>})
//--- split.csv
0F0,0W0
//--- split.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f, backward_weight = @b} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b() -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>})
//--- fused.csv
0F0,0B0
