module {
  func.func @main(%arg0: tensor<2x3x8x8xf32>) -> tensor<2x4xf32> {
    %v0 = arith.constant dense_resource<__elided__> : tensor<8x3x2x2xf32>
    %v1 = arith.constant 0.000000e+00 : f32
    %v2 = tensor.empty() : tensor<2x8x4x4xf32>
    %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %v4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%arg0, %v0 : tensor<2x3x8x8xf32>, tensor<8x3x2x2xf32>) outs(%v3 : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %v5 = tensor.collapse_shape %v4 [[0], [1], [2, 3]] : tensor<2x8x4x4xf32> into tensor<2x8x16xf32>
    %v6 = tensor.empty() : tensor<2x16x8xf32>
    %v7 = linalg.transpose ins(%v5 : tensor<2x8x16xf32>) outs(%v6 : tensor<2x16x8xf32>) permutation = [0, 2, 1]
    %v8 = arith.constant dense<[[[0.68884, 0.51591, -0.15886, -0.48217, 0.02255, -0.19013, 0.56760, -0.39337]]]> : tensor<1x1x8xf32>
    %v9 = tensor.empty() : tensor<2x1x8xf32>
    %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (0, 0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8 : tensor<1x1x8xf32>) outs(%v9 : tensor<2x1x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<2x1x8xf32>
    %v11 = tensor.concat dim(1) %v10, %v7 : (tensor<2x1x8xf32>, tensor<2x16x8xf32>) -> tensor<2x17x8xf32>
    %v12 = arith.constant dense_resource<__elided__> : tensor<1x17x8xf32>
    %v13 = tensor.empty() : tensor<2x17x8xf32>
    %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v11, %v12 : tensor<2x17x8xf32>, tensor<1x17x8xf32>) outs(%v13 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v15 = arith.constant dense<1.0> : tensor<8xf32>
    %v16 = arith.constant dense<0.0> : tensor<8xf32>
    %v17 = arith.constant 0.000000e+00 : f32
    %v18 = tensor.empty() : tensor<2x17x1xf32>
    %v19 = linalg.fill ins(%v17 : f32) outs(%v18 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v14 : tensor<2x17x8xf32>) outs(%v19 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v21 = arith.constant 1.250000e-01 : f32
    %v22 = tensor.empty() : tensor<2x17x1xf32>
    %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v20 : tensor<2x17x1xf32>) outs(%v22 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v21 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v24 = tensor.empty() : tensor<2x17x8xf32>
    %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v14, %v23 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v24 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v26 = tensor.empty() : tensor<2x17x8xf32>
    %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v25, %v25 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v26 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v28 = arith.constant 0.000000e+00 : f32
    %v29 = tensor.empty() : tensor<2x17x1xf32>
    %v30 = linalg.fill ins(%v28 : f32) outs(%v29 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v27 : tensor<2x17x8xf32>) outs(%v30 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v32 = arith.constant 1.250000e-01 : f32
    %v33 = tensor.empty() : tensor<2x17x1xf32>
    %v34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v31 : tensor<2x17x1xf32>) outs(%v33 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v32 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v35 = arith.constant 1.000000e-05 : f64
    %v36 = tensor.empty() : tensor<2x17x1xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v34 : tensor<2x17x1xf32>) outs(%v36 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v35 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v38 = tensor.empty() : tensor<2x17x8xf32>
    %v39 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v25, %v37 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v38 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v40 = tensor.empty() : tensor<2x17x8xf32>
    %v41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v39, %v15 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v40 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v42 = tensor.empty() : tensor<2x17x8xf32>
    %v43 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v41, %v16 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v42 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v44 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v45 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v46 = tensor.collapse_shape %v43 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v47 = tensor.empty() : tensor<8x8xf32>
    %v48 = linalg.transpose ins(%v44 : tensor<8x8xf32>) outs(%v47 : tensor<8x8xf32>) permutation = [1, 0]
    %v49 = arith.constant 0.000000e+00 : f32
    %v50 = tensor.empty() : tensor<34x8xf32>
    %v51 = linalg.fill ins(%v49 : f32) outs(%v50 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v52 = linalg.matmul ins(%v46, %v48 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v51 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v53 = tensor.expand_shape %v52 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v54 = tensor.empty() : tensor<2x17x8xf32>
    %v55 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v53, %v45 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v54 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v56 = tensor.expand_shape %v55 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v57 = tensor.empty() : tensor<2x2x17x4xf32>
    %v58 = linalg.transpose ins(%v56 : tensor<2x17x2x4xf32>) outs(%v57 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v59 = tensor.collapse_shape %v58 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v60 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v61 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v62 = tensor.collapse_shape %v43 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v63 = tensor.empty() : tensor<8x8xf32>
    %v64 = linalg.transpose ins(%v60 : tensor<8x8xf32>) outs(%v63 : tensor<8x8xf32>) permutation = [1, 0]
    %v65 = arith.constant 0.000000e+00 : f32
    %v66 = tensor.empty() : tensor<34x8xf32>
    %v67 = linalg.fill ins(%v65 : f32) outs(%v66 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v68 = linalg.matmul ins(%v62, %v64 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v67 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v69 = tensor.expand_shape %v68 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v70 = tensor.empty() : tensor<2x17x8xf32>
    %v71 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v69, %v61 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v70 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v72 = tensor.expand_shape %v71 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v73 = tensor.empty() : tensor<2x2x17x4xf32>
    %v74 = linalg.transpose ins(%v72 : tensor<2x17x2x4xf32>) outs(%v73 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v75 = tensor.collapse_shape %v74 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v76 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v77 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v78 = tensor.collapse_shape %v43 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v79 = tensor.empty() : tensor<8x8xf32>
    %v80 = linalg.transpose ins(%v76 : tensor<8x8xf32>) outs(%v79 : tensor<8x8xf32>) permutation = [1, 0]
    %v81 = arith.constant 0.000000e+00 : f32
    %v82 = tensor.empty() : tensor<34x8xf32>
    %v83 = linalg.fill ins(%v81 : f32) outs(%v82 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v84 = linalg.matmul ins(%v78, %v80 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v83 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v85 = tensor.expand_shape %v84 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v86 = tensor.empty() : tensor<2x17x8xf32>
    %v87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v85, %v77 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v86 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v88 = tensor.expand_shape %v87 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v89 = tensor.empty() : tensor<2x2x17x4xf32>
    %v90 = linalg.transpose ins(%v88 : tensor<2x17x2x4xf32>) outs(%v89 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v91 = tensor.collapse_shape %v90 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v92 = tensor.empty() : tensor<4x4x17xf32>
    %v93 = linalg.transpose ins(%v75 : tensor<4x17x4xf32>) outs(%v92 : tensor<4x4x17xf32>) permutation = [0, 2, 1]
    %v94 = arith.constant 0.000000e+00 : f32
    %v95 = tensor.empty() : tensor<4x17x17xf32>
    %v96 = linalg.fill ins(%v94 : f32) outs(%v95 : tensor<4x17x17xf32>) -> tensor<4x17x17xf32>
    %v97 = linalg.batch_matmul ins(%v59, %v93 : tensor<4x17x4xf32>, tensor<4x4x17xf32>) outs(%v96 : tensor<4x17x17xf32>) -> tensor<4x17x17xf32>
    %v98 = arith.constant 5.000000e-01 : f32
    %v99 = tensor.empty() : tensor<4x17x17xf32>
    %v100 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v97 : tensor<4x17x17xf32>) outs(%v99 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v98 : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v101 = arith.constant 0xFF800000 : f32
    %v102 = tensor.empty() : tensor<4x17x1xf32>
    %v103 = linalg.fill ins(%v101 : f32) outs(%v102 : tensor<4x17x1xf32>) -> tensor<4x17x1xf32>
    %v104 = arith.constant 0 : i64
    %v105 = tensor.empty() : tensor<4x17x1xi64>
    %v106 = linalg.fill ins(%v104 : i64) outs(%v105 : tensor<4x17x1xi64>) -> tensor<4x17x1xi64>
    %v107, %v108 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v100 : tensor<4x17x17xf32>) outs(%v103, %v106 : tensor<4x17x1xf32>, tensor<4x17x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x17x1xf32>, tensor<4x17x1xi64>)
    %v109 = tensor.empty() : tensor<4x17x17xf32>
    %v110 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v100, %v107 : tensor<4x17x17xf32>, tensor<4x17x1xf32>) outs(%v109 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v111 = tensor.empty() : tensor<4x17x17xf32>
    %v112 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v110 : tensor<4x17x17xf32>) outs(%v111 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v113 = arith.constant 0.000000e+00 : f32
    %v114 = tensor.empty() : tensor<4x17x1xf32>
    %v115 = linalg.fill ins(%v113 : f32) outs(%v114 : tensor<4x17x1xf32>) -> tensor<4x17x1xf32>
    %v116 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v112 : tensor<4x17x17xf32>) outs(%v115 : tensor<4x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x17x1xf32>
    %v117 = tensor.empty() : tensor<4x17x17xf32>
    %v118 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v112, %v116 : tensor<4x17x17xf32>, tensor<4x17x1xf32>) outs(%v117 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v119 = arith.constant 0.000000e+00 : f32
    %v120 = tensor.empty() : tensor<4x17x4xf32>
    %v121 = linalg.fill ins(%v119 : f32) outs(%v120 : tensor<4x17x4xf32>) -> tensor<4x17x4xf32>
    %v122 = linalg.batch_matmul ins(%v118, %v91 : tensor<4x17x17xf32>, tensor<4x17x4xf32>) outs(%v121 : tensor<4x17x4xf32>) -> tensor<4x17x4xf32>
    %v123 = tensor.expand_shape %v122 [[0, 1], [2], [3]] output_shape [2, 2, 17, 4] : tensor<4x17x4xf32> into tensor<2x2x17x4xf32>
    %v124 = tensor.empty() : tensor<2x17x2x4xf32>
    %v125 = linalg.transpose ins(%v123 : tensor<2x2x17x4xf32>) outs(%v124 : tensor<2x17x2x4xf32>) permutation = [0, 2, 1, 3]
    %v126 = tensor.collapse_shape %v125 [[0], [1], [2, 3]] : tensor<2x17x2x4xf32> into tensor<2x17x8xf32>
    %v127 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v128 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v129 = tensor.collapse_shape %v126 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v130 = tensor.empty() : tensor<8x8xf32>
    %v131 = linalg.transpose ins(%v127 : tensor<8x8xf32>) outs(%v130 : tensor<8x8xf32>) permutation = [1, 0]
    %v132 = arith.constant 0.000000e+00 : f32
    %v133 = tensor.empty() : tensor<34x8xf32>
    %v134 = linalg.fill ins(%v132 : f32) outs(%v133 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v135 = linalg.matmul ins(%v129, %v131 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v134 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v136 = tensor.expand_shape %v135 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v137 = tensor.empty() : tensor<2x17x8xf32>
    %v138 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v136, %v128 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v137 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v139 = tensor.empty() : tensor<2x17x8xf32>
    %v140 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v14, %v138 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v139 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v141 = arith.constant dense<1.0> : tensor<8xf32>
    %v142 = arith.constant dense<0.0> : tensor<8xf32>
    %v143 = arith.constant 0.000000e+00 : f32
    %v144 = tensor.empty() : tensor<2x17x1xf32>
    %v145 = linalg.fill ins(%v143 : f32) outs(%v144 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v146 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v140 : tensor<2x17x8xf32>) outs(%v145 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v147 = arith.constant 1.250000e-01 : f32
    %v148 = tensor.empty() : tensor<2x17x1xf32>
    %v149 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v146 : tensor<2x17x1xf32>) outs(%v148 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v147 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v150 = tensor.empty() : tensor<2x17x8xf32>
    %v151 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v140, %v149 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v150 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v152 = tensor.empty() : tensor<2x17x8xf32>
    %v153 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v151, %v151 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v152 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v154 = arith.constant 0.000000e+00 : f32
    %v155 = tensor.empty() : tensor<2x17x1xf32>
    %v156 = linalg.fill ins(%v154 : f32) outs(%v155 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v157 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v153 : tensor<2x17x8xf32>) outs(%v156 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v158 = arith.constant 1.250000e-01 : f32
    %v159 = tensor.empty() : tensor<2x17x1xf32>
    %v160 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v157 : tensor<2x17x1xf32>) outs(%v159 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v158 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v161 = arith.constant 1.000000e-05 : f64
    %v162 = tensor.empty() : tensor<2x17x1xf32>
    %v163 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v160 : tensor<2x17x1xf32>) outs(%v162 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v161 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v164 = tensor.empty() : tensor<2x17x8xf32>
    %v165 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v151, %v163 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v164 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v166 = tensor.empty() : tensor<2x17x8xf32>
    %v167 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v165, %v141 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v166 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v168 = tensor.empty() : tensor<2x17x8xf32>
    %v169 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v167, %v142 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v168 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v170 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v171 = arith.constant dense_resource<__elided__> : tensor<16xf32>
    %v172 = tensor.collapse_shape %v169 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v173 = tensor.empty() : tensor<8x16xf32>
    %v174 = linalg.transpose ins(%v170 : tensor<16x8xf32>) outs(%v173 : tensor<8x16xf32>) permutation = [1, 0]
    %v175 = arith.constant 0.000000e+00 : f32
    %v176 = tensor.empty() : tensor<34x16xf32>
    %v177 = linalg.fill ins(%v175 : f32) outs(%v176 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %v178 = linalg.matmul ins(%v172, %v174 : tensor<34x8xf32>, tensor<8x16xf32>) outs(%v177 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %v179 = tensor.expand_shape %v178 [[0, 1], [2]] output_shape [2, 17, 16] : tensor<34x16xf32> into tensor<2x17x16xf32>
    %v180 = tensor.empty() : tensor<2x17x16xf32>
    %v181 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v179, %v171 : tensor<2x17x16xf32>, tensor<16xf32>) outs(%v180 : tensor<2x17x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x16xf32>
    %v182 = arith.constant 5.000000e-01 : f32
    %v183 = arith.constant 7.978846e-01 : f32
    %v184 = arith.constant 4.471500e-02 : f32
    %v185 = arith.constant 1.000000e+00 : f32
    %v186 = tensor.empty() : tensor<2x17x16xf32>
    %v187 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v181 : tensor<2x17x16xf32>) outs(%v186 : tensor<2x17x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %u = arith.mulf %q, %a : f32
      %c = arith.mulf %u, %v184 : f32
      %s = arith.addf %a, %c : f32
      %t = arith.mulf %s, %v183 : f32
      %h = math.tanh %t : f32
      %k = arith.addf %h, %v185 : f32
      %m = arith.mulf %a, %v182 : f32
      %r = arith.mulf %m, %k : f32
      linalg.yield %r : f32
    } -> tensor<2x17x16xf32>
    %v188 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v189 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v190 = tensor.collapse_shape %v187 [[0, 1], [2]] : tensor<2x17x16xf32> into tensor<34x16xf32>
    %v191 = tensor.empty() : tensor<16x8xf32>
    %v192 = linalg.transpose ins(%v188 : tensor<8x16xf32>) outs(%v191 : tensor<16x8xf32>) permutation = [1, 0]
    %v193 = arith.constant 0.000000e+00 : f32
    %v194 = tensor.empty() : tensor<34x8xf32>
    %v195 = linalg.fill ins(%v193 : f32) outs(%v194 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v196 = linalg.matmul ins(%v190, %v192 : tensor<34x16xf32>, tensor<16x8xf32>) outs(%v195 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v197 = tensor.expand_shape %v196 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v198 = tensor.empty() : tensor<2x17x8xf32>
    %v199 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v197, %v189 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v198 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v200 = tensor.empty() : tensor<2x17x8xf32>
    %v201 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v140, %v199 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v200 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v202 = arith.constant dense<1.0> : tensor<8xf32>
    %v203 = arith.constant dense<0.0> : tensor<8xf32>
    %v204 = arith.constant 0.000000e+00 : f32
    %v205 = tensor.empty() : tensor<2x17x1xf32>
    %v206 = linalg.fill ins(%v204 : f32) outs(%v205 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v207 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v201 : tensor<2x17x8xf32>) outs(%v206 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v208 = arith.constant 1.250000e-01 : f32
    %v209 = tensor.empty() : tensor<2x17x1xf32>
    %v210 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v207 : tensor<2x17x1xf32>) outs(%v209 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v208 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v211 = tensor.empty() : tensor<2x17x8xf32>
    %v212 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v201, %v210 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v211 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v213 = tensor.empty() : tensor<2x17x8xf32>
    %v214 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v212, %v212 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v213 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v215 = arith.constant 0.000000e+00 : f32
    %v216 = tensor.empty() : tensor<2x17x1xf32>
    %v217 = linalg.fill ins(%v215 : f32) outs(%v216 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v218 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v214 : tensor<2x17x8xf32>) outs(%v217 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v219 = arith.constant 1.250000e-01 : f32
    %v220 = tensor.empty() : tensor<2x17x1xf32>
    %v221 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v218 : tensor<2x17x1xf32>) outs(%v220 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v219 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v222 = arith.constant 1.000000e-05 : f64
    %v223 = tensor.empty() : tensor<2x17x1xf32>
    %v224 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v221 : tensor<2x17x1xf32>) outs(%v223 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v222 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v225 = tensor.empty() : tensor<2x17x8xf32>
    %v226 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v212, %v224 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v225 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v227 = tensor.empty() : tensor<2x17x8xf32>
    %v228 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v226, %v202 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v227 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v229 = tensor.empty() : tensor<2x17x8xf32>
    %v230 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v228, %v203 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v229 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v231 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v232 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v233 = tensor.collapse_shape %v230 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v234 = tensor.empty() : tensor<8x8xf32>
    %v235 = linalg.transpose ins(%v231 : tensor<8x8xf32>) outs(%v234 : tensor<8x8xf32>) permutation = [1, 0]
    %v236 = arith.constant 0.000000e+00 : f32
    %v237 = tensor.empty() : tensor<34x8xf32>
    %v238 = linalg.fill ins(%v236 : f32) outs(%v237 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v239 = linalg.matmul ins(%v233, %v235 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v238 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v240 = tensor.expand_shape %v239 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v241 = tensor.empty() : tensor<2x17x8xf32>
    %v242 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v240, %v232 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v241 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v243 = tensor.expand_shape %v242 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v244 = tensor.empty() : tensor<2x2x17x4xf32>
    %v245 = linalg.transpose ins(%v243 : tensor<2x17x2x4xf32>) outs(%v244 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v246 = tensor.collapse_shape %v245 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v247 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v248 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v249 = tensor.collapse_shape %v230 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v250 = tensor.empty() : tensor<8x8xf32>
    %v251 = linalg.transpose ins(%v247 : tensor<8x8xf32>) outs(%v250 : tensor<8x8xf32>) permutation = [1, 0]
    %v252 = arith.constant 0.000000e+00 : f32
    %v253 = tensor.empty() : tensor<34x8xf32>
    %v254 = linalg.fill ins(%v252 : f32) outs(%v253 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v255 = linalg.matmul ins(%v249, %v251 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v254 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v256 = tensor.expand_shape %v255 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v257 = tensor.empty() : tensor<2x17x8xf32>
    %v258 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v256, %v248 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v257 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v259 = tensor.expand_shape %v258 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v260 = tensor.empty() : tensor<2x2x17x4xf32>
    %v261 = linalg.transpose ins(%v259 : tensor<2x17x2x4xf32>) outs(%v260 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v262 = tensor.collapse_shape %v261 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v263 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v264 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v265 = tensor.collapse_shape %v230 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v266 = tensor.empty() : tensor<8x8xf32>
    %v267 = linalg.transpose ins(%v263 : tensor<8x8xf32>) outs(%v266 : tensor<8x8xf32>) permutation = [1, 0]
    %v268 = arith.constant 0.000000e+00 : f32
    %v269 = tensor.empty() : tensor<34x8xf32>
    %v270 = linalg.fill ins(%v268 : f32) outs(%v269 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v271 = linalg.matmul ins(%v265, %v267 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v270 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v272 = tensor.expand_shape %v271 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v273 = tensor.empty() : tensor<2x17x8xf32>
    %v274 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v272, %v264 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v273 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v275 = tensor.expand_shape %v274 [[0], [1], [2, 3]] output_shape [2, 17, 2, 4] : tensor<2x17x8xf32> into tensor<2x17x2x4xf32>
    %v276 = tensor.empty() : tensor<2x2x17x4xf32>
    %v277 = linalg.transpose ins(%v275 : tensor<2x17x2x4xf32>) outs(%v276 : tensor<2x2x17x4xf32>) permutation = [0, 2, 1, 3]
    %v278 = tensor.collapse_shape %v277 [[0, 1], [2], [3]] : tensor<2x2x17x4xf32> into tensor<4x17x4xf32>
    %v279 = tensor.empty() : tensor<4x4x17xf32>
    %v280 = linalg.transpose ins(%v262 : tensor<4x17x4xf32>) outs(%v279 : tensor<4x4x17xf32>) permutation = [0, 2, 1]
    %v281 = arith.constant 0.000000e+00 : f32
    %v282 = tensor.empty() : tensor<4x17x17xf32>
    %v283 = linalg.fill ins(%v281 : f32) outs(%v282 : tensor<4x17x17xf32>) -> tensor<4x17x17xf32>
    %v284 = linalg.batch_matmul ins(%v246, %v280 : tensor<4x17x4xf32>, tensor<4x4x17xf32>) outs(%v283 : tensor<4x17x17xf32>) -> tensor<4x17x17xf32>
    %v285 = arith.constant 5.000000e-01 : f32
    %v286 = tensor.empty() : tensor<4x17x17xf32>
    %v287 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v284 : tensor<4x17x17xf32>) outs(%v286 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v285 : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v288 = arith.constant 0xFF800000 : f32
    %v289 = tensor.empty() : tensor<4x17x1xf32>
    %v290 = linalg.fill ins(%v288 : f32) outs(%v289 : tensor<4x17x1xf32>) -> tensor<4x17x1xf32>
    %v291 = arith.constant 0 : i64
    %v292 = tensor.empty() : tensor<4x17x1xi64>
    %v293 = linalg.fill ins(%v291 : i64) outs(%v292 : tensor<4x17x1xi64>) -> tensor<4x17x1xi64>
    %v294, %v295 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v287 : tensor<4x17x17xf32>) outs(%v290, %v293 : tensor<4x17x1xf32>, tensor<4x17x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x17x1xf32>, tensor<4x17x1xi64>)
    %v296 = tensor.empty() : tensor<4x17x17xf32>
    %v297 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v287, %v294 : tensor<4x17x17xf32>, tensor<4x17x1xf32>) outs(%v296 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v298 = tensor.empty() : tensor<4x17x17xf32>
    %v299 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v297 : tensor<4x17x17xf32>) outs(%v298 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v300 = arith.constant 0.000000e+00 : f32
    %v301 = tensor.empty() : tensor<4x17x1xf32>
    %v302 = linalg.fill ins(%v300 : f32) outs(%v301 : tensor<4x17x1xf32>) -> tensor<4x17x1xf32>
    %v303 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v299 : tensor<4x17x17xf32>) outs(%v302 : tensor<4x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x17x1xf32>
    %v304 = tensor.empty() : tensor<4x17x17xf32>
    %v305 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v299, %v303 : tensor<4x17x17xf32>, tensor<4x17x1xf32>) outs(%v304 : tensor<4x17x17xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x17x17xf32>
    %v306 = arith.constant 0.000000e+00 : f32
    %v307 = tensor.empty() : tensor<4x17x4xf32>
    %v308 = linalg.fill ins(%v306 : f32) outs(%v307 : tensor<4x17x4xf32>) -> tensor<4x17x4xf32>
    %v309 = linalg.batch_matmul ins(%v305, %v278 : tensor<4x17x17xf32>, tensor<4x17x4xf32>) outs(%v308 : tensor<4x17x4xf32>) -> tensor<4x17x4xf32>
    %v310 = tensor.expand_shape %v309 [[0, 1], [2], [3]] output_shape [2, 2, 17, 4] : tensor<4x17x4xf32> into tensor<2x2x17x4xf32>
    %v311 = tensor.empty() : tensor<2x17x2x4xf32>
    %v312 = linalg.transpose ins(%v310 : tensor<2x2x17x4xf32>) outs(%v311 : tensor<2x17x2x4xf32>) permutation = [0, 2, 1, 3]
    %v313 = tensor.collapse_shape %v312 [[0], [1], [2, 3]] : tensor<2x17x2x4xf32> into tensor<2x17x8xf32>
    %v314 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v315 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v316 = tensor.collapse_shape %v313 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v317 = tensor.empty() : tensor<8x8xf32>
    %v318 = linalg.transpose ins(%v314 : tensor<8x8xf32>) outs(%v317 : tensor<8x8xf32>) permutation = [1, 0]
    %v319 = arith.constant 0.000000e+00 : f32
    %v320 = tensor.empty() : tensor<34x8xf32>
    %v321 = linalg.fill ins(%v319 : f32) outs(%v320 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v322 = linalg.matmul ins(%v316, %v318 : tensor<34x8xf32>, tensor<8x8xf32>) outs(%v321 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v323 = tensor.expand_shape %v322 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v324 = tensor.empty() : tensor<2x17x8xf32>
    %v325 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v323, %v315 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v324 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v326 = tensor.empty() : tensor<2x17x8xf32>
    %v327 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v201, %v325 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v326 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v328 = arith.constant dense<1.0> : tensor<8xf32>
    %v329 = arith.constant dense<0.0> : tensor<8xf32>
    %v330 = arith.constant 0.000000e+00 : f32
    %v331 = tensor.empty() : tensor<2x17x1xf32>
    %v332 = linalg.fill ins(%v330 : f32) outs(%v331 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v333 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v327 : tensor<2x17x8xf32>) outs(%v332 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v334 = arith.constant 1.250000e-01 : f32
    %v335 = tensor.empty() : tensor<2x17x1xf32>
    %v336 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v333 : tensor<2x17x1xf32>) outs(%v335 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v334 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v337 = tensor.empty() : tensor<2x17x8xf32>
    %v338 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v327, %v336 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v337 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v339 = tensor.empty() : tensor<2x17x8xf32>
    %v340 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v338, %v338 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v339 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v341 = arith.constant 0.000000e+00 : f32
    %v342 = tensor.empty() : tensor<2x17x1xf32>
    %v343 = linalg.fill ins(%v341 : f32) outs(%v342 : tensor<2x17x1xf32>) -> tensor<2x17x1xf32>
    %v344 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v340 : tensor<2x17x8xf32>) outs(%v343 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v345 = arith.constant 1.250000e-01 : f32
    %v346 = tensor.empty() : tensor<2x17x1xf32>
    %v347 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v344 : tensor<2x17x1xf32>) outs(%v346 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v345 : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v348 = arith.constant 1.000000e-05 : f64
    %v349 = tensor.empty() : tensor<2x17x1xf32>
    %v350 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v347 : tensor<2x17x1xf32>) outs(%v349 : tensor<2x17x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v348 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x17x1xf32>
    %v351 = tensor.empty() : tensor<2x17x8xf32>
    %v352 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v338, %v350 : tensor<2x17x8xf32>, tensor<2x17x1xf32>) outs(%v351 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v353 = tensor.empty() : tensor<2x17x8xf32>
    %v354 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v352, %v328 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v353 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v355 = tensor.empty() : tensor<2x17x8xf32>
    %v356 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v354, %v329 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v355 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v357 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v358 = arith.constant dense_resource<__elided__> : tensor<16xf32>
    %v359 = tensor.collapse_shape %v356 [[0, 1], [2]] : tensor<2x17x8xf32> into tensor<34x8xf32>
    %v360 = tensor.empty() : tensor<8x16xf32>
    %v361 = linalg.transpose ins(%v357 : tensor<16x8xf32>) outs(%v360 : tensor<8x16xf32>) permutation = [1, 0]
    %v362 = arith.constant 0.000000e+00 : f32
    %v363 = tensor.empty() : tensor<34x16xf32>
    %v364 = linalg.fill ins(%v362 : f32) outs(%v363 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %v365 = linalg.matmul ins(%v359, %v361 : tensor<34x8xf32>, tensor<8x16xf32>) outs(%v364 : tensor<34x16xf32>) -> tensor<34x16xf32>
    %v366 = tensor.expand_shape %v365 [[0, 1], [2]] output_shape [2, 17, 16] : tensor<34x16xf32> into tensor<2x17x16xf32>
    %v367 = tensor.empty() : tensor<2x17x16xf32>
    %v368 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v366, %v358 : tensor<2x17x16xf32>, tensor<16xf32>) outs(%v367 : tensor<2x17x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x16xf32>
    %v369 = arith.constant 5.000000e-01 : f32
    %v370 = arith.constant 7.978846e-01 : f32
    %v371 = arith.constant 4.471500e-02 : f32
    %v372 = arith.constant 1.000000e+00 : f32
    %v373 = tensor.empty() : tensor<2x17x16xf32>
    %v374 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v368 : tensor<2x17x16xf32>) outs(%v373 : tensor<2x17x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %u = arith.mulf %q, %a : f32
      %c = arith.mulf %u, %v371 : f32
      %s = arith.addf %a, %c : f32
      %t = arith.mulf %s, %v370 : f32
      %h = math.tanh %t : f32
      %k = arith.addf %h, %v372 : f32
      %m = arith.mulf %a, %v369 : f32
      %r = arith.mulf %m, %k : f32
      linalg.yield %r : f32
    } -> tensor<2x17x16xf32>
    %v375 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v376 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v377 = tensor.collapse_shape %v374 [[0, 1], [2]] : tensor<2x17x16xf32> into tensor<34x16xf32>
    %v378 = tensor.empty() : tensor<16x8xf32>
    %v379 = linalg.transpose ins(%v375 : tensor<8x16xf32>) outs(%v378 : tensor<16x8xf32>) permutation = [1, 0]
    %v380 = arith.constant 0.000000e+00 : f32
    %v381 = tensor.empty() : tensor<34x8xf32>
    %v382 = linalg.fill ins(%v380 : f32) outs(%v381 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v383 = linalg.matmul ins(%v377, %v379 : tensor<34x16xf32>, tensor<16x8xf32>) outs(%v382 : tensor<34x8xf32>) -> tensor<34x8xf32>
    %v384 = tensor.expand_shape %v383 [[0, 1], [2]] output_shape [2, 17, 8] : tensor<34x8xf32> into tensor<2x17x8xf32>
    %v385 = tensor.empty() : tensor<2x17x8xf32>
    %v386 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v384, %v376 : tensor<2x17x8xf32>, tensor<8xf32>) outs(%v385 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v387 = tensor.empty() : tensor<2x17x8xf32>
    %v388 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v327, %v386 : tensor<2x17x8xf32>, tensor<2x17x8xf32>) outs(%v387 : tensor<2x17x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x17x8xf32>
    %v389 = tensor.extract_slice %v388[0, 0, 0] [2, 1, 8] [1, 1, 1] : tensor<2x17x8xf32> to tensor<2x1x8xf32>
    %v390 = tensor.collapse_shape %v389 [[0], [1, 2]] : tensor<2x1x8xf32> into tensor<2x8xf32>
    %v391 = arith.constant dense_resource<__elided__> : tensor<4x8xf32>
    %v392 = arith.constant dense_resource<__elided__> : tensor<4xf32>
    %v393 = tensor.empty() : tensor<8x4xf32>
    %v394 = linalg.transpose ins(%v391 : tensor<4x8xf32>) outs(%v393 : tensor<8x4xf32>) permutation = [1, 0]
    %v395 = arith.constant 0.000000e+00 : f32
    %v396 = tensor.empty() : tensor<2x4xf32>
    %v397 = linalg.fill ins(%v395 : f32) outs(%v396 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v398 = linalg.matmul ins(%v390, %v394 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%v397 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v399 = tensor.empty() : tensor<2x4xf32>
    %v400 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v398, %v392 : tensor<2x4xf32>, tensor<4xf32>) outs(%v399 : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x4xf32>
    return %v400 : tensor<2x4xf32>
  }
}
