// Returns its data times a parameter that begins with ones, the places of those above 0, and how many these are.
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#row = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
func.func @outputs(%x: tensor<2x3xf64> {pipe.batch = "x"}, %v: tensor<3x3xf64> {pipe.param = #pipe.param<"v", init = uniform(-1.0, 1.0)>},
                   %w: tensor<3xf64> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f64>, tensor<2x3xf64> {pipe.metric = "y"}, tensor<f64> {pipe.metric = "share"}, tensor<2xi64> {pipe.metric = "count"}, tensor<i32> {pipe.metric = "one"}) {
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %six = arith.constant dense<6.0> : tensor<f64>
  %one = arith.constant dense<1> : tensor<i32>
  %empty = tensor.empty() : tensor<2x3xf64>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<2x3xf64>, tensor<3xf64>) outs(%empty : tensor<2x3xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<2x3xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<2x3xf64>) -> tensor<2x3xf64>
  %h = linalg.matmul ins(%y, %v : tensor<2x3xf64>, tensor<3x3xf64>) outs(%init : tensor<2x3xf64>) -> tensor<2x3xf64>
  %t = math.tanh %h : tensor<2x3xf64>
  %g = linalg.matmul ins(%t, %v : tensor<2x3xf64>, tensor<3x3xf64>) outs(%init : tensor<2x3xf64>) -> tensor<2x3xf64>
  %scalar = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce {arith.addf} ins(%g : tensor<2x3xf64>) outs(%start : tensor<f64>) dimensions = [0, 1]
  %counts = tensor.empty() : tensor<2xi64>
  %nothing = linalg.fill ins(%none : i64) outs(%counts : tensor<2xi64>) -> tensor<2xi64>
  %count = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<2x3xf64>) outs(%nothing : tensor<2xi64>) {
  ^bb0(%a: f64, %sum: i64):
    %above = arith.cmpf ogt, %a, %zero : f64
    %bit = arith.extui %above : i1 to i64
    %next = arith.addi %sum, %bit : i64
    linalg.yield %next : i64
  } -> tensor<2xi64>
  %share = arith.divf %loss, %six : tensor<f64>
  return %loss, %y, %share, %count, %one : tensor<f64>, tensor<2x3xf64>, tensor<f64>, tensor<2xi64>, tensor<i32>
}
