// One row is mixed in every round of a loop that is kept: the state of a round, and the copy of it that backward reads, begin in one empty tensor.
// Marks before it let it be cut into 8 chunks.
func.func @model(
    %x: tensor<1x4xf64> {pipe.batch = "x0"},
    %v: tensor<1x4xf64> {pipe.param = #pipe.param<"p0", init = uniform(-1.0, 1.0)>},
    %w: tensor<4x4xf64> {pipe.param = #pipe.param<"p7", init = uniform(-1.0, 1.0)>}) -> (tensor<f64>) {
  %xv = arith.mulf %x, %v : tensor<1x4xf64>
  %y0 = math.tanh %xv : tensor<1x4xf64>
  %b0 = pipe.boundary %y0 : tensor<1x4xf64>
  %y1 = math.tanh %b0 : tensor<1x4xf64>
  %b1 = pipe.boundary %y1 : tensor<1x4xf64>
  %y2 = math.tanh %b1 : tensor<1x4xf64>
  %b2 = pipe.boundary %y2 : tensor<1x4xf64>
  %y3 = math.tanh %b2 : tensor<1x4xf64>
  %b3 = pipe.boundary %y3 : tensor<1x4xf64>
  %y4 = math.tanh %b3 : tensor<1x4xf64>
  %b4 = pipe.boundary %y4 : tensor<1x4xf64>
  %y5 = math.tanh %b4 : tensor<1x4xf64>
  %b5 = pipe.boundary %y5 : tensor<1x4xf64>
  %y6 = math.tanh %b5 : tensor<1x4xf64>
  %b6 = pipe.boundary %y6 : tensor<1x4xf64>
  %t6 = arith.constant 0.0 : f64
  %t7 = tensor.empty() : tensor<1x4xf64>
  %t8 = linalg.fill ins(%t6 : f64) outs(%t7 : tensor<1x4xf64>) -> tensor<1x4xf64>
  %t9 = arith.constant 0 : index
  %t10 = arith.constant 3 : index
  %t11 = arith.constant 1 : index
  %h = scf.for %i = %t9 to %t10 step %t11 iter_args(%state = %b6) -> (tensor<1x4xf64>) {
    %mixed = linalg.matmul ins(%state, %w : tensor<1x4xf64>, tensor<4x4xf64>) outs(%t8 : tensor<1x4xf64>) -> tensor<1x4xf64>
    %next = math.tanh %mixed : tensor<1x4xf64>
    scf.yield %next : tensor<1x4xf64>
  } {pipe.unroll = false}
  %t40 = arith.constant 0.0 : f64
  %t41 = tensor.empty() : tensor<f64>
  %t42 = linalg.fill ins(%t40 : f64) outs(%t41 : tensor<f64>) -> tensor<f64>
  %loss = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%h : tensor<1x4xf64>) outs(%t42 : tensor<f64>) {
  ^bb0(%a0: f64, %out: f64):
    %s0 = arith.mulf %a0, %a0 : f64
    %s1 = arith.constant 2.500000e-01 : f64
    %s2 = arith.mulf %s0, %s1 : f64
    %s3 = arith.addf %s2, %out : f64
    linalg.yield %s3 : f64
  } -> tensor<f64>
  return %loss : tensor<f64>
}
