//===- CostFile.cpp - costs of chunks from a file -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Formats/Formats.h"

#include <algorithm>
#include <cmath>

using namespace veeline::schedule;
using veeline::parseNumber;
using veeline::shortNumber;

namespace {
struct Word {
  std::string_view text;
  int column;
};
} // namespace

/// Splits a line before its comment into values. Values are separated by
/// blanks, or by a comma with or without blanks. A comma without a value on one
/// side stands for an empty value.
static std::vector<Word> split(std::string_view line) {
  line = line.substr(0, line.find('#'));
  auto columnOf = [](std::size_t i) { return static_cast<int>(i) + 1; };
  std::vector<Word> words;
  bool isAfterComma = false;
  std::size_t i = 0;
  while ((i = line.find_first_not_of(" \t\r", i)) != line.npos) {
    if (line[i] == ',') {
      if (isAfterComma || words.empty())
        words.push_back({{}, columnOf(i)});
      isAfterComma = true;
      ++i;
      continue;
    }
    std::size_t end = std::min(line.find_first_of(" \t\r,", i), line.size());
    words.push_back({line.substr(i, end - i), columnOf(i)});
    isAfterComma = false;
    i = end;
  }
  if (isAfterComma)
    words.push_back({{}, columnOf(line.size())});
  return words;
}

/// Quotes a text from a file, which may be anything, for a message.
static std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string result;
  for (char c : text.substr(0, most))
    result += c >= ' ' && c <= '~' ? c : '?';
  return "'" + result + (text.size() > most ? "...'" : "'");
}

namespace {
class CostReader {
public:
  CostReader(const std::string &path, const ProblemOptions &options)
      : path(path), options(options) {}

  Expected<CostFile> read(std::string_view text);

private:
  Status addLine(const std::vector<Word> &words, int line);
  /// Parses one of the values of a line; none for a B of "-".
  Expected<std::optional<double>> value(const Word &word, std::size_t index);
  void addChunk(const std::vector<std::optional<double>> &values);
  /// Sets the memory of chunks whose lines do not specify it. It is that of a
  /// stage, divided evenly.
  Status shareMemory();

  const std::string &path;
  const ProblemOptions &options;
  Model model;
  std::vector<bool> hasMemory;
};
} // namespace

void CostReader::addChunk(const std::vector<std::optional<double>> &values) {
  Chunk chunk;
  chunk.forward = *values[0];
  chunk.backwardInput = values[1].value_or(0);
  chunk.backwardWeight = *values[2];
  if (values.size() > 3) {
    chunk.forwardMemory = std::llround(*values[3] * activationUnit);
    chunk.backwardInputMemory = std::llround(*values[4] * activationUnit);
  }
  if (values.size() > 5) {
    chunk.hasRecompute = true;
    chunk.recompute = *values[5];
    chunk.recomputeMemory = std::llround(*values[6] * activationUnit);
  }
  chunk.backwardWeightMemory =
      -chunk.forwardMemory - chunk.backwardInputMemory - chunk.recomputeMemory;
  hasMemory.push_back(values.size() > 3);
  model.chunks.push_back(values[1] ? chunk : chunk.withoutBackwardInput());
}

Expected<std::optional<double>> CostReader::value(const Word &word,
                                                  std::size_t index) {
  // With this limit, the sum over the maximal number of chunks does not
  // overflow.
  constexpr double maxUnits = 1e5;
  bool isTime = index < 3 || index == 5;
  bool mayLackInput = index == 1 && model.chunks.empty();
  if (mayLackInput && word.text == "-")
    return std::optional<double>();
  std::optional<double> number = parseNumber(word.text);
  double least = isTime ? 0 : -maxUnits, most = isTime ? maxTime : maxUnits;
  if (number && *number >= least && *number <= most)
    return number;
  std::string range =
      number ? " from " + shortNumber(least) + " to " + shortNumber(most) : "";
  return Error{ErrorKind::InvalidProblem,
               "expected " +
                   std::string(isTime ? "a time" : "activation units") + range +
                   (mayLackInput ? " or -" : "") + ", found " +
                   (word.text.empty() ? "an empty value" : quoted(word.text)) +
                   (index == 1 && word.text == "-"
                        ? "; only the first chunk may owe nobody an input "
                          "gradient, or those before it would get none"
                        : "")};
}

Status CostReader::addLine(const std::vector<Word> &words, int line) {
  std::vector<std::optional<double>> values;
  for (const Word &word : words) {
    Expected<std::optional<double>> one = value(word, values.size());
    if (!one)
      return errorIn(path, {line, word.column}, one.error().message);
    values.push_back(*one);
  }
  if (words.size() != 3 && words.size() != 5 && words.size() != 7)
    return errorIn(path, {line, words.back().column},
                   "expected the times of F, B and W of one chunk, and perhaps "
                   "the memory that F and B add, and after it the time of R "
                   "and the memory that it adds; found " +
                       veeline::counted(words.size(), "value"));
  addChunk(values);
  return Status::success();
}

Status CostReader::shareMemory() {
  ProblemOptions shared = options;
  shared.stages = 1;
  Expected<Model> stage = uniformModel(
      shared, static_cast<int>(model.chunks.size()) / options.stages);
  if (!stage)
    return stage.takeError();
  for (std::size_t i = 0; i < model.chunks.size(); ++i) {
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
  return Status::success();
}

Expected<CostFile> CostReader::read(std::string_view text) {
  // Editors of Windows may write a byte order mark.
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
    text.remove_prefix(mark.size());
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
  if (count == 0)
    return Error{ErrorKind::InvalidProblem,
                 path + ": has no costs; expected a line with the times of F, "
                        "B and W for each chunk"};
  if (count > Placement::maxChunks)
    return Error{ErrorKind::InvalidProblem,
                 path + ": has costs of " + veeline::counted(count, "chunk") +
                     ", which are more than " +
                     std::to_string(Placement::maxChunks)};
  if (count % options.stages != 0)
    return Error{ErrorKind::InvalidProblem,
                 path + ": has costs of " + veeline::counted(count, "chunk") +
                     ", which is no multiple of the " +
                     veeline::counted(options.stages, "stage")};
  model.edges = chainEdges(count, options.transfer);
  for (Edge &edge : model.edges)
    edge.carriesGradient = model.chunks[edge.to].hasBackwardInput;
  model.unit = {activationUnit, "activations"};
  bool hasAllMemory =
      std::find(hasMemory.begin(), hasMemory.end(), false) == hasMemory.end();
  if (!hasAllMemory)
    if (Status status = shareMemory(); !status)
      return status.takeError();
  return CostFile{std::move(model), hasAllMemory};
}

Expected<CostFile>
veeline::schedule::readCostFile(const std::string &path,
                                const ProblemOptions &options) {
  veeline::Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return Error{ErrorKind::InvalidProblem, file.message()};
  return CostReader(path, options).read(file->bytes());
}
