// RUN: veeline-opt %s --pipe-partition=stages=2 --split-input-file --verify-diagnostics -o /dev/null
// RUN: not veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint --pipe-scale-loss 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not veeline-opt %S/Inputs/joint.mlir --pipe-separate-joint --pipe-bind-lengths=bound=4 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not veeline-opt %S/Inputs/joint.mlir --pipe-joint-graph 2>&1 | FileCheck %s --check-prefix=SECOND

// SCALE:  error: the model brings its own derivative, which would not be that of the model with a scale of its loss; do that before the model is differentiated
// LENGTH: error: the model brings its own derivative, which would not be that of the model with a length that varies
// SECOND: error: result 1 of the model is a metric, a tensor<f32> or tensor<f64>; found 'tensor<2x4xf32>'; gradients are taken out by --pipe-separate-joint

// expected-error @below {{names @nobody as its joint function, and there is none of this name with a body}}
func.func @nothing(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @nobody} {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The first chunk needs a scalar of the second one, and the forward sends four
// numbers the other way.
func.func @narrow(%x: tensor<8xf32> {pipe.batch = "x"}, %w: tensor<8xf32> {pipe.param = #pipe.param<"w", init = ones>},
                  %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> attributes {pipe.joint = @narrow_joint} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = arith.mulf %x, %w : tensor<8xf32>
  %h = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %m = pipe.boundary %h : tensor<4xf32>
  %0 = linalg.dot ins(%m, %m : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %loss = arith.mulf %0, %v : tensor<f32>
  return %loss : tensor<f32>
}
func.func private @narrow_joint(%x: tensor<8xf32> {pipe.batch = "x"}, %w: tensor<8xf32> {pipe.param = #pipe.param<"w", init = ones>},
                                %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<8xf32> {pipe.gradient_of = "w"}, tensor<f32> {pipe.gradient_of = "v"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = arith.mulf %x, %w : tensor<8xf32>
  %h = tensor.extract_slice %y[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %0 = linalg.dot ins(%h, %h : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %loss = arith.mulf %0, %v : tensor<f32>
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{the backward of chunk 1 or a later one, 'narrow_chunk1', would send a value of type 'tensor<8xf32>' to an earlier one, but the forward sends nothing of this size the other way; cut elsewhere (--partition, pipe.boundary)}}
  %many = linalg.broadcast ins(%loss : tensor<f32>) outs(%e : tensor<8xf32>) dimensions = [0]
  %scaled = arith.mulf %many, %y : tensor<8xf32>
  return %loss, %scaled, %0 : tensor<f32>, tensor<8xf32>, tensor<f32>
}
