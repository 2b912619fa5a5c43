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
    For a model with a dynamic dimension in its batch arguments: the length, one for all arguments that have it. Makes a
    private copy of the model function for every multiple of `multiple` below `bound`, in which all shapes are static, and
    makes the model itself the version of the bound. What the model computes of extents (`tensor.dim`) becomes a constant.
    The passes that follow cut and differentiate all versions alike. docs/dynamic-lengths.md has more.
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"bound", "bound", "int64_t", "0", "The greatest length">,
    Option<"multiple", "multiple", "int64_t", "1", "What every length is a multiple of">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def PipeScaleLoss : Pass<"pipe-scale-loss", "::mlir::ModuleOp"> {
  let summary = "Multiply the loss by a number that the runtime chooses";
  let description = [{
    Gives the model function a buffer `loss_scale`, marked `pipe.loss_scale`, and multiplies the first result, the loss, by
    it. So all gradients are multiplied by it, and small ones do not vanish in f16. The runtime chooses the number for each
    step, and takes it out of the gradients and the loss again (docs/loss-scaling.md).
  }];
  let options = [
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PipeWeightLoss : Pass<"pipe-weight-loss", "::mlir::ModuleOp"> {
  let summary = "Multiply the loss by how much each microbatch counts";
  let description = [{
    Gives the model function a batch argument `loss_weight`, marked `pipe.loss_weight`, and multiplies the first result, the
    loss, by it. The result `weight` says how much a microbatch counts, as its number of tokens does. It has to follow from
    data alone. So the runtime computes it for all microbatches of a step before the step begins, with the model that this
    pass leaves with `only`, and then writes the argument: the weight of the microbatch divided by the mean of all
    (docs/loss-weights.md).
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
  let summary = "Find softmax(Q K^T) V among a function's ops";
  let description = [{
    Replaces two matrix products with a softmax between them by one `pipe.attention`, whatever ops the
    softmax, the scale and the masks are spread over: structured ops, ops on tensors, `linalg.softmax`, with or without a
    maximum that is subtracted, through conversions between float types, reshapes, transpositions
    and broadcasts. What is around them stays: projections, rotations, the split into heads. Heads of queries that share keys and
    values do so in the op.

    A mask that hides the keys behind a query becomes `causal`: comparisons of places, and constant tables. So does
    a number that is added or filled in, if it is -10000 or less. Another mask, boolean or added, is an operand, with
    those dimensions only that it really has.

    Softmax and products are computed in the type of sums, without roundings between them that the model may have.
    A product of a softmax that is not fused gets a remark that says why.
  }];
  let dependentDialects = [
    "::veeline::pipe::PipeDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

def PipeJointGraph : Pass<"pipe-joint-graph", "::mlir::ModuleOp"> {
  let summary = "Append its derivative to the model function";
  let description = [{
    Makes the model function return, after its own results, the gradient of its loss with respect to each parameter, marked
    `pipe.gradient_of`: a joint function, as other compilers write them. Marks of cuts stay (docs/joint-graphs.md).

    Convolutions that the library of `target` has stay whole.
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
    (docs/joint-graphs.md). An update has to be the parameter minus a constant times its gradient. It is left to the runtime,
    and a remark says which rate it had. Changes nothing where there are no such results.
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
    Replaces the model function by a `pipe.pipeline` and one function for each of
    the `stages` times `chunks-per-stage` chunks. The model is a sequence of pieces:
    what lies between its `pipe.boundary` marks or, where it has none, between
    the places where few activations are live (`--pipe-print-pieces` lists
    them). Where there are more chunks than pieces and no marks, pieces are fine ones, down to single
    ops (`--pipe-print-pieces=fine` lists those). A chunk is a run of pieces. Cuts are chosen so that the heaviest
    *stage* under the placement is as light as possible, then, among cuts whose heaviest stage is
    within 2 % of that (costs are estimates, no better than that), so that the fewest bytes cross
    cuts; or they are given as a list of piece counts. `stage-replicas` gives stages several ranks, which run
    microbatches round-robin: a stage with w of them is as heavy as a w-th of its cost. With `clip-sync`
    updates will depend on the norm of all gradients (docs/clipping.md).

    Costs are the cost model's, or, with `profile`, those that `veeline train --profile` measured of the same model, under
    whatever cuts. The chunks then carry in `cost_scale` what measured times of F, B and W are of the estimates, by which
    `--pipe-schedule` multiplies its own. `transfers` on the pipeline has, for each edge between chunks, the measured times of a
    message and of its gradient, those of all messages on average where this edge was not measured.

    Without a profile, `machine-table` names a table of `veeline doctor --calibrate`: pieces then cost what classes of
    products, convolutions and loops took there. The pipeline carries it as `machine_table`, for the costs of its chunks.

    What does not depend on both data and parameters (constants, masks, positions, views of
    parameters) is repeated in every chunk that uses it.
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
    Reverse mode, chunk by chunk, through the derivative rules that ops bring with
    `DifferentiableOpInterface`. A chunk's forward function leaves residuals for its backward
    function; which ones is a minimum cut of bytes against values that are cheap to compute again.
    docs/differentiation.md says what is differentiated how.

    `recompute` trades memory for work: `none`, `balanced` (the default), `cheap`, `full`, a ratio of a
    chunk's pieces as `0.5`, or a rate as `64B/ns`; one for all chunks, or one for each in model order.

    With `forward-only` there are no backward functions and no residuals, and ops need no derivative: the pipeline gets
    the attribute `pipe.forward_only`, and its programs will update nothing.

    Convolutions that the library of `target` has stay whole, and so do their derivatives: those of f32, on a GPU also those of f16 and
    bf16. Others become a matrix product for each element of their window.
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

def PipeSplitBackward : Pass<"pipe-split-backward", "::mlir::ModuleOp"> {
  let summary = "Split every fused backward function into B and W";
  let description = [{
    By data flow: backward_input computes what the gradients of the chunk's incoming edges need and
    nothing else, backward_weight the rest, from arguments of the backward and from what
    backward_input saves. A chunk that no gradient leaves has no backward_input, a chunk
    without parameters no backward_weight. The fused function stays.
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeRoundParameters : Pass<"pipe-round-parameters", "::mlir::ModuleOp"> {
  let summary = "Round parameters to narrower types once a step";
  let description = [{
    In mixed precision a chunk's functions begin by rounding its parameters, of f32 say, to the bf16 that products take. Parameters
    change once a step, but these functions run for each microbatch. Where a function rounds a parameter as a whole, and not only for what it
    would become part of, it takes the rounded one as an argument of its own, of role `rounded`. `--pipe-plan-memory` gives each a
    place beside the parameter, and `--pipe-lower-to-runtime` has every step begin by computing it.
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
    after the other; an I of a chunk that owes nobody an input gradient is left out.

    Where stages have several ranks (`stage_replicas`), the order is one for a pipeline in which a stage of w ranks is w
    stages of a w-th of its work, and each rank runs its microbatches in the order of the first of them (docs/scheduling.md).

    Where the pipeline has the attribute `pipe.schedule_limits`, an array of one number for each stage, what
    the chunks of a stage hold for their backwards stays within so many bytes, on each of its ranks.

    Some orders run W of a step in the next one (docs/loops.md). These W are `late`, and so are the updates that they
    complete. They stand where the next step runs them, and take values of the step before by arguments of the program:

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
           "The ranks that add up gradients each update a share of the parameters, and have the optimiser's state of that">,
    Option<"sequential", "sequential", "bool", "false",
           "Also write a program that runs all chunks on one rank, one microbatch after the other (where stages have several ranks, a single one): the reference for bitwise equality">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeInsertCommunication : Pass<"pipe-insert-communication", "::mlir::ModuleOp"> {
  let summary = "Turn values of other stages into messages";
  let description = [{
    Replaces every `pipe.edge_value` by a `pipe.recv` and a `pipe.wait`, and puts the
    `pipe.send` where the value exists. Every stage has one program,
    and together they are a schedule of the pipeline, which the schedule library's verifier checks.

    Strategies: `overlap` (the default) posts receives ahead, before the operation during
    which, in the simulated schedule, the sender starts to produce the value. `p2p` sends and
    receives one message at a time, of two that meet the even rank's first. `batched` makes one group of a
    send and a receive that follow each other, `ring` of all messages between two operations of a rank.
    docs/communication.md has more.

    Of a pipeline with `replicas`, and of a stage with several ranks, each `pipe.gradient` becomes a `pipe.all_reduce` after
    the last W of the chunk, in a group with those of the chunk's other parameters, and a `pipe.wait` where the gradient was read. With `overlap`
    they are on the stream of the messages, with `duplex` on that of the sends, else on that of the computations.
    With `shard_optimizer` updates that follow each other are followed by `pipe.all_gather`s of one group, on the same stream, and
    a `pipe.wait` for each: where the new value is used, or at the end of the step.

    A receive that is posted ahead holds up sends under NCCL's rules. With `model=nccl`, `overlap` therefore
    issues messages in one order, that of the ends of their producers, the receives as early as that order permits,
    and sends copy. `duplex`, whatever the model, has sends on stream 1 and receives on stream 2, posted ahead, and gives each message the
    communicator of its sender's colour, so that a rank sends on one communicator and receives on others: it is right where a device
    runs an operation of each stream side by side, `model=nccl-duplex`. The other strategies suit all models.

    With `split-messages=k` a message travels in k `parts`, or one for each element where it has fewer; of a
    message whose length varies, where the shortest one has fewer.
  }];
  let options = [
    StrategyOption<"strategy">,
    ModelOption<"model", "Mpi", "Whose rules overlap is for: nccl, mpi or nccl-duplex">,
    Option<"splitMessages", "split-messages", "int64_t", "1", "Parts in which a message travels">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeVerifyCommunication : Pass<"pipe-verify-communication", "::mlir::ModuleOp"> {
  let summary = "Prove that the messages of all programs arrive and nobody waits for ever";
  let description = [{
    Reads sends, receives, all-reduces, groups, waits, streams and communicators of all ranks of all replicas as a
    communication program and verifies it under the rules of `model`, which docs/communication.md defines. Errors are a send without its
    receive or the reverse, two messages of one identity, ends of different parts or on different communicators, a handle
    that is not waited for, a group that is interrupted, operations of two streams that may run at once, messages that
    overtake each other, and an order that can deadlock, with a note at each operation of the circle. A send and a
    receive of several `parts` are one of each part here. Changes nothing. Linear but for sorting the messages.
  }];
  let options = [
    ModelOption<"model", "Nccl", "nccl, mpi or nccl-duplex">
  ];
}

def PipeAssignStreams : Pass<"pipe-assign-streams", "::mlir::ModuleOp"> {
  let summary = "Give the chunks of a rank compute streams of their own, on a GPU";
  let description = [{
    Of a rank with several chunks, local chunk c, in model order, has compute stream c: its operations, the messages that it
    receives and what it sends. Sums over replicas are waited for, and parameters updated and assigned, on stream 0.
    `pipe.compute_streams` on the program says how many streams there are, and how many events; `pipe.compute_stream` on an op which one it is
    issued to, where that is not 0.

    Where an op needs what another stream has, an op there has `pipe.recorded_event`, and this one `pipe.awaited_events`: values that one
    chunk hands to another one on the same rank, and parameters, which are written after everything before and before everything that
    comes after. What follows from other events, and from the order of a stream, has none. An event is used again once it is waited for.

    The order of ops stays, and so does that of messages. Pipelines with the schedule `sequential` keep one stream.
    (Ops * streams).
  }];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipePlanMemory : Pass<"pipe-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every value of every program its place in the rank's arena";
  let description = [{
    Lifetimes follow from the order of the program. Parameters, gradient accumulators
    and the optimiser's state live throughout; edge values, residuals, saved values, gradients and the
    workspaces of chunk functions share the rest of the arena. The plan is the
    attribute `memory` of the program. Where the pipeline has the attribute `pipe.memory_limits`, an
    array of one number for each stage, which is that of each of its ranks, an arena of more bytes is an error.

    For a GPU (`target=cuda`) offsets are multiples of 256, and the arena has all that
    the device needs: batch arguments and buffers, constants of chunk functions, workspace of the
    libraries, and, where parameters are updated, settings and the parts of norms. What is sent stays
    until the next post, send or sum of gradients of its compute stream. A microbatch of a batch argument that starts at no multiple
    of 16 bytes has a place to which it is copied. Lengths have no place: they stay with the host.

    Where a program has several compute streams (`--pipe-assign-streams`), the library has workspace for each, and two values share memory only
    where all that uses the one is over, by the order of streams and events, before the other one is written. Streams that do not
    wait for what they need are an error.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "Name of the optimiser, as of veeline compile: decides how much state there is">,
    Option<"errorFeedback", "error-feedback", "bool", "false",
           "The state has the update before, by which updates correct themselves">,
    TargetOption<"Where the arena is">
  ];
  let dependentDialects = ["::veeline::pipe::PipeDialect"];
}

def PipeLowerToRuntime : Pass<"pipe-lower-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Turn programs into functions that call chunk functions and the runtime";
  let description = [{
    A program becomes a function of straight-line code, `<program>_step`: calls of chunk functions and of the runtime, with constant
    offsets into the arena.

    For a GPU (`target=cuda`) nothing in it touches the arena: copies, zeros and sends are calls
    of the runtime, a group of messages stands between two calls, and updates and sums are kernel functions. Lengths are on the
    function's stack.
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
