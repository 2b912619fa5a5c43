// A recurrence for one sample: its state starts without samples, as a constant
// and as a weight; what collects the outputs has them in a middle dimension, the
// first iteration takes a branch of its own, and a scalar is carried, too.
func.func @recurrence(%x: tensor<1x5x3xf32>) -> tensor<1x5x4xf32> {
  %w = arith.constant dense_resource<__elided__> : tensor<3x4xf32> loc("w")
  %u = arith.constant dense_resource<__elided__> : tensor<4x4xf32> loc("u")
  %start = arith.constant dense_resource<__elided__> : tensor<1x4xf32> loc("start")
  %first = arith.constant dense_resource<__elided__> : tensor<1x4xf32> loc("first")
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<1x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
  %y0 = tensor.empty() : tensor<5x1x4xf32>
  %r:4 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %start, %mean = %z, %y = %y0, %n = %zero)
      -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<5x1x4xf32>, f32) {
    %xt = tensor.extract_slice %x[0, %t, 0] [1, 1, 3] [1, 1, 1] : tensor<1x5x3xf32> to tensor<1x3xf32>
    %a = linalg.matmul ins(%xt, %w : tensor<1x3xf32>, tensor<3x4xf32>) outs(%z : tensor<1x4xf32>) -> tensor<1x4xf32>
    %is_first = arith.cmpi eq, %t, %c0 : index
    %b = scf.if %is_first -> tensor<1x4xf32> {
      scf.yield %first : tensor<1x4xf32>
    } else {
      %p = linalg.matmul ins(%h, %u : tensor<1x4xf32>, tensor<4x4xf32>) outs(%a : tensor<1x4xf32>) -> tensor<1x4xf32>
      scf.yield %p : tensor<1x4xf32>
    }
    %next = math.tanh %b : tensor<1x4xf32>
    %sum = arith.addf %mean, %next : tensor<1x4xf32>
    %m = arith.addf %n, %one : f32
    %scaled = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%sum : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %d = arith.divf %v, %m : f32
      linalg.yield %d : f32
    } -> tensor<1x4xf32>
    %rows = tensor.insert_slice %scaled into %y[%t, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x4xf32> into tensor<5x1x4xf32>
    scf.yield %next, %sum, %rows, %m : tensor<1x4xf32>, tensor<1x4xf32>, tensor<5x1x4xf32>, f32
  }
  %last = tensor.empty() : tensor<1x5x4xf32>
  %out = linalg.transpose ins(%r#2 : tensor<5x1x4xf32>) outs(%last : tensor<1x5x4xf32>) permutation = [1, 0, 2]
  return %out : tensor<1x5x4xf32>
}
