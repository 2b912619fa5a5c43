//===- OpenTokens.cpp - opening files of tokens ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Opener.h"

#include "veeline/Base/Checksum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace veeline;
using namespace veeline::data;
using artifact::Batch;
using artifact::DataType;

/// Returns the part of a file's tokens that is read, training or held out. No
/// window has tokens of both parts.
static TokenPart partOf(const std::string &path, Tokens tokens,
                        const InputOptions &options) {
  int64_t held =
      static_cast<int64_t>(std::ceil(options.heldOut * double(tokens.count())));
  int64_t kept = tokens.count() - held;
  auto width = static_cast<size_t>(byteSize(tokens.type));
  bool isHeld = options.part == InputOptions::Part::heldOut;
  int64_t first = isHeld ? kept : 0;
  tokens.bytes =
      tokens.bytes.substr(static_cast<size_t>(first) * width,
                          static_cast<size_t>(isHeld ? held : kept) * width);
  return {path, tokens, first};
}

/// Checks all tokens of a file that is small enough, so that a wrong one is an
/// error before the first step. Windows of a larger file are checked as they
/// are read.
static Status checkAll(const TokenWindows &windows, TokenPart &part) {
  if (windows.view.kind != TokenView::Kind::tokens) {
    part.isChecked = true;
    return Status::success();
  }
  auto [least, greatest] = extremesOf(part.tokens.type);
  bool fits = windows.range.first <= least && greatest < windows.range.second;
  if (!fits && part.tokens.bytes.size() > mostBytesOfWholeChecksum)
    return Status::success();
  part.isChecked = true;
  std::vector<int64_t> values(4096);
  int64_t count = fits ? 0 : part.tokens.count();
  for (int64_t first = 0; first < count;) {
    int64_t some = std::min(count - first, int64_t(values.size()));
    part.tokens.load(first, some, values.data());
    VEELINE_TRY(checkTokens(windows, part, first, some, values.data()));
    first += some;
  }
  return Status::success();
}

/// Returns the range [first, second) of the integers that the argument accepts.
Expected<std::pair<int64_t, int64_t>>
Opener::rangeOf(const Spec &spec, const Batch &batch) const {
  if (batch.type == DataType::bf16 || batch.type == DataType::f16 ||
      batch.type == DataType::i1)
    return Status::error(options.option("data") + " " + spec.argument +
                         ": files of tokens give numbers of f32, f64 or "
                         "integers, batch argument '" +
                         batch.name + "' has " +
                         std::string(artifact::name(batch.type)));
  std::pair<int64_t, int64_t> range = limitsOf(batch.type);
  if (batch.range)
    range = {std::max(range.first, batch.range->first),
             std::min(range.second, batch.range->second)};
  int64_t greatest =
      spec.view.kind == TokenView::Kind::inside ? 1 : batch.shape.back() - 1;
  if (spec.view.kind != TokenView::Kind::tokens &&
      (range.first > 0 || range.second <= greatest))
    return Status::error(
        options.option("data") + " " + spec.argument + ": " +
        describe(spec.view).substr(1) + " gives numbers from 0 to " +
        std::to_string(greatest) + ", valid for batch argument '" + batch.name +
        "' are " + std::to_string(range.first) + " to " +
        std::to_string(range.second - 1));
  return range;
}

Expected<TokenWindows> Opener::openTokenFiles(const Spec &spec,
                                              const Batch &batch) {
  TokenWindows windows;
  windows.view = spec.view;
  windows.window = batch.shape.back();
  windows.stride = reachIn(spec.file, /*withShift=*/false);
  windows.shift = spec.shift;
  windows.argument = batch.name;
  VEELINE_TRY_VALUE(windows.range, rangeOf(spec, batch));
  for (const TokenFileSpec &file : spec.tokenFiles) {
    VEELINE_TRY_VALUE(std::string_view content, files.open(file.path));
    VEELINE_TRY_VALUE(Tokens tokens, data::openTokens(file, content));
    TokenPart part = partOf(file.path, tokens, options);
    int64_t reach = reachIn(spec.file);
    if (windows.numWindows(part, reach) < 1)
      return Status::error(
          "'" + file.path + "' has " + std::to_string(part.tokens.count()) +
          " tokens" +
          (options.heldOut > 0 ? " in this part of it (--held-out)" : "") +
          ", one window takes " + std::to_string(reach));
    VEELINE_TRY(checkAll(windows, part));
    windows.parts.push_back(std::move(part));
  }
  return windows;
}

Expected<std::unique_ptr<Source>> Opener::openTokens(const Spec &spec,
                                                     const Batch &batch) {
  VEELINE_TRY_VALUE(TokenWindows windows, openTokenFiles(spec, batch));
  int64_t perMicrobatch =
      artifact::numElements(batch.shape) / batch.shape.back();
  VEELINE_TRY(noteSamples(batch, perMicrobatch, 0));
  std::vector<int64_t> samples;
  std::vector<double> weights;
  for (size_t i = 0; i < windows.parts.size(); ++i) {
    samples.push_back(windows.numWindows(windows.parts[i], reachIn(spec.file)));
    weights.push_back(
        spec.tokenFiles[i].weight.value_or(double(samples.back())));
  }
  int64_t all = std::accumulate(samples.begin(), samples.end(), int64_t(0));
  int64_t perStep = perMicrobatch * microbatches;
  if (options.inOrder && all < perStep)
    return Status::error(
        "'" + spec.file + "' has room for " + std::to_string(all) +
        " of the windows of a step, which takes " + std::to_string(perStep));
  return std::unique_ptr<Source>(std::make_unique<TokenSource>(
      std::move(windows),
      options.inOrder ? SampleOrder::inOrder(samples, perStep)
                      : SampleOrder::mixed(samples, weights, options.seed),
      batch.type, all, perStep, options.inOrder));
}
