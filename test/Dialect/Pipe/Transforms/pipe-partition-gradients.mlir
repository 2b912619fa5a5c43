// RUN: veeline-opt %s --pipe-partition --split-input-file --verify-diagnostics

// Parameters that no gradient reaches: through an integer, a step, or since
// only a metric uses them. One that is also used otherwise has a gradient.

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

func.func @some(%x: tensor<4xf32> {pipe.batch = "x"},
                %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>},
                // expected-warning @+1 {{no gradient reaches parameter "a": it is not trained; if that is meant, name it in --freeze}}
                %a: tensor<4xf32> {pipe.param = #pipe.param<"a", init = zeros>},
                // expected-warning @+1 {{no gradient reaches 4 parameters ("b", "c", "d" and 1 more): they are not trained; if that is meant, name them in --freeze}}
                %b: tensor<4xf32> {pipe.param = #pipe.param<"b", init = zeros>},
                %c: tensor<4xf32> {pipe.param = #pipe.param<"c", init = zeros>},
                %d: tensor<4xf32> {pipe.param = #pipe.param<"d", init = zeros>},
                %e: tensor<4xf32> {pipe.param = #pipe.param<"e", init = zeros>},
                // expected-warning @+1 {{the loss does not depend on parameter "m": it is not trained; if that is meant, name it in --freeze}}
                %m: tensor<4xf32> {pipe.param = #pipe.param<"m", init = zeros>}) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<4xf32>
  %bc = arith.addf %b, %c : tensor<4xf32>
  %de = arith.addf %d, %e : tensor<4xf32>
  %sum = arith.addf %bc, %de : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %w, %a, %sum : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%xi: f32, %wi: f32, %ai: f32, %bi: f32, %o: f32):
    // expected-note @+1 {{it ends here: 'arith.fptosi' gives 'i32', and only floats carry gradients}}
    %0 = arith.fptosi %ai : f32 to i32
    %1 = arith.sitofp %0 : i32 to f32
    // expected-note @+1 {{it ends here: 'math.floor' is a step, whose derivative is 0}}
    %2 = math.floor %bi : f32
    %3 = arith.cmpf ogt, %wi, %2 : f32
    %4 = arith.select %3, %wi, %1 : f32
    %5 = arith.mulf %4, %xi : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %mx = arith.mulf %m, %x : tensor<4xf32>
  %metric = linalg.reduce { arith.addf } ins(%mx : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %loss, %metric : tensor<f32>, tensor<f32>
}

// -----

// Through a loop the second iteration hands the gradient on; a branch does so
// where one side does. Nothing is said.

func.func @loop(%x: tensor<4xf32> {pipe.batch = "x"},
                %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>},
                %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = zeros>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %any = tensor.extract %x[%c0] : tensor<4xf32>
  %none = arith.constant 0.0 : f32
  %is = arith.cmpf ogt, %any, %none : f32
  %y:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %w) -> (tensor<4xf32>, tensor<4xf32>) {
    %next = scf.if %is -> tensor<4xf32> {
      scf.yield %t : tensor<4xf32>
    } else {
      %f = math.floor %t : tensor<4xf32>
      scf.yield %f : tensor<4xf32>
    }
    %u = arith.mulf %t, %v : tensor<4xf32>
    scf.yield %next, %u : tensor<4xf32>, tensor<4xf32>
  } {pipe.unroll = false}
  %loss = linalg.reduce { arith.addf } ins(%y#0 : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}

// -----

// One whose loop rounds all that it carries.

// expected-error @+1 {{the model cannot be trained: no gradient of the loss reaches parameter "w", its only one; compute in floats from the parameters to the loss}}
func.func @rounds(%x: tensor<4xf32> {pipe.batch = "x"},
                  %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    // expected-note @+1 {{it ends here: 'math.roundeven' is a step, whose derivative is 0}}
    %f = math.roundeven %w : tensor<4xf32>
    %t = arith.mulf %f, %s : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  } {pipe.unroll = false}
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}

// -----

// One that reaches what rounds it in the third iteration.

// expected-error @+1 {{the model cannot be trained: no gradient of the loss reaches parameter "w", its only one; compute in floats from the parameters to the loss}}
func.func @rounds_late(%x: tensor<4xf32> {pipe.batch = "x"},
                       %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %y:4 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %a = %x, %b = %x, %c = %w)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // expected-note @+1 {{it ends here: 'math.roundeven' is a step, whose derivative is 0}}
    %f = math.roundeven %a : tensor<4xf32>
    %t = arith.mulf %f, %s : tensor<4xf32>
    %u = arith.mulf %b, %x : tensor<4xf32>
    %v = arith.mulf %c, %x : tensor<4xf32>
    scf.yield %t, %u, %v, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } {pipe.unroll = false}
  %loss = linalg.reduce { arith.addf } ins(%y#0 : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}
