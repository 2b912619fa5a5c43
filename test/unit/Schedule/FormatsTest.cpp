//===- FormatsTest.cpp - schedules as files -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats/Formats.h"
#include "../Rounds.h"
#include "../Runtime/TempDir.h"
#include "TestUtilities.h"
#include "veeline/Base/Text.h"

#include <array>
#include <nlohmann/json.hpp>

using namespace veeline::schedule;
using Json = nlohmann::json;

static Solution solutionOf(std::string_view name, const Problem &problem) {
  Expected<Schedule> schedule = generate(name, problem);
  EXPECT_TRUE(schedule) << schedule.error().message;
  Expected<Solution> solution = solve(problem, std::move(*schedule));
  EXPECT_TRUE(solution) << solution.error().message;
  return std::move(*solution);
}

/// F0 F1 and a block of F2 with B0, on one stage; costs 1, 2 and 3.
static Solution blockSolution() {
  Problem problem = makeProblem("1f1b", 1, 1, 3, 1, 2, 3);
  Schedule schedule{"blocks",
                    {{{OpKind::Forward, 0, 0},
                      {OpKind::Forward, 0, 1},
                      {OpKind::Forward, 0, 2},
                      {OpKind::Backward, 0, 0},
                      {OpKind::Backward, 0, 1},
                      {OpKind::Backward, 0, 2}}},
                    {{2}}};
  Expected<Simulation> simulation = simulate(problem, schedule);
  EXPECT_TRUE(simulation);
  return {problem, schedule, *simulation};
}

static std::string csvError(const std::string &text) {
  Expected<ImportedSchedule> result = readCsv(text, "x.csv");
  return result ? "no error" : result.error().message;
}
static std::string jsonError(const std::string &text) {
  Expected<ImportedSchedule> result = readJson(text, "x.json");
  return result ? "no error" : result.error().message;
}

TEST(Formats, ByEnding) {
  auto check = [](const char *path, Format format) {
    Expected<Format> found = formatOf(path);
    ASSERT_TRUE(found) << path;
    EXPECT_EQ(*found, format) << path;
  };
  check("a.txt", Format::Text);
  check("a.csv", Format::Csv);
  check("a.comms.csv", Format::CommunicationCsv);
  check("dir.svg/a.json", Format::Json);
  check("a.svg", Format::Svg);
  check("a.html", Format::Html);
  check("a.trace.json", Format::Trace);
  Expected<Format> unknown = formatOf("a.pdf");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "'a.pdf' has no ending that names a format; known are .txt, "
            ".comms.csv, .csv, .trace.json, .json, .svg, .html");
}

TEST(Formats, CsvAsPyTorchWritesIt) {
  Problem problem = makeProblem("zb-v", 1, 2, 1);
  using enum OpKind;
  Schedule split{"split",
                 {{{Forward, 0, 0},
                   {Forward, 1, 0},
                   {BackwardInput, 1, 0},
                   {BackwardWeight, 1, 0},
                   {BackwardInput, 0, 0},
                   {BackwardWeight, 0, 0}}}};
  EXPECT_EQ(toCsv(problem, split), "0F0,1F0,1I0,1W0,0I0,0W0\n");
  // Where there is no B, W is the whole backward.
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  split.stages[0].erase(split.stages[0].begin() + 4);
  EXPECT_EQ(toCsv(problem, split), "0F0,1F0,1I0,1W0,0B0\n");
  Solution fused = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2));
  EXPECT_EQ(toCsv(fused.problem, fused.schedule),
            "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  Solution blocks = blockSolution();
  EXPECT_EQ(toCsv(blocks.problem, blocks.schedule),
            "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n");
}

