func.func @f(%ids: tensor<1x3xf32>, %table: tensor<1x10x4xf32>, %w: tensor<1x4x2xf32>) -> tensor<1x3x2xf32> {
  %0 = tosa.cast %ids : (tensor<1x3xf32>) -> tensor<1x3xi32>
  %1 = tosa.gather %table, %0 : (tensor<1x10x4xf32>, tensor<1x3xi32>) -> tensor<1x3x4xf32>
  %azp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %2 = tosa.matmul %1, %w, %azp, %azp : (tensor<1x3x4xf32>, tensor<1x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32>
  return %2 : tensor<1x3x2xf32>
}
