// RUN: veeline-opt %s --pipe-verify-library-calls --split-input-file --verify-diagnostics

// What B and W ask for is what the fused backward asks for: nothing is said.

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 4>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 2 : i64, m = 4 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %p = arith.constant 0 : i32
    %q = arith.constant 1 : i32
    call @veeline_gemm(%r, %p, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    call @veeline_gemm(%r, %q, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %p = arith.constant 0 : i32
    call @veeline_gemm(%r, %p, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_weight(%r: !llvm.ptr) {
    %q = arith.constant 1 : i32
    call @veeline_gemm(%r, %q, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
    %loss = pipe.chunk 0 @c(%x, %w) {forward = @c, backward = @c_backward, backward_input = @c_backward_input, backward_weight = @c_backward_weight} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// B reads the first operand in another order. Its scratch does not count.

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 64 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %p = arith.constant 0 : i32
    // expected-note @+1 {{there it is}}
    call @veeline_gemm(%r, %p, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %q = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not; equal computations have to be equal calls, or their bits depend on the schedule}}
    call @veeline_gemm(%r, %q, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// W reads the first operand in another order.

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    // expected-note @+1 {{there it is}}
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_weight(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not}}
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c, backward = @c_backward, backward_weight = @c_backward_weight} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// The fused backward does what neither half does.

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    %1 = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not}}
    call @veeline_gemm(%r, %1, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    // expected-note @+1 {{there it is}}
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// A convolution of which B reads the result in another layout.

#p = {batch = 1 : i64, dilations = array<i64: 1>, groups = 1 : i64, inputs = 2 : i64, kind = "data", outputs = 2 : i64, padding = array<i64: 0>, scratch_bytes = 0 : i64, strides = array<i64: 1>, w_sizes = array<i64: 1>, w_strides = array<i64: 2, 1, 1>, x_sizes = array<i64: 4>, x_strides = array<i64: 8, 4, 1>, y_sizes = array<i64: 4>, y_strides = array<i64: 8, 4, 1>}
#q = {batch = 1 : i64, dilations = array<i64: 1>, groups = 1 : i64, inputs = 2 : i64, kind = "data", outputs = 2 : i64, padding = array<i64: 0>, scratch_bytes = 0 : i64, strides = array<i64: 1>, w_sizes = array<i64: 1>, w_strides = array<i64: 2, 1, 1>, x_sizes = array<i64: 4>, x_strides = array<i64: 8, 4, 1>, y_sizes = array<i64: 4>, y_strides = array<i64: 8, 1, 2>}
module attributes {pipe.convolutions = [#p, #q]} {
  func.func private @veeline_convolution(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    // expected-note @+1 {{there it is}}
    call @veeline_convolution(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not}}
    call @veeline_convolution(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// An epilogue that B has and the fused backward has not.

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, epilogue = "gelu_aux", k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @veeline_gemm_aux(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    // expected-note @+1 {{there it is}}
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not}}
    call @veeline_gemm_aux(%r, %0, %r, %r, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// Attention is a call of the library as others are.

module attributes {pipe.attentions = [{heads = 2 : i64, q_strides = array<i64: 8, 1>}, {heads = 2 : i64, q_strides = array<i64: 1, 8>}]} {
  func.func private @veeline_attention_backward(!llvm.ptr, i32, !llvm.ptr)
  func.func private @c_backward(%r: !llvm.ptr) {
    %p = arith.constant 0 : i32
    call @veeline_attention_backward(%r, %p, %r) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %q = arith.constant 1 : i32
    // expected-error @+1 {{which its other functions do not; equal computations have to be equal calls, or their bits depend on the schedule}}
    call @veeline_attention_backward(%r, %q, %r) : (!llvm.ptr, i32, !llvm.ptr) -> ()
    return
  }
  func.func private @c(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
    %loss = pipe.chunk 0 @c(%x, %w) {forward = @c, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}
