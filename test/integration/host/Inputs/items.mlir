// What test/unit/Autodiff/Inputs lacks: ops that the import lowers, floats of
// several sizes in one model, and parts of networks as exporters write them.

#id1 = affine_map<(i) -> (i)>
#id2 = affine_map<(i, j) -> (i, j)>
#id4 = affine_map<(n, h, w, c) -> (n, h, w, c)>
#c = affine_map<(n, h, w, c) -> (c)>

// Batch norm in training form: mean and variance are those of the batch.
func.func @batch_norm(%x: tensor<2x3x3x4xf32>, %scale: tensor<4xf32>, %shift: tensor<4xf32>) -> tensor<2x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 18.0 : f32
  %epsilon = arith.constant 0.001 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<2x3x3x4xf32>) outs(%z : tensor<4xf32>) dimensions = [0, 1, 2]
  %n = tensor.splat %count : tensor<4xf32>
  %mean = arith.divf %sum, %n : tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [#id4, #c, #c], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
      ins(%x, %mean : tensor<2x3x3x4xf32>, tensor<4xf32>) outs(%z : tensor<4xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %s = arith.mulf %d, %d : f32
    %r = arith.addf %o, %s : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %variance = arith.divf %squares, %n : tensor<4xf32>
  %out = tensor.empty() : tensor<2x3x3x4xf32>
  %y = linalg.generic {indexing_maps = [#id4, #c, #c, #c, #c, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %mean, %variance, %scale, %shift : tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%out : tensor<2x3x3x4xf32>) {
  ^bb0(%a: f32, %m: f32, %v: f32, %g: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %w = arith.addf %v, %epsilon : f32
    %r = math.rsqrt %w : f32
    %p = arith.mulf %d, %r : f32
    %q = arith.mulf %p, %g : f32
    %s = arith.addf %q, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x3x3x4xf32>
  return %y : tensor<2x3x3x4xf32>
}

// An average over windows that reach over the border: each by its own count.
func.func @average_pool(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4x2xf32> to tensor<1x5x5x2xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x3x3x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %sum = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%padded, %window : tensor<1x5x5x2xf32>, tensor<3x3xf32>) outs(%z : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %y = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : tensor<1x3x3x2xf32>) outs(%e : tensor<1x3x3x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c0 = arith.constant 0 : index
    %nine = arith.constant 9.0 : f32
    %six = arith.constant 6.0 : f32
    %top = arith.cmpi eq, %h, %c0 : index
    %left = arith.cmpi eq, %w, %c0 : index
    %border = arith.ori %top, %left : i1
    %n = arith.select %border, %six, %nine : f32
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x2xf32>
  return %y : tensor<1x3x3x2xf32>
}

// A residual block: padded, strided and dilated convolutions, relu, and a
// convolution for the skip edge.
func.func @residual(%x: tensor<1x6x6x2xf32>, %k: tensor<3x3x2x4xf32>, %l: tensor<3x3x4x4xf32>, %s: tensor<1x1x2x4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %m: index, %n: index):
    tensor.yield %zero : f32
  } : tensor<1x6x6x2xf32> to tensor<1x8x8x2xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %a = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%padded, %k : tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) outs(%z : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %b = math.tanh %a : tensor<1x3x3x4xf32>
  %wide = tensor.pad %b low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i: index, %j: index, %m: index, %n: index):
    tensor.yield %zero : f32
  } : tensor<1x3x3x4xf32> to tensor<1x7x7x4xf32>
  %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%wide, %l : tensor<1x7x7x4xf32>, tensor<3x3x4x4xf32>) outs(%z : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %d = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %s : tensor<1x6x6x2xf32>, tensor<1x1x2x4xf32>) outs(%c : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = arith.maximumf %d, %z : tensor<1x3x3x4xf32>
  return %y : tensor<1x3x3x4xf32>
}

