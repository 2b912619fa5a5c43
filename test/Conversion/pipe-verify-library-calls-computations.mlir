// RUN: not veeline-opt %s --pipe-verify-library-calls --split-input-file 2>&1 | FileCheck %s

// What is computed again is known by the number that differentiation has given
// it, which is in the locations of calls.

// Another product of the same sizes has another number: nothing is said.
// CHECK-NOT: error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    %1 = arith.constant 1 : i32
    call @veeline_gemm(%r, %1, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 2 : i64}>["backward":2:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// So does what runs ahead of the backward.

// CHECK:      again:1:1: error: the recomputation of chunk 0 asks the library for {a_strides = array<i64: 1, 2>, {{.*}}, and its forward for something else; equal computations have to be equal calls, or their bits depend on the schedule
// CHECK:      forward:1:1: note: there it is {a_strides = array<i64: 4, 1>,
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_recomputation(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["again":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, recomputation = @c_recomputation, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// The fused backward computes a product again, and reads an operand in another
// order. There is no split backward.

// CHECK:      backward:1:1: error: the fused backward of chunk 0 asks the library for {a_strides = array<i64: 1, 2>, {{.*}}, and its forward for something else; equal computations have to be equal calls, or their bits depend on the schedule
// CHECK:      forward:1:1: note: there it is {a_strides = array<i64: 4, 1>,
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// B and the fused backward agree, forward does not.

// CHECK:      backward:1:1: error: the fused backward of chunk 0 asks {{.*}}, and its forward for something else
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward_input":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// There is only B.

// CHECK:      backward_input:1:1: error: the backward-input of chunk 0 asks {{.*}}, and its forward for something else
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward_input":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// W computes again what B does, otherwise. Forward has both for what else it
// computes.

// CHECK:      backward_weight:2:1: error: the backward-weight of chunk 0 asks {{.*}}, and its backward-input for something else
// CHECK:      backward_input:2:1: note: there it is
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 0 : i64}>["forward":0:1])
    %1 = arith.constant 1 : i32
    call @veeline_gemm(%r, %1, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 2 : i64}>["backward_input":2:1])
    return
  }
  func.func private @c_backward_weight(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 2 : i64}>["backward_weight":2:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward_input = @c_backward_input, backward_weight = @c_backward_weight} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// A convolution that is computed again.

// CHECK:      backward:1:1: error: the fused backward of chunk 0 asks {{.*}}, and its forward for something else
// CHECK:      forward:1:1: note: there it is
// CHECK-NOT:  error

#p = {batch = 1 : i64, dilations = array<i64: 1>, groups = 1 : i64, inputs = 2 : i64, kind = "forward", outputs = 2 : i64, padding = array<i64: 0>, scratch_bytes = 0 : i64, strides = array<i64: 1>, w_sizes = array<i64: 1>, w_strides = array<i64: 2, 1, 1>, x_sizes = array<i64: 4>, x_strides = array<i64: 8, 4, 1>, y_sizes = array<i64: 4>, y_strides = array<i64: 8, 4, 1>}
#q = {batch = 1 : i64, dilations = array<i64: 1>, groups = 1 : i64, inputs = 2 : i64, kind = "forward", outputs = 2 : i64, padding = array<i64: 0>, scratch_bytes = 0 : i64, strides = array<i64: 1>, w_sizes = array<i64: 1>, w_strides = array<i64: 2, 1, 1>, x_sizes = array<i64: 4>, x_strides = array<i64: 8, 4, 1>, y_sizes = array<i64: 4>, y_strides = array<i64: 8, 1, 2>}
module attributes {pipe.convolutions = [#p, #q]} {
  func.func private @veeline_convolution(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_convolution(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_convolution(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// GELU is the library's in forward, and a kernel's where backward computes its
// product again: that is no error on a GPU.
// CHECK-NOT: error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, epilogue = "gelu_aux", k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @veeline_gemm_aux(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm_aux(%r, %0, %r, %r, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// But the product has to be the same.

// CHECK:      backward:1:1: error: the fused backward of chunk 0 asks {{.*}}, and its forward for something else
// CHECK:      forward:1:1: note: there it is {{{.*}}epilogue = "gelu_aux"
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, epilogue = "gelu_aux", k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#r = {a_strides = array<i64: 1, 2>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q, #r]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @veeline_gemm_aux(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm_aux(%r, %0, %r, %r, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 2 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// B and the fused backward have equal epilogues.

// CHECK:      backward_input:1:1: error: the backward-input of chunk 0 asks {{.*}}, and its fused backward for something else
// CHECK:      backward:1:1: note: there it is {{{.*}}epilogue = "gelu_aux"
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
#q = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, epilogue = "gelu_aux", k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p, #q]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @veeline_gemm_aux(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm_aux(%r, %0, %r, %r, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm_aux(%r, %0, %r, %r, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c_backward_input(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward_input":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward, backward_input = @c_backward_input} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// Forward computes in loops what backward, which computes it again, asks the
// library for.

// CHECK:      forward:1:1: error: the forward of chunk 0 computes in loops what its fused backward asks the library for; equal computations have to be equal calls
// CHECK:      backward:1:1: note: there it is {a_strides = array<i64: 4, 1>,
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%a: memref<2x4xf32>, %b: memref<4x4xf32>, %c: memref<2x4xf32>) {
    linalg.matmul ins(%a, %b : memref<2x4xf32>, memref<4x4xf32>) outs(%c : memref<2x4xf32>) loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// An entry that there is not.

// CHECK:      forward:1:1: error: calls the library with an entry that is not in the module's table; its number has to be a constant
// CHECK-NOT:  error

#p = {a_strides = array<i64: 4, 1>, b_strides = array<i64: 4, 1>, batch = array<i64>, c_strides = array<i64: 4, 1>, dtype = f32, k = 4 : i64, m = 2 : i64, n = 4 : i64, scratch_bytes = 0 : i64}
module attributes {pipe.gemms = [#p]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_gemm(%r, %0, %r, %r, %r, %r) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> () loc("forward":1:1)
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// Attention that is computed again may have its operands elsewhere: nothing is said.
// CHECK-NOT: error

#p = {batch = 2 : i64, causal = true, depth = 8 : i64, heads = 2 : i64, key_strides = array<i64: 384, 8, 48>, kind = "forward", output_strides = array<i64: 128, 8, 16>, query_strides = array<i64: 384, 8, 48>, value_strides = array<i64: 384, 8, 48>}
#q = {batch = 2 : i64, causal = true, depth = 8 : i64, heads = 2 : i64, key_strides = array<i64: 384, 8, 48>, kind = "forward", output_strides = array<i64: 128, 64, 8>, query_strides = array<i64: 384, 8, 48>, value_strides = array<i64: 384, 8, 48>}
module attributes {pipe.attentions = [#p, #q]} {
  func.func private @veeline_attention(!llvm.ptr, i32)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_attention(%r, %0) : (!llvm.ptr, i32) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_attention(%r, %0) : (!llvm.ptr, i32) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}

// -----

// But it has to be the same attention.
// CHECK:      backward:1:1: error: the fused backward of chunk 0 asks {{.*}}causal = false{{.*}}, and its forward for something else
// CHECK:      forward:1:1: note: there it is {{.*}}causal = true
// CHECK-NOT:  error

#p = {batch = 2 : i64, causal = true, depth = 8 : i64, heads = 2 : i64, key_strides = array<i64: 384, 8, 48>, kind = "forward", output_strides = array<i64: 128, 8, 16>, query_strides = array<i64: 384, 8, 48>, value_strides = array<i64: 384, 8, 48>}
#q = {batch = 2 : i64, causal = false, depth = 8 : i64, heads = 2 : i64, key_strides = array<i64: 384, 8, 48>, kind = "forward", output_strides = array<i64: 128, 8, 16>, query_strides = array<i64: 384, 8, 48>, value_strides = array<i64: 384, 8, 48>}
module attributes {pipe.attentions = [#p, #q]} {
  func.func private @veeline_attention(!llvm.ptr, i32)
  func.func private @c_forward(%r: !llvm.ptr) {
    %0 = arith.constant 0 : i32
    call @veeline_attention(%r, %0) : (!llvm.ptr, i32) -> () loc(fused<{pipe.computation = 1 : i64}>["forward":1:1])
    return
  }
  func.func private @c_backward(%r: !llvm.ptr) {
    %0 = arith.constant 1 : i32
    call @veeline_attention(%r, %0) : (!llvm.ptr, i32) -> () loc(fused<{pipe.computation = 1 : i64}>["backward":1:1])
    return
  }
  func.func private @c(%x: tensor<2x4xf32>) -> tensor<f32>
  pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
    %x = pipe.batch "x" : tensor<2x4xf32>
    %loss = pipe.chunk 0 @c(%x) {forward = @c_forward, backward = @c_backward} : (tensor<2x4xf32>) -> tensor<f32>
    pipe.yield %loss : tensor<f32>
  }
}
