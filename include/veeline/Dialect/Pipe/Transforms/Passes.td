//===- Passes.td - the passes of pipe ----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES
#define VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES

include "veeline/Dialect/Pipe/Transforms/PassOptions.td"

def PipeBindLengths : Pass<"pipe-bind-lengths", "::mlir::ModuleOp"> {
  let summary = "Make a version of the model function for each length";
  let description = [{
    This pass is for a model whose batch arguments have a dynamic dimension: the length, which is
    the same for all arguments that have it. It makes a private copy of the model function for every
    multiple of `multiple` below `bound`, in which all shapes are static, and turns the model itself
    into the version of the bound. Everything that the model computes from extents (`tensor.dim`)
    becomes a constant. The passes that follow cut and differentiate all versions alike.
    docs/dynamic-lengths.md has more.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"bound", "bound", "int64_t", "0", "The largest length">,
    Option<"multiple", "multiple", "int64_t", "1", "Lengths are multiples of this">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def PipeScaleLoss : Pass<"pipe-scale-loss", "::mlir::ModuleOp"> {
  let summary = "Multiply the loss by a number that the runtime chooses";
  let description = [{
    Gives the model function a buffer `loss_scale`, marked `pipe.loss_scale`, and multiplies the
    first result, the loss, by it. So all gradients are multiplied by it, and small ones do not
    vanish in f16. The runtime chooses the number for each step, and divides the gradients and the
    loss by it again (docs/loss-scaling.md).
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeWeightLoss : Pass<"pipe-weight-loss", "::mlir::ModuleOp"> {
  let summary = "Multiply the loss by the weight of each microbatch";
  let description = [{
    Gives the model function a batch argument `loss_weight`, marked `pipe.loss_weight`, and
    multiplies the first result, the loss, by it. The result `weight` is the weight of a microbatch,
    such as its number of tokens. It has to depend on data alone. So the runtime can compute it for
    all microbatches of a step before the step begins, with the model that this pass leaves with
    `only`. It then writes the argument: the weight of the microbatch divided by the mean of all
    weights (docs/loss-weights.md).
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"weight", "weight", "std::string", "", "The result that is the weight: metric1 is the one after the loss">,
    Option<"only", "only", "bool", "false", "Leave a model of the same arguments that returns the weight alone">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeRecognizeAttention : Pass<"pipe-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "Find softmax(Q K^T) V in a function";
  let description = [{
    Replaces two matrix products with a softmax between them by one `pipe.attention`, however the
    softmax, the scale and the masks are divided into ops: structured ops, ops on tensors,
    `linalg.softmax`, with or without a subtracted maximum, through conversions between float types,
    reshapes, transpositions and broadcasts. Projections, rotations, and the split into heads are
    not changed. If heads of queries share keys and values, they do so in the op, too.

    A mask that hides the keys behind a query becomes `causal`: comparisons of positions, and
    constant tables. So does a number that is added or filled in, if it is -10000 or less. Another
    mask, boolean or added, is an operand, with only those dimensions that it depends on.

    Softmax and products are computed in the type of sums, without intermediate rounding that the
    model may have. If a product of a softmax is not fused, a remark says why.
  }];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipeJointGraph : Pass<"pipe-joint-graph", "::mlir::ModuleOp"> {
  let summary = "Append its derivative to the model function";
  let description = [{
    Makes the model function return, after its own results, the gradient of its loss with respect to
    each parameter, marked `pipe.gradient_of`: a joint function, as other compilers write them.
    Marks of cuts stay (docs/joint-graphs.md).

    Convolutions that the library of `target` computes are not decomposed.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    TargetOption<"Where the library computes">
  ];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipeSeparateJoint : Pass<"pipe-separate-joint", "::mlir::ModuleOp"> {
  let summary = "Separate a model from the derivative that it brings";
  let description = [{
    Of a function that returns gradients, marked `pipe.gradient_of`, or updated parameters, marked `pipe.updated`, makes the
    model function that returns everything else, and a private one, named in its attribute `pipe.joint`, that still has all of
    it. `--pipe-partition` cuts both alike, and `--pipe-differentiate` takes the derivative from there
    (docs/joint-graphs.md). An update has to be the parameter minus a constant times its gradient, or that of sgd-momentum,
    sgd-nesterov or adamw, with what these keep marked `pipe.state_of`. It is left to the runtime, and a remark says which
    numbers it had. Changes nothing where there are no such results.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The function (default: the only public one)">
  ];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipePartition : Pass<"pipe-partition", "::mlir::ModuleOp"> {
  let summary = "Cut the model function into chunks";
  let description = [{
    Replaces the model function by a `pipe.pipeline` and one function for each of the `stages` times
    `chunks-per-stage` chunks. The model is a sequence of pieces (`--pipe-print-pieces` lists them).
    Pieces are separated by the `pipe.boundary` marks of the model or, without marks, by the places
    where few activations are live. If there are more chunks than pieces and no marks, pieces are
    fine ones, down to single ops (`--pipe-print-pieces=fine` lists those). A chunk is a run of
    pieces.

    Cuts may be given as a list of piece counts. Otherwise they are chosen so that the heaviest
    *stage* under the placement is as light as possible. Among cuts whose heaviest stage is within 2
    % of that (costs are only estimates), those with the fewest bytes across cuts win.
    `stage-replicas` gives stages several ranks, which run microbatches round-robin: a stage with w
    of them counts as a w-th of its cost. With `clip-sync` updates will depend on the norm of all
    gradients (docs/clipping.md).

    Costs are the cost model's, or, with `profile`, those that `veeline train --profile` measured
    for the same model, with any cuts. The chunks then carry in `cost_scale` the ratios of measured
    to estimated times of F, B and W, by which `--pipe-schedule` multiplies its estimates.
    `transfers` on the pipeline has, for each edge between chunks, the measured times of a message
    and of its gradient, or the mean of all messages if this edge was not measured.

    Without a profile, `machine-table` names a table of `veeline doctor --calibrate`: the costs of
    pieces are then the times of classes of products, convolutions and loops in it. The pipeline
    carries it as `machine_table`, for the costs of its chunks.

    Values that do not depend on both data and parameters (constants, masks, positions, views of
    parameters) are computed in every chunk that uses them.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"stages", "stages", "int64_t", "1", "Number of stages p">,
    Option<"chunksPerStage", "chunks-per-stage", "int64_t", "1", "Chunks of each stage v">,
    Option<"placement", "placement", "std::string", "",
           "linear, interleaved, v or wave (default: linear for one chunk a stage, v for two, interleaved for more)">,
    ListOption<"pieces", "pieces", "int64_t", "Pieces of each chunk, in model order">,
    Option<"profile", "profile", "std::string", "", "File of veeline train --profile with the times of the pieces">,
    Option<"machineTable", "machine-table", "std::string", "",
           "File of veeline doctor --calibrate: how fast this machine is, without a profile">,
    Option<"machineCores", "machine-cores", "int64_t", "0",
           "Cores that the ranks have there, all of them (default: those that the table says)">,
    Option<"replicas", "replicas", "int64_t", "1", "Pipelines that run there side by side">,
    ListOption<"stageReplicas", "stage-replicas", "int64_t", "Ranks of each stage (default: one each)">,
    Option<"forwardOnly", "forward-only", "bool", "false",
           "The model is not trained: no gradient has to reach its parameters">,
    ClipSyncOption
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PipePrintPieces : Pass<"pipe-print-pieces", "::mlir::ModuleOp"> {
  let summary = "List the pieces that the model function can be cut into";
  let description = [{
    Prints one line for each piece to the standard output and changes nothing.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"fine", "fine", "bool", "false", "The fine pieces, for more chunks than there are pieces">,
    Option<"machineTable", "machine-table", "std::string", "",
           "File of veeline doctor --calibrate, for the times (default: default numbers)">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeDifferentiate : Pass<"pipe-differentiate", "::mlir::ModuleOp"> {
  let summary = "Make the forward and the fused backward function of every chunk";
  let description = [{
    Applies reverse-mode differentiation, chunk by chunk, by the derivative rules of the ops'
    `DifferentiableOpInterface`. A chunk's forward function leaves residuals for its backward
    function. A minimum cut chooses them, by weighing bytes against values that are cheap to
    recompute. docs/differentiation.md describes the rules.

    `recompute` trades memory for work: `none`, `balanced` (the default), `cheap`, `full`, a ratio
    of a chunk's pieces such as `0.5`, or a rate such as `64B/ns`; one for all chunks, or one for
    each in model order.

    With `forward-only` there are no backward functions and no residuals, and ops need no
    derivative: the pipeline gets the attribute `pipe.forward_only`, and its programs will update
    nothing.

    Convolutions that the library of `target` computes are not decomposed, and neither are their
    derivatives: those of f32, on a GPU also those of f16 and bf16. Others become a matrix product
    for each element of their window.
  }];
  let options = [
    ListOption<"recompute", "recompute", "std::string",
               "What each chunk's backward computes again: none, balanced, cheap, full, a ratio or a rate">,
    Option<"forwardOnly", "forward-only", "bool", "false", "Make forward functions alone, to evaluate">,
    TargetOption<"Where the library computes">
  ];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipeSplitRecomputation : Pass<"pipe-split-recomputation", "::mlir::ModuleOp"> {
  let summary = "Take the recomputation out of every fused backward function";
  let description = [{
    A chunk that keeps little for its backward computes the rest again there. That needs no gradient
    from the chunks behind it. This pass makes it a function of its own, `recomputation`, which the
    schedule runs before the backward: while the rank waits for the gradient, if it can. The backward
    takes what it gives, of role `recomputed`.

    What is cheap stays in the backward, by the prices of `balanced` (docs/differentiation.md). So
    chunks that keep what `balanced` keeps have no recomputation. Nor has a chunk that no gradient
    comes into, as that of the loss: its backward can begin at once. Run it between
    `--pipe-differentiate` and `--pipe-split-backward`.
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeSplitBackward : Pass<"pipe-split-backward", "::mlir::ModuleOp"> {
  let summary = "Split every fused backward function into B and W";
  let description = [{
    The split follows data flow. backward_input computes exactly what the gradients of the chunk's
    incoming edges need. backward_weight computes the rest, from arguments of the backward and from
    what backward_input saves. A chunk that sends no gradient has no backward_input, and a chunk
    without parameters no backward_weight. The fused function stays.
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeRoundParameters : Pass<"pipe-round-parameters", "::mlir::ModuleOp"> {
  let summary = "Round parameters to narrower types once a step";
  let description = [{
    In mixed precision a chunk's functions begin by rounding its parameters, for example from f32 to
    the bf16 that products take. Parameters change once a step, but these functions run for each
    microbatch. If a function rounds a whole parameter, and not only as a part of another
    computation, it takes the rounded parameter as an additional argument, of role `rounded`.
    `--pipe-plan-memory` gives each a place beside the parameter, and `--pipe-lower-to-runtime`
    makes every step begin by computing it.
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeSchedule : Pass<"pipe-schedule", "::mlir::ModuleOp"> {
  let summary = "Order the work of every rank";
  let description = [{
    Asks the schedule library for an order under the costs of the chunks, checks it with the
    library's verifier, and writes it as one `pipe.program` for each rank. A
    value of another stage is a `pipe.edge_value` there.

    `schedule=file:PATH` takes the order from a `.csv` or `.json` file instead (docs/scheduling.md). Its
    stages, chunks, placement and microbatches are those of the pipeline, and its operations run one
    after the other; an I of a chunk without a B is ignored.

    If stages have several ranks (`stage_replicas`), the order is made for a pipeline in which a
    stage of w ranks is w stages of a w-th of its work. Each rank runs its microbatches in the order
    of the first of these stages (docs/scheduling.md).

    If the pipeline has the attribute `pipe.schedule_limits`, an array of one number of bytes for
    each stage, the values that the chunks of a stage hold for their backwards stay within its
    number, on each of the stage's ranks.

    With `offload`, what a chunk keeps between its F and its backward may wait in the host's memory
    (docs/offloading.md): as much as lowers the peak of all ranks without a longer step, or as the
    limits demand.

    Some orders run W of a step in the next one (docs/loops.md). These W are `late`, and so are the
    updates that they complete. They stand where the next step runs them, and take values of the
    step before as arguments of the program:

    ```mlir
    pipe.program @net_rank0 of @net stage(0) {
    ^bb0(%s: tensor<2x4xf32>):
      %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2x4xf32>
      pipe.backward_weight late chunk(3) microbatch(1) (%s) : (tensor<2x4xf32>) -> ()
      %g = pipe.gradient late param(1) chunk(3) : tensor<4x4xf32>
      %w = pipe.update late param(1) (%g) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      ...
      %dx, %saved = pipe.backward_input chunk(3) microbatch(1) (%dy) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
      pipe.carry %saved : tensor<2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "Name of the schedule, or file:PATH">,
    ObjectiveOption,
    Option<"updatesAtEnd", "updates-at-end", "bool", "false",
           "Updates stand at the end of the step, and not where their parameters are complete, as is better with "
           "--pipe-assign-streams">,
    Option<"slip", "slip", "bool", "true",
           "Whether W of a step may run in the next one; not where ranks have several compute streams">,
    Option<"microbatches", "microbatches", "int64_t", "1", "Number of microbatches m">,
    Option<"replicas", "replicas", "int64_t", "1",
           "Number d of pipelines side by side, each with m microbatches of its own">,
    Option<"shardOptimizer", "shard-optimizer", "bool", "false",
           "Each rank of a stage updates only a share of the parameters, and has only that share of the optimiser's state">,
    Option<"offload", "offload", "double", "0",
           "What a chunk keeps for its backward may wait in the host's memory, over a link each way of so many gigabytes "
           "a second; 0: it does not">,
    Option<"sequential", "sequential", "bool", "false",
           "Also write a program that runs all chunks on one rank, one microbatch after the other (where stages have several ranks, a single one): the reference for bitwise equality">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeInsertCommunication : Pass<"pipe-insert-communication", "::mlir::ModuleOp"> {
  let summary = "Turn values of other stages into messages";
  let description = [{
    Replaces every `pipe.edge_value` by a `pipe.recv` and a `pipe.wait`, and adds a `pipe.send`
    where the value is defined. Every stage has one program, and together they are a schedule of the
    pipeline, which the schedule library's verifier checks.

    Strategies: `overlap` (the default) posts receives ahead, before the operation during which, in
    the simulated schedule, the sender starts to produce the value. `p2p` sends and receives one
    message at a time; if two messages meet, the even rank sends first. `batched` groups a send and
    a receive that follow each other, and `ring` all messages between two operations of a rank.
    docs/communication.md has more.

    In a pipeline with `replicas`, and in a stage with several ranks, each `pipe.gradient` becomes a
    `pipe.all_reduce` after the last W of the chunk, in a group with those of the chunk's other
    parameters, and a `pipe.wait` where the gradient was read. They are on the stream of the
    messages with `overlap`, on that of the sends with `duplex`, and otherwise on that of the
    computations. With `shard_optimizer` sums that only an update takes are `scattered`. Consecutive
    updates are followed by `pipe.all_gather`s of one group, on the same stream, and a `pipe.wait`
    for each: where the new value is used, or at the end of the step. With `overlap` and `duplex`,
    gathers of parameters that no other stage has are late instead, if nothing else of the program
    is: the next turn begins with them, one group for each chunk, and waits before the first op that
    uses the parameter.

    Under NCCL's rules, a receive that is posted ahead blocks sends. With `model=nccl`, `overlap`
    therefore issues messages in one order, that of the ends of their producers, and receives as
    early as that order permits; sends copy. `duplex`, whatever the model, has sends on stream 1 and
    receives on stream 2, posted ahead. It gives each message the communicator of its sender's
    colour, so that a rank sends on one communicator and receives on others. It is correct if a
    device runs operations of both streams side by side, `model=nccl-duplex`. The other strategies
    suit all models.

    With `split-messages=k` a message travels in k `parts`, or in one for each element if it has
    fewer elements. If its length varies, the shortest one counts.
  }];
  let options = [
    StrategyOption<"strategy">,
    ModelOption<"model", "Mpi", "Whose rules overlap is for: nccl, mpi or nccl-duplex">,
    Option<"splitMessages", "split-messages", "int64_t", "1", "Parts in which a message travels">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeVerifyCommunication : Pass<"pipe-verify-communication", "::mlir::ModuleOp"> {
  let summary = "Prove that the messages of all programs arrive and no rank waits forever";
  let description = [{
    Reads sends, receives, all-reduces, groups, waits, streams and communicators of all ranks of all
    replicas as a communication program and verifies it under the rules of `model`, which
    docs/communication.md defines. These are errors: a send without its receive or the reverse, two
    messages of one identity, ends of different parts or on different communicators, a handle that
    is not waited for, an interrupted group, operations of two streams that may run at once,
    messages that overtake each other, and an order that can deadlock, with a note at each operation
    of the cycle. A send or a receive of several `parts` counts as one for each part. Changes
    nothing. Linear except for sorting the messages.
  }];
  let options = [
    ModelOption<"model", "Nccl", "nccl, mpi or nccl-duplex">
  ];
}

def PipeAssignStreams : Pass<"pipe-assign-streams", "::mlir::ModuleOp"> {
  let summary = "Give the chunks of a rank compute streams of their own, on a GPU";
  let description = [{
    On a rank with several chunks, local chunk c, in model order, uses compute stream c for its
    operations, the messages that it receives and those that it sends. Stream 0 waits for sums over
    replicas, and updates and assigns parameters. `pipe.compute_streams` on the program has the
    numbers of streams and events; `pipe.compute_stream` on an op has the stream that it is issued
    to, if that is not 0.

    If an op needs a result of another stream, an op there has `pipe.recorded_event`, and this one
    `pipe.awaited_events`. Such results are values that one chunk passes to another one on the same
    rank, and parameters, which are written after everything before and before everything after.
    There are no events for what follows from other events, or from the order of a stream. An event
    is reused once it is waited for.

    The order of ops does not change, nor does that of messages. Pipelines with the schedule
    `sequential` keep one stream. The pass takes O(ops * streams).
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipePlanMemory : Pass<"pipe-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value of every program a place in the arena of its rank";
  let description = [{
    Lifetimes follow from the order of the program. Parameters, gradient accumulators and the
    optimiser's state live throughout; edge values, residuals, saved values, gradients and the
    workspaces of chunk functions share the rest of the arena. The plan is the attribute `memory` of
    the program. The attribute `pipe.memory_limits` of a pipeline is an array of one number of bytes
    for each stage, which applies to each of its ranks; a larger arena is an error.

    For a GPU (`target=cuda`) offsets are multiples of 256, and the arena has all data that the
    device needs: batch arguments and buffers, constants of chunk functions, the libraries'
    workspace, and, where parameters are updated, settings and the parts of norms. A sent value
    stays until the next post, send or sum of gradients of its compute stream. If a microbatch of a
    batch argument does not start at a multiple of 16 bytes, it has a place to which it is copied.
    Lengths have no place: they stay on the host.

    Where gradients are added up, or parameters gathered, between processes, ranks receive what the
    others contribute in buffers of the arena, and add it in their order. With `nccl-sums`, which is
    for GPUs, NCCL does all that in place: there are no buffers, and the pipeline has `nccl_sums`.

    If a program has several compute streams (`--pipe-assign-streams`), the library has a workspace
    for each. Two values then share memory only if all uses of one are over, by the order of streams
    and events, before the other is written. Streams that do not wait for what they need are an
    error.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "Name of the optimiser, as of veeline compile: decides how much state there is">,
    Option<"errorFeedback", "error-feedback", "bool", "false",
           "The state has the update before, by which updates correct themselves">,
    Option<"ncclSums", "nccl-sums", "bool", "false",
           "On a GPU: NCCL adds up gradients between processes, in an order of its own">,
    TargetOption<"Where the arena is">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeLowerToRuntime : Pass<"pipe-lower-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn programs into functions that call chunk functions and the runtime";
  let description = [{
    A program becomes a function of straight-line code, `<program>_step`: calls of chunk functions
    and of the runtime, with constant offsets into the arena.

    For a GPU (`target=cuda`) the function does not touch the arena itself: copies, zeros and sends
    are calls of the runtime, a group of messages stands between two calls, and updates and sums are
    kernel functions. Lengths are on the function's stack.
  }];
  let options = [TargetOption<"What programs are lowered to">];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES
