// Convolutions one after the other, with nothing but zeros between them: of the gradient of what is between, only the inside is computed.
func.func @net(%x: tensor<2x3x6xf32> {pipe.batch = "x"}, %u: tensor<4x3x3xf32> {pipe.param = #pipe.param<"u", init = uniform(-1.0, 1.0)>}, %w: tensor<5x4x3xf32> {pipe.param = #pipe.param<"w", init = uniform(-1.0, 1.0)>}, %v: tensor<5x5x3xf32> {pipe.param = #pipe.param<"v", init = uniform(-1.0, 1.0)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x4x4xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y0 = linalg.conv_1d_ncw_fcw {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%x, %u : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f0 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %b = pipe.boundary %y0 : tensor<2x4x4xf32>
  %p0 = tensor.pad %b low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x4x4xf32> to tensor<2x4x6xf32>
  %e1 = tensor.empty() : tensor<2x5x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %y1 = linalg.conv_1d_ncw_fcw {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%p0, %w : tensor<2x4x6xf32>, tensor<5x4x3xf32>) outs(%f1 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %p1 = tensor.pad %y1 low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x5x4xf32> to tensor<2x5x6xf32>
  %y2 = linalg.conv_1d_ncw_fcw {strides = dense<1> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%p1, %v : tensor<2x5x6xf32>, tensor<5x5x3xf32>) outs(%f1 : tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %sq = arith.mulf %y2, %y2 : tensor<2x5x4xf32>
  %1 = tensor.empty() : tensor<f32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%sq : tensor<2x5x4xf32>) outs(%2 : tensor<f32>) dimensions = [0, 1, 2]
  return %loss : tensor<f32>
}
