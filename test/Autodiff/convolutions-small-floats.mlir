// RUN: veeline-opt %s --pipe-differentiate=target=cuda | FileCheck %s
// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s --check-prefix=HOST
// RUN: sed s/bf16/f16/g %s | veeline-opt --pipe-differentiate=target=cuda | FileCheck %s

// The library of a GPU convolves in bf16 and f16: a convolution stays whole there, and its adjoints are one op each. Their sums are of f32.

// CHECK-LABEL: func.func private @net_chunk0_forward(
// CHECK:         linalg.conv_1d_nwc_wcf
// CHECK-LABEL: func.func private @net_chunk0_backward(
// CHECK:         linalg.generic {indexing_maps = {{.*}}, iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<3x4x5x[[T:b?f16]]>, tensor<2x6x5x[[T]]>) outs(%{{.*}} : tensor<2x8x4xf32>)
// CHECK:         linalg.generic {indexing_maps = {{.*}}, iterator_types = ["reduction", "reduction", "parallel", "parallel", "parallel"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<2x8x4x[[T]]>, tensor<2x6x5x[[T]]>) outs(%{{.*}} : tensor<3x4x5xf32>)

// On a CPU it is a product for each element of the window.

// HOST-LABEL: func.func private @net_chunk0_forward(
// HOST-NOT:     conv_1d
// HOST-COUNT-3: arith.mulf
// HOST-LABEL: func.func private @net_chunk0_backward(

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %v = pipe.param <"v", init = zeros> : tensor<2x8x4xbf16>
  %w = pipe.param <"w", init = zeros> : tensor<3x4x5xbf16>
  %0 = pipe.chunk 0 @net_chunk0(%v, %w) : (tensor<2x8x4xbf16>, tensor<3x4x5xbf16>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}

func.func private @net_chunk0(%x: tensor<2x8x4xbf16>, %w: tensor<3x4x5xbf16>) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x6x5xbf16>) -> tensor<2x6x5xbf16>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x8x4xbf16>, tensor<3x4x5xbf16>) outs(%z : tensor<2x6x5xbf16>) -> tensor<2x6x5xbf16>
  %s = tensor.empty() : tensor<f32>
  %sz = linalg.fill ins(%zero32 : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [affine_map<(n, o, f) -> (n, o, f)>, affine_map<(n, o, f) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%y : tensor<2x6x5xbf16>) outs(%sz : tensor<f32>) {
  ^bb0(%a: bf16, %sum: f32):
    %b = arith.extf %a : bf16 to f32
    %q = arith.mulf %b, %b : f32
    %t = arith.addf %sum, %q : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
