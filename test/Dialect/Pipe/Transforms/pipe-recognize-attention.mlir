// RUN: veeline-opt %s --pipe-recognize-attention | FileCheck %s

#bij = affine_map<(b, i, j) -> (b, i, j)>
#bi = affine_map<(b, i, j) -> (b, i)>
#bhij = affine_map<(b, h, i, j) -> (b, h, i, j)>
#bhi = affine_map<(b, h, i, j) -> (b, h, i)>
#bhi0 = affine_map<(b, h, i, j) -> (b, h, i, 0)>
#rows = affine_map<(b, i, j, d) -> (b, i, d)>
#keys = affine_map<(b, i, j, d) -> (b, j, d)>
#scores = affine_map<(b, i, j, d) -> (b, i, j)>

// A scale and a comparison of places in one body, a maximum that is subtracted.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME:    %[[Q:.*]]: tensor<4x6x8xf32>, %[[K:.*]]: tensor<4x6x8xf32>, %[[V:.*]]: tensor<4x6x8xf32>)
// CHECK:         %[[O:.*]] = tensor.empty() : tensor<4x6x8xf32>
// CHECK:         %[[L:.*]] = tensor.empty() : tensor<4x6xf32>
// CHECK:         %[[A:.*]]:2 = pipe.attention scale(2.500000e-01) causal ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) outs(%[[O]], %[[L]] : {{.*}}) -> tensor<4x6x8xf32>, tensor<4x6xf32>
// CHECK-NEXT:    return %[[A]]#0
func.func @causal(%q: tensor<4x6x8xf32>, %k: tensor<4x6x8xf32>, %v: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<4x6x6xf32>
  %r = tensor.empty() : tensor<4x6xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x6x8xf32>, tensor<4x6x8xf32>) outs(%z : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %masked = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x6x6xf32>) outs(%e : tensor<4x6x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %scaled = arith.mulf %in, %factor : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %m = arith.select %seen, %scaled, %ninf : f32
    linalg.yield %m : f32
  } -> tensor<4x6x6xf32>
  %lowest = linalg.fill ins(%ninf : f32) outs(%r : tensor<4x6xf32>) -> tensor<4x6xf32>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<4x6x6xf32>) outs(%lowest : tensor<4x6xf32>) dimensions = [2]
  %exp = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%masked, %max : tensor<4x6x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6x6xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x6x6xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<4x6xf32>) -> tensor<4x6xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<4x6x6xf32>) outs(%zr : tensor<4x6xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exp, %sum : tensor<4x6x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6x6xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %w = arith.divf %in, %t : f32
    linalg.yield %w : f32
  } -> tensor<4x6x6xf32>
  %o0 = tensor.empty() : tensor<4x6x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x6x6xf32>, tensor<4x6x8xf32>) outs(%zo : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return %o : tensor<4x6x8xf32>
}

// The softmax as one op; the scores divided, as a whole tensor; a value depth of its own.
// CHECK-LABEL: func.func @aggregate(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.250000e-01) ins({{.*}}) outs({{.*}}) -> tensor<4x5x3xf32>, tensor<4x5xf32>
// CHECK-NEXT:    return
func.func @aggregate(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %factor = arith.constant dense<8.0> : tensor<4x5x7xf32>
  %x = arith.divf %s, %factor : tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Without a maximum, times the inverse of the sum.
// CHECK-LABEL: func.func @inverse(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) ins(
func.func @inverse(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %exp = math.exp %s : tensor<4x5x7xf32>
  %r = tensor.empty() : tensor<4x5xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<4x5xf32>) -> tensor<4x5xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<4x5x7xf32>) outs(%zr : tensor<4x5xf32>) dimensions = [2]
  %one = arith.constant 1.0 : f32
  %inverse = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<4x5xf32>) outs(%r : tensor<4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = arith.divf %one, %in : f32
    linalg.yield %i : f32
  } -> tensor<4x5xf32>
  %column = tensor.expand_shape %inverse [[0], [1, 2]] output_shape [4, 5, 1] : tensor<4x5xf32> into tensor<4x5x1xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, i, 0)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%column : tensor<4x5x1xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x5x7xf32>
  %p = arith.mulf %wide, %exp : tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// exp(x - log(sum(exp(x)))), with the maximum apart.
