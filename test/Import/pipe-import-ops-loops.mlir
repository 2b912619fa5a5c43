// RUN: veeline-opt %s --pipe-import-ops | FileCheck %s

// CHECK-LABEL: func.func @affine(
// CHECK:         scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK:           arith.addi
// CHECK:           tensor.extract
// CHECK-NOT:     affine.
func.func @affine(%x: tensor<5xf32>, %start: f32) -> f32 {
  %r = affine.for %t = 0 to 5 iter_args(%s = %start) -> (f32) {
    %i = affine.apply affine_map<(d0) -> (4 - d0)>(%t)
    %e = tensor.extract %x[%i] : tensor<5xf32>
    %n = arith.mulf %s, %e : f32
    affine.yield %n : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @forall(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32>, %[[Y:.*]]: tensor<8x4xf32>)
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[O:.*]] = %[[Y]])
// CHECK:           %[[ROWS:.*]] = tensor.extract_slice %[[X]][%[[I]], 0] [2, 4] [1, 1]
// CHECK:           %[[N:.*]] = tensor.insert_slice %[[ROWS]] into %[[O]][%[[I]], 0] [2, 4] [1, 1]
// CHECK:           scf.yield %[[N]]
func.func @forall(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = scf.forall (%i) = (0) to (8) step (2) shared_outs(%o = %y) -> (tensor<8x4xf32>) {
    %rows = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %rows into %o[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
    }
  }
  return %r : tensor<8x4xf32>
}

// A loop that counts 3, 5, 7; what it counted to is a constant after it.
// CHECK-LABEL: func.func @counted(
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK:         %[[R:.*]] = scf.for %[[I:.*]] = %[[NONE]] to %[[THREE]] step %[[ONE]] iter_args(%[[S:.*]] = %{{.*}}) -> (f32)
// CHECK:           %[[TWICE:.*]] = arith.muli %[[I]]
// CHECK:           %[[AT:.*]] = arith.addi %[[TWICE]]
// CHECK:           %[[N:.*]] = arith.index_cast %[[AT]] : index to i32
// CHECK:           arith.sitofp %[[N]]
// CHECK:         %[[NINE:.*]] = arith.constant 9 : index
// CHECK:         %[[END:.*]] = arith.index_cast %[[NINE]] : index to i32
// CHECK:         return %[[R]], %[[END]] : f32, i32
func.func @counted(%start: f32) -> (f32, i32) {
  %c3 = arith.constant 3 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %r:2 = scf.while (%n = %c3, %s = %start) : (i32, f32) -> (i32, f32) {
    %goes = arith.cmpi sle, %n, %c8 : i32
    scf.condition(%goes) %n, %s : i32, f32
  } do {
  ^bb0(%n: i32, %s: f32):
    %f = arith.sitofp %n : i32 to f32
    %t = arith.mulf %s, %f : f32
    %next = arith.addi %n, %c2 : i32
    scf.yield %next, %t : i32, f32
  }
  return %r#1, %r#0 : f32, i32
}

// Loops that depend on data, or never end, stay.
// CHECK-LABEL: func.func @unknown(
// CHECK:         scf.while
// CHECK:         scf.while
func.func @unknown(%end: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.while (%n = %c0) : (i32) -> i32 {
    %goes = arith.cmpi slt, %n, %end : i32
    scf.condition(%goes) %n : i32
  } do {
  ^bb0(%n: i32):
    %next = arith.addi %n, %c1 : i32
    scf.yield %next : i32
  }
  %s = scf.while (%n = %c0) : (i32) -> i32 {
    %goes = arith.cmpi sge, %n, %c0 : i32
    scf.condition(%goes) %n : i32
  } do {
  ^bb0(%n: i32):
    scf.yield %n : i32
  }
  return %r, %s : i32, i32
}

