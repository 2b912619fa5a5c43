//===- Passes.td - from chunk functions to native code -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVERSION_PASSES
#define VEELINE_CONVERSION_PASSES

include "veeline/Dialect/Pipe/IR/TargetOption.td"
include "mlir/Pass/PassBase.td"

def PipeNormalizeOps : Pass<"pipe-normalize-ops"> {
  let summary = "Bring structured ops into one form and fix their order of loops";
  let description = [{
    Softmax, concatenations, pads and elementwise ops on whole tensors become structured ops, and
    every structured op except `linalg.fill` becomes a `linalg.generic`. A matrix product of f16 or
    bf16 becomes one of f32, whose operands are converted and whose result is rounded. The libraries
    of a GPU (`target=cuda`) take such operands directly, also for convolutions: the sum is in f32,
    and so is the result if anything happens to it before it is rounded.

    The loops of a reduction are put into memory order: the loop along which most operands are
    contiguous is the innermost one. This order determines from here on in which order results are
    accumulated, so that later fusion changes no bit.
  }];
  let options = [TargetOption<"Where products are computed">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def PipeResultsToArguments : Pass<"pipe-results-to-arguments", "::mlir::func::FuncOp"> {
  let summary = "Turn results of chunk functions into out-parameters";
  let description = [{
    The signature becomes the one of bufferized chunk functions: a pointer to the
    rank, the arguments as memrefs, one memref for each result. A result whose role
    is `param_grad` is an accumulator: the function adds its gradient to what is
    there. The body stays on tensors. The attribute `pipe.num_results` says how many
    arguments are out-parameters.

    For a GPU (`target=cuda`), a gradient that is a sum, such as that of a table which is looked up
    and multiplied by, is added in parts. A loop that adds to chosen elements of zeros adds to those
    of the accumulator instead. So no tensor of the parameter's size is written and read again.
  }];
  let options = [TargetOption<"Where the functions run">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def PipeFuseElementwise : Pass<"pipe-fuse-elementwise"> {
  let summary = "Fuse elementwise producers into their users";
  let description = [{
    Runs upstream's fusion of `linalg.generic` ops with our own rule: work is never duplicated
    unless it costs less than loading its result (a few additions and products on one operand), a
    division or a transcendental function never moves into a larger loop, and nothing moves into a
    matrix product.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def PipeSplitReductions : Pass<"pipe-split-reductions"> {
  let summary = "Split reductions that are too narrow for a GPU into two stages";
  let description = [{
    A reduction with few parallel iterations leaves most of a GPU idle: the sum over the rows of a
    matrix with a few hundred columns, or over everything. It is split in two: one reduces to parts,
    which are a temporary, and one reduces the parts.

    The number of parts follows from the extents of the loops alone: the smallest number that gives
    65536 threads, with parts of at least 1024 elements of a row, or 128 rows of columns. Parts of
    up to 1024 columns have 32 rows or more, and there are at least 128 parts if there are enough
    rows: a warp may sum such rows in addition to its other work on them (pipe-merge-launches). A
    reduction stays if it has fewer than 131072 iterations, fewer than eight parts of the sizes
    above, or already half of the threads. Parts are equal: their number is a product of the extents
    of outer reduced loops and a divisor of the next one's. Combiners are sums, products, minima,
    maxima and those of bits; matrix products and convolutions are left to the library.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def PipeBufferizeBodies : Pass<"pipe-bufferize-bodies", "::mlir::ModuleOp"> {
  let summary = "Bufferize function bodies into their out-parameters";
  let description = [{
    Upstream's one-shot bufferization, after which results are computed straight
    into out-parameters wherever their memory is free for that long. Temporaries
    are `memref.alloc` ops.
  }];
}

def PipeLowerConvolutions
    : Pass<"pipe-lower-convolutions", "::mlir::ModuleOp"> {
  let summary = "Turn convolutions into calls of the runtime";
  let description = [{
    A `linalg.generic` on memrefs of f32 that is a convolution, its adjoint for the data or that for
    the weights, becomes a call of `veeline_convolution`. Groups, strides, dilations and layouts are
    in its entry in the module attribute `pipe.convolutions`. Zeros around the data become the
    entry's padding. They are removed if they were only written for convolutions, or if a result is
    only read inside of them. Strides are those of the operands without gaps. A call overwrites its
    result: zeros that were there are dropped, anything else gets the result added.

    A convolution of other types, of more than three spatial dimensions, with two dimensions of a
    kind, or whose data has steps at its end that no window reaches, stays and becomes loops.
    Scratch memory is a `memref.alloc`.

    A GPU (`target=cuda`) may lack the library, so there are two branches, and
    `veeline_has_convolution` chooses one at run time. The branch without the library is a product
    for each element of the window, which is added to the ones before it (an entry of `pipe.gemms`
    with `accumulate`); one product with a copy of the windows' inputs, if the data has fewer than
    16 channels; or kernels, if each channel is a group. An operand whose place in memory is not
    static is not changed.

    On a GPU the call takes f16 and bf16, too; both branches then sum in f32 and round once. If the
    result is f32, the operands are extended to f32 for the library, which multiplies them in tf32;
    tf32 has all numbers of both types. With `tf32` it rounds operands of f32 to tf32, and so do
    matrix products; kernels do not.
  }];
  let options = [
    TargetOption<"Where the library computes">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Multiply f32 in tf32, on a GPU">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def PipeVerifyLibraryCalls : Pass<"pipe-verify-library-calls", "::mlir::ModuleOp"> {
  let summary = "Check that equal computations of a chunk are equal calls of the library";
  let description = [{
    The bits that a library computes may depend on the memory layout of its operands. So a
    computation that several functions of a chunk run, which differentiation has given a number,
    must have one entry in all of them: in B, W and the fused backward, and in forward, if they
    recompute it. For forward, two things may differ: epilogues that the library of a GPU adds to a
    product, and where its attention has operands.

    Moreover, the calls of B and W together have to be those of the fused backward or of forward,
    and vice versa; this is not checked for chunks without a fused backward or without a split one.
    Finally, a product or convolution with a number must not be a loop in one function and a call in
    another. Anything else is an error at the call or loop, with a note at each call of the same
    sizes; so is a call whose entry is not in the module's table. Changes nothing. Linear in the
    number of calls.
  }];
}

def PipeLowerGemms : Pass<"pipe-lower-gemms", "::mlir::ModuleOp"> {
  let summary = "Turn matrix products of floats into calls of the runtime";
  let description = [{
    A `linalg.generic` on memrefs of f32 or f64 that is a matrix product in any layout, with or
    without batch dimensions, becomes a call of `veeline_gemm`. The strides of its entry in the
    module attribute `pipe.gemms` describe the layout. They are those of the op's operands without
    gaps, since bits may depend on them: an operand that is a part of a buffer with gaps is copied
    first, and copies made by others stay. A product overwrites its result: zeros that were there
    are dropped, anything else gets the product added.

    A product of other types, and one that sums over dimensions with a gap between them, stays and
    becomes loops. Scratch memory is a `memref.alloc`.

    The library of a GPU (`target=cuda`) takes matrices whose rows or columns are contiguous, and
    batches with a single stride. Any other operand is copied first, and any other result
    afterwards. Entries have the alignment in bytes of all operands; the library has its own scratch
    memory. It also takes f16 and bf16, whose products it sums in f32; if such a product stays, so
    does its loop. With `tf32` it rounds operands of f32 to 10 bits after the point, for tensor
    cores.
  }];
  let options = [
    TargetOption<"Where the library computes">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Multiply f32 in tf32, on a GPU">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PipeFuseGemmEpilogues
    : Pass<"pipe-fuse-gemm-epilogues", "::mlir::ModuleOp"> {
  let summary = "Let the library of a GPU apply the ops that follow its products";
  let description = [{
    If an op only changes each element of a product, the call does that:

    * `c += product` is the entry's `accumulate`: gradients are added to their accumulators, with
      the bits of a product and a sum;
    * `product + bias` with a number for each column is its `epilogue`, if everything that reads the
      product in a function reads that sum: so the call is the same whether the sum is kept, or used
      at once;
    * so is `gelu(product)`, with or without a bias. The call also stores the input of GELU
      (`gelu_aux`, `bias_gelu_aux`), which others may read;
    * so is `product * gelu'(x)` (`dgelu`), for an `x` that is stored like the result.

    GELU is the approximation by tanh; it and its derivative are recognised by their values. A call
    with a matrix beside its result is one of `veeline_gemm_aux`, otherwise a call with a bias is
    one of `veeline_gemm_bias`; both have the result's type. f64 has no epilogues.

    A product that several functions compute gradients with has the same form in all of them. If it
    would have two forms, or if one function would apply GELU itself to a value that another one has
    from the library, it gets the smaller epilogue.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def PipeEpilogueFallbacks
    : Pass<"pipe-epilogue-fallbacks", "::mlir::ModuleOp"> {
  let summary = "Compute the epilogues that a GPU's library lacks in kernels";
  let description = [{
    A call of a product with an epilogue becomes two branches: the call, and the product alone with
    an op on its result that does the work of the epilogue. `veeline_has_gemm` chooses one at run
    time. The second branch needs no memory: it writes where the call does, and rounds the product
    before it continues.

    A product that is added to its result (`accumulate`) does not change: the library chooses an
    algorithm before it is told of the sum.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def PipeAttentionViews : Pass<"pipe-attention-views", "::mlir::ModuleOp"> {
  let summary = "Let attention read and write heads in place";
  let description = [{
    If an operand of attention is a copy, arranged by heads, of the result of a product, it becomes
    a view of that result. If a result is only copied into another layout, it is written there
    directly. Kernels of a GPU accept any strides, except that the elements of a row must be
    contiguous.

    The backward of a chunk, B and W have equal views of what they all compute: if one of them has
    none, the others have none of that operand either.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def PipeDecomposeAttention : Pass<"pipe-decompose-attention", "::mlir::func::FuncOp"> {
  let summary = "Turn attention into products and a softmax";
  let description = [{
    Every `pipe.attention` and its derivatives become structured ops on tensors, whose scores are
    one tensor: matrix products that a library computes, in f32 if elements are f16 or bf16. This is
    how attention runs on a CPU.

    For a GPU (`target=cuda`) this happens only to attention without a kernel, with a remark that
    says why.
  }];
  let options = [TargetOption<"Where attention runs">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipePairAttention : Pass<"pipe-pair-attention", "::mlir::func::FuncOp"> {
  let summary = "Make one op of the derivatives of an attention";
  let description = [{
    A `pipe.attention_backward_q` and a `pipe.attention_backward_kv` of the same operands become a
    `pipe.attention_backward`, which a library computes in one call, if their `delta` is the sum
    over the products of the output and its gradient. Derivatives do not change if `delta` is
    anything else (minus the gradient of `lse`), if there is only one of the two, or if they are of
    f32 or f64, which no library takes.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def PipeCallAttention : Pass<"pipe-call-attention", "::mlir::ModuleOp"> {
  let summary = "Ask a library of the GPU for attention first";
  let description = [{
    A `pipe.attention` and a `pipe.attention_backward` on buffers become two branches: a call of
    `veeline_attention` or `veeline_attention_backward` with an entry in the module attribute
    `pipe.attentions`, and the op, or the two derivatives, for kernels. `veeline_has_attention`
    chooses one at run time.

    There are only kernels for f32, for a mask of i1 or one whose keys are not contiguous, for rows
    of more than 128 elements or whose number does not divide by 8, and for operands whose start or
    row stride is not a multiple of 16 bytes. If `deterministic` is false, the gradient of queries
    may be summed in any order, in scratch memory, a `memref.alloc`.
  }];
  let options = [
    Option<"deterministic", "deterministic", "bool", /*default=*/"true",
           "Use only algorithms with the same bits in every run">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"
  ];
}

def PipeOutlineKernels : Pass<"pipe-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Move structured ops of chunk functions into kernel functions";
  let description = [{
    Ops that work on the same rows become one kernel with one loop over rows, in which each of them
    works on one row; a temporary with no other use shrinks to a row on the kernel's stack. For
    this, ops move up across ops that they do not conflict with. Equal kernels become one function.
    A kernel is a private function of buffers (which never overlap) with the attribute
    `pipe.kernel`.

    On a CPU rows run in order, so that a sum over them can be part of a kernel. For a GPU
    (`target=cuda`) they are one `scf.forall`: only parallel loops are rows, ops share a kernel if
    the threads that work on an element in one also do so in the next, a reduction stays within its
    rows, and transposes are separate.
  }];
  let options = [
    TargetOption<"Where kernels run">,
    Option<"fuse", "fuse", "bool", /*default=*/"true",
           "Run ops on the same rows as one kernel">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def PipeGpuKernels : Pass<"pipe-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "Generate the code of a GPU's threads for every kernel function";
  let description = [{
    Every kernel function (`pipe.kernel`, outlined for `target=cuda`) gets a `gpu.func` in
    the `gpu.module` `@kernels`, which its attribute `pipe.gpu_kernel` names. Grid and block are in
    its attributes `known_grid_size` and `known_block_size`. The name says which form was
    chosen, the shape, and a hash of the content:

    * `elementwise`: a thread has the elements of one access of 16 bytes;
    * `row`: a warp or a block for each row, whose elements stay in registers from one op
      to the next; reductions by shuffles, and across warps in shared memory;
    * `columns`: a sum over rows; the threads of a block share them, eight rows at a time;
    * `transpose`: squares of 32 by 32 through shared memory;
    * `scatter`: loops of scalars that add to rows which indices choose (the adjoint of a gather). Blocks
      own rows, find their tokens by ballots, and add them in the order of the loops. Without
      `deterministic` a thread for each sum adds it atomically, in no fixed order;
    * `loops`: other loops of scalars, of which those that index what is written run over threads;
    * `scalars`: one thread;
    * `attention`, `attention_backward_q`, `attention_backward_kv`: 64 queries or keys for a block, the others in
      tiles through shared memory, products on tensor cores (f16, bf16, and f32 with `tf32`);
    * `fallback`: a thread for every parallel iteration, the rest in order. A remark names it.

    The bits of a reduction follow from the op, its shape and type: element i of a row of N
    is added to partial sum i mod (T * V), V elements of 16 bytes, T = 32 threads up to
    N = 1024, 256 up to 8192, 512 beyond. A thread combines its V by a tree, 32 threads by
    exchanges at distances 16, 8, 4, 2, 1, and warps in order. Of columns row i is added to
    partial sum i mod 8, which a tree combines.

    Sums over replicas that `--pipe-lower-to-runtime` asks for (`pipe.sums`) become kernels `sum_TYPE_COUNT`
    of a result, the contributions and their number of elements; a block has 1024 of them.
  }];
  let options = [
    Option<"deterministic", "deterministic", "bool", /*default=*/"true",
           "Add to rows that indices choose in a fixed order">,
    Option<"tf32", "tf32", "bool", /*default=*/"false",
           "Multiply f32 in tf32 in kernels of attention">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::nvgpu::NVGPUDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def PipeLaunchKernels : Pass<"pipe-launch-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn calls of kernel functions into launches";
  let description = [{
    This pass leaves a module of kernels and their callers. The callers, whose memory is that of a
    GPU, become host code that does not touch the device's memory.

    * A call of a kernel function that has its `gpu.func` becomes a call of `veeline_launch` with
      the kernel's number in the module attribute `pipe.kernels`, which this pass makes or extends,
      and with the addresses and numbers that are its arguments. An entry has the kernel's name,
      grid, block, bytes of dynamic shared memory and number of arguments; equal kernels share one.
      Sums over replicas are in the table as well.
    * The address of a dense constant comes from `veeline_constant`, by its number in
      `pipe.constants`.
    * A number that the host reads, such as the condition of a branch, comes from `veeline_load`.

    Any other access to memory is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PipeMergeLaunches : Pass<"pipe-merge-launches", "::mlir::ModuleOp"> {
  let summary = "Run kernels that do not depend on each other in one launch";
  let description = [{
    Calls of kernels that have one structured op each become a call of one kernel function,
    `pipe.side_by_side`, with all their ops. The ops are elementwise, or sums over the rows of a
    matrix, and none writes what another one touches. Each op has blocks of its own, so that bits
    are the same.

    Before that, sums over the rows of a matrix, in parts, become a part of a kernel of these rows
    (`pipe.row_sums`), if it reads or writes all data of a row that they read. A warp sums the rows
    that a group of threads of a kernel of columns would sum, so that bits are the same.

    A kernel that moves no more than 1 MiB may move up or down for that, across ops that it does not
    conflict with: zeros of temporaries to the beginning of a function, sums that are added to
    gradients to its end. Larger ones only join their neighbours.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def PipeMergeStepLaunches : Pass<"pipe-merge-step-launches", "::mlir::ModuleOp"> {
  let summary = "Update many parameters in one launch";
  let description = [{
    Calls of kernels in a step with nothing between them on the device become a call of one kernel
    function (`pipe.side_by_side`) if none writes what another one touches: updates of parameters,
    norms of gradients, sums of their parts, roundings of parameters. They have places in the arena,
    or those that the runtime gives for settings and norms. The call stands where the last of them
    stood, and calls that depend on one of them behind it.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PipePlanWorkspace : Pass<"pipe-plan-workspace", "::mlir::func::FuncOp"> {
  let summary = "Give every temporary its place in the function's workspace";
  let description = [{
    Every `memref.alloc` of a bufferized chunk function becomes a view of one new
    last argument, `memref<Nxi8>`. Temporaries that are never live at the same time share
    memory. The attribute `pipe.workspace_bytes` is N, `pipe.workspace_peak_live_bytes` the
    largest sum of bytes that are live at once. Places are multiples of 64 bytes, on a GPU (`target=cuda`) of 256.
  }];
  let options = [TargetOption<"Where the workspace is">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"
  ];
}

def PipeLowerKernels : Pass<"pipe-lower-kernels"> {
  let summary = "Lower structured ops on buffers to loops over vectors";
  let description = [{
    Every structured op whose operands are memrefs of static shape becomes a
    nest of `scf.for` around `vector` operations: 16 lanes, 8 where an element
    has 64 bits, the rest of a loop under a constant mask.

    A reduction over the op's last dimension (dimensions of one iteration aside)
    keeps one partial result in each lane and combines them by a fixed tree:
    lane i with lane i + n/2, and so on. Every other reduction is combined in
    the order of the op's dimensions. Bits are therefore a function of the op,
    never of what was fused into it or of the machine.

    Attention becomes scalar loops that compute each score wherever it is used; the kernels of a GPU
    are compared with them.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def PipeExpandMath : Pass<"pipe-expand-math"> {
  let summary = "Expand functions of the math dialect into arithmetic or calls of libm";
  let description = [{
    In f32, exp, exp2, expm1, log, log2, log10, log1p, tanh, erf, sin, cos, powf
    and rsqrt become polynomials and bit operations: the same bits in a scalar and
    in every lane of a vector, right for denormals, infinities, NaN and large
    arguments. Other f32 functions are rounded from f64, half precision from f32. In
    f64 a function is a call of libm for every element, of the CUDA toolkit's
    libdevice in a GPU module. Integer divisions that round
    up or down, which LLVM lacks, become ones that round to zero.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def PipeStripAttributes : Pass<"pipe-strip-attributes", "::mlir::func::FuncOp"> {
  let summary = "Remove the attributes of pipe from a function, its arguments and results";
  let description = [{
    They say what tensors stand for; below memrefs there is nothing left that
    they could stand on.
  }];
}

#endif // VEELINE_CONVERSION_PASSES
