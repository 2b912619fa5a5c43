// loss = sum(v * (x w)), with its gradients: dv = x w, dw = x^T v.
func.func @net(%x: tensor<2x4xf32> {pipe.batch = "x"}, %w: tensor<4x4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<2x4xf32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<2x4xf32> {pipe.gradient_of = "v"}, tensor<4x4xf32> {pipe.gradient_of = "w"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = pipe.boundary %h : tensor<2x4xf32>
  %y = arith.mulf %m, %v : tensor<2x4xf32>
  %s = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%y : tensor<2x4xf32>) outs(%zs : tensor<f32>) dimensions = [0, 1]
  %we = tensor.empty() : tensor<4x4xf32>
  %wz = linalg.fill ins(%zero : f32) outs(%we : tensor<4x4xf32>) -> tensor<4x4xf32>
  %xe = tensor.empty() : tensor<4x2xf32>
  %xt = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%xe : tensor<4x2xf32>) permutation = [1, 0]
  %dw = linalg.matmul ins(%xt, %v : tensor<4x2xf32>, tensor<2x4xf32>) outs(%wz : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %loss, %m, %dw : tensor<f32>, tensor<2x4xf32>, tensor<4x4xf32>
}
