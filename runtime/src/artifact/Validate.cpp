//===- Validate.cpp - rules of an artifact's metadata ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "Rules.h"
#include "ValidateDevice.h"

#include "veeline/Base/Shards.h"
#include "veeline/artifact.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

using namespace veeline;
using namespace veeline::artifact;

static bool isFloat(DataType type) {
  return type == DataType::f32 || type == DataType::f64;
}

/// Whether an int32_t can number `count` objects of each replica.
static bool isCountable(size_t count, int32_t replicas) {
  return replicas >= 1 && count <= size_t(INT32_MAX) / size_t(replicas);
}

static bool isIndexOrNone(int64_t index, int64_t size) {
  return index >= -1 && index < size;
}

namespace {
/// Visits the metadata and checks its rules.
class Validator : private Rules {
public:
  explicit Validator(const Artifact &artifact)
      : metadata(artifact.metadata), objects(artifact.objects),
        values(artifact.values) {}

  Status run() {
    checkTensors();
    for (const Program &program : metadata.programs)
      if (message.empty())
        checkProgram(program);
    return message.empty() ? Status::success() : Status::error(message);
  }

private:
  void checkName(const std::string &name, const char *kind,
                 std::unordered_set<std::string> &seen) {
    std::string where = std::string(kind) + " '" + name + "'";
    require(!name.empty(), where, "its name is empty");
    require(seen.insert(name).second, where, "there are two of this name");
  }

  template <typename Input>
  void checkInput(const Input &input, const char *kind,
                  std::unordered_set<std::string> &seen) {
    std::string where = std::string(kind) + " '" + input.name + "'";
    checkName(input.name, kind, seen);
    checkShape(input.shape, where);
    require(!input.range || input.range->first < input.range->second, where,
            "its range of valid values is empty");
  }

  void checkInit(const Parameter &param, const std::string &where) {
    const std::optional<StoredValues> &stored = param.init.stored;
    require(stored.has_value() ==
                (param.init.kind == Initializer::Kind::values),
            where,
            "values are stored for other parameters than start from "
            "some");
    if (!stored || !message.empty())
      return;
    require(!isInteger(stored->type) &&
                byteSize(stored->type) <= byteSize(param.type),
            where,
            "its values are no floats, or wider ones than the parameter is");
    require(isIndex(stored->section, values), where,
            "the section of its values does not exist");
    require(!message.empty() ||
                values[stored->section].size() ==
                    static_cast<uint64_t>(bytesOf(stored->type, param.shape)),
            where, "the section of its values has not their size");
  }

  void checkTensors() {
    require(metadata.microbatches >= 1, "metadata",
            "the number of microbatches is below 1");
    require(!metadata.results.empty(), "metadata", "there is no loss");
    for (const Result &result : metadata.results)
      checkResult(result, "result '" + result.name + "'");
    require(metadata.hasLoss() ||
                std::ranges::all_of(metadata.programs, &Program::forwardOnly),
            "metadata", "a program trains, but the first result is no loss");
    std::unordered_set<std::string> paramNames, inputNames, programNames;
    for (const Parameter &param : metadata.params) {
      checkName(param.name, "parameter", paramNames);
      checkShape(param.shape, "parameter '" + param.name + "'");
      require(isFloat(param.type), "parameter '" + param.name + "'",
              "its type is neither f32 nor f64");
      checkInit(param, "parameter '" + param.name + "'");
    }
    checkLengths();
    for (const Batch &batch : metadata.batches) {
      checkInput(batch, "batch argument", inputNames);
      checkLengthDim(batch, "batch argument '" + batch.name + "'");
      require(!batch.tokens || isInteger(batch.type),
              "batch argument '" + batch.name + "'",
              "only integers are tokens");
      require(!batch.lossWeight || (isFloat(batch.type) && batch.shape.empty()),
              "batch argument '" + batch.name + "'",
              "it weights the loss, and is no scalar of f32 or f64");
    }
    checkLossWeight();
    for (const Buffer &buffer : metadata.buffers) {
      checkInput(buffer, "buffer", inputNames);
      require(!buffer.lossScale ||
                  (isFloat(buffer.type) && buffer.shape.empty()),
              "buffer '" + buffer.name + "'",
              "it scales the loss, and is no scalar of f32 or f64");
    }
    require(std::count_if(
                metadata.buffers.begin(), metadata.buffers.end(),
                [](const Buffer &buffer) { return buffer.lossScale; }) <= 1,
            "metadata", "several buffers scale the loss");
    for (const Program &program : metadata.programs)
      checkName(program.name, "program", programNames);
  }