// CHECK-LABEL: func.func @logarithm(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) ins(
func.func @logarithm(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %r = tensor.empty() : tensor<4x5xf32>
  %lowest = linalg.fill ins(%ninf : f32) outs(%r : tensor<4x5xf32>) -> tensor<4x5xf32>
  %max = linalg.reduce { arith.maximumf } ins(%s : tensor<4x5x7xf32>) outs(%lowest : tensor<4x5xf32>) dimensions = [2]
  %powers = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %max : tensor<4x5x7xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x5x7xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%r : tensor<4x5xf32>) -> tensor<4x5xf32>
  %sum = linalg.reduce { arith.addf } ins(%powers : tensor<4x5x7xf32>) outs(%zr : tensor<4x5xf32>) dimensions = [2]
  %log = math.log %sum : tensor<4x5xf32>
  %lse = arith.addf %max, %log : tensor<4x5xf32>
  %p = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %lse : tensor<4x5x7xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A mask that is added, the same for all queries.
// CHECK-LABEL: func.func @added(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<4x7xf32>)
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[M]] : tensor<4x7xf32>) dims [0, 2] outs(
func.func @added(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (b, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<4x5x7xf32>, tensor<4x7xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %added: f32, %out: f32):
    %sum = arith.addf %in, %added : f32
    linalg.yield %sum : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A mask of what is hidden, transposed: what is visible is computed once.
// CHECK-LABEL: func.func @hiding(
// CHECK:         %[[VISIBLE:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<7x5xi1>) outs(%{{.*}} : tensor<5x7xi1>)
// CHECK:           arith.xori
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[VISIBLE]] : tensor<5x7xi1>) dims [1, 2] fill(-1.000000e+09) outs(
func.func @hiding(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<7x5xi1>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (j, i)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<4x5x7xf32>, tensor<7x5xi1>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %hide: i1, %out: f32):
    %fill = arith.constant -1.0e9 : f32
    %r = arith.select %hide, %fill, %in : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Causal and a mask of padding in one condition.
// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<4x7xi1>)
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) causal ins({{.*}}) mask(%[[M]] : tensor<4x7xi1>) dims [0, 2] outs(
func.func @both(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x7xi1>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (b, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<4x5x7xf32>, tensor<4x7xi1>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %visible: i1, %out: f32):
    %ninf = arith.constant 0xFF800000 : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %one = arith.constant 1 : i32
    %next = arith.addi %i32, %one : i32
    %behind = arith.cmpi slt, %j32, %next : i32
    %seen = arith.andi %behind, %visible : i1
    %r = arith.select %seen, %in, %ninf : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A triangle as a table, larger than the scores.
// CHECK-LABEL: func.func @table(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) causal ins({{.*}}) outs(
func.func @table(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %large = arith.constant dense<[[true, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, false], [true, true, true, false, false, false, false, false], [true, true, true, true, false, false, false, false], [true, true, true, true, true, false, false, false], [true, true, true, true, true, true, false, false], [true, true, true, true, true, true, true, false], [true, true, true, true, true, true, true, true]]> : tensor<8x8xi1>
  %table = tensor.extract_slice %large[0, 0] [5, 7] [1, 1] : tensor<8x8xi1> to tensor<5x7xi1>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (i, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %table : tensor<4x5x7xf32>, tensor<5x7xi1>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %visible: i1, %out: f32):
    %lowest = arith.constant -3.40282347E+38 : f32
    %r = arith.select %visible, %in, %lowest : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// The same, added.
// CHECK-LABEL: func.func @added_table(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) causal ins({{.*}}) outs(
func.func @added_table(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %table = arith.constant dense<[[[0.0, -1.0e4, -1.0e4, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, -1.0e4, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, 0.0, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, 0.0, 0.0, -1.0e4, -1.0e4]]]> : tensor<1x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (0, i, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %table : tensor<4x5x7xf32>, tensor<1x5x7xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %added: f32, %out: f32):
    %sum = arith.addf %added, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A table that is nearly so is a mask.
// CHECK-LABEL: func.func @other_table(
// CHECK:         %[[T:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<1x5x7xf32> into tensor<5x7xf32>
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[T]] : tensor<5x7xf32>) dims [1, 2] outs(
func.func @other_table(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %table = arith.constant dense<[[[0.0, -1.0e4, -1.0e4, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, -1.0e2, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, -1.0e4, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, 0.0, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, 0.0, 0.0, -1.0e4, -1.0e4]]]> : tensor<1x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (0, i, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %table : tensor<4x5x7xf32>, tensor<1x5x7xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %added: f32, %out: f32):
    %sum = arith.addf %added, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A mask that is computed where it is added becomes a tensor of its own.
// CHECK-LABEL: func.func @computed(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<4x7xi64>)
// CHECK:         %[[MASK:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x7xi64>)
// CHECK:           arith.cmpi ne
// CHECK:           arith.select
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[MASK]] : tensor<4x7xf32>) dims [0, 2] outs(
func.func @computed(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x7xi64>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (b, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<4x5x7xf32>, tensor<4x7xi64>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %token: i64, %out: f32):
    %none = arith.constant 0 : i64
    %low = arith.constant -1.0e9 : f32
    %no = arith.constant 0.0 : f32
    %is = arith.cmpi ne, %token, %none : i64
    %added = arith.select %is, %no, %low : f32
    %sum = arith.addf %in, %added : f32
    linalg.yield %sum : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Two masks are added up where the sum is no larger; what is the same for all keys has no effect.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME:    %[[M:[^:]*]]: tensor<4x7xf32>, %[[N:[^:]*]]: tensor<7xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[N]], %[[M]] : tensor<7xf32>, tensor<4x7xf32>)
// CHECK:           arith.addf
// CHECK-NOT:       arith.addf
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[SUM]] : tensor<4x7xf32>) dims [0, 2] outs(
func.func @sum(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x7xf32>, %n: tensor<7xf32>, %shift: tensor<4x5xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (j)>, affine_map<(b, i, j) -> (b, i)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m, %n, %shift : tensor<4x5x7xf32>, tensor<4x7xf32>, tensor<7xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32, %c: f32, %out: f32):
    %y = arith.addf %in, %a : f32
    %w = arith.addf %b, %y : f32
    %r = arith.addf %w, %c : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Heads side by side in the batch of the products and apart in the softmax, which is in f32; keys
// transposed; the mask of each sample. What splits and joins the heads stays.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<2x5x3x8xbf16>, %[[K:[^:]*]]: tensor<2x7x3x8xbf16>, %[[V:[^:]*]]: tensor<6x7x8xbf16>, %[[M:[^:]*]]: tensor<2x1x1x7xf32>)
// CHECK-DAG:     %[[QT:.*]] = linalg.transpose ins(%[[Q]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[KT:.*]] = linalg.transpose ins(%[[K]] : {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[VE:.*]] = tensor.expand_shape %[[V]] {{\[\[}}0, 1], [2], [3]]
// CHECK-DAG:     %[[MC:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1, 2], [3]]
// CHECK:         %[[A:.*]]:2 = pipe.attention scale(0.353{{.*}}) ins(%[[QT]], %[[KT]], %[[VE]] : tensor<2x3x5x8xbf16>, tensor<2x3x7x8xbf16>, tensor<2x3x7x8xbf16>)
// CHECK-SAME:      mask(%[[MC]] : tensor<2x7xf32>) dims [0, 3]
// CHECK:         tensor.collapse_shape %[[A]]#0 {{\[\[}}0, 1], [2], [3]] : tensor<2x3x5x8xbf16> into tensor<6x5x8xbf16>
func.func @heads(%q4: tensor<2x5x3x8xbf16>, %k4: tensor<2x7x3x8xbf16>, %v: tensor<6x7x8xbf16>, %m: tensor<2x1x1x7xf32>) -> tensor<6x5x8xbf16> {
  %zero = arith.constant 0.0 : bf16
  %zerof = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %factor = arith.constant 0.35355339 : f32
  %qe = tensor.empty() : tensor<2x3x5x8xbf16>
  %ke = tensor.empty() : tensor<2x3x8x7xbf16>
  %qt = linalg.transpose ins(%q4 : tensor<2x5x3x8xbf16>) outs(%qe : tensor<2x3x5x8xbf16>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k4 : tensor<2x7x3x8xbf16>) outs(%ke : tensor<2x3x8x7xbf16>) permutation = [0, 2, 3, 1]
  %q = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x3x5x8xbf16> into tensor<6x5x8xbf16>
  %k = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x8x7xbf16> into tensor<6x8x7xbf16>
  %se = tensor.empty() : tensor<6x5x7xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%se : tensor<6x5x7xbf16>) -> tensor<6x5x7xbf16>
  %s3 = linalg.batch_matmul ins(%q, %k : tensor<6x5x8xbf16>, tensor<6x8x7xbf16>) outs(%z : tensor<6x5x7xbf16>) -> tensor<6x5x7xbf16>
  %s = tensor.expand_shape %s3 [[0, 1], [2], [3]] output_shape [2, 3, 5, 7] : tensor<6x5x7xbf16> into tensor<2x3x5x7xbf16>
  %e = tensor.empty() : tensor<2x3x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bhij, affine_map<(b, h, i, j) -> (b, 0, 0, j)>, #bhij], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x3x5x7xbf16>, tensor<2x1x1x7xf32>) outs(%e : tensor<2x3x5x7xf32>) {
  ^bb0(%in: bf16, %added: f32, %out: f32):
    %wide = arith.extf %in : bf16 to f32
    %scaled = arith.mulf %wide, %factor : f32
    %sum = arith.addf %scaled, %added : f32
    linalg.yield %sum : f32
  } -> tensor<2x3x5x7xf32>
  %r = tensor.empty() : tensor<2x3x5xf32>
  %lowest = linalg.fill ins(%ninf : f32) outs(%r : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %max = linalg.generic {indexing_maps = [#bhij, #bhi], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x : tensor<2x3x5x7xf32>) outs(%lowest : tensor<2x3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m1 = arith.maximumf %out, %in : f32
    linalg.yield %m1 : f32
  } -> tensor<2x3x5xf32>
  %exp = linalg.generic {indexing_maps = [#bhij, #bhi, #bhij], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %max : tensor<2x3x5x7xf32>, tensor<2x3x5xf32>) outs(%e : tensor<2x3x5x7xf32>) {
  ^bb0(%in: f32, %most: f32, %out: f32):
    %d = arith.subf %in, %most : f32
    %p1 = math.exp %d : f32
    linalg.yield %p1 : f32
  } -> tensor<2x3x5x7xf32>
  %zr = linalg.fill ins(%zerof : f32) outs(%r : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %sum = linalg.generic {indexing_maps = [#bhij, #bhi], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%exp : tensor<2x3x5x7xf32>) outs(%zr : tensor<2x3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %m1 = arith.addf %out, %in : f32
    linalg.yield %m1 : f32
  } -> tensor<2x3x5xf32>
  %pe = tensor.empty() : tensor<2x3x5x7xbf16>
  %p4 = linalg.generic {indexing_maps = [#bhij, #bhi, #bhij], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%exp, %sum : tensor<2x3x5x7xf32>, tensor<2x3x5xf32>) outs(%pe : tensor<2x3x5x7xbf16>) {
  ^bb0(%in: f32, %t: f32, %out: bf16):
    %w = arith.divf %in, %t : f32
    %n = arith.truncf %w : f32 to bf16
    linalg.yield %n : bf16
  } -> tensor<2x3x5x7xbf16>
  %p = tensor.collapse_shape %p4 [[0, 1], [2], [3]] : tensor<2x3x5x7xbf16> into tensor<6x5x7xbf16>
  %o0 = tensor.empty() : tensor<6x5x8xbf16>
  %zo = linalg.fill ins(%zero : bf16) outs(%o0 : tensor<6x5x8xbf16>) -> tensor<6x5x8xbf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<6x5x7xbf16>, tensor<6x7x8xbf16>) outs(%zo : tensor<6x5x8xbf16>) -> tensor<6x5x8xbf16>
  return %o : tensor<6x5x8xbf16>
}

// Queries that share keys and values: the copies go.
// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:    %[[Q:[^:]*]]: tensor<12x5x8xf32>, %[[K:[^:]*]]: tensor<2x2x7x8xf32>, %[[V:[^:]*]]: tensor<2x2x7x8xf32>)
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}} : tensor<2x6x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x8xf32>)
// CHECK:         tensor.collapse_shape
// CHECK-NEXT:    return
func.func @grouped(%q: tensor<12x5x8xf32>, %k4: tensor<2x2x7x8xf32>, %v4: tensor<2x2x7x8xf32>) -> tensor<12x5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x2x3x7x8xf32>
  %k5 = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k4 : tensor<2x2x7x8xf32>) outs(%ke : tensor<2x2x3x7x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x2x3x7x8xf32>
  %v1 = tensor.expand_shape %v4 [[0], [1, 2], [3], [4]] output_shape [2, 2, 1, 7, 8] : tensor<2x2x7x8xf32> into tensor<2x2x1x7x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x2x3x7x8xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, 0, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v1, %zeros : tensor<2x2x1x7x8xf32>, tensor<2x2x3x7x8xf32>) outs(%ke : tensor<2x2x3x7x8xf32>) {
  ^bb0(%in: f32, %none: f32, %out: f32):
    %sum = arith.addf %in, %none : f32
    linalg.yield %sum : f32
  } -> tensor<2x2x3x7x8xf32>
  %k = tensor.collapse_shape %k5 [[0, 1, 2], [3], [4]] : tensor<2x2x3x7x8xf32> into tensor<12x7x8xf32>
  %v = tensor.collapse_shape %v5 [[0, 1, 2], [3], [4]] : tensor<2x2x3x7x8xf32> into tensor<12x7x8xf32>
  %e = tensor.empty() : tensor<12x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<12x5x8xf32>, tensor<12x7x8xf32>) outs(%z : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<12x5x7xf32>) outs(%e : tensor<12x5x7xf32>) -> tensor<12x5x7xf32>
  %o0 = tensor.empty() : tensor<12x5x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<12x5x8xf32>) -> tensor<12x5x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<12x5x7xf32>, tensor<12x7x8xf32>) outs(%zo : tensor<12x5x8xf32>) -> tensor<12x5x8xf32>
  return %o : tensor<12x5x8xf32>
}

