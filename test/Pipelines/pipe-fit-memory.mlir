// Chunks that are differentiated and split, and say what was chosen: nothing where everything fits.
// RUN: %python %veeline_src/examples/mlp/generate.py --widths 64,64,64,64,64,2 --microbatch-size 64 -o %t.mlir
// RUN: veeline-opt %t.mlir --pipe-fit-memory="stages=2 microbatches=4 memory-limit=1GiB recompute=auto" \
// RUN:   | FileCheck %s --check-prefix=LARGE
// LARGE: pipe.pipeline @mlp stages(2) {{.*}}pipe.memory_limits = array<i64: 1073741824, 1073741824>
// LARGE: pipe.chunk 0 @mlp_chunk0{{.*}}backward_weight = @mlp_chunk0_backward_weight{{.*}}recompute = "none"
// LARGE: pipe.chunk 1 @mlp_chunk1{{.*}}recompute = "none"

// The first stage holds two microbatches: it computes again what does not fit. What comes later is within the limits.
// RUN: veeline-opt %t.mlir --pipe-fit-memory="stages=2 microbatches=4 pieces=3,2 memory-limit=380KiB,1GiB recompute=auto" > %t.fit.mlir
// RUN: FileCheck %s --input-file %t.fit.mlir --check-prefix=SMALL
// RUN: veeline-opt %t.fit.mlir --pipe-schedule="schedule=1f1b microbatches=4" --pipe-insert-communication --pipe-bufferize-chunks \
// RUN:   --pipe-plan-memory -o /dev/null
// SMALL: pipe.memory_limits = array<i64: 389120, 1073741824>
// SMALL: pipe.chunk 0 @mlp_chunk0
// SMALL-NOT: recompute = "none"
// SMALL: pipe.chunk 1 @mlp_chunk1{{.*}}recompute = "none"

// What makes no sense is an error, and the model stays.
// RUN: not veeline-opt %t.mlir --pipe-fit-memory="stages=2" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: memory-limit: expected one limit or one for each of the 2 stages, found 0
// RUN: not veeline-opt %t.mlir --pipe-fit-memory="stages=2 memory-limit=1GB recompute=al" 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RECOMPUTE: error: recompute: unknown choice of what to recompute 'al'
// RUN: not veeline-opt %t.mlir --pipe-fit-memory="stages=2 memory-limit=100 pieces=3,2" 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: stage {{[01]}} needs an arena of at least {{[0-9]+}} bytes with schedule '1f1b', but its memory limit is 100 bytes
// RUN: not veeline-opt %t.mlir --pipe-fit-memory="stages=2 memory-limit=1GB schedule=1f1" 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: error: {{.*}}unknown schedule '1f1'; did you mean '1f1b'?
// RUN: not veeline-opt %t.mlir --pipe-fit-memory="stages=2 memory-limit=1GB optimizer=adamx" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// OPTIMIZER: error: unknown optimizer 'adamx'; expected sgd, sgd-momentum, sgd-nesterov, adam, adamw, nadamw, lion, adafactor or muon

// The pass prints as it parses.
// RUN: veeline-opt %t.mlir --pipe-fit-memory="stages=2 memory-limit=1GiB,2GiB pieces=3,2" --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PRINT
// PRINT: pipe-fit-memory{{.*}}memory-limit={1GiB,2GiB}{{.*}}pieces={3,2}{{.*}}stages=2 target=host}
