//===- TensorTrace.cpp - printing tensors of a step -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorTrace.h"

#include "ElementAccess.h"
#include "Names.h"
#include "Rank.h"
#include "veeline/Base/HalfFloats.h"

#include <cmath>
#include <cstdio>
#include <deque>

using namespace veeline;
using namespace veeline::engine;
using artifact::DataType;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T, typename Convert, typename Visit>
static void forEachOf(int64_t count, const void *data, Convert convert,
                      Visit visit) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    visit(static_cast<double>(convert(artifact::loadElement<T>(data, i))));
}

/// Calls `visit` with each element.
template <typename Visit>
static void forEachElement(DataType type, int64_t count, const void *data,
                           Visit visit) {
  if (type == DataType::bf16)
    return forEachOf<uint16_t>(count, data, fromBf16, visit);
  if (type == DataType::f16)
    return forEachOf<uint16_t>(count, data, fromF16, visit);
  artifact::withZeroOf(type, [&](auto zero) {
    using T = decltype(zero);
    forEachOf<T>(
        count, data, [](T value) { return value; }, visit);
  });
}

TensorStatistics engine::measureTensor(DataType type, int64_t count,
                                       const void *data) {
  TensorStatistics result;
  double sum = 0, least = INFINITY, greatest = -INFINITY;
  // A comparison with a NaN is false, so a NaN stays.
  forEachElement(type, count, data, [&](double value) {
    sum += value;
    least = std::isnan(value) || value < least ? value : least;
    greatest = std::isnan(value) || value > greatest ? value : greatest;
  });
  result = {sum / static_cast<double>(count), 0, least, greatest};
  double squares = 0;
  forEachElement(type, count, data, [&](double value) {
    squares += (value - result.mean) * (value - result.mean);
  });
  if (count > 1)
    result.deviation = std::sqrt(squares / static_cast<double>(count - 1));
  return result;
}

static std::string format(const char *pattern, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), pattern, number);
  return text;
}

static std::string describeShape(const std::vector<int64_t> &shape) {
  std::string text = "shape=[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {
/// One rank's end of a channel, which prints the messages.
class TracedChannel final : public Channel {
public:
  TracedChannel(Channel &channel, int32_t index, int32_t parts,
                const TensorTrace &trace)
      : channel(channel), index(index), parts(parts), trace(trace) {}

  void post(veeline_rank &rank, void *slot) override {
    channel.post(rank, slot);
    if (!rank.failed)
      places.push_back(slot);
  }
  void wait(veeline_rank &rank) override {
    channel.wait(rank);
    if (!rank.failed)
      print("received");
  }
  void *acquire(veeline_rank &rank) override {
    void *slot = channel.acquire(rank);
    if (slot)
      places.push_back(slot);
    return slot;
  }
  /// Prints before the last part is committed, because the slot belongs to the
  /// receiver after that.
  void commit(veeline_rank &rank) override {
    if (!places.empty() && committed.count(parts))
      print("sending");
    channel.commit(rank);
  }
  void flush(veeline_rank &rank) override { channel.flush(rank); }
  void abort() override { channel.abort(); }
  bool isIdle(const veeline_rank &rank) const override {
    return channel.isIdle(rank);
  }

private:
  void print(const char *what) {
    trace.printMessage(what, index, number++, places.front());
    places.pop_front();
  }

  Channel &channel;
  const int32_t index;
  const int32_t parts;
  const TensorTrace &trace;
  PartCounter committed;
  uint32_t number = 0;             ///< Counts printed messages.
  std::deque<const void *> places; ///< Posted or acquired, oldest first.
};
} // namespace

TensorTrace::TensorTrace(veeline_rank &rank, const artifact::Metadata &metadata)
    : rank(rank), metadata(metadata) {
  for (size_t i = 0; i < rank.channels.size(); ++i) {
    if (!rank.channels[i])
      continue;
    auto index = static_cast<size_t>(rank.firstChannel) + i;
    ends.push_back(std::make_unique<TracedChannel>(
        *rank.channels[i], static_cast<int32_t>(index),
        rank.program->channels[index].parts, *this));
    rank.channels[i] = ends.back().get();
  }
}

