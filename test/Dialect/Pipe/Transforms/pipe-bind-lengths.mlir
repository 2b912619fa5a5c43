// RUN: veeline-opt %s --pipe-bind-lengths="bound=6 multiple=3" | FileCheck %s
// RUN: veeline-opt %s --pipe-bind-lengths="bound=6" --pipe-partition=stages=2 --pipe-differentiate --pipe-split-backward \
// RUN:   | FileCheck %s --check-prefix=CUT
// RUN: veeline-opt %s "--pipe-compile=stages=2 microbatches=2 length-bound=6 length-multiple=2" | FileCheck %s --check-prefix=NATIVE

// Every op gets its shape from those before it; what is computed of the length
// is a constant.

// CHECK:       func.func @net(%{{.*}}: tensor<2x6xi32> {pipe.batch = "tokens", pipe.length_dim = 1 : i64},
// CHECK-SAME:    %{{.*}}: tensor<6x4xf32> {pipe.param
// CHECK-SAME:    attributes {pipe.length_varies, pipe.lengths = array<i64: 3, 6>, pipe.versions = [@net_at_3]}
// CHECK:       func.func private @net_at_3(%{{.*}}: tensor<2x3xi32> {pipe.batch = "tokens", pipe.length_dim = 1 : i64},
// CHECK-SAME:    %[[TABLE:.*]]: tensor<6x4xf32>
// CHECK-NOT:     tensor.dim
// CHECK:         %[[NUMBER:.*]] = arith.constant 6.000000e+00 : f32
// CHECK:         tensor.extract_slice %[[TABLE]][0, 0] [3, 4] [1, 1] : tensor<6x4xf32> to tensor<3x4xf32>
// CHECK:         tensor.empty() : tensor<2x3x4xf32>
// CHECK:         linalg.generic
// CHECK:         -> tensor<2x3x4xf32>
// CHECK:         tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
// CHECK:         linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<6x4xf32>, tensor<4x4xf32>)
// CHECK:         tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
// CHECK:         tensor.pad %{{.*}} low[0, 0, 0] high[0, 3, 0]
// CHECK:         : tensor<2x3x4xf32> to tensor<2x6x4xf32>
// CHECK:         tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [2, 3, 4] [1, 1, 1] : tensor<2x3x4xf32> into tensor<2x6x4xf32>
// CHECK:         tensor.concat dim(1) %{{.*}} : (tensor<2x6x4xf32>, tensor<2x3x4xf32>) -> tensor<2x9x4xf32>
// CHECK:         math.tanh %{{.*}} : tensor<2x9x4xf32>
// CHECK:         arith.divf %{{.*}}, %[[NUMBER]] : f32

// The versions are cut and differentiated alike: a length of 1 makes no other
// derivative, although extents of 1 are summed over nothing.

// CUT:       pipe.pipeline @net
// CUT-SAME:    pipe.lengths = array<i64: 1, 2, 3, 4, 5, 6>, pipe.versions = [@net_at_1, @net_at_2, @net_at_3, @net_at_4, @net_at_5]
// CUT:         pipe.batch "tokens" {pipe.length_dim = 1 : i64} : tensor<2x6xi32>
// CUT:       func.func private @net_chunk0_forward(
// CUT-SAME:    -> (tensor<12x4xf32> {pipe.role = #pipe.role<result 0>}{{.*}}) {
// CUT:       func.func private @net_chunk1_backward_input(
// CUT-SAME:    -> (tensor<12x4xf32> {pipe.role = #pipe.role<operand_grad 0>}{{.*}}) {
// CUT:       pipe.pipeline @net_at_1
// CUT-SAME:    pipe.length = 1 : i64
// CUT:       func.func private @net_at_1_chunk0_forward(
// CUT-SAME:    -> (tensor<2x4xf32> {pipe.role = #pipe.role<result 0>}{{.*}}) {
// CUT:       func.func private @net_at_1_chunk1_backward_input(
// CUT-SAME:    -> (tensor<2x4xf32> {pipe.role = #pipe.role<operand_grad 0>}{{.*}}) {

// A step asks which version to call.

// NATIVE:     llvm.func @net_chunk0_forward_of_version(
// NATIVE:       llvm.switch
// NATIVE:       llvm.call @net_at_2_chunk0_forward(
// NATIVE:       llvm.call @net_at_4_chunk0_forward(
// NATIVE:       llvm.call @net_chunk0_forward(
// NATIVE:     llvm.func @net_rank0_step(
// NATIVE:       llvm.call @veeline_length_of_data(
// NATIVE:       llvm.call @veeline_length(
// NATIVE:       %[[VERSION:.*]] = llvm.call @veeline_version(
// NATIVE:       llvm.call @net_chunk0_forward_of_version(%{{.*}}, %[[VERSION]],
// NATIVE:     llvm.func @net_rank1_step(
// NATIVE:       llvm.call @veeline_length_received(

#ijk = affine_map<(i, j, k) -> (i, j, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#none = affine_map<(i, j, k) -> ()>
#nothing = affine_map<() -> ()>

func.func @net(%tokens: tensor<2x?xi32> {pipe.batch = "tokens"},
               %positions: tensor<6x4xf32> {pipe.param = #pipe.param<"positions", init = ones>},
               %w: tensor<4x4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<4x4xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %six = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %length = tensor.dim %tokens, %one : tensor<2x?xi32>
  %rows = arith.muli %length, %two : index
  %count = arith.index_cast %rows : index to i64
  %number = arith.sitofp %count : i64 to f32
  %slice = tensor.extract_slice %positions[0, 0] [%length, 4] [1, 1] : tensor<6x4xf32> to tensor<?x4xf32>
  %empty = tensor.empty(%length) : tensor<2x?x4xf32>
  %x = linalg.generic {indexing_maps = [#ij, #jk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%tokens, %slice : tensor<2x?xi32>, tensor<?x4xf32>) outs(%empty : tensor<2x?x4xf32>) {
  ^bb0(%token: i32, %position: f32, %out: f32):
    %float = arith.sitofp %token : i32 to f32
    %sum = arith.addf %float, %position : f32
    linalg.yield %sum : f32
  } -> tensor<2x?x4xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x?x4xf32> into tensor<?x4xf32>
  %product = tensor.empty(%rows) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%product : tensor<?x4xf32>) -> tensor<?x4xf32>
  %h = linalg.matmul ins(%flat, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = linalg.matmul ins(%h, %v : tensor<?x4xf32>, tensor<4x4xf32>) outs(%zeros : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = tensor.expand_shape %g [[0, 1], [2]] output_shape [2, %length, 4] : tensor<?x4xf32> into tensor<2x?x4xf32>
  %rest = arith.subi %six, %length : index
  %padded = tensor.pad %y low[0, 0, 0] high[0, %rest, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x?x4xf32> to tensor<2x6x4xf32>
  %inserted = tensor.insert_slice %y into %padded[0, 0, 0] [2, %length, 4] [1, 1, 1] : tensor<2x?x4xf32> into tensor<2x6x4xf32>
  %both = tensor.concat dim(1) %inserted, %y : (tensor<2x6x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %bent = math.tanh %both : tensor<2x?x4xf32>
  %scalar = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#ijk, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%bent : tensor<2x?x4xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %mean = linalg.generic {indexing_maps = [#nothing, #nothing], iterator_types = []}
      ins(%loss : tensor<f32>) outs(%scalar : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %quotient = arith.divf %in, %number : f32
    linalg.yield %quotient : f32
  } -> tensor<f32>
  return %mean : tensor<f32>
}
