//===- artifact.h - the file between compile and train ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact is one file: a header, the metadata below as JSON, one ELF
// shared object per rank and program, the image with the kernels of a GPU, and
// the stored values of parameters and constants. The compiler fills these
// structs and calls writeArtifact; the runtime reads them back with
// readArtifact, which accepts only what `validate` accepts. docs/artifact.md
// has the format.
//
// Offsets and sizes are bytes, strides are elements, indices count from 0.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ARTIFACT_H
#define VEELINE_ARTIFACT_H

#include "veeline/Base/Optimizers.h"
#include "veeline/library_calls.h"
#include "veeline/status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace veeline::artifact {

/// The version of the file format that is written, and the oldest one that is
/// read. Files of version 15 lack Batch::tokens, those up to 16 Op::late and
/// the names of a rank's other step functions. Those up to 17 for GPUs have
/// other places for settings and results, those up to 19 fewer settings, and
/// those up to 20 not one for each parameter. Those up to 21 lack
/// Program::forwardOnly, and share out no updates; those up to 22 weight no
/// loss, and give no tensors.
inline constexpr uint32_t formatVersion = 23, oldestFormatVersion = 15,
                          oldestOfGpus = 21;

using veeline::name;
using veeline::Optimizer;

/// Where the initial values of a parameter are stored.
struct StoredValues {
  int32_t section = 0;           ///< Index into Artifact::values.
  DataType type = DataType::f32; ///< A float, no wider than the parameter.
};

/// How a parameter starts. The meaning of the two numbers:
/// constant(first), normal(first = mean, second = standard deviation),
/// uniform(first = low, second = high). The kind `values`, and no other, has
/// `stored`.
struct Initializer {
  enum class Kind { zeros, ones, constant, normal, uniform, values };
  Kind kind = Kind::zeros;
  double first = 0;
  double second = 0;
  std::optional<StoredValues> stored = std::nullopt;
};

struct Parameter {
  std::string name; ///< Unique among parameters.
  std::vector<int64_t> shape;
  DataType type = DataType::f32; ///< f32 or f64.
  Initializer init;
};

/// An argument with one slice a microbatch.
struct Batch {
  std::string name;           ///< Unique among batches and buffers.
  std::vector<int64_t> shape; ///< Of one microbatch.
  DataType type = DataType::f32;
  /// The valid values: [first, second) for integers, [first, second - 1] for
  /// floats that are converted to integers. The runtime refuses data with any
  /// other; compiled code relies on that.
  std::optional<std::pair<int64_t, int64_t>> range;
  /// The dimension of the shape that is the length, or -1; its extent is the
  /// bound. A shorter microbatch begins where one of full length would, and
  /// its elements have no gaps.
  int32_t lengthDim = -1;
  /// Its integers choose rows of a table: `train` counts them.
  bool tokens = false;
  /// What the loss of a microbatch is multiplied by, which the runtime finds
  /// out (Metadata::lossWeight). At most one, a scalar of f32 or f64.
  bool lossWeight = false;
};

/// The number of samples in a microbatch: the leading extent that occurs, in
/// any dimension, in the most batch arguments. Where data have time first, that
/// is the leading extent of the labels. 1 if no argument has a leading extent;
/// one that is the length does not count.
int64_t countSamples(const std::vector<Batch> &batches);

/// A constant argument that the user gives.
struct Buffer {
  std::string name;
  std::vector<int64_t> shape;
  DataType type = DataType::f32;
  std::optional<std::pair<int64_t, int64_t>> range; ///< As in Batch.
  /// The factor of the loss, which the runtime gives, a scalar f32 or f64; one
  /// buffer at most.
  bool lossScale = false;
};

/// A result of the model: the first is the loss, others are metrics, or tensors
/// that forwards alone give.
struct Result {
  std::string name;
  DataType type = DataType::f32; ///< Of a loss or a metric: f32 or f64.
  /// Whether it is a tensor, and its shape, of one microbatch.
  bool isTensor = false;
  std::vector<int64_t> shape = {};
};

