/* Checks every function of veeline-c/Schedule.h, and prints what FileCheck
   looks at. */

#include "veeline-c/Schedule.h"

#include "checks.h"

#include <string.h>

static VeelineProblem makeProblem(const char *name, int stages,
                                  int microbatches, double limit) {
  VeelineProblemOptions options =
      veelineProblemOptionsGet(name, stages, microbatches);
  options.memoryLimit = limit;
  VeelineProblem problem;
  SUCCEED(veelineProblemCreate(&options, &problem));
  return problem;
}

static VeelineSchedule generate(VeelineProblem problem, const char *name) {
  VeelineSchedule schedule;
  SUCCEED(veelineScheduleGenerate(problem, name, NULL, &schedule));
  return schedule;
}

/* The times of all ops agree with the makespan, and no op of a rank begins
   before the one before it ends. */
static void checkTimes(VeelineSchedule schedule) {
  VeelineSimulation simulation;
  SUCCEED(veelineScheduleSimulate(schedule, NULL, &simulation));
  VeelinePrediction prediction = veelineSimulationGet(simulation);
  double last = 0;
  int64_t most = 0;
  for (int rank = 0; rank < veelineScheduleNumRanks(schedule); ++rank) {
    VeelineOp ops[64];
    double starts[64], ends[64];
    int64_t memory[64];
    size_t count = veelineScheduleNumOps(schedule, rank);
    REQUIRE(count > 0 && count <= 64);
    SUCCEED(veelineScheduleGetOps(schedule, rank, ops, 64));
    SUCCEED(veelineSimulationGetTimes(simulation, rank, starts, ends, memory,
                                      count));
    SUCCEED(veelineSimulationGetTimes(simulation, rank, NULL, ends, NULL, 64));
    VeelineRankPrediction own;
    SUCCEED(veelineSimulationGetRank(simulation, rank, &own));
    double busy = 0;
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(i == 0 || starts[i] >= ends[i - 1]);
      busy += ends[i] - starts[i];
      if (memory[i] > most)
        most = memory[i];
    }
    REQUIRE(own.busy == busy && own.firstStart == starts[0]);
    REQUIRE(own.lastEnd == ends[count - 1] && own.peakMemory > 0);
    if (ends[count - 1] > last)
      last = ends[count - 1];
    VeelineStatus status =
        veelineScheduleGetOps(schedule, rank, ops, count - 1);
    REQUIRE(status.code == VeelineInvalid);
    veelineStatusDestroy(status);
  }
  REQUIRE(prediction.makespan == last && prediction.peakMemory == most);
  REQUIRE(prediction.bubbleMakespan > 0 && prediction.bubbleMakespan < 1);
  printf("makespan %g, span %g\n", prediction.makespan, prediction.span);
  printFailure("no rank",
               veelineSimulationGetTimes(simulation, 9, NULL, NULL, NULL, 0));
  veelineSimulationDestroy(simulation);
}

/* What is written is read as the same. */
static void checkText(VeelineSchedule schedule, VeelineProblem problem) {
  const char *formats[] = {"csv", "json"};
  for (int i = 0; i < 2; ++i) {
    VeelineString text, again;
    SUCCEED(veelineScheduleToText(schedule, formats[i], &text));
    REQUIRE(strlen(text.data) == text.length);
    VeelineSchedule read;
    SUCCEED(veelineScheduleRead(formats[i], text.data, text.length, "a.file",
                                problem, &read));
    SUCCEED(veelineScheduleVerify(read));
    SUCCEED(veelineScheduleToText(read, "csv", &again));
    if (i == 0) {
      REQUIRE(strcmp(text.data, again.data) == 0);
      printf("%.20s\n", text.data);
    }
    veelineScheduleDestroy(read);
    veelineStringDestroy(text);
    veelineStringDestroy(again);
  }
  VeelineString picture;
  SUCCEED(veelineScheduleToText(schedule, "svg", &picture));
  REQUIRE(strncmp(picture.data, "<svg", 4) == 0);
  veelineStringDestroy(picture);
  const char *others[] = {"html", "trace", "text"};
  for (int i = 0; i < 3; ++i) {
    SUCCEED(veelineScheduleToText(schedule, others[i], &picture));
    REQUIRE(picture.length > 100);
    veelineStringDestroy(picture);
  }
  printFailure("format", veelineScheduleToText(schedule, "png", &picture));
}

