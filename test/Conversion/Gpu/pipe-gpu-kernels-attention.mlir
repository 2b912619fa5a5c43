// RUN: veeline-opt %s --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-opt %t.mlir --pipe-gpu-code -o %t.nvvm.mlir
// RUN: veeline-gpu-code %t.nvvm.mlir --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

// A block has 64 queries, 16 for each of four warps, and goes over keys and values in
// tiles of 64, those after its last query left out. Tiles come by asynchronous copies of 16 bytes; matrices
// of 8 x 8 are loaded from shared memory, whose rows are 16 bytes longer than
// those of the tile. Queries stay in registers.

// CHECK: gpu.func @attention_256x64_{{[0-9a-f]+}}({{.*}}llvm.readonly{{.*}}workgroup(%{{.*}} : memref<4608xbf16, {{.*}}>, %{{.*}} : memref<4608xbf16, {{.*}}>, %{{.*}} : memref<4608xbf16, {{.*}}>){{.*}}known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
// CHECK: nvgpu.device_async_copy {{.*}}, 8 {bypassL1}
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// CHECK-COUNT-4: nvgpu.ldmatrix {{.*}}transpose = false
// CHECK: scf.for
// CHECK: nvgpu.device_async_copy
// CHECK-COUNT-16: nvgpu.ldmatrix {{.*}}transpose = false
// CHECK: scf.if
// CHECK: nvgpu.device_async_copy
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c1_i32
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c2_i32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-COUNT-16: nvgpu.ldmatrix {{.*}}transpose = true
// CHECK: scf.yield
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<65536xbf16>, vector<8xbf16>

// PTX-LABEL: .entry attention_256x64_
// PTX-NOT: {{[[:space:]](atom|red)\.}}
// PTX-DAG: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16
// PTX-DAG: cp.async.commit_group
// PTX-DAG: cp.async.wait_group 0
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-DAG: shfl.sync.bfly.b32
// PTX-DAG: ex2.approx.ftz.f32
// PTX-DAG: cvt.rn.bf16x2.f32
// PTX: ld.shared.v4.b32
// PTX: st.global.v4.b32

func.func private @causal(%q: memref<4x256x64xbf16>, %k: memref<4x256x64xbf16>, %v: memref<4x256x64xbf16>, %o: memref<4x256x64xbf16>, %lse: memref<4x256xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.125) causal
    ins(%q, %k, %v : memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256x64xbf16>)
    outs(%o, %lse : memref<4x256x64xbf16>, memref<4x256xf32>)
  return
}

// Its derivatives go over tiles in two stages, and take what they need of the
// scores again: no more is read than is in the operands.

// CHECK: gpu.func @attention_backward_q_256x64_{{.*}}known_grid_size = array<i32: 16, 1, 1>
// CHECK-NOT: memref<{{[0-9]*}}256x256
// PTX-LABEL: .entry attention_backward_q_256x64_
// PTX-NOT: {{[[:space:]](atom|red)\.}}
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-NOT: {{[[:space:]](atom|red)\.}}

func.func private @to_query(%q: memref<4x256x64xbf16>, %k: memref<4x256x64xbf16>, %v: memref<4x256x64xbf16>, %do: memref<4x256x64xbf16>, %lse: memref<4x256xf32>, %delta: memref<4x256xf32>, %dq: memref<4x256x64xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256xf32>, memref<4x256xf32>)
    outs(%dq : memref<4x256x64xbf16>)
  return
}

// CHECK: gpu.func @attention_backward_kv_256x64_{{.*}}known_grid_size = array<i32: 16, 1, 1>
// PTX-LABEL: .entry attention_backward_kv_256x64_
// PTX-NOT: {{[[:space:]](atom|red)\.}}
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-NOT: {{[[:space:]](atom|red)\.}}

func.func private @to_key(%q: memref<4x256x64xbf16>, %k: memref<4x256x64xbf16>, %v: memref<4x256x64xbf16>, %do: memref<4x256x64xbf16>, %lse: memref<4x256xf32>, %delta: memref<4x256xf32>, %dk: memref<4x256x64xbf16>, %dv: memref<4x256x64xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256x64xbf16>, memref<4x256xf32>, memref<4x256xf32>)
    outs(%dk, %dv : memref<4x256x64xbf16>, memref<4x256x64xbf16>)
  return
}