enum class OpKind {
  forward,
  backward, ///< Fused.
  backwardInput,
  backwardWeight,
  send, ///< From acquiring the slot to committing it; only the commit where an
        ///< op computes into the slot.
  recv, ///< The wait.
  update,
  allReduce, ///< Posts the gradients of a chunk, to be added over ranks.
  allReduceWait,
  norm,      ///< The square of the norm of a parameter's gradient.
  validate,  ///< Waits until updates of the step before are known to be right.
  allGather, ///< Posts shares of parameters, which the stage's ranks exchange.
  allGatherWait,
  offload, ///< Begins copies to the host's memory; on a CPU, all of them.
  reload   ///< The same of copies back.
};
constexpr bool postsReduction(OpKind kind) {
  return kind == OpKind::allReduce || kind == OpKind::allGather;
}
constexpr bool waitsForReduction(OpKind kind) {
  return kind == OpKind::allReduceWait || kind == OpKind::allGatherWait;
}

/// "F", "BW", "B", "W", "send", "recv", "update", "all-reduce",
/// "all-reduce-wait", "norm", "validate", "all-gather", "all-gather-wait",
/// "offload", "reload": the names of the timeline.
std::string_view name(OpKind kind);

/// One entry of a rank's table of operations, in program order.
struct Op {
  OpKind kind = OpKind::forward;
  int32_t chunk = -1;      ///< Of F, B, W, offload, reload; -1 elsewhere.
  int32_t microbatch = -1; ///< -1 for what is done once a step.
  int32_t channel = -1;    ///< Of send and recv; index into Program::channels.
  int32_t param = -1;      ///< Of update and norm; index into Metadata::params.
  int32_t reduction =
      -1; ///< Of all-reduces and all-gathers; index into Rank::reductions.
  int32_t stream = 0; ///< On a GPU: below Rank::computeStreams.
  /// Of the step before; of BW, W, update, all-reduces and messages.
  bool late = false;
  /// The simulator's times since the begin of the step, in microseconds;
  /// negative where nothing was predicted.
  double predictedBegin = -1;
  double predictedEnd = -1;
};

enum class RegionKind {
  param,
  state,
  gradient,
  residual, ///< What F keeps for B and W.
  saved,    ///< What B saves for W.
  edge,     ///< Values of edges, and their gradients, that this rank computes.
  message,
  workspace,
  other,
  // On a GPU:
  input,    ///< A batch argument or a buffer.
  constant, ///< A dense constant of chunk functions.
  library,  ///< Workspace of cuBLASLt.
  settings, ///< veeline_settings.
  report    ///< Results, and the parts of norms.
};

/// One planned range of an arena. Regions may share bytes if their lifetimes do
/// not overlap. The lifetime is `firstOp` to `lastOp` (inclusive, indices into
/// Rank::ops); -1 and -1: the whole run. Where `lastOp` is smaller, it is an op
/// of the next step.
struct Region {
  std::string name;
  RegionKind kind = RegionKind::other;
  int64_t offset = 0;
  int64_t bytes = 0;
  int32_t firstOp = -1;
  int32_t lastOp = -1;
};

/// What is offloaded of one chunk and microbatch, as its copies are predicted:
/// a rank has one link to the host and one back, each of which carries one copy
/// at a time.
struct HostCopy {
  int32_t offload = -1, reload = -1; ///< Ops, which begin the copies.
  /// The op before which the rank waits for the end of the copy to the host.
  int32_t releasedBefore = -1;
  double microseconds = 0; ///< Of either copy.
};

/// An accumulator: the gradient of one parameter by one chunk, summed over the
/// microbatches of the step. It has the type and shape of the parameter. The
/// step zeroes it at its begin, and it keeps its sum after the step, until the
/// next one begins: `train --verify` reads it there.
struct Accumulator {
  int32_t chunk = 0;
  int64_t offset = 0;
};

/// One entry of a rank's table of parameters.
struct RankParam {
  int32_t param = 0;       ///< Index into Metadata::params.
  int64_t valueOffset = 0; ///< In the arena.
  /// The optimiser's state, as stateShapes() says; -1 where this rank does not
  /// update the parameter or there is no state.
  int64_t stateOffset = -1;
  std::vector<Accumulator> gradients; ///< Of this rank's chunks, ascending.
  /// This rank updates the parameter; others receive its value. The ranks of
  /// exactly one stage of a program are a parameter's home.
  bool isHome = false;
  /// Of an asynchronous program: where older values of the parameter are kept,
  /// each of which is the initial one at first.
  std::vector<int64_t> versionOffsets = {};
  /// Over how many ranks of its stage the update is shared out: the state is
  /// that of `shardElements` of the parameter (veeline/Base/Shards.h).
  int32_t shards = 1;
};

/// What the optimiser's state on each of so many ranks is of: the parameter's
/// shape, or the elements of a share.
std::vector<int64_t> shapeOfShare(const std::vector<int64_t> &shape,
                                  int32_t shards);

