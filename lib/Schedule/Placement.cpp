//===- Placement.cpp - the assignment of chunks to stages -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Problem.h"

#include "veeline/Base/Text.h"

#include <array>

using namespace veeline::schedule;

namespace {
struct NamedKind {
  PlacementKind kind;
  const char *name;
};
} // namespace

static constexpr std::array<NamedKind, 5> namedKinds{{
    {PlacementKind::Linear, "linear"},
    {PlacementKind::Interleaved, "interleaved"},
    {PlacementKind::V, "v"},
    {PlacementKind::Wave, "wave"},
    {PlacementKind::List, "list"},
}};

const char *veeline::schedule::toString(PlacementKind kind) {
  for (const NamedKind &named : namedKinds)
    if (named.kind == kind)
      return named.name;
  return "?";
}

Expected<PlacementKind>
veeline::schedule::parsePlacementKind(std::string_view name) {
  std::string known;
  for (const NamedKind &named : namedKinds) {
    if (name == named.name)
      return named.kind;
    known += known.empty() ? "" : ", ";
    known += named.name;
  }
  return invalid("unknown placement '" + std::string(name) + "'; known are " +
                 known);
}

/// Checks that a placement of this kind may have v chunks per stage.
static Status checkChunksPerStage(PlacementKind kind, int v) {
  if (kind == PlacementKind::Linear && v != 1)
    return invalid("placement linear has 1 chunk per stage, not " +
                   std::to_string(v));
  if (kind == PlacementKind::V && v != 2)
    return invalid("placement v has 2 chunks per stage, not " +
                   std::to_string(v));
  if (kind == PlacementKind::Wave && v < 2)
    return invalid("placement wave has 2 or more chunks per stage, not " +
                   std::to_string(v));
  return Status::success();
}

Expected<Placement> Placement::get(PlacementKind kind, int stages,
                                   int chunksPerStage) {
  if (stages < 1)
    return invalid("a placement needs at least 1 stage, not " +
                   std::to_string(stages));
  if (chunksPerStage < 1)
    return invalid("a placement needs at least 1 chunk per stage, not " +
                   std::to_string(chunksPerStage));
  if (kind == PlacementKind::List)
    return invalid("placement list needs the stage of every chunk");
  if (Status status = checkChunksPerStage(kind, chunksPerStage); !status)
    return status.takeError();
  if (static_cast<std::int64_t>(stages) * chunksPerStage > maxChunks)
    return invalid(counted(stages, "stage") + " with " +
                   counted(chunksPerStage, "chunk") + " each are more than " +
                   std::to_string(maxChunks) + " chunks");

  std::vector<int> stageOfChunk(static_cast<std::size_t>(stages) *
                                chunksPerStage);
  bool turns = kind == PlacementKind::V || kind == PlacementKind::Wave;
  for (int chunk = 0; chunk < stages * chunksPerStage; ++chunk) {
    int position = chunk % stages;
    bool back = turns && (chunk / stages) % 2 == 1;
    stageOfChunk[chunk] = back ? stages - 1 - position : position;
  }
  return Placement(kind, stages, std::move(stageOfChunk));
}

Expected<Placement> Placement::fromList(int stages,
                                        std::vector<int> stageOfChunk) {
  if (stages < 1)
    return invalid("a placement needs at least 1 stage, not " +
                   std::to_string(stages));
  std::size_t chunks = stageOfChunk.size();
  if (chunks == 0 || chunks > maxChunks || chunks % stages != 0)
    return invalid("a list of " + counted(chunks, "chunk") +
                   " does not give each of " + std::to_string(stages) +
                   " stages the same number of chunks");
  std::vector<int> count(stages);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    int stage = stageOfChunk[chunk];
    if (stage < 0 || stage >= stages)
      return invalid("chunk " + std::to_string(chunk) + " is placed on stage " +
                     std::to_string(stage) + ", but the stages are 0 to " +
                     std::to_string(stages - 1));
    ++count[stage];
  }
  int perStage = static_cast<int>(chunks) / stages;
  for (int stage = 0; stage < stages; ++stage)
    if (count[stage] != perStage)
      return invalid("stage " + std::to_string(stage) + " holds " +
                     counted(count[stage], "chunk") +
                     "; every stage must hold " + std::to_string(perStage));
  return Placement(PlacementKind::List, stages, std::move(stageOfChunk));
}

Placement::Placement(PlacementKind kind, int stages, std::vector<int> list)
    : placementKind(kind), numStages(stages),
      perStage(static_cast<int>(list.size()) / stages),
      stageOfChunk(std::move(list)), localOfChunk(stageOfChunk.size()),
      chunkOfSlot(stageOfChunk.size()) {
  std::vector<int> next(stages);
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    int stage = stageOfChunk[chunk];
    localOfChunk[chunk] = next[stage]++;
    chunkOfSlot[stage * perStage + localOfChunk[chunk]] = chunk;
  }
}

Placement Placement::named() const {
  for (PlacementKind kind : {PlacementKind::Linear, PlacementKind::Interleaved,
                             PlacementKind::V, PlacementKind::Wave})
    if (Expected<Placement> rule = get(kind, numStages, perStage);
        rule && *rule == *this)
      return *rule;
  return *this;
}
