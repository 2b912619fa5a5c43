// RUN: veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory=target=cuda --pipe-lower-to-runtime=target=cuda --canonicalize --cse | FileCheck %s
// RUN: veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory="target=cuda optimizer=sgd-momentum" --pipe-lower-to-runtime=target=cuda --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=MOMENTUM
// RUN: veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory="target=cuda optimizer=sgd" --pipe-lower-to-runtime=target=cuda --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=SGD
// RUN: veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory="target=cuda optimizer=sgd-momentum error-feedback" --pipe-lower-to-runtime=target=cuda --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=FEEDBACK
// RUN: sed 's/8xf32/3xf32/g' %S/pipe-plan-memory-cuda.mlir | veeline-opt --pipe-plan-memory=target=cuda --pipe-lower-to-runtime=target=cuda --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=ODD
// RUN: not veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory --pipe-lower-to-runtime=target=cuda 2>&1 | FileCheck %s --check-prefix=PLAN
// RUN: not veeline-opt %S/pipe-plan-memory-cuda.mlir --pipe-plan-memory=target=cuda --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=HOSTPLAN

// PLAN: error: 'pipe.program' op has memory that is planned for another target; run --pipe-plan-memory=target=cuda first
// HOSTPLAN: error: 'pipe.program' op has memory that is planned for another target; run --pipe-plan-memory=target=host first

// CHECK-LABEL: func.func @net_rank0_step(
// CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-DAG:     %[[C0:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-DAG:     %[[C1:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-DAG:     %[[N12:.*]] = llvm.mlir.constant(12 : i64) : i64
// CHECK-DAG:     %[[N16:.*]] = llvm.mlir.constant(16 : i64) : i64
// CHECK-DAG:     %[[N32:.*]] = llvm.mlir.constant(32 : i64) : i64
// Accumulators, and the parts of norms.
// CHECK:         %[[ACC:.*]] = llvm.getelementptr %[[ARENA]][512]
// CHECK:         call @veeline_zero(%[[RANK]], %[[ACC]], %[[N32]])
// CHECK:         %[[NORMS:.*]] = llvm.getelementptr %[[ARENA]][1536]
// CHECK:         call @veeline_zero(%[[RANK]], %[[NORMS]], %[[N16]])
// Batch arguments are in the arena.
// CHECK:         llvm.getelementptr %[[ARENA]][768]
// CHECK:         call @f0(
// CHECK:         call @veeline_send(%[[RANK]], %[[C0]], %[[C0]], %{{.*}})
// The second microbatch is copied to where kernels can read it.
// CHECK:         %[[SLICE:.*]] = llvm.getelementptr %[[ARENA]][780]
// CHECK:         call @veeline_copy(%[[RANK]], %{{.*}}, %[[SLICE]], %[[N12]])
// CHECK:         call @f0(
// CHECK:         call @veeline_send(%[[RANK]], %[[C0]], %[[C1]], %{{.*}})
// CHECK-NOT:     call @veeline_group_begin
// CHECK:         call @f0(
// A group is told to the runtime.
// CHECK:         call @veeline_group_begin(%[[RANK]])
// CHECK:         call @veeline_recv_post(%[[RANK]], %[[C1]],
// CHECK:         call @veeline_send(%[[RANK]], %[[C0]], %[[C0]], %{{.*}})
// CHECK:         call @veeline_group_end(%[[RANK]])
// CHECK:         call @veeline_recv_wait(%[[RANK]], %[[C1]])
// CHECK:         call @b0(
// CHECK:         %[[SETTINGS:.*]] = call @veeline_settings(%[[RANK]])
// CHECK:         call @veeline_norm(%[[RANK]], %[[C0]])
// CHECK:         call @pipe_norm_f32_8_of_1(
// CHECK:         call @pipe_adamw_f32_8_of_1(
// CHECK-NOT:     veeline_update
// CHECK-NOT:     llvm.intr.memset
// CHECK:         return

// The norm of a gradient, and then the update, are kernels of the settings. All
// numbers of an update are those of the host's update, in its order.
// CHECK-LABEL: func.func private @pipe_norm_f32_8_of_1(
// CHECK-SAME:    memref<16xf32> {llvm.noalias}, {{.*}}: memref<1x8xf32> {llvm.noalias}, {{.*}}: memref<1xf64> {llvm.noalias}) attributes {pipe.kernel}
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK:         arith.mulf {{.*}} : f32
// CHECK:         arith.extf
// CHECK:         arith.mulf {{.*}} : f64
// CHECK:         arith.addf {{.*}} : f64
// A vector does not decay; the second moments, 32 bytes after the first ones, are
// an argument of their own. Those of three elements could not be.
// CHECK-LABEL: func.func private @pipe_adamw_f32_8_of_1(
// CHECK-SAME:    memref<16xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}) attributes {pipe.kernel}
// CHECK:         linalg.generic
// ODD:         func.func private @pipe_adamw_f32_3_of_1({{.*}}: memref<16xf32> {llvm.noalias}, {{.*}}: memref<3xf32> {llvm.noalias}, {{.*}}: memref<3xf32> {llvm.noalias}, {{.*}}: memref<6xf32> {llvm.noalias})
// CHECK:         %[[G:.*]] = arith.mulf
// CHECK:         math.sqrt
// CHECK:         arith.divf
// MOMENTUM:    func.func private @pipe_momentum_f32_8_of_1(
// FEEDBACK:    func.func private @pipe_momentum_f32_8_of_1_corrected({{.*}}: memref<16xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias}, {{.*}}: memref<8xf32> {llvm.noalias})
// SGD:         func.func private @pipe_sgd_f32_8_of_1(

// CHECK-LABEL: func.func @net_rank1_step(
// CHECK:         call @veeline_report(
