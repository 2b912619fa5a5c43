// Products in loops are one call in a fused backward and in its halves, on a GPU, too: whether a loop writes them into a stack of matrices
// of odd sizes, is unrolled, or has one turn, whose result B computes and W adds to the gradient of the first state.

// DEFINE: %{compile} = veeline compile %quick -q %s --target cuda --gpu-chips ptx --no-reference --stages 2 --microbatches 2 --schedule zb-h1 -o %t.vee
// RUN: %{compile} --entry kept --recompute 0B/ns
// RUN: %{compile} --entry unrolled
// RUN: %{compile} --entry once

func.func @kept(%x: tensor<5x5xf64> {pipe.batch = "x"}, %rows: tensor<4x5x5xf64> {pipe.param = #pipe.param<"rows", init = zeros>},
                %w: tensor<5x5xf64> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<5x5xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<5x5xf64>) -> tensor<5x5xf64>
  %product = arith.mulf %x, %w : tensor<5x5xf64>
  %first = pipe.boundary %product : tensor<5x5xf64>
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%state = %first) -> (tensor<5x5xf64>) {
    %mixed = linalg.matmul ins(%state, %first : tensor<5x5xf64>, tensor<5x5xf64>) outs(%zeros : tensor<5x5xf64>) -> tensor<5x5xf64>
    %row = tensor.extract_slice %rows[%i, 0, 0] [1, 5, 5] [1, 1, 1] : tensor<4x5x5xf64> to tensor<5x5xf64>
    %sum = arith.mulf %mixed, %row : tensor<5x5xf64>
    %next = math.tanh %sum : tensor<5x5xf64>
    scf.yield %next : tensor<5x5xf64>
  } {pipe.unroll = false}
  %one = tensor.empty() : tensor<f64>
  %none = linalg.fill ins(%zero : f64) outs(%one : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce ins(%last : tensor<5x5xf64>) outs(%none : tensor<f64>) dimensions = [0, 1]
    (%a: f64, %b: f64) {
      %sum = arith.addf %a, %b : f64
      linalg.yield %sum : f64
    }
  return %loss : tensor<f64>
}

func.func @unrolled(%x: tensor<1x3xf64> {pipe.batch = "x"}, %v: tensor<1x3xf64> {pipe.param = #pipe.param<"v", init = zeros>},
                    %rows: tensor<5x1x3xf64> {pipe.param = #pipe.param<"rows", init = zeros>}, %w: tensor<3x3xf64> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<1x3xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<1x3xf64>) -> tensor<1x3xf64>
  %product = arith.mulf %x, %v : tensor<1x3xf64>
  %first = pipe.boundary %product : tensor<1x3xf64>
  %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%state = %first) -> (tensor<1x3xf64>) {
    %mixed = linalg.matmul ins(%state, %w : tensor<1x3xf64>, tensor<3x3xf64>) outs(%zeros : tensor<1x3xf64>) -> tensor<1x3xf64>
    %row = tensor.extract_slice %rows[%i, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<5x1x3xf64> to tensor<1x3xf64>
    %sum = arith.addf %mixed, %row : tensor<1x3xf64>
    %next = math.tanh %sum : tensor<1x3xf64>
    scf.yield %next : tensor<1x3xf64>
  }
  %one = tensor.empty() : tensor<f64>
  %none = linalg.fill ins(%zero : f64) outs(%one : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce ins(%last : tensor<1x3xf64>) outs(%none : tensor<f64>) dimensions = [0, 1]
    (%a: f64, %b: f64) {
      %sum = arith.addf %a, %b : f64
      linalg.yield %sum : f64
    }
  return %loss : tensor<f64>
}

func.func @once(%x: tensor<1x2xf64> {pipe.batch = "x"}, %v: tensor<1x2xf64> {pipe.param = #pipe.param<"v", init = zeros>},
                %state: tensor<1x2xf64> {pipe.param = #pipe.param<"state", init = zeros>}, %u: tensor<2x2xf64> {pipe.param = #pipe.param<"u", init = zeros>}) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<1x2xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<1x2xf64>) -> tensor<1x2xf64>
  %product = arith.mulf %x, %v : tensor<1x2xf64>
  %row = pipe.boundary %product : tensor<1x2xf64>
  %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%before = %state) -> (tensor<1x2xf64>) {
    %mixed = linalg.matmul ins(%before, %u : tensor<1x2xf64>, tensor<2x2xf64>) outs(%zeros : tensor<1x2xf64>) -> tensor<1x2xf64>
    %sum = arith.addf %mixed, %row : tensor<1x2xf64>
    %next = math.tanh %sum : tensor<1x2xf64>
    scf.yield %next : tensor<1x2xf64>
  } {pipe.unroll = false}
  %one = tensor.empty() : tensor<f64>
  %none = linalg.fill ins(%zero : f64) outs(%one : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce ins(%last : tensor<1x2xf64>) outs(%none : tensor<f64>) dimensions = [0, 1]
    (%a: f64, %b: f64) {
      %sum = arith.addf %a, %b : f64
      linalg.yield %sum : f64
    }
  return %loss : tensor<f64>
}
