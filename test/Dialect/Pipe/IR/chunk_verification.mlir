// RUN: veeline-opt %s --split-input-file --verify-diagnostics

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<f32>
  // expected-error @below {{takes operand 1 twice; a chunk takes each value once}}
  %0 = pipe.chunk 0 @c(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{has a backward function but no forward function}}
  %0 = pipe.chunk 0 @c() {backward = @c} : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{has a backward function but no forward function}}
  %0 = pipe.chunk 0 @c() {backward_input = @c} : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{has a backward function but no forward function}}
  %0 = pipe.chunk 0 @c() {backward_weight = @c} : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{refers to @missing, which is not a func.func of this module}}
  %0 = pipe.chunk 0 @missing() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{refers to @net, which is not a func.func of this module}}
  %0 = pipe.chunk 0 @c() {forward = @net} : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{has type '() -> tensor<f32>', but @c has type '() -> tensor<f64>'}}
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
// expected-note @below {{declared here}}
func.func private @c() -> tensor<f64>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{is chunk -1 where chunk 0 is next: chunks are numbered in model order}}
  %0 = pipe.chunk -1 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>
