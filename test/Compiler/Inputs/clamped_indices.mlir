func.func @lookup(%ids: tensor<1x3xi64> {pipe.batch = "ids"}, %kinds: tensor<1x3xi32> {pipe.batch = "kinds"}, %others: tensor<1x3xi32> {pipe.batch = "others"},
                  %table: tensor<10x4xf32> {pipe.param = #pipe.param<"table", init = normal(0.0, 1.0)>}) -> tensor<f32> {
  %empty = tensor.empty() : tensor<1x3x4xf32>
  %first = arith.constant dense<0> : tensor<1x3xi32>
  %last = arith.constant dense<4> : tensor<1x3xi32>
  %atLeast = arith.maxsi %first, %kinds : tensor<1x3xi32>
  %clamped = arith.minsi %atLeast, %last : tensor<1x3xi32>
  %unknown = arith.cmpi sgt, %others, %last : tensor<1x3xi32>
  %known = arith.select %unknown, %first, %others : tensor<1x3xi1>, tensor<1x3xi32>
  %kind = tensor.extract_slice %table[0, 0] [5, 4] [1, 1] : tensor<10x4xf32> to tensor<5x4xf32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%ids, %clamped, %known : tensor<1x3xi64>, tensor<1x3xi32>, tensor<1x3xi32>) outs(%empty : tensor<1x3x4xf32>) {
  ^bb0(%id: i64, %k: i32, %o: i32, %out: f32):
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %index = arith.index_cast %id : i64 to index
    %low = arith.cmpi slt, %index, %c0 : index
    %notLow = arith.select %low, %c0, %index : index
    %high = arith.cmpi sgt, %notLow, %c9 : index
    %row = arith.select %high, %c9, %notLow : index
    %column = linalg.index 2 : index
    %value = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    %kindRow = arith.index_cast %k : i32 to index
    %other = tensor.extract %kind[%kindRow, %column] : tensor<5x4xf32>
    %otherRow = arith.index_cast %o : i32 to index
    %third = tensor.extract %kind[%otherRow, %column] : tensor<5x4xf32>
    %product = arith.mulf %value, %other : f32
    %square = arith.mulf %product, %third : f32
    linalg.yield %square : f32
  } -> tensor<1x3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<1x3x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1, 2]
  return %sum : tensor<f32>
}
