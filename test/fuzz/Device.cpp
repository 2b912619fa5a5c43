//===- Device.cpp - runs a model as on a GPU ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "Command.h"
#include "DevicePlan.h"
#include "Process.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

using namespace veeline;
using namespace veeline::fuzz;

using Kind = Verdict::Kind;
using Words = std::vector<std::string>;

namespace {

/// A directory that is gone with its content afterwards.
class WorkDirectory {
public:
  WorkDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "random-model-XXXXXX");
    if (::mkdtemp(pattern.data()))
      path = pattern;
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!path.empty())
      std::filesystem::remove_all(path, ignored);
  }
  WorkDirectory(const WorkDirectory &) = delete;

  std::string path; ///< Empty where it could not be made.
};

class DeviceJudge {
public:
  DeviceJudge(Compiler &compiler, const Task &task, unsigned seconds)
      : compiler(compiler), task(task), seconds(seconds) {}

  Verdict judge();

private:
  std::optional<Verdict> countPieces(int64_t &pieces);
  std::optional<Verdict> compile();
  std::optional<Verdict> train(const std::string &name,
                               const std::string &order, const Words &more);
  std::optional<Verdict> trainAll();
  CommandResult run(const std::string &program, const Words &arguments,
                    decltype(Command::environment) environment = {});
  Verdict fail(Kind kind, const std::string &message) const;
  std::string read(const std::string &name) const;

  Compiler &compiler;
  const Task &task;
  const unsigned seconds;
  WorkDirectory directory;
  DevicePlan plan;
  std::string commands; ///< Those that were run, each in a line.
  CheckCounts counts;
};

} // namespace

/// What is in the directory of this program.
static std::string pathOf(const std::string &program) {
  std::error_code ignored;
  auto own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return own.parent_path() / program;
}

