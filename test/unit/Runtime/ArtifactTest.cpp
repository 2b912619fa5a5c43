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
