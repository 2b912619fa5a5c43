module {
  func.func @main(%arg0: tensor<1x6xi64>, %arg1: tensor<1x1x6x4xf32>, %arg2: tensor<1x1x6x4xf32>) -> tensor<1x6x13xf32> {
    %v0 = arith.constant dense_resource<__elided__> : tensor<13x16xf32>
    %v1 = tensor.empty() : tensor<1x6x16xf32>
    %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<1x6xi64>) outs(%v1 : tensor<1x6x16xf32>) {
    ^bb0(%a: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = linalg.index 2 : index
      %r = tensor.extract %v0[%i, %j] : tensor<13x16xf32>
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v3 = arith.constant dense<[[true, false, false, false, false, false], [true, true, false, false, false, false], [true, true, true, false, false, false], [true, true, true, true, false, false], [true, true, true, true, true, false], [true, true, true, true, true, true]]> : tensor<6x6xi1>
    %v4 = arith.constant 0xFF800000 : f32
    %v5 = tensor.empty() : tensor<1x6x16xf32>
    %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v2 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v5 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v7 = arith.constant 0.000000e+00 : f32
    %v8 = tensor.empty() : tensor<1x6x1xf32>
    %v9 = linalg.fill ins(%v7 : f32) outs(%v8 : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v6 : tensor<1x6x16xf32>) outs(%v9 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v11 = arith.constant 6.250000e-02 : f32
    %v12 = tensor.empty() : tensor<1x6x1xf32>
    %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v10 : tensor<1x6x1xf32>) outs(%v12 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v11 : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v14 = arith.constant 1.000000e-06 : f32
    %v15 = tensor.empty() : tensor<1x6x1xf32>
    %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v13 : tensor<1x6x1xf32>) outs(%v15 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v14 : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v17 = tensor.empty() : tensor<1x6x16xf32>
    %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v16 : tensor<1x6x16xf32>, tensor<1x6x1xf32>) outs(%v17 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v19 = arith.constant dense<1.0> : tensor<16xf32>
    %v20 = tensor.empty() : tensor<1x6x16xf32>
    %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v18, %v19 : tensor<1x6x16xf32>, tensor<16xf32>) outs(%v20 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v22 = arith.constant dense_resource<__elided__> : tensor<16x16xf32>
    %v23 = tensor.collapse_shape %v21 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v24 = tensor.empty() : tensor<16x16xf32>
    %v25 = linalg.transpose ins(%v22 : tensor<16x16xf32>) outs(%v24 : tensor<16x16xf32>) permutation = [1, 0]
    %v26 = arith.constant 0.000000e+00 : f32
    %v27 = tensor.empty() : tensor<6x16xf32>
    %v28 = linalg.fill ins(%v26 : f32) outs(%v27 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v29 = linalg.matmul ins(%v23, %v25 : tensor<6x16xf32>, tensor<16x16xf32>) outs(%v28 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v30 = tensor.expand_shape %v29 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v31 = tensor.expand_shape %v30 [[0], [1], [2, 3]] output_shape [1, 6, 4, 4] : tensor<1x6x16xf32> into tensor<1x6x4x4xf32>
    %v32 = tensor.empty() : tensor<1x4x6x4xf32>
    %v33 = linalg.transpose ins(%v31 : tensor<1x6x4x4xf32>) outs(%v32 : tensor<1x4x6x4xf32>) permutation = [0, 2, 1, 3]
    %v34 = tensor.extract_slice %v33[0, 0, 0, 0] [1, 4, 6, 2] [1, 1, 1, 1] : tensor<1x4x6x4xf32> to tensor<1x4x6x2xf32>
    %v35 = tensor.extract_slice %v33[0, 0, 0, 2] [1, 4, 6, 2] [1, 1, 1, 1] : tensor<1x4x6x4xf32> to tensor<1x4x6x2xf32>
    %v36 = tensor.empty() : tensor<1x4x6x2xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v35 : tensor<1x4x6x2xf32>) outs(%v36 : tensor<1x4x6x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x2xf32>
    %v38 = tensor.concat dim(3) %v37, %v34 : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>) -> tensor<1x4x6x4xf32>
    %v39 = tensor.empty() : tensor<1x4x6x4xf32>
    %v40 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v33, %arg1 : tensor<1x4x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v39 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v41 = tensor.empty() : tensor<1x4x6x4xf32>
    %v42 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v38, %arg2 : tensor<1x4x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v41 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v43 = tensor.empty() : tensor<1x4x6x4xf32>
    %v44 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v40, %v42 : tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) outs(%v43 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v45 = tensor.collapse_shape %v44 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v46 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v47 = tensor.collapse_shape %v21 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v48 = tensor.empty() : tensor<16x8xf32>
    %v49 = linalg.transpose ins(%v46 : tensor<8x16xf32>) outs(%v48 : tensor<16x8xf32>) permutation = [1, 0]
    %v50 = arith.constant 0.000000e+00 : f32
    %v51 = tensor.empty() : tensor<6x8xf32>
    %v52 = linalg.fill ins(%v50 : f32) outs(%v51 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v53 = linalg.matmul ins(%v47, %v49 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%v52 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v54 = tensor.expand_shape %v53 [[0, 1], [2]] output_shape [1, 6, 8] : tensor<6x8xf32> into tensor<1x6x8xf32>
    %v55 = tensor.expand_shape %v54 [[0], [1], [2, 3]] output_shape [1, 6, 2, 4] : tensor<1x6x8xf32> into tensor<1x6x2x4xf32>
    %v56 = tensor.empty() : tensor<1x2x6x4xf32>
    %v57 = linalg.transpose ins(%v55 : tensor<1x6x2x4xf32>) outs(%v56 : tensor<1x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v58 = tensor.extract_slice %v57[0, 0, 0, 0] [1, 2, 6, 2] [1, 1, 1, 1] : tensor<1x2x6x4xf32> to tensor<1x2x6x2xf32>
    %v59 = tensor.extract_slice %v57[0, 0, 0, 2] [1, 2, 6, 2] [1, 1, 1, 1] : tensor<1x2x6x4xf32> to tensor<1x2x6x2xf32>
    %v60 = tensor.empty() : tensor<1x2x6x2xf32>
    %v61 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v59 : tensor<1x2x6x2xf32>) outs(%v60 : tensor<1x2x6x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x2xf32>
    %v62 = tensor.concat dim(3) %v61, %v58 : (tensor<1x2x6x2xf32>, tensor<1x2x6x2xf32>) -> tensor<1x2x6x4xf32>
    %v63 = tensor.empty() : tensor<1x2x6x4xf32>
    %v64 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v57, %arg1 : tensor<1x2x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v63 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v65 = tensor.empty() : tensor<1x2x6x4xf32>
    %v66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v62, %arg2 : tensor<1x2x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v65 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v67 = tensor.empty() : tensor<1x2x6x4xf32>
    %v68 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v64, %v66 : tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) outs(%v67 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v69 = tensor.empty() : tensor<1x2x2x6x4xf32>
    %v70 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v68 : tensor<1x2x6x4xf32>) outs(%v69 : tensor<1x2x2x6x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x2x2x6x4xf32>
    %v71 = tensor.collapse_shape %v70 [[0], [1, 2], [3], [4]] : tensor<1x2x2x6x4xf32> into tensor<1x4x6x4xf32>
    %v72 = tensor.collapse_shape %v71 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v73 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v74 = tensor.collapse_shape %v21 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v75 = tensor.empty() : tensor<16x8xf32>
    %v76 = linalg.transpose ins(%v73 : tensor<8x16xf32>) outs(%v75 : tensor<16x8xf32>) permutation = [1, 0]
    %v77 = arith.constant 0.000000e+00 : f32
    %v78 = tensor.empty() : tensor<6x8xf32>
    %v79 = linalg.fill ins(%v77 : f32) outs(%v78 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v80 = linalg.matmul ins(%v74, %v76 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%v79 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v81 = tensor.expand_shape %v80 [[0, 1], [2]] output_shape [1, 6, 8] : tensor<6x8xf32> into tensor<1x6x8xf32>
    %v82 = tensor.expand_shape %v81 [[0], [1], [2, 3]] output_shape [1, 6, 2, 4] : tensor<1x6x8xf32> into tensor<1x6x2x4xf32>
    %v83 = tensor.empty() : tensor<1x2x6x4xf32>
    %v84 = linalg.transpose ins(%v82 : tensor<1x6x2x4xf32>) outs(%v83 : tensor<1x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v85 = tensor.empty() : tensor<1x2x2x6x4xf32>
    %v86 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v84 : tensor<1x2x6x4xf32>) outs(%v85 : tensor<1x2x2x6x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x2x2x6x4xf32>
    %v87 = tensor.collapse_shape %v86 [[0], [1, 2], [3], [4]] : tensor<1x2x2x6x4xf32> into tensor<1x4x6x4xf32>
    %v88 = tensor.collapse_shape %v87 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v89 = tensor.empty() : tensor<4x4x6xf32>
    %v90 = linalg.transpose ins(%v72 : tensor<4x6x4xf32>) outs(%v89 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v91 = arith.constant 0.000000e+00 : f32
    %v92 = tensor.empty() : tensor<4x6x6xf32>
    %v93 = linalg.fill ins(%v91 : f32) outs(%v92 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v94 = linalg.batch_matmul ins(%v45, %v90 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v93 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v95 = arith.constant 5.000000e-01 : f32
    %v96 = tensor.empty() : tensor<4x6x6xf32>
    %v97 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v94 : tensor<4x6x6xf32>) outs(%v96 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v95 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v98 = tensor.empty() : tensor<4x6x6xf32>
    %v99 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v97 : tensor<6x6xi1>, tensor<4x6x6xf32>) outs(%v98 : tensor<4x6x6xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v4 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v100 = arith.constant 0xFF800000 : f32
    %v101 = tensor.empty() : tensor<4x6x1xf32>
    %v102 = linalg.fill ins(%v100 : f32) outs(%v101 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v103 = arith.constant 0 : i64
    %v104 = tensor.empty() : tensor<4x6x1xi64>
    %v105 = linalg.fill ins(%v103 : i64) outs(%v104 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v106, %v107 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v99 : tensor<4x6x6xf32>) outs(%v102, %v105 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v108 = tensor.empty() : tensor<4x6x6xf32>
    %v109 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v99, %v106 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v108 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v110 = tensor.empty() : tensor<4x6x6xf32>
    %v111 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v109 : tensor<4x6x6xf32>) outs(%v110 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v112 = arith.constant 0.000000e+00 : f32
    %v113 = tensor.empty() : tensor<4x6x1xf32>
    %v114 = linalg.fill ins(%v112 : f32) outs(%v113 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v115 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v111 : tensor<4x6x6xf32>) outs(%v114 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v116 = tensor.empty() : tensor<4x6x6xf32>
    %v117 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v111, %v115 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v116 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v118 = arith.constant 0.000000e+00 : f32
    %v119 = tensor.empty() : tensor<4x6x4xf32>
    %v120 = linalg.fill ins(%v118 : f32) outs(%v119 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v121 = linalg.batch_matmul ins(%v117, %v88 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v120 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v122 = tensor.expand_shape %v121 [[0, 1], [2], [3]] output_shape [1, 4, 6, 4] : tensor<4x6x4xf32> into tensor<1x4x6x4xf32>
    %v123 = tensor.empty() : tensor<1x6x4x4xf32>
    %v124 = linalg.transpose ins(%v122 : tensor<1x4x6x4xf32>) outs(%v123 : tensor<1x6x4x4xf32>) permutation = [0, 2, 1, 3]
    %v125 = tensor.collapse_shape %v124 [[0], [1], [2, 3]] : tensor<1x6x4x4xf32> into tensor<1x6x16xf32>
    %v126 = arith.constant dense_resource<__elided__> : tensor<16x16xf32>
    %v127 = tensor.collapse_shape %v125 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v128 = tensor.empty() : tensor<16x16xf32>
    %v129 = linalg.transpose ins(%v126 : tensor<16x16xf32>) outs(%v128 : tensor<16x16xf32>) permutation = [1, 0]
    %v130 = arith.constant 0.000000e+00 : f32
    %v131 = tensor.empty() : tensor<6x16xf32>
    %v132 = linalg.fill ins(%v130 : f32) outs(%v131 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v133 = linalg.matmul ins(%v127, %v129 : tensor<6x16xf32>, tensor<16x16xf32>) outs(%v132 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v134 = tensor.expand_shape %v133 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v135 = tensor.empty() : tensor<1x6x16xf32>
    %v136 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v2, %v134 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v135 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v137 = tensor.empty() : tensor<1x6x16xf32>
    %v138 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v136, %v136 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v137 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v139 = arith.constant 0.000000e+00 : f32
    %v140 = tensor.empty() : tensor<1x6x1xf32>
    %v141 = linalg.fill ins(%v139 : f32) outs(%v140 : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %v142 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v138 : tensor<1x6x16xf32>) outs(%v141 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v143 = arith.constant 6.250000e-02 : f32
    %v144 = tensor.empty() : tensor<1x6x1xf32>
    %v145 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v142 : tensor<1x6x1xf32>) outs(%v144 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v143 : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v146 = arith.constant 1.000000e-06 : f32
    %v147 = tensor.empty() : tensor<1x6x1xf32>
    %v148 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v145 : tensor<1x6x1xf32>) outs(%v147 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v146 : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v149 = tensor.empty() : tensor<1x6x16xf32>
    %v150 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v136, %v148 : tensor<1x6x16xf32>, tensor<1x6x1xf32>) outs(%v149 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v151 = arith.constant dense<1.0> : tensor<16xf32>
    %v152 = tensor.empty() : tensor<1x6x16xf32>
    %v153 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v150, %v151 : tensor<1x6x16xf32>, tensor<16xf32>) outs(%v152 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v154 = arith.constant dense_resource<__elided__> : tensor<24x16xf32>
    %v155 = tensor.collapse_shape %v153 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v156 = tensor.empty() : tensor<16x24xf32>
    %v157 = linalg.transpose ins(%v154 : tensor<24x16xf32>) outs(%v156 : tensor<16x24xf32>) permutation = [1, 0]
    %v158 = arith.constant 0.000000e+00 : f32
    %v159 = tensor.empty() : tensor<6x24xf32>
    %v160 = linalg.fill ins(%v158 : f32) outs(%v159 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v161 = linalg.matmul ins(%v155, %v157 : tensor<6x16xf32>, tensor<16x24xf32>) outs(%v160 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v162 = tensor.expand_shape %v161 [[0, 1], [2]] output_shape [1, 6, 24] : tensor<6x24xf32> into tensor<1x6x24xf32>
    %v163 = arith.constant dense_resource<__elided__> : tensor<24x16xf32>
    %v164 = tensor.collapse_shape %v153 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v165 = tensor.empty() : tensor<16x24xf32>
    %v166 = linalg.transpose ins(%v163 : tensor<24x16xf32>) outs(%v165 : tensor<16x24xf32>) permutation = [1, 0]
    %v167 = arith.constant 0.000000e+00 : f32
    %v168 = tensor.empty() : tensor<6x24xf32>
    %v169 = linalg.fill ins(%v167 : f32) outs(%v168 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v170 = linalg.matmul ins(%v164, %v166 : tensor<6x16xf32>, tensor<16x24xf32>) outs(%v169 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v171 = tensor.expand_shape %v170 [[0, 1], [2]] output_shape [1, 6, 24] : tensor<6x24xf32> into tensor<1x6x24xf32>
    %v172 = arith.constant 1.000000e+00 : f32
    %v173 = tensor.empty() : tensor<1x6x24xf32>
    %v174 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v162 : tensor<1x6x24xf32>) outs(%v173 : tensor<1x6x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      %e = math.exp %n : f32
      %s = arith.addf %e, %v172 : f32
      %r = arith.divf %a, %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x24xf32>
    %v175 = tensor.empty() : tensor<1x6x24xf32>
    %v176 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v174, %v171 : tensor<1x6x24xf32>, tensor<1x6x24xf32>) outs(%v175 : tensor<1x6x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x24xf32>
    %v177 = arith.constant dense_resource<__elided__> : tensor<16x24xf32>
    %v178 = tensor.collapse_shape %v176 [[0, 1], [2]] : tensor<1x6x24xf32> into tensor<6x24xf32>
    %v179 = tensor.empty() : tensor<24x16xf32>
    %v180 = linalg.transpose ins(%v177 : tensor<16x24xf32>) outs(%v179 : tensor<24x16xf32>) permutation = [1, 0]
    %v181 = arith.constant 0.000000e+00 : f32
    %v182 = tensor.empty() : tensor<6x16xf32>
    %v183 = linalg.fill ins(%v181 : f32) outs(%v182 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v184 = linalg.matmul ins(%v178, %v180 : tensor<6x24xf32>, tensor<24x16xf32>) outs(%v183 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v185 = tensor.expand_shape %v184 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v186 = tensor.empty() : tensor<1x6x16xf32>
    %v187 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v136, %v185 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v186 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v188 = tensor.empty() : tensor<1x6x16xf32>
    %v189 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v187, %v187 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v188 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v190 = arith.constant 0.000000e+00 : f32
    %v191 = tensor.empty() : tensor<1x6x1xf32>
    %v192 = linalg.fill ins(%v190 : f32) outs(%v191 : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %v193 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v189 : tensor<1x6x16xf32>) outs(%v192 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v194 = arith.constant 6.250000e-02 : f32
    %v195 = tensor.empty() : tensor<1x6x1xf32>
    %v196 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v193 : tensor<1x6x1xf32>) outs(%v195 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v194 : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v197 = arith.constant 1.000000e-06 : f32
    %v198 = tensor.empty() : tensor<1x6x1xf32>
    %v199 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v196 : tensor<1x6x1xf32>) outs(%v198 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v197 : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v200 = tensor.empty() : tensor<1x6x16xf32>
    %v201 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v187, %v199 : tensor<1x6x16xf32>, tensor<1x6x1xf32>) outs(%v200 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v202 = arith.constant dense<1.0> : tensor<16xf32>
    %v203 = tensor.empty() : tensor<1x6x16xf32>
    %v204 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v201, %v202 : tensor<1x6x16xf32>, tensor<16xf32>) outs(%v203 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v205 = arith.constant dense_resource<__elided__> : tensor<16x16xf32>
    %v206 = tensor.collapse_shape %v204 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v207 = tensor.empty() : tensor<16x16xf32>
    %v208 = linalg.transpose ins(%v205 : tensor<16x16xf32>) outs(%v207 : tensor<16x16xf32>) permutation = [1, 0]
    %v209 = arith.constant 0.000000e+00 : f32
    %v210 = tensor.empty() : tensor<6x16xf32>
    %v211 = linalg.fill ins(%v209 : f32) outs(%v210 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v212 = linalg.matmul ins(%v206, %v208 : tensor<6x16xf32>, tensor<16x16xf32>) outs(%v211 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v213 = tensor.expand_shape %v212 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v214 = tensor.expand_shape %v213 [[0], [1], [2, 3]] output_shape [1, 6, 4, 4] : tensor<1x6x16xf32> into tensor<1x6x4x4xf32>
    %v215 = tensor.empty() : tensor<1x4x6x4xf32>
    %v216 = linalg.transpose ins(%v214 : tensor<1x6x4x4xf32>) outs(%v215 : tensor<1x4x6x4xf32>) permutation = [0, 2, 1, 3]
    %v217 = tensor.extract_slice %v216[0, 0, 0, 0] [1, 4, 6, 2] [1, 1, 1, 1] : tensor<1x4x6x4xf32> to tensor<1x4x6x2xf32>
    %v218 = tensor.extract_slice %v216[0, 0, 0, 2] [1, 4, 6, 2] [1, 1, 1, 1] : tensor<1x4x6x4xf32> to tensor<1x4x6x2xf32>
    %v219 = tensor.empty() : tensor<1x4x6x2xf32>
    %v220 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v218 : tensor<1x4x6x2xf32>) outs(%v219 : tensor<1x4x6x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x2xf32>
    %v221 = tensor.concat dim(3) %v220, %v217 : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>) -> tensor<1x4x6x4xf32>
    %v222 = tensor.empty() : tensor<1x4x6x4xf32>
    %v223 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v216, %arg1 : tensor<1x4x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v222 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v224 = tensor.empty() : tensor<1x4x6x4xf32>
    %v225 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v221, %arg2 : tensor<1x4x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v224 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v226 = tensor.empty() : tensor<1x4x6x4xf32>
    %v227 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v223, %v225 : tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) outs(%v226 : tensor<1x4x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x4x6x4xf32>
    %v228 = tensor.collapse_shape %v227 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v229 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v230 = tensor.collapse_shape %v204 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v231 = tensor.empty() : tensor<16x8xf32>
    %v232 = linalg.transpose ins(%v229 : tensor<8x16xf32>) outs(%v231 : tensor<16x8xf32>) permutation = [1, 0]
    %v233 = arith.constant 0.000000e+00 : f32
    %v234 = tensor.empty() : tensor<6x8xf32>
    %v235 = linalg.fill ins(%v233 : f32) outs(%v234 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v236 = linalg.matmul ins(%v230, %v232 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%v235 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v237 = tensor.expand_shape %v236 [[0, 1], [2]] output_shape [1, 6, 8] : tensor<6x8xf32> into tensor<1x6x8xf32>
    %v238 = tensor.expand_shape %v237 [[0], [1], [2, 3]] output_shape [1, 6, 2, 4] : tensor<1x6x8xf32> into tensor<1x6x2x4xf32>
    %v239 = tensor.empty() : tensor<1x2x6x4xf32>
    %v240 = linalg.transpose ins(%v238 : tensor<1x6x2x4xf32>) outs(%v239 : tensor<1x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v241 = tensor.extract_slice %v240[0, 0, 0, 0] [1, 2, 6, 2] [1, 1, 1, 1] : tensor<1x2x6x4xf32> to tensor<1x2x6x2xf32>
    %v242 = tensor.extract_slice %v240[0, 0, 0, 2] [1, 2, 6, 2] [1, 1, 1, 1] : tensor<1x2x6x4xf32> to tensor<1x2x6x2xf32>
    %v243 = tensor.empty() : tensor<1x2x6x2xf32>
    %v244 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v242 : tensor<1x2x6x2xf32>) outs(%v243 : tensor<1x2x6x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x2xf32>
    %v245 = tensor.concat dim(3) %v244, %v241 : (tensor<1x2x6x2xf32>, tensor<1x2x6x2xf32>) -> tensor<1x2x6x4xf32>
    %v246 = tensor.empty() : tensor<1x2x6x4xf32>
    %v247 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v240, %arg1 : tensor<1x2x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v246 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v248 = tensor.empty() : tensor<1x2x6x4xf32>
    %v249 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v245, %arg2 : tensor<1x2x6x4xf32>, tensor<1x1x6x4xf32>) outs(%v248 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v250 = tensor.empty() : tensor<1x2x6x4xf32>
    %v251 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v247, %v249 : tensor<1x2x6x4xf32>, tensor<1x2x6x4xf32>) outs(%v250 : tensor<1x2x6x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x2x6x4xf32>
    %v252 = tensor.empty() : tensor<1x2x2x6x4xf32>
    %v253 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v251 : tensor<1x2x6x4xf32>) outs(%v252 : tensor<1x2x2x6x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x2x2x6x4xf32>
    %v254 = tensor.collapse_shape %v253 [[0], [1, 2], [3], [4]] : tensor<1x2x2x6x4xf32> into tensor<1x4x6x4xf32>
    %v255 = tensor.collapse_shape %v254 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v256 = arith.constant dense_resource<__elided__> : tensor<8x16xf32>
    %v257 = tensor.collapse_shape %v204 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v258 = tensor.empty() : tensor<16x8xf32>
    %v259 = linalg.transpose ins(%v256 : tensor<8x16xf32>) outs(%v258 : tensor<16x8xf32>) permutation = [1, 0]
    %v260 = arith.constant 0.000000e+00 : f32
    %v261 = tensor.empty() : tensor<6x8xf32>
    %v262 = linalg.fill ins(%v260 : f32) outs(%v261 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v263 = linalg.matmul ins(%v257, %v259 : tensor<6x16xf32>, tensor<16x8xf32>) outs(%v262 : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v264 = tensor.expand_shape %v263 [[0, 1], [2]] output_shape [1, 6, 8] : tensor<6x8xf32> into tensor<1x6x8xf32>
    %v265 = tensor.expand_shape %v264 [[0], [1], [2, 3]] output_shape [1, 6, 2, 4] : tensor<1x6x8xf32> into tensor<1x6x2x4xf32>
    %v266 = tensor.empty() : tensor<1x2x6x4xf32>
    %v267 = linalg.transpose ins(%v265 : tensor<1x6x2x4xf32>) outs(%v266 : tensor<1x2x6x4xf32>) permutation = [0, 2, 1, 3]
    %v268 = tensor.empty() : tensor<1x2x2x6x4xf32>
    %v269 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v267 : tensor<1x2x6x4xf32>) outs(%v268 : tensor<1x2x2x6x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<1x2x2x6x4xf32>
    %v270 = tensor.collapse_shape %v269 [[0], [1, 2], [3], [4]] : tensor<1x2x2x6x4xf32> into tensor<1x4x6x4xf32>
    %v271 = tensor.collapse_shape %v270 [[0, 1], [2], [3]] : tensor<1x4x6x4xf32> into tensor<4x6x4xf32>
    %v272 = tensor.empty() : tensor<4x4x6xf32>
    %v273 = linalg.transpose ins(%v255 : tensor<4x6x4xf32>) outs(%v272 : tensor<4x4x6xf32>) permutation = [0, 2, 1]
    %v274 = arith.constant 0.000000e+00 : f32
    %v275 = tensor.empty() : tensor<4x6x6xf32>
    %v276 = linalg.fill ins(%v274 : f32) outs(%v275 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v277 = linalg.batch_matmul ins(%v228, %v273 : tensor<4x6x4xf32>, tensor<4x4x6xf32>) outs(%v276 : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
    %v278 = arith.constant 5.000000e-01 : f32
    %v279 = tensor.empty() : tensor<4x6x6xf32>
    %v280 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v277 : tensor<4x6x6xf32>) outs(%v279 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v278 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v281 = tensor.empty() : tensor<4x6x6xf32>
    %v282 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v3, %v280 : tensor<6x6xi1>, tensor<4x6x6xf32>) outs(%v281 : tensor<4x6x6xf32>) {
    ^bb0(%a: i1, %b: f32, %o: f32):
      %r = arith.select %a, %b, %v4 : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v283 = arith.constant 0xFF800000 : f32
    %v284 = tensor.empty() : tensor<4x6x1xf32>
    %v285 = linalg.fill ins(%v283 : f32) outs(%v284 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v286 = arith.constant 0 : i64
    %v287 = tensor.empty() : tensor<4x6x1xi64>
    %v288 = linalg.fill ins(%v286 : i64) outs(%v287 : tensor<4x6x1xi64>) -> tensor<4x6x1xi64>
    %v289, %v290 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v282 : tensor<4x6x6xf32>) outs(%v285, %v288 : tensor<4x6x1xf32>, tensor<4x6x1xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i64
      %m = arith.maximumf %a, %o : f32
      %c = arith.cmpf ogt, %a, %o : f32
      %k = arith.select %c, %j, %p : i64
      linalg.yield %m, %k : f32, i64
    } -> (tensor<4x6x1xf32>, tensor<4x6x1xi64>)
    %v291 = tensor.empty() : tensor<4x6x6xf32>
    %v292 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v282, %v289 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v291 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v293 = tensor.empty() : tensor<4x6x6xf32>
    %v294 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v292 : tensor<4x6x6xf32>) outs(%v293 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v295 = arith.constant 0.000000e+00 : f32
    %v296 = tensor.empty() : tensor<4x6x1xf32>
    %v297 = linalg.fill ins(%v295 : f32) outs(%v296 : tensor<4x6x1xf32>) -> tensor<4x6x1xf32>
    %v298 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v294 : tensor<4x6x6xf32>) outs(%v297 : tensor<4x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<4x6x1xf32>
    %v299 = tensor.empty() : tensor<4x6x6xf32>
    %v300 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v294, %v298 : tensor<4x6x6xf32>, tensor<4x6x1xf32>) outs(%v299 : tensor<4x6x6xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.divf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<4x6x6xf32>
    %v301 = arith.constant 0.000000e+00 : f32
    %v302 = tensor.empty() : tensor<4x6x4xf32>
    %v303 = linalg.fill ins(%v301 : f32) outs(%v302 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v304 = linalg.batch_matmul ins(%v300, %v271 : tensor<4x6x6xf32>, tensor<4x6x4xf32>) outs(%v303 : tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
    %v305 = tensor.expand_shape %v304 [[0, 1], [2], [3]] output_shape [1, 4, 6, 4] : tensor<4x6x4xf32> into tensor<1x4x6x4xf32>
    %v306 = tensor.empty() : tensor<1x6x4x4xf32>
    %v307 = linalg.transpose ins(%v305 : tensor<1x4x6x4xf32>) outs(%v306 : tensor<1x6x4x4xf32>) permutation = [0, 2, 1, 3]
    %v308 = tensor.collapse_shape %v307 [[0], [1], [2, 3]] : tensor<1x6x4x4xf32> into tensor<1x6x16xf32>
    %v309 = arith.constant dense_resource<__elided__> : tensor<16x16xf32>
    %v310 = tensor.collapse_shape %v308 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v311 = tensor.empty() : tensor<16x16xf32>
    %v312 = linalg.transpose ins(%v309 : tensor<16x16xf32>) outs(%v311 : tensor<16x16xf32>) permutation = [1, 0]
    %v313 = arith.constant 0.000000e+00 : f32
    %v314 = tensor.empty() : tensor<6x16xf32>
    %v315 = linalg.fill ins(%v313 : f32) outs(%v314 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v316 = linalg.matmul ins(%v310, %v312 : tensor<6x16xf32>, tensor<16x16xf32>) outs(%v315 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v317 = tensor.expand_shape %v316 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v318 = tensor.empty() : tensor<1x6x16xf32>
    %v319 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v187, %v317 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v318 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v320 = tensor.empty() : tensor<1x6x16xf32>
    %v321 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v319, %v319 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v320 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v322 = arith.constant 0.000000e+00 : f32
    %v323 = tensor.empty() : tensor<1x6x1xf32>
    %v324 = linalg.fill ins(%v322 : f32) outs(%v323 : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %v325 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v321 : tensor<1x6x16xf32>) outs(%v324 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v326 = arith.constant 6.250000e-02 : f32
    %v327 = tensor.empty() : tensor<1x6x1xf32>
    %v328 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v325 : tensor<1x6x1xf32>) outs(%v327 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v326 : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v329 = arith.constant 1.000000e-06 : f32
    %v330 = tensor.empty() : tensor<1x6x1xf32>
    %v331 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v328 : tensor<1x6x1xf32>) outs(%v330 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v329 : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v332 = tensor.empty() : tensor<1x6x16xf32>
    %v333 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v319, %v331 : tensor<1x6x16xf32>, tensor<1x6x1xf32>) outs(%v332 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v334 = arith.constant dense<1.0> : tensor<16xf32>
    %v335 = tensor.empty() : tensor<1x6x16xf32>
    %v336 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v333, %v334 : tensor<1x6x16xf32>, tensor<16xf32>) outs(%v335 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v337 = arith.constant dense_resource<__elided__> : tensor<24x16xf32>
    %v338 = tensor.collapse_shape %v336 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v339 = tensor.empty() : tensor<16x24xf32>
    %v340 = linalg.transpose ins(%v337 : tensor<24x16xf32>) outs(%v339 : tensor<16x24xf32>) permutation = [1, 0]
    %v341 = arith.constant 0.000000e+00 : f32
    %v342 = tensor.empty() : tensor<6x24xf32>
    %v343 = linalg.fill ins(%v341 : f32) outs(%v342 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v344 = linalg.matmul ins(%v338, %v340 : tensor<6x16xf32>, tensor<16x24xf32>) outs(%v343 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v345 = tensor.expand_shape %v344 [[0, 1], [2]] output_shape [1, 6, 24] : tensor<6x24xf32> into tensor<1x6x24xf32>
    %v346 = arith.constant dense_resource<__elided__> : tensor<24x16xf32>
    %v347 = tensor.collapse_shape %v336 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v348 = tensor.empty() : tensor<16x24xf32>
    %v349 = linalg.transpose ins(%v346 : tensor<24x16xf32>) outs(%v348 : tensor<16x24xf32>) permutation = [1, 0]
    %v350 = arith.constant 0.000000e+00 : f32
    %v351 = tensor.empty() : tensor<6x24xf32>
    %v352 = linalg.fill ins(%v350 : f32) outs(%v351 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v353 = linalg.matmul ins(%v347, %v349 : tensor<6x16xf32>, tensor<16x24xf32>) outs(%v352 : tensor<6x24xf32>) -> tensor<6x24xf32>
    %v354 = tensor.expand_shape %v353 [[0, 1], [2]] output_shape [1, 6, 24] : tensor<6x24xf32> into tensor<1x6x24xf32>
    %v355 = arith.constant 1.000000e+00 : f32
    %v356 = tensor.empty() : tensor<1x6x24xf32>
    %v357 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v345 : tensor<1x6x24xf32>) outs(%v356 : tensor<1x6x24xf32>) {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      %e = math.exp %n : f32
      %s = arith.addf %e, %v355 : f32
      %r = arith.divf %a, %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x24xf32>
    %v358 = tensor.empty() : tensor<1x6x24xf32>
    %v359 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v357, %v354 : tensor<1x6x24xf32>, tensor<1x6x24xf32>) outs(%v358 : tensor<1x6x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x24xf32>
    %v360 = arith.constant dense_resource<__elided__> : tensor<16x24xf32>
    %v361 = tensor.collapse_shape %v359 [[0, 1], [2]] : tensor<1x6x24xf32> into tensor<6x24xf32>
    %v362 = tensor.empty() : tensor<24x16xf32>
    %v363 = linalg.transpose ins(%v360 : tensor<16x24xf32>) outs(%v362 : tensor<24x16xf32>) permutation = [1, 0]
    %v364 = arith.constant 0.000000e+00 : f32
    %v365 = tensor.empty() : tensor<6x16xf32>
    %v366 = linalg.fill ins(%v364 : f32) outs(%v365 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v367 = linalg.matmul ins(%v361, %v363 : tensor<6x24xf32>, tensor<24x16xf32>) outs(%v366 : tensor<6x16xf32>) -> tensor<6x16xf32>
    %v368 = tensor.expand_shape %v367 [[0, 1], [2]] output_shape [1, 6, 16] : tensor<6x16xf32> into tensor<1x6x16xf32>
    %v369 = tensor.empty() : tensor<1x6x16xf32>
    %v370 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v319, %v368 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v369 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v371 = tensor.empty() : tensor<1x6x16xf32>
    %v372 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v370, %v370 : tensor<1x6x16xf32>, tensor<1x6x16xf32>) outs(%v371 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v373 = arith.constant 0.000000e+00 : f32
    %v374 = tensor.empty() : tensor<1x6x1xf32>
    %v375 = linalg.fill ins(%v373 : f32) outs(%v374 : tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %v376 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%v372 : tensor<1x6x16xf32>) outs(%v375 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v377 = arith.constant 6.250000e-02 : f32
    %v378 = tensor.empty() : tensor<1x6x1xf32>
    %v379 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v376 : tensor<1x6x1xf32>) outs(%v378 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v377 : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v380 = arith.constant 1.000000e-06 : f32
    %v381 = tensor.empty() : tensor<1x6x1xf32>
    %v382 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v379 : tensor<1x6x1xf32>) outs(%v381 : tensor<1x6x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v380 : f32
      %r = math.rsqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<1x6x1xf32>
    %v383 = tensor.empty() : tensor<1x6x16xf32>
    %v384 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v370, %v382 : tensor<1x6x16xf32>, tensor<1x6x1xf32>) outs(%v383 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v385 = arith.constant dense<1.0> : tensor<16xf32>
    %v386 = tensor.empty() : tensor<1x6x16xf32>
    %v387 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v384, %v385 : tensor<1x6x16xf32>, tensor<16xf32>) outs(%v386 : tensor<1x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<1x6x16xf32>
    %v388 = arith.constant dense_resource<__elided__> : tensor<13x16xf32>
    %v389 = tensor.collapse_shape %v387 [[0, 1], [2]] : tensor<1x6x16xf32> into tensor<6x16xf32>
    %v390 = tensor.empty() : tensor<16x13xf32>
    %v391 = linalg.transpose ins(%v388 : tensor<13x16xf32>) outs(%v390 : tensor<16x13xf32>) permutation = [1, 0]
    %v392 = arith.constant 0.000000e+00 : f32
    %v393 = tensor.empty() : tensor<6x13xf32>
    %v394 = linalg.fill ins(%v392 : f32) outs(%v393 : tensor<6x13xf32>) -> tensor<6x13xf32>
    %v395 = linalg.matmul ins(%v389, %v391 : tensor<6x16xf32>, tensor<16x13xf32>) outs(%v394 : tensor<6x13xf32>) -> tensor<6x13xf32>
    %v396 = tensor.expand_shape %v395 [[0, 1], [2]] output_shape [1, 6, 13] : tensor<6x13xf32> into tensor<1x6x13xf32>
    return %v396 : tensor<1x6x13xf32>
  }
}