std::string DeviceJudge::read(const std::string &name) const {
  std::ifstream file(directory.path + "/" + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A table of metrics without the columns about time.
static std::string withoutTimes(const std::string &table) {
  std::istringstream lines(table);
  std::vector<bool> isKept;
  std::string kept;
  for (std::string line; std::getline(lines, line); kept += '\n') {
    std::istringstream cells(line);
    size_t column = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++column) {
      if (kept.find('\n') == std::string::npos)
        isKept.push_back(cell != "seconds" && !cell.ends_with("_per_second"));
      if (column < isKept.size() && isKept[column])
        kept += cell + ",";
    }
  }
  return kept;
}

Verdict DeviceJudge::fail(Kind kind, const std::string &message) const {
  return {kind, message + "\nThe model is random.mlir of:\n" + commands, {}};
}

CommandResult DeviceJudge::run(const std::string &program,
                               const Words &arguments,
                               decltype(Command::environment) environment) {
  Command command = {pathOf(program), arguments, std::move(environment)};
  commands += command.text() + "\n";
  return runCommand(command, directory.path, seconds);
}

/// What a command says, without lines that are no errors if there are others.
static std::string complaintOf(const CommandResult &result) {
  size_t error = result.output.find("error: ");
  size_t line = error == std::string::npos ? std::string::npos
                                           : result.output.rfind('\n', error);
  std::string said = line == std::string::npos ? result.output
                                               : result.output.substr(line + 1);
  return result.death.empty() ? said : result.death + "; it said: " + said;
}

/// What a random choice of options may be refused for: the choice does not know
/// the model, and nobody would call these messages a fault.
static bool isRefusal(const std::string &message) {
  static const char *const refusals[] = {
      // Muon.
      "has no parameter of rank 2 that is trained, but",
      // PipeDream.
      "where several stages use a parameter",
  };
  return std::any_of(std::begin(refusals), std::end(refusals),
                     [&](const char *text) {
                       return message.find(text) != std::string::npos;
                     });
}

std::optional<Verdict> DeviceJudge::compile() {
  std::ofstream(directory.path + "/random.mlir") << task.text;
  Words arguments = {"compile",    "random.mlir",   "-q",   "-o",
                     "random.vee", "--target",      "cuda", "--gpu-chips",
                     "ptx",        "--no-reference"};
  arguments.insert(arguments.end(), plan.compile.begin(), plan.compile.end());
  CommandResult result = run("veeline", arguments);
  if (result.succeeded())
    return std::nullopt;
  std::string message = complaintOf(result);
  if (!result.death.empty())
    return fail(Kind::dies, message);
  if (message.find("the model cannot be trained") != std::string::npos)
    return fail(Kind::untrainable, message);
  return fail(isRefusal(message) ? Kind::refused : Kind::doesNotCompile,
              message);
}

/// Trains with the options `more`, and compares what comes out with that of the
/// first run.
std::optional<Verdict> DeviceJudge::train(const std::string &name,
                                          const std::string &order,
                                          const Words &more) {
  Words arguments = {"train",         "random.vee",
                     "--cuda-driver", VEELINE_STANDIN_CUDA,
                     "--cublaslt",    VEELINE_STANDIN_CUBLASLT,
                     "--cudnn",       VEELINE_STANDIN_CUDNN,
                     "--metrics",     name + ".csv",
                     "--save",        name + ".safetensors"};
  arguments.insert(arguments.end(), plan.train.begin(), plan.train.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  decltype(Command::environment) environment = {
      {"VEELINE_STANDIN_ORDER", order}, {"VEELINE_STANDIN_REPORT", "report"}};
  if (plan.refusesEpilogues)
    environment.emplace_back("VEELINE_STANDIN_REFUSE",
                             std::to_string(task.seed % 100000));
  CommandResult result = run("veeline", arguments, std::move(environment));
  // The stand-in aborts where something asks it for what is wrong.
  if (!result.succeeded())
    return fail(result.death.empty() ? Kind::disagrees : Kind::dies,
                complaintOf(result));
  ++counts.deviceRuns;
  if (withoutTimes(read(name + ".csv")) != withoutTimes(read("first.csv")))
    return fail(Kind::disagrees, "the last run has other metrics than the "
                                 "first one:\n" +
                                     read(name + ".csv") + "and\n" +
                                     read("first.csv"));
  if (read(name + ".safetensors") != read("first.safetensors"))
    return fail(Kind::disagrees,
                "the last run has other parameters than the first one");
  if (read("report").find("live 0\n") == std::string::npos)
    return fail(Kind::disagrees, "the last run did not free everything");
  return std::nullopt;
}

std::optional<Verdict> DeviceJudge::trainAll() {
  std::string random = "random:" + std::to_string(task.seed % 100000);
  Words first = {"--steps-in-flight", "1"};
  if (plan.isComparable)
    first.push_back("--compare-sequential");
  std::optional<Verdict> failure = train("first", "late", first);
  if (!failure)
    failure = train("graphs", random, {});
  if (!failure)
    failure = train("late-graphs", "late", {"--check-messages"});
  if (!failure)
    failure = train("issued", random, {"--eager"});
  if (!failure)
    failure = train("alone", random, {"--eager", "--steps-in-flight", "1"});
  return failure;
}

std::optional<Verdict> DeviceJudge::countPieces(int64_t &pieces) {
  Process process(
      [&] {
        auto count = compiler.countPieces(task);
        return count.ok() ? std::to_string(*count) : count.message();
      },
      seconds);
  Expected<std::string> text = process.wait();
  if (!text.ok())
    return Verdict{Kind::dies, text.message(), {}};
  pieces = std::strtoll(text->c_str(), nullptr, 10);
  if (pieces < 1)
    return Verdict{Kind::doesNotCompile, *text, {}};
  return std::nullopt;
}

Verdict DeviceJudge::judge() {
  if (directory.path.empty())
    return {Kind::dies, "cannot make a directory", {}};
  int64_t pieces = 0;
  if (std::optional<Verdict> failure = countPieces(pieces))
    return *failure;
  plan = chooseDevicePlan(task.seed, task.microbatches, pieces);
  std::optional<Verdict> failure = compile();
  if (!failure)
    failure = trainAll();
  if (failure)
    return *failure;
  ++counts.devicePrograms;
  return {Kind::pass, "", counts};
}

Verdict veeline::fuzz::judgeOnDevice(Compiler &compiler, const Task &task,
                                     unsigned seconds) {
  return DeviceJudge(compiler, task, seconds).judge();
}
