// A parameter of both stages: its gradient is sent while the next step begins.
func.func @model(%x: tensor<2x4xf64> {pipe.batch = "x"},
    %w: tensor<2x4xf64> {pipe.param = #pipe.param<"w", init = uniform(-1.0, 1.0)>},
    %v: tensor<2x4xf64> {pipe.param = #pipe.param<"v", init = uniform(-1.0, 1.0)>}) -> tensor<f64> {
  %a = arith.mulf %x, %w : tensor<2x4xf64>
  %b = arith.mulf %a, %v : tensor<2x4xf64>
  %c = arith.mulf %b, %w : tensor<2x4xf64>
  %zero = arith.constant dense<0.0> : tensor<f64>
  %sum = linalg.reduce { arith.addf } ins(%c : tensor<2x4xf64>) outs(%zero : tensor<f64>) dimensions = [0, 1]
  return %sum : tensor<f64>
}
