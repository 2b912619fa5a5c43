// Inputs are numbered in their order, in the artifact's tables and in a step's code: one that nothing uses stays.

// RUN: veeline-opt %s --canonicalize --cse --symbol-dce | FileCheck %s

// CHECK-LABEL: pipe.pipeline @net
// CHECK-NEXT: pipe.param <"w"
// CHECK-NEXT: pipe.batch "unused"
// CHECK-NEXT: pipe.batch "x"
// CHECK-NEXT: pipe.buffer "table"
// CHECK-NEXT: pipe.chunk
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = ones> : tensor<4xf32>
  %unused = pipe.batch "unused" : tensor<4xf32>
  %x = pipe.batch "x" : tensor<f32>
  %table = pipe.buffer "table" : tensor<4xf32>
  %loss = pipe.chunk 0 @net_chunk0(%x) : (tensor<f32>) -> tensor<f32>
  pipe.yield %loss : tensor<f32>
}
func.func private @net_chunk0(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
