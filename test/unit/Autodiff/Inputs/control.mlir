// The rules of loops and branches. What is kept of a loop that stays one lies
// in stacks; `pipe.unroll` says which way a loop goes.

// A recurrence: the state is carried, weights and inputs are captured, the
// induction variable chooses a slice of both inputs and outputs.
func.func @recurrence(%x: tensor<5x2x3xf64>, %h: tensor<2x4xf64>, %w: tensor<3x4xf64>, %u: tensor<4x4xf64>) -> (tensor<2x4xf64>, tensor<5x2x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y0 = tensor.empty() : tensor<5x2x4xf64>
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%s = %h, %y = %y0) -> (tensor<2x4xf64>, tensor<5x2x4xf64>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf64> to tensor<2x3xf64>
    %zero = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<2x4xf64>
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2x4xf64>) -> tensor<2x4xf64>
    %a = linalg.matmul ins(%xt, %w : tensor<2x3xf64>, tensor<3x4xf64>) outs(%z : tensor<2x4xf64>) -> tensor<2x4xf64>
    %b = linalg.matmul ins(%s, %u : tensor<2x4xf64>, tensor<4x4xf64>) outs(%a : tensor<2x4xf64>) -> tensor<2x4xf64>
    %n = math.tanh %b : tensor<2x4xf64>
    %y1 = tensor.insert_slice %n into %y[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf64> into tensor<5x2x4xf64>
    scf.yield %n, %y1 : tensor<2x4xf64>, tensor<5x2x4xf64>
  } {pipe.unroll = false}
  return %r#0, %r#1 : tensor<2x4xf64>, tensor<5x2x4xf64>
}

// The same, unrolled.
func.func @unrolled(%x: tensor<5x2x3xf64>, %h: tensor<2x4xf64>, %w: tensor<3x4xf64>, %u: tensor<4x4xf64>) -> (tensor<2x4xf64>, tensor<5x2x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y0 = tensor.empty() : tensor<5x2x4xf64>
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%s = %h, %y = %y0) -> (tensor<2x4xf64>, tensor<5x2x4xf64>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<5x2x3xf64> to tensor<2x3xf64>
    %zero = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<2x4xf64>
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2x4xf64>) -> tensor<2x4xf64>
    %a = linalg.matmul ins(%xt, %w : tensor<2x3xf64>, tensor<3x4xf64>) outs(%z : tensor<2x4xf64>) -> tensor<2x4xf64>
    %b = linalg.matmul ins(%s, %u : tensor<2x4xf64>, tensor<4x4xf64>) outs(%a : tensor<2x4xf64>) -> tensor<2x4xf64>
    %n = math.tanh %b : tensor<2x4xf64>
    %y1 = tensor.insert_slice %n into %y[%t, 0, 0] [1, 2, 4] [1, 1, 1] : tensor<2x4xf64> into tensor<5x2x4xf64>
    scf.yield %n, %y1 : tensor<2x4xf64>, tensor<5x2x4xf64>
  }
  return %r#0, %r#1 : tensor<2x4xf64>, tensor<5x2x4xf64>
}

// Nested loops, the inner one over as many iterations as the outer one is at;
// two carried values that change places; a first index and a step.
func.func @nested(%x: tensor<3x4xf64>, %y: tensor<3x4xf64>, %w: tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %r:2 = scf.for %i = %c1 to %c8 step %c3 iter_args(%a = %x, %b = %y) -> (tensor<3x4xf64>, tensor<3x4xf64>) {
    %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%c = %a) -> (tensor<3x4xf64>) {
      %p = arith.mulf %c, %w : tensor<3x4xf64>
      %q = math.sin %p : tensor<3x4xf64>
      %t = arith.addf %q, %b : tensor<3x4xf64>
      scf.yield %t : tensor<3x4xf64>
    } {pipe.unroll = false}
    scf.yield %b, %s : tensor<3x4xf64>, tensor<3x4xf64>
  } {pipe.unroll = false}
  return %r#0, %r#1 : tensor<3x4xf64>, tensor<3x4xf64>
}

// The bounds of the inner loop are known when the outer one is unrolled.
func.func @triangle(%x: tensor<4xf64>) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> (tensor<4xf64>) {
    %s = scf.for %j = %c0 to %i step %c1 iter_args(%c = %a) -> (tensor<4xf64>) {
      %p = arith.mulf %c, %x : tensor<4xf64>
      scf.yield %p : tensor<4xf64>
    }
    scf.yield %s : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// Carried and captured scalars; a carried value on which nothing depends that
// is differentiated, and an integer.
func.func @scalars(%x: tensor<6xf64>, %f: tensor<f64>) -> (tensor<f64>, tensor<6xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %one = arith.constant 1.0 : f64
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %k = tensor.extract %f[] : tensor<f64>
  %r:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %k, %n = %i0, %passive = %one) -> (f64, i32, f64) {
    %v = tensor.extract %x[%i] : tensor<6xf64>
    %m = arith.sitofp %n : i32 to f64
    %p = arith.mulf %v, %k : f64
    %q = arith.mulf %s, %p : f64
    %w = math.sin %q : f64
    %t = arith.addf %w, %m : f64
    %u = arith.mulf %t, %passive : f64
    %next = arith.addi %n, %i1 : i32
    %half = arith.addf %passive, %one : f64
    scf.yield %u, %next, %half : f64, i32, f64
  } {pipe.unroll = false}
  %a = tensor.from_elements %r#0 : tensor<f64>
  %count = arith.sitofp %r#1 : i32 to f64
  %splat = tensor.splat %count : tensor<6xf64>
  %b = arith.mulf %splat, %x : tensor<6xf64>
  return %a, %b : tensor<f64>, tensor<6xf64>
}

