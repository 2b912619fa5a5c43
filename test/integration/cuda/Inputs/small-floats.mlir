// A model that computes in bf16 on parameters of f32: products that the library
// rounds, one that starts from something, scores with a transpose, and one
// into f32.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

func.func @net(%x: tensor<6x8xf32> {pipe.batch = "x"}, %target: tensor<6x5xf32> {pipe.batch = "target"},
               %w0: tensor<8x12xf32> {pipe.param = #pipe.param<"w0", init = uniform(-0.5, 0.5)>},
               %b0: tensor<12xf32> {pipe.param = #pipe.param<"b0", init = uniform(-0.1, 0.1)>},
               %w1: tensor<12x12xf32> {pipe.param = #pipe.param<"w1", init = uniform(-0.3, 0.3)>},
               %w2: tensor<12x5xf32> {pipe.param = #pipe.param<"w2", init = uniform(-0.3, 0.3)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : bf16
  %c = arith.constant 0.125 : bf16
  %e6x12 = tensor.empty() : tensor<6x12xbf16>
  %z6x12 = linalg.fill ins(%zero : bf16) outs(%e6x12 : tensor<6x12xbf16>) -> tensor<6x12xbf16>
  %xh = arith.truncf %x : tensor<6x8xf32> to tensor<6x8xbf16>
  %w0h = arith.truncf %w0 : tensor<8x12xf32> to tensor<8x12xbf16>
  %b0h = arith.truncf %b0 : tensor<12xf32> to tensor<12xbf16>
  %w1h = arith.truncf %w1 : tensor<12x12xf32> to tensor<12x12xbf16>
  %w2h = arith.truncf %w2 : tensor<12x5xf32> to tensor<12x5xbf16>
  %p0 = linalg.matmul ins(%xh, %w0h : tensor<6x8xbf16>, tensor<8x12xbf16>) outs(%z6x12 : tensor<6x12xbf16>) -> tensor<6x12xbf16>
  %h0 = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %b0h : tensor<6x12xbf16>, tensor<12xbf16>) outs(%e6x12 : tensor<6x12xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %s = arith.addf %a, %b : bf16
    %t = math.tanh %s : bf16
    %u = arith.mulf %t, %s : bf16
    %v = arith.mulf %u, %half : bf16
    linalg.yield %v : bf16
  } -> tensor<6x12xbf16>
  %h1 = linalg.matmul ins(%h0, %w1h : tensor<6x12xbf16>, tensor<12x12xbf16>) outs(%h0 : tensor<6x12xbf16>) -> tensor<6x12xbf16>
  %e6x6 = tensor.empty() : tensor<6x6xbf16>
  %z6x6 = linalg.fill ins(%zero : bf16) outs(%e6x6 : tensor<6x6xbf16>) -> tensor<6x6xbf16>
  %scores = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%h1, %h1 : tensor<6x12xbf16>, tensor<6x12xbf16>) outs(%z6x6 : tensor<6x6xbf16>) -> tensor<6x6xbf16>
  %weights = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%scores : tensor<6x6xbf16>) outs(%e6x6 : tensor<6x6xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %s = arith.mulf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<6x6xbf16>
  %h2 = linalg.matmul ins(%weights, %h1 : tensor<6x6xbf16>, tensor<6x12xbf16>) outs(%z6x12 : tensor<6x12xbf16>) -> tensor<6x12xbf16>
  %e6x5 = tensor.empty() : tensor<6x5xf32>
  %z6x5 = linalg.fill ins(%zero32 : f32) outs(%e6x5 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = linalg.matmul ins(%h2, %w2h : tensor<6x12xbf16>, tensor<12x5xbf16>) outs(%z6x5 : tensor<6x5xf32>) -> tensor<6x5xf32>
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero32 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#ij, #ij, #none], iterator_types = ["reduction", "reduction"]}
      ins(%y, %target : tensor<6x5xf32>, tensor<6x5xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
