//===- artifact.h - the file from compile to train --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact is one file: a header, the metadata below as JSON, one ELF shared
// object for each rank and program, the image with GPU kernels, and the stored
// values of parameters and constants. The compiler fills these structs and
// calls writeArtifact. The runtime reads them with readArtifact, which accepts
// only what `validate` accepts. docs/artifact.md describes the format.
//
// Offsets and sizes are bytes, strides are elements, indices count from 0.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ARTIFACT_H
#define VEELINE_ARTIFACT_H

#include "veeline/Base/Optimizers.h"
#include "veeline/Base/Shards.h"
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

/// The version of the file format that is written, and the oldest ones that are
/// read: in general, for GPUs, and of files that gather. docs/artifact.md says
/// what older files lack.
inline constexpr uint32_t formatVersion = 25, oldestFormatVersion = 15,
                          oldestOfGpus = 21, oldestWithGathers = 25;

using veeline::name;
using veeline::Optimizer;

/// Where the initial values of a parameter are stored.
struct StoredValues {
  int32_t section = 0;           ///< Index into Artifact::values.
  DataType type = DataType::f32; ///< A float, no wider than the parameter.
};

/// The initialiser of a parameter. The two numbers are those of
/// constant(first), normal(first = mean, second = standard deviation), or
/// uniform(first = low, second = high). Only the kind `values` has `stored`.
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
  /// Not trained: no program updates it, and the optimiser has no state of it.
  bool frozen = false;
};

/// An argument with one slice for each microbatch.
struct Batch {
  std::string name;           ///< Unique among batches and buffers.
  std::vector<int64_t> shape; ///< That of one microbatch.
  DataType type = DataType::f32;
  /// The valid values: [first, second) for integers, [first, second - 1] for
  /// floats that are converted to integers. The runtime rejects data with other
  /// values; compiled code relies on that.
  std::optional<std::pair<int64_t, int64_t>> range;
  /// The dimension that is the length, or -1. Its extent is the bound. A
  /// shorter microbatch begins where one of full length would begin, and is
  /// dense.
  int32_t lengthDim = -1;
  /// Whether its integers are tokens, which index rows of a table. `train`
  /// counts them.
  bool tokens = false;
  /// Whether it is the factor of a microbatch's loss, which the runtime
  /// computes (Metadata::lossWeight). At most one batch argument is; it is a
  /// scalar of f32 or f64.
  bool lossWeight = false;
};

/// The number of samples in a microbatch. It is the leading extent that occurs,
/// in any dimension, in the most batch arguments. If the data have time as
/// first dimension, that is the leading extent of the labels. An extent that is
/// the length does not count. 1 if no argument has a leading extent.
int64_t countSamples(const std::vector<Batch> &batches);

/// An argument that is the same for all microbatches, given by the user.
struct Buffer {
  std::string name;
  std::vector<int64_t> shape;
  DataType type = DataType::f32;
  std::optional<std::pair<int64_t, int64_t>> range; ///< As in Batch.
  /// Whether it is the factor of the loss, which the runtime gives. At most one
  /// buffer is; it is a scalar of f32 or f64.
  bool lossScale = false;
};

/// A result of the model. The first is the loss, others are metrics, or tensors
/// if only forwards are run; then there need not be a loss.
struct Result {
  std::string name;
  DataType type = DataType::f32; ///< For the loss and metrics, f32 or f64.
  /// Whether it is a tensor, and the shape for one microbatch.
  bool isTensor = false;
  std::vector<int64_t> shape = {};
  /// Of a tensor, where the length varies: its shapes for the lengths, in their
  /// order. `shape` is that of the bound, and has room for all.
  std::vector<std::vector<int64_t>> shapes = {};
};

enum class OpKind {
  forward,
  backward, ///< Fused.
  backwardInput,
  backwardWeight,
  recomputation, ///< Ahead of a backward, of what that takes.
  send, ///< From acquiring the slot to committing it; only the commit if an op
        ///< computes into the slot.
  recv, ///< The wait for a message.
  update,
  allReduce, ///< Posts the gradients of a chunk, to be added up over ranks.
  allReduceWait,
  norm,      ///< The square of the norm of a parameter's gradient.
  validate,  ///< Waits until it is known whether the last updates were right.
  allGather, ///< Posts shards of parameters, which ranks exchange.
  allGatherWait,
  offload, ///< Begins copies to the host's memory; on a CPU, copies.
  reload   ///< The same for copies back.
};
constexpr bool postsReduction(OpKind kind) {
  return kind == OpKind::allReduce || kind == OpKind::allGather;
}
constexpr bool waitsForReduction(OpKind kind) {
  return kind == OpKind::allReduceWait || kind == OpKind::allGatherWait;
}

