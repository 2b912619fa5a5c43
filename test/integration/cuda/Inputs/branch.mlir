// A model with a dense constant, and a branch on a number of its data.
func.func @net(%x: tensor<4x8xf32> {pipe.batch = "x"},
               %w0: tensor<8x8xf32> {pipe.param = #pipe.param<"w0", init = uniform(-0.5, 0.5)>},
               %w1: tensor<8x2xf32> {pipe.param = #pipe.param<"w1", init = uniform(-0.5, 0.5)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %scale = arith.constant dense<[1.0, 2.0, 0.5, 0.25, 1.5, 3.0, 0.125, 0.75]> : tensor<8xf32>
  %e0 = tensor.empty() : tensor<4x8xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z0 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %h1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%h0, %scale : tensor<4x8xf32>, tensor<8xf32>) outs(%e0 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = math.tanh %p : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %first = tensor.extract %x[%c0, %c0] : tensor<4x8xf32>
  %positive = arith.cmpf ogt, %first, %zero : f32
  %e2 = tensor.empty() : tensor<4x2xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = scf.if %positive -> tensor<4x2xf32> {
    %y = linalg.matmul ins(%h1, %w1 : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z2 : tensor<4x2xf32>) -> tensor<4x2xf32>
    scf.yield %y : tensor<4x2xf32>
  } else {
    %y = linalg.matmul ins(%x, %w1 : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z2 : tensor<4x2xf32>) -> tensor<4x2xf32>
    scf.yield %y : tensor<4x2xf32>
  }
  %e3 = tensor.empty() : tensor<f32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%r : tensor<4x2xf32>) outs(%z3 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
