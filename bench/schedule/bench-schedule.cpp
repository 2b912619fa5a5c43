//===- bench-schedule.cpp - how good and how fast schedules are -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints tables in Markdown: schedules beside published figures and figures of
// other generators, what `auto` reaches, times, and a sweep over random
// problems. The figures come from a folder with published.csv and
// schedules.csv, named by --peers or VEELINE_PEERS; without one, the tables
// that need it are left out.
//
// Usage: bench-schedule [--peers DIR] [--seconds S] [--jobs N] [--problems N]
//                       [--most-stages P] [TABLE...]
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace veeline::bench;

namespace {
struct Table {
  const char *name;
  bool needsPeers;
  void (*print)(const Settings &);
};
} // namespace

static constexpr Table tables[] = {
    {"published", true, printPublished}, {"same-name", true, printSameName},
    {"auto", true, printAuto},           {"uneven", true, printUneven},
    {"targets", false, printTargets},    {"times", false, printTimes},
    {"sweep", false, printSweep},
};

static int usage() {
  std::fprintf(stderr, "usage: bench-schedule [--peers DIR] [--seconds S] "
                       "[--jobs N] [--problems N] [--most-stages P] "
                       "[TABLE...]\ntables:");
  for (const Table &table : tables)
    std::fprintf(stderr, " %s", table.name);
  std::fprintf(stderr, "\n");
  return 2;
}

/// Whether `text` is a number.
template <typename T> static bool parse(const char *text, T &number) {
  auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc() && !*end;
}

/// Whether there is an option `name`, and takes `value`.
static bool setOption(Settings &settings, const char *name, const char *value) {
  if (!std::strcmp(name, "--peers")) {
    settings.peers = value;
    return true;
  }
  if (!std::strcmp(name, "--seconds"))
    return parse(value, settings.seconds);
  if (!std::strcmp(name, "--jobs"))
    return parse(value, settings.jobs);
  if (!std::strcmp(name, "--problems"))
    return parse(value, settings.problems);
  return !std::strcmp(name, "--most-stages") &&
         parse(value, settings.mostStages);
}

int main(int argc, char **argv) {
  Settings settings;
  if (const char *peers = std::getenv("VEELINE_PEERS"))
    settings.peers = peers;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--", 2) != 0)
      wanted.push_back(argv[i]);
    else if (i + 1 == argc || !setOption(settings, argv[i], argv[i + 1]))
      return usage();
    else
      ++i;
  }
  for (const std::string &name : wanted) {
    bool known = false;
    for (const Table &table : tables)
      known |= name == table.name;
    if (!known)
      return usage();
  }
  for (const Table &table : tables) {
    bool chosen = wanted.empty();
    for (const std::string &name : wanted)
      chosen |= name == table.name;
    if (!chosen)
      continue;
    if (table.needsPeers && settings.peers.empty())
      std::printf("## %s\n\nleft out: no --peers\n\n", table.name);
    else
      table.print(settings);
    std::fflush(stdout);
  }
  return 0;
}
