/* Usage: scaled ARTIFACT OTHER
   Trains an artifact that scales its loss, whose scale is doubled after two
   steps, and feeds it something infinite. OTHER scales nothing. */

#include "veeline-c/Training.h"

#include "checks.h"

#include <math.h>
#include <string.h>

static VeelineStepInfo step(VeelineTraining training, float first) {
  float x[32][4] = {{first, 1, 1, 1}}, y[32] = {0.5F};
  SUCCEED(veelineTrainingFeed(training, "x", x, sizeof(x)));
  SUCCEED(veelineTrainingFeed(training, "y", y, sizeof(y)));
  SUCCEED(veelineTrainingStep(training, NULL));
  return veelineTrainingLastStep(training);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const VeelineOption options[] = {{"initial-loss-scale", "4096"},
                                   {"loss-scale-window", "2"},
                                   {"loss-scale", "1024"}};
  VeelineTraining training, none = {NULL};
  SUCCEED(veelineTrainingOpen(argv[1], options, 2, &training));
  float value[4] = {0};
  printFailure("evaluation",
               veelineTrainingFeedEvaluation(training, "x", value, 4));
  VeelineStepInfo steps[4];
  for (int i = 0; i < 4; ++i)
    steps[i] = step(training, 1);
  printf("scale %g %g %g %g factors %g %g %g %g\n", steps[0].lossScale,
         steps[1].lossScale, steps[2].lossScale, steps[3].lossScale,
         steps[0].clipFactor, steps[1].clipFactor, steps[2].clipFactor,
         steps[3].clipFactor);
  float before[16], after[16];
  SUCCEED(veelineTrainingGetParameter(training, 1, before, sizeof(before)));
  VeelineStepInfo infinite = step(training, INFINITY);
  SUCCEED(veelineTrainingGetParameter(training, 1, after, sizeof(after)));
  printf("infinite: factor %g, the parameter is %s\n", infinite.clipFactor,
         memcmp(before, after, sizeof(before)) ? "changed" : "unchanged");
  printFailure("not scaled",
               veelineTrainingOpen(argv[2], &options[2], 1, &none));
  printFailure("no folder", veelineTrainingCheckpoint(training));
  veelineTrainingDestroy(training);
  puts("done");
  return 0;
}
