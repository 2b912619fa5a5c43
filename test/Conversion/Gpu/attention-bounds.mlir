// What assemblers say of attention's kernels is bounded on every chip: no spills, and
// registers with which three blocks of 128 threads are on a multiprocessor, two where rows have
// more than 64 elements. More than 48 KiB of shared memory are asked for at the
// launch.

// REQUIRES: cuda-toolkit
// RUN: split-file %s %t
// RUN: veeline-opt %t/short.mlir --pipe-gpu-kernels --pipe-gpu-code | veeline-gpu-code --chips=%if long %{sm_80,sm_90,sm_100%} %else %{sm_90%} --max-registers=168 | FileCheck %s
// RUN: veeline-opt %t/long.mlir --pipe-gpu-kernels --pipe-gpu-code | veeline-gpu-code --chips=%if long %{sm_80,sm_90,sm_100%} %else %{sm_90%} --max-registers=255 | FileCheck %s
// RUN: veeline-opt %t/short.mlir --pipe-gpu-kernels=tf32=true --pipe-gpu-code | veeline-gpu-code --chips=%if long %{sm_80,sm_90,sm_100%} %else %{sm_90%} --max-registers=168 | FileCheck %s
// RUN: veeline-opt %t/long.mlir --pipe-gpu-kernels=tf32=true --pipe-gpu-code | veeline-gpu-code --chips=%if long %{sm_80,sm_90,sm_100%} %else %{sm_90%} --max-registers=255 | FileCheck %s
// CHECK-COUNT-9: 0 spilled, 0 stack{{$}}

//--- short.mlir
func.func private @bf16_forward(%q: memref<8x8x512x64xbf16>, %k: memref<8x8x512x64xbf16>, %v: memref<8x8x512x64xbf16>, %o: memref<8x8x512x64xbf16>, %lse: memref<8x8x512xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.125) causal
    ins(%q, %k, %v : memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>)
    outs(%o, %lse : memref<8x8x512x64xbf16>, memref<8x8x512xf32>)
  return
}

func.func private @bf16_to_query(%q: memref<8x8x512x64xbf16>, %k: memref<8x8x512x64xbf16>, %v: memref<8x8x512x64xbf16>, %do: memref<8x8x512x64xbf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dq: memref<8x8x512x64xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dq : memref<8x8x512x64xbf16>)
  return
}

func.func private @bf16_to_key(%q: memref<8x8x512x64xbf16>, %k: memref<8x8x512x64xbf16>, %v: memref<8x8x512x64xbf16>, %do: memref<8x8x512x64xbf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dk: memref<8x8x512x64xbf16>, %dv: memref<8x8x512x64xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dk, %dv : memref<8x8x512x64xbf16>, memref<8x8x512x64xbf16>)
  return
}

func.func private @f16_forward(%q: memref<8x8x512x64xf16>, %k: memref<8x2x512x64xf16>, %v: memref<8x2x512x64xf16>, %mask: memref<8x512xi1>, %o: memref<8x8x512x64xf16>, %lse: memref<8x8x512xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.125)
    ins(%q, %k, %v : memref<8x8x512x64xf16>, memref<8x2x512x64xf16>, memref<8x2x512x64xf16>)
    mask(%mask : memref<8x512xi1>) dims [0, 3] fill(-1.0e9)
    outs(%o, %lse : memref<8x8x512x64xf16>, memref<8x8x512xf32>)
  return
}

func.func private @f16_to_query(%q: memref<8x8x512x64xf16>, %k: memref<8x2x512x64xf16>, %v: memref<8x2x512x64xf16>, %do: memref<8x8x512x64xf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %mask: memref<8x512xi1>, %dq: memref<8x8x512x64xf16>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.125)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xf16>, memref<8x2x512x64xf16>, memref<8x2x512x64xf16>, memref<8x8x512x64xf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    mask(%mask : memref<8x512xi1>) dims [0, 3] fill(-1.0e9)
    outs(%dq : memref<8x8x512x64xf16>)
  return
}

func.func private @f16_to_key(%q: memref<8x8x512x64xf16>, %k: memref<8x2x512x64xf16>, %v: memref<8x2x512x64xf16>, %do: memref<8x8x512x64xf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %mask: memref<8x512xi1>, %dk: memref<8x2x512x64xf16>, %dv: memref<8x2x512x64xf16>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.125)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xf16>, memref<8x2x512x64xf16>, memref<8x2x512x64xf16>, memref<8x8x512x64xf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    mask(%mask : memref<8x512xi1>) dims [0, 3] fill(-1.0e9)
    outs(%dk, %dv : memref<8x2x512x64xf16>, memref<8x2x512x64xf16>)
  return
}

func.func private @f32_forward(%q: memref<8x8x512x64xf32>, %k: memref<8x8x512x64xf32>, %v: memref<8x8x512x64xf32>, %o: memref<8x8x512x64xf32>, %lse: memref<8x8x512xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.125) causal
    ins(%q, %k, %v : memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512x64xf32>)
    outs(%o, %lse : memref<8x8x512x64xf32>, memref<8x8x512xf32>)
  return
}

func.func private @f32_to_query(%q: memref<8x8x512x64xf32>, %k: memref<8x8x512x64xf32>, %v: memref<8x8x512x64xf32>, %do: memref<8x8x512x64xf32>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dq: memref<8x8x512x64xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dq : memref<8x8x512x64xf32>)
  return
}

