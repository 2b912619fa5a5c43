// Nothing can be learnt through math.round: the model can be evaluated, and not trained.
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"},
               %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = arith.addf %x, %w : tensor<4xf32>
  %marked = pipe.boundary %sum : tensor<4xf32>
  %whole = math.round %marked : tensor<4xf32>
  %loss = linalg.reduce ins(%whole : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %0 = arith.addf %a, %b : f32 linalg.yield %0 : f32 }
  %metric = linalg.reduce ins(%marked : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %0 = arith.maximumf %a, %b : f32 linalg.yield %0 : f32 }
  return %loss, %metric : tensor<f32>, tensor<f32>
}
