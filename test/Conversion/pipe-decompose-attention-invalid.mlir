// RUN: veeline-opt %s --pipe-decompose-attention --split-input-file --verify-diagnostics

func.func @dynamic(%q: tensor<?x8xf32>, %l: tensor<?xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{becomes products and a softmax as an op on tensors of static shape; run pipe-bind-lengths, and this before pipe-bufferize-bodies}}
  %o, %r = pipe.attention scale(1.0) ins(%q, %q, %q : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) outs(%q, %l : tensor<?x8xf32>, tensor<?xf32>) -> tensor<?x8xf32>, tensor<?xf32>
  return %o : tensor<?x8xf32>
}
