// RUN: veeline-opt %s --pipe-merge-step-launches | FileCheck %s

!d = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
#v = affine_map<(i) -> (i)>

// Updates of parameters at places of their own become one launch, which stands where the last of them stood. One whose place overlaps that of another
// stays behind it, and what comes after something else is done stays as it is.

// CHECK-LABEL: func.func @step
// CHECK-NOT: call @update
// CHECK: call @veeline_op_begin(%arg0, %c1_i32)
// CHECK-NEXT: call @[[THREE:[^(]*]](%[[A:.*]], %[[D:.*]], %[[B:.*]]) : (memref<32xf32>, memref<32xf32>, memref<32xf32>) -> ()
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

// Norms in parts become one launch, and sums of their parts another one behind it; what reads these sums comes after both.

// CHECK-LABEL: func.func @norms
// CHECK-NOT: call @add
// CHECK: call @[[NORMS:[^(]*]](%[[A:.*]], %[[P:.*]], %[[B:.*]], %[[Q:.*]]) : (memref<4x32xf32>, memref<4xf64>, memref<4x32xf32>, memref<4xf64>) -> ()
// CHECK-NEXT: call @[[SUMS:[^(]*]](%[[P]], %[[S:.*]], %[[Q]], %[[T:.*]]) : (memref<4xf64>, memref<f64>, memref<4xf64>, memref<f64>) -> ()
// CHECK-NEXT: call @gather(%[[S]], %[[T]]) : (memref<f64>, memref<f64>) -> ()
// CHECK-NEXT: call @veeline_op_end
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

!e = !llvm.struct<(ptr, ptr, i64)>
!f = !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
func.func private @squares(%x: memref<4x32xf32> {llvm.noalias}, %parts: memref<4xf64> {llvm.noalias}) attributes {pipe.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x32xf32>) outs(%parts : memref<4xf64>) {
  ^bb0(%in: f32, %out: f64):
    %wide = arith.extf %in : f32 to f64
    %square = arith.mulf %wide, %wide : f64
    %sum = arith.addf %out, %square : f64
    linalg.yield %sum : f64
  }
  return
}
func.func private @add(%parts: memref<4xf64> {llvm.noalias}, %norm: memref<f64> {llvm.noalias}) attributes {pipe.kernel} {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%norm : memref<f64>)
  linalg.generic {indexing_maps = [#v, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%parts : memref<4xf64>) outs(%norm : memref<f64>) {
  ^bb0(%in: f64, %out: f64):
    %sum = arith.addf %out, %in : f64
    linalg.yield %sum : f64
  }
  return
}
func.func private @gather(%a: memref<f64> {llvm.noalias}, %b: memref<f64> {llvm.noalias}) attributes {pipe.kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    %x = memref.load %a[] : memref<f64>
    memref.store %x, %b[] : memref<f64>
  }
  return
}
func.func @norms(%rank: !llvm.ptr, %arena: !llvm.ptr, %inputs: !llvm.ptr) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = llvm.mlir.poison : !f
  %parts = llvm.mlir.poison : !d
  %norm = llvm.mlir.poison : !e
  call @veeline_op_begin(%rank, %zero) : (!llvm.ptr, i32) -> ()
  %da = llvm.insertvalue %arena, %none[1] : !f
  %a = builtin.unrealized_conversion_cast %da : !f to memref<4x32xf32>
  %pp = llvm.getelementptr %arena[1024] : (!llvm.ptr) -> !llvm.ptr, i8
  %dp = llvm.insertvalue %pp, %parts[1] : !d
  %p = builtin.unrealized_conversion_cast %dp : !d to memref<4xf64>
  %ps = llvm.getelementptr %arena[1056] : (!llvm.ptr) -> !llvm.ptr, i8
  %ds = llvm.insertvalue %ps, %norm[1] : !e
  %s = builtin.unrealized_conversion_cast %ds : !e to memref<f64>
  call @squares(%a, %p) : (memref<4x32xf32>, memref<4xf64>) -> ()
  call @add(%p, %s) : (memref<4xf64>, memref<f64>) -> ()
  call @veeline_op_end(%rank, %zero) : (!llvm.ptr, i32) -> ()
  call @veeline_op_begin(%rank, %one) : (!llvm.ptr, i32) -> ()
  %pb = llvm.getelementptr %arena[512] : (!llvm.ptr) -> !llvm.ptr, i8
  %db = llvm.insertvalue %pb, %none[1] : !f
  %b = builtin.unrealized_conversion_cast %db : !f to memref<4x32xf32>
  %pq = llvm.getelementptr %arena[1088] : (!llvm.ptr) -> !llvm.ptr, i8
  %dq = llvm.insertvalue %pq, %parts[1] : !d
  %q = builtin.unrealized_conversion_cast %dq : !d to memref<4xf64>
  %pt = llvm.getelementptr %arena[1120] : (!llvm.ptr) -> !llvm.ptr, i8
  %dt = llvm.insertvalue %pt, %norm[1] : !e
  %t = builtin.unrealized_conversion_cast %dt : !e to memref<f64>
  call @squares(%b, %q) : (memref<4x32xf32>, memref<4xf64>) -> ()
  call @add(%q, %t) : (memref<4xf64>, memref<f64>) -> ()
  call @gather(%s, %t) : (memref<f64>, memref<f64>) -> ()
  call @veeline_op_end(%rank, %one) : (!llvm.ptr, i32) -> ()
  return
}

// CHECK: func.func private @[[THREE]](%{{.*}}: memref<32xf32> {llvm.noalias}, %{{.*}}: memref<32xf32> {llvm.noalias}, %{{.*}}: memref<32xf32> {llvm.noalias}) attributes {pipe.kernel, pipe.side_by_side}
// CHECK-COUNT-3: linalg.generic
// CHECK: func.func private @[[SUMS]]({{.*}}) attributes {pipe.kernel, pipe.side_by_side}
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: linalg.fill
// CHECK: linalg.generic
