// The rule of structured ops: maps, iterators, captured values, inits.

#id1 = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#i0 = affine_map<(i, j) -> (i, 0)>
#none = affine_map<(i, j) -> ()>
#ii = affine_map<(i) -> (i, i)>
#window = affine_map<(o, k) -> (o + k)>
#out = affine_map<(o, k) -> (o)>
#kernel = affine_map<(o, k) -> (k)>

// A bias in `outs` carries a gradient.
func.func @matmul_bias(%a: tensor<3x4xf64>, %b: tensor<4x5xf64>, %c: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x4xf64>, tensor<4x5xf64>) outs(%c : tensor<3x5xf64>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

func.func @matmul_transposed(%a: tensor<4x3xf64>, %b: tensor<5x4xf64>) -> tensor<3x5xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x5xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3x5xf64>) -> tensor<3x5xf64>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x3xf64>, tensor<5x4xf64>) outs(%c : tensor<3x5xf64>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

// A broadcast in the maps of a matmul.
func.func @matmul_broadcast(%a: tensor<4xf64>, %b: tensor<5x4xf64>) -> tensor<3x5xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x5xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3x5xf64>) -> tensor<3x5xf64>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4xf64>, tensor<5x4xf64>) outs(%c : tensor<3x5xf64>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

// An argument used twice.
func.func @matmul_with_itself(%a: tensor<3x3xf64>) -> tensor<3x3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x3xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3x3xf64>) -> tensor<3x3xf64>
  %0 = linalg.matmul ins(%a, %a : tensor<3x3xf64>, tensor<3x3xf64>) outs(%c : tensor<3x3xf64>) -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

