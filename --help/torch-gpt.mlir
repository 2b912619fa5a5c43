module {
  func.func @main(%arg0: tensor<2x6xi64>) -> tensor<2x6x11xf32> {
    %v0 = arith.constant dense_resource<__elided__> : tensor<11x8xf32>
    %v1 = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
    %v2 = tensor.empty() : tensor<2x6x8xf32>
    %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x6xi64>) outs(%v2 : tensor<2x6x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v0[%i, %j] : tensor<11x8xf32>
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v4 = arith.constant dense_resource<__elided__> : tensor<6x8xf32>
    %v5 = tensor.empty() : tensor<6x8xf32>
    %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v1 : tensor<6xi64>) outs(%v5 : tensor<6x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 1 : index
      %r = tensor.extract %v4[%i, %j] : tensor<6x8xf32>
      linalg.yield %r : f32
    } -> tensor<6x8xf32>
    %v7 = tensor.empty() : tensor<2x6x8xf32>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v6 : tensor<2x6x8xf32>, tensor<6x8xf32>) outs(%v7 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v9 = arith.constant dense<[[true, false, false, false, false, false], [true, true, false, false, false, false], [true, true, true, false, false, false], [true, true, true, true, false, false], [true, true, true, true, true, false], [true, true, true, true, true, true]]> : tensor<6x6xi1>
    %v10 = arith.constant 0xFF800000 : f32
    %v11 = arith.constant dense<1.0> : tensor<8xf32>
    %v12 = arith.constant dense<0.0> : tensor<8xf32>
    %v13 = arith.constant 0.000000e+00 : f32
    %v14 = tensor.empty() : tensor<2x6x1xf32>
    %v15 = linalg.fill ins(%v13 : f32) outs(%v14 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v8 : tensor<2x6x8xf32>) outs(%v15 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v17 = arith.constant 1.250000e-01 : f32
    %v18 = tensor.empty() : tensor<2x6x1xf32>
    %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v16 : tensor<2x6x1xf32>) outs(%v18 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v17 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v20 = tensor.empty() : tensor<2x6x8xf32>
    %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %v19 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v20 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v22 = tensor.empty() : tensor<2x6x8xf32>
    %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v21, %v21 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v22 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v24 = arith.constant 0.000000e+00 : f32
    %v25 = tensor.empty() : tensor<2x6x1xf32>
    %v26 = linalg.fill ins(%v24 : f32) outs(%v25 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v23 : tensor<2x6x8xf32>) outs(%v26 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v28 = arith.constant 1.250000e-01 : f32
    %v29 = tensor.empty() : tensor<2x6x1xf32>
    %v30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v27 : tensor<2x6x1xf32>) outs(%v29 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v28 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v31 = arith.constant 1.000000e-05 : f64
    %v32 = tensor.empty() : tensor<2x6x1xf32>
    %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v30 : tensor<2x6x1xf32>) outs(%v32 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v31 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v34 = tensor.empty() : tensor<2x6x8xf32>
    %v35 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v21, %v33 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v34 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v36 = tensor.empty() : tensor<2x6x8xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v35, %v11 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v36 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v38 = tensor.empty() : tensor<2x6x8xf32>
    %v39 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v37, %v12 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v38 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v40 = arith.constant dense_resource<__elided__> : tensor<24x8xf32>
    %v41 = arith.constant dense_resource<__elided__> : tensor<24xf32>
    %v42 = tensor.collapse_shape %v39 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v43 = tensor.empty() : tensor<8x24xf32>
    %v44 = linalg.transpose ins(%v40 : tensor<24x8xf32>) outs(%v43 : tensor<8x24xf32>) permutation = [1, 0]
    %v45 = arith.constant 0.000000e+00 : f32
    %v46 = tensor.empty() : tensor<12x24xf32>
    %v47 = linalg.fill ins(%v45 : f32) outs(%v46 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %v48 = linalg.matmul ins(%v42, %v44 : tensor<12x8xf32>, tensor<8x24xf32>) outs(%v47 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %v49 = tensor.expand_shape %v48 [[0, 1], [2]] output_shape [2, 6, 24] : tensor<12x24xf32> into tensor<2x6x24xf32>
    %v50 = tensor.empty() : tensor<2x6x24xf32>
    %v51 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v49, %v41 : tensor<2x6x24xf32>, tensor<24xf32>) outs(%v50 : tensor<2x6x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x24xf32>
    %v52 = tensor.extract_slice %v51[0, 0, 0] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v53 = tensor.expand_shape %v52 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v54 = tensor.empty() : tensor<2x2x6x4xf32>
    %v55 = linalg.transpose ins(%v53 : tensor<2x6x2x4xf32>) outs(%v54 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v56 = tensor.collapse_shape %v55 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v57 = tensor.extract_slice %v51[0, 0, 8] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v58 = tensor.expand_shape %v57 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v59 = tensor.empty() : tensor<2x2x6x4xf32>
    %v60 = linalg.transpose ins(%v58 : tensor<2x6x2x4xf32>) outs(%v59 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v61 = tensor.collapse_shape %v60 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v62 = tensor.extract_slice %v51[0, 0, 16] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v63 = tensor.expand_shape %v62 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v64 = tensor.empty() : tensor<2x2x6x4xf32>
    %v65 = linalg.transpose ins(%v63 : tensor<2x6x2x4xf32>) outs(%v64 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v66 = tensor.collapse_shape %v65 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v67 = tensor.empty() : tensor<4x4x6xf32>
    %v68 = linalg.transpose ins(%v61 : tensor<4x6x4xf32>) outs(%v67 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v69 = arith.constant 0.000000e+00 : f32
    %v70 = tensor.empty() : tensor<4x6x6xf32>
    %v71 = linalg.fill ins(%v69 : f32) outs(%v70 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v72 = linalg.batch_matmul ins(%v56, %v68 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v71 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v73 = arith.constant 5.000000e-01 : f32
    %v74 = tensor.empty() : tensor<4x6x6xf32>
    %v75 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v72 : tensor<4x6x6xf32>) outs(%v74 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v73 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v76 = tensor.empty() : tensor<4x6x6xf32>
    %v77 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v9, %v75 : tensor<6x6xi1>, tensor<4x6x6xf32>) outs(%v76 : tensor<4x6x6xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v10 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v78 = arith.constant 0xFF800000 : f32
    %v79 = tensor.empty() : tensor<4x6x1xf32>
    %v80 = linalg.fill ins(%v78 : f32) outs(%v79 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v81 = arith.constant 0 : i64
    %v82 = tensor.empty() : tensor<4x6x1xi64>
    %v83 = linalg.fill ins(%v81 : i64) outs(%v82 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v84, %v85 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v77 : tensor<4x6x6xf32>) outs(%v80, %v83 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v86 = tensor.empty() : tensor<4x6x6xf32>
    %v87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v77, %v84 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v86 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v88 = tensor.empty() : tensor<4x6x6xf32>
    %v89 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v87 : tensor<4x6x6xf32>) outs(%v88 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v90 = arith.constant 0.000000e+00 : f32
    %v91 = tensor.empty() : tensor<4x6x1xf32>
    %v92 = linalg.fill ins(%v90 : f32) outs(%v91 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v93 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v89 : tensor<4x6x6xf32>) outs(%v92 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v94 = tensor.empty() : tensor<4x6x6xf32>
    %v95 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v89, %v93 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v94 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v96 = arith.constant 0.000000e+00 : f32
    %v97 = tensor.empty() : tensor<4x6x4xf32>
    %v98 = linalg.fill ins(%v96 : f32) outs(%v97 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v99 = linalg.batch_matmul ins(%v95, %v66 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v98 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v100 = tensor.expand_shape %v99 [[0, 1], [2], [3]] output_shape [2, 2, 6, 4] : tensor<4x6x4xf32> into tensor<2x2x6x4xf32>
    %v101 = tensor.empty() : tensor<2x6x2x4xf32>
    %v102 = linalg.transpose ins(%v100 : tensor<2x2x6x4xf32>) outs(%v101 : tensor<2x6x2x4xf32>) permutation = [0, 2, 1, 3]
    %v103 = tensor.collapse_shape %v102 [[0], [1], [2, 3]] : tensor<2x6x2x4xf32> into tensor<2x6x8xf32>
    %v104 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v105 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v106 = tensor.collapse_shape %v103 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v107 = tensor.empty() : tensor<8x8xf32>
    %v108 = linalg.transpose ins(%v104 : tensor<8x8xf32>) outs(%v107 : tensor<8x8xf32>) permutation = [1, 0]
    %v109 = arith.constant 0.000000e+00 : f32
    %v110 = tensor.empty() : tensor<12x8xf32>
    %v111 = linalg.fill ins(%v109 : f32) outs(%v110 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v112 = linalg.matmul ins(%v106, %v108 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v111 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v113 = tensor.expand_shape %v112 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v114 = tensor.empty() : tensor<2x6x8xf32>
    %v115 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v113, %v105 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v114 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v116 = tensor.empty() : tensor<2x6x8xf32>
    %v117 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v8, %v115 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v116 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v118 = arith.constant dense<1.0> : tensor<8xf32>
    %v119 = arith.constant dense<0.0> : tensor<8xf32>
    %v120 = arith.constant 0.000000e+00 : f32
    %v121 = tensor.empty() : tensor<2x6x1xf32>
    %v122 = linalg.fill ins(%v120 : f32) outs(%v121 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v123 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v117 : tensor<2x6x8xf32>) outs(%v122 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v124 = arith.constant 1.250000e-01 : f32
    %v125 = tensor.empty() : tensor<2x6x1xf32>
    %v126 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v123 : tensor<2x6x1xf32>) outs(%v125 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v124 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v127 = tensor.empty() : tensor<2x6x8xf32>
    %v128 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v117, %v126 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v127 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v129 = tensor.empty() : tensor<2x6x8xf32>
    %v130 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v128, %v128 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v129 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v131 = arith.constant 0.000000e+00 : f32
    %v132 = tensor.empty() : tensor<2x6x1xf32>
    %v133 = linalg.fill ins(%v131 : f32) outs(%v132 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v134 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v130 : tensor<2x6x8xf32>) outs(%v133 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v135 = arith.constant 1.250000e-01 : f32
    %v136 = tensor.empty() : tensor<2x6x1xf32>
    %v137 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v134 : tensor<2x6x1xf32>) outs(%v136 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v135 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v138 = arith.constant 1.000000e-05 : f64
    %v139 = tensor.empty() : tensor<2x6x1xf32>
    %v140 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v137 : tensor<2x6x1xf32>) outs(%v139 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v138 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v141 = tensor.empty() : tensor<2x6x8xf32>
    %v142 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v128, %v140 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v141 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v143 = tensor.empty() : tensor<2x6x8xf32>
    %v144 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v142, %v118 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v143 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v145 = tensor.empty() : tensor<2x6x8xf32>
    %v146 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v144, %v119 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v145 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v147 = arith.constant dense_resource<__elided__> : tensor<32x8xf32>
    %v148 = arith.constant dense_resource<__elided__> : tensor<32xf32>
    %v149 = tensor.collapse_shape %v146 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v150 = tensor.empty() : tensor<8x32xf32>
    %v151 = linalg.transpose ins(%v147 : tensor<32x8xf32>) outs(%v150 : tensor<8x32xf32>) permutation = [1, 0]
    %v152 = arith.constant 0.000000e+00 : f32
    %v153 = tensor.empty() : tensor<12x32xf32>
    %v154 = linalg.fill ins(%v152 : f32) outs(%v153 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %v155 = linalg.matmul ins(%v149, %v151 : tensor<12x8xf32>, tensor<8x32xf32>) outs(%v154 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %v156 = tensor.expand_shape %v155 [[0, 1], [2]] output_shape [2, 6, 32] : tensor<12x32xf32> into tensor<2x6x32xf32>
    %v157 = tensor.empty() : tensor<2x6x32xf32>
    %v158 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v156, %v148 : tensor<2x6x32xf32>, tensor<32xf32>) outs(%v157 : tensor<2x6x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x32xf32>
    %v159 = arith.constant 5.000000e-01 : f32
    %v160 = arith.constant 7.978846e-01 : f32
    %v161 = arith.constant 4.471500e-02 : f32
    %v162 = arith.constant 1.000000e+00 : f32
    %v163 = tensor.empty() : tensor<2x6x32xf32>
    %v164 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v158 : tensor<2x6x32xf32>) outs(%v163 : tensor<2x6x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %u = arith.mulf %q, %a : f32
      %c = arith.mulf %u, %v161 : f32
      %s = arith.addf %a, %c : f32
      %t = arith.mulf %s, %v160 : f32
      %h = math.tanh %t : f32
      %k = arith.addf %h, %v162 : f32
      %m = arith.mulf %a, %v159 : f32
      %r = arith.mulf %m, %k : f32
      linalg.yield %r : f32
    } -> tensor<2x6x32xf32>
    %v165 = arith.constant dense_resource<__elided__> : tensor<8x32xf32>
    %v166 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v167 = tensor.collapse_shape %v164 [[0, 1], [2]] : tensor<2x6x32xf32> into tensor<12x32xf32>
    %v168 = tensor.empty() : tensor<32x8xf32>
    %v169 = linalg.transpose ins(%v165 : tensor<8x32xf32>) outs(%v168 : tensor<32x8xf32>) permutation = [1, 0]
    %v170 = arith.constant 0.000000e+00 : f32
    %v171 = tensor.empty() : tensor<12x8xf32>
    %v172 = linalg.fill ins(%v170 : f32) outs(%v171 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v173 = linalg.matmul ins(%v167, %v169 : tensor<12x32xf32>, tensor<32x8xf32>) outs(%v172 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v174 = tensor.expand_shape %v173 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v175 = tensor.empty() : tensor<2x6x8xf32>
    %v176 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v174, %v166 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v175 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v177 = tensor.empty() : tensor<2x6x8xf32>
    %v178 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v117, %v176 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v177 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v179 = arith.constant dense<1.0> : tensor<8xf32>
    %v180 = arith.constant dense<0.0> : tensor<8xf32>
    %v181 = arith.constant 0.000000e+00 : f32
    %v182 = tensor.empty() : tensor<2x6x1xf32>
    %v183 = linalg.fill ins(%v181 : f32) outs(%v182 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v184 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v178 : tensor<2x6x8xf32>) outs(%v183 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v185 = arith.constant 1.250000e-01 : f32
    %v186 = tensor.empty() : tensor<2x6x1xf32>
    %v187 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v184 : tensor<2x6x1xf32>) outs(%v186 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v185 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v188 = tensor.empty() : tensor<2x6x8xf32>
    %v189 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v178, %v187 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v188 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v190 = tensor.empty() : tensor<2x6x8xf32>
    %v191 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v189, %v189 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v190 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v192 = arith.constant 0.000000e+00 : f32
    %v193 = tensor.empty() : tensor<2x6x1xf32>
    %v194 = linalg.fill ins(%v192 : f32) outs(%v193 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v195 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v191 : tensor<2x6x8xf32>) outs(%v194 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v196 = arith.constant 1.250000e-01 : f32
    %v197 = tensor.empty() : tensor<2x6x1xf32>
    %v198 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v195 : tensor<2x6x1xf32>) outs(%v197 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v196 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v199 = arith.constant 1.000000e-05 : f64
    %v200 = tensor.empty() : tensor<2x6x1xf32>
    %v201 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v198 : tensor<2x6x1xf32>) outs(%v200 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v199 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v202 = tensor.empty() : tensor<2x6x8xf32>
    %v203 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v189, %v201 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v202 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v204 = tensor.empty() : tensor<2x6x8xf32>
    %v205 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v203, %v179 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v204 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v206 = tensor.empty() : tensor<2x6x8xf32>
    %v207 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v205, %v180 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v206 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v208 = arith.constant dense_resource<__elided__> : tensor<24x8xf32>
    %v209 = arith.constant dense_resource<__elided__> : tensor<24xf32>
    %v210 = tensor.collapse_shape %v207 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v211 = tensor.empty() : tensor<8x24xf32>
    %v212 = linalg.transpose ins(%v208 : tensor<24x8xf32>) outs(%v211 : tensor<8x24xf32>) permutation = [1, 0]
    %v213 = arith.constant 0.000000e+00 : f32
    %v214 = tensor.empty() : tensor<12x24xf32>
    %v215 = linalg.fill ins(%v213 : f32) outs(%v214 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %v216 = linalg.matmul ins(%v210, %v212 : tensor<12x8xf32>, tensor<8x24xf32>) outs(%v215 : tensor<12x24xf32>) -> tensor<12x24xf32>
    %v217 = tensor.expand_shape %v216 [[0, 1], [2]] output_shape [2, 6, 24] : tensor<12x24xf32> into tensor<2x6x24xf32>
    %v218 = tensor.empty() : tensor<2x6x24xf32>
    %v219 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v217, %v209 : tensor<2x6x24xf32>, tensor<24xf32>) outs(%v218 : tensor<2x6x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x24xf32>
    %v220 = tensor.extract_slice %v219[0, 0, 0] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v221 = tensor.expand_shape %v220 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v222 = tensor.empty() : tensor<2x2x6x4xf32>
    %v223 = linalg.transpose ins(%v221 : tensor<2x6x2x4xf32>) outs(%v222 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v224 = tensor.collapse_shape %v223 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v225 = tensor.extract_slice %v219[0, 0, 8] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v226 = tensor.expand_shape %v225 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v227 = tensor.empty() : tensor<2x2x6x4xf32>
    %v228 = linalg.transpose ins(%v226 : tensor<2x6x2x4xf32>) outs(%v227 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v229 = tensor.collapse_shape %v228 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v230 = tensor.extract_slice %v219[0, 0, 16] [2, 6, 8] [1, 1, 1] : tensor<2x6x24xf32> to tensor<2x6x8xf32>
    %v231 = tensor.expand_shape %v230 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v232 = tensor.empty() : tensor<2x2x6x4xf32>
    %v233 = linalg.transpose ins(%v231 : tensor<2x6x2x4xf32>) outs(%v232 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v234 = tensor.collapse_shape %v233 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v235 = tensor.empty() : tensor<4x4x6xf32>
    %v236 = linalg.transpose ins(%v229 : tensor<4x6x4xf32>) outs(%v235 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v237 = arith.constant 0.000000e+00 : f32
    %v238 = tensor.empty() : tensor<4x6x6xf32>
    %v239 = linalg.fill ins(%v237 : f32) outs(%v238 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v240 = linalg.batch_matmul ins(%v224, %v236 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v239 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v241 = arith.constant 5.000000e-01 : f32
    %v242 = tensor.empty() : tensor<4x6x6xf32>
    %v243 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v240 : tensor<4x6x6xf32>) outs(%v242 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v241 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v244 = tensor.empty() : tensor<4x6x6xf32>
    %v245 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v9, %v243 : tensor<6x6xi1>, tensor<4x6x6xf32>) outs(%v244 : tensor<4x6x6xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v10 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v246 = arith.constant 0xFF800000 : f32
    %v247 = tensor.empty() : tensor<4x6x1xf32>
    %v248 = linalg.fill ins(%v246 : f32) outs(%v247 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v249 = arith.constant 0 : i64
    %v250 = tensor.empty() : tensor<4x6x1xi64>
    %v251 = linalg.fill ins(%v249 : i64) outs(%v250 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v252, %v253 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v245 : tensor<4x6x6xf32>) outs(%v248, %v251 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v254 = tensor.empty() : tensor<4x6x6xf32>
    %v255 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v245, %v252 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v254 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v256 = tensor.empty() : tensor<4x6x6xf32>
    %v257 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v255 : tensor<4x6x6xf32>) outs(%v256 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v258 = arith.constant 0.000000e+00 : f32
    %v259 = tensor.empty() : tensor<4x6x1xf32>
    %v260 = linalg.fill ins(%v258 : f32) outs(%v259 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v261 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v257 : tensor<4x6x6xf32>) outs(%v260 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v262 = tensor.empty() : tensor<4x6x6xf32>
    %v263 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v257, %v261 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v262 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v264 = arith.constant 0.000000e+00 : f32
    %v265 = tensor.empty() : tensor<4x6x4xf32>
    %v266 = linalg.fill ins(%v264 : f32) outs(%v265 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v267 = linalg.batch_matmul ins(%v263, %v234 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v266 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v268 = tensor.expand_shape %v267 [[0, 1], [2], [3]] output_shape [2, 2, 6, 4] : tensor<4x6x4xf32> into tensor<2x2x6x4xf32>
    %v269 = tensor.empty() : tensor<2x6x2x4xf32>
    %v270 = linalg.transpose ins(%v268 : tensor<2x2x6x4xf32>) outs(%v269 : tensor<2x6x2x4xf32>) permutation = [0, 2, 1, 3]
    %v271 = tensor.collapse_shape %v270 [[0], [1], [2, 3]] : tensor<2x6x2x4xf32> into tensor<2x6x8xf32>
    %v272 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v273 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v274 = tensor.collapse_shape %v271 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v275 = tensor.empty() : tensor<8x8xf32>
    %v276 = linalg.transpose ins(%v272 : tensor<8x8xf32>) outs(%v275 : tensor<8x8xf32>) permutation = [1, 0]
    %v277 = arith.constant 0.000000e+00 : f32
    %v278 = tensor.empty() : tensor<12x8xf32>
    %v279 = linalg.fill ins(%v277 : f32) outs(%v278 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v280 = linalg.matmul ins(%v274, %v276 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v279 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v281 = tensor.expand_shape %v280 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v282 = tensor.empty() : tensor<2x6x8xf32>
    %v283 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v281, %v273 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v282 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v284 = tensor.empty() : tensor<2x6x8xf32>
    %v285 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v178, %v283 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v284 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v286 = arith.constant dense<1.0> : tensor<8xf32>
    %v287 = arith.constant dense<0.0> : tensor<8xf32>
    %v288 = arith.constant 0.000000e+00 : f32
    %v289 = tensor.empty() : tensor<2x6x1xf32>
    %v290 = linalg.fill ins(%v288 : f32) outs(%v289 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v291 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v285 : tensor<2x6x8xf32>) outs(%v290 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v292 = arith.constant 1.250000e-01 : f32
    %v293 = tensor.empty() : tensor<2x6x1xf32>
    %v294 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v291 : tensor<2x6x1xf32>) outs(%v293 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v292 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v295 = tensor.empty() : tensor<2x6x8xf32>
    %v296 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v285, %v294 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v295 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v297 = tensor.empty() : tensor<2x6x8xf32>
    %v298 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v296, %v296 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v297 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v299 = arith.constant 0.000000e+00 : f32
    %v300 = tensor.empty() : tensor<2x6x1xf32>
    %v301 = linalg.fill ins(%v299 : f32) outs(%v300 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v302 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v298 : tensor<2x6x8xf32>) outs(%v301 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v303 = arith.constant 1.250000e-01 : f32
    %v304 = tensor.empty() : tensor<2x6x1xf32>
    %v305 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v302 : tensor<2x6x1xf32>) outs(%v304 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v303 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v306 = arith.constant 1.000000e-05 : f64
    %v307 = tensor.empty() : tensor<2x6x1xf32>
    %v308 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v305 : tensor<2x6x1xf32>) outs(%v307 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v306 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v309 = tensor.empty() : tensor<2x6x8xf32>
    %v310 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v296, %v308 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v309 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v311 = tensor.empty() : tensor<2x6x8xf32>
    %v312 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v310, %v286 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v311 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v313 = tensor.empty() : tensor<2x6x8xf32>
    %v314 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v312, %v287 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v313 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v315 = arith.constant dense_resource<__elided__> : tensor<32x8xf32>
    %v316 = arith.constant dense_resource<__elided__> : tensor<32xf32>
    %v317 = tensor.collapse_shape %v314 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v318 = tensor.empty() : tensor<8x32xf32>
    %v319 = linalg.transpose ins(%v315 : tensor<32x8xf32>) outs(%v318 : tensor<8x32xf32>) permutation = [1, 0]
    %v320 = arith.constant 0.000000e+00 : f32
    %v321 = tensor.empty() : tensor<12x32xf32>
    %v322 = linalg.fill ins(%v320 : f32) outs(%v321 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %v323 = linalg.matmul ins(%v317, %v319 : tensor<12x8xf32>, tensor<8x32xf32>) outs(%v322 : tensor<12x32xf32>) -> tensor<12x32xf32>
    %v324 = tensor.expand_shape %v323 [[0, 1], [2]] output_shape [2, 6, 32] : tensor<12x32xf32> into tensor<2x6x32xf32>
    %v325 = tensor.empty() : tensor<2x6x32xf32>
    %v326 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v324, %v316 : tensor<2x6x32xf32>, tensor<32xf32>) outs(%v325 : tensor<2x6x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x32xf32>
    %v327 = arith.constant 5.000000e-01 : f32
    %v328 = arith.constant 7.978846e-01 : f32
    %v329 = arith.constant 4.471500e-02 : f32
    %v330 = arith.constant 1.000000e+00 : f32
    %v331 = tensor.empty() : tensor<2x6x32xf32>
    %v332 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v326 : tensor<2x6x32xf32>) outs(%v331 : tensor<2x6x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %q = arith.mulf %a, %a : f32
      %u = arith.mulf %q, %a : f32
      %c = arith.mulf %u, %v329 : f32
      %s = arith.addf %a, %c : f32
      %t = arith.mulf %s, %v328 : f32
      %h = math.tanh %t : f32
      %k = arith.addf %h, %v330 : f32
      %m = arith.mulf %a, %v327 : f32
      %r = arith.mulf %m, %k : f32
      linalg.yield %r : f32
    } -> tensor<2x6x32xf32>
    %v333 = arith.constant dense_resource<__elided__> : tensor<8x32xf32>
    %v334 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v335 = tensor.collapse_shape %v332 [[0, 1], [2]] : tensor<2x6x32xf32> into tensor<12x32xf32>
    %v336 = tensor.empty() : tensor<32x8xf32>
    %v337 = linalg.transpose ins(%v333 : tensor<8x32xf32>) outs(%v336 : tensor<32x8xf32>) permutation = [1, 0]
    %v338 = arith.constant 0.000000e+00 : f32
    %v339 = tensor.empty() : tensor<12x8xf32>
    %v340 = linalg.fill ins(%v338 : f32) outs(%v339 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v341 = linalg.matmul ins(%v335, %v337 : tensor<12x32xf32>, tensor<32x8xf32>) outs(%v340 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v342 = tensor.expand_shape %v341 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v343 = tensor.empty() : tensor<2x6x8xf32>
    %v344 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v342, %v334 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v343 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v345 = tensor.empty() : tensor<2x6x8xf32>
    %v346 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v285, %v344 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v345 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v347 = arith.constant dense<1.0> : tensor<8xf32>
    %v348 = arith.constant dense<0.0> : tensor<8xf32>
    %v349 = arith.constant 0.000000e+00 : f32
    %v350 = tensor.empty() : tensor<2x6x1xf32>
    %v351 = linalg.fill ins(%v349 : f32) outs(%v350 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v352 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v346 : tensor<2x6x8xf32>) outs(%v351 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v353 = arith.constant 1.250000e-01 : f32
    %v354 = tensor.empty() : tensor<2x6x1xf32>
    %v355 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v352 : tensor<2x6x1xf32>) outs(%v354 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v353 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v356 = tensor.empty() : tensor<2x6x8xf32>
    %v357 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v346, %v355 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v356 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v358 = tensor.empty() : tensor<2x6x8xf32>
    %v359 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v357, %v357 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v358 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v360 = arith.constant 0.000000e+00 : f32
    %v361 = tensor.empty() : tensor<2x6x1xf32>
    %v362 = linalg.fill ins(%v360 : f32) outs(%v361 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v363 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v359 : tensor<2x6x8xf32>) outs(%v362 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v364 = arith.constant 1.250000e-01 : f32
    %v365 = tensor.empty() : tensor<2x6x1xf32>
    %v366 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v363 : tensor<2x6x1xf32>) outs(%v365 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v364 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v367 = arith.constant 1.000000e-05 : f64
    %v368 = tensor.empty() : tensor<2x6x1xf32>
    %v369 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v366 : tensor<2x6x1xf32>) outs(%v368 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %w = arith.truncf %v367 : f64 to f32
      %s = arith.addf %a, %w : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v370 = tensor.empty() : tensor<2x6x8xf32>
    %v371 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v357, %v369 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v370 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v372 = tensor.empty() : tensor<2x6x8xf32>
    %v373 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v371, %v347 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v372 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v374 = tensor.empty() : tensor<2x6x8xf32>
    %v375 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v373, %v348 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v374 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v376 = tensor.collapse_shape %v375 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v377 = tensor.empty() : tensor<8x11xf32>
    %v378 = linalg.transpose ins(%v0 : tensor<11x8xf32>) outs(%v377 : tensor<8x11xf32>) permutation = [1, 0]
    %v379 = arith.constant 0.000000e+00 : f32
    %v380 = tensor.empty() : tensor<12x11xf32>
    %v381 = linalg.fill ins(%v379 : f32) outs(%v380 : tensor<12x11xf32>) -> tensor<12x11xf32>
    %v382 = linalg.matmul ins(%v376, %v378 : tensor<12x8xf32>, tensor<8x11xf32>) outs(%v381 : tensor<12x11xf32>) -> tensor<12x11xf32>
    %v383 = tensor.expand_shape %v382 [[0, 1], [2]] output_shape [2, 6, 11] : tensor<12x11xf32> into tensor<2x6x11xf32>
    return %v383 : tensor<2x6x11xf32>
  }
}
