// RUN: veeline-opt %s --pipe-import=loss=sum --split-input-file 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.err
// RUN: veeline-opt %s --pipe-import-results=loss=sum --split-input-file | FileCheck %s --check-prefix=PASS

// Which result a loss is made of is known before what arguments are: a gradient
// that the model returns as well reads x and w the other way round.

// SAID: remark: argument 0 ("arg0", 'tensor<4x8xf32>') is taken for data
// SAID: remark: argument 1 ("arg1", 'tensor<8x5xf32>') is taken for a parameter
// SAID: remark: result 0 of the model, 'tensor<4x5xf32>', is what the loss is made of; --result chooses another one
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: tensor<4x8xf32> {pipe.batch = "arg0"}
// CHECK-SAME: tensor<8x5xf32> {pipe.param
// PASS-LABEL: func.func @gradient
// PASS: %[[EMPTY:.*]] = tensor.empty() : tensor<8x5xf32>
// PASS: return %{{.*}}, %[[EMPTY]]
func.func @gradient(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>) -> (tensor<4x5xf32>, tensor<8x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %et = tensor.empty() : tensor<8x4xf32>
  %xt = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x5xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %g = linalg.matmul ins(%xt, %h : tensor<8x4xf32>, tensor<4x5xf32>) outs(%f2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  return %h, %g : tensor<4x5xf32>, tensor<8x5xf32>
}

// -----

// What only a second head uses is no data, though it could be.

// SAID: remark: 2 arguments are not used: "arg2", "arg3"
// CHECK-LABEL: func.func @two_heads
// CHECK-SAME: (%{{[^,]*}}: tensor<4x8xf32> {pipe.batch = "arg0"}, %{{[^,]*}}: tensor<8x5xf32> {pipe.param = {{[^}]*}}}) -> tensor<f32>
// PASS-LABEL: func.func @two_heads
func.func @two_heads(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %x2: tensor<4x8xf32>, %w2: tensor<8x6xf32>) -> (tensor<4x5xf32>, tensor<4x6xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %e6 = tensor.empty() : tensor<4x6xf32>
  %f6 = linalg.fill ins(%z : f32) outs(%e6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %o = linalg.matmul ins(%x2, %w2 : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %h, %o : tensor<4x5xf32>, tensor<4x6xf32>
}

// -----

// The first result that parameters change, where the first of all is not one.

// SAID: remark: result 1 of the model, 'tensor<4x5xf32>', is what the loss is made of; --result chooses another one
// CHECK-LABEL: func.func @untrained_first
// PASS-LABEL: func.func @untrained_first
// PASS: return %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x5xf32>
func.func @untrained_first(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>) -> (tensor<4x8xf32>, tensor<4x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %t = math.tanh %x : tensor<4x8xf32>
  return %t, %h : tensor<4x8xf32>, tensor<4x5xf32>
}

// -----

// What a body of the other result reads from outside of it goes with it.

// CHECK-LABEL: func.func @captured
// CHECK-SAME: (%{{[^,]*}}: tensor<4x8xf32> {pipe.batch = "arg0"}, %{{[^,]*}}: tensor<8x5xf32> {pipe.param = {{[^}]*}}}) -> tensor<f32>
// PASS-LABEL: func.func @captured
// PASS-NOT: tensor.extract
// PASS-NOT: collapse_shape
// PASS: return
func.func @captured(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %rate: tensor<f32>, %table: tensor<1x6x5xf32>, %ids: tensor<4xi64>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %r = tensor.extract %rate[] : tensor<f32>
  %flat = tensor.collapse_shape %table [[0, 1], [2]] : tensor<1x6x5xf32> into tensor<6x5xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%ids : tensor<4xi64>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%id: i64, %out: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %v = tensor.extract %flat[%row, %column] : tensor<6x5xf32>
    %s = arith.mulf %v, %r : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %h, %o : tensor<4x5xf32>, tensor<4x5xf32>
}