// What is written reads back as the same order, with the same placement.
TEST(Formats, RoundTrips) {
  Random random = makeRandom();
  for (int round = 0; round < veeline::test::rounds(600); ++round) {
    const Generator &generator =
        generators()[randomInt(random, 0, generators().size() - 1)];
    Problem problem =
        randomProblem(random, generator.name, randomInt(random, 1, 6),
                      6 * randomInt(random, 1, 3));
    problem.memoryLimits.clear();
    Chunk &last = problem.chunks.back();
    last.backwardShared = std::min(last.backwardInput, last.backwardWeight) / 3;
    Expected<Schedule> schedule = generate(generator.name, problem, quickly());
    if (!schedule)
      continue;
    Expected<Solution> solution = solve(problem, *schedule);
    ASSERT_TRUE(solution) << solution.error().message;
    Expected<ImportedSchedule> json = readJson(toJson(*solution), "x.json");
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ(json->schedule.name, schedule->name);
    EXPECT_EQ(json->schedule.stages, schedule->stages);
    EXPECT_EQ(json->schedule.overlapped, schedule->overlapped);
    ASSERT_TRUE(json->problem);
    Expected<Solution> again = solve(*json->problem, json->schedule);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->simulation.makespan, solution->simulation.makespan);
    EXPECT_EQ(toJson(*again), toJson(*solution));

    Expected<ImportedSchedule> csv =
        readCsv(toCsv(problem, *schedule), "x.csv");
    ASSERT_TRUE(csv) << csv.error().message;
    EXPECT_EQ(csv->microbatches, problem.microbatches);
    for (int chunk = 0; chunk < problem.numChunks(); ++chunk)
      EXPECT_EQ(csv->placement.stageOf(chunk),
                problem.placement.stageOf(chunk));
    EXPECT_EQ(toCsv(problem, csv->schedule), toCsv(problem, *schedule));
    EXPECT_TRUE(verify(problem, csv->schedule));
  }
}

TEST(Formats, CsvFromElsewhere) {
  // Communication, FSDP and empty cells, blanks, carriage returns, a mark at
  // the begin, and empty lines at the end.
  Expected<ImportedSchedule> file =
      readCsv("\xef\xbb\xbf"
              "0UNSHARD,0F0,0SEND_F0, "
              ",3RECV_F0,\"3F0\",3I0,3W0,0RECV_B0,0B0,0RESHARD\r\n"
              "1RECV_F0, 1F0 ,2F0,2SEND_F0,2B0,1I0,,1W0,1REDUCE_GRAD\r\n\r\n\n",
              "x.csv");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->placement.kind(), PlacementKind::V);
  EXPECT_EQ(file->microbatches, 1);
  EXPECT_EQ(file->schedule.name, "file:x.csv");
  EXPECT_FALSE(file->problem);
  Problem problem =
      uniformProblem(file->placement, 1, makeChunk(2, 1, 1, 1), 0);
  EXPECT_TRUE(verify(problem, file->schedule));
  EXPECT_EQ(toCsv(problem, file->schedule),
            "0F0,3F0,3I0,3W0,0B0\n1F0,2F0,2B0,1I0,1W0\n");
}

TEST(Formats, CsvBlocks) {
  Expected<ImportedSchedule> file =
      readCsv("0F0,0F1,(0F2;0B0)OVERLAP_F_B,( 0B1 ; 0F3 )OVERLAP_F_B,0B2,0B3\n",
              "x.csv");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->schedule.overlapped, (std::vector<std::vector<int>>{{2, 4}}));
  EXPECT_EQ(file->schedule.stages[0].size(), 8u);
  EXPECT_EQ(csvError("(0F0;0F1)OVERLAP_F_B"),
            "x.csv:1:1: '(0F0;0F1)OVERLAP_F_B' is not a block of one forward "
            "and one backward; expected a cell as 2F0 (chunk, F, R, I, W or B, "
            "microbatch), 7W3' (of the step before), (0F3;7B1)OVERLAP_F_B, "
            "or nothing");
  EXPECT_NE(csvError("(0F0;0B1)").find("does not end in ')OVERLAP_F_B'"),
            std::string::npos);
  EXPECT_NE(csvError("(0F0)OVERLAP_F_B").find("not a block"),
            std::string::npos);
}

TEST(Formats, PathsOfSchedules) {
  EXPECT_EQ(scheduleFilePath("file:a:b.csv"), "a:b.csv");
  EXPECT_EQ(scheduleFilePath("file:"), "");
  EXPECT_EQ(scheduleFilePath("1f1b"), std::nullopt);
}

