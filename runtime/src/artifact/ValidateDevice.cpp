//===- ValidateDevice.cpp - rules for targets -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValidateDevice.h"

#include "Rules.h"

#include <algorithm>
#include <unordered_set>

using namespace veeline;
using namespace veeline::artifact;

/// The alignment of everything that the compiler places in the arena of a GPU.
static constexpr int64_t deviceAlignment = 256;
/// Limits for a rank: it has at most one stream for each chunk, and events that
/// order the operations of streams.
static constexpr int32_t maxComputeStreams = 4096;
static constexpr int32_t maxEvents = 1 << 20;
/// The sizes of the settings of one parameter, and of the outcome of clipping
/// before such settings.
static constexpr int64_t settingsBytes = 256, clipBytes = 2 * settingsBytes;

// Limits of the driver, on every chip.
static constexpr int64_t maxThreads = 1024;
static constexpr int32_t maxSharedBytes = 227 * 1024;
static constexpr int32_t maxArguments = 4096 / 8;

// No reasonable program needs more than this. Each of them has a cost on the
// device.
static constexpr int32_t maxStreams = 64;
static constexpr int32_t maxCommunicators = 1024;
/// A limit for extents and strides of an attention, so that products of two of
/// them do not overflow.
static constexpr int64_t maxAttentionExtent = (int64_t(1) << 31) - 1;

/// Whether `name` has the form "sm_80" or "sm_90a".
static bool isChip(std::string_view name) {
  if (!name.starts_with("sm_"))
    return false;
  name.remove_prefix(3);
  size_t digits = name.find_first_not_of("0123456789");
  std::string_view suffix =
      digits == std::string_view::npos ? "" : name.substr(digits);
  digits = std::min(digits, name.size());
  return (digits == 2 || digits == 3) && name[0] != '0' &&
         (suffix.empty() || suffix == "a" || suffix == "f");
}