  /// Checks that only programs that run forwards alone return tensors.
  void checkResult(const Result &result, const std::string &where) {
    if (!result.isTensor) {
      require(isFloat(result.type) && result.shape.empty(), where,
              "it is no scalar of f32 or f64");
      return;
    }
    checkShape(result.shape, where);
    require(isFloat(result.type) || isInteger(result.type), where,
            "its elements are no data");
    require(std::ranges::all_of(metadata.programs, &Program::forwardOnly),
            where, "it is a tensor, but a program trains");
    require(result.shapes.size() == metadata.lengths.size(), where,
            "it has not a shape for each length");
    for (const std::vector<int64_t> &shape : result.shapes)
      require(isWithinShape(shape, result.shape), where,
              "its shape for some length is larger than that of the bound");
  }

  static bool isWithinShape(const std::vector<int64_t> &shape,
                            const std::vector<int64_t> &bound) {
    bool isWithin = shape.size() == bound.size();
    for (size_t i = 0; isWithin && i < shape.size(); ++i)
      isWithin = shape[i] >= 1 && shape[i] <= bound[i];
    return isWithin;
  }

  /// Checks the places of results that are tensors.
  void checkOutputs(const Rank &rank, const std::string &where) {
    int32_t previous = -1;
    for (const Output &output : rank.outputs) {
      require(output.result > previous &&
                  isIndex(output.result, metadata.results),
              where, "its outputs are not in ascending order of results");
      if (!message.empty())
        return;
      const Result &result = metadata.results[output.result];
      require(result.isTensor && isWithin(output.offset,
                                          bytesOf(result.type, result.shape) *
                                              metadata.microbatches,
                                          rank.arenaBytes),
              where, "an output is no tensor, or lies outside of the arena");
      previous = output.result;
    }
  }

  /// Checks the weight of the loss: a result, an argument and, if the artifact
  /// trains, a program.
  void checkLossWeight() {
    bool isWeighted = metadata.lossWeight != 0;
    require(metadata.lossWeight >= 0 &&
                isIndex(metadata.lossWeight, metadata.results),
            "metadata", "the result that weights the loss does not exist");
    require(std::ranges::count_if(metadata.batches, &Batch::lossWeight) ==
                (isWeighted ? 1 : 0),
            "metadata",
            "the loss has not one weight for each microbatch where it is "
            "weighted, and only there");
    bool trains =
        !std::ranges::all_of(metadata.programs, &Program::forwardOnly);
    require(std::ranges::count_if(metadata.programs, &Program::weighs) ==
                (isWeighted && trains ? 1 : 0),
            "metadata",
            "not exactly one program weighs microbatches where their losses "
            "are weighted and trained, or one does elsewhere");
  }

  void checkLengths() {
    int64_t previous = 0;
    for (int64_t length : metadata.lengths) {
      require(length > previous, "metadata",
              "its lengths are not ascending numbers from 1");
      previous = length;
    }
  }

  void checkLengthDim(const Batch &batch, const std::string &where) {
    require(isIndexOrNone(batch.lengthDim,
                          static_cast<int64_t>(batch.shape.size())),
            where, "the dimension of its length does not exist");
    if (batch.lengthDim >= 0 && message.empty())
      require(!metadata.lengths.empty() &&
                  batch.shape[batch.lengthDim] == metadata.lengths.back(),
              where, "its extent is not the bound of the length");
  }

  /// Checks that each message has a microbatch of the step, and that all of
  /// them differ.
  void checkMicrobatches(const Channel &channel, const std::string &where) {
    std::unordered_set<int32_t> seen;
    bool isRight = channel.microbatches.size() ==
                   static_cast<size_t>(channel.messagesPerStep);
    for (int32_t microbatch : channel.microbatches)
      isRight = isRight && microbatch >= 0 &&
                microbatch < metadata.microbatches &&
                seen.insert(microbatch).second;
    require(isRight, where,
            "it has not one microbatch of the step for each message");
  }

