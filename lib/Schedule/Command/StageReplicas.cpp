//===- StageReplicas.cpp - --stage-replicas -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::schedule;

/// Reads the number of ranks for each stage. Without --stages, the number of
/// stages becomes known when the file with the order is read.
Status Request::readWidths(const CommandOptions &options) {
  if (options.stageReplicas.empty()) {
    // The compiled model's numbers are valid only for its own number of stages.
    if (hasStages && widths.size() != static_cast<std::size_t>(costs.stages))
      widths.clear();
    return Status::success();
  }
  constexpr int most = 4096;
  widths.clear();
  for (std::string_view part : splitAt(options.stageReplicas, ',')) {
    std::optional<double> value = parseNumber(part);
    if (!value || *value < 1 || *value > most || *value != std::floor(*value))
      return usage("--stage-replicas: expected whole numbers from 1 to " +
                   std::to_string(most) + ", found '" + std::string(part) +
                   "'");
    widths.push_back(static_cast<int>(*value));
  }
  if (hasStages && widths.size() != static_cast<std::size_t>(costs.stages))
    return usage("--stage-replicas: expected one number for each of the " +
                 counted(costs.stages, "stage") + ", found " +
                 std::to_string(widths.size()));
  return Status::success();
}

std::vector<int> Request::stageReplicas() const {
  bool isWide = std::any_of(widths.begin(), widths.end(),
                            [](int width) { return width != 1; });
  return isWide ? widths : std::vector<int>();
}

/// Returns a text such as "2+1+1 ranks".
static std::string ranksOf(std::vector<int> widths, int stages) {
  if (widths.empty())
    widths.assign(stages, 1);
  return ranksNote(widths).substr(2);
}

/// Sets the number of ranks of each stage. A file with rows of ranks has its
/// own numbers. One with rows of stages is spread over the ranks that the
/// command line or the compiled model specifies.
Status Request::setWidths(Task &task, const ImportedSchedule &file,
                          const std::string &path) const {
  int stages = file.placement.stages();
  bool isGiven = given.contains("--stage-replicas");
  auto isAsLong = [&](const std::vector<int> &list) {
    return list.size() == static_cast<std::size_t>(stages);
  };
  if (isGiven && !isAsLong(widths))
    return usage("--stage-replicas: expected one number for each of the " +
                 counted(stages, "stage") + " of '" + path + "', found " +
                 std::to_string(widths.size()));
  if (!file.widths.empty()) {
    if (isGiven && widths != file.widths)
      return usage("'" + path + "' has " + ranksOf(file.widths, stages) +
                   ", but --stage-replicas says " + ranksOf(widths, stages));
    task.problem.widths = file.widths;
    return Status::success();
  }
  task.problem.widths = isAsLong(widths) ? stageReplicas() : std::vector<int>();
  return check(task.problem);
}

std::string veeline::schedule::ranksMember(const std::vector<int> &widths) {
  std::string text;
  for (int width : widths)
    text += (text.empty() ? ", \"stage_replicas\": [" : ", ") +
            std::to_string(width);
  return text.empty() ? text : text + "]";
}
