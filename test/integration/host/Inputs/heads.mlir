// A decoder layer for one sample that attends to an encoder's states, head by
// head, as a converter of flat files writes it: each head is a slice of what
// samples are merged with, its products are of two matrices that both depend on
// data, and heads are put together row by row. The position's bias is an
// argument of the same rank without samples; a class token comes first.
#id2 = affine_map<(i, j) -> (i, j)>
func.func @layer(%x: tensor<1x3x6xf32>, %states: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
  %wq = arith.constant dense_resource<__elided__> : tensor<6x6xf32> loc("wq")
  %wk = arith.constant dense_resource<__elided__> : tensor<6x6xf32> loc("wk")
  %wv = arith.constant dense_resource<__elided__> : tensor<6x6xf32> loc("wv")
  %token = arith.constant dense_resource<__elided__> : tensor<1x6xf32> loc("token")
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32

  // Four rows: the token and three of the sample, merged with it.
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x3x6xf32> into tensor<3x6xf32>
  %all = tensor.concat dim(0) %token, %rows : (tensor<1x6xf32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  %encoded = tensor.collapse_shape %states [[0, 1], [2]] : tensor<1x4x6xf32> into tensor<4x6xf32>
  %e46 = tensor.empty() : tensor<4x6xf32>
  %z46 = linalg.fill ins(%zero : f32) outs(%e46 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %q = linalg.matmul ins(%all, %wq : tensor<4x6xf32>, tensor<6x6xf32>) outs(%z46 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %k = linalg.matmul ins(%encoded, %wk : tensor<4x6xf32>, tensor<6x6xf32>) outs(%z46 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = linalg.matmul ins(%encoded, %wv : tensor<4x6xf32>, tensor<6x6xf32>) outs(%z46 : tensor<4x6xf32>) -> tensor<4x6xf32>

  // Two heads of 3, queries as [head, position, 3], keys as [head, 3, position].
  %q4 = tensor.expand_shape %q [[0, 1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<4x6xf32> into tensor<1x4x2x3xf32>
  %k4 = tensor.expand_shape %k [[0, 1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<4x6xf32> into tensor<1x4x2x3xf32>
  %eq = tensor.empty() : tensor<1x2x4x3xf32>
  %qh = linalg.transpose ins(%q4 : tensor<1x4x2x3xf32>) outs(%eq : tensor<1x2x4x3xf32>) permutation = [0, 2, 1, 3]
  %ek = tensor.empty() : tensor<1x2x3x4xf32>
  %kh = linalg.transpose ins(%k4 : tensor<1x4x2x3xf32>) outs(%ek : tensor<1x2x3x4xf32>) permutation = [0, 2, 3, 1]
  %q3 = tensor.collapse_shape %qh [[0, 1], [2], [3]] : tensor<1x2x4x3xf32> into tensor<2x4x3xf32>
  %k3 = tensor.collapse_shape %kh [[0, 1], [2], [3]] : tensor<1x2x3x4xf32> into tensor<2x3x4xf32>
  %q0 = tensor.extract_slice %q3[0, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<1x4x3xf32>
  %k0 = tensor.extract_slice %k3[0, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<1x3x4xf32>
  %q0m = tensor.collapse_shape %q0 [[0, 1], [2]] : tensor<1x4x3xf32> into tensor<4x3xf32>
  %k0m = tensor.collapse_shape %k0 [[0, 1], [2]] : tensor<1x3x4xf32> into tensor<3x4xf32>
  // The second head's dimension is dropped at once.
  %q1m = tensor.extract_slice %q3[1, 0, 0] [1, 4, 3] [1, 1, 1] : tensor<2x4x3xf32> to tensor<4x3xf32>
  %k1m = tensor.extract_slice %k3[1, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<3x4xf32>
  %e44 = tensor.empty() : tensor<4x4xf32>
  %z44 = linalg.fill ins(%zero : f32) outs(%e44 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s0 = linalg.matmul ins(%q0m, %k0m : tensor<4x3xf32>, tensor<3x4xf32>) outs(%z44 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s1 = linalg.matmul ins(%q1m, %k1m : tensor<4x3xf32>, tensor<3x4xf32>) outs(%z44 : tensor<4x4xf32>) -> tensor<4x4xf32>

  // Put together, the one by its rows, the other as a slice of rank 2 again.
  %e84 = tensor.empty() : tensor<8x4xf32>
  %i0 = tensor.insert_slice %s0 into %e84[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  %i1 = tensor.insert_slice %s1 into %i0[4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  %scores = tensor.expand_shape %i1 [[0, 1, 2], [3]] output_shape [1, 2, 4, 4] : tensor<8x4xf32> into tensor<1x2x4x4xf32>
  %e1244 = tensor.empty() : tensor<1x2x4x4xf32>
  %soft = linalg.softmax dimension(3) ins(%scores : tensor<1x2x4x4xf32>) outs(%e1244 : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>

  // Values by head, cut out of the merged matrix by columns.
  %v0 = tensor.extract_slice %v[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %v1 = tensor.extract_slice %v[0, 3] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %p0 = tensor.extract_slice %soft[0, 0, 0, 0] [1, 1, 4, 4] [1, 1, 1, 1] : tensor<1x2x4x4xf32> to tensor<4x4xf32>
  %p1 = tensor.extract_slice %soft[0, 1, 0, 0] [1, 1, 4, 4] [1, 1, 1, 1] : tensor<1x2x4x4xf32> to tensor<4x4xf32>
  %e43 = tensor.empty() : tensor<4x3xf32>
  %z43 = linalg.fill ins(%zero : f32) outs(%e43 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %m0 = linalg.matmul ins(%p0, %v0 : tensor<4x4xf32>, tensor<4x3xf32>) outs(%z43 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %m1 = linalg.matmul ins(%p1, %v1 : tensor<4x4xf32>, tensor<4x3xf32>) outs(%z43 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %mixed = tensor.concat dim(1) %m0, %m1 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>

  // The largest of each column, over all rows of a sample, is taken off.
  %e6 = tensor.empty() : tensor<6xf32>
  %l6 = linalg.fill ins(%lowest : f32) outs(%e6 : tensor<6xf32>) -> tensor<6xf32>
  %most = linalg.reduce { arith.maximumf } ins(%mixed : tensor<4x6xf32>) outs(%l6 : tensor<6xf32>) dimensions = [0]
  %out = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (j)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%mixed, %most : tensor<4x6xf32>, tensor<6xf32>) outs(%e46 : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4x6xf32>
  %y = tensor.expand_shape %out [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>
  return %y : tensor<1x4x6xf32>
}
