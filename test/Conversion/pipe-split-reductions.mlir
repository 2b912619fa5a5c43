// RUN: veeline-opt %s --pipe-split-reductions --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-split-reductions --pipe-split-reductions --split-input-file | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// The sum over 4096 rows of 96 columns makes 768 threads: 32 parts of 128 rows each
// make 24576, and smaller ones have too few rows.

// CHECK-DAG: #[[SIJ:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[SJ:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4096x96xf32>, %[[Y:[a-z0-9]+]]: tensor<96xf32>
// CHECK: %[[P:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] {{.*}} into tensor<128x32x96xf32>
// CHECK: %[[NEUTRAL:.*]] = arith.constant -0.0{{.*}} : f32
// CHECK: %[[START:.*]] = linalg.fill ins(%[[NEUTRAL]] : f32) {{.*}} -> tensor<128x96xf32>
// CHECK: %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[SIJ]], #[[SJ]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[P]] : {{.*}}) outs(%[[START]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[PARTS]] : tensor<128x96xf32>) outs(%[[Y]]
// CHECK-NEXT: ^bb0(%[[PART:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: arith.addf %[[SUM]], %[[PART]]
func.func @columns(%x: tensor<4096x96xf32>, %y: tensor<96xf32>) -> tensor<96xf32> {
  %0 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<4096x96xf32>) outs(%y : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %0 : tensor<96xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// Everything: the rows are parts, and halves of them, since a block of 256 threads
// has 2048 elements as well as 4096. Two results are split alike.

// CHECK-LABEL: func.func @all
// CHECK: tensor.expand_shape {{.*}} into tensor<64x2x2048xf32>
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: %[[PARTS:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<64x2x2048xf32>) outs(%{{.*}}, %{{.*}} : tensor<64x2xf32>, tensor<64x2xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction"]} ins(%[[PARTS]]#0, %[[PARTS]]#1 : tensor<64x2xf32>, tensor<64x2xf32>)
// CHECK: arith.addf
// CHECK: arith.maximumf
func.func @all(%x: tensor<64x4096xf32>, %y: tensor<f32>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = linalg.generic {indexing_maps = [#ij, #none, #none], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<64x4096xf32>) outs(%y, %z : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %o: f32, %m: f32):
    %s = arith.addf %o, %a : f32
    %n = arith.maximumf %a, %m : f32
    linalg.yield %s, %n : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

#bct = affine_map<(b, c, t) -> (b, c, t)>
#c = affine_map<(b, c, t) -> (c)>

// A part of the innermost loop as well; a mask by index counts from the beginning.

// CHECK-DAG: #[[PC:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func.func @channels
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] {{.*}} into tensor<2x3x64x2048xf32>
// CHECK: %[[PARTS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<2x3x64xf32>)
// CHECK: %[[PART:.*]] = linalg.index 2
// CHECK: %[[SIZE:.*]] = arith.constant 2048 : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK: %[[REST:.*]] = linalg.index 3
// CHECK: arith.addi %[[BEGIN]], %[[REST]]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[PC]]], iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[PARTS]] : tensor<2x3x64xf32>)
func.func @channels(%x: tensor<2x3x131072xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %c100 = arith.constant 100 : index
  %0 = linalg.generic {indexing_maps = [#bct, #c], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : tensor<2x3x131072xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = linalg.index 2 : index
    %is = arith.cmpi ult, %t, %c100 : index
    %v = arith.select %is, %a, %zero : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// What stays: rows that are many; few iterations; few rows; a number of rows that only
// divides itself, whose parts would be single rows; a combiner that is none.

// CHECK-LABEL: func.func @stay
// CHECK-NOT: tensor.empty
// CHECK: return
func.func @stay(%x: tensor<8192x768xf32>, %y: tensor<8192xf32>, %v: tensor<256x96xf32>, %w: tensor<96xf32>, %p: tensor<4099x96xf32>, %q: tensor<512x1280xf32>, %r: tensor<1280xf32>) -> (tensor<8192xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<1280xf32>) {
  %0 = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8192x768xf32>) outs(%y : tensor<8192xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8192xf32>
  %1 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%v : tensor<256x96xf32>) outs(%w : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %2 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<4099x96xf32>) outs(%w : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %3 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<4099x96xf32>) outs(%w : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %o, %a : f32
    %s = arith.addf %m, %a : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %4 = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%q : tensor<512x1280xf32>) outs(%r : tensor<1280xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1280xf32>
  return %0, %1, %2, %3, %4 : tensor<8192xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<1280xf32>
}