// A branch by data: a value of only one side, one that is passed through, a
// product that is kept, a scalar.
func.func @branch(%x: tensor<2x3xf64> {test.range = [0.2, 0.8]}, %w: tensor<3x3xf64>, %v: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<2x3xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<2x3xf64>) -> tensor<2x3xf64>
  %first = tensor.extract %x[%c0, %c0] : tensor<2x3xf64>
  %yes = arith.cmpf ogt, %first, %zero : f64
  %no = arith.cmpf olt, %first, %zero : f64
  %a:2 = scf.if %yes -> (tensor<2x3xf64>, f64) {
    %p = linalg.matmul ins(%x, %w : tensor<2x3xf64>, tensor<3x3xf64>) outs(%z : tensor<2x3xf64>) -> tensor<2x3xf64>
    %q = math.tanh %p : tensor<2x3xf64>
    %s = arith.mulf %first, %first : f64
    scf.yield %q, %s : tensor<2x3xf64>, f64
  } else {
    %s = math.exp %first : f64
    scf.yield %v, %s : tensor<2x3xf64>, f64
  }
  %b = scf.if %no -> (tensor<2x3xf64>) {
    %l = math.log %v : tensor<2x3xf64>
    scf.yield %l : tensor<2x3xf64>
  } else {
    %p = linalg.matmul ins(%a#0, %w : tensor<2x3xf64>, tensor<3x3xf64>) outs(%z : tensor<2x3xf64>) -> tensor<2x3xf64>
    %q = math.sin %p : tensor<2x3xf64>
    %r = arith.mulf %q, %v : tensor<2x3xf64>
    scf.yield %r : tensor<2x3xf64>
  }
  scf.if %yes {
  }
  %s = tensor.from_elements %a#1 : tensor<f64>
  return %a#0, %b, %s : tensor<2x3xf64>, tensor<2x3xf64>, tensor<f64>
}

// A branch in a loop, by the number of the iteration; known when unrolled.
func.func @branch_in_loop(%x: tensor<2x3xf64>, %w: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<2x3xf64>) {
    %late = arith.cmpi uge, %i, %c2 : index
    %n = scf.if %late -> (tensor<2x3xf64>) {
      %p = arith.mulf %a, %w : tensor<2x3xf64>
      %q = math.sin %p : tensor<2x3xf64>
      scf.yield %q : tensor<2x3xf64>
    } else {
      %p = math.cos %a : tensor<2x3xf64>
      scf.yield %p : tensor<2x3xf64>
    }
    scf.yield %n : tensor<2x3xf64>
  } {pipe.unroll = false}
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<2x3xf64>) {
    %late = arith.cmpi uge, %i, %c2 : index
    %n = scf.if %late -> (tensor<2x3xf64>) {
      %p = arith.mulf %a, %w : tensor<2x3xf64>
      scf.yield %p : tensor<2x3xf64>
    } else {
      scf.yield %a : tensor<2x3xf64>
    }
    scf.yield %n : tensor<2x3xf64>
  }
  return %r, %s : tensor<2x3xf64>, tensor<2x3xf64>
}

// Nothing is carried but what is put together; an iteration is used twice; a
// loop of no iterations.
func.func @independent(%x: tensor<4x3xf64>, %w: tensor<3xf64>) -> (tensor<4x3xf64>, tensor<3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y0 = arith.constant dense<0.0> : tensor<4x3xf64>
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %y0) -> (tensor<4x3xf64>) {
    %r = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<4x3xf64> to tensor<3xf64>
    %s = tensor.extract_slice %x[2, 0] [1, 3] [1, 1] : tensor<4x3xf64> to tensor<3xf64>
    %p = arith.mulf %r, %w : tensor<3xf64>
    %q = arith.mulf %p, %s : tensor<3xf64>
    %t = arith.mulf %q, %r : tensor<3xf64>
    %n = tensor.insert_slice %t into %y[%i, 0] [1, 3] [1, 1] : tensor<3xf64> into tensor<4x3xf64>
    scf.yield %n : tensor<4x3xf64>
  } {pipe.unroll = false}
  %none = scf.for %i = %c0 to %c0 step %c1 iter_args(%a = %w) -> (tensor<3xf64>) {
    %p = arith.mulf %a, %a : tensor<3xf64>
    scf.yield %p : tensor<3xf64>
  }
  %q = math.exp %none : tensor<3xf64>
  return %y, %q : tensor<4x3xf64>, tensor<3xf64>
}

// What is carried is changed in its place, and read before, meanwhile and
// after; a sum is carried.
func.func @in_place(%x: tensor<4x4xf64>, %w: tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %s = %w, %b = %w) -> (tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) {
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<4x4xf64> to tensor<4xf64>
    %sin = math.sin %row : tensor<4xf64>
    %new = tensor.insert_slice %sin into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf64> into tensor<4x4xf64>
    %sum = linalg.matmul ins(%new, %a : tensor<4x4xf64>, tensor<4x4xf64>) outs(%s : tensor<4x4xf64>) -> tensor<4x4xf64>
    %p = arith.mulf %b, %sum : tensor<4x4xf64>
    %q = math.tanh %p : tensor<4x4xf64>
    scf.yield %new, %sum, %q : tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
  } {pipe.unroll = false}
  return %r#0, %r#1, %r#2 : tensor<4x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>
}
