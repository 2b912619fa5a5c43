// RUN: veeline-opt %s --pipe-import-constants --split-input-file | FileCheck %s

// A splat becomes one argument for each use, values of their own one for all
// uses, a global one for all loads. One element, and integers, stay.
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>,
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<2xf32> {pipe.constant = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>},
// CHECK-SAME:    %[[S0:[a-z0-9]+]]: tensor<2xf32> {pipe.constant = dense<3.000000e+00> : tensor<2xf32>},
// CHECK-SAME:    %[[S1:[a-z0-9]+]]: tensor<2xf32> {pipe.constant = dense<3.000000e+00> : tensor<2xf32>},
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<2xf32> {pipe.constant = dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>})
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant dense<4.000000e+00> : tensor<1xf32>
// CHECK-NEXT:    %[[SEED:.*]] = arith.constant dense<7> : tensor<2xi64>
// CHECK-NOT:     ml_program.global_load
// CHECK-NOT:     ml_program.global_store
ml_program.global private @table(dense<[5.0, 6.0]> : tensor<2xf32>) : tensor<2xf32>
ml_program.global private mutable @seed(dense<7> : tensor<2xi64>) : tensor<2xi64>
func.func @model(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<1xf32>, tensor<2xi64>) {
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<3.0> : tensor<2xf32>
  %one = arith.constant dense<4.0> : tensor<1xf32>
  %g0 = ml_program.global_load @table : tensor<2xf32>
  %g1 = ml_program.global_load_const @table : tensor<2xf32>
  %seed = ml_program.global_load @seed : tensor<2xi64>
  ml_program.global_store @seed = %seed : tensor<2xi64>
  // CHECK: %[[A:.*]] = arith.addf %[[X]], %[[W]] :
  %a = arith.addf %x, %w : tensor<2xf32>
  // CHECK: %[[B:.*]] = arith.addf %[[A]], %[[W]] :
  %b = arith.addf %a, %w : tensor<2xf32>
  // CHECK: %[[C:.*]] = arith.mulf %[[B]], %[[S:.*]] :
  %c = arith.mulf %b, %s : tensor<2xf32>
  // CHECK-NOT: %[[S]] :
  // CHECK: %[[D:.*]] = arith.addf %[[C]], %{{.*}} :
  %d = arith.addf %c, %s : tensor<2xf32>
  // CHECK: %[[E:.*]] = arith.addf %[[D]], %[[G]] :
  %e = arith.addf %d, %g0 : tensor<2xf32>
  // CHECK: arith.addf %[[E]], %[[G]] :
  %f = arith.addf %e, %g1 : tensor<2xf32>
  return %f, %one, %seed : tensor<2xf32>, tensor<1xf32>, tensor<2xi64>
}

// -----

// A model that says what its arguments are keeps its constants.
// CHECK-LABEL: func.func @contract
// CHECK-NOT:     pipe.constant
// CHECK:         arith.constant dense<3.000000e+00>
func.func @contract(%x: tensor<2xf32> {pipe.batch = "x"}) -> tensor<2xf32> {
  %s = arith.constant dense<3.0> : tensor<2xf32>
  %y = arith.mulf %x, %s : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A buffer that is only read as a tensor is a global as any other.
// CHECK-LABEL: func.func @buffer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>,
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<2xf32> {pipe.constant = dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>})
// CHECK:         arith.addf %[[X]], %[[G]] :
memref.global "private" constant @table : memref<2xf32> = dense<[5.0, 6.0]>
func.func @buffer(%x: tensor<2xf32>) -> tensor<2xf32> {
  %m = memref.get_global @table : memref<2xf32>
  %g = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  %y = arith.addf %x, %g : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// One that is written to as well stays.
// CHECK-LABEL: func.func @written(
// CHECK-NOT:     pipe.constant
// CHECK:         bufferization.to_tensor
memref.global "private" @state : memref<2xf32> = dense<[5.0, 6.0]>
func.func @written(%x: tensor<2xf32>, %v: f32, %i: index) -> tensor<2xf32> {
  %m = memref.get_global @state : memref<2xf32>
  memref.store %v, %m[%i] : memref<2xf32>
  %g = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  %y = arith.addf %x, %g : tensor<2xf32>
  return %y : tensor<2xf32>
}