/// "F", "BW", "B", "W", "R", "send", "recv", "update", "all-reduce",
/// "all-reduce-wait", "norm", "validate", "all-gather", "all-gather-wait",
/// "offload", "reload": the names of the timeline.
std::string_view name(OpKind kind);

/// One entry of a rank's table of operations, in program order.
struct Op {
  OpKind kind = OpKind::forward;
  int32_t chunk = -1;      ///< For F, B, W, offload, reload; else -1.
  int32_t microbatch = -1; ///< -1 if the op runs once a step.
  int32_t channel = -1;    ///< For send and recv: index into Program::channels.
  int32_t param = -1; ///< For update and norm: index into Metadata::params.
  /// For all-reduces and all-gathers: index into Rank::reductions.
  int32_t reduction = -1;
  int32_t stream = 0; ///< On a GPU: the compute stream.
  /// Whether it belongs to the previous step. For BW, W, update, all-reduces
  /// and messages.
  bool late = false;
  /// The predicted times since the begin of the step, in microseconds; negative
  /// if there is no prediction.
  double predictedBegin = -1;
  double predictedEnd = -1;
};

enum class RegionKind {
  param,
  state,
  gradient,
  residual, ///< What F keeps, or R recomputes, for B and W.
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

/// A planned range of an arena. Regions may share bytes if their lifetimes do
/// not overlap. The lifetime is from `firstOp` to `lastOp`, inclusive indices
/// into Rank::ops; -1 and -1: the whole run. If `lastOp` is the smaller one, it
/// is an op of the next step.
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
/// step zeroes it at its begin. The sum stays until the next step begins, so
/// that `train --verify` can read it.
struct Accumulator {
  int32_t chunk = 0;
  int64_t offset = 0;
};

/// One entry of a rank's table of parameters.
struct RankParam {
  int32_t param = 0;       ///< Index into Metadata::params.
  int64_t valueOffset = 0; ///< In the arena.
  /// The optimiser's state (stateShapes()); -1 if there is none, or this rank
  /// does not update the parameter.
  int64_t stateOffset = -1;
  std::vector<Accumulator> gradients; ///< One for each chunk, ascending.
  /// Whether this rank updates the parameter. Others receive its value. The
  /// home of a parameter is exactly one stage of a program, with all its ranks.
  bool isHome = false;
  /// In an asynchronous program: where older values of the parameter are kept.
  /// At first each of them is the initial value.
  std::vector<int64_t> versionOffsets = {};
  /// The number of ranks of the stage among which the update is divided. The
  /// state is that of `shardElements` elements (veeline/Base/Shards.h).
  int32_t shards = 1;
  /// Whether each of these ranks gets the sums of its share of the gradient
  /// alone (`Division::reduced`): all pieces of the gradient `scatters`.
  bool scattered = false;
  /// Where one of these ranks makes the whole update: its number in
  /// Program::ranksOf. It alone has the state.
  int32_t owner = -1;

  Division division(int64_t numElements) const {
    return {numElements, shards, owner};
  }
};

/// The shape that the optimiser's state of a rank is for, if it has any: that
/// of the parameter, or the number of elements of a shard.
std::vector<int64_t> shapeOfShare(const std::vector<int64_t> &shape,
                                  const RankParam &entry);

/// Contiguous accumulators of one type, which are added up in place over the
/// ranks of a stage in all replicas; d is the number of these ranks. Or a
/// parameter that is gathered (`gathers`).
struct ReducedPiece {
  DataType type = DataType::f32; ///< f32 or f64.
  int64_t offset = 0;
  int64_t numElements = 0;
  /// The buffer for contributions of the other ranks, from the post to the end
  /// of the wait: d-1 places of ceil(numElements / d) elements, `stride` bytes
  /// apart; where sums are scattered, of `Division::mostReduced`. Only used if
  /// ranks are processes, and not with Sums::nccl.
  int64_t bufferOffset = 0;
  int64_t stride = 0;
  /// On a GPU: the kernel that adds the contributions (docs/cuda-runtime.md).
  /// It is launched with ceil(elements / 1024) blocks.
  int32_t sumKernel = -1;
  /// Whether the piece is a parameter, of which each rank has a shard
  /// (`ownShard`). All ranks get the shards of the others. Nothing is added up,
  /// so there are no contributions and no kernel.
  bool gathers = false;
  /// Whether the piece is the gradient of one parameter, and each rank gets the
  /// sums of its share alone (`Division::reduced`).
  bool scatters = false;
  /// As in RankParam.
  int32_t owner = -1;