// Chunk 0 has no input gradient to compute. A block that loses one of its
// operations ceases to be one; later steps move.
TEST(Formats, InputsThatAreMissing) {
  Expected<ImportedSchedule> file =
      readCsv("0F0,1F0,1I0,(0F1;0I0)OVERLAP_F_B,1W0,0W0,(1F1;0I1)OVERLAP_F_B,"
              "(0F2;1I1)OVERLAP_F_B,1W1,0W1,1F2,1B2,0B2\n",
              "x.csv");
  ASSERT_TRUE(file) << file.error().message;
  Problem problem =
      uniformProblem(file->placement, 3, makeChunk(1, 1, 1, 1), 0);
  Schedule same = withoutMissing(problem, file->schedule);
  EXPECT_EQ(same.stages, file->schedule.stages);
  EXPECT_EQ(same.overlapped, file->schedule.overlapped);
  problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  Schedule schedule = withoutMissing(problem, file->schedule);
  EXPECT_EQ(toCsv(problem, schedule),
            "0F0,1F0,1I0,0F1,1W0,0B0,1F1,(0F2;1I1)OVERLAP_F_B,1W1,0B1,1F2,1B2,"
            "0B2\n");
}

TEST(Formats, CsvErrors) {
  const std::string expected =
      "; expected a cell as 2F0 (chunk, F, R, I, W or B, "
      "microbatch), 7W3' (of the step before), (0F3;7B1)OVERLAP_F_B, "
      "or nothing";
  EXPECT_EQ(csvError("0F0,0X1\n"),
            "x.csv:1:5: '0X1' has the unknown action 'X'" + expected);
  EXPECT_EQ(csvError("0F0\n1F0,1F\n"),
            "x.csv:2:5: '1F' does not end in a microbatch number below "
            "16777216" +
                expected);
  EXPECT_EQ(csvError("0F0,F1"),
            "x.csv:1:5: 'F1' does not begin with a chunk number below 65536" +
                expected);
  EXPECT_EQ(csvError("-1F0").substr(0, 13), "x.csv:1:1: '-");
  EXPECT_NE(csvError("0F99999999999999999999").find("does not end in"),
            std::string::npos);
  EXPECT_NE(csvError("99999F0").find("does not begin"), std::string::npos);
  EXPECT_NE(csvError("0F0x").find("does not end in"), std::string::npos);
  EXPECT_EQ(csvError("0F0,0B0\n1F0,0F1\n"),
            "x.csv:2:5: F of chunk 0, microbatch 1 stands on stage 1, but "
            "other operations of this chunk on stage 0");
  EXPECT_EQ(csvError(""), "x.csv: has no operations");
  EXPECT_EQ(csvError(" \n\n"), "x.csv: has no operations");
  EXPECT_EQ(csvError("0F0,2F0\n"),
            "x.csv: chunk 1 does not occur, but chunk 2 does");
  EXPECT_EQ(csvError("0F0,1F0\n\n2F0,3F0\n"),
            "x.csv: a list of 4 chunks does not give each of 3 stages the same "
            "number of chunks");
  // Nothing is allocated for numbers that only one cell has.
  EXPECT_EQ(csvError("0F16777215\n"),
            "x.csv: has 1 forward; 1 chunk and 16777216 microbatches (0 to "
            "16777215) have 16777216");
}

