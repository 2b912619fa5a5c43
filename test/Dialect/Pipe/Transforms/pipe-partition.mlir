// RUN: veeline-opt %s --split-input-file --pipe-partition="stages=3" | FileCheck %s
// RUN: veeline-opt %s --split-input-file --pipe-partition="stages=3" \
// RUN:   | veeline-opt --split-input-file --pipe-differentiate --pipe-split-backward -o /dev/null
// RUN: veeline-opt %s --split-input-file --pipe-partition="stages=3 entry=net pieces=1,1,1" | FileCheck %s

// A skip edge from chunk 0 to chunk 2, a parameter that chunks 0 and 2 use, a
// buffer without a name. Operands are values of edges in producing order, then
// batch arguments, buffers and parameters. Constants, fills and views of
// parameters are repeated.

// CHECK-LABEL: pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
// CHECK-NEXT:    %[[W:.*]] = pipe.param <"w", init = zeros> : tensor<4x4xf32>
// CHECK-NEXT:    %[[SCALE:.*]] = pipe.buffer "arg1" : tensor<2x4xf32>
// CHECK-NEXT:    %[[V:.*]] = pipe.param <"v", init = ones> : tensor<4x4xf32>
// CHECK-NEXT:    %[[X:.*]] = pipe.batch "x" : tensor<2x4xf32>
// CHECK-NEXT:    %[[C0:.*]] = pipe.chunk 0 @net_chunk0(%[[X]], %[[W]]) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %[[C1:.*]] = pipe.chunk 1 @net_chunk1(%[[C0]], %[[V]]) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %[[C2:.*]] = pipe.chunk 2 @net_chunk2(%[[C0]], %[[C1]], %[[SCALE]], %[[W]]) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<f32>
// CHECK-NEXT:    pipe.yield %[[C2]] : tensor<f32>
// CHECK-NEXT:  }
// CHECK-NOT:   func.func @net
// CHECK:       func.func private @net_chunk0(%[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4x4xf32>) -> tensor<2x4xf32> {
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG:     %[[EMPTY:.*]] = tensor.empty() : tensor<2x4xf32>
// CHECK:         %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]]
// CHECK-NEXT:    %[[R:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[FILL]]
// CHECK-NEXT:    return %[[R]]
// CHECK:       func.func private @net_chunk1(%[[H:.*]]: tensor<2x4xf32>, %[[V:.*]]: tensor<4x4xf32>) -> tensor<2x4xf32> {
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.fill
// CHECK:         linalg.matmul ins(%[[H]], %[[V]]
// CHECK:       func.func private @net_chunk2(%[[H0:.*]]: tensor<2x4xf32>, %[[H1:.*]]: tensor<2x4xf32>, %[[SCALE:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4x4xf32>) -> tensor<f32> {
// CHECK:         %[[WT:.*]] = linalg.transpose ins(%[[W]]
// CHECK:         linalg.matmul ins(%[[H1]], %[[WT]]
// CHECK:         linalg.map { arith.addf } ins(%{{.*}}, %[[H0]]
// CHECK:         linalg.map { arith.mulf } ins(%{{.*}}, %[[SCALE]]
// CHECK:         return
func.func @net(%w: tensor<4x4xf32> {pipe.param = #pipe.param<"w", init = zeros>},
               %scale: tensor<2x4xf32>,
               %v: tensor<4x4xf32> {pipe.param = #pipe.param<"v", init = ones>},
               %x: tensor<2x4xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %we = tensor.empty() : tensor<4x4xf32>
  %wt = linalg.transpose ins(%w : tensor<4x4xf32>) outs(%we : tensor<4x4xf32>) permutation = [1, 0]
  %h0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m0 = pipe.boundary %h0 : tensor<2x4xf32>
  %h1 = linalg.matmul ins(%m0, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m1 = pipe.boundary %h1 : tensor<2x4xf32>
  %h2 = linalg.matmul ins(%m1, %wt : tensor<2x4xf32>, tensor<4x4xf32>) outs(%init : tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = linalg.map { arith.addf } ins(%h2, %h0 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %scaled = linalg.map { arith.mulf } ins(%sum, %scale : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%scaled : tensor<2x4xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  return %loss : tensor<f32>
}

// -----

// A mark for each value that crosses is one cut. A value that is captured by a
// body (the table of an embedding) is an operand. A function of the same name as
// a chunk keeps its name. Results that are no activations, and arguments, are
// given by the last chunk; a metric by the chunk that computes it. A batch
// argument that nothing uses stays, to be fed.

// CHECK-LABEL: pipe.pipeline @net
// CHECK:         %[[TOKENS:.*]] = pipe.batch "tokens"
// CHECK-NEXT:    %[[UNUSED:.*]] = pipe.batch "unused"
// CHECK-NEXT:    %[[BIAS:.*]] = pipe.batch "bias"
// CHECK-NEXT:    %[[TABLE:.*]] = pipe.param <"table"
// CHECK-NEXT:    %[[C0:.*]]:2 = pipe.chunk 0 @net_chunk0_0(%[[TOKENS]], %[[TABLE]]) : {{.*}} -> (tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT:    %[[C1:.*]]:3 = pipe.chunk 1 @net_chunk1(%[[C0]]#0, %[[C0]]#1)
// CHECK-NEXT:    %[[C2:.*]]:3 = pipe.chunk 2 @net_chunk2(%[[C1]]#0, %[[C1]]#1, %[[BIAS]]) : {{.*}} -> (tensor<f32>, tensor<f32>, tensor<f32>)
// CHECK-NEXT:    pipe.yield %[[C2]]#1, %[[C1]]#2, %[[C2]]#0, %[[C2]]#2, %[[C1]]#2 :
func.func private @net_chunk0()
// CHECK:       func.func private @net_chunk0_0(%[[TOKENS:.*]]: tensor<2xi32>, %[[TABLE:.*]]: tensor<8x4xf32>)
// CHECK:         linalg.generic
// CHECK:         tensor.extract %[[TABLE]]
// CHECK-NOT:   pipe.boundary
// CHECK:       func.func private @net_chunk2({{.*}}, {{.*}}, %[[BIAS:.*]]: tensor<f32>)
// CHECK:         %[[TWICE:.*]] = arith.addf %[[BIAS]], %[[BIAS]]
// CHECK:         return %[[TWICE]], %{{.*}}, %[[BIAS]] :
func.func @net(%tokens: tensor<2xi32> {pipe.batch = "tokens"},
               %unused: tensor<2xi32> {pipe.batch = "unused"},
               %bias: tensor<f32> {pipe.batch = "bias"},
               %table: tensor<8x4xf32> {pipe.param = #pipe.param<"table", init = zeros>})
    -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %twice = arith.addf %bias, %bias : tensor<f32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<2xi32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%token: i32, %out: f32):
    %row = arith.index_cast %token : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<8x4xf32>
    linalg.yield %value : f32
  } -> tensor<2x4xf32>
  %g = linalg.map { arith.mulf } ins(%h, %h : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %h1 = pipe.boundary %h : tensor<2x4xf32>
  %g1 = pipe.boundary %g : tensor<2x4xf32>
  %a = linalg.map { arith.addf } ins(%h1, %g1 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %b = linalg.map { arith.mulf } ins(%a, %g1 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %s = linalg.reduce { arith.addf } ins(%b : tensor<2x4xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  %a2 = pipe.boundary %a : tensor<2x4xf32>
  %b2 = pipe.boundary %b : tensor<2x4xf32>
  %s2 = pipe.boundary %s : tensor<f32>
  %c = linalg.map { arith.mulf } ins(%a2, %b2 : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>)
  %loss = linalg.reduce { arith.addf } ins(%c : tensor<2x4xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1]
  %last = pipe.boundary %loss : tensor<f32>
  return %last, %s, %twice, %bias, %s2 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
