// Four chunks on two stages: a tied parameter (w: chunks 0, 2 and 3), a skip edge
// over two chunks (chunk 0 to chunk 3), a result with two consumers, a chunk
// without parameters, an integer edge, and a metric.

#i = affine_map<(i) -> (i)>

pipe.pipeline @net stages(2) chunks_per_stage(2) placement(v) {
  %x = pipe.batch "x" : tensor<3x4xf64>
  %rows = pipe.batch "rows" : tensor<3xi32>
  %scale = pipe.buffer "scale" : tensor<4xf64>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf64>
  %b = pipe.param <"b", init = zeros> : tensor<4xf64>
  %0:2 = pipe.chunk 0 @first(%x, %w, %rows) : (tensor<3x4xf64>, tensor<4x4xf64>, tensor<3xi32>) -> (tensor<3x4xf64>, tensor<3xi32>)
  %1 = pipe.chunk 1 @plain(%0#0) : (tensor<3x4xf64>) -> tensor<3x4xf64>
  %2 = pipe.chunk 2 @layer(%1, %w, %b, %scale) : (tensor<3x4xf64>, tensor<4x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  %3:2 = pipe.chunk 3 @head(%2, %0#0, %0#1, %w) : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3xi32>, tensor<4x4xf64>) -> (tensor<f64>, tensor<3xf64>)
  pipe.yield %3#0, %3#1 : tensor<f64>, tensor<3xf64>
}

func.func private @first(%x: tensor<3x4xf64>, %w: tensor<4x4xf64>, %rows: tensor<3xi32>) -> (tensor<3x4xf64>, tensor<3xi32>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant dense<1> : tensor<3xi32>
  %e = tensor.empty() : tensor<3x4xf64>
  %c = linalg.fill ins(%zero : f64) outs(%e : tensor<3x4xf64>) -> tensor<3x4xf64>
  %0 = linalg.matmul ins(%x, %w : tensor<3x4xf64>, tensor<4x4xf64>) outs(%c : tensor<3x4xf64>) -> tensor<3x4xf64>
  %next = arith.addi %rows, %one : tensor<3xi32>
  return %0, %next : tensor<3x4xf64>, tensor<3xi32>
}

func.func private @plain(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %0 = math.tanh %x : tensor<3x4xf64>
  return %0 : tensor<3x4xf64>
}

func.func private @layer(%x: tensor<3x4xf64>, %w: tensor<4x4xf64>, %b: tensor<4xf64>, %scale: tensor<4xf64>) -> tensor<3x4xf64> {
  %e = tensor.empty() : tensor<3x4xf64>
  %s = arith.mulf %b, %scale : tensor<4xf64>
  %c = linalg.broadcast ins(%s : tensor<4xf64>) outs(%e : tensor<3x4xf64>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %w : tensor<3x4xf64>, tensor<4x4xf64>) outs(%c : tensor<3x4xf64>) -> tensor<3x4xf64>
  %1 = math.exp %0 : tensor<3x4xf64>
  %2 = arith.mulf %1, %x : tensor<3x4xf64>
  return %2 : tensor<3x4xf64>
}

// Rows of w are gathered by an integer that comes over an edge.
func.func private @head(%x: tensor<3x4xf64>, %skip: tensor<3x4xf64>, %rows: tensor<3xi32>, %w: tensor<4x4xf64>) -> (tensor<f64>, tensor<3xf64>) {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3x4xf64>
  %gathered = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<3xi32>) outs(%e : tensor<3x4xf64>) {
  ^bb0(%row: i32, %out: f64):
    %r = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %w[%r, %j] : tensor<4x4xf64>
    linalg.yield %v : f64
  } -> tensor<3x4xf64>
  %0 = arith.mulf %x, %gathered : tensor<3x4xf64>
  %1 = arith.mulf %0, %skip : tensor<3x4xf64>
  %f = tensor.empty() : tensor<3xf64>
  %c = linalg.fill ins(%zero : f64) outs(%f : tensor<3xf64>) -> tensor<3xf64>
  %sums = linalg.reduce { arith.addf } ins(%1 : tensor<3x4xf64>) outs(%c : tensor<3xf64>) dimensions = [1]
  %g = tensor.empty() : tensor<f64>
  %d = linalg.fill ins(%zero : f64) outs(%g : tensor<f64>) -> tensor<f64>
  %loss = linalg.reduce { arith.addf } ins(%sums : tensor<3xf64>) outs(%d : tensor<f64>) dimensions = [0]
  return %loss, %sums : tensor<f64>, tensor<3xf64>
}
