/* Every pointer that a function of the C API needs, as NULL. */

#include "checks.h"
#include "veeline-c/Compile.h"
#include "veeline-c/Schedule.h"
#include "veeline-c/Training.h"

#include <string.h>

static int refused = 0;

/* An error of this name, and no crash. */
static void refuse(VeelineStatus status, const char *name, int line) {
  char expected[64];
  snprintf(expected, sizeof(expected), "'%s' is null", name);
  if (status.code != VeelineInvalid || strcmp(status.message, expected) != 0) {
    fprintf(stderr, "line %d: expected \"%s\", found %d \"%s\"\n", line,
            expected, (int)status.code, status.message ? status.message : "");
    exit(1);
  }
  veelineStatusDestroy(status);
  ++refused;
}
#define REFUSE(name, call) refuse(call, name, __LINE__)

static void checkProblems(VeelineProblem problem) {
  VeelineProblemOptions options = veelineProblemOptionsGet(NULL, 2, 4);
  VeelineProblem other;
  REFUSE("options", veelineProblemCreate(NULL, &other));
  REFUSE("options->schedule", veelineProblemCreate(&options, &other));
  options.schedule = "1f1b";
  REFUSE("problem", veelineProblemCreate(&options, NULL));
  REFUSE("values", veelineProblemGetChunk(problem, 0, NULL));
  REFUSE("values", veelineProblemSetChunk(problem, 0, NULL));
  REFUSE("edges", veelineProblemSetEdges(problem, NULL, 3));
  REFUSE("limits", veelineProblemSetMemoryLimits(problem, NULL, 2));
  SUCCEED(veelineProblemSetMemoryLimits(problem, NULL, 0));
  REFUSE("name", veelineProblemSetMemoryUnit(problem, 1, NULL));
}

static void checkSchedules(void) {
  VeelineProblemOptions options = veelineProblemOptionsGet("1f1b", 2, 4);
  VeelineProblem problem;
  SUCCEED(veelineProblemCreate(&options, &problem));
  checkProblems(problem);
  VeelineSchedule schedule;
  REFUSE("problem", veelineScheduleGenerate((VeelineProblem){NULL}, "1f1b",
                                            NULL, &schedule));
  REFUSE("name", veelineScheduleGenerate(problem, NULL, NULL, &schedule));
  REFUSE("schedule", veelineScheduleGenerate(problem, "1f1b", NULL, NULL));
  SUCCEED(veelineScheduleGenerate(problem, "1f1b", NULL, &schedule));
  REFUSE("format", veelineScheduleRead(NULL, "", 0, "a", problem, &schedule));
  REFUSE("text", veelineScheduleRead("csv", NULL, 1, "a", problem, &schedule));
  REFUSE("schedule", veelineScheduleRead("csv", "", 0, "a", problem, NULL));
  REFUSE("problem", veelineScheduleCopyProblem(schedule, NULL));
  REFUSE("ops", veelineScheduleGetOps(schedule, 0, NULL, 64));
  REFUSE("offloads", veelineScheduleGetOffloads(schedule, 0, NULL, 64));
  VeelineString text;
  REFUSE("format", veelineScheduleToText(schedule, NULL, &text));
  REFUSE("text", veelineScheduleToText(schedule, "csv", NULL));
  REFUSE("simulation", veelineScheduleSimulate(schedule, NULL, NULL));
  VeelineSimulation simulation;
  SUCCEED(veelineScheduleSimulate(schedule, NULL, &simulation));
  REFUSE("prediction", veelineSimulationGetRank(simulation, 0, NULL));
  /* Each of the three may be left out. */
  SUCCEED(veelineSimulationGetTimes(simulation, 0, NULL, NULL, NULL, 64));
  veelineSimulationDestroy(simulation);
  veelineScheduleDestroy(schedule);
  veelineProblemDestroy(problem);
}

static VeelineArtifact checkModules(const char *path) {
  VeelineModule module;
  REFUSE("text", veelineModuleParse(NULL, 1, NULL, NULL, NULL, &module));
  REFUSE("module", veelineModuleParse("", 0, NULL, NULL, NULL, NULL));
  REFUSE("path", veelineModuleRead(NULL, NULL, NULL, &module));
  REFUSE("module", veelineModuleRead(path, NULL, NULL, NULL));
  SUCCEED(veelineModuleRead(path, NULL, NULL, &module));
  REFUSE("passes", veelineModuleSetByPasses(module, NULL, NULL, NULL));
  REFUSE("text", veelineModuleToText(module, NULL));
  REFUSE("bytecode", veelineModuleToBytecode(module, NULL));
  VeelineOption options[] = {{"stages", "2"},
                             {"microbatches", "4"},
                             {"optimizer", "sgd"},
                             {"optimize", "0"},
                             {"evaluation", NULL}};
  VeelineArtifact artifact;
  REFUSE("options",
         veelineModuleCompile(module, NULL, 3, NULL, NULL, &artifact));
  REFUSE("artifact",
         veelineModuleCompile(module, options, 5, NULL, NULL, NULL));
  SUCCEED(veelineModuleCompile(module, options, 5, NULL, NULL, &artifact));
  REFUSE("path", veelineArtifactSave(artifact, NULL));
  veelineModuleDestroy(module);
  return artifact;
}

static void checkTraining(VeelineArtifact artifact) {
  const void *data = veelineArtifactData(artifact);
  size_t size = veelineArtifactSize(artifact);
  VeelineTraining training;
  REFUSE("path", veelineTrainingOpen(NULL, NULL, 0, &training));
  REFUSE("options", veelineTrainingOpen("a.vee", NULL, 2, &training));
  REFUSE("training", veelineTrainingOpen("a.vee", NULL, 0, NULL));
  REFUSE("artifact", veelineTrainingOpenInMemory(NULL, 10, NULL, 0, &training));
  REFUSE("training", veelineTrainingOpenInMemory(data, size, NULL, 0, NULL));
  SUCCEED(veelineTrainingOpenInMemory(data, size, NULL, 0, &training));
  REFUSE("info", veelineTrainingGetTensorInfo(training, VeelineTensorParameter,
                                              0, NULL));
  REFUSE("name", veelineTrainingFeed(training, NULL, "", 1));
  REFUSE("values", veelineTrainingFeed(training, "x", NULL, 8));
  REFUSE("name", veelineTrainingFeedEvaluation(training, NULL, "", 1));
  REFUSE("values", veelineTrainingFeedEvaluation(training, "x", NULL, 8));
  REFUSE("values", veelineTrainingGetResult(training, 0, NULL, 4));
  REFUSE("values", veelineTrainingGetEvaluatedResult(training, 0, NULL, 4));
  REFUSE("values", veelineTrainingGetParameter(training, 0, NULL, 256));
  REFUSE("values", veelineTrainingSetParameter(training, 0, NULL, 256));
  REFUSE("remarks", veelineTrainingTakeRemarks(training, NULL));
  REFUSE("path", veelineTrainingSave(training, NULL));
  /* The place of a loss may be left out; nothing was fed. */
  printFailure("step", veelineTrainingStep(training, NULL));
  veelineTrainingDestroy(training);
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  checkSchedules();
  VeelineArtifact artifact = checkModules(argv[1]);
  checkTraining(artifact);
  veelineArtifactDestroy(artifact);
  printf("%d null pointers are refused\n", refused);
  return 0;
}
