func.func @lookup(%ids: tensor<1x3xi64> {pipe.batch = "ids"},
                  %table: tensor<10x4xf32> {pipe.param = #pipe.param<"table", init = normal(0.0, 1.0)>}) -> tensor<f32> {
  %empty = tensor.empty() : tensor<1x3x4xf32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%ids : tensor<1x3xi64>) outs(%empty : tensor<1x3x4xf32>) {
  ^bb0(%id: i64, %out: f32):
    %c0 = arith.constant 0 : i64
    %c10 = arith.constant 10 : i64
    %negative = arith.cmpi slt, %id, %c0 : i64
    %wrapped = arith.addi %id, %c10 : i64
    %row = arith.select %negative, %wrapped, %id : i64
    %index = arith.index_cast %row : i64 to index
    %column = linalg.index 2 : index
    %value = tensor.extract %table[%index, %column] : tensor<10x4xf32>
    %square = arith.mulf %value, %value : f32
    linalg.yield %square : f32
  } -> tensor<1x3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<1x3x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1, 2]
  return %sum : tensor<f32>
}
