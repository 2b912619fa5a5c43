// RUN: veeline-opt %s --split-input-file --verify-diagnostics --pipe-partition

// Loops that are neither cut nor differentiated.

func.func @dynamic(%x: tensor<4xf32> {pipe.param = #pipe.param<"x", init = ones>}, %n: tensor<i64> {pipe.batch = "n"}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.extract %n[] : tensor<i64>
  %count = arith.index_cast %m : i64 to index
  // expected-error@+1 {{the number of iterations of this loop is not known when the model is compiled; its bounds and its step have to be constants: loop over the largest number of iterations, with an 'scf.if' or a select for those that count}}
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    %b = arith.mulf %a, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %z = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}

// -----

func.func @while(%x: tensor<4xf32> {pipe.param = #pipe.param<"x", init = ones>}, %limit: tensor<f32> {pipe.batch = "limit"}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %l = tensor.extract %limit[] : tensor<f32>
  // expected-error@+1 {{an 'scf.while' has no number of iterations that is known when the model is compiled, and is neither cut nor differentiated; write an 'scf.for' over the largest number of iterations, with an 'scf.if' or a select for those that count}}
  %y = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.extract %a[%c0] : tensor<4xf32>
    %more = arith.cmpf olt, %e, %l : f32
    scf.condition(%more) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %b = arith.addf %a, %x : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  %z = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}
