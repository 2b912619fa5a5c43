//===- Profile.cpp - measured times of a pipeline's parts -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "Names.h"
#include "veeline/Base/Median.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/prediction.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

using namespace veeline;
using namespace veeline::artifact;
using namespace veeline::engine;

namespace {
/// Collects the samples of a profile.
class Profiler {
public:
  Profiler(const Program &program, const std::vector<std::vector<Event>> &ranks,
           int64_t cores, bool followOn)
      : program(program), ranks(ranks), cores(cores), followOn(followOn) {}

  Profile run();

private:
  using Samples = std::vector<int64_t>; ///< Nanoseconds.
  struct Span {
    int64_t begin = INT64_MAX, end = INT64_MIN;
  };
  /// Identifies a message by its channel, microbatch and step.
  using Message = std::tuple<int32_t, int32_t, int32_t>;
  /// Identifies a sum over ranks by the stage, its reduction, and the step.
  using Sum = std::tuple<int32_t, int32_t, int32_t>;

  void chooseSteps();
  void addRank(const Rank &rank, const std::vector<Event> &events);
  void addWork(const Op &op, const Event &event, int64_t before);
  void extendStep(const Event &event);
  /// Calls `use` with the rank, the operation and the event of each operation
  /// of a kind, in the steps that count.
  template <typename Use> void forEach(OpKind kind, Use use) const;
  void addMessages();
  void addReductions();
  static std::optional<Measured> measured(Samples samples);
  Profile result() const;

  const Program &program;
  const std::vector<std::vector<Event>> &ranks;
  int64_t cores;
  bool followOn;
  int32_t firstStep = 0;
  /// By chunk and kind.
  std::map<std::pair<int32_t, OpKind>, Samples> work;
  /// By edge and kind of channel.
  std::map<std::pair<int32_t, ChannelKind>, Samples> transfers;
  std::map<int32_t, Span> steps;
  std::map<int32_t, int64_t> updates; ///< By step, over all ranks.
  /// The duration of each all-reduce, and the bytes of all of them.
  Samples reductions;
  double reducedBytes = 0;
};
} // namespace

std::optional<Measured> Profiler::measured(Samples samples) {
  if (samples.empty())
    return std::nullopt;
  std::sort(samples.begin(), samples.end());
  size_t cut = samples.size() / 10;
  double sum = std::accumulate(samples.begin() + cut, samples.end() - cut, 0.0);
  return Measured{sum / double(samples.size() - 2 * cut) / 1e3,
                  int64_t(samples.size())};
}

void Profiler::chooseSteps() {
  int32_t first = INT32_MAX, last = 0;
  for (const std::vector<Event> &events : ranks)
    for (const Event &event : events) {
      first = std::min(first, event.step);
      last = std::max(last, event.step);
    }
  firstStep = first < last ? first + 1 : first;
}

/// Counts processor time: if ranks share cores, the time in which another rank
/// ran does not belong to this work. The time `before` the event, from the end
/// of the last one, counts as well.
void Profiler::addWork(const Op &op, const Event &event, int64_t before) {
  int64_t time =
      event.processor >= 0 ? event.processor : event.end - event.begin;
  if (op.kind == OpKind::update)
    updates[event.step] += time;
  else
    work[{op.chunk, op.kind}].push_back(before + time);
}

void Profiler::addRank(const Rank &rank, const std::vector<Event> &events) {
  /// Of the previous event.
  int64_t end = 0;
  int32_t step = -1;
  for (const Event &event : events) {
    int64_t before =
        event.step == step ? std::max<int64_t>(0, event.begin - end) : 0;
    end = event.end;
    step = event.step;
    if (event.op == Event::idle || event.isVoid)
      continue;
    const Op &op = rank.ops[event.op];
    bool isUpdate = op.kind == OpKind::update;
    if (op.chunk < 0 && !waitsForReduction(op.kind) && !isUpdate)
      continue;
    extendStep(event);
    if (event.step >= firstStep && (op.chunk >= 0 || isUpdate))
      addWork(op, event, before);
  }
}

void Profiler::extendStep(const Event &event) {
  Span &step = steps[event.step];
  step.begin = std::min(step.begin, event.begin);
  step.end = std::max(step.end, event.end);
}

template <typename Use> void Profiler::forEach(OpKind kind, Use use) const {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    for (const Event &event : ranks[rank]) {
      if (event.op == Event::idle || event.isVoid || event.step < firstStep)
        continue;
      const Op &op = program.ranks[rank].ops[event.op];
      if (op.kind == kind)
        use(rank, op, event);
    }
}

/// A receive shows how long its message was under way only if it began before
/// the message was sent.
void Profiler::addMessages() {
  std::map<Message, int64_t> sent;
  forEach(OpKind::send, [&](size_t, const Op &op, const Event &event) {
    sent[{op.channel, op.microbatch, event.step}] = event.end;
  });
  forEach(OpKind::recv, [&](size_t, const Op &op, const Event &event) {
    auto found = sent.find({op.channel, op.microbatch, event.step});
    if (found == sent.end() || event.begin >= found->second)
      return;
    const Channel &channel = program.channels[op.channel];
    transfers[{channel.edge, channel.kind}].push_back(
        std::max<int64_t>(0, event.end - found->second));
  });
}

