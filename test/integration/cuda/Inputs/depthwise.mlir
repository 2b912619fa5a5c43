// Channels first: a convolution, two pairs of a depthwise and a pointwise one, with strides and zeros on one side alone.
#same = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @net(%x: tensor<2x3x9x9xf32> {pipe.batch = "x"},
               %w0: tensor<8x3x3x3xf32> {pipe.param = #pipe.param<"w0", init = uniform(-0.5, 0.5)>},
               %w1: tensor<8x3x3xf32> {pipe.param = #pipe.param<"w1", init = uniform(-0.5, 0.5)>},
               %w2: tensor<16x8x1x1xf32> {pipe.param = #pipe.param<"w2", init = uniform(-0.5, 0.5)>},
               %w3: tensor<16x3x3xf32> {pipe.param = #pipe.param<"w3", init = uniform(-0.5, 0.5)>},
               %w4: tensor<4x16x2x2xf32> {pipe.param = #pipe.param<"w4", init = uniform(-0.5, 0.5)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x3x9x9xf32> to tensor<2x3x11x11xf32>
  %c0e = tensor.empty() : tensor<2x8x5x5xf32>
  %c0z = linalg.fill ins(%zero : f32) outs(%c0e : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  %c0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x0, %w0 : tensor<2x3x11x11xf32>, tensor<8x3x3x3xf32>) outs(%c0z : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  %h0e = tensor.empty() : tensor<2x8x5x5xf32>
  %h0 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c0 : tensor<2x8x5x5xf32>) outs(%h0e : tensor<2x8x5x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<2x8x5x5xf32>
  %x1 = tensor.pad %h0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x8x5x5xf32> to tensor<2x8x7x7xf32>
  %c1e = tensor.empty() : tensor<2x8x5x5xf32>
  %c1z = linalg.fill ins(%zero : f32) outs(%c1e : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  %c1 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x1, %w1 : tensor<2x8x7x7xf32>, tensor<8x3x3xf32>) outs(%c1z : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
  %h1e = tensor.empty() : tensor<2x8x5x5xf32>
  %h1 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c1 : tensor<2x8x5x5xf32>) outs(%h1e : tensor<2x8x5x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<2x8x5x5xf32>
  %c2e = tensor.empty() : tensor<2x16x5x5xf32>
  %c2z = linalg.fill ins(%zero : f32) outs(%c2e : tensor<2x16x5x5xf32>) -> tensor<2x16x5x5xf32>
  %c2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%h1, %w2 : tensor<2x8x5x5xf32>, tensor<16x8x1x1xf32>) outs(%c2z : tensor<2x16x5x5xf32>) -> tensor<2x16x5x5xf32>
  %h2e = tensor.empty() : tensor<2x16x5x5xf32>
  %h2 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c2 : tensor<2x16x5x5xf32>) outs(%h2e : tensor<2x16x5x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<2x16x5x5xf32>
  %x3 = tensor.pad %h2 low[0, 0, 0, 0] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x16x5x5xf32> to tensor<2x16x6x6xf32>
  %c3e = tensor.empty() : tensor<2x16x2x2xf32>
  %c3z = linalg.fill ins(%zero : f32) outs(%c3e : tensor<2x16x2x2xf32>) -> tensor<2x16x2x2xf32>
  %c3 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x3, %w3 : tensor<2x16x6x6xf32>, tensor<16x3x3xf32>) outs(%c3z : tensor<2x16x2x2xf32>) -> tensor<2x16x2x2xf32>
  %h3e = tensor.empty() : tensor<2x16x2x2xf32>
  %h3 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c3 : tensor<2x16x2x2xf32>) outs(%h3e : tensor<2x16x2x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<2x16x2x2xf32>
  %c4e = tensor.empty() : tensor<2x4x1x1xf32>
  %c4z = linalg.fill ins(%zero : f32) outs(%c4e : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
  %c4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%h3, %w4 : tensor<2x16x2x2xf32>, tensor<4x16x2x2xf32>) outs(%c4z : tensor<2x4x1x1xf32>) -> tensor<2x4x1x1xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#same, affine_map<(n, c, h, w) -> ()>], iterator_types = ["reduction", "reduction", "reduction", "reduction"]}
      ins(%c4 : tensor<2x4x1x1xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
