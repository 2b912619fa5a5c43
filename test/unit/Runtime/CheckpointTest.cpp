//===- CheckpointTest.cpp - indices and folders of checkpoints ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"

#include "SafeTensors.h"
#include "Source.h"
#include "TempDir.h"
#include "TensorFiles.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using test::TempDir;

static CheckpointIndex makeIndex(int64_t step) {
  CheckpointIndex index;
  index.model = "net";
  index.optimizer = Optimizer::sgdMomentum;
  index.step = step;
  index.updates = step - 1;
  index.lossScale = {0.1, 7, {{2, true}, {1, false}}};
  index.data = {{"tokens", 3, 160}};
  index.options = {"--lr 0.001"};
  index.params = {{"w", DataType::f32, {2}, 1}};
  return index;
}

/// A whole checkpoint in `directory`.
static void write(const std::string &directory, CheckpointIndex index) {
  std::string folder = checkpointPath(directory, index.step);
  ASSERT_TRUE(makeDirectory(directory).ok());
  ASSERT_TRUE(makeDirectory(folder).ok());
  std::vector<SafeTensorsEntry> entries;
  for (const std::string &name :
       {valueEntry("w"), stateEntry("w", 0), olderEntry("w", 1)})
    entries.push_back({name, DataType::f32, {2}});
  FileSum sum;
  auto read = [](size_t i, char *bytes) {
    std::memset(bytes, static_cast<int>(i), 8);
    return Status::success();
  };
  ASSERT_TRUE(
      writeSafeTensors(folder + "/" + pieceName(0), entries, {}, read, &sum)
          .ok());
  index.pieces = {
      {pieceName(0), sum.bytes, formatChecksum(sum.checksum.value())}};
  ASSERT_TRUE(
      writeFileAtomically(folder + "/" + checkpointIndexName, toText(index))
          .ok());
}

static std::string messageOf(const std::string &path) {
  auto opened = Checkpoint::open(path);
  return opened.ok() ? "" : opened.message();
}

TEST(CheckpointIndex, IsReadAsWritten) {
  CheckpointIndex index = makeIndex(10);
  auto read = parseCheckpointIndex(toText(index));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(toText(*read), toText(index));
  EXPECT_EQ(read->lossScale.lossScale, 0.1);
  EXPECT_EQ(read->lossScale.lastSteps[0].overflows, true);
  EXPECT_EQ(read->data[0].epoch, 3);
  EXPECT_EQ(read->params[0].olderValues, 1);
}

TEST(CheckpointIndex, EveryChangedByteIsFound) {
  std::string text = toText(makeIndex(10));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = text[i] == '7' ? '8' : '7';
    auto read = parseCheckpointIndex(changed);
    EXPECT_FALSE(read.ok()) << "byte " << i;
    // The last byte ends the line.
    EXPECT_TRUE(i + 1 == text.size() ||
                !parseCheckpointIndex(text.substr(0, i)).ok());
  }
}

/// The text, with the checksum that belongs to it.
static std::string withChecksum(std::string text) {
  std::string key = "\"checksum\": \"";
  size_t place = text.rfind(key) + key.size();
  text.erase(place, 16);
  Crc64 crc;
  crc.add(text);
  return text.insert(place, formatChecksum(crc.value()));
}

TEST(CheckpointIndex, ThoseOfOlderVersionsAreRead) {
  std::string text = toText(makeIndex(10));
  auto erase = [&](const std::string &from, const std::string &to) {
    for (size_t place; (place = text.find(from)) != std::string::npos;)
      text.replace(place, from.size(), to);
  };
  erase(" \"owes_evaluation\": false,\n", "");
  erase("\"version\": 3", "\"version\": 2");
  auto second = parseCheckpointIndex(withChecksum(text));
  ASSERT_TRUE(second.ok()) << second.message();
  EXPECT_EQ(text.find("owes"), std::string::npos);
  EXPECT_EQ(second->version, 2);
  EXPECT_FALSE(second->owesEvaluation);
  erase("\"version\": 2", "\"version\": 1");
  erase(",\n   \"frozen\": false,\n   \"in_file\": null", "");
  auto read = parseCheckpointIndex(withChecksum(text));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(text.find("frozen"), std::string::npos);
  EXPECT_EQ(read->version, 1);
  EXPECT_FALSE(read->params[0].frozen || read->params[0].inFile);
}

