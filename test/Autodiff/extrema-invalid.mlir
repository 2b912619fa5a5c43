// RUN: veeline-opt %s --pipe-partition="stages=1 chunks-per-stage=1" --pipe-differentiate --split-input-file --verify-diagnostics

// The larger of the two, but a third value at a tie.

func.func @third(%w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %ep = tensor.empty() : tensor<4xf32>
  %p = linalg.mul ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%ep : tensor<4xf32>) -> tensor<4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'linalg.reduce' has no derivative rule: several iterations write each element of result 0, which is supported where they are added or multiplied, or where the largest or smallest is taken}}
  %m = linalg.reduce ins(%p : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.cmpf ogt, %a, %b : f32
      %s = arith.select %c, %a, %b : f32
      %equal = arith.cmpf oeq, %a, %b : f32
      // expected-note @+1 {{found 'arith.select' here}}
      %r = arith.select %equal, %zero, %s : f32
      linalg.yield %r : f32
    }
  return %m : tensor<f32>
}

// -----

// What is asked for decides, and is none of the two.

func.func @asks_another(%w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = normal(0.0, 1.0)>}, %x: tensor<4xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'linalg.generic' has no derivative rule}}
  %m = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %y: f32, %b: f32):
    %c = arith.cmpf ogt, %a, %y : f32
    // expected-note @+1 {{found 'arith.select' here}}
    %r = arith.select %c, %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %m : tensor<f32>
}
