// The rules of tensor ops.

func.func @extract_slice(%x: tensor<4x6xf64>, %w: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %a = tensor.extract_slice %x[1, 0] [2, 3] [1, 2] : tensor<4x6xf64> to tensor<2x3xf64>
  %y = arith.mulf %a, %w : tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

// Slices that cover their source, one of them twice, one that overlaps, and a rank-reducing one.
func.func @many_slices(%x: tensor<4x6xf64>) -> (tensor<4x3xf64>, tensor<4x2xf64>, tensor<6xf64>) {
  %a = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x6xf64> to tensor<4x3xf64>
  %b = tensor.extract_slice %x[0, 3] [4, 3] [1, 1] : tensor<4x6xf64> to tensor<4x3xf64>
  %c = tensor.extract_slice %x[0, 2] [4, 2] [1, 1] : tensor<4x6xf64> to tensor<4x2xf64>
  %d = tensor.extract_slice %x[1, 0] [1, 6] [1, 1] : tensor<4x6xf64> to tensor<6xf64>
  %p = arith.mulf %a, %b : tensor<4x3xf64>
  %q = arith.mulf %p, %a : tensor<4x3xf64>
  %r = arith.mulf %c, %c : tensor<4x2xf64>
  %s = arith.mulf %d, %d : tensor<6xf64>
  return %q, %r, %s : tensor<4x3xf64>, tensor<4x2xf64>, tensor<6xf64>
}

func.func @insert_slice(%x: tensor<2x3xf64>, %y: tensor<4x6xf64>) -> tensor<4x6xf64> {
  %a = tensor.insert_slice %x into %y[1, 0] [2, 3] [1, 2] : tensor<2x3xf64> into tensor<4x6xf64>
  %z = arith.mulf %a, %a : tensor<4x6xf64>
  return %z : tensor<4x6xf64>
}

func.func @shapes(%x: tensor<4x6xf64>) -> (tensor<2x2x6xf64>, tensor<24xf64>, tensor<3x8xf64>, tensor<4x6xf64>) {
  %a = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf64> into tensor<2x2x6xf64>
  %b = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf64> into tensor<24xf64>
  %shape = arith.constant dense<[3, 8]> : tensor<2xindex>
  %c = tensor.reshape %x(%shape) : (tensor<4x6xf64>, tensor<2xindex>) -> tensor<3x8xf64>
  %d = tensor.cast %x : tensor<4x6xf64> to tensor<4x6xf64>
  %p = arith.mulf %a, %a : tensor<2x2x6xf64>
  %q = math.exp %b : tensor<24xf64>
  %r = arith.mulf %c, %c : tensor<3x8xf64>
  return %p, %q, %r, %d : tensor<2x2x6xf64>, tensor<24xf64>, tensor<3x8xf64>, tensor<4x6xf64>
}

func.func @concat(%x: tensor<2x3xf64>, %y: tensor<2x1xf64>) -> tensor<2x7xf64> {
  %a = tensor.concat dim(1) %x, %y, %x : (tensor<2x3xf64>, tensor<2x1xf64>, tensor<2x3xf64>) -> tensor<2x7xf64>
  %z = arith.mulf %a, %a : tensor<2x7xf64>
  return %z : tensor<2x7xf64>
}

func.func @pad(%x: tensor<2x3xf64>) -> tensor<3x6xf64> {
  %c = arith.constant 0.5 : f64
  %a = tensor.pad %x low[1, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f64
  } : tensor<2x3xf64> to tensor<3x6xf64>
  %z = arith.mulf %a, %a : tensor<3x6xf64>
  return %z : tensor<3x6xf64>
}

// The padding is a value whose gradient is wanted.
func.func @pad_with_value(%x: tensor<2x3xf64>, %p: tensor<f64>) -> tensor<3x6xf64> {
  %c = tensor.extract %p[] : tensor<f64>
  %a = tensor.pad %x low[1, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f64
  } : tensor<2x3xf64> to tensor<3x6xf64>
  %z = arith.mulf %a, %a : tensor<3x6xf64>
  return %z : tensor<3x6xf64>
}

func.func @elements(%x: tensor<4xf64>) -> (tensor<2x3xf64>, tensor<2x2xf64>, tensor<4xf64>) {
  %i = arith.constant 1 : index
  %j = arith.constant 3 : index
  %a = tensor.extract %x[%i] : tensor<4xf64>
  %b = tensor.extract %x[%j] : tensor<4xf64>
  %c = arith.mulf %a, %b : f64
  %s = tensor.splat %c : tensor<2x3xf64>
  %f = tensor.from_elements %a, %c, %b, %a : tensor<2x2xf64>
  %n = tensor.insert %c into %x[%j] : tensor<4xf64>
  %m = arith.mulf %n, %n : tensor<4xf64>
  return %s, %f, %m : tensor<2x3xf64>, tensor<2x2xf64>, tensor<4xf64>
}

// An argument that is returned as it is, one that nothing depends on, and an
// integer between two floats.
func.func @through(%x: tensor<3xf64>, %unused: tensor<3xf64>, %y: tensor<3xf64> {test.range = [1.2, 1.8]}) -> (tensor<3xf64>, tensor<3xf64>) {
  %i = arith.fptosi %y : tensor<3xf64> to tensor<3xi32>
  %f = arith.sitofp %i : tensor<3xi32> to tensor<3xf64>
  %p = arith.mulf %f, %x : tensor<3xf64>
  return %x, %p : tensor<3xf64>, tensor<3xf64>
}

// Slices of a transposed tensor are taken first: with an offset, a stride, a
// dropped dimension, one that leaves nothing to transpose.
func.func @slices_of_transpose(%x: tensor<2x3x4xf64>) -> (tensor<2x2xf64>, tensor<2x3x1xf64>, tensor<3x2xf64>) {
  %e = tensor.empty() : tensor<4x2x3xf64>
  %t = linalg.transpose ins(%x : tensor<2x3x4xf64>) outs(%e : tensor<4x2x3xf64>) permutation = [2, 0, 1]
  %a = tensor.extract_slice %t[1, 0, 1] [2, 2, 1] [2, 1, 1] : tensor<4x2x3xf64> to tensor<2x2xf64>
  %b = tensor.extract_slice %t[1, 0, 2] [2, 2, 1] [1, 1, 1] : tensor<4x2x3xf64> to tensor<2x2x1xf64>
  %c = tensor.extract_slice %t[2, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<4x2x3xf64> to tensor<2x3xf64>
  %p = arith.mulf %a, %a : tensor<2x2xf64>
  %q = math.exp %b : tensor<2x2x1xf64>
  %padded = tensor.concat dim(1) %q, %b, %q : (tensor<2x2x1xf64>, tensor<2x2x1xf64>, tensor<2x2x1xf64>) -> tensor<2x6x1xf64>
  %r = tensor.extract_slice %padded[0, 1, 0] [2, 3, 1] [1, 1, 1] : tensor<2x6x1xf64> to tensor<2x3x1xf64>
  %f = tensor.empty() : tensor<3x2xf64>
  %u = linalg.transpose ins(%c : tensor<2x3xf64>) outs(%f : tensor<3x2xf64>) permutation = [1, 0]
  %s = arith.mulf %u, %u : tensor<3x2xf64>
  return %p, %r, %s : tensor<2x2xf64>, tensor<2x3x1xf64>, tensor<3x2xf64>
}

// What is padded with depends on where it is.
func.func @pad_by_index(%x: tensor<2x3xf64>, %edge: tensor<6xf64>) -> tensor<3x6xf64> {
  %a = tensor.pad %x low[1, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %edge[%j] : tensor<6xf64>
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f64
    %s = arith.addf %e, %f : f64
    tensor.yield %s : f64
  } : tensor<2x3xf64> to tensor<3x6xf64>
  %z = arith.mulf %a, %a : tensor<3x6xf64>
  return %z : tensor<3x6xf64>
}
