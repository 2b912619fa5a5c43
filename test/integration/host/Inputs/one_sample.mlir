// A model for one sample with what makes several difficult: samples merged with
// positions, a position embedding, heads that are transposed and sliced, a
// lookup, a mask of positions, a broadcast read at 0, a product with a weight
// that has a batch dimension, a side input that is broadcast within.
#id2 = affine_map<(i, j) -> (i, j)>
#id3 = affine_map<(b, i, j) -> (b, i, j)>
func.func @net(%tokens: tensor<1x4xi32>, %scale: tensor<1x1x1xf32>) -> tensor<1x5xf32> {
  %table = arith.constant dense_resource<__elided__> : tensor<7x6xf32> loc("table")
  %positions = arith.constant dense_resource<__elided__> : tensor<4x6xf32> loc("positions")
  %wq = arith.constant dense_resource<__elided__> : tensor<1x6x6xf32> loc("wq")
  %wo = arith.constant dense_resource<__elided__> : tensor<12x5xf32> loc("wo")
  %bias = arith.constant dense_resource<__elided__> : tensor<5xf32> loc("bias")
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index

  // [4, 6]: samples become part of the first dimension.
  %ids = tensor.collapse_shape %tokens [[0, 1]] : tensor<1x4xi32> into tensor<4xi32>
  %e0 = tensor.empty() : tensor<4x6xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%e0 : tensor<4x6xf32>) {
  ^bb0(%id: i32, %out: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<7x6xf32>
    linalg.yield %value : f32
  } -> tensor<4x6xf32>
  %placed = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %positions : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e0 : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %sum = arith.addf %a, %b : f32
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = arith.addf %sum, %f : f32
    linalg.yield %r : f32
  } -> tensor<4x6xf32>

  // A product whose weight has a batch dimension of one.
  %x = tensor.expand_shape %placed [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>
  %e1 = tensor.empty() : tensor<1x4x6xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %q = linalg.batch_matmul ins(%x, %wq : tensor<1x4x6xf32>, tensor<1x6x6xf32>) outs(%z1 : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>

  // Heads: samples are merged with two of them, and sliced.
  %split = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %e2 = tensor.empty() : tensor<1x2x4x3xf32>
  %heads = linalg.transpose ins(%split : tensor<1x4x2x3xf32>) outs(%e2 : tensor<1x2x4x3xf32>) permutation = [0, 2, 1, 3]
  %merged = tensor.collapse_shape %heads [[0, 1], [2], [3]] : tensor<1x2x4x3xf32> into tensor<2x4x3xf32>
  %e3 = tensor.empty() : tensor<2x3x4xf32>
  %turned = linalg.transpose ins(%merged : tensor<2x4x3xf32>) outs(%e3 : tensor<2x3x4xf32>) permutation = [0, 2, 1]
  %e4 = tensor.empty() : tensor<2x4x4xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %scores = linalg.batch_matmul ins(%merged, %turned : tensor<2x4x3xf32>, tensor<2x3x4xf32>) outs(%z4 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // One scale a sample, for all of its heads.
  %scaled = linalg.generic {indexing_maps = [#id3, affine_map<(b, i, j) -> (0, 0, 0)>, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %scale : tensor<2x4x4xf32>, tensor<1x1x1xf32>) outs(%e4 : tensor<2x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x4x4xf32>
  %soft = linalg.softmax dimension(2) ins(%scaled : tensor<2x4x4xf32>) outs(%e4 : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %z5 = tensor.empty() : tensor<2x4x3xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%z5 : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %mixed = linalg.batch_matmul ins(%soft, %merged : tensor<2x4x4xf32>, tensor<2x4x3xf32>) outs(%f5 : tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %head1 = tensor.extract_slice %mixed[1, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<1x4x3xf32>
  %last = tensor.extract_slice %q[0, 3, 0] [1, 1, 3] [1, 1, 1] : tensor<1x4x6xf32> to tensor<1x3xf32>
  %wide = tensor.pad %last low[%c0, 0] high[%c0, 9] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x3xf32> to tensor<1x12xf32>

  %flat = tensor.collapse_shape %head1 [[0], [1, 2]] : tensor<1x4x3xf32> into tensor<1x12xf32>
  %all = arith.addf %flat, %wide : tensor<1x12xf32>
  %e6 = tensor.empty() : tensor<1x5xf32>
  %start = linalg.broadcast ins(%bias : tensor<5xf32>) outs(%e6 : tensor<1x5xf32>) dimensions = [0]
  %y = linalg.matmul ins(%all, %wo : tensor<1x12xf32>, tensor<12x5xf32>) outs(%start : tensor<1x5xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}
