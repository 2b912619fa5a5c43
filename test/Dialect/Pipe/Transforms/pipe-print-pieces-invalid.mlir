// RUN: veeline-opt %s --pipe-print-pieces --split-input-file --verify-diagnostics -o /dev/null

// expected-error @below {{expected a public func.func with a body, the model; found none}}
module {
}

// -----

// A function that is no model has no pieces.
// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<?xf32>'}}
func.func @net(%x: tensor<?xf32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}
