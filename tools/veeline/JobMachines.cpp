//===- JobMachines.cpp - the machines of a job ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <numeric>
#include <unistd.h>

using namespace veeline;
using compiler::JobEntry;
using driver::Job;

/// Reads the "host:device" of a rank. No two ranks may have the same one.
bool Job::checkMachine(const JobEntry::Value &value, size_t rank) {
  size_t colon = value.text.rfind(':');
  std::string host = value.text.substr(0, colon);
  int32_t device = -1;
  bool isNumber =
      colon != std::string::npos && colon + 1 < value.text.size() &&
      value.text.find_first_not_of("0123456789", colon + 1) ==
          std::string::npos &&
      CLI::detail::lexical_cast(value.text.substr(colon + 1), device);
  std::string where = "machines: rank " + std::to_string(rank);
  if (!isNumber || host.empty())
    return fail(value.line,
                where + ": expected host:device, found '" + value.text + "'");
  for (size_t other = 0; other < hosts.size(); ++other)
    if (hosts[other] == host && devices[other] == device)
      return fail(value.line, where + ": '" + value.text +
                                  "' is that of rank " + std::to_string(other) +
                                  " already");
  hosts.push_back(host);
  devices.push_back(device);
  return true;
}

bool Job::checkMachines() {
  const JobEntry *entry = find("machines");
  if (!entry)
    return true;
  for (size_t rank = 0; rank < entry->values.size(); ++rank)
    if (!checkMachine(entry->values[rank], rank))
      return false;
  const std::vector<int64_t> &widths = command->stageReplicas;
  int64_t ofReplica =
      widths.empty()
          ? command->stages
          : std::accumulate(widths.begin(), widths.end(), int64_t(0));
  int64_t ranks = ofReplica * command->replicas;
  if (static_cast<int64_t>(hosts.size()) != ranks)
    return fail(
        *entry,
        "found " + std::to_string(hosts.size()) +
            ", expected one for each of the " + std::to_string(ranks) +
            " ranks (" + std::to_string(ofReplica) +
            (widths.empty() ? " stages times " : " of all stages times ") +
            numberOfReplicas() + ")");
  return true;
}

std::string Job::numberOfReplicas() const {
  return std::to_string(command->replicas) +
         (command->replicas == 1 ? " replica" : " replicas");
}

/// The hosts in the form of mpirun's --host: "a:2,b:2".
std::string Job::hostsText() const {
  std::string text;
  for (size_t i = 0; i < hosts.size();) {
    size_t end = i;
    while (end < hosts.size() && hosts[end] == hosts[i])
      ++end;
    text +=
        (text.empty() ? "" : ",") + hosts[i] + ":" + std::to_string(end - i);
    i = end;
  }
  return text;
}

/// Compares the place that the launcher gives this process to the file, and
/// sets MASTER_ADDR from the file.
bool Job::checkPlace(const net::Place &place) {
  const JobEntry *entry = find("machines");
  if (!entry)
    return true;
  if (place.numRanks != static_cast<int32_t>(hosts.size()))
    return fail(*entry, "found " + std::to_string(hosts.size()) + ", but " +
                            place.launcher + " has started " +
                            std::to_string(place.numRanks) + " processes");
  if (!checkHost(static_cast<size_t>(place.rank),
                 place.launcher + " has started it on"))
    return false;
  if (hosts[0] != "localhost")
    ::setenv("MASTER_ADDR", hosts[0].c_str(), /*overwrite=*/0);
  return true;
}

/// Whether this is the host of the rank. True if the file has an address
/// instead of a name.
bool Job::checkHost(size_t rank, const std::string &startedBy) {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  const std::string &host = hosts[rank];
  std::string here = name, shortName = here.substr(0, here.find('.'));
  bool isAddress = host == "localhost" ||
                   host.find_first_not_of("0123456789.") == std::string::npos;
  if (isAddress || host == here || host.substr(0, host.find('.')) == shortName)
    return true;
  return fail(find("machines")->values[rank].line,
              "machines: rank " + std::to_string(rank) + " is on '" + host +
                  "', but " + startedBy + " '" + here + "'");
}
