module {
  func.func @main(%arg0: tensor<2x6xi64>, %arg1: tensor<2x6xi64>, %arg2: tensor<2x6xi64>) -> tensor<2x3xf32> {
    %v0 = arith.constant dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>
    %v1 = arith.constant dense_resource<__elided__> : tensor<11x8xf32>
    %v2 = arith.constant 11 : i64
    %v3 = arith.constant 0 : i64
    %v4 = tensor.empty() : tensor<2x6x8xf32>
    %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<2x6xi64>) outs(%v4 : tensor<2x6x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %n = arith.cmpi slt, %a, %v3 : i64
      %t = arith.addi %a, %v2 : i64
      %s = arith.select %n, %t, %a : i64
      %i = arith.index_cast %s : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v1[%i, %j] : tensor<11x8xf32>
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v6 = arith.constant dense_resource<__elided__> : tensor<2x8xf32>
    %v7 = arith.constant 2 : i64
    %v8 = arith.constant 0 : i64
    %v9 = tensor.empty() : tensor<2x6x8xf32>
    %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<2x6xi64>) outs(%v9 : tensor<2x6x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %n = arith.cmpi slt, %a, %v8 : i64
      %t = arith.addi %a, %v7 : i64
      %s = arith.select %n, %t, %a : i64
      %i = arith.index_cast %s : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v6[%i, %j] : tensor<2x8xf32>
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v11 = tensor.empty() : tensor<2x6x8xf32>
    %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v5, %v10 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v11 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v13 = arith.constant dense_resource<__elided__> : tensor<6x8xf32>
    %v14 = arith.constant 6 : i64
    %v15 = arith.constant 0 : i64
    %v16 = tensor.empty() : tensor<1x6x8xf32>
    %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v0 : tensor<1x6xi64>) outs(%v16 : tensor<1x6x8xf32>) {
    ^bb0(%a: i64, %o: f32):
      %n = arith.cmpi slt, %a, %v15 : i64
      %t = arith.addi %a, %v14 : i64
      %s = arith.select %n, %t, %a : i64
      %i = arith.index_cast %s : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v13[%i, %j] : tensor<6x8xf32>
      linalg.yield %r : f32
    } -> tensor<1x6x8xf32>
    %v18 = tensor.empty() : tensor<2x6x8xf32>
    %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v12, %v17 : tensor<2x6x8xf32>, tensor<1x6x8xf32>) outs(%v18 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v20 = arith.constant 1.000000e+00 : f32
    %v21 = arith.constant -1.000000e+04 : f32
    %v22 = tensor.empty() : tensor<2x6xf32>
    %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<2x6xi64>) outs(%v22 : tensor<2x6xf32>) {
    ^bb0(%a: i64, %o: f32):
      %f = arith.sitofp %a : i64 to f32
      %n = arith.subf %v20, %f : f32
      %r = arith.mulf %n, %v21 : f32
      linalg.yield %r : f32
    } -> tensor<2x6xf32>
    %v24 = tensor.expand_shape %v23 [[0], [1, 2, 3]] output_shape [2, 1, 1, 6] : tensor<2x6xf32> into tensor<2x1x1x6xf32>
    %v25 = arith.constant 0.000000e+00 : f32
    %v26 = tensor.empty() : tensor<2x6x1xf32>
    %v27 = linalg.fill ins(%v25 : f32) outs(%v26 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v28 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v19 : tensor<2x6x8xf32>) outs(%v27 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v29 = arith.constant 1.250000e-01 : f32
    %v30 = tensor.empty() : tensor<2x6x1xf32>
    %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v28 : tensor<2x6x1xf32>) outs(%v30 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v29 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v32 = tensor.empty() : tensor<2x6x8xf32>
    %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v19, %v31 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v32 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v34 = arith.constant 2.000000e+00 : f32
    %v35 = arith.constant 1.000000e-12 : f32
    %v36 = tensor.empty() : tensor<2x6x8xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v33 : tensor<2x6x8xf32>) outs(%v36 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.powf %a, %v34 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v38 = arith.constant 0.000000e+00 : f32
    %v39 = tensor.empty() : tensor<2x6x1xf32>
    %v40 = linalg.fill ins(%v38 : f32) outs(%v39 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v37 : tensor<2x6x8xf32>) outs(%v40 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v42 = arith.constant 1.250000e-01 : f32
    %v43 = tensor.empty() : tensor<2x6x1xf32>
    %v44 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v41 : tensor<2x6x1xf32>) outs(%v43 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v42 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v45 = tensor.empty() : tensor<2x6x1xf32>
    %v46 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v44 : tensor<2x6x1xf32>) outs(%v45 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v35 : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v47 = tensor.empty() : tensor<2x6x8xf32>
    %v48 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v33, %v46 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v47 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v49 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v50 = tensor.empty() : tensor<2x6x8xf32>
    %v51 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v48, %v49 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v50 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v52 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v53 = tensor.empty() : tensor<2x6x8xf32>
    %v54 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v51, %v52 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v53 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v55 = tensor.collapse_shape %v54 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v56 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v57 = arith.constant 0.000000e+00 : f32
    %v58 = tensor.empty() : tensor<12x8xf32>
    %v59 = linalg.fill ins(%v57 : f32) outs(%v58 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v60 = linalg.matmul ins(%v55, %v56 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v59 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v61 = tensor.expand_shape %v60 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v62 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v63 = tensor.empty() : tensor<2x6x8xf32>
    %v64 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v61, %v62 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v63 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v65 = tensor.expand_shape %v64 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v66 = tensor.empty() : tensor<2x2x6x4xf32>
    %v67 = linalg.transpose ins(%v65 : tensor<2x6x2x4xf32>) outs(%v66 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v68 = tensor.collapse_shape %v67 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v69 = tensor.collapse_shape %v54 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v70 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v71 = arith.constant 0.000000e+00 : f32
    %v72 = tensor.empty() : tensor<12x8xf32>
    %v73 = linalg.fill ins(%v71 : f32) outs(%v72 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v74 = linalg.matmul ins(%v69, %v70 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v73 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v75 = tensor.expand_shape %v74 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v76 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v77 = tensor.empty() : tensor<2x6x8xf32>
    %v78 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v75, %v76 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v77 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v79 = tensor.expand_shape %v78 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v80 = tensor.empty() : tensor<2x2x6x4xf32>
    %v81 = linalg.transpose ins(%v79 : tensor<2x6x2x4xf32>) outs(%v80 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v82 = tensor.collapse_shape %v81 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v83 = tensor.collapse_shape %v54 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v84 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v85 = arith.constant 0.000000e+00 : f32
    %v86 = tensor.empty() : tensor<12x8xf32>
    %v87 = linalg.fill ins(%v85 : f32) outs(%v86 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v88 = linalg.matmul ins(%v83, %v84 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v87 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v89 = tensor.expand_shape %v88 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v90 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v91 = tensor.empty() : tensor<2x6x8xf32>
    %v92 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v89, %v90 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v91 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v93 = tensor.expand_shape %v92 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v94 = tensor.empty() : tensor<2x2x6x4xf32>
    %v95 = linalg.transpose ins(%v93 : tensor<2x6x2x4xf32>) outs(%v94 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v96 = tensor.collapse_shape %v95 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v97 = tensor.empty() : tensor<4x4x6xf32>
    %v98 = linalg.transpose ins(%v82 : tensor<4x6x4xf32>) outs(%v97 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v99 = arith.constant 0.000000e+00 : f32
    %v100 = tensor.empty() : tensor<4x6x6xf32>
    %v101 = linalg.fill ins(%v99 : f32) outs(%v100 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v102 = linalg.batch_matmul ins(%v68, %v98 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v101 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v103 = arith.constant 5.000000e-01 : f32
    %v104 = tensor.empty() : tensor<4x6x6xf32>
    %v105 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v102 : tensor<4x6x6xf32>) outs(%v104 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v103 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v106 = tensor.expand_shape %v105 [[0, 1], [2], [3]] output_shape [2, 2, 6, 6] : tensor<4x6x6xf32> into tensor<2x2x6x6xf32>
    %v107 = tensor.empty() : tensor<2x2x6x6xf32>
    %v108 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v106, %v24 : tensor<2x2x6x6xf32>, tensor<2x1x1x6xf32>) outs(%v107 : tensor<2x2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x2x6x6xf32>
    %v109 = tensor.collapse_shape %v108 [[0, 1], [2], [3]] : tensor<2x2x6x6xf32> into tensor<4x6x6xf32>
    %v110 = arith.constant 0xFF800000 : f32
    %v111 = tensor.empty() : tensor<4x6x1xf32>
    %v112 = linalg.fill ins(%v110 : f32) outs(%v111 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v113 = arith.constant 0 : i64
    %v114 = tensor.empty() : tensor<4x6x1xi64>
    %v115 = linalg.fill ins(%v113 : i64) outs(%v114 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v116, %v117 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v109 : tensor<4x6x6xf32>) outs(%v112, %v115 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v118 = tensor.empty() : tensor<4x6x6xf32>
    %v119 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v109, %v116 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v118 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v120 = tensor.empty() : tensor<4x6x6xf32>
    %v121 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v119 : tensor<4x6x6xf32>) outs(%v120 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v122 = arith.constant 0.000000e+00 : f32
    %v123 = tensor.empty() : tensor<4x6x1xf32>
    %v124 = linalg.fill ins(%v122 : f32) outs(%v123 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v125 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v121 : tensor<4x6x6xf32>) outs(%v124 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v126 = tensor.empty() : tensor<4x6x6xf32>
    %v127 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v121, %v125 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v126 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v128 = arith.constant 0.000000e+00 : f32
    %v129 = tensor.empty() : tensor<4x6x4xf32>
    %v130 = linalg.fill ins(%v128 : f32) outs(%v129 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v131 = linalg.batch_matmul ins(%v127, %v96 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v130 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v132 = tensor.expand_shape %v131 [[0, 1], [2], [3]] output_shape [2, 2, 6, 4] : tensor<4x6x4xf32> into tensor<2x2x6x4xf32>
    %v133 = tensor.empty() : tensor<2x6x2x4xf32>
    %v134 = linalg.transpose ins(%v132 : tensor<2x2x6x4xf32>) outs(%v133 : tensor<2x6x2x4xf32>) permutation = [0, 2, 1, 3]
    %v135 = tensor.collapse_shape %v134 [[0], [1], [2, 3]] : tensor<2x6x2x4xf32> into tensor<2x6x8xf32>
    %v136 = tensor.collapse_shape %v135 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v137 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v138 = arith.constant 0.000000e+00 : f32
    %v139 = tensor.empty() : tensor<12x8xf32>
    %v140 = linalg.fill ins(%v138 : f32) outs(%v139 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v141 = linalg.matmul ins(%v136, %v137 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v140 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v142 = tensor.expand_shape %v141 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v143 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v144 = tensor.empty() : tensor<2x6x8xf32>
    %v145 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v142, %v143 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v144 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v146 = tensor.empty() : tensor<2x6x8xf32>
    %v147 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v54, %v145 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v146 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v148 = arith.constant 0.000000e+00 : f32
    %v149 = tensor.empty() : tensor<2x6x1xf32>
    %v150 = linalg.fill ins(%v148 : f32) outs(%v149 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v151 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v147 : tensor<2x6x8xf32>) outs(%v150 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v152 = arith.constant 1.250000e-01 : f32
    %v153 = tensor.empty() : tensor<2x6x1xf32>
    %v154 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v151 : tensor<2x6x1xf32>) outs(%v153 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v152 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v155 = tensor.empty() : tensor<2x6x8xf32>
    %v156 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v147, %v154 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v155 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v157 = arith.constant 2.000000e+00 : f32
    %v158 = arith.constant 1.000000e-12 : f32
    %v159 = tensor.empty() : tensor<2x6x8xf32>
    %v160 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v156 : tensor<2x6x8xf32>) outs(%v159 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.powf %a, %v157 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v161 = arith.constant 0.000000e+00 : f32
    %v162 = tensor.empty() : tensor<2x6x1xf32>
    %v163 = linalg.fill ins(%v161 : f32) outs(%v162 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v164 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v160 : tensor<2x6x8xf32>) outs(%v163 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v165 = arith.constant 1.250000e-01 : f32
    %v166 = tensor.empty() : tensor<2x6x1xf32>
    %v167 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v164 : tensor<2x6x1xf32>) outs(%v166 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v165 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v168 = tensor.empty() : tensor<2x6x1xf32>
    %v169 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v167 : tensor<2x6x1xf32>) outs(%v168 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v158 : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v170 = tensor.empty() : tensor<2x6x8xf32>
    %v171 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v156, %v169 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v170 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v172 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v173 = tensor.empty() : tensor<2x6x8xf32>
    %v174 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v171, %v172 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v173 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v175 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v176 = tensor.empty() : tensor<2x6x8xf32>
    %v177 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v174, %v175 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v176 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v178 = tensor.collapse_shape %v177 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v179 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v180 = arith.constant 0.000000e+00 : f32
    %v181 = tensor.empty() : tensor<12x16xf32>
    %v182 = linalg.fill ins(%v180 : f32) outs(%v181 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %v183 = linalg.matmul ins(%v178, %v179 : tensor<12x8xf32>, tensor<8x16xf32>) outs(%v182 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %v184 = tensor.expand_shape %v183 [[0, 1], [2]] output_shape [2, 6, 16] : tensor<12x16xf32> into tensor<2x6x16xf32>
    %v185 = arith.constant dense_resource<__elided__> : tensor<16xf32>
    %v186 = tensor.empty() : tensor<2x6x16xf32>
    %v187 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v184, %v185 : tensor<2x6x16xf32>, tensor<16xf32>) outs(%v186 : tensor<2x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x16xf32>
    %v188 = arith.constant 1.414214e+00 : f32
    %v189 = arith.constant 5.000000e-01 : f32
    %v190 = tensor.empty() : tensor<2x6x16xf32>
    %v191 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v187 : tensor<2x6x16xf32>) outs(%v190 : tensor<2x6x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %d = arith.divf %a, %v188 : f32
      %e = math.erf %d : f32
      %s = arith.addf %e, %v20 : f32
      %m = arith.mulf %a, %s : f32
      %r = arith.mulf %m, %v189 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x16xf32>
    %v192 = tensor.collapse_shape %v191 [[0, 1], [2]] : tensor<2x6x16xf32> into tensor<12x16xf32>
    %v193 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v194 = arith.constant 0.000000e+00 : f32
    %v195 = tensor.empty() : tensor<12x8xf32>
    %v196 = linalg.fill ins(%v194 : f32) outs(%v195 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v197 = linalg.matmul ins(%v192, %v193 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%v196 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v198 = tensor.expand_shape %v197 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v199 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v200 = tensor.empty() : tensor<2x6x8xf32>
    %v201 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v198, %v199 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v200 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v202 = tensor.empty() : tensor<2x6x8xf32>
    %v203 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v177, %v201 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v202 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v204 = arith.constant 0.000000e+00 : f32
    %v205 = tensor.empty() : tensor<2x6x1xf32>
    %v206 = linalg.fill ins(%v204 : f32) outs(%v205 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v207 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v203 : tensor<2x6x8xf32>) outs(%v206 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v208 = arith.constant 1.250000e-01 : f32
    %v209 = tensor.empty() : tensor<2x6x1xf32>
    %v210 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v207 : tensor<2x6x1xf32>) outs(%v209 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v208 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v211 = tensor.empty() : tensor<2x6x8xf32>
    %v212 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v203, %v210 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v211 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v213 = arith.constant 2.000000e+00 : f32
    %v214 = arith.constant 1.000000e-12 : f32
    %v215 = tensor.empty() : tensor<2x6x8xf32>
    %v216 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v212 : tensor<2x6x8xf32>) outs(%v215 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.powf %a, %v213 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v217 = arith.constant 0.000000e+00 : f32
    %v218 = tensor.empty() : tensor<2x6x1xf32>
    %v219 = linalg.fill ins(%v217 : f32) outs(%v218 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v220 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v216 : tensor<2x6x8xf32>) outs(%v219 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v221 = arith.constant 1.250000e-01 : f32
    %v222 = tensor.empty() : tensor<2x6x1xf32>
    %v223 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v220 : tensor<2x6x1xf32>) outs(%v222 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v221 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v224 = tensor.empty() : tensor<2x6x1xf32>
    %v225 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v223 : tensor<2x6x1xf32>) outs(%v224 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v214 : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v226 = tensor.empty() : tensor<2x6x8xf32>
    %v227 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v212, %v225 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v226 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v228 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v229 = tensor.empty() : tensor<2x6x8xf32>
    %v230 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v227, %v228 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v229 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v231 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v232 = tensor.empty() : tensor<2x6x8xf32>
    %v233 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v230, %v231 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v232 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v234 = tensor.collapse_shape %v233 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v235 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v236 = arith.constant 0.000000e+00 : f32
    %v237 = tensor.empty() : tensor<12x8xf32>
    %v238 = linalg.fill ins(%v236 : f32) outs(%v237 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v239 = linalg.matmul ins(%v234, %v235 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v238 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v240 = tensor.expand_shape %v239 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v241 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v242 = tensor.empty() : tensor<2x6x8xf32>
    %v243 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v240, %v241 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v242 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v244 = tensor.expand_shape %v243 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v245 = tensor.empty() : tensor<2x2x6x4xf32>
    %v246 = linalg.transpose ins(%v244 : tensor<2x6x2x4xf32>) outs(%v245 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v247 = tensor.collapse_shape %v246 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v248 = tensor.collapse_shape %v233 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v249 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v250 = arith.constant 0.000000e+00 : f32
    %v251 = tensor.empty() : tensor<12x8xf32>
    %v252 = linalg.fill ins(%v250 : f32) outs(%v251 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v253 = linalg.matmul ins(%v248, %v249 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v252 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v254 = tensor.expand_shape %v253 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v255 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v256 = tensor.empty() : tensor<2x6x8xf32>
    %v257 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v254, %v255 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v256 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v258 = tensor.expand_shape %v257 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v259 = tensor.empty() : tensor<2x2x6x4xf32>
    %v260 = linalg.transpose ins(%v258 : tensor<2x6x2x4xf32>) outs(%v259 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v261 = tensor.collapse_shape %v260 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v262 = tensor.collapse_shape %v233 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v263 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v264 = arith.constant 0.000000e+00 : f32
    %v265 = tensor.empty() : tensor<12x8xf32>
    %v266 = linalg.fill ins(%v264 : f32) outs(%v265 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v267 = linalg.matmul ins(%v262, %v263 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v266 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v268 = tensor.expand_shape %v267 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v269 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v270 = tensor.empty() : tensor<2x6x8xf32>
    %v271 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v268, %v269 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v270 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v272 = tensor.expand_shape %v271 [[0], [1], [2, 3]] output_shape [2, 6, 2, 4] : tensor<2x6x8xf32> into tensor<2x6x2x4xf32>
    %v273 = tensor.empty() : tensor<2x2x6x4xf32>
    %v274 = linalg.transpose ins(%v272 : tensor<2x6x2x4xf32>) outs(%v273 : tensor<2x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v275 = tensor.collapse_shape %v274 [[0, 1], [2], [3]] : tensor<2x2x6x4xf32> into tensor<4x6x4xf32>
    %v276 = tensor.empty() : tensor<4x4x6xf32>
    %v277 = linalg.transpose ins(%v261 : tensor<4x6x4xf32>) outs(%v276 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v278 = arith.constant 0.000000e+00 : f32
    %v279 = tensor.empty() : tensor<4x6x6xf32>
    %v280 = linalg.fill ins(%v278 : f32) outs(%v279 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v281 = linalg.batch_matmul ins(%v247, %v277 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v280 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v282 = arith.constant 5.000000e-01 : f32
    %v283 = tensor.empty() : tensor<4x6x6xf32>
    %v284 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v281 : tensor<4x6x6xf32>) outs(%v283 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v282 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v285 = tensor.expand_shape %v284 [[0, 1], [2], [3]] output_shape [2, 2, 6, 6] : tensor<4x6x6xf32> into tensor<2x2x6x6xf32>
    %v286 = tensor.empty() : tensor<2x2x6x6xf32>
    %v287 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v285, %v24 : tensor<2x2x6x6xf32>, tensor<2x1x1x6xf32>) outs(%v286 : tensor<2x2x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x2x6x6xf32>
    %v288 = tensor.collapse_shape %v287 [[0, 1], [2], [3]] : tensor<2x2x6x6xf32> into tensor<4x6x6xf32>
    %v289 = arith.constant 0xFF800000 : f32
    %v290 = tensor.empty() : tensor<4x6x1xf32>
    %v291 = linalg.fill ins(%v289 : f32) outs(%v290 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v292 = arith.constant 0 : i64
    %v293 = tensor.empty() : tensor<4x6x1xi64>
    %v294 = linalg.fill ins(%v292 : i64) outs(%v293 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v295, %v296 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v288 : tensor<4x6x6xf32>) outs(%v291, %v294 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v297 = tensor.empty() : tensor<4x6x6xf32>
    %v298 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v288, %v295 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v297 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v299 = tensor.empty() : tensor<4x6x6xf32>
    %v300 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v298 : tensor<4x6x6xf32>) outs(%v299 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v301 = arith.constant 0.000000e+00 : f32
    %v302 = tensor.empty() : tensor<4x6x1xf32>
    %v303 = linalg.fill ins(%v301 : f32) outs(%v302 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v304 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v300 : tensor<4x6x6xf32>) outs(%v303 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v305 = tensor.empty() : tensor<4x6x6xf32>
    %v306 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v300, %v304 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v305 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v307 = arith.constant 0.000000e+00 : f32
    %v308 = tensor.empty() : tensor<4x6x4xf32>
    %v309 = linalg.fill ins(%v307 : f32) outs(%v308 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v310 = linalg.batch_matmul ins(%v306, %v275 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v309 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v311 = tensor.expand_shape %v310 [[0, 1], [2], [3]] output_shape [2, 2, 6, 4] : tensor<4x6x4xf32> into tensor<2x2x6x4xf32>
    %v312 = tensor.empty() : tensor<2x6x2x4xf32>
    %v313 = linalg.transpose ins(%v311 : tensor<2x2x6x4xf32>) outs(%v312 : tensor<2x6x2x4xf32>) permutation = [0, 2, 1, 3]
    %v314 = tensor.collapse_shape %v313 [[0], [1], [2, 3]] : tensor<2x6x2x4xf32> into tensor<2x6x8xf32>
    %v315 = tensor.collapse_shape %v314 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v316 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v317 = arith.constant 0.000000e+00 : f32
    %v318 = tensor.empty() : tensor<12x8xf32>
    %v319 = linalg.fill ins(%v317 : f32) outs(%v318 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v320 = linalg.matmul ins(%v315, %v316 : tensor<12x8xf32>, tensor<8x8xf32>) outs(%v319 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v321 = tensor.expand_shape %v320 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v322 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v323 = tensor.empty() : tensor<2x6x8xf32>
    %v324 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v321, %v322 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v323 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v325 = tensor.empty() : tensor<2x6x8xf32>
    %v326 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v233, %v324 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v325 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v327 = arith.constant 0.000000e+00 : f32
    %v328 = tensor.empty() : tensor<2x6x1xf32>
    %v329 = linalg.fill ins(%v327 : f32) outs(%v328 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v330 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v326 : tensor<2x6x8xf32>) outs(%v329 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v331 = arith.constant 1.250000e-01 : f32
    %v332 = tensor.empty() : tensor<2x6x1xf32>
    %v333 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v330 : tensor<2x6x1xf32>) outs(%v332 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v331 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v334 = tensor.empty() : tensor<2x6x8xf32>
    %v335 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v326, %v333 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v334 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v336 = arith.constant 2.000000e+00 : f32
    %v337 = arith.constant 1.000000e-12 : f32
    %v338 = tensor.empty() : tensor<2x6x8xf32>
    %v339 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v335 : tensor<2x6x8xf32>) outs(%v338 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.powf %a, %v336 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v340 = arith.constant 0.000000e+00 : f32
    %v341 = tensor.empty() : tensor<2x6x1xf32>
    %v342 = linalg.fill ins(%v340 : f32) outs(%v341 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v343 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v339 : tensor<2x6x8xf32>) outs(%v342 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v344 = arith.constant 1.250000e-01 : f32
    %v345 = tensor.empty() : tensor<2x6x1xf32>
    %v346 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v343 : tensor<2x6x1xf32>) outs(%v345 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v344 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v347 = tensor.empty() : tensor<2x6x1xf32>
    %v348 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v346 : tensor<2x6x1xf32>) outs(%v347 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v337 : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v349 = tensor.empty() : tensor<2x6x8xf32>
    %v350 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v335, %v348 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v349 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v351 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v352 = tensor.empty() : tensor<2x6x8xf32>
    %v353 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v350, %v351 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v352 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v354 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v355 = tensor.empty() : tensor<2x6x8xf32>
    %v356 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v353, %v354 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v355 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v357 = tensor.collapse_shape %v356 [[0, 1], [2]] : tensor<2x6x8xf32> into tensor<12x8xf32>
    %v358 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v359 = arith.constant 0.000000e+00 : f32
    %v360 = tensor.empty() : tensor<12x16xf32>
    %v361 = linalg.fill ins(%v359 : f32) outs(%v360 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %v362 = linalg.matmul ins(%v357, %v358 : tensor<12x8xf32>, tensor<8x16xf32>) outs(%v361 : tensor<12x16xf32>) -> tensor<12x16xf32>
    %v363 = tensor.expand_shape %v362 [[0, 1], [2]] output_shape [2, 6, 16] : tensor<12x16xf32> into tensor<2x6x16xf32>
    %v364 = arith.constant dense_resource<__elided__> : tensor<16xf32>
    %v365 = tensor.empty() : tensor<2x6x16xf32>
    %v366 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v363, %v364 : tensor<2x6x16xf32>, tensor<16xf32>) outs(%v365 : tensor<2x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x16xf32>
    %v367 = arith.constant 1.414214e+00 : f32
    %v368 = arith.constant 5.000000e-01 : f32
    %v369 = tensor.empty() : tensor<2x6x16xf32>
    %v370 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v366 : tensor<2x6x16xf32>) outs(%v369 : tensor<2x6x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %d = arith.divf %a, %v367 : f32
      %e = math.erf %d : f32
      %s = arith.addf %e, %v20 : f32
      %m = arith.mulf %a, %s : f32
      %r = arith.mulf %m, %v368 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x16xf32>
    %v371 = tensor.collapse_shape %v370 [[0, 1], [2]] : tensor<2x6x16xf32> into tensor<12x16xf32>
    %v372 = arith.constant dense_resource<__elided__> : tensor<16x8xf32>
    %v373 = arith.constant 0.000000e+00 : f32
    %v374 = tensor.empty() : tensor<12x8xf32>
    %v375 = linalg.fill ins(%v373 : f32) outs(%v374 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v376 = linalg.matmul ins(%v371, %v372 : tensor<12x16xf32>, tensor<16x8xf32>) outs(%v375 : tensor<12x8xf32>) -> tensor<12x8xf32>
    %v377 = tensor.expand_shape %v376 [[0, 1], [2]] output_shape [2, 6, 8] : tensor<12x8xf32> into tensor<2x6x8xf32>
    %v378 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v379 = tensor.empty() : tensor<2x6x8xf32>
    %v380 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v377, %v378 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v379 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v381 = tensor.empty() : tensor<2x6x8xf32>
    %v382 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v356, %v380 : tensor<2x6x8xf32>, tensor<2x6x8xf32>) outs(%v381 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v383 = arith.constant 0.000000e+00 : f32
    %v384 = tensor.empty() : tensor<2x6x1xf32>
    %v385 = linalg.fill ins(%v383 : f32) outs(%v384 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v386 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v382 : tensor<2x6x8xf32>) outs(%v385 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v387 = arith.constant 1.250000e-01 : f32
    %v388 = tensor.empty() : tensor<2x6x1xf32>
    %v389 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v386 : tensor<2x6x1xf32>) outs(%v388 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v387 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v390 = tensor.empty() : tensor<2x6x8xf32>
    %v391 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v382, %v389 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v390 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v392 = arith.constant 2.000000e+00 : f32
    %v393 = arith.constant 1.000000e-12 : f32
    %v394 = tensor.empty() : tensor<2x6x8xf32>
    %v395 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v391 : tensor<2x6x8xf32>) outs(%v394 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.powf %a, %v392 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v396 = arith.constant 0.000000e+00 : f32
    %v397 = tensor.empty() : tensor<2x6x1xf32>
    %v398 = linalg.fill ins(%v396 : f32) outs(%v397 : tensor<2x6x1xf32>) -> tensor<2x6x1xf32>
    %v399 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v395 : tensor<2x6x8xf32>) outs(%v398 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v400 = arith.constant 1.250000e-01 : f32
    %v401 = tensor.empty() : tensor<2x6x1xf32>
    %v402 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v399 : tensor<2x6x1xf32>) outs(%v401 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v400 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v403 = tensor.empty() : tensor<2x6x1xf32>
    %v404 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v402 : tensor<2x6x1xf32>) outs(%v403 : tensor<2x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v393 : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1xf32>
    %v405 = tensor.empty() : tensor<2x6x8xf32>
    %v406 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v391, %v404 : tensor<2x6x8xf32>, tensor<2x6x1xf32>) outs(%v405 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v407 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v408 = tensor.empty() : tensor<2x6x8xf32>
    %v409 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v406, %v407 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v408 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v410 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v411 = tensor.empty() : tensor<2x6x8xf32>
    %v412 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v409, %v410 : tensor<2x6x8xf32>, tensor<8xf32>) outs(%v411 : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8xf32>
    %v413 = tensor.extract_slice %v412[0, 0, 0] [2, 1, 8] [1, 1, 1] : tensor<2x6x8xf32> to tensor<2x1x8xf32>
    %v414 = tensor.collapse_shape %v413 [[0], [1, 2]] : tensor<2x1x8xf32> into tensor<2x8xf32>
    %v415 = arith.constant dense_resource<__elided__> : tensor<8x8xf32>
    %v416 = arith.constant dense_resource<__elided__> : tensor<8xf32>
    %v417 = tensor.empty() : tensor<8x8xf32>
    %v418 = linalg.transpose ins(%v415 : tensor<8x8xf32>) outs(%v417 : tensor<8x8xf32>) permutation = [1, 0]
    %v419 = arith.constant 0.000000e+00 : f32
    %v420 = tensor.empty() : tensor<2x8xf32>
    %v421 = linalg.fill ins(%v419 : f32) outs(%v420 : tensor<2x8xf32>) -> tensor<2x8xf32>
    %v422 = linalg.matmul ins(%v414, %v418 : tensor<2x8xf32>, tensor<8x8xf32>) outs(%v421 : tensor<2x8xf32>) -> tensor<2x8xf32>
    %v423 = tensor.empty() : tensor<2x8xf32>
    %v424 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v422, %v416 : tensor<2x8xf32>, tensor<8xf32>) outs(%v423 : tensor<2x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x8xf32>
    %v425 = tensor.empty() : tensor<2x8xf32>
    %v426 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v424 : tensor<2x8xf32>) outs(%v425 : tensor<2x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.tanh %a : f32
      linalg.yield %r : f32
    } -> tensor<2x8xf32>
    %v427 = arith.constant dense_resource<__elided__> : tensor<3x8xf32>
    %v428 = arith.constant dense_resource<__elided__> : tensor<3xf32>
    %v429 = tensor.empty() : tensor<8x3xf32>
    %v430 = linalg.transpose ins(%v427 : tensor<3x8xf32>) outs(%v429 : tensor<8x3xf32>) permutation = [1, 0]
    %v431 = arith.constant 0.000000e+00 : f32
    %v432 = tensor.empty() : tensor<2x3xf32>
    %v433 = linalg.fill ins(%v431 : f32) outs(%v432 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %v434 = linalg.matmul ins(%v426, %v430 : tensor<2x8xf32>, tensor<8x3xf32>) outs(%v433 : tensor<2x3xf32>) -> tensor<2x3xf32>
    %v435 = tensor.empty() : tensor<2x3xf32>
    %v436 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v434, %v428 : tensor<2x3xf32>, tensor<3xf32>) outs(%v435 : tensor<2x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x3xf32>
    return %v436 : tensor<2x3xf32>
  }
}
