// RUN: veeline-opt %s --pipe-bind-lengths="bound=6 multiple=2" --split-input-file --verify-diagnostics -o /dev/null
// RUN: split-file %s %t
// RUN: not veeline-opt %t/net.mlir --pipe-bind-lengths 2>&1 | FileCheck %s --check-prefix=BOUND
// RUN: not veeline-opt %t/net.mlir --pipe-bind-lengths="bound=6 multiple=4" 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not veeline-opt %t/net.mlir --pipe-partition 2>&1 | FileCheck %s --check-prefix=UNBOUND
// RUN: veeline-opt %t/net.mlir --pipe-bind-lengths="bound=6" | sed 's/pipe.versions = .@net_at_1, /pipe.versions = [/' > %t/few.mlir
// RUN: not veeline-opt %t/few.mlir --pipe-partition 2>&1 | FileCheck %s --check-prefix=FEW

// BOUND: error: the bound of the length is at least 1 and a multiple of 'multiple', which is at least 1; found bound 0 and multiple 1
// MULTIPLE: found bound 6 and multiple 4
// UNBOUND: error: argument 0 ("x") of the model has a dynamic dimension: 'tensor<2x?xf32>'; say how long it may be, with --length-bound (--pipe-bind-lengths)
// FEW: error: has 6 lengths, but its attribute 'pipe.versions' names 4 functions; expected one for each length but the last (--pipe-bind-lengths)

//--- net.mlir
func.func @net(%x: tensor<2x?xf32> {pipe.batch = "x"},
               %w: tensor<2x2xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<2x2xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %length = tensor.dim %x, %one : tensor<2x?xf32>
  %empty = tensor.empty(%length) : tensor<2x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x?xf32>) -> tensor<2x?xf32>
  %h = linalg.matmul ins(%w, %x : tensor<2x2xf32>, tensor<2x?xf32>) outs(%zeros : tensor<2x?xf32>) -> tensor<2x?xf32>
  %y = linalg.matmul ins(%v, %h : tensor<2x2xf32>, tensor<2x?xf32>) outs(%zeros : tensor<2x?xf32>) -> tensor<2x?xf32>
  %scalar = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%y : tensor<2x?xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}

//--- others.mlir
// -----

// expected-error@+1 {{argument 0 of the model is 'tensor<?x?xf32>': a model has one length, and an argument has it in one dimension; found 2 dynamic dimensions}}
func.func @two(%x: tensor<?x?xf32> {pipe.batch = "x"}) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

// -----

// expected-error@+1 {{its first dimension is that of samples, which does not vary; the length has to be another one}}
func.func @samples(%x: tensor<?x4xf32> {pipe.batch = "x"}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

// -----

// expected-error@+1 {{only batch arguments, {pipe.batch = "name"}, have a dynamic dimension; parameters and buffers are sized for the bound, and sliced}}
func.func @parameter(%x: tensor<?xf32> {pipe.param = #pipe.param<"x", init = ones>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error@+1 {{a bound of the length is given, but no argument of the model has a dynamic dimension, as in tensor<4x?xi32>}}
func.func @static(%x: tensor<4xf32> {pipe.batch = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4x?xf32> {pipe.batch = "x"}, %shape: tensor<2xindex> {pipe.batch = "shape"}) -> tensor<?x?xf32> {
  // expected-error@+1 {{the shape of what 'tensor.reshape' gives does not follow from the length (tried 2); supported are structured ops}}
  %y = tensor.reshape %x(%shape) : (tensor<4x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @handed(%x: tensor<4x?xf32> {pipe.batch = "x"}) -> tensor<4x?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' hands on a tensor whose shape depends on the length; this is not supported in loops and branches}}
  %y = scf.for %i = %zero to %one step %one iter_args(%last = %x) -> (tensor<4x?xf32>) {
    scf.yield %last : tensor<4x?xf32>
  }
  return %y : tensor<4x?xf32>
}

// -----

// What does not fit at some length is not valid there.

// expected-error@+1 {{the model is not valid at length 2}}
func.func @misfit(%x: tensor<4x?xf32> {pipe.batch = "x"}, %w: tensor<4x6xf32> {pipe.batch = "w"}) -> tensor<4x6xf32> {
  %empty = tensor.empty() : tensor<4x6xf32>
  // expected-error@+1 {{inferred input/output operand #1 has shape's dimension #1 to be 2, but found 6}}
  %y = linalg.add ins(%x, %w : tensor<4x?xf32>, tensor<4x6xf32>) outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
