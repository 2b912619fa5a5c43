// RUN: veeline-opt %s --pipe-recognize-attention --verify-diagnostics --allow-unregistered-dialect -o - | FileCheck %s

// None of these is fused; the remark says why.
// CHECK-NOT: pipe.attention

#bij = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j, d) -> (b, i, d)>
#keys = affine_map<(b, i, j, d) -> (b, j, d)>
#scores = affine_map<(b, i, j, d) -> (b, i, j)>

// Weights that are dropped.
func.func @dropout(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x5x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %p = arith.mulf %w, %m : tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: between the softmax and its product with the values is 'arith.mulf'}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Scores through a function.
func.func @capped(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = math.tanh %s : tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: the scores go through 'math.tanh', which is neither a scale nor a mask}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A scale that is no constant.
func.func @temperature(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %t: tensor<f32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> ()>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %t : tensor<4x5x7xf32>, tensor<f32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %factor: f32, %out: f32):
    %r = arith.mulf %in, %factor : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: the scores are multiplied by something that is no constant}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A mask of queries and keys and one of samples and keys.
func.func @masks(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x7xf32>, %n: tensor<5x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = linalg.generic {indexing_maps = [#bij, affine_map<(b, i, j) -> (b, j)>, affine_map<(b, i, j) -> (i, j)>, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m, %n : tensor<4x5x7xf32>, tensor<4x7xf32>, tensor<5x7xf32>) outs(%e : tensor<4x5x7xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32, %out: f32):
    %y = arith.addf %in, %a : f32
    %r = arith.addf %y, %b : f32
    linalg.yield %r : f32
  } -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: there are several masks, whose sum is larger than each; add them up first}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A mask that is scaled with the scores.
func.func @scaled_mask(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x5x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %y = arith.addf %s, %m : tensor<4x5x7xf32>
  %half = arith.constant dense<0.5> : tensor<4x5x7xf32>
  %x = arith.mulf %y, %half : tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: the mask is added before the scores are scaled; scale first}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Masked scores that become others.
func.func @filled(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %c: tensor<4x5x7xi1>, %m: tensor<4x5x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %x = arith.select %c, %s, %m : tensor<4x5x7xi1>, tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: masked scores become something that is no constant}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Weights that somebody else reads.
func.func @weights_used(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %r = tensor.empty() : tensor<4x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %n0 = linalg.fill ins(%zero : f32) outs(%r : tensor<4x5xf32>) -> tensor<4x5xf32>
  %n = linalg.reduce { arith.maximumf } ins(%p : tensor<4x5x7xf32>) outs(%n0 : tensor<4x5xf32>) dimensions = [2]
  "test.use"(%n) : (tensor<4x5xf32>) -> ()
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: the scores or the weights are used by 'linalg.reduce' as well}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// A softmax of something else.
func.func @data(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>, %m: tensor<4x5x7xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<4x5x7xf32>) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  // expected-remark @below {{this product of a softmax is not fused into attention: what it is the softmax of is no product}}
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}

// Without a sum to divide by there is no softmax, and nothing to say.
func.func @exponential(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x7xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %s = linalg.batch_matmul indexing_maps = [#rows, #keys, #scores] ins(%q, %k : tensor<4x5x8xf32>, tensor<4x7x8xf32>) outs(%z : tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %p = math.exp %s : tensor<4x5x7xf32>
  %o0 = tensor.empty() : tensor<4x5x3xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%o0 : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>) outs(%zo : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  return %o : tensor<4x5x3xf32>
}
