//===- Formats.cpp - schedules as files -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats/Formats.h"

#include "veeline/Base/File.h"

#include <algorithm>
#include <array>
#include <filesystem>

using namespace veeline::schedule;

namespace {
struct NamedFormat {
  std::string_view ending;
  Format format;
};
} // namespace

/// An extension precedes those with which it ends.
static constexpr std::array<NamedFormat, 7> namedFormats{{
    {".txt", Format::Text},
    {".comms.csv", Format::CommunicationCsv},
    {".csv", Format::Csv},
    {".trace.json", Format::Trace},
    {".json", Format::Json},
    {".svg", Format::Svg},
    {".html", Format::Html},
}};

Error veeline::schedule::errorIn(const std::string &file, Place place,
                                 const std::string &message) {
  return Error{ErrorKind::InvalidProblem,
               file + ":" + std::to_string(place.line) + ":" +
                   std::to_string(place.column) + ": " + message};
}

Expected<Format> veeline::schedule::formatOf(std::string_view path) {
  std::string known;
  for (const NamedFormat &named : namedFormats) {
    if (path.ends_with(named.ending))
      return named.format;
    known += known.empty() ? "" : ", ";
    known += named.ending;
  }
  return invalid("'" + std::string(path) +
                 "' has no ending that names a format; known are " + known);
}

Status veeline::schedule::writeFile(const std::string &path,
                                    std::string_view bytes) {
  veeline::Status status = veeline::writeFileAtomically(path, bytes);
  return status.ok() ? Status::success() : invalid(status.message());
}

Status veeline::schedule::tryFile(const std::string &path) {
  // The reader of a pipe would take this attempt for its end.
  std::error_code error;
  std::filesystem::file_type type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::fifo ||
      type == std::filesystem::file_type::character)
    return Status::success();
  veeline::Status status = AtomicFile(path).open();
  return status.ok() ? Status::success() : invalid(status.message());
}

Expected<ImportedSchedule>
veeline::schedule::readScheduleFile(const std::string &path) {
  bool isCsv = path.ends_with(".csv");
  if (!isCsv && !path.ends_with(".json"))
    return invalid("'" + path +
                   "' is no schedule that can be read: expected a file whose "
                   "name ends in .csv or .json");
  veeline::Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return invalid(file.message());
  return isCsv ? readCsv(file->bytes(), path) : readJson(file->bytes(), path);
}

std::optional<std::string>
veeline::schedule::scheduleFilePath(std::string_view name) {
  constexpr std::string_view prefix = "file:";
  if (!name.starts_with(prefix))
    return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

/// Whether `op` is a BackwardInput or Recompute of a chunk that has none.
static bool isMissing(const Problem &problem, const Op &op) {
  if (op.chunk >= problem.numChunks())
    return false;
  const Chunk &chunk = problem.chunks[op.chunk];
  return (op.kind == OpKind::BackwardInput && !chunk.hasBackwardInput) ||
         (op.kind == OpKind::Recompute && !chunk.hasRecompute);
}

Schedule veeline::schedule::withoutMissing(const Problem &problem,
                                           Schedule schedule) {
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::vector<Op> &ops = schedule.stages[stage];
    std::vector<int> removedBefore{0};
    for (const Op &op : ops)
      removedBefore.push_back(removedBefore.back() + isMissing(problem, op));
    std::erase_if(ops, [&](const Op &op) { return isMissing(problem, op); });
    if (stage < schedule.offloads.size())
      for (Offload &offload : schedule.offloads[stage])
        for (int *step : {&offload.leaves, &offload.returns})
          if (*step >= 0 && *step < static_cast<int>(removedBefore.size()))
            *step -= removedBefore[*step];
    if (schedule.overlapped.empty())
      continue;
    // A block that loses one of its two operations is not a block any more.
    std::vector<int> &blocks = schedule.overlapped[stage];
    std::erase_if(blocks, [&](int step) {
      return removedBefore[step] != removedBefore[step + 2];
    });
    for (int &step : blocks)
      step -= removedBefore[step];
  }
  return schedule;
}
