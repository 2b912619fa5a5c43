// RUN: veeline-opt %s --pipe-separate-joint --split-input-file --verify-diagnostics -o /dev/null

// A momentum whose gradient is damped is none of the runtime's.
func.func @damped(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                  %m: tensor<f32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %a = arith.mulf %m, %half : tensor<f32>
  %squared = arith.mulf %a, %a : tensor<f32>
  %m1 = arith.addf %squared, %x : tensor<f32>
  %step = arith.mulf %m1, %half : tensor<f32>
  // expected-error @below {{result 1, the new value of "w", is not updated as sgd-momentum, sgd-nesterov, adamw or lion do (docs/optimizers.md)}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// The runtime's AdamW corrects its means by the number of the step.
func.func @uncorrected(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                       %m: tensor<f32> {pipe.state_of = "w"}, %s: tensor<f32> {pipe.state_of = "w"}, %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %epsilon = arith.constant dense<1.0e-8> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %0 = arith.mulf %m, %half : tensor<f32>
  %1 = arith.mulf %x, %half : tensor<f32>
  %m1 = arith.addf %0, %1 : tensor<f32>
  %2 = arith.mulf %s, %half : tensor<f32>
  %3 = arith.mulf %x, %1 : tensor<f32>
  %s1 = arith.addf %2, %3 : tensor<f32>
  %4 = math.sqrt %s1 : tensor<f32>
  %5 = arith.addf %4, %epsilon : tensor<f32>
  %6 = arith.divf %m1, %5 : tensor<f32>
  %step = arith.mulf %6, %half : tensor<f32>
  // expected-error @below {{is not updated as sgd-momentum, sgd-nesterov, adamw or lion do}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1, %s1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// So where the rate is small beside the parameter.
func.func @uncorrected_slow(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                       %m: tensor<f32> {pipe.state_of = "w"}, %s: tensor<f32> {pipe.state_of = "w"}, %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %rate = arith.constant dense<1.0e-5> : tensor<f32>
  %epsilon = arith.constant dense<1.0e-8> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %0 = arith.mulf %m, %half : tensor<f32>
  %1 = arith.mulf %x, %half : tensor<f32>
  %m1 = arith.addf %0, %1 : tensor<f32>
  %2 = arith.mulf %s, %half : tensor<f32>
  %3 = arith.mulf %x, %1 : tensor<f32>
  %s1 = arith.addf %2, %3 : tensor<f32>
  %4 = math.sqrt %s1 : tensor<f32>
  %5 = arith.addf %4, %epsilon : tensor<f32>
  %6 = arith.divf %m1, %5 : tensor<f32>
  %step = arith.mulf %6, %rate : tensor<f32>
  // expected-error @below {{is not updated as sgd-momentum, sgd-nesterov, adamw or lion do}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1, %s1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// The runtime takes no momentum of 1 or more.
func.func @growing(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                   %m: tensor<f32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %more = arith.constant dense<1.5> : tensor<f32>
  %rate = arith.constant dense<0.1> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %a = arith.mulf %m, %more : tensor<f32>
  %m1 = arith.addf %a, %x : tensor<f32>
  %step = arith.mulf %m1, %rate : tensor<f32>
  // expected-error @below {{is not updated as sgd-momentum, sgd-nesterov, adamw or lion do}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// One element of the state is not each of them.
func.func @extracted(%x: tensor<2xf32> {pipe.batch = "x"}, %w: tensor<2xf32> {pipe.param = #pipe.param<"w", init = ones>},
                     %m: tensor<2xf32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<2xf32> {pipe.updated = "w"}, tensor<2xf32> {pipe.state_of = "w"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %half = arith.constant dense<0.5> : tensor<2xf32>
  %0 = arith.mulf %x, %w : tensor<2xf32>
  %loss = linalg.reduce {arith.addf} ins(%0 : tensor<2xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %a = arith.mulf %m, %half : tensor<2xf32>
  %m1 = arith.addf %a, %x : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %first = tensor.extract %m1[%c0] : tensor<2xf32>
  %all = tensor.splat %first : tensor<2xf32>
  %step = arith.mulf %all, %half : tensor<2xf32>
  // expected-error @below {{is not updated as sgd-momentum, sgd-nesterov, adamw or lion do}}
  %new = arith.subf %w, %step : tensor<2xf32>
  return %loss, %new, %m1 : tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// expected-error @below {{the state of parameter "w" is 1 argument and 0 results; each 'pipe.state_of' that is taken is returned, too}}
func.func @lost(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                %m: tensor<f32> {pipe.state_of = "w"}) -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %w : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{parameter "v" has no 'pipe.state_of' with a new value, as others have; one optimiser updates all parameters}}
func.func @mixed(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                 %m: tensor<f32> {pipe.state_of = "w"}, %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}, tensor<f32> {pipe.updated = "v"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %0 = arith.mulf %x, %w : tensor<f32>
  %loss = arith.addf %0, %v : tensor<f32>
  %a = arith.mulf %m, %half : tensor<f32>
  %m1 = arith.addf %a, %x : tensor<f32>
  %step = arith.mulf %m1, %half : tensor<f32>
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1, %v : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{parameters are updated in different ways: compile with --optimizer sgd-momentum, and train with --lr 0.5 --momentum 0.5}}
func.func @different(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                     %m: tensor<f32> {pipe.state_of = "w"}, %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>},
                     %n: tensor<f32> {pipe.state_of = "v"})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}, tensor<f32> {pipe.updated = "v"},
        tensor<f32> {pipe.state_of = "v"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %quarter = arith.constant dense<0.25> : tensor<f32>
  %0 = arith.mulf %x, %w : tensor<f32>
  %loss = arith.addf %0, %v : tensor<f32>
  %a = arith.mulf %m, %half : tensor<f32>
  %m1 = arith.addf %a, %x : tensor<f32>
  %step = arith.mulf %m1, %half : tensor<f32>
  %w1 = arith.subf %w, %step : tensor<f32>
  %b = arith.mulf %n, %half : tensor<f32>
  %n1 = arith.addf %b, %x : tensor<f32>
  %other = arith.mulf %n1, %quarter : tensor<f32>
  %v1 = arith.subf %v, %other : tensor<f32>
  return %loss, %w1, %m1, %v1, %n1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @metric(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                  %m: tensor<f32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{uses argument 2, which is for updates alone: 'pipe.state_of' or 'pipe.step'}}
  %metric = arith.addf %m, %m : tensor<f32>
  %a = arith.mulf %m, %half : tensor<f32>
  %m1 = arith.addf %a, %x : tensor<f32>
  %step = arith.mulf %m1, %half : tensor<f32>
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %metric, %new, %m1 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// A rate that the number of the step decides is none of sgd's, which keeps
// nothing.
func.func @scheduled(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                     %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  %rate = arith.sitofp %t : tensor<i32> to tensor<f32>
  %step = arith.mulf %x, %rate : tensor<f32>
  // expected-error @below {{result 1, the new value of "w", has to be w - c g: the parameter minus a constant times its gradient}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new : tensor<f32>, tensor<f32>
}

// -----

// Nor may the loss depend on it.
func.func @annealed(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                    %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  // expected-error @below {{uses argument 2, which is for updates alone: 'pipe.state_of' or 'pipe.step'}}
  %factor = arith.sitofp %t : tensor<i32> to tensor<f32>
  %0 = arith.mulf %x, %w : tensor<f32>
  %loss = arith.mulf %0, %factor : tensor<f32>
  %dw = arith.mulf %x, %factor : tensor<f32>
  return %loss, %dw : tensor<f32>, tensor<f32>
}

// -----

// Lion stands still where the momentum and the gradient are 0.
func.func @moves(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                 %m: tensor<f32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.state_of = "w"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %a = arith.mulf %m, %half : tensor<f32>
  %b = arith.mulf %x, %half : tensor<f32>
  %m1 = arith.addf %a, %b : tensor<f32>
  %sign = math.copysign %one, %m1 : tensor<f32>
  %step = arith.mulf %sign, %half : tensor<f32>
  // expected-error @below {{is not updated as sgd-momentum, sgd-nesterov, adamw or lion do}}
  %new = arith.subf %w, %step : tensor<f32>
  return %loss, %new, %m1 : tensor<f32>, tensor<f32>, tensor<f32>
}
