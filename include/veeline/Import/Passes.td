//===- Passes.td - from real files to the input contract ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_PASSES
#define VEELINE_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def PipeImportEntry : Pass<"pipe-import-entry", "::mlir::ModuleOp"> {
  let summary = "Choose the model function and drop everything else";
  let description = [{
    The model is the function named `entry`, or the only one that returns a tensor of floats and is
    not called by another such function. In it and in what it calls, prints, assertions and calls of
    functions without a body whose results are not used (clocks) are removed, and a tensor of more
    than 2^48 elements is an error. Every other function becomes private, so that `--inline` and
    `--symbol-dce` remove it.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only candidate)">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::func::FuncDialect"];
}

def PipeImportConstants : Pass<"pipe-import-constants", "::mlir::ModuleOp"> {
  let summary = "Turn constants that may be weights into arguments";
  let description = [{
    Float constants of two elements or more, and global tensors, become arguments of
    the model function that carry their value as `pipe.constant`, so that no
    folding merges weights that happen to be equal. A splat becomes one argument for
    each use. `--pipe-import-params` decides which of them are parameters. A model
    whose arguments say what they are stays as it is.
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect"];
}

def PipeImportOps : Pass<"pipe-import-ops", "::mlir::func::FuncOp"> {
  let summary = "Turn ops that upstream passes leave into structured ops";
  let description = [{
    `tensor.generate` and `tensor.gather` become a `linalg.generic` over indices, `tensor.scatter`
    becomes a loop over slices, and `linalg.pack` and `linalg.unpack` become pads, reshapes and
    transpositions. `affine.for`, `scf.forall` and an `scf.while` with a known number of iterations
    become `scf.for`. Values that a loop carries but never changes are no longer carried. A
    remaining op of TOSA is an error at the op.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def PipeImportRetype : Pass<"pipe-import-retype", "::mlir::ModuleOp"> {
  let summary = "Compute in f64 what the file computes in smaller floats";
  let description = [{
    With `type=f64`, every smaller float (f32, bf16, f16, f8E4M3FN, ...) of types, constants and attributes
    becomes an f64 of the same value, and casts between them go, so that gradients can be compared
    with differences. An op that takes the bits of a float is an error.
  }];
  let options = [
    Option<"type", "type", "std::string", "", "f64, or nothing: floats stay what they are">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PipeImportBatch : Pass<"pipe-import-batch", "::mlir::ModuleOp"> {
  let summary = "Turn a model for one sample into one for several";
  let description = [{
    Data (`pipe.batch`) with a leading dimension of 1 gets one of `microbatch-size`, and every value
    that depends on data gets that many times its elements. Parameters, buffers and constants do not
    change. In an extent e of a dimension that a reshape made of samples and something else, samples
    are the slower part of N * e. An op that would mix samples there (a sum over the batch, a
    product of two matrices that both have samples, a slice) gets a separate dimension for them. So
    do values that loops carry and branches give. Results have samples in the first dimension: one
    of rank 0 then has rank 1, and one of rank 1 has rank 2.
  }];
  let options = [
    Option<"microbatchSize", "microbatch-size", "int64_t", "1", "Samples of a microbatch">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeImportParams : Pass<"pipe-import-params", "::mlir::ModuleOp"> {
  let summary = "Decide whether each argument is a parameter, data or a constant";
  let description = [{
    Constants (`pipe.constant`) are parameters where they are weights. A weight is a constant that

    * goes into a matrix product or convolution;
    * is added to or multiplied with something larger than itself;
    * is added to the only row of a product; or
    * has values of its own, and a sum starts from it or it is one row beside others.

    It is no weight if nothing that it meets there depends on data or on anything learned. All other
    constants become constants again. So do the running mean and variance of a batch norm (0 and 1
    where there are no values), zero biases of convolutions, and masks, which have infinities or
    numbers of -1e4 and less.

    Arguments are parameters, too, where a model has no such constants, or where a product has data
    on its left and on its right an argument that is not as long as data is. `params` lists these
    parameters. Without a list, they are the tensors of floats whose leading dimension is not that of
    the result, and those that data is multiplied with from the left. Where the result is a scalar,
    the leading dimension is that of the left operands of products with other arguments. Where there
    are none, or several, `params` has to say.

    All other arguments are data, one slice a microbatch, or buffers, the same for every microbatch.
    `buffer` lists the buffers. Without a list, they are scalars, tables of rotations, masks that are
    added to scores, and what has one row where the result has one a sample. In a model for one
    sample, they are also tables of positions and the numbers that choose their rows.

    A parameter that is only sliced is split into one parameter a slice. A remark for each kind of
    decision says what was decided; with `verbose`, a remark at each argument does.

    If arguments say themselves what they are (`pipe.param` and so on), the pass only applies
    `buffer` and `freeze`. Frozen parameters stay parameters, and are marked.

    A constant with values of its own starts from them, and a bias or scale that is a splat in the
    file from that value. All others are drawn: from `normal(0, 1/sqrt(n))` where n products are
    summed, and from `normal(0, 0.02)` where rows are looked up. They are zeros where they are added,
    and ones where they are multiplied with.
  }];
  let options = [
    ListOption<"params", "params", "std::string",
               "Arguments that are parameters: positions (3), ranges (2-5) or name patterns (w*)">,
    ListOption<"freeze", "freeze", "std::string", "Parameters that are not trained">,
    ListOption<"buffer", "buffer", "std::string",
               "Arguments that are the same for all data (default: those that look like it; none: no argument)">,
    Option<"verbose", "verbose", "bool", "false", "A remark at each argument, not for each kind">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeImportResults : Pass<"pipe-import-results", "::mlir::ModuleOp"> {
  let summary = "Remove ops that only compute results that are left out";
  let description = [{
    Ops that only contribute to results that `--pipe-import-loss` will drop anyway say nothing about
    which arguments are parameters. Such a result becomes an empty tensor of its type, so that the
    others keep their numbers, and the ops that computed it are removed. Which results these are
    depends on the options:

    * With `result`, every other result, except for the metrics of a model that returns its own
      loss.
    * Without it, but with a `loss`, every result except the first, if parameters change it, or else
      except the only one that they change. To find out, each is examined as if it were the only
      one, with `params`, `freeze` and `buffer`. Several such results are an error.
    * Without either, every result that is not a scalar.

    With `forward-only` and no `loss`, all results stay, or the one that `result` chooses.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "", "cross-entropy, mse or sum">,
    Option<"result", "result", "int64_t", "-1", "The result that the loss is made of">,
    ListOption<"params", "params", "std::string", "As of --pipe-import-params">,
    ListOption<"freeze", "freeze", "std::string", "As of --pipe-import-params">,
    ListOption<"buffer", "buffer", "std::string", "As of --pipe-import-params">,
    Option<"forwardOnly", "forward-only", "bool", "false", "The model is not trained">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeImportLoss : Pass<"pipe-import-loss", "::mlir::ModuleOp"> {
  let summary = "Attach a loss to a result of the model";
  let description = [{
    `cross-entropy` takes the last dimension of the chosen result as classes, and the data argument
    `labels` (i32, with the classes as its `pipe.range`) as the right ones. `mse` takes the data
    argument `targets`. `sum` adds up all elements of a sample (and divides by `microbatch-size`,
    their number). The first two are means over all rows, or elements. The loss is then the only
    result of the function. Without a loss, the chosen result must be a scalar. If it is the first,
    other scalars of floats are metrics, and all other results are dropped; with several samples,
    the loss is the mean of their losses.

    With `forward-only` and no `loss`, all results stay, or the one that `result` chooses; only floats
    of 16 bits become f32.
  }];
  let options = [
    Option<"loss", "loss", "std::string", "", "cross-entropy, mse or sum">,
    Option<"result", "result", "int64_t", "-1",
           "The result that the loss is made of (default: the first, or the only one that can be)">,
    Option<"microbatchSize", "microbatch-size", "int64_t", "1",
           "How many samples --pipe-import-batch put into a microbatch">,
    Option<"forwardOnly", "forward-only", "bool", "false", "The model is not trained">
  ];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipeImportJoint : Pass<"pipe-import-joint", "::mlir::ModuleOp"> {
  let summary = "Mark the arguments and results of a joint function";
  let description = [{
    This pass is for a function that returns its loss and its derivative, such as an exported
    `jax.value_and_grad`. It marks the arguments of `params` as parameters, those of `buffer` as
    buffers, and all others as data. The last results, one for each parameter and in their order,
    are marked as gradients or, with `results=updates`, as new values (docs/joint-graphs.md). The
    results before them are the loss and metrics. Parameters start from `normal(0, 0.02)` unless a
    file has their values.
  }];
  let options = [
    ListOption<"params", "params", "std::string",
               "Arguments that are parameters: positions (3), ranges (2-5) or name patterns (w*)">,
    ListOption<"buffer", "buffer", "std::string", "Arguments that are the same for all data">,
    Option<"results", "results", "std::string", "\"gradients\"", "What the last results are: gradients or updates">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

#endif // VEELINE_IMPORT_PASSES
