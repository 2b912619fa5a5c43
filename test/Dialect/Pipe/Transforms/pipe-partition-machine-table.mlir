// What a machine was measured to take, where there is no profile: three pieces, and the exact times of their classes.

// RUN: veeline-opt %s --pipe-partition="stages=3 machine-table=%S/../../../Compiler/Inputs/machine.json" --pipe-differentiate \
// RUN:   --pipe-schedule="schedule=1f1b microbatches=1" | FileCheck %s

// The table goes along: costs are of what differentiation makes.
// CHECK: pipe.pipeline @net {{.*}}machine_table = "{\0A \22format\22: \22veeline-machine\22

// 10000 FLOPs are halfway, by their logarithm, between 1000 at 2 and 100000 at 8 a nanosecond: 2000 ns, and 100 for the call. Forward
// copies x for the other one, 2000 bytes at 1 byte a nanosecond.
// CHECK: pipe.chunk 0 {{.*}}cost = #pipe.cost<forward = [[PRODUCT:2100]],

// 2 * 4 * 4 * 3 * 3 * 16 * 16 FLOPs of a window of 16 channels, last, at 16 a nanosecond are 4608 ns; weights are read and written,
// 2 * 9216 bytes; a call.
// CHECK: pipe.chunk 1 {{.*}}cost = #pipe.cost<forward = 

// Squares are computed by the sum that reads them: 1024 bytes in, 4 out.
// CHECK: pipe.chunk 2 {{.*}}cost = #pipe.cost<forward = 

// RUN: not veeline-opt %s --pipe-partition="stages=3 machine-table=%t.none" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: machine table '{{.*}}.none': No such file or directory; measure again with veeline doctor --calibrate

#in = affine_map<(n) -> (n)>
func.func @net(%x: tensor<50x10xf32> {pipe.batch = "x"}, %w: tensor<10x10xf32> {pipe.param = "w"},
               %k: tensor<3x3x16x16xf32> {pipe.param = "k"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x10xf32>) -> tensor<50x10xf32>
  %y = linalg.matmul ins(%x, %w : tensor<50x10xf32>, tensor<10x10xf32>) outs(%f : tensor<50x10xf32>) -> tensor<50x10xf32>
  %part = tensor.extract_slice %y[0, 0] [50, 10] [1, 1] : tensor<50x10xf32> to tensor<50x10xf32>
  %ie = tensor.empty() : tensor<1x6x6x16xf32>
  %if = linalg.fill ins(%zero : f32) outs(%ie : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %flat = tensor.collapse_shape %part [[0, 1]] : tensor<50x10xf32> into tensor<500xf32>
  %few = tensor.extract_slice %flat[0] [256] [1] : tensor<500xf32> to tensor<256xf32>
  %image = tensor.expand_shape %few [[0, 1, 2, 3]] output_shape [1, 4, 4, 16] : tensor<256xf32> into tensor<1x4x4x16xf32>
  %ce = tensor.empty() : tensor<1x2x2x16xf32>
  %cf = linalg.fill ins(%zero : f32) outs(%ce : tensor<1x2x2x16xf32>) -> tensor<1x2x2x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%image, %k : tensor<1x4x4x16xf32>, tensor<3x3x16x16xf32>) outs(%cf : tensor<1x2x2x16xf32>) -> tensor<1x2x2x16xf32>
  %line = tensor.collapse_shape %c [[0, 1, 2, 3]] : tensor<1x2x2x16xf32> into tensor<64xf32>
  %se = tensor.empty() : tensor<f32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%line : tensor<64xf32>) outs(%sf : tensor<f32>) dimensions = [0]
  return %loss : tensor<f32>
}
