// RUN: veeline-opt %s --pipe-gpu-kernels --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s
// RUN: veeline-opt %s --pipe-gpu-kernels=tf32=true --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s --check-prefix=TF32
// RUN: veeline-opt %s --pipe-gpu-kernels | FileCheck %s --check-prefix=KERNEL
// RUN: not veeline-opt %s --pipe-gpu-kernels=tf32=perhaps 2>&1 | FileCheck %s --check-prefix=OPTION

// In f32 nothing is rounded before it is multiplied, unless tf32 is allowed. Heads that lie
// side by side are read where they are, and so is a mask along keys alone.

// CHECK-NOT: mma.sync
// CHECK: .entry attention_100x40_
// CHECK-NOT: ex2.approx
// CHECK-DAG: cp.async.cg.shared.global
// CHECK-DAG: ld.shared.v4.b32
// CHECK-DAG: fma.rn.f32
// CHECK-NOT: mma.sync
// TF32: .entry attention_tf32_100x40_
// TF32-DAG: cvt.rna.tf32.f32
// TF32-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// TF32-DAG: ex2.approx.ftz.f32
// KERNEL: gpu.func @attention_100x40_{{[0-9a-f]+}}(%{{[^ ]*}}: memref<36000xf32> {{.*}}known_grid_size = array<i32: 12, 1, 1>
// OPTION: invalid value for boolean argument

func.func private @kernel(%qkv: memref<36000xf32>, %mask: memref<2x100xi1>, %o: memref<2x3x100x40xf32>, %lse: memref<2x3x100xf32>) attributes {pipe.kernel} {
  %q = memref.reinterpret_cast %qkv to offset: [0], sizes: [2, 3, 100, 40], strides: [18000, 40, 180, 1] : memref<36000xf32> to memref<2x3x100x40xf32, strided<[18000, 40, 180, 1]>>
  %k = memref.reinterpret_cast %qkv to offset: [120], sizes: [2, 3, 100, 40], strides: [18000, 0, 180, 1] : memref<36000xf32> to memref<2x3x100x40xf32, strided<[18000, 0, 180, 1], offset: 120>>
  pipe.attention scale(0.15811388300841897)
    ins(%q, %k, %k : memref<2x3x100x40xf32, strided<[18000, 40, 180, 1]>>, memref<2x3x100x40xf32, strided<[18000, 0, 180, 1], offset: 120>>, memref<2x3x100x40xf32, strided<[18000, 0, 180, 1], offset: 120>>)
    mask(%mask : memref<2x100xi1>) dims [0, 3] fill(-1.0e9)
    outs(%o, %lse : memref<2x3x100x40xf32>, memref<2x3x100xf32>)
  return
}
