// RUN: veeline-opt %s --pipe-import-batch=microbatch-size=3 --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-import-batch --split-input-file | FileCheck %s --check-prefix=ONE
// ONE: tensor<1x4xf32> {pipe.batch = "x"}

// Data gets samples, weights do not; a weight with a batch dimension loses it.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x4xf32> {pipe.batch = "x"},
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<1x4x5xf32> {pipe.param = {{.*}}}) -> tensor<3x1x5xf32>
// CHECK:         %[[X3:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<3x4xf32> into tensor<3x1x4xf32>
// CHECK:         linalg.fill {{.*}} -> tensor<3x1x5xf32>
// CHECK:         %[[W2:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0, 1], [2]] : tensor<1x4x5xf32> into tensor<4x5xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X3]], %[[W2]] : tensor<3x1x4xf32>, tensor<4x5xf32>)
func.func @product(%x: tensor<1x4xf32> {pipe.batch = "x"},
    %w: tensor<1x4x5xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<1x1x5xf32> {
  %zero = arith.constant 0.0 : f32
  %x3 = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
  %e = tensor.empty() : tensor<1x1x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  %y = linalg.batch_matmul ins(%x3, %w : tensor<1x1x4xf32>, tensor<1x4x5xf32>) outs(%z : tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  return %y : tensor<1x1x5xf32>
}

// -----

// Samples are the slower part of a merged dimension, of which the body sees the
// part of one sample; what is the same for all is repeated.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x2x4xf32> {pipe.batch = "x"},
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<2x4xf32> {pipe.param = {{.*}}}) -> tensor<6x4xf32>
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<2x4xf32>) outs(%{{.*}} : tensor<3x2x4xf32>)
// CHECK:         %[[REPEATED:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0, 1], [2]] : tensor<3x2x4xf32> into tensor<6x4xf32>
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<3x2x4xf32> into tensor<6x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]], %[[REPEATED]] : tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[TWO:.*]] = arith.constant 2 : index
// CHECK:           arith.remui %[[I]], %[[TWO]]
func.func @merged(%x: tensor<1x2x4xf32> {pipe.batch = "x"},
    %p: tensor<2x4xf32> {pipe.param = #pipe.param<"p", init = zeros>}) -> tensor<2x4xf32> {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %p : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %f : f32
    linalg.yield %r : f32
  } -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A sum over the dimension of samples stays one for each: they get a loop.
// CHECK-LABEL: func.func @reduced(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x4xf32> {pipe.batch = "x"}) -> tensor<3x4xf32>
// CHECK:         %[[WIDE:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1], [2]] {{.*}} into tensor<3x1x4xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[WIDE]] : tensor<3x1x4xf32>) outs(%{{.*}} : tensor<3x4xf32>)
func.func @reduced(%x: tensor<1x4xf32> {pipe.batch = "x"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<1x4xf32>) outs(%e : tensor<4xf32>) dimensions = [0]
  return %0 : tensor<4xf32>
}

// -----

// So does a product of two matrices that both have samples; its bias is
// repeated, its lookup is one of its sample.
// CHECK-LABEL: func.func @gram(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x2x4xf32> {pipe.batch = "x"},
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<3x2xi32> {pipe.batch = "p"},
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]]
// CHECK:         %[[L:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0, 1], [2]] {{.*}} into tensor<3x2x4xf32>
// CHECK:         %[[R:.*]] = tensor.expand_shape %[[ROWS]] {{\[\[}}0, 1], [2]] {{.*}} into tensor<3x2x4xf32>
// CHECK:         %[[G:.*]] = linalg.generic {indexing_maps = [#[[A:.*]], #[[B:.*]], #[[C:.*]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[L]], %[[R]] : tensor<3x2x4xf32>, tensor<3x2x4xf32>) outs(%{{.*}} : tensor<3x2x2xf32>)
// CHECK:         %[[MERGED:.*]] = tensor.collapse_shape %[[G]] {{\[\[}}0, 1], [2]] : tensor<3x2x2xf32> into tensor<6x2xf32>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[S:.*]] = linalg.index 0
// CHECK:           %[[TWO:.*]] = arith.constant 2
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[S]], %[[TWO]]
// CHECK:           %[[I:.*]] = arith.addi %[[BEGIN]]
// CHECK:           tensor.extract %[[MERGED]][%[[I]], %[[J]]]
func.func @gram(%x: tensor<1x2x4xf32> {pipe.batch = "x"}, %p: tensor<1x2xi32> {pipe.batch = "p"}, %z: tensor<2x2xf32>) -> tensor<5xf32> {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%rows, %rows : tensor<2x4xf32>, tensor<2x4xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = tensor.empty() : tensor<5xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<5xf32>) {
  ^bb0(%out: f32):
    %j = linalg.index 0 : index
    %c0 = arith.constant 0 : index
    %v = tensor.extract %0[%c0, %j] : tensor<2x2xf32>
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// What has no dimension for one sample has one for several.
// CHECK-LABEL: func.func @scalar(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3xf32> {pipe.batch = "x"}) -> (tensor<3xf32>, tensor<3x1xf32>)
// CHECK:         arith.mulf %{{.*}}, %{{.*}} : tensor<3xf32>
func.func @scalar(%x: tensor<1xf32> {pipe.batch = "x"}) -> (tensor<f32>, tensor<1x1xf32>) {
  %0 = tensor.collapse_shape %x [] : tensor<1xf32> into tensor<f32>
  %1 = arith.mulf %0, %0 : tensor<f32>
  %2 = tensor.expand_shape %1 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %1, %2 : tensor<f32>, tensor<1x1xf32>
}

// -----

// Slices, pads, concatenations and a softmax of the dimension that samples are
// merged with are those of what each sample has of it.
// CHECK-LABEL: func.func @each(
// CHECK:         tensor.extract_slice %{{.*}}[0, 1, 0] [3, 1, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<3x4xf32>
// CHECK:         tensor.pad %{{.*}} low[0, 1, 0] high[0, 0, 0]
// CHECK:         tensor.concat dim(1) %{{.*}} : (tensor<3x3x4xf32>, tensor<3x2x4xf32>) -> tensor<3x5x4xf32>
// CHECK:         linalg.softmax dimension(1) ins(%{{.*}} : tensor<3x5x4xf32>)
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 2, 0] [3, 1, 4] [1, 1, 1] : tensor<3x4xf32> into tensor<3x5x4xf32>
func.func @each(%x: tensor<1x2x4xf32> {pipe.batch = "x"}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %row = tensor.extract_slice %rows[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %padded = tensor.pad %rows low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x4xf32> to tensor<3x4xf32>
  %all = tensor.concat dim(0) %padded, %rows : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  %e = tensor.empty() : tensor<5x4xf32>
  %soft = linalg.softmax dimension(0) ins(%all : tensor<5x4xf32>) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %0 = tensor.insert_slice %row into %soft[2, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// A loop carries samples where some iteration makes a value depend on data, and
// a branch gives them where one of the two does.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x1x4xf32>)
// CHECK:         %[[ALL:.*]] = tensor.collapse_shape %[[W]] {{.*}} : tensor<3x1x4xf32> into tensor<3x4xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[S:.*]] = %[[ALL]], %[[T:.*]] = %{{.*}}) -> (tensor<3x4xf32>, tensor<4xf32>)
// CHECK:           scf.if {{.*}} -> (tensor<3x4xf32>) {
// CHECK:             arith.addf {{.*}} : tensor<3x4xf32>
// CHECK:           } else {
// CHECK:             scf.yield %{{.*}} : tensor<3x4xf32>
// CHECK:           arith.mulf %[[T]], %[[T]] : tensor<4xf32>
func.func @loop(%x: tensor<1x4xf32> {pipe.batch = "x"}, %w: tensor<1x4xf32>, %v: tensor<4xf32>, %c: i1) -> tensor<1x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %0:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %w, %t = %v) -> (tensor<1x4xf32>, tensor<4xf32>) {
    %1 = scf.if %c -> tensor<1x4xf32> {
      %2 = arith.addf %s, %x : tensor<1x4xf32>
      scf.yield %2 : tensor<1x4xf32>
    } else {
      scf.yield %w : tensor<1x4xf32>
    }
    %3 = arith.mulf %t, %t : tensor<4xf32>
    scf.yield %1, %3 : tensor<1x4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<1x4xf32>
}

// -----

// Samples are carried in a dimension that no iteration slices, and as a dimension
// of their own where an iteration makes one of them.
// CHECK-LABEL: func.func @carried(
// CHECK:         %[[Z:.*]] = tensor.expand_shape %{{.*}} into tensor<3x2x2xf32>
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[S:.*]] = %[[Z]]) -> (tensor<5x6x2xf32>, tensor<3x2x2xf32>)
// CHECK:           tensor.insert_slice %{{.*}} into %[[Y]][%{{.*}}, 0, 0] [1, 6, 2] [1, 1, 1] : tensor<6x2xf32> into tensor<5x6x2xf32>
// CHECK:           %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x2x2xf32>)
// CHECK:           scf.yield %{{.*}}, %[[P]] : tensor<5x6x2xf32>, tensor<3x2x2xf32>
// CHECK:         tensor.collapse_shape %[[R]]#1 {{.*}} : tensor<3x2x2xf32> into tensor<6x2xf32>
func.func @carried(%x: tensor<1x2x2xf32> {pipe.batch = "x"}) -> (tensor<5x2x2xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x2x2xf32> into tensor<2x2xf32>
  %y0 = tensor.empty() : tensor<5x2x2xf32>
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %y0, %s = %rows) -> (tensor<5x2x2xf32>, tensor<2x2xf32>) {
    %1 = tensor.insert_slice %rows into %y[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2xf32> into tensor<5x2x2xf32>
    %2 = linalg.matmul ins(%rows, %rows : tensor<2x2xf32>, tensor<2x2xf32>) outs(%s : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %1, %2 : tensor<5x2x2xf32>, tensor<2x2xf32>
  }
  return %0#0, %0#1 : tensor<5x2x2xf32>, tensor<2x2xf32>
}
