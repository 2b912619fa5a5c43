// RUN: veeline-opt %s --pipe-plan-memory | FileCheck %s
// RUN: veeline-opt %s --pipe-plan-memory=optimizer=sgd | FileCheck %s --check-prefix=SGD
// RUN: veeline-opt %s --pipe-plan-memory=optimizer=sgd-momentum | FileCheck %s --check-prefix=MOMENTUM
// RUN: veeline-opt %s --pipe-plan-memory='optimizer=sgd-momentum error-feedback' | FileCheck %s --check-prefix=FEEDBACK
// RUN: veeline-opt %s --pipe-plan-memory=optimizer=lion | FileCheck %s --check-prefix=MOMENTUM
// RUN: veeline-opt %s --pipe-plan-memory=optimizer=adafactor | FileCheck %s --check-prefix=MOMENTUM
// RUN: sed 's/8xf32>/2x4xf32>/g' %s | veeline-opt --pipe-plan-memory=optimizer=adafactor | FileCheck %s --check-prefix=FACTORED
// RUN: sed 's/8xf32>/2x4xf32>/g' %s | veeline-opt --pipe-plan-memory='optimizer=adafactor error-feedback' | FileCheck %s --check-prefix=CORRECTED
// RUN: sed 's/send %0#0 edge(0) activation microbatch(0)/send copying %0#0 edge(0) activation microbatch(0) group(0)/; s/recv edge(0) gradient microbatch(0)/& group(0)/' %s \
// RUN:   | veeline-opt --pipe-plan-memory | FileCheck %s --check-prefix=GROUP

// A copying send leaves the value in the rank's own memory, and the receives of
// a group are posted before its sends.
// GROUP-LABEL: pipe.program @tied_rank0
// GROUP-NEXT:    pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[AT:[1-9][0-9]*]], {{[1-9][0-9]*}}>
// GROUP-NEXT:    pipe.recv edge(0) gradient microbatch(0) group(0) {pipe.offsets = array<i64: {{[1-9][0-9]*}}>}
// GROUP-NEXT:    pipe.send copying %{{.*}}#0 edge(0) activation microbatch(0) group(0)
// GROUP-NEXT:    pipe.wait

// Values of parameters, states, then accumulators; rows of params are number,
// value, state, bytes of state, is home. At most live: 192 bytes that stay,
// 160 of the residual, and 90 of the workspace.
// CHECK-LABEL: pipe.program @tied_rank0
// CHECK-SAME:    accumulators = [array<i64: 0, 0, 128>], arena_bytes = 512 : i64, params = [array<i64: 0, 0, 64, 64, 1>], peak_live_bytes = 442 : i64
// SGD-LABEL:   pipe.program @tied_rank0
// SGD-SAME:      accumulators = [array<i64: 0, 0, 64>]{{.*}} params = [array<i64: 0, 0, -1, 0, 1>]
// MOMENTUM-LABEL: pipe.program @tied_rank0
// MOMENTUM-SAME: accumulators = [array<i64: 0, 0, 128>]{{.*}} params = [array<i64: 0, 0, 64, 32, 1>]
// The update before has the size of the parameter, as the momentum has.
// FEEDBACK-LABEL: pipe.program @tied_rank0
// FEEDBACK-SAME: accumulators = [array<i64: 0, 0, 128>]{{.*}} params = [array<i64: 0, 0, 64, 64, 1>]
// Of a matrix, Adafactor keeps 2 + 4 numbers.
// FACTORED-LABEL: pipe.program @tied_rank0
// FACTORED-SAME: params = [array<i64: 0, 0, 64, 24, 1>]
// CORRECTED-LABEL: pipe.program @tied_rank0
// CORRECTED-SAME: params = [array<i64: 0, 0, 64, 56, 1>]

// What is only sent is computed into the receiver's memory (-1).
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: -1, 192>, pipe.workspace_offset = 384 : i64, pipe.workspace_size = 100 : i64}
// CHECK-NEXT:    pipe.send
// The workspace is over: the message may have its place, beside the residual.
// CHECK-NEXT:    pipe.recv edge(0) gradient microbatch(0) {pipe.offsets = array<i64: 384>}
// CHECK-NEXT:    pipe.wait
// The message lives until the sum is computed, so that is elsewhere.
// CHECK-NEXT:    pipe.add {{.*}} {pipe.offsets = array<i64: 448>}
// CHECK-NEXT:    pipe.backward
// CHECK-NEXT:    pipe.recv edge(1) gradient microbatch(0) {pipe.offsets = array<i64: 192>}

// A copy of a parameter has no state.
// CHECK-LABEL: pipe.program @tied_rank1
// CHECK-SAME:    accumulators = [array<i64: 0, 1, 64>], arena_bytes = 256 : i64, params = [array<i64: 0, 0, -1, 0, 0>], peak_live_bytes = 160 : i64
// CHECK:         pipe.backward chunk(1) {{.*}} {pipe.offsets = array<i64: -1>

// A chain of two stages with a tied parameter, bufferized by hand.
pipe.pipeline @tied stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.buffer "b" : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c0_forward(!llvm.ptr,
    memref<4xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<2xf32> {pipe.role = #pipe.role<operand 2>},
    memref<2xf32> {pipe.role = #pipe.role<result 0>},
    memref<40xf32> {pipe.role = #pipe.role<residual 0>},
    memref<100xi8>) attributes {pipe.num_results = 2 : i64, pipe.workspace_bytes = 100 : i64, pipe.workspace_peak_live_bytes = 90 : i64}
func.func private @c0_backward(!llvm.ptr,
    memref<4xf32> {pipe.role = #pipe.role<operand 0>},
    memref<40xf32> {pipe.role = #pipe.role<residual 0>},
    memref<2xf32> {pipe.role = #pipe.role<result_grad 0>},
    memref<8xf32> {pipe.role = #pipe.role<param_grad 1>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<f32> {pipe.role = #pipe.role<result 0>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @c1_backward(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
    memref<8xf32> {pipe.role = #pipe.role<param_grad 1>},
    memref<0xi8>) attributes {pipe.num_results = 2 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @tied_rank0 of @tied stage(0) {
  %0:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<40xf32>)
  pipe.send %0#0 edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %2 = pipe.wait %1 : !pipe.handle<tensor<2xf32>>
  %3 = pipe.add %2, %2 : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%0#1, %3) : (tensor<40xf32>, tensor<2xf32>) -> ()
  %4 = pipe.recv edge(1) gradient microbatch(0) : !pipe.handle<tensor<8xf32>>
  %5 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %6 = pipe.wait %4 : !pipe.handle<tensor<8xf32>>
  %7 = pipe.update param(0) (%5, %6) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  pipe.send %7 edge(1) activation microbatch(0) : tensor<8xf32>
}
pipe.program @tied_rank1 of @tied stage(1) {
  %0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %1 = pipe.wait %0 : !pipe.handle<tensor<2xf32>>
  %2 = pipe.forward chunk(1) microbatch(0) (%1) : (tensor<2xf32>) -> tensor<f32>
  %3 = pipe.backward chunk(1) microbatch(0) (%1) : (tensor<2xf32>) -> tensor<2xf32>
  pipe.send %3 edge(0) gradient microbatch(0) : tensor<2xf32>
  %4 = pipe.recv edge(1) activation microbatch(0) : !pipe.handle<tensor<8xf32>>
  %5 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  pipe.send %5 edge(1) gradient microbatch(0) : tensor<8xf32>
  %6 = pipe.wait %4 : !pipe.handle<tensor<8xf32>>
  pipe.assign param(0) %6 : tensor<8xf32>
}