/// Contiguous accumulators of one type. They are added up in place over the
/// ranks of a stage in all replicas; d is the number of these ranks. Or a
/// parameter that is gathered.
struct ReducedPiece {
  DataType type = DataType::f32; ///< f32 or f64.
  int64_t offset = 0;
  int64_t numElements = 0;
  /// The buffer for contributions of the other ranks, from the post to the end
  /// of the wait: d-1 places of ceil(numElements / d) elements, `stride` bytes
  /// apart. Only ranks in processes of their own use it.
  int64_t bufferOffset = 0;
  int64_t stride = 0;
  /// On a GPU: the kernel that adds the contributions, see docs/cuda-design.md.
  /// It is launched with ceil(elements / 1024) blocks.
  int32_t sumKernel = -1;
  /// The piece is a parameter, and each of the ranks has its own share
  /// (`ownShard`). All get those of the others; nothing is added, so there are
  /// no contributions and no kernel.
  bool gathers = false;
};

/// The gradients of one chunk, which are added up over the ranks together, or
/// parameters that are gathered, of which `chunk` uses the first one.
struct Reduction {
  int32_t chunk = 0;
  std::vector<ReducedPiece> pieces;
  int32_t stream = 1;       ///< As in Channel.
  int32_t communicator = 0; ///< As in Channel.
};

/// On a GPU: a batch argument (all microbatches) or a buffer that the rank
/// reads. The runtime writes it before each step.
struct Input {
  int32_t input = 0; ///< Index as in veeline_step_fn's `batch`.
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// On a GPU: a dense constant of chunk functions, which the runtime writes
/// before the first step.
struct Constant {
  int32_t section = 0; ///< Index into Artifact::values.
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// A result that is a tensor, where its microbatches are, one after the other,
/// once the step has run. A rank writes those that it runs.
struct Output {
  int32_t result = 0; ///< Index into Metadata::results.
  int64_t offset = 0;
};

/// What one rank runs, in each replica.
struct Rank {
  std::string stepSymbol; ///< A veeline_step_fn in the object.
  /// Where ops are late, two more: the first step, without them, and what is
  /// late alone, which follows the last step. Else empty.
  std::string firstStepSymbol, lateSymbol;
  bool hasLate() const { return !lateSymbol.empty(); }
  /// All of the functions that it runs.
  std::vector<std::string> stepSymbols() const {
    if (!hasLate())
      return {stepSymbol};
    return {stepSymbol, firstStepSymbol, lateSymbol};
  }
  int32_t object = 0; ///< Index into Artifact::objects.
  int64_t arenaBytes = 0;
  /// What the rank offloads, in the host's memory: in how much of that, and in
  /// how many parts, which veeline_offload numbers.
  int64_t hostBytes = 0;
  int32_t numOffloads = 0;
  std::vector<HostCopy> hostCopies; ///< Empty where nothing is known of them.
  std::vector<Region> hostRegions;  ///< In the host's memory; as hostCopies.
  /// The largest sum of live bytes at any op, as planned (<= arenaBytes).
  int64_t peakLiveBytes = 0;
  std::vector<Region> regions;
  std::vector<RankParam> params; ///< Indexed by veeline_update.
  /// Where Muon updates work: `newtonSchulzElements` of the largest matrix that
  /// the rank updates. -1: there is none.
  int64_t updateWorkspace = -1;
  std::vector<Gemm> gemms;               ///< Indexed by veeline_gemm.
  std::vector<Convolution> convolutions; ///< Indexed by veeline_convolution.
  std::vector<Reduction> reductions;     ///< Indexed by veeline_reduce_post.
  std::vector<Op> ops;                   ///< Indexed by veeline_op_begin.
  std::vector<Output> outputs;