func.func private @f32_to_key(%q: memref<8x8x512x64xf32>, %k: memref<8x8x512x64xf32>, %v: memref<8x8x512x64xf32>, %do: memref<8x8x512x64xf32>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dk: memref<8x8x512x64xf32>, %dv: memref<8x8x512x64xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.125) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512x64xf32>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dk, %dv : memref<8x8x512x64xf32>, memref<8x8x512x64xf32>)
  return
}

//--- long.mlir
func.func private @bf16_forward(%q: memref<8x8x500x128xbf16>, %k: memref<8x8x500x128xbf16>, %v: memref<8x8x500x128xbf16>, %o: memref<8x8x500x128xbf16>, %lse: memref<8x8x500xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.08838834764831845) causal
    ins(%q, %k, %v : memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>)
    outs(%o, %lse : memref<8x8x500x128xbf16>, memref<8x8x500xf32>)
  return
}

func.func private @bf16_to_query(%q: memref<8x8x500x128xbf16>, %k: memref<8x8x500x128xbf16>, %v: memref<8x8x500x128xbf16>, %do: memref<8x8x500x128xbf16>, %lse: memref<8x8x500xf32>, %delta: memref<8x8x500xf32>, %dq: memref<8x8x500x128xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.08838834764831845) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500xf32>, memref<8x8x500xf32>)
    outs(%dq : memref<8x8x500x128xbf16>)
  return
}

func.func private @bf16_to_key(%q: memref<8x8x500x128xbf16>, %k: memref<8x8x500x128xbf16>, %v: memref<8x8x500x128xbf16>, %do: memref<8x8x500x128xbf16>, %lse: memref<8x8x500xf32>, %delta: memref<8x8x500xf32>, %dk: memref<8x8x500x128xbf16>, %dv: memref<8x8x500x128xbf16>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.08838834764831845) causal
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>, memref<8x8x500xf32>, memref<8x8x500xf32>)
    outs(%dk, %dv : memref<8x8x500x128xbf16>, memref<8x8x500x128xbf16>)
  return
}

func.func private @f16_forward(%q: memref<8x8x512x128xf16>, %k: memref<8x8x512x128xf16>, %v: memref<8x8x512x128xf16>, %mask: memref<8x512x512xf32>, %o: memref<8x8x512x128xf16>, %lse: memref<8x8x512xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.08838834764831845)
    ins(%q, %k, %v : memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512x128xf16>)
    mask(%mask : memref<8x512x512xf32>) dims [0, 2, 3]
    outs(%o, %lse : memref<8x8x512x128xf16>, memref<8x8x512xf32>)
  return
}

func.func private @f16_to_query(%q: memref<8x8x512x128xf16>, %k: memref<8x8x512x128xf16>, %v: memref<8x8x512x128xf16>, %do: memref<8x8x512x128xf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %mask: memref<8x512x512xf32>, %dq: memref<8x8x512x128xf16>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.08838834764831845)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    mask(%mask : memref<8x512x512xf32>) dims [0, 2, 3]
    outs(%dq : memref<8x8x512x128xf16>)
  return
}

func.func private @f16_to_key(%q: memref<8x8x512x128xf16>, %k: memref<8x8x512x128xf16>, %v: memref<8x8x512x128xf16>, %do: memref<8x8x512x128xf16>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %mask: memref<8x512x512xf32>, %dk: memref<8x8x512x128xf16>, %dv: memref<8x8x512x128xf16>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.08838834764831845)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512x128xf16>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    mask(%mask : memref<8x512x512xf32>) dims [0, 2, 3]
    outs(%dk, %dv : memref<8x8x512x128xf16>, memref<8x8x512x128xf16>)
  return
}

func.func private @f32_forward(%q: memref<8x8x512x128xf32>, %k: memref<8x8x512x128xf32>, %v: memref<8x8x512x128xf32>, %o: memref<8x8x512x128xf32>, %lse: memref<8x8x512xf32>) attributes {pipe.kernel} {
  pipe.attention scale(0.08838834764831845)
    ins(%q, %k, %v : memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512x128xf32>)
    outs(%o, %lse : memref<8x8x512x128xf32>, memref<8x8x512xf32>)
  return
}

func.func private @f32_to_query(%q: memref<8x8x512x128xf32>, %k: memref<8x8x512x128xf32>, %v: memref<8x8x512x128xf32>, %do: memref<8x8x512x128xf32>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dq: memref<8x8x512x128xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_q scale(0.08838834764831845)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dq : memref<8x8x512x128xf32>)
  return
}

func.func private @f32_to_key(%q: memref<8x8x512x128xf32>, %k: memref<8x8x512x128xf32>, %v: memref<8x8x512x128xf32>, %do: memref<8x8x512x128xf32>, %lse: memref<8x8x512xf32>, %delta: memref<8x8x512xf32>, %dk: memref<8x8x512x128xf32>, %dv: memref<8x8x512x128xf32>) attributes {pipe.kernel} {
  pipe.attention_backward_kv scale(0.08838834764831845)
    ins(%q, %k, %v, %do, %lse, %delta : memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512x128xf32>, memref<8x8x512xf32>, memref<8x8x512xf32>)
    outs(%dk, %dv : memref<8x8x512x128xf32>, memref<8x8x512x128xf32>)
  return
}
