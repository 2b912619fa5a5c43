// Two MLPs with GELU, which compute in bf16 on parameters of f32; GELU itself in
// f32.

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

func.func @mlp(%x: tensor<8x16xf32> {pipe.batch = "x"}, %target: tensor<8x16xf32> {pipe.batch = "target"},
    %w0: tensor<16x32xf32> {pipe.param = #pipe.param<"up0", init = uniform(-0.3, 0.3)>},
    %b0: tensor<32xf32> {pipe.param = #pipe.param<"bias0", init = uniform(-0.1, 0.1)>},
    %v0: tensor<32x16xf32> {pipe.param = #pipe.param<"down0", init = uniform(-0.3, 0.3)>},
    %w1: tensor<16x32xf32> {pipe.param = #pipe.param<"up1", init = uniform(-0.3, 0.3)>},
    %b1: tensor<32xf32> {pipe.param = #pipe.param<"bias1", init = uniform(-0.1, 0.1)>},
    %v1: tensor<32x16xf32> {pipe.param = #pipe.param<"down1", init = uniform(-0.3, 0.3)>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %factor = arith.constant 0.797884583 : f32
  %eh = tensor.empty() : tensor<8x32xbf16>
  %zh = linalg.fill ins(%zero : bf16) outs(%eh : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %ed = tensor.empty() : tensor<8x16xbf16>
  %zd = linalg.fill ins(%zero : bf16) outs(%ed : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %xh = arith.truncf %x : tensor<8x16xf32> to tensor<8x16xbf16>
  %w0h = arith.truncf %w0 : tensor<16x32xf32> to tensor<16x32xbf16>
  %b0h = arith.truncf %b0 : tensor<32xf32> to tensor<32xbf16>
  %v0h = arith.truncf %v0 : tensor<32x16xf32> to tensor<32x16xbf16>
  %p0 = linalg.matmul ins(%xh, %w0h : tensor<8x16xbf16>, tensor<16x32xbf16>) outs(%zh : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %s0 = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p0, %b0h : tensor<8x32xbf16>, tensor<32xbf16>) outs(%eh : tensor<8x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.addf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<8x32xbf16>
  %g0 = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%s0 : tensor<8x32xbf16>) outs(%eh : tensor<8x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %u = arith.extf %a : bf16 to f32
    %1 = arith.mulf %u, %u : f32
    %2 = arith.mulf %1, %u : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %u, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %h = arith.mulf %u, %half : f32
    %8 = arith.mulf %h, %7 : f32
    %r = arith.truncf %8 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<8x32xbf16>
  %y0 = linalg.matmul ins(%g0, %v0h : tensor<8x32xbf16>, tensor<32x16xbf16>) outs(%zd : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %z0 = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%xh, %y0 : tensor<8x16xbf16>, tensor<8x16xbf16>) outs(%ed : tensor<8x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.addf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<8x16xbf16>
  %w1h = arith.truncf %w1 : tensor<16x32xf32> to tensor<16x32xbf16>
  %b1h = arith.truncf %b1 : tensor<32xf32> to tensor<32xbf16>
  %v1h = arith.truncf %v1 : tensor<32x16xf32> to tensor<32x16xbf16>
  %p1 = linalg.matmul ins(%z0, %w1h : tensor<8x16xbf16>, tensor<16x32xbf16>) outs(%zh : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  %s1 = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p1, %b1h : tensor<8x32xbf16>, tensor<32xbf16>) outs(%eh : tensor<8x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.addf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<8x32xbf16>
  %g1 = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%s1 : tensor<8x32xbf16>) outs(%eh : tensor<8x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %u = arith.extf %a : bf16 to f32
    %1 = arith.mulf %u, %u : f32
    %2 = arith.mulf %1, %u : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %u, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %h = arith.mulf %u, %half : f32
    %8 = arith.mulf %h, %7 : f32
    %r = arith.truncf %8 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<8x32xbf16>
  %y1 = linalg.matmul ins(%g1, %v1h : tensor<8x32xbf16>, tensor<32x16xbf16>) outs(%zd : tensor<8x16xbf16>) -> tensor<8x16xbf16>
  %z1 = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%z0, %y1 : tensor<8x16xbf16>, tensor<8x16xbf16>) outs(%ed : tensor<8x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.addf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<8x16xbf16>
  %last = arith.extf %z1 : tensor<8x16xbf16> to tensor<8x16xf32>
  %e = tensor.empty() : tensor<f32>
  %zl = linalg.fill ins(%zero32 : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#ij, #ij, #none], iterator_types = ["reduction", "reduction"]}
      ins(%last, %target : tensor<8x16xf32>, tensor<8x16xf32>) outs(%zl : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
