// RUN: veeline-opt %s --pipe-separate-joint --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

// Updates that keep something become gradients, and what they keep is gone.

// Momentum, of two parameters; one of them decays by itself.
// REMARK: remark: updates of parameters are left to the runtime; compile with --optimizer sgd-momentum, and train with --lr 0.1 --momentum 0.9 --weight-decay 0 --weight-decay-of v=0.01 to update as the graph did
// CHECK-LABEL: func.func @momentum(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32> {pipe.batch = "x"}, %{{.*}} {pipe.param = #pipe.param<"w", init = ones>}, %{{.*}}: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> attributes {pipe.joint = @momentum_joint}
// CHECK-LABEL: func.func private @momentum_joint(
// CHECK-SAME:    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}, tensor<4xf32> {pipe.gradient_of = "v"})
// CHECK-NOT:     arith.mulf
// CHECK:         return %{{.*}}, %[[G:.*]], %[[G]]
func.func @momentum(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
                    %mv: tensor<4xf32> {pipe.state_of = "v"}, %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>},
                    %mw: tensor<4xf32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<4xf32> {pipe.updated = "w"}, tensor<4xf32> {pipe.state_of = "w"}, tensor<4xf32> {pipe.updated = "v"},
        tensor<4xf32> {pipe.state_of = "v"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %mu = arith.constant dense<0.9> : tensor<4xf32>
  %rate = arith.constant dense<0.1> : tensor<4xf32>
  %kept = arith.constant dense<0.999> : tensor<4xf32>
  %sum = arith.addf %w, %v : tensor<4xf32>
  %loss = linalg.dot ins(%x, %sum : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %g = math.absf %x : tensor<4xf32>
  %aw = arith.mulf %mw, %mu : tensor<4xf32>
  %mw1 = arith.addf %aw, %g : tensor<4xf32>
  %sw = arith.mulf %rate, %mw1 : tensor<4xf32>
  %w1 = arith.subf %w, %sw : tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  %cmu = arith.constant 0.9 : f32
  %mv1 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%mv, %g : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %cmu, %a : f32
    %q = arith.addf %b, %p : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %decayed = arith.mulf %v, %kept : tensor<4xf32>
  %sv = arith.mulf %mv1, %rate : tensor<4xf32>
  %v1 = arith.subf %decayed, %sv : tensor<4xf32>
  return %loss, %w1, %mw1, %v1, %mv1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A gradient that is a multiple itself; a rate of w (1 + momentum).
// REMARK: compile with --optimizer sgd-nesterov, and train with --lr 0.25 --momentum 0.5 --weight-decay 0 to update
// CHECK-LABEL: func.func private @nesterov_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<f64> {pipe.batch = "x"}
// CHECK:         %[[G:.*]] = arith.mulf %[[X]], %cst
// CHECK-NEXT:    return %{{.*}}, %[[G]] :
func.func @nesterov(%x: tensor<f64> {pipe.batch = "x"}, %w: tensor<f64> {pipe.param = #pipe.param<"w", init = ones>},
                    %m: tensor<f64> {pipe.state_of = "w"})
    -> (tensor<f64>, tensor<f64> {pipe.state_of = "w"}, tensor<f64> {pipe.updated = "w"}) {
  %two = arith.constant dense<2.0> : tensor<f64>
  %half = arith.constant dense<0.5> : tensor<f64>
  %rate = arith.constant dense<-0.25> : tensor<f64>
  %0 = arith.mulf %x, %w : tensor<f64>
  %loss = arith.mulf %0, %two : tensor<f64>
  %g = arith.mulf %x, %two : tensor<f64>
  %a = arith.mulf %m, %half : tensor<f64>
  %m1 = arith.addf %g, %a : tensor<f64>
  %b = arith.mulf %m1, %half : tensor<f64>
  %direction = arith.addf %b, %g : tensor<f64>
  %step = arith.mulf %direction, %rate : tensor<f64>
  %w1 = arith.addf %step, %w : tensor<f64>
  return %loss, %m1, %w1 : tensor<f64>, tensor<f64>, tensor<f64>
}

// -----

// AdamW as PyTorch writes it: matrices decay, biases do not; steps are counted from 0.
// REMARK: compile with --optimizer adamw, and train with --lr 0.01 --beta1 0.9 --beta2 0.999 --epsilon 1e-08 --weight-decay 0.1 to update
// CHECK-LABEL: func.func private @adamw_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x4xf32> {pipe.batch = "x"}, %[[Y:[^:]*]]: tensor<4xf32> {pipe.batch = "y"}
// CHECK-SAME:    -> (tensor<f32>, tensor<2x4xf32> {pipe.gradient_of = "w"}, tensor<4xf32> {pipe.gradient_of = "b"})
// CHECK-NOT:     math.
// CHECK:         return %{{.*}}, %[[X]], %[[Y]]
func.func @adamw(%x: tensor<2x4xf32> {pipe.batch = "x"}, %y: tensor<4xf32> {pipe.batch = "y"},
                 %w: tensor<2x4xf32> {pipe.param = #pipe.param<"w", init = ones>},
                 %b: tensor<4xf32> {pipe.param = #pipe.param<"b", init = ones>},
                 %mw: tensor<2x4xf32> {pipe.state_of = "w"}, %sw: tensor<2x4xf32> {pipe.state_of = "w"},
                 %sb: tensor<4xf32> {pipe.state_of = "b"}, %mb: tensor<4xf32> {pipe.state_of = "b"}, %t: tensor<i64> {pipe.step})
    -> (tensor<f32>, tensor<2x4xf32> {pipe.updated = "w"}, tensor<4xf32> {pipe.updated = "b"}, tensor<2x4xf32> {pipe.state_of = "w"},
        tensor<2x4xf32> {pipe.state_of = "w"}, tensor<4xf32> {pipe.state_of = "b"}, tensor<4xf32> {pipe.state_of = "b"},
        tensor<i64> {pipe.step}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %xw = arith.mulf %x, %w : tensor<2x4xf32>
  %lw = linalg.reduce {arith.addf} ins(%xw : tensor<2x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1]
  %yb = arith.mulf %y, %b : tensor<4xf32>
  %lb = linalg.reduce {arith.addf} ins(%yb : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %loss = arith.addf %lw, %lb : tensor<f32>

  %one = arith.constant dense<1> : tensor<i64>
  %t1 = arith.addi %t, %one : tensor<i64>
  %tf = arith.sitofp %t1 : tensor<i64> to tensor<f32>
  %beta1 = arith.constant dense<0.9> : tensor<f32>
  %beta2 = arith.constant dense<0.999> : tensor<f32>
  %unit = arith.constant dense<1.0> : tensor<f32>
  %p1 = math.powf %beta1, %tf : tensor<f32>
  %p2 = math.powf %beta2, %tf : tensor<f32>
  %c1 = arith.subf %unit, %p1 : tensor<f32>
  %c2 = arith.subf %unit, %p2 : tensor<f32>

  %b1w = arith.constant dense<0.9> : tensor<2x4xf32>
  %d1w = arith.constant dense<0.1> : tensor<2x4xf32>
  %b2w = arith.constant dense<0.999> : tensor<2x4xf32>
  %d2w = arith.constant dense<0.001> : tensor<2x4xf32>
  %k1w = arith.mulf %mw, %b1w : tensor<2x4xf32>
  %g1w = arith.mulf %x, %d1w : tensor<2x4xf32>
  %mw1 = arith.addf %k1w, %g1w : tensor<2x4xf32>
  %k2w = arith.mulf %sw, %b2w : tensor<2x4xf32>
  %gw = arith.mulf %x, %x : tensor<2x4xf32>
  %g2w = arith.mulf %d2w, %gw : tensor<2x4xf32>
  %sw1 = arith.addf %k2w, %g2w : tensor<2x4xf32>
  %rate = arith.constant 0.01 : f32
  %kept = arith.constant 0.999 : f32
  %epsilon = arith.constant 1.0e-8 : f32
  %ew = tensor.empty() : tensor<2x4xf32>
  %w1 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>,
                     affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%w, %mw1, %sw1, %c1, %c2 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) outs(%ew : tensor<2x4xf32>) {
  ^bb0(%value: f32, %m: f32, %s: f32, %bias1: f32, %bias2: f32, %out: f32):
    %root = math.sqrt %s : f32
    %root2 = math.sqrt %bias2 : f32
    %scaled = arith.divf %root, %root2 : f32
    %below = arith.addf %scaled, %epsilon : f32
    %size = arith.divf %rate, %bias1 : f32
    %direction = arith.divf %m, %below : f32
    %step = arith.mulf %size, %direction : f32
    %decayed = arith.mulf %value, %kept : f32
    %next = arith.subf %decayed, %step : f32
    linalg.yield %next : f32
  } -> tensor<2x4xf32>

  // As optax does, with a state in the other order.
  %b1b = arith.constant dense<0.9> : tensor<4xf32>
  %d1b = arith.constant dense<0.1> : tensor<4xf32>
  %b2b = arith.constant dense<0.999> : tensor<4xf32>
  %d2b = arith.constant dense<0.001> : tensor<4xf32>
  %k1b = arith.mulf %mb, %b1b : tensor<4xf32>
  %g1b = arith.mulf %y, %d1b : tensor<4xf32>
  %mb1 = arith.addf %k1b, %g1b : tensor<4xf32>
  %k2b = arith.mulf %sb, %b2b : tensor<4xf32>
  %gb = arith.mulf %y, %y : tensor<4xf32>
  %g2b = arith.mulf %d2b, %gb : tensor<4xf32>
  %sb1 = arith.addf %k2b, %g2b : tensor<4xf32>
  %eb = tensor.empty() : tensor<4xf32>
  %c1b = linalg.broadcast ins(%c1 : tensor<f32>) outs(%eb : tensor<4xf32>) dimensions = [0]
  %c2b = linalg.broadcast ins(%c2 : tensor<f32>) outs(%eb : tensor<4xf32>) dimensions = [0]
  %mhat = arith.divf %mb1, %c1b : tensor<4xf32>
  %shat = arith.divf %sb1, %c2b : tensor<4xf32>
  %rootb = math.sqrt %shat : tensor<4xf32>
  %epsilonb = arith.constant dense<1.0e-8> : tensor<4xf32>
  %belowb = arith.addf %rootb, %epsilonb : tensor<4xf32>
  %directionb = arith.divf %mhat, %belowb : tensor<4xf32>
  %rateb = arith.constant dense<0.01> : tensor<4xf32>
  %stepb = arith.mulf %directionb, %rateb : tensor<4xf32>
  %b1 = arith.subf %b, %stepb : tensor<4xf32>
  return %loss, %w1, %b1, %mw1, %sw1, %sb1, %mb1, %t1
      : tensor<f32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>
}

// -----

// A step that is counted, and that no update depends on: nothing else is kept.
// REMARK: remark: updates of parameters are left to the runtime; train with --optimizer sgd --lr 0.5 to update as the graph did
// CHECK-LABEL: func.func @counted(
// CHECK-SAME:    %{{.*}}: tensor<f32> {pipe.batch = "x"}, %{{.*}}: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32>
// CHECK-LABEL: func.func private @counted_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<f32> {pipe.batch = "x"}
// CHECK-SAME:    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"})
// CHECK-NOT:     arith.addi
// CHECK:         return %{{.*}}, %[[X]] :
func.func @counted(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                   %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<i32> {pipe.step}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %one = arith.constant dense<1> : tensor<i32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %step = arith.mulf %x, %half : tensor<f32>
  %new = arith.subf %w, %step : tensor<f32>
  %t1 = arith.addi %t, %one : tensor<i32>
  return %loss, %new, %t1 : tensor<f32>, tensor<f32>, tensor<i32>
}

// -----

// So beside gradients, which nothing updates in the graph.
// CHECK-LABEL: func.func @gradients(
// CHECK-NOT:     pipe.step
// CHECK-LABEL: func.func private @gradients_joint(
// CHECK-NOT:     pipe.step
func.func @gradients(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                     %t: tensor<i32> {pipe.step})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// Lion, in one body; its sign is that of two comparisons.
// REMARK: compile with --optimizer lion, and train with --lr 0.001 --beta1 0.95 --beta2 0.98 --weight-decay 0 --weight-decay-of w=0.5 to update
// CHECK-LABEL: func.func private @lion_joint(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4xf32> {pipe.batch = "x"}
// CHECK-NOT:     arith.cmpf
// CHECK:         return %{{.*}}, %[[X]] :
func.func @lion(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
                %m: tensor<4xf32> {pipe.state_of = "w"})
    -> (tensor<f32>, tensor<4xf32> {pipe.updated = "w"}, tensor<4xf32> {pipe.state_of = "w"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %none = arith.constant 0.0 : f32
  %beta1 = arith.constant 0.95 : f32
  %rest1 = arith.constant 0.05 : f32
  %rate = arith.constant 0.001 : f32
  %decay = arith.constant 0.5 : f32
  %o = tensor.empty() : tensor<4xf32>
  %w1 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%w, %m, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%value: f32, %moment: f32, %g: f32, %out: f32):
    %a = arith.mulf %moment, %beta1 : f32
    %b = arith.mulf %g, %rest1 : f32
    %c = arith.addf %a, %b : f32
    %above = arith.cmpf ogt, %c, %none : f32
    %below = arith.cmpf olt, %c, %none : f32
    %one = arith.uitofp %above : i1 to f32
    %other = arith.uitofp %below : i1 to f32
    %sign = arith.subf %one, %other : f32
    %shrunk = arith.mulf %value, %decay : f32
    %direction = arith.addf %sign, %shrunk : f32
    %step = arith.mulf %direction, %rate : f32
    %next = arith.subf %value, %step : f32
    linalg.yield %next : f32
  } -> tensor<4xf32>
  %beta2 = arith.constant dense<0.98> : tensor<4xf32>
  %rest2 = arith.constant dense<0.02> : tensor<4xf32>
  %kept = arith.mulf %m, %beta2 : tensor<4xf32>
  %new = arith.mulf %x, %rest2 : tensor<4xf32>
  %m1 = arith.addf %kept, %new : tensor<4xf32>
  return %loss, %w1, %m1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
