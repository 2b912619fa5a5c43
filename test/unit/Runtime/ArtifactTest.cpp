//===- ArtifactTest.cpp - artifacts on disk -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checksum.h"
#include "Json.h"
#include "TempDir.h"

#include "veeline/artifact.h"

#include <csignal>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>

using namespace veeline;
using namespace veeline::artifact;
using veeline::test::TempDir;

/// Two ranks, one parameter on each, one message.
static Artifact makeArtifact() {
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

/// A derivative with a mask for each head.
static Attention makeAttention() {
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

/// The same for a GPU, with everything that only these have.
static Artifact makeDeviceArtifact() {
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
static void varyLengths(Artifact &artifact,
                        std::vector<std::vector<int64_t>> shapes) {
  artifact.metadata.lengths = {2, 4};
  Channel &channel = artifact.metadata.programs[0].channels[0];
  channel.lengthShapes = std::move(shapes);
  channel.microbatches = {0, 1};
}

static std::string errorOf(const TempDir &directory, const std::string &bytes) {
  Expected<Artifact> read = readArtifact(directory.write("bad.vee", bytes));
  return read.ok() ? "" : read.message();
}

TEST(Checksum, KnownValue) {
  Crc64 crc;
  crc.add("123456789");
  EXPECT_EQ(crc.value(), 0x995dc9bbdf1939fau);
  Crc64 pieces;
  pieces.add("1234567890");
  pieces.add("abcdefghijklm");
  Crc64 whole;
  whole.add("1234567890abcdefghijklm");
  EXPECT_EQ(pieces.value(), whole.value());
}

TEST(Artifact, RoundTrip) {
  TempDir directory;
  Artifact artifact = makeArtifact();
  std::string path = directory.path("model.vee");
  Status written = writeArtifact(path, artifact);
  ASSERT_TRUE(written.ok()) << written.message();
  Expected<Artifact> read = readArtifact(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->objects, artifact.objects);
  EXPECT_EQ(read->values, artifact.values);
  EXPECT_EQ(toJson(read->metadata), toJson(artifact.metadata));
  EXPECT_EQ(read->metadata.batches[0].range, std::pair(0L, 256L));
  EXPECT_EQ(read->metadata.programs[0].ranks[1].ops[0].predictedEnd, 1e9);
  EXPECT_EQ(directory.size(), 1u);
}

TEST(Artifact, RoundTripForAGpu) {
  TempDir directory;
  Artifact artifact = makeDeviceArtifact();
  std::string path = directory.path("model.vee");
  Status written = writeArtifact(path, artifact);
  ASSERT_TRUE(written.ok()) << written.message();
  Expected<Artifact> read = readArtifact(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->objects, artifact.objects);
  EXPECT_EQ(read->image, artifact.image);
  EXPECT_EQ(read->values, artifact.values);
  EXPECT_EQ(toJson(read->metadata), toJson(artifact.metadata));
  EXPECT_EQ(read->metadata.target, "cuda");
  ASSERT_TRUE(read->metadata.device);
  const Kernel &kernel = read->metadata.device->kernels[0];
  EXPECT_EQ(kernel.block, (std::array<int32_t, 3>{32, 8, 1}));
  EXPECT_EQ(kernel.sharedBytes, 49152);
  const Rank &rank = read->metadata.programs[0].ranks[1];
  EXPECT_EQ(rank.inputs[1].offset, 1280);
  EXPECT_EQ(rank.constants[0].section, 1);
  ASSERT_EQ(rank.attentions.size(), 1u);
  EXPECT_EQ(rank.attentions[0].kind, AttentionKind::backward);
  EXPECT_EQ(rank.attentions[0].scale, 0.1);
  EXPECT_FALSE(rank.attentions[0].deterministic);
  EXPECT_EQ(rank.attentions[0].maskStrides, (std::vector<int64_t>{0, 64, 8}));
  EXPECT_EQ(rank.normParts, 4);
  EXPECT_TRUE(rank.readsBack);
  EXPECT_EQ(rank.computeStreams, 2);
  EXPECT_EQ(rank.events, 3);
  EXPECT_EQ(rank.ops[0].stream, 1);
  EXPECT_EQ(rank.gemms[0].epilogue, Epilogue::biasGeluAux);
  EXPECT_EQ(read->metadata.programs[0].channels[0].communicator, 1);
}

TEST(Artifact, SectionsThatAreMissing) {
  TempDir directory;
  Artifact artifact = makeDeviceArtifact();
  // A file with as many sections as it has values, but an image, too.
  for (Rank &rank : artifact.metadata.programs[0].ranks)
    rank.object = 0;
  artifact.objects.clear();
  EXPECT_FALSE(validate(artifact).ok());
  Metadata many = makeDeviceArtifact().metadata;
  many.programs[0].ranks[0].constants[0].section = 6;
  ASSERT_TRUE(writeArtifact(directory.path("a"), makeDeviceArtifact()).ok());
  std::string bytes = directory.read("a");
  std::string before = toCompactJson(makeDeviceArtifact().metadata);
  std::string after = toCompactJson(many);
  ASSERT_EQ(before.size(), after.size());
  bytes.replace(bytes.find(before), before.size(), after);
  std::memset(bytes.data() + 56, 0, 8);
  Crc64 crc;
  crc.add(bytes);
  uint64_t checksum = crc.value();
  std::memcpy(bytes.data() + 56, &checksum, 8);
  EXPECT_NE(errorOf(directory, bytes)
                .find("it has 5 sections, and its parameters and constants "
                      "start from the values of 7, and it has an image"),
            std::string::npos)
      << errorOf(directory, bytes);
}

TEST(Artifact, MissingFile) {
  Expected<Artifact> read = readArtifact("/nowhere/model.vee");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.message(),
            "cannot read '/nowhere/model.vee': No such file or directory");
}

TEST(Artifact, EveryTruncationIsFound) {
  TempDir directory;
  ASSERT_TRUE(writeArtifact(directory.path("a"), makeDeviceArtifact()).ok());
  std::string bytes = directory.read("a");
  for (size_t size = 0; size < bytes.size(); size += 7) {
    std::string message = errorOf(directory, bytes.substr(0, size));
    EXPECT_NE(message.find("truncated"), std::string::npos)
        << size << ": " << message;
    EXPECT_NE(message.find("bad.vee"), std::string::npos);
  }
}

TEST(Artifact, EveryDamagedByteIsFound) {
  TempDir directory;
  ASSERT_TRUE(writeArtifact(directory.path("a"), makeDeviceArtifact()).ok());
  std::string bytes = directory.read("a");
  std::mt19937 random(1);
  for (size_t at = 0; at < bytes.size(); at += at < 64 ? 1 : 11) {
    std::string damaged = bytes;
    damaged[at] ^= static_cast<char>(1 << (random() % 8));
    EXPECT_NE(errorOf(directory, damaged), "") << "byte " << at;
  }
}

TEST(Artifact, OtherFilesAndVersions) {
  TempDir directory;
  EXPECT_NE(
      errorOf(directory, std::string(200, 'x')).find("no Veeline artifact"),
      std::string::npos);
  ASSERT_TRUE(writeArtifact(directory.path("a"), makeArtifact()).ok());
  std::string bytes = directory.read("a");
  bytes[8] = 77;
  EXPECT_NE(errorOf(directory, bytes).find("version 77"), std::string::npos);
}

TEST(Artifact, MetadataErrorsNameThePath) {
  std::string json = toCompactJson(makeArtifact().metadata);
  auto errorAfter = [&](const std::string &from, const std::string &to) {
    std::string text = json;
    text.replace(text.find(from), from.size(), to);
    Expected<Metadata> read = fromJson(text);
    return read.ok() ? "" : read.message();
  };
  EXPECT_EQ(errorAfter("\"microbatches\":2", "\"microbatches\":\"2\""),
            "'microbatches' should be an integer, found \"2\"");
  EXPECT_EQ(errorAfter("\"microbatches\":2", "\"microbatches\":5000000000"),
            "'microbatches' should be an integer of 32 bits, found 5000000000");
  EXPECT_EQ(errorAfter("\"normal\"", "\"gauss\""),
            "'params[0].init.kind' should be one of the known names, found "
            "\"gauss\"");
  EXPECT_EQ(errorAfter("\"is_home\":true", "\"is_hom\":true"),
            "'programs[0].ranks[0].params[0].is_home' should be a value, found "
            "null");
  EXPECT_EQ(errorAfter("{\"model\"", "{\"modell\":1,\"model\"").substr(0, 39),
            "'' should be no members but the 15 know");
  EXPECT_EQ(errorAfter("{", "["), "the metadata is not JSON");
  EXPECT_EQ(errorAfter("\"microbatches\":2", "\"microbatches\":1e999"),
            "the metadata is not JSON");
}

TEST(Artifact, RandomJsonNeverCrashes) {
  std::string json[] = {toCompactJson(makeArtifact().metadata),
                        toCompactJson(makeDeviceArtifact().metadata)};
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = json[i % 2];
    for (int edits = 1 + random() % 3; edits; --edits)
      text[random() % text.size()] = "{}[]\",:0129-eE.ntf\\ "[random() % 20];
    Artifact artifact = i % 2 ? makeDeviceArtifact() : makeArtifact();
    Expected<Metadata> read = fromJson(text);
    if (!read.ok())
      continue;
    artifact.metadata = *read;
    (void)validate(artifact).ok();
  }
}

/// Of the two stages, the first one gets a second rank, with its parameters.
static Program &widen(Artifact &artifact) {
  Program &program = artifact.metadata.programs[0];
  program.stageReplicas = {2, 1};
  program.ranks.insert(program.ranks.begin() + 1, program.ranks[0]);
  for (Channel &channel : program.channels) {
    channel.fromRank *= 2;
    channel.toRank *= 2;
  }
  return program;
}

TEST(Artifact, RanksOfStages) {
  Artifact artifact = makeArtifact();
  Program &one = widen(artifact);
  ASSERT_TRUE(validate(artifact).ok()) << validate(artifact).message();
  EXPECT_EQ(one.ranksOf(0), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(one.ranksOf(1), (std::vector<int32_t>{2}));
  Expected<Program> all = withAllReplicas(one, "2,0,1");
  ASSERT_TRUE(all.ok()) << all.message();
  EXPECT_EQ(all->ranksOf(0), (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(all->placeOf(0).member, 1);
  EXPECT_EQ(all->placeOf(1).stage, 1);
  EXPECT_NE(withAllReplicas(one, "0,1")
                .message()
                .find("those of stage 0, then of the next of the 2 stages"),
            std::string::npos);
  one.replicas = 2;
  all = withAllReplicas(one, "replicas-first");
  ASSERT_TRUE(all.ok()) << all.message();
  // By replica, then by number in the stage.
  EXPECT_EQ(all->ranksOf(0), (std::vector<int32_t>{0, 2, 1, 3}));
  EXPECT_EQ(all->ranksOf(1), (std::vector<int32_t>{4, 5}));
}

/// Four floats, added up over three replicas.
static Reduction &addReduction(Artifact &artifact) {
  Program &program = artifact.metadata.programs[0];
  program.replicas = 3;
  program.ranks[0].reductions = {{0, {{DataType::f32, 0, 4, 512, 64}}}};
  return program.ranks[0].reductions[0];
}

TEST(Artifact, RanksOfAllReplicas) {
  Artifact artifact = makeArtifact();
  addReduction(artifact);
  ASSERT_TRUE(validate(artifact).ok()) << validate(artifact).message();
  const Program &one = artifact.metadata.programs[0];
  auto placesOf = [&](const std::string &order) {
    Expected<Program> all = withAllReplicas(one, order);
    if (!all.ok())
      return all.message();
    std::string text;
    for (Program::Place place : all->places)
      text += std::to_string(place.replica) + "." +
              std::to_string(place.stage) + " ";
    return text;
  };
  EXPECT_EQ(placesOf("stages-first"), "0.0 0.1 1.0 1.1 2.0 2.1 ");
  EXPECT_EQ(placesOf("replicas-first"), "0.0 1.0 2.0 0.1 1.1 2.1 ");
  EXPECT_EQ(placesOf("5,0,1,2,3,4"), "0.1 1.0 1.1 2.0 2.1 0.0 ");
  EXPECT_EQ(placesOf("stages-frist"),
            "'stages-frist' is neither stages-first, replicas-first nor a list "
            "of ranks; did you mean 'stages-first'?");
  for (const char *wrong : {"0,1,2,3,4", "0,1,2,3,4,4", "1,2,3,4,5,6"})
    EXPECT_NE(placesOf(wrong).find("does not have each of the ranks 0 to 5"),
              std::string::npos)
        << wrong;
  for (const char *wrong : {"", "0,,1", "0;1", "0,1,2,3,4,5,"})
    EXPECT_NE(placesOf(wrong).find("is neither"), std::string::npos) << wrong;

  Program all = *withAllReplicas(one, "replicas-first");
  EXPECT_EQ(all.ranksOf(1), (std::vector<int32_t>{3, 4, 5}));
  ASSERT_EQ(all.channels.size(), 3 * one.channels.size());
  for (size_t i = 0; i < all.channels.size(); ++i) {
    auto replica = static_cast<int32_t>(i / one.channels.size());
    const Channel &from = one.channels[i % one.channels.size()];
    EXPECT_EQ(all.channels[i].fromRank, from.fromRank * 3 + replica);
    EXPECT_EQ(all.channels[i].toRank, from.toRank * 3 + replica);
  }
  for (size_t rank = 0; rank < all.ranks.size(); ++rank)
    for (const Op &op : all.ranks[rank].ops) {
      const Channel &channel = all.channels[static_cast<size_t>(op.channel)];
      EXPECT_EQ(op.kind == OpKind::send ? channel.fromRank : channel.toRank,
                static_cast<int32_t>(rank));
    }
}

TEST(Artifact, ValidateFindsEachBrokenRule) {
  using Break = std::function<void(Artifact &)>;
  auto program = [](Artifact &a) -> Program & {
    return a.metadata.programs[0];
  };
  auto convolution = [&](Artifact &a) -> Convolution & {
    return program(a).ranks[0].convolutions[0];
  };
  const std::pair<const char *, Break> cases[] = {
      {"parameter 'b': there are two",
       [](Artifact &a) { a.metadata.params[0].name = "b"; }},
      {"stored for other parameters than",
       [](Artifact &a) { a.metadata.params[1].init.stored.reset(); }},
      {"stored for other parameters than",
       [](Artifact &a) {
         a.metadata.params[1].init.kind = Initializer::Kind::zeros;
       }},
      {"no floats, or wider ones",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::i16;
       }},
      {"no floats, or wider ones",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::f64;
       }},
      {"section of its values does not exist",
       [](Artifact &a) { a.metadata.params[1].init.stored->section = 1; }},
      {"has not their size",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::f32;
       }},
      {"extent of its shape is below 1",
       [](Artifact &a) {
         a.metadata.params[0].shape = {4, 0};
       }},
      {"too many elements",
       [](Artifact &a) {
         a.metadata.batches[0].shape = {1L << 40, 1L << 40};
       }},
      {"neither f32 nor f64",
       [](Artifact &a) { a.metadata.params[0].type = DataType::i32; }},
      {"only integers have a range",
       [](Artifact &a) { a.metadata.batches[0].type = DataType::f32; }},
      {"range of valid values is empty",
       [](Artifact &a) { a.metadata.batches[0].range = std::pair(3L, 3L); }},
      {"there is no loss", [](Artifact &a) { a.metadata.results.clear(); }},
      {"not ascending numbers", [](Artifact &a) { a.metadata.lengths = {2, 2}; }},
      {"dimension of its length does not exist",
       [](Artifact &a) { a.metadata.batches[0].lengthDim = 2; }},
      {"extent is not the bound",
       [](Artifact &a) {
         a.metadata.lengths = {2, 5};
         a.metadata.batches[0].lengthDim = 1;
       }},
      {"not one shape for each length",
       [&](Artifact &a) { varyLengths(a, {{4, 4}}); }},
      {"larger than the largest",
       [&](Artifact &a) { varyLengths(a, {{4, 5}, {4, 4}}); }},
      {"channel 0: an extent of its shape is below 1",
       [&](Artifact &a) { varyLengths(a, {{4, 0}, {4, 4}}); }},
      {"channel 0: it has microbatches, but messages of one length",
       [&](Artifact &a) { program(a).channels[0].microbatches = {0}; }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches.pop_back();
       }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches[0] = a.metadata.microbatches;
       }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches = {1, 1};
       }},
      {"not as many ranks", [&](Artifact &a) { program(a).stages = 3; }},
      {"does not connect two ranks",
       [&](Artifact &a) { program(a).channels[0].toRank = 2; }},
      {"channel 0: its shape has not the bytes of a message",
       [&](Artifact &a) { program(a).channels[0].shape = {4, 3}; }},
      {"channel 0: its messages have no parts, or more than 1024",
       [&](Artifact &a) { program(a).channels[0].parts = 0; }},
      {"channel 0: its messages have no parts, or more than 1024",
       [&](Artifact &a) { program(a).channels[0].parts = 1025; }},
      {"channel 0: a message has fewer elements than parts",
       [&](Artifact &a) { program(a).channels[0].parts = 17; }},
      {"channel 0: a message has fewer elements than parts",
       [&](Artifact &a) {
         varyLengths(a, {{2}, {4, 4}});
         program(a).channels[0].parts = 3;
       }},
      {"channel 0: its messages have too many parts in a step",
       [&](Artifact &a) {
         program(a).channels[0].messagesPerStep = 1 << 25;
         program(a).channels[0].parts = 16;
       }},
      {"channel 0: an extent of its shape is below 1",
       [&](Artifact &a) { program(a).channels[0].shape = {-4, -4}; }},
      {"rank 1: its object", [&](Artifact &a) { a.objects.pop_back(); }},
      {"outside of the arena",
       [&](Artifact &a) { program(a).ranks[0].regions[0].offset = 1000; }},
      {"no range of ops",
       [&](Artifact &a) { program(a).ranks[0].regions[1].lastOp = 1; }},
      {"value lies outside",
       [&](Artifact &a) { program(a).ranks[0].params[0].valueOffset = 2; }},
      {"state is not where",
       [&](Artifact &a) { program(a).ranks[0].params[0].stateOffset = -1; }},
      {"a gradient lies outside",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].gradients[0].offset = 1020;
       }},
      {"parameter 'a': not exactly one stage",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].isHome = false;
         program(a).ranks[0].params[0].stateOffset = -1;
       }},
      {"one stride per dimension",
       [&](Artifact &a) { program(a).ranks[0].gemms[0].batch.clear(); }},
      {"0 in the result",
       [&](Artifact &a) { program(a).ranks[0].gemms[0].cStrides[0] = 0; }},
      {"1 to 3 dimensions",
       [&](Artifact &a) { convolution(a).xSizes.clear(); }},
      {"one element per dimension",
       [&](Artifact &a) { convolution(a).padding.clear(); }},
      {"one positive stride per dimension",
       [&](Artifact &a) { convolution(a).wStrides[3] = 0; }},
      {"stride or dilation is below 1",
       [&](Artifact &a) { convolution(a).dilations[0] = 0; }},
      {"a window is too large",
       [&](Artifact &a) { convolution(a).strides[0] = int64_t(1) << 62; }},
      {"sizes do not fit", [&](Artifact &a) { convolution(a).xSizes[0] = 6; }},
      {"only messages name a channel",
       [&](Artifact &a) { program(a).ranks[0].ops[0].channel = -1; }},
      {"microbatch does not exist",
       [&](Artifact &a) { program(a).ranks[0].ops[0].microbatch = 2; }},
      {"number of replicas", [&](Artifact &a) { program(a).replicas = 0; }},
      {"number of microbatches",
       [&](Artifact &a) { program(a).microbatches = 9; }},
      {"a stage has not 1 to 65536 ranks",
       [&](Artifact &a) { widen(a).stageReplicas = {0, 3}; }},
      {"one number of ranks for each stage",
       [&](Artifact &a) { widen(a).stageReplicas = {3}; }},
      {"not as many ranks as its stages",
       [&](Artifact &a) { widen(a).stageReplicas = {1, 1}; }},
      {"not the parameters and gradients of its stage",
       [&](Artifact &a) { widen(a).ranks[1].params.clear(); }},
      {"only all-reduces name a reduction",
       [&](Artifact &a) { program(a).ranks[0].ops[0].reduction = 0; }},
      {"there is one replica only",
       [&](Artifact &a) { program(a).ranks[0].reductions = {{}}; }},
      {"its chunk does not exist",
       [&](Artifact &a) { addReduction(a).chunk = 9; }},
      {"a piece has no elements",
       [&](Artifact &a) { addReduction(a).pieces[0].numElements = 0; }},
      {"a piece lies outside",
       [&](Artifact &a) { addReduction(a).pieces[0].offset = 1020; }},
      {"the buffer of a piece",
       [&](Artifact &a) { addReduction(a).pieces[0].stride = 4; }},
      {"the buffer of a piece",
       [&](Artifact &a) { addReduction(a).pieces[0].bufferOffset = 1000; }},
      {"live bytes",
       [&](Artifact &a) { program(a).ranks[0].peakLiveBytes = 1025; }}};
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeArtifact();
    ASSERT_TRUE(validate(artifact).ok());
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << status.message();
  }
}

