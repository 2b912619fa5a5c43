// RUN: veeline-opt %s --pipe-call-attention --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-call-attention=deterministic=false --split-input-file | FileCheck %s --check-prefix=ANY

// Heads of [batch, length, heads, depth] with shared keys, and a mask in f32 that is the same for all samples and heads.

!q = memref<2x4x6x8xbf16, strided<[192, 8, 32, 1]>>
!k = memref<2x2x5x8xbf16, strided<[80, 8, 16, 1]>>
!o = memref<2x4x6x8xbf16>
!l = memref<2x4x6xf32>

// CHECK:      module attributes {pipe.attentions = [{batch = 2 : i64, causal = true, depth = 8 : i64, deterministic = true, dtype = bf16, heads = 4 : i64, key_heads = 2 : i64,
// CHECK-SAME:   key_strides = array<i64: 80, 8, 16>, keys = 5 : i64, kind = "forward", mask_dtype = f32, mask_strides = array<i64: 0, 0, 8>, output_strides = array<i64: 192, 48, 8>,
// CHECK-SAME:   queries = 6 : i64, query_strides = array<i64: 192, 8, 32>, scale = 5.000000e-01 : f64, scratch_bytes = 0 : i64, value_depth = 8 : i64, value_strides = array<i64: 80, 8, 16>}]}
// ANY:        deterministic = false
// CHECK:      func.func private @veeline_attention(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK:      func.func private @veeline_has_attention(!llvm.ptr, i32) -> i32
// CHECK-LABEL: func.func @forward
// CHECK:        %[[THERE:.*]] = call @veeline_has_attention(%arg0, %{{.*}}) : (!llvm.ptr, i32) -> i32
// CHECK:        %[[CHOICE:.*]] = arith.cmpi ne, %[[THERE]]
// CHECK-NEXT:   scf.if %[[CHOICE]] {
// CHECK:          extract_aligned_pointer_as_index %arg1 : {{.*}} {pipe.reads_only}
// CHECK:          extract_aligned_pointer_as_index %arg4 : {{.*}} {pipe.reads_only}
// CHECK:          extract_aligned_pointer_as_index %arg5 : {{.*}} -> index{{$}}
// CHECK:          extract_aligned_pointer_as_index %arg6 : {{.*}} -> index{{$}}
// CHECK:          %[[NULL:.*]] = llvm.mlir.zero
// CHECK:          func.call @veeline_attention(%arg0, {{.*}}, %[[NULL]])
// CHECK:        } else {
// CHECK-NEXT:     pipe.attention scale(5.000000e-01) causal ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) mask(%{{.*}}) dims [2, 3] outs(%arg5, %arg6
// CHECK-NEXT:   }
func.func @forward(%rank: !llvm.ptr, %q: memref<2x6x4x8xbf16>, %k: memref<2x5x2x8xbf16>, %v: memref<2x5x2x8xbf16>, %m: memref<6x8xf32>, %o: !o, %l: !l)
    attributes {pipe.num_results = 2 : i64} {
  %tq = memref.reinterpret_cast %q to offset: [0], sizes: [2, 4, 6, 8], strides: [192, 8, 32, 1] : memref<2x6x4x8xbf16> to !q
  %tk = memref.reinterpret_cast %k to offset: [0], sizes: [2, 2, 5, 8], strides: [80, 8, 16, 1] : memref<2x5x2x8xbf16> to !k
  %tv = memref.reinterpret_cast %v to offset: [0], sizes: [2, 2, 5, 8], strides: [80, 8, 16, 1] : memref<2x5x2x8xbf16> to !k
  %tm = memref.subview %m[0, 0] [6, 5] [1, 1] : memref<6x8xf32> to memref<6x5xf32, strided<[8, 1]>>
  pipe.attention scale(0.5) causal ins(%tq, %tk, %tv : !q, !k, !k) mask(%tm : memref<6x5xf32, strided<[8, 1]>>) dims [2, 3] outs(%o, %l : !o, !l)
  return
}

// -----

// Both derivatives; the kernels' delta is computed where they are. Two dimensions of samples are one.

!q = memref<2x3x4x6x8xf16>
!l = memref<2x3x4x6xf32>

