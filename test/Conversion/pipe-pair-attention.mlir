// RUN: veeline-opt %s --pipe-pair-attention --canonicalize | FileCheck %s

#all = affine_map<(b, i, d) -> (b, i, d)>
#rows = affine_map<(b, i, d) -> (b, i)>

!q = tensor<4x6x8xbf16>
!k = tensor<2x5x8xbf16>
!l = tensor<4x6xf32>

// delta is gone, and the op stands where the first one stood.
// CHECK-LABEL: func.func @pair
// CHECK-SAME:    %[[Q:.*]]: tensor<4x6x8xbf16>, %[[K:.*]]: tensor<2x5x8xbf16>, %[[O:.*]]: tensor<4x6x8xbf16>, %[[DO:.*]]: tensor<4x6x8xbf16>, %[[LSE:.*]]: tensor<4x6xf32>, %[[MASK:.*]]: tensor<5xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[ALL:.*]]:3 = pipe.attention_backward scale(5.000000e-01) causal ins(%[[Q]], %[[K]], %[[K]], %[[O]], %[[DO]], %[[LSE]] :
// CHECK-SAME:      mask(%[[MASK]] : tensor<5xf32>) dims [2] outs(
// CHECK-NEXT:    return %[[ALL]]#0, %[[ALL]]#1, %[[ALL]]#2
func.func @pair(%q: !q, %k: !k, %o: !q, %do: !q, %lse: !l, %mask: tensor<5xf32>) -> (!q, !k, !k) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !l
  %z = linalg.fill ins(%zero : f32) outs(%e : !l) -> !l
  %delta = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%do, %o : !q, !q) outs(%z : !l) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> !l
  %k0 = tensor.empty() : !k
  %q0 = tensor.empty() : !q
  %dk, %dv = pipe.attention_backward_kv scale(0.5) causal ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) mask(%mask : tensor<5xf32>) dims [2] outs(%k0, %k0 : !k, !k) -> !k, !k
  %dq = pipe.attention_backward_q scale(0.5) causal ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) mask(%mask : tensor<5xf32>) dims [2] outs(%q0 : !q) -> !q
  return %dq, %dk, %dv : !q, !k, !k
}

// The output on the left, the sum on the right; delta has another use.
// CHECK-LABEL: func.func @other_order
// CHECK:         linalg.generic
// CHECK:         pipe.attention_backward scale
// CHECK-NOT:     pipe.attention_backward_
func.func @other_order(%q: !q, %k: !k, %o: !q, %do: !q, %lse: !l) -> (!q, !k, !k, !l) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !l
  %z = linalg.fill ins(%zero : f32) outs(%e : !l) -> !l
  %delta = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%o, %do : !q, !q) outs(%z : !l) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> !l
  %k0 = tensor.empty() : !k
  %q0 = tensor.empty() : !q
  %dq = pipe.attention_backward_q scale(0.5) ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%q0 : !q) -> !q
  %dk, %dv = pipe.attention_backward_kv scale(0.5) ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%k0, %k0 : !k, !k) -> !k, !k
  return %dq, %dk, %dv, %delta : !q, !k, !k, !l
}

// delta is something else: an argument, or the squares of the gradient.
// CHECK-LABEL: func.func @other_delta
// CHECK-COUNT-2: pipe.attention_backward_q
// CHECK-NOT:     pipe.attention_backward scale
// CHECK:         return
func.func @other_delta(%q: !q, %k: !k, %do: !q, %lse: !l, %given: !l) -> (!q, !k, !k, !q, !k, !k) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !l
  %z = linalg.fill ins(%zero : f32) outs(%e : !l) -> !l
  %delta = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %do : !q, !q) outs(%z : !l) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wb, %wb : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> !l
  %k0 = tensor.empty() : !k
  %q0 = tensor.empty() : !q
  %dq, %dk, %dv, %dq1, %dk1, %dv1 = scf.execute_region -> (!q, !k, !k, !q, !k, !k) {
    %a = pipe.attention_backward_q scale(0.5) ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%q0 : !q) -> !q
    %b, %c = pipe.attention_backward_kv scale(0.5) ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%k0, %k0 : !k, !k) -> !k, !k
    %d = pipe.attention_backward_q scale(0.5) ins(%q, %k, %k, %do, %lse, %given : !q, !k, !k, !q, !l, !l) outs(%q0 : !q) -> !q
    %f, %g = pipe.attention_backward_kv scale(0.5) ins(%q, %k, %k, %do, %lse, %given : !q, !k, !k, !q, !l, !l) outs(%k0, %k0 : !k, !k) -> !k, !k
    scf.yield %a, %b, %c, %d, %f, %g : !q, !k, !k, !q, !k, !k
  }
  return %dq, %dk, %dv, %dq1, %dk1, %dv1 : !q, !k, !k, !q, !k, !k
}

// Derivatives of two attentions, one of which is causal.
// CHECK-LABEL: func.func @no_pair
// CHECK:         pipe.attention_backward_q
// CHECK:         pipe.attention_backward_kv
func.func @no_pair(%q: !q, %k: !k, %o: !q, %do: !q, %lse: !l) -> (!q, !k, !k) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !l
  %z = linalg.fill ins(%zero : f32) outs(%e : !l) -> !l
  %delta = linalg.generic {indexing_maps = [#all, #all, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%o, %do : !q, !q) outs(%z : !l) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %r = arith.addf %p, %s : f32
    linalg.yield %r : f32
  } -> !l
  %k0 = tensor.empty() : !k
  %q0 = tensor.empty() : !q
  %dq = pipe.attention_backward_q scale(0.5) ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%q0 : !q) -> !q
  %dk, %dv = pipe.attention_backward_kv scale(0.5) causal ins(%q, %k, %k, %do, %lse, %delta : !q, !k, !k, !q, !l, !l) outs(%k0, %k0 : !k, !k) -> !k, !k
  return %dq, %dk, %dv : !q, !k, !k
}