TEST(Formats, JsonErrors) {
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"]\n, x]}"),
            "x.json:2:3: this is no JSON here");
  EXPECT_EQ(jsonError("[]"), "x.json:1:1: expected an object");
  EXPECT_EQ(jsonError("{}"), "x.json:1:1: has no member 'order', which is a "
                             "list with the cells of each stage");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\",\n  \"0Q0\"]]}").substr(0, 37),
            "x.json:2:3: /order/0/1: '0Q0' has the");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\", 7]]}"),
            "x.json:1:20: /order/0/1: expected a cell, a string");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"], 3]}"),
            "x.json:1:21: /order/1: expected a list of cells, found 3");
  EXPECT_EQ(jsonError("{\"format\": \"other\", \"order\": [[\"0F0\"]]}"),
            "x.json:1:12: /format: expected \"veeline-schedule\"");
  EXPECT_EQ(jsonError("{\"version\": 2, \"order\": [[\"0F0\"]]}"),
            "x.json:1:13: /version: this program reads version 1");
  EXPECT_EQ(jsonError("{\"orders\": 1}").substr(0, 36),
            "x.json:1:12: /orders: unknown member");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\", \"0B0\"]], \"stages\": 2}"),
            "x.json:1:39: /stages: the order has 1 stage");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"]], \"microbatches\": 1.5}"),
            "x.json:1:38: /microbatches: expected an integer of 64 bits, "
            "found 1.5");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"]], \"placement\": [1]}"),
            "x.json:1:35: /placement: the order places its chunks as [0]");
  EXPECT_EQ(
      jsonError("{\"order\": [[\"0F0\"]], \"chunks\": [{\"forward\": \"a\"}]}"),
      "x.json:1:45: /chunks/0/forward: expected a number, found \"a\"");
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"]], \"chunks\": []}").substr(0, 33),
            "x.json:1:1: has no member 'edges'");
}

/// Texts for which the JSON library would throw, or drop a part.
TEST(Formats, JsonNumbersOutOfRange) {
  const std::string order = "{\"order\": [[\"0F0\"]],\n ";
  const std::string end = " is out of range; expected one that a double holds";
  EXPECT_EQ(jsonError(order + "\"prediction\": 1e999}"),
            "x.json:2:16: the number 1e999" + end);
  EXPECT_EQ(jsonError(order + "\"microbatches\":-1e999 }"),
            "x.json:2:17: the number -1e999" + end);
  EXPECT_EQ(jsonError(order + "\"chunks\": [{\"forward\": 1e400}]}"),
            "x.json:2:25: the number 1e400" + end);
  EXPECT_EQ(jsonError("1e999"), "x.json:1:1: the number 1e999" + end);
  EXPECT_EQ(jsonError("[1" + std::string(400, '0') + "]"),
            "x.json:1:2: the number 1" + std::string(39, '0') + end);
  EXPECT_EQ(jsonError(""), "x.json:1:1: this is no JSON here");
  EXPECT_EQ(jsonError("{\"order\": \"\xff\"}"),
            "x.json:1:12: this is no JSON here");
}

TEST(Formats, JsonMembersStandOnce) {
  EXPECT_EQ(jsonError("{\"order\": [[\"0F0\"]],\n \"order\": [[\"0F1\"]]}"),
            "x.json:2:11: /order: this member stands twice");
  EXPECT_EQ(jsonError("{\"order\": [], \"chunks\": [{}, "
                      "{\"forward\": {\"x\": 1}, \"forward\": 2}]}"),
            "x.json:1:63: /chunks/1/forward: this member stands twice");
}

/// Costs without chunks make no problem.
TEST(Formats, JsonCostsNeedChunks) {
  for (const char *member : {"\"memory_limits\": [1]", "\"overlap\": 7",
                             "\"edges\": 0", "\"memory_unit\": 1"}) {
    std::string error = jsonError("{\"order\": [[\"0F0\", \"0B0\"]], " +
                                  std::string(member) + "}");
    EXPECT_NE(error.find(": needs chunks"), std::string::npos) << error;
  }
}

TEST(Formats, JsonProblemIsChecked) {
  Solution solution = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2));
  Json json = Json::parse(toJson(solution));
  EXPECT_EQ(jsonError(json.dump()), "no error");
  json["chunks"][1]["forward"] = -1;
  EXPECT_EQ(jsonError(json.dump()).substr(0, 15), "x.json: chunk 1");
  json["chunks"][1].erase("forward");
  EXPECT_NE(jsonError(json.dump()).find("/chunks/1: has no member 'forward'"),
            std::string::npos);
}

TEST(Formats, JsonPrediction) {
  Solution solution = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2));
  Json prediction = Json::parse(toJson(solution))["prediction"];
  EXPECT_EQ(prediction["makespan"], solution.simulation.makespan);
  EXPECT_EQ(prediction["bubble"], solution.simulation.bubbleMakespan);
  EXPECT_EQ(prediction["stages"][1]["start"].get<std::vector<double>>(),
            solution.simulation.start[1]);
  EXPECT_EQ(prediction["stages"][0]["peak_memory"], 2 * activationUnit);
}

