// RUN: veeline-opt %s --pipe-scale-loss --pipe-partition --split-input-file --verify-diagnostics -o /dev/null
// RUN: split-file %s %t
// RUN: not veeline-opt %t/net.mlir --pipe-scale-loss --pipe-scale-loss 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not veeline-opt %t/net.mlir --pipe-scale-loss=entry=nets 2>&1 | FileCheck %s --check-prefix=ENTRY

// TWICE: error: the loss of the model has a scale, argument 2; a loss is scaled once
// ENTRY: error: there is no func.func @nets with a body; did you mean @net?

//--- net.mlir
func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss : tensor<f32>
}

//--- name.mlir

// -----

// expected-error @below {{argument 0 of the model has the name "loss_scale", which the scale of the loss takes; rename the argument}}
func.func @net(%x: tensor<f32> {pipe.batch = "loss_scale"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// What breaks the contract is said by the pass that checks it.
func.func @net(%x: tensor<2xf32> {pipe.batch = "x"}, %w: tensor<2xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<2xf32> {
  %loss = arith.mulf %x, %w : tensor<2xf32>
  // expected-error @below {{the model's first result is the loss, a tensor<f32> or tensor<f64>; found 'tensor<2xf32>'}}
  return %loss : tensor<2xf32>
}

// -----

// expected-error @below {{argument 0: 'pipe.loss_scale' expects no value, found 2 : i64}}
func.func @net(%x: tensor<f32> {pipe.buffer = "x", pipe.loss_scale = 2}) -> tensor<f32> {
  return %x : tensor<f32>
}