static double bytesOf(const Reduction &reduction) {
  double bytes = 0;
  for (const ReducedPiece &piece : reduction.pieces)
    bytes += double(piece.numElements) * double(byteSize(piece.type));
  return bytes;
}

/// A rank shows how long an all-reduce takes only if it waited before the last
/// rank had posted.
void Profiler::addReductions() {
  std::map<Sum, int64_t> posted;
  auto sumOf = [&](size_t rank, const Op &op, const Event &event) {
    return Sum{program.placeOf(rank).stage, op.reduction, event.step};
  };
  forEach(OpKind::allReduce,
          [&](size_t rank, const Op &op, const Event &event) {
            Sum sum = sumOf(rank, op, event);
            int64_t &last = posted.try_emplace(sum, event.end).first->second;
            last = std::max(last, event.end);
          });
  forEach(OpKind::allReduceWait, [&](size_t rank, const Op &op,
                                     const Event &event) {
    auto found = posted.find(sumOf(rank, op, event));
    if (found == posted.end() || event.begin >= found->second)
      return;
    reductions.push_back(std::max<int64_t>(0, event.end - found->second));
    reducedBytes += bytesOf(program.ranks[rank].reductions[op.reduction]);
  });
}

Profile Profiler::result() const {
  Profile profile;
  std::vector<double> lengths;
  lengths.reserve(steps.size());
  int64_t lastEnd = 0;
  for (const auto &[number, step] : steps) {
    if (number >= firstStep)
      lengths.push_back(double(step.end - std::max(step.begin, lastEnd)) / 1e3);
    lastEnd = step.end;
  }
  profile.steps = int64_t(lengths.size());
  if (!lengths.empty())
    profile.stepMicroseconds = medianOf(std::move(lengths));
  profile.predictedStepMicroseconds =
      followOn ? predictPeriod(program, cores) : predictStep(program, cores);
  profile.chunks.resize(program.chunks.size());
  for (const auto &[key, samples] : work) {
    Profile::Chunk &chunk = profile.chunks[key.first];
    std::optional<Measured> &slot =
        key.second == OpKind::forward         ? chunk.forward
        : key.second == OpKind::backwardInput ? chunk.backwardInput
        : key.second == OpKind::backward      ? chunk.backward
        : key.second == OpKind::recomputation ? chunk.recomputation
                                              : chunk.backwardWeight;
    slot = measured(samples);
  }
  profile.edges.resize(program.edges.size());
  for (const auto &[key, samples] : transfers) {
    bool isValue = key.second == ChannelKind::activation ||
                   key.second == ChannelKind::gradient;
    if (!isValue || size_t(key.first) >= profile.edges.size())
      continue;
    Profile::Edge &edge = profile.edges[key.first];
    (key.second == ChannelKind::activation ? edge.activation : edge.gradient) =
        measured(samples);
  }
  // A time of 0 is below the resolution of the clock, so it is not a
  // measurement.
  if (std::optional<Measured> time = measured(reductions);
      time && time->microseconds > 0)
    profile.allReduce = {*time, reducedBytes / double(time->samples)};
  Samples ofSteps;
  for (const auto &[step, time] : updates)
    ofSteps.push_back(time);
  if (std::optional<Measured> time = measured(ofSteps);
      time && time->microseconds > 0)
    profile.updates = time;
  return profile;
}

Profile Profiler::run() {
  chooseSteps();
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    addRank(program.ranks[rank], ranks[rank]);
  addMessages();
  addReductions();
  return result();
}