// A trace has every operation, counter and message. Events of a thread do not
// overlap.
TEST(Formats, ChromeTrace) {
  Problem problem = makeProblem("zb-v", 3, 2, 4, 1, 1, 1, 0.25);
  Solution solution = solutionOf("zb-v", problem);
  Json events = Json::parse(toChromeTrace(solution))["traceEvents"];
  std::map<std::string, int> count;
  std::map<int, double> end;
  for (const Json &event : events) {
    ++count[event["ph"]];
    if (event["ph"] != "X")
      continue;
    int thread = event["tid"];
    EXPECT_GE(event["ts"].get<double>(), end[thread] - 1e-9);
    end[thread] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_EQ(count["X"], 3 * 2 * 4 * 3);
  std::size_t changes = 0;
  for (int stage = 0; stage < 3; ++stage)
    changes +=
        memoryCurve(problem, solution.schedule, solution.simulation, stage)
            .size();
  EXPECT_EQ(count["C"], changes);
  EXPECT_EQ(count["M"], 4);
  // 2v(p-1) messages a microbatch.
  EXPECT_EQ(count["s"], 4 * 2 * 2 * 2);
  EXPECT_EQ(count["f"], count["s"]);
}

// A block takes its memory when it starts, and gives it back when it ends.
TEST(Formats, ChromeTraceBlocks) {
  Json events = Json::parse(toChromeTrace(blockSolution()))["traceEvents"];
  std::vector<std::array<double, 2>> memory, slices;
  for (const Json &event : events)
    if (event["ph"] == "C")
      memory.push_back({event["ts"], event["args"]["activations"]});
    else if (event["ph"] == "X")
      slices.push_back({event["ts"], event["dur"]});
  EXPECT_EQ(memory, (std::vector<std::array<double, 2>>{
                        {0, 1}, {1, 2}, {2, 3}, {8, 2}, {13, 1}, {18, 0}}));
  EXPECT_EQ(slices, (std::vector<std::array<double, 2>>{
                        {0, 1}, {1, 1}, {2, 6}, {2, 6}, {8, 5}, {13, 5}}));
}

static int occurrences(const std::string &text, const std::string &what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(Formats, Svg) {
  Problem problem = makeProblem("1f1b", 2, 1, 3);
  limitMemory(problem, 3);
  Solution solution = solutionOf("1f1b", problem);
  std::string plain = toSvg(solution), curves = toSvg(solution, {true});
  // A path closes once for each operation.
  EXPECT_EQ(occurrences(plain, "z\"") + occurrences(plain, "zM"), 12);
  for (const char *text : {">stage 0<", ">stage 1<", ">F, forward<",
                           ">BW, whole backward<", ">time<", ">1f1b<"})
    EXPECT_EQ(occurrences(plain, text), 1) << text;
  EXPECT_EQ(occurrences(plain, "gradient of"), 0);
  EXPECT_EQ(occurrences(plain, "stroke-dasharray"), 0);
  // Those of the stages, and that of the legend.
  EXPECT_EQ(occurrences(curves, "stroke-dasharray"), 3);
  EXPECT_EQ(occurrences(curves, ">memory limit<"), 1);
  EXPECT_EQ(occurrences(plain, ">memory limit<"), 0);
  solution.problem.memoryLimits.clear();
  EXPECT_EQ(occurrences(toSvg(solution, {true}), ">memory limit<"), 0);
  EXPECT_EQ(plain.find("nan"), std::string::npos);
  solution.schedule.name = "a<b>&\x01\xff";
  EXPECT_NE(toSvg(solution).find("a&lt;b&gt;&amp;??"), std::string::npos);
}

// The two operations of a block share their lane.
TEST(Formats, SvgBlocks) {
  std::string svg = toSvg(blockSolution());
  EXPECT_EQ(occurrences(svg, "v13H"), 2);
  EXPECT_EQ(occurrences(svg, "v26H"), 4);
}

TEST(Formats, NothingTakesTime) {
  Solution solution = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2, 0, 0, 0));
  for (const std::string &text :
       {toSvg(solution, {true}), toHtml({&solution, 1}), toJson(solution),
        toChromeTrace(solution)}) {
    EXPECT_NE(text, "");
    EXPECT_EQ(text.find("-nan"), std::string::npos);
    EXPECT_EQ(text.find("inf\""), std::string::npos);
  }
}

