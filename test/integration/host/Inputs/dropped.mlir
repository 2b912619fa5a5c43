// A model for one sample that drops the dimension of samples, as those do that
// were written for a single one: vectors, scalars of a sample, a loss of rank 0
// and a metric.
#id1 = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @vectors(%x: tensor<1x6xf32>, %positions: tensor<1x2xi32>, %target: tensor<1xf32>) -> (tensor<f32>, tensor<f32>) {
  %w = arith.constant dense_resource<__elided__> : tensor<8x4xf32> loc("w")
  %v = arith.constant dense_resource<__elided__> : tensor<4xf32> loc("v")
  %filter = arith.constant dense_resource<__elided__> : tensor<3xf32> loc("filter")
  %zero = arith.constant 0.0 : f32
  %epsilon = arith.constant 0.1 : f32
  %sixth = arith.constant 0.16666666 : f32
  %c1 = arith.constant 1 : index

  // The norm of a vector: its mean and variance are scalars of each sample.
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<1x6xf32> into tensor<6xf32>
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%a : tensor<6xf32>) outs(%zs : tensor<f32>) dimensions = [0]
  %sixths = tensor.splat %sixth : tensor<f32>
  %mean = arith.mulf %sum, %sixths : tensor<f32>
  %e6 = tensor.empty() : tensor<6xf32>
  %centred = linalg.generic {indexing_maps = [#id1, #none, #id1], iterator_types = ["parallel"]}
      ins(%a, %mean : tensor<6xf32>, tensor<f32>) outs(%e6 : tensor<6xf32>) {
  ^bb0(%p: f32, %m: f32, %o: f32):
    %d = arith.subf %p, %m : f32
    linalg.yield %d : f32
  } -> tensor<6xf32>
  %squares = linalg.dot ins(%centred, %centred : tensor<6xf32>, tensor<6xf32>) outs(%zs : tensor<f32>) -> tensor<f32>
  %one = tensor.expand_shape %squares [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %normed = linalg.generic {indexing_maps = [#id1, affine_map<(i) -> (0)>, #id1], iterator_types = ["parallel"]}
      ins(%centred, %one : tensor<6xf32>, tensor<1xf32>) outs(%e6 : tensor<6xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %e = arith.addf %s, %epsilon : f32
    %r = math.rsqrt %e : f32
    %n = arith.mulf %p, %r : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>

  // Neighbours in the vector are its own.
  %wide = tensor.pad %normed low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<6xf32> to tensor<8xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%e6 : tensor<6xf32>) -> tensor<6xf32>
  %filtered = linalg.conv_1d ins(%wide, %filter : tensor<8xf32>, tensor<3xf32>) outs(%z6 : tensor<6xf32>) -> tensor<6xf32>

  // Two elements that the sample chooses.
  %at = tensor.collapse_shape %positions [[0, 1]] : tensor<1x2xi32> into tensor<2xi32>
  %e2 = tensor.empty() : tensor<2xf32>
  %chosen = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%at : tensor<2xi32>) outs(%e2 : tensor<2xf32>) {
  ^bb0(%p: i32, %o: f32):
    %i = arith.index_cast %p : i32 to index
    %e = tensor.extract %filtered[%i] : tensor<6xf32>
    %s = tensor.extract %mean[] : tensor<f32>
    %r = arith.addf %e, %s : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  %both = tensor.concat dim(0) %filtered, %chosen : (tensor<6xf32>, tensor<2xf32>) -> tensor<8xf32>
  %turned = tensor.extract_slice %both[0] [4] [2] : tensor<8xf32> to tensor<4xf32>
  %mixed = tensor.insert_slice %turned into %both[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %e8 = tensor.empty() : tensor<8xf32>
  %soft = linalg.softmax dimension(0) ins(%mixed : tensor<8xf32>) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>

  %e4 = tensor.empty() : tensor<4xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %h = linalg.vecmat ins(%soft, %w : tensor<8xf32>, tensor<8x4xf32>) outs(%z4 : tensor<4xf32>) -> tensor<4xf32>
  %shape = arith.constant dense<[2, 2]> : tensor<2xi32>
  %square = tensor.reshape %h(%shape) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %flat = tensor.collapse_shape %square [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %y = linalg.dot ins(%flat, %v : tensor<4xf32>, tensor<4xf32>) outs(%zs : tensor<f32>) -> tensor<f32>
  %t = tensor.collapse_shape %target [] : tensor<1xf32> into tensor<f32>
  %difference = arith.subf %y, %t : tensor<f32>
  %loss = arith.mulf %difference, %difference : tensor<f32>
  return %loss, %difference : tensor<f32>, tensor<f32>
}