  // On a GPU; the host has the defaults.
  std::vector<Input> inputs;
  /// Where the runtime keeps those that late ops read, of the step before.
  std::vector<Input> inputsBefore;
  std::vector<Constant> constants; ///< Indexed by veeline_constant.
  /// Indexed by veeline_attention and veeline_attention_backward.
  std::vector<Attention> attentions;
  /// The streams that the step is issued to, and the events that order them.
  int32_t computeStreams = 1;
  int32_t events = 0;
  /// The workspace of libraries, shared out evenly among the compute streams;
  /// 0 bytes at -1 if no library is called.
  int64_t libraryOffset = -1;
  int64_t libraryBytes = 0;
  /// Of a veeline_settings for each entry of `params`, 256 bytes apart, and
  /// room for one where there is no entry; -1: none. Of a `stashed` program
  /// there are as many of all these as microbatches. With a `barrier` there are
  /// two, of which the second one is for when the step before changed nothing.
  int64_t settingsOffset = -1;
  int32_t numSettings = 1;
  /// Of a veeline_clipping and the settings after it, with a `barrier`.
  int64_t clipOffset = -1;
  /// Of that of the step before, for late updates; -1: there are none.
  int64_t settingsBeforeOffset = -1;
  /// double[params][normParts]: partial sums of the squares of the averaged
  /// gradients, which the runtime adds up in order. 0 parts at -1 where the
  /// rank updates nothing.
  int64_t normsOffset = -1;
  int32_t normParts = 0;
  /// [results][microbatches of the replica], 8 bytes each; -1 where the rank
  /// reports nothing.
  int64_t resultsOffset = -1;
  bool readsBack = false; ///< Calls veeline_load: no graph can be captured.
};

/// How updates get to know the norm of all gradients.
enum class ClipSync {
  none,
  barrier,   ///< They wait for it.
  optimistic ///< They keep what they change. The next step finds out.
};

/// Which parameters a step uses that waits for no update
/// (docs/asynchronous.md).
enum class Asynchronous {
  none,           ///< It waits for all updates of the step before.
  doubleBuffered, ///< Those before the update of the step before.
  stashed         ///< Each microbatch has updates of its own.
};

enum class ChannelKind {
  activation,    ///< `edge` is an edge.
  gradient,      ///< `edge` is an edge.
  paramGradient, ///< `edge` is a parameter: an accumulator on its way home.
  paramValue,    ///< `edge` is a parameter: its new value.
  shape,         ///< `edge` is an edge: the length of a microbatch, an i64.
  norms          ///< `edge` is the program's: squares of norms of gradients.
};

constexpr bool isOfParam(ChannelKind kind) {
  return kind == ChannelKind::paramGradient || kind == ChannelKind::paramValue;
}

/// One edge in one direction between two ranks.
struct Channel {
  ChannelKind kind = ChannelKind::activation;
  int32_t edge = 0;
  int32_t fromRank = 0;
  int32_t toRank = 0;
  int64_t messageBytes = 0; ///< Of the largest message.
  int32_t messagesPerStep = 0;
  DataType type = DataType::f32;   ///< Of the elements of a message.
  std::vector<int64_t> shape = {}; ///< Of the largest message.
  /// The shape of a message for each of Metadata::lengths; empty if all
  /// messages have the same.
  std::vector<std::vector<int64_t>> lengthShapes = {};
  /// The microbatch of each message of a step, in order; empty where
  /// `lengthShapes` is.
  std::vector<int32_t> microbatches = {};
  /// The number of parts in which a message travels: at most the number of
  /// elements of the shortest message.
  int32_t parts = 1;
  int32_t stream = 1;       ///< On a GPU; 0 is that of the computation.
  int32_t communicator = 0; ///< Of NCCL, which runs its units in order.
  /// The stream of the receiver, if it is another: a rank's units on `stream`
  /// and on this one run side by side. -1: the same.
  int32_t receiveStream = -1;
  /// So many messages, the first ones of a turn, are of the step before. The
  /// first step goes without them.
  int32_t lateMessages = 0;

  int32_t streamOf(bool isSend) const {
    return isSend || receiveStream < 0 ? stream : receiveStream;
  }

