#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<8x4xf32>) -> tensor<8x2xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense_resource<torch_tensor_3_4_torch.float32> : tensor<3x4xf32>
    %cst_1 = arith.constant dense_resource<torch_tensor_3_torch.float32> : tensor<3xf32>
    %cst_2 = arith.constant dense_resource<torch_tensor_2_3_torch.float32> : tensor<2x3xf32>
    %0 = tensor.empty() : tensor<4x3xf32>
    %transposed = linalg.transpose ins(%cst_0 : tensor<3x4xf32>) outs(%0 : tensor<4x3xf32>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<8x3xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x3xf32>) -> tensor<8x3xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<8x4xf32>, tensor<4x3xf32>) outs(%2 : tensor<8x3xf32>) -> tensor<8x3xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_1 : tensor<8x3xf32>, tensor<3xf32>) outs(%1 : tensor<8x3xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %10 = arith.addf %in, %in_3 : f32
      linalg.yield %10 : f32
    } -> tensor<8x3xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8x3xf32>) outs(%1 : tensor<8x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %10 = arith.cmpf ugt, %in, %cst : f32
      %11 = arith.select %10, %in, %cst : f32
      linalg.yield %11 : f32
    } -> tensor<8x3xf32>
    %6 = tensor.empty() : tensor<3x2xf32>
    %transposed_3 = linalg.transpose ins(%cst_2 : tensor<2x3xf32>) outs(%6 : tensor<3x2xf32>) permutation = [1, 0]
    %7 = tensor.empty() : tensor<8x2xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<8x2xf32>) -> tensor<8x2xf32>
    %9 = linalg.matmul ins(%5, %transposed_3 : tensor<8x3xf32>, tensor<3x2xf32>) outs(%8 : tensor<8x2xf32>) -> tensor<8x2xf32>
    return %9 : tensor<8x2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_3_4_torch.float32: "0x040000000000C0BE0000C03E0000803E000080BE00000000000080BD0000003E0000A03E0000C0BE000000BF0000A03E000080BD",
      torch_tensor_3_torch.float32: "0x040000000000E03E0000E03E0000E0BE",
      torch_tensor_2_3_torch.float32: "0x04000000000080BE0000803D000000BE0000003E0000003E0000E0BE"
    }
  }
#-}
