// RUN: veeline-opt %s --pipe-bufferize-chunks=target=cuda --pipe-gpu-kernels -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-gpu-run %t.mlir | FileCheck %s --check-prefix=EMULATED

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// EMULATED: 11 kernels, {{[0-9]+}} with the bits of their twins, 0 wrong

// What is added is computed in the first stage, of which a block has 32 columns of a
// part: 3 x 128 of them. The second stage has a block for 32 columns.

// CHECK-DAG: gpu.func @columns_4096x96_{{.*}}known_grid_size = array<i32: 384, 1, 1>
// CHECK-DAG: gpu.func @columns_128x96_{{.*}}known_grid_size = array<i32: 3, 1, 1>

func.func @columns(%x: tensor<4096x96xf32>) -> tensor<96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  %t = math.tanh %x : tensor<4096x96xf32>
  %0 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%t : tensor<4096x96xf32>) outs(%z : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %0 : tensor<96xf32>
}

// 128 parts of everything, for a block each, and one for the parts.

// CHECK-DAG: gpu.func @row_128x2048_{{.*}}known_grid_size = array<i32: 128, 1, 1>
// CHECK-DAG: gpu.func @row_64x2_{{.*}}known_grid_size = array<i32: 1, 1, 1>

func.func @everything(%x: tensor<64x4096xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %l = linalg.fill ins(%lowest : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [#ij, #none, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<64x4096xf32>) outs(%z, %l : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %o: f32, %m: f32):
    %s = arith.addf %o, %a : f32
    %n = arith.maximumf %a, %m : f32
    linalg.yield %s, %n : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
