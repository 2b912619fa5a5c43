// RUN: veeline-opt %s --pipe-plan-workspace --split-input-file --verify-diagnostics

func.func @nested(%x: memref<16xf32>, %condition: i1) attributes {pipe.num_results = 1 : i64} {
  scf.if %condition {
    // expected-error @+1 {{must have a static shape and stand in the function's own block to get a place in its workspace, found 'memref<16xf32>'}}
    %a = memref.alloc() : memref<16xf32>
    linalg.copy ins(%a : memref<16xf32>) outs(%x : memref<16xf32>)
  }
  return
}

// -----

func.func @dynamic(%x: memref<16xf32>, %size: index) attributes {pipe.num_results = 1 : i64} {
  // expected-error @+1 {{must have a static shape}}
  %a = memref.alloc(%size) : memref<?xf32>
  return
}
