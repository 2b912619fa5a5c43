// The first piece is as heavy as 5.5 of the eight between, the last as 10.25 of
// them. Under each placement the heaviest stage is as light as it can be, then
// chunks are even.

// RUN: veeline-opt %s --pipe-partition="stages=2" | FileCheck %s --check-prefix=LINEAR
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=2" | FileCheck %s --check-prefix=V
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=2 placement=v" | FileCheck %s --check-prefix=V
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=2 placement=wave" | FileCheck %s --check-prefix=WAVE
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=2 placement=interleaved" | FileCheck %s --check-prefix=INTERLEAVED
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=3" | FileCheck %s --check-prefix=THREE
// RUN: veeline-opt %s --pipe-partition="stages=2 chunks-per-stage=2 pieces=4,3,2,1" | FileCheck %s --check-prefix=LIST

// LINEAR: pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear)
// LINEAR-DAG: %[[W6:.*]] = pipe.param <"w6"
// LINEAR-DAG: %[[W7:.*]] = pipe.param <"w7"
// LINEAR: pipe.chunk 0 {{.*}}, %[[W6]])
// LINEAR: pipe.chunk 1 {{.*}}(%{{[0-9]+}}, %[[W7]],

// In a V both ends share stage 0, which gets nothing else.
// V: pipe.pipeline @net stages(2) chunks_per_stage(2) placement(v)
// V-DAG: %[[W0:.*]] = pipe.param <"w0"
// V-DAG: %[[W1:.*]] = pipe.param <"w1"
// V-DAG: %[[W4:.*]] = pipe.param <"w4"
// V-DAG: %[[W5:.*]] = pipe.param <"w5"
// V-DAG: %[[W8:.*]] = pipe.param <"w8"
// V-DAG: %[[W9:.*]] = pipe.param <"w9"
// V: pipe.chunk 0 @net_chunk0(%{{[0-9]+}}, %[[W0]])
// V: pipe.chunk 1 @net_chunk1(%{{[0-9]+}}, %[[W1]], {{.*}}, %[[W4]])
// V: pipe.chunk 2 @net_chunk2(%{{[0-9]+}}, %[[W5]], {{.*}}, %[[W8]])
// V: pipe.chunk 3 @net_chunk3(%{{[0-9]+}}, %[[W9]])

// WAVE: placement(wave)
// WAVE-DAG: %[[W0:.*]] = pipe.param <"w0"
// WAVE-DAG: %[[W9:.*]] = pipe.param <"w9"
// WAVE: pipe.chunk 0 @net_chunk0(%{{[0-9]+}}, %[[W0]])
// WAVE: pipe.chunk 3 @net_chunk3(%{{[0-9]+}}, %[[W9]])

// Stage 0 holds chunks 0 and 2, stage 1 chunks 1 and 3.
// INTERLEAVED: placement(interleaved)
// INTERLEAVED-DAG: %[[W0:.*]] = pipe.param <"w0"
// INTERLEAVED-DAG: %[[W1:.*]] = pipe.param <"w1"
// INTERLEAVED-DAG: %[[W2:.*]] = pipe.param <"w2"
// INTERLEAVED-DAG: %[[W3:.*]] = pipe.param <"w3"
// INTERLEAVED-DAG: %[[W8:.*]] = pipe.param <"w8"
// INTERLEAVED-DAG: %[[W9:.*]] = pipe.param <"w9"
// INTERLEAVED: pipe.chunk 0 @net_chunk0(%{{[0-9]+}}, %[[W0]])
// INTERLEAVED: pipe.chunk 1 @net_chunk1(%{{[0-9]+}}, %[[W1]], %[[W2]])
// INTERLEAVED: pipe.chunk 2 @net_chunk2(%{{[0-9]+}}, %[[W3]], {{.*}}, %[[W8]])
// INTERLEAVED: pipe.chunk 3 @net_chunk3(%{{[0-9]+}}, %[[W9]])

// THREE: chunks_per_stage(3) placement(interleaved)
// THREE: pipe.chunk 5

// LIST-DAG: %[[W3:.*]] = pipe.param <"w3"
// LIST-DAG: %[[W4:.*]] = pipe.param <"w4"
// LIST-DAG: %[[W5:.*]] = pipe.param <"w5"
// LIST-DAG: %[[W6:.*]] = pipe.param <"w6"
// LIST-DAG: %[[W7:.*]] = pipe.param <"w7"
// LIST-DAG: %[[W8:.*]] = pipe.param <"w8"
// LIST-DAG: %[[W9:.*]] = pipe.param <"w9"
// LIST: pipe.chunk 0 {{.*}}, %[[W3]])
// LIST: pipe.chunk 1 {{.*}}(%{{[0-9]+}}, %[[W4]], %[[W5]], %[[W6]])
// LIST: pipe.chunk 2 {{.*}}(%{{[0-9]+}}, %[[W7]], %[[W8]])
// LIST: pipe.chunk 3 {{.*}}(%{{[0-9]+}}, %[[W9]])

func.func @net(%x: tensor<16x160xf32> {pipe.batch = "x"},
               %w0: tensor<160x16xf32> {pipe.param = #pipe.param<"w0", init = zeros>},
               %w1: tensor<16x16xf32> {pipe.param = #pipe.param<"w1", init = zeros>},
               %w2: tensor<16x16xf32> {pipe.param = #pipe.param<"w2", init = zeros>},
               %w3: tensor<16x16xf32> {pipe.param = #pipe.param<"w3", init = zeros>},
               %w4: tensor<16x16xf32> {pipe.param = #pipe.param<"w4", init = zeros>},
               %w5: tensor<16x16xf32> {pipe.param = #pipe.param<"w5", init = zeros>},
               %w6: tensor<16x16xf32> {pipe.param = #pipe.param<"w6", init = zeros>},
               %w7: tensor<16x16xf32> {pipe.param = #pipe.param<"w7", init = zeros>},
               %w8: tensor<16x16xf32> {pipe.param = #pipe.param<"w8", init = zeros>},
               %w9: tensor<16x160xf32> {pipe.param = #pipe.param<"w9", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %we = tensor.empty() : tensor<16x160xf32>
  %wide = linalg.fill ins(%zero : f32) outs(%we : tensor<16x160xf32>) -> tensor<16x160xf32>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<16x160xf32>, tensor<160x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h1 = linalg.matmul ins(%h0, %w1 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h2 = linalg.matmul ins(%h1, %w2 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h3 = linalg.matmul ins(%h2, %w3 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h4 = linalg.matmul ins(%h3, %w4 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h5 = linalg.matmul ins(%h4, %w5 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h6 = linalg.matmul ins(%h5, %w6 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h7 = linalg.matmul ins(%h6, %w7 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h8 = linalg.matmul ins(%h7, %w8 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h9 = linalg.matmul ins(%h8, %w9 : tensor<16x16xf32>, tensor<16x160xf32>) outs(%wide : tensor<16x160xf32>) -> tensor<16x160xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%h9 : tensor<16x160xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
