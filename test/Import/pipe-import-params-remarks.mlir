// What is decided of several arguments is one remark, of one alone, of data and of buffers a remark each; --verbose says all.
// RUN: veeline inspect --pieces --loss mse %s 2>&1 | FileCheck %s
// RUN: veeline inspect --pieces --loss mse --verbose %s 2>&1 | FileCheck %s --check-prefix=EACH
// RUN: veeline-opt %s --pipe-import="loss=mse verbose" 2>&1 | FileCheck %s --check-prefix=EACH

// CHECK-COUNT-1: remark: argument 0 ("x", 'tensor<4x2xf32>') is taken for data
// CHECK-NEXT:    remark: 5 arguments are taken for parameters: "a", "b", "c" and 2 more (--verbose: each)
// CHECK-NEXT:    remark: argument 6 ("spare", 'tensor<2xf32>') is not used
// CHECK-NOT:     is taken for a parameter
// EACH:     argument 0 ("x", 'tensor<4x2xf32>') is taken for data
// EACH:     argument 1 ("a", 'tensor<2xf32>') is taken for a parameter
// EACH:     argument 2 ("b", 'tensor<2xf32>') is taken for a parameter
// EACH:     argument 3 ("c", 'tensor<2xf32>') is taken for a parameter
// EACH:     argument 4 ("d", 'tensor<2xf32>') is taken for a parameter
// EACH:     argument 5 ("e", 'tensor<2xf32>') is taken for a parameter
// EACH:     argument 6 ("spare", 'tensor<2xf32>') is not used
func.func @net(%x: tensor<4x2xf32> {iree.identifier = "x"}, %a: tensor<2xf32> {iree.identifier = "a"}, %b: tensor<2xf32> {iree.identifier = "b"}, %c: tensor<2xf32> {iree.identifier = "c"},
    %d: tensor<2xf32> {iree.identifier = "d"}, %e: tensor<2xf32> {iree.identifier = "e"}, %spare: tensor<2xf32> {iree.identifier = "spare"}) -> tensor<4x2xf32> {
  %out = tensor.empty() : tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b, %c, %d, %e : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%out : tensor<4x2xf32>) {
  ^bb0(%in: f32, %0: f32, %1: f32, %2: f32, %3: f32, %4: f32, %o: f32):
    %5 = arith.addf %in, %0 : f32
    %6 = arith.addf %5, %1 : f32
    %7 = arith.addf %6, %2 : f32
    %8 = arith.addf %7, %3 : f32
    %9 = arith.addf %8, %4 : f32
    linalg.yield %9 : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
