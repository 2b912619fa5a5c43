// What lists of arguments choose that is no parameter, and what they leave out.
// RUN: split-file %s %t

// RUN: not veeline-opt %t/heads.mlir --pipe-import="loss=mse result=0 freeze=arg2" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not veeline-opt %t/norm.mlir --pipe-import="loss=mse freeze=mean" 2>&1 | FileCheck %s --check-prefix=MEAN
// RUN: not veeline-opt %t/norm.mlir --pipe-import="loss=mse freeze=variance" 2>&1 | FileCheck %s --check-prefix=VARIANCE
// RUN: veeline-opt %t/arguments.mlir --pipe-import="loss=mse params=w,scale" 2>&1 | FileCheck %s --check-prefix=UNLISTED
// RUN: veeline-opt %t/arguments.mlir --pipe-import="loss=mse params=w,scale,mean,variance" 2>&1 | FileCheck %s --check-prefix=LISTED
// RUN: veeline-opt %t/arguments.mlir --pipe-import="loss=mse freeze=mean" 2>/dev/null | FileCheck %s --check-prefix=FROZEN
// RUN: not veeline-opt %t/heads.mlir --pipe-import="loss=mse result=0 buffer=*" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: veeline-opt %t/contract.mlir --pipe-import="buffer=2" | FileCheck %s --check-prefix=CONTRACT
// RUN: veeline-opt %t/contract.mlir --pipe-import="buffer=arg2" | FileCheck %s --check-prefix=CONTRACT
// RUN: not veeline-opt %t/contract.mlir --pipe-import="buffer=arg3" 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: veeline-opt %t/scalar.mlir --pipe-import="loss=mse" 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: veeline-opt %t/scalar.mlir --pipe-import="loss=mse microbatch-size=4" | FileCheck %s --check-prefix=SAMPLES
// RUN: not veeline-opt %t/scalar.mlir --pipe-import="loss=mse microbatch-size=4 buffer=none" 2>&1 | FileCheck %s --check-prefix=NONE

// UNUSED:   error: --freeze: 'arg2' chooses no parameter: "arg2" is not used; the parameters are arg1
// MEAN:     error: --freeze: 'mean' chooses no parameter: "mean" is a running mean, which is not trained anyway; the parameters are scale{{$}}
// VARIANCE: error: --freeze: 'variance' chooses no parameter: "variance" is a running variance, which is not trained anyway; the parameters are scale{{$}}
// UNLISTED: remark: argument 3 ("mean", 'tensor<3xf32>') is taken for a running mean, which stays 0
// UNLISTED: remark: argument 4 ("variance", 'tensor<3xf32>') is taken for a running variance, which stays 1
// UNLISTED: func.func @net(%arg0: tensor<4x3xf32> {{{.*}}pipe.batch = "x"}, %arg1: tensor<3x3xf32> {{{.*}}"w"{{.*}}, %arg2: tensor<3xf32> {{{.*}}"scale"{{.*}}, %arg3: tensor<4x3xf32> {pipe.batch = "targets"})
// LISTED:   #pipe.param<"mean"{{.*}}#pipe.param<"variance"
// FROZEN:   pipe.frozen, pipe.param = #pipe.param<"mean", init =
// ALL:      error: the model has nothing to train: --buffer takes 4 arguments, and nothing else looks like weights; leave out of it what is to be trained
// CONTRACT: func.func @net({{.*}}pipe.batch = "x"}, {{.*}}pipe.param = #pipe.param<"w"{{.*}}, %{{[^,]*}}: tensor<3xf32> {pipe.buffer = "arg2"})
// NAMES:    error: --buffer: no argument is named 'arg3'; the names are x, w, arg2
// SCALAR:   remark: argument 2 ("arg2", 'tensor<f32>') is taken for a buffer, the same for all data
// SAMPLES:  func.func @net(%arg0: tensor<4x3xf32> {pipe.batch = "arg0"}, {{.*}}, %arg2: tensor<f32> {pipe.buffer = "arg2"}
// NONE:     error: argument 2 has the type 'tensor<f32>': --microbatch-size needs data of one sample, of a leading dimension of 1; --buffer names what is the same for all samples

//--- heads.mlir
func.func @net(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %x2: tensor<4x8xf32>, %w2: tensor<8x6xf32>) -> (tensor<4x5xf32>, tensor<4x6xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %e6 = tensor.empty() : tensor<4x6xf32>
  %f6 = linalg.fill ins(%z : f32) outs(%e6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %o = linalg.matmul ins(%x2, %w2 : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %h, %o : tensor<4x5xf32>, tensor<4x6xf32>
}

//--- norm.mlir
func.func @net(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %scale = arith.constant dense<[1.0, 0.5, 2.0]> : tensor<3xf32> loc("scale")
  %mean = arith.constant dense<[0.0, 0.5, 0.25]> : tensor<3xf32> loc("mean")
  %variance = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> loc("variance")
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x, %scale, %mean, %variance : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%in: f32, %s: f32, %m: f32, %v: f32, %out: f32):
    %root = math.rsqrt %v : f32
    %d = arith.subf %in, %m : f32
    %n = arith.mulf %d, %root : f32
    %r = arith.mulf %n, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

//--- arguments.mlir
func.func @net(%x: tensor<4x3xf32> {iree.identifier = "x"}, %w: tensor<3x3xf32> {iree.identifier = "w"}, %scale: tensor<3xf32> {iree.identifier = "scale"},
    %mean: tensor<3xf32> {iree.identifier = "mean"}, %variance: tensor<3xf32> {iree.identifier = "variance"}) -> tensor<4x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%h, %scale, %mean, %variance : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%in: f32, %s: f32, %m: f32, %v: f32, %out: f32):
    %root = math.rsqrt %v : f32
    %d = arith.subf %in, %m : f32
    %n = arith.mulf %d, %root : f32
    %r = arith.mulf %n, %s : f32
    linalg.yield %r : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

//--- contract.mlir
func.func @net(%x: tensor<4x3xf32> {pipe.batch = "x"}, %w: tensor<3xf32> {pipe.param = #pipe.param<"w", init = ones>}, %b: tensor<3xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x, %w, %b : tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %s: f32, %c: f32, %out: f32):
    %m = arith.mulf %in, %s : f32
    %a = arith.addf %m, %c : f32
    %r = arith.addf %out, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %l : tensor<f32>
}

//--- scalar.mlir
func.func @net(%x: tensor<1x3xf32>, %w: tensor<3x5xf32>, %t: tensor<f32>) -> tensor<1x5xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x5xf32>) -> tensor<1x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<1x3xf32>, tensor<3x5xf32>) outs(%f : tensor<1x5xf32>) -> tensor<1x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%h, %t : tensor<1x5xf32>, tensor<f32>) outs(%e : tensor<1x5xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %d = arith.divf %in, %by : f32
    linalg.yield %d : f32
  } -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}
