// RUN: veeline-opt %s --pipe-schedule="schedule=zb-v microbatches=1" | FileCheck %s
// RUN: sed 's/f64: 2.0,/f64: -2.0,/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=1" | FileCheck %s --check-prefix=NO-SCALE
// RUN: sed 's/f64: 2.0,/f64: 0x7FF8000000000000,/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=1" | FileCheck %s --check-prefix=NO-SCALE
// RUN: sed 's/f64: 2.0, 3.0,/f64: 1.0e+300, 1.0e+300,/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=1" | FileCheck %s --check-prefix=NO-SCALE
// RUN: sed 's/f64: 2.0, 3.0,/f64: 1.0e+30, 1.0e+30,/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=1" | FileCheck %s --check-prefix=LARGE

// Each operation is estimated to take 2 us. Nothing is repeated: `math.exp` of
// another value is other work.
// CHECK: pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = 2000, backward_input = 0, backward_weight = 2000>
// CHECK-NOT: repeated_cost

// What is kept takes 0.25 us to write, and to read. F is measured at twice, B at
// three and W at five times the estimates. W repeats work of F, by way of what F
// leaves, and of B: 2 * 2 + 3 * 2 + 5 * 2.25 us. What both halves repeat, a fused
// backward does once.
// CHECK: pipe.chunk 1 {{.*}}cost = #pipe.cost<forward = 8500, backward_input = 11500, backward_weight = 21250, backward_shared = 11500>
// CHECK-SAME: repeated_cost = array<i64: 4000, 4000, 6000, 4000>

// A scale that no measurement has is none, and costs are limited.
// NO-SCALE: pipe.chunk 1 {{.*}}cost = #pipe.cost<forward = 4250, backward_input = 4500, backward_weight = 6250, backward_shared = 4500>
// NO-SCALE-SAME: repeated_cost = array<i64: 2000, 2000, 2000, 2000>
// LARGE: pipe.chunk 1 {{.*}}cost = #pipe.cost<forward = 10000000000000000, backward_input = 10000000000000000, backward_weight = 10000000000000000, backward_shared = 10000000000000000>
// LARGE-SAME: repeated_cost = array<i64: 10000000000000000, 10000000000000000, 10000000000000000, 10000000000000000>
!t = tensor<1000xf32>
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) {
  %x = pipe.batch "x" : !t
  %w = pipe.param <"w", init = zeros> : !t
  %v = pipe.param <"v", init = zeros> : !t
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_f, backward = @c0_w, backward_weight = @c0_w} : (!t, !t) -> !t
  %1 = pipe.chunk 1 @c1(%0, %v) {forward = @c1_f, backward = @c1_bw, backward_input = @c1_b, backward_weight = @c1_w, cost_scale = array<f64: 2.0, 3.0, 5.0>} : (!t, !t) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(!t, !t) -> !t
func.func private @c0_f(%x: !t {pipe.role = #pipe.role<operand 0>}, %w: !t {pipe.role = #pipe.role<operand 1>})
    -> (!t {pipe.role = #pipe.role<result 0>}) {
  %y = math.exp %x : !t
  return %y : !t
}
func.func private @c0_w(%x: !t {pipe.role = #pipe.role<operand 0>}, %g: !t {pipe.role = #pipe.role<result_grad 0>})
    -> (!t {pipe.role = #pipe.role<param_grad 1>}) {
  %y = math.exp %g : !t
  return %y : !t
}
func.func private @c1(!t, !t) -> tensor<f32>
func.func private @c1_f(%x: !t {pipe.role = #pipe.role<operand 0>}, %v: !t {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, !t {pipe.role = #pipe.role<residual 0>}) {
  %loss = arith.constant dense<0.0> : tensor<f32>
  %kept = math.tanh %x : !t
  %y = math.exp %kept : !t
  return %loss, %kept : tensor<f32>, !t
}
func.func private @c1_b(%x: !t {pipe.role = #pipe.role<operand 0>}, %kept: !t {pipe.role = #pipe.role<residual 0>})
    -> (!t {pipe.role = #pipe.role<operand_grad 0>}, !t {pipe.role = #pipe.role<saved 0>}) {
  %y = math.exp %kept : !t
  %z = math.log %y : !t
  return %z, %y : !t, !t
}
func.func private @c1_w(%x: !t {pipe.role = #pipe.role<operand 0>}, %y: !t {pipe.role = #pipe.role<saved 0>})
    -> (!t {pipe.role = #pipe.role<param_grad 1>}) {
  %kept = math.tanh %x : !t
  %z = math.log %y : !t
  %w = math.sin %z : !t
  return %w : !t
}
func.func private @c1_bw(%x: !t {pipe.role = #pipe.role<operand 0>}, %kept: !t {pipe.role = #pipe.role<residual 0>})
    -> (!t {pipe.role = #pipe.role<operand_grad 0>}, !t {pipe.role = #pipe.role<param_grad 1>}) {
  %y = math.exp %kept : !t
  %z = math.log %y : !t
  %w = math.sin %z : !t
  return %z, %w : !t, !t
}
