// Options that do not fit the model; nothing is changed by a pass that fails.

// RUN: not veeline-opt %s --pipe-partition="entry=ent" 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: there is no func.func @ent with a body; did you mean @net? Functions with a body are @net, @helper

// RUN: not veeline-opt %s --pipe-partition="stages=2 stage-replicas=2,1,1" 2>&1 | FileCheck %s --check-prefix=WIDTHS
// WIDTHS: error: stage-replicas has 3 numbers, expected one for each of 2 stages

// RUN: not veeline-opt %s --pipe-partition="stages=2 stage-replicas=2,0" 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: stage-replicas gives stage 1 0 ranks, expected 1 to 4096

// RUN: not veeline-opt %s --pipe-compile="stages=2 stage-replicas=2,1,1 microbatches=2 memory-limit=1GiB" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: stage-replicas has 3 numbers, expected one for each of 2 stages

// RUN: not veeline-opt %s --pipe-partition="stages=0" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: invalid-options.mlir:[[#@LINE+43]]:1: error: expected at least 1 stage, found 0

// RUN: not veeline-opt %s --pipe-partition="chunks-per-stage=-1" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: expected at least 1 chunk a stage, found -1

// RUN: not veeline-opt %s --pipe-partition="placement=linaer" 2>&1 | FileCheck %s --check-prefix=PLACEMENT
// PLACEMENT: error: unknown placement 'linaer'; did you mean 'linear'? Known placements are linear, interleaved, v, wave

// RUN: not veeline-opt %s --pipe-partition="placement=linear chunks-per-stage=2" 2>&1 | FileCheck %s --check-prefix=LINEAR
// LINEAR: error: placement 'linear' has 1 chunk a stage, found 2

// RUN: not veeline-opt %s --pipe-partition="placement=v chunks-per-stage=3" 2>&1 | FileCheck %s --check-prefix=V
// V: error: placement 'v' has 2 chunks a stage, found 3

// RUN: not veeline-opt %s --pipe-partition="stages=4" 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: more chunks than pieces: 4 stages of 1 chunk each, but the model has 3 pieces; ask for fewer stages or chunks a stage, or mark more cuts with pipe.boundary

// The product of both does not fit 64 bits.
// RUN: not veeline-opt %s --pipe-partition="stages=4611686018427387904 chunks-per-stage=4" 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: more chunks than pieces: 4611686018427387904 stages of 4 chunks each, but the model has 3 pieces

// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=1,1,1" 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: the list of pieces has 3 entries, expected 2: 2 stages of 1 chunk each

// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=3,0" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: entry 1 of the list of pieces is 0; every chunk has at least 1 piece

// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=1,1" 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: the list of pieces adds up to 2, but the model has 3 pieces (veeline inspect --pieces lists them, --fine-pieces their parts)

// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=2,2" 2>&1 | FileCheck %s --check-prefix=ABOVE
// ABOVE: error: the list of pieces adds up to 4, but the model has 3 pieces

// RUN: not veeline-opt %s --pipe-partition="stages=2 pieces=1,two" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: for the --pieces option: 'two' value invalid

// RUN: not veeline-opt %s --pipe-partition="stages=4" --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=UNCHANGED
// UNCHANGED: IR Dump After PipePartition Failed
// UNCHANGED-NOT: pipe.pipeline
// UNCHANGED-COUNT-2: pipe.boundary

// RUN: not veeline-opt %s --pipe-print-pieces="entry=ent" 2>&1 | FileCheck %s --check-prefix=ENTRY

func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %a = arith.addf %x, %w : tensor<f32>
  %b = pipe.boundary %a : tensor<f32>
  %c = arith.addf %b, %w : tensor<f32>
  %d = pipe.boundary %c : tensor<f32>
  %l = arith.addf %d, %w : tensor<f32>
  return %l : tensor<f32>
}
func.func private @helper() {
  return
}