TEST(Formats, HtmlHasNoWayOutOfItsScript) {
  Solution solution = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2));
  solution.schedule.name = "</script><b>@DATA@";
  std::string page = toHtml({&solution, 1});
  // That of the data, and that of the program.
  EXPECT_EQ(occurrences(page, "</script>"), 2);
  EXPECT_EQ(occurrences(page, "class=\"veeline-graph-1\""), 1);
  EXPECT_NE(page.find("<title>&lt;/script&gt;&lt;b&gt;@DATA@</title>"),
            std::string::npos);
}

TEST(Formats, TitlesAreUtf8) {
  Solution solution = solutionOf("1f1b", makeProblem("1f1b", 2, 1, 2));
  solution.schedule.name = "größe 中 🙂 \x01 \xff";
  std::string page = toHtml({&solution, 1});
  EXPECT_NE(page.find("<title>größe 中 🙂 ? \uFFFD</title>"),
            std::string::npos);
  // A stray byte, an overlong slash, a surrogate, a control character, and half
  // a character at the end.
  EXPECT_EQ(
      veeline::escapedText("é<\xff \xc0\xaf \xed\xa0\x80 \xc2\x85 \xe4\xb8"),
      "é&lt;? \?\? \?\?\? \?\? \?\?");
}

TEST(Formats, Colors) {
  Solution fused = solutionOf("1f1b", makeProblem("1f1b", 1, 1, 1));
  EXPECT_EQ(colored("stage 0: F0-..BW0\nname: F0\n", fused.schedule),
            "stage 0: \x1b[30;48;5;117mF0-\x1b[0m..\x1b[30;48;5;183mBW0\x1b[0m"
            "\nname: F0\n");
  // Without fused operations, B and W stand side by side.
  Solution split = solutionOf("zb-v", makeProblem("zb-v", 1, 2, 1));
  EXPECT_EQ(colored("stage 10: BW1 f", split.schedule),
            "stage 10: \x1b[30;48;5;115mB\x1b[0m\x1b[30;48;5;222mW1\x1b[0m "
            "\x1b[30;48;5;117mf\x1b[0m");
  EXPECT_EQ(colored("", split.schedule), "");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
class FormatsFile : public testing::Test, protected veeline::test::TempDir {};
} // namespace

TEST_F(FormatsFile, WrittenWhole) {
  ASSERT_TRUE(writeFile(path("a.txt"), "first"));
  ASSERT_TRUE(writeFile(path("a.txt"), "second"));
  EXPECT_EQ(read("a.txt"), "second");
  EXPECT_EQ(size(), 1u);
}

TEST_F(FormatsFile, NotWritten) {
  Status full = writeFile("/dev/full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message,
            "cannot write '/dev/full': No space left on device");
  EXPECT_FALSE(writeFile(path("missing/a.txt"), "text"));
  std::filesystem::create_directory(path("folder"));
  EXPECT_FALSE(writeFile(path("folder"), "text"));
}

TEST_F(FormatsFile, ReadByExtension) {
  ASSERT_TRUE(writeFile(path("a.csv"), "0F0,0B0\n"));
  ASSERT_TRUE(
      writeFile(path("a.json"), R"({"name": "x", "order": [["0F0", "0B0"]]})"));
  ASSERT_TRUE(writeFile(path("a.txt"), "0F0,0B0\n"));
  Expected<ImportedSchedule> csv = readScheduleFile(path("a.csv"));
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(csv->placement.kind(), PlacementKind::Linear);
  Expected<ImportedSchedule> json = readScheduleFile(path("a.json"));
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->schedule.stages, csv->schedule.stages);
  EXPECT_EQ(json->schedule.name, "x");
  EXPECT_FALSE(readScheduleFile(path("a.txt")));
  EXPECT_FALSE(readScheduleFile(path("missing.csv")));
  EXPECT_FALSE(readScheduleFile(path("")));
}
