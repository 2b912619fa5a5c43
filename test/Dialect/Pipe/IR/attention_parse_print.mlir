// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK:         %{{.*}}:2 = pipe.attention scale(1.250000e-01) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<5x64xf32>, tensor<7x64xf32>, tensor<7x32xf32>) outs(%{{.*}}, %{{.*}} : tensor<5x32xf32>, tensor<5xf32>) -> tensor<5x32xf32>, tensor<5xf32>
func.func @forward(%q: tensor<5x64xf32>, %k: tensor<7x64xf32>, %v: tensor<7x32xf32>) -> (tensor<5x32xf32>, tensor<5xf32>) {
  %o0 = tensor.empty() : tensor<5x32xf32>
  %l0 = tensor.empty() : tensor<5xf32>
  %o, %l = pipe.attention scale(0.125) ins(%q, %k, %v : tensor<5x64xf32>, tensor<7x64xf32>, tensor<7x32xf32>)
      outs(%o0, %l0 : tensor<5x32xf32>, tensor<5xf32>) -> tensor<5x32xf32>, tensor<5xf32>
  return %o, %l : tensor<5x32xf32>, tensor<5xf32>
}

// Grouped queries, lengths that vary, and a mask that is the same for all heads and queries.
// CHECK-LABEL: func.func @grouped
// CHECK:         pipe.attention scale(1.000000e+00) causal ins(
// CHECK-SAME:      mask(%{{.*}} : tensor<2x?xi1>) dims [0, 3] fill(-1.000000e+09) outs(
func.func @grouped(%q: tensor<2x8x?x64xbf16>, %k: tensor<2x4x?x64xbf16>, %m: tensor<2x?xi1>, %o0: tensor<2x8x?x64xbf16>, %l0: tensor<2x8x?xf32>) -> tensor<2x8x?x64xbf16> {
  %o, %l = pipe.attention scale(1.0) causal
      ins(%q, %k, %k : tensor<2x8x?x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>)
      mask(%m : tensor<2x?xi1>) dims [0, 3] fill(-1.0e9)
      outs(%o0, %l0 : tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>) -> tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>
  return %o : tensor<2x8x?x64xbf16>
}

// CHECK-LABEL: func.func @scalar_mask
// CHECK:         mask(%{{.*}} : tensor<f64>) dims [] outs(
func.func @scalar_mask(%q: tensor<4x8xf64>, %m: tensor<f64>, %l0: tensor<4xf64>) -> tensor<4x8xf64> {
  %o, %l = pipe.attention scale(1.0) ins(%q, %q, %q : tensor<4x8xf64>, tensor<4x8xf64>, tensor<4x8xf64>)
      mask(%m : tensor<f64>) dims [] outs(%q, %l0 : tensor<4x8xf64>, tensor<4xf64>) -> tensor<4x8xf64>, tensor<4xf64>
  return %o : tensor<4x8xf64>
}

// Heads of a buffer of [batch, length, heads, depth].
!heads = memref<2x4x16x8xf32, strided<[512, 8, 32, 1], offset: ?>>
!rows = memref<2x4x16xf32>

// CHECK-LABEL: func.func @buffers
// CHECK:         pipe.attention scale(5.000000e-01) causal ins({{.*}} outs(%{{.*}}, %{{.*}} : memref<{{.*}}>, memref<2x4x16xf32>){{$}}
// CHECK:         pipe.attention_backward_q scale(5.000000e-01) causal ins({{.*}} mask(%{{.*}} : memref<16xf32, strided<[3]>>) dims [3] outs(%{{.*}} : memref<{{.*}}>){{$}}
// CHECK:         pipe.attention_backward_kv scale(5.000000e-01) ins({{.*}} outs(%{{.*}}, %{{.*}} : memref<{{.*}}>, memref<{{.*}}>){{$}}
func.func @buffers(%q: !heads, %k: !heads, %v: !heads, %o: !heads, %l: !rows, %d: !rows, %m: memref<16xf32, strided<[3]>>, %dq: !heads, %dk: !heads, %dv: !heads) {
  pipe.attention scale(0.5) causal ins(%q, %k, %v : !heads, !heads, !heads) outs(%o, %l : !heads, !rows)
  pipe.attention_backward_q scale(0.5) causal ins(%q, %k, %v, %o, %l, %d : !heads, !heads, !heads, !heads, !rows, !rows)
      mask(%m : memref<16xf32, strided<[3]>>) dims [3] outs(%dq : !heads)
  pipe.attention_backward_kv scale(0.5) ins(%q, %k, %v, %o, %l, %d : !heads, !heads, !heads, !heads, !rows, !rows)
      outs(%dk, %dv : !heads, !heads)
  return
}

// CHECK-LABEL: func.func @both_derivatives
// CHECK:         %{{.*}}:3 = pipe.attention_backward scale(5.000000e-01) causal ins({{.*}} mask(%{{.*}} : tensor<7xf32>) dims [1] outs({{.*}} -> tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>
// CHECK:         pipe.attention_backward scale(5.000000e-01) ins({{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<{{.*}}>, memref<{{.*}}>, memref<{{.*}}>){{$}}
func.func @both_derivatives(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x4xf32>, %o: tensor<5x4xf32>, %l: tensor<5xf32>, %m: tensor<7xf32>,
    %b: !heads, %rows: !rows, %dq: !heads, %dk: !heads, %dv: !heads) -> (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>) {
  %0, %1, %2 = pipe.attention_backward scale(0.5) causal ins(%q, %k, %v, %o, %o, %l : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<5xf32>)
      mask(%m : tensor<7xf32>) dims [1] outs(%q, %k, %v : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>) -> tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>
  pipe.attention_backward scale(0.5) ins(%b, %b, %b, %b, %b, %rows : !heads, !heads, !heads, !heads, !heads, !rows) outs(%dq, %dk, %dv : !heads, !heads, !heads)
  return %0, %1, %2 : tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x4xf32>
}

// What nobody uses goes away, and equal ops are one.
// RUN: veeline-opt %s --cse | FileCheck %s --check-prefix=CSE
// CSE-LABEL: func.func @derivatives
// CSE-COUNT-1: pipe.attention_backward_q
// CSE-NOT:     pipe.attention_backward
// CSE:         return
func.func @derivatives(%q: tensor<4x8xf32>, %l: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = pipe.attention_backward_q scale(1.0) ins(%q, %q, %q, %q, %l, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%q : tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = pipe.attention_backward_q scale(1.0) ins(%q, %q, %q, %q, %l, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%q : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c, %d = pipe.attention_backward_kv scale(1.0) ins(%q, %q, %q, %q, %l, %l : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      outs(%q, %q : tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>, tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
