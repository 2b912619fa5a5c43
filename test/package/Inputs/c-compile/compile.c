/* Usage: compile-c MODEL
   Compiles a model of x: f32[8x4] and y: f32[8x1], and trains it on values that
   it makes itself, without a file. */

#include "veeline-c/Compile.h"
#include "veeline-c/Training.h"

#include <stdio.h>

static int fail(VeelineStatus status) {
  fprintf(stderr, "error: %s\n", status.message ? status.message : "no memory");
  veelineStatusDestroy(status);
  return 1;
}

static int train(VeelineTraining training) {
  static float x[4 * 8 * 4], y[4 * 8];
  for (int step = 1; step <= 20; ++step) {
    for (int i = 0; i < 4 * 8 * 4; ++i)
      x[i] = (float)((7 * step + 3 * i) % 11) / 11 - 0.5F;
    for (int i = 0; i < 4 * 8; ++i)
      y[i] = x[4 * i] - x[4 * i + 3];
    double loss;
    VeelineStatus status = veelineTrainingFeed(training, "x", x, sizeof(x));
    if (status.code == VeelineOk)
      status = veelineTrainingFeed(training, "y", y, sizeof(y));
    if (status.code == VeelineOk)
      status = veelineTrainingStep(training, &loss);
    if (status.code != VeelineOk)
      return fail(status);
    printf("step %d loss %.6f\n", step, loss);
  }
  return 0;
}

/* [docs: compilec] */
static void print(const VeelineDiagnostic *diagnostic, void *userData) {
  (void)userData;
  fprintf(stderr, "%s:%d: %s\n", diagnostic->file, (int)diagnostic->line,
          diagnostic->message);
  for (size_t i = 0; i < diagnostic->numNotes; ++i)
    print(&diagnostic->notes[i], userData);
}

/* The artifact of a model, which the caller destroys. */
static VeelineStatus compile(const char *path, VeelineArtifact *artifact) {
  VeelineModule module;
  VeelineStatus status = veelineModuleRead(path, print, NULL, &module);
  if (status.code != VeelineOk)
    return status;
  const VeelineOption options[] = {
      {"stages", "2"}, {"microbatches", "4"}, {"schedule", "zb-h1"}};
  status = veelineModuleCompile(module, options, 3, print, NULL, artifact);
  veelineModuleDestroy(module);
  return status;
}

static VeelineStatus open(const char *path, VeelineTraining *training) {
  VeelineArtifact artifact;
  VeelineStatus status = compile(path, &artifact);
  if (status.code != VeelineOk)
    return status;
  status = veelineTrainingOpenInMemory(veelineArtifactData(artifact),
                                       veelineArtifactSize(artifact), NULL, 0,
                                       training);
  veelineArtifactDestroy(artifact);
  return status;
}
/* [docs: end] */

int main(int argc, char **argv) {
  VeelineTraining training;
  VeelineStatus status = open(argc > 1 ? argv[1] : "", &training);
  if (status.code != VeelineOk)
    return fail(status);
  int code = train(training);
  veelineTrainingDestroy(training);
  return code;
}
