// RUN: veeline-opt %s --pipe-merge-step-launches | FileCheck %s

!d = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
#v = affine_map<(i) -> (i)>

// Updates of parameters at places of their own become one launch, which stands where the last of them stood. Two whose places overlap stay as they
// are, and so does what comes after something else is done.

// CHECK-LABEL: func.func @step
// CHECK-NOT: call @update
// CHECK: call @veeline_op_begin(%arg0, %c1_i32)
// CHECK-NEXT: call @[[BOTH:[^(]*]](%[[A:.*]], %[[D:.*]]) : (memref<32xf32>, memref<32xf32>) -> ()
// CHECK-NEXT: call @update(%[[B:.*]]) : (memref<32xf32>) -> ()
// CHECK-NEXT: call @update(%[[C:.*]]) : (memref<32xf32>) -> ()
// CHECK-NEXT: call @veeline_op_end
// CHECK-NEXT: call @veeline_copy
// CHECK-NEXT: call @update(%[[A]]) : (memref<32xf32>) -> ()
// CHECK-NEXT: return

// Of shares that the runtime chooses it is known in which parameter they lie: those of two become one launch, and what touches the rest of one of them
// stays apart.

// CHECK-LABEL: func.func @shares
// CHECK-COUNT-2: call @veeline_shard
// CHECK-NOT: call @update
// CHECK: call @{{.*}} : (memref<32xf32>, memref<32xf32>) -> ()
// CHECK-NEXT: return
// CHECK-LABEL: func.func @overlapping
// CHECK-COUNT-2: call @update
// CHECK-NEXT: return

func.func private @veeline_op_begin(!llvm.ptr, i32)
func.func private @veeline_op_end(!llvm.ptr, i32)
func.func private @veeline_copy(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
func.func private @update(%x: memref<32xf32> {llvm.noalias}) attributes {pipe.kernel} {
  linalg.generic {indexing_maps = [#v], iterator_types = ["parallel"]} outs(%x : memref<32xf32>) {
  ^bb0(%o: f32):
    %s = arith.addf %o, %o : f32
    linalg.yield %s : f32
  }
  return
}
func.func @step(%rank: !llvm.ptr, %arena: !llvm.ptr, %inputs: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 128 : i64
  %none = llvm.mlir.poison : !d
  %pb = llvm.getelementptr %arena[128] : (!llvm.ptr) -> !llvm.ptr, i8
  %pc = llvm.getelementptr %arena[192] : (!llvm.ptr) -> !llvm.ptr, i8
  %at = llvm.mlir.constant(512 : i64) : i64
  %pd = llvm.getelementptr %arena[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %da = llvm.insertvalue %arena, %none[1] : !d
  %db = llvm.insertvalue %pb, %none[1] : !d
  %dc = llvm.insertvalue %pc, %none[1] : !d
  %dd = llvm.insertvalue %pd, %none[1] : !d
  %a = builtin.unrealized_conversion_cast %da : !d to memref<32xf32>
  %b = builtin.unrealized_conversion_cast %db : !d to memref<32xf32>
  %c = builtin.unrealized_conversion_cast %dc : !d to memref<32xf32>
  %d = builtin.unrealized_conversion_cast %dd : !d to memref<32xf32>
  call @veeline_op_begin(%rank, %zero) : (!llvm.ptr, i32) -> ()
  call @update(%a) : (memref<32xf32>) -> ()
  call @veeline_op_end(%rank, %zero) : (!llvm.ptr, i32) -> ()
  call @veeline_op_begin(%rank, %one) : (!llvm.ptr, i32) -> ()
  call @update(%d) : (memref<32xf32>) -> ()
  call @update(%b) : (memref<32xf32>) -> ()
  call @update(%c) : (memref<32xf32>) -> ()
  call @veeline_op_end(%rank, %one) : (!llvm.ptr, i32) -> ()
  call @veeline_copy(%rank, %pd, %arena, %bytes) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
  call @update(%a) : (memref<32xf32>) -> ()
  return
}
func.func private @veeline_shard(!llvm.ptr, i32) -> i64
func.func @shares(%rank: !llvm.ptr, %arena: !llvm.ptr, %inputs: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = llvm.mlir.poison : !d
  %first = call @veeline_shard(%rank, %zero) : (!llvm.ptr, i32) -> i64
  %pa = llvm.getelementptr %arena[%first] {pipe.within = 256 : i64} : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %da = llvm.insertvalue %pa, %none[1] : !d
  %a = builtin.unrealized_conversion_cast %da : !d to memref<32xf32>
  call @update(%a) : (memref<32xf32>) -> ()
  %second = call @veeline_shard(%rank, %one) : (!llvm.ptr, i32) -> i64
  %behind = llvm.getelementptr %arena[256] : (!llvm.ptr) -> !llvm.ptr, i8
  %pb = llvm.getelementptr %behind[%second] {pipe.within = 256 : i64} : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %db = llvm.insertvalue %pb, %none[1] : !d
  %b = builtin.unrealized_conversion_cast %db : !d to memref<32xf32>
  call @update(%b) : (memref<32xf32>) -> ()
  return
}
func.func @overlapping(%rank: !llvm.ptr, %arena: !llvm.ptr, %inputs: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %none = llvm.mlir.poison : !d
  %first = call @veeline_shard(%rank, %zero) : (!llvm.ptr, i32) -> i64
  %pa = llvm.getelementptr %arena[%first] {pipe.within = 256 : i64} : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %da = llvm.insertvalue %pa, %none[1] : !d
  %a = builtin.unrealized_conversion_cast %da : !d to memref<32xf32>
  call @update(%a) : (memref<32xf32>) -> ()
  %pb = llvm.getelementptr %arena[128] : (!llvm.ptr) -> !llvm.ptr, i8
  %db = llvm.insertvalue %pb, %none[1] : !d
  %b = builtin.unrealized_conversion_cast %db : !d to memref<32xf32>
  call @update(%b) : (memref<32xf32>) -> ()
  return
}

// CHECK: func.func private @[[BOTH]](%{{.*}}: memref<32xf32> {llvm.noalias}, %{{.*}}: memref<32xf32> {llvm.noalias}) attributes {pipe.kernel, pipe.side_by_side}
// CHECK-COUNT-2: linalg.generic
