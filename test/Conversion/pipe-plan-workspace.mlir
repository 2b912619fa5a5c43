// RUN: veeline-opt %s --pipe-plan-workspace | FileCheck %s

// %a and %c are never live at the same time: they share memory. The address of %b is
// used until the second call.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: memref<16xf32>, %[[W:.*]]: memref<128xi8>)
// CHECK-SAME:    pipe.workspace_bytes = 128 : i64
// CHECK-SAME:    pipe.workspace_peak_live_bytes = 128 : i64
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[A:.*]] = memref.view %[[W]][%[[SHIFT:.*]]][] : memref<128xi8> to memref<16xf32>
// CHECK-DAG: %[[B:.*]] = memref.view %[[W]][%{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK-DAG: %[[C:.*]] = memref.view %[[W]][%{{.*}}][] : memref<128xi8> to memref<16xf32>
// CHECK-NOT: memref.alloc
func.func @chain(%x: memref<16xf32>) attributes {pipe.num_results = 1 : i64} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<16xf32>
  %unused = memref.alloc() : memref<1024xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  linalg.copy ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  %p = memref.extract_aligned_pointer_as_index %b : memref<16xf32> -> index
  call @use(%p) : (index) -> ()
  linalg.copy ins(%x : memref<16xf32>) outs(%c : memref<16xf32>)
  call @use(%p) : (index) -> ()
  linalg.copy ins(%c : memref<16xf32>) outs(%x : memref<16xf32>)
  return
}
func.func private @use(index)

// Through views, a buffer lives as long as they do.

// CHECK-LABEL: func.func @views(
// CHECK-SAME: memref<192xi8>
func.func @views(%x: memref<16xf32>) attributes {pipe.num_results = 1 : i64} {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<32xf32>
  %v = memref.expand_shape %a [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  linalg.copy ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %s = memref.subview %b[0] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1]>>
  linalg.copy ins(%x : memref<16xf32>) outs(%s : memref<16xf32, strided<[1]>>)
  linalg.copy ins(%s : memref<16xf32, strided<[1]>>) outs(%x : memref<16xf32>)
  %w = memref.collapse_shape %v [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  linalg.copy ins(%w : memref<16xf32>) outs(%x : memref<16xf32>)
  return
}

// Nothing to place: the workspace is there and empty.

// CHECK-LABEL: func.func @empty(
// CHECK-SAME: memref<0xi8>
// CHECK-SAME: pipe.workspace_bytes = 0
func.func @empty(%x: memref<16xf32>) attributes {pipe.num_results = 1 : i64} {
  return
}

// Other functions are left alone.

// CHECK-LABEL: func.func @other()
// CHECK: memref.alloc
func.func @other() {
  %a = memref.alloc() : memref<16xf32>
  return
}

// An element of 24 bits takes four bytes, as in LLVM's layout.

// CHECK-LABEL: func.func @odd(
// CHECK-SAME: memref<64xi8>
// CHECK-SAME: pipe.workspace_peak_live_bytes = 64
func.func @odd(%x: memref<16xi24>) attributes {pipe.num_results = 1 : i64} {
  %a = memref.alloc() : memref<16xi24>
  linalg.copy ins(%x : memref<16xi24>) outs(%a : memref<16xi24>)
  linalg.copy ins(%a : memref<16xi24>) outs(%x : memref<16xi24>)
  return
}
