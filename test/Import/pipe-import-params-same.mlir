// Arguments that have no samples and are no parameters: tables of rotary embeddings and masks. What is learned looks like them but for its uses.
// RUN: veeline-opt %s --pipe-import-params --split-input-file --verify-diagnostics=only-expected | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params=buffer=none --split-input-file 2>/dev/null | FileCheck %s --check-prefix=NONE

// Tables without a leading dimension, as torch.export lifts them, and a mask
// broadcast over samples and heads. A bias of each head and an embedding of
// positions, which are learned, are named alone, since neither is in a product.

// CHECK-LABEL: func.func @several_samples(
// CHECK-SAME:    tensor<2x2x3x4xf32> {pipe.batch = "arg0"}
// CHECK-SAME:    tensor<3x4xf32> {pipe.buffer = "arg1"}
// CHECK-SAME:    tensor<3x4xf32> {pipe.buffer = "arg2"}
// CHECK-SAME:    tensor<1x1x3x3xf32> {pipe.buffer = "arg3"}
// CHECK-SAME:    tensor<1x2x3x3xf32> {pipe.param = #pipe.param<"arg4", init = zeros>}
// CHECK-SAME:    tensor<1x3x4xf32> {pipe.param = #pipe.param<"arg5", init = zeros>}
// CHECK-SAME:    tensor<4xf32> {pipe.param = #pipe.param<"arg6", init = ones>}
// NONE-LABEL: func.func @several_samples(
// NONE-SAME:    tensor<3x4xf32> {pipe.param = #pipe.param<"arg1", init = ones>}
#x = affine_map<(b, h, s, d) -> (b, h, s, d)>
func.func @several_samples(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x2x3x4xf32>') is taken for data}}
    %x: tensor<2x2x3x4xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<3x4xf32>') is taken for a buffer, the same for all data}}
    %cos: tensor<3x4xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<3x4xf32>') is taken for a buffer, the same for all data}}
    %sin: tensor<3x4xf32>,
    // expected-remark @below {{argument 3 ("arg3", 'tensor<1x1x3x3xf32>') is taken for a buffer, the same for all data}}
    %mask: tensor<1x1x3x3xf32>,
    // expected-remark @below {{argument 4 ("arg4", 'tensor<1x2x3x3xf32>') is taken for a parameter, though it goes into no product; --buffer names what is the same for all data}}
    %bias: tensor<1x2x3x3xf32>,
    // expected-remark @below {{argument 5 ("arg5", 'tensor<1x3x4xf32>') is taken for a parameter, though it goes into no product}}
    %position: tensor<1x3x4xf32>,
    // expected-remark @below {{argument 6 ("arg6", 'tensor<4xf32>') is taken for a parameter}}
    %gain: tensor<4xf32>) -> tensor<2x2x3x3xf32> {
  %e = tensor.empty() : tensor<2x2x3x4xf32>
  %p = linalg.generic {indexing_maps = [#x, affine_map<(b, h, s, d) -> (0, s, d)>, affine_map<(b, h, s, d) -> (d)>, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %position, %gain : tensor<2x2x3x4xf32>, tensor<1x3x4xf32>, tensor<4xf32>) outs(%e : tensor<2x2x3x4xf32>) {
  ^bb0(%in: f32, %a: f32, %g: f32, %o: f32):
    %s = arith.addf %in, %a : f32
    %m = arith.mulf %s, %g : f32
    linalg.yield %m : f32
  } -> tensor<2x2x3x4xf32>
  %low = tensor.extract_slice %p[0, 0, 0, 0] [2, 2, 3, 2] [1, 1, 1, 1] : tensor<2x2x3x4xf32> to tensor<2x2x3x2xf32>
  %high = tensor.extract_slice %p[0, 0, 0, 2] [2, 2, 3, 2] [1, 1, 1, 1] : tensor<2x2x3x4xf32> to tensor<2x2x3x2xf32>
  %negative = arith.negf %high : tensor<2x2x3x2xf32>
  %rotated = tensor.concat dim(3) %negative, %low : (tensor<2x2x3x2xf32>, tensor<2x2x3x2xf32>) -> tensor<2x2x3x4xf32>
  %cosb = linalg.broadcast ins(%cos : tensor<3x4xf32>) outs(%e : tensor<2x2x3x4xf32>) dimensions = [0, 1]
  %sinb = linalg.broadcast ins(%sin : tensor<3x4xf32>) outs(%e : tensor<2x2x3x4xf32>) dimensions = [0, 1]
  %first = arith.mulf %p, %cosb : tensor<2x2x3x4xf32>
  %second = arith.mulf %rotated, %sinb : tensor<2x2x3x4xf32>
  %q = arith.addf %first, %second : tensor<2x2x3x4xf32>
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x2x3x3xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x2x3x3xf32>) -> tensor<2x2x3x3xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>, affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %q : tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) outs(%zs : tensor<2x2x3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x2x3x3xf32>
  %y = linalg.generic {indexing_maps = [#x, affine_map<(b, h, i, j) -> (0, 0, i, j)>, affine_map<(b, h, i, j) -> (0, h, i, j)>, #x], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores, %mask, %bias : tensor<2x2x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>) outs(%es : tensor<2x2x3x3xf32>) {
  ^bb0(%in: f32, %m: f32, %b: f32, %o: f32):
    %s = arith.addf %in, %m : f32
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x2x3x3xf32>
  return %y : tensor<2x2x3x3xf32>
}

// -----

// A model for one sample looks rows of longer tables up by its positions: all
// three are the same for all samples. So are constants, which stay.

// CHECK-LABEL: func.func @looked_up(
// CHECK-SAME:    tensor<1x2x3x2xf32> {pipe.batch = "arg0"}
// CHECK-SAME:    tensor<1x1x5x2xf32> {pipe.buffer = "arg1"}
// CHECK-SAME:    tensor<1x1x5x2xf32> {pipe.buffer = "arg2"}
// CHECK-SAME:    tensor<1x3xi64> {pipe.buffer = "arg3"}
// CHECK-SAME:    tensor<2xf32> {pipe.param = {{[^}]*}}}) -> tensor<1x2x3x2xf32> {
// CHECK:         arith.constant dense<{{.*}}> : tensor<5x2xf32>
#y = affine_map<(b, h, s, d) -> (b, h, s, d)>
#t = affine_map<(b, h, s, d) -> (0, s, d)>
func.func @looked_up(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<1x2x3x2xf32>') is taken for data}}
    %x: tensor<1x2x3x2xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<1x1x5x2xf32>') is taken for a buffer}}
    %cos: tensor<1x1x5x2xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<1x1x5x2xf32>') is taken for a buffer}}
    %sin: tensor<1x1x5x2xf32>,
    // expected-remark @below {{argument 3 ("arg3", 'tensor<1x3xi64>') is taken for a buffer}}
    %ids: tensor<1x3xi64>,
    // expected-remark @below {{argument 4 ("arg4", 'tensor<2xf32>') is taken for a parameter}}
    %gain: tensor<2xf32>,
    %cosines: tensor<5x2xf32> {pipe.constant = dense<[[1.0, 1.0], [0.5, 0.5], [-0.5, -0.5], [-1.0, -1.0], [-0.5, -0.5]]> : tensor<5x2xf32>},
    %sines: tensor<5x2xf32> {pipe.constant = dense<[[0.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 0.0], [-0.5, -0.5]]> : tensor<5x2xf32>}) -> tensor<1x2x3x2xf32> {
  %e = tensor.empty() : tensor<1x2x3x2xf32>
  %p = linalg.generic {indexing_maps = [#y, affine_map<(b, h, s, d) -> (d)>, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %gain : tensor<1x2x3x2xf32>, tensor<2xf32>) outs(%e : tensor<1x2x3x2xf32>) {
  ^bb0(%in: f32, %g: f32, %o: f32):
    %m = arith.mulf %in, %g : f32
    linalg.yield %m : f32
  } -> tensor<1x2x3x2xf32>
  %low = tensor.extract_slice %p[0, 0, 0, 0] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x2xf32> to tensor<1x2x3x1xf32>
  %high = tensor.extract_slice %p[0, 0, 0, 1] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x2xf32> to tensor<1x2x3x1xf32>
  %negative = arith.negf %high : tensor<1x2x3x1xf32>
  %rotated = tensor.concat dim(3) %negative, %low : (tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>) -> tensor<1x2x3x2xf32>
  %cost = tensor.collapse_shape %cos [[0, 1, 2], [3]] : tensor<1x1x5x2xf32> into tensor<5x2xf32>
  %sint = tensor.collapse_shape %sin [[0, 1, 2], [3]] : tensor<1x1x5x2xf32> into tensor<5x2xf32>
  %er = tensor.empty() : tensor<1x3x2xf32>
  %rows:4 = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, s, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ids : tensor<1x3xi64>) outs(%er, %er, %er, %er : tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) {
  ^bb0(%id: i64, %o0: f32, %o1: f32, %o2: f32, %o3: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 2 : index
    %c = tensor.extract %cost[%row, %column] : tensor<5x2xf32>
    %s = tensor.extract %sint[%row, %column] : tensor<5x2xf32>
    %k = tensor.extract %cosines[%row, %column] : tensor<5x2xf32>
    %l = tensor.extract %sines[%row, %column] : tensor<5x2xf32>
    linalg.yield %c, %s, %k, %l : f32, f32, f32, f32
  } -> (tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>)
  %y = linalg.generic {indexing_maps = [#y, #y, #t, #t, #t, #t, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%p, %rotated, %rows#0, %rows#1, %rows#2, %rows#3 : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) outs(%e : tensor<1x2x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %k: f32, %l: f32, %o: f32):
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %one = arith.addf %ac, %bs : f32
    %ak = arith.mulf %a, %k : f32
    %bl = arith.mulf %b, %l : f32
    %other = arith.addf %ak, %bl : f32
    %sum = arith.addf %one, %other : f32
    linalg.yield %sum : f32
  } -> tensor<1x2x3x2xf32>
  return %y : tensor<1x2x3x2xf32>
}

// -----

// A mask of two dimensions is known by the softmax behind it. A table that is
// multiplied with, and added as no rotation is, is learned.

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    tensor<2x3x3xf32> {pipe.batch = "arg0"}
// CHECK-SAME:    tensor<3x3xf32> {pipe.buffer = "arg1"}
// CHECK-SAME:    tensor<3x3xf32> {pipe.param = #pipe.param<"arg2", init = ones>}
// CHECK-SAME:    tensor<3x3xf32> {pipe.param = #pipe.param<"arg3", init = ones>}
func.func @softmax(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x3x3xf32>') is taken for data}}
    %x: tensor<2x3x3xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<3x3xf32>') is taken for a buffer}}
    %mask: tensor<3x3xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<3x3xf32>') is taken for a parameter, though}}
    %scale: tensor<3x3xf32>,
    // expected-remark @below {{argument 3 ("arg3", 'tensor<3x3xf32>') is taken for a parameter, though}}
    %gate: tensor<3x3xf32>) -> tensor<2x3x3xf32> {
  %e = tensor.empty() : tensor<2x3x3xf32>
  %er = tensor.empty() : tensor<2x3xf32>
  %least = arith.constant 0xFF800000 : f32
  %zr = linalg.fill ins(%least : f32) outs(%er : tensor<2x3xf32>) -> tensor<2x3xf32>
  %mb = linalg.broadcast ins(%mask : tensor<3x3xf32>) outs(%e : tensor<2x3x3xf32>) dimensions = [0]
  %sb = linalg.broadcast ins(%scale : tensor<3x3xf32>) outs(%e : tensor<2x3x3xf32>) dimensions = [0]
  %gb = linalg.broadcast ins(%gate : tensor<3x3xf32>) outs(%e : tensor<2x3x3xf32>) dimensions = [0]
  %t = math.tanh %x : tensor<2x3x3xf32>
  %xs = arith.mulf %x, %sb : tensor<2x3x3xf32>
  %tg = arith.mulf %t, %gb : tensor<2x3x3xf32>
  %in = arith.addf %xs, %tg : tensor<2x3x3xf32>
  %scores = arith.addf %in, %mb : tensor<2x3x3xf32>
  %most = linalg.reduce { arith.maximumf } ins(%scores : tensor<2x3x3xf32>) outs(%zr : tensor<2x3xf32>) dimensions = [2]
  %most3 = linalg.broadcast ins(%most : tensor<2x3xf32>) outs(%e : tensor<2x3x3xf32>) dimensions = [2]
  %d = arith.subf %scores, %most3 : tensor<2x3x3xf32>
  %y = math.exp %d : tensor<2x3x3xf32>
  return %y : tensor<2x3x3xf32>
}