  Division division(int64_t count) const { return {numElements, count, owner}; }
};

/// Gradients of one chunk that are added up over ranks together, or parameters
/// that are gathered together; then `chunk` uses the first one.
struct Reduction {
  int32_t chunk = 0;
  std::vector<ReducedPiece> pieces;
  int32_t stream = 1;       ///< As in Channel.
  int32_t communicator = 0; ///< As in Channel.
};

/// On a GPU: a batch argument with all microbatches, or a buffer, that the rank
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

/// A result that is a tensor. After a step it has the values of all
/// microbatches one after the other; a rank writes those of the microbatches
/// that it runs.
struct Output {
  int32_t result = 0; ///< Index into Metadata::results.
  int64_t offset = 0;
};

/// The program of one rank, the same in each replica.
struct Rank {
  std::string stepSymbol; ///< A veeline_step_fn in the object.
  /// If ops are late, two more functions: the first step, which has no late
  /// ops, and only the late ops, after the last step. Else empty.
  std::string firstStepSymbol, lateSymbol;
  bool hasLate() const { return !lateSymbol.empty(); }
  /// All functions that it runs.
  std::vector<std::string> stepSymbols() const {
    if (!hasLate())
      return {stepSymbol};
    return {stepSymbol, firstStepSymbol, lateSymbol};
  }
  int32_t object = 0; ///< Index into Artifact::objects.
  int64_t arenaBytes = 0;
  /// The size of the rank's offloaded values in the host's memory, and the
  /// number of parts, which veeline_offload numbers.
  int64_t hostBytes = 0;
  int32_t numOffloads = 0;
  std::vector<HostCopy> hostCopies; ///< Empty where nothing is known of them.
  std::vector<Region> hostRegions;  ///< In the host's memory; as hostCopies.
  /// The largest sum of live bytes at any op, as planned (<= arenaBytes).
  int64_t peakLiveBytes = 0;
  std::vector<Region> regions;
  std::vector<RankParam> params; ///< Indexed by veeline_update.
  /// The scratch memory of Muon updates: `newtonSchulzElements` of the largest
  /// matrix that the rank updates; -1 if there is none.
  int64_t updateWorkspace = -1;
  std::vector<Gemm> gemms;               ///< Indexed by veeline_gemm.
  std::vector<Convolution> convolutions; ///< Indexed by veeline_convolution.
  std::vector<Reduction> reductions;     ///< Indexed by veeline_reduce_post.
  std::vector<Op> ops;                   ///< Indexed by veeline_op_begin.
  std::vector<Output> outputs;

