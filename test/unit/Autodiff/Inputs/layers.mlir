// Layers as models write them.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// GELU in its erf form.
func.func @gelu_erf(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %scale = arith.constant 0.70710678118654752 : f64
  %e = tensor.empty() : tensor<3x4xf64>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %s = arith.mulf %in, %scale : f64
    %erf = math.erf %s : f64
    %t = arith.addf %erf, %one : f64
    %h = arith.mulf %in, %half : f64
    %g = arith.mulf %h, %t : f64
    linalg.yield %g : f64
  } -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

// x times sigmoid(x), gated, in one body.
func.func @swiglu(%x: tensor<3x4xf64>, %gate: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %one = arith.constant 1.0 : f64
  %e = tensor.empty() : tensor<3x4xf64>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %gate : tensor<3x4xf64>, tensor<3x4xf64>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%in: f64, %g: f64, %out: f64):
    %n = arith.negf %in : f64
    %exp = math.exp %n : f64
    %d = arith.addf %exp, %one : f64
    %s = arith.divf %in, %d : f64
    %r = arith.mulf %s, %g : f64
    linalg.yield %r : f64
  } -> tensor<3x4xf64>
  return %y : tensor<3x4xf64>
}

// A softmax of structured ops under a causal mask of -inf.
func.func @masked_softmax(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant 0.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<4x4xf64>
  %r = tensor.empty() : tensor<4xf64>
  %masked = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %q = linalg.index 0 : index
    %k = linalg.index 1 : index
    %seen = arith.cmpi sle, %k, %q : index
    %m = arith.select %seen, %in, %ninf : f64
    linalg.yield %m : f64
  } -> tensor<4x4xf64>
  %lowest = linalg.fill ins(%ninf : f64) outs(%r : tensor<4xf64>) -> tensor<4xf64>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<4x4xf64>) outs(%lowest : tensor<4xf64>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%masked, %max : tensor<4x4xf64>, tensor<4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%r : tensor<4xf64>) -> tensor<4xf64>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<4x4xf64>) outs(%zeros : tensor<4xf64>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<4x4xf64>, tensor<4xf64>) outs(%e : tensor<4x4xf64>) {
  ^bb0(%in: f64, %s: f64, %out: f64):
    %d = arith.divf %in, %s : f64
    linalg.yield %d : f64
  } -> tensor<4x4xf64>
  return %p : tensor<4x4xf64>
}

// Cross entropy over scores, labels by a gather from a value that is computed.
func.func @cross_entropy(%x: tensor<3x5xf64>, %labels: tensor<3xi32> {test.below = 5 : i32}) -> tensor<f64> attributes {test.loss} {
  %zero = arith.constant 0.0 : f64
  %third = arith.constant -0.3333333333333333 : f64
  %e = tensor.empty() : tensor<3x5xf64>
  %p = linalg.softmax dimension(1) ins(%x : tensor<3x5xf64>) outs(%e : tensor<3x5xf64>) -> tensor<3x5xf64>
  %t = tensor.empty() : tensor<f64>
  %c = linalg.fill ins(%zero : f64) outs(%t : tensor<f64>) -> tensor<f64>
  %loss = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%labels : tensor<3xi32>) outs(%c : tensor<f64>) {
  ^bb0(%label: i32, %acc: f64):
    %row = linalg.index 0 : index
    %column = arith.index_cast %label : i32 to index
    %v = tensor.extract %p[%row, %column] : tensor<3x5xf64>
    %l = math.log %v : f64
    %s = arith.mulf %l, %third : f64
    %n = arith.addf %acc, %s : f64
    linalg.yield %n : f64
  } -> tensor<f64>
  return %loss : tensor<f64>
}

// A maximum that cancels: max + log(sum(exp(x - max))), the sum and its terms in
// one body.
func.func @log_sum_exp(%x: tensor<4x3xf64>) -> tensor<4xf64> {
  %zero = arith.constant 0.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %r = tensor.empty() : tensor<4xf64>
  %lowest = linalg.fill ins(%ninf : f64) outs(%r : tensor<4xf64>) -> tensor<4xf64>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<4x3xf64>) outs(%lowest : tensor<4xf64>) dimensions = [1]
  %zeros = linalg.fill ins(%zero : f64) outs(%r : tensor<4xf64>) -> tensor<4xf64>
  %sum = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%x, %max : tensor<4x3xf64>, tensor<4xf64>) outs(%zeros : tensor<4xf64>) {
  ^bb0(%in: f64, %m: f64, %acc: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    %s = arith.addf %p, %acc : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %log = math.log %sum : tensor<4xf64>
  %y = arith.addf %log, %max : tensor<4xf64>
  return %y : tensor<4xf64>
}

// One that does not: nothing divides the shift out again.
func.func @shift_stays(%x: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<4x3xf64>
  %r = tensor.empty() : tensor<4xf64>
  %lowest = linalg.fill ins(%ninf : f64) outs(%r : tensor<4xf64>) -> tensor<4xf64>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<4x3xf64>) outs(%lowest : tensor<4xf64>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<4x3xf64>, tensor<4xf64>) outs(%e : tensor<4x3xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    linalg.yield %p : f64
  } -> tensor<4x3xf64>
  return %exp : tensor<4x3xf64>
}

// The shift of one row, divided by that of another, and a sum that starts from
// something else than zero.
func.func @shift_crosses(%x: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
  %one = arith.constant 1.0 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<3x3xf64>
  %r = tensor.empty() : tensor<3xf64>
  %lowest = linalg.fill ins(%ninf : f64) outs(%r : tensor<3xf64>) -> tensor<3xf64>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<3x3xf64>) outs(%lowest : tensor<3xf64>) dimensions = [1]
  %max2 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x3xf64>) outs(%lowest : tensor<3xf64>) dimensions = [0]
  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<3x3xf64>, tensor<3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    linalg.yield %p : f64
  } -> tensor<3x3xf64>
  %exp2 = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %max2 : tensor<3x3xf64>, tensor<3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    linalg.yield %p : f64
  } -> tensor<3x3xf64>
  %crossed = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (j, i)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%exp, %exp : tensor<3x3xf64>, tensor<3x3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.divf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<3x3xf64>
  %ones = linalg.fill ins(%one : f64) outs(%r : tensor<3xf64>) -> tensor<3xf64>
  %sum = linalg.reduce { arith.addf } ins(%exp2 : tensor<3x3xf64>) outs(%ones : tensor<3xf64>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%exp2, %sum : tensor<3x3xf64>, tensor<3xf64>) outs(%e : tensor<3x3xf64>) {
  ^bb0(%in: f64, %s: f64, %out: f64):
    %d = arith.divf %in, %s : f64
    linalg.yield %d : f64
  } -> tensor<3x3xf64>
  return %crossed, %p : tensor<3x3xf64>, tensor<3x3xf64>
}