Profile engine::measure(const Program &program,
                        const std::vector<std::vector<Event>> &ranks,
                        int64_t cores, bool followOn) {
  return Profiler(program, ranks, cores, followOn).run();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

using Json = nlohmann::ordered_json;

/// The prediction for one kind of work, in microseconds.
struct Prediction {
  double cost = 0;
  double repeated = 0; ///< Of it, scaled as its original was measured.
  double own = 0;      ///< The rest of it.
  double scale = 1;    ///< `own` divided by its estimate.
};

static void addMeasured(Json &object, const char *key,
                        const std::optional<Measured> &measured,
                        std::optional<Prediction> predicted = std::nullopt) {
  if (!measured)
    return;
  Json entry = {{"us", measured->microseconds}, {"samples", measured->samples}};
  if (predicted && predicted->cost > 0) {
    double own = measured->microseconds - predicted->repeated;
    // If nearly all work is repeated, the rest is too small to be measured.
    bool isClear = own > 0 && predicted->own > 0.1 * predicted->cost;
    entry["scale"] =
        predicted->scale * (isClear ? own / predicted->own
                                    : measured->microseconds / predicted->cost);
  }
  object[key] = std::move(entry);
}

static Json describeChunk(const Profile::Chunk &chunk,
                          const artifact::Chunk &compiled) {
  const artifact::Chunk &c = compiled;
  auto ratio = [](const std::optional<Measured> &measured, double cost) {
    return measured && cost > 0 ? measured->microseconds / cost : 1;
  };
  double ofForward = ratio(chunk.forward, c.forwardCost);
  double ofInput = ratio(chunk.backwardInput, c.backwardInputCost);
  double input = c.backwardInputCost - c.forwardInInput;
  double weight = c.backwardWeightCost - c.forwardInWeight - c.inputInWeight;
  double estimates =
      input / c.backwardInputScale + weight / c.backwardWeightScale;
  double fused =
      c.backwardInputCost + c.backwardWeightCost - c.backwardSharedCost;
  Json object = {{"pieces", c.pieces}, {"stage", c.stage}};
  addMeasured(object, "F", chunk.forward,
              Prediction{c.forwardCost, 0, c.forwardCost, c.forwardScale});
  addMeasured(object, "B", chunk.backwardInput,
              Prediction{c.backwardInputCost, ofForward * c.forwardInInput,
                         input, c.backwardInputScale});
  addMeasured(
      object, "W", chunk.backwardWeight,
      Prediction{c.backwardWeightCost,
                 ofForward * c.forwardInWeight + ofInput * c.inputInWeight,
                 weight, c.backwardWeightScale});
  addMeasured(object, "R", chunk.recomputation);
  addMeasured(object, "BW", chunk.backward,
              Prediction{fused, ofForward * c.forwardInFused,
                         fused - c.forwardInFused,
                         estimates > 0 ? (input + weight) / estimates : 1});
  return object;
}

/// The bytes that the updates of a step read and write, including copies of the
/// values that they replace.
static double updatedBytes(const Metadata &metadata, const Program &program,
                           bool limitsNorm) {
  bool keepsState = limitsNorm && program.clipSync == ClipSync::optimistic;
  double bytes = 0;
  for (const Rank &rank : program.ranks)
    for (const Op &op : rank.ops) {
      if (op.kind != OpKind::update)
        continue;
      const Parameter &param = metadata.params[size_t(op.param)];
      auto entry = std::find_if(
          rank.params.begin(), rank.params.end(),
          [&](const RankParam &entry) { return entry.param == op.param; });
      UpdateKind kind;
      kind.numGradients = int64_t(entry->gradients.size());
      kind.keepsState = keepsState;
      kind.keepsVersion = !entry->versionOffsets.empty();
      int64_t size = bytesOf(param.type, param.shape);
      kind.shards = entry->shards;
      int64_t stateBytes =
          stateElements(metadata.optimizer, metadata.errorFeedback,
                        shapeOfShare(param.shape, *entry)) *
          artifact::byteSize(param.type);
      // Each rank owns as much as another.
      if (entry->owner >= 0)
        stateBytes /= entry->shards;
      UpdateTraffic traffic = updateTraffic(size, stateBytes, kind);
      bytes += double(traffic.read + traffic.written);
    }
  return bytes;
}

std::string engine::toJson(const Profile &profile, const Metadata &metadata,
                           const Program &program, bool limitsNorm) {
  Json json = {{"format", "veeline-profile"},
               {"version", 2},
               {"model", metadata.model},
               {"fingerprint", metadata.fingerprint},
               {"cpu", metadata.cpu},
               {"program", program.name},
               {"schedule", program.schedule},
               {"stages", program.stages},
               {"chunks_per_stage", program.chunksPerStage},
               {"microbatches", metadata.microbatches},
               {"steps", profile.steps},
               {"step_us", profile.stepMicroseconds}};
  if (profile.predictedStepMicroseconds)
    json["predicted_step_us"] = *profile.predictedStepMicroseconds;
  Json chunks = Json::array(), edges = Json::array();
  for (size_t i = 0; i < profile.chunks.size(); ++i)
    chunks.push_back(describeChunk(profile.chunks[i], program.chunks[i]));
  for (size_t i = 0; i < profile.edges.size(); ++i) {
    const artifact::Edge &edge = program.edges[i];
    Json object = {{"from", edge.from}, {"to", edge.to}, {"bytes", edge.bytes}};
    addMeasured(object, "activation", profile.edges[i].activation);
    addMeasured(object, "gradient", profile.edges[i].gradient);
    edges.push_back(std::move(object));
  }
  json["chunks"] = std::move(chunks);
  json["edges"] = std::move(edges);
  if (profile.allReduce)
    json["all_reduce"] = {{"bytes", profile.allReduce->bytes},
                          {"us", profile.allReduce->time.microseconds},
                          {"samples", profile.allReduce->time.samples}};
  if (profile.updates)
    json["updates"] = {{"optimizer", describeOptimizer(metadata.optimizer,
                                                       metadata.errorFeedback)},
                       {"bytes", updatedBytes(metadata, program, limitsNorm)},
                       {"us", profile.updates->microseconds},
                       {"samples", profile.updates->samples}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