  // On a GPU; the host has the defaults.
  std::vector<Input> inputs;
  /// The inputs of the previous step that late ops read, which the runtime
  /// keeps.
  std::vector<Input> inputsBefore;
  std::vector<Constant> constants; ///< Indexed by veeline_constant.
  /// Indexed by veeline_attention and veeline_attention_backward.
  std::vector<Attention> attentions;
  /// The streams that the step is issued to, and the events that order them.
  int32_t computeStreams = 1;
  int32_t events = 0;
  /// The workspace of libraries, divided evenly among the compute streams; 0
  /// bytes at -1 if no library is called.
  int64_t libraryOffset = -1;
  int64_t libraryBytes = 0;
  /// A veeline_settings for each entry of `params`, 256 bytes apart; without
  /// entries, memory for one; -1: none. There are `numSettings` of these
  /// arrays: in a `stashed` program one for each microbatch; with a `barrier`
  /// two, of which the second is for the case that the previous step changed
  /// nothing.
  int64_t settingsOffset = -1;
  int32_t numSettings = 1;
  /// With a `barrier`: a veeline_clipping and the settings after it.
  int64_t clipOffset = -1;
  /// The settings of the previous step, for late updates; -1 if there are none.
  int64_t settingsBeforeOffset = -1;
  /// double[params][normParts]: partial sums of the squares of the averaged
  /// gradients, which the runtime adds up in order. 0 parts at -1 if the rank
  /// updates nothing.
  int64_t normsOffset = -1;
  int32_t normParts = 0;
  /// [results][microbatches of the replica], 8 bytes each; -1 if the rank
  /// reports nothing.
  int64_t resultsOffset = -1;
  bool readsBack = false; ///< It calls veeline_load, so no graph is captured.
};

/// How updates depend on the norm of all gradients.
enum class ClipSync {
  none,
  barrier,   ///< They wait for it.
  optimistic ///< They keep old values. The next step checks them.
};

/// Which parameters a step uses if it waits for no update
/// (docs/asynchronous.md).
enum class Asynchronous {
  none,           ///< It waits for all updates of the previous step.
  doubleBuffered, ///< Those before the update of the previous step.
  stashed         ///< Parameters are updated after each microbatch.
};

enum class ChannelKind {
  activation,    ///< `edge` is an edge.
  gradient,      ///< `edge` is an edge.
  paramGradient, ///< `edge` is a parameter: an accumulator, sent to its home.
  paramValue,    ///< `edge` is a parameter: its new value.
  shape,         ///< `edge` is an edge: the length of a microbatch, an i64.
  norms          ///< `edge` is the program's: squares of norms of gradients.
};

constexpr bool isOfParam(ChannelKind kind) {
  return kind == ChannelKind::paramGradient || kind == ChannelKind::paramValue;
}

/// A channel: one edge in one direction between two ranks.
struct Channel {
  ChannelKind kind = ChannelKind::activation;
  int32_t edge = 0;
  int32_t fromRank = 0;
  int32_t toRank = 0;
  int64_t messageBytes = 0; ///< The size of the largest message.
  int32_t messagesPerStep = 0;
  DataType type = DataType::f32;   ///< The element type of messages.
  std::vector<int64_t> shape = {}; ///< The shape of the largest message.
  /// The shape of a message for each of Metadata::lengths; empty if all
  /// messages have the same shape.
  std::vector<std::vector<int64_t>> lengthShapes = {};
  /// The microbatch of each message of a step, in order; empty if
  /// `lengthShapes` is.
  std::vector<int32_t> microbatches = {};
  /// The number of parts of a message: at most the number of elements of the
  /// shortest message.
  int32_t parts = 1;
  int32_t stream = 1;       ///< On a GPU; 0 is the compute stream.
  int32_t communicator = 0; ///< NCCL runs the units of one in order.
  /// The stream of the receiver, if it is another one than `stream`; else -1. A
  /// rank's units on the two run side by side.
  int32_t receiveStream = -1;
  /// The number of messages, at the beginning of a turn, that belong to the
  /// previous step. The first step does not have them.
  int32_t lateMessages = 0;

  int32_t streamOf(bool isSend) const {
    return isSend || receiveStream < 0 ? stream : receiveStream;
  }

