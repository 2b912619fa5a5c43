// What a piece takes by a machine's table. Rates of the table are one byte or element a nanosecond, but of products.

// RUN: sed 's/"transposed": \[\[1, 1, 1\]\]/"transposed": [[1, 0.5, 0.5]]/' %S/../../../Compiler/Inputs/machine.json > %t.json
// RUN: veeline-opt %s --split-input-file --pipe-print-pieces=machine-table=%t.json -o /dev/null | FileCheck %s

// Reads 400000 bytes across rows at half a byte a nanosecond, and as many along them, and writes as many, which counts twice: 800 and 1200 us.
// CHECK:      0     1 {{.*}} 2000.0 {{.*}}: linalg.generic

// Windows see each of 100000 elements once. They read as many elements of 4 bytes, and write a fourth of those.
// CHECK-NEXT: 1 {{.*}} 600.0 {{.*}}: tensor.expand_shape

// A row of bf16 times a matrix: the library computes in f32, which our loops write, and that counts twice: 10 bytes for each of 100 and 10000
// elements, and 8 for each of 100 of the result, are 101.8 us. The 2 * 10000 FLOPs of the product itself, at 5.9 a nanosecond, take 3.4 us, and a
// call 0.1. The sums of the loss read 100200 bytes.
// CHECK-NEXT: 2 {{.*}} 205.5 {{.*}}: linalg.matmul
func.func @net(%x: tensor<1000x100xf32> {pipe.batch = "x"}, %b: tensor<100x1000xf32> {pipe.param = #pipe.param<"b", init = zeros>},
               %r32: tensor<1x100xf32> {pipe.batch = "r"}, %w32: tensor<100x100xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> (tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %zero16 = arith.constant 0.0 : bf16
  %0 = tensor.empty() : tensor<100x1000xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : tensor<1000x100xf32>, tensor<100x1000xf32>) outs(%0 : tensor<100x1000xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<100x1000xf32>
  %marked = pipe.boundary %sum : tensor<100x1000xf32>
  %image = tensor.expand_shape %marked [[0, 1], [2, 3]] output_shape [1, 100, 1000, 1] : tensor<100x1000xf32> into tensor<1x100x1000x1xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %1 = tensor.empty() : tensor<1x50x500x1xf32>
  %start = linalg.fill ins(%low : f32) outs(%1 : tensor<1x50x500x1xf32>) -> tensor<1x50x500x1xf32>
  %pooled = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>} ins(%image, %window : tensor<1x100x1000x1xf32>, tensor<2x2xf32>)
    outs(%start : tensor<1x50x500x1xf32>) -> tensor<1x50x500x1xf32>
  %pooledMarked = pipe.boundary %pooled : tensor<1x50x500x1xf32>
  %re = tensor.empty() : tensor<1x100xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%r32 : tensor<1x100xf32>) outs(%re : tensor<1x100xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x100xbf16>
  %we = tensor.empty() : tensor<100x100xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%w32 : tensor<100x100xf32>) outs(%we : tensor<100x100xbf16>) {
  ^bb0(%p: f32, %o: bf16):
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<100x100xbf16>
  %2 = tensor.empty() : tensor<1x100xbf16>
  %3 = linalg.fill ins(%zero16 : bf16) outs(%2 : tensor<1x100xbf16>) -> tensor<1x100xbf16>
  %y = linalg.matmul ins(%r, %w : tensor<1x100xbf16>, tensor<100x100xbf16>) outs(%3 : tensor<1x100xbf16>) -> tensor<1x100xbf16>
  %4 = tensor.empty() : tensor<f32>
  %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<f32>) -> tensor<f32>
  %l = linalg.reduce { arith.addf } ins(%pooledMarked : tensor<1x50x500x1xf32>) outs(%5 : tensor<f32>) dimensions = [0, 1, 2, 3]
  %loss = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%y : tensor<1x100xbf16>) outs(%l : tensor<f32>) {
  ^bb0(%p: bf16, %o: f32):
    %e = arith.extf %p : bf16 to f32
    %s = arith.addf %o, %e : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// An insertion moves what is inserted, 800 bytes, half of which are written: not the 400000 bytes of what it goes into, which the sum reads.
// CHECK:      0 {{.*}} 401.2 {{.*}}: tensor.insert_slice
func.func @insertion(%x: tensor<1x100xf32> {pipe.batch = "x"}, %w: tensor<1000x100xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %all = tensor.insert_slice %x into %w[5, 0] [1, 100] [1, 1] : tensor<1x100xf32> into tensor<1000x100xf32>
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%all : tensor<1000x100xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}
