//===- Artifacts.h - artifacts for tests ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_ARTIFACTS_H
#define VEELINE_TEST_UNIT_RUNTIME_ARTIFACTS_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// An artifact of two ranks, with one parameter on each and one message.
inline Artifact makeArtifact() {
  Artifact artifact;
  Metadata &metadata = artifact.metadata;
  metadata.model = "two \"ranks\"";
  metadata.cpu = "x86-64";
  metadata.cpuFeatures = {"sse2"};
  metadata.optimizer = Optimizer::adamw;
  metadata.microbatches = 2;
  metadata.options = {{"stages", "2"}, {"schedule", "1f1b"}};
  metadata.results = {{"loss", DataType::f32}};
  metadata.params = {
      {"a", {4, 4}, DataType::f32, {Initializer::Kind::normal, 0, 0.02}},
      {"b", {4}, DataType::f32, {}}};
  metadata.batches = {{"x", {2, 4}, DataType::i32, std::pair(0L, 256L)}};
  metadata.buffers = {{"cos", {4}, DataType::f32, {}}};

  Program program;
  program.name = "pipeline";
  program.schedule = "1f1b";
  program.stages = 2;
  program.channels = {
      {ChannelKind::activation, 0, 0, 1, 64, 2, DataType::f32, {4, 4}}};
  for (int rank = 0; rank < 2; ++rank) {
    Rank entry;
    entry.stepSymbol = "step" + std::to_string(rank);
    entry.object = rank;
    entry.arenaBytes = 1024;
    entry.peakLiveBytes = 1000;
    entry.regions = {{"value", RegionKind::param, 0, 64, -1, -1},
                     {"x", RegionKind::residual, 512, 512, 0, 0}};
    entry.params = {{rank, 0, 64, {{rank, 256}}, true}};
    entry.gemms = {
        {DataType::f32, {2}, 4, 4, 4, {16, 4, 1}, {0, 1, 4}, {16, 4, 1}, 64}};
    Convolution convolution;
    convolution.kind = ConvolutionKind::backwardData;
    convolution.batch = convolution.groups = convolution.inputs = 1;
    convolution.outputs = 2;
    convolution.xSizes = {5};
    convolution.ySizes = {3};
    convolution.wSizes = {3};
    convolution.strides = convolution.dilations = {1};
    convolution.padding = {0};
    convolution.xStrides = {5, 5, 5, 1};
    convolution.wStrides = {6, 3, 3, 1};
    convolution.yStrides = {6, 6, 3, 1};
    entry.convolutions = {convolution};
    Op op;
    op.kind = rank ? OpKind::recv : OpKind::send;
    op.channel = 0;
    op.microbatch = 1;
    op.predictedBegin = 0.125;
    op.predictedEnd = 1e9;
    entry.ops = {op};
    program.ranks.push_back(entry);
  }
  metadata.programs = {program};
  artifact.objects = {std::string("\x7f"
                                  "ELF one\0two",
                                  12),
                      "second"};
  artifact.metadata.params[1].init = {Initializer::Kind::values, 0, 0,
                                      StoredValues{0, DataType::bf16}};
  using namespace std::string_view_literals;
  artifact.values = {"\x80\x3f\0\x40\x40\x40\x80\x40"sv};
  return artifact;
}

/// An attention derivative with a mask for each head.
inline Attention makeAttention() {
  Attention attention;
  attention.kind = AttentionKind::backward;
  attention.type = DataType::f16;
  attention.batch = attention.keyHeads = 2;
  attention.heads = 4;
  attention.queries = attention.keys = 8;
  attention.depth = attention.valueDepth = 16;
  attention.scale = 0.1;
  attention.causal = true;
  attention.deterministic = false;
  attention.queryStrides = attention.outputStrides =
      attention.outputGradStrides = attention.queryGradStrides = {512, 128, 16};
  attention.keyStrides = attention.valueStrides = attention.keyGradStrides =
      attention.valueGradStrides = {256, 128, 16};
  attention.maskStrides = {0, 64, 8};
  attention.scratchBytes = 512;
  return attention;
}

/// A similar artifact for a GPU, with everything that only artifacts for GPUs
/// have.
inline Artifact makeDeviceArtifact() {
  using namespace std::string_view_literals;
  Artifact artifact = makeArtifact();
  artifact.metadata.target = "cuda";
  DeviceCode &device = artifact.metadata.device.emplace();
  device.chips = {"sm_80", "sm_90a"};
  device.ptx = "sm_100";
  device.toolkit = "13.0";
  device.kernels = {{"row_512x128_0", {64, 1, 1}, {32, 8, 1}, 49152, 3},
                    {"sum", {1, 1, 1}, {256, 1, 1}, 0, 5}};
  artifact.image = "\x50\xed\x55\xba image"sv;
  artifact.values.push_back("eight by");
  Program &program = artifact.metadata.programs[0];
  program.channels[0].stream = 2;
  program.channels[0].communicator = 1;
  program.channels[0].receiveStream = 3;
  for (Rank &rank : program.ranks) {
    rank.arenaBytes = 8192;
    rank.inputs = {{0, 1024, 64}, {1, 1280, 16}};
    rank.constants = {{1, 1536, 8}};
    rank.attentions = {makeAttention()};
    rank.libraryOffset = 2048;
    rank.libraryBytes = 1024;
    rank.computeStreams = 2;
    rank.events = 3;
    rank.ops[0].stream = 1;
    rank.settingsOffset = 3072;
    rank.normsOffset = 3328;
    rank.normParts = 4;
    rank.readsBack = true;
    rank.regions.push_back({"inputs", RegionKind::input, 1024, 64, -1, -1});
    rank.convolutions[0].type = DataType::bf16;
    rank.gemms[0].type = DataType::bf16;
    rank.gemms[0].alignment = 16;
    rank.gemms[0].accumulate = true;
    rank.gemms[0].epilogue = Epilogue::biasGeluAux;
  }
  return artifact;
}

/// Gives the messages these shapes, of two lengths.
inline void varyLengths(Artifact &artifact,
                        std::vector<std::vector<int64_t>> shapes) {
  artifact.metadata.lengths = {2, 4};
  Channel &channel = artifact.metadata.programs[0].channels[0];
  channel.lengthShapes = std::move(shapes);
  channel.microbatches = {0, 1};
}

/// Gives the first of the two stages a second rank, with its parameters.
inline Program &widen(Artifact &artifact) {
  Program &program = artifact.metadata.programs[0];
  program.stageReplicas = {2, 1};
  program.ranks.insert(program.ranks.begin() + 1, program.ranks[0]);
  for (Channel &channel : program.channels) {
    channel.fromRank *= 2;
    channel.toRank *= 2;
  }
  return program;
}

/// Adds a reduction of four floats over three replicas.
inline Reduction &addReduction(Artifact &artifact) {
  Program &program = artifact.metadata.programs[0];
  program.replicas = 3;
  program.ranks[0].reductions = {{0, {{DataType::f32, 0, 4, 512, 64}}}};
  return program.ranks[0].reductions[0];
}

} // namespace veeline::artifact

#endif // VEELINE_TEST_UNIT_RUNTIME_ARTIFACTS_H
