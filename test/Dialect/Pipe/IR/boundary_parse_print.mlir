// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: func.func @boundary
// CHECK:         %[[A:.*]] = pipe.boundary %{{.*}} : tensor<4x16xf32>
// CHECK-NEXT:    pipe.boundary %[[A]] {note = "here"} : tensor<4x16xf32>
func.func @boundary(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %a = pipe.boundary %x : tensor<4x16xf32>
  %b = pipe.boundary %a {note = "here"} : tensor<4x16xf32>
  return %b : tensor<4x16xf32>
}
