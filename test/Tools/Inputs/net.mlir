func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %dead = math.exp %x : tensor<4xf32>
  %dead2 = arith.addf %dead, %w : tensor<4xf32>
  %a = arith.mulf %x, %w : tensor<4xf32>
  %b = math.tanh %a : tensor<4xf32>
  %c = math.cbrt %b : tensor<4xf32>
  %d = arith.addf %c, %b : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce ins(%d : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%value: f32, %sum: f32) {
      %next = arith.divf %value, %sum : f32
      linalg.yield %next : f32
    }
  return %loss : tensor<f32>
}
