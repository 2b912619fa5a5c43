// RUN: veeline-opt %s --pipe-decompose-attention --split-input-file --verify-diagnostics

func.func @dynamic(%q: tensor<?x8xf32>, %l: tensor<?xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{becomes products and a softmax as an op on tensors of static shape; run pipe-bind-lengths, and this before pipe-bufferize-bodies}}
  %o, %r = pipe.attention scale(1.0) ins(%q, %q, %q : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) outs(%q, %l : tensor<?x8xf32>, tensor<?xf32>) -> tensor<?x8xf32>, tensor<?xf32>
  return %o : tensor<?x8xf32>
}

// -----

func.func @both(%q: tensor<4x8xf32>, %l: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{both derivatives of an attention stay what they are; run pipe-pair-attention after this}}
  %0:3 = pipe.attention_backward scale(1.0) ins(%q, %q, %q, %q, %q, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>)
      outs(%q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return %0#0 : tensor<4x8xf32>
}
