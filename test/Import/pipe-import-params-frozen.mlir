// Freezing all that could be trained: the error says so, and how much it was.

// RUN: not veeline-opt %s --pipe-import-params="freeze=*" 2>&1 | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params="freeze=arg1" | FileCheck %s --check-prefix=ONE

// CHECK: frozen.mlir:[[#@LINE+2]]:1: error: the model has nothing to train: --freeze takes all its parameters, 2; leave out what is to be trained
// ONE: func.func @two({{.*}}{pipe.frozen, pipe.param = #pipe.param<"arg1", init = ones>}, {{[^{]*}}{pipe.param = #pipe.param<"arg2", init = zeros>}
func.func @two(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %a = linalg.broadcast ins(%w : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%v : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  %c = arith.mulf %a, %x : tensor<2x4xf32>
  %d = arith.addf %b, %c : tensor<2x4xf32>
  return %d : tensor<2x4xf32>
}

