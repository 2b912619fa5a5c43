// RUN: veeline-opt %s --pipe-print-pieces --split-input-file --verify-diagnostics -o /dev/null

// expected-error @below {{expected a public func.func with a body, the model; found none}}
module {
}

// -----

// A function that is no model has no pieces.
// expected-error @below {{argument 0 ("x") of the model has a dynamic dimension: 'tensor<?xf32>'; say how long it may be, with --length-bound (--pipe-bind-lengths)}}
func.func @net(%x: tensor<?xf32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}
