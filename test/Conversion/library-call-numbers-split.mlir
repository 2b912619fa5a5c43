// Of an attention in the second chunk, B computes the derivative of the queries, and W that of keys and values, which are parameters: each of the two has
// scores and weights of its own, which the fused backward computes once. What they have in common with it are equal calls, so nothing is said.

// RUN: veeline-opt %s --pipe-partition="stages=2 pieces=1,2" --pipe-differentiate --pipe-split-backward --mlir-print-debuginfo -o %t.split
// RUN: FileCheck %s --check-prefix=SPLIT < %t.split
// RUN: veeline-opt %t.split --pipe-bufferize-chunks --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// SPLIT-LABEL: func.func private @net_chunk1_backward_input(
// SPLIT:         pipe.attention_backward_q
// SPLIT-NOT:     pipe.attention_backward_kv
// SPLIT-LABEL: func.func private @net_chunk1_backward_weight(
// SPLIT-NOT:     pipe.attention_backward_q
// SPLIT:         pipe.attention_backward_kv

// CHECK-LABEL: func.func private @net_chunk1_backward_input(
// CHECK-COUNT-3: call @veeline_gemm({{.*}}pipe.computation
// CHECK-NOT:     call @veeline_gemm
// CHECK-LABEL: func.func private @net_chunk1_backward_weight(
// CHECK-COUNT-4: call @veeline_gemm({{.*}}pipe.computation
// CHECK-NOT:     call @veeline_gemm

!q = tensor<2x4x8xf32>
!k = tensor<2x5x8xf32>
#map = affine_map<(b, i, d) -> (b, i, d)>
func.func @net(%x: !q {pipe.batch = "x"}, %b: !q {pipe.param = #pipe.param<"b", init = zeros>}, %k: !k {pipe.param = #pipe.param<"k", init = normal(0.0, 1.0)>},
               %v: !k {pipe.param = #pipe.param<"v", init = normal(0.0, 1.0)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : !q
  %q = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %b : !q, !q) outs(%0 : !q) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %sum = arith.addf %a, %c : f32
    linalg.yield %sum : f32
  } -> !q
  %1 = tensor.empty() : tensor<2x4xf32>
  %o, %lse = pipe.attention scale(0.5) ins(%q, %k, %v : !q, !k, !k) outs(%0, %1 : !q, tensor<2x4xf32>) -> !q, tensor<2x4xf32>
  %2 = tensor.empty() : tensor<f32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%o : !q) outs(%3 : tensor<f32>) dimensions = [0, 1, 2]
  return %loss : tensor<f32>
}
