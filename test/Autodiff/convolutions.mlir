// RUN: veeline-opt %s --pipe-differentiate --pipe-split-backward | FileCheck %s
// RUN: veeline-opt %s --pipe-differentiate=recompute=cheap --pipe-split-backward | FileCheck %s
// RUN: sed s/f32/f64/g %s | veeline-opt --pipe-differentiate | FileCheck %s --check-prefix=UNROLLED

// In f32 a convolution stays whole, and its adjoints are one op each: that for
// the data in B, that for the weights in W. The zeros around the data are
// not kept, whatever is: they are no data.

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>

// CHECK-LABEL: func.func private @net_chunk0_forward(
// CHECK-SAME:  -> (tensor<2x4x4x5xf32> {pipe.role = #pipe.role<result 0>})
// CHECK:       %[[PADDED:.*]] = tensor.pad %arg0
// CHECK:       linalg.conv_2d_nhwc_hwcf {{.*}} ins(%[[PADDED]], %arg1 :

// CHECK-LABEL: func.func private @net_chunk0_backward_weight(
// CHECK-SAME:  %[[DATA:.*]]: tensor<2x8x8x3xf32> {pipe.role = #pipe.role<operand 0>}
// CHECK-SAME:  %[[GRADIENT:.*]]: tensor<2x4x4x5xf32> {pipe.role = #pipe.role<result_grad 0>}
// CHECK:       %[[PADDED:.*]] = tensor.pad %[[DATA]]
// CHECK:       linalg.generic {indexing_maps = [#[[X]], #[[Y]], #[[W]]],
// CHECK-SAME:    iterator_types = ["reduction", "reduction", "reduction", "parallel", "parallel", "parallel", "parallel"]}
// CHECK-SAME:    ins(%[[PADDED]], %[[GRADIENT]] :
// CHECK-NOT:   linalg.generic
// CHECK:       return

// CHECK-LABEL: func.func private @net_chunk1_backward_input(
// CHECK:       %[[DX:[0-9]+]] = linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["parallel", "reduction", "reduction", "reduction", "reduction", "reduction", "parallel"]}
// CHECK-SAME:    outs(%{{.*}} : tensor<2x6x6x5xf32>)
// CHECK:       tensor.extract_slice %[[DX]][0, 1, 1, 0] [2, 4, 4, 5] [1, 1, 1, 1]
// CHECK-LABEL: func.func private @net_chunk1_backward_weight(

// In f64 it is a product for each element of the window.

// UNROLLED-LABEL: func.func private @net_chunk0_forward(
// UNROLLED-NOT:   conv_2d
// UNROLLED:       tensor.extract_slice
// UNROLLED-COUNT-9: arith.mulf
// UNROLLED-LABEL: func.func private @net_chunk0_backward(

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %w0 = pipe.param <"w0", init = zeros> : tensor<3x3x3x5xf32>
  %w1 = pipe.param <"w1", init = zeros> : tensor<3x3x5x2xf32>
  %x = pipe.batch "x" : tensor<2x8x8x3xf32>
  %0 = pipe.chunk 0 @net_chunk0(%x, %w0) : (tensor<2x8x8x3xf32>, tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32>
  %1 = pipe.chunk 1 @net_chunk1(%0, %w1) : (tensor<2x4x4x5xf32>, tensor<3x3x5x2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}

func.func private @net_chunk0(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x5xf32>) -> tensor<2x4x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x8x8x3xf32> to tensor<2x9x9x3xf32>
  %e = tensor.empty() : tensor<2x4x4x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x5xf32>) -> tensor<2x4x4x5xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<2x9x9x3xf32>, tensor<3x3x3x5xf32>) outs(%z : tensor<2x4x4x5xf32>) -> tensor<2x4x4x5xf32>
  return %y : tensor<2x4x4x5xf32>
}

func.func private @net_chunk1(%x: tensor<2x4x4x5xf32>, %w: tensor<3x3x5x2xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<2x4x4x5xf32> to tensor<2x6x6x5xf32>
  %e = tensor.empty() : tensor<2x4x4x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%padded, %w : tensor<2x6x6x5xf32>, tensor<3x3x5x2xf32>) outs(%z : tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> ()>],
      iterator_types = ["reduction", "reduction", "reduction", "reduction"]} ins(%y : tensor<2x4x4x2xf32>) outs(%z0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
