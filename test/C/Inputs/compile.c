/* Usage: compile MODEL OUTPUT
 * Compiles a model from memory, trains the artifact without a file, runs
 * passes, and shows what errors say.
 */

#include "veeline-c/Compile.h"
#include "veeline-c/Training.h"

#include <stdio.h>
#include <string.h>

static const char *const severities[] = {"error", "warning", "remark", "note"};

static void print(const VeelineDiagnostic *diagnostic, void *indent) {
  printf("%s%s %s:%d:%d: %s\n", (const char *)indent,
         severities[diagnostic->severity], diagnostic->file,
         (int)diagnostic->line, (int)diagnostic->column, diagnostic->message);
  for (size_t i = 0; i < diagnostic->numNotes; ++i)
    print(&diagnostic->notes[i], "  ");
}

/* Prints the status, and whether it is an error. */
static bool failed(const char *what, VeelineStatus status) {
  if (status.code == VeelineOk)
    return false;
  printf("%s: %d: %s\n", what, (int)status.code, status.message);
  veelineStatusDestroy(status);
  return true;
}

static char text[1 << 20];

static size_t readFile(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  size_t length = fread(text, 1, sizeof(text), file);
  fclose(file);
  return length;
}

static const VeelineOption options[] = {
    {"stages", "2"},      {"microbatches", "4"}, {"schedule", "zb-h1"},
    {"optimizer", "sgd"}, {"optimize", "0"},     {"evaluation", NULL}};
enum { numOptions = sizeof(options) / sizeof(*options) };

/* Trains on constant data. */
static int train(VeelineArtifact artifact) {
  VeelineTraining training;
  if (failed("open", veelineTrainingOpenInMemory(veelineArtifactData(artifact),
                                                 veelineArtifactSize(artifact),
                                                 NULL, 0, &training)))
    return 1;
  float x[4 * 8 * 4], y[4 * 8];
  for (size_t i = 0; i < sizeof(x) / sizeof(*x); ++i)
    x[i] = (float)(i % 7) - 3.0F;
  for (size_t i = 0; i < sizeof(y) / sizeof(*y); ++i)
    y[i] = x[4 * i] - x[4 * i + 3];
  double first = 0, loss = 0;
  for (int step = 0; step < 10; ++step) {
    if (failed("feed x", veelineTrainingFeed(training, "x", x, sizeof(x))) ||
        failed("feed y", veelineTrainingFeed(training, "y", y, sizeof(y))) ||
        failed("step", veelineTrainingStep(training, &loss)))
      return 1;
    if (step == 0)
      first = loss;
  }
  printf("10 steps: the loss %s\n", loss < first ? "falls" : "does not fall");
  veelineTrainingDestroy(training);
  return 0;
}

static VeelineArtifact none;

static void refuseOptions(VeelineModule module) {
  const struct {
    const char *what;
    VeelineOption option;
  } wrong[] = {
      {"name", {"stage", "2"}},        {"value", {"stages", "two"}},
      {"flag", {"evaluation", "yes"}}, {"no value", {"stages", NULL}},
      {"output", {"output", "a.vee"}}, {"help", {"help", NULL}},
      {"null", {NULL, NULL}},          {"schedule", {"schedule", "zb-h2x"}}};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i)
    failed(wrong[i].what,
           veelineModuleCompile(module, &wrong[i].option, 1, print, "", &none));
  size_t count = 0;
  bool hasStages = false;
  for (const char *name; (name = veelineCompileOptionAt(count)); ++count)
    hasStages |= strcmp(name, "stages") == 0;
  printf("%s options%s\n", count > 30 ? "more than 30" : "few",
         hasStages ? ", stages too" : "");
}

static void parse(const char *what, const char *source, const char *name) {
  VeelineModule module;
  if (!failed(what, veelineModuleParse(source, strlen(source), name, print, "",
                                       &module)))
    veelineModuleDestroy(module);
}

static void refuseModels(void) {
  parse("malformed", "func.func @f(%x: tensor<2xf32>) {\n  retrun\n}\n",
        "bad.mlir");
  parse("redefined", "func.func @f() {return}\nfunc.func @f() {return}\n",
        NULL);
  VeelineModule module;
  failed("file", veelineModuleRead("none.mlir", NULL, NULL, &module));
  const char *noLoss = "func.func @f(%x: tensor<2xf32> {pipe.batch = \"x\"}) "
                       "-> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n";
  if (failed("no loss: parse",
             veelineModuleParse(noLoss, strlen(noLoss), "no-loss.mlir", NULL,
                                NULL, &module)))
    return;
  failed("no loss", veelineModuleCompile(module, NULL, 0, print, "", &none));
  veelineModuleDestroy(module);
}

static void runPasses(VeelineModule module) {
  failed("pass", veelineModuleSetByPasses(module, "pipe-partitoin", print, ""));
  failed("option", veelineModuleSetByPasses(module, "pipe-partition{stgaes=2}",
                                            print, ""));
  failed("no option", veelineModuleSetByPasses(module, "cse{a=1}", NULL, NULL));
  failed("syntax", veelineModuleSetByPasses(module, "cse,,", print, ""));
  failed("fails", veelineModuleSetByPasses(module, "pipe-partition{stages=99}",
                                           print, ""));
  if (failed("passes",
             veelineModuleSetByPasses(module,
                                      "builtin.module(pipe-partition{stages=2},"
                                      "pipe-differentiate,canonicalize)",
                                      print, "")))
    return;
  VeelineString printed, bytecode;
  if (failed("text", veelineModuleToText(module, &printed)) ||
      failed("bytecode", veelineModuleToBytecode(module, &bytecode)))
    return;
  printf("%s a pipeline of 2 stages with backwards\n",
         strstr(printed.data, "stages(2)") &&
                 strstr(printed.data, "backward = ")
             ? "text: has"
             : "text: has not");
  VeelineModule again;
  VeelineString second;
  if (failed("read bytecode", veelineModuleParse(bytecode.data, bytecode.length,
                                                 NULL, print, "", &again)) ||
      failed("text", veelineModuleToText(again, &second)))
    return;
  printf("bytecode: %s\n", strcmp(printed.data, second.data)
                               ? "is another module"
                               : "is the same");
  veelineStringDestroy(printed);
  veelineStringDestroy(second);
  veelineStringDestroy(bytecode);
  veelineModuleDestroy(again);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  size_t length = readFile(argv[1]);
  VeelineModule module;
  VeelineArtifact artifact;
  if (failed("parse",
             veelineModuleParse(text, length, argv[1], print, "", &module)) ||
      failed("compile", veelineModuleCompile(module, options, numOptions, print,
                                             "", &artifact)) ||
      failed("save", veelineArtifactSave(artifact, argv[2])))
    return 1;
  failed("folder", veelineArtifactSave(artifact, "none/a.vee"));
  int code = train(artifact);
  veelineArtifactDestroy(artifact);
  veelineArtifactDestroy((VeelineArtifact){NULL});
  refuseOptions(module);
  refuseModels();
  runPasses(module);
  veelineModuleDestroy(module);
  printf("done\n");
  return code;
}