  void checkLengthShapes(const Channel &channel, const std::string &where) {
    if (channel.lengthShapes.empty())
      return require(channel.microbatches.empty(), where,
                     "it has microbatches, but messages of one length");
    checkMicrobatches(channel, where);
    require(channel.lengthShapes.size() == metadata.lengths.size(), where,
            "it has not one shape for each length");
    for (size_t i = 0; i < channel.lengthShapes.size(); ++i) {
      checkShape(channel.lengthShapes[i], where);
      require(!message.empty() || channel.bytesOf(i) <= channel.messageBytes,
              where, "a message is larger than the largest one");
    }
  }

  /// Checks the parts of messages. The limits ensure that counters of parts are
  /// less than 2^30 apart.
  void checkParts(const Channel &channel, const std::string &where) {
    if (!message.empty())
      return;
    int64_t shortest = channel.messageBytes;
    for (size_t i = 0; i < channel.lengthShapes.size(); ++i)
      shortest = std::min(shortest, channel.bytesOf(i));
    require(channel.parts >= 1 && channel.parts <= 1024, where,
            "its messages have no parts, or more than 1024");
    require(channel.parts <= shortest / byteSize(channel.type), where,
            "a message has fewer elements than parts");
    require(int64_t(channel.parts) * channel.messagesPerStep < int64_t(1) << 29,
            where, "its messages have too many parts in a step");
  }

  void checkEdges(const Program &program, const std::string &where) {
    int64_t numChunks = int64_t(program.stages) * program.chunksPerStage;
    for (const Edge &edge : program.edges)
      require(edge.from >= 0 && edge.from < edge.to && edge.to < numChunks &&
                  edge.bytes >= 0,
              where + ", edges",
              "one does not lead from a chunk to a later one");
  }

  void checkChunk(const Chunk &chunk, const Program &program,
                  const std::string &where) {
    require(chunk.stage >= 0 && chunk.stage < program.stages, where,
            "its stage does not exist");
    require(chunk.pieces >= 1, where, "it has no pieces");
    for (double scale : {chunk.forwardScale, chunk.backwardInputScale,
                         chunk.backwardWeightScale})
      require(std::isfinite(scale) && scale > 0, where,
              "a scale of its costs is not positive");
  }

  /// Checks asynchronous programs. The runtime relies on these rules.
  void checkAsynchronous(const Program &program, const std::string &where) {
    bool isAsynchronous = program.asynchronous != Asynchronous::none;
    for (const Rank &rank : program.ranks)
      for (const RankParam &entry : rank.params)
        require(isAsynchronous || entry.versionOffsets.empty(), where,
                "parameters have older values, but steps wait for updates");
    if (!isAsynchronous)
      return;
    bool isPlain = program.chunksPerStage == 1 &&
                   program.stageReplicas.empty() &&
                   program.clipSync == ClipSync::none;
    require(isPlain, where,
            "it waits for no update, but has several chunks or ranks a stage, "
            "or clips");
    if (program.asynchronous == Asynchronous::doubleBuffered)
      return;
    const Program *sequential = metadata.findProgram("sequential");
    require(!sequential ||
                sequential->microbatchesOf(metadata.microbatches) == 1,
            where,
            "each microbatch has updates, but the sequential program runs "
            "several");
  }

