// RUN: veeline-opt %s --split-input-file --verify-diagnostics --pipe-plan-memory=target=cuda
// RUN: not veeline-opt %S/pipe-plan-memory-streams.mlir --pipe-plan-memory 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: has several compute streams, which only a GPU has; plan with target=cuda

// Planned for one stream, and lowered for two.
// RUN: sed 's/ attributes {pipe.compute_streams = array<i64: 2, 2>}//; s/, pipe.compute_stream = 1 : i64//; s/pipe.awaited_events = array<i64: [01]>//; s/pipe.recorded_event = [01] : i64//; s/{, /{/; s/, }/}/' \
// RUN:   %S/pipe-plan-memory-streams.mlir | veeline-opt --pipe-plan-memory=target=cuda -o %t.mlir
// RUN: veeline-opt %t.mlir --pipe-assign-streams -o %t.late.mlir
// RUN: not veeline-opt %t.late.mlir --pipe-lower-to-runtime=target=cuda 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: has memory that is planned for other compute streams; run --pipe-plan-memory again

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
// expected-error@+1 {{attribute 'pipe.compute_streams' has to be an array of two numbers, of compute streams and of events, found array<i64: 2>}}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2>} {
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  // expected-error@+1 {{is on compute stream 2, but its program has 2}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.compute_stream = 2 : i64} : () -> tensor<2xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  // expected-error@+1 {{waits for event 0, which no op before records}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.awaited_events = array<i64: 0>} : () -> tensor<2xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  // expected-error@+1 {{records event 1, but its program has 1}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.recorded_event = 1 : i64} : () -> tensor<2xf32>
}

// -----

// A value of another stream.
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  // expected-note@+1 {{this op has to come first}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.recorded_event = 0 : i64} : () -> tensor<2xf32>
  // expected-error@+1 {{on compute stream 1 may begin before what it needs of compute stream 0 is over: no event orders them; run --pipe-assign-streams}}
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.compute_stream = 1 : i64} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// The event is that of an earlier op, since it is used again.
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.recorded_event = 0 : i64} : () -> tensor<2xf32>
  // expected-note@+1 {{this op has to come first}}
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  // expected-error@+1 {{on compute stream 1 may begin before what it needs of compute stream 0 is over}}
  %2 = pipe.forward chunk(1) microbatch(0) (%1) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// Two streams add to the accumulators of a chunk.
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  // expected-note@+1 {{this op has to come first}}
  pipe.backward_weight chunk(0) microbatch(0) () : () -> ()
  // expected-error@+1 {{on compute stream 1 may begin before what it needs of compute stream 0 is over}}
  pipe.backward_weight chunk(0) microbatch(1) () {pipe.compute_stream = 1 : i64} : () -> ()
}

// -----

// A parameter is written while another stream may read it.
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @f1(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
func.func private @w0(!llvm.ptr, memref<2xf32> {pipe.role = #pipe.role<operand 0>}, memref<2xf32> {pipe.role = #pipe.role<param_grad 1>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 1>} {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.backward_weight chunk(0) microbatch(0) () {pipe.recorded_event = 0 : i64} : () -> ()
  // expected-note@+1 {{this op has to come first}}
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64} : (tensor<2xf32>) -> tensor<f32>
  %g = pipe.gradient param(0) chunk(0) : tensor<2xf32>
  // expected-error@+1 {{on compute stream 0 may begin before what it needs of compute stream 1 is over}}
  %new = pipe.update param(0) (%g) : (tensor<2xf32>) -> tensor<2xf32>
}
