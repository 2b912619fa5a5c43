// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// What is kept from forward to backward, and what is computed again.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

pipe.pipeline @net stages(6) chunks_per_stage(1) placement(linear) {
  %x = pipe.param <"x", init = zeros> : tensor<8x8xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8x8xf32>
  %0 = pipe.chunk 0 @softmax(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = pipe.chunk 1 @cheap(%0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = pipe.chunk 2 @product(%1, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = pipe.chunk 3 @reshaped(%2, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<64xf32>
  %4 = pipe.chunk 4 @log_sum_exp(%2) : (tensor<8x8xf32>) -> tensor<8xf32>
  %5 = pipe.chunk 5 @loss(%3, %4) : (tensor<64xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %5 : tensor<f32>
}

// The exponentials and their sums; the weights are a quotient of these. The
// maximum cancels: backward knows nothing of it.
// CHECK-LABEL: func.func private @softmax_forward(
// CHECK-SAME:    tensor<8x8xf32> {pipe.role = #pipe.role<residual 0>},
// CHECK-SAME:    tensor<8xf32> {pipe.role = #pipe.role<residual 1>}) {
// CHECK-LABEL: func.func private @softmax_backward(
// CHECK-NOT:     math.exp
// CHECK-NOT:     arith.cmpf
// CHECK:         return
func.func private @softmax(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %r = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %zerosz = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %lowest = linalg.fill ins(%ninf : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zerosz : tensor<8x8xf32>) -> tensor<8x8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<8x8xf32>) outs(%lowest : tensor<8xf32>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x8xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<8x8xf32>, tensor<8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %d = arith.divf %in, %t : f32
    linalg.yield %d : f32
  } -> tensor<8x8xf32>
  %y = linalg.matmul ins(%p, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zerosz : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// A product with a parameter is computed again from the operand.
// CHECK-LABEL: func.func private @cheap_forward(
// CHECK-NOT:     residual
// CHECK-SAME:    -> (tensor<8x8xf32> {pipe.role = #pipe.role<result 0>}) {
// CHECK-LABEL: func.func private @cheap_backward(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<8x8xf32> {pipe.role = #pipe.role<operand 0>},
// CHECK-SAME:    %[[W:[^ ]*]]: tensor<8x8xf32> {pipe.role = #pipe.role<operand 1>},
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] :
func.func private @cheap(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = arith.mulf %x, %w : tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A matrix product is not: it is a residual.
// CHECK-LABEL: func.func private @product_forward(
// CHECK-SAME:    tensor<8x8xf32> {pipe.role = #pipe.role<residual 0>}) {
// CHECK-LABEL: func.func private @product_backward(
// CHECK-COUNT-4: linalg.matmul
// CHECK-NOT:     linalg.matmul
// CHECK:         return
func.func private @product(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What the result shows in another shape is taken from the result.
// CHECK-LABEL: func.func private @reshaped_forward(
// CHECK-NOT:     residual
// CHECK-LABEL: func.func private @reshaped_backward(
// CHECK-SAME:    %[[Y:[^ ]*]]: tensor<64xf32> {pipe.role = #pipe.role<result 0>},
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[Y]]
// CHECK:         linalg.generic {{.*}} ins(%[[E]],
func.func private @reshaped(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<64xf32> {
  %0 = arith.addf %x, %w : tensor<8x8xf32>
  %1 = math.tanh %0 : tensor<8x8xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return %2 : tensor<64xf32>
}

// Here, too, the maximum cancels, with the exponential in the body of the sum.
// CHECK-LABEL: func.func private @log_sum_exp_backward(
// CHECK-NOT:     arith.cmpf
// CHECK:         return
func.func private @log_sum_exp(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %lowest = linalg.fill ins(%ninf : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<8x8xf32>) outs(%lowest : tensor<8xf32>) dimensions = [1]
  %sum = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<8x8xf32>, tensor<8xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%in: f32, %m: f32, %acc: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    %s = arith.addf %p, %acc : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %log = math.log %sum : tensor<8xf32>
  %y = arith.addf %log, %max : tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func private @loss(%x: tensor<64xf32>, %y: tensor<8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64xf32>) outs(%c : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}
