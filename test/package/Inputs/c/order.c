/* Makes a schedule, and says how long it takes: without MLIR, in C. */

#include "veeline-c/Schedule.h"

#include <stdio.h>

/* [docs: order] */
static int fail(VeelineStatus status) {
  fprintf(stderr, "error: %s\n", status.message ? status.message : "no memory");
  veelineStatusDestroy(status);
  return 1;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "zb-v";
  VeelineProblemOptions options = veelineProblemOptionsGet(name, 4, 8);
  options.chunksPerStage = 2;
  options.cost = (VeelineCosts){2, 2, 2};
  VeelineProblem problem;
  VeelineStatus status = veelineProblemCreate(&options, &problem);
  if (status.code != VeelineOk)
    return fail(status);
  VeelineSchedule schedule;
  status = veelineScheduleGenerate(problem, name, NULL, &schedule);
  veelineProblemDestroy(problem);
  if (status.code != VeelineOk)
    return fail(status);
  VeelineSimulation simulation;
  status = veelineScheduleSimulate(schedule, NULL, &simulation);
  veelineScheduleDestroy(schedule);
  if (status.code != VeelineOk)
    return fail(status);
  printf("%s: %g\n", name, veelineSimulationGet(simulation).makespan);
  veelineSimulationDestroy(simulation);
  return 0;
}
/* [docs: end] */
