// RUN: veeline-opt %s --pipe-gpu-kernels | FileCheck %s
// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-gpu-kernels | FileCheck %s
// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-gpu-code -o %t.mlir
// RUN: veeline-gpu-code %t.mlir --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

// Sums over replicas, in the order of the contributions, of any number of
// elements: the runtime says how many blocks there are. A block has 1024
// elements, each of its threads four that are 256 apart.

// CHECK-LABEL: func.func private @sum_f32_3(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64)
// CHECK-SAME:    pipe.gpu_kernel = @kernels::@sum_f32_3, pipe.kernel
// CHECK:         scf.for
// CHECK-COUNT-2:   arith.addf
// CHECK-LABEL: func.func private @sum_f64_2(
// CHECK:       gpu.module @kernels
// CHECK-LABEL: gpu.func @sum_f32_3(
// CHECK-SAME:    %[[R:.*]]: !llvm.ptr, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[C:.*]]: !llvm.ptr, %[[N:.*]]: i64)
// CHECK-SAME:    kernel attributes {known_block_size = array<i32: 256, 1, 1>
// CHECK-NOT:     known_grid_size
// CHECK:         arith.constant 1024
// CHECK:         %[[EXISTS:.*]] = arith.cmpi slt, %[[I:.*]], %[[N]]
// CHECK:         scf.if %[[EXISTS]] {
// CHECK:           llvm.getelementptr %[[A]][%[[I]]]
// CHECK:           %[[X:.*]] = llvm.load
// CHECK:           llvm.getelementptr %[[B]][%[[I]]]
// CHECK:           %[[Y:.*]] = llvm.load
// CHECK:           %[[XY:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK:           llvm.getelementptr %[[C]][%[[I]]]
// CHECK:           %[[Z:.*]] = llvm.load
// CHECK:           %[[XYZ:.*]] = arith.addf %[[XY]], %[[Z]]
// CHECK:           %[[TO:.*]] = llvm.getelementptr %[[R]][%[[I]]]
// CHECK:           llvm.store %[[XYZ]], %[[TO]]
// CHECK-COUNT-3: scf.if
// CHECK-NOT:     scf.if
// CHECK:       gpu.func @sum_f64_2(

// Contributions may be the result, so they do not go by the read-only path.
// PTX-NOT: ld.global.nc
// PTX:     add.rn.f32
// PTX:     .visible .entry sum_f64_2
// PTX:     add.rn.f64

module attributes {pipe.sums = [[f32, 3], [f64, 2]]} {
}