  /// The shape of a message whose microbatch has length
  /// Metadata::lengths[length].
  const std::vector<int64_t> &shapeOf(size_t length) const {
    return lengthShapes.empty() ? shape : lengthShapes[length];
  }
  int64_t bytesOf(size_t length) const {
    return lengthShapes.empty() ? messageBytes
                                : artifact::bytesOf(type, lengthShapes[length]);
  }
  /// The microbatch of message `number`, counted since the start. Requires that
  /// `microbatches` is not empty.
  int32_t microbatchOf(uint32_t number) const {
    return microbatches[(number + static_cast<uint32_t>(lateMessages)) %
                        microbatches.size()];
  }
};

/// The costs and memory of a chunk for one microbatch, as the scheduler
/// assumed. Only `inspect` and `schedule` use them.
struct Chunk {
  std::string name;
  int32_t stage = 0;
  double forwardCost = 0; ///< In microseconds, like the next ones.
  double backwardInputCost = 0;
  double backwardWeightCost = 0;
  double backwardSharedCost = 0; ///< A fused backward takes B + W less this.
  /// The parts of these costs that repeat work: F's work in B, in W and in a
  /// fused backward, and B's work in W.
  double forwardInInput = 0;
  double forwardInWeight = 0;
  double forwardInFused = 0;
  double inputInWeight = 0;
  /// The rest of each cost divided by the cost model's estimate; 1 without a
  /// profile. Repeated work has the scale of the function that it repeats.
  double forwardScale = 1;
  double backwardInputScale = 1;
  double backwardWeightScale = 1;
  int32_t pieces = 1;        ///< The number of its pieces, at least 1.
  int64_t residualBytes = 0; ///< For one microbatch.
  /// False if no input has a gradient. Then the whole backward is in W.
  bool hasBackwardInput = true;
  /// The bytes that each operation adds; negative if it releases them. The sum
  /// is 0.
  int64_t forwardMemory = 0;
  int64_t backwardInputMemory = 0;
  int64_t backwardWeightMemory = 0;
  /// Whether it recomputes by an operation of its own ahead of the backward,
  /// and what that takes and adds.
  bool hasRecomputation = false;
  double recomputationCost = 0;
  int64_t recomputationMemory = 0;
};

/// A value that one chunk produces and a later one uses. Only `schedule` uses
/// it.
struct Edge {
  int32_t from = 0;
  int32_t to = 0;
  int64_t bytes = 0;          ///< The size of one message.
  double forwardTransfer = 0; ///< In microseconds, like the next one.
  double backwardTransfer = 0;
  bool carriesGradient = true;
};

/// One way to run a step of the model.
struct Program {
  /// "pipeline" (for `train`), "sequential" (the same chunks one after the
  /// other on one rank), "reference" (the model without chunks), "evaluation"
  /// (only forwards, for `eval`), or "weights".
  std::string name;
  std::string schedule;       ///< "zb-v", ...
  int32_t stages = 1;         ///< p.
  int32_t chunksPerStage = 1; ///< v.
  /// d: the number of pipelines that run side by side, each on m microbatches.
  int32_t replicas = 1;
  /// The number of ranks of each stage in one replica; empty: one each. Rank i
  /// of w runs microbatches i, i + w, ...
  std::vector<int32_t> stageReplicas;
  ClipSync clipSync = ClipSync::none;
  Asynchronous asynchronous = Asynchronous::none;
  Sums sums = Sums::ordered; ///< `nccl` only for "cuda".
  /// Whether it only computes results, without gradients, optimiser's state and
  /// updates.
  bool forwardOnly = false;
  /// Whether it computes the weights of microbatches instead of the loss. Such
  /// a program runs only forwards, without parameters, on one rank of the host,
  /// whatever the artifact's target.
  bool weighs = false;
  /// The number of microbatches in a step if it is not m; else 0. It is 1 in
  /// the sequential program that verifies stages of several ranks, each of
  /// which adds up some of a replica's microbatches.
  int32_t microbatches = 0;
  std::vector<Chunk> chunks; ///< Empty, or all of them in model order.
  std::vector<Edge> edges;   ///< Between chunks, from < to.
  std::vector<Channel> channels;
  std::vector<Rank> ranks; ///< Stage by stage, in order.

  /// The place of a rank: its stage, its replica, and its number among the
  /// stage's ranks in that replica.
  struct Place {
    int32_t stage = 0;
    int32_t replica = 0;
    int32_t member = 0;
  };
  /// The place of each rank, if `ranks` and `channels` are those of all
  /// replicas (see `withAllReplicas`). Empty in a file, where they are those of
  /// one replica.
  std::vector<Place> places;