  void checkProgram(const Program &program) {
    std::string where = "program '" + program.name + "'";
    require(program.stages >= 1 && program.chunksPerStage >= 1, where,
            "it has no stages or no chunks");
    checkWidths(program, where);
    checkAsynchronous(program, where);
    require(program.replicas >= 1 && program.replicas <= 65536, where,
            "its number of replicas is not in [1, 65536]");
    require(program.microbatches >= 0 &&
                program.microbatches <= metadata.microbatches,
            where, "its number of microbatches is not in [0, m]");
    require(isCountable(program.ranks.size(), program.replicas) &&
                isCountable(program.channels.size(), program.replicas),
            where, "its replicas have 2^31 ranks or channels, or more");
    if (!message.empty())
      return;
    for (const Chunk &chunk : program.chunks)
      checkChunk(chunk, program, where + ", chunk '" + chunk.name + "'");
    checkEdges(program, where);
    for (size_t i = 0; i < program.channels.size(); ++i)
      checkChannel(program.channels[i], program,
                   where + ", channel " + std::to_string(i));
    homes.assign(metadata.params.size(), 0);
    for (size_t i = 0; i < program.ranks.size() && message.empty(); ++i)
      checkRank(program.ranks[i], program, program.placeOf(i),
                where + ", rank " + std::to_string(i));
    require(!program.weighs ||
                (program.forwardOnly && program.ranks.size() == 1 &&
                 program.replicas == 1 && program.microbatches == 0),
            where,
            "it weighs microbatches, and is no program of one rank that runs "
            "forwards alone of all microbatches");
    for (size_t i = 0; i < homes.size(); ++i)
      require(homes[i] == (program.weighs ? 0 : 1),
              where + ", parameter '" + metadata.params[i].name + "'",
              "not exactly one stage is its home");
    for (size_t i = 0; i < program.ranks.size() && message.empty(); ++i)
      checkAlike(program, i, where + ", rank " + std::to_string(i));
  }

  /// Checks that the ranks of a stage have the same parameters, accumulators
  /// and reductions, including the offsets of gradients, because they sum their
  /// gradients in place.
  void checkAlike(const Program &program, size_t number,
                  const std::string &where) {
    auto member = static_cast<size_t>(program.placeOf(number).member);
    const Rank &rank = program.ranks[number];
    const Rank &first = program.ranks[number - member];
    auto sameGradient = [](const Accumulator &a, const Accumulator &b) {
      return a.chunk == b.chunk && a.offset == b.offset;
    };
    auto sameParam = [&](const RankParam &a, const RankParam &b) {
      return a.param == b.param && a.isHome == b.isHome &&
             a.shards == b.shards && a.scattered == b.scattered &&
             a.owner == b.owner &&
             std::ranges::equal(a.gradients, b.gradients, sameGradient);
    };
    auto samePiece = [](const ReducedPiece &a, const ReducedPiece &b) {
      return a.type == b.type && a.offset == b.offset &&
             a.numElements == b.numElements && a.gathers == b.gathers &&
             a.scatters == b.scatters && a.owner == b.owner;
    };
    auto sameReduction = [&](const Reduction &a, const Reduction &b) {
      return a.chunk == b.chunk &&
             std::ranges::equal(a.pieces, b.pieces, samePiece);
    };
    require(std::ranges::equal(rank.params, first.params, sameParam) &&
                std::ranges::equal(rank.reductions, first.reductions,
                                   sameReduction),
            where, "it has not the parameters and gradients of its stage");
  }

  void checkWidths(const Program &program, const std::string &where) {
    size_t count = program.stageReplicas.size();
    auto numRanks = static_cast<int64_t>(count ? 0 : program.stages);
    for (int32_t width : program.stageReplicas) {
      require(width >= 1 && width <= 65536, where,
              "a stage has not 1 to 65536 ranks");
      numRanks += width;
    }
    require(count == 0 || count == static_cast<size_t>(program.stages), where,
            "it has not one number of ranks for each stage");
    require(static_cast<int64_t>(program.ranks.size()) == numRanks, where,
            "it has not as many ranks as its stages");
  }

  void checkChannel(const Channel &channel, const Program &program,
                    const std::string &where) {
    require(isIndex(channel.fromRank, program.ranks) &&
                isIndex(channel.toRank, program.ranks) &&
                channel.fromRank != channel.toRank,
            where, "it does not connect two ranks");
    require(channel.edge >= 0, where, "its edge is negative");
    require(channel.messageBytes >= 1, where, "its messages have no bytes");
    require(channel.messagesPerStep >= 1, where, "it carries no messages");
    bool mayBeLate = program.asynchronous != Asynchronous::none;
    require(channel.lateMessages >= 0 &&
                channel.lateMessages <=
                    (mayBeLate ? channel.messagesPerStep : 0),
            where,
            "it has not from 0 to all messages of the step before, or has any "
            "where steps wait for updates");
    checkShape(channel.shape, where);
    require(!message.empty() ||
                bytesOf(channel.type, channel.shape) == channel.messageBytes,
            where, "its shape has not the bytes of a message");
    checkLengthShapes(channel, where);
    checkParts(channel, where);
    require(!isOfParam(channel.kind) || isIndex(channel.edge, metadata.params),
            where, "its parameter does not exist");
  }

