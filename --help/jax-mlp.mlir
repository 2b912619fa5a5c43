module {
  func.func @main(%arg0: tensor<16xf32> {jax.arg_info = "params['dense0']['bias']"}, %arg1: tensor<12x16xf32> {jax.arg_info = "params['dense0']['kernel']"}, %arg2: tensor<16xf32> {jax.arg_info = "params['dense1']['bias']"}, %arg3: tensor<16x16xf32> {jax.arg_info = "params['dense1']['kernel']"}, %arg4: tensor<16xf32> {jax.arg_info = "params['dense2']['bias']"}, %arg5: tensor<16x16xf32> {jax.arg_info = "params['dense2']['kernel']"}, %arg6: tensor<5xf32> {jax.arg_info = "params['dense3']['bias']"}, %arg7: tensor<16x5xf32> {jax.arg_info = "params['dense3']['kernel']"}, %arg8: tensor<4x12xf32>, %arg9: tensor<4x5xf32>) -> tensor<f32> {
    %v0 = arith.constant 0.000000e+00 : f32
    %v1 = tensor.empty() : tensor<4x16xf32>
    %v2 = linalg.fill ins(%v0 : f32) outs(%v1 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v3 = linalg.matmul ins(%arg8, %arg1 : tensor<4x12xf32>, tensor<12x16xf32>) outs(%v2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v4 = tensor.expand_shape %arg0 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
    %v5 = tensor.collapse_shape %v4 [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
    %v6 = tensor.empty() : tensor<4x16xf32>
    %v7 = linalg.broadcast ins(%v5 : tensor<16xf32>) outs(%v6 : tensor<4x16xf32>) dimensions = [0]
    %v8 = tensor.empty() : tensor<4x16xf32>
    %v9 = linalg.map { arith.addf } ins(%v3, %v7 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%v8 : tensor<4x16xf32>)
    %v10 = call @relu(%v9) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %v11 = arith.constant 0.000000e+00 : f32
    %v12 = tensor.empty() : tensor<4x16xf32>
    %v13 = linalg.fill ins(%v11 : f32) outs(%v12 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v14 = linalg.matmul ins(%v10, %arg3 : tensor<4x16xf32>, tensor<16x16xf32>) outs(%v13 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v15 = tensor.expand_shape %arg2 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
    %v16 = tensor.collapse_shape %v15 [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
    %v17 = tensor.empty() : tensor<4x16xf32>
    %v18 = linalg.broadcast ins(%v16 : tensor<16xf32>) outs(%v17 : tensor<4x16xf32>) dimensions = [0]
    %v19 = tensor.empty() : tensor<4x16xf32>
    %v20 = linalg.map { arith.addf } ins(%v14, %v18 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%v19 : tensor<4x16xf32>)
    %v21 = call @relu(%v20) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %v22 = arith.constant 0.000000e+00 : f32
    %v23 = tensor.empty() : tensor<4x16xf32>
    %v24 = linalg.fill ins(%v22 : f32) outs(%v23 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v25 = linalg.matmul ins(%v21, %arg5 : tensor<4x16xf32>, tensor<16x16xf32>) outs(%v24 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %v26 = tensor.expand_shape %arg4 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
    %v27 = tensor.collapse_shape %v26 [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
    %v28 = tensor.empty() : tensor<4x16xf32>
    %v29 = linalg.broadcast ins(%v27 : tensor<16xf32>) outs(%v28 : tensor<4x16xf32>) dimensions = [0]
    %v30 = tensor.empty() : tensor<4x16xf32>
    %v31 = linalg.map { arith.addf } ins(%v25, %v29 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%v30 : tensor<4x16xf32>)
    %v32 = call @relu(%v31) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %v33 = arith.constant 0.000000e+00 : f32
    %v34 = tensor.empty() : tensor<4x5xf32>
    %v35 = linalg.fill ins(%v33 : f32) outs(%v34 : tensor<4x5xf32>) -> tensor<4x5xf32>
    %v36 = linalg.matmul ins(%v32, %arg7 : tensor<4x16xf32>, tensor<16x5xf32>) outs(%v35 : tensor<4x5xf32>) -> tensor<4x5xf32>
    %v37 = tensor.expand_shape %arg6 [[0, 1]] output_shape [1, 5] : tensor<5xf32> into tensor<1x5xf32>
    %v38 = tensor.collapse_shape %v37 [[0, 1]] : tensor<1x5xf32> into tensor<5xf32>
    %v39 = tensor.empty() : tensor<4x5xf32>
    %v40 = linalg.broadcast ins(%v38 : tensor<5xf32>) outs(%v39 : tensor<4x5xf32>) dimensions = [0]
    %v41 = tensor.empty() : tensor<4x5xf32>
    %v42 = linalg.map { arith.addf } ins(%v36, %v40 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%v41 : tensor<4x5xf32>)
    %v43 = arith.constant 0xFF800000 : f32
    %v44 = tensor.empty() : tensor<4xf32>
    %v45 = linalg.fill ins(%v43 : f32) outs(%v44 : tensor<4xf32>) -> tensor<4xf32>
    %v46 = linalg.reduce { arith.maximumf } ins(%v42 : tensor<4x5xf32>) outs(%v45 : tensor<4xf32>) dimensions = [1]
    %v47 = tensor.expand_shape %v46 [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
    %v48 = tensor.collapse_shape %v47 [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
    %v49 = tensor.empty() : tensor<4x5xf32>
    %v50 = linalg.broadcast ins(%v48 : tensor<4xf32>) outs(%v49 : tensor<4x5xf32>) dimensions = [1]
    %v51 = tensor.empty() : tensor<4x5xf32>
    %v52 = linalg.map { arith.subf } ins(%v42, %v50 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%v51 : tensor<4x5xf32>)
    %v53 = tensor.empty() : tensor<4x5xf32>
    %v54 = linalg.map { math.exp } ins(%v52 : tensor<4x5xf32>) outs(%v53 : tensor<4x5xf32>)
    %v55 = arith.constant 0.000000e+00 : f32
    %v56 = tensor.empty() : tensor<4xf32>
    %v57 = linalg.fill ins(%v55 : f32) outs(%v56 : tensor<4xf32>) -> tensor<4xf32>
    %v58 = linalg.reduce { arith.addf } ins(%v54 : tensor<4x5xf32>) outs(%v57 : tensor<4xf32>) dimensions = [1]
    %v59 = tensor.expand_shape %v58 [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
    %v60 = tensor.empty() : tensor<4x1xf32>
    %v61 = linalg.map { math.log } ins(%v59 : tensor<4x1xf32>) outs(%v60 : tensor<4x1xf32>)
    %v62 = tensor.collapse_shape %v61 [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
    %v63 = tensor.empty() : tensor<4x5xf32>
    %v64 = linalg.broadcast ins(%v62 : tensor<4xf32>) outs(%v63 : tensor<4x5xf32>) dimensions = [1]
    %v65 = tensor.empty() : tensor<4x5xf32>
    %v66 = linalg.map { arith.subf } ins(%v52, %v64 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%v65 : tensor<4x5xf32>)
    %v67 = tensor.empty() : tensor<4x5xf32>
    %v68 = linalg.map { arith.mulf } ins(%arg9, %v66 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%v67 : tensor<4x5xf32>)
    %v69 = arith.constant 0.000000e+00 : f32
    %v70 = tensor.empty() : tensor<f32>
    %v71 = linalg.fill ins(%v69 : f32) outs(%v70 : tensor<f32>) -> tensor<f32>
    %v72 = linalg.reduce { arith.addf } ins(%v68 : tensor<4x5xf32>) outs(%v71 : tensor<f32>) dimensions = [0, 1]
    %v73 = arith.constant dense<-2.500000e-01> : tensor<f32>
    %v74 = tensor.empty() : tensor<f32>
    %v75 = linalg.map { arith.mulf } ins(%v72, %v73 : tensor<f32>, tensor<f32>) outs(%v74 : tensor<f32>)
    return %v75 : tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
    %v0 = arith.constant dense<0.0> : tensor<f32>
    %v1 = tensor.empty() : tensor<4x16xf32>
    %v2 = linalg.broadcast ins(%v0 : tensor<f32>) outs(%v1 : tensor<4x16xf32>) dimensions = [0, 1]
    %v3 = tensor.empty() : tensor<4x16xf32>
    %v4 = linalg.map { arith.maximumf } ins(%arg0, %v2 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%v3 : tensor<4x16xf32>)
    return %v4 : tensor<4x16xf32>
  }
}
