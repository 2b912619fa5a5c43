// RUN: veeline-opt %s --pipe-partition="stages=1 chunks-per-stage=1" --pipe-differentiate --split-input-file | FileCheck %s

// The largest element as JAX, torch and IREE export it: compared, selected, and
// NaN where one of the two is. It is arith.maximumf, and has its derivative.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func private @asks_for_both_chunk0_forward
// CHECK: arith.maximumf
// CHECK-NOT: cmpf uno
// CHECK-LABEL: func.func private @asks_for_both_chunk0_backward
func.func @asks_for_both(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    %u = arith.cmpf uno, %a, %b : f32
    %r = arith.select %u, %nan, %s : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// The smallest element and where it is: a NaN of the element is asked for in the
// condition, one of the accumulator is handed on since it is not greater.

// CHECK-LABEL: func.func private @smallest_and_where_chunk0_forward
// CHECK: arith.minimumf
// CHECK: arith.select {{.*}} : i32
// CHECK-LABEL: func.func private @smallest_and_where_chunk0_backward
func.func @smallest_and_where(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : i32
  %most = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%most : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %ei = tensor.empty() : tensor<4xi32>
  %starti = linalg.fill ins(%first : i32) outs(%ei : tensor<4xi32>) -> tensor<4xi32>
  %m:2 = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x5xf32>) outs(%start, %starti : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %b: f32, %at: i32):
    %j = linalg.index 1 : index
    %number = arith.index_cast %j : index to i32
    %c = arith.cmpf olt, %a, %b : f32
    %n = arith.cmpf une, %a, %a : f32
    %either = arith.ori %c, %n : i1
    %r = arith.select %either, %a, %b : f32
    %where = arith.select %either, %number, %at : i32
    linalg.yield %r, %where : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m#0 : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// A NaN of the accumulator that is not handed on: not a maximum that does.

// CHECK-LABEL: func.func private @forgets_chunk0_forward
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @forgets(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x5xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ugt, %a, %b : f32
    %s = arith.select %c, %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// As linalg.reduce. A NaN of either is asked for, and a sum hands it on.

// CHECK-LABEL: func.func private @reduces_chunk0_forward
// CHECK: linalg.reduce
// CHECK-NEXT: (%[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[A]], %[[B]]
// CHECK-NEXT: linalg.yield %[[M]]
// CHECK-LABEL: func.func private @reduces_chunk0_backward
func.func @reduces(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce ins(%p : tensor<4x5xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %c = arith.cmpf ogt, %a, %b : f32
      %s = arith.select %c, %a, %b : f32
      %na = arith.cmpf uno, %a, %a : f32
      %nb = arith.cmpf uno, %b, %b : f32
      %n = arith.ori %na, %nb : i1
      %sum = arith.addf %a, %b : f32
      %r = arith.select %n, %sum, %s : f32
      linalg.yield %r : f32
    }
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// A number, as long as one of the two is.

// CHECK-LABEL: func.func private @leaves_out_chunk0_forward
// CHECK: linalg.reduce
// CHECK-NEXT: (%[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK-NEXT: %[[M:.*]] = arith.maxnumf %[[A]], %[[B]]
// CHECK-NEXT: linalg.yield %[[M]]
// CHECK-LABEL: func.func private @leaves_out_chunk0_backward
func.func @leaves_out(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce ins(%p : tensor<4x5xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.maximumf %a, %b : f32
      %na = arith.cmpf uno, %a, %a : f32
      %nb = arith.cmpf uno, %b, %b : f32
      %t = arith.select %na, %b, %s : f32
      %r = arith.select %nb, %a, %t : f32
      linalg.yield %r : f32
    }
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#none = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// As TOSA leaves NaN out: that of an element, not that of the accumulator. It
// stays as it is, and has the derivative of a maximum.

// CHECK-LABEL: func.func private @leaves_out_elements_chunk0_forward
// CHECK: arith.cmpf uno
// CHECK: arith.select
// CHECK-LABEL: func.func private @leaves_out_elements_chunk0_backward
func.func @leaves_out_elements(%w: tensor<4x5xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4x5xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4x5xf32>
  %p = linalg.mul ins(%w, %x : tensor<4x5xf32>, tensor<4x5xf32>) outs(%ep : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%least : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.reduce ins(%p : tensor<4x5xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.maximumf %a, %b : f32
      %na = arith.cmpf uno, %a, %a : f32
      %r = arith.select %na, %b, %s : f32
      linalg.yield %r : f32
    }
  %es = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%m : tensor<4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %loss : tensor<f32>
}
