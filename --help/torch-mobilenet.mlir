module {
  func.func @main(%arg0: tensor<2x3x8x8xf32>) -> tensor<2x4xf32> {
    %v0 = arith.constant dense_resource<__elided__> : tensor<6x3x1x1xf32>
    %v1 = arith.constant 0.000000e+00 : f32
    %v2 = tensor.empty() : tensor<2x6x8x8xf32>
    %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v4 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%arg0, %v0 : tensor<2x3x8x8xf32>, tensor<6x3x1x1xf32>) outs(%v3 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v5 = arith.constant dense<[0.68884, 0.51591, -0.15886, -0.48217, 0.02255, -0.19013]> : tensor<6xf32>
    %v6 = tensor.expand_shape %v5 [[0, 1, 2]] output_shape [6, 1, 1] : tensor<6xf32> into tensor<6x1x1xf32>
    %v7 = tensor.empty() : tensor<2x6x8x8xf32>
    %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v4, %v6 : tensor<2x6x8x8xf32>, tensor<6x1x1xf32>) outs(%v7 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v9 = arith.constant 3.000000e+00 : f32
    %v10 = arith.constant 0.000000e+00 : f32
    %v11 = arith.constant 6.000000e+00 : f32
    %v12 = tensor.empty() : tensor<2x6x8x8xf32>
    %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v8 : tensor<2x6x8x8xf32>) outs(%v12 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v9 : f32
      %l = arith.cmpf ult, %s, %v10 : f32
      %m = arith.select %l, %v10, %s : f32
      %g = arith.cmpf ugt, %m, %v11 : f32
      %r = arith.select %g, %v11, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v14 = tensor.empty() : tensor<2x6x8x8xf32>
    %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v8, %v13 : tensor<2x6x8x8xf32>, tensor<2x6x8x8xf32>) outs(%v14 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.divf %m, %v11 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v16 = arith.constant 0.000000e+00 : f32
    %v17 = tensor.pad %v15 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v16 : f32
    } : tensor<2x6x8x8xf32> to tensor<2x6x10x10xf32>
    %v18 = arith.constant dense_resource<__elided__> : tensor<6x3x3xf32>
    %v19 = arith.constant 0.000000e+00 : f32
    %v20 = tensor.empty() : tensor<2x6x8x8xf32>
    %v21 = linalg.fill ins(%v19 : f32) outs(%v20 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v22 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v17, %v18 : tensor<2x6x10x10xf32>, tensor<6x3x3xf32>) outs(%v21 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v23 = arith.constant 3.000000e+00 : f32
    %v24 = arith.constant 0.000000e+00 : f32
    %v25 = arith.constant 6.000000e+00 : f32
    %v26 = tensor.empty() : tensor<2x6x8x8xf32>
    %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v22 : tensor<2x6x8x8xf32>) outs(%v26 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v23 : f32
      %l = arith.cmpf ult, %s, %v24 : f32
      %m = arith.select %l, %v24, %s : f32
      %g = arith.cmpf ugt, %m, %v25 : f32
      %r = arith.select %g, %v25, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v28 = tensor.empty() : tensor<2x6x8x8xf32>
    %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v22, %v27 : tensor<2x6x8x8xf32>, tensor<2x6x8x8xf32>) outs(%v28 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.divf %m, %v25 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v30 = arith.constant 0.000000e+00 : f32
    %v31 = tensor.empty() : tensor<2x6x1x1xf32>
    %v32 = linalg.fill ins(%v30 : f32) outs(%v31 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v29 : tensor<2x6x8x8xf32>) outs(%v32 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v34 = arith.constant 1.562500e-02 : f32
    %v35 = tensor.empty() : tensor<2x6x1x1xf32>
    %v36 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v33 : tensor<2x6x1x1xf32>) outs(%v35 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v34 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v37 = arith.constant dense_resource<__elided__> : tensor<3x6x1x1xf32>
    %v38 = arith.constant 0.000000e+00 : f32
    %v39 = tensor.empty() : tensor<2x3x1x1xf32>
    %v40 = linalg.fill ins(%v38 : f32) outs(%v39 : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
    %v41 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v36, %v37 : tensor<2x6x1x1xf32>, tensor<3x6x1x1xf32>) outs(%v40 : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
    %v42 = arith.constant dense<[0.56760, -0.39337, -0.04681]> : tensor<3xf32>
    %v43 = tensor.expand_shape %v42 [[0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
    %v44 = tensor.empty() : tensor<2x3x1x1xf32>
    %v45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v41, %v43 : tensor<2x3x1x1xf32>, tensor<3x1x1xf32>) outs(%v44 : tensor<2x3x1x1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x3x1x1xf32>
    %v46 = arith.constant 0.000000e+00 : f32
    %v47 = tensor.empty() : tensor<2x3x1x1xf32>
    %v48 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v45 : tensor<2x3x1x1xf32>) outs(%v47 : tensor<2x3x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v46 : f32
      %r = arith.select %c, %a, %v46 : f32
      linalg.yield %r : f32
    } -> tensor<2x3x1x1xf32>
    %v49 = arith.constant dense_resource<__elided__> : tensor<6x3x1x1xf32>
    %v50 = arith.constant 0.000000e+00 : f32
    %v51 = tensor.empty() : tensor<2x6x1x1xf32>
    %v52 = linalg.fill ins(%v50 : f32) outs(%v51 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v53 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v48, %v49 : tensor<2x3x1x1xf32>, tensor<6x3x1x1xf32>) outs(%v52 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v54 = arith.constant dense<[0.16676, 0.81623, 0.00937, -0.43632, 0.51161, 0.23674]> : tensor<6xf32>
    %v55 = tensor.expand_shape %v54 [[0, 1, 2]] output_shape [6, 1, 1] : tensor<6xf32> into tensor<6x1x1xf32>
    %v56 = tensor.empty() : tensor<2x6x1x1xf32>
    %v57 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v53, %v55 : tensor<2x6x1x1xf32>, tensor<6x1x1xf32>) outs(%v56 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v58 = tensor.empty() : tensor<2x6x1x1xf32>
    %v59 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v57 : tensor<2x6x1x1xf32>) outs(%v58 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v60 = tensor.empty() : tensor<2x6x1x1xf32>
    %v61 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v59 : tensor<2x6x1x1xf32>) outs(%v60 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v62 = arith.constant 1.000000e+00 : f32
    %v63 = tensor.empty() : tensor<2x6x1x1xf32>
    %v64 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v61 : tensor<2x6x1x1xf32>) outs(%v63 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v62 : f32
      %r = arith.divf %v62, %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v65 = tensor.empty() : tensor<2x6x8x8xf32>
    %v66 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v29, %v64 : tensor<2x6x8x8xf32>, tensor<2x6x1x1xf32>) outs(%v65 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v67 = arith.constant dense_resource<__elided__> : tensor<6x6x1x1xf32>
    %v68 = arith.constant 0.000000e+00 : f32
    %v69 = tensor.empty() : tensor<2x6x8x8xf32>
    %v70 = linalg.fill ins(%v68 : f32) outs(%v69 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v71 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v66, %v67 : tensor<2x6x8x8xf32>, tensor<6x6x1x1xf32>) outs(%v70 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v72 = arith.constant dense<[-0.49899, 0.81949, 0.96557, 0.62043, 0.80433, -0.37970]> : tensor<6xf32>
    %v73 = tensor.expand_shape %v72 [[0, 1, 2]] output_shape [6, 1, 1] : tensor<6xf32> into tensor<6x1x1xf32>
    %v74 = tensor.empty() : tensor<2x6x8x8xf32>
    %v75 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v71, %v73 : tensor<2x6x8x8xf32>, tensor<6x1x1xf32>) outs(%v74 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v76 = arith.constant 3.000000e+00 : f32
    %v77 = arith.constant 0.000000e+00 : f32
    %v78 = arith.constant 6.000000e+00 : f32
    %v79 = tensor.empty() : tensor<2x6x8x8xf32>
    %v80 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v75 : tensor<2x6x8x8xf32>) outs(%v79 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v76 : f32
      %l = arith.cmpf ult, %s, %v77 : f32
      %m = arith.select %l, %v77, %s : f32
      %g = arith.cmpf ugt, %m, %v78 : f32
      %r = arith.select %g, %v78, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v81 = tensor.empty() : tensor<2x6x8x8xf32>
    %v82 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v75, %v80 : tensor<2x6x8x8xf32>, tensor<2x6x8x8xf32>) outs(%v81 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.divf %m, %v78 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v83 = arith.constant 0.000000e+00 : f32
    %v84 = tensor.pad %v82 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v83 : f32
    } : tensor<2x6x8x8xf32> to tensor<2x6x10x10xf32>
    %v85 = arith.constant dense_resource<__elided__> : tensor<6x3x3xf32>
    %v86 = arith.constant 0.000000e+00 : f32
    %v87 = tensor.empty() : tensor<2x6x8x8xf32>
    %v88 = linalg.fill ins(%v86 : f32) outs(%v87 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v89 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v84, %v85 : tensor<2x6x10x10xf32>, tensor<6x3x3xf32>) outs(%v88 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v90 = arith.constant 3.000000e+00 : f32
    %v91 = arith.constant 0.000000e+00 : f32
    %v92 = arith.constant 6.000000e+00 : f32
    %v93 = tensor.empty() : tensor<2x6x8x8xf32>
    %v94 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v89 : tensor<2x6x8x8xf32>) outs(%v93 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v90 : f32
      %l = arith.cmpf ult, %s, %v91 : f32
      %m = arith.select %l, %v91, %s : f32
      %g = arith.cmpf ugt, %m, %v92 : f32
      %r = arith.select %g, %v92, %m : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v95 = tensor.empty() : tensor<2x6x8x8xf32>
    %v96 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v89, %v94 : tensor<2x6x8x8xf32>, tensor<2x6x8x8xf32>) outs(%v95 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.divf %m, %v92 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v97 = arith.constant 0.000000e+00 : f32
    %v98 = tensor.empty() : tensor<2x6x1x1xf32>
    %v99 = linalg.fill ins(%v97 : f32) outs(%v98 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v100 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v96 : tensor<2x6x8x8xf32>) outs(%v99 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v101 = arith.constant 1.562500e-02 : f32
    %v102 = tensor.empty() : tensor<2x6x1x1xf32>
    %v103 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v100 : tensor<2x6x1x1xf32>) outs(%v102 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v101 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v104 = arith.constant dense_resource<__elided__> : tensor<3x6x1x1xf32>
    %v105 = arith.constant 0.000000e+00 : f32
    %v106 = tensor.empty() : tensor<2x3x1x1xf32>
    %v107 = linalg.fill ins(%v105 : f32) outs(%v106 : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
    %v108 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v103, %v104 : tensor<2x6x1x1xf32>, tensor<3x6x1x1xf32>) outs(%v107 : tensor<2x3x1x1xf32>) -> tensor<2x3x1x1xf32>
    %v109 = arith.constant dense<[0.45966, 0.79768, 0.36797]> : tensor<3xf32>
    %v110 = tensor.expand_shape %v109 [[0, 1, 2]] output_shape [3, 1, 1] : tensor<3xf32> into tensor<3x1x1xf32>
    %v111 = tensor.empty() : tensor<2x3x1x1xf32>
    %v112 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v108, %v110 : tensor<2x3x1x1xf32>, tensor<3x1x1xf32>) outs(%v111 : tensor<2x3x1x1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x3x1x1xf32>
    %v113 = arith.constant 0.000000e+00 : f32
    %v114 = tensor.empty() : tensor<2x3x1x1xf32>
    %v115 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v112 : tensor<2x3x1x1xf32>) outs(%v114 : tensor<2x3x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v113 : f32
      %r = arith.select %c, %a, %v113 : f32
      linalg.yield %r : f32
    } -> tensor<2x3x1x1xf32>
    %v116 = arith.constant dense_resource<__elided__> : tensor<6x3x1x1xf32>
    %v117 = arith.constant 0.000000e+00 : f32
    %v118 = tensor.empty() : tensor<2x6x1x1xf32>
    %v119 = linalg.fill ins(%v117 : f32) outs(%v118 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v120 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v115, %v116 : tensor<2x3x1x1xf32>, tensor<6x3x1x1xf32>) outs(%v119 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v121 = arith.constant dense<[-0.05571, -0.79860, -0.13166, 0.22177, 0.82602, 0.93321]> : tensor<6xf32>
    %v122 = tensor.expand_shape %v121 [[0, 1, 2]] output_shape [6, 1, 1] : tensor<6xf32> into tensor<6x1x1xf32>
    %v123 = tensor.empty() : tensor<2x6x1x1xf32>
    %v124 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v120, %v122 : tensor<2x6x1x1xf32>, tensor<6x1x1xf32>) outs(%v123 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v125 = tensor.empty() : tensor<2x6x1x1xf32>
    %v126 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v124 : tensor<2x6x1x1xf32>) outs(%v125 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v127 = tensor.empty() : tensor<2x6x1x1xf32>
    %v128 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v126 : tensor<2x6x1x1xf32>) outs(%v127 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.exp %a : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v129 = arith.constant 1.000000e+00 : f32
    %v130 = tensor.empty() : tensor<2x6x1x1xf32>
    %v131 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v128 : tensor<2x6x1x1xf32>) outs(%v130 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %v129 : f32
      %r = arith.divf %v129, %s : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v132 = tensor.empty() : tensor<2x6x8x8xf32>
    %v133 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v96, %v131 : tensor<2x6x8x8xf32>, tensor<2x6x1x1xf32>) outs(%v132 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v134 = arith.constant 0.000000e+00 : f32
    %v135 = tensor.empty() : tensor<2x6x1x1xf32>
    %v136 = linalg.fill ins(%v134 : f32) outs(%v135 : tensor<2x6x1x1xf32>) -> tensor<2x6x1x1xf32>
    %v137 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v133 : tensor<2x6x8x8xf32>) outs(%v136 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v138 = arith.constant 1.562500e-02 : f32
    %v139 = tensor.empty() : tensor<2x6x1x1xf32>
    %v140 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v137 : tensor<2x6x1x1xf32>) outs(%v139 : tensor<2x6x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v138 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x1x1xf32>
    %v141 = tensor.collapse_shape %v140 [[0], [1, 2, 3]] : tensor<2x6x1x1xf32> into tensor<2x6xf32>
    %v142 = arith.constant dense_resource<__elided__> : tensor<4x6xf32>
    %v143 = arith.constant dense_resource<__elided__> : tensor<4xf32>
    %v144 = tensor.empty() : tensor<6x4xf32>
    %v145 = linalg.transpose ins(%v142 : tensor<4x6xf32>) outs(%v144 : tensor<6x4xf32>) permutation = [1, 0]
    %v146 = arith.constant 0.000000e+00 : f32
    %v147 = tensor.empty() : tensor<2x4xf32>
    %v148 = linalg.fill ins(%v146 : f32) outs(%v147 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v149 = linalg.matmul ins(%v141, %v145 : tensor<2x6xf32>, tensor<6x4xf32>) outs(%v148 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v150 = tensor.empty() : tensor<2x4xf32>
    %v151 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v149, %v143 : tensor<2x4xf32>, tensor<4xf32>) outs(%v150 : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x4xf32>
    return %v151 : tensor<2x4xf32>
  }
}
