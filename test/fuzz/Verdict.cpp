//===- Verdict.cpp - whether a model passes -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::fuzz;

using Kind = Verdict::Kind;

static Verdict judgeHere(Compiler &compiler, const Task &task) {
  auto artifact = compiler.compile(task);
  if (!artifact.ok())
    return {Kind::doesNotCompile, artifact.message(), {}};
  auto counts = checkModel(*artifact, task.seed);
  if (!counts.ok())
    return {Kind::disagrees, counts.message(), {}};
  return {Kind::pass, "", *counts};
}

// The verdict as it goes through a pipe: the kind, the counts, the message.

static std::string write(const Verdict &verdict) {
  char text[96];
  std::snprintf(text, sizeof(text), "%d %ld %ld %ld %ld ", int(verdict.kind),
                long(verdict.counts.programs), long(verdict.counts.limited),
                long(verdict.counts.differences), long(verdict.counts.kinks));
  return text + verdict.message;
}

static bool read(const std::string &text, Verdict &verdict) {
  int kind = 0, begin = 0;
  long programs = 0, limited = 0, differences = 0, kinks = 0;
  if (std::sscanf(text.c_str(), "%d %ld %ld %ld %ld%n", &kind, &programs,
                  &limited, &differences, &kinks, &begin) != 5)
    return false;
  verdict.kind = static_cast<Kind>(kind);
  verdict.counts = {programs, limited, differences, kinks};
  verdict.message = text.substr(static_cast<size_t>(begin) + 1);
  return true;
}

static void writeAll(int descriptor, const std::string &text) {
  for (size_t begin = 0; begin < text.size();) {
    ssize_t count =
        ::write(descriptor, text.data() + begin, text.size() - begin);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return;
    begin += static_cast<size_t>(count);
  }
}

static std::string readAll(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

Verdict veeline::fuzz::judge(Compiler &compiler, const Task &task,
                             unsigned seconds) {
  int ends[2];
  if (::pipe(ends) != 0)
    return {Kind::dies,
            std::string("cannot make a pipe: ") + std::strerror(errno),
            {}};
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child < 0)
    return {Kind::dies,
            std::string("cannot make a process: ") + std::strerror(errno),
            {}};
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(seconds);
    writeAll(ends[1], write(judgeHere(compiler, task)));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text = readAll(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  Verdict verdict;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return {Kind::dies, "not done after " + std::to_string(seconds) + " s", {}};
  if (WIFSIGNALED(status))
    return {Kind::dies,
            std::string("ended by a signal: ") + ::strsignal(WTERMSIG(status)),
            {}};
  if (!read(text, verdict))
    return {Kind::dies,
            "ended with exit code " + std::to_string(WEXITSTATUS(status)),
            {}};
  return verdict;
}
