// A residual network that convolves in bf16 on parameters of f32, channels last: of few channels and of many, with strides, groups and zeros on one
// side, with a bias that a sum starts from, 1x1 and depthwise, and one into f32.

#same = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
#none = affine_map<(n, h, w, c) -> ()>

func.func @net(%x: tensor<2x9x9x3xf32> {pipe.batch = "x"}, %target: tensor<2x2x2x4xf32> {pipe.batch = "target"},
               %w0: tensor<3x3x3x16xf32> {pipe.param = #pipe.param<"w0", init = uniform(-0.3, 0.3)>},
               %b0: tensor<16xf32> {pipe.param = #pipe.param<"b0", init = uniform(-0.3, 0.3)>},
               %w1: tensor<3x3x16x16xf32> {pipe.param = #pipe.param<"w1", init = uniform(-0.3, 0.3)>},
               %w2: tensor<3x3x16x16xf32> {pipe.param = #pipe.param<"w2", init = uniform(-0.3, 0.3)>},
               %w3: tensor<1x1x16x32xf32> {pipe.param = #pipe.param<"w3", init = uniform(-0.3, 0.3)>},
               %w4: tensor<3x3x32xf32> {pipe.param = #pipe.param<"w4", init = uniform(-0.3, 0.3)>},
               %w5: tensor<2x2x32x4xf32> {pipe.param = #pipe.param<"w5", init = uniform(-0.3, 0.3)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %xh = arith.truncf %x : tensor<2x9x9x3xf32> to tensor<2x9x9x3xbf16>
  %w0h = arith.truncf %w0 : tensor<3x3x3x16xf32> to tensor<3x3x3x16xbf16>
  %b0h = arith.truncf %b0 : tensor<16xf32> to tensor<16xbf16>
  %w1h = arith.truncf %w1 : tensor<3x3x16x16xf32> to tensor<3x3x16x16xbf16>
  %w2h = arith.truncf %w2 : tensor<3x3x16x16xf32> to tensor<3x3x16x16xbf16>
  %w3h = arith.truncf %w3 : tensor<1x1x16x32xf32> to tensor<1x1x16x32xbf16>
  %w4h = arith.truncf %w4 : tensor<3x3x32xf32> to tensor<3x3x32xbf16>
  %w5h = arith.truncf %w5 : tensor<2x2x32x4xf32> to tensor<2x2x32x4xbf16>
  %x0 = tensor.pad %xh low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : bf16
  } : tensor<2x9x9x3xbf16> to tensor<2x11x11x3xbf16>
  %biase = tensor.empty() : tensor<2x9x9x16xbf16>
  %bias = linalg.generic {indexing_maps = [#channel, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b0h : tensor<16xbf16>) outs(%biase : tensor<2x9x9x16xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x9x9x16xbf16>
  %c0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x0, %w0h : tensor<2x11x11x3xbf16>, tensor<3x3x3x16xbf16>) outs(%bias : tensor<2x9x9x16xbf16>) -> tensor<2x9x9x16xbf16>
  %h0e = tensor.empty() : tensor<2x9x9x16xbf16>
  %h0 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c0 : tensor<2x9x9x16xbf16>) outs(%h0e : tensor<2x9x9x16xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %r = math.tanh %a : bf16
    linalg.yield %r : bf16
  } -> tensor<2x9x9x16xbf16>
  %x1 = tensor.pad %h0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : bf16
  } : tensor<2x9x9x16xbf16> to tensor<2x11x11x16xbf16>
  %c1e = tensor.empty() : tensor<2x9x9x16xbf16>
  %c1z = linalg.fill ins(%zero : bf16) outs(%c1e : tensor<2x9x9x16xbf16>) -> tensor<2x9x9x16xbf16>
  %c1 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x1, %w1h : tensor<2x11x11x16xbf16>, tensor<3x3x16x16xbf16>) outs(%c1z : tensor<2x9x9x16xbf16>) -> tensor<2x9x9x16xbf16>
  %h1e = tensor.empty() : tensor<2x9x9x16xbf16>
  %h1 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c1 : tensor<2x9x9x16xbf16>) outs(%h1e : tensor<2x9x9x16xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %r = math.tanh %a : bf16
    linalg.yield %r : bf16
  } -> tensor<2x9x9x16xbf16>
  %x2 = tensor.pad %h1 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : bf16
  } : tensor<2x9x9x16xbf16> to tensor<2x11x11x16xbf16>
  %c2e = tensor.empty() : tensor<2x9x9x16xbf16>
  %c2z = linalg.fill ins(%zero : bf16) outs(%c2e : tensor<2x9x9x16xbf16>) -> tensor<2x9x9x16xbf16>
  %c2 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x2, %w2h : tensor<2x11x11x16xbf16>, tensor<3x3x16x16xbf16>) outs(%c2z : tensor<2x9x9x16xbf16>) -> tensor<2x9x9x16xbf16>
  %h2e = tensor.empty() : tensor<2x9x9x16xbf16>
  %h2 = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c2, %h0 : tensor<2x9x9x16xbf16>, tensor<2x9x9x16xbf16>) outs(%h2e : tensor<2x9x9x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %s = arith.addf %a, %b : bf16
    %r = math.tanh %s : bf16
    linalg.yield %r : bf16
  } -> tensor<2x9x9x16xbf16>
  %c3e = tensor.empty() : tensor<2x5x5x32xbf16>
  %c3z = linalg.fill ins(%zero : bf16) outs(%c3e : tensor<2x5x5x32xbf16>) -> tensor<2x5x5x32xbf16>
  %c3 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%h2, %w3h : tensor<2x9x9x16xbf16>, tensor<1x1x16x32xbf16>) outs(%c3z : tensor<2x5x5x32xbf16>) -> tensor<2x5x5x32xbf16>
  %h3e = tensor.empty() : tensor<2x5x5x32xbf16>
  %h3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c3 : tensor<2x5x5x32xbf16>) outs(%h3e : tensor<2x5x5x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %r = math.tanh %a : bf16
    linalg.yield %r : bf16
  } -> tensor<2x5x5x32xbf16>
  %x4 = tensor.pad %h3 low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : bf16
  } : tensor<2x5x5x32xbf16> to tensor<2x6x6x32xbf16>
  %c4e = tensor.empty() : tensor<2x2x2x32xbf16>
  %c4z = linalg.fill ins(%zero : bf16) outs(%c4e : tensor<2x2x2x32xbf16>) -> tensor<2x2x2x32xbf16>
  %c4 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x4, %w4h : tensor<2x6x6x32xbf16>, tensor<3x3x32xbf16>) outs(%c4z : tensor<2x2x2x32xbf16>) -> tensor<2x2x2x32xbf16>
  %h4e = tensor.empty() : tensor<2x2x2x32xbf16>
  %h4 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c4 : tensor<2x2x2x32xbf16>) outs(%h4e : tensor<2x2x2x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %r = math.tanh %a : bf16
    linalg.yield %r : bf16
  } -> tensor<2x2x2x32xbf16>
  %x5 = tensor.pad %h4 low[0, 0, 0, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : bf16
  } : tensor<2x2x2x32xbf16> to tensor<2x3x3x32xbf16>
  %c5e = tensor.empty() : tensor<2x2x2x4xf32>
  %c5z = linalg.fill ins(%zero32 : f32) outs(%c5e : tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32>
  %c5 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x5, %w5h : tensor<2x3x3x32xbf16>, tensor<2x2x32x4xbf16>) outs(%c5z : tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero32 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#same, #same, #none], iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%c5, %target : tensor<2x2x2x4xf32>, tensor<2x2x2x4xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
