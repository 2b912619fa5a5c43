/* Usage: training ARTIFACT STEPS
   Trains on x.bin and y.bin, prints each step, and writes params.safetensors.
   Checks the rest of veeline-c/Training.h on the way. */

#include "veeline-c/Training.h"

#include "checks.h"

#include <math.h>
#include <string.h>

typedef struct Bytes {
  char *data;
  size_t size;
} Bytes;

static Bytes readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  REQUIRE(file && fseek(file, 0, SEEK_END) == 0);
  Bytes bytes = {NULL, (size_t)ftell(file)};
  rewind(file);
  bytes.data = malloc(bytes.size);
  REQUIRE(bytes.data && fread(bytes.data, 1, bytes.size, file) == bytes.size);
  fclose(file);
  return bytes;
}

/* The data of 4 microbatches of 8 samples. */
static Bytes xs, ys;
enum { samplesPerStep = 32 };

static void feed(VeelineTraining training, int step) {
  size_t x = samplesPerStep * 4 * sizeof(float);
  size_t y = samplesPerStep * sizeof(float);
  REQUIRE((size_t)step * x <= xs.size && (size_t)step * y <= ys.size);
  SUCCEED(veelineTrainingFeed(training, "x", xs.data + (step - 1) * x, x));
  SUCCEED(veelineTrainingFeed(training, "y", ys.data + (step - 1) * y, y));
}

static void describe(VeelineTraining training, VeelineTensorKind kind) {
  static const char *const kinds[] = {"parameter", "batch", "buffer", "result"};
  for (size_t i = 0; i < veelineTrainingNumTensors(training, kind); ++i) {
    VeelineTensorInfo info;
    SUCCEED(veelineTrainingGetTensorInfo(training, kind, i, &info));
    printf("%s %s %s[", kinds[kind], info.name, info.type);
    for (size_t k = 0; k < info.rank; ++k)
      printf(k ? "x%d" : "%d", (int)info.shape[k]);
    printf("] %d bytes\n", (int)info.bytes);
  }
}

/* The parameters of one training go to another one, whose next loss is then the
   same to the last bit. */
static void copyParameters(VeelineTraining from, VeelineTraining to) {
  size_t count = veelineTrainingNumTensors(from, VeelineTensorParameter);
  REQUIRE(count == 2);
  for (size_t i = 0; i < count; ++i) {
    VeelineTensorInfo info;
    SUCCEED(
        veelineTrainingGetTensorInfo(from, VeelineTensorParameter, i, &info));
    char *values = malloc(info.bytes), *again = malloc(info.bytes);
    REQUIRE(values && again);
    SUCCEED(veelineTrainingGetParameter(from, i, values, info.bytes));
    SUCCEED(veelineTrainingGetParameter(to, i, again, info.bytes));
    REQUIRE(memcmp(values, again, info.bytes) != 0);
    SUCCEED(veelineTrainingSetParameter(to, i, values, info.bytes));
    SUCCEED(veelineTrainingGetParameter(to, i, again, info.bytes));
    REQUIRE(memcmp(values, again, info.bytes) == 0);
    free(values);
    free(again);
  }
}

static double stepAt(VeelineTraining training, int step) {
  feed(training, step);
  double loss = NAN;
  SUCCEED(veelineTrainingStep(training, &loss));
  return loss;
}

static void checkFailures(const char *artifact, VeelineTraining training) {
  double loss = 0, results[4];
  float values[4] = {0, 0, 0, 0};
  VeelineTensorInfo info;
  VeelineTraining none = {NULL};
  printFailure("not fed", veelineTrainingStep(training, &loss));
  printFailure("name", veelineTrainingFeed(training, "xx", values, 16));
  printFailure("bytes", veelineTrainingFeed(training, "x", values, 16));
  printFailure("parameter",
               veelineTrainingGetParameter(training, 2, values, 4));
  printFailure("size", veelineTrainingSetParameter(training, 0, values, 16));
  printFailure("no step", veelineTrainingGetResult(training, 0, results, 4));
  printFailure("tensor", veelineTrainingGetTensorInfo(
                             training, VeelineTensorResult, 1, &info));
  printFailure("folder", veelineTrainingSave(training, "none/a.safetensors"));
  printFailure("file", veelineTrainingOpen("none.vee", NULL, 0, &none));
  printFailure("memory",
               veelineTrainingOpenInMemory("text", 4, NULL, 0, &none));
  const struct {
    const char *what;
    VeelineOption option;
  } wrong[] = {
      {"program", {"program", "pipelin"}}, {"source", {"synthetic", "zeros"}},
      {"argument", {"data", "z=random"}},  {"option", {"weigth-decay", "0"}},
      {"value", {"clip-norm", "-1"}},      {"flag", {"drop-last", "no"}},
      {"nothing", {"lr", NULL}},           {"null", {NULL, NULL}},
      {"of the loop", {"epochs", "2"}}};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i)
    printFailure(wrong[i].what,
                 veelineTrainingOpen(artifact, &wrong[i].option, 1, &none));
  REQUIRE(!none.ptr && veelineTrainingNumSteps(training) == 0);
  veelineTrainingDestroy(none);
}

int main(int argc, char **argv) {
  REQUIRE(argc == 3);
  int steps = atoi(argv[2]);
  xs = readFile("x.bin");
  ys = readFile("y.bin");
  Bytes artifact = readFile(argv[1]);

  const VeelineOption options[] = {
      {"lr", "1e-2"}, {"momentum", "0"}, {"seed", "7"}};
  VeelineTraining training, other;
  SUCCEED(veelineTrainingOpen(argv[1], options, 2, &training));
  SUCCEED(veelineTrainingOpenInMemory(artifact.data, artifact.size, options, 3,
                                      &other));
  memset(artifact.data, 0, artifact.size);
  free(artifact.data);
  for (int kind = VeelineTensorParameter; kind <= VeelineTensorResult; ++kind)
    describe(training, (VeelineTensorKind)kind);
  REQUIRE(veelineTrainingNumMicrobatches(training) == 4);
  checkFailures(argv[1], training);

  for (int step = 1; step <= steps; ++step) {
    if (step == steps)
      copyParameters(training, other);
    double loss = stepAt(training, step), results[4];
    printf("step %d loss %.17g norm %.17g\n", step, loss,
           veelineTrainingLastStep(training).gradientNorm);
    SUCCEED(veelineTrainingGetResult(training, 0, results, 4));
    REQUIRE((results[0] + results[1] + results[2] + results[3]) / 4 == loss);
    double same = stepAt(other, step);
    REQUIRE((same == loss) == (step == steps));
  }
  REQUIRE(veelineTrainingNumSteps(training) == steps);
  double few[3];
  printFailure("room", veelineTrainingGetResult(training, 0, few, 3));
  SUCCEED(veelineTrainingSave(training, "params.safetensors"));
  /* A rate of 0 changes nothing. */
  printFailure("rate", veelineTrainingSetLearningRate(other, NAN));
  SUCCEED(veelineTrainingSetLearningRate(other, 0));
  double loss = stepAt(other, 1);
  REQUIRE(loss == stepAt(other, 1));
  veelineTrainingDestroy(training);
  veelineTrainingDestroy(other);
  free(xs.data);
  free(ys.data);
  puts("done");
  return 0;
}
