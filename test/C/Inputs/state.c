/* Usage: state ARTIFACT begin|resume
   Trains steps 1 to 4 or 5 to 6 on x.bin and y.bin with clipping, a rate that
   goes down, and checkpoints in the folder "run"; prints each step, what it
   evaluates on other data, and what is refused. */

#include "veeline-c/Training.h"

#include "checks.h"

#include <string.h>

/* Of a step: 4 microbatches of 8 samples. */
enum { samples = 32 };
static float xs[6][samples][4], ys[6][samples];

static void readFile(const char *path, void *values, size_t bytes) {
  FILE *file = fopen(path, "rb");
  REQUIRE(file && fread(values, 1, bytes, file) == bytes);
  fclose(file);
}

static void step(VeelineTraining training, int64_t number) {
  SUCCEED(veelineTrainingFeed(training, "x", xs[number - 1], sizeof(xs[0])));
  SUCCEED(veelineTrainingFeed(training, "y", ys[number - 1], sizeof(ys[0])));
  double loss;
  SUCCEED(veelineTrainingStep(training, &loss));
  REQUIRE(veelineTrainingNumSteps(training) == number);
  VeelineStepInfo info = veelineTrainingLastStep(training);
  printf("step %d loss %.17g norm %.17g rate %.17g factor %.17g\n", (int)number,
         loss, info.gradientNorm, info.learningRate, info.clipFactor);
}

/* The data of step `number`, as they are evaluated after the last step. */
static void evaluate(VeelineTraining training, int64_t number) {
  double loss, results[4];
  SUCCEED(veelineTrainingFeedEvaluation(training, "x", xs[number - 1],
                                        sizeof(xs[0])));
  printFailure("half fed", veelineTrainingStepEvaluation(training, &loss));
  SUCCEED(veelineTrainingFeedEvaluation(training, "y", ys[number - 1],
                                        sizeof(ys[0])));
  SUCCEED(veelineTrainingStepEvaluation(training, &loss));
  SUCCEED(veelineTrainingGetEvaluatedResult(training, 0, results, 4));
  REQUIRE((results[0] + results[1] + results[2] + results[3]) / 4 == loss);
  printf("evaluated %.17g\n", loss);
}

static void printRemarks(VeelineTraining training) {
  VeelineString remarks;
  SUCCEED(veelineTrainingTakeRemarks(training, &remarks));
  printf("remarks: %s%s", remarks.data, remarks.length ? "" : "\n");
  veelineStringDestroy(remarks);
}

int main(int argc, char **argv) {
  REQUIRE(argc == 3);
  int resumes = strcmp(argv[2], "resume") == 0;
  readFile("x.bin", xs, sizeof(xs));
  readFile("y.bin", ys, sizeof(ys));
  const VeelineOption options[] = {
      {"lr", "1e-2"},         {"clip-norm", "0.5"}, {"lr-schedule", "linear"},
      {"warmup", "2"},        {"steps", "6"},       {"checkpoint", "run"},
      {"every", "3"},         {"keep", "1"},        {"resume", "run"},
      {"weight-decay", "0.1"}};
  enum { withoutResume = 8, all = 10 };
  VeelineTraining training, none = {NULL};
  if (!resumes) {
    printFailure("no last step",
                 veelineTrainingOpen(argv[1], options, 4, &none));
    printFailure("no folder",
                 veelineTrainingOpen(argv[1], options, all, &none));
    REQUIRE(!none.ptr);
  } else {
    printFailure("of another run",
                 veelineTrainingOpen(argv[1], options, withoutResume, &none));
    REQUIRE(!none.ptr);
    SUCCEED(veelineTrainingOpen(argv[1], options, all, &none));
    printRemarks(none);
    veelineTrainingDestroy(none);
  }
  SUCCEED(veelineTrainingOpen(argv[1], options,
                              resumes ? withoutResume + 1 : withoutResume,
                              &training));
  printRemarks(training);
  printFailure("nothing yet", veelineTrainingCheckpoint(training));
  for (int64_t number = resumes ? 5 : 1; number <= (resumes ? 6 : 4); ++number)
    step(training, number);
  evaluate(training, 1);
  SUCCEED(veelineTrainingCheckpoint(training));
  SUCCEED(veelineTrainingCheckpoint(training));
  if (resumes) {
    double loss;
    printFailure("over", veelineTrainingStep(training, &loss));
    SUCCEED(veelineTrainingSave(training, "resumed.safetensors"));
  }
  veelineTrainingDestroy(training);
  puts("done");
  return 0;
}
