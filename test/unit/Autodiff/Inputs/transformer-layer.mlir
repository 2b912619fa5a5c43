// One layer of a transformer, as examples/gpt/generate.py writes it: what comes in
// is a value of an edge, weights are parameters.

#i_to_i = affine_map<(i) -> (i)>
#ij_to_i = affine_map<(i, j) -> (i)>
#ij_to_ij = affine_map<(i, j) -> (i, j)>
#ij_to_j = affine_map<(i, j) -> (j)>
#ijk_to_ij = affine_map<(i, j, k) -> (i, j)>
#ijk_to_ijk = affine_map<(i, j, k) -> (i, j, k)>
#ijkl_to_ijk = affine_map<(i, j, k, l) -> (i, j, k)>
#ijkl_to_ijl = affine_map<(i, j, k, l) -> (i, j, l)>
#ijkl_to_ikl = affine_map<(i, j, k, l) -> (i, k, l)>

func.func @layer(%stream: tensor<16x16xf64>,
    %norm1_weight: tensor<16xf64> {test.parameter},
    %norm1_bias: tensor<16xf64> {test.parameter},
    %attn_qkv_weight: tensor<16x48xf64> {test.parameter},
    %attn_qkv_bias: tensor<48xf64> {test.parameter},
    %attn_proj_weight: tensor<16x16xf64> {test.parameter},
    %attn_proj_bias: tensor<16xf64> {test.parameter},
    %norm2_weight: tensor<16xf64> {test.parameter},
    %norm2_bias: tensor<16xf64> {test.parameter},
    %mlp_up_weight: tensor<16x64xf64> {test.parameter},
    %mlp_up_bias: tensor<64xf64> {test.parameter},
    %mlp_down_weight: tensor<64x16xf64> {test.parameter},
    %mlp_down_bias: tensor<16xf64> {test.parameter}) -> tensor<16x16xf64> {
  %cst_0 = arith.constant 0.0 : f64
  %cst_16 = arith.constant 16.0 : f64
  %cst_1em05 = arith.constant 1.0e-05 : f64
  %cst_0p3536 = arith.constant 0.35355339059327373 : f64
  %neg_inf = arith.constant 0xFFF0000000000000 : f64
  %cst_0p04471 = arith.constant 0.044715 : f64
  %cst_0p7979 = arith.constant 0.7978845608028654 : f64
  %cst_1 = arith.constant 1.0 : f64
  %cst_0p5 = arith.constant 0.5 : f64
// Layer 0
  %norm1_sum_init_empty = tensor.empty() : tensor<16xf64>
  %norm1_sum_init = linalg.fill ins(%cst_0 : f64) outs(%norm1_sum_init_empty : tensor<16xf64>) -> tensor<16xf64>
  %norm1_sum = linalg.reduce { arith.addf } ins(%stream : tensor<16x16xf64>) outs(%norm1_sum_init : tensor<16xf64>) dimensions = [1]
  %norm1_mean_empty = tensor.empty() : tensor<16xf64>
  %norm1_mean = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm1_sum : tensor<16xf64>)
      outs(%norm1_mean_empty : tensor<16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %quotient = arith.divf %in, %cst_16 : f64
    linalg.yield %quotient : f64
  } -> tensor<16xf64>
  %norm1_centered_empty = tensor.empty() : tensor<16x16xf64>
  %norm1_centered = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_i, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%stream, %norm1_mean : tensor<16x16xf64>, tensor<16xf64>)
      outs(%norm1_centered_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %mean: f64, %out: f64):
    %centered = arith.subf %in, %mean : f64
    linalg.yield %centered : f64
  } -> tensor<16x16xf64>
  %norm1_square_empty = tensor.empty() : tensor<16x16xf64>
  %norm1_square = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%norm1_centered : tensor<16x16xf64>)
      outs(%norm1_square_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %squared = arith.mulf %in, %in : f64
    linalg.yield %squared : f64
  } -> tensor<16x16xf64>
  %norm1_square_sum_init_empty = tensor.empty() : tensor<16xf64>
  %norm1_square_sum_init = linalg.fill ins(%cst_0 : f64) outs(%norm1_square_sum_init_empty : tensor<16xf64>) -> tensor<16xf64>
  %norm1_square_sum = linalg.reduce { arith.addf } ins(%norm1_square : tensor<16x16xf64>) outs(%norm1_square_sum_init : tensor<16xf64>) dimensions = [1]
  %norm1_variance_empty = tensor.empty() : tensor<16xf64>
  %norm1_variance = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm1_square_sum : tensor<16xf64>)
      outs(%norm1_variance_empty : tensor<16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %quotient = arith.divf %in, %cst_16 : f64
    linalg.yield %quotient : f64
  } -> tensor<16xf64>
  %norm1_scale_empty = tensor.empty() : tensor<16xf64>
  %norm1_scale = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm1_variance : tensor<16xf64>)
      outs(%norm1_scale_empty : tensor<16xf64>) {
  ^bb0(%variance: f64, %out: f64):
    %stable = arith.addf %variance, %cst_1em05 : f64
    %inverse = math.rsqrt %stable : f64
    linalg.yield %inverse : f64
  } -> tensor<16xf64>
  %norm1_y_empty = tensor.empty() : tensor<16x16xf64>
  %norm1_y = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_i, #ij_to_j, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%norm1_centered, %norm1_scale, %norm1_weight, %norm1_bias : tensor<16x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>)
      outs(%norm1_y_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %scale: f64, %weight: f64, %bias: f64, %out: f64):
    %normed = arith.mulf %in, %scale : f64
    %weighted = arith.mulf %normed, %weight : f64
    %shifted = arith.addf %weighted, %bias : f64
    linalg.yield %shifted : f64
  } -> tensor<16x16xf64>
  %attn_qkv_product_init_empty = tensor.empty() : tensor<16x48xf64>
  %attn_qkv_product_init = linalg.fill ins(%cst_0 : f64) outs(%attn_qkv_product_init_empty : tensor<16x48xf64>) -> tensor<16x48xf64>
  %attn_qkv_product = linalg.matmul
      ins(%norm1_y, %attn_qkv_weight : tensor<16x16xf64>, tensor<16x48xf64>) outs(%attn_qkv_product_init : tensor<16x48xf64>) -> tensor<16x48xf64>
  %attn_qkv_empty = tensor.empty() : tensor<16x48xf64>
  %attn_qkv = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%attn_qkv_product, %attn_qkv_bias : tensor<16x48xf64>, tensor<48xf64>)
      outs(%attn_qkv_empty : tensor<16x48xf64>) {
  ^bb0(%in: f64, %bias: f64, %out: f64):
    %sum = arith.addf %in, %bias : f64
    linalg.yield %sum : f64
  } -> tensor<16x48xf64>
  %attn_split = tensor.expand_shape %attn_qkv [[0, 1], [2, 3, 4]] output_shape [2, 8, 3, 2, 8] : tensor<16x48xf64> into tensor<2x8x3x2x8xf64>
  %attn_heads_empty = tensor.empty() : tensor<3x2x2x8x8xf64>
  %attn_heads = linalg.transpose ins(%attn_split : tensor<2x8x3x2x8xf64>) outs(%attn_heads_empty : tensor<3x2x2x8x8xf64>) permutation = [2, 0, 3, 1, 4]
  %attn_q_heads = tensor.extract_slice %attn_heads[0, 0, 0, 0, 0] [1, 2, 2, 8, 8] [1, 1, 1, 1, 1] : tensor<3x2x2x8x8xf64> to tensor<2x2x8x8xf64>
  %attn_q = tensor.collapse_shape %attn_q_heads [[0, 1], [2], [3]] : tensor<2x2x8x8xf64> into tensor<4x8x8xf64>
  %attn_k_heads = tensor.extract_slice %attn_heads[1, 0, 0, 0, 0] [1, 2, 2, 8, 8] [1, 1, 1, 1, 1] : tensor<3x2x2x8x8xf64> to tensor<2x2x8x8xf64>
  %attn_k = tensor.collapse_shape %attn_k_heads [[0, 1], [2], [3]] : tensor<2x2x8x8xf64> into tensor<4x8x8xf64>
  %attn_v_heads = tensor.extract_slice %attn_heads[2, 0, 0, 0, 0] [1, 2, 2, 8, 8] [1, 1, 1, 1, 1] : tensor<3x2x2x8x8xf64> to tensor<2x2x8x8xf64>
  %attn_v = tensor.collapse_shape %attn_v_heads [[0, 1], [2], [3]] : tensor<2x2x8x8xf64> into tensor<4x8x8xf64>
  %attn_scores_init_empty = tensor.empty() : tensor<4x8x8xf64>
  %attn_scores_init = linalg.fill ins(%cst_0 : f64) outs(%attn_scores_init_empty : tensor<4x8x8xf64>) -> tensor<4x8x8xf64>
  %attn_scores = linalg.batch_matmul indexing_maps = [#ijkl_to_ijl, #ijkl_to_ikl, #ijkl_to_ijk]
      ins(%attn_q, %attn_k : tensor<4x8x8xf64>, tensor<4x8x8xf64>) outs(%attn_scores_init : tensor<4x8x8xf64>) -> tensor<4x8x8xf64>
  %attn_masked_empty = tensor.empty() : tensor<4x8x8xf64>
  %attn_masked = linalg.generic {indexing_maps = [#ijk_to_ijk, #ijk_to_ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%attn_scores : tensor<4x8x8xf64>)
      outs(%attn_masked_empty : tensor<4x8x8xf64>) {
  ^bb0(%score: f64, %out: f64):
    %scaled = arith.mulf %score, %cst_0p3536 : f64
    %query = linalg.index 1 : index
    %key = linalg.index 2 : index
    %seen = arith.cmpi sle, %key, %query : index
    %masked = arith.select %seen, %scaled, %neg_inf : f64
    linalg.yield %masked : f64
  } -> tensor<4x8x8xf64>
  %attn_max_init_empty = tensor.empty() : tensor<4x8xf64>
  %attn_max_init = linalg.fill ins(%neg_inf : f64) outs(%attn_max_init_empty : tensor<4x8xf64>) -> tensor<4x8xf64>
  %attn_max = linalg.reduce { arith.maximumf } ins(%attn_masked : tensor<4x8x8xf64>) outs(%attn_max_init : tensor<4x8xf64>) dimensions = [2]
  %attn_exp_empty = tensor.empty() : tensor<4x8x8xf64>
  %attn_exp = linalg.generic {indexing_maps = [#ijk_to_ijk, #ijk_to_ij, #ijk_to_ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%attn_masked, %attn_max : tensor<4x8x8xf64>, tensor<4x8xf64>)
      outs(%attn_exp_empty : tensor<4x8x8xf64>) {
  ^bb0(%in: f64, %largest: f64, %out: f64):
    %below = arith.subf %in, %largest : f64
    %power = math.exp %below : f64
    linalg.yield %power : f64
  } -> tensor<4x8x8xf64>
  %attn_exp_sum_init_empty = tensor.empty() : tensor<4x8xf64>
  %attn_exp_sum_init = linalg.fill ins(%cst_0 : f64) outs(%attn_exp_sum_init_empty : tensor<4x8xf64>) -> tensor<4x8xf64>
  %attn_exp_sum = linalg.reduce { arith.addf } ins(%attn_exp : tensor<4x8x8xf64>) outs(%attn_exp_sum_init : tensor<4x8xf64>) dimensions = [2]
  %attn_weights_empty = tensor.empty() : tensor<4x8x8xf64>
  %attn_weights = linalg.generic {indexing_maps = [#ijk_to_ijk, #ijk_to_ij, #ijk_to_ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%attn_exp, %attn_exp_sum : tensor<4x8x8xf64>, tensor<4x8xf64>)
      outs(%attn_weights_empty : tensor<4x8x8xf64>) {
  ^bb0(%power: f64, %total: f64, %out: f64):
    %weight = arith.divf %power, %total : f64
    linalg.yield %weight : f64
  } -> tensor<4x8x8xf64>
  %attn_context_init_empty = tensor.empty() : tensor<4x8x8xf64>
  %attn_context_init = linalg.fill ins(%cst_0 : f64) outs(%attn_context_init_empty : tensor<4x8x8xf64>) -> tensor<4x8x8xf64>
  %attn_context = linalg.batch_matmul
      ins(%attn_weights, %attn_v : tensor<4x8x8xf64>, tensor<4x8x8xf64>) outs(%attn_context_init : tensor<4x8x8xf64>) -> tensor<4x8x8xf64>
  %attn_apart = tensor.expand_shape %attn_context [[0, 1], [2], [3]] output_shape [2, 2, 8, 8] : tensor<4x8x8xf64> into tensor<2x2x8x8xf64>
  %attn_joined_empty = tensor.empty() : tensor<2x8x2x8xf64>
  %attn_joined = linalg.transpose ins(%attn_apart : tensor<2x2x8x8xf64>) outs(%attn_joined_empty : tensor<2x8x2x8xf64>) permutation = [0, 2, 1, 3]
  %attn_rows = tensor.collapse_shape %attn_joined [[0, 1], [2, 3]] : tensor<2x8x2x8xf64> into tensor<16x16xf64>
  %attn_proj_product_init_empty = tensor.empty() : tensor<16x16xf64>
  %attn_proj_product_init = linalg.fill ins(%cst_0 : f64) outs(%attn_proj_product_init_empty : tensor<16x16xf64>) -> tensor<16x16xf64>
  %attn_proj_product = linalg.matmul
      ins(%attn_rows, %attn_proj_weight : tensor<16x16xf64>, tensor<16x16xf64>) outs(%attn_proj_product_init : tensor<16x16xf64>) -> tensor<16x16xf64>
  %attn_proj_empty = tensor.empty() : tensor<16x16xf64>
  %attn_proj = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%attn_proj_product, %attn_proj_bias : tensor<16x16xf64>, tensor<16xf64>)
      outs(%attn_proj_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %bias: f64, %out: f64):
    %sum = arith.addf %in, %bias : f64
    linalg.yield %sum : f64
  } -> tensor<16x16xf64>
  %attn_out_empty = tensor.empty() : tensor<16x16xf64>
  %attn_out = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_ij, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%stream, %attn_proj : tensor<16x16xf64>, tensor<16x16xf64>)
      outs(%attn_out_empty : tensor<16x16xf64>) {
  ^bb0(%left: f64, %right: f64, %out: f64):
    %sum = arith.addf %left, %right : f64
    linalg.yield %sum : f64
  } -> tensor<16x16xf64>
  %norm2_sum_init_empty = tensor.empty() : tensor<16xf64>
  %norm2_sum_init = linalg.fill ins(%cst_0 : f64) outs(%norm2_sum_init_empty : tensor<16xf64>) -> tensor<16xf64>
  %norm2_sum = linalg.reduce { arith.addf } ins(%attn_out : tensor<16x16xf64>) outs(%norm2_sum_init : tensor<16xf64>) dimensions = [1]
  %norm2_mean_empty = tensor.empty() : tensor<16xf64>
  %norm2_mean = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm2_sum : tensor<16xf64>)
      outs(%norm2_mean_empty : tensor<16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %quotient = arith.divf %in, %cst_16 : f64
    linalg.yield %quotient : f64
  } -> tensor<16xf64>
  %norm2_centered_empty = tensor.empty() : tensor<16x16xf64>
  %norm2_centered = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_i, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%attn_out, %norm2_mean : tensor<16x16xf64>, tensor<16xf64>)
      outs(%norm2_centered_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %mean: f64, %out: f64):
    %centered = arith.subf %in, %mean : f64
    linalg.yield %centered : f64
  } -> tensor<16x16xf64>
  %norm2_square_empty = tensor.empty() : tensor<16x16xf64>
  %norm2_square = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%norm2_centered : tensor<16x16xf64>)
      outs(%norm2_square_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %squared = arith.mulf %in, %in : f64
    linalg.yield %squared : f64
  } -> tensor<16x16xf64>
  %norm2_square_sum_init_empty = tensor.empty() : tensor<16xf64>
  %norm2_square_sum_init = linalg.fill ins(%cst_0 : f64) outs(%norm2_square_sum_init_empty : tensor<16xf64>) -> tensor<16xf64>
  %norm2_square_sum = linalg.reduce { arith.addf } ins(%norm2_square : tensor<16x16xf64>) outs(%norm2_square_sum_init : tensor<16xf64>) dimensions = [1]
  %norm2_variance_empty = tensor.empty() : tensor<16xf64>
  %norm2_variance = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm2_square_sum : tensor<16xf64>)
      outs(%norm2_variance_empty : tensor<16xf64>) {
  ^bb0(%in: f64, %out: f64):
    %quotient = arith.divf %in, %cst_16 : f64
    linalg.yield %quotient : f64
  } -> tensor<16xf64>
  %norm2_scale_empty = tensor.empty() : tensor<16xf64>
  %norm2_scale = linalg.generic {indexing_maps = [#i_to_i, #i_to_i], iterator_types = ["parallel"]}
      ins(%norm2_variance : tensor<16xf64>)
      outs(%norm2_scale_empty : tensor<16xf64>) {
  ^bb0(%variance: f64, %out: f64):
    %stable = arith.addf %variance, %cst_1em05 : f64
    %inverse = math.rsqrt %stable : f64
    linalg.yield %inverse : f64
  } -> tensor<16xf64>
  %norm2_y_empty = tensor.empty() : tensor<16x16xf64>
  %norm2_y = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_i, #ij_to_j, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%norm2_centered, %norm2_scale, %norm2_weight, %norm2_bias : tensor<16x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>)
      outs(%norm2_y_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %scale: f64, %weight: f64, %bias: f64, %out: f64):
    %normed = arith.mulf %in, %scale : f64
    %weighted = arith.mulf %normed, %weight : f64
    %shifted = arith.addf %weighted, %bias : f64
    linalg.yield %shifted : f64
  } -> tensor<16x16xf64>
  %mlp_up_product_init_empty = tensor.empty() : tensor<16x64xf64>
  %mlp_up_product_init = linalg.fill ins(%cst_0 : f64) outs(%mlp_up_product_init_empty : tensor<16x64xf64>) -> tensor<16x64xf64>
  %mlp_up_product = linalg.matmul
      ins(%norm2_y, %mlp_up_weight : tensor<16x16xf64>, tensor<16x64xf64>) outs(%mlp_up_product_init : tensor<16x64xf64>) -> tensor<16x64xf64>
  %mlp_up_empty = tensor.empty() : tensor<16x64xf64>
  %mlp_up = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%mlp_up_product, %mlp_up_bias : tensor<16x64xf64>, tensor<64xf64>)
      outs(%mlp_up_empty : tensor<16x64xf64>) {
  ^bb0(%in: f64, %bias: f64, %out: f64):
    %sum = arith.addf %in, %bias : f64
    linalg.yield %sum : f64
  } -> tensor<16x64xf64>
  %mlp_active_empty = tensor.empty() : tensor<16x64xf64>
  %mlp_active = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%mlp_up : tensor<16x64xf64>)
      outs(%mlp_active_empty : tensor<16x64xf64>) {
  ^bb0(%in: f64, %out: f64):
    %square = arith.mulf %in, %in : f64
    %cube = arith.mulf %square, %in : f64
    %cubic = arith.mulf %cube, %cst_0p04471 : f64
    %inner = arith.addf %in, %cubic : f64
    %argument = arith.mulf %inner, %cst_0p7979 : f64
    %bent = math.tanh %argument : f64
    %gate = arith.addf %bent, %cst_1 : f64
    %half = arith.mulf %in, %cst_0p5 : f64
    %gelu = arith.mulf %half, %gate : f64
    linalg.yield %gelu : f64
  } -> tensor<16x64xf64>
  %mlp_down_product_init_empty = tensor.empty() : tensor<16x16xf64>
  %mlp_down_product_init = linalg.fill ins(%cst_0 : f64) outs(%mlp_down_product_init_empty : tensor<16x16xf64>) -> tensor<16x16xf64>
  %mlp_down_product = linalg.matmul
      ins(%mlp_active, %mlp_down_weight : tensor<16x64xf64>, tensor<64x16xf64>) outs(%mlp_down_product_init : tensor<16x16xf64>) -> tensor<16x16xf64>
  %mlp_down_empty = tensor.empty() : tensor<16x16xf64>
  %mlp_down = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_j, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%mlp_down_product, %mlp_down_bias : tensor<16x16xf64>, tensor<16xf64>)
      outs(%mlp_down_empty : tensor<16x16xf64>) {
  ^bb0(%in: f64, %bias: f64, %out: f64):
    %sum = arith.addf %in, %bias : f64
    linalg.yield %sum : f64
  } -> tensor<16x16xf64>
  %out_empty = tensor.empty() : tensor<16x16xf64>
  %out = linalg.generic {indexing_maps = [#ij_to_ij, #ij_to_ij, #ij_to_ij], iterator_types = ["parallel", "parallel"]}
      ins(%attn_out, %mlp_down : tensor<16x16xf64>, tensor<16x16xf64>)
      outs(%out_empty : tensor<16x16xf64>) {
  ^bb0(%left: f64, %right: f64, %out: f64):
    %sum = arith.addf %left, %right : f64
    linalg.yield %sum : f64
  } -> tensor<16x16xf64>

  
  return %out : tensor<16x16xf64>
}
