// Kernels of attention do the same as threads of a GPU and as loops of scalars, products of warps
// and copies that come late or at once included. Without any of their barriers, waits for copies and stores they do
// not: rows of a tile are read by other threads than those that have copied them. The long suite leaves out stores of each kernel.

// RUN: veeline-opt %s --pipe-gpu-kernels=tf32=true -o %t.mlir
// RUN: veeline-gpu-run %t.mlir | FileCheck %s --check-prefix=DO
// RUN: veeline-gpu-run %t.mlir --fault=barrier | FileCheck %s --check-prefix=BARRIER
// RUN: veeline-gpu-run %t.mlir --fault=wait | FileCheck %s --check-prefix=WAIT
// RUN: veeline-gpu-run %t.mlir --fault=store %if !long %{ --only=backward_q %} | FileCheck %s --check-prefix=STORE
// RUN: veeline-gpu-run --random-attention=%if long %{12%} %else %{3%} --seed=1 | FileCheck %s --check-prefix=RANDOM

// DO: attention_70x24_{{[0-9a-f]+}}: 2x1x1 blocks of 128: differs by 0.{{[0-9]+}} of what is allowed
// DO-NEXT: attention_tf32_backward_q_70x24_{{[0-9a-f]+}}: 2x1x1 blocks of 128: differs by 0.{{[0-9]+}} of what is allowed
// DO-NEXT: attention_tf32_backward_kv_70x24_{{[0-9a-f]+}}: 2x1x1 blocks of 128: differs by 0.{{[0-9]+}} of what is allowed
// DO-NEXT: 3 kernels, 0 with the bits of their twins, 0 wrong
// BARRIER: 9 of 9 faults found
// WAIT: 5 of 5 faults found
// STORE: [[N:[1-9][0-9]*]] of [[N]] faults found
// RANDOM: [[M:3|12]] of [[M]] kernels of attention are right

func.func private @forward(%q: memref<70x24xbf16>, %k: memref<130x24xbf16>, %v: memref<130x24xbf16>, %o: memref<70x24xbf16>, %lse: memref<70xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.2)
    ins(%q, %k, %v : memref<70x24xbf16>, memref<130x24xbf16>, memref<130x24xbf16>)
    outs(%o, %lse : memref<70x24xbf16>, memref<70xf32>)
  return
}

func.func private @to_query(%q: memref<70x24xf32>, %k: memref<70x24xf32>, %v: memref<70x24xf32>, %do: memref<70x24xf32>, %lse: memref<70xf32>, %delta: memref<70xf32>, %dq: memref<70x24xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.2) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<70x24xf32>, memref<70x24xf32>, memref<70x24xf32>, memref<70x24xf32>, memref<70xf32>, memref<70xf32>)
    outs(%dq : memref<70x24xf32>)
  return
}

func.func private @to_key(%q: memref<70x24xf32>, %k: memref<70x24xf32>, %v: memref<70x24xf32>, %do: memref<70x24xf32>, %lse: memref<70xf32>, %delta: memref<70xf32>, %dk: memref<70x24xf32>, %dv: memref<70x24xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.2) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<70x24xf32>, memref<70x24xf32>, memref<70x24xf32>, memref<70x24xf32>, memref<70xf32>, memref<70xf32>)
    outs(%dk, %dv : memref<70x24xf32>, memref<70x24xf32>)
  return
}
