//===- ArtifactTest.cpp - artifacts on disk -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"
#include "Json.h"
#include "TempDir.h"
#include "veeline/Base/Checksum.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>

using namespace veeline;
using namespace veeline::artifact;
using veeline::test::TempDir;

/// Makes the checksum that of the changed bytes of a file.
static void correctChecksum(std::string &bytes) {
  std::memset(bytes.data() + 56, 0, 8);
  Crc64 crc;
  crc.add(bytes);
  uint64_t checksum = crc.value();
  std::memcpy(bytes.data() + 56, &checksum, 8);
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

TEST(Artifact, InMemoryItIsAsOnDisk) {
  TempDir directory;
  Artifact artifact = makeArtifact();
  std::string path = directory.path("model.vee");
  ASSERT_TRUE(writeArtifact(path, artifact).ok());
  Expected<std::string> bytes = toBytes(artifact);
  ASSERT_TRUE(bytes.ok()) << bytes.message();
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(std::equal(std::istreambuf_iterator<char>(file), {},
                         bytes->begin(), bytes->end()));
  Expected<Artifact> read = readArtifactFromMemory(*bytes);
  ASSERT_TRUE(read.ok()) << read.message();
  bytes->assign(bytes->size(), 'x');
  EXPECT_EQ(read->objects, artifact.objects);
  EXPECT_EQ(read->values, artifact.values);
  EXPECT_EQ(toJson(read->metadata), toJson(artifact.metadata));
  Expected<Artifact> damaged = readArtifactFromMemory(*bytes);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.message().rfind("cannot read an artifact in memory: ", 0),
            0u);
}

/// What is offloaded of F0, in a file and back, and in a file without the rest.
TEST(Artifact, OffloadsHaveCopiesAndPlaces) {
  Artifact artifact = makeArtifact();
  Rank &rank = artifact.metadata.programs[0].ranks[0];
  for (OpKind kind : {OpKind::offload, OpKind::reload}) {
    Op op;
    op.kind = kind;
    op.chunk = op.microbatch = 0;
    rank.ops.push_back(op);
  }
  rank.hostBytes = 128;
  rank.numOffloads = 1;
  EXPECT_TRUE(validate(artifact).ok());
  rank.hostCopies = {{1, 2, 2, 0.5}};
  rank.hostRegions = {{"x", RegionKind::residual, 64, 64, 1, 2}};
  TempDir directory;
  ASSERT_TRUE(writeArtifact(directory.path("a"), artifact).ok());
  Expected<Artifact> read = readArtifact(directory.path("a"));
  ASSERT_TRUE(read.ok()) << read.message();
  const Rank &found = read->metadata.programs[0].ranks[0];
  EXPECT_EQ(found.hostCopies.at(0).microseconds, 0.5);
  EXPECT_EQ(found.hostRegions.at(0).offset, 64);
  auto refuses = [&](const char *why) {
    Status status = validate(artifact);
    return !status.ok() && status.message().find(why) != std::string::npos;
  };
  rank.hostRegions[0].bytes = 65;
  EXPECT_TRUE(refuses("'x' of the host's memory: it lies outside"));
  rank.hostRegions.clear();
  for (HostCopy wrong : {HostCopy{0, 2, 2, 1}, HostCopy{1, 1, 2, 1},
                         HostCopy{1, 2, 3, 1}, HostCopy{1, 2, 2, -1}}) {
    rank.hostCopies = {wrong};
    EXPECT_TRUE(refuses("a copy to the host's memory is none of its"));
  }
  rank.hostCopies = {{1, 2, 2, 1}, {1, 2, 2, 1}};
  EXPECT_TRUE(refuses("are known of some offloads only"));
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
  correctChecksum(bytes);
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
  EXPECT_NE(errorOf(directory, bytes)
                .find("version 77, this program reads versions 15 to 25"),
            std::string::npos);
  ASSERT_TRUE(writeArtifact(directory.path("a"), makeDeviceArtifact()).ok());
  bytes = directory.read("a");
  bytes[8] = 19;
  correctChecksum(bytes);
  EXPECT_NE(errorOf(directory, bytes)
                .find("version 19, this program reads those for GPUs from "
                      "version 21 on; compile the model again"),
            std::string::npos);
  Artifact gathers = makeArtifact();
  addReduction(gathers);
  Op &post = gathers.metadata.programs[0].ranks[0].ops.emplace_back();
  post.kind = OpKind::allGather;
  post.reduction = 0;
  Status written = writeArtifact(directory.path("a"), gathers);
  ASSERT_TRUE(written.ok()) << written.message();
  bytes = directory.read("a");
  EXPECT_EQ(errorOf(directory, bytes), "");
  bytes[8] = 24;
  correctChecksum(bytes);
  EXPECT_NE(errorOf(directory, bytes)
                .find("version 24, this program reads those with "
                      "--shard-optimizer from version 25 on; compile the "
                      "model again"),
            std::string::npos);
}

