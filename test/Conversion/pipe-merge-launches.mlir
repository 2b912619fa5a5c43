// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-merge-launches --symbol-dce | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-merge-launches --symbol-dce --pipe-gpu-kernels | FileCheck %s --check-prefix=GPU

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#v = affine_map<(j) -> (j)>

// Two sums over rows that are added to gradients are three launches: zeros of both, sums of both, and what is added to both. The product between
// them does not matter, since it touches none of their buffers but those that both only read.

// CHECK-LABEL: func.func @sums
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[A:[^:]*]]: memref<64x32xf32>, %[[B:[^:]*]]: memref<64x32xf32>, %[[GA:[^:]*]]: memref<32xf32>, %[[GB:[^:]*]]: memref<32xf32>
// CHECK-DAG: %[[TA:.*]] = memref.alloc() : memref<32xf32>
// CHECK-DAG: %[[TB:.*]] = memref.alloc() : memref<32xf32>
// CHECK: call @[[ZEROS:.*]](%[[TA]], %[[TB]]) : (memref<32xf32>, memref<32xf32>) -> ()
// CHECK-NEXT: call @[[SUMS:[^(]*]](
// CHECK-NEXT: call @[[ADDS:[^(]*]](
// CHECK-NOT: call @kernel
// CHECK: call @veeline_gemm
// CHECK-NEXT: return

// Each has blocks of its own.

// GPU-LABEL: gpu.func @several_2_{{[0-9a-f]*}}(
// GPU-SAME: known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// GPU: %[[BLOCK:.*]] = gpu.block_id x
// GPU: %[[IS:.*]] = arith.cmpi ult, %[[BLOCK]], %c1
// GPU: scf.if %[[IS]]
// GPU: else
// GPU: %[[SECOND:.*]] = gpu.block_id x
// GPU: arith.subi %[[SECOND]], %c1
func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
func.func @sums(%rank: !llvm.ptr, %a: memref<64x32xf32>, %b: memref<64x32xf32>, %ga: memref<32xf32>, %gb: memref<32xf32>, %c: memref<64x64xf32>)
    attributes {pipe.num_results = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  %number = arith.constant 0 : i32
  %null = llvm.mlir.zero : !llvm.ptr
  %ta = memref.alloc() : memref<32xf32>
  %tb = memref.alloc() : memref<32xf32>
  linalg.fill ins(%zero : f32) outs(%ta : memref<32xf32>)
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%a : memref<64x32xf32>) outs(%ta : memref<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%ta : memref<32xf32>) outs(%ga : memref<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  %0 = memref.extract_aligned_pointer_as_index %a : memref<64x32xf32> -> index {pipe.reads_only}
  %1 = arith.index_cast %0 : index to i64
  %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
  %3 = memref.extract_aligned_pointer_as_index %c : memref<64x64xf32> -> index
  %4 = arith.index_cast %3 : index to i64
  %5 = llvm.inttoptr %4 : i64 to !llvm.ptr
  func.call @veeline_gemm(%rank, %number, %2, %2, %5, %null) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  linalg.fill ins(%zero : f32) outs(%tb : memref<32xf32>)
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%b : memref<64x32xf32>) outs(%tb : memref<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%tb : memref<32xf32>) outs(%gb : memref<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  return
}

// One that reads what another one writes is no part of its launch, and neither is one of rows.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: call @kernel
// CHECK-NOT: call
// CHECK: return
func.func @others(%rank: !llvm.ptr, %a: memref<64x32xf32>, %x: memref<32xf32>, %y: memref<32xf32>, %r: memref<64xf32>)
    attributes {pipe.num_results = 3 : i64} {
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]} ins(%a : memref<64x32xf32>) outs(%x : memref<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%x : memref<32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%a : memref<64x32xf32>) outs(%r : memref<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  }
  return
}

// Where a buffer may be another one, all launches stay where they are: the number that is doubled is read first, as one of two that are chosen from.

// CHECK-LABEL: func.func @aliases
// CHECK: arith.select
// CHECK-NEXT: call @[[COPY:kernel[^(]*]](
// CHECK-NEXT: call @[[COPY]](
// CHECK-NEXT: call @kernel
// CHECK-NEXT: return
func.func @aliases(%rank: !llvm.ptr, %c: i1, %a: memref<32xf32>, %b: memref<32xf32>, %x: memref<32xf32>, %y: memref<32xf32>)
    attributes {pipe.num_results = 3 : i64} {
  %chosen = arith.select %c, %a, %b : memref<32xf32>
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%b : memref<32xf32>) outs(%x : memref<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%chosen : memref<32xf32>) outs(%y : memref<32xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%a : memref<32xf32>) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  }
  return
}

// Buffers of numbers that count have a size, too.

// CHECK-LABEL: func.func @indices
// CHECK: call @kernel{{[^(]*}}(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : (memref<32xi32>, memref<32xindex>, memref<32xi32>, memref<32xi1>) -> ()
// CHECK-NEXT: return
func.func @indices(%rank: !llvm.ptr, %a: memref<32xi32>, %x: memref<32xindex>, %b: memref<32xi32>, %y: memref<32xi1>)
    attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%a : memref<32xi32>) outs(%x : memref<32xindex>) {
  ^bb0(%v: i32, %o: index):
    %i = arith.index_cast %v : i32 to index
    linalg.yield %i : index
  }
  linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%b : memref<32xi32>) outs(%y : memref<32xi1>) {
  ^bb0(%v: i32, %o: i1):
    %i = arith.cmpi eq, %v, %v : i32
    linalg.yield %i : i1
  }
  return
}

// CHECK-DAG: func.func private @[[ZEROS]]({{.*}}) attributes {{{.*}}pipe.side_by_side
// CHECK-DAG: func.func private @[[SUMS]]({{.*}}) attributes {{{.*}}pipe.side_by_side
// CHECK-DAG: func.func private @[[ADDS]]({{.*}}) attributes {{{.*}}pipe.side_by_side
