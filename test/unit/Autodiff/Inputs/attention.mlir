// Attention, whose derivative is two ops of its own.

!q = tensor<2x3x4xf64>
!k = tensor<2x5x4xf64>
!v = tensor<2x5x2xf64>
!o = tensor<2x3x2xf64>
!l = tensor<2x3xf64>

func.func @attention(%q: !q, %k: !k, %v: !v) -> !o {
  %o0 = tensor.empty() : !o
  %l0 = tensor.empty() : !l
  %o, %l = pipe.attention scale(0.5) ins(%q, %k, %v : !q, !k, !v) outs(%o0, %l0 : !o, !l) -> !o, !l
  return %o : !o
}

// Its other result has a gradient as well.
func.func @with_lse(%q: !q, %k: !k, %v: !v) -> (!o, !l) {
  %o0 = tensor.empty() : !o
  %l0 = tensor.empty() : !l
  %o, %l = pipe.attention scale(0.5) ins(%q, %k, %v : !q, !k, !v) outs(%o0, %l0 : !o, !l) -> !o, !l
  return %o, %l : !o, !l
}

// One value is queries, keys and values, under a causal mask.
func.func @causal_self(%x: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %o0 = tensor.empty() : tensor<4x3xf64>
  %l0 = tensor.empty() : tensor<4xf64>
  %o, %l = pipe.attention scale(0.25) causal ins(%x, %x, %x : tensor<4x3xf64>, tensor<4x3xf64>, tensor<4x3xf64>)
      outs(%o0, %l0 : tensor<4x3xf64>, tensor<4xf64>) -> tensor<4x3xf64>, tensor<4xf64>
  return %o : tensor<4x3xf64>
}

// A mask that is trained, the same for all queries.
func.func @trained_mask(%q: !q, %k: !k, %v: !v, %mask: tensor<2x5xf64>) -> !o {
  %o0 = tensor.empty() : !o
  %l0 = tensor.empty() : !l
  %o, %l = pipe.attention scale(0.5) ins(%q, %k, %v : !q, !k, !v) mask(%mask : tensor<2x5xf64>) dims [0, 2] outs(%o0, %l0 : !o, !l) -> !o, !l
  return %o : !o
}

// A mask of which one query sees nothing: it attends to all of its keys alike.
func.func @boolean_mask(%q: !q, %k: !k, %v: !v) -> !o {
  %mask = arith.constant dense<[[true, false, true, true, false], [false, false, false, false, false], [true, true, true, true, true]]> : tensor<3x5xi1>
  %o0 = tensor.empty() : !o
  %l0 = tensor.empty() : !l
  %o, %l = pipe.attention scale(0.5) ins(%q, %k, %v : !q, !k, !v) mask(%mask : tensor<3x5xi1>) dims [1, 2] fill(-1.0e9) outs(%o0, %l0 : !o, !l) -> !o, !l
  return %o : !o
}

// Four heads of queries, two of keys and values, and a mask of each head that is trained.
func.func @grouped(%q: tensor<2x4x3x4xf64>, %k: tensor<2x2x3x4xf64>, %v: tensor<2x2x3x2xf64>, %mask: tensor<4x3x3xf64>) -> tensor<2x4x3x2xf64> {
  %o0 = tensor.empty() : tensor<2x4x3x2xf64>
  %l0 = tensor.empty() : tensor<2x4x3xf64>
  %o, %l = pipe.attention scale(0.5) causal
      ins(%q, %k, %v : tensor<2x4x3x4xf64>, tensor<2x2x3x4xf64>, tensor<2x2x3x2xf64>)
      mask(%mask : tensor<4x3x3xf64>) dims [1, 2, 3]
      outs(%o0, %l0 : tensor<2x4x3x2xf64>, tensor<2x4x3xf64>) -> tensor<2x4x3x2xf64>, tensor<2x4x3xf64>
  return %o : tensor<2x4x3x2xf64>
}
