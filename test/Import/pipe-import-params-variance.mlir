// Running means and variances of a batch norm as inference has it are not trained, unless --params says so.
// RUN: veeline-opt %s --pipe-import-params=verbose --verify-diagnostics=only-expected | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params=params=variance 2>/dev/null | FileCheck %s --check-prefix=CHOSEN

// CHECK-LABEL: func.func @batch_norm(
// CHECK-SAME:    tensor<4x3xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<3xf32> {{{[^}]*}}pipe.param = #pipe.param<"scale"
// CHECK-NOT:     pipe.param
// CHECK-DAG:     arith.constant dense<[0.000000e+00, 5.000000e-01, 2.500000e-01]>
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG:     arith.constant dense<1.000000e+00>
// CHECK-DAG:     arith.constant dense<9.99999974E-6>
// CHOSEN-LABEL: func.func @batch_norm(
// CHOSEN-SAME:   pipe.param = #pipe.param<"variance", init = values(
func.func @batch_norm(%x: tensor<4x3xf32>,
    // expected-remark @below {{argument 1 ("scale", 'tensor<3xf32>') is trained, and starts from its values}}
    %s: tensor<3xf32> {iree.identifier = "scale", pipe.constant = dense<[1.0, 0.5, 2.0]> : tensor<3xf32>},
    // expected-remark @below {{argument 2 ("mean", 'tensor<3xf32>') is taken for a running mean, which stays what it is; --params names what is to be trained}}
    %m: tensor<3xf32> {iree.identifier = "mean", pipe.constant = dense<[0.0, 0.5, 0.25]> : tensor<3xf32>},
    // expected-remark @below {{argument 3 ("variance", 'tensor<3xf32>') is taken for a running variance, which stays what it is; --params names what is to be trained}}
    %v: tensor<3xf32> {iree.identifier = "variance", pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
    // expected-remark @below {{argument 4 ("elided", 'tensor<3xf32>') is taken for a running variance, which stays 1}}
    %w: tensor<3xf32> {iree.identifier = "elided", pipe.constant = dense_resource<__elided__> : tensor<3xf32>},
    %small: tensor<3xf32> {pipe.constant = dense<1.0e-5> : tensor<3xf32>}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %s, %m, %v : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%in: f32, %scale: f32, %mean: f32, %variance: f32, %out: f32):
    %eps = arith.constant 1.0e-5 : f32
    %sum = arith.addf %variance, %eps : f32
    %root = math.rsqrt %sum : f32
    %d = arith.subf %in, %mean : f32
    %n = arith.mulf %d, %root : f32
    %r = arith.mulf %n, %scale : f32
    linalg.yield %r : f32
  } -> tensor<4x3xf32>
  %sum = arith.addf %w, %small : tensor<3xf32>
  %root = math.sqrt %sum : tensor<3xf32>
  %b = linalg.broadcast ins(%root : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %z = arith.divf %y, %b : tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}
