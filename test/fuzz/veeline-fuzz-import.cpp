//===- veeline-fuzz-import.cpp - imports models that are almost right -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes model files at random and imports them, each in a process of its own.
// Failures are a crash, more time or memory than a small model may take, a
// failure without a message, and success after an error. docs/testing.md says
// how to use it.
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/Passes.h"
#include "veeline/InitAll.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace veeline;
using namespace veeline::fuzz;

namespace {
enum Outcome { imported = 0, refused = 1, silent = 2, contradicts = 3 };

struct Settings {
  uint64_t seed = 0;
  int64_t count = 1000;
  bool print = false;
  std::string save;
  std::vector<std::string> texts;
};
} // namespace

//===----------------------------------------------------------------------===//
// One model
//===----------------------------------------------------------------------===//

static ImportOptions chooseOptions(Random &random) {
  static const std::vector<std::string> losses = {"", "cross-entropy", "mse",
                                                  "sum"};
  static const std::vector<std::string> lists = {"0", "*", "1-2", "w*", "arg1"};
  ImportOptions options;
  options.loss = random.oneOf(losses);
  if (random.chance(0.3))
    options.params = {random.oneOf(lists)};
  if (random.chance(0.1))
    options.freeze = {random.oneOf(lists)};
  if (random.chance(0.1))
    options.result = 1;
  options.microbatchSize = random.chance(0.3) ? 3 : 1;
  if (random.chance(0.2))
    options.retype = "f64";
  return options;
}

/// Imports `text`, in a process of its own.
static Outcome import(const std::string &text, const ImportOptions &options,
                      MLIRContext &context, bool quiet) {
  bool hasError = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success(quiet);
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "model"),
                             {});
  OwningOpRef<ModuleOp> module = parseModel(sources, context);
  if (!module)
    return hasError ? refused : silent;
  PassManager passManager(&context);
  buildImportPipeline(passManager, options);
  if (failed(passManager.run(*module)))
    return hasError ? refused : silent;
  return hasError ? contradicts : imported;
}

/// What is wrong, or nothing.
static std::optional<std::string> describe(int status) {
  if (WIFSIGNALED(status))
    return std::string(WTERMSIG(status) == SIGXCPU
                           ? "takes more than 20 seconds"
                           : strsignal(WTERMSIG(status)));
  switch (WEXITSTATUS(status)) {
  case imported:
  case refused:
    return std::nullopt;
  case silent:
    return "fails without a message";
  case contradicts:
    return "succeeds after an error";
  default:
    return "exits with " + std::to_string(WEXITSTATUS(status));
  }
}

/// Imports `text` in a new process and returns its status, as wait(2) gives it.
static int runModel(const std::string &text, const ImportOptions &options,
                    MLIRContext &context, bool quiet) {
  pid_t child = ::fork();
  if (child == 0) {
    rlimit seconds = {20, 20}, bytes = {rlim_t(4) << 30, rlim_t(4) << 30};
    rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CPU, &seconds);
#if !defined(__SANITIZE_ADDRESS__)
    ::setrlimit(RLIMIT_AS, &bytes);
#endif
    ::setrlimit(RLIMIT_CORE, &none);
    if (quiet && !std::freopen("/dev/null", "w", stderr))
      ::_exit(99);
    ::_exit(import(text, options, context, quiet));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

//===----------------------------------------------------------------------===//
// All models
//===----------------------------------------------------------------------===//

/// Reads the models of a file; files of tests have several.
static void readTexts(const char *path, std::vector<std::string> &texts) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  std::string text = content.str();
  const std::string mark = "// -----";
  for (size_t at; (at = text.find(mark)) != std::string::npos;) {
    texts.push_back(text.substr(0, at));
    text.erase(0, at + mark.size());
  }
  texts.push_back(text);
}

static std::optional<Settings> parse(int argc, char **argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    if (option.substr(0, 2) != "--") {
      readTexts(argv[i], settings.texts);
      continue;
    }
    if (i + 1 == argc)
      return std::nullopt;
    std::string value = argv[++i];
    if (option == "--count")
      settings.count = std::atoll(value.c_str());
    else if (option == "--seed")
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (option == "--save")
      settings.save = value;
    else if (option == "--print") {
      settings.print = true;
      settings.count = 1;
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else
      return std::nullopt;
  }
  if (settings.texts.empty())
    return std::nullopt;
  return settings;
}

/// Loads all dialects once, before processes are forked.
static void loadDialects(MLIRContext &context) {
  PassManager passManager(&context);
  buildImportPipeline(passManager, {});
  DialectRegistry dialects;
  passManager.getDependentDialects(dialects);
  context.appendDialectRegistry(dialects);
  for (StringRef name : dialects.getDialectNames())
    context.getOrLoadDialect(name);
}

int main(int argc, char **argv) {
  std::optional<Settings> settings = parse(argc, argv);
  if (!settings) {
    std::cerr << "usage: veeline-fuzz-import [--count N] [--seed S] [--print "
                 "SEED] [--save DIRECTORY] MODEL.mlir ...\n";
    return 2;
  }
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  veeline::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  loadDialects(context);
  TextMutator mutator(settings->texts);
  int64_t numImported = 0, numFailed = 0;
  for (int64_t i = 0; i < settings->count; ++i) {
    uint64_t seed = settings->seed + static_cast<uint64_t>(i);
    Random random(seed);
    ImportOptions options = chooseOptions(random);
    std::string text = mutator.make(random);
    if (settings->print)
      std::cout << text << std::flush;
    int status = runModel(text, options, context, !settings->print);
    numImported += status == 0;
    if (auto problem = describe(status)) {
      ++numFailed;
      std::cout << "model " << seed << ' ' << *problem << std::endl;
      if (!settings->save.empty())
        std::ofstream(settings->save + "/" + std::to_string(seed) + ".mlir")
            << text;
    }
  }
  std::cout << settings->count << " models, " << numFailed << " failed; "
            << numImported << " were imported\n";
  return numFailed != 0;
}
