// RUN: veeline-opt %s --pipe-recognize-attention | FileCheck %s

// Masks that are computed in integers, whose width and sign count.

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#left = affine_map<(i, j, d) -> (i, d)>
#right = affine_map<(i, j, d) -> (j, d)>
#scores = affine_map<(i, j, d) -> (i, j)>

// A key after the query is a negative number of places before it, which is large without a sign.
// CHECK-LABEL: func.func @unsigned(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) causal ins(
func.func @unsigned(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %ninf = arith.constant 0xFF800000 : f32
    %last = arith.constant 4 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %back = arith.subi %i, %j : index
    %visible = arith.cmpi ule, %back, %last : index
    %r = arith.select %visible, %in, %ninf : f32
    linalg.yield %r : f32
  } -> tensor<5x7xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %o0 = tensor.empty() : tensor<5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zo : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// In fewer bits, 128 places on is 128 places back.
// CHECK-LABEL: func.func @wraps(
// CHECK:         %[[M:.*]] = linalg.generic
// CHECK:           arith.addi {{.*}} : i8
// CHECK:           arith.cmpi sge, {{.*}} : i8
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[M]] : tensor<7xi1>) dims [1] outs(
func.func @wraps(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %ninf = arith.constant 0xFF800000 : f32
    %far = arith.constant 124 : i8
    %none = arith.constant 0 : i8
    %j = linalg.index 1 : index
    %j8 = arith.index_cast %j : index to i8
    %sum = arith.addi %j8, %far : i8
    %visible = arith.cmpi sge, %sum, %none : i8
    %r = arith.select %visible, %in, %ninf : f32
    linalg.yield %r : f32
  } -> tensor<5x7xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %o0 = tensor.empty() : tensor<5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zo : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// Bits of places, not truth values.
// CHECK-LABEL: func.func @bits(
// CHECK:         %[[M:.*]] = linalg.generic
// CHECK:           arith.ori {{.*}} : index
// CHECK:           arith.cmpi slt, {{.*}} : index
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[M]] : tensor<7xi1>) dims [1] outs(
func.func @bits(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %out: f32):
    %ninf = arith.constant 0xFF800000 : f32
    %two = arith.constant 2 : index
    %four = arith.constant 4 : index
    %j = linalg.index 1 : index
    %either = arith.ori %j, %two : index
    %visible = arith.cmpi slt, %either, %four : index
    %r = arith.select %visible, %in, %ninf : f32
    linalg.yield %r : f32
  } -> tensor<5x7xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %o0 = tensor.empty() : tensor<5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zo : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// The same op on the same operand in two types.
// CHECK-LABEL: func.func @widths(
// CHECK:         %[[M:.*]] = linalg.generic
// CHECK:           arith.trunci {{.*}} : i32 to i8
// CHECK:           arith.trunci {{.*}} : i32 to i16
// CHECK:           arith.andi
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[M]] : tensor<7xi1>) dims [1] outs(
func.func @widths(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %x: tensor<7xi32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %x : tensor<5x7xf32>, tensor<7xi32>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %m: i32, %out: f32):
    %ninf = arith.constant 0xFF800000 : f32
    %none8 = arith.constant 0 : i8
    %none16 = arith.constant 0 : i16
    %m8 = arith.trunci %m : i32 to i8
    %m16 = arith.trunci %m : i32 to i16
    %is8 = arith.cmpi eq, %m8, %none8 : i8
    %is16 = arith.cmpi ne, %m16, %none16 : i16
    %visible = arith.andi %is8, %is16 : i1
    %r = arith.select %visible, %in, %ninf : f32
    linalg.yield %r : f32
  } -> tensor<5x7xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %o0 = tensor.empty() : tensor<5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zo : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// A number without a sign stays one.
// CHECK-LABEL: func.func @extended(
// CHECK:         %[[M:.*]] = linalg.generic
// CHECK:           arith.uitofp {{.*}} : i8 to f32
// CHECK:         pipe.attention scale(1.000000e+00) ins({{.*}}) mask(%[[M]] : tensor<7xf32>) dims [1] outs(
func.func @extended(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %x: tensor<7xi8>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<5x8xf32>, tensor<7x8xf32>) outs(%z : tensor<5x7xf32>) -> tensor<5x7xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %x : tensor<5x7xf32>, tensor<7xi8>) outs(%e : tensor<5x7xf32>) {
  ^bb0(%in: f32, %m: i8, %out: f32):
    %added = arith.uitofp %m : i8 to f32
    %r = arith.addf %in, %added : f32
    linalg.yield %r : f32
  } -> tensor<5x7xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %o0 = tensor.empty() : tensor<5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<5x3xf32>) -> tensor<5x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<5x7xf32>, tensor<7x3xf32>) outs(%zo : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %o : tensor<5x3xf32>
}

// A constant table is evaluated through conversions, whatever its bits mean as
// a signed number.

// CHECK-LABEL: func.func @extended_table(
// CHECK-NOT:     linalg
// CHECK:         pipe.attention scale(1.000000e+00) causal ins(
func.func @extended_table(%q: tensor<2x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %nothing = arith.constant 0 : i32
  %t = arith.constant dense<[[-56, 0], [-56, 1]]> : tensor<2x2xi8>
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = linalg.matmul indexing_maps = [#left, #right, #scores] ins(%q, %k : tensor<2x8xf32>, tensor<2x8xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %masked = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%s, %t : tensor<2x2xf32>, tensor<2x2xi8>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %m: i8, %out: f32):
    %wide = arith.extui %m : i8 to i32
    %seen = arith.cmpi ugt, %wide, %nothing : i32
    %r = arith.select %seen, %in, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x2xf32>
  %p = linalg.softmax dimension(1) ins(%masked : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %o0 = tensor.empty() : tensor<2x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  %o = linalg.matmul ins(%p, %v : tensor<2x2xf32>, tensor<2x3xf32>) outs(%zo : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %o : tensor<2x3xf32>
}
