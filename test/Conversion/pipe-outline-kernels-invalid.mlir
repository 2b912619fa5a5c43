// RUN: veeline-opt %s --pipe-outline-kernels --split-input-file --verify-diagnostics

func.func @dynamic(%rank: !llvm.ptr, %x: memref<?xf32>, %y: memref<?xf32>) attributes {pipe.num_results = 1 : i64} {
  // expected-error @+1 {{needs static shapes, but the extent of dimension 0 is unknown}}
  linalg.abs ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