  Place placeOf(size_t rank) const;
  /// The index of a rank in `ranksOf` its stage.
  int32_t memberOf(size_t rank) const {
    Place place = placeOf(rank);
    return place.replica * widthOf(place.stage) + place.member;
  }
  /// The number of microbatches that a replica runs in a step, if the artifact
  /// has `m`.
  int32_t microbatchesOf(int32_t m) const {
    return microbatches ? microbatches : m;
  }
  /// The number of ranks of a stage in one replica.
  int32_t widthOf(int32_t stage) const {
    return stageReplicas.empty() ? 1
                                 : stageReplicas[static_cast<size_t>(stage)];
  }
  /// Whether any rank has late work.
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

/// Expands `program`, as in a file, to the ranks and channels of all replicas:
/// n*d ranks for d replicas of n. Channel c of replica r gets the number r *
/// (channels of a replica) + c, also in ops. `order` determines the numbers of
/// ranks: "stages-first" (rank r*n + i is rank i of replica r),
/// "replicas-first" (rank i*d + r), or a list of the ranks of replica 0, then
/// 1, and so on, separated by commas. The error says what is wrong with
/// `order`.
Expected<Program> withAllReplicas(const Program &program,
                                  const std::string &order);

/// A kernel of an image.
struct Kernel {
  std::string name; ///< A symbol of the image, unique.
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::array<int32_t, 3> block = {1, 1, 1};
  int32_t sharedBytes = 0;  ///< Dynamic shared memory.
  int32_t numArguments = 0; ///< Each takes 8 bytes.
};

/// The code of an artifact that runs on a GPU.
struct DeviceCode {
  std::vector<std::string> chips; ///< Native code: "sm_80", ...
  std::string ptx;     ///< "sm_80": PTX for this and later chips; empty: none.
  std::string toolkit; ///< "13.0", that of the native code; empty: none.
  std::vector<Kernel> kernels; ///< Indexed by veeline_launch.
};

struct Metadata {
  std::string model;
  /// A hash of the model's structure. A profile is valid for all models with
  /// the same fingerprint.
  std::string fingerprint;
  std::string cpu; ///< LLVM's name: "znver4", "x86-64-v3", ...
  /// The instruction set extensions that the objects need, by LLVM's names of
  /// the features of an x86 subtarget: "avx512f", "fma", ... Names that are not
  /// in the table of Cpu.cpp (tuning flags) are not checked.
  std::vector<std::string> cpuFeatures;
  Optimizer optimizer = Optimizer::sgd;
  bool errorFeedback = false; ///< The state has the previous update.
  int32_t microbatches = 1;   ///< m.
  /// The lengths that a microbatch can have, ascending. Chunk functions have a
  /// version for each. Empty if the length does not vary.
  std::vector<int64_t> lengths;
  /// The options with which the artifact was compiled, in the order to print
  /// them.
  std::vector<std::pair<std::string, std::string>> options;

  std::vector<Result> results; ///< At least one: the loss.
  /// The result by which losses of microbatches are weighted; 0: none. With
  /// weights, one batch argument is `lossWeight`, and an artifact for training
  /// has a program that `weighs`.
  int32_t lossWeight = 0;
  std::vector<Parameter> params;
  std::vector<Batch> batches;
  std::vector<Buffer> buffers;
  std::vector<Program> programs;
  std::string target = "host";      ///< Or "cuda".
  std::optional<DeviceCode> device; ///< Only for "cuda".

  /// Whether the first result is the loss. Only where all programs run forwards
  /// alone, it may be something else.
  bool hasLoss() const {
    return !results.empty() && !results[0].isTensor &&
           results[0].name == "loss";
  }
  /// The program of this name, or null.
  const Program *findProgram(std::string_view programName) const;
  /// Whether the loss is multiplied by a factor that the runtime gives.
  bool scalesLoss() const;
};

struct Artifact {
  Metadata metadata;
  std::vector<std::string> objects; ///< The bytes of ELF shared objects.
  /// The image that the driver of a GPU loads: a fat binary, native code or
  /// PTX. Empty if Metadata::device is none.
  std::string image;
  /// Initial values of parameters, and constants, row-major and dense. They are
  /// views; after readArtifact, of the mapped file.
  std::vector<std::string_view> values;
  /// Keeps the memory of `values` alive; null if the caller does.
  std::shared_ptr<const void> storage;
};

/// Checks all rules in the comments above. Linear in the metadata.
Status validate(const Artifact &artifact);

/// Validates `artifact` and writes it atomically. After a failure, even if this
/// process is killed, `path` has either the whole new file or its old content.
Status writeArtifact(const std::string &path, const Artifact &artifact);

/// Whether the file at `path` can be read, and begins like an artifact.
bool isArtifact(const std::string &path);

/// Reads and validates a file. The error names the file, and says whether it is
/// truncated, damaged, of another version or no artifact.
Expected<Artifact> readArtifact(const std::string &path);

/// The same for a file's content in memory, which is copied.
Expected<Artifact> readArtifactFromMemory(std::string_view bytes);

/// Validates, and returns the content that `writeArtifact` would write.
Expected<std::string> toBytes(const Artifact &artifact);

/// Only the metadata, as indented JSON, for `inspect` and tests.
std::string toJson(const Metadata &metadata);

/// Fails if this machine's CPU lacks features that `metadata` requires. The
/// error lists them.
Status checkCpu(const Metadata &metadata);

} // namespace veeline::artifact

#endif // VEELINE_ARTIFACT_H
