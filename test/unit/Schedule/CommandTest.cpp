//===- CommandTest.cpp - the schedule subcommand --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Command/Command.h"
#include "../Runtime/TempDir.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Generators.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <vector>

using namespace veeline::schedule;

namespace {
struct Result {
  int code;
  std::string out, err;
};
} // namespace

static Result run(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "veeline schedule");
  std::ostringstream out, err;
  int code = scheduleMain(arguments.size(), arguments.data(), out, err);
  return {code, out.str(), err.str()};
}

TEST(Command, PrintsASchedule) {
  Result result = run({"--schedule", "1f1b", "--stages", "2", "--microbatches",
                       "2", "--show", "order"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.find("stage 0: F0  F1  BW0 BW1\n"
                            "stage 1: F0  BW0 F1  BW1\n"
                            "\n"
                            "1f1b: 2 stages of 1 chunk"),
            0u);
  EXPECT_NE(result.out.find("generated in"), std::string::npos);
}

TEST(Command, AllOptions) {
  Result result = run({"--schedule=zb-v", "--stages=8", "--chunks-per-stage=2",
                       "--microbatches=24", "--cost=F=18522,B=18086,W=9337",
                       "--transfer=601", "--memory-limit=8", "--activation",
                       "F=1,B=-0.5,W=-0.5", "--objective=span",
                       "--show=summary", "--width=120"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("zb-v: 8 stages of 2 chunks (placement v), 24 "
                            "microbatches\n"),
            0u);
  result = run({"--schedule=zb-v", "--stages=2", "--microbatches=2",
                "--chunk-cost=F=1,B=1,W=1", "--show=nothing"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(Command, ListAndHelp) {
  Result list = run({"--list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("\nzb-v "), std::string::npos);
  EXPECT_NE(list.out.find(" zero bubble on a V"), std::string::npos);
  Result help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--memory-limit"), std::string::npos);
}

static std::string knownNames() {
  std::string names;
  for (const Generator &generator : generators())
    names += (names.empty() ? "" : ", ") + std::string(generator.name);
  return names;
}

TEST(Command, UsageErrors) {
  auto errorOf = [](const std::vector<const char *> &arguments) {
    Result result = run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    const std::string help = "try 'veeline schedule --help'\n";
    EXPECT_TRUE(result.err.ends_with(help));
    return result.err.substr(0, result.err.size() - help.size());
  };
  EXPECT_EQ(errorOf({"--schedule=zbv", "--stages=2", "--microbatches=2"}),
            "veeline: error: unknown schedule 'zbv'; did you mean 'zb-v'? "
            "Known schedules are " +
                knownNames() + "\n");
  EXPECT_EQ(errorOf({}),
            "veeline: error: --schedule is missing; known schedules are " +
                knownNames() + ", and file:PATH\n");
  EXPECT_EQ(errorOf({"--schedule=1f1b", "--microbatches=2"}),
            "veeline: error: --stages is missing\n");
  EXPECT_EQ(errorOf({"--schedule=1f1b", "--stages=2"}),
            "veeline: error: --microbatches is missing\n");
  EXPECT_EQ(errorOf({"--schedule=1f1b", "--stages=2", "--microbatches=2",
                     "--cost=F=1"}),
            "veeline: error: --cost: B is missing in 'F=1'\n");
  EXPECT_EQ(errorOf({"--objective=x"}),
            "veeline: error: --objective: x not in {makespan,span,period}\n");
  EXPECT_EQ(errorOf({"--frob"}),
            "veeline: error: The following argument was not expected: "
            "--frob\n");
  EXPECT_EQ(errorOf({"--schedule=1f1b", "--stages=0", "--microbatches=2"}),
            "veeline: error: --stages: expected a whole number from 1 to "
            "65536, found '0'\n");
  EXPECT_EQ(errorOf({"--schedule=1f1b", "--stages=1", "--microbatches=1",
                     "--memory-curves", "-o=x.csv"}),
            "veeline: error: --memory-curves draws in .svg files, and .html "
            "pages have them; there is no -o of either\n");
  EXPECT_NE(errorOf({"--stages=many"}), "");
  EXPECT_NE(errorOf({"--cost=F=1,B=1,W=1", "--chunk-cost=F=1,B=1,W=1"}), "");
}

TEST(Command, NoSolution) {
  Result result = run({"--schedule=zb-v", "--stages=2", "--microbatches=2",
                       "--memory-limit=0"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "veeline: error: stage 0: the memory limit of 0 activations is "
            "too low for any order of zb-v; one microbatch alone needs 1 "
            "activation\n");
}

TEST(Command, WarningsGoToTheStandardError) {
  Result result = run({"--schedule=interleaved-1f1b", "--stages=3",
                       "--microbatches=1", "--show=nothing"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err.find("veeline: warning: 1 microbatch is fewer "
                            "than the 3 stages, so"),
            0u);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  EXPECT_EQ(result.out.find("warning"), std::string::npos);
}

// Each edge costs what the list says, in the order of the model.
TEST(Command, TransfersOfEdges) {
  auto makespan = [](const char *transfer) {
    Result result =
        run({"--schedule", "1f1b", "--stages", "3", "--microbatches", "1",
             "--transfer", transfer, "--show", "summary"});
    EXPECT_EQ(result.code, 0) << result.err;
    std::size_t begin = result.out.find("makespan          ") + 18;
    return result.out.substr(begin, result.out.find('\n', begin) - begin);
  };
  EXPECT_EQ(makespan("0"), "9");
  EXPECT_EQ(makespan("1,2"), "15");
  EXPECT_EQ(makespan("1:3,2"), "17");
  EXPECT_EQ(makespan("1:3"), "17");
  // The order of the list is that of the model.
  veeline::test::TempDir directory;
  std::string path = directory.path("transfers.json");
  Result written = run({"--schedule", "1f1b", "--stages", "3", "--microbatches",
                        "2", "--transfer", "1:3,2", "--output", path.c_str()});
  EXPECT_EQ(written.code, 0) << written.err;
  Expected<ImportedSchedule> file = readScheduleFile(path);
  ASSERT_TRUE(file && file->problem && file->problem->edges.size() == 2);
  EXPECT_EQ(file->problem->edges[0].forwardTransfer, 1);
  EXPECT_EQ(file->problem->edges[0].backwardTransfer, 3);
  EXPECT_EQ(file->problem->edges[1].forwardTransfer, 2);
  EXPECT_EQ(file->problem->edges[1].backwardTransfer, 2);
  auto errorOf = [](std::vector<const char *> arguments) {
    arguments.insert(arguments.end(), {"--stages", "3", "--microbatches", "6"});
    Result result = run(arguments);
    EXPECT_EQ(result.code, 2);
    return result.err.substr(0, result.err.find('\n'));
  };
  const std::string error = "veeline: error: ";
  EXPECT_EQ(errorOf({"--schedule", "1f1b", "--transfer", "1,2,3"}),
            error + "--transfer: expected one time, or one for each of the 2 "
                    "edges between the 3 chunks, found 3");
  for (const char *part : {"x", "1:", ":1", "-1", "1:2:3", "1e31"})
    EXPECT_EQ(errorOf({"--schedule", "1f1b", "--transfer", part}),
              error +
                  "--transfer: expected a number from 0 to 1e+30, or two "
                  "as 2:3 for forward and backward, found '" +
                  part + "'");
  EXPECT_EQ(errorOf({"--schedule", "1f1b", "--transfer", "1,,2"}).substr(0, 52),
            error + "--transfer: expected a number from 0");
  EXPECT_NE(errorOf({"--schedule", "auto", "--transfer", "1,2"})
                .find("auto chooses how many chunks a stage has; add "
                      "--chunks-per-stage"),
            std::string::npos);
  // A comparison has two chunks a stage, unless the user says otherwise.
  EXPECT_NE(errorOf({"--compare", "1f1b,zb-v", "--transfer", "1,2"})
                .find("5 edges between the 6 chunks, found 2"),
            std::string::npos);
}

TEST(Command, ComparesWithTransfersOfEdges) {
  Result result = run({"--compare", "sequential,zb-v", "--stages", "2",
                       "--microbatches", "1", "--transfer", "1,2,4"});
  EXPECT_EQ(result.code, 0) << result.err;
  // Merged to one chunk a stage, the model keeps the edge in its middle.
  EXPECT_NE(result.out.find("zb-v"), std::string::npos);
  EXPECT_EQ(result.out.find("refused"), std::string::npos) << result.out;
}

TEST(Command, NamesAreNoTerminalCodes) {
  veeline::test::TempDir directory;
  std::string path = directory.write(
      "names.json", "{\"name\": \"a\\u001b[31m\\u009bb\\u007f\\u00e9\", "
                    "\"order\": [[\"0F0\", \"0B0\"]]}");
  std::string name = "file:" + path;
  Result result = run({"--schedule", name.c_str(), "--show", "summary"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("a\\x1B[31m\\x9Bb\\x7F\xc3\xa9: 1 stage"), 0u)
      << result.out;
  directory.write("names.json", "{\"\\u001b[31m\": 1}");
  result = run({"--schedule", name.c_str()});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_NE(result.err.find("/\\x1B[31m: unknown member"), std::string::npos)
      << result.err;
}

// Too few microbatches for blocks.
TEST(Command, NoBlocks) {
  auto errorsOf = [](const char *microbatches) {
    Result result =
        run({"--schedule", "dualpipe-v", "--stages", "4", "--overlap-blocks",
             "--show", "summary", "--microbatches", microbatches});
    EXPECT_EQ(result.code, 0);
    return result.err;
  };
  EXPECT_EQ(errorsOf("1"),
            "veeline: warning: --overlap-blocks makes no block of 1 "
            "microbatch; dualpipe-v has some from 2p = 8 on\n");
  EXPECT_EQ(errorsOf("8"), "");
}

/// The makespans of a table, by schedule, of those that update once a step.
static std::map<std::string, double> makespansOf(const std::string &table) {
  std::map<std::string, double> result;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, v;
    double makespan;
    if (words >> name >> v >> makespan && line.find("synchronous") != line.npos)
      result[name] = makespan;
  }
  return result;
}

// Holds whatever the placements of the others are, and however messages pass.
TEST(Command, AutoIsTheBestRow) {
  std::mt19937 random(GTEST_FLAG_GET(random_seed));
  auto any = [&](int low, int high) {
    return std::to_string(
        std::uniform_int_distribution<int>(low, high)(random));
  };
  for (int round = 0; round < 25; ++round) {
    std::string cost = "F=" + any(1, 6) + ",B=" + any(0, 4) + ",W=" + any(0, 3);
    std::string stages = any(1, 4), microbatches = any(1, 7), v = any(1, 4),
                transfer = any(0, 3);
    std::vector<const char *> arguments{"--compare",      "all",
                                        "--stages",       stages.c_str(),
                                        "--microbatches", microbatches.c_str(),
                                        "--cost",         cost.c_str(),
                                        "--transfer",     transfer.c_str(),
                                        "--time-budget",  "0.005"};
    if (round % 5 != 0)
      arguments.insert(arguments.end(), {"--chunks-per-stage", v.c_str()});
    if (round % 3 == 1)
      arguments.insert(arguments.end(), {"--transfers", "rendezvous"});
    if (round % 3 == 2)
      arguments.push_back("--contention");
    Result result = run(arguments);
    ASSERT_EQ(result.code, 0) << result.err;
    std::map<std::string, double> makespans = makespansOf(result.out);
    ASSERT_TRUE(makespans.contains("auto")) << result.out;
    ASSERT_GT(makespans.size(), 5u);
    for (const auto &[name, makespan] : makespans)
      EXPECT_LE(makespans["auto"], makespan * (1 + 1e-9))
          << name << " " << cost << "\n"
          << result.out;
  }
}