  void checkRank(const Rank &rank, const Program &program,
                 const Program::Place &place, const std::string &where) {
    require(!rank.stepSymbol.empty(), where, "its step has no name");
    bool hasLate = std::any_of(rank.ops.begin(), rank.ops.end(),
                               [](const Op &op) { return op.late; });
    require(rank.firstStepSymbol.empty() == !hasLate &&
                rank.lateSymbol.empty() == !hasLate,
            where,
            "a first step and what is late have names where ops are late, and "
            "only there");
    checkClipSync(rank, program, where);
    require(isIndex(rank.object, objects), where, "its object does not exist");
    require(rank.arenaBytes >= 0 && rank.arenaBytes <= maxElements, where,
            "its arena has no valid size");
    require(rank.hostBytes >= 0 && rank.hostBytes <= maxElements &&
                rank.numOffloads >= 0 &&
                rank.numOffloads <= static_cast<int64_t>(rank.ops.size()),
            where, "its memory of the host has no valid size");
    auto countOps = [&](OpKind kind) {
      return std::count_if(rank.ops.begin(), rank.ops.end(),
                           [&](const Op &op) { return op.kind == kind; });
    };
    require(countOps(OpKind::offload) == rank.numOffloads &&
                countOps(OpKind::reload) == rank.numOffloads &&
                (rank.hostBytes > 0) == (rank.numOffloads > 0),
            where,
            "each of its offloads leaves once, returns once and has memory of "
            "the host");
    require(rank.peakLiveBytes >= 0 && rank.peakLiveBytes <= rank.arenaBytes,
            where, "its live bytes do not fit its arena");
    for (const Region &region : rank.regions)
      checkRegion(region, rank, rank.arenaBytes,
                  where + ", region '" + region.name + "'");
    checkHostMemory(rank, where);
    for (size_t i = 0; i < rank.params.size(); ++i)
      checkRankParam(rank.params[i], rank, program, place,
                     where + ", parameter entry " + std::to_string(i));
    checkUpdateWorkspace(rank, where);
    checkOutputs(rank, where);
    for (size_t i = 0; i < rank.gemms.size(); ++i)
      checkGemm(rank.gemms[i], where + ", matrix product " + std::to_string(i));
    for (size_t i = 0; i < rank.convolutions.size(); ++i)
      checkConvolution(rank.convolutions[i],
                       where + ", convolution " + std::to_string(i));
    for (size_t i = 0; i < rank.reductions.size() && message.empty(); ++i)
      checkReduction(rank.reductions[i], rank, program, place,
                     where + ", reduction " + std::to_string(i));
    for (size_t i = 0; i < rank.ops.size(); ++i)
      checkOp(rank.ops[i], rank, program, where + ", op " + std::to_string(i));
    checkWaits(rank.ops, where);
  }

  void checkReduction(const Reduction &reduction, const Rank &rank,
                      const Program &program, const Program::Place &place,
                      const std::string &where) {
    int64_t numChunks = int64_t(program.stages) * program.chunksPerStage;
    int64_t members = int64_t(program.replicas) * program.widthOf(place.stage);
    require(members > 1, where, "there is one replica only");
    require(reduction.chunk >= 0 && reduction.chunk < numChunks, where,
            "its chunk does not exist");
    for (const ReducedPiece &piece : reduction.pieces) {
      require(isFloat(piece.type) && piece.numElements >= 1 &&
                  piece.numElements <= maxElements,
              where, "a piece has no elements, or not floats");
      if (!message.empty())
        return;
      int64_t size = byteSize(piece.type);
      int64_t share = (piece.numElements + members - 1) / members * size;
      require(piece.owner >= -1 && piece.owner < members &&
                  (piece.owner < 0 || piece.gathers || piece.scatters),
              where, "a piece is of a rank that does not have it");
      if (!message.empty())
        return;
      if (piece.scatters)
        share = piece.division(members).mostReduced() * size;
      if (piece.gathers || program.sums == Sums::nccl)
        share = 0;
      require(!piece.scatters ||
                  (!piece.gathers && isScattered(piece, rank, metadata.params)),
              where, "a piece is scattered that is no gradient of an update");
      require(
          isWithin(piece.offset, piece.numElements * size, rank.arenaBytes) &&
              piece.offset % size == 0,
          where, "a piece lies outside of the arena");
      require(piece.stride >= share &&
                  piece.stride <= rank.arenaBytes / (members - 1) &&
                  isWithin(piece.bufferOffset, piece.stride * (members - 1),
                           rank.arenaBytes) &&
                  piece.bufferOffset % size == 0 && piece.stride % size == 0,
              where, "the buffer of a piece lies outside of the arena");
    }
  }

