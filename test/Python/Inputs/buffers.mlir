// The loss is the sum of x times w times a buffer.
func.func @net(%x: tensor<2xf32> {pipe.batch = "x"}, %scale: tensor<2xf32> {pipe.buffer = "scale"},
               %w: tensor<2xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = arith.mulf %x, %w : tensor<2xf32>
  %b = pipe.boundary %a : tensor<2xf32>
  %loss = linalg.dot ins(%b, %scale : tensor<2xf32>, tensor<2xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
