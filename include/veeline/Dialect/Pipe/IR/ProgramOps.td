//===- ProgramOps.td - what ranks do -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PROGRAMOPS
#define VEELINE_DIALECT_PIPE_IR_PROGRAMOPS

include "veeline/Dialect/Pipe/IR/PipeAttributes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// One norm, or a factor of gradients.
def Pipe_NormType
    : Type<CPred<"$_self == ::veeline::pipe::getNormType($_self.getContext())">, "tensor<f64>",
           "::mlir::RankedTensorType">,
      BuildableType<"::veeline::pipe::getNormType($_builder.getContext())">;

def ProgramOp : Pipe_Op<"program", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The operations of one rank in one step, in order";
  let description = [{
    The order of the ops is the schedule; data flow within the rank is SSA. If the pipeline has
    replicas, the rank of this stage in each of them runs the program. If the stage has several
    ranks (`stage_replicas`), `replica` is the rank's number among them.

    Training runs a program again and again, so it is one turn of a loop. Ops that are `late` belong
    to the step before. The first step skips them, and after the last one they run alone. They take
    values of the step before as arguments of the program, which the `pipe.carry` at the end of the
    previous turn provides.

    Example:
    ```mlir
    pipe.program @net_rank0 of @net stage(0) {
      %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2x4xf32>
      pipe.send %y edge(0) activation microbatch(0) : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    FlatSymbolRefAttr:$pipeline,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$stage,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$replica,
    OptionalAttr<DictionaryAttr>:$memory
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `of` $pipeline `stage` `(` $stage `)` (`replica` `(` $replica^ `)`)? attr-dict-with-keyword $body
  }];
}

class Pipe_ProgramOp<string mnemonic, list<Trait> traits = []>
    : Pipe_Op<mnemonic, !listconcat(traits, [HasParent<"ProgramOp">])>;

class Pipe_ChunkWorkOp<string mnemonic> : Pipe_ProgramOp<mnemonic> {
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$microbatch,
    Variadic<AnyStaticShapeTensor>:$operands
  );
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    `chunk` `(` $chunk `)` `microbatch` `(` $microbatch `)` `(` $operands `)` attr-dict
    `:` functional-type($operands, $results)
  }];
}

def ForwardOp : Pipe_ChunkWorkOp<"forward"> {
  let summary = "F: a chunk's forward on one microbatch";
  let description = [{
    Takes the values of its incoming edges; gives the chunk's results, then
    its residuals.

    Example:
    ```mlir
    %y, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
}

def RecomputationOp : Pipe_ChunkWorkOp<"recomputation"> {
  let summary = "R: what a chunk's backward needs of its forward, computed again";
  let description = [{
    Takes what the chunk's F has kept, and gives values that its backward functions take. It needs
    no gradient, so it can run while the rank waits for one.

    Example:
    ```mlir
    %again = pipe.recomputation chunk(1) microbatch(0) (%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
  }];
}

/// Work that may be of the step before.
class Pipe_LateWorkOp<string mnemonic> : Pipe_ProgramOp<mnemonic> {
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$microbatch,
    Variadic<AnyStaticShapeTensor>:$operands,
    UnitAttr:$late
  );
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    (`late` $late^)? `chunk` `(` $chunk `)` `microbatch` `(` $microbatch `)` `(` $operands `)` attr-dict
    `:` functional-type($operands, $results)
  }];
}

def BackwardOp : Pipe_LateWorkOp<"backward"> {
  let summary = "B and W of a chunk on one microbatch, as one operation";
  let description = [{
    Gives the gradients of the chunk's incoming edges, and adds those of its parameters to their
    accumulators. A `late` one belongs to the step before (see `pipe.program`), which only pipelines
    that are `asynchronous` have. It stands before the others of its chunk.

    Example:
    ```mlir
    %dx = pipe.backward chunk(1) microbatch(0) (%dy, %r) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    ```
  }];
}

def BackwardInputOp : Pipe_ChunkWorkOp<"backward_input"> {
  let summary = "B: the gradients of a chunk's incoming edges";
  let description = [{
    Gives these gradients, then the values that it saves for W.

    Example:
    ```mlir
    %dx, %s = pipe.backward_input chunk(1) microbatch(0) (%dy, %r) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
}

def BackwardWeightOp : Pipe_LateWorkOp<"backward_weight"> {
  let summary = "W: the gradients of a chunk's parameters, accumulated";
  let description = [{
    A `late` one belongs to the step before (see `pipe.program`). It stands before the first F of
    its chunk.

    Example:
    ```mlir
    pipe.backward_weight chunk(1) microbatch(0) (%s) : (tensor<2x4xf32>) -> ()
    pipe.backward_weight late chunk(1) microbatch(3) (%of_step_before) : (tensor<2x4xf32>) -> ()
    ```
  }];
}

def AddOp : Pipe_ProgramOp<"add", [Pure, SameOperandsAndResultType]> {
  let summary = "The sum of two gradients of one value";
  let description = [{
    A value with several consumers gets one gradient from each; they are added
    in descending order of the consuming chunks, whatever the schedule.

    Example:
    ```mlir
    %d = pipe.add %d3, %d1 : tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$lhs, AnyStaticShapeTensor:$rhs);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def CopyOp : Pipe_ProgramOp<"copy", [SameOperandsAndResultType]> {
  let summary = "The same value at another place";
  let description = [{
    This is for a value whose memory is written again before a late op uses it.

    Example:
    ```mlir
    %kept = pipe.copy %x : tensor<2x4xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

/// About what a chunk keeps of a microbatch between F and backward, on its way
/// to the host's memory or back.
class Pipe_OffloadOp<string mnemonic> : Pipe_ProgramOp<mnemonic> {
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$microbatch,
    Variadic<AnyStaticShapeTensor>:$values
  );
}

/// One that gives the values at another place.
class Pipe_CopyingOffloadOp<string mnemonic> : Pipe_OffloadOp<mnemonic> {
  let results = (outs Variadic<AnyStaticShapeTensor>:$copies);
  let assemblyFormat = [{
    `chunk` `(` $chunk `)` `microbatch` `(` $microbatch `)` `(` $values `)` attr-dict
    `:` functional-type($values, $copies)
  }];
}

def OffloadOp : Pipe_CopyingOffloadOp<"offload"> {
  let summary = "Begins to copy what a chunk keeps to the host's memory";
  let description = [{
    The copies are in memory of the host, where no operation can use them but `pipe.reload`. Each
    `pipe.offload` of a chunk and a microbatch is followed by a `pipe.release`, a `pipe.reload` and a
    `pipe.restore`, in this order, within the same step. Never blocks.

    Example:
    ```mlir
    %away:2 = pipe.offload chunk(1) microbatch(0) (%x, %r) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
}

def ReleaseOp : Pipe_OffloadOp<"release"> {
  let summary = "Waits until what is offloaded has left";
  let description = [{
    Takes the values that `pipe.offload` copies. It is the last op that does, unless these are used by others:
    from here on their memory is free.

    Example:
    ```mlir
    pipe.release chunk(1) microbatch(0) (%x, %r) : tensor<2x4xf32>, tensor<2x4xf32>
    ```
  }];
  let assemblyFormat = [{
    `chunk` `(` $chunk `)` `microbatch` `(` $microbatch `)` `(` $values `)` attr-dict `:` type($values)
  }];
}

def ReloadOp : Pipe_CopyingOffloadOp<"reload"> {
  let summary = "Begins to copy what was offloaded back";
  let description = [{
    Takes the results of `pipe.offload`. From here on the memory of its own results is written. Never blocks.

    Example:
    ```mlir
    %coming:2 = pipe.reload chunk(1) microbatch(0) (%away#0, %away#1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
}

def RestoreOp : Pipe_CopyingOffloadOp<"restore"> {
  let summary = "Waits until what was offloaded is back";
  let description = [{
    Takes the results of `pipe.reload`. Its results are the values that were offloaded, in the memory of its
    operands.

    Example:
    ```mlir
    %back:2 = pipe.restore chunk(1) microbatch(0) (%coming#0, %coming#1) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
}

def CarryOp : Pipe_ProgramOp<"carry"> {
  let summary = "The values that late ops of the next turn take";
  let description = [{
    The last op of a program that has arguments: operand i is argument i of the next turn. An
    operand may be the handle of a receive, for which the next turn waits.

    Example:
    ```mlir
    pipe.carry %s, %x : tensor<2x4xf32>, tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyStaticShapeTensor, Pipe_HandleType]>>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def LengthOp : Pipe_ProgramOp<"length"> {
  let summary = "The length of a microbatch, on which all stages agree";
  let description = [{
    Stands before a chunk's forward if the model has a length (`pipe.lengths` on the pipeline). Its
    operands are the lengths that other stages, from which this chunk gets values, give for the
    microbatch; with `data`, the rank's own data count, too. The step fails if these lengths differ
    from each other, from what the rank knew before, or from all lengths that there are versions
    for. Other stages that get values of the chunk receive the result, as a message of direction
    `shape`, before these values.

    Example:
    ```mlir
    %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
    %m = pipe.length chunk(1) microbatch(0) (%told) : (tensor<i64>) -> tensor<i64>
    ```
  }];
  let arguments = (ins
    UnitAttr:$data,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$microbatch,
    Variadic<0DTensorOf<[I64]>>:$received
  );
  let results = (outs 0DTensorOf<[I64]>:$length);
  let assemblyFormat = [{
    (`data` $data^)? `chunk` `(` $chunk `)` `microbatch` `(` $microbatch `)` `(` $received `)` attr-dict
    `:` functional-type($received, $length)
  }];
}

class Pipe_MessageOp<string mnemonic, list<Trait> traits = []>
    : Pipe_ProgramOp<mnemonic, traits> {
  dag message = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$edge,
    Pipe_Direction:$direction,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$microbatch
  );
}

def EdgeValueOp : Pipe_MessageOp<"edge_value"> {
  let summary = "The value of an edge that another stage computes";
  let description = [{
    Stands for a message until `--pipe-insert-communication` decides how it travels. Direction
    `gradient` is the gradient of the edge's value, from the edge's consumer; `shape` is the length
    of the microbatch, from its producer, ahead of the value. On the edge of a parameter,
    `microbatch` is the number of the receiving rank within its stage, or 0 if the stage has a
    single rank. A `late` one belongs to the step before, like the op that computes it.

    Example:
    ```mlir
    %x = pipe.edge_value edge(0) activation microbatch(3) : tensor<2x4xf32>
    %dy = pipe.edge_value late edge(0) gradient microbatch(3) : tensor<2x4xf32>
    ```
  }];
  let arguments = !con(message, (ins UnitAttr:$late));
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = [{
    (`late` $late^)? `edge` `(` $edge `)` $direction `microbatch` `(` $microbatch `)` attr-dict `:` type($value)
  }];
}

/// A message as a transport sees it.
class Pipe_TransportOp<string mnemonic, list<Trait> traits = []>
    : Pipe_MessageOp<mnemonic, traits> {
  dag transport = (ins
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "1">:$stream,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$communicator,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$group
  );
  string transportFormat = [{
    (`stream` `(` $stream^ `)`)? (`communicator` `(` $communicator^ `)`)? (`group` `(` $group^ `)`)?
  }];
}

/// A send or a receive, which may be of several parts.
class Pipe_PartsOp<string mnemonic, list<Trait> traits = []>
    : Pipe_TransportOp<mnemonic, traits> {
  dag parts = (ins DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$parts);
  string partsFormat = "(`parts` `(` $parts^ `)`)? ";
}

def SendOp : Pipe_PartsOp<"send"> {
  let summary = "Sends a value along an edge, to the stage at its other end";
  let description = [{
    Stands where the value is defined. It may block until the receive is posted.

    If the value has no other use, the operation that makes it computes straight into the memory of
    the receiver, if that is shared: it then waits for the receive before it begins. A send that is
    `copying` keeps the value in the rank's own memory until it is sent.

    `stream` is the stream of the device that it is issued on (1 by default; computations are on
    stream 0), `communicator` the communicator (0 by default). Consecutive sends and receives with
    one `group` are issued as a group, which completes as a whole.

    A message of several `parts` travels as that number of messages, of consecutive elements. The
    first parts are larger if the number does not divide the elements. While one part travels, the
    sender copies the next, or the receiver the one before. All messages of an edge and direction
    have the same number of parts.

    A `late` send sends a value of the step before.

    Example:
    ```mlir
    pipe.send %y edge(1) activation microbatch(0) : tensor<2x4xf32>
    pipe.send copying %z edge(2) activation microbatch(0) stream(0) group(3) parts(4) : tensor<2x4xf32>
    ```
  }];
  let arguments = !con((ins AnyStaticShapeTensor:$value), message, transport,
                       (ins UnitAttr:$copying), parts, (ins UnitAttr:$late));
  let assemblyFormat = "(`late` $late^)? (`copying` $copying^)? $value `edge` `(` $edge `)` $direction `microbatch` `(` $microbatch `)` " #
      transportFormat # partsFormat # " attr-dict `:` type($value)";
}

def RecvOp : Pipe_PartsOp<"recv"> {
  let summary = "Posts a receive";
  let description = [{
    From here on the sender may write the memory of the value. Never blocks. For `stream`,
    `communicator`, `group`, `parts` and `late` see `pipe.send`.

    Example:
    ```mlir
    %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2x4xf32>>
    ```
  }];
  let arguments = !con(message, transport, parts, (ins UnitAttr:$late));
  let results = (outs Pipe_HandleType:$handle);
  let assemblyFormat = "(`late` $late^)? `edge` `(` $edge `)` $direction `microbatch` `(` $microbatch `)` " #
      transportFormat # partsFormat # " attr-dict `:` qualified(type($handle))";
}

def AllReduceOp : Pipe_TransportOp<"all_reduce"> {
  let summary = "Adds up a gradient over the ranks of a stage";
  let description = [{
    Posts the sum that the rank has accumulated for a parameter and a chunk, after the last W of
    that chunk. The value of the handle is the sum over the ranks of the same stage, in ascending
    order of the replicas of the pipeline and, within one, of the ranks of the stage. It replaces
    the accumulator. Never blocks. A `late` one belongs to the step before. With a `microbatch` it
    is for that microbatch alone, as `pipe.gradient` is.

    A `scattered` one gives each rank the sums of what it needs: of its share of the update, and of
    the parts of the norm that it computes (`reducedElements` in veeline/Base/Shards.h). Its other
    elements are not specified. So only updates of pipelines with `shard_optimizer` take them.

    For `stream`, `communicator` and `group` see `pipe.send`. The communicator has the ranks of this
    stage: it is 1 + the stage.

    Example:
    ```mlir
    %h = pipe.all_reduce param(0) chunk(1) communicator(2) : !pipe.handle<tensor<4x4xf32>>
    %g = pipe.wait %h : !pipe.handle<tensor<4x4xf32>>
    ```
  }];
  let arguments = !con((ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk
  ), transport, (ins
    UnitAttr:$late,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$microbatch,
    UnitAttr:$scattered
  ));
  let results = (outs Pipe_HandleType:$handle);
  let assemblyFormat = "(`late` $late^)? (`scattered` $scattered^)? `param` `(` $param `)` `chunk` `(` $chunk `)` " #
      "(`microbatch` `(` $microbatch^ `)`)? " # transportFormat # " attr-dict `:` qualified(type($handle))";
}

def AllGatherOp : Pipe_TransportOp<"all_gather", [
    TypesMatchWith<"the handle is of the value", "handle", "value",
                   "::llvm::cast<HandleType>($_self).getValue()">]> {
  let summary = "Gathers the shares of a parameter that the ranks of a stage have updated";
  let description = [{
    This is for pipelines with `shard_optimizer`. Takes the result of a `pipe.update`, of which the
    rank has computed its share. The value of the handle is the whole parameter, in its place. Never
    blocks. A `late` one belongs to the step before: it takes the result of a late update, or that
    of an update in the turn before, as an argument of the program. The turn waits for it before the
    first op that uses the parameter.

    For `stream`, `communicator` and `group` see `pipe.all_reduce`.

    Example:
    ```mlir
    %h = pipe.all_gather late %of_turn_before param(0) communicator(2) : !pipe.handle<tensor<4x4xf32>>
    %v = pipe.wait %h : !pipe.handle<tensor<4x4xf32>>
    ```
  }];
  let arguments = !con((ins
    AnyStaticShapeTensor:$value,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param
  ), transport, (ins UnitAttr:$late));
  let results = (outs Pipe_HandleType:$handle);
  let assemblyFormat = "(`late` $late^)? $value `param` `(` $param `)` " # transportFormat #
      " attr-dict `:` qualified(type($handle))";
}

def WaitOp : Pipe_ProgramOp<"wait", [
    TypesMatchWith<"the result is the handle's value", "handle", "value",
                   "::llvm::cast<HandleType>($_self).getValue()">]> {
  let summary = "Blocks until a posted receive, sum or gather is complete, and gives its value";
  let description = [{
    Each handle is waited for once.

    Example:
    ```mlir
    %x = pipe.wait %h : !pipe.handle<tensor<2x4xf32>>
    ```
  }];
  let arguments = (ins Pipe_HandleType:$handle);
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = "$handle attr-dict `:` qualified(type($handle))";
  let hasVerifier = 1;
}

def GradientOp : Pipe_ProgramOp<"gradient"> {
  let summary = "The gradient that a chunk has accumulated for a parameter";
  let description = [{
    `param` counts the pipeline's `pipe.param` ops. Reads the accumulator of (parameter, chunk)
    after the last W of that chunk. A `late` one reads the sum of the step before. With a
    `microbatch`, in an `asynchronous(stashed)` pipeline, it is the gradient of that microbatch
    alone, and follows its backward.

    Example:
    ```mlir
    %g = pipe.gradient param(0) chunk(1) : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$chunk,
    UnitAttr:$late,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$microbatch
  );
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = [{
    (`late` $late^)? `param` `(` $param `)` `chunk` `(` $chunk `)` (`microbatch` `(` $microbatch^ `)`)? attr-dict
    `:` type($value)
  }];
}

def SquaredNormOp : Pipe_ProgramOp<"squared_norm"> {
  let summary = "The square of the norm of a parameter's gradient, at its home";
  let description = [{
    Has the operands of the parameter's `pipe.update`: the norm is that of their sum, scaled as in
    the update.

    Example:
    ```mlir
    %n = pipe.squared_norm param(0) (%g0, %g1) : tensor<4x4xf32>, tensor<4x4xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param,
    Variadic<AnyStaticShapeTensor>:$gradients
  );
  let results = (outs Pipe_NormType:$norm);
  let assemblyFormat = [{
    `param` `(` $param `)` `(` $gradients `)` attr-dict `:` type($gradients)
  }];
  let hasVerifier = 1;
}

def GatherNormsOp : Pipe_ProgramOp<"gather_norms", [AttrSizedOperandSegments]> {
  let summary = "The squares of the norms of all parameters, as far as they are known";
  let description = [{
    Has an element for each parameter of the pipeline: for `params` the given norms, for other
    parameters those of `before`, or 0 without `before`. The stages send it from the first to the
    last, and each adds its own norms. The complete result then travels all the way back.

    Example:
    ```mlir
    %some = pipe.gather_norms [2] (%n) -> tensor<3xf64>
    %all = pipe.gather_norms [] () after %complete : tensor<3xf64> -> tensor<3xf64>
    ```
  }];
  let arguments = (ins
    DenseI64ArrayAttr:$params,
    Variadic<Pipe_NormType>:$norms,
    Optional<1DTensorOf<[F64]>>:$before
  );
  let results = (outs 1DTensorOf<[F64]>:$all);
  let assemblyFormat = [{
    $params `(` $norms `)` (`after` $before^ `:` type($before))? attr-dict `->` type($all)
  }];
  let hasVerifier = 1;
}

def ClipOp : Pipe_ProgramOp<"clip"> {
  let summary = "The factor of gradients in updates that keeps their global norm within its limit";
  let description = [{
    The factor is 1 if the norm is within the limit. The limit is a setting of the step, and so is
    what happens if a gradient is infinite or NaN. The norms are summed in the order of the
    parameters, so every rank gets the same bits, however many stages there are.

    Example:
    ```mlir
    %factor = pipe.clip %all : tensor<3xf64>
    ```
  }];
  let arguments = (ins 1DTensorOf<[F64]>:$norms);
  let results = (outs Pipe_NormType:$factor);
  let assemblyFormat = "$norms attr-dict `:` type($norms)";
}

def ValidateOp : Pipe_ProgramOp<"validate"> {
  let summary = "Checks whether the updates of the step before were right";
  let description = [{
    This is for pipelines with `clip_sync(optimistic)`, whose updates keep a copy of what they
    change and do not wait for the norm of all gradients. It always belongs to the step before, and
    waits until all ranks have ended that step.

    If the norm was within its limit, the turn continues, and sums of gradients begin at zero here.
    Otherwise the turn is void: what follows computes nothing and adds to no sum, but still sends
    and receives. Each `pipe.update` then restores the parameter and the optimiser's state, and
    updates them again as the norm requires. After that the step begins again.

    It stands before everything that adds to a gradient, once in a program.

    Example:
    ```mlir
    pipe.validate
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def UpdateOp : Pipe_ProgramOp<"update", [AttrSizedOperandSegments]> {
  let summary = "One optimiser update of a parameter at its home";
  let description = [{
    Adds the gradients in the given order (ascending chunks), scales the sum by 1/m (by 1/(d*m) with
    d replicas) and updates the parameter's value and the optimiser's state. The result is the new
    value, for the ranks that hold copies. A `late` update is that of the step before. It stands
    after the last late W that adds to its gradients, and before the first F that uses the
    parameter. The accumulators of its gradients are zero from there on.

    In an `asynchronous` pipeline it keeps the old value, for ops that still use it. With a
    `microbatch` the sum is of that microbatch alone, and not scaled by 1/m.

    In a pipeline with `clip_sync(barrier)` the sum is also scaled by a `factor`, that of a
    `pipe.clip`.

    In a pipeline with `shard_optimizer`, on a stage of several ranks in all replicas, a rank
    updates only its share of the elements, and a `pipe.all_gather` takes the result.

    Example:
    ```mlir
    %w = pipe.update param(0) (%g0, %g1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v = pipe.update param(1) (%g2) clipped %factor : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param,
    Variadic<AnyStaticShapeTensor>:$gradients,
    Optional<Pipe_NormType>:$factor,
    UnitAttr:$late,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$microbatch
  );
  let results = (outs AnyStaticShapeTensor:$value);
  let assemblyFormat = [{
    (`late` $late^)? `param` `(` $param `)` (`microbatch` `(` $microbatch^ `)`)? `(` $gradients `)` (`clipped` $factor^)? attr-dict `:`
    functional-type($gradients, $value)
  }];
  let hasVerifier = 1;
}

def AssignOp : Pipe_ProgramOp<"assign"> {
  let summary = "Replaces this rank's copy of a parameter";
  let description = [{
    A `late` one follows a late update.

    Example:
    ```mlir
    pipe.assign param(0) %w : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$param,
    AnyStaticShapeTensor:$value,
    UnitAttr:$late
  );
  let assemblyFormat = "(`late` $late^)? `param` `(` $param `)` $value attr-dict `:` type($value)";
}

#endif // VEELINE_DIALECT_PIPE_IR_PROGRAMOPS
