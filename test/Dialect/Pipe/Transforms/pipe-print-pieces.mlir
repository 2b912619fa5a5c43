// RUN: veeline-opt %s --split-input-file --pipe-print-pieces -o /dev/null | FileCheck %s

// A residual network: an embedding, two blocks of two products each, a head.
// The residual stream is cut (1024 bytes); the inside of a block, where the
// stream and the block's own activation are live, is not. Side ops belong to
// no piece, and nothing crosses the end.

// CHECK:      piece {{ *}}ops {{ *}}MFLOP {{ *}}bytes moved {{ *}}us {{ *}}bytes crossing  begins with
// CHECK-NEXT: 0 {{ *}}1 {{ *}}0.000 {{ *}}{{[0-9]+}} {{ *}}{{[0-9.]+}} {{ *}}1024  pipe-print-pieces.mlir:[[#@LINE+14]]: linalg.generic
// CHECK-NEXT: 1 {{ *}}3 {{ *}}0.017 {{ *}}{{[0-9]+}} {{ *}}{{[0-9.]+}} {{ *}}1024  pipe-print-pieces.mlir:[[#@LINE+24]]: linalg.matmul
// CHECK-NEXT: 2 {{ *}}3 {{ *}}0.017 {{ *}}{{[0-9]+}} {{ *}}{{[0-9.]+}} {{ *}}1024  pipe-print-pieces.mlir:[[#@LINE+26]]: linalg.matmul
// CHECK-NEXT: 3 {{ *}}2 {{ *}}0.008 {{ *}}{{[0-9]+}} {{ *}}{{[0-9.]+}} {{ *}}0  pipe-print-pieces.mlir:[[#@LINE+29]]: linalg.matmul
// CHECK-NEXT: all {{ *}}9 {{ *}}0.042 {{ *}}{{[0-9]+}} {{ *}}{{[0-9.]+}} {{ *}}0
func.func @net(%tokens: tensor<16xi32> {pipe.batch = "tokens"},
               %table: tensor<64x16xf32> {pipe.param = #pipe.param<"table", init = zeros>},
               %w: tensor<16x16xf32> {pipe.param = #pipe.param<"w", init = zeros>},
               %v: tensor<16x16xf32> {pipe.param = #pipe.param<"v", init = zeros>})
    -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  // Embedding.
  %x0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<16xi32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%token: i32, %out: f32):
    %row = arith.index_cast %token : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<64x16xf32>
    linalg.yield %value : f32
  } -> tensor<16x16xf32>
  // Two blocks.
  %a0 = linalg.matmul ins(%x0, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %b0 = linalg.matmul ins(%a0, %v : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %x1 = linalg.map { arith.addf } ins(%x0, %b0 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>)
  %a1 = linalg.matmul ins(%x1, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %b1 = linalg.matmul ins(%a1, %v : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %x2 = linalg.map { arith.addf } ins(%x1, %b1 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>)
  // Head.
  %y = linalg.matmul ins(%x2, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<16x16xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}

// -----

// Marks decide alone, each run of them once; before the first and after the
// last op they cut nothing.

// CHECK:      piece
// CHECK-NEXT: 0 {{ *}}2 {{ *}}0.000 {{ *}}24 {{.*}} 8  pipe-print-pieces.mlir
// CHECK-NEXT: 1 {{ *}}1 {{ *}}0.000 {{ *}}12 {{.*}} 0  pipe-print-pieces.mlir
// CHECK-NEXT: all {{ *}}3 {{ *}}0.000 {{ *}}36
func.func @marked(%x: tensor<f32> {pipe.batch = "x"},
                  %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %first = pipe.boundary %x : tensor<f32>
  %a = arith.mulf %first, %w : tensor<f32>
  %b = arith.addf %a, %w : tensor<f32>
  %a1 = pipe.boundary %a : tensor<f32>
  %b1 = pipe.boundary %b : tensor<f32>
  %c = arith.mulf %a1, %b1 : tensor<f32>
  %last = pipe.boundary %c : tensor<f32>
  return %last : tensor<f32>
}