func.func @batch_matmul(%a: tensor<2x3x4xf64>, %b: tensor<2x4x5xf64>, %c: tensor<2x3x5xf64>) -> tensor<2x3x5xf64> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x5xf64>) outs(%c : tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @batch_reduce_matmul(%a: tensor<2x3x4xf64>, %b: tensor<2x4x5xf64>, %c: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %0 = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x3x4xf64>, tensor<2x4x5xf64>) outs(%c : tensor<3x5xf64>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}

// [batch, time, channel] times a weight: the weight's adjoint sums over two dimensions.
func.func @contract(%a: tensor<2x3x4xf64>, %b: tensor<4x5xf64>, %c: tensor<2x3x5xf64>) -> tensor<2x3x5xf64> {
  %0 = linalg.contract indexing_maps = [affine_map<(b, t, n, k) -> (b, t, k)>, affine_map<(b, t, n, k) -> (k, n)>, affine_map<(b, t, n, k) -> (b, t, n)>]
    ins(%a, %b : tensor<2x3x4xf64>, tensor<4x5xf64>) outs(%c : tensor<2x3x5xf64>) -> tensor<2x3x5xf64>
  return %0 : tensor<2x3x5xf64>
}

func.func @matvec(%a: tensor<3x4xf64>, %x: tensor<4xf64>, %c: tensor<3xf64>) -> tensor<3xf64> {
  %0 = linalg.matvec ins(%a, %x : tensor<3x4xf64>, tensor<4xf64>) outs(%c : tensor<3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @vecmat(%x: tensor<3xf64>, %a: tensor<3x4xf64>, %c: tensor<4xf64>) -> tensor<4xf64> {
  %0 = linalg.vecmat ins(%x, %a : tensor<3xf64>, tensor<3x4xf64>) outs(%c : tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @batch_matvec(%a: tensor<2x3x4xf64>, %x: tensor<2x4xf64>, %c: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %0 = linalg.batch_matvec ins(%a, %x : tensor<2x3x4xf64>, tensor<2x4xf64>) outs(%c : tensor<2x3xf64>) -> tensor<2x3xf64>
  return %0 : tensor<2x3xf64>
}

func.func @batch_vecmat(%x: tensor<2x3xf64>, %a: tensor<2x3x4xf64>, %c: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %0 = linalg.batch_vecmat ins(%x, %a : tensor<2x3xf64>, tensor<2x3x4xf64>) outs(%c : tensor<2x4xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

func.func @dot(%x: tensor<3xf64>, %y: tensor<3xf64>, %c: tensor<f64>) -> tensor<f64> attributes {test.loss} {
  %0 = linalg.dot ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%c : tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}

func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
  %e = tensor.empty() : tensor<4x2x3xf64>
  %0 = linalg.transpose ins(%x : tensor<2x3x4xf64>) outs(%e : tensor<4x2x3xf64>) permutation = [2, 0, 1]
  return %0 : tensor<4x2x3xf64>
}

func.func @broadcast(%x: tensor<3xf64>) -> tensor<2x3xf64> {
  %e = tensor.empty() : tensor<2x3xf64>
  %0 = linalg.broadcast ins(%x : tensor<3xf64>) outs(%e : tensor<2x3xf64>) dimensions = [0]
  return %0 : tensor<2x3xf64>
}

func.func @copy(%x: tensor<3xf64>) -> tensor<3xf64> {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.copy ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce(%x: tensor<3x4xf64>, %init: tensor<3xf64>) -> tensor<3xf64> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
  return %0 : tensor<3xf64>
}

// The init takes part in the maximum.
func.func @reduce_max(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [0.0, 0.9]}) -> tensor<3xf64> {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
  return %0 : tensor<3xf64>
}

func.func @reduce_min(%x: tensor<3x4xf64>) -> tensor<4xf64> {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<4xf64>
  %init = linalg.fill ins(%inf : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %0 = linalg.reduce { arith.minnumf } ins(%x : tensor<3x4xf64>) outs(%init : tensor<4xf64>) dimensions = [0]
  return %0 : tensor<4xf64>
}

// The largest as exporters write it, NaN if one is, and the smallest with its
// place, where a NaN is asked for in the condition.
func.func @reduce_max_nan(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [-9.0, -8.0]}) -> tensor<3xf64> {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) {
  ^bb0(%a: f64, %m: f64):
    %c = arith.cmpf ogt, %m, %a : f64
    %s = arith.select %c, %m, %a : f64
    %o = arith.cmpf ord, %a, %m : f64
    %r = arith.select %o, %s, %nan : f64
    linalg.yield %r : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_min_nan(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [8.0, 9.0]}) -> tensor<3xf64> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %first = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf64>) outs(%init, %first : tensor<3xf64>, tensor<3xi32>) {
  ^bb0(%a: f64, %m: f64, %at: i32):
    %j = linalg.index 1 : index
    %number = arith.index_cast %j : index to i32
    %c = arith.cmpf olt, %a, %m : f64
    %n = arith.cmpf une, %a, %a : f64
    %either = arith.ori %c, %n : i1
    %r = arith.select %either, %a, %m : f64
    %where = arith.select %either, %number, %at : i32
    linalg.yield %r, %where : f64, i32
  } -> (tensor<3xf64>, tensor<3xi32>)
  return %0#0 : tensor<3xf64>
}

// Of equal elements the first: the value, too, is chosen by places.
func.func @reduce_max_ties(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [-9.0, -8.0]}) -> tensor<3xf64> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %first = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %0:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<3x4xf64>) outs(%init, %first : tensor<3xf64>, tensor<3xi32>) {
  ^bb0(%a: f64, %m: f64, %at: i32):
    %j = linalg.index 1 : index
    %number = arith.index_cast %j : index to i32
    %c = arith.cmpf ogt, %a, %m : f64
    %n = arith.cmpf une, %a, %a : f64
    %greater = arith.ori %c, %n : i1
    %tie = arith.cmpf oeq, %a, %m : f64
    %before = arith.cmpi slt, %number, %at : i32
    %earlier = arith.andi %tie, %before : i1
    %either = arith.ori %greater, %earlier : i1
    %r = arith.select %either, %a, %m : f64
    %where = arith.select %either, %number, %at : i32
    linalg.yield %r, %where : f64, i32
  } -> (tensor<3xf64>, tensor<3xi32>)
  return %0#0 : tensor<3xf64>
}

