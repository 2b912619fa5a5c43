//===- Formats.cpp - which file has which format --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats.h"

#include "File.h"

#include <array>

using namespace veeline::schedule;

namespace {
struct NamedFormat {
  std::string_view ending;
  Format format;
};
} // namespace

/// Longer endings before those that end them.
static constexpr std::array<NamedFormat, 6> namedFormats{{
    {".txt", Format::Text},
    {".csv", Format::Csv},
    {".trace.json", Format::Trace},
    {".json", Format::Json},
    {".svg", Format::Svg},
    {".html", Format::Html},
}};

static Error invalid(std::string message) {
  return Error{ErrorKind::InvalidProblem, std::move(message)};
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

Expected<Solution> veeline::schedule::solve(Problem problem,
                                            Schedule schedule) {
  if (Status status = verify(problem, schedule); !status)
    return status.takeError();
  Expected<Simulation> simulation = simulate(problem, schedule);
  if (!simulation)
    return simulation.takeError();
  return Solution{std::move(problem), std::move(schedule),
                  std::move(*simulation)};
}

Status veeline::schedule::writeFile(const std::string &path,
                                    std::string_view bytes) {
  veeline::Status status = veeline::writeFileAtomically(path, bytes);
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
