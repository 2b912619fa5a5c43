// The mean beside a running variance is not trained, in each form that a batch norm of inference has. What is subtracted and then divided by the root
// of a variance that is computed of data is.
// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics=only-expected | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params="params=mean" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=CHOSEN

// As TOSA and JAX have it: one op for each step, broadcast before.

// CHECK-LABEL: func.func @steps(
// CHECK-NOT:     "mean"
// CHECK:         arith.constant dense<[5.000000e-01, 1.000000e+00, 2.500000e-01]>
// CHOSEN-LABEL: func.func @steps(
// CHOSEN-SAME:    pipe.param = #pipe.param<"mean", init = values(
func.func @steps(%x: tensor<4x3xf32>,
    %s: tensor<3xf32> {iree.identifier = "scale", pipe.constant = dense<[1.0, 0.5, 2.0]> : tensor<3xf32>},
    // expected-remark @below {{argument 2 ("mean", 'tensor<3xf32>') is taken for a running mean, which stays what it is; --params names what is to be trained}}
    %m: tensor<3xf32> {iree.identifier = "mean", pipe.constant = dense<[0.5, 1.0, 0.25]> : tensor<3xf32>},
    %v: tensor<3xf32> {iree.identifier = "variance", pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
    %eps: tensor<3xf32> {pipe.constant = dense<1.0e-5> : tensor<3xf32>}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %mb = linalg.broadcast ins(%m : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %d = arith.subf %x, %mb : tensor<4x3xf32>
  %sum = arith.addf %v, %eps : tensor<3xf32>
  %root = math.sqrt %sum : tensor<3xf32>
  %rb = linalg.broadcast ins(%root : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %n = arith.divf %d, %rb : tensor<4x3xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %r = arith.mulf %n, %sb : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// A scale and a shift: y = x * (scale / root) + (shift - mean * (scale / root)); arguments without values.

// CHECK-LABEL: func.func @folded(
// CHECK-SAME:    tensor<3x5xf32> {{{[^}]*}}pipe.param = #pipe.param<"weight", init = normal
// CHECK-SAME:    tensor<5xf32> {{{[^}]*}}pipe.param = #pipe.param<"scale", init = ones>}
// CHECK-SAME:    tensor<5xf32> {{{[^}]*}}pipe.param = #pipe.param<"shift", init = zeros>}) -> tensor<4x5xf32> {
// CHECK-DAG:     arith.constant dense<0.000000e+00> : tensor<5xf32>
// CHECK-DAG:     arith.constant dense<1.000000e+00> : tensor<5xf32>
// CHOSEN-LABEL: func.func @folded(
// CHOSEN-SAME:    pipe.param = #pipe.param<"mean", init = zeros>
func.func @folded(%x: tensor<4x3xf32> {iree.identifier = "x"}, %w: tensor<3x5xf32> {iree.identifier = "weight"},
    %s: tensor<5xf32> {iree.identifier = "scale"}, %b: tensor<5xf32> {iree.identifier = "shift"},
    // expected-remark @below {{argument 4 ("mean", 'tensor<5xf32>') is taken for a running mean, which stays 0; --params names what is to be trained}}
    %m: tensor<5xf32> {iree.identifier = "mean"},
    // expected-remark @below {{argument 5 ("variance", 'tensor<5xf32>') is taken for a running variance, which stays 1; --params names what is to be trained}}
    %v: tensor<5xf32> {iree.identifier = "variance"}) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %c = tensor.empty() : tensor<5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x5xf32>) outs(%z : tensor<4x5xf32>) -> tensor<4x5xf32>
  %rs = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%s, %v : tensor<5xf32>, tensor<5xf32>) outs(%c : tensor<5xf32>) {
  ^bb0(%scale: f32, %variance: f32, %out: f32):
    %sum = arith.addf %variance, %eps : f32
    %root = math.rsqrt %sum : f32
    %r = arith.mulf %scale, %root : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %ms = arith.mulf %m, %rs : tensor<5xf32>
  %shift = arith.subf %b, %ms : tensor<5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%h, %rs, %shift : tensor<4x5xf32>, tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%in: f32, %scale: f32, %add: f32, %out: f32):
    %p = arith.mulf %in, %scale : f32
    %q = arith.addf %p, %add : f32
    linalg.yield %q : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// A layer norm after something that is learned was subtracted.

// CHECK-LABEL: func.func @layer_norm(
// CHECK-SAME:    pipe.param = #pipe.param<"mean", init = values(
// CHOSEN-LABEL: func.func @layer_norm(
func.func @layer_norm(%x: tensor<4x3xf32>,
    // expected-remark @below {{argument 1 ("mean", 'tensor<3xf32>') is trained, and starts from its values}}
    %m: tensor<3xf32> {iree.identifier = "mean", pipe.constant = dense<[0.5, 1.0, 0.25]> : tensor<3xf32>}) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %rows = tensor.empty() : tensor<4xf32>
  %mb = linalg.broadcast ins(%m : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %d = arith.subf %x, %mb : tensor<4x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<4x3xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %out, %square : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%d, %squares : tensor<4x3xf32>, tensor<4xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%in: f32, %variance: f32, %out: f32):
    %sum = arith.addf %variance, %eps : f32
    %root = math.rsqrt %sum : f32
    %n = arith.mulf %in, %root : f32
    linalg.yield %n : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// The root as a power, with an exponent that was broadcast.

// CHECK-LABEL: func.func @power(
// CHECK-NOT:     "mean"
// CHECK-DAG:     arith.constant dense<[5.000000e-01, 1.000000e+00, 2.500000e-01]>
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHOSEN-LABEL: func.func @power(
func.func @power(%x: tensor<4x3xf32>,
    %s: tensor<3xf32> {iree.identifier = "scale", pipe.constant = dense<[1.0, 0.5, 2.0]> : tensor<3xf32>},
    // expected-remark @below {{argument 2 ("mean", 'tensor<3xf32>') is taken for a running mean, which stays what it is}}
    %m: tensor<3xf32> {iree.identifier = "mean", pipe.constant = dense<[0.5, 1.0, 0.25]> : tensor<3xf32>},
    // expected-remark @below {{argument 3 ("variance", 'tensor<3xf32>') is taken for a running variance, which stays what it is}}
    %v: tensor<3xf32> {iree.identifier = "variance", pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
    %half: tensor<3xf32> {pipe.constant = dense<-0.5> : tensor<3xf32>}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %mb = linalg.broadcast ins(%m : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %d = arith.subf %x, %mb : tensor<4x3xf32>
  %vb = linalg.broadcast ins(%v : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %hb = linalg.broadcast ins(%half : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %root = math.powf %vb, %hb : tensor<4x3xf32>
  %n = arith.mulf %d, %root : tensor<4x3xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %r = arith.mulf %n, %sb : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}

// -----

// As torch decomposes it, the root's reciprocal is computed: the 1 in it is no
// scale, and the scale behind it, which is 1 in the file, is.

// CHECK-LABEL: func.func @reciprocal(
// CHECK-NOT:     pipe.param
// CHECK:         tensor<3xf32> {{{[^}]*}}pipe.param = #pipe.param<"scale", init = constant(1.000000e+00)>
// CHECK-NOT:     pipe.param
// CHECK:         arith.constant dense<1.000000e+00>
// CHOSEN-LABEL: func.func @reciprocal(
func.func @reciprocal(%x: tensor<4x3xf32>,
    %one: tensor<3xf32> {iree.identifier = "one", pipe.constant = dense<1.0> : tensor<3xf32>},
    // expected-remark @below {{argument 2 ("scale", 'tensor<3xf32>') is trained, and starts from the one number that it is everywhere; --freeze names what is not}}
    %s: tensor<3xf32> {iree.identifier = "scale", pipe.constant = dense<1.0> : tensor<3xf32>},
    // expected-remark @below {{argument 3 ("mean", 'tensor<3xf32>') is taken for a running mean, which stays what it is}}
    %m: tensor<3xf32> {iree.identifier = "mean", pipe.constant = dense<[0.5, 1.0, 0.25]> : tensor<3xf32>},
    // expected-remark @below {{argument 4 ("variance", 'tensor<3xf32>') is taken for a running variance, which stays what it is}}
    %v: tensor<3xf32> {iree.identifier = "variance", pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %mb = linalg.broadcast ins(%m : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %d = arith.subf %x, %mb : tensor<4x3xf32>
  %root = math.sqrt %v : tensor<3xf32>
  %reciprocal = arith.divf %one, %root : tensor<3xf32>
  %rb = linalg.broadcast ins(%reciprocal : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %n = arith.mulf %d, %rb : tensor<4x3xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %r = arith.mulf %n, %sb : tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
