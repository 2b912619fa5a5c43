// The second stage scales its data, too: the gradient of the scale needs them.
func.func @net(%x: tensor<3x7xf32> {pipe.batch = "x"},
               %w0: tensor<7x7xf32> {pipe.param = #pipe.param<"w0", init = uniform(-0.5, 0.5)>},
               %w1: tensor<7x7xf32> {pipe.param = #pipe.param<"w1", init = uniform(-0.5, 0.5)>},
               %s: tensor<3x7xf32> {pipe.param = #pipe.param<"s", init = uniform(-0.5, 0.5)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<3x7xf32>, tensor<7x7xf32>) outs(%z : tensor<3x7xf32>) -> tensor<3x7xf32>
  %h1 = math.tanh %h0 : tensor<3x7xf32>
  %h2 = linalg.matmul ins(%h1, %w1 : tensor<3x7xf32>, tensor<7x7xf32>) outs(%z : tensor<3x7xf32>) -> tensor<3x7xf32>
  %scaled = arith.mulf %x, %s : tensor<3x7xf32>
  %h3 = arith.addf %h2, %scaled : tensor<3x7xf32>
  %e3 = tensor.empty() : tensor<f32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%h3 : tensor<3x7xf32>) outs(%z3 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