/// Whether `text` has the form "13.0".
static bool isVersion(std::string_view text) {
  size_t dot = text.find('.');
  auto isNumber = [](std::string_view digits) {
    return !digits.empty() && digits.size() <= 4 &&
           digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dot != std::string_view::npos && isNumber(text.substr(0, dot)) &&
         isNumber(text.substr(dot + 1));
}

static bool isOnDevice(RegionKind kind) {
  return kind >= RegionKind::input && kind <= RegionKind::report;
}

namespace {
/// Keeps the first error, prefixed by its place in the metadata.
class TargetValidator {
public:
  explicit TargetValidator(const Artifact &artifact)
      : artifact(artifact), metadata(artifact.metadata),
        isCuda(metadata.target == "cuda") {}

  Status run() {
    require(isCuda || metadata.target == "host", "metadata", [&] {
      return "the target is '" + metadata.target +
             "', which is neither host nor cuda";
    });
    require(metadata.device.has_value() == isCuda, "metadata", [&] {
      return isCuda ? "the target is cuda, and it has no code for a GPU"
                    : "the target is host, and it has code for a GPU";
    });
    require(artifact.image.empty() != isCuda, "image", [&] {
      return isCuda ? "it is empty" : "there is one, and the target is host";
    });
    if (message.empty() && metadata.device)
      checkDevice(*metadata.device);
    for (const Program &program : metadata.programs) {
      isCuda = metadata.target == "cuda" && !program.weighs;
      if (message.empty())
        checkProgram(program, "program '" + program.name + "'");
    }
    return message.empty() ? Status::success() : Status::error(message);
  }

private:
  /// If `condition` is false, keeps the error `rule()`.
  template <typename Rule>
  void require(bool condition, const std::string &where, Rule &&rule) {
    if (!condition && message.empty())
      message = where + ": " + rule();
  }
  void require(bool condition, const std::string &where, const char *rule) {
    require(condition, where, [&] { return rule; });
  }

  void checkDevice(const DeviceCode &device) {
    std::unordered_set<std::string> chips, names;
    for (const std::string &chip : device.chips)
      require(isChip(chip) && chips.insert(chip).second, "code for a GPU", [&] {
        return "'" + chip + "' is no chip such as sm_80, or is there twice";
      });
    require(device.ptx.empty() || isChip(device.ptx), "code for a GPU", [&] {
      return "its PTX is for '" + device.ptx +
             "', which is no chip such as sm_80";
    });
    require(!device.chips.empty() || !device.ptx.empty(), "code for a GPU",
            "it has neither native code nor PTX");
    require(device.toolkit.empty() ? device.chips.empty()
                                   : isVersion(device.toolkit),
            "code for a GPU", [&] {
              return device.toolkit.empty()
                         ? "it has native code of no toolkit"
                         : "its toolkit is '" + device.toolkit +
                               "', which is no version such as 13.0";
            });
    for (size_t i = 0; i < device.kernels.size() && message.empty(); ++i) {
      const Kernel &kernel = device.kernels[i];
      std::string where = "kernel " + std::to_string(i);
      require(!kernel.name.empty(), where, "its name is empty");
      where += " '" + kernel.name + "'";
      require(names.insert(kernel.name).second, where,
              "there are two of this name");
      checkKernel(kernel, where);
    }
  }

  void checkKernel(const Kernel &kernel, const std::string &where) {
    auto isIn = [&](const std::array<int32_t, 3> &sizes, int32_t x, int32_t y,
                    int32_t z) {
      return sizes[0] >= 1 && sizes[0] <= x && sizes[1] >= 1 && sizes[1] <= y &&
             sizes[2] >= 1 && sizes[2] <= z;
    };
    require(isIn(kernel.grid, INT32_MAX, 65535, 65535), where,
            "its grid is below 1 or above 2147483647, 65535, 65535 blocks");
    require(isIn(kernel.block, 1024, 1024, 64) &&
                int64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2] <=
                    maxThreads,
            where,
            "its block is below 1 or above 1024, 1024, 64 threads, or has more "
            "than 1024");
    require(kernel.sharedBytes >= 0 && kernel.sharedBytes <= maxSharedBytes,
            where, "its shared memory is negative or above 232448 bytes");
    require(kernel.numArguments >= 0 && kernel.numArguments <= maxArguments,
            where, "it has a negative number of arguments, or more than 512");
  }

  void checkProgram(const Program &program, const std::string &where) {
    for (size_t i = 0; i < program.channels.size(); ++i)
      checkChannel(program.channels[i],
                   where + ", channel " + std::to_string(i));
    for (size_t i = 0; i < program.ranks.size() && message.empty(); ++i)
      checkRank(program, i, where + ", rank " + std::to_string(i));
  }

  void checkChannel(const Channel &channel, const std::string &where) {
    checkOrder(channel, where);
    if (!isCuda)
      return require(channel.receiveStream == -1, where,
                     "it has a stream of a GPU for its receiver");
    require(channel.receiveStream >= -1 && channel.receiveStream < maxStreams,
            where, "its receiver's stream is not in [-1, 64)");
    require(channel.receiveStream == -1 ||
                (channel.receiveStream > 0 && channel.stream > 0 &&
                 channel.receiveStream != channel.stream),
            where, [&] {
              return "its sender and its receiver are on streams " +
                     std::to_string(channel.stream) + " and " +
                     std::to_string(channel.receiveStream) +
                     ", and two have to be different ones beside the "
                     "computation";
            });
  }

  /// Checks streams and communicators of a channel or a reduction.
  template <typename Messages>
  void checkOrder(const Messages &messages, const std::string &where) {
    if (!isCuda)
      return require(messages.stream == 1 && messages.communicator == 0, where,
                     "it has a stream or a communicator of a GPU");
    require(messages.stream >= 0 && messages.stream < maxStreams, where,
            "its stream is not in [0, 64)");
    require(messages.communicator >= 0 &&
                messages.communicator < maxCommunicators,
            where, "its communicator is not in [0, 1024)");
  }

  void checkRank(const Program &program, size_t number,
                 const std::string &where) {
    const Rank &rank = program.ranks[number];
    for (size_t i = 0; i < rank.gemms.size(); ++i)
      checkGemm(rank.gemms[i], where + ", matrix product " + std::to_string(i));
    for (size_t i = 0; i < rank.convolutions.size(); ++i)
      checkConvolution(rank.convolutions[i],
                       where + ", convolution " + std::to_string(i));
    int64_t members = int64_t(program.replicas) *
                      program.widthOf(program.placeOf(number).stage);
    for (size_t i = 0; i < rank.reductions.size(); ++i)
      checkReduction(rank.reductions[i], members,
                     where + ", reduction " + std::to_string(i));
    for (const Region &region : rank.regions)
      require(isCuda || !isOnDevice(region.kind),
              where + ", region '" + region.name + "'",
              "it is of a kind that only a GPU has");
    require(isCuda || program.sums == Sums::ordered, where,
            "NCCL adds up gradients of a host");
    if (!isCuda)
      return checkHostRank(rank, where);
    checkInputs(program, rank, where);
    checkConstants(rank, where);
    for (size_t i = 0; i < rank.attentions.size(); ++i)
      checkAttention(rank.attentions[i],
                     where + ", attention " + std::to_string(i));
    checkStreams(rank, where);
    require(program.clipSync != ClipSync::optimistic, where,
            "only on the host are updates done before the norm of all "
            "gradients is known");
    checkSettings(program, rank, where);
    checkPlaces(rank, where);
    bool isOnFirstStream =
        std::all_of(rank.ops.begin(), rank.ops.end(), [](const Op &op) {
          return !op.late || isOfGather(op.kind);
        });
    require(isOnFirstStream || rank.computeStreams == 1, where,
            "ops other than gathers are late on a rank with several compute "
            "streams");
  }

  static bool areStrides(const std::vector<int64_t> &strides, int64_t least) {
    return strides.size() == 3 &&
           std::all_of(strides.begin(), strides.end(), [&](int64_t stride) {
             return stride >= least && stride <= maxAttentionExtent;
           });
  }

  void checkAttention(const Attention &attention, const std::string &where) {
    require(attention.type == DataType::f16 || attention.type == DataType::bf16,
            where, "its type is neither f16 nor bf16");
    for (int64_t extent : {attention.batch, attention.heads, attention.keyHeads,
                           attention.queries, attention.keys, attention.depth,
                           attention.valueDepth})
      require(extent >= 1 && extent <= maxAttentionExtent, where,
              "an extent is not in [1, 2^31)");
    if (!message.empty())
      return;
    require(attention.heads % attention.keyHeads == 0, where,
            "its heads do not share those of keys evenly");
    bool isBackward = attention.kind == AttentionKind::backward;
    for (const auto *strides :
         {&attention.queryStrides, &attention.keyStrides,
          &attention.valueStrides, &attention.outputStrides})
      require(areStrides(*strides, 1), where,
              "an operand has not three positive strides");
    for (const auto *strides :
         {&attention.outputGradStrides, &attention.queryGradStrides,
          &attention.keyGradStrides, &attention.valueGradStrides})
      require(isBackward ? areStrides(*strides, 1) : strides->empty(), where,
              "gradients have not three positive strides, in a derivative "
              "alone");
    require(attention.maskStrides.empty() ||
                areStrides(attention.maskStrides, 0),
            where, "its mask has not three strides");
    require(attention.maskType == DataType::f32 ||
                attention.maskType == attention.type,
            where, "its mask is neither of f32 nor of its type");
    require(attention.scratchBytes >= 0, where, "its scratch is negative");
  }

  void checkHostRank(const Rank &rank, const std::string &where) {
    bool isHost = rank.inputs.empty() && rank.inputsBefore.empty() &&
                  rank.settingsBeforeOffset == -1 && rank.constants.empty() &&
                  rank.attentions.empty() && rank.computeStreams == 1 &&
                  rank.events == 0 &&
                  std::all_of(rank.ops.begin(), rank.ops.end(),
                              [](const Op &op) { return op.stream == 0; }) &&
                  rank.libraryOffset == -1 && rank.libraryBytes == 0 &&
                  rank.settingsOffset == -1 && rank.numSettings == 1 &&
                  rank.clipOffset == -1 && rank.normsOffset == -1 &&
                  rank.normParts == 0 && rank.resultsOffset == -1 &&
                  !rank.readsBack;
    require(isHost, where,
            "it has inputs, constants, attentions, compute streams, a "
            "library's workspace, settings, norms or results of a GPU");
  }

  void checkGemm(const Gemm &gemm, const std::string &where) {
    bool isFloat = gemm.type == DataType::f32 || gemm.type == DataType::f64;
    if (!isCuda) {
      require(isFloat, where, "its type is neither f32 nor f64");
      return require(gemm.cType == gemm.type &&
                         gemm.compute == computeTypeOf(gemm.type) &&
                         gemm.alignment == 4 && !gemm.accumulate &&
                         gemm.epilogue == Epilogue::none,
                     where,
                     "its result, arithmetic, alignment, accumulation or "
                     "epilogue is not what the host has");
    }
    bool isHalf = gemm.type == DataType::bf16 || gemm.type == DataType::f16;
    require(isFloat || isHalf, where, "its type is not f32, f64, bf16 or f16");
    require(gemm.cType == gemm.type || (isHalf && gemm.cType == DataType::f32),
            where, "its result is neither of its type nor f32 of bf16 or f16");
    bool isFast =
        gemm.compute == ComputeType::tf32 && gemm.type == DataType::f32;
    require(isFast || gemm.compute == computeTypeOf(gemm.type), where,
            "it computes neither in f32, in f64 of f64, nor in tf32 of f32");
    require(gemm.alignment >= (isHalf ? 2 : 4) &&
                gemm.alignment <= deviceAlignment &&
                (gemm.alignment & (gemm.alignment - 1)) == 0,
            where,
            "its alignment is no power of two from 4, or 2 of bf16 and f16, to "
            "256");
    require(gemm.epilogue == Epilogue::none || gemm.type != DataType::f64,
            where, "f64 has no epilogues");
    require(!hasAux(gemm.epilogue) || gemm.alignment >= 16, where,
            "its epilogue has a matrix beside c, and its alignment is less "
            "than 16");
  }

  void checkConvolution(const Convolution &convolution,
                        const std::string &where) {
    DataType type = convolution.type;
    bool isSingle = type == DataType::f32;
    if (!isCuda)
      return require(isSingle && convolution.compute == ComputeType::f32, where,
                     "its type or arithmetic is not f32, which the host has");
    require(isSingle || type == DataType::bf16 || type == DataType::f16, where,
            "its type is not f32, bf16 or f16");
    require(convolution.compute == ComputeType::f32 ||
                (isSingle && convolution.compute == ComputeType::tf32),
            where, "it computes neither in f32 nor in tf32 of f32");
  }

  void checkReduction(const Reduction &reduction, int64_t members,
                      const std::string &where) {
    checkOrder(reduction, where);
    for (const ReducedPiece &piece : reduction.pieces) {
      if (!isCuda || piece.gathers) {
        require(piece.sumKernel == -1, where,
                "a piece is added up by the kernel of a GPU");
        continue;
      }
      require(isIndex(piece.sumKernel, metadata.device->kernels), where,
              "the kernel that adds up a piece does not exist");
      if (!message.empty())
        return;
      const Kernel &kernel = metadata.device->kernels[piece.sumKernel];
      require(kernel.numArguments == members + 2 &&
                  kernel.block == std::array<int32_t, 3>{256, 1, 1},
              where, [&] {
                return "kernel '" + kernel.name +
                       "' cannot add up a piece: that takes blocks of 256 "
                       "threads and " +
                       std::to_string(members + 2) + " arguments";
              });
    }
  }

  static bool isPlace(int64_t offset, int64_t bytes, const Rank &rank) {
    return isWithin(offset, bytes, rank.arenaBytes) &&
           offset % deviceAlignment == 0;
  }

  /// The bytes that the runtime writes for input `index`, or -1 if there is no
  /// such input.
  int64_t bytesOfInput(const Program &program, int32_t index) const {
    auto number = static_cast<size_t>(index);
    size_t numBatches = metadata.batches.size();
    if (index < 0 || number >= numBatches + metadata.buffers.size())
      return -1;
    if (number >= numBatches) {
      const Buffer &buffer = metadata.buffers[number - numBatches];
      return bytesOf(buffer.type, buffer.shape);
    }
    const Batch &batch = metadata.batches[number];
    return program.microbatchesOf(metadata.microbatches) *
           bytesOf(batch.type, batch.shape);
  }

  void checkInputs(const Program &program, const Rank &rank,
                   const std::string &where) {
    checkInputs(program, rank, rank.inputs, where + ", input ");
    checkInputs(program, rank, rank.inputsBefore,
                where + ", input of the step before ");
    auto isThere = [&](const Input &before) {
      return std::any_of(
          rank.inputs.begin(), rank.inputs.end(),
          [&](const Input &input) { return input.input == before.input; });
    };
    require(std::all_of(rank.inputsBefore.begin(), rank.inputsBefore.end(),
                        isThere),
            where, "it has an input of the step before alone");
    require(rank.hasLate() ||
                (rank.inputsBefore.empty() && rank.settingsBeforeOffset == -1),
            where,
            "it has inputs or settings of the step before, and nothing "
            "of that is late");
  }

  void checkInputs(const Program &program, const Rank &rank,
                   const std::vector<Input> &inputs, const std::string &what) {
    int32_t previous = -1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Input &input = inputs[i];
      std::string at = what + std::to_string(i);
      int64_t bytes = bytesOfInput(program, input.input);
      require(bytes >= 0, at, "its batch argument or buffer does not exist");
      require(input.input > previous, at, "inputs are not in ascending order");
      require(input.bytes == bytes, at, [&] {
        return "it has " + std::to_string(input.bytes) + " bytes, expected " +
               std::to_string(bytes);
      });
      require(isPlace(input.offset, input.bytes, rank), at,
              "it lies outside of the arena, or at no multiple of 256");
      previous = input.input;
    }
  }

  void checkConstants(const Rank &rank, const std::string &where) {
    for (size_t i = 0; i < rank.constants.size(); ++i) {
      const Constant &constant = rank.constants[i];
      std::string at = where + ", constant " + std::to_string(i);
      require(isIndex(constant.section, artifact.values), at,
              "the section of its values does not exist");
      if (!message.empty())
        return;
      require(artifact.values[constant.section].size() ==
                  static_cast<uint64_t>(constant.bytes),
              at, "the section of its values has not its size");
      require(isPlace(constant.offset, constant.bytes, rank), at,
              "it lies outside of the arena, or at no multiple of 256");
    }
  }

  void checkStreams(const Rank &rank, const std::string &where) {
    require(rank.computeStreams >= 1 &&
                rank.computeStreams <= maxComputeStreams && rank.events >= 0 &&
                rank.events <= maxEvents,
            where,
            "it has fewer than 1 compute stream, more than 4096, or a number "
            "of events that is not from 0 to 1048576");
    for (const Op &op : rank.ops)
      require(op.stream >= 0 && op.stream < rank.computeStreams, where,
              "an operation is on a compute stream that it does not have");
    if (!message.empty())
      return;
    require(rank.libraryBytes % rank.computeStreams == 0 &&
                rank.libraryBytes / rank.computeStreams % deviceAlignment == 0,
            where,
            "the library's workspace is not the same for each compute stream, "
            "or no multiple of 256");
  }

  /// The bytes of the settings of all parameters.
  static int64_t bytesOfSettings(const Rank &rank) {
    return settingsBytes *
           std::max<int64_t>(1, static_cast<int64_t>(rank.params.size()));
  }

  /// Checks the number of settings, and the places of what clipping needs.
  void checkSettings(const Program &program, const Rank &rank,
                     const std::string &where) {
    bool isClipped = program.clipSync == ClipSync::barrier;
    int32_t count = isClipped ? 2
                    : program.asynchronous == Asynchronous::stashed &&
                            rank.settingsOffset >= 0
                        ? program.microbatchesOf(metadata.microbatches)
                        : 1;
    require(rank.numSettings == count, where, [&] {
      return "it has " + std::to_string(rank.numSettings) +
             " settings, expected " + std::to_string(count);
    });
    require(isClipped ? rank.settingsOffset >= 0 &&
                            isPlace(rank.clipOffset,
                                    clipBytes + bytesOfSettings(rank), rank)
                      : rank.clipOffset == -1,
            where,
            "what clips gradients lies outside of the arena, at no multiple "
            "of 256, is without settings, or is there without a barrier");
  }

  /// Checks the places of the library's workspace, of settings and of norms.
  void checkPlaces(const Rank &rank, const std::string &where) {
    require(rank.libraryBytes > 0
                ? isPlace(rank.libraryOffset, rank.libraryBytes, rank)
                : rank.libraryOffset == -1 && rank.libraryBytes == 0,
            where,
            "the library's workspace lies outside of the arena, or at no "
            "multiple of 256");
    int64_t ofSettings = bytesOfSettings(rank) * rank.numSettings;
    require(rank.settingsOffset == -1 ||
                isPlace(rank.settingsOffset, ofSettings, rank),
            where,
            "the settings lie outside of the arena, or at no multiple of 256");
    require(rank.settingsBeforeOffset == -1 ||
                (rank.settingsOffset >= 0 &&
                 isPlace(rank.settingsBeforeOffset, ofSettings, rank)),
            where,
            "the settings of the step before lie outside of the arena, at no "
            "multiple of 256, or are alone");
    require(rank.settingsBeforeOffset >= 0 ||
                !std::any_of(rank.ops.begin(), rank.ops.end(),
                             [](const Op &op) {
                               return op.late && op.kind == OpKind::update;
                             }),
            where,
            "it updates parameters late, without settings of the step before");
    require(rank.normParts >= 0 && rank.normParts <= 1 << 20, where,
            "norms have a negative number of parts, or more than 1048576");
    if (!message.empty())
      return;
    int64_t bytes =
        int64_t(rank.normParts) * static_cast<int64_t>(rank.params.size()) * 8;
    require(rank.normParts > 0 ? isPlace(rank.normsOffset, bytes, rank)
                               : rank.normsOffset == -1,
            where,
            "the norms lie outside of the arena, or at no multiple of 256");
    int64_t resultBytes = int64_t(8) * metadata.microbatches *
                          static_cast<int64_t>(metadata.results.size());
    require(rank.resultsOffset == -1 ||
                isPlace(rank.resultsOffset, resultBytes, rank),
            where,
            "the results lie outside of the arena, or at no multiple of 256");
  }

  const Artifact &artifact;
  const Metadata &metadata;
  /// Whether the artifact, or the program being checked, is for a GPU.
  bool isCuda;
  std::string message;
};
} // namespace

Status artifact::validateTarget(const Artifact &artifact) {
  return TargetValidator(artifact).run();
}
