// A convolution with a bias, a depthwise one with a stride, both with zeros around
// their data, and a 1x1 convolution.

#nhwf = affine_map<(n, h, w, f) -> (n, h, w, f)>
#f = affine_map<(n, h, w, f) -> (f)>
#s = affine_map<(n, h, w, f) -> ()>
func.func @net(
    %x: tensor<2x8x8x3xf32> {pipe.batch = "x"},
    %k: tensor<3x3x3x8xf32> {pipe.param = #pipe.param<"k", init = normal(0.0, 0.3)>},
    %b: tensor<8xf32> {pipe.param = #pipe.param<"b", init = zeros>},
    %d: tensor<3x3x8xf32> {pipe.param = #pipe.param<"d", init = normal(0.0, 0.3)>},
    %k1: tensor<1x1x8x4xf32> {pipe.param = #pipe.param<"k1", init = normal(0.0, 0.3)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k0: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x8x3xf32> to tensor<2x10x10x3xf32>
  %e = tensor.empty() : tensor<2x8x8x8xf32>
  %bias = linalg.generic {indexing_maps = [#f, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : tensor<8xf32>) outs(%e : tensor<2x8x8x8xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x8x8xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%padded, %k : tensor<2x10x10x3xf32>, tensor<3x3x3x8xf32>) outs(%bias : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %r = linalg.generic {indexing_maps = [#nhwf, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y : tensor<2x8x8x8xf32>) outs(%e : tensor<2x8x8x8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x8x8xf32>
  %m0 = pipe.boundary %r : tensor<2x8x8x8xf32>
  %padded2 = tensor.pad %m0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k0: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<2x8x8x8xf32> to tensor<2x10x10x8xf32>
  %e2 = tensor.empty() : tensor<2x4x4x8xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  %y2 = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%padded2, %d : tensor<2x10x10x8xf32>, tensor<3x3x8xf32>) outs(%z2 : tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>
  %r2 = linalg.generic {indexing_maps = [#nhwf, #nhwf], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y2 : tensor<2x4x4x8xf32>) outs(%e2 : tensor<2x4x4x8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %m = math.tanh %in : f32
    linalg.yield %m : f32
  } -> tensor<2x4x4x8xf32>
  %e3 = tensor.empty() : tensor<2x4x4x4xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %y3 = linalg.conv_2d_nhwc_hwcf ins(%r2, %k1 : tensor<2x4x4x8xf32>, tensor<1x1x8x4xf32>) outs(%z3 : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#nhwf, #s], iterator_types = ["reduction", "reduction", "reduction", "reduction"]} ins(%y3 : tensor<2x4x4x4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%in: f32, %o: f32):
    %q = arith.mulf %in, %in : f32
    %m = arith.addf %o, %q : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
