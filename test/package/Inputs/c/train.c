/* Usage: train-c ARTIFACT PARAMETERS
   Trains a model of x: f32[8x4] and y: f32[8x1], in 4 microbatches, on values
   that it makes itself. */

#include "veeline-c/Training.h"

#include <stdio.h>

static int fail(VeelineStatus status) {
  fprintf(stderr, "error: %s\n", status.message ? status.message : "no memory");
  veelineStatusDestroy(status);
  return 1;
}

/* [docs: trainc] */
/* Each step has 4 microbatches of 8 samples, one after the other. */
enum { samples = 4 * 8 };

static VeelineStatus step(VeelineTraining training, int number, double *loss) {
  float x[samples][4], y[samples];
  for (int i = 0; i < samples; ++i) {
    for (int k = 0; k < 4; ++k)
      x[i][k] = (float)((7 * number + 5 * i + 3 * k) % 11) / 11 - 0.5F;
    y[i] = x[i][0] - x[i][3];
  }
  VeelineStatus status = veelineTrainingFeed(training, "x", x, sizeof(x));
  if (status.code == VeelineOk)
    status = veelineTrainingFeed(training, "y", y, sizeof(y));
  return status.code == VeelineOk ? veelineTrainingStep(training, loss)
                                  : status;
}

static int train(const char *artifact, const char *parameters) {
  const VeelineOption options[] = {{"lr", "1e-2"}, {"clip-value", "10"}};
  VeelineTraining training;
  VeelineStatus status = veelineTrainingOpen(artifact, options, 2, &training);
  if (status.code != VeelineOk)
    return fail(status);
  for (int number = 1; number <= 20 && status.code == VeelineOk; ++number) {
    double loss;
    status = step(training, number, &loss);
    if (status.code == VeelineOk)
      printf("step %d loss %.6f\n", number, loss);
  }
  if (status.code == VeelineOk)
    status = veelineTrainingSave(training, parameters);
  veelineTrainingDestroy(training);
  return status.code == VeelineOk ? 0 : fail(status);
}
/* [docs: end] */

int main(int argc, char **argv) {
  return argc == 3 ? train(argv[1], argv[2]) : 2;
}