  /// Checks that each gradient of a scattered parameter is a piece of its own.
  void checkScattered(const RankParam &entry, const Rank &rank,
                      const std::string &where) {
    auto isPiece = [&](const Accumulator &sum) {
      return isScatteredPiece(sum, rank);
    };
    require(!entry.scattered || (entry.shards > 1 && !entry.gradients.empty() &&
                                 std::ranges::all_of(entry.gradients, isPiece)),
            where, "its gradients are scattered, but no rank adds them up");
  }

  /// Checks the properties of offloads, apart from their memory.
  void checkHostMemory(const Rank &rank, const std::string &where) {
    for (const Region &region : rank.hostRegions)
      checkRegion(region, rank, rank.hostBytes,
                  where + ", region '" + region.name +
                      "' of the host's memory");
    auto isOf = [&](int32_t op, OpKind kind) {
      return isIndex(op, rank.ops) && rank.ops[size_t(op)].kind == kind;
    };
    auto numCopies = static_cast<int64_t>(rank.hostCopies.size());
    require(numCopies == 0 || numCopies == rank.numOffloads, where,
            "copies to the host's memory are known of some offloads only");
    for (const HostCopy &copy : rank.hostCopies)
      require(isOf(copy.offload, OpKind::offload) &&
                  isOf(copy.reload, OpKind::reload) &&
                  isIndex(copy.releasedBefore, rank.ops) &&
                  copy.microseconds >= 0 && copy.microseconds <= 1e300,
              where, "a copy to the host's memory is none of its offloads");
  }

  void checkRegion(const Region &region, const Rank &rank, int64_t arenaBytes,
                   const std::string &where) {
    int64_t numOps = static_cast<int64_t>(rank.ops.size());
    require(isWithin(region.offset, region.bytes, arenaBytes), where,
            "it lies outside of the arena");
    require(isIndexOrNone(region.firstOp, numOps) &&
                isIndexOrNone(region.lastOp, numOps) &&
                (region.firstOp <= region.lastOp || rank.hasLate()) &&
                (region.firstOp < 0) == (region.lastOp < 0),
            where, "its life is no range of ops");
  }

  /// Checks the place of the workspace in which Muon updates matrices.
  void checkUpdateWorkspace(const Rank &rank, const std::string &where) {
    int64_t bytes = -1;
    for (const RankParam &entry : rank.params) {
      if (!message.empty() || !entry.isHome || entry.gradients.empty())
        continue;
      const Parameter &param = metadata.params[entry.param];
      if (metadata.optimizer == Optimizer::muon && param.shape.size() == 2)
        bytes = std::max(bytes,
                         newtonSchulzElements(param.shape[0], param.shape[1]) *
                             byteSize(param.type));
    }
    if (!message.empty())
      return;
    bool isNone = rank.updateWorkspace == -1;
    require(isNone ? bytes < 0
                   : rank.updateWorkspace % 64 == 0 &&
                         isWithin(rank.updateWorkspace,
                                  std::max(bytes, int64_t(0)), rank.arenaBytes),
            where, "what its updates work in is not where it should be");
  }

  /// The bytes of the state of the parameter, or of the rank's share of it.
  int64_t checkedStateBytes(const RankParam &entry, const Parameter &param,
                            const std::string &where) {
    bool isWhole = entry.shards == 1 || entry.owner >= 0;
    require(entry.shards >= 1 && entry.owner >= -1 &&
                entry.owner < std::max(entry.shards, 1) &&
                (entry.shards > 1 || entry.owner == -1) &&
                (isWhole ||
                 isElementwise(updateRule(metadata.optimizer, param.shape))),
            where, "its update cannot be shared out");
    if (!message.empty())
      return 0;
    return stateElements(metadata.optimizer, metadata.errorFeedback,
                         shapeOfShare(param.shape, entry)) *
           byteSize(param.type);
  }

