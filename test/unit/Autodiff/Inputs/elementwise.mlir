// Each elementwise rule by itself, on tensors: they are brought into structured
// form first, so that the scalar rules are what is tested.

func.func @math_absf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.absf %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_atan(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.atan %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_cbrt(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.cbrt %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_cos(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.cos %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_cosh(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.cosh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_erf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.erf %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_exp(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.exp %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_exp2(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.exp2 %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_expm1(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.expm1 %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_log(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.log %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_log10(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.log10 %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_log1p(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.log1p %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_log2(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.log2 %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_rsqrt(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.rsqrt %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_sin(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.sin %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_sinh(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.sinh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_sqrt(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.sqrt %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_tan(%x: tensor<6xf64> {test.range = [-1.0, 1.0]}) -> tensor<6xf64> {
  %y = math.tan %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_tanh(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.tanh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_negf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = arith.negf %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_addf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.addf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_addf_same(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = arith.addf %x, %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_subf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.subf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_mulf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.mulf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_mulf_same(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = arith.mulf %x, %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_divf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64> {test.range = [0.5, 2.0]}) -> tensor<6xf64> {
  %y = arith.divf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_maximumf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.maximumf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_minimumf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.minimumf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_maxnumf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.maxnumf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_minnumf(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = arith.minnumf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_powf(%x: tensor<6xf64> {test.range = [0.3, 2.0]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %y = math.powf %x, %z : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_powf_same(%x: tensor<6xf64> {test.range = [0.3, 2.0]}) -> tensor<6xf64> {
  %y = math.powf %x, %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_fma(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>, %w: tensor<6xf64>) -> tensor<6xf64> {
  %y = math.fma %x, %z, %w : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_fpowi(%x: tensor<6xf64> {test.range = [0.3, 2.0]}, %n: tensor<6xi32>) -> tensor<6xf64> {
  %y = math.fpowi %x, %n : tensor<6xf64>, tensor<6xi32>
  return %y : tensor<6xf64>
}

func.func @arith_select(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>, %c: tensor<6xi1>) -> tensor<6xf64> {
  %y = arith.select %c, %x, %z : tensor<6xi1>, tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_select_by_comparison(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}, %z: tensor<6xf64>) -> tensor<6xf64> {
  %c = arith.cmpf ogt, %x, %z : tensor<6xf64>
  %y = arith.select %c, %x, %z : tensor<6xi1>, tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @arith_casts(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %a = arith.truncf %x : tensor<6xf64> to tensor<6xf32>
  %b = arith.extf %a : tensor<6xf32> to tensor<6xf64>
  %y = arith.subf %x, %b : tensor<6xf64>
  %s = arith.mulf %x, %x : tensor<6xf64>
  return %s : tensor<6xf64>
}

func.func @constants(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf64>
  %i = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %f = arith.sitofp %i : tensor<6xi32> to tensor<6xf64>
  %a = arith.mulf %c, %x : tensor<6xf64>
  %y = arith.addf %a, %f : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_acos(%x: tensor<6xf64> {test.range = [-0.8, 0.8]}) -> tensor<6xf64> {
  %y = math.acos %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_acosh(%x: tensor<6xf64> {test.range = [1.2, 2.5]}) -> tensor<6xf64> {
  %y = math.acosh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_asin(%x: tensor<6xf64> {test.range = [-0.8, 0.8]}) -> tensor<6xf64> {
  %y = math.asin %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_asinh(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.asinh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_atanh(%x: tensor<6xf64> {test.range = [-0.8, 0.8]}) -> tensor<6xf64> {
  %y = math.atanh %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

func.func @math_erfc(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> tensor<6xf64> {
  %y = math.erfc %x : tensor<6xf64>
  return %y : tensor<6xf64>
}

// Steps: what is multiplied by them has a gradient, they have none.
func.func @steps(%x: tensor<6xf64> {test.range = [1.6, 1.9]}, %y: tensor<6xf64>) -> (tensor<6xf64>, tensor<6xf64>) {
  %0 = math.ceil %x : tensor<6xf64>
  %1 = math.floor %x : tensor<6xf64>
  %2 = math.round %x : tensor<6xf64>
  %3 = math.trunc %x : tensor<6xf64>
  %a = arith.mulf %0, %y : tensor<6xf64>
  %b = arith.mulf %1, %a : tensor<6xf64>
  %c = arith.mulf %2, %b : tensor<6xf64>
  %d = arith.mulf %3, %c : tensor<6xf64>
  %4 = math.roundeven %x : tensor<6xf64>
  %e = arith.mulf %4, %d : tensor<6xf64>
  %f = arith.mulf %e, %x : tensor<6xf64>
  return %f, %0 : tensor<6xf64>, tensor<6xf64>
}

func.func @math_atan2(%x: tensor<6xf64> {test.range = [0.3, 1.5]}, %y: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> (tensor<6xf64>, tensor<6xf64>) {
  %0 = math.atan2 %x, %y : tensor<6xf64>
  %1 = math.atan2 %y, %x : tensor<6xf64>
  return %0, %1 : tensor<6xf64>, tensor<6xf64>
}

func.func @math_copysign(%x: tensor<6xf64> {test.range = [0.3, 1.5]}, %y: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> (tensor<6xf64>, tensor<6xf64>) {
  %0 = math.copysign %x, %y : tensor<6xf64>
  %n = arith.negf %x : tensor<6xf64>
  %1 = math.copysign %n, %y : tensor<6xf64>
  return %0, %1 : tensor<6xf64>, tensor<6xf64>
}

func.func @arith_remf(%x: tensor<6xf64> {test.range = [2.1, 2.4]}, %y: tensor<6xf64> {test.range = [0.8, 1.0]}) -> (tensor<6xf64>, tensor<6xf64>) {
  %0 = arith.remf %x, %y : tensor<6xf64>
  %n = arith.negf %x : tensor<6xf64>
  %1 = arith.remf %n, %y : tensor<6xf64>
  return %0, %1 : tensor<6xf64>, tensor<6xf64>
}

// Two results, on tensors and in a body.
func.func @math_sincos(%x: tensor<6xf64> {test.range = [-1.5, 1.5]}) -> (tensor<6xf64>, tensor<6xf64>, tensor<6xf64>) {
  %0, %1 = math.sincos %x : tensor<6xf64>
  %e = tensor.empty() : tensor<6xf64>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf64>) outs(%e : tensor<6xf64>) {
  ^bb0(%a: f64, %o: f64):
    %sin, %cos = math.sincos %a : f64
    %p = arith.mulf %sin, %cos : f64
    linalg.yield %p : f64
  } -> tensor<6xf64>
  return %0, %1, %2 : tensor<6xf64>, tensor<6xf64>, tensor<6xf64>
}
