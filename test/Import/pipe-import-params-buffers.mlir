// What is the same for all samples: --buffer says so, or the model does.
// RUN: split-file %s %t
// RUN: veeline-opt %t/one.mlir --pipe-import-params 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: veeline-opt %t/one.mlir --pipe-import-params=buffer=ids,3 | FileCheck %s --check-prefix=GIVEN
// RUN: veeline-opt %t/one.mlir --pipe-import-params=buffer=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: veeline-opt %t/eight.mlir --pipe-import-params 2>&1 | FileCheck %s --check-prefix=EIGHT
// RUN: veeline-opt %t/scalar.mlir --pipe-import-params=params=w 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: veeline-opt %t/angles.mlir --pipe-import-params 2>&1 | FileCheck %s --check-prefix=ANGLES
// RUN: not veeline-opt %t/one.mlir --pipe-import-params=buffer=nobody 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not veeline-opt %t/one.mlir "--pipe-import-params=buffer=ids,words params=words" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not veeline-opt %t/one.mlir "--pipe-import-params=buffer=ids freeze=ids" 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not veeline-opt %t/one.mlir --pipe-import-params=freeze=tokens 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not veeline-opt %t/one.mlir "--pipe-import-params=freeze=t*,pos*" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not veeline-opt %t/constant.mlir --pipe-import-params=freeze=mask 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not veeline-opt %t/constant.mlir --pipe-import-params=buffer=elided 2>&1 | FileCheck %s --check-prefix=ELIDED
// RUN: veeline-opt %t/constant.mlir --pipe-import-params=buffer=w 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: veeline-opt %t/contract.mlir --pipe-import-params=buffer=x,b | FileCheck %s --check-prefix=CONTRACT
// RUN: not veeline-opt %t/contract.mlir --pipe-import-params=freeze=x 2>&1 | FileCheck %s --check-prefix=OTHER

// ONE:     argument 0 ("tokens", 'tensor<1x5xi32>') is taken for data
// ONE:     argument 1 ("ids", 'tensor<1x5xi64>') is taken for a buffer, the same for all data
// ONE:     argument 2 ("cos", 'tensor<1x1x5x4xbf16>') is taken for a buffer, the same for all data
// ONE:     2 arguments are taken for parameters: "words", "positions"{{$}}
// ONE:     func.func @one(%{{.*}}: tensor<1x5xi32> {{{.*}}pipe.batch = "tokens"}, %{{.*}}: tensor<1x5xi64> {{{.*}}pipe.buffer = "ids"}, %{{.*}}: tensor<1x1x5x4xf32> {{{.*}}pipe.buffer = "cos"},
// GIVEN:   func.func @one({{.*}}pipe.batch = "tokens"}, {{.*}}pipe.buffer = "ids"}, {{.*}}pipe.batch = "cos"}, {{.*}}pipe.buffer = "words"}, {{.*}}pipe.param = #pipe.param<"positions"
// NONE:    func.func @one({{.*}}pipe.batch = "tokens"}, {{.*}}pipe.batch = "ids"}, {{.*}}pipe.batch = "cos"},
// EIGHT:   argument 1 ("ids", 'tensor<1x4xi32>') is taken for a buffer, the same for all data
// SCALAR:  argument 2 ("mask", 'tensor<1x4xf32>') is taken for a buffer, the same for all data
// ANGLES:  argument 1 ("ids", 'tensor<1x5xi64>') is taken for a buffer, the same for all data
// ANGLES:  argument 2 ("time", 'tensor<1xf32>') is taken for data
// NOBODY:  error: --buffer: no argument is named 'nobody'; the names are tokens, ids, cos, words, positions
// BOTH:    error: --params and --buffer both choose argument 3 ("words", 'tensor<11x4xf32>'); a buffer is not trained: leave it out of one of them
// FROZEN:  error: --freeze: 'ids' chooses no parameter: "ids" is a buffer, which is not trained anyway; the parameters are words, positions
// DATA:    error: --freeze: 'tokens' chooses no parameter: "tokens" is data, which is not trained anyway; the parameters are words, positions
// PATTERN: error: --freeze: 't*' chooses no parameter
// CONSTANT: error: --freeze: 'mask' chooses no parameter: "mask" is a constant, which is not trained anyway; the parameters are
// ELIDED:  error: argument 2 ("elided", 'tensor<4xf32>') is chosen by --buffer, and the file leaves its elements out
// KEPT-NOT: pipe.param = #pipe.param<"w"
// KEPT:    arith.constant dense<{{\[\[}}1.000000e+00
// CONTRACT: func.func @net({{.*}}pipe.buffer = "x", pipe.range = array<i64: 0, 3>}, {{.*}}pipe.param = #pipe.param<"w", init = zeros>}, {{.*}}pipe.buffer = "b"})
// OTHER:   error: --freeze: 'x' chooses no parameter: "x" is data, which is not trained anyway; the parameters are w, b

