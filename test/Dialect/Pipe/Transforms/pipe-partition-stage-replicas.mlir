// RUN: veeline-opt %s --pipe-partition="stages=2 stage-replicas=3,1" | FileCheck %s
// RUN: veeline-opt %s --pipe-partition="stages=2 stage-replicas=1,1" | FileCheck %s --check-prefix=ONE
// RUN: veeline-opt %s --pipe-partition="stages=2 stage-replicas=1,3" | FileCheck %s --check-prefix=LAST

// Four pieces of equal cost: three ranks take three of them.
// CHECK:     pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) stage_replicas [3, 1] {
// CHECK:     pipe.chunk 0 @net_chunk0{{.*}} {pieces = 3 : i64}
// ONE:       pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
// ONE:       pipe.chunk 0 @net_chunk0{{.*}} {pieces = 2 : i64}
// LAST:      stage_replicas [1, 3]
// LAST:      pipe.chunk 1 @net_chunk1{{.*}} {pieces = 3 : i64}

func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %a = arith.addf %x, %w : tensor<f32>
  %b = pipe.boundary %a : tensor<f32>
  %c = arith.addf %b, %w : tensor<f32>
  %d = pipe.boundary %c : tensor<f32>
  %e = arith.addf %d, %w : tensor<f32>
  %f = pipe.boundary %e : tensor<f32>
  %l = arith.addf %f, %w : tensor<f32>
  return %l : tensor<f32>
}
