// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-launch-kernels | FileCheck %s
// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-launch-kernels --symbol-dce | FileCheck %s --check-prefix=DEAD
// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-launch-kernels --symbol-dce --pipe-gpu-code --pipe-host-code \
// RUN:   | FileCheck %s --check-prefix=LLVM

// Two kernels that are equal have one entry. A sum over replicas that nobody
// calls has one as well: the runtime launches it on as many blocks as it takes.
// CHECK:      module attributes {
// CHECK-SAME: pipe.kernels = [{block = array<i32: 64, 1, 1>, grid = array<i32: 1, 1, 1>, name = "elementwise_1x256_[[HASH:.*]]", num_arguments = 5 : i64, shared_bytes = 0 : i64},
// CHECK-SAME:                 {block = array<i32: 256, 1, 1>, grid = array<i32: 1, 1, 1>, name = "sum_f32_2", num_arguments = 4 : i64, shared_bytes = 0 : i64}]
// CHECK-DAG:  func.func private @veeline_launch(!llvm.ptr, i32, !llvm.ptr)
// CHECK-DAG:  func.func private @veeline_constant(!llvm.ptr, i32) -> !llvm.ptr
// CHECK-DAG:  func.func private @veeline_load(!llvm.ptr, !llvm.ptr, i32) -> i64

// Once launched, the functions of kernels are no use.
// DEAD-NOT: pipe.kernel}
// DEAD:     gpu.func @sum_f32_2(
// DEAD:     gpu.func @elementwise_1x256_

// LLVM-LABEL: llvm.func @step(
// LLVM-NOT:     llvm.load
// LLVM:         llvm.call @veeline_load
// LLVM-NOT:     unrealized_conversion_cast
// LLVM:       llvm.func @sum_f32_2(
module attributes {pipe.constants = [@other, @table], pipe.sums = [[f32, 2]]} {
  memref.global "private" constant @other : memref<f32> = dense<1.0>
  memref.global "private" constant @table : memref<256xf32> = dense<2.0>

  func.func private @scale(%x: memref<256xf32> {llvm.noalias}, %y: memref<256xf32> {llvm.noalias}, %by: f32, %is: i1, %at: index) attributes {pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<256xf32>) outs(%y : memref<256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %here = arith.cmpi eq, %i, %at : index
      %both = arith.andi %here, %is : i1
      %p = arith.mulf %a, %by : f32
      %r = arith.select %both, %a, %p : f32
      linalg.yield %r : f32
    }
    return
  }
  func.func private @again(%x: memref<256xf32> {llvm.noalias}, %y: memref<256xf32> {llvm.noalias}, %by: f32, %is: i1, %at: index) attributes {pipe.kernel} {
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<256xf32>) outs(%y : memref<256xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 0 : index
      %here = arith.cmpi eq, %i, %at : index
      %both = arith.andi %here, %is : i1
      %p = arith.mulf %a, %by : f32
      %r = arith.select %both, %a, %p : f32
      linalg.yield %r : f32
    }
    return
  }

  // All launches put their arguments in the same place, outside of loops: the
  // call copies them.
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[X:.*]]: memref<256xf32>, %[[Y:.*]]: memref<256xf32>, %[[FLAGS:.*]]: memref<4x2xi1>)
  // CHECK:         %[[FIVE:.*]] = llvm.mlir.constant(5 : i64)
  // CHECK:         %[[ARGS:.*]] = llvm.alloca %[[FIVE]] x i64
  func.func @step(%rank: !llvm.ptr, %x: memref<256xf32>, %y: memref<256xf32>, %flags: memref<4x2xi1>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %by = arith.constant 3.0 : f32
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: %[[TABLE:.*]] = call @veeline_constant(%[[RANK]], %[[ONE]])
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<256xf32>
    %table = memref.get_global @table : memref<256xf32>
    // CHECK: scf.for %[[I:.*]] =
    scf.for %i = %c0 to %c3 step %c1 {
      // The host reads one byte of the device.
      // CHECK:   %[[BYTES:.*]] = llvm.mlir.constant(1 : i32)
      // CHECK:   %[[VALUE:.*]] = func.call @veeline_load(%[[RANK]], %{{.*}}, %[[BYTES]])
      // CHECK:   %[[FLAG:.*]] = arith.trunci %[[VALUE]] : i64 to i1
      %flag = memref.load %flags[%i, %c1] : memref<4x2xi1>
      // CHECK:   scf.if %[[FLAG]] {
      scf.if %flag {
        // CHECK:   memref.extract_aligned_pointer_as_index %{{.*}} : memref<256xf32>
        // CHECK:   llvm.store %{{.*}}, %{{.*}} : i64, !llvm.ptr
        // CHECK:   memref.extract_aligned_pointer_as_index %[[Y]]
        // CHECK:   arith.bitcast %{{.*}} : f32 to i32
        // CHECK:   arith.extui %{{.*}} : i32 to i64
        // CHECK:   arith.extui %[[FLAG]] : i1 to i64
        // CHECK:   %[[AT:.*]] = arith.index_cast %[[I]] : index to i64
        // CHECK:   %[[SLOT:.*]] = llvm.getelementptr %[[ARGS]][4] : (!llvm.ptr) -> !llvm.ptr, i64
        // CHECK:   llvm.store %[[AT]], %[[SLOT]]
        // CHECK:   %[[KERNEL:.*]] = llvm.mlir.constant(0 : i32)
        // CHECK:   func.call @veeline_launch(%[[RANK]], %[[KERNEL]], %[[ARGS]])
        func.call @scale(%table, %y, %by, %flag, %i) : (memref<256xf32>, memref<256xf32>, f32, i1, index) -> ()
      }
    }
    // CHECK: %[[KERNEL:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: call @veeline_launch(%[[RANK]], %[[KERNEL]], %[[ARGS]])
    %yes = arith.constant true
    call @again(%x, %y, %by, %yes, %c0) : (memref<256xf32>, memref<256xf32>, f32, i1, index) -> ()
    // CHECK-NOT: llvm.alloca
    // CHECK: return
    return
  }

  // Memory of the host's own stays what it is, and a function that launches
  // nothing is left alone.
  // CHECK-LABEL: func.func @own(
  // CHECK-NEXT:    memref.alloca
  // CHECK-NOT:     llvm.alloca
  // CHECK:         memref.store
  // CHECK:         memref.load
  func.func @own(%rank: !llvm.ptr, %i: index) -> f32 {
    %own = memref.alloca() : memref<4xf32>
    %one = arith.constant 1.0 : f32
    memref.store %one, %own[%i] : memref<4xf32>
    %again = memref.load %own[%i] : memref<4xf32>
    return %again : f32
  }
  // CHECK-LABEL: func.func @plain(
  // CHECK-NEXT:    arith.addi
  // CHECK-NEXT:    return
  func.func @plain(%i: index) -> index {
    %j = arith.addi %i, %i : index
    return %j : index
  }
}
