module {
  func.func @main(%arg0: tensor<6x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<6x3xf32>, %arg3: tensor<5x3x4xf32>) -> tensor<3x3xf32> {
    %v0 = arith.constant 0.000000e+00 : f32
    %v1 = tensor.empty() : tensor<3x6xf32>
    %v2 = linalg.fill ins(%v0 : f32) outs(%v1 : tensor<3x6xf32>) -> tensor<3x6xf32>
    %v3 = arith.constant 0 : i32
    %v4 = arith.constant 1 : i32
    %v5 = arith.constant 5 : i32
    %w:2 = scf.while (%i = %v3, %h = %v2) : (i32, tensor<3x6xf32>) -> (i32, tensor<3x6xf32>) {
      %more = arith.cmpi slt, %i, %v5 : i32
      scf.condition(%more) %i, %h : i32, tensor<3x6xf32>
    } do {
    ^bb0(%i: i32, %h: tensor<3x6xf32>):
    %v1000 = arith.index_cast %i : i32 to index
    %v1001 = tensor.extract_slice %arg3[%v1000, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<5x3x4xf32> to tensor<3x4xf32>
    %v1002 = arith.constant 0.000000e+00 : f32
    %v1003 = tensor.empty() : tensor<3x6xf32>
    %v1004 = linalg.fill ins(%v1002 : f32) outs(%v1003 : tensor<3x6xf32>) -> tensor<3x6xf32>
    %v1005 = linalg.matmul ins(%h, %arg0 : tensor<3x6xf32>, tensor<6x6xf32>) outs(%v1004 : tensor<3x6xf32>) -> tensor<3x6xf32>
    %v1006 = arith.constant 0.000000e+00 : f32
    %v1007 = tensor.empty() : tensor<3x6xf32>
    %v1008 = linalg.fill ins(%v1006 : f32) outs(%v1007 : tensor<3x6xf32>) -> tensor<3x6xf32>
    %v1009 = linalg.matmul ins(%v1001, %arg1 : tensor<3x4xf32>, tensor<4x6xf32>) outs(%v1008 : tensor<3x6xf32>) -> tensor<3x6xf32>
    %v1010 = tensor.empty() : tensor<3x6xf32>
    %v1011 = linalg.map { arith.addf } ins(%v1005, %v1009 : tensor<3x6xf32>, tensor<3x6xf32>) outs(%v1010 : tensor<3x6xf32>)
    %v1012 = tensor.empty() : tensor<3x6xf32>
    %v1013 = linalg.map { math.tanh } ins(%v1011 : tensor<3x6xf32>) outs(%v1012 : tensor<3x6xf32>)
    %v1014 = arith.addi %i, %v4 : i32
      scf.yield %v1014, %v1013 : i32, tensor<3x6xf32>
    }
    %v6 = arith.constant 0.000000e+00 : f32
    %v7 = tensor.empty() : tensor<3x3xf32>
    %v8 = linalg.fill ins(%v6 : f32) outs(%v7 : tensor<3x3xf32>) -> tensor<3x3xf32>
    %v9 = linalg.matmul ins(%w#1, %arg2 : tensor<3x6xf32>, tensor<6x3xf32>) outs(%v8 : tensor<3x3xf32>) -> tensor<3x3xf32>
    return %v9 : tensor<3x3xf32>
  }
}