TEST(CheckpointIndex, FilesOfInitAreRemembered) {
  CheckpointIndex index = makeIndex(10);
  index.params[0].frozen = true;
  index.params[0].inFile = {"model.w", DataType::bf16, {}};
  auto read = parseCheckpointIndex(toText(index));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_TRUE(read->params[0].frozen);
  ASSERT_TRUE(read->params[0].inFile);
  EXPECT_EQ(read->params[0].nameInFile(), "model.w");
  EXPECT_EQ(read->params[0].inFile->type, DataType::bf16);
}

TEST(CheckpointIndex, WrongMembers) {
  auto message = [](auto change) {
    CheckpointIndex index = makeIndex(10);
    change(index);
    auto read = parseCheckpointIndex(toText(index));
    return read.ok() ? "" : read.message();
  };
  using Index = CheckpointIndex &;
  EXPECT_EQ(message([](Index index) { index.version = 4; }),
            "it has version 4 of the format, and this program reads versions 1 "
            "to 3");
  for (data::ParamInFile wrong : {data::ParamInFile{"", DataType::bf16, {}},
                                  {"w", DataType::i32, {}},
                                  {"w", DataType::bf16, {0, 0}},
                                  {"w", DataType::bf16, {0, 1, 2, 3}}})
    EXPECT_EQ(message([&](Index index) { index.params[0].inFile = wrong; }),
              "parameter 'w' has no valid name, type and layout in the file "
              "that it came from");
  EXPECT_NE(message([](Index index) { index.step = 0; }), "");
  EXPECT_NE(message([](Index index) { index.lossScale.lossScale = 0; }), "");
  EXPECT_NE(message([](Index index) { index.data[0].sample = -1; }), "");
  EXPECT_EQ(
      message([](Index index) { index.params.push_back(index.params[0]); }),
      "parameter 'w' is there twice");
  EXPECT_NE(message([](Index index) { index.params[0].shape = {-1}; }), "");
  EXPECT_NE(message([](Index index) { index.params[0].type = DataType::i32; }),
            "");
  for (const char *name : {"", "..", "../x", "/etc/passwd"})
    EXPECT_NE(message([&](Index index) {
                index.pieces = {{name, 0, ""}};
              }),
              "")
        << name;
}

TEST(Checkpoint, TheLastOneAndWhatIsInIt) {
  TempDir directory;
  for (int64_t step : {5, 20, 100000000})
    write(directory.path("ck"), makeIndex(step));
  EXPECT_EQ(*listCheckpoints(directory.path("ck")),
            (std::vector<int64_t>{5, 20, 100000000}));
  auto opened = Checkpoint::open(directory.path("ck"));
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ((*opened)->index().step, 100000000);
  EXPECT_EQ((*opened)->entry(stateEntry("w", 0)), std::string(8, 1));
  EXPECT_EQ((*opened)->entry("w"), "");
  opened = Checkpoint::open(checkpointPath(directory.path("ck"), 5) + "/");
  ASSERT_TRUE(opened.ok()) << opened.message();
  EXPECT_EQ((*opened)->index().step, 5);
  deleteCheckpoint(directory.path("ck"), 20);
  EXPECT_EQ(*listCheckpoints(directory.path("ck")),
            (std::vector<int64_t>{5, 100000000}));
}

