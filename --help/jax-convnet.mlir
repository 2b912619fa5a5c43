module {
  func.func @main(%arg0: tensor<3x3x2x6xf32>, %arg1: tensor<6xf32>, %arg2: tensor<3x3x6x6xf32>, %arg3: tensor<6xf32>, %arg4: tensor<3x3x6x8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8x4xf32>, %arg7: tensor<4xf32>, %arg8: tensor<2x8x8x2xf32>) -> tensor<2x4xf32> {
    %v0 = arith.constant 0.000000e+00 : f32
    %v1 = tensor.pad %arg8 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v0 : f32
    } : tensor<2x8x8x2xf32> to tensor<2x10x10x2xf32>
    %v2 = arith.constant 0.000000e+00 : f32
    %v3 = tensor.empty() : tensor<2x8x8x6xf32>
    %v4 = linalg.fill ins(%v2 : f32) outs(%v3 : tensor<2x8x8x6xf32>) -> tensor<2x8x8x6xf32>
    %v5 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v1, %arg0 : tensor<2x10x10x2xf32>, tensor<3x3x2x6xf32>) outs(%v4 : tensor<2x8x8x6xf32>) -> tensor<2x8x8x6xf32>
    %v6 = tensor.empty() : tensor<2x8x8x6xf32>
    %v7 = linalg.broadcast ins(%arg1 : tensor<6xf32>) outs(%v6 : tensor<2x8x8x6xf32>) dimensions = [0, 1, 2]
    %v8 = tensor.empty() : tensor<2x8x8x6xf32>
    %v9 = linalg.map { arith.addf } ins(%v5, %v7 : tensor<2x8x8x6xf32>, tensor<2x8x8x6xf32>) outs(%v8 : tensor<2x8x8x6xf32>)
    %v10 = arith.constant dense<0.0> : tensor<f32>
    %v11 = tensor.empty() : tensor<2x8x8x6xf32>
    %v12 = linalg.broadcast ins(%v10 : tensor<f32>) outs(%v11 : tensor<2x8x8x6xf32>) dimensions = [0, 1, 2, 3]
    %v13 = tensor.empty() : tensor<2x8x8x6xf32>
    %v14 = linalg.map { arith.maximumf } ins(%v9, %v12 : tensor<2x8x8x6xf32>, tensor<2x8x8x6xf32>) outs(%v13 : tensor<2x8x8x6xf32>)
    %v15 = tensor.empty() : tensor<2x2xf32>
    %v16 = arith.constant 0xFF800000 : f32
    %v17 = tensor.empty() : tensor<2x4x4x6xf32>
    %v18 = linalg.fill ins(%v16 : f32) outs(%v17 : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
    %v19 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v14, %v15 : tensor<2x8x8x6xf32>, tensor<2x2xf32>) outs(%v18 : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
    %v20 = arith.constant 0.000000e+00 : f32
    %v21 = tensor.pad %v19 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v20 : f32
    } : tensor<2x4x4x6xf32> to tensor<2x6x6x6xf32>
    %v22 = arith.constant 0.000000e+00 : f32
    %v23 = tensor.empty() : tensor<2x4x4x6xf32>
    %v24 = linalg.fill ins(%v22 : f32) outs(%v23 : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
    %v25 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v21, %arg2 : tensor<2x6x6x6xf32>, tensor<3x3x6x6xf32>) outs(%v24 : tensor<2x4x4x6xf32>) -> tensor<2x4x4x6xf32>
    %v26 = tensor.empty() : tensor<2x4x4x6xf32>
    %v27 = linalg.broadcast ins(%arg3 : tensor<6xf32>) outs(%v26 : tensor<2x4x4x6xf32>) dimensions = [0, 1, 2]
    %v28 = tensor.empty() : tensor<2x4x4x6xf32>
    %v29 = linalg.map { arith.addf } ins(%v25, %v27 : tensor<2x4x4x6xf32>, tensor<2x4x4x6xf32>) outs(%v28 : tensor<2x4x4x6xf32>)
    %v30 = arith.constant dense<0.0> : tensor<f32>
    %v31 = tensor.empty() : tensor<2x4x4x6xf32>
    %v32 = linalg.broadcast ins(%v30 : tensor<f32>) outs(%v31 : tensor<2x4x4x6xf32>) dimensions = [0, 1, 2, 3]
    %v33 = tensor.empty() : tensor<2x4x4x6xf32>
    %v34 = linalg.map { arith.maximumf } ins(%v29, %v32 : tensor<2x4x4x6xf32>, tensor<2x4x4x6xf32>) outs(%v33 : tensor<2x4x4x6xf32>)
    %v35 = tensor.empty() : tensor<2x2xf32>
    %v36 = arith.constant 0xFF800000 : f32
    %v37 = tensor.empty() : tensor<2x2x2x6xf32>
    %v38 = linalg.fill ins(%v36 : f32) outs(%v37 : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
    %v39 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%v34, %v35 : tensor<2x4x4x6xf32>, tensor<2x2xf32>) outs(%v38 : tensor<2x2x2x6xf32>) -> tensor<2x2x2x6xf32>
    %v40 = arith.constant 0.000000e+00 : f32
    %v41 = tensor.pad %v39 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v40 : f32
    } : tensor<2x2x2x6xf32> to tensor<2x4x4x6xf32>
    %v42 = arith.constant 0.000000e+00 : f32
    %v43 = tensor.empty() : tensor<2x2x2x8xf32>
    %v44 = linalg.fill ins(%v42 : f32) outs(%v43 : tensor<2x2x2x8xf32>) -> tensor<2x2x2x8xf32>
    %v45 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%v41, %arg4 : tensor<2x4x4x6xf32>, tensor<3x3x6x8xf32>) outs(%v44 : tensor<2x2x2x8xf32>) -> tensor<2x2x2x8xf32>
    %v46 = tensor.empty() : tensor<2x2x2x8xf32>
    %v47 = linalg.broadcast ins(%arg5 : tensor<8xf32>) outs(%v46 : tensor<2x2x2x8xf32>) dimensions = [0, 1, 2]
    %v48 = tensor.empty() : tensor<2x2x2x8xf32>
    %v49 = linalg.map { arith.addf } ins(%v45, %v47 : tensor<2x2x2x8xf32>, tensor<2x2x2x8xf32>) outs(%v48 : tensor<2x2x2x8xf32>)
    %v50 = arith.constant dense<0.0> : tensor<f32>
    %v51 = tensor.empty() : tensor<2x2x2x8xf32>
    %v52 = linalg.broadcast ins(%v50 : tensor<f32>) outs(%v51 : tensor<2x2x2x8xf32>) dimensions = [0, 1, 2, 3]
    %v53 = tensor.empty() : tensor<2x2x2x8xf32>
    %v54 = linalg.map { arith.maximumf } ins(%v49, %v52 : tensor<2x2x2x8xf32>, tensor<2x2x2x8xf32>) outs(%v53 : tensor<2x2x2x8xf32>)
    %v55 = arith.constant 0.000000e+00 : f32
    %v56 = tensor.empty() : tensor<2x8xf32>
    %v57 = linalg.fill ins(%v55 : f32) outs(%v56 : tensor<2x8xf32>) -> tensor<2x8xf32>
    %v58 = linalg.reduce { arith.addf } ins(%v54 : tensor<2x2x2x8xf32>) outs(%v57 : tensor<2x8xf32>) dimensions = [1, 2]
    %v59 = arith.constant dense<2.500000e-01> : tensor<f32>
    %v60 = tensor.empty() : tensor<2x8xf32>
    %v61 = linalg.broadcast ins(%v59 : tensor<f32>) outs(%v60 : tensor<2x8xf32>) dimensions = [0, 1]
    %v62 = tensor.empty() : tensor<2x8xf32>
    %v63 = linalg.map { arith.mulf } ins(%v58, %v61 : tensor<2x8xf32>, tensor<2x8xf32>) outs(%v62 : tensor<2x8xf32>)
    %v64 = arith.constant 0.000000e+00 : f32
    %v65 = tensor.empty() : tensor<2x4xf32>
    %v66 = linalg.fill ins(%v64 : f32) outs(%v65 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v67 = linalg.matmul ins(%v63, %arg6 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%v66 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v68 = tensor.empty() : tensor<2x4xf32>
    %v69 = linalg.broadcast ins(%arg7 : tensor<4xf32>) outs(%v68 : tensor<2x4xf32>) dimensions = [0]
    %v70 = tensor.empty() : tensor<2x4xf32>
    %v71 = linalg.map { arith.addf } ins(%v67, %v69 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%v70 : tensor<2x4xf32>)
    return %v71 : tensor<2x4xf32>
  }
}
