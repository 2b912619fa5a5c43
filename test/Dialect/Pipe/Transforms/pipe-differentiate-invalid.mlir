// RUN: veeline-opt %s --pipe-differentiate --split-input-file --verify-diagnostics

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'tosa.sin' has no derivative rule, and a gradient flows through it}}
  // expected-note @below {{veeline::autodiff::DifferentiableOpInterface}}
  // expected-note @below {{a model that is only evaluated needs none: veeline compile --forward-only}}
  %0 = tosa.sin %w : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<bf16>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<bf16>) -> tensor<bf16>
  pipe.yield %0 : tensor<bf16>
}
// expected-error @below {{the loss, result 0 of 'chunk', has to be a tensor<f32> or tensor<f64>, found 'tensor<bf16>'}}
func.func private @chunk(%w: tensor<bf16>) -> tensor<bf16> {
  return %w : tensor<bf16>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<4xf32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%one : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @below {{'linalg.reduce' has no derivative rule: several iterations write each element of result 0}}
  // expected-note @below {{found 'arith.divf' here}}
  %0 = linalg.reduce { arith.divf } ins(%w : tensor<4xf32>) outs(%c : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}

// -----

// A body that is not linear in its output.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<4xf32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%one : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @below {{'linalg.generic' has no derivative rule: several iterations write each element of result 0}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%w : tensor<4xf32>) outs(%c : tensor<f32>) {
  ^bb0(%in: f32, %acc: f32):
    %p = arith.mulf %in, %acc : f32
    // expected-note @below {{found 'arith.addf' here}}
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A running sum: what the second result adds up are the first one's partial sums.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @below {{'linalg.generic' has no derivative rule: result 1 depends on what has been accumulated of result 0; compute it in an op of its own}}
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%w : tensor<4xf32>) outs(%c, %c : tensor<f32>, tensor<f32>) {
  ^bb0(%in: f32, %sum: f32, %sums: f32):
    %s = arith.addf %sum, %in : f32
    %t = arith.addf %sums, %s : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// -----

// An op without a rule inside of a body.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%w : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @below {{'arith.bitcast' has no derivative rule}}
    // expected-note @below {{a rule is added by}}
    // expected-note @below {{--forward-only}}
    %r = arith.bitcast %in : f32 to f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %n = pipe.batch "n" : tensor<1xindex>
  %0 = pipe.chunk 0 @chunk(%w, %n) : (tensor<2xf32>, tensor<1xindex>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<2xf32>, %n: tensor<1xindex>) -> tensor<f32> {
  %i = arith.constant 0 : index
  %size = tensor.extract %n[%i] : tensor<1xindex>
  // expected-error @below {{cannot differentiate a tensor whose shape is not static, found 'tensor<?xf32>'}}
  %p = tensor.extract_slice %w[0] [%size] [1] : tensor<2xf32> to tensor<?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%p : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  return %0 : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
// expected-error @below {{cannot differentiate 'chunk', which has no body}}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32>

// -----

// A call is an op like any other: without a rule.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @f(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' has no derivative rule}}
  // expected-note @below {{a rule is added by}}
  // expected-note @below {{--forward-only}}
  %0 = func.call @f(%w) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(interleaved) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  // expected-error @below {{gives the loss, which another chunk uses; the loss has to be a result only}}
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  // expected-note @below {{used here}}
  %1 = pipe.chunk 1 @chunk(%0) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0, %1 : tensor<f32>, tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// A loop in the body of a structured op.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%w : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @below {{'scf.for' has a derivative rule outside of the bodies of structured ops only; make a dimension of the structured op of its iterations}}
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %in) -> (f32) {
      %s = arith.mulf %a, %in : f32
      scf.yield %s : f32
    }
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// An element whose index is computed by what may not run without its condition.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %n = pipe.batch "n" : tensor<4xindex>
  %0 = pipe.chunk 0 @chunk(%w, %n) : (tensor<4xf32>, tensor<4xindex>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<4xf32>, %n: tensor<4xindex>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%n : tensor<4xindex>) outs(%f : tensor<f32>) {
  ^bb0(%in: index, %out: f32):
    %i = linalg.index 0 : index
    %c = arith.cmpi ne, %in, %c0 : index
    %r = scf.if %c -> (f32) {
      %q = arith.divui %i, %in : index
      // expected-error @below {{'tensor.extract' has no derivative rule}}
      // expected-note @below {{a rule is added by}}
      // expected-note @below {{--forward-only}}
      %v = tensor.extract %w[%q] : tensor<4xf32>
      scf.yield %v : f32
    } else {
      scf.yield %zero : f32
    }
    %s = arith.addf %out, %r : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A joint function that gives no gradient of the parameter.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> attributes {pipe.joint = @chunk_joint} {
  return %w : tensor<f32>
}
// expected-error @below {{is the joint function of chunk @chunk, and has to be of type '(tensor<f32>) -> (tensor<f32>, tensor<f32>)', found '(tensor<f32>) -> (tensor<f32>, tensor<f64>)'}}
func.func private @chunk_joint(%w: tensor<f32>) -> (tensor<f32>, tensor<f64>) {
  %0 = arith.extf %w : tensor<f32> to tensor<f64>
  return %w, %0 : tensor<f32>, tensor<f64>
}
