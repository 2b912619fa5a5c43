module {
  func.func @main(%arg0: tensor<2x5x8xf32>) -> tensor<2x5x4xf32> {
    %v0 = "tosa.const"() <{values = dense<[[[0.68884, 0.51591, -0.15886, -0.48217, 0.02255, -0.19013, 0.56760, -0.39337], [-0.04681, 0.16676, 0.81623, 0.00937, -0.43632, 0.51161, 0.23674, -0.49899], [0.81949, 0.96557, 0.62043, 0.80433, -0.37970, 0.45966, 0.79768, 0.36797], [-0.05571, -0.79860, -0.13166, 0.22177, 0.82602, 0.93321, -0.04598, 0.73062], [-0.47902, 0.61006, 0.09740, -0.97192, 0.43941, -0.20235, 0.64969, 0.33631]]]> : tensor<1x5x8xf32>}> : () -> tensor<1x5x8xf32>
    %v1 = tosa.add %arg0, %v0 : (tensor<2x5x8xf32>, tensor<1x5x8xf32>) -> tensor<2x5x8xf32>
    %v2 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v3 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v4 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v5 = tosa.reshape %v1, %v4 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v8 = tosa.matmul %v5, %v2, %v6, %v7 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v9 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v10 = tosa.reshape %v8, %v9 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v11 = tosa.add %v10, %v3 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v12 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v13 = tosa.reshape %v11, %v12 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v14 = tosa.transpose %v13 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v15 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v16 = tosa.reshape %v14, %v15 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v17 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v18 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v19 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v20 = tosa.reshape %v1, %v19 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v21 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v22 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v23 = tosa.matmul %v20, %v17, %v21, %v22 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v24 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v25 = tosa.reshape %v23, %v24 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v26 = tosa.add %v25, %v18 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v27 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v28 = tosa.reshape %v26, %v27 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v29 = tosa.transpose %v28 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v30 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v31 = tosa.reshape %v29, %v30 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v32 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v33 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v34 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v35 = tosa.reshape %v1, %v34 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v36 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v37 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v38 = tosa.matmul %v35, %v32, %v36, %v37 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v39 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v40 = tosa.reshape %v38, %v39 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v41 = tosa.add %v40, %v33 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v42 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v43 = tosa.reshape %v41, %v42 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v44 = tosa.transpose %v43 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v45 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v46 = tosa.reshape %v44, %v45 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v47 = tosa.transpose %v31 {perms = array<i32: 0, 2, 1>} : (tensor<4x5x4xf32>) -> tensor<4x4x5xf32>
    %v48 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v49 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v50 = tosa.matmul %v16, %v47, %v48, %v49 : (tensor<4x5x4xf32>, tensor<4x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x5xf32>
    %v51 = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v52 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v53 = tosa.mul %v50, %v51, %v52 : (tensor<4x5x5xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x5x5xf32>
    %v54 = tosa.reduce_max %v53 {axis = 2 : i32} : (tensor<4x5x5xf32>) -> tensor<4x5x1xf32>
    %v55 = tosa.sub %v53, %v54 : (tensor<4x5x5xf32>, tensor<4x5x1xf32>) -> tensor<4x5x5xf32>
    %v56 = tosa.exp %v55 : (tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v57 = tosa.reduce_sum %v56 {axis = 2 : i32} : (tensor<4x5x5xf32>) -> tensor<4x5x1xf32>
    %v58 = tosa.reciprocal %v57 : (tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v59 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v60 = tosa.mul %v56, %v58, %v59 : (tensor<4x5x5xf32>, tensor<4x5x1xf32>, tensor<1xi8>) -> tensor<4x5x5xf32>
    %v61 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v62 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v63 = tosa.matmul %v60, %v46, %v61, %v62 : (tensor<4x5x5xf32>, tensor<4x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x4xf32>
    %v64 = tosa.const_shape {values = dense<[2, 2, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v65 = tosa.reshape %v63, %v64 : (tensor<4x5x4xf32>, !tosa.shape<4>) -> tensor<2x2x5x4xf32>
    %v66 = tosa.transpose %v65 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %v67 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v68 = tosa.reshape %v66, %v67 : (tensor<2x5x2x4xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v69 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v70 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v71 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v72 = tosa.reshape %v68, %v71 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v73 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v74 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v75 = tosa.matmul %v72, %v69, %v73, %v74 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v76 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v77 = tosa.reshape %v75, %v76 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v78 = tosa.add %v77, %v70 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v79 = tosa.add %v1, %v78 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %v80 = "tosa.const"() <{values = dense<[[[0.50057, 0.74679, 0.93380, 0.62196, 0.66260, 0.93524, 0.59553, 0.78376]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v81 = "tosa.const"() <{values = dense<[[[-0.52277, 0.93508, 0.60636, -0.10406, -0.83911, -0.35989, 0.01588, 0.86567]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v82 = tosa.reduce_sum %v79 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v83 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v84 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v85 = tosa.mul %v82, %v83, %v84 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v86 = tosa.sub %v79, %v85 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %v87 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v88 = tosa.mul %v86, %v86, %v87 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v89 = tosa.reduce_sum %v88 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v90 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v91 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v92 = tosa.mul %v89, %v90, %v91 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v93 = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v94 = tosa.add %v92, %v93 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>) -> tensor<2x5x1xf32>
    %v95 = tosa.rsqrt %v94 : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v96 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v97 = tosa.mul %v86, %v95, %v96 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v98 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v99 = tosa.mul %v97, %v80, %v98 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v100 = tosa.add %v99, %v81 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v101 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x16xf32>}> : () -> tensor<1x8x16xf32>
    %v102 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x16xf32>}> : () -> tensor<1x1x16xf32>
    %v103 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v104 = tosa.reshape %v100, %v103 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v105 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v106 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v107 = tosa.matmul %v104, %v101, %v105, %v106 : (tensor<1x10x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x16xf32>
    %v108 = tosa.const_shape {values = dense<[2, 5, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v109 = tosa.reshape %v107, %v108 : (tensor<1x10x16xf32>, !tosa.shape<3>) -> tensor<2x5x16xf32>
    %v110 = tosa.add %v109, %v102 : (tensor<2x5x16xf32>, tensor<1x1x16xf32>) -> tensor<2x5x16xf32>
    %v111 = tosa.clamp %v110 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
    %v112 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x16x8xf32>}> : () -> tensor<1x16x8xf32>
    %v113 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v114 = tosa.const_shape {values = dense<[1, 10, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v115 = tosa.reshape %v111, %v114 : (tensor<2x5x16xf32>, !tosa.shape<3>) -> tensor<1x10x16xf32>
    %v116 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v117 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v118 = tosa.matmul %v115, %v112, %v116, %v117 : (tensor<1x10x16xf32>, tensor<1x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v119 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v120 = tosa.reshape %v118, %v119 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v121 = tosa.add %v120, %v113 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v122 = tosa.add %v100, %v121 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %v123 = "tosa.const"() <{values = dense<[[[0.55453, 0.77563, 0.85328, 0.77372, 0.90723, 0.77014, 0.98192, 0.80159]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v124 = "tosa.const"() <{values = dense<[[[0.17523, -0.11002, 0.19257, -0.23020, 0.15130, -0.41934, -0.62122, -0.62654]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v125 = tosa.reduce_sum %v122 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v126 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v127 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v128 = tosa.mul %v125, %v126, %v127 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v129 = tosa.sub %v122, %v128 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %v130 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v131 = tosa.mul %v129, %v129, %v130 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v132 = tosa.reduce_sum %v131 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v133 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v134 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v135 = tosa.mul %v132, %v133, %v134 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v136 = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v137 = tosa.add %v135, %v136 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>) -> tensor<2x5x1xf32>
    %v138 = tosa.rsqrt %v137 : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v139 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v140 = tosa.mul %v129, %v138, %v139 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v141 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v142 = tosa.mul %v140, %v123, %v141 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v143 = tosa.add %v142, %v124 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v144 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v145 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v146 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v147 = tosa.reshape %v143, %v146 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v148 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v149 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v150 = tosa.matmul %v147, %v144, %v148, %v149 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v151 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v152 = tosa.reshape %v150, %v151 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v153 = tosa.add %v152, %v145 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v154 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v155 = tosa.reshape %v153, %v154 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v156 = tosa.transpose %v155 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v157 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v158 = tosa.reshape %v156, %v157 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v159 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v160 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v161 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v162 = tosa.reshape %v143, %v161 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v163 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v164 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v165 = tosa.matmul %v162, %v159, %v163, %v164 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v166 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v167 = tosa.reshape %v165, %v166 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v168 = tosa.add %v167, %v160 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v169 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v170 = tosa.reshape %v168, %v169 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v171 = tosa.transpose %v170 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v172 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v173 = tosa.reshape %v171, %v172 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v174 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v175 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v176 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v177 = tosa.reshape %v143, %v176 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v178 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v179 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v180 = tosa.matmul %v177, %v174, %v178, %v179 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v181 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v182 = tosa.reshape %v180, %v181 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v183 = tosa.add %v182, %v175 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v184 = tosa.const_shape {values = dense<[2, 5, 2, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v185 = tosa.reshape %v183, %v184 : (tensor<2x5x8xf32>, !tosa.shape<4>) -> tensor<2x5x2x4xf32>
    %v186 = tosa.transpose %v185 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x5x2x4xf32>) -> tensor<2x2x5x4xf32>
    %v187 = tosa.const_shape {values = dense<[4, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v188 = tosa.reshape %v186, %v187 : (tensor<2x2x5x4xf32>, !tosa.shape<3>) -> tensor<4x5x4xf32>
    %v189 = tosa.transpose %v173 {perms = array<i32: 0, 2, 1>} : (tensor<4x5x4xf32>) -> tensor<4x4x5xf32>
    %v190 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v191 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v192 = tosa.matmul %v158, %v189, %v190, %v191 : (tensor<4x5x4xf32>, tensor<4x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x5xf32>
    %v193 = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v194 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v195 = tosa.mul %v192, %v193, %v194 : (tensor<4x5x5xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<4x5x5xf32>
    %v196 = tosa.reduce_max %v195 {axis = 2 : i32} : (tensor<4x5x5xf32>) -> tensor<4x5x1xf32>
    %v197 = tosa.sub %v195, %v196 : (tensor<4x5x5xf32>, tensor<4x5x1xf32>) -> tensor<4x5x5xf32>
    %v198 = tosa.exp %v197 : (tensor<4x5x5xf32>) -> tensor<4x5x5xf32>
    %v199 = tosa.reduce_sum %v198 {axis = 2 : i32} : (tensor<4x5x5xf32>) -> tensor<4x5x1xf32>
    %v200 = tosa.reciprocal %v199 : (tensor<4x5x1xf32>) -> tensor<4x5x1xf32>
    %v201 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v202 = tosa.mul %v198, %v200, %v201 : (tensor<4x5x5xf32>, tensor<4x5x1xf32>, tensor<1xi8>) -> tensor<4x5x5xf32>
    %v203 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v204 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v205 = tosa.matmul %v202, %v188, %v203, %v204 : (tensor<4x5x5xf32>, tensor<4x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x5x4xf32>
    %v206 = tosa.const_shape {values = dense<[2, 2, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %v207 = tosa.reshape %v205, %v206 : (tensor<4x5x4xf32>, !tosa.shape<4>) -> tensor<2x2x5x4xf32>
    %v208 = tosa.transpose %v207 {perms = array<i32: 0, 2, 1, 3>} : (tensor<2x2x5x4xf32>) -> tensor<2x5x2x4xf32>
    %v209 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v210 = tosa.reshape %v208, %v209 : (tensor<2x5x2x4xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v211 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x8xf32>}> : () -> tensor<1x8x8xf32>
    %v212 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v213 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v214 = tosa.reshape %v210, %v213 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v215 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v216 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v217 = tosa.matmul %v214, %v211, %v215, %v216 : (tensor<1x10x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v218 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v219 = tosa.reshape %v217, %v218 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v220 = tosa.add %v219, %v212 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v221 = tosa.add %v143, %v220 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %v222 = "tosa.const"() <{values = dense<[[[0.80639, 0.82833, 0.73827, 0.54491, 0.87880, 0.93839, 0.96169, 0.92123]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v223 = "tosa.const"() <{values = dense<[[[0.79635, 0.84616, 0.08120, -0.21741, 0.41057, -0.44873, 0.62326, 0.69897]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v224 = tosa.reduce_sum %v221 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v225 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v226 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v227 = tosa.mul %v224, %v225, %v226 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v228 = tosa.sub %v221, %v227 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %v229 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v230 = tosa.mul %v228, %v228, %v229 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v231 = tosa.reduce_sum %v230 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v232 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v233 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v234 = tosa.mul %v231, %v232, %v233 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v235 = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v236 = tosa.add %v234, %v235 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>) -> tensor<2x5x1xf32>
    %v237 = tosa.rsqrt %v236 : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v238 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v239 = tosa.mul %v228, %v237, %v238 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v240 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v241 = tosa.mul %v239, %v222, %v240 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v242 = tosa.add %v241, %v223 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v243 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x16xf32>}> : () -> tensor<1x8x16xf32>
    %v244 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x16xf32>}> : () -> tensor<1x1x16xf32>
    %v245 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v246 = tosa.reshape %v242, %v245 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v247 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v248 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v249 = tosa.matmul %v246, %v243, %v247, %v248 : (tensor<1x10x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x16xf32>
    %v250 = tosa.const_shape {values = dense<[2, 5, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v251 = tosa.reshape %v249, %v250 : (tensor<1x10x16xf32>, !tosa.shape<3>) -> tensor<2x5x16xf32>
    %v252 = tosa.add %v251, %v244 : (tensor<2x5x16xf32>, tensor<1x1x16xf32>) -> tensor<2x5x16xf32>
    %v253 = tosa.clamp %v252 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x5x16xf32>) -> tensor<2x5x16xf32>
    %v254 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x16x8xf32>}> : () -> tensor<1x16x8xf32>
    %v255 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v256 = tosa.const_shape {values = dense<[1, 10, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v257 = tosa.reshape %v253, %v256 : (tensor<2x5x16xf32>, !tosa.shape<3>) -> tensor<1x10x16xf32>
    %v258 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v259 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v260 = tosa.matmul %v257, %v254, %v258, %v259 : (tensor<1x10x16xf32>, tensor<1x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x8xf32>
    %v261 = tosa.const_shape {values = dense<[2, 5, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v262 = tosa.reshape %v260, %v261 : (tensor<1x10x8xf32>, !tosa.shape<3>) -> tensor<2x5x8xf32>
    %v263 = tosa.add %v262, %v255 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v264 = tosa.add %v242, %v263 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %v265 = "tosa.const"() <{values = dense<[[[0.94752, 0.79490, 0.97488, 0.78985, 0.72528, 0.83012, 0.99813, 0.95847]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v266 = "tosa.const"() <{values = dense<[[[0.58665, -0.83525, 0.22557, -0.02711, 0.26029, 0.69016, -0.51393, 0.46298]]]> : tensor<1x1x8xf32>}> : () -> tensor<1x1x8xf32>
    %v267 = tosa.reduce_sum %v264 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v268 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v269 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v270 = tosa.mul %v267, %v268, %v269 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v271 = tosa.sub %v264, %v270 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
    %v272 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v273 = tosa.mul %v271, %v271, %v272 : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v274 = tosa.reduce_sum %v273 {axis = 2 : i32} : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
    %v275 = "tosa.const"() <{values = dense<1.250000e-01> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v276 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v277 = tosa.mul %v274, %v275, %v276 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<2x5x1xf32>
    %v278 = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
    %v279 = tosa.add %v277, %v278 : (tensor<2x5x1xf32>, tensor<1x1x1xf32>) -> tensor<2x5x1xf32>
    %v280 = tosa.rsqrt %v279 : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %v281 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v282 = tosa.mul %v271, %v280, %v281 : (tensor<2x5x8xf32>, tensor<2x5x1xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v283 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v284 = tosa.mul %v282, %v265, %v283 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>, tensor<1xi8>) -> tensor<2x5x8xf32>
    %v285 = tosa.add %v284, %v266 : (tensor<2x5x8xf32>, tensor<1x1x8xf32>) -> tensor<2x5x8xf32>
    %v286 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x8x4xf32>}> : () -> tensor<1x8x4xf32>
    %v287 = "tosa.const"() <{values = dense_resource<__elided__> : tensor<1x1x4xf32>}> : () -> tensor<1x1x4xf32>
    %v288 = tosa.const_shape {values = dense<[1, 10, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v289 = tosa.reshape %v285, %v288 : (tensor<2x5x8xf32>, !tosa.shape<3>) -> tensor<1x10x8xf32>
    %v290 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v291 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %v292 = tosa.matmul %v289, %v286, %v290, %v291 : (tensor<1x10x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x10x4xf32>
    %v293 = tosa.const_shape {values = dense<[2, 5, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %v294 = tosa.reshape %v292, %v293 : (tensor<1x10x4xf32>, !tosa.shape<3>) -> tensor<2x5x4xf32>
    %v295 = tosa.add %v294, %v287 : (tensor<2x5x4xf32>, tensor<1x1x4xf32>) -> tensor<2x5x4xf32>
    %v296 = tosa.sigmoid %v295 : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %v297 = tosa.tanh %v295 : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
    %v298 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v299 = tosa.mul %v296, %v297, %v298 : (tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<1xi8>) -> tensor<2x5x4xf32>
    return %v299 : tensor<2x5x4xf32>
  }
}
