// RUN: veeline-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{unknown initialiser 'gauss'; expected zeros, ones, constant(c), normal(mean, std), uniform(lo, hi) or values(elements)}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = gauss>})

// -----

// expected-error @below {{normal(mean, std) needs std >= 0, found std = -1.0}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = normal(0.0, -1.0)>})

// -----

// expected-error @below {{uniform(lo, hi) needs lo <= hi, found lo = 1.0}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = uniform(1.0, 0.0)>})

// -----

// expected-error @below {{argument 0: a parameter of type 'tensor<2xf32>' starts from values of its shape, of floats as wide or narrower; found 'tensor<3xf32>'}}
func.func private @f(tensor<2xf32> {pipe.param = #pipe.param<"w", init = values(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>)>})

// -----

// expected-error @below {{of floats as wide or narrower; found 'tensor<2xf64>'}}
func.func private @f(tensor<2xf32> {pipe.param = #pipe.param<"w", init = values(dense<[1.0, 2.0]> : tensor<2xf64>)>})

// -----

// expected-error @below {{of floats as wide or narrower; found 'tensor<2xi32>'}}
func.func private @f(tensor<2xf32> {pipe.param = #pipe.param<"w", init = values(dense<[1, 2]> : tensor<2xi32>)>})

// -----

// expected-error @below {{argument 0: 'pipe.range' expects the first valid integer and the one after the last, as in array<i64: 0, 10>, found 10 : i64}}
func.func private @f(tensor<2xi32> {pipe.range = 10})

// -----

// expected-error @below {{argument 0: 'pipe.range' expects two integers, the first one smaller; found array<i64: 3, 3>}}
func.func private @f(tensor<2xi32> {pipe.range = array<i64: 3, 3>})

// -----

// expected-error @below {{argument 0: only a tensor of integers has a 'pipe.range', found 'tensor<2xf32>'}}
func.func private @f(tensor<2xf32> {pipe.range = array<i64: 0, 3>})

// -----

// expected-error @below {{an initialiser takes finite numbers}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = constant(0x7FF0000000000000)>})

// -----

// expected-error @below {{expected ','}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = normal(0.0)>})

// -----

// expected-error @below {{argument 0: 'pipe.param' expects a #pipe.param, as in #pipe.param<"w", init = zeros>, found "w"}}
func.func private @f(tensor<f32> {pipe.param = "w"})

// -----

// expected-error @below {{argument 0: 'pipe.batch' expects a name, found 1 : i64}}
func.func private @f(tensor<f32> {pipe.batch = 1})

// -----

// expected-error @below {{argument 0: 'pipe.buffer' expects a name, found unit}}
func.func private @f(tensor<f32> {pipe.buffer})

// -----

// expected-error @below {{argument 0: 'pipe.role' expects a #pipe.role, found "operand"}}
func.func private @f(tensor<f32> {pipe.role = "operand"})

// -----

// expected-error @below {{argument 0: unknown attribute 'pipe.parm'}}
func.func private @f(tensor<f32> {pipe.parm = "w"})

// -----

// expected-error @below {{argument 1: a parameter is a tensor of floats, found 'tensor<i32>'}}
func.func private @f(tensor<f32>, tensor<i32> {pipe.param = #pipe.param<"w", init = zeros>})

// -----

// expected-error @below {{argument 0: a parameter is a tensor of floats, found 'f32'}}
func.func private @f(f32 {pipe.param = #pipe.param<"w", init = zeros>})

// -----

// expected-error @below {{result 0: expected a #pipe.role, or a 'pipe.metric', 'pipe.gradient_of', 'pipe.updated' or 'pipe.state_of' with a name, or 'pipe.step'; found 'pipe.batch'}}
func.func private @f() -> (tensor<f32> {pipe.batch = "x"})

// -----

// expected-error @below {{result 0: expected a #pipe.role, or a 'pipe.metric', 'pipe.gradient_of', 'pipe.updated' or 'pipe.state_of' with a name, or 'pipe.step'; found 'pipe.role'}}
func.func private @f() -> (tensor<f32> {pipe.role = "result"})

// -----

// expected-error @below {{has the attribute 'pipe.batch', which belongs on an argument of a function}}
func.func private @f() attributes {pipe.batch = "x"}

// -----

// expected-error @+2 {{expected one of [operand, result, residual, saved, result_grad, operand_grad, param_grad, rounded, recomputed] for what a value of a chunk function stands for, got: i}}
// expected-error @below {{failed to parse Pipe_RoleAttr parameter 'kind'}}
func.func private @f(tensor<f32> {pipe.role = #pipe.role<input 0>})

// -----

// expected-error @below {{argument 0: only a parameter is 'pipe.frozen', and this is none: it has no 'pipe.param'}}
func.func private @f(tensor<f32> {pipe.batch = "x", pipe.frozen})

// -----

// expected-error @below {{argument 0: 'pipe.frozen' expects no value, found true}}
func.func private @f(tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>, pipe.frozen = true})

// -----

func.func private @f() -> tensor<f32> {
  // expected-error @below {{has the attribute 'pipe.frozen', which belongs on a pipe.param or on an argument that is one}}
  %0 = arith.constant {pipe.frozen} dense<0.0> : tensor<f32>
  return %0 : tensor<f32>
}
