// RUN: veeline-opt %s "--pipe-import-loss=loss=cross-entropy" | FileCheck %s --check-prefix=CE
// RUN: veeline-opt %s "--pipe-import-loss=loss=mse result=1" | FileCheck %s --check-prefix=MSE
// RUN: veeline-opt %s "--pipe-import-loss=loss=sum" | FileCheck %s --check-prefix=SUM

// CE:       func.func @model(
// CE-SAME:    tensor<2x3x5xf32> {pipe.batch = "x"}, %[[LABELS:[a-z0-9]+]]: tensor<2x3xi32> {pipe.batch = "labels", pipe.range = array<i64: 0, 5>}) -> tensor<f32>
// CE:         arith.maximumf
// CE:         math.exp
// CE:         math.log
// CE:         arith.constant 0.166666672 : f32
// CE:         return %{{.*}} : tensor<f32>

// Small floats are widened before they are summed.
// MSE:      func.func @model(
// MSE-SAME:   %[[TARGETS:[a-z0-9]+]]: tensor<4xf32> {pipe.batch = "targets"}) -> tensor<f32>
// MSE:        %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<4xbf16> to tensor<4xf32>
// MSE:        linalg.generic {{.*}} ins(%[[WIDE]], %[[TARGETS]]
// MSE:        arith.constant 2.500000e-01 : f32

// SUM:      func.func @model(
// SUM-SAME:   tensor<2x3x5xf32> {pipe.batch = "x"}) -> tensor<f32>
// SUM-COUNT-3: iterator_types = [{{.*}}"reduction"]
func.func @model(%x: tensor<2x3x5xf32> {pipe.batch = "x"}) -> (tensor<2x3x5xf32>, tensor<4xbf16>, tensor<2xi64>) {
  %y = math.exp %x : tensor<2x3x5xf32>
  %z = arith.constant dense<1.0> : tensor<4xbf16>
  %n = arith.constant dense<1> : tensor<2xi64>
  return %y, %z, %n : tensor<2x3x5xf32>, tensor<4xbf16>, tensor<2xi64>
}
