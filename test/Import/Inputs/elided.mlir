func.func @model(%x: tensor<2xf32>, %w: tensor<2xf32> {pipe.constant = dense_resource<__elided__> : tensor<2xf32>, ml_program.name = "w"}) -> tensor<2xf32> {
  %0 = arith.mulf %x, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}
