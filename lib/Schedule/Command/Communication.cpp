//===- Communication.cpp - --verify-communication -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Request.h"
#include "Table.h"
#include "veeline/Base/Text.h"
#include "veeline/Schedule/Communication/Plan.h"
#include "veeline/Schedule/Formats/CommunicationCells.h"
#include "veeline/Schedule/Loop.h"

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Answer;
using schedule::CommandOptions;
using schedule::Expected;

static schedule::Error failure(std::string message) {
  while (message.ends_with('\n'))
    message.pop_back();
  return {schedule::ErrorKind::WrongMessage, std::move(message)};
}

static std::int64_t countMessages(const Program &program) {
  std::int64_t count = 0;
  for (const std::vector<Op> &ops : program.ranks)
    for (const Op &op : ops)
      count += op.kind == OpKind::Send;
  return count;
}

std::string schedule::ProvenMessages::toText() const {
  return "communication: " + counted(count, "message") +
         (by.empty() ? " in cells" : " by " + by) +
         ", right under the rules of " + rules + "\n";
}

std::string schedule::ProvenMessages::toJson() const {
  return schedule::jsonObject({{"messages", std::to_string(count)},
                               {"by", by.empty() ? "cells" : by, true},
                               {"rules", rules, true},
                               {"proven", "true"}});
}

static Expected<schedule::ProvenMessages> prove(const Answer &answer,
                                                const CommandOptions &options) {
  Model model = *parseModel(options.verifyCommunication);
  std::optional<Cells> cells;
  if (std::optional<std::string> path =
          schedule::scheduleFilePath(answer.task.name)) {
    auto read = readCommunicationCells(*path);
    if (!read)
      return read.takeError();
    cells = std::move(*read);
  }
  if (cells) {
    if (options.has("--communication"))
      return failure("--communication is for orders without communication "
                     "cells; '" +
                     answer.task.name + "' has some");
    std::size_t rows = cells->program.ranks.size();
    std::size_t ranks = answer.solution.schedule.stages.size();
    if (rows != ranks)
      return failure("'" + answer.task.name + "' has communication cells of " +
                     counted(rows, "rank") + ", but its order is spread over " +
                     std::to_string(ranks) +
                     " by --stage-replicas; leave one of the two out");
    if (std::optional<Error> error = verify(cells->program, model))
      return failure(toText(*cells, *error));
    return schedule::ProvenMessages{countMessages(cells->program), "",
                                    describe(model)};
  }
  // For a cyclic order, the proof is about a few steps that follow each other.
  Expected<schedule::Solution> solution = schedule::drawn(answer.solution);
  if (!solution)
    return solution.takeError();
  Expected<Traffic> traffic = trafficOf(solution->problem, solution->schedule);
  if (!traffic)
    return traffic.takeError();
  Expected<Program> program =
      plan(*traffic, *parseStrategy(options.communication), model);
  if (!program)
    return program.takeError();
  if (std::optional<Error> error = verify(*program, model))
    return failure(toText(*program, *error));
  return schedule::ProvenMessages{countMessages(*program),
                                  options.communication, describe(model)};
}

Expected<schedule::ProvenMessages>
veeline::schedule::proveCommunication(const Answer &answer,
                                      const CommandOptions &options) {
  return prove(answer, options);
}
