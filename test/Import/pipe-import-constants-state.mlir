// RUN: veeline-opt %s --split-input-file --pipe-import-constants --verify-diagnostics | FileCheck %s

// A seed that decides a result has one value in all steps. That is said.
// CHECK-LABEL: func.func @dropout
// CHECK-NOT:     ml_program.global_store
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @dropout(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @below {{the model changes @global_seed in each run; here it keeps its first value, so that random numbers, as those of a dropout, are the same in every step; export the model without them}}
  %s = ml_program.global_load @global_seed : tensor<i64>
  %seed = tensor.extract %s[] : tensor<i64>
  %step = arith.constant 1442695040888963407 : i64
  %next = arith.addi %seed, %step : i64
  %n = tensor.insert %next into %s[] : tensor<i64>
  ml_program.global_store @global_seed = %n : tensor<i64>
  %f = arith.sitofp %next : i64 to f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>)
    (%in: f32, %out: f32) {
      %v = arith.mulf %in, %f : f32
      linalg.yield %v : f32
    }
  return %y : tensor<4xf32>
}

// -----

// One that only goes into itself decides nothing: torch-mlir writes it into every file.
// CHECK-LABEL: func.func @unused
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = ml_program.global_load @global_seed : tensor<i64>
  ml_program.global_store @global_seed = %s : tensor<i64>
  return %x : tensor<4xf32>
}

// -----

// A resource by name is one weight, also where several constants read it.
// CHECK-LABEL: func.func @tied
// CHECK-SAME:    (%[[W:.*]]: tensor<2xf32> {pipe.constant = dense_resource<tied> : tensor<2xf32>}) -> tensor<2xf32>
// CHECK:         arith.addf %[[W]], %[[W]]
func.func @tied() -> tensor<2xf32> {
  %a = arith.constant dense_resource<tied> : tensor<2xf32>
  %b = arith.constant dense_resource<tied> : tensor<2xf32>
  %c = arith.addf %a, %b : tensor<2xf32>
  return %c : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      tied: "0x040000000000803F00000040"
    }
  }
#-}