//--- one.mlir
// Batch 1: as many numbers as rows are looked up by positions, and a rotary table is only multiplied with.
func.func @one(%tokens: tensor<1x5xi32> {iree.identifier = "tokens"}, %ids: tensor<1x5xi64> {iree.identifier = "ids"},
    %cos: tensor<1x1x5x4xbf16> {iree.identifier = "cos"}, %words: tensor<11x4xf32> {iree.identifier = "words"},
    %positions: tensor<5x4xf32> {iree.identifier = "positions"}) -> tensor<1x2x5x4xf32> {
  %e = tensor.empty() : tensor<1x5x4xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%tokens, %ids : tensor<1x5xi32>, tensor<1x5xi64>) outs(%e : tensor<1x5x4xf32>) {
  ^bb0(%token: i32, %id: i64, %out: f32):
    %t = arith.index_cast %token : i32 to index
    %p = arith.index_cast %id : i64 to index
    %d = linalg.index 2 : index
    %word = tensor.extract %words[%t, %d] : tensor<11x4xf32>
    %position = tensor.extract %positions[%p, %d] : tensor<5x4xf32>
    %sum = arith.addf %word, %position : f32
    linalg.yield %sum : f32
  } -> tensor<1x5x4xf32>
  %heads = tensor.empty() : tensor<1x2x5x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, s, d)>, affine_map<(b, h, s, d) -> (b, 0, s, d)>, affine_map<(b, h, s, d) -> (b, h, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%h, %cos : tensor<1x5x4xf32>, tensor<1x1x5x4xbf16>) outs(%heads : tensor<1x2x5x4xf32>) {
  ^bb0(%q: f32, %c: bf16, %out: f32):
    %f = arith.extf %c : bf16 to f32
    %m = arith.mulf %q, %f : f32
    linalg.yield %m : f32
  } -> tensor<1x2x5x4xf32>
  return %r : tensor<1x2x5x4xf32>
}

//--- eight.mlir
// Of several samples, what has one row.
func.func @eight(%tokens: tensor<8x4xi32> {iree.identifier = "tokens"}, %ids: tensor<1x4xi32> {iree.identifier = "ids"},
    %words: tensor<11x4xf32> {iree.identifier = "words"}) -> tensor<8x4x4xf32> {
  %e = tensor.empty() : tensor<8x4x4xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (0, s)>, affine_map<(b, s, d) -> (b, s, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%tokens, %ids : tensor<8x4xi32>, tensor<1x4xi32>) outs(%e : tensor<8x4x4xf32>) {
  ^bb0(%token: i32, %id: i32, %out: f32):
    %t = arith.index_cast %token : i32 to index
    %d = linalg.index 2 : index
    %word = tensor.extract %words[%t, %d] : tensor<11x4xf32>
    %position = arith.sitofp %id : i32 to f32
    %sum = arith.addf %word, %position : f32
    linalg.yield %sum : f32
  } -> tensor<8x4x4xf32>
  return %h : tensor<8x4x4xf32>
}

//--- scalar.mlir
// A model that returns its loss: data has as many rows as some of it.
func.func @scalar(%x: tensor<6x4xf32> {iree.identifier = "x"}, %w: tensor<4xf32> {iree.identifier = "w"}, %mask: tensor<1x4xf32> {iree.identifier = "mask"}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]} ins(%x, %w, %mask : tensor<6x4xf32>, tensor<4xf32>, tensor<1x4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %weight: f32, %m: f32, %out: f32):
    %p = arith.mulf %in, %weight : f32
    %q = arith.mulf %p, %m : f32
    %sum = arith.addf %out, %q : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %l : tensor<f32>
}

//--- angles.mlir
// Sines of positions are the same for all samples, those of the time of a sample are not.
func.func @angles(%x: tensor<1x5x4xf32> {iree.identifier = "x"}, %ids: tensor<1x5xi64> {iree.identifier = "ids"},
    %time: tensor<1xf32> {iree.identifier = "time"}, %w: tensor<4xf32> {iree.identifier = "w"}) -> tensor<1x5x4xf32> {
  %e = tensor.empty() : tensor<1x5x4xf32>
  %frequencies = arith.constant dense<[1.0, 0.5, 0.25, 0.125]> : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, d) -> (b, s, d)>, affine_map<(b, s, d) -> (b, s)>, affine_map<(b, s, d) -> (b)>, affine_map<(b, s, d) -> (d)>,
      affine_map<(b, s, d) -> (d)>, affine_map<(b, s, d) -> (b, s, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %ids, %time, %frequencies, %w : tensor<1x5x4xf32>, tensor<1x5xi64>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x5x4xf32>) {
  ^bb0(%in: f32, %id: i64, %t: f32, %f: f32, %weight: f32, %out: f32):
    %p = arith.sitofp %id : i64 to f32
    %angle = arith.mulf %p, %f : f32
    %sine = math.sin %angle : f32
    %other = arith.mulf %t, %f : f32
    %cosine = math.cos %other : f32
    %a = arith.mulf %in, %sine : f32
    %b = arith.mulf %cosine, %weight : f32
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<1x5x4xf32>
  return %y : tensor<1x5x4xf32>
}

//--- constant.mlir
func.func @constant(%x: tensor<3x4xf32>, %mask: tensor<3x4xf32> {iree.identifier = "mask", pipe.constant = dense<[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]]> : tensor<3x4xf32>},
    %b: tensor<4xf32> {iree.identifier = "elided", pipe.constant = dense_resource<__elided__> : tensor<4xf32>},
    %w: tensor<4x4xf32> {iree.identifier = "w", pipe.constant = dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]> : tensor<4x4xf32>}) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z : tensor<3x4xf32>) -> tensor<3x4xf32>
  %m = arith.addf %h, %mask : tensor<3x4xf32>
  %bb = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %y = arith.addf %m, %bb : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

//--- contract.mlir
func.func @net(%x: tensor<2xi32> {pipe.batch = "x", pipe.range = array<i64: 0, 3>}, %w: tensor<2xf32> {pipe.param = #pipe.param<"w", init = zeros>},
    %b: tensor<2xf32> {pipe.param = #pipe.param<"b", init = zeros>}) -> tensor<2xf32> {
  %f = arith.sitofp %x : tensor<2xi32> to tensor<2xf32>
  %s = arith.addf %w, %b : tensor<2xf32>
  %y = arith.mulf %f, %s : tensor<2xf32>
  return %y : tensor<2xf32>
}
