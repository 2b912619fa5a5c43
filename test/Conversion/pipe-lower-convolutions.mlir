// RUN: veeline-opt %s --pipe-lower-convolutions --split-input-file | FileCheck %s

#x = affine_map<(n, oh, ow, f, kh, kw, c) -> (n, oh * 2 + kh, ow * 2 + kw * 3, c)>
#w = affine_map<(n, oh, ow, f, kh, kw, c) -> (kh, kw, c, f)>
#y = affine_map<(n, oh, ow, f, kh, kw, c) -> (n, oh, ow, f)>

// Both calls share the entry; the zeros are dropped.

// CHECK: module attributes {pipe.convolutions = [
// CHECK-SAME: {batch = 2 : i64, dilations = array<i64: 1, 3>, groups = 1 : i64, inputs = 3 : i64, kind = "forward", outputs = 5 : i64, padding = array<i64: 0, 0>, scratch_bytes = 0 : i64, strides = array<i64: 2, 2>, w_sizes = array<i64: 3, 2>, w_strides = array<i64: 1, 1, 5, 30, 15>, x_sizes = array<i64: 9, 10>, x_strides = array<i64: 270, 3, 1, 30, 3>, y_sizes = array<i64: 4, 4>, y_strides = array<i64: 80, 5, 1, 20, 5>}
// CHECK-SAME: ]}
// CHECK: func.func private @veeline_convolution(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)

