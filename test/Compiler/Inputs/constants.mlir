// Dense constants: one of 24 numbers in both chunks, twice in the first one, and
// one of 4 numbers.

#ij = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

func.func @net(%x: tensor<6x4xf32> {pipe.batch = "x"},
               %w0: tensor<4x4xf32> {pipe.param = #pipe.param<"w0", init = normal(0.0, 0.1)>},
               %w1: tensor<4x4xf32> {pipe.param = #pipe.param<"w1", init = normal(0.0, 0.1)>}) -> tensor<f32> {
  %table = arith.constant dense<[[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 5.0, 6.0], [4.0, 5.0, 6.0, 7.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<6x4xf32>
  %row = arith.constant dense<[0.5, 1.5, 2.5, 3.5]> : tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
  %p0 = linalg.matmul ins(%x, %w0 : tensor<6x4xf32>, tensor<4x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
  %a = arith.addf %p0, %table : tensor<6x4xf32>
  %s0 = math.sin %a : tensor<6x4xf32>
  %b = linalg.broadcast ins(%row : tensor<4xf32>) outs(%e : tensor<6x4xf32>) dimensions = [0]
  %s1 = arith.mulf %s0, %b : tensor<6x4xf32>
  %s = arith.mulf %s1, %table : tensor<6x4xf32>
  %h = pipe.boundary %s : tensor<6x4xf32>
  %p1 = linalg.matmul ins(%h, %w1 : tensor<6x4xf32>, tensor<4x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
  %y = arith.mulf %p1, %table : tensor<6x4xf32>
  %f = tensor.empty() : tensor<f32>
  %zf = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#ij, #none], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<6x4xf32>) outs(%zf : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %q = arith.mulf %v, %v : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