  /// Of a message whose microbatch has Metadata::lengths[length].
  const std::vector<int64_t> &shapeOf(size_t length) const {
    return lengthShapes.empty() ? shape : lengthShapes[length];
  }
  int64_t bytesOf(size_t length) const {
    return lengthShapes.empty() ? messageBytes
                                : artifact::bytesOf(type, lengthShapes[length]);
  }
  /// Of message `number`, counted since the start; `microbatches` is not empty.
  int32_t microbatchOf(uint32_t number) const {
    return microbatches[(number + static_cast<uint32_t>(lateMessages)) %
                        microbatches.size()];
  }
};

/// What a chunk costs and holds for one microbatch, as the scheduler assumed.
/// It is for `inspect` and `schedule`; the runtime does not need it.
struct Chunk {
  std::string name;
  int32_t stage = 0;
  double forwardCost = 0; ///< In microseconds; the next ones too.
  double backwardInputCost = 0;
  double backwardWeightCost = 0;
  double backwardSharedCost = 0; ///< A fused backward takes B + W less this.
  /// How much of these costs is repeated work: of F in B, in W and in a fused
  /// backward, and of B in W.
  double forwardInInput = 0;
  double forwardInWeight = 0;
  double forwardInFused = 0;
  double inputInWeight = 0;
  /// The rest of each cost divided by the cost model's estimate: 1 without a
  /// profile. Repeated work has the scale of the function it repeats.
  double forwardScale = 1;
  double backwardInputScale = 1;
  double backwardWeightScale = 1;
  int32_t pieces = 1;        ///< Of the model, at least 1.
  int64_t residualBytes = 0; ///< Of one microbatch.
  /// False where no input has a gradient: all of the backward is then in W.
  bool hasBackwardInput = true;
  /// Bytes that each operation adds, negative where it releases; their sum is
  /// 0.
  int64_t forwardMemory = 0;
  int64_t backwardInputMemory = 0;
  int64_t backwardWeightMemory = 0;
};

/// A value that one chunk makes and a later one uses; for `schedule`.
struct Edge {
  int32_t from = 0;
  int32_t to = 0;
  int64_t bytes = 0;          ///< Of one message.
  double forwardTransfer = 0; ///< In microseconds, between ranks; next one too.
  double backwardTransfer = 0;
  bool carriesGradient = true;
};

/// One way to run a step of the model.
struct Program {
  /// "pipeline" (what `train` runs), "sequential" (the same chunks one after
  /// the other on one rank), "reference" (the unpartitioned model),
  /// "evaluation" (what `eval` runs: forwards alone), or "weights".
  std::string name;
  std::string schedule;       ///< "zb-v", ...
  int32_t stages = 1;         ///< p.
  int32_t chunksPerStage = 1; ///< v.
  /// d: the number of pipelines side by side, each on m microbatches.
  int32_t replicas = 1;
  /// The number of ranks of each stage in one replica; empty: one each. Rank i
  /// of w runs microbatches i, i + w, ...
  std::vector<int32_t> stageReplicas;
  ClipSync clipSync = ClipSync::none;
  Asynchronous asynchronous = Asynchronous::none;
  /// Whether it only computes results: it has no gradients, no state of the
  /// optimiser, and no updates.
  bool forwardOnly = false;
  /// Whether it computes the weights of microbatches, in the place of the loss:
  /// forwards alone, without parameters, on one rank of the host whatever the
  /// artifact's target is.
  bool weighs = false;
  /// The number of microbatches in a step, if it is not m; else 0. It is 1 in
  /// the sequential program that verifies ranks which each add up some of a
  /// replica's microbatches.
  int32_t microbatches = 0;
  std::vector<Chunk> chunks; ///< Empty, or all of them in model order.
  std::vector<Edge> edges;   ///< Between chunks, from < to.
  std::vector<Channel> channels;
  std::vector<Rank> ranks; ///< Those of each stage, in order.

  /// Where a rank is: its stage, its replica, and its number among the stage's
  /// ranks in that replica.
  struct Place {
    int32_t stage = 0;
    int32_t replica = 0;
    int32_t member = 0;
  };
  /// One for each rank, where `ranks` and `channels` are those of all replicas
  /// (see `withAllReplicas`). Empty in a file, where they are those of one.
  std::vector<Place> places;

