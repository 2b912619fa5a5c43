// RUN: veeline-opt %s --pipe-import-entry --inline --symbol-dce | FileCheck %s

// @main only calls the model and prints; clocks, prints and assertions within
// the model go, and what it calls is inlined.
// CHECK-NOT:   func.func private
// CHECK:       func.func @model(%[[X:[a-z0-9]+]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:    %[[Y:.*]] = math.exp %[[X]]
// CHECK-NEXT:    return %[[Y]]
// CHECK-NEXT:  }
// CHECK-NOT:   func.func
func.func private @clock() -> f64
func.func private @print(tensor<*xf32>)

func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %true = arith.constant true
  %begin = call @clock() : () -> f64
  cf.assert %true, "shapes differ"
  %y = call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %end = call @clock() : () -> f64
  %time = arith.subf %end, %begin : f64
  vector.print %time : f64
  return %y : tensor<4xf32>
}

func.func @main() {
  %x = arith.constant dense<1.0> : tensor<4xf32>
  %y = call @model(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %any = tensor.cast %y : tensor<4xf32> to tensor<*xf32>
  call @print(%any) : (tensor<*xf32>) -> ()
  return
}
