// RUN: veeline-opt %s --pipe-results-to-arguments | FileCheck %s
// RUN: veeline-opt %s --pipe-bufferize-chunks=fuse=false | FileCheck %s --check-prefix=SPACE

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Each gradient is added to its accumulator right after it is computed; the
// stores to memory come last, after every op on tensors.

// CHECK-LABEL: func.func @gradients
// CHECK-SAME: pipe.num_results = 3
// CHECK: %[[DX:.*]] = bufferization.to_tensor %arg3 restrict writable
// CHECK: %[[DW:.*]] = bufferization.to_tensor %arg4 restrict writable
// CHECK: %[[DB:.*]] = bufferization.to_tensor %arg5 restrict writable
// CHECK: %[[B:.*]] = linalg.reduce
// CHECK: %[[NEW_B:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<16xf64>) outs(%[[DB]] : tensor<16xf64>)
// CHECK: %[[W:.*]] = linalg.matmul
// CHECK: %[[NEW_W:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<16x16xf64>) outs(%[[DW]] : tensor<16x16xf64>)
// CHECK: %[[X:.*]] = linalg.map
// CHECK: %[[NEW_X:.*]] = bufferization.materialize_in_destination %[[X]] in %[[DX]]
// CHECK: bufferization.materialize_in_destination %[[NEW_X]] in writable %arg3
// CHECK: bufferization.materialize_in_destination %[[NEW_W]] in writable %arg4
// CHECK: bufferization.materialize_in_destination %[[NEW_B]] in writable %arg5
// CHECK-NEXT: return

// The two products never live at the same time.
// SPACE: pipe.workspace_bytes = 2048 : i64
func.func @gradients(%x: tensor<16x16xf64>, %dy: tensor<16x16xf64>)
    -> (tensor<16x16xf64> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<16x16xf64> {pipe.role = #pipe.role<param_grad 1>},
        tensor<16xf64> {pipe.role = #pipe.role<param_grad 2>}) {
  %zero = arith.constant 0.0 : f64
  %e0 = tensor.empty() : tensor<16xf64>
  %z0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<16xf64>) -> tensor<16xf64>
  %db = linalg.reduce ins(%dy : tensor<16x16xf64>) outs(%z0 : tensor<16xf64>) dimensions = [0]
    (%a: f64, %o: f64) {
      %r = arith.addf %o, %a : f64
      linalg.yield %r : f64
    }
  %e1 = tensor.empty() : tensor<16x16xf64>
  %z1 = linalg.fill ins(%zero : f64) outs(%e1 : tensor<16x16xf64>) -> tensor<16x16xf64>
  %dw = linalg.matmul ins(%x, %dy : tensor<16x16xf64>, tensor<16x16xf64>) outs(%z1 : tensor<16x16xf64>) -> tensor<16x16xf64>
  %e2 = tensor.empty() : tensor<16x16xf64>
  %dx = linalg.map ins(%dy : tensor<16x16xf64>) outs(%e2 : tensor<16x16xf64>)
    (%a: f64, %o: f64) {
      %r = arith.negf %a : f64
      linalg.yield %r : f64
    }
  return %dx, %dw, %db : tensor<16x16xf64>, tensor<16x16xf64>, tensor<16xf64>
}
