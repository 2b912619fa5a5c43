module {
  func.func @forward(%arg0: tensor<8x4xf32>) -> tensor<8x2xf32> {
    %w = "tosa.const"() <{values = dense<[[[0.5, -0.25], [0.125, 0.5], [-0.5, 0.25], [0.0625, -0.125]]]> : tensor<1x4x2xf32>}> : () -> tensor<1x4x2xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %in = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %out = tosa.const_shape {values = dense<[8, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.reshape %arg0, %in : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
    %1 = tosa.matmul %0, %w, %zero, %zero : (tensor<1x8x4xf32>, tensor<1x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x2xf32>
    %2 = tosa.reshape %1, %out : (tensor<1x8x2xf32>, !tosa.shape<2>) -> tensor<8x2xf32>
    %3 = tosa.tanh %2 : (tensor<8x2xf32>) -> tensor<8x2xf32>
    return %3 : tensor<8x2xf32>
  }
}
