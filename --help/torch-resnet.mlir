module {
  func.func @main(%arg0: tensor<2x3x8x8xf32>) -> tensor<2x4xf32> {
    %v0 = arith.constant 0.000000e+00 : f32
    %v1 = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v0 : f32
    } : tensor<2x3x8x8xf32> to tensor<2x3x10x10xf32>
    %v2 = tensor.empty() : tensor<2x6x8x8xf32>
    %v3 = arith.constant dense<0.0> : tensor<6xf32>
    %v4 = linalg.broadcast ins(%v3 : tensor<6xf32>) outs(%v2 : tensor<2x6x8x8xf32>) dimensions = [0, 2, 3]
    %v5 = arith.constant dense_resource<__elided__> : tensor<6x3x3x3xf32>
    %v6 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v1, %v5 : tensor<2x3x10x10xf32>, tensor<6x3x3x3xf32>) outs(%v4 : tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf32>
    %v7 = arith.constant dense<[0.92221, 0.87898, 0.71029, 0.62946, 0.75564, 0.70247]> : tensor<6xf32>
    %v8 = arith.constant dense<[0.56760, -0.39337, -0.04681, 0.16676, 0.81623, 0.00937]> : tensor<6xf32>
    %v9 = arith.constant dense<[-0.43632, 0.51161, 0.23674, -0.49899, 0.81949, 0.96557]> : tensor<6xf32>
    %v10 = arith.constant dense<[1.31022, 1.40217, 0.81015, 1.22983, 1.39884, 1.18398]> : tensor<6xf32>
    %v11 = arith.constant 1.000000e-05 : f64
    %v12 = tensor.empty() : tensor<2x6x8x8xf32>
    %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v6, %v7, %v8, %v9, %v10 : tensor<2x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%v12 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v11 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v14 = arith.constant 0.000000e+00 : f32
    %v15 = tensor.empty() : tensor<2x6x8x8xf32>
    %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v13 : tensor<2x6x8x8xf32>) outs(%v15 : tensor<2x6x8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v14 : f32
      %r = arith.select %c, %a, %v14 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x8x8xf32>
    %v17 = arith.constant 0xFF800000 : f32
    %v18 = tensor.pad %v16 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v17 : f32
    } : tensor<2x6x8x8xf32> to tensor<2x6x10x10xf32>
    %v19 = tensor.empty() : tensor<3x3xf32>
    %v20 = arith.constant 0xFF800000 : f32
    %v21 = tensor.empty() : tensor<2x6x4x4xf32>
    %v22 = linalg.fill ins(%v20 : f32) outs(%v21 : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
    %v23 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%v18, %v19 : tensor<2x6x10x10xf32>, tensor<3x3xf32>) outs(%v22 : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
    %v24 = arith.constant 0.000000e+00 : f32
    %v25 = tensor.pad %v23 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v24 : f32
    } : tensor<2x6x4x4xf32> to tensor<2x6x6x6xf32>
    %v26 = tensor.empty() : tensor<2x6x4x4xf32>
    %v27 = arith.constant dense<0.0> : tensor<6xf32>
    %v28 = linalg.broadcast ins(%v27 : tensor<6xf32>) outs(%v26 : tensor<2x6x4x4xf32>) dimensions = [0, 2, 3]
    %v29 = arith.constant dense_resource<__elided__> : tensor<6x6x3x3xf32>
    %v30 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v25, %v29 : tensor<2x6x6x6xf32>, tensor<6x6x3x3xf32>) outs(%v28 : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
    %v31 = arith.constant dense<[0.73607, 0.55035, 0.71709, 0.80544, 0.95651, 0.98330]> : tensor<6xf32>
    %v32 = arith.constant dense<[-0.04598, 0.73062, -0.47902, 0.61006, 0.09740, -0.97192]> : tensor<6xf32>
    %v33 = arith.constant dense<[0.43941, -0.20235, 0.64969, 0.33631, -0.99771, -0.01284]> : tensor<6xf32>
    %v34 = arith.constant dense<[1.36760, 0.74391, 0.82520, 1.37047, 0.69107, 1.06751]> : tensor<6xf32>
    %v35 = arith.constant 1.000000e-05 : f64
    %v36 = tensor.empty() : tensor<2x6x4x4xf32>
    %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v30, %v31, %v32, %v33, %v34 : tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%v36 : tensor<2x6x4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v35 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x6x4x4xf32>
    %v38 = arith.constant 0.000000e+00 : f32
    %v39 = tensor.empty() : tensor<2x6x4x4xf32>
    %v40 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v37 : tensor<2x6x4x4xf32>) outs(%v39 : tensor<2x6x4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v38 : f32
      %r = arith.select %c, %a, %v38 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x4x4xf32>
    %v41 = arith.constant 0.000000e+00 : f32
    %v42 = tensor.pad %v40 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v41 : f32
    } : tensor<2x6x4x4xf32> to tensor<2x6x6x6xf32>
    %v43 = tensor.empty() : tensor<2x6x4x4xf32>
    %v44 = arith.constant dense<0.0> : tensor<6xf32>
    %v45 = linalg.broadcast ins(%v44 : tensor<6xf32>) outs(%v43 : tensor<2x6x4x4xf32>) dimensions = [0, 2, 3]
    %v46 = arith.constant dense_resource<__elided__> : tensor<6x6x3x3xf32>
    %v47 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v42, %v46 : tensor<2x6x6x6xf32>, tensor<6x6x3x3xf32>) outs(%v45 : tensor<2x6x4x4xf32>) -> tensor<2x6x4x4xf32>
    %v48 = arith.constant dense<[0.61931, 0.98377, 0.90159, 0.72398, 0.54022, 0.66003]> : tensor<6xf32>
    %v49 = arith.constant dense<[0.01588, 0.86567, -0.78188, 0.10253, 0.41312, 0.09488]> : tensor<6xf32>
    %v50 = arith.constant dense<[0.62893, 0.08057, 0.92768, 0.20637, 0.17523, -0.11002]> : tensor<6xf32>
    %v51 = arith.constant dense<[1.09629, 0.88490, 1.07565, 0.79033, 0.68939, 0.68673]> : tensor<6xf32>
    %v52 = arith.constant 1.000000e-05 : f64
    %v53 = tensor.empty() : tensor<2x6x4x4xf32>
    %v54 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v47, %v48, %v49, %v50, %v51 : tensor<2x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%v53 : tensor<2x6x4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v52 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x6x4x4xf32>
    %v55 = tensor.empty() : tensor<2x6x4x4xf32>
    %v56 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v54, %v23 : tensor<2x6x4x4xf32>, tensor<2x6x4x4xf32>) outs(%v55 : tensor<2x6x4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x6x4x4xf32>
    %v57 = arith.constant 0.000000e+00 : f32
    %v58 = tensor.empty() : tensor<2x6x4x4xf32>
    %v59 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v56 : tensor<2x6x4x4xf32>) outs(%v58 : tensor<2x6x4x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v57 : f32
      %r = arith.select %c, %a, %v57 : f32
      linalg.yield %r : f32
    } -> tensor<2x6x4x4xf32>
    %v60 = arith.constant 0.000000e+00 : f32
    %v61 = tensor.pad %v59 low[0, 0, 0, 0] high[0, 0, 0, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v60 : f32
    } : tensor<2x6x4x4xf32> to tensor<2x6x4x4xf32>
    %v62 = tensor.empty() : tensor<2x8x2x2xf32>
    %v63 = arith.constant dense<0.0> : tensor<8xf32>
    %v64 = linalg.broadcast ins(%v63 : tensor<8xf32>) outs(%v62 : tensor<2x8x2x2xf32>) dimensions = [0, 2, 3]
    %v65 = arith.constant dense_resource<__elided__> : tensor<8x6x1x1xf32>
    %v66 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%v61, %v65 : tensor<2x6x4x4xf32>, tensor<8x6x1x1xf32>) outs(%v64 : tensor<2x8x2x2xf32>) -> tensor<2x8x2x2xf32>
    %v67 = arith.constant dense<[0.80639, 0.82833, 0.73827, 0.54491, 0.87880, 0.93839, 0.96169, 0.92123]> : tensor<8xf32>
    %v68 = arith.constant dense<[0.79635, 0.84616, 0.08120, -0.21741, 0.41057, -0.44873, 0.62326, 0.69897]> : tensor<8xf32>
    %v69 = arith.constant dense<[0.79008, 0.17960, 0.89953, 0.15939, -0.09887, 0.32049, 0.99252, 0.83388]> : tensor<8xf32>
    %v70 = arith.constant dense<[1.29333, 0.58237, 1.11278, 0.98644, 1.13015, 1.34508, 0.74304, 1.23149]> : tensor<8xf32>
    %v71 = arith.constant 1.000000e-05 : f64
    %v72 = tensor.empty() : tensor<2x8x2x2xf32>
    %v73 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v66, %v67, %v68, %v69, %v70 : tensor<2x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%v72 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v71 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v74 = arith.constant 0.000000e+00 : f32
    %v75 = tensor.pad %v59 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v74 : f32
    } : tensor<2x6x4x4xf32> to tensor<2x6x6x6xf32>
    %v76 = tensor.empty() : tensor<2x8x2x2xf32>
    %v77 = arith.constant dense<0.0> : tensor<8xf32>
    %v78 = linalg.broadcast ins(%v77 : tensor<8xf32>) outs(%v76 : tensor<2x8x2x2xf32>) dimensions = [0, 2, 3]
    %v79 = arith.constant dense_resource<__elided__> : tensor<8x6x3x3xf32>
    %v80 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%v75, %v79 : tensor<2x6x6x6xf32>, tensor<8x6x3x3xf32>) outs(%v78 : tensor<2x8x2x2xf32>) -> tensor<2x8x2x2xf32>
    %v81 = arith.constant dense<[0.55857, 0.61023, 0.89729, 0.66627, 0.90796, 0.55030, 0.57318, 0.84884]> : tensor<8xf32>
    %v82 = arith.constant dense<[-0.90953, 0.14773, 0.82003, 0.06840, 0.36118, -0.94661, 0.27000, 0.21268]> : tensor<8xf32>
    %v83 = arith.constant dense<[0.15191, -0.21758, -0.25972, 0.96103, -0.92722, -0.95673, 0.92206, -0.63006]> : tensor<8xf32>
    %v84 = arith.constant dense<[0.62390, 0.71058, 1.30075, 1.43697, 0.52278, 0.92562, 0.60150, 0.75992]> : tensor<8xf32>
    %v85 = arith.constant 1.000000e-05 : f64
    %v86 = tensor.empty() : tensor<2x8x2x2xf32>
    %v87 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v80, %v81, %v82, %v83, %v84 : tensor<2x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%v86 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v85 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v88 = arith.constant 0.000000e+00 : f32
    %v89 = tensor.empty() : tensor<2x8x2x2xf32>
    %v90 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v87 : tensor<2x8x2x2xf32>) outs(%v89 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v88 : f32
      %r = arith.select %c, %a, %v88 : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v91 = arith.constant 0.000000e+00 : f32
    %v92 = tensor.pad %v90 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %v91 : f32
    } : tensor<2x8x2x2xf32> to tensor<2x8x4x4xf32>
    %v93 = tensor.empty() : tensor<2x8x2x2xf32>
    %v94 = arith.constant dense<0.0> : tensor<8xf32>
    %v95 = linalg.broadcast ins(%v94 : tensor<8xf32>) outs(%v93 : tensor<2x8x2x2xf32>) dimensions = [0, 2, 3]
    %v96 = arith.constant dense_resource<__elided__> : tensor<8x8x3x3xf32>
    %v97 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%v92, %v96 : tensor<2x8x4x4xf32>, tensor<8x8x3x3xf32>) outs(%v95 : tensor<2x8x2x2xf32>) -> tensor<2x8x2x2xf32>
    %v98 = arith.constant dense<[0.61041, 0.82346, 0.67515, 0.59016, 0.75182, 0.51969, 0.55046, 0.99412]> : tensor<8xf32>
    %v99 = arith.constant dense<[-0.60129, -0.28289, 0.46320, 0.67665, 0.83696, -0.66115, 0.34528, 0.93310]> : tensor<8xf32>
    %v100 = arith.constant dense<[-0.88390, 0.35240, 0.69085, -0.31537, -0.49863, 0.19358, -0.11537, -0.65036]> : tensor<8xf32>
    %v101 = arith.constant dense<[0.97163, 0.90991, 1.06911, 1.00860, 0.81145, 0.85715, 1.33766, 0.75093]> : tensor<8xf32>
    %v102 = arith.constant 1.000000e-05 : f64
    %v103 = tensor.empty() : tensor<2x8x2x2xf32>
    %v104 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v97, %v98, %v99, %v100, %v101 : tensor<2x8x2x2xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%v103 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %o: f32):
      %w = arith.truncf %v102 : f64 to f32
      %s = arith.addf %e, %w : f32
      %i = math.rsqrt %s : f32
      %x = arith.subf %a, %d : f32
      %n = arith.mulf %x, %i : f32
      %g = arith.mulf %n, %b : f32
      %r = arith.addf %g, %c : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v105 = tensor.empty() : tensor<2x8x2x2xf32>
    %v106 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v104, %v73 : tensor<2x8x2x2xf32>, tensor<2x8x2x2xf32>) outs(%v105 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v107 = arith.constant 0.000000e+00 : f32
    %v108 = tensor.empty() : tensor<2x8x2x2xf32>
    %v109 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v106 : tensor<2x8x2x2xf32>) outs(%v108 : tensor<2x8x2x2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.cmpf ugt, %a, %v107 : f32
      %r = arith.select %c, %a, %v107 : f32
      linalg.yield %r : f32
    } -> tensor<2x8x2x2xf32>
    %v110 = arith.constant 0.000000e+00 : f32
    %v111 = tensor.empty() : tensor<2x8x1x1xf32>
    %v112 = linalg.fill ins(%v110 : f32) outs(%v111 : tensor<2x8x1x1xf32>) -> tensor<2x8x1x1xf32>
    %v113 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v109 : tensor<2x8x2x2xf32>) outs(%v112 : tensor<2x8x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<2x8x1x1xf32>
    %v114 = arith.constant 2.500000e-01 : f32
    %v115 = tensor.empty() : tensor<2x8x1x1xf32>
    %v116 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v113 : tensor<2x8x1x1xf32>) outs(%v115 : tensor<2x8x1x1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.mulf %a, %v114 : f32
      linalg.yield %r : f32
    } -> tensor<2x8x1x1xf32>
    %v117 = tensor.collapse_shape %v116 [[0], [1, 2, 3]] : tensor<2x8x1x1xf32> into tensor<2x8xf32>
    %v118 = arith.constant dense_resource<__elided__> : tensor<4x8xf32>
    %v119 = arith.constant dense_resource<__elided__> : tensor<4xf32>
    %v120 = tensor.empty() : tensor<8x4xf32>
    %v121 = linalg.transpose ins(%v118 : tensor<4x8xf32>) outs(%v120 : tensor<8x4xf32>) permutation = [1, 0]
    %v122 = arith.constant 0.000000e+00 : f32
    %v123 = tensor.empty() : tensor<2x4xf32>
    %v124 = linalg.fill ins(%v122 : f32) outs(%v123 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v125 = linalg.matmul ins(%v117, %v121 : tensor<2x8xf32>, tensor<8x4xf32>) outs(%v124 : tensor<2x4xf32>) -> tensor<2x4xf32>
    %v126 = tensor.empty() : tensor<2x4xf32>
    %v127 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v125, %v119 : tensor<2x4xf32>, tensor<4xf32>) outs(%v126 : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<2x4xf32>
    return %v127 : tensor<2x4xf32>
  }
}