/// Batch arguments of version 15 do not say whether they are tokens; up to 19
/// there is no error feedback.
TEST(Artifact, MembersThatMayBeMissing) {
  Artifact artifact = makeArtifact();
  artifact.metadata.batches[0].tokens = true;
  artifact.metadata.errorFeedback = true;
  artifact.metadata.batches[0].lossWeight = true;
  artifact.metadata.programs[0].weighs = true;
  std::string json = toCompactJson(artifact.metadata);
  Expected<Metadata> now = fromJson(json);
  ASSERT_TRUE(now.ok()) << now.message();
  EXPECT_TRUE(now->batches[0].tokens);
  EXPECT_TRUE(now->errorFeedback);
  for (std::string member :
       {",\"tokens\":true", ",\"error_feedback\":true", ",\"loss_weight\":true",
        ",\"weighs\":true", ",\"loss_weight\":0"}) {
    ASSERT_NE(json.find(member), std::string::npos);
    json.erase(json.find(member), member.size());
  }
  Expected<Metadata> then = fromJson(json);
  ASSERT_TRUE(then.ok()) << then.message();
  EXPECT_FALSE(then->batches[0].tokens);
  EXPECT_FALSE(then->errorFeedback);
  EXPECT_FALSE(then->batches[0].lossWeight);
  EXPECT_FALSE(then->programs[0].weighs);
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
            "'' should be no members but the 17 know");
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
  /// Its first operation is an update of the step before.
  auto makeLate = [](Rank &rank) -> Rank & {
    Op update;
    update.kind = OpKind::update;
    update.param = 0;
    update.late = true;
    rank.ops = {update};
    rank.firstStepSymbol = rank.lateSymbol = "late";
    return rank;
  };
  auto program = [](Artifact &a) -> Program & {
    return a.metadata.programs[0];
  };
  /// Its loss is weighted, by no program.
  auto weight = [](Artifact &a) {
    a.metadata.results.push_back({"tokens", DataType::f32});
    a.metadata.lossWeight = 1;
    Batch batch;
    batch.name = "loss_weight";
    batch.lossWeight = true;
    a.metadata.batches.push_back(batch);
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
      {"only integers are tokens",
       [](Artifact &a) {
         a.metadata.batches[0].type = DataType::f32;
         a.metadata.batches[0].range.reset();
         a.metadata.batches[0].tokens = true;
       }},
      {"the result that weights the loss does not exist",
       [](Artifact &a) { a.metadata.lossWeight = 1; }},
      {"it weights the loss, and is no scalar of f32 or f64",
       [](Artifact &a) { a.metadata.batches[0].lossWeight = true; }},
      {"has not one weight for each microbatch",
       [](Artifact &a) {
         a.metadata.results.push_back({"tokens", DataType::f32});
         a.metadata.lossWeight = 1;
       }},
      {"not exactly one program weighs microbatches",
       [&](Artifact &a) { weight(a); }},
      {"it weighs microbatches, and is no program of one rank",
       [&](Artifact &a) {
         weight(a);
         program(a).weighs = true;
       }},
      {"a program trains, but the first result is no loss",
       [&](Artifact &a) {
         a.metadata.results[0].name = "score";
       }},
      {"it has not a shape for each length",
       [](Artifact &a) {
         for (auto &each : a.metadata.programs)
           each.forwardOnly = true;
         a.metadata.results.push_back({"y", DataType::i32, true, {2, 3}});
         a.metadata.lengths = {4};
       }},
      {"it is a tensor, but a program trains",
       [](Artifact &a) {
         a.metadata.results.push_back({"y", DataType::i32, true, {2, 3}});
       }},
      {"its elements are no data",
       [](Artifact &a) {
         a.metadata.results.push_back({"y", DataType::bf16, true, {2, 3}});
       }},
      {"it is no scalar of f32 or f64",
       [](Artifact &a) { a.metadata.results[0].shape = {1}; }},
      {"its outputs are not in ascending order",
       [&](Artifact &a) { program(a).ranks[0].outputs = {{1, 0}}; }},
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
      {"no range of ops",
       [&](Artifact &a) {
         program(a).ranks[0].ops.push_back(program(a).ranks[0].ops[0]);
         program(a).ranks[0].regions[1].firstOp = 1;
       }},
      {"rank 0: a first step and what is late have names where ops are late",
       [&](Artifact &a) { program(a).ranks[0].lateSymbol = "late"; }},
      {"rank 0: a first step and what is late have names where ops are late",
       [&](Artifact &a) { makeLate(program(a).ranks[0]).firstStepSymbol = ""; }},
      {"rank 0: ops are late, but updates depend on all gradients of the step",
       [&](Artifact &a) {
         makeLate(program(a).ranks[0]);
         program(a).clipSync = ClipSync::barrier;
       }},
      {"rank 0: it does not validate the updates of the step before once",
       [&](Artifact &a) { program(a).clipSync = ClipSync::optimistic; }},
      {"rank 0: it does not validate the updates of the step before once",
       [&](Artifact &a) {
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::validate;
         op.param = -1;
       }},
      {"it scales the loss, and is no scalar of f32 or f64",
       [&](Artifact &a) {
         a.metadata.buffers.push_back({"s", {1}, DataType::f32, {}, true});
       }},
      {"several buffers scale the loss",
       [&](Artifact &a) {
         a.metadata.buffers.push_back({"s", {}, DataType::f32, {}, true});
         a.metadata.buffers.push_back({"t", {}, DataType::f64, {}, true});
       }},
      {"any where steps wait for updates",
       [&](Artifact &a) { program(a).channels[0].lateMessages = 1; }},
      {"it has not from 0 to all messages of the step before",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).channels[0].lateMessages = 1000;
       }},
      {"parameters have older values, but steps wait for updates",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].versionOffsets = {0};
       }},
      {"an older value lies outside of the arena",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).ranks[0].params[0].versionOffsets = {int64_t(1) << 40};
       }},
      {"it waits for no update, but has several chunks or ranks a stage, or",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).clipSync = ClipSync::barrier;
       }},
      {"each microbatch has updates, but the sequential program runs several",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::stashed;
         a.metadata.microbatches = 2;
         a.metadata.programs.push_back(program(a));
         a.metadata.programs[1].name = "sequential";
         a.metadata.programs[1].asynchronous = Asynchronous::none;
       }},
      {"op 0: it is late, but neither BW, message, update nor reduction",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::forward;
         op.param = -1;
       }},
      {"rank 0: what its updates work in is not where it should be",
       [&](Artifact &a) { program(a).ranks[0].updateWorkspace = 1; }},
      {"op 0: it is late, but neither W, update nor reduction",
       [&](Artifact &a) {
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::forward;
         op.param = -1;
       }},
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
      {"a reduction is waited for before it is posted",
       [&](Artifact &a) {
         (void)addReduction(a);
         Op &wait = program(a).ranks[0].ops.emplace_back();
         wait.kind = OpKind::allGatherWait;
         wait.reduction = 0;
       }},
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
      // The places of 131071 others take 2^64 + 516092 bytes.
      {"the buffer of a piece",
       [&](Artifact &a) {
         widen(a).ranks[0].arenaBytes = 1 << 20;
         addReduction(a).pieces[0].stride = 0x8000'4000'2004;
         program(a).replicas = 65536;
       }},
      {"its replicas have 2^31 ranks or channels, or more",
       [&](Artifact &a) {
         program(a).replicas = 65536;
         program(a).channels.resize(32768, program(a).channels[0]);
       }},
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
