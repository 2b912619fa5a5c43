// RUN: veeline-opt %s --pipe-plan-memory --split-input-file --verify-diagnostics
// RUN: not veeline-opt %s --pipe-plan-memory=optimizer=adamx 2>&1 | FileCheck %s

// RUN: not veeline-opt %s --pipe-plan-memory=optimizer=muon 2>&1 | FileCheck %s --check-prefix=MUON

// MUON: error: 'pipe.pipeline' op has no parameter of rank 2 that is trained, but 'muon' updates matrices; take adamw
// CHECK: error: unknown optimizer 'adamx'; expected sgd, sgd-momentum, sgd-nesterov, adam, adamw, nadamw, lion, adafactor or muon

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<f32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
// expected-error @below {{is not bufferized; run --pipe-bufferize-chunks before --pipe-plan-memory}}
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}
