// RUN: veeline-opt %s --pipe-bufferize-chunks=target=cuda --symbol-dce --pipe-gpu-kernels -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-gpu-run %t.mlir | FileCheck %s --check-prefix=EMULATED

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// EMULATED-DAG: sums_4096x96_{{.*}}: 128x1x1 blocks of 256
// EMULATED-DAG: sums_2048x70_{{.*}}: 64x1x1 blocks of 256
// EMULATED: {{[0-9]+}} kernels, {{[0-9]+}} with the bits of their twins, 0 wrong

// Two sums of what a kernel of rows writes and reads are parts of it: each of 128 blocks has the 32 rows of a part. What they start from is written before.

// CHECK-LABEL: func.func @joined
// CHECK: call @[[FILLS:kernel[^(]*]](
// CHECK-NEXT: call @[[ROWS:kernel[^(]*]](
// CHECK-NEXT: call @[[ADDS:kernel[^(]*]](
// CHECK-NEXT: return
func.func @joined(%x: tensor<4096x96xf32>, %w: tensor<4096x96xbf16>) -> (tensor<4096x96xf32>, tensor<96xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x96xf32>) outs(%zr : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  %ey = tensor.empty() : tensor<4096x96xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %w : tensor<4096x96xf32>, tensor<4096xf32>, tensor<4096x96xbf16>) outs(%ey : tensor<4096x96xf32>) {
  ^bb0(%a: f32, %m: f32, %b: bf16, %o: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %m : f32
    %s = arith.addf %a, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x96xf32>
  %e = tensor.empty() : tensor<96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  %first = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<4096x96xf32>) outs(%z : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %f = tensor.empty() : tensor<96xf32>
  %zf = linalg.fill ins(%zero : f32) outs(%f : tensor<96xf32>) -> tensor<96xf32>
  %second = linalg.generic {indexing_maps = [#ij, #i, #ij, #j], iterator_types = ["reduction", "parallel"]} ins(%x, %sum, %w : tensor<4096x96xf32>, tensor<4096xf32>, tensor<4096x96xbf16>) outs(%zf : tensor<96xf32>) {
  ^bb0(%a: f32, %m: f32, %b: bf16, %o: f32):
    %c = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %a : f32
    %q = arith.mulf %p, %m : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %y, %first, %second : tensor<4096x96xf32>, tensor<96xf32>, tensor<96xf32>
}

// So is one of rows whose elements threads load one by one.

// CHECK-LABEL: func.func @uneven
// CHECK-COUNT-3: call @kernel
// CHECK-NOT: call
// CHECK: return
func.func @uneven(%x: tensor<2048x70xf32>) -> (tensor<2048x70xf32>, tensor<70xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<2048xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<2048xf32>) -> tensor<2048xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2048x70xf32>) outs(%zr : tensor<2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2048xf32>
  %ey = tensor.empty() : tensor<2048x70xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<2048x70xf32>, tensor<2048xf32>) outs(%ey : tensor<2048x70xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.addf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<2048x70xf32>
  %e = tensor.empty() : tensor<70xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %g = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<2048x70xf32>) outs(%z : tensor<70xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<70xf32>
  return %y, %g : tensor<2048x70xf32>, tensor<70xf32>
}

// One that reads another matrix as well stays apart: 128 x 3 blocks of 32 columns.

// CHECK-LABEL: func.func @other
// CHECK-COUNT-4: call @kernel
// CHECK-NOT: call
// CHECK: return
func.func @other(%x: tensor<4096x96xf32>, %w: tensor<4096x96xf32>) -> (tensor<4096x96xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4096xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4096xf32>) -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x96xf32>) outs(%zr : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<4096xf32>
  %ey = tensor.empty() : tensor<4096x96xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4096x96xf32>, tensor<4096xf32>) outs(%ey : tensor<4096x96xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.addf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<4096x96xf32>
  %e = tensor.empty() : tensor<96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  %g = linalg.generic {indexing_maps = [#ij, #ij, #j], iterator_types = ["reduction", "parallel"]} ins(%y, %w : tensor<4096x96xf32>, tensor<4096x96xf32>) outs(%z : tensor<96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %y, %g : tensor<4096x96xf32>, tensor<96xf32>
}

// CHECK: func.func private @[[ROWS]]({{.*}} attributes {{{.*}}pipe.row_sums
// CHECK: gpu.func @sums_4096x96_{{.*}}known_grid_size = array<i32: 128, 1, 1>
