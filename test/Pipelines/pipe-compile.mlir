// Everything at once: nothing but the LLVM dialect is left.
// RUN: %python %veeline_src/examples/mlp/generate.py --widths 4,6,6,2 --microbatch-size 3 -o %t.mlir
// RUN: veeline-opt %t.mlir --pipe-compile="stages=2 microbatches=2" > %t.llvm.mlir
// RUN: FileCheck %s --input-file %t.llvm.mlir
// RUN: FileCheck %s --input-file %t.llvm.mlir --check-prefix=DIALECT
// RUN: mlir-translate --mlir-to-llvmir %t.llvm.mlir | FileCheck %s --check-prefix=LLVM

// CHECK-DAG: llvm.func @mlp_rank0_step(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-DAG: llvm.func @mlp_rank1_step(

// DIALECT-NOT: {{^ *(%[^=]*= )?"?(pipe|linalg|tensor|memref|bufferization|func|scf|cf|vector|arith|math|affine)\.}}
// DIALECT-NOT: unrealized_conversion_cast

// LLVM-DAG: define void @mlp_rank0_step(ptr %{{.*}}, ptr %{{.*}}, ptr %{{.*}})
// LLVM-DAG: define void @mlp_rank1_step(ptr
// LLVM-DAG: call void @veeline_gemm(
// LLVM-DAG: declare void @veeline_update(

// The schedule decides on the placement.
// RUN: %python %veeline_src/examples/mlp/generate.py --widths 4,6,6,6,2 --microbatch-size 3 -o %t.4.mlir
// RUN: veeline-opt %t.4.mlir --pipe-compile="stages=2 microbatches=2 loss-scaling=true" --mlir-print-ir-after=pipe-scale-loss 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SCALED
// SCALED: {pipe.buffer = "loss_scale", pipe.loss_scale}
// RUN: not veeline-opt %t.4.mlir --pipe-compile="stages=2 schedule=forward forward-only memory-limit=1GiB" 2>&1 | FileCheck %s --check-prefix=FORWARD
// FORWARD: error: memory-limit is about training, for which schedules and what is kept are chosen, and forward-only runs forwards alone; leave one of them out
// RUN: not veeline-opt %t.4.mlir --pipe-compile="stages=2 microbatches=2 loss-weight=tokens" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// WEIGHT: error: the model returns its loss alone, and no 'tokens' that weights it
// RUN: veeline-opt %t.4.mlir --pipe-compile="stages=2 chunks-per-stage=2 microbatches=2 schedule=interleaved-1f1b" \
// RUN:   | FileCheck %s
// RUN: veeline-opt %t.4.mlir --pipe-compile="stages=2 chunks-per-stage=2 microbatches=2 schedule=zb-v" \
// RUN:   | FileCheck %s
// RUN: not veeline-opt %t.4.mlir --pipe-compile="stages=2 microbatches=2 schedule=interleave-1f1b" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NAME
// RUN: not veeline-opt %t.4.mlir \
// RUN:   --pipe-compile="stages=2 chunks-per-stage=2 placement=v microbatches=2 schedule=interleaved-1f1b" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLACEMENT
// RUN: veeline-opt %t.mlir --pipe-compile="stages=2 microbatches=2 target=host" | diff - %t.llvm.mlir
// RUN: not veeline-opt %t.mlir --pipe-compile="stages=2 target=hots" 2>&1 | FileCheck %s --check-prefix=TARGET

// RUN: veeline-opt %t.mlir --pipe-compile="stages=2 microbatches=2 target=cuda" 2> /dev/null > %t.cuda.mlir
// RUN: FileCheck %s --input-file %t.cuda.mlir --check-prefix=CUDA
// RUN: FileCheck %s --input-file %t.cuda.mlir --check-prefix=CUDADIALECT

// A GPU's step launches kernels, which are in a module of their own.
// CUDA:          llvm.func @mlp_rank0_step(
// CUDA:            llvm.call @veeline_zero(
// CUDA:            llvm.call @veeline_send(
// CUDA:            llvm.call @veeline_launch(
// CUDA:          gpu.module @kernels
// CUDA:            nvvm.kernel
// CUDADIALECT-NOT: {{^ *(%[^=]*= )?"?(pipe|linalg|tensor|memref|bufferization|func|scf|cf|vector|arith|math|affine)\.}}
// CUDADIALECT-NOT: unrealized_conversion_cast
// CUDADIALECT-NOT: veeline_update

// TARGET:    for the --target option: unknown target 'hots'; targets: host, cuda
// NAME:      unknown schedule 'interleave-1f1b'; did you mean 'interleaved-1f1b'?
// PLACEMENT: has placement 'v', but schedule 'interleaved-1f1b' is made for placement 'interleaved'