// Between two numbers, NaN where the element is.
func.func @clamp_nan(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %low = arith.constant -0.5 : f64
  %high = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<3x4xf64>
  %0 = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %l = arith.cmpf ogt, %a, %low : f64
    %s = arith.select %l, %a, %low : f64
    %h = arith.cmpf olt, %s, %high : f64
    %t = arith.select %h, %s, %high : f64
    %u = arith.cmpf uno, %a, %a : f64
    %r = arith.select %u, %nan, %t : f64
    linalg.yield %r : f64
  } -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// JAX's pair of the largest and its place, as linalg.reduce.
func.func @reduce_pair_nan(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [-9.0, -8.0]}, %places: tensor<3x4xi32> {test.below = 4 : i32}) -> tensor<3xf64> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xi32>
  %first = linalg.fill ins(%zero : i32) outs(%e : tensor<3xi32>) -> tensor<3xi32>
  %0:2 = linalg.reduce ins(%x, %places : tensor<3x4xf64>, tensor<3x4xi32>) outs(%init, %first : tensor<3xf64>, tensor<3xi32>) dimensions = [1]
    (%a: f64, %at: i32, %m: f64, %best: i32) {
      %c = arith.cmpf ogt, %m, %a : f64
      %n = arith.cmpf une, %m, %m : f64
      %either = arith.ori %c, %n : i1
      %equal = arith.cmpf oeq, %m, %a : f64
      %before = arith.cmpi slt, %best, %at : i32
      %tie = arith.andi %equal, %before : i1
      %stays = arith.ori %either, %tie : i1
      %r = arith.select %either, %m, %a : f64
      %where = arith.select %stays, %best, %at : i32
      linalg.yield %r, %where : f64, i32
    }
  return %0#0 : tensor<3xf64>
}