TEST(Artifact, ValidateFindsEachBrokenRuleOfTheHost) {
  using Break = std::function<void(Artifact &)>;
  auto rank = [](Artifact &a) -> Rank & {
    return a.metadata.programs[0].ranks[1];
  };
  auto gemm = [](Artifact &a) -> Gemm & {
    return a.metadata.programs[0].ranks[1].gemms[0];
  };
  auto convolution = [](Artifact &a) -> Convolution & {
    return a.metadata.programs[0].ranks[1].convolutions[0];
  };
  std::string ofGpu =
      "rank 1: it has inputs, constants, attentions, compute streams, a "
      "library's workspace, settings or norms of a GPU";
  std::string ofHost = "rank 1, matrix product 0: its result, arithmetic, "
                       "alignment, accumulation or epilogue is not what the "
                       "host has";
  const std::pair<std::string, Break> cases[] = {
      {"the target is 'gpu', which is neither host nor cuda",
       [](Artifact &a) { a.metadata.target = "gpu"; }},
      {"the target is cuda, and it has no code",
       [](Artifact &a) { a.metadata.target = "cuda"; }},
      {"the target is host, and it has code for a GPU",
       [](Artifact &a) { a.metadata.device.emplace(); }},
      {"image: there is one, and the target is host",
       [](Artifact &a) { a.image = "code"; }},
      {"its type is neither f32 nor f64",
       [&](Artifact &a) { gemm(a).type = DataType::bf16; }},
      {"its type is no float",
       [&](Artifact &a) { gemm(a).type = DataType::i32; }},
      {ofHost, [&](Artifact &a) { gemm(a).cType = DataType::f64; }},
      {ofHost, [&](Artifact &a) { gemm(a).compute = ComputeType::tf32; }},
      {ofHost, [&](Artifact &a) { gemm(a).alignment = 16; }},
      {ofHost, [&](Artifact &a) { gemm(a).accumulate = true; }},
      {ofHost, [&](Artifact &a) { gemm(a).epilogue = Epilogue::bias; }},
      {"rank 1, convolution 0: its type or arithmetic is not f32, which the "
       "host has",
       [&](Artifact &a) { convolution(a).type = DataType::bf16; }},
      {"convolution 0: its type or arithmetic is not f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::tf32; }},
      {"channel 0: it has a stream or a communicator of a GPU",
       [](Artifact &a) { a.metadata.programs[0].channels[0].stream = 0; }},
      {"reduction 0: it has a stream or a communicator of a GPU",
       [](Artifact &a) { addReduction(a).communicator = 1; }},
      {"reduction 0: a piece is added up by the kernel of a GPU",
       [](Artifact &a) { addReduction(a).pieces[0].sumKernel = 0; }},
      {"region 'value': it is of a kind that only a GPU has",
       [&](Artifact &a) { rank(a).regions[0].kind = RegionKind::library; }},
      {ofGpu,
       [&](Artifact &a) {
         rank(a).inputs = {{0, 0, 64}};
       }},
      {ofGpu,
       [&](Artifact &a) {
         rank(a).constants = {{0, 0, 8}};
       }},
      {ofGpu, [&](Artifact &a) { rank(a).attentions.emplace_back(); }},
      {ofGpu, [&](Artifact &a) { rank(a).libraryOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).libraryBytes = 64; }},
      {ofGpu, [&](Artifact &a) { rank(a).computeStreams = 2; }},
      {ofGpu, [&](Artifact &a) { rank(a).events = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).ops[0].stream = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).settingsOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).normsOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).normParts = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).readsBack = true; }}};
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeArtifact();
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << status.message();
  }
}

