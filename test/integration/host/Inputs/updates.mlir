// Ops that update a tensor in place, where its memory is not theirs to write: a
// value of another chunk or a parameter, the last use of it or not.

#ij = affine_map<(i, j) -> (i, j)>

func.func @insert_last_use(%x: tensor<2x3xf64>, %w: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %five = arith.constant 5.0 : f64
  %a = arith.mulf %x, %w : tensor<2x3xf64>
  %b = tensor.insert %five into %x[%c0, %c1] : tensor<2x3xf64>
  %c = tensor.insert %five into %w[%c1, %c0] : tensor<2x3xf64>
  %d = arith.mulf %b, %c : tensor<2x3xf64>
  %e = arith.addf %a, %d : tensor<2x3xf64>
  return %e : tensor<2x3xf64>
}

func.func @insert_used_after(%x: tensor<2x3xf64>, %w: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.extract %w[%c1, %c1] : tensor<2x3xf64>
  %a = tensor.insert %s into %x[%c0, %c1] : tensor<2x3xf64>
  %t = tensor.extract %x[%c1, %c0] : tensor<2x3xf64>
  %b = tensor.insert %t into %w[%c1, %c0] : tensor<2x3xf64>
  %c = tensor.insert %t into %a[%c1, %c1] : tensor<2x3xf64>
  %d = arith.mulf %c, %x : tensor<2x3xf64>
  %e = arith.mulf %b, %w : tensor<2x3xf64>
  return %a, %d, %e : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

func.func @insert_row(%x: tensor<2x3xf64>, %w: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %c1 = arith.constant 1 : index
  %s = tensor.extract %w[%c1, %c1] : tensor<2x3xf64>
  %row = tensor.extract_slice %x[0, 0] [1, 3] [1, 1] : tensor<2x3xf64> to tensor<3xf64>
  %changed = tensor.insert %s into %row[%c1] : tensor<3xf64>
  %a = tensor.insert_slice %changed into %x[1, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<2x3xf64>
  %b = tensor.insert_slice %changed into %w[0, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<2x3xf64>
  %c = arith.mulf %a, %x : tensor<2x3xf64>
  %d = arith.mulf %b, %w : tensor<2x3xf64>
  return %c, %d : tensor<2x3xf64>, tensor<2x3xf64>
}

// A value of rank 0.
func.func @insert_scalar(%x: tensor<f64>, %w: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %s = tensor.extract %x[] : tensor<f64>
  %t = tensor.extract %w[] : tensor<f64>
  %p = arith.mulf %s, %t : f64
  %a = tensor.insert %p into %x[] : tensor<f64>
  %b = tensor.insert %s into %w[] : tensor<f64>
  %c = arith.mulf %a, %x : tensor<f64>
  %d = arith.mulf %b, %w : tensor<f64>
  return %c, %d : tensor<f64>, tensor<f64>
}

// Sums start from a value and from a parameter that are needed again.
func.func @outs(%x: tensor<3x3xf64>, %w: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %a = linalg.matmul ins(%w, %x : tensor<3x3xf64>, tensor<3x3xf64>) outs(%x : tensor<3x3xf64>) -> tensor<3x3xf64>
  %b = linalg.matmul ins(%a, %x : tensor<3x3xf64>, tensor<3x3xf64>) outs(%w : tensor<3x3xf64>) -> tensor<3x3xf64>
  %c = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x3xf64>) outs(%x : tensor<3x3xf64>) {
  ^bb0(%p: f64, %o: f64):
    %q = arith.mulf %p, %o : f64
    linalg.yield %q : f64
  } -> tensor<3x3xf64>
  return %b, %c : tensor<3x3xf64>, tensor<3x3xf64>
}

func.func @loop(%x: tensor<2x3xf64>, %w: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %w) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
    %p = tensor.extract %t[%c1, %i] : tensor<2x3xf64>
    %q = tensor.extract %x[%c0, %i] : tensor<2x3xf64>
    %r = arith.mulf %p, %q : f64
    %u = tensor.insert %r into %s[%c1, %i] : tensor<2x3xf64>
    %v = tensor.insert %r into %t[%c0, %i] : tensor<2x3xf64>
    scf.yield %u, %v : tensor<2x3xf64>, tensor<2x3xf64>
  }
  %c = arith.mulf %a, %x : tensor<2x3xf64>
  return %a, %b, %c : tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>
}

func.func @branch(%x: tensor<2x3xf64>, %w: tensor<2x3xf64> {test.range = [0.2, 1.0]}) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %s = tensor.extract %w[%c0, %c1] : tensor<2x3xf64>
  %p = arith.cmpf ogt, %s, %zero : f64
  %a = scf.if %p -> (tensor<2x3xf64>) {
    %b = tensor.insert %s into %x[%c1, %c1] : tensor<2x3xf64>
    scf.yield %b : tensor<2x3xf64>
  } else {
    scf.yield %x : tensor<2x3xf64>
  }
  %c = arith.mulf %a, %x : tensor<2x3xf64>
  return %a, %c : tensor<2x3xf64>, tensor<2x3xf64>
}