  void checkRankParam(const RankParam &entry, const Rank &rank,
                      const Program &program, const Program::Place &place,
                      const std::string &where) {
    require(isIndex(entry.param, metadata.params), where,
            "the parameter does not exist");
    if (!message.empty())
      return;
    const Parameter &param = metadata.params[entry.param];
    int64_t bytes = bytesOf(param.type, param.shape);
    int64_t stateBytes = checkedStateBytes(entry, param, where);
    require(entry.shards == 1 ||
                entry.shards ==
                    int64_t(program.replicas) * program.widthOf(place.stage),
            where, "its update is not shared out over the ranks of the stage");
    checkScattered(entry, rank, where);
    require(isTensor(entry.valueOffset, bytes, param, rank), where,
            "the value lies outside of the arena");
    bool needsState =
        entry.isHome && stateBytes > 0 && !program.forwardOnly && !param.frozen;
    require(needsState ? isTensor(entry.stateOffset, stateBytes, param, rank)
                       : entry.stateOffset == -1,
            where, "the optimiser's state is not where it should be");
    for (int64_t place : entry.versionOffsets)
      require(isTensor(place, bytes, param, rank), where,
              "an older value lies outside of the arena");
    require(!program.forwardOnly || entry.gradients.empty(), where,
            "it has gradients, but its program runs forwards alone");
    require(!param.frozen ||
                (entry.gradients.empty() && entry.versionOffsets.empty()),
            where, "it is frozen, but has gradients or older values");
    int64_t previous = -1;
    for (const Accumulator &gradient : entry.gradients) {
      require(gradient.chunk > previous, where,
              "its gradients are not in ascending order of chunks");
      require(isTensor(gradient.offset, bytes, param, rank), where,
              "a gradient lies outside of the arena");
      previous = gradient.chunk;
    }
    homes[entry.param] += entry.isHome && place.member == 0;
  }

  static bool isTensor(int64_t offset, int64_t bytes, const Parameter &param,
                       const Rank &rank) {
    return isWithin(offset, bytes, rank.arenaBytes) &&
           offset % byteSize(param.type) == 0;
  }

  void checkOp(const Op &op, const Rank &rank, const Program &program,
               const std::string &where) {
    int64_t numChunks = int64_t(program.stages) * program.chunksPerStage;
    require(isIndexOrNone(op.chunk, numChunks) &&
                isIndexOrNone(op.microbatch, metadata.microbatches),
            where, "its chunk or microbatch does not exist");
    bool isMessage = op.kind == OpKind::send || op.kind == OpKind::recv;
    require(isMessage ? isIndex(op.channel, program.channels)
                      : op.channel == -1,
            where, "only messages name a channel, and all of them do");
    bool isOfParam = op.kind == OpKind::update || op.kind == OpKind::norm;
    require(isOfParam ? isIndex(op.param, metadata.params) : op.param == -1,
            where,
            "only updates and norms name a parameter, and all of them do");
    bool isReduction = postsReduction(op.kind) || waitsForReduction(op.kind);
    require(isReduction ? isIndex(op.reduction, rank.reductions)
                        : op.reduction == -1,
            where, "only all-reduces name a reduction, and all of them do");
    require(!program.forwardOnly || op.kind == OpKind::forward || isMessage,
            where, "its program runs forwards alone, and it is none");
    bool isAsynchronous = program.asynchronous != Asynchronous::none;
    require(!op.late || isReduction || op.kind == OpKind::backwardWeight ||
                op.kind == OpKind::update || op.kind == OpKind::validate ||
                (isAsynchronous && (isMessage || op.kind == OpKind::backward)),
            where,
            isAsynchronous
                ? "it is late, but neither BW, message, update nor reduction"
                : "it is late, but neither W, update nor reduction");
  }

  const Metadata &metadata;
  const std::vector<std::string> &objects;
  const std::vector<std::string_view> &values;
  /// For each parameter, the number of stages that are its home in the program
  /// being checked.
  std::vector<int32_t> homes;
};
} // namespace

Status artifact::validate(const Artifact &artifact) {
  VEELINE_TRY(Validator(artifact).run());
  return validateTarget(artifact);
}
