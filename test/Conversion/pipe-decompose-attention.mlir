// RUN: veeline-opt %s --pipe-decompose-attention | FileCheck %s
// RUN: veeline-opt %s --pipe-decompose-attention --pipe-bufferize-chunks --pipe-host-code | FileCheck %s --check-prefix=HOST
// RUN: veeline-opt %s --pipe-bufferize-chunks=keep-attention --pipe-host-code | FileCheck %s --check-prefix=LOOPS

// HOST-NOT:  pipe.attention
// LOOPS-NOT: pipe.attention

// A product, scale and masks, a softmax whose lse is a result, another product.
// CHECK-LABEL: func.func @forward
// CHECK-NOT:     pipe.attention
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK:         linalg.generic
// CHECK:           arith.mulf
// CHECK:           arith.select
// CHECK:           %[[I:.*]] = linalg.index 1
// CHECK:           %[[J:.*]] = linalg.index 2
// CHECK:           arith.cmpi sle, %[[J]], %[[I]]
// CHECK:         arith.maximumf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         %[[LSE:.*]] = linalg.generic
// CHECK:           math.log
// CHECK:         arith.divf
// CHECK:         %[[O:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK:         return %[[O]], %[[LSE]]
func.func @forward(%q: tensor<2x5x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x3xf32>, %m: tensor<6xi1>)
    -> (tensor<2x5x3xf32> {pipe.role = #pipe.role<result 0>}, tensor<2x5xf32> {pipe.role = #pipe.role<residual 0>}) {
  %o0 = tensor.empty() : tensor<2x5x3xf32>
  %l0 = tensor.empty() : tensor<2x5xf32>
  %o, %l = pipe.attention scale(0.5) causal ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x6x4xf32>, tensor<2x6x3xf32>)
      mask(%m : tensor<6xi1>) dims [2] outs(%o0, %l0 : tensor<2x5x3xf32>, tensor<2x5xf32>) -> tensor<2x5x3xf32>, tensor<2x5xf32>
  return %o, %l : tensor<2x5x3xf32>, tensor<2x5xf32>
}

// Both derivatives compute the weights and the gradient of the scores once.
// CHECK-LABEL: func.func @backward
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK:         return
func.func @backward(%q: tensor<4x4x8xbf16>, %k: tensor<2x4x8xbf16>, %v: tensor<2x4x8xbf16>, %g: tensor<4x4x8xbf16>, %l: tensor<4x4xf32>, %d: tensor<4x4xf32>)
    -> (tensor<4x4x8xbf16> {pipe.role = #pipe.role<operand_grad 0>}, tensor<2x4x8xbf16> {pipe.role = #pipe.role<operand_grad 1>}, tensor<2x4x8xbf16> {pipe.role = #pipe.role<operand_grad 2>}) {
  %e = tensor.empty() : tensor<4x4x8xbf16>
  %ek = tensor.empty() : tensor<2x4x8xbf16>
  %dq = pipe.attention_backward_q scale(0.5) ins(%q, %k, %v, %g, %l, %d : tensor<4x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<4x4x8xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%e : tensor<4x4x8xbf16>) -> tensor<4x4x8xbf16>
  %dk, %dv = pipe.attention_backward_kv scale(0.5) ins(%q, %k, %v, %g, %l, %d : tensor<4x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<4x4x8xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%ek, %ek : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>, tensor<2x4x8xbf16>
  return %dq, %dk, %dv : tensor<4x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>
}