// A NaN that is left out, as TOSA writes it, two that are asked for one by one,
// and one that a sum hands on.
func.func @nan_forms(%x: tensor<3x4xf64>, %init: tensor<3xf64> {test.range = [-9.0, -8.0]}) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %0 = linalg.reduce ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
    (%a: f64, %m: f64) {
      %s = arith.maximumf %a, %m : f64
      %n = arith.cmpf uno, %a, %a : f64
      %r = arith.select %n, %m, %s : f64
      linalg.yield %r : f64
    }
  %1 = linalg.reduce ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
    (%a: f64, %m: f64) {
      %s = arith.maxnumf %a, %m : f64
      %na = arith.cmpf uno, %a, %a : f64
      %nm = arith.cmpf uno, %m, %m : f64
      %n = arith.ori %na, %nm : i1
      %r = arith.select %n, %nan, %s : f64
      linalg.yield %r : f64
    }
  %2 = linalg.reduce ins(%x : tensor<3x4xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
    (%a: f64, %m: f64) {
      %c = arith.cmpf ogt, %a, %m : f64
      %s = arith.select %c, %a, %m : f64
      %n = arith.cmpf uno, %a, %m : f64
      %sum = arith.addf %a, %m : f64
      %r = arith.select %n, %sum, %s : f64
      linalg.yield %r : f64
    }
  return %0, %1, %2 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

// The maximum of a product, subtracted accumulation, two results.
func.func @two_results(%x: tensor<3x4xf64>, %y: tensor<3x4xf64>, %s: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %lowest = arith.constant -100.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %init = linalg.fill ins(%lowest : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %0:2 = linalg.generic {indexing_maps = [#ij, #ij, #i, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<3x4xf64>, tensor<3x4xf64>) outs(%init, %s : tensor<3xf64>, tensor<3xf64>) {
  ^bb0(%a: f64, %b: f64, %m: f64, %sum: f64):
    %p = arith.mulf %a, %b : f64
    %max = arith.maximumf %p, %m : f64
    %sq = arith.mulf %p, %a : f64
    %less = arith.subf %sum, %sq : f64
    linalg.yield %max, %less : f64, f64
  } -> (tensor<3xf64>, tensor<3xf64>)
  return %0#0, %0#1 : tensor<3xf64>, tensor<3xf64>
}

func.func @map(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.map { arith.mulf } ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>)
  return %0 : tensor<3xf64>
}

func.func @fill(%x: tensor<3xf64>) -> tensor<4xf64> {
  %one = arith.constant 1 : index
  %s = tensor.extract %x[%one] : tensor<3xf64>
  %e = tensor.empty() : tensor<4xf64>
  %0 = linalg.fill ins(%s : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// Scalars outside of any body.
func.func @scalars(%x: tensor<3xf64>) -> tensor<3xf64> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %a = tensor.extract %x[%zero] : tensor<3xf64>
  %b = tensor.extract %x[%two] : tensor<3xf64>
  %p = arith.mulf %a, %b : f64
  %q = math.exp %p : f64
  %e = tensor.empty() : tensor<3xf64>
  // A captured scalar that carries a gradient.
  %0 = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) {
  ^bb0(%in: f64, %out: f64):
    %r = arith.mulf %in, %q : f64
    linalg.yield %r : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// An init that an elementwise body reads.
func.func @read_init(%x: tensor<3x4xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %0 = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%y : tensor<3x4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %p = arith.mulf %in, %out : f64
    %q = arith.mulf %p, %out : f64
    linalg.yield %q : f64
  } -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// A size-1 dimension that broadcasts through a constant in the map.
func.func @size_one_broadcast(%x: tensor<3x1xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %0 = linalg.generic {indexing_maps = [#i0, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<3x1xf64>, tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// The same constant in the map of a larger tensor: only a column is read.
func.func @first_column(%x: tensor<3x2xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %0 = linalg.generic {indexing_maps = [#i0, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<3x2xf64>, tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

// Permuted and dropped dimensions, and one tensor through two maps.
func.func @permuted(%x: tensor<3x3xf64>, %b: tensor<3xf64>) -> tensor<3x3xf64> {
  %e = tensor.empty() : tensor<3x3xf64>
  %0 = linalg.generic {indexing_maps = [#ji, #ij, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %x, %b : tensor<3x3xf64>, tensor<3x3xf64>, tensor<3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%t: f64, %s: f64, %v: f64, %out: f64):
    %p = arith.mulf %t, %s : f64
    %q = arith.mulf %p, %v : f64
    linalg.yield %q : f64
  } -> tensor<3x3xf64>
  return %0 : tensor<3x3xf64>
}

// The diagonal: each dimension twice in a map.
func.func @diagonal(%x: tensor<3x3xf64>) -> tensor<3xf64> {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [#ii, #id1], iterator_types = ["parallel"]} ins(%x : tensor<3x3xf64>) outs(%e : tensor<3xf64>) {
  ^bb0(%in: f64, %out: f64):
    %p = arith.mulf %in, %in : f64
    linalg.yield %p : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// A window: its adjoint overlaps with itself.
func.func @window(%x: tensor<6xf64>, %k: tensor<3xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<4xf64>) -> tensor<4xf64>
  %0 = linalg.generic {indexing_maps = [#window, #kernel, #out], iterator_types = ["parallel", "reduction"]} ins(%x, %k : tensor<6xf64>, tensor<3xf64>) outs(%c : tensor<4xf64>) {
  ^bb0(%in: f64, %w: f64, %acc: f64):
    %p = arith.mulf %in, %w : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// A sum over a dimension that only an operand kept for its shape shows.
func.func @shape_only(%x: tensor<3xf64>, %shape: tensor<3x4xf64>) -> tensor<3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [#i, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x, %shape : tensor<3xf64>, tensor<3x4xf64>) outs(%c : tensor<3xf64>) {
  ^bb0(%in: f64, %unused: f64, %acc: f64):
    %p = arith.mulf %in, %in : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// The body depends on where it is.
func.func @position(%x: tensor<3x4xf64>) -> tensor<4x3xf64> {
  %e = tensor.empty() : tensor<4x3xf64>
  %0 = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%in: f64, %out: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %k = arith.index_cast %s : index to i32
    %f = arith.sitofp %k : i32 to f64
    %p = arith.mulf %in, %f : f64
    %q = arith.mulf %p, %in : f64
    %below = arith.cmpi slt, %i, %j : index
    %r = arith.select %below, %q, %p : f64
    linalg.yield %r : f64
  } -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

// A gather with repeated indices, whose values go through more arithmetic.
func.func @gather(%table: tensor<5x3xf64>, %scale: tensor<4xf64>, %rows: tensor<4xi32> {test.below = 3 : i32}) -> tensor<4x3xf64> {
  %e = tensor.empty() : tensor<4x3xf64>
  %0 = linalg.generic {indexing_maps = [#i, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%rows, %scale : tensor<4xi32>, tensor<4xf64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%row: i32, %s: f64, %out: f64):
    %r = arith.index_cast %row : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %table[%r, %c] : tensor<5x3xf64>
    %sq = arith.mulf %v, %v : f64
    %p = arith.mulf %sq, %s : f64
    linalg.yield %p : f64
  } -> tensor<4x3xf64>
  return %0 : tensor<4x3xf64>
}

// Two reads of one captured tensor, summed over one dimension.
func.func @gather_twice(%table: tensor<5x3xf64>, %rows: tensor<4xi32> {test.below = 4 : i32}) -> tensor<3xf64> {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<3xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [#i, #j], iterator_types = ["reduction", "parallel"]} ins(%rows : tensor<4xi32>) outs(%c : tensor<3xf64>) {
  ^bb0(%row: i32, %acc: f64):
    %r = arith.index_cast %row : i32 to index
    %next = arith.addi %r, %one : index
    %k = linalg.index 1 : index
    %v = tensor.extract %table[%r, %k] : tensor<5x3xf64>
    %w = tensor.extract %table[%next, %k] : tensor<5x3xf64>
    %p = arith.mulf %v, %w : f64
    %s = arith.addf %acc, %p : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// A value that several ops use, one of them in its region.
func.func @many_uses(%x: tensor<4xf64>, %w: tensor<4xf64>) -> tensor<4xf64> {
  %a = arith.mulf %x, %w : tensor<4xf64>
  %b = math.exp %a : tensor<4xf64>
  %c = arith.addf %a, %b : tensor<4xf64>
  %e = tensor.empty() : tensor<4xf64>
  %d = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%c : tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %three = arith.constant 3 : index
    %i = linalg.index 0 : index
    %back = arith.subi %three, %i : index
    %v = tensor.extract %a[%back] : tensor<4xf64>
    %p = arith.mulf %v, %in : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %d : tensor<4xf64>
}

// Named elementwise ops.
func.func @named_unary(%x: tensor<3xf64> {test.range = [0.5, 1.5]}) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.abs ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %1 = linalg.negf ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %2 = linalg.exp ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %3 = linalg.log ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %4 = linalg.sqrt ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %5 = linalg.rsqrt ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %6 = linalg.square ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %7 = linalg.reciprocal ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %8 = linalg.tanh ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %9 = linalg.erf ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @named_binary(%x: tensor<3xf64> {test.range = [0.5, 1.5]}, %y: tensor<3xf64> {test.range = [0.5, 1.5]}, %c: tensor<3xi1>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.add ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %1 = linalg.sub ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %2 = linalg.mul ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %3 = linalg.div ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %4 = linalg.max ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %5 = linalg.min ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %6 = linalg.select ins(%c, %x, %y : tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %7 = linalg.powf ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %8 = linalg.elementwise kind=#linalg.elementwise_kind<mul> ins(%x, %y : tensor<3xf64>, tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @softmax(%x: tensor<2x3x4xf64>, %v: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
  %e = tensor.empty() : tensor<2x3x4xf64>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<2x3x4xf64>) outs(%e : tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  %1 = linalg.softmax dimension(2) ins(%x : tensor<2x3x4xf64>) outs(%e : tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  %2 = arith.mulf %1, %v : tensor<2x3x4xf64>
  return %0, %2 : tensor<2x3x4xf64>, tensor<2x3x4xf64>
}

func.func @named_steps(%x: tensor<3xf64> {test.range = [1.6, 1.9]}) -> tensor<3xf64> {
  %e = tensor.empty() : tensor<3xf64>
  %0 = linalg.ceil ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %1 = linalg.floor ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %2 = linalg.round ins(%x : tensor<3xf64>) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %a = arith.mulf %0, %x : tensor<3xf64>
  %b = arith.mulf %1, %a : tensor<3xf64>
  %c = arith.mulf %2, %b : tensor<3xf64>
  return %c : tensor<3xf64>
}

// A product over a dimension, and one of a function with an init that carries a
// gradient.
func.func @reduce_product(%x: tensor<3x4xf64>, %s: tensor<3xf64>, %t: tensor<4xf64>) -> (tensor<3xf64>, tensor<4xf64>) {
  %0 = linalg.reduce { arith.mulf } ins(%x : tensor<3x4xf64>) outs(%s : tensor<3xf64>) dimensions = [1]
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%x, %s : tensor<3x4xf64>, tensor<3xf64>) outs(%t : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %acc: f64):
    %c = math.sin %a : f64
    %d = arith.addf %c, %b : f64
    %p = arith.mulf %d, %acc : f64
    linalg.yield %p : f64
  } -> tensor<4xf64>
  return %0, %1 : tensor<3xf64>, tensor<4xf64>
}

// The largest element and its place, as a comparison and two choices.
func.func @largest_by_select(%x: tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %infinity = arith.constant 0xFFF0000000000000 : f64
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3xf64>
  %ei = tensor.empty() : tensor<3xi32>
  %f = linalg.fill ins(%infinity : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %fi = linalg.fill ins(%zero : i32) outs(%ei : tensor<3xi32>) -> tensor<3xi32>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf64>) outs(%f, %fi : tensor<3xf64>, tensor<3xi32>) {
  ^bb0(%a: f64, %acc: f64, %place: i32):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i32
    %larger = arith.cmpf ogt, %a, %acc : f64
    %m = arith.select %larger, %a, %acc : f64
    %n = arith.select %larger, %ji, %place : i32
    linalg.yield %m, %n : f64, i32
  } -> (tensor<3xf64>, tensor<3xi32>)
  %weight = arith.sitofp %m#1 : tensor<3xi32> to tensor<3xf64>
  %r = arith.mulf %m#0, %weight : tensor<3xf64>
  return %m#0, %r : tensor<3xf64>, tensor<3xf64>
}

// Maps that descend, divide and take a remainder: a reversed row, one that is
// repeated twice, one that goes round, and an input that is all that shows how
// far the last loop goes.
func.func @odd_maps(%x: tensor<4xf64>, %y: tensor<2xf64>, %w: tensor<3xf64>, %v: tensor<6x4xf64>) -> (tensor<4xf64>, tensor<6xf64>) {
  %e = tensor.empty() : tensor<4xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i mod 3)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y, %w : tensor<4xf64>, tensor<2xf64>, tensor<3xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %p, %c : f64
    linalg.yield %q : f64
  } -> tensor<4xf64>
  %zero = arith.constant 0.0 : f64
  %e6 = tensor.empty() : tensor<6xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e6 : tensor<6xf64>) -> tensor<6xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (5 - i, j)>, affine_map<(i, j) -> (3 - j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%v, %x : tensor<6x4xf64>, tensor<4xf64>) outs(%z : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  return %0, %1 : tensor<4xf64>, tensor<6xf64>
}

// An output that is written from its end.
func.func @reversed_output(%x: tensor<3x4xf64>) -> (tensor<4x3xf64>, tensor<3xf64>) {
  %e = tensor.empty() : tensor<4x3xf64>
  %f = tensor.empty() : tensor<3xf64>
  %zero = arith.constant 0.0 : f64
  %z = linalg.fill ins(%zero : f64) outs(%f : tensor<3xf64>) -> tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (3 - j, i)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%a: f64, %o: f64):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %r = arith.sitofp %n : i32 to f64
    %p = arith.mulf %a, %r : f64
    %q = math.sin %p : f64
    linalg.yield %q : f64
  } -> tensor<4x3xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (2 - i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4xf64>) outs(%z : tensor<3xf64>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %a : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  return %0, %1 : tensor<4x3xf64>, tensor<3xf64>
}

// Branches in a body: one that guards against an infinite derivative, which is
// taken nowhere here, one in another one, one that reads an element only where
// there is one, and one that only chooses.
func.func @branches_in_body(%x: tensor<6xf64> {test.range = [0.3, 2.0]}, %y: tensor<6xf64>, %v: tensor<3xf64>) -> (tensor<6xf64>, tensor<6xf64>) {
  %e = tensor.empty() : tensor<6xf64>
  %zero = arith.constant 0.0 : f64
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %y : tensor<6xf64>, tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %one = arith.constant 1.0 : f64
    %s = math.sin %b : f64
    %large = arith.cmpf ogt, %a, %one : f64
    %never = arith.cmpf olt, %a, %zero : f64
    %r:2 = scf.if %large -> (f64, f64) {
      %q = scf.if %never -> (f64) {
        %d = arith.divf %s, %zero : f64
        scf.yield %d : f64
      } else {
        %l = math.log %a : f64
        %p = arith.mulf %l, %s : f64
        scf.yield %p : f64
      }
      scf.yield %q, %b : f64, f64
    } else {
      %p = arith.mulf %a, %s : f64
      scf.yield %p, %p : f64, f64
    }
    %t = arith.mulf %r#0, %r#1 : f64
    linalg.yield %t : f64
  } -> tensor<6xf64>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%y : tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%b: f64, %o: f64):
    %i = linalg.index 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %from = arith.cmpi uge, %i, %c2 : index
    %n = arith.subi %i, %c2 : index
    %to = arith.cmpi ult, %n, %c3 : index
    %inside = arith.andi %from, %to : i1
    %element = scf.if %inside -> (f64) {
      %w = tensor.extract %v[%n] : tensor<3xf64>
      %p = math.exp %w : f64
      %q = arith.mulf %p, %b : f64
      scf.yield %q : f64
    } else {
      scf.yield %zero : f64
    }
    %positive = arith.cmpf ogt, %b, %zero : f64
    %part = scf.if %positive -> (f64) {
      scf.yield %b : f64
    } else {
      %m = arith.negf %b : f64
      scf.yield %m : f64
    }
    %s = arith.addf %element, %part : f64
    linalg.yield %s : f64
  } -> tensor<6xf64>
  return %0, %1 : tensor<6xf64>, tensor<6xf64>
}

// The same within a sum.
func.func @branch_in_sum(%x: tensor<3x5xf64> {test.range = [-1.0, 1.0]}) -> tensor<3xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf64>) outs(%z : tensor<3xf64>) {
  ^bb0(%a: f64, %o: f64):
    %positive = arith.cmpf ogt, %a, %zero : f64
    %r = scf.if %positive -> (f64) {
      %l = math.sqrt %a : f64
      scf.yield %l : f64
    } else {
      %l = math.sin %a : f64
      scf.yield %l : f64
    }
    %s = arith.addf %o, %r : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}