/// Writes the line at once, so that lines of several ranks are not mixed.
void TensorTrace::print(std::string line) const {
  line = "[Rank " + std::to_string(rank.index) + "] step " +
         std::to_string(rank.settings->step) + ": " + line + "\n";
  rank.isPrinting.store(true, std::memory_order_relaxed);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
  rank.isPrinting.store(false, std::memory_order_relaxed);
}

void TensorTrace::printMessage(const char *what, int32_t index, uint32_t number,
                               const void *data) const {
  const artifact::Channel &channel =
      rank.program->channels[static_cast<size_t>(index)];
  int32_t microbatch = identityOf(rank, index, number).microbatch;
  std::string line = std::string(what) + " " +
                     std::string(artifact::enumName(channel.kind)) + " ";
  line += artifact::isOfParam(channel.kind)
              ? metadata.params[static_cast<size_t>(channel.edge)].name
              : std::to_string(channel.edge);
  if (microbatch >= 0)
    line += ", microbatch " + std::to_string(microbatch);
  // The slot has room for the longest message; a shorter message is dense.
  const std::vector<int64_t> &shape =
      channel.shapeOf(rank.messageLength(channel, number));
  TensorStatistics numbers =
      measureTensor(channel.type, artifact::numElements(shape), data);
  print(line + ": " + describeShape(shape) +
        format(", mean=%.6g", numbers.mean) +
        format(", std=%.6g", numbers.deviation) +
        format(", min=%.6g", numbers.least) +
        format(", max=%.6g", numbers.greatest));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Whether several chunks use the parameter.
bool TensorTrace::isShared(int32_t param) const {
  size_t count = 0;
  for (int32_t stage = 0; stage < rank.program->stages; ++stage) {
    // All ranks of a stage have the same parameters.
    auto first = static_cast<size_t>(rank.program->ranksOf(stage)[0]);
    for (const artifact::RankParam &entry : rank.program->ranks[first].params)
      count += entry.param == param ? entry.gradients.size() : 0;
  }
  return count > 1;
}

double TensorTrace::normOf(const artifact::RankParam &entry,
                           const char *gradient) const {
  const artifact::Parameter &param =
      metadata.params[static_cast<size_t>(entry.param)];
  auto number = static_cast<size_t>(&entry - rank.description->params.data());
  Shard known = rank.shares[number].reduced;
  double squares = 0;
  forEachElement(param.type, known.count,
                 gradient + known.first * artifact::byteSize(param.type),
                 [&](double value) { squares += value * value; });
  return std::sqrt(squares) / rank.allMicrobatches;
}

int64_t TensorTrace::bytesOf(const artifact::RankParam &entry) const {
  const artifact::Parameter &param =
      metadata.params[static_cast<size_t>(entry.param)];
  return artifact::bytesOf(param.type, param.shape);
}

void TensorTrace::printGradient(const artifact::RankParam &entry, double norm,
                                const std::string &of) const {
  const artifact::Parameter &param =
      metadata.params[static_cast<size_t>(entry.param)];
  print("gradient of " + param.name + of + ": " + describeShape(param.shape) +
        format(", norm=%.6g", norm));
}

void TensorTrace::printGradients(
    const Read &read, const std::function<double(size_t)> &squaredNorm) const {
  const std::vector<artifact::RankParam> &params = rank.description->params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (isShared(params[i].param))
      for (const artifact::Accumulator &gradient : params[i].gradients) {
        const char *data = read(gradient.offset, bytesOf(params[i]));
        if (!data)
          return;
        printGradient(params[i], normOf(params[i], data),
                      " in chunk " + std::to_string(gradient.chunk));
      }
    if (params[i].isHome)
      printGradient(params[i], std::sqrt(squaredNorm(i)),
                    params[i].scattered ? ", this rank's share" : "");
  }
}
