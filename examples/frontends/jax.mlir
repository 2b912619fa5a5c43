module @jit_forward attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32> loc("params['b1']"), %arg1: tensor<4x3xf32> loc("params['w1']"), %arg2: tensor<3x2xf32> loc("params['w2']"), %arg3: tensor<8x4xf32> loc("x")) -> (tensor<8x2xf32> {jax.result_info = "result"}) {
    %0 = tensor.empty() : tensor<8x3xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x3xf32>) -> tensor<8x3xf32>
    %2 = linalg.matmul ins(%arg3, %arg1 : tensor<8x4xf32>, tensor<4x3xf32>) outs(%1 : tensor<8x3xf32>) -> tensor<8x3xf32>
    %3 = tensor.empty() : tensor<8x3xf32>
    %broadcasted = linalg.broadcast ins(%arg0 : tensor<3xf32>) outs(%3 : tensor<8x3xf32>) dimensions = [0]
    %4 = tensor.empty() : tensor<8x3xf32>
    %mapped = linalg.map { arith.addf } ins(%2, %broadcasted : tensor<8x3xf32>, tensor<8x3xf32>) outs(%4 : tensor<8x3xf32>)
    %5 = call @relu(%mapped) : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %6 = tensor.empty() : tensor<8x2xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<8x2xf32>) -> tensor<8x2xf32>
    %8 = linalg.matmul ins(%5, %arg2 : tensor<8x3xf32>, tensor<3x2xf32>) outs(%7 : tensor<8x2xf32>) -> tensor<8x2xf32>
    return %8 : tensor<8x2xf32>
  }
  func.func private @relu(%arg0: tensor<8x3xf32>) -> tensor<8x3xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<8x3xf32>
    %broadcasted = linalg.broadcast ins(%cst : tensor<f32>) outs(%0 : tensor<8x3xf32>) dimensions = [0, 1]
    %1 = tensor.empty() : tensor<8x3xf32>
    %mapped = linalg.map { arith.maximumf } ins(%arg0, %broadcasted : tensor<8x3xf32>, tensor<8x3xf32>) outs(%1 : tensor<8x3xf32>)
    return %mapped : tensor<8x3xf32>
  }
}