TEST(Checkpoint, TheLastGoodOneIsOffered) {
  TempDir directory;
  for (int64_t step : {5, 10, 15})
    write(directory.path("ck"), makeIndex(step));
  std::string last = checkpointPath(directory.path("ck"), 15);
  std::string good = "; the last good one is '" +
                     checkpointPath(directory.path("ck"), 10) + "'";
  std::string piece = last + "/" + pieceName(0);
  auto file = MappedFile::open(piece);
  ASSERT_TRUE(file.ok());
  std::string content(file->bytes());
  auto messageWith = [&](const std::string &bytes) {
    EXPECT_TRUE(writeFileAtomically(piece, bytes).ok());
    return messageOf(directory.path("ck"));
  };
  EXPECT_EQ(messageWith(content), "");
  EXPECT_EQ(messageWith(content.substr(1)),
            "checkpoint '" + last + "': 'rank-0.safetensors' has " +
                std::to_string(content.size() - 1) +
                " bytes, and the index says " + std::to_string(content.size()) +
                ": it is truncated or replaced" + good);
  content.back() ^= 1;
  EXPECT_TRUE(messageWith(content).ends_with(good));
  ASSERT_EQ(::unlink(piece.c_str()), 0);
  EXPECT_EQ(messageOf(directory.path("ck")),
            "checkpoint '" + last + "': cannot read '" + piece +
                "': No such file or directory" + good);
  // Without its index it is none.
  ASSERT_EQ(::unlink((last + "/" + checkpointIndexName).c_str()), 0);
  EXPECT_EQ(messageOf(directory.path("ck")), "");
  EXPECT_EQ(messageOf(last),
            "checkpoint '" + last +
                "' is not whole: it has no 'index.json', which is written "
                "last" +
                good);
  ASSERT_TRUE(deleteIncomplete(directory.path("ck")).ok());
  EXPECT_EQ(messageOf(last), "there is no folder '" + last + "'");
}

TEST(Checkpoint, TheLastGoodOneIsTaken) {
  TempDir dir;
  std::string directory = dir.path("d");
  for (int64_t step : {5, 10, 15})
    write(directory, makeIndex(step));
  std::vector<Damage> damages;
  auto open = [&](int64_t last) {
    damages.clear();
    return Checkpoint::openLastGood(directory, last, damages);
  };
  EXPECT_EQ((*open(100))->index().step, 15);
  EXPECT_TRUE(damages.empty());
  EXPECT_EQ((*open(14))->index().step, 10);
  EXPECT_TRUE(damages.empty());
  std::filesystem::resize_file(
      checkpointPath(directory, 15) + "/" + pieceName(0), 20);
  EXPECT_EQ((*open(100))->index().step, 10);
  ASSERT_EQ(damages.size(), 1U);
  EXPECT_EQ(damages[0].step, 15);
  EXPECT_NE(damages[0].what.find("has 20 bytes"), std::string::npos);
  for (int64_t step : {5, 10})
    std::filesystem::remove(checkpointPath(directory, step) + "/" +
                            pieceName(0));
  EXPECT_FALSE(open(100).ok());
  EXPECT_EQ(damages.size(), 3U);
  // What is moved away does not count, and nothing is overwritten.
  EXPECT_EQ(*moveDamaged(directory, 15), directory + "/damaged-step-00000015");
  write(directory, makeIndex(15));
  EXPECT_EQ(*moveDamaged(directory, 15),
            directory + "/damaged-step-00000015.2");
  EXPECT_EQ(*listCheckpoints(directory), (std::vector<int64_t>{5, 10}));
}

TEST(AtomicFile, CountsTheAnswersOfTheFileSystem) {
  TempDir dir;
  std::atomic<uint64_t> moves = 0;
  countFileMoves(&moves);
  ASSERT_TRUE(writeFileAtomically(dir.path("small"), "text").ok());
  uint64_t ofSmall = moves.exchange(0);
  EXPECT_GE(ofSmall, 4U);
  // It is written and synced in parts.
  std::string large(size_t(130) << 20, 'x');
  ASSERT_TRUE(writeFileAtomically(dir.path("large"), large).ok());
  EXPECT_EQ(moves.exchange(0), ofSmall + 4);
  countFileMoves(nullptr);
  ASSERT_TRUE(writeFileAtomically(dir.path("small"), "text").ok());
  EXPECT_EQ(moves, 0U);
}

/// The umask of this process, as another thread sees it.
static std::string readMask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Umask:"))
      return line;
  return "";
}

TEST(AtomicFile, LeavesTheUmaskAlone) {
  TempDir dir;
  std::string before = readMask();
  std::atomic<bool> isDone = false;
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i)
      EXPECT_TRUE(AtomicFile(dir.path("file")).open().ok());
    isDone = true;
  });
  while (!isDone)
    EXPECT_EQ(readMask(), before);
  writer.join();
}

