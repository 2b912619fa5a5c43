//===- CostFile.cpp - costs of chunks from a file -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Formats/Cells.h"
#include "../Formats/Numbers.h"
#include "File.h"
#include "Model.h"

#include <cmath>

using namespace veeline::schedule;

namespace {
struct Word {
  std::string_view text;
  int column;
};
} // namespace

/// The words of a line before its comment.
static std::vector<Word> split(std::string_view line) {
  line = line.substr(0, line.find('#'));
  constexpr std::string_view blanks = " \t\r,";
  std::vector<Word> words;
  for (std::size_t begin = line.find_first_not_of(blanks);
       begin != line.npos;) {
    std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(
        {line.substr(begin, end - begin), static_cast<int>(begin) + 1});
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

namespace {
class CostReader {
public:
  CostReader(const std::string &path, const ProblemOptions &options)
      : path(path), options(options) {}

  Expected<Model> read(std::string_view text);

private:
  Status addLine(const std::vector<Word> &words, int line);
  Status addChunk(const std::vector<double> &values, bool hasInput);
  /// What the lines say nothing about: the memory of a stage, shared evenly.
  void shareMemory();

  const std::string &path;
  const ProblemOptions &options;
  Model model;
  std::vector<bool> hasMemory;
};
} // namespace

Status CostReader::addChunk(const std::vector<double> &values, bool hasInput) {
  Chunk chunk;
  chunk.forward = values[0];
  chunk.backwardInput = values[1];
  chunk.backwardWeight = values[2];
  if (values.size() > 3) {
    chunk.forwardMemory = std::llround(values[3] * activationUnit);
    chunk.backwardInputMemory = std::llround(values[4] * activationUnit);
    chunk.backwardWeightMemory =
        -chunk.forwardMemory - chunk.backwardInputMemory;
  }
  hasMemory.push_back(values.size() > 3);
  model.chunks.push_back(hasInput ? chunk : chunk.withoutBackwardInput());
  return Status::success();
}

Status CostReader::addLine(const std::vector<Word> &words, int line) {
  auto fail = [&](const Word &word, const std::string &message) {
    return errorIn(path, {line, word.column}, message);
  };
  if (words.size() != 3 && words.size() != 5)
    return fail(words.back(),
                "expected the times of F, B and W of one chunk, and perhaps "
                "the memory that F and B add; found " +
                    std::to_string(words.size()) + " values");
  bool hasInput = words[1].text != "-";
  std::vector<double> values;
  for (const Word &word : words) {
    bool isMissingInput = &word == &words[1] && !hasInput;
    std::optional<double> value = isMissingInput ? 0.0 : parseNumber(word.text);
    bool isTime = values.size() < 3;
    if (!value || (isTime && *value < 0) || std::abs(*value) > 1e9)
      return fail(word, std::string("expected ") +
                            (isTime ? "a time" : "activation units") +
                            (values.size() == 1 ? " or -" : "") + ", found '" +
                            std::string(word.text) + "'");
    values.push_back(*value);
  }
  return addChunk(values, hasInput);
}

void CostReader::shareMemory() {
  ProblemOptions shared = options;
  shared.stages = 1;
  Expected<Model> stage = uniformModel(
      shared, static_cast<int>(model.chunks.size()) / options.stages);
  for (std::size_t i = 0; stage && i < model.chunks.size(); ++i) {
    Chunk &chunk = model.chunks[i];
    if (hasMemory[i])
      continue;
    const Chunk &share = stage->chunks.front();
    chunk.forwardMemory = share.forwardMemory;
    chunk.backwardInputMemory = share.backwardInputMemory;
    chunk.backwardWeightMemory = share.backwardWeightMemory;
    if (!chunk.hasBackwardInput)
      chunk = chunk.withoutBackwardInput();
  }
}

Expected<Model> CostReader::read(std::string_view text) {
  for (int line = 1; !text.empty(); ++line) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::vector<Word> words = split(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty())
      continue;
    if (Status status = addLine(words, line); !status)
      return status.takeError();
  }
  int count = model.chunks.size();
  if (count == 0 || count % options.stages != 0)
    return Error{ErrorKind::InvalidProblem,
                 path + ": has costs of " + counted(count, "chunk") +
                     ", which is no multiple of the " +
                     counted(options.stages, "stage")};
  model.edges = chainEdges(count, options.transfer);
  for (Edge &edge : model.edges)
    edge.carriesGradient = model.chunks[edge.to].hasBackwardInput;
  model.unit = {activationUnit, "activations"};
  shareMemory();
  return std::move(model);
}

Expected<Model> veeline::schedule::readCostFile(const std::string &path,
                                                const ProblemOptions &options) {
  veeline::Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return Error{ErrorKind::InvalidProblem, file.message()};
  return CostReader(path, options).read(file->bytes());
}
