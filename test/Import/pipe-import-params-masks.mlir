// Constants that hide positions from each other are not trained, however they are broadcast; biases of positions are.
// RUN: veeline-opt %s --pipe-import-params=verbose --verify-diagnostics=only-expected | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: veeline-opt %s --pipe-import-params=params=weight1 2>/dev/null | FileCheck %s --check-prefix=CHOSEN

// KIND: remark: 5 constants are taken for masks, and stay what they are: "weight1", "weight2", "weight3" and 2 more (--verbose: each); --params names what is to be trained
// CHECK-LABEL: func.func @scores(
// CHECK-SAME:    tensor<2x4x2x2xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<1x4x2x2xf32> {pipe.param = #pipe.param<"weight0", init = values(
// CHECK-NOT:     pipe.param
// CHECK:         return
// CHOSEN: #pipe.param<"weight1"
#scores = affine_map<(b, h, i, j) -> (b, h, i, j)>
#mask = affine_map<(b, h, i, j) -> (0, 0, i, j)>
#flat = affine_map<(b, h, i, j) -> (i, j)>
func.func @scores(%x: tensor<2x4x2x2xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<1x4x2x2xf32>') is trained, and starts from its values}}
    %bias: tensor<1x4x2x2xf32> {pipe.constant = dense<[[[[0.0, 1.0], [2.0, 3.0]], [[0.0, 2.0], [4.0, 6.0]], [[0.0, 3.0], [6.0, 9.0]], [[0.0, -1.0], [-2.0, -3.0]]]]> : tensor<1x4x2x2xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<1x1x2x2xf32>') is taken for a mask, and stays what it is; --params names what is to be trained}}
    %inf: tensor<1x1x2x2xf32> {pipe.constant = dense<[[[[0.0, 0xFF800000], [0.0, 0.0]]]]> : tensor<1x1x2x2xf32>},
    // expected-remark @below {{argument 3 ("weight2", 'tensor<2x2xf32>') is taken for a mask, and stays what it is}}
    %most: tensor<2x2xf32> {pipe.constant = dense<[[0.0, -3.40282347E+38], [0.0, 0.0]]> : tensor<2x2xf32>},
    // expected-remark @below {{argument 4 ("weight3", 'tensor<2x2xf32>') is taken for a mask, and stays what it is}}
    %resource: tensor<2x2xf32> {pipe.constant = dense_resource<mask> : tensor<2x2xf32>},
    // expected-remark @below {{argument 5 ("weight4", 'tensor<2x2xf32>') is taken for a mask, and stays what it is}}
    %slopes: tensor<2x2xf32> {pipe.constant = dense<[[0.0, -1.0e+04], [-1.0, 0.0]]> : tensor<2x2xf32>},
    // expected-remark @below {{argument 6 ("weight5", 'tensor<2x2xf32>') is taken for a mask, and stays what it is}}
    %all: tensor<2x2xf32> {pipe.constant = dense<-1.0e+09> : tensor<2x2xf32>}) -> tensor<2x4x2x2xf32> {
  %e = tensor.empty() : tensor<2x4x2x2xf32>
  %y = linalg.generic {indexing_maps = [#scores, affine_map<(b, h, i, j) -> (0, h, i, j)>, #mask, #flat, #flat, #flat, #flat, #scores], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %bias, %inf, %most, %resource, %slopes, %all : tensor<2x4x2x2xf32>, tensor<1x4x2x2xf32>, tensor<1x1x2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x4x2x2xf32>) {
  ^bb0(%s: f32, %0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %5: f32, %o: f32):
    %t0 = arith.addf %s, %0 : f32
    %t1 = arith.addf %t0, %1 : f32
    %t2 = arith.addf %2, %t1 : f32
    %t3 = arith.addf %t2, %3 : f32
    %t4 = arith.addf %t3, %4 : f32
    %t5 = arith.addf %t4, %5 : f32
    linalg.yield %t5 : f32
  } -> tensor<2x4x2x2xf32>
  return %y : tensor<2x4x2x2xf32>
}

{-#
  dialect_resources: { builtin: { mask: "0x0400000000000000FFFF7FFF0000000000000000" } }
#-}