// A length that varies; one query alone; products without a batch.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<4x?x8xf32>
// CHECK:         tensor.empty(%[[N]]) : tensor<4x?x8xf32>
// CHECK:         pipe.attention scale(1.000000e+00) causal ins({{.*}} : tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x8xf32>) outs({{.*}}) -> tensor<4x?x8xf32>, tensor<4x?xf32>
func.func @dynamic(%q: tensor<4x?x8xf32>, %k: tensor<4x?x8xf32>, %v: tensor<4x?x8xf32>) -> tensor<4x?x8xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %n = tensor.dim %q, %c1 : tensor<4x?x8xf32>
  %e = tensor.empty(%n, %n) : tensor<4x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x?x8xf32>, tensor<4x?x8xf32>) outs(%z : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %x = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %hidden = arith.cmpi ugt, %j, %i : index
    %r = arith.select %hidden, %ninf, %in : f32
    linalg.yield %r : f32
  } -> tensor<4x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x?x?xf32>) outs(%e : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %o0 = tensor.empty(%n) : tensor<4x?x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x?x?xf32>, tensor<4x?x8xf32>) outs(%zo : tensor<4x?x8xf32>) -> tensor<4x?x8xf32>
  return %o : tensor<4x?x8xf32>
}

// CHECK-LABEL: func.func @one(
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}} : tensor<1x8xf64>, tensor<7x8xf64>, tensor<7x8xf64>) outs({{.*}}) -> tensor<1x8xf64>, tensor<1xf64>
func.func @one(%q: tensor<1x8xf64>, %k: tensor<7x8xf64>) -> tensor<1x8xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1x7xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<1x7xf64>) -> tensor<1x7xf64>
  %s = linalg.matmul indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>] ins(%q, %k : tensor<1x8xf64>, tensor<7x8xf64>) outs(%z : tensor<1x7xf64>) -> tensor<1x7xf64>
  %p = linalg.softmax dimension(1) ins(%s : tensor<1x7xf64>) outs(%e : tensor<1x7xf64>) -> tensor<1x7xf64>
  %o0 = tensor.empty() : tensor<1x8xf64>
  %zo = linalg.fill ins(%zero : f64) outs(%o0 : tensor<1x8xf64>) -> tensor<1x8xf64>
  %o = linalg.matmul ins(%p, %k : tensor<1x7xf64>, tensor<7x8xf64>) outs(%zo : tensor<1x8xf64>) -> tensor<1x8xf64>
  return %o : tensor<1x8xf64>
}