TEST(Artifact, ValidateFindsEachBrokenRuleOfAGpu) {
  using Break = std::function<void(Artifact &)>;
  auto device = [](Artifact &a) -> DeviceCode & { return *a.metadata.device; };
  auto kernel = [](Artifact &a) -> Kernel & {
    return a.metadata.device->kernels[0];
  };
  auto rank = [](Artifact &a) -> Rank & {
    return a.metadata.programs[0].ranks[1];
  };
  auto gemm = [](Artifact &a) -> Gemm & {
    return a.metadata.programs[0].ranks[1].gemms[0];
  };
  auto convolution = [](Artifact &a) -> Convolution & {
    return a.metadata.programs[0].ranks[1].convolutions[0];
  };
  auto piece = [](Artifact &a) -> ReducedPiece & {
    ReducedPiece &piece = addReduction(a).pieces[0];
    piece.sumKernel = 1;
    return piece;
  };
  std::string where = "program 'pipeline', rank 1, ";
  const std::pair<std::string, Break> cases[] = {
      {"the target is host, and it has code for a GPU",
       [](Artifact &a) { a.metadata.target = "host"; }},
      {"image: it is empty", [](Artifact &a) { a.image.clear(); }},
      {"'sm80' is no chip such as sm_80",
       [&](Artifact &a) { device(a).chips[0] = "sm80"; }},
      {"'sm_1' is no chip", [&](Artifact &a) { device(a).chips[0] = "sm_1"; }},
      {"'sm_90x' is no chip",
       [&](Artifact &a) { device(a).chips[0] = "sm_90x"; }},
      {"is there twice",
       [&](Artifact &a) { device(a).chips[1] = device(a).chips[0]; }},
      {"its PTX is for 'compute_80'",
       [&](Artifact &a) { device(a).ptx = "compute_80"; }},
      {"neither native code nor PTX",
       [&](Artifact &a) {
         device(a).chips.clear();
         device(a).ptx.clear();
       }},
      {"native code of no toolkit",
       [&](Artifact &a) { device(a).toolkit.clear(); }},
      {"its toolkit is '13', which is no version",
       [&](Artifact &a) { device(a).toolkit = "13"; }},
      {"rank 1, convolution 0: its type is not f32, bf16 or f16",
       [&](Artifact &a) { convolution(a).type = DataType::f64; }},
      {"convolution 0: it computes neither in f32 nor in tf32 of f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::tf32; }},
      {"convolution 0: it computes neither in f32 nor in tf32 of f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::f64; }},
      {"kernel 0: its name is empty",
       [&](Artifact &a) { kernel(a).name.clear(); }},
      {"kernel 1 'sum': there are two of this name",
       [&](Artifact &a) { kernel(a).name = "sum"; }},
      {"kernel 0 'row_512x128_0': its grid",
       [&](Artifact &a) { kernel(a).grid[0] = 0; }},
      {"its grid", [&](Artifact &a) { kernel(a).grid[2] = 65536; }},
      {"its block", [&](Artifact &a) { kernel(a).block[1] = 0; }},
      {"its block", [&](Artifact &a) { kernel(a).block = {1024, 2, 1}; }},
      {"its block", [&](Artifact &a) { kernel(a).block = {1, 1, 65}; }},
      {"its shared memory", [&](Artifact &a) { kernel(a).sharedBytes = -1; }},
      {"its shared memory",
       [&](Artifact &a) { kernel(a).sharedBytes = 232449; }},
      {"number of arguments",
       [&](Artifact &a) { kernel(a).numArguments = 513; }},
      {"channel 0: its stream is not in [0, 64)",
       [](Artifact &a) { a.metadata.programs[0].channels[0].stream = 64; }},
      {"channel 0: its communicator is not in [0, 1024)",
       [](Artifact &a) {
         a.metadata.programs[0].channels[0].communicator = -1;
       }},
      {"reduction 0: its stream is not in [0, 64)",
       [&](Artifact &a) {
         piece(a);
         a.metadata.programs[0].ranks[0].reductions[0].stream = -1;
       }},
      {"kernel that adds up a piece does not exist",
       [&](Artifact &a) { piece(a).sumKernel = -1; }},
      {"kernel that adds up a piece does not exist",
       [&](Artifact &a) { piece(a).sumKernel = 2; }},
      {"kernel 'row_512x128_0' cannot add up a piece: that takes blocks of 256 "
       "threads and 5 arguments",
       [&](Artifact &a) { piece(a).sumKernel = 0; }},
      {where + "matrix product 0: its result is neither of its type",
       [&](Artifact &a) { gemm(a).cType = DataType::f16; }},
      {"its type is no float",
       [&](Artifact &a) { gemm(a).type = DataType::i8; }},
      {"it computes neither in f32",
       [&](Artifact &a) { gemm(a).compute = ComputeType::tf32; }},
      {"it computes neither in f32",
       [&](Artifact &a) {
         gemm(a).type = gemm(a).cType = DataType::f64;
         gemm(a).epilogue = Epilogue::none;
       }},
      {"its alignment is no power of two",
       [&](Artifact &a) { gemm(a).alignment = 24; }},
      {"its alignment is no power of two",
       [&](Artifact &a) { gemm(a).alignment = 512; }},
      {"its epilogue has a matrix beside c, and its alignment is less than 16",
       [&](Artifact &a) {
         gemm(a).epilogue = Epilogue::geluAux;
         gemm(a).alignment = 8;
       }},
      {"f64 has no epilogues",
       [&](Artifact &a) {
         gemm(a).type = gemm(a).cType = DataType::f64;
         gemm(a).compute = ComputeType::f64;
       }},
      {where + "input 0: its batch argument or buffer does not exist",
       [&](Artifact &a) { rank(a).inputs[0].input = 2; }},
      {where + "input 1: inputs are not in ascending order",
       [&](Artifact &a) { rank(a).inputs[1] = rank(a).inputs[0]; }},
      {where + "input 0: it has 32 bytes, expected 64",
       [&](Artifact &a) { rank(a).inputs[0].bytes = 32; }},
      {"rank 0, input 0: it has 64 bytes, expected 32",
       [](Artifact &a) { a.metadata.programs[0].microbatches = 1; }},
      {where + "input 1: it lies outside of the arena",
       [&](Artifact &a) { rank(a).inputs[1].offset = 8192; }},
      {where + "input 1: it lies outside of the arena, or at no multiple",
       [&](Artifact &a) { rank(a).inputs[1].offset = 64; }},
      {where + "constant 0: the section of its values does not exist",
       [&](Artifact &a) { rank(a).constants[0].section = 2; }},
      {where + "constant 0: the section of its values has not its size",
       [&](Artifact &a) { rank(a).constants[0].bytes = 4; }},
      {where + "constant 0: it lies outside of the arena",
       [&](Artifact &a) { rank(a).constants[0].offset = -256; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryOffset = 100; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryBytes = 0; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryBytes = 1 << 20; }},
      {"rank 1: it has fewer than 1 compute stream",
       [&](Artifact &a) { rank(a).computeStreams = 0; }},
      {"rank 1: it has fewer than 1 compute stream, more than 4096, or a number "
               "of events that is not from 0 to 1048576",
       [&](Artifact &a) { rank(a).events = -1; }},
      {"rank 1: an operation is on a compute stream that it does not have",
       [&](Artifact &a) { rank(a).ops[0].stream = 2; }},
      {"rank 1: an operation is on a compute stream that it does not have",
       [&](Artifact &a) { rank(a).computeStreams = 1; }},
      {"rank 1: the library's workspace is not the same for each compute "
               "stream, or no multiple of 256",
       [&](Artifact &a) { rank(a).computeStreams = 3; }},
      {"rank 1: the library's workspace is not the same for each compute "
               "stream, or no multiple of 256",
       [&](Artifact &a) { rank(a).computeStreams = 8; }},
      {"the settings lie outside",
       [&](Artifact &a) { rank(a).settingsOffset = 8191; }},
      {"a negative number of parts",
       [&](Artifact &a) { rank(a).normParts = -1; }},
      {"the norms lie outside", [&](Artifact &a) { rank(a).normParts = 0; }},
      {"the norms lie outside",
       [&](Artifact &a) { rank(a).normParts = 1 << 20; }}};
  Artifact whole = makeDeviceArtifact();
  ASSERT_TRUE(validate(whole).ok()) << validate(whole).message();
  piece(whole);
  ASSERT_TRUE(validate(whole).ok()) << validate(whole).message();
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeDeviceArtifact();
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << expected << "\n"
        << status.message();
  }
}

TEST(Artifact, FullDiskLeavesWhatWasThere) {
  TempDir directory;
  std::string path = directory.write("model.vee", "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = {1000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeArtifact(path, makeArtifact());
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "cannot write '" + path + "': File too large");
  EXPECT_EQ(directory.read("model.vee"), "old");
  EXPECT_EQ(directory.size(), 1u);
}

TEST(Artifact, CpuThatLacksAnInstructionIsRefused) {
  Metadata metadata = makeArtifact().metadata;
  EXPECT_TRUE(checkCpu(metadata).ok());
  metadata.cpu = "bdver4";
  metadata.cpuFeatures = {"sse2", "xop"};
  if (__builtin_cpu_supports("xop"))
    GTEST_SKIP() << "this CPU has XOP";
  Status status = checkCpu(metadata);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("'bdver4'; this machine's CPU lacks xop"),
            std::string::npos);
}
