module {
  func.func @main(%arg0: tensor<2x5xi64>, %arg1: tensor<2x5xi64>) -> tensor<2x5x11xf32> {
    %v0 = arith.constant dense_resource<__elided__> : tensor<11x8xf32>
    %v1 = tensor.empty() : tensor<2x5x8xf32>
    %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x5xi64>) outs(%v1 : tensor<2x5x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v0[%i, %j] : tensor<11x8xf32>
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v3 = arith.constant dense<1.0> : tensor<8xf32>
    %v4 = arith.constant dense<0.0> : tensor<8xf32>
    %v5 = arith.constant 0.000000e+00 : f32
    %v6 = tensor.empty() : tensor<2x5x1xf32>
    %v7 = linalg.fill ins(%v5 : f32) outs(%v6 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v2 : tensor<2x5x8xf32>) outs(%v7 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v9 = arith.constant 1.250000e-01 : f32
    %v10 = tensor.empty() : tensor<2x5x1xf32>
    %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8 : tensor<2x5x1xf32>) outs(%v10 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v9 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v12 = tensor.empty() : tensor<2x5x8xf32>
    %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v11 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v12 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v14 = tensor.empty() : tensor<2x5x8xf32>
    %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v13, %v13 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v14 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v16 = arith.constant 0.000000e+00 : f32
    %v17 = tensor.empty() : tensor<2x5x1xf32>
    %v18 = linalg.fill ins(%v16 : f32) outs(%v17 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v15 : tensor<2x5x8xf32>) outs(%v18 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v20 = arith.constant 1.250000e-01 : f32
    %v21 = tensor.empty() : tensor<2x5x1xf32>
    %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v19 : tensor<2x5x1xf32>) outs(%v21 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v20 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v23 = arith.constant 1.000000e-05 : f64
    %v24 = tensor.empty() : tensor<2x5x1xf32>
    %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v22 : tensor<2x5x1xf32>) outs(%v24 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v23 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v26 = tensor.empty() : tensor<2x5x8xf32>
    %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v13, %v25 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v26 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v28 = tensor.empty() : tensor<2x5x8xf32>
    %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v27, %v3 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v28 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v30 = tensor.empty() : tensor<2x5x8xf32>
    %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v29, %v4 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v30 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v32 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v33 = tensor.collapse_shape %v2 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v34 = tensor.empty() : tensor<8x8xf32>
    %v35 = linalg.transpose ins(%v32 : tensor<8x8xf32>) outs(%v34 : tensor<8x8xf32>) permutation = [1, 0]
    %v36 = arith.constant 0.000000e+00 : f32
    %v37 = tensor.empty() : tensor<10x8xf32>
    %v38 = linalg.fill ins(%v36 : f32) outs(%v37 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v39 = linalg.matmul ins(%v33, %v35 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v38 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v40 = tensor.expand_shape %v39 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v41 = tensor.expand_shape %v40 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v42 = tensor.empty() : tensor<2x2x5x4xf32>
    %v43 = linalg.transpose ins(%v41 : tensor<2x5x2x4xf32>) outs(%v42 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v44 = tensor.collapse_shape %v43 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v45 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v46 = tensor.collapse_shape %v31 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v47 = tensor.empty() : tensor<8x8xf32>
    %v48 = linalg.transpose ins(%v45 : tensor<8x8xf32>) outs(%v47 : tensor<8x8xf32>) permutation = [1, 0]
    %v49 = arith.constant 0.000000e+00 : f32
    %v50 = tensor.empty() : tensor<10x8xf32>
    %v51 = linalg.fill ins(%v49 : f32) outs(%v50 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v52 = linalg.matmul ins(%v46, %v48 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v51 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v53 = tensor.expand_shape %v52 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v54 = tensor.expand_shape %v53 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v55 = tensor.empty() : tensor<2x2x5x4xf32>
    %v56 = linalg.transpose ins(%v54 : tensor<2x5x2x4xf32>) outs(%v55 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v57 = tensor.collapse_shape %v56 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v58 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v59 = tensor.collapse_shape %v31 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v60 = tensor.empty() : tensor<8x8xf32>
    %v61 = linalg.transpose ins(%v58 : tensor<8x8xf32>) outs(%v60 : tensor<8x8xf32>) permutation = [1, 0]
    %v62 = arith.constant 0.000000e+00 : f32
    %v63 = tensor.empty() : tensor<10x8xf32>
    %v64 = linalg.fill ins(%v62 : f32) outs(%v63 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v65 = linalg.matmul ins(%v59, %v61 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v64 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v66 = tensor.expand_shape %v65 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v67 = tensor.expand_shape %v66 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v68 = tensor.empty() : tensor<2x2x5x4xf32>
    %v69 = linalg.transpose ins(%v67 : tensor<2x5x2x4xf32>) outs(%v68 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v70 = tensor.collapse_shape %v69 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v71 = tensor.empty() : tensor<4x4x5xf32>
    %v72 = linalg.transpose ins(%v57 : tensor<4x5x4xf32>) outs(%v71 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v73 = arith.constant 0.000000e+00 : f32
    %v74 = tensor.empty() : tensor<4x5x5xf32>
    %v75 = linalg.fill ins(%v73 : f32) outs(%v74 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v76 = linalg.batch_matmul ins(%v44, %v72 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v75 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v77 = arith.constant 5.000000e-01 : f32
    %v78 = tensor.empty() : tensor<4x5x5xf32>
    %v79 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v76 : tensor<4x5x5xf32>) outs(%v78 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v77 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v80 = arith.constant 0xFF800000 : f32
    %v81 = tensor.empty() : tensor<4x5x1xf32>
    %v82 = linalg.fill ins(%v80 : f32) outs(%v81 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v83 = arith.constant 0 : i64
    %v84 = tensor.empty() : tensor<4x5x1xi64>
    %v85 = linalg.fill ins(%v83 : i64) outs(%v84 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v86, %v87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v79 : tensor<4x5x5xf32>) outs(%v82, %v85 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v88 = tensor.empty() : tensor<4x5x5xf32>
    %v89 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v79, %v86 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v88 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v90 = tensor.empty() : tensor<4x5x5xf32>
    %v91 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v89 : tensor<4x5x5xf32>) outs(%v90 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v92 = arith.constant 0.000000e+00 : f32
    %v93 = tensor.empty() : tensor<4x5x1xf32>
    %v94 = linalg.fill ins(%v92 : f32) outs(%v93 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v95 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v91 : tensor<4x5x5xf32>) outs(%v94 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v96 = tensor.empty() : tensor<4x5x5xf32>
    %v97 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v91, %v95 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v96 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v98 = arith.constant 0.000000e+00 : f32
    %v99 = tensor.empty() : tensor<4x5x4xf32>
    %v100 = linalg.fill ins(%v98 : f32) outs(%v99 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v101 = linalg.batch_matmul ins(%v97, %v70 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v100 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v102 = tensor.expand_shape %v101 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v103 = tensor.empty() : tensor<2x5x2x4xf32>
    %v104 = linalg.transpose ins(%v102 : tensor<2x2x5x4xf32>) outs(%v103 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v105 = tensor.collapse_shape %v104 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v106 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v107 = tensor.collapse_shape %v105 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v108 = tensor.empty() : tensor<8x8xf32>
    %v109 = linalg.transpose ins(%v106 : tensor<8x8xf32>) outs(%v108 : tensor<8x8xf32>) permutation = [1, 0]
    %v110 = arith.constant 0.000000e+00 : f32
    %v111 = tensor.empty() : tensor<10x8xf32>
    %v112 = linalg.fill ins(%v110 : f32) outs(%v111 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v113 = linalg.matmul ins(%v107, %v109 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v112 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v114 = tensor.expand_shape %v113 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v115 = tensor.empty() : tensor<2x5x8xf32>
    %v116 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v114 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v115 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v117 = arith.constant dense<1.0> : tensor<8xf32>
    %v118 = arith.constant dense<0.0> : tensor<8xf32>
    %v119 = arith.constant 0.000000e+00 : f32
    %v120 = tensor.empty() : tensor<2x5x1xf32>
    %v121 = linalg.fill ins(%v119 : f32) outs(%v120 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v122 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v116 : tensor<2x5x8xf32>) outs(%v121 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v123 = arith.constant 1.250000e-01 : f32
    %v124 = tensor.empty() : tensor<2x5x1xf32>
    %v125 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v122 : tensor<2x5x1xf32>) outs(%v124 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v123 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v126 = tensor.empty() : tensor<2x5x8xf32>
    %v127 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v116, %v125 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v126 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v128 = tensor.empty() : tensor<2x5x8xf32>
    %v129 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v127, %v127 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v128 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v130 = arith.constant 0.000000e+00 : f32
    %v131 = tensor.empty() : tensor<2x5x1xf32>
    %v132 = linalg.fill ins(%v130 : f32) outs(%v131 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v133 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v129 : tensor<2x5x8xf32>) outs(%v132 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v134 = arith.constant 1.250000e-01 : f32
    %v135 = tensor.empty() : tensor<2x5x1xf32>
    %v136 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v133 : tensor<2x5x1xf32>) outs(%v135 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v134 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v137 = arith.constant 1.000000e-05 : f64
    %v138 = tensor.empty() : tensor<2x5x1xf32>
    %v139 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v136 : tensor<2x5x1xf32>) outs(%v138 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v137 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v140 = tensor.empty() : tensor<2x5x8xf32>
    %v141 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v127, %v139 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v140 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v142 = tensor.empty() : tensor<2x5x8xf32>
    %v143 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v141, %v117 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v142 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v144 = tensor.empty() : tensor<2x5x8xf32>
    %v145 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v143, %v118 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v144 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v146 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v147 = tensor.collapse_shape %v145 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v148 = tensor.empty() : tensor<8x16xf32>
    %v149 = linalg.transpose ins(%v146 : tensor<16x8xf32>) outs(%v148 : tensor<8x16xf32>) permutation = [1, 0]
    %v150 = arith.constant 0.000000e+00 : f32
    %v151 = tensor.empty() : tensor<10x16xf32>
    %v152 = linalg.fill ins(%v150 : f32) outs(%v151 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v153 = linalg.matmul ins(%v147, %v149 : tensor<10x8xf32>, tensor<8x16xf32>) outs(%v152 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v154 = tensor.expand_shape %v153 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf32> into tensor<2x5x16xf32>
    %v155 = arith.constant 0.000000e+00 : f32
    %v156 = tensor.empty() : tensor<2x5x16xf32>
    %v157 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v154 : tensor<2x5x16xf32>) outs(%v156 : tensor<2x5x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v155 : f32
      %r = arith.select %c, %a, %v155 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x16xf32>
    %v158 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v159 = tensor.collapse_shape %v157 [[0, 1], [2]] : tensor<2x5x16xf32> into tensor<10x16xf32>
    %v160 = tensor.empty() : tensor<16x8xf32>
    %v161 = linalg.transpose ins(%v158 : tensor<8x16xf32>) outs(%v160 : tensor<16x8xf32>) permutation = [1, 0]
    %v162 = arith.constant 0.000000e+00 : f32
    %v163 = tensor.empty() : tensor<10x8xf32>
    %v164 = linalg.fill ins(%v162 : f32) outs(%v163 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v165 = linalg.matmul ins(%v159, %v161 : tensor<10x16xf32>, tensor<16x8xf32>) outs(%v164 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v166 = tensor.expand_shape %v165 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v167 = tensor.empty() : tensor<2x5x8xf32>
    %v168 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v116, %v166 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v167 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v169 = arith.constant dense<1.0> : tensor<8xf32>
    %v170 = arith.constant dense<0.0> : tensor<8xf32>
    %v171 = arith.constant 0.000000e+00 : f32
    %v172 = tensor.empty() : tensor<2x5x1xf32>
    %v173 = linalg.fill ins(%v171 : f32) outs(%v172 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v174 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v168 : tensor<2x5x8xf32>) outs(%v173 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v175 = arith.constant 1.250000e-01 : f32
    %v176 = tensor.empty() : tensor<2x5x1xf32>
    %v177 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v174 : tensor<2x5x1xf32>) outs(%v176 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v175 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v178 = tensor.empty() : tensor<2x5x8xf32>
    %v179 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v168, %v177 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v178 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v180 = tensor.empty() : tensor<2x5x8xf32>
    %v181 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v179, %v179 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v180 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v182 = arith.constant 0.000000e+00 : f32
    %v183 = tensor.empty() : tensor<2x5x1xf32>
    %v184 = linalg.fill ins(%v182 : f32) outs(%v183 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v185 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v181 : tensor<2x5x8xf32>) outs(%v184 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v186 = arith.constant 1.250000e-01 : f32
    %v187 = tensor.empty() : tensor<2x5x1xf32>
    %v188 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v185 : tensor<2x5x1xf32>) outs(%v187 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v186 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v189 = arith.constant 1.000000e-05 : f64
    %v190 = tensor.empty() : tensor<2x5x1xf32>
    %v191 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v188 : tensor<2x5x1xf32>) outs(%v190 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v189 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v192 = tensor.empty() : tensor<2x5x8xf32>
    %v193 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v179, %v191 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v192 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v194 = tensor.empty() : tensor<2x5x8xf32>
    %v195 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v193, %v169 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v194 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v196 = tensor.empty() : tensor<2x5x8xf32>
    %v197 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v195, %v170 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v196 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v198 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v199 = tensor.collapse_shape %v168 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v200 = tensor.empty() : tensor<8x8xf32>
    %v201 = linalg.transpose ins(%v198 : tensor<8x8xf32>) outs(%v200 : tensor<8x8xf32>) permutation = [1, 0]
    %v202 = arith.constant 0.000000e+00 : f32
    %v203 = tensor.empty() : tensor<10x8xf32>
    %v204 = linalg.fill ins(%v202 : f32) outs(%v203 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v205 = linalg.matmul ins(%v199, %v201 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v204 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v206 = tensor.expand_shape %v205 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v207 = tensor.expand_shape %v206 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v208 = tensor.empty() : tensor<2x2x5x4xf32>
    %v209 = linalg.transpose ins(%v207 : tensor<2x5x2x4xf32>) outs(%v208 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v210 = tensor.collapse_shape %v209 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v211 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v212 = tensor.collapse_shape %v197 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v213 = tensor.empty() : tensor<8x8xf32>
    %v214 = linalg.transpose ins(%v211 : tensor<8x8xf32>) outs(%v213 : tensor<8x8xf32>) permutation = [1, 0]
    %v215 = arith.constant 0.000000e+00 : f32
    %v216 = tensor.empty() : tensor<10x8xf32>
    %v217 = linalg.fill ins(%v215 : f32) outs(%v216 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v218 = linalg.matmul ins(%v212, %v214 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v217 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v219 = tensor.expand_shape %v218 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v220 = tensor.expand_shape %v219 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v221 = tensor.empty() : tensor<2x2x5x4xf32>
    %v222 = linalg.transpose ins(%v220 : tensor<2x5x2x4xf32>) outs(%v221 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v223 = tensor.collapse_shape %v222 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v224 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v225 = tensor.collapse_shape %v197 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v226 = tensor.empty() : tensor<8x8xf32>
    %v227 = linalg.transpose ins(%v224 : tensor<8x8xf32>) outs(%v226 : tensor<8x8xf32>) permutation = [1, 0]
    %v228 = arith.constant 0.000000e+00 : f32
    %v229 = tensor.empty() : tensor<10x8xf32>
    %v230 = linalg.fill ins(%v228 : f32) outs(%v229 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v231 = linalg.matmul ins(%v225, %v227 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v230 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v232 = tensor.expand_shape %v231 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v233 = tensor.expand_shape %v232 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v234 = tensor.empty() : tensor<2x2x5x4xf32>
    %v235 = linalg.transpose ins(%v233 : tensor<2x5x2x4xf32>) outs(%v234 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v236 = tensor.collapse_shape %v235 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v237 = tensor.empty() : tensor<4x4x5xf32>
    %v238 = linalg.transpose ins(%v223 : tensor<4x5x4xf32>) outs(%v237 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v239 = arith.constant 0.000000e+00 : f32
    %v240 = tensor.empty() : tensor<4x5x5xf32>
    %v241 = linalg.fill ins(%v239 : f32) outs(%v240 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v242 = linalg.batch_matmul ins(%v210, %v238 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v241 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v243 = arith.constant 5.000000e-01 : f32
    %v244 = tensor.empty() : tensor<4x5x5xf32>
    %v245 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v242 : tensor<4x5x5xf32>) outs(%v244 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v243 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v246 = arith.constant 0xFF800000 : f32
    %v247 = tensor.empty() : tensor<4x5x1xf32>
    %v248 = linalg.fill ins(%v246 : f32) outs(%v247 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v249 = arith.constant 0 : i64
    %v250 = tensor.empty() : tensor<4x5x1xi64>
    %v251 = linalg.fill ins(%v249 : i64) outs(%v250 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v252, %v253 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v245 : tensor<4x5x5xf32>) outs(%v248, %v251 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v254 = tensor.empty() : tensor<4x5x5xf32>
    %v255 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v245, %v252 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v254 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v256 = tensor.empty() : tensor<4x5x5xf32>
    %v257 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v255 : tensor<4x5x5xf32>) outs(%v256 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v258 = arith.constant 0.000000e+00 : f32
    %v259 = tensor.empty() : tensor<4x5x1xf32>
    %v260 = linalg.fill ins(%v258 : f32) outs(%v259 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v261 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v257 : tensor<4x5x5xf32>) outs(%v260 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v262 = tensor.empty() : tensor<4x5x5xf32>
    %v263 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v257, %v261 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v262 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v264 = arith.constant 0.000000e+00 : f32
    %v265 = tensor.empty() : tensor<4x5x4xf32>
    %v266 = linalg.fill ins(%v264 : f32) outs(%v265 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v267 = linalg.batch_matmul ins(%v263, %v236 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v266 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v268 = tensor.expand_shape %v267 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v269 = tensor.empty() : tensor<2x5x2x4xf32>
    %v270 = linalg.transpose ins(%v268 : tensor<2x2x5x4xf32>) outs(%v269 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v271 = tensor.collapse_shape %v270 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v272 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v273 = tensor.collapse_shape %v271 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v274 = tensor.empty() : tensor<8x8xf32>
    %v275 = linalg.transpose ins(%v272 : tensor<8x8xf32>) outs(%v274 : tensor<8x8xf32>) permutation = [1, 0]
    %v276 = arith.constant 0.000000e+00 : f32
    %v277 = tensor.empty() : tensor<10x8xf32>
    %v278 = linalg.fill ins(%v276 : f32) outs(%v277 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v279 = linalg.matmul ins(%v273, %v275 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v278 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v280 = tensor.expand_shape %v279 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v281 = tensor.empty() : tensor<2x5x8xf32>
    %v282 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v168, %v280 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v281 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v283 = arith.constant dense<1.0> : tensor<8xf32>
    %v284 = arith.constant dense<0.0> : tensor<8xf32>
    %v285 = arith.constant 0.000000e+00 : f32
    %v286 = tensor.empty() : tensor<2x5x1xf32>
    %v287 = linalg.fill ins(%v285 : f32) outs(%v286 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v288 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v282 : tensor<2x5x8xf32>) outs(%v287 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v289 = arith.constant 1.250000e-01 : f32
    %v290 = tensor.empty() : tensor<2x5x1xf32>
    %v291 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v288 : tensor<2x5x1xf32>) outs(%v290 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v289 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v292 = tensor.empty() : tensor<2x5x8xf32>
    %v293 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v282, %v291 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v292 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v294 = tensor.empty() : tensor<2x5x8xf32>
    %v295 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v293, %v293 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v294 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v296 = arith.constant 0.000000e+00 : f32
    %v297 = tensor.empty() : tensor<2x5x1xf32>
    %v298 = linalg.fill ins(%v296 : f32) outs(%v297 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v299 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v295 : tensor<2x5x8xf32>) outs(%v298 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v300 = arith.constant 1.250000e-01 : f32
    %v301 = tensor.empty() : tensor<2x5x1xf32>
    %v302 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v299 : tensor<2x5x1xf32>) outs(%v301 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v300 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v303 = arith.constant 1.000000e-05 : f64
    %v304 = tensor.empty() : tensor<2x5x1xf32>
    %v305 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v302 : tensor<2x5x1xf32>) outs(%v304 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v303 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v306 = tensor.empty() : tensor<2x5x8xf32>
    %v307 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v293, %v305 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v306 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v308 = tensor.empty() : tensor<2x5x8xf32>
    %v309 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v307, %v283 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v308 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v310 = tensor.empty() : tensor<2x5x8xf32>
    %v311 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v309, %v284 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v310 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v312 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v313 = tensor.collapse_shape %v311 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v314 = tensor.empty() : tensor<8x16xf32>
    %v315 = linalg.transpose ins(%v312 : tensor<16x8xf32>) outs(%v314 : tensor<8x16xf32>) permutation = [1, 0]
    %v316 = arith.constant 0.000000e+00 : f32
    %v317 = tensor.empty() : tensor<10x16xf32>
    %v318 = linalg.fill ins(%v316 : f32) outs(%v317 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v319 = linalg.matmul ins(%v313, %v315 : tensor<10x8xf32>, tensor<8x16xf32>) outs(%v318 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v320 = tensor.expand_shape %v319 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf32> into tensor<2x5x16xf32>
    %v321 = arith.constant 0.000000e+00 : f32
    %v322 = tensor.empty() : tensor<2x5x16xf32>
    %v323 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v320 : tensor<2x5x16xf32>) outs(%v322 : tensor<2x5x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v321 : f32
      %r = arith.select %c, %a, %v321 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x16xf32>
    %v324 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v325 = tensor.collapse_shape %v323 [[0, 1], [2]] : tensor<2x5x16xf32> into tensor<10x16xf32>
    %v326 = tensor.empty() : tensor<16x8xf32>
    %v327 = linalg.transpose ins(%v324 : tensor<8x16xf32>) outs(%v326 : tensor<16x8xf32>) permutation = [1, 0]
    %v328 = arith.constant 0.000000e+00 : f32
    %v329 = tensor.empty() : tensor<10x8xf32>
    %v330 = linalg.fill ins(%v328 : f32) outs(%v329 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v331 = linalg.matmul ins(%v325, %v327 : tensor<10x16xf32>, tensor<16x8xf32>) outs(%v330 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v332 = tensor.expand_shape %v331 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v333 = tensor.empty() : tensor<2x5x8xf32>
    %v334 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v282, %v332 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v333 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v335 = tensor.empty() : tensor<2x5x8xf32>
    %v336 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x5xi64>) outs(%v335 : tensor<2x5x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v0[%i, %j] : tensor<11x8xf32>
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v337 = arith.constant dense<[[true, false, false, false, false], [true, true, false, false, false], [true, true, true, false, false], [true, true, true, true, false], [true, true, true, true, true]]> : tensor<5x5xi1>
    %v338 = arith.constant 0xFF800000 : f32
    %v339 = arith.constant dense<1.0> : tensor<8xf32>
    %v340 = arith.constant dense<0.0> : tensor<8xf32>
    %v341 = arith.constant 0.000000e+00 : f32
    %v342 = tensor.empty() : tensor<2x5x1xf32>
    %v343 = linalg.fill ins(%v341 : f32) outs(%v342 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v344 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v336 : tensor<2x5x8xf32>) outs(%v343 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v345 = arith.constant 1.250000e-01 : f32
    %v346 = tensor.empty() : tensor<2x5x1xf32>
    %v347 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v344 : tensor<2x5x1xf32>) outs(%v346 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v345 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v348 = tensor.empty() : tensor<2x5x8xf32>
    %v349 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v336, %v347 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v348 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v350 = tensor.empty() : tensor<2x5x8xf32>
    %v351 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v349, %v349 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v350 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v352 = arith.constant 0.000000e+00 : f32
    %v353 = tensor.empty() : tensor<2x5x1xf32>
    %v354 = linalg.fill ins(%v352 : f32) outs(%v353 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v355 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v351 : tensor<2x5x8xf32>) outs(%v354 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v356 = arith.constant 1.250000e-01 : f32
    %v357 = tensor.empty() : tensor<2x5x1xf32>
    %v358 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v355 : tensor<2x5x1xf32>) outs(%v357 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v356 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v359 = arith.constant 1.000000e-05 : f64
    %v360 = tensor.empty() : tensor<2x5x1xf32>
    %v361 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v358 : tensor<2x5x1xf32>) outs(%v360 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v359 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v362 = tensor.empty() : tensor<2x5x8xf32>
    %v363 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v349, %v361 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v362 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v364 = tensor.empty() : tensor<2x5x8xf32>
    %v365 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v363, %v339 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v364 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v366 = tensor.empty() : tensor<2x5x8xf32>
    %v367 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v365, %v340 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v366 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v368 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v369 = tensor.collapse_shape %v336 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v370 = tensor.empty() : tensor<8x8xf32>
    %v371 = linalg.transpose ins(%v368 : tensor<8x8xf32>) outs(%v370 : tensor<8x8xf32>) permutation = [1, 0]
    %v372 = arith.constant 0.000000e+00 : f32
    %v373 = tensor.empty() : tensor<10x8xf32>
    %v374 = linalg.fill ins(%v372 : f32) outs(%v373 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v375 = linalg.matmul ins(%v369, %v371 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v374 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v376 = tensor.expand_shape %v375 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v377 = tensor.expand_shape %v376 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v378 = tensor.empty() : tensor<2x2x5x4xf32>
    %v379 = linalg.transpose ins(%v377 : tensor<2x5x2x4xf32>) outs(%v378 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v380 = tensor.collapse_shape %v379 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v381 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v382 = tensor.collapse_shape %v367 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v383 = tensor.empty() : tensor<8x8xf32>
    %v384 = linalg.transpose ins(%v381 : tensor<8x8xf32>) outs(%v383 : tensor<8x8xf32>) permutation = [1, 0]
    %v385 = arith.constant 0.000000e+00 : f32
    %v386 = tensor.empty() : tensor<10x8xf32>
    %v387 = linalg.fill ins(%v385 : f32) outs(%v386 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v388 = linalg.matmul ins(%v382, %v384 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v387 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v389 = tensor.expand_shape %v388 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v390 = tensor.expand_shape %v389 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v391 = tensor.empty() : tensor<2x2x5x4xf32>
    %v392 = linalg.transpose ins(%v390 : tensor<2x5x2x4xf32>) outs(%v391 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v393 = tensor.collapse_shape %v392 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v394 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v395 = tensor.collapse_shape %v367 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v396 = tensor.empty() : tensor<8x8xf32>
    %v397 = linalg.transpose ins(%v394 : tensor<8x8xf32>) outs(%v396 : tensor<8x8xf32>) permutation = [1, 0]
    %v398 = arith.constant 0.000000e+00 : f32
    %v399 = tensor.empty() : tensor<10x8xf32>
    %v400 = linalg.fill ins(%v398 : f32) outs(%v399 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v401 = linalg.matmul ins(%v395, %v397 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v400 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v402 = tensor.expand_shape %v401 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v403 = tensor.expand_shape %v402 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v404 = tensor.empty() : tensor<2x2x5x4xf32>
    %v405 = linalg.transpose ins(%v403 : tensor<2x5x2x4xf32>) outs(%v404 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v406 = tensor.collapse_shape %v405 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v407 = tensor.empty() : tensor<4x4x5xf32>
    %v408 = linalg.transpose ins(%v393 : tensor<4x5x4xf32>) outs(%v407 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v409 = arith.constant 0.000000e+00 : f32
    %v410 = tensor.empty() : tensor<4x5x5xf32>
    %v411 = linalg.fill ins(%v409 : f32) outs(%v410 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v412 = linalg.batch_matmul ins(%v380, %v408 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v411 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v413 = arith.constant 5.000000e-01 : f32
    %v414 = tensor.empty() : tensor<4x5x5xf32>
    %v415 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v412 : tensor<4x5x5xf32>) outs(%v414 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v413 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v416 = tensor.empty() : tensor<4x5x5xf32>
    %v417 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v337, %v415 : tensor<5x5xi1>, tensor<4x5x5xf32>) outs(%v416 : tensor<4x5x5xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v338 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v418 = arith.constant 0xFF800000 : f32
    %v419 = tensor.empty() : tensor<4x5x1xf32>
    %v420 = linalg.fill ins(%v418 : f32) outs(%v419 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v421 = arith.constant 0 : i64
    %v422 = tensor.empty() : tensor<4x5x1xi64>
    %v423 = linalg.fill ins(%v421 : i64) outs(%v422 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v424, %v425 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v417 : tensor<4x5x5xf32>) outs(%v420, %v423 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v426 = tensor.empty() : tensor<4x5x5xf32>
    %v427 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v417, %v424 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v426 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v428 = tensor.empty() : tensor<4x5x5xf32>
    %v429 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v427 : tensor<4x5x5xf32>) outs(%v428 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v430 = arith.constant 0.000000e+00 : f32
    %v431 = tensor.empty() : tensor<4x5x1xf32>
    %v432 = linalg.fill ins(%v430 : f32) outs(%v431 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v433 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v429 : tensor<4x5x5xf32>) outs(%v432 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v434 = tensor.empty() : tensor<4x5x5xf32>
    %v435 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v429, %v433 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v434 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v436 = arith.constant 0.000000e+00 : f32
    %v437 = tensor.empty() : tensor<4x5x4xf32>
    %v438 = linalg.fill ins(%v436 : f32) outs(%v437 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v439 = linalg.batch_matmul ins(%v435, %v406 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v438 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v440 = tensor.expand_shape %v439 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v441 = tensor.empty() : tensor<2x5x2x4xf32>
    %v442 = linalg.transpose ins(%v440 : tensor<2x2x5x4xf32>) outs(%v441 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v443 = tensor.collapse_shape %v442 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v444 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v445 = tensor.collapse_shape %v443 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v446 = tensor.empty() : tensor<8x8xf32>
    %v447 = linalg.transpose ins(%v444 : tensor<8x8xf32>) outs(%v446 : tensor<8x8xf32>) permutation = [1, 0]
    %v448 = arith.constant 0.000000e+00 : f32
    %v449 = tensor.empty() : tensor<10x8xf32>
    %v450 = linalg.fill ins(%v448 : f32) outs(%v449 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v451 = linalg.matmul ins(%v445, %v447 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v450 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v452 = tensor.expand_shape %v451 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v453 = tensor.empty() : tensor<2x5x8xf32>
    %v454 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v336, %v452 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v453 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v455 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v456 = tensor.collapse_shape %v454 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v457 = tensor.empty() : tensor<8x8xf32>
    %v458 = linalg.transpose ins(%v455 : tensor<8x8xf32>) outs(%v457 : tensor<8x8xf32>) permutation = [1, 0]
    %v459 = arith.constant 0.000000e+00 : f32
    %v460 = tensor.empty() : tensor<10x8xf32>
    %v461 = linalg.fill ins(%v459 : f32) outs(%v460 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v462 = linalg.matmul ins(%v456, %v458 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v461 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v463 = tensor.expand_shape %v462 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v464 = tensor.expand_shape %v463 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v465 = tensor.empty() : tensor<2x2x5x4xf32>
    %v466 = linalg.transpose ins(%v464 : tensor<2x5x2x4xf32>) outs(%v465 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v467 = tensor.collapse_shape %v466 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v468 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v469 = tensor.collapse_shape %v334 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v470 = tensor.empty() : tensor<8x8xf32>
    %v471 = linalg.transpose ins(%v468 : tensor<8x8xf32>) outs(%v470 : tensor<8x8xf32>) permutation = [1, 0]
    %v472 = arith.constant 0.000000e+00 : f32
    %v473 = tensor.empty() : tensor<10x8xf32>
    %v474 = linalg.fill ins(%v472 : f32) outs(%v473 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v475 = linalg.matmul ins(%v469, %v471 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v474 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v476 = tensor.expand_shape %v475 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v477 = tensor.expand_shape %v476 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v478 = tensor.empty() : tensor<2x2x5x4xf32>
    %v479 = linalg.transpose ins(%v477 : tensor<2x5x2x4xf32>) outs(%v478 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v480 = tensor.collapse_shape %v479 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v481 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v482 = tensor.collapse_shape %v334 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v483 = tensor.empty() : tensor<8x8xf32>
    %v484 = linalg.transpose ins(%v481 : tensor<8x8xf32>) outs(%v483 : tensor<8x8xf32>) permutation = [1, 0]
    %v485 = arith.constant 0.000000e+00 : f32
    %v486 = tensor.empty() : tensor<10x8xf32>
    %v487 = linalg.fill ins(%v485 : f32) outs(%v486 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v488 = linalg.matmul ins(%v482, %v484 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v487 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v489 = tensor.expand_shape %v488 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v490 = tensor.expand_shape %v489 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v491 = tensor.empty() : tensor<2x2x5x4xf32>
    %v492 = linalg.transpose ins(%v490 : tensor<2x5x2x4xf32>) outs(%v491 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v493 = tensor.collapse_shape %v492 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v494 = tensor.empty() : tensor<4x4x5xf32>
    %v495 = linalg.transpose ins(%v480 : tensor<4x5x4xf32>) outs(%v494 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v496 = arith.constant 0.000000e+00 : f32
    %v497 = tensor.empty() : tensor<4x5x5xf32>
    %v498 = linalg.fill ins(%v496 : f32) outs(%v497 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v499 = linalg.batch_matmul ins(%v467, %v495 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v498 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v500 = arith.constant 5.000000e-01 : f32
    %v501 = tensor.empty() : tensor<4x5x5xf32>
    %v502 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v499 : tensor<4x5x5xf32>) outs(%v501 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v500 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v503 = arith.constant 0xFF800000 : f32
    %v504 = tensor.empty() : tensor<4x5x1xf32>
    %v505 = linalg.fill ins(%v503 : f32) outs(%v504 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v506 = arith.constant 0 : i64
    %v507 = tensor.empty() : tensor<4x5x1xi64>
    %v508 = linalg.fill ins(%v506 : i64) outs(%v507 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v509, %v510 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v502 : tensor<4x5x5xf32>) outs(%v505, %v508 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v511 = tensor.empty() : tensor<4x5x5xf32>
    %v512 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v502, %v509 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v511 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v513 = tensor.empty() : tensor<4x5x5xf32>
    %v514 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v512 : tensor<4x5x5xf32>) outs(%v513 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v515 = arith.constant 0.000000e+00 : f32
    %v516 = tensor.empty() : tensor<4x5x1xf32>
    %v517 = linalg.fill ins(%v515 : f32) outs(%v516 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v518 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v514 : tensor<4x5x5xf32>) outs(%v517 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v519 = tensor.empty() : tensor<4x5x5xf32>
    %v520 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v514, %v518 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v519 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v521 = arith.constant 0.000000e+00 : f32
    %v522 = tensor.empty() : tensor<4x5x4xf32>
    %v523 = linalg.fill ins(%v521 : f32) outs(%v522 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v524 = linalg.batch_matmul ins(%v520, %v493 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v523 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v525 = tensor.expand_shape %v524 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v526 = tensor.empty() : tensor<2x5x2x4xf32>
    %v527 = linalg.transpose ins(%v525 : tensor<2x2x5x4xf32>) outs(%v526 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v528 = tensor.collapse_shape %v527 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v529 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v530 = tensor.collapse_shape %v528 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v531 = tensor.empty() : tensor<8x8xf32>
    %v532 = linalg.transpose ins(%v529 : tensor<8x8xf32>) outs(%v531 : tensor<8x8xf32>) permutation = [1, 0]
    %v533 = arith.constant 0.000000e+00 : f32
    %v534 = tensor.empty() : tensor<10x8xf32>
    %v535 = linalg.fill ins(%v533 : f32) outs(%v534 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v536 = linalg.matmul ins(%v530, %v532 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v535 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v537 = tensor.expand_shape %v536 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v538 = tensor.empty() : tensor<2x5x8xf32>
    %v539 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v454, %v537 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v538 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v540 = arith.constant dense<1.0> : tensor<8xf32>
    %v541 = arith.constant dense<0.0> : tensor<8xf32>
    %v542 = arith.constant 0.000000e+00 : f32
    %v543 = tensor.empty() : tensor<2x5x1xf32>
    %v544 = linalg.fill ins(%v542 : f32) outs(%v543 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v545 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v539 : tensor<2x5x8xf32>) outs(%v544 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v546 = arith.constant 1.250000e-01 : f32
    %v547 = tensor.empty() : tensor<2x5x1xf32>
    %v548 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v545 : tensor<2x5x1xf32>) outs(%v547 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v546 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v549 = tensor.empty() : tensor<2x5x8xf32>
    %v550 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v539, %v548 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v549 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v551 = tensor.empty() : tensor<2x5x8xf32>
    %v552 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v550, %v550 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v551 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v553 = arith.constant 0.000000e+00 : f32
    %v554 = tensor.empty() : tensor<2x5x1xf32>
    %v555 = linalg.fill ins(%v553 : f32) outs(%v554 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v556 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v552 : tensor<2x5x8xf32>) outs(%v555 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v557 = arith.constant 1.250000e-01 : f32
    %v558 = tensor.empty() : tensor<2x5x1xf32>
    %v559 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v556 : tensor<2x5x1xf32>) outs(%v558 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v557 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v560 = arith.constant 1.000000e-05 : f64
    %v561 = tensor.empty() : tensor<2x5x1xf32>
    %v562 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v559 : tensor<2x5x1xf32>) outs(%v561 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v560 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v563 = tensor.empty() : tensor<2x5x8xf32>
    %v564 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v550, %v562 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v563 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v565 = tensor.empty() : tensor<2x5x8xf32>
    %v566 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v564, %v540 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v565 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v567 = tensor.empty() : tensor<2x5x8xf32>
    %v568 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v566, %v541 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v567 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v569 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v570 = tensor.collapse_shape %v568 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v571 = tensor.empty() : tensor<8x16xf32>
    %v572 = linalg.transpose ins(%v569 : tensor<16x8xf32>) outs(%v571 : tensor<8x16xf32>) permutation = [1, 0]
    %v573 = arith.constant 0.000000e+00 : f32
    %v574 = tensor.empty() : tensor<10x16xf32>
    %v575 = linalg.fill ins(%v573 : f32) outs(%v574 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v576 = linalg.matmul ins(%v570, %v572 : tensor<10x8xf32>, tensor<8x16xf32>) outs(%v575 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v577 = tensor.expand_shape %v576 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf32> into tensor<2x5x16xf32>
    %v578 = arith.constant 0.000000e+00 : f32
    %v579 = tensor.empty() : tensor<2x5x16xf32>
    %v580 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v577 : tensor<2x5x16xf32>) outs(%v579 : tensor<2x5x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v578 : f32
      %r = arith.select %c, %a, %v578 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x16xf32>
    %v581 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v582 = tensor.collapse_shape %v580 [[0, 1], [2]] : tensor<2x5x16xf32> into tensor<10x16xf32>
    %v583 = tensor.empty() : tensor<16x8xf32>
    %v584 = linalg.transpose ins(%v581 : tensor<8x16xf32>) outs(%v583 : tensor<16x8xf32>) permutation = [1, 0]
    %v585 = arith.constant 0.000000e+00 : f32
    %v586 = tensor.empty() : tensor<10x8xf32>
    %v587 = linalg.fill ins(%v585 : f32) outs(%v586 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v588 = linalg.matmul ins(%v582, %v584 : tensor<10x16xf32>, tensor<16x8xf32>) outs(%v587 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v589 = tensor.expand_shape %v588 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v590 = tensor.empty() : tensor<2x5x8xf32>
    %v591 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v539, %v589 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v590 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v592 = arith.constant dense<1.0> : tensor<8xf32>
    %v593 = arith.constant dense<0.0> : tensor<8xf32>
    %v594 = arith.constant 0.000000e+00 : f32
    %v595 = tensor.empty() : tensor<2x5x1xf32>
    %v596 = linalg.fill ins(%v594 : f32) outs(%v595 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v597 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v591 : tensor<2x5x8xf32>) outs(%v596 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v598 = arith.constant 1.250000e-01 : f32
    %v599 = tensor.empty() : tensor<2x5x1xf32>
    %v600 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v597 : tensor<2x5x1xf32>) outs(%v599 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v598 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v601 = tensor.empty() : tensor<2x5x8xf32>
    %v602 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v591, %v600 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v601 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v603 = tensor.empty() : tensor<2x5x8xf32>
    %v604 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v602, %v602 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v603 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v605 = arith.constant 0.000000e+00 : f32
    %v606 = tensor.empty() : tensor<2x5x1xf32>
    %v607 = linalg.fill ins(%v605 : f32) outs(%v606 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v608 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v604 : tensor<2x5x8xf32>) outs(%v607 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v609 = arith.constant 1.250000e-01 : f32
    %v610 = tensor.empty() : tensor<2x5x1xf32>
    %v611 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v608 : tensor<2x5x1xf32>) outs(%v610 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v609 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v612 = arith.constant 1.000000e-05 : f64
    %v613 = tensor.empty() : tensor<2x5x1xf32>
    %v614 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v611 : tensor<2x5x1xf32>) outs(%v613 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v612 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v615 = tensor.empty() : tensor<2x5x8xf32>
    %v616 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v602, %v614 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v615 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v617 = tensor.empty() : tensor<2x5x8xf32>
    %v618 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v616, %v592 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v617 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v619 = tensor.empty() : tensor<2x5x8xf32>
    %v620 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v618, %v593 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v619 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v621 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v622 = tensor.collapse_shape %v591 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v623 = tensor.empty() : tensor<8x8xf32>
    %v624 = linalg.transpose ins(%v621 : tensor<8x8xf32>) outs(%v623 : tensor<8x8xf32>) permutation = [1, 0]
    %v625 = arith.constant 0.000000e+00 : f32
    %v626 = tensor.empty() : tensor<10x8xf32>
    %v627 = linalg.fill ins(%v625 : f32) outs(%v626 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v628 = linalg.matmul ins(%v622, %v624 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v627 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v629 = tensor.expand_shape %v628 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v630 = tensor.expand_shape %v629 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v631 = tensor.empty() : tensor<2x2x5x4xf32>
    %v632 = linalg.transpose ins(%v630 : tensor<2x5x2x4xf32>) outs(%v631 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v633 = tensor.collapse_shape %v632 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v634 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v635 = tensor.collapse_shape %v620 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v636 = tensor.empty() : tensor<8x8xf32>
    %v637 = linalg.transpose ins(%v634 : tensor<8x8xf32>) outs(%v636 : tensor<8x8xf32>) permutation = [1, 0]
    %v638 = arith.constant 0.000000e+00 : f32
    %v639 = tensor.empty() : tensor<10x8xf32>
    %v640 = linalg.fill ins(%v638 : f32) outs(%v639 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v641 = linalg.matmul ins(%v635, %v637 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v640 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v642 = tensor.expand_shape %v641 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v643 = tensor.expand_shape %v642 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v644 = tensor.empty() : tensor<2x2x5x4xf32>
    %v645 = linalg.transpose ins(%v643 : tensor<2x5x2x4xf32>) outs(%v644 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v646 = tensor.collapse_shape %v645 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v647 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v648 = tensor.collapse_shape %v620 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v649 = tensor.empty() : tensor<8x8xf32>
    %v650 = linalg.transpose ins(%v647 : tensor<8x8xf32>) outs(%v649 : tensor<8x8xf32>) permutation = [1, 0]
    %v651 = arith.constant 0.000000e+00 : f32
    %v652 = tensor.empty() : tensor<10x8xf32>
    %v653 = linalg.fill ins(%v651 : f32) outs(%v652 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v654 = linalg.matmul ins(%v648, %v650 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v653 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v655 = tensor.expand_shape %v654 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v656 = tensor.expand_shape %v655 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v657 = tensor.empty() : tensor<2x2x5x4xf32>
    %v658 = linalg.transpose ins(%v656 : tensor<2x5x2x4xf32>) outs(%v657 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v659 = tensor.collapse_shape %v658 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v660 = tensor.empty() : tensor<4x4x5xf32>
    %v661 = linalg.transpose ins(%v646 : tensor<4x5x4xf32>) outs(%v660 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v662 = arith.constant 0.000000e+00 : f32
    %v663 = tensor.empty() : tensor<4x5x5xf32>
    %v664 = linalg.fill ins(%v662 : f32) outs(%v663 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v665 = linalg.batch_matmul ins(%v633, %v661 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v664 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v666 = arith.constant 5.000000e-01 : f32
    %v667 = tensor.empty() : tensor<4x5x5xf32>
    %v668 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v665 : tensor<4x5x5xf32>) outs(%v667 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v666 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v669 = tensor.empty() : tensor<4x5x5xf32>
    %v670 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v337, %v668 : tensor<5x5xi1>, tensor<4x5x5xf32>) outs(%v669 : tensor<4x5x5xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v338 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v671 = arith.constant 0xFF800000 : f32
    %v672 = tensor.empty() : tensor<4x5x1xf32>
    %v673 = linalg.fill ins(%v671 : f32) outs(%v672 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v674 = arith.constant 0 : i64
    %v675 = tensor.empty() : tensor<4x5x1xi64>
    %v676 = linalg.fill ins(%v674 : i64) outs(%v675 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v677, %v678 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v670 : tensor<4x5x5xf32>) outs(%v673, %v676 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v679 = tensor.empty() : tensor<4x5x5xf32>
    %v680 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v670, %v677 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v679 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v681 = tensor.empty() : tensor<4x5x5xf32>
    %v682 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v680 : tensor<4x5x5xf32>) outs(%v681 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v683 = arith.constant 0.000000e+00 : f32
    %v684 = tensor.empty() : tensor<4x5x1xf32>
    %v685 = linalg.fill ins(%v683 : f32) outs(%v684 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v686 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v682 : tensor<4x5x5xf32>) outs(%v685 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v687 = tensor.empty() : tensor<4x5x5xf32>
    %v688 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v682, %v686 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v687 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v689 = arith.constant 0.000000e+00 : f32
    %v690 = tensor.empty() : tensor<4x5x4xf32>
    %v691 = linalg.fill ins(%v689 : f32) outs(%v690 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v692 = linalg.batch_matmul ins(%v688, %v659 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v691 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v693 = tensor.expand_shape %v692 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v694 = tensor.empty() : tensor<2x5x2x4xf32>
    %v695 = linalg.transpose ins(%v693 : tensor<2x2x5x4xf32>) outs(%v694 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v696 = tensor.collapse_shape %v695 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v697 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v698 = tensor.collapse_shape %v696 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v699 = tensor.empty() : tensor<8x8xf32>
    %v700 = linalg.transpose ins(%v697 : tensor<8x8xf32>) outs(%v699 : tensor<8x8xf32>) permutation = [1, 0]
    %v701 = arith.constant 0.000000e+00 : f32
    %v702 = tensor.empty() : tensor<10x8xf32>
    %v703 = linalg.fill ins(%v701 : f32) outs(%v702 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v704 = linalg.matmul ins(%v698, %v700 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v703 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v705 = tensor.expand_shape %v704 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v706 = tensor.empty() : tensor<2x5x8xf32>
    %v707 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v591, %v705 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v706 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v708 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v709 = tensor.collapse_shape %v707 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v710 = tensor.empty() : tensor<8x8xf32>
    %v711 = linalg.transpose ins(%v708 : tensor<8x8xf32>) outs(%v710 : tensor<8x8xf32>) permutation = [1, 0]
    %v712 = arith.constant 0.000000e+00 : f32
    %v713 = tensor.empty() : tensor<10x8xf32>
    %v714 = linalg.fill ins(%v712 : f32) outs(%v713 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v715 = linalg.matmul ins(%v709, %v711 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v714 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v716 = tensor.expand_shape %v715 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v717 = tensor.expand_shape %v716 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v718 = tensor.empty() : tensor<2x2x5x4xf32>
    %v719 = linalg.transpose ins(%v717 : tensor<2x5x2x4xf32>) outs(%v718 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v720 = tensor.collapse_shape %v719 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v721 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v722 = tensor.collapse_shape %v334 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v723 = tensor.empty() : tensor<8x8xf32>
    %v724 = linalg.transpose ins(%v721 : tensor<8x8xf32>) outs(%v723 : tensor<8x8xf32>) permutation = [1, 0]
    %v725 = arith.constant 0.000000e+00 : f32
    %v726 = tensor.empty() : tensor<10x8xf32>
    %v727 = linalg.fill ins(%v725 : f32) outs(%v726 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v728 = linalg.matmul ins(%v722, %v724 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v727 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v729 = tensor.expand_shape %v728 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v730 = tensor.expand_shape %v729 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v731 = tensor.empty() : tensor<2x2x5x4xf32>
    %v732 = linalg.transpose ins(%v730 : tensor<2x5x2x4xf32>) outs(%v731 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v733 = tensor.collapse_shape %v732 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v734 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v735 = tensor.collapse_shape %v334 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v736 = tensor.empty() : tensor<8x8xf32>
    %v737 = linalg.transpose ins(%v734 : tensor<8x8xf32>) outs(%v736 : tensor<8x8xf32>) permutation = [1, 0]
    %v738 = arith.constant 0.000000e+00 : f32
    %v739 = tensor.empty() : tensor<10x8xf32>
    %v740 = linalg.fill ins(%v738 : f32) outs(%v739 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v741 = linalg.matmul ins(%v735, %v737 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v740 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v742 = tensor.expand_shape %v741 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v743 = tensor.expand_shape %v742 [[0], [1], [2, 3]] output_shape [2, 5, 2, 4] : tensor<2x5x8xf32> into tensor<2x5x2x4xf32>
    %v744 = tensor.empty() : tensor<2x2x5x4xf32>
    %v745 = linalg.transpose ins(%v743 : tensor<2x5x2x4xf32>) outs(%v744 : tensor<2x2x5x4xf32>) permutation = [0, 2, 1, 3]
    %v746 = tensor.collapse_shape %v745 [[0, 1], [2], [3]] : tensor<2x2x5x4xf32> into tensor<4x5x4xf32>
    %v747 = tensor.empty() : tensor<4x4x5xf32>
    %v748 = linalg.transpose ins(%v733 : tensor<4x5x4xf32>) outs(%v747 : tensor<4x4x5xf32>) permutation = [0, 2, 1]
    %v749 = arith.constant 0.000000e+00 : f32
    %v750 = tensor.empty() : tensor<4x5x5xf32>
    %v751 = linalg.fill ins(%v749 : f32) outs(%v750 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v752 = linalg.batch_matmul ins(%v720, %v748 : tensor<4x5x4xf32>, tensor<4x4x5xf32>) outs(%v751 : tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v753 = arith.constant 5.000000e-01 : f32
    %v754 = tensor.empty() : tensor<4x5x5xf32>
    %v755 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v752 : tensor<4x5x5xf32>) outs(%v754 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v753 : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v756 = arith.constant 0xFF800000 : f32
    %v757 = tensor.empty() : tensor<4x5x1xf32>
    %v758 = linalg.fill ins(%v756 : f32) outs(%v757 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v759 = arith.constant 0 : i64
    %v760 = tensor.empty() : tensor<4x5x1xi64>
    %v761 = linalg.fill ins(%v759 : i64) outs(%v760 : tensor<4x5x1xi64>) -> tensor<4x5x1xi64>
    %v762, %v763 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v755 : tensor<4x5x5xf32>) outs(%v758, %v761 : tensor<4x5x1xf32>, tensor<4x5x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x5x1xf32>, tensor<4x5x1xi64>)
    %v764 = tensor.empty() : tensor<4x5x5xf32>
    %v765 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v755, %v762 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v764 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v766 = tensor.empty() : tensor<4x5x5xf32>
    %v767 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v765 : tensor<4x5x5xf32>) outs(%v766 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v768 = arith.constant 0.000000e+00 : f32
    %v769 = tensor.empty() : tensor<4x5x1xf32>
    %v770 = linalg.fill ins(%v768 : f32) outs(%v769 : tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v771 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v767 : tensor<4x5x5xf32>) outs(%v770 : tensor<4x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x5x1xf32>
    %v772 = tensor.empty() : tensor<4x5x5xf32>
    %v773 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v767, %v771 : tensor<4x5x5xf32>, tensor<4x5x1xf32>) outs(%v772 : tensor<4x5x5xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x5x5xf32>
    %v774 = arith.constant 0.000000e+00 : f32
    %v775 = tensor.empty() : tensor<4x5x4xf32>
    %v776 = linalg.fill ins(%v774 : f32) outs(%v775 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v777 = linalg.batch_matmul ins(%v773, %v746 : tensor<4x5x5xf32>, tensor<4x5x4xf32>) outs(%v776 : tensor<4x5x4xf32>) -> tensor<4x5x4xf32>
    %v778 = tensor.expand_shape %v777 [[0, 1], [2], [3]] output_shape [2, 2, 5, 4] : tensor<4x5x4xf32> into tensor<2x2x5x4xf32>
    %v779 = tensor.empty() : tensor<2x5x2x4xf32>
    %v780 = linalg.transpose ins(%v778 : tensor<2x2x5x4xf32>) outs(%v779 : tensor<2x5x2x4xf32>) permutation = [0, 2, 1, 3]
    %v781 = tensor.collapse_shape %v780 [[0], [1], [2, 3]] : tensor<2x5x2x4xf32> into tensor<2x5x8xf32>
    %v782 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v783 = tensor.collapse_shape %v781 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v784 = tensor.empty() : tensor<8x8xf32>
    %v785 = linalg.transpose ins(%v782 : tensor<8x8xf32>) outs(%v784 : tensor<8x8xf32>) permutation = [1, 0]
    %v786 = arith.constant 0.000000e+00 : f32
    %v787 = tensor.empty() : tensor<10x8xf32>
    %v788 = linalg.fill ins(%v786 : f32) outs(%v787 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v789 = linalg.matmul ins(%v783, %v785 : tensor<10x8xf32>, tensor<8x8xf32>) outs(%v788 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v790 = tensor.expand_shape %v789 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v791 = tensor.empty() : tensor<2x5x8xf32>
    %v792 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v707, %v790 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v791 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v793 = arith.constant dense<1.0> : tensor<8xf32>
    %v794 = arith.constant dense<0.0> : tensor<8xf32>
    %v795 = arith.constant 0.000000e+00 : f32
    %v796 = tensor.empty() : tensor<2x5x1xf32>
    %v797 = linalg.fill ins(%v795 : f32) outs(%v796 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v798 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v792 : tensor<2x5x8xf32>) outs(%v797 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v799 = arith.constant 1.250000e-01 : f32
    %v800 = tensor.empty() : tensor<2x5x1xf32>
    %v801 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v798 : tensor<2x5x1xf32>) outs(%v800 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v799 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v802 = tensor.empty() : tensor<2x5x8xf32>
    %v803 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v792, %v801 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v802 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v804 = tensor.empty() : tensor<2x5x8xf32>
    %v805 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v803, %v803 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v804 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v806 = arith.constant 0.000000e+00 : f32
    %v807 = tensor.empty() : tensor<2x5x1xf32>
    %v808 = linalg.fill ins(%v806 : f32) outs(%v807 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v809 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v805 : tensor<2x5x8xf32>) outs(%v808 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v810 = arith.constant 1.250000e-01 : f32
    %v811 = tensor.empty() : tensor<2x5x1xf32>
    %v812 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v809 : tensor<2x5x1xf32>) outs(%v811 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v810 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v813 = arith.constant 1.000000e-05 : f64
    %v814 = tensor.empty() : tensor<2x5x1xf32>
    %v815 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v812 : tensor<2x5x1xf32>) outs(%v814 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v813 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v816 = tensor.empty() : tensor<2x5x8xf32>
    %v817 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v803, %v815 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v816 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v818 = tensor.empty() : tensor<2x5x8xf32>
    %v819 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v817, %v793 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v818 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v820 = tensor.empty() : tensor<2x5x8xf32>
    %v821 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v819, %v794 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v820 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v822 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v823 = tensor.collapse_shape %v821 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v824 = tensor.empty() : tensor<8x16xf32>
    %v825 = linalg.transpose ins(%v822 : tensor<16x8xf32>) outs(%v824 : tensor<8x16xf32>) permutation = [1, 0]
    %v826 = arith.constant 0.000000e+00 : f32
    %v827 = tensor.empty() : tensor<10x16xf32>
    %v828 = linalg.fill ins(%v826 : f32) outs(%v827 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v829 = linalg.matmul ins(%v823, %v825 : tensor<10x8xf32>, tensor<8x16xf32>) outs(%v828 : tensor<10x16xf32>) -> tensor<10x16xf32>
    %v830 = tensor.expand_shape %v829 [[0, 1], [2]] output_shape [2, 5, 16] : tensor<10x16xf32> into tensor<2x5x16xf32>
    %v831 = arith.constant 0.000000e+00 : f32
    %v832 = tensor.empty() : tensor<2x5x16xf32>
    %v833 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v830 : tensor<2x5x16xf32>) outs(%v832 : tensor<2x5x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v831 : f32
      %r = arith.select %c, %a, %v831 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x16xf32>
    %v834 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v835 = tensor.collapse_shape %v833 [[0, 1], [2]] : tensor<2x5x16xf32> into tensor<10x16xf32>
    %v836 = tensor.empty() : tensor<16x8xf32>
    %v837 = linalg.transpose ins(%v834 : tensor<8x16xf32>) outs(%v836 : tensor<16x8xf32>) permutation = [1, 0]
    %v838 = arith.constant 0.000000e+00 : f32
    %v839 = tensor.empty() : tensor<10x8xf32>
    %v840 = linalg.fill ins(%v838 : f32) outs(%v839 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v841 = linalg.matmul ins(%v835, %v837 : tensor<10x16xf32>, tensor<16x8xf32>) outs(%v840 : tensor<10x8xf32>) -> tensor<10x8xf32>
    %v842 = tensor.expand_shape %v841 [[0, 1], [2]] output_shape [2, 5, 8] : tensor<10x8xf32> into tensor<2x5x8xf32>
    %v843 = tensor.empty() : tensor<2x5x8xf32>
    %v844 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v792, %v842 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v843 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v845 = arith.constant dense<1.0> : tensor<8xf32>
    %v846 = arith.constant dense<0.0> : tensor<8xf32>
    %v847 = arith.constant 0.000000e+00 : f32
    %v848 = tensor.empty() : tensor<2x5x1xf32>
    %v849 = linalg.fill ins(%v847 : f32) outs(%v848 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v850 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v844 : tensor<2x5x8xf32>) outs(%v849 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v851 = arith.constant 1.250000e-01 : f32
    %v852 = tensor.empty() : tensor<2x5x1xf32>
    %v853 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v850 : tensor<2x5x1xf32>) outs(%v852 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v851 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v854 = tensor.empty() : tensor<2x5x8xf32>
    %v855 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v844, %v853 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v854 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v856 = tensor.empty() : tensor<2x5x8xf32>
    %v857 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v855, %v855 : tensor<2x5x8xf32>, tensor<2x5x8xf32>) outs(%v856 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v858 = arith.constant 0.000000e+00 : f32
    %v859 = tensor.empty() : tensor<2x5x1xf32>
    %v860 = linalg.fill ins(%v858 : f32) outs(%v859 : tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v861 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v857 : tensor<2x5x8xf32>) outs(%v860 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v862 = arith.constant 1.250000e-01 : f32
    %v863 = tensor.empty() : tensor<2x5x1xf32>
    %v864 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v861 : tensor<2x5x1xf32>) outs(%v863 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v862 : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v865 = arith.constant 1.000000e-05 : f64
    %v866 = tensor.empty() : tensor<2x5x1xf32>
    %v867 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v864 : tensor<2x5x1xf32>) outs(%v866 : tensor<2x5x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v865 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x5x1xf32>
    %v868 = tensor.empty() : tensor<2x5x8xf32>
    %v869 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v855, %v867 : tensor<2x5x8xf32>, tensor<2x5x1xf32>) outs(%v868 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v870 = tensor.empty() : tensor<2x5x8xf32>
    %v871 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v869, %v845 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v870 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v872 = tensor.empty() : tensor<2x5x8xf32>
    %v873 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v871, %v846 : tensor<2x5x8xf32>, tensor<8xf32>) outs(%v872 : tensor<2x5x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x5x8xf32>
    %v874 = tensor.collapse_shape %v873 [[0, 1], [2]] : tensor<2x5x8xf32> into tensor<10x8xf32>
    %v875 = tensor.empty() : tensor<8x11xf32>
    %v876 = linalg.transpose ins(%v0 : tensor<11x8xf32>) outs(%v875 : tensor<8x11xf32>) permutation = [1, 0]
    %v877 = arith.constant 0.000000e+00 : f32
    %v878 = tensor.empty() : tensor<10x11xf32>
    %v879 = linalg.fill ins(%v877 : f32) outs(%v878 : tensor<10x11xf32>) -> tensor<10x11xf32>
    %v880 = linalg.matmul ins(%v874, %v876 : tensor<10x8xf32>, tensor<8x11xf32>) outs(%v879 : tensor<10x11xf32>) -> tensor<10x11xf32>
    %v881 = tensor.expand_shape %v880 [[0, 1], [2]] output_shape [2, 5, 11] : tensor<10x11xf32> into tensor<2x5x11xf32>
    return %v881 : tensor<2x5x11xf32>
  }
}