// CHECK-LABEL: func.func @forward
// CHECK-NOT: linalg
// CHECK: memref.extract_aligned_pointer_as_index %arg1 : {{.*}} {pipe.reads_only}
// CHECK: memref.extract_aligned_pointer_as_index %arg2 : {{.*}} {pipe.reads_only}
// CHECK: memref.extract_aligned_pointer_as_index %arg3 : {{.*}}index{{$}}
// CHECK: call @veeline_convolution(%arg0,
// CHECK-NOT: linalg
// CHECK: call @veeline_convolution(%arg0,
// CHECK-NOT: linalg
func.func @forward(%rank: !llvm.ptr, %x: memref<2x9x10x3xf32>, %w: memref<3x2x3x5xf32>, %y: memref<2x4x4x5xf32>, %y2: memref<2x4x4x5xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x4x4x5xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%x, %w : memref<2x9x10x3xf32>, memref<3x2x3x5xf32>) outs(%y : memref<2x4x4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%y2 : memref<2x4x4x5xf32>)
  linalg.generic {indexing_maps = [#w, #x, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%w, %x : memref<3x2x3x5xf32>, memref<2x9x10x3xf32>) outs(%y2 : memref<2x4x4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#x = affine_map<(n, oh, ow, f, kh, kw, c) -> (n, c, oh + kh, ow + kw)>
#w = affine_map<(n, oh, ow, f, kh, kw, c) -> (f, c, kh, kw)>
#y = affine_map<(n, oh, ow, f, kh, kw, c) -> (n, f, oh, ow)>

// The adjoints. What is in the result already gets the gradient added.

// CHECK: kind = "backward_data"
// CHECK-SAME: x_strides = array<i64: 75, 75, 25, 5, 1>
// CHECK-SAME: kind = "backward_weights"
// CHECK-LABEL: func.func @backward
// CHECK: %[[DY:.*]] = memref.extract_aligned_pointer_as_index %arg2
// CHECK: %[[W:.*]] = memref.extract_aligned_pointer_as_index %arg3
// CHECK: %[[DX:.*]] = memref.extract_aligned_pointer_as_index %arg4 :
// CHECK: call @veeline_convolution
// CHECK: %[[T:.*]] = memref.alloc() : memref<4x3x3x3xf32>
// CHECK: call @veeline_convolution
// CHECK: linalg.generic {{.*}} ins(%[[T]] : memref<4x3x3x3xf32>) outs(%arg5 : memref<4x3x3x3xf32>)
// CHECK:   arith.addf
func.func @backward(%rank: !llvm.ptr, %x: memref<2x3x5x5xf32>, %dy: memref<2x4x3x3xf32>, %w: memref<4x3x3x3xf32>, %dx: memref<2x3x5x5xf32>, %dw: memref<4x3x3x3xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%dx : memref<2x3x5x5xf32>)
  linalg.generic {indexing_maps = [#w, #y, #x], iterator_types = ["parallel", "reduction", "reduction", "reduction", "reduction", "reduction", "parallel"]}
    ins(%w, %dy : memref<4x3x3x3xf32>, memref<2x4x3x3xf32>) outs(%dx : memref<2x3x5x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#x, #y, #w], iterator_types = ["reduction", "reduction", "reduction", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %dy : memref<2x3x5x5xf32>, memref<2x4x3x3xf32>) outs(%dw : memref<4x3x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#x = affine_map<(n, oh, ow, c, kh, kw) -> (n, oh + kh, ow + kw, c)>
#w = affine_map<(n, oh, ow, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(n, oh, ow, c, kh, kw) -> (n, oh, ow, c)>

// Depthwise: every channel is a group. Zeros around the data become padding,
// and the inside of a gradient is all of it that there is.

// CHECK: groups = 4 : i64, inputs = 1 : i64, kind = "forward", outputs = 1 : i64, padding = array<i64: 1, 0>
// CHECK-SAME: x_sizes = array<i64: 6, 7>
// CHECK-SAME: kind = "backward_data"
// CHECK-SAME: padding = array<i64: 1, 0>
// CHECK-SAME: x_sizes = array<i64: 6, 7>
// CHECK-LABEL: func.func @padding
// CHECK-NOT: memref.copy
// CHECK-NOT: linalg.fill
// CHECK: memref.extract_aligned_pointer_as_index %arg1 : {{.*}} {pipe.reads_only}
// CHECK: call @veeline_convolution
// CHECK: %[[INSIDE:.*]] = memref.alloc() : memref<1x6x7x4xf32>
// CHECK: call @veeline_convolution
// CHECK: linalg.add ins(%[[INSIDE]], %[[INSIDE]] : memref<1x6x7x4xf32>, memref<1x6x7x4xf32>) outs(%arg5
func.func @padding(%rank: !llvm.ptr, %x: memref<1x6x7x4xf32>, %w: memref<3x3x4xf32>, %dy: memref<1x6x6x4xf32>, %y: memref<1x6x6x4xf32>, %twice: memref<1x6x7x4xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<1x8x8x4xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<1x8x8x4xf32>)
  %inside = memref.subview %p[0, 1, 0, 0] [1, 6, 7, 4] [1, 1, 1, 1] : memref<1x8x8x4xf32> to memref<1x6x7x4xf32, strided<[256, 32, 4, 1], offset: 32>>
  memref.copy %x, %inside : memref<1x6x7x4xf32> to memref<1x6x7x4xf32, strided<[256, 32, 4, 1], offset: 32>>
  linalg.fill ins(%zero : f32) outs(%y : memref<1x6x6x4xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%p, %w : memref<1x8x8x4xf32>, memref<3x3x4xf32>) outs(%y : memref<1x6x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  %g = memref.alloc() : memref<1x8x8x4xf32>
  linalg.fill ins(%zero : f32) outs(%g : memref<1x8x8x4xf32>)
  linalg.generic {indexing_maps = [#y, #w, #x], iterator_types = ["parallel", "reduction", "reduction", "parallel", "reduction", "reduction"]}
    ins(%dy, %w : memref<1x6x6x4xf32>, memref<3x3x4xf32>) outs(%g : memref<1x8x8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  %gi = memref.subview %g[0, 1, 0, 0] [1, 6, 7, 4] [1, 1, 1, 1] : memref<1x8x8x4xf32> to memref<1x6x7x4xf32, strided<[256, 32, 4, 1], offset: 32>>
  linalg.add ins(%gi, %gi : memref<1x6x7x4xf32, strided<[256, 32, 4, 1], offset: 32>>, memref<1x6x7x4xf32, strided<[256, 32, 4, 1], offset: 32>>) outs(%twice : memref<1x6x7x4xf32>)
  return
}

// -----

#x = affine_map<(n, oh, f, kh, c) -> (n, oh + kh, c)>
#w = affine_map<(n, oh, f, kh, c) -> (kh, c, f)>
#y = affine_map<(n, oh, f, kh, c) -> (n, oh, f)>
#d3 = affine_map<(a, b, c) -> (a, b, c)>
#t3 = affine_map<(a, b, c) -> (c, a, b)>

// Transposed copies stay: the strides are those of the op's operands.

// CHECK: w_strides = array<i64: 1, 1, 4, 8>
// CHECK-LABEL: func.func @transposed
// CHECK: linalg.generic {{.*}} ins(%arg1
// CHECK: linalg.generic {{.*}} ins(%arg4
// CHECK: linalg.fill
// CHECK: call @veeline_convolution
func.func @transposed(%rank: !llvm.ptr, %w: memref<4x3x2xf32>, %y: memref<2x6x4xf32>, %scale: f32, %x: memref<2x2x8xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %wt = memref.alloc() : memref<3x2x4xf32>
  linalg.generic {indexing_maps = [#t3, #d3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%w : memref<4x3x2xf32>) outs(%wt : memref<3x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  %xt = memref.alloc() : memref<2x8x2xf32>
  linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, c, b)>, #d3], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : memref<2x2x8xf32>) outs(%xt : memref<2x8x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  linalg.fill ins(%scale : f32) outs(%x : memref<2x2x8xf32>)
  linalg.fill ins(%zero : f32) outs(%y : memref<2x6x4xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%xt, %wt : memref<2x8x2xf32>, memref<3x2x4xf32>) outs(%y : memref<2x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Not the library's: f64, a pooling, data with a row at its end that no window
// reaches, two loops of one kind.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>
#x2 = affine_map<(n, m, o, f, k, c) -> (n, m, o + k, c)>
#w2 = affine_map<(n, m, o, f, k, c) -> (k, c, f)>
#y2 = affine_map<(n, m, o, f, k, c) -> (n, m, o, f)>

// CHECK-LABEL: func.func @others
// CHECK-NOT: call
func.func @others(%rank: !llvm.ptr, %x: memref<2x8x3xf64>, %w: memref<3x3x4xf64>, %y: memref<2x6x4xf64>,
    %xs: memref<2x8x3xf32>, %ws: memref<3x3x4xf32>, %ys: memref<2x5x4xf32>, %xb: memref<2x2x8x3xf32>, %yb: memref<2x2x6x4xf32>, %yp: memref<2x6x3xf32>, %window: memref<3xf32>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x8x3xf64>, memref<3x3x4xf64>) outs(%y : memref<2x6x4xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %m = arith.mulf %a, %b : f64
    %s = arith.addf %c, %m : f64
    linalg.yield %s : f64
  }
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%xs, %ws : memref<2x8x3xf32>, memref<3x3x4xf32>) outs(%ys : memref<2x5x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#x2, #w2, #y2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%xb, %ws : memref<2x2x8x3xf32>, memref<3x3x4xf32>) outs(%yb : memref<2x2x6x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(n, o, c, k) -> (n, o + k, c)>, affine_map<(n, o, c, k) -> (k)>, affine_map<(n, o, c, k) -> (n, o, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%xs, %window : memref<2x8x3xf32>, memref<3xf32>) outs(%yp : memref<2x6x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %c, %a : f32
    linalg.yield %s : f32
  }
  return
}
