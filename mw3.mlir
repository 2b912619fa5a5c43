module {
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %h = arith.mulf %w, %x : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f32
  %v = vector.transfer_read %h[%c0], %f0 {in_bounds=[true]} : tensor<4xf32>, vector<4xf32>
  %u = vector.transfer_write %v, %h[%c0] {in_bounds=[true]} : vector<4xf32>, tensor<4xf32>
  %loss = linalg.dot ins(%u, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
}
