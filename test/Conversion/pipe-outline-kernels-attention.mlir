// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda | veeline-opt --pipe-lower-kernels | FileCheck %s --check-prefix=TWIN

// Attention on buffers is a kernel of its own, once for equal ones. What is before
// and after keeps its place.
// CHECK-LABEL: func.func @heads
// CHECK:         call @[[FILL:.*]](%arg1
// CHECK-NEXT:    call @[[KERNEL:.*]](%arg1, %arg2, %arg3)
// CHECK-NEXT:    call @[[KERNEL]](%arg2, %arg1, %arg3)
// CHECK-NEXT:    return
// CHECK:       func.func private @[[KERNEL]]({{.*}}) attributes {{.*}}pipe.kernel
// CHECK-NEXT:    pipe.attention scale(5.000000e-01) causal ins(
// CHECK-NEXT:    return

// On a CPU a kernel is loops of scalars; the sums of a row are in the type of sums.
// TWIN-NOT:  pipe.attention
// TWIN:      memref.alloca() : memref<8xf32>
// TWIN:      scf.for
!heads = memref<2x4x16x8xf32, strided<[512, 8, 32, 1]>>
func.func @heads(%rank: !llvm.ptr, %x: !heads, %y: !heads, %l: memref<2x4x16xf32>) attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : !heads)
  pipe.attention scale(0.5) causal ins(%x, %x, %x : !heads, !heads, !heads) outs(%y, %l : !heads, memref<2x4x16xf32>)
  pipe.attention scale(0.5) causal ins(%y, %y, %y : !heads, !heads, !heads) outs(%x, %l : !heads, memref<2x4x16xf32>)
  return
}
