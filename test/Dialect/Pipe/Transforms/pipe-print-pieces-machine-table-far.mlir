// A table with rates of a cache and of memory: loops find in a cache what was written before them, but not their arguments, nor the places that they write.

// RUN: sed 's/"elementwise": .*/"elementwise": [[20000, 8, 8], [1000000, 2, 2]],/' %S/../../../Compiler/Inputs/machine.json > %t.json
// RUN: veeline-opt %s --pipe-print-pieces="fine machine-table=%t.json" -o /dev/null | FileCheck %s

// Of two arguments of 4000 bytes and a result of as many, which counts twice, all 16000 are at 2 a nanosecond.
// CHECK: 0 1 {{.*}} 8.0 4000 {{.*}} linalg.generic

// What the op before wrote, 4000 bytes, is read at 8; the result is at 2.
// CHECK: 2 1 {{.*}} 4.5 4000 {{.*}} linalg.generic

#map = affine_map<(i, j) -> (i, j)>
func.func @net(%x: tensor<1x1000xf32> {pipe.batch = "x"}, %w: tensor<1000x1000xf32> {pipe.param = #pipe.param<"w", init = zeros>},
               %b: tensor<1x1000xf32> {pipe.param = #pipe.param<"b", init = zeros>}, %v: tensor<1000x1000xf32> {pipe.param = #pipe.param<"v", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<1x1000xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%0 : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %moved = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<1x1000xf32>, tensor<1x1000xf32>) outs(%0 : tensor<1x1000xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %sum = arith.addf %a, %c : f32
    linalg.yield %sum : f32
  } -> tensor<1x1000xf32>
  %h = linalg.matmul ins(%moved, %w : tensor<1x1000xf32>, tensor<1000x1000xf32>) outs(%zeros : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %square = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<1x1000xf32>) outs(%0 : tensor<1x1000xf32>) {
  ^bb0(%a: f32, %out: f32):
    %product = arith.mulf %a, %a : f32
    linalg.yield %product : f32
  } -> tensor<1x1000xf32>
  %y = linalg.matmul ins(%square, %v : tensor<1x1000xf32>, tensor<1000x1000xf32>) outs(%zeros : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %1 = tensor.empty() : tensor<f32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<1x1000xf32>) outs(%2 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
