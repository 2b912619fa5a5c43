func.func @lookup(%ids: tensor<1x3xf32> {pipe.batch = "ids"},
                  %table: tensor<10x4xf32> {pipe.param = #pipe.param<"table", init = normal(0.0, 1.0)>}) -> tensor<f32> {
  %empty = tensor.empty() : tensor<1x3x4xf32>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%ids : tensor<1x3xf32>) outs(%empty : tensor<1x3x4xf32>) {
  ^bb0(%id: f32, %out: f32):
    %n = arith.fptosi %id : f32 to i32
    %c0 = arith.constant 0 : i32
    %c9 = arith.constant 9 : i32
    %a = arith.maxsi %n, %c0 : i32
    %r = arith.minsi %a, %c9 : i32
    %row = arith.index_cast %r : i32 to index
    %column = linalg.index 2 : index
    %value = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    %m = arith.mulf %value, %id : f32
    linalg.yield %m : f32
  } -> tensor<1x3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%rows : tensor<1x3x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1, 2]
  return %sum : tensor<f32>
}
