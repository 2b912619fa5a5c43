// RUN: veeline-opt %s --pipe-attention-views --canonicalize --cse --split-input-file | FileCheck %s

#bshd = affine_map<(b, h, s, d) -> (b, s, h, d)>
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>
!rows = memref<16x96xf32>
!heads = memref<2x4x8x8xf32>
!sums = memref<2x4x8xf32>
!parts = memref<2x8x3x4x8xf32>
!part = memref<2x8x4x8xf32, strided<[768, 96, 8, 1], offset: 32>>

// Keys are the second third of what a product has computed, arranged by heads; the output is copied back into rows. Neither
// copy is left. Queries stay what they are: they are an argument.

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[QKV:[^:]*]]: memref<16x96xf32>, %[[Q:[^:]*]]: memref<2x4x8x8xf32>, %[[OUT:[^:]*]]: memref<16x32xf32>, %[[LSE:[^:]*]]:
// CHECK-NOT: memref.alloc() : memref<2x4x8x8xf32>
// CHECK-NOT: linalg.generic
// CHECK-DAG: %[[K:.*]] = memref.reinterpret_cast %[[QKV]] to offset: [32], sizes: [2, 4, 8, 8], strides: [768, 8, 96, 1]
// CHECK-DAG: %[[O:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [2, 4, 8, 8], strides: [256, 8, 32, 1]
// CHECK: pipe.attention {{.*}} ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) outs(%[[O]], %[[LSE]] :
// CHECK-NOT: linalg.generic
func.func @forward(%qkv: !rows, %q: !heads, %out: memref<16x32xf32>, %lse: !sums) {
  %parts = memref.expand_shape %qkv [[0, 1], [2, 3, 4]] output_shape [2, 8, 3, 4, 8] : !rows into !parts
  %second = memref.subview %parts[0, 0, 1, 0, 0] [2, 8, 1, 4, 8] [1, 1, 1, 1, 1] : !parts to !part
  %k = memref.alloc() : !heads
  linalg.generic {indexing_maps = [#bshd, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%second : !part) outs(%k : !heads) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  %o = memref.alloc() : !heads
  pipe.attention scale(0.5) causal ins(%q, %k, %k : !heads, !heads, !heads) outs(%o, %lse : !heads, !sums)
  %rows = memref.expand_shape %out [[0, 1], [2, 3]] output_shape [2, 8, 4, 8] : memref<16x32xf32> into memref<2x8x4x8xf32>
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%o : !heads) outs(%rows : memref<2x8x4x8xf32>) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#bshd = affine_map<(b, h, s, d) -> (b, s, h, d)>
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>
!heads = memref<2x4x8x8xf32>
!sums = memref<2x4x8xf32>
!parts = memref<2x8x3x4x8xf32>
!part = memref<2x8x4x8xf32, strided<[768, 96, 8, 1], offset: 32>>

// Gradients of queries, keys and values are written to where they are side by side.

// CHECK-LABEL: func.func @backward
// CHECK: %[[D:.*]] = memref.alloc() : memref<2x8x3x4x8xf32>
// CHECK: %[[DQ:.*]] = memref.reinterpret_cast %[[D]] to offset: [0], sizes: [2, 4, 8, 8], strides: [768, 8, 96, 1]
// CHECK: pipe.attention_backward_q {{.*}} outs(%[[DQ]] :
// CHECK: %[[DK:.*]] = memref.reinterpret_cast %[[D]] to offset: [32], sizes: [2, 4, 8, 8], strides: [768, 8, 96, 1]
// CHECK: %[[DV:.*]] = memref.reinterpret_cast %[[D]] to offset: [64], sizes: [2, 4, 8, 8], strides: [768, 8, 96, 1]
// CHECK: pipe.attention_backward_kv {{.*}} outs(%[[DK]], %[[DV]] :
// CHECK-NEXT: memref.copy
func.func @backward(%q: !heads, %k: !heads, %v: !heads, %do: !heads, %lse: !sums, %delta: !sums, %out: !parts) {
  %dq = memref.alloc() : !heads
  %dk = memref.alloc() : !heads
  %dv = memref.alloc() : !heads
  pipe.attention_backward_q scale(0.5) ins(%q, %k, %v, %do, %lse, %delta : !heads, !heads, !heads, !heads, !sums, !sums) outs(%dq : !heads)
  pipe.attention_backward_kv scale(0.5) ins(%q, %k, %v, %do, %lse, %delta : !heads, !heads, !heads, !heads, !sums, !sums) outs(%dk, %dv : !heads, !heads)
  %d = memref.alloc() : !parts
  %first = memref.subview %d[0, 0, 0, 0, 0] [2, 8, 1, 4, 8] [1, 1, 1, 1, 1] : !parts to memref<2x8x4x8xf32, strided<[768, 96, 8, 1]>>
  %second = memref.subview %d[0, 0, 1, 0, 0] [2, 8, 1, 4, 8] [1, 1, 1, 1, 1] : !parts to !part
  %third = memref.subview %d[0, 0, 2, 0, 0] [2, 8, 1, 4, 8] [1, 1, 1, 1, 1] : !parts to memref<2x8x4x8xf32, strided<[768, 96, 8, 1], offset: 64>>
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dv : !heads) outs(%third : memref<2x8x4x8xf32, strided<[768, 96, 8, 1], offset: 64>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dk : !heads) outs(%second : !part) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dq : !heads) outs(%first : memref<2x8x4x8xf32, strided<[768, 96, 8, 1]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  memref.copy %d, %out : !parts to !parts
  return
}

// -----

#bshd = affine_map<(b, h, s, d) -> (b, s, h, d)>
#bhds = affine_map<(b, h, s, d) -> (b, h, d, s)>
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>
!heads = memref<2x4x8x8xf32>
!sums = memref<2x4x8xf32>

// What was copied is overwritten before it is used; elements of a row lie apart; somebody else reads the output.

// CHECK-LABEL: func.func @others
// CHECK-SAME: %[[X:[^:]*]]: memref<2x8x4x8xf32>, %[[Y:[^:]*]]: memref<2x4x8x8xf32>
// CHECK: %[[A:.*]] = memref.alloc() : memref<2x4x8x8xf32>
// CHECK: %[[B:.*]] = memref.alloc() : memref<2x4x8x8xf32>
// CHECK: %[[C:.*]] = memref.alloc() : memref<2x4x8x8xf32>
// CHECK: pipe.attention {{.*}} ins(%[[A]], %[[B]], %[[A]] : {{.*}}) outs(%[[C]],
func.func @others(%x: memref<2x8x4x8xf32>, %y: !heads, %t: !heads, %lse: !sums) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : !heads
  linalg.generic {indexing_maps = [#bshd, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x : memref<2x8x4x8xf32>) outs(%a : !heads) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<2x8x4x8xf32>)
  %b = memref.alloc() : !heads
  linalg.generic {indexing_maps = [#bhds, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y : !heads) outs(%b : !heads) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  %c = memref.alloc() : !heads
  pipe.attention scale(0.5) ins(%a, %b, %a : !heads, !heads, !heads) outs(%c, %lse : !heads, !sums)
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%c : !heads) outs(%x : memref<2x8x4x8xf32>) {
  ^bb0(%v: f32, %old: f32):
    linalg.yield %v : f32
  }
  linalg.copy ins(%c : !heads) outs(%t : !heads)
  return
}

// -----

#bshd = affine_map<(b, h, s, d) -> (b, s, h, d)>
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>
!heads = memref<2x4x8x8xf32>
!sums = memref<2x4x8xf32>
!rows = memref<2x8x4x8xf32>

// B gives W the gradient of values by heads. So the fused backward, which only reads it in rows, writes it by heads and copies it: the same
// call. That of keys has the same view in both.

// CHECK-LABEL: func.func @c_backward(
// CHECK-DAG: %[[DV:.*]] = memref.alloc() : memref<2x4x8x8xf32>
// CHECK-DAG: %[[DK:.*]] = memref.reinterpret_cast %{{.*}} sizes: [2, 4, 8, 8], strides: [256, 8, 32, 1]
// CHECK: pipe.attention_backward_kv {{.*}} outs(%[[DK]], %[[DV]] :
// CHECK: linalg.generic {{.*}} ins(%[[DV]] :
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func.func @c_backward_input(
// CHECK-SAME: %[[DV:[^ ]*]]: memref<2x4x8x8xf32>)
// CHECK: %[[DK:.*]] = memref.reinterpret_cast %{{.*}} sizes: [2, 4, 8, 8], strides: [256, 8, 32, 1]
// CHECK: pipe.attention_backward_kv {{.*}} outs(%[[DK]], %[[DV]] :
// CHECK: linalg.generic {{.*}} ins(%[[DV]] :
// CHECK-NOT: linalg.generic
func.func @c_backward(%q: !heads, %k: !heads, %v: !heads, %do: !heads, %lse: !sums, %delta: !sums, %keys: !rows, %values: !rows) {
  %dk = memref.alloc() : !heads
  %dv = memref.alloc() : !heads
  pipe.attention_backward_kv scale(0.5) ins(%q, %k, %v, %do, %lse, %delta : !heads, !heads, !heads, !heads, !sums, !sums) outs(%dk, %dv : !heads, !heads) loc(fused<{pipe.computation = 3 : i64}>["attention":1:1])
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dk : !heads) outs(%keys : !rows) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dv : !heads) outs(%values : !rows) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
func.func @c_backward_input(%q: !heads, %k: !heads, %v: !heads, %do: !heads, %lse: !sums, %delta: !sums, %keys: !rows, %values: !rows, %dv: !heads) {
  %dk = memref.alloc() : !heads
  pipe.attention_backward_kv scale(0.5) ins(%q, %k, %v, %do, %lse, %delta : !heads, !heads, !heads, !heads, !sums, !sums) outs(%dk, %dv : !heads, !heads) loc(fused<{pipe.computation = 3 : i64}>["attention":1:1])
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dk : !heads) outs(%keys : !rows) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#all, #bshd], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%dv : !heads) outs(%values : !rows) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
func.func private @c_forward()
func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2x4xf32>
  %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
  pipe.yield %loss : tensor<f32>
}