  Place placeOf(size_t rank) const;
  /// The position of a rank among those of its stage, see ranksOf.
  int32_t memberOf(size_t rank) const {
    Place place = placeOf(rank);
    return place.replica * widthOf(place.stage) + place.member;
  }
  /// How many a replica runs in a step, if that of the model has `m`.
  int32_t microbatchesOf(int32_t m) const {
    return microbatches ? microbatches : m;
  }
  /// The number of ranks of a stage in one replica.
  int32_t widthOf(int32_t stage) const {
    return stageReplicas.empty() ? 1
                                 : stageReplicas[static_cast<size_t>(stage)];
  }
  /// Whether a rank leaves work of a step to the next one.
  bool hasLate() const {
    for (const Rank &rank : ranks)
      if (rank.hasLate())
        return true;
    return false;
  }
  /// The ranks of a stage in the order in which their gradients are added up:
  /// by replica, then member.
  std::vector<int32_t> ranksOf(int32_t stage) const;
};

/// `program`, as in a file, expanded to the ranks and channels of all replicas:
/// n*d ranks for d replicas of n. Channel c of replica r has number
/// r * (channels of a replica) + c, in ops too. `order` says which rank is
/// where: "stages-first" (rank r*n + i is rank i of replica r),
/// "replicas-first" (rank i*d + r), or a list of the ranks of replica 0, then
/// 1, and so on, separated by commas. The error says what is wrong with it.
Expected<Program> withAllReplicas(const Program &program,
                                  const std::string &order);

/// A kernel of an image.
struct Kernel {
  std::string name; ///< A symbol of the image, unique.
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::array<int32_t, 3> block = {1, 1, 1};
  int32_t sharedBytes = 0;  ///< Dynamic, beyond what the image says.
  int32_t numArguments = 0; ///< Each in one place of 8 bytes.
};

/// The code of an artifact that runs on a GPU.
struct DeviceCode {
  std::vector<std::string> chips; ///< Native code: "sm_80", ...
  std::string ptx;     ///< "sm_80": PTX for this and later chips; empty: none.
  std::string toolkit; ///< "13.0", of the native code; empty: there is none.
  std::vector<Kernel> kernels; ///< Indexed by veeline_launch.
};

struct Metadata {
  std::string model;
  /// Of the model's structure: a profile serves all models with the same one.
  std::string fingerprint;
  std::string cpu; ///< As LLVM names it: "znver4", "x86-64-v3", ...
  /// Instruction set extensions that the objects need, as LLVM names the
  /// features of an x86 subtarget: "avx512f", "fma", ... Names that the table
  /// in Cpu.cpp lacks (tuning flags) are not checked.
  std::vector<std::string> cpuFeatures;
  Optimizer optimizer = Optimizer::sgd;
  bool errorFeedback = false; ///< The state has the update before.
  int32_t microbatches = 1;   ///< m.
  /// The lengths that a microbatch can have, ascending: chunk functions have a
  /// version for each. Empty if the length does not vary.
  std::vector<int64_t> lengths;
  /// What the artifact was compiled with, in the order to print.
  std::vector<std::pair<std::string, std::string>> options;

  std::vector<Result> results; ///< At least one: the loss.
  /// The result by which losses of microbatches are weighted; 0: by none. Then
  /// a batch argument has it, and where the artifact trains, one program
  /// weighs.
  int32_t lossWeight = 0;
  std::vector<Parameter> params;
  std::vector<Batch> batches;
  std::vector<Buffer> buffers;
  std::vector<Program> programs;
  std::string target = "host";      ///< Or "cuda".
  std::optional<DeviceCode> device; ///< Of "cuda", and only of it.

  /// None where there is no such program.
  const Program *findProgram(std::string_view programName) const;
  /// Whether the loss is multiplied by a number that the runtime gives.
  bool scalesLoss() const;
};

struct Artifact {
  Metadata metadata;
  std::vector<std::string> objects; ///< Bytes of ELF shared objects.
  /// What the driver of a GPU loads: a fat binary, native code or PTX. Empty
  /// where Metadata::device is none.
  std::string image;
  /// Initial values of parameters, and constants: row-major, without gaps. They
  /// are views, of the mapped file after readArtifact.
  std::vector<std::string_view> values;
  /// Keeps `values` alive; null if the caller does.
  std::shared_ptr<const void> storage;
};

/// Checks every rule that the comments above state: indices, offsets against
/// arenas, names, sizes. Linear in the metadata.
Status validate(const Artifact &artifact);

/// Validates and writes, atomically: whatever fails, even if this process is
/// killed, `path` has the whole new file or what it had before.
Status writeArtifact(const std::string &path, const Artifact &artifact);

/// Whether the file at `path` can be read, and begins as an artifact does.
bool isArtifact(const std::string &path);

/// Reads and validates. If the file is truncated, damaged, of another version
/// or no artifact at all, one message names it and says so.
Expected<Artifact> readArtifact(const std::string &path);

/// The same of a file's content in memory, which is copied.
Expected<Artifact> readArtifactFromMemory(std::string_view bytes);

/// Validates, and gives the content that `writeArtifact` would write.
Expected<std::string> toBytes(const Artifact &artifact);

/// The metadata alone, as indented JSON (for `inspect` and tests).
std::string toJson(const Metadata &metadata);

/// Fails if this machine's CPU lacks features that `metadata` asks for, and
/// lists them.
Status checkCpu(const Metadata &metadata);

} // namespace veeline::artifact

#endif // VEELINE_ARTIFACT_H