TEST(Checkpoint, WhatPiecesLack) {
  TempDir directory;
  CheckpointIndex index = makeIndex(5);
  index.params[0].olderValues = 2000000000;
  write(directory.path("ck"), index);
  EXPECT_NE(messageOf(directory.path("ck")).find("no piece has 'older.2/w'"),
            std::string::npos);
  index = makeIndex(6);
  index.params[0].shape = {1, 2};
  write(directory.path("ck"), index);
  EXPECT_NE(messageOf(directory.path("ck"))
                .find("'value/w' is f32[2], and the index says f32[1x2]"),
            std::string::npos);
}

TEST(TensorFiles, SeveralFiles) {
  TempDir directory;
  auto writeShard = [&](const std::string &name, const std::string &tensor) {
    EXPECT_TRUE(writeSafeTensors(directory.path(name),
                                 {{tensor, DataType::f32, {1}}}, {},
                                 [&](size_t, char *bytes) {
                                   std::memcpy(bytes, "abcd", 4);
                                   return Status::success();
                                 })
                    .ok());
  };
  writeShard("m-1.safetensors", "w");
  writeShard("m-2.safetensors", "b");
  std::string path = directory.path("m.safetensors.index.json");
  auto open = [&](const std::string &map) {
    EXPECT_TRUE(
        writeFileAtomically(path, "{\"weight_map\": " + map + "}").ok());
    return TensorFiles::open(path);
  };
  auto files = open(R"({"w": "m-1.safetensors", "b": "m-2.safetensors"})");
  ASSERT_TRUE(files.ok()) << files.message();
  EXPECT_EQ(files->find("b")->bytes, "abcd");
  EXPECT_EQ(files->find("c"), nullptr);
  EXPECT_EQ(open(R"({"b": "m-1.safetensors"})").message(),
            "'" + path +
                "' says that 'm-1.safetensors' has 'b', but it has not");
  EXPECT_FALSE(open(R"({"b": "../m-1.safetensors"})").ok());
  EXPECT_FALSE(open("[]").ok());
  EXPECT_FALSE(open(R"({"b": "m-3.safetensors"})").ok());
}

/// The rows that steps from `first` on begin with.
static std::vector<int64_t> rowsOf(const ArraySource &source, int64_t first,
                                   int64_t count) {
  std::vector<int64_t> rows;
  for (int64_t step = first; step < first + count; ++step) {
    Position position = *source.positionOf(step);
    rows.push_back(100 * position.epoch + position.sample);
  }
  return rows;
}

TEST(Positions, OtherBatchesFollowTheSamplesThatWereRead) {
  std::vector<char> bytes(12);
  Tensor tensor{DataType::i8, {12}, {bytes.data(), bytes.size()}};
  ArraySource by2(tensor, 2, /*shuffle=*/false, /*seed=*/0);
  EXPECT_EQ(rowsOf(by2, 1, 8),
            (std::vector<int64_t>{0, 2, 4, 6, 8, 10, 100, 102}));
  EXPECT_EQ(by2.lastStepOf(3), 18);
  // After three steps the others take four rows each; two are left out.
  ArraySource by4(tensor, 4, /*shuffle=*/false, /*seed=*/0);
  by4.setPosition(4, *by2.positionOf(4));
  EXPECT_EQ(rowsOf(by4, 4, 5), (std::vector<int64_t>{6, 100, 104, 108, 200}));
  EXPECT_EQ(by4.lastStepOf(2), 7);
  // As if it had not stopped.
  ArraySource again(tensor, 2, /*shuffle=*/false, /*seed=*/0);
  again.setPosition(6, *by2.positionOf(6));
  EXPECT_EQ(rowsOf(again, 6, 9), rowsOf(by2, 6, 9));
  again.setPosition(7, *by2.positionOf(7));
  EXPECT_EQ(rowsOf(again, 7, 9), rowsOf(by2, 7, 9));
  // Fewer samples than before.
  again.setPosition(7, {1, 50});
  EXPECT_EQ(rowsOf(again, 7, 2), (std::vector<int64_t>{200, 202}));
}
