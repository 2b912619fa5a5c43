// Ties, kinks and small floats.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

func.func @maximumf(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = arith.maximumf %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @maxnumf(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = arith.maxnumf %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @minimumf(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = arith.minimumf %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @minnumf(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = arith.minnumf %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @relu(%x: tensor<3xf64>) -> tensor<3xf64> {
  %zero = arith.constant dense<0.0> : tensor<3xf64>
  %0 = arith.maximumf %x, %zero : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @reduce_max(%x: tensor<2x4xf64>) -> tensor<2xf64> {
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<2xf64>
  %c = linalg.fill ins(%ninf : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<2x4xf64>) outs(%c : tensor<2xf64>) dimensions = [1]
  return %0 : tensor<2xf64>
}

func.func @reduce_min(%x: tensor<2x4xf64>) -> tensor<2xf64> {
  %inf = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<2xf64>
  %c = linalg.fill ins(%inf : f64) outs(%e : tensor<2xf64>) -> tensor<2xf64>
  %0 = linalg.reduce { arith.minimumf } ins(%x : tensor<2x4xf64>) outs(%c : tensor<2xf64>) dimensions = [1]
  return %0 : tensor<2xf64>
}

func.func @reduce_max_init(%x: tensor<2x2xf64>, %init: tensor<2xf64>) -> tensor<2xf64> {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<2x2xf64>) outs(%init : tensor<2xf64>) dimensions = [1]
  return %0 : tensor<2xf64>
}

func.func @absf(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = math.absf %x : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @powf(%x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = math.powf %x, %y : tensor<3xf64>
  return %0 : tensor<3xf64>
}

func.func @fpowi(%x: tensor<3xf64>, %n: tensor<3xi32>) -> tensor<3xf64> {
  %0 = math.fpowi %x, %n : tensor<3xf64>, tensor<3xi32>
  return %0 : tensor<3xf64>
}

// A row that keeps its last two elements.
func.func @masked_softmax(%x: tensor<1x4xf64>) -> tensor<1x4xf64> {
  %zero = arith.constant 0.0 : f64
  %two = arith.constant 2 : index
  %ninf = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x4xf64>
  %r = tensor.empty() : tensor<1xf64>
  %masked = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x4xf64>) outs(%e : tensor<1x4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %k = linalg.index 1 : index
    %seen = arith.cmpi sge, %k, %two : index
    %m = arith.select %seen, %in, %ninf : f64
    linalg.yield %m : f64
  } -> tensor<1x4xf64>
  %lowest = linalg.fill ins(%ninf : f64) outs(%r : tensor<1xf64>) -> tensor<1xf64>
  %max = linalg.reduce { arith.maximumf } ins(%masked : tensor<1x4xf64>) outs(%lowest : tensor<1xf64>) dimensions = [1]
  %exp = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%masked, %max : tensor<1x4xf64>, tensor<1xf64>) outs(%e : tensor<1x4xf64>) {
  ^bb0(%in: f64, %m: f64, %out: f64):
    %d = arith.subf %in, %m : f64
    %p = math.exp %d : f64
    linalg.yield %p : f64
  } -> tensor<1x4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%r : tensor<1xf64>) -> tensor<1xf64>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1x4xf64>) outs(%zeros : tensor<1xf64>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<1x4xf64>, tensor<1xf64>) outs(%e : tensor<1x4xf64>) {
  ^bb0(%in: f64, %s: f64, %out: f64):
    %d = arith.divf %in, %s : f64
    linalg.yield %d : f64
  } -> tensor<1x4xf64>
  return %p : tensor<1x4xf64>
}

func.func @sum_bf16(%x: tensor<1xbf16>) -> tensor<1x1000xbf16> {
  %e = tensor.empty() : tensor<1x1000xbf16>
  %0 = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1xbf16>) outs(%e : tensor<1x1000xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<1x1000xbf16>
  return %0 : tensor<1x1000xbf16>
}

func.func @sum_f16(%x: tensor<1xf16>) -> tensor<1x4096xf16> {
  %e = tensor.empty() : tensor<1x4096xf16>
  %0 = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1xf16>) outs(%e : tensor<1x4096xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<1x4096xf16>
  return %0 : tensor<1x4096xf16>
}

func.func @matmul_bf16(%a: tensor<1x2xbf16>, %b: tensor<2x512xbf16>) -> tensor<1x512xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x512xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x512xbf16>) -> tensor<1x512xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<1x2xbf16>, tensor<2x512xbf16>) outs(%c : tensor<1x512xbf16>) -> tensor<1x512xbf16>
  return %0 : tensor<1x512xbf16>
}

// Two windows of four elements.
func.func @window_max(%x: tensor<1x2x4x1xf64>) -> tensor<1x1x2x1xf64> {
  %infinity = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<1x1x2x1xf64>
  %f = linalg.fill ins(%infinity : f64) outs(%e : tensor<1x1x2x1xf64>) -> tensor<1x1x2x1xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %0 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x2x4x1xf64>, tensor<2x2xf64>) outs(%f : tensor<1x1x2x1xf64>) -> tensor<1x1x2x1xf64>
  return %0 : tensor<1x1x2x1xf64>
}

func.func @window_min(%x: tensor<1x2x4x1xf64>) -> tensor<1x1x2x1xf64> {
  %infinity = arith.constant 0x7FF0000000000000 : f64
  %e = tensor.empty() : tensor<1x1x2x1xf64>
  %f = linalg.fill ins(%infinity : f64) outs(%e : tensor<1x1x2x1xf64>) -> tensor<1x1x2x1xf64>
  %window = tensor.empty() : tensor<2x2xf64>
  %0 = linalg.pooling_nhwc_min {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %window : tensor<1x2x4x1xf64>, tensor<2x2xf64>) outs(%f : tensor<1x1x2x1xf64>) -> tensor<1x1x2x1xf64>
  return %0 : tensor<1x1x2x1xf64>
}

func.func @reduce_product(%x: tensor<3x3xf64>, %init: tensor<3xf64>) -> tensor<3xf64> {
  %0 = linalg.reduce { arith.mulf } ins(%x : tensor<3x3xf64>) outs(%init : tensor<3xf64>) dimensions = [1]
  return %0 : tensor<3xf64>
}

func.func @copysign(%x: tensor<3xf64>) -> tensor<3xf64> {
  %minus = arith.constant dense<-1.0> : tensor<3xf64>
  %0 = math.copysign %x, %minus : tensor<3xf64>
  return %0 : tensor<3xf64>
}

// The branch that is not taken divides by zero.
func.func @branch(%x: tensor<2xf64>) -> tensor<2xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant dense<1.0> : tensor<2xf64>
  %first = tensor.extract %x[%c0] : tensor<2xf64>
  %some = arith.cmpf one, %first, %zero : f64
  %y = scf.if %some -> (tensor<2xf64>) {
    %q = arith.divf %one, %x : tensor<2xf64>
    scf.yield %q : tensor<2xf64>
  } else {
    %p = arith.mulf %x, %x : tensor<2xf64>
    scf.yield %p : tensor<2xf64>
  }
  return %y : tensor<2xf64>
}
