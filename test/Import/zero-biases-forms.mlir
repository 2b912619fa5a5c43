// RUN: veeline-opt %s --pipe-import=loss=sum 2>&1 | FileCheck %s

// A zero bias stays zero however it is written: added by a body or, broadcast,
// by an op of tensors, or what the sum starts from, read from a resource. One
// that is added to something else is trained.

// CHECK: remark: 3 biases of convolutions are zero in the file and stay so: "weight1", "weight2", "zeros"; --params names what is to be trained
// CHECK: func.func @net(%arg0: tensor<2x3x6x6xf32> {pipe.batch
// CHECK-SAME: "weight0"
// CHECK-SAME: tensor<3x6x6xf32> {pipe.param = #pipe.param<"weight3", init = constant(0.000000e+00)>
// CHECK-NOT: pipe.param =
func.func @net(%x: tensor<2x3x6x6xf32>) -> tensor<2x3x6x6xf32> {
  %w = arith.constant dense_resource<__elided__> : tensor<3x3x1x1xf32>
  %added = arith.constant dense<0.0> : tensor<3xf32>
  %summed = arith.constant dense<0.0> : tensor<3xf32>
  %start = arith.constant dense_resource<zeros> : tensor<3xf32>
  %other = arith.constant dense<0.0> : tensor<3x6x6xf32>
  %e = tensor.empty() : tensor<2x3x6x6xf32>
  %b = linalg.broadcast ins(%start : tensor<3xf32>) outs(%e : tensor<2x3x6x6xf32>) dimensions = [0, 2, 3]
  %a = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x3x6x6xf32>, tensor<3x3x1x1xf32>) outs(%b : tensor<2x3x6x6xf32>) -> tensor<2x3x6x6xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %added : tensor<2x3x6x6xf32>, tensor<3xf32>) outs(%e : tensor<2x3x6x6xf32>) {
  ^bb0(%in: f32, %bias: f32, %o: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x3x6x6xf32>
  %sb = linalg.broadcast ins(%summed : tensor<3xf32>) outs(%e : tensor<2x3x6x6xf32>) dimensions = [0, 2, 3]
  %d = arith.addf %a, %sb : tensor<2x3x6x6xf32>
  %t = math.tanh %c : tensor<2x3x6x6xf32>
  %ob = linalg.broadcast ins(%other : tensor<3x6x6xf32>) outs(%e : tensor<2x3x6x6xf32>) dimensions = [0]
  %f = arith.addf %t, %ob : tensor<2x3x6x6xf32>
  %y = arith.addf %f, %d : tensor<2x3x6x6xf32>
  return %y : tensor<2x3x6x6xf32>
}

{-#
  dialect_resources: { builtin: { zeros: "0x04000000000000000000000000000000" } }
#-}