// CHECK:      module attributes {pipe.attentions = [{batch = 6 : i64,
// CHECK-SAME:   key_grad_strides = array<i64: 192, 48, 8>
// CHECK-SAME:   kind = "backward", output_grad_strides
// CHECK-SAME:   scratch_bytes = 768 : i64
// ANY:        scratch_bytes = 5376 : i64
// CHECK-LABEL: func.func @backward
// CHECK-NOT:    linalg
// CHECK:        scf.if
// CHECK:          func.call @veeline_attention_backward(
// CHECK:        } else {
// CHECK:          %[[DELTA:.*]] = memref.alloc() : memref<2x3x4x6xf32>
// CHECK:          linalg.fill {{.*}} outs(%[[DELTA]] :
// CHECK:          linalg.generic {{.*}} ins(%arg5, %arg4 : {{.*}}) outs(%[[DELTA]] :
// CHECK:          pipe.attention_backward_q scale(5.000000e-01) ins(%arg1, %arg2, %arg3, %arg5, %arg6, %[[DELTA]] : {{.*}}) outs(%arg7 :
// CHECK:          pipe.attention_backward_kv scale(5.000000e-01) ins(%arg1, %arg2, %arg3, %arg5, %arg6, %[[DELTA]] : {{.*}}) outs(%arg8, %arg9 :
// ANY-LABEL:   func.func @backward
// ANY:          scf.if
// ANY-NEXT:       memref.alloc() : memref<5376xi8>
func.func @backward(%rank: !llvm.ptr, %q: !q, %k: !q, %v: !q, %o: !q, %do: !q, %l: !l, %dq: !q, %dk: !q, %dv: !q)
    attributes {pipe.num_results = 3 : i64} {
  pipe.attention_backward scale(0.5) ins(%q, %k, %v, %o, %do, %l : !q, !q, !q, !q, !q, !l) outs(%dq, %dk, %dv : !q, !q, !q)
  return
}

// -----

// What is left to kernels: f32, depths that do not divide by 8, masks of booleans, rows that lie apart by 10 elements, and start at 2 bytes.

!w = memref<3x6x8xf32>
!d = memref<3x6x12xf16>
!h = memref<3x6x8xf16>
!apart = memref<3x6x8xf16, strided<[60, 10, 1]>>
!behind = memref<3x6x8xf16, strided<[64, 8, 1], offset: 1>>
!l = memref<3x6xf32>

// CHECK-NOT:    pipe.attentions
// CHECK-NOT:    call
// CHECK-LABEL: func.func @kernels
// CHECK-COUNT-5: pipe.attention scale
// CHECK-NOT:    call
// CHECK:        pipe.attention_backward_q
// CHECK:        pipe.attention_backward_kv
// CHECK-NOT:    pipe.attention_backward scale
func.func @kernels(%rank: !llvm.ptr, %w: !w, %d: !d, %h: !h, %m: memref<6xi1>, %b: memref<180xf16>, %l: !l, %ow: !w, %od: !d, %oh: !h)
    attributes {pipe.num_results = 3 : i64} {
  pipe.attention scale(0.5) ins(%w, %w, %w : !w, !w, !w) outs(%ow, %l : !w, !l)
  pipe.attention scale(0.5) ins(%d, %d, %d : !d, !d, !d) outs(%od, %l : !d, !l)
  pipe.attention scale(0.5) ins(%h, %h, %h : !h, !h, !h) mask(%m : memref<6xi1>) dims [2] outs(%oh, %l : !h, !l)
  %apart = memref.reinterpret_cast %b to offset: [0], sizes: [3, 6, 8], strides: [60, 10, 1] : memref<180xf16> to !apart
  pipe.attention scale(0.5) ins(%apart, %h, %h : !apart, !h, !h) outs(%oh, %l : !h, !l)
  %behind = memref.reinterpret_cast %b to offset: [1], sizes: [3, 6, 8], strides: [64, 8, 1] : memref<180xf16> to !behind
  pipe.attention scale(0.5) ins(%h, %behind, %h : !h, !behind, !h) outs(%oh, %l : !h, !l)
  pipe.attention_backward scale(0.5) ins(%w, %w, %w, %w, %w, %l : !w, !w, !w, !w, !w, !l) outs(%ow, %ow, %ow : !w, !w, !w)
  return
}
