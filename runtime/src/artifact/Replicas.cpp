//===- Replicas.cpp - ranks of all replicas of a program ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Shards.h"
#include "veeline/Base/Suggest.h"

#include "veeline/artifact.h"

#include <algorithm>
#include <charconv>

using namespace veeline;
using namespace veeline::artifact;

Program::Place Program::placeOf(size_t rank) const {
  if (!places.empty())
    return places[rank];
  Place place{0, 0, static_cast<int32_t>(rank)};
  for (; place.member >= widthOf(place.stage); ++place.stage)
    place.member -= widthOf(place.stage);
  return place;
}

std::vector<int64_t> artifact::shapeOfShare(const std::vector<int64_t> &shape,
                                            const RankParam &entry) {
  if (entry.shards == 1 || entry.owner >= 0)
    return shape;
  return {shardElements(numElements(shape), entry.shards)};
}

std::vector<int32_t> Program::ranksOf(int32_t stage) const {
  int32_t width = widthOf(stage);
  std::vector<int32_t> result(static_cast<size_t>(replicas * width));
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (Place place = placeOf(rank); place.stage == stage)
      result[static_cast<size_t>(place.replica * width + place.member)] =
          static_cast<int32_t>(rank);
  return result;
}

/// Parses a list of the form "0,2,1,3". None if it has another form.
static std::optional<std::vector<int32_t>> parseList(std::string_view text) {
  std::vector<int32_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (rest != end && *rest != ','))
      return std::nullopt;
    if (rest == end)
      return numbers;
    at = rest + 1;
  }
}

/// Describes the required form of a list of ranks in errors: "those of the 2
/// stages of replica 0, then ...".
static std::string describeOrder(const Program &program) {
  std::string ranks = std::to_string(program.ranks.size());
  if (program.replicas == 1)
    return "those of stage 0, then of the next of the " +
           std::to_string(program.stages) + " stages";
  return "those of the " + ranks +
         (program.stageReplicas.empty() ? " stages" : " ranks") +
         " of replica 0, then of the next of the " +
         std::to_string(program.replicas) + " replicas";
}

/// The numbers of the ranks of replica 0, then of replica 1, and so on.
static Expected<std::vector<int32_t>> orderRanks(const Program &program,
                                                 const std::string &order) {
  auto p = static_cast<int32_t>(program.ranks.size());
  int32_t d = program.replicas, count = p * d;
  std::vector<int32_t> ranks;
  ranks.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i)
    ranks.push_back(order == "replicas-first" ? i % p * d + i / p : i);
  if (order == "stages-first" || order == "replicas-first")
    return ranks;
  std::optional<std::vector<int32_t>> list = parseList(order);
  std::string found = "'" + order + "'";
  if (!list)
    return Status::error(
        found + " is neither stages-first, replicas-first nor a list of ranks" +
        suggestion(order, {"stages-first", "replicas-first"}));
  std::vector<int32_t> sorted = *list;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != (std::sort(ranks.begin(), ranks.end()), ranks))
    return Status::error(found + " does not have each of the ranks 0 to " +
                         std::to_string(count - 1) +
                         " once: " + describeOrder(program));
  return *list;
}

Expected<Program> artifact::withAllReplicas(const Program &program,
                                            const std::string &order) {
  VEELINE_TRY_VALUE(std::vector<int32_t> ranks, orderRanks(program, order));
  Program all = program;
  auto numChannels = static_cast<int32_t>(program.channels.size());
  all.channels.clear();
  all.ranks.resize(ranks.size());
  all.places.resize(ranks.size());
  auto numRanks = static_cast<int32_t>(program.ranks.size());
  for (int32_t replica = 0; replica < program.replicas; ++replica) {
    auto rankOf = [&](int32_t rank) {
      return ranks[static_cast<size_t>(replica * numRanks + rank)];
    };
    for (Channel channel : program.channels) {
      channel.fromRank = rankOf(channel.fromRank);
      channel.toRank = rankOf(channel.toRank);
      all.channels.push_back(channel);
    }
    for (int32_t i = 0; i < numRanks; ++i) {
      auto number = static_cast<size_t>(rankOf(i));
      all.places[number] = program.placeOf(static_cast<size_t>(i));
      all.places[number].replica = replica;
      Rank &rank = all.ranks[number];
      rank = program.ranks[static_cast<size_t>(i)];
      for (Op &op : rank.ops)
        if (op.channel >= 0)
          op.channel += replica * numChannels;
    }
  }
  return all;
}
