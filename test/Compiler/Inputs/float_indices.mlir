// Floats that become rows of tables: ids of the first chunk's table, and kinds, which the first chunk
// turns into integers and the second one looks up.
func.func @lookup(%ids: tensor<1x3xf32> {pipe.batch = "ids"}, %kinds: tensor<1x3xf64> {pipe.batch = "kinds"},
                  %table: tensor<10x4xf32> {pipe.param = #pipe.param<"table", init = normal(0.0, 1.0)>},
                  %other: tensor<5x4xf32> {pipe.param = #pipe.param<"other", init = normal(0.0, 1.0)>}) -> tensor<f32> {
  %empty = tensor.empty() : tensor<1x3x4xf32>
  %rows = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%ids : tensor<1x3xf32>) outs(%empty : tensor<1x3x4xf32>) {
  ^bb0(%id: f32, %out: f32):
    %number = arith.fptoui %id : f32 to i32
    %row = arith.index_cast %number : i32 to index
    %column = linalg.index 2 : index
    %value = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    linalg.yield %value : f32
  } -> tensor<1x3x4xf32>
  %none = tensor.empty() : tensor<1x3xi32>
  %numbers = linalg.generic {
    indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%kinds : tensor<1x3xf64>) outs(%none : tensor<1x3xi32>) {
  ^bb0(%kind: f64, %out: i32):
    %floor = math.floor %kind : f64
    %number = arith.fptosi %floor : f64 to i32
    linalg.yield %number : i32
  } -> tensor<1x3xi32>
  %left = pipe.boundary %rows : tensor<1x3x4xf32>
  %passed = pipe.boundary %numbers : tensor<1x3xi32>
  %squares = linalg.generic {
    indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%left, %passed : tensor<1x3x4xf32>, tensor<1x3xi32>) outs(%empty : tensor<1x3x4xf32>) {
  ^bb0(%in: f32, %number: i32, %out: f32):
    %row = arith.index_cast %number : i32 to index
    %column = linalg.index 2 : index
    %value = tensor.extract %other[%row, %column] : tensor<5x4xf32>
    %sum = arith.addf %value, %in : f32
    %square = arith.mulf %sum, %sum : f32
    linalg.yield %square : f32
  } -> tensor<1x3x4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%squares : tensor<1x3x4xf32>) outs(%zero : tensor<f32>) dimensions = [0, 1, 2]
  return %sum : tensor<f32>
}