/* A chunk that takes twice as long, a message that takes time, and a limit. */
static void checkCosts(void) {
  VeelineProblem problem = makeProblem("1f1b", 2, 3, -1);
  REQUIRE(veelineProblemNumStages(problem) == 2);
  REQUIRE(veelineProblemNumChunks(problem) == 2);
  REQUIRE(veelineProblemNumMicrobatches(problem) == 3);
  REQUIRE(veelineProblemStageOfChunk(problem, 1) == 1);
  REQUIRE(veelineProblemStageOfChunk(problem, 2) == -1);
  VeelineChunk chunk;
  SUCCEED(veelineProblemGetChunk(problem, 1, &chunk));
  REQUIRE(chunk.forward == 1 && chunk.forwardMemory == veelineActivationUnit);
  chunk.forward = 5;
  chunk.backwardInput = 7;
  SUCCEED(veelineProblemSetChunk(problem, 1, &chunk));
  VeelineEdge edge = {0, 1, 0.5, 0.25, true};
  SUCCEED(veelineProblemSetEdges(problem, &edge, 1));
  VeelineSchedule schedule = generate(problem, "1f1b");
  VeelineSimulation simulation;
  SUCCEED(veelineScheduleSimulate(schedule, NULL, &simulation));
  /* F, the message, three turns of the second stage, the message, BW. */
  REQUIRE(veelineSimulationGet(simulation).makespan ==
          1 + 0.5 + 3 * (5 + 7 + 1) + 0.25 + 2);
  veelineSimulationDestroy(simulation);
  VeelineSimulateOptions blocking = {true, false};
  SUCCEED(veelineScheduleSimulate(schedule, &blocking, &simulation));
  REQUIRE(veelineSimulationGet(simulation).makespan >=
          1 + 0.5 + 3 * (5 + 7 + 1) + 0.25 + 2);
  REQUIRE(veelineSimulationGet(simulation).period == 0);
  veelineSimulationDestroy(simulation);
  VeelineProblem copy;
  SUCCEED(veelineScheduleCopyProblem(schedule, &copy));
  veelineScheduleDestroy(schedule);
  SUCCEED(veelineProblemGetChunk(copy, 1, &chunk));
  REQUIRE(chunk.forward == 5);

  int64_t limits[] = {veelineActivationUnit, veelineActivationUnit};
  SUCCEED(veelineProblemSetMemoryUnit(copy, veelineActivationUnit, "layers"));
  SUCCEED(veelineProblemSetMemoryLimits(copy, limits, 2));
  printFailure("limit",
               veelineScheduleGenerate(copy, "gpipe", NULL, &schedule));
  SUCCEED(veelineProblemSetMemoryLimits(copy, NULL, 0));
  edge.to = 7;
  SUCCEED(veelineProblemSetEdges(copy, &edge, 1));
  printFailure("edge", veelineScheduleGenerate(copy, "gpipe", NULL, &schedule));
  printFailure("chunk", veelineProblemGetChunk(copy, 2, &chunk));
  veelineProblemDestroy(copy);
  veelineProblemDestroy(problem);
}

static void checkFailures(void) {
  VeelineProblem problem = {NULL};
  VeelineSchedule schedule = {NULL};
  VeelineProblemOptions options = veelineProblemOptionsGet("1f2b", 2, 2);
  printFailure("name", veelineProblemCreate(&options, &problem));
  options.schedule = "1f1b";
  options.chunksPerStage = 3;
  printFailure("chunks", veelineProblemCreate(&options, &problem));
  options.chunksPerStage = 0;
  options.microbatches = -1;
  printFailure("microbatches", veelineProblemCreate(&options, &problem));
  options.schedule = NULL;
  printFailure("null", veelineProblemCreate(&options, &problem));
  REQUIRE(!problem.ptr);
  printFailure("no problem",
               veelineScheduleGenerate(problem, "1f1b", NULL, &schedule));
  const char *wrong = "0F0,0B0\n1F0,1X0\n";
  printFailure("cell", veelineScheduleRead("csv", wrong, strlen(wrong), "a.csv",
                                           problem, &schedule));
  const char *twice = "0F0,0F0,0B0\n1F0,1B0\n";
  SUCCEED(veelineScheduleRead("csv", twice, strlen(twice), "a.csv", problem,
                              &schedule));
  printFailure("twice", veelineScheduleVerify(schedule));
  VeelineString text;
  printFailure("not drawn", veelineScheduleToText(schedule, "svg", &text));
  VeelineSimulation simulation;
  printFailure("not simulated",
               veelineScheduleSimulate(schedule, NULL, &simulation));
  veelineScheduleDestroy(schedule);
  problem = makeProblem("1f1b", 3, 2, -1);
  const char *two = "0F0,0B0\n1F0,1B0\n";
  printFailure("other problem",
               veelineScheduleRead("csv", two, strlen(two), "a.csv", problem,
                                   &schedule));
  printFailure("reader", veelineScheduleRead("svg", two, strlen(two), "a.csv",
                                             problem, &schedule));
  veelineProblemDestroy(problem);
  veelineProblemDestroy((VeelineProblem){NULL});
  veelineScheduleDestroy((VeelineSchedule){NULL});
  veelineSimulationDestroy((VeelineSimulation){NULL});
}

