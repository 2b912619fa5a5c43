// A training step as jax.value_and_grad gives it once it is lowered to linalg: the
// mean square error of an MLP, its gradients, and parameters after one update.
// joint-graphs.test returns one or the other.
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
func.func @main(%w0: tensor<8x16xf64>, %b0: tensor<16xf64>, %w1: tensor<16x2xf64>, %b1: tensor<2xf64>,
                %x: tensor<4x8xf64>, %t: tensor<4x2xf64>)
    -> (tensor<f64>, tensor<8x16xf64>, tensor<16xf64>, tensor<16x2xf64>, tensor<2xf64>) {
  %zero = arith.constant 0.0 : f64
  %he = tensor.empty() : tensor<4x16xf64>
  %hz = linalg.fill ins(%zero : f64) outs(%he : tensor<4x16xf64>) -> tensor<4x16xf64>
  %0 = linalg.matmul ins(%x, %w0 : tensor<4x8xf64>, tensor<8x16xf64>) outs(%hz : tensor<4x16xf64>) -> tensor<4x16xf64>
  %b0b = linalg.broadcast ins(%b0 : tensor<16xf64>) outs(%he : tensor<4x16xf64>) dimensions = [0]
  %1 = arith.addf %0, %b0b : tensor<4x16xf64>
  %h = arith.maximumf %1, %hz : tensor<4x16xf64>
  %ye = tensor.empty() : tensor<4x2xf64>
  %yz = linalg.fill ins(%zero : f64) outs(%ye : tensor<4x2xf64>) -> tensor<4x2xf64>
  %2 = linalg.matmul ins(%h, %w1 : tensor<4x16xf64>, tensor<16x2xf64>) outs(%yz : tensor<4x2xf64>) -> tensor<4x2xf64>
  %b1b = linalg.broadcast ins(%b1 : tensor<2xf64>) outs(%ye : tensor<4x2xf64>) dimensions = [0]
  %y = arith.addf %2, %b1b : tensor<4x2xf64>
  %d = arith.subf %y, %t : tensor<4x2xf64>
  %square = arith.mulf %d, %d : tensor<4x2xf64>
  %se = tensor.empty() : tensor<f64>
  %sz = linalg.fill ins(%zero : f64) outs(%se : tensor<f64>) -> tensor<f64>
  %sum = linalg.reduce {arith.addf} ins(%square : tensor<4x2xf64>) outs(%sz : tensor<f64>) dimensions = [0, 1]
  %count = arith.constant dense<8.0> : tensor<f64>
  %loss = arith.divf %sum, %count : tensor<f64>

  // 2 d / 8
  %quarter = arith.constant dense<0.25> : tensor<4x2xf64>
  %dy = arith.mulf %d, %quarter : tensor<4x2xf64>
  %b1e = tensor.empty() : tensor<2xf64>
  %b1z = linalg.fill ins(%zero : f64) outs(%b1e : tensor<2xf64>) -> tensor<2xf64>
  %db1 = linalg.reduce {arith.addf} ins(%dy : tensor<4x2xf64>) outs(%b1z : tensor<2xf64>) dimensions = [0]
  %w1te = tensor.empty() : tensor<2x16xf64>
  %w1tz = linalg.fill ins(%zero : f64) outs(%w1te : tensor<2x16xf64>) -> tensor<2x16xf64>
  %dyte = tensor.empty() : tensor<2x4xf64>
  %dyt = linalg.transpose ins(%dy : tensor<4x2xf64>) outs(%dyte : tensor<2x4xf64>) permutation = [1, 0]
  // The gradient of w1, transposed.
  %dw1t = linalg.matmul ins(%dyt, %h : tensor<2x4xf64>, tensor<4x16xf64>) outs(%w1tz : tensor<2x16xf64>) -> tensor<2x16xf64>
  %w1e = tensor.empty() : tensor<16x2xf64>
  %dw1 = linalg.transpose ins(%dw1t : tensor<2x16xf64>) outs(%w1e : tensor<16x2xf64>) permutation = [1, 0]
  %w1t = linalg.transpose ins(%w1 : tensor<16x2xf64>) outs(%w1te : tensor<2x16xf64>) permutation = [1, 0]
  %dh = linalg.matmul ins(%dy, %w1t : tensor<4x2xf64>, tensor<2x16xf64>) outs(%hz : tensor<4x16xf64>) -> tensor<4x16xf64>
  %mask = arith.cmpf ogt, %1, %hz : tensor<4x16xf64>
  %d1 = arith.select %mask, %dh, %hz : tensor<4x16xi1>, tensor<4x16xf64>
  %b0e = tensor.empty() : tensor<16xf64>
  %b0z = linalg.fill ins(%zero : f64) outs(%b0e : tensor<16xf64>) -> tensor<16xf64>
  %db0 = linalg.reduce {arith.addf} ins(%d1 : tensor<4x16xf64>) outs(%b0z : tensor<16xf64>) dimensions = [0]
  %w0e = tensor.empty() : tensor<8x16xf64>
  %w0z = linalg.fill ins(%zero : f64) outs(%w0e : tensor<8x16xf64>) -> tensor<8x16xf64>
  %xte = tensor.empty() : tensor<8x4xf64>
  %xt = linalg.transpose ins(%x : tensor<4x8xf64>) outs(%xte : tensor<8x4xf64>) permutation = [1, 0]
  %dw0 = linalg.matmul ins(%xt, %d1 : tensor<8x4xf64>, tensor<4x16xf64>) outs(%w0z : tensor<8x16xf64>) -> tensor<8x16xf64>

  %rate = arith.constant dense<0.125> : tensor<f64>
  %r0 = linalg.broadcast ins(%rate : tensor<f64>) outs(%w0e : tensor<8x16xf64>) dimensions = [0, 1]
  %s0 = arith.mulf %r0, %dw0 : tensor<8x16xf64>
  %w0_new = arith.subf %w0, %s0 : tensor<8x16xf64>
  %r1 = arith.constant dense<0.125> : tensor<16xf64>
  %s1 = arith.mulf %db0, %r1 : tensor<16xf64>
  %b0_new = arith.subf %b0, %s1 : tensor<16xf64>
  %w1_new = linalg.generic {indexing_maps = [#id, #id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w1, %dw1, %rate : tensor<16x2xf64>, tensor<16x2xf64>, tensor<f64>) outs(%w1e : tensor<16x2xf64>) {
  ^bb0(%a: f64, %g: f64, %r: f64, %o: f64):
    %s = arith.mulf %g, %r : f64
    %n = arith.subf %a, %s : f64
    linalg.yield %n : f64
  } -> tensor<16x2xf64>
  %r3 = arith.constant dense<-0.125> : tensor<2xf64>
  %s3 = arith.mulf %r3, %db1 : tensor<2xf64>
  %b1_new = arith.addf %b1, %s3 : tensor<2xf64>
  return %loss, %dw0, %db0, %dw1, %db1 : tensor<f64>, tensor<8x16xf64>, tensor<16xf64>, tensor<16x2xf64>, tensor<2xf64>
}
