module {
  func.func @main(%arg0: tensor<2x8x8x3xf32>) -> tensor<2x4xf32> {
    %v0 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<6x3x3x3xf32>}> : () -> tensor<6x3x3x3xf32>
    %v1 = "tosa.const"() <{values = dense<[0.68884, 0.51591, -0.15886, -0.48217, 0.02255, -0.19013]> : tensor<6xf32>}> : () -> tensor<6xf32>
    %v2 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v3 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v4 = tosa.conv2d %arg0, %v0, %v1, %v2, %v3 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x8x6xf32>
    %v5 = "tosa.const"() <{values = dense<[[[[0.89190, 0.65166, 0.73830, 0.79169, 0.95406, 0.75234]]]]> : tensor<1x1x1x6xf32>}> : () -> tensor<1x1x1x6xf32>
    %v6 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v7 = tosa.mul %v4, %v5, %v6 : (tensor<2x8x8x6xf32>, tensor<1x1x1x6xf32>, tensor<1xi8>) -> tensor<2x8x8x6xf32>
    %v8 = "tosa.const"() <{values = dense<[[[[-0.43632, 0.51161, 0.23674, -0.49899, 0.81949, 0.96557]]]]> : tensor<1x1x1x6xf32>}> : () -> tensor<1x1x1x6xf32>
    %v9 = tosa.add %v7, %v8 : (tensor<2x8x8x6xf32>, tensor<1x1x1x6xf32>) -> tensor<2x8x8x6xf32>
    %v10 = tosa.clamp %v9 {min_val = 0.0 : f32, max_val = 3.4e38 : f32} : (tensor<2x8x8x6xf32>) -> tensor<2x8x8x6xf32>
    %v11 = tosa.max_pool2d %v10 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x8x8x6xf32>) -> tensor<2x4x4x6xf32>
    %v12 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<3x3x6x1xf32>}> : () -> tensor<3x3x6x1xf32>
    %v13 = "tosa.const"() <{values = dense<0.0> : tensor<6xf32>}> : () -> tensor<6xf32>
    %v14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v15 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v16 = tosa.depthwise_conv2d %v11, %v12, %v13, %v14, %v15 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<2x4x4x6xf32>, tensor<3x3x6x1xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4x6xf32>
    %v17 = tosa.clamp %v16 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
    %v18 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<8x1x1x6xf32>}> : () -> tensor<8x1x1x6xf32>
    %v19 = "tosa.const"() <{values = dense<[0.62043, 0.80433, -0.37970, 0.45966, 0.79768, 0.36797, -0.05571, -0.79860]> : tensor<8xf32>}> : () -> tensor<8xf32>
    %v20 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v21 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v22 = tosa.conv2d %v17, %v18, %v19, %v20, %v21 {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x4x6xf32>, tensor<8x1x1x6xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4x8xf32>
    %v23 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v24 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v25 = tosa.avg_pool2d %v22, %v23, %v24 {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>} : (tensor<2x4x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x1x8xf32>
    %v26 = tosa.const_shape {values = dense<[2, 1, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v27 = tosa.reshape %v25, %v26 : (tensor<2x1x1x8xf32>, !tosa.shape<3>) -> tensor<2x1x8xf32>
    %v28 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x4xf32>}> : () -> tensor<1x8x4xf32>
    %v29 = "tosa.const"() <{values = dense<[[[-0.13166, 0.22177, 0.82602, 0.93321]]]> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
    %v30 = tosa.const_shape {values = dense<[1, 2, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v31 = tosa.reshape %v27, %v30 : (tensor<2x1x8xf32>, !tosa.shape<3>) -> tensor<1x2x8xf32>
    %v32 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v33 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v34 = tosa.matmul %v31, %v28, %v32, %v33 : (tensor<1x2x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
    %v35 = tosa.const_shape {values = dense<[2, 1, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v36 = tosa.reshape %v34, %v35 : (tensor<1x2x4xf32>, !tosa.shape<3>) -> tensor<2x1x4xf32>
    %v37 = tosa.add %v36, %v29 : (tensor<2x1x4xf32>, tensor<1x1x4xf32>) -> tensor<2x1x4xf32>
    %v38 = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %v39 = tosa.reshape %v37, %v38 : (tensor<2x1x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
    return %v39 : tensor<2x4xf32>
  }
}