// The most iterations that are counted, and one more.
// CHECK-LABEL: func.func @longest(
// CHECK:         %[[END:.*]] = arith.constant 65536 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK:         scf.while
func.func @longest(%x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %most = arith.constant 65536 : i32
  %more = arith.constant 65537 : i32
  %r:2 = scf.while (%n = %c0, %s = %x) : (i32, f32) -> (i32, f32) {
    %goes = arith.cmpi slt, %n, %most : i32
    scf.condition(%goes) %n, %s : i32, f32
  } do {
  ^bb0(%n: i32, %s: f32):
    %next = arith.addi %n, %c1 : i32
    %t = math.sin %s : f32
    scf.yield %next, %t : i32, f32
  }
  %q:2 = scf.while (%n = %c0, %s = %x) : (i32, f32) -> (i32, f32) {
    %goes = arith.cmpi slt, %n, %more : i32
    scf.condition(%goes) %n, %s : i32, f32
  } do {
  ^bb0(%n: i32, %s: f32):
    %next = arith.addi %n, %c1 : i32
    %t = math.sin %s : f32
    scf.yield %next, %t : i32, f32
  }
  return %r#1, %q#1 : f32, f32
}

// A counter that maps and named ops compute; and what a loop carries and never
// changes is none of what it carries.
// CHECK-LABEL: func.func @invariant(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[W:[a-z0-9]+]]: tensor<3x3xf32>)
// CHECK:         %[[END:.*]] = arith.constant 4 : index
// CHECK:         %[[R:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[S:.*]] = %[[X]]) -> (tensor<2x3xf32>)
// CHECK:           linalg.matmul ins(%[[S]], %[[W]]
// CHECK:         return %[[R]], %[[W]]
func.func @invariant(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %c1 = arith.constant dense<1> : tensor<i32>
  %c4 = arith.constant dense<4> : tensor<i32>
  %zero = arith.constant 0.0 : f32
  %r:3 = scf.while (%n = %c0, %s = %x, %k = %w) : (tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>) -> (tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>) {
    %e = tensor.empty() : tensor<i1>
    %less = linalg.map ins(%n, %c4 : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>)
      (%a: i32, %b: i32, %o: i1) {
        %l = arith.cmpi slt, %a, %b : i32
        linalg.yield %l : i1
      }
    %goes = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes) %n, %s, %k : tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>
  } do {
  ^bb0(%n: tensor<i32>, %s: tensor<2x3xf32>, %k: tensor<3x3xf32>):
    %e = tensor.empty() : tensor<i32>
    %next = linalg.add ins(%n, %c1 : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) -> tensor<i32>
    %f = tensor.empty() : tensor<2x3xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
    %y = linalg.matmul ins(%s, %k : tensor<2x3xf32>, tensor<3x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
    scf.yield %next, %y, %k : tensor<i32>, tensor<2x3xf32>, tensor<3x3xf32>
  }
  return %r#1, %r#2 : tensor<2x3xf32>, tensor<3x3xf32>
}

// A map of floats says nothing of how often a loop runs.
// CHECK-LABEL: func.func @floats(
// CHECK:         scf.while
func.func @floats(%x: tensor<f32>) -> tensor<f32> {
  %limit = arith.constant dense<4.0> : tensor<f32>
  %r = scf.while (%s = %x) : (tensor<f32>) -> tensor<f32> {
    %e = tensor.empty() : tensor<i1>
    %less = linalg.map ins(%s, %limit : tensor<f32>, tensor<f32>) outs(%e : tensor<i1>)
      (%a: f32, %b: f32, %o: i1) {
        %l = arith.cmpf olt, %a, %b : f32
        linalg.yield %l : i1
      }
    %goes = tensor.extract %less[] : tensor<i1>
    scf.condition(%goes) %s : tensor<f32>
  } do {
  ^bb0(%s: tensor<f32>):
    %e = tensor.empty() : tensor<f32>
    %y = linalg.add ins(%s, %s : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
    scf.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}
