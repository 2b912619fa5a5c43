//===- Transfers.cpp - transfer times from the command line ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Text.h"

using namespace veeline;
using namespace veeline::schedule;

static Error usage(const std::string &message) {
  return invalid("--transfer: " + message);
}

static std::optional<double> parseTime(std::string_view text) {
  std::optional<double> time = parseNumber(text);
  return time && *time >= 0 && *time <= maxTime ? time : std::nullopt;
}

Expected<std::vector<EdgeTransfer>>
veeline::schedule::parseTransfers(std::string_view text) {
  std::vector<EdgeTransfer> transfers;
  for (std::string_view part : splitAt(text, ',')) {
    std::size_t colon = part.find(':');
    std::optional<double> forward = parseTime(part.substr(0, colon));
    std::optional<double> backward =
        colon == part.npos ? forward : parseTime(part.substr(colon + 1));
    if (!forward || !backward)
      return usage("expected a number from 0 to " + shortNumber(maxTime) +
                   ", or two as 2:3 for forward and backward, found '" +
                   std::string(part) + "'");
    transfers.push_back({*forward, *backward});
  }
  return transfers;
}

Status
veeline::schedule::setTransfers(Model &model,
                                const std::vector<EdgeTransfer> &transfers) {
  std::size_t count = model.edges.size();
  if (transfers.size() != 1 && transfers.size() != count)
    return usage("expected one time, or one for each of the " +
                 counted(count, "edge") + " between the " +
                 counted(model.chunks.size(), "chunk") + ", found " +
                 std::to_string(transfers.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const EdgeTransfer &transfer = transfers[transfers.size() == 1 ? 0 : i];
    model.edges[i].forwardTransfer = transfer.forward;
    model.edges[i].backwardTransfer = transfer.backward;
  }
  return Status::success();
}
