// RUN: veeline-opt %s --pipe-lower-to-runtime --split-input-file --verify-diagnostics
// RUN: not veeline-opt %s --pipe-lower-to-runtime=target=gpu --split-input-file 2>&1 | FileCheck %s

// CHECK: for the --target option: Cannot find option named 'gpu'!

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
// expected-error @below {{has no plan of its memory; run --pipe-plan-memory first}}
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
// expected-error @below {{has a damaged plan of its memory; run --pipe-plan-memory again}}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {arena_bytes = 0 : i64}} {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {accumulators = [], arena_bytes = 128 : i64, params = [array<i64: 0, 0, -1, 0, 1>], peak_live_bytes = 128 : i64}} {
  // expected-error @below {{has no planned memory; run --pipe-plan-memory first}}
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}

// -----

// The plan is not of this program: it lacks a parameter.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {accumulators = [], arena_bytes = 128 : i64, params = [], peak_live_bytes = 128 : i64}} {
  // expected-error @below {{uses parameter 0, which has no place in the plan of this rank's memory}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: 64>, pipe.workspace_offset = 64 : i64, pipe.workspace_size = 0 : i64} : () -> tensor<f32>
}

// -----

// The plan lacks a value.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {accumulators = [], arena_bytes = 128 : i64, params = [array<i64: 0, 0, -1, 0, 1>], peak_live_bytes = 128 : i64}} {
  // expected-error @below {{has no planned memory; run --pipe-plan-memory first}}
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: -1>, pipe.workspace_offset = 64 : i64, pipe.workspace_size = 0 : i64} : () -> tensor<f32>
}

// -----

// Its home is elsewhere.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {accumulators = [array<i64: 0, 0, 64>], arena_bytes = 128 : i64, params = [array<i64: 0, 0, -1, 0, 0>], peak_live_bytes = 128 : i64}} {
  %0 = pipe.gradient param(0) chunk(0) : tensor<f32>
  // expected-error @below {{updates a parameter whose home is another rank}}
  %1 = pipe.update param(0) (%0) : (tensor<f32>) -> tensor<f32>
}

// -----

// The plan lacks an accumulator.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {memory = {accumulators = [], arena_bytes = 128 : i64, params = [array<i64: 0, 0, -1, 0, 0>], peak_live_bytes = 128 : i64}} {
  // expected-error @below {{is a sum that has no place in the plan of this rank's memory}}
  %0 = pipe.gradient param(0) chunk(0) : tensor<f32>
  %1 = pipe.update param(0) (%0) : (tensor<f32>) -> tensor<f32>
}

// -----

// Values of other ranks that are no messages yet.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<f32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<f32>) -> tensor<f32>
  %1 = pipe.chunk 1 @c(%0) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank1 of @net stage(1) attributes {memory = {accumulators = [], arena_bytes = 128 : i64, params = [array<i64: 0, 0, -1, 0, 1>], peak_live_bytes = 128 : i64}} {
  // expected-error @below {{cannot be lowered; run --pipe-insert-communication first}}
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<f32>
}

// -----

// A bufferized function that is not what it says.
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
// expected-error @below {{says that it has 5 results, but takes only 4 arguments, the rank included}}
func.func private @f(!llvm.ptr, memref<f32> {pipe.role = #pipe.role<operand 0>}, memref<f32> {pipe.role = #pipe.role<result 0>}, memref<0xi8>) attributes {pipe.num_results = 5 : i64}
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}
