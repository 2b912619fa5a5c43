/* Usage: mlir MODEL
 * A program that uses MLIR's C API runs Veeline's passes, and compiles a module
 * of its own.
 */

#include "veeline-c/Mlir.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

#include <stdio.h>
#include <string.h>

static char text[1 << 20];

static MlirLogicalResult say(MlirDiagnostic diagnostic, void *unused) {
  (void)diagnostic;
  (void)unused;
  printf("a diagnostic of the program\n");
  return mlirLogicalResultSuccess();
}

static void print(const VeelineDiagnostic *diagnostic, void *unused) {
  (void)unused;
  printf("%s:%d: %s\n", diagnostic->file, (int)diagnostic->line,
         diagnostic->message);
}

static void printPart(MlirStringRef part, void *found) {
  char copy[1024] = {0};
  memcpy(copy, part.data,
         part.length < sizeof(copy) ? part.length : sizeof(copy) - 1);
  *(int *)found += strstr(copy, "pipe.pipeline") != NULL;
}

static int runPasses(MlirModule module) {
  MlirOperation operation = mlirModuleGetOperation(module);
  MlirPassManager manager = mlirPassManagerCreate(mlirModuleGetContext(module));
  int found = 0;
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString(
          "builtin.module(pipe-partition{stages=2},pipe-differentiate)"),
      printPart, &found);
  if (mlirLogicalResultIsFailure(parsed) ||
      mlirLogicalResultIsFailure(mlirPassManagerRunOnOp(manager, operation)))
    return 1;
  mlirOperationPrint(operation, printPart, &found);
  printf("passes: %s\n", found ? "a pipeline" : "none");
  mlirPassManagerDestroy(manager);
  return 0;
}

static void compile(MlirModule module, const VeelineOption *options,
                    size_t numOptions) {
  VeelineArtifact artifact;
  VeelineStatus status = veelineMlirModuleCompile(module, options, numOptions,
                                                  print, NULL, &artifact);
  if (status.code != VeelineOk) {
    printf("%d: %s\n", (int)status.code, status.message);
    veelineStatusDestroy(status);
    return;
  }
  status = veelineArtifactSave(artifact, "host.vee");
  printf("compiled: %d\n", (int)status.code);
  veelineArtifactDestroy(artifact);
}

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file)
    return 2;
  size_t length = fread(text, 1, sizeof(text), file);
  fclose(file);
  text[length] = '\0';
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  veelineRegisterDialects(registry);
  veelineRegisterPasses();
  veelineRegisterPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirContextAttachDiagnosticHandler(context, say, NULL, NULL);
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreate(text, length));
  if (mlirModuleIsNull(module))
    return 1;
  VeelineOption options[] = {
      {"stages", "2"}, {"microbatches", "4"}, {"optimize", "0"}};
  compile(module, options, 3);
  /* It is as it was: there is a model to compile, and to cut. */
  options[0].value = "99";
  compile(module, options, 3);
  int code = runPasses(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  mlirDialectRegistryDestroy(registry);
  return code;
}
