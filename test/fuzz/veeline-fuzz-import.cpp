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

#include "Process.h"
#include "TextMutator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Import/Parse.h"
#include "veeline/Import/Passes.h"
#include "veeline/InitAll.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <sys/resource.h>

using namespace mlir;
using namespace veeline;
using namespace veeline::fuzz;

namespace {
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

static constexpr char imported[] = "imported", refused[] = "refused";
static constexpr char silent[] = "fails without a message";

/// Imports `text`. Returns `imported`, `refused` or what is wrong.
static std::string import(const std::string &text, const ImportOptions &options,
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
  return hasError ? "succeeds after an error" : imported;
}

/// Limits what this process may take, and silences it where it is to be quiet.
static bool confine(bool quiet) {
  rlimit seconds = {20, 20}, none = {0, 0};
  ::setrlimit(RLIMIT_CPU, &seconds);
  ::setrlimit(RLIMIT_CORE, &none);
  // AddressSanitizer reserves far more addresses than that.
#if !defined(__SANITIZE_ADDRESS__)
  rlimit bytes = {rlim_t(4) << 30, rlim_t(4) << 30};
  ::setrlimit(RLIMIT_AS, &bytes);
#endif
  return !quiet || std::freopen("/dev/null", "w", stderr);
}

/// Imports `text` in a process of its own, with an outcome as `import` has it.
static std::string importApart(const std::string &text,
                               const ImportOptions &options,
                               MLIRContext &context, bool quiet) {
  Process process([&] {
    return confine(quiet) ? import(text, options, context, quiet)
                          : "cannot be silenced";
  });
  auto outcome = process.wait();
  return outcome.ok() ? *outcome : outcome.message();
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
      settings.count = std::strtoll(value.c_str(), nullptr, 10);
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
  veeline::registerEveryDialect(registry);
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
    std::string outcome = importApart(text, options, context, !settings->print);
    numImported += outcome == imported;
    if (outcome != imported && outcome != refused) {
      ++numFailed;
      std::cout << "model " << seed << ' ' << outcome << '\n' << std::flush;
      if (!settings->save.empty())
        std::ofstream(settings->save + "/" + std::to_string(seed) + ".mlir")
            << text;
    }
  }
  std::cout << settings->count << " models, " << numFailed << " failed; "
            << numImported << " were imported\n";
  return numFailed != 0;
}
