// `act-cc MODEL.mlir ...` is `veeline compile` of models with the dialect act.
// `act-cc costs MODEL.mlir` prints the work of its ops.
// `act-cc train MODEL.mlir ARTIFACT.vee PARAMETERS.safetensors` compiles a
// model and trains it, in one process.

#include "Act.h"
#include "Train.h"

#include "veeline/Compiler/Compiler.h"

#include "llvm/Support/raw_ostream.h"

static int printCosts(const char *path, const mlir::DialectRegistry &registry) {
  veeline::compiler::Model model(registry);
  if (failed(model.load(path)))
    return 1;
  model.getModule().walk([](act::SoftsignOp op) {
    veeline::OpCost cost = veeline::estimateCost(op);
    llvm::outs() << op->getName() << ": " << cost.otherFlops << " FLOPs, "
                 << cost.bytes << " bytes\n";
  });
  return 0;
}

// [docs: main]
int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<act::ActDialect>();
  llvm::StringRef command = argc > 1 ? argv[1] : "";
  if (command == "costs" && argc == 3)
    return printCosts(argv[2], registry);
  if (command == "train" && argc == 5) {
    const char *const arguments[] = {"compile", argv[2], "--stages", "2",
                                     "-o",      argv[3], "--quiet"};
    int code = veeline::compiler::compileMain(std::size(arguments), arguments,
                                              registry);
    return code ? code : train(argv[3], argv[4]);
  }
  return veeline::compiler::compileMain(argc, argv, registry);
}
// [docs: end]