// Generics that only yield: a transposition, a repetition, a row of a matrix.
func.func @yield_only(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> (tensor<4x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>) {
  %e43 = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%e43 : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  %e34 = tensor.empty() : tensor<3x4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4xf32>) outs(%e34 : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x4xf32>
  %e24 = tensor.empty() : tensor<2x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (1, j)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%e24 : tensor<2x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<3x4xf32>, tensor<2x4xf32>
}

// The largest element of each row and its place, of which only the former has a
// gradient; a float made of the place has none.
func.func @largest(%x: tensor<3x4xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi64>, tensor<3xf32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<3xf32>
  %l = linalg.fill ins(%lowest : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %ei = tensor.empty() : tensor<3xi64>
  %z = linalg.fill ins(%none : i64) outs(%ei : tensor<3xi64>) -> tensor<3xi64>
  %0:2 = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%l, %z : tensor<3xf32>, tensor<3xi64>) {
  ^bb0(%a: f32, %m: f32, %p: i64):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i64
    %larger = arith.cmpf ogt, %a, %m : f32
    %most = arith.select %larger, %a, %m : f32
    %place = arith.select %larger, %n, %p : i64
    linalg.yield %most, %place : f32, i64
  } -> (tensor<3xf32>, tensor<3xi64>)
  %2 = arith.sitofp %0#1 : tensor<3xi64> to tensor<3xf32>
  %3 = arith.mulf %2, %y : tensor<3xf32>
  return %0#0, %0#1, %3 : tensor<3xf32>, tensor<3xi64>, tensor<3xf32>
}

// An island of f64 in f32, as exporters of norms write it.
func.func @island(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f64
  %four = arith.constant 4.0 : f64
  %epsilon = arith.constant 1.0e-6 : f64
  %w = arith.extf %x : tensor<3x4xf32> to tensor<3x4xf64>
  %e = tensor.empty() : tensor<3xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %squares = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<3x4xf64>) outs(%z : tensor<3xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.mulf %a, %a : f64
    %r = arith.addf %o, %s : f64
    linalg.yield %r : f64
  } -> tensor<3xf64>
  %e34 = tensor.empty() : tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (i)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%w, %squares : tensor<3x4xf64>, tensor<3xf64>) outs(%e34 : tensor<3x4xf32>) {
  ^bb0(%a: f64, %s: f64, %o: f32):
    %m = arith.divf %s, %four : f64
    %v = arith.addf %m, %epsilon : f64
    %r = math.rsqrt %v : f64
    %p = arith.mulf %a, %r : f64
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Weights and values of 16 bits: products summed in f32, and elementwise ops.
func.func @bf16(%x: tensor<3x4xbf16>, %w: tensor<4x5xbf16>, %b: tensor<5xf32>) -> tensor<3x5xf32> attributes {test.coarse} {
  %zero = arith.constant 0.0 : f32
  %h = math.tanh %x : tensor<3x4xbf16>
  %e = tensor.empty() : tensor<3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.matmul ins(%h, %w : tensor<3x4xbf16>, tensor<4x5xbf16>) outs(%z : tensor<3x5xf32>) -> tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [#id2, affine_map<(i, j) -> (j)>, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = arith.truncf %s : f32 to bf16
    %u = arith.mulf %t, %t : bf16
    %v = arith.extf %u : bf16 to f32
    linalg.yield %v : f32
  } -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

func.func @f16(%x: tensor<3x4xf16>, %w: tensor<4x5xf16>) -> tensor<3x5xf16> attributes {test.coarse} {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<3x5xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<3x5xf16>) -> tensor<3x5xf16>
  %p = linalg.matmul ins(%x, %w : tensor<3x4xf16>, tensor<4x5xf16>) outs(%z : tensor<3x5xf16>) -> tensor<3x5xf16>
  %n = arith.negf %p : tensor<3x5xf16>
  %y = math.exp %n : tensor<3x5xf16>
  return %y : tensor<3x5xf16>
}

// Powers, with exponents that are floats, integers, and data.
func.func @powers(%x: tensor<6xf32> {test.range = [0.5, 1.5]}, %n: tensor<6xi32> {test.below = 4}) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6xf32>
  %0:2 = linalg.generic {indexing_maps = [#id1, #id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%e, %e : tensor<6xf32>, tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %half = arith.constant 2.5 : f32
    %three = arith.constant 3 : i64
    %r = math.powf %a, %half : f32
    %s = math.fpowi %a, %three : f32, i64
    linalg.yield %r, %s : f32, f32
  } -> (tensor<6xf32>, tensor<6xf32>)
  %1 = math.fpowi %x, %n : tensor<6xf32>, tensor<6xi32>
  return %0#0, %0#1, %1 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// A tensor that is made element by element, and rows that are looked up.
func.func @generated(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j, %i] : tensor<4x3xf32>
    %b = tensor.extract %y[%j] : tensor<4xf32>
    %c = arith.mulf %a, %b : f32
    tensor.yield %c : f32
  } : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

func.func @gathered(%x: tensor<5x3x4xf32>, %rows: tensor<2x1xi32> {test.below = 5}, %both: tensor<3x2xi32> {test.below = 3}) -> (tensor<2x3x4xf32>, tensor<3x1x1x4xf32>) {
  %0 = tensor.gather %x[%rows] gather_dims([0]) : (tensor<5x3x4xf32>, tensor<2x1xi32>) -> tensor<2x3x4xf32>
  %1 = tensor.gather %x[%both] gather_dims([0, 1]) : (tensor<5x3x4xf32>, tensor<3x2xi32>) -> tensor<3x1x1x4xf32>
  return %0, %1 : tensor<2x3x4xf32>, tensor<3x1x1x4xf32>
}

func.func @scattered(%x: tensor<2x4xf32>, %y: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %rows = arith.constant dense<[[3], [1]]> : tensor<2x1xindex>
  %0 = tensor.scatter %x into %y[%rows] scatter_dims([0]) unique : (tensor<2x4xf32>, tensor<5x4xf32>, tensor<2x1xindex>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// Loops of other kinds.
func.func @affine_for(%x: tensor<5x2x4xf32>, %w: tensor<4x4xf32>, %h: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %r = affine.for %t = 0 to 5 iter_args(%s = %h) -> (tensor<2x4xf32>) {
    %i = affine.apply affine_map<(d0) -> (4 - d0)>(%t)
    %xt = tensor.extract_slice %x[%i, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<5x2x4xf32> to tensor<2x4xf32>
    %b = linalg.matmul ins(%s, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%xt : tensor<2x4xf32>) -> tensor<2x4xf32>
    %n = math.tanh %b : tensor<2x4xf32>
    affine.yield %n : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

func.func @forall(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %f = tensor.empty() : tensor<4x4xf32>
  %r:2 = scf.forall (%i) = (0) to (8) step (2) shared_outs(%o = %e, %p = %f) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
    %xt = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    %s = tensor.extract_slice %o[%i, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    %h = linalg.fill ins(%zero : f32) outs(%s : tensor<2x4xf32>) -> tensor<2x4xf32>
    %b = linalg.matmul ins(%xt, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%h : tensor<2x4xf32>) -> tensor<2x4xf32>
    %n = math.tanh %b : tensor<2x4xf32>
    %row = tensor.extract_slice %b[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
    %k = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %n into %o[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
      tensor.parallel_insert_slice %row into %p[%k, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
    }
  }
  return %r#0, %r#1 : tensor<8x4xf32>, tensor<4x4xf32>
}

// A loop with a counter, as exporters of StableHLO write it: a tensor of rank
// 0, which a condition compares; a second number that grows by 2, and one that
// does not grow evenly.
func.func @counted(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %h: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %four = arith.constant dense<4> : tensor<i32>
  %start = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %r:5 = scf.while (%i = %zero, %s = %h, %n = %start, %m = %start, %p = %h) : (tensor<i32>, tensor<4xf32>, i64, i64, tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>, i64, i64, tensor<4xf32>) {
    %e = tensor.empty() : tensor<i1>
    %goes = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i, %four : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%a: i32, %b: i32, %o: i1):
      %less = arith.cmpi slt, %a, %b : i32
      linalg.yield %less : i1
    } -> tensor<i1>
    %on = tensor.extract %goes[] : tensor<i1>
    scf.condition(%on) %s, %i, %n, %m, %p : tensor<4xf32>, tensor<i32>, i64, i64, tensor<4xf32>
  } do {
  ^bb0(%s: tensor<4xf32>, %i: tensor<i32>, %n: i64, %m: i64, %p: tensor<4xf32>):
    %row = arith.index_cast %n : i64 to index
    %xt = tensor.extract_slice %x[%row, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %t = linalg.vecmat ins(%s, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%xt : tensor<4xf32>) -> tensor<4xf32>
    %u = math.tanh %t : tensor<4xf32>
    %f = arith.sitofp %m : i64 to f32
    %g = tensor.splat %f : tensor<4xf32>
    %q = arith.mulf %u, %g : tensor<4xf32>
    %next = arith.addi %i, %one : tensor<i32>
    %more = arith.addi %n, %two : i64
    %twice = arith.muli %m, %two : i64
    scf.yield %next, %u, %more, %twice, %q : tensor<i32>, tensor<4xf32>, i64, i64, tensor<4xf32>
  }
  return %r#0, %r#4 : tensor<4xf32>, tensor<4xf32>
}
