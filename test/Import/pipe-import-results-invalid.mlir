// RUN: not veeline-opt %s --pipe-import=loss=sum 2>&1 | FileCheck %s

// CHECK: error: several results of the model can be what the loss is made of: 1: 'tensor<4x5xf32>', 2: 'tensor<4x5xf32>'; choose one by --result
func.func @model(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>) -> (tensor<4x8xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %t = math.tanh %h : tensor<4x5xf32>
  return %x, %h, %t : tensor<4x8xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}