/* A limit that gpipe meets by letting activations wait in the host's memory. */
static void checkOffloads(void) {
  VeelineProblemOptions options = veelineProblemOptionsGet("gpipe", 2, 8);
  options.memoryLimit = 4;
  options.offloadTime = 0.5;
  VeelineProblem problem;
  SUCCEED(veelineProblemCreate(&options, &problem));
  VeelineChunk chunk;
  SUCCEED(veelineProblemGetChunk(problem, 1, &chunk));
  REQUIRE(chunk.offloadMemory == veelineActivationUnit &&
          chunk.offloadTime == 0.5);
  VeelineGenerateOptions generating = veelineGenerateOptionsGet();
  generating.offload = true;
  VeelineSchedule schedule;
  SUCCEED(veelineScheduleGenerate(problem, "gpipe", &generating, &schedule));
  SUCCEED(veelineScheduleVerify(schedule));
  VeelineOffload offloads[8];
  size_t count = veelineScheduleNumOffloads(schedule, 0);
  REQUIRE(count >= 4 && count <= 8 && !veelineScheduleNumOffloads(schedule, 2));
  SUCCEED(veelineScheduleGetOffloads(schedule, 0, offloads, count));
  for (size_t i = 0; i < count; ++i)
    REQUIRE(offloads[i].chunk == 0 &&
            offloads[i].leaves > offloads[i].microbatch &&
            offloads[i].returns > offloads[i].leaves);
  printFailure("room", veelineScheduleGetOffloads(schedule, 0, offloads, 1));
  printFailure("rank", veelineScheduleGetOffloads(schedule, 2, offloads, 8));
  veelineScheduleDestroy(schedule);
  chunk.offloadMemory *= 2;
  SUCCEED(veelineProblemSetChunk(problem, 1, &chunk));
  printFailure("too much", veelineScheduleGenerate(problem, "gpipe",
                                                   &generating, &schedule));
  veelineProblemDestroy(problem);
}

/* A backward whose recomputation runs ahead of it, described by options. */
static void checkRecompute(void) {
  VeelineProblemOptions options = veelineProblemOptionsGet("1f1b", 2, 4);
  options.recompute = 1;
  options.recomputeActivation = 0.875;
  options.activation = (VeelineCosts){0.125, 0, -1};
  VeelineProblem problem;
  SUCCEED(veelineProblemCreate(&options, &problem));
  VeelineChunk chunk;
  SUCCEED(veelineProblemGetChunk(problem, 0, &chunk));
  REQUIRE(chunk.hasRecompute && chunk.recompute == 1 &&
          chunk.recomputeMemory == veelineActivationUnit / 8 * 7);
  veelineScheduleDestroy(generate(problem, "1f1b"));
  veelineProblemDestroy(problem);
  options.recomputeActivation = 0;
  printFailure("recompute", veelineProblemCreate(&options, &problem));
}

/* Every schedule by its name, with the least that it takes. */
static void checkNames(void) {
  size_t count = veelineNumSchedules();
  REQUIRE(count > 10 && !veelineScheduleNameAt(count));
  for (size_t i = 0; i < count; ++i) {
    const char *name = veelineScheduleNameAt(i);
    VeelineProblem problem = makeProblem(name, 2, 4, -1);
    VeelineSchedule schedule = generate(problem, name);
    veelineProblemDestroy(problem);
    SUCCEED(veelineScheduleVerify(schedule));
    REQUIRE(strcmp(veelineScheduleName(schedule), name) == 0);
    for (size_t k = 0; veelineScheduleWarning(schedule, k); ++k)
      REQUIRE(strlen(veelineScheduleWarning(schedule, k)) > 0);
    VeelineString picture;
    SUCCEED(veelineScheduleToText(schedule, "svg", &picture));
    veelineStringDestroy(picture);
    veelineScheduleDestroy(schedule);
  }
  printf("%d schedules\n", (int)count);
}

int main(void) {
  VeelineProblem problem = makeProblem("zb-h1", 3, 6, -1);
  VeelineSchedule schedule = generate(problem, "zb-h1");
  checkTimes(schedule);
  checkText(schedule, problem);
  checkText(schedule, (VeelineProblem){NULL});
  veelineScheduleDestroy(schedule);
  veelineProblemDestroy(problem);
  checkCosts();
  checkOffloads();
  checkRecompute();
  checkNames();
  checkFailures();
  puts("done");
  return 0;
}
