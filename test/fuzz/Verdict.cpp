//===- Verdict.cpp - whether a model passes -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Device.h"
#include "Process.h"

#include <cstdio>
#include <iterator>
#include <sstream>

using namespace veeline;
using namespace veeline::fuzz;

using Kind = Verdict::Kind;

/// Whether the error is that of a joint graph that cannot be cut where the
/// model is, or whose forward has other pieces.
static bool isUncut(const std::string &error) {
  for (const char *part : {"; cut elsewhere", "the list of pieces adds up",
                           "more chunks than pieces", notComparable})
    if (error.find(part) != std::string::npos)
      return true;
  return false;
}

static Verdict judgeHere(Compiler &compiler, const Task &task) {
  auto artifact = compiler.compile(task);
  if (!artifact.ok()) {
    if (task.joint && !task.chunks && isUncut(artifact.message()))
      return {Kind::refused, artifact.message(), {}};
    bool isFlat = !task.chunks &&
                  artifact.message().find("the model cannot be trained") !=
                      std::string::npos;
    return {isFlat ? Kind::untrainable : Kind::doesNotCompile,
            artifact.message(),
            {}};
  }
  auto counts = checkModel(*artifact, task.seed, task.joint);
  if (!counts.ok())
    return {Kind::disagrees, counts.message(), {}};
  return {Kind::pass, "", *counts};
}

// The verdict as it goes through a pipe: the kind, the counts, the message.

static std::string write(const Verdict &verdict) {
  char text[112];
  std::snprintf(text, sizeof(text), "%d %ld %ld %ld %ld %ld %ld ",
                int(verdict.kind), long(verdict.counts.programs),
                long(verdict.counts.limited), long(verdict.counts.forwards),
                long(verdict.counts.differences), long(verdict.counts.kinks),
                long(verdict.counts.regrouped));
  return text + verdict.message;
}

static Verdict read(const std::string &text) {
  std::istringstream stream(text);
  int kind = 0;
  CheckCounts counts;
  stream >> kind >> counts.programs >> counts.limited >> counts.forwards >>
      counts.differences >> counts.kinks >> counts.regrouped;
  stream.ignore();
  return {static_cast<Kind>(kind),
          std::string(std::istreambuf_iterator<char>(stream), {}), counts};
}

static Verdict judgeOnHost(Compiler &compiler, const Task &task,
                           unsigned seconds) {
  Process process([&] { return write(judgeHere(compiler, task)); }, seconds);
  Expected<std::string> text = process.wait();
  return text.ok() ? read(*text) : Verdict{Kind::dies, text.message(), {}};
}

Verdict veeline::fuzz::judge(Compiler &compiler, const Task &task,
                             unsigned seconds) {
  Verdict verdict;
  if (task.targets.host)
    verdict = judgeOnHost(compiler, task, seconds);
  if (!task.targets.device || verdict.kind != Kind::pass)
    return verdict;
  Verdict onDevice = judgeOnDevice(compiler, task, seconds);
  onDevice.counts += verdict.counts;
  return onDevice;
}
