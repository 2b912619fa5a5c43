//===- Process.cpp - a function in a process of its own -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::fuzz;

static bool writeAll(int descriptor, const std::string &text) {
  for (size_t begin = 0; begin < text.size();) {
    ssize_t count =
        ::write(descriptor, text.data() + begin, text.size() - begin);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    begin += static_cast<size_t>(count);
  }
  return true;
}

std::string veeline::fuzz::readAll(int descriptor) {
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

static Status cannotMake(const char *what) {
  return Status::error(std::string("cannot make a ") + what + ": " +
                       std::strerror(errno));
}

Process::Process(const std::function<std::string()> &work, unsigned seconds)
    : seconds(seconds) {
  int ends[2];
  if (::pipe(ends) != 0) {
    made = cannotMake("pipe");
    return;
  }
  std::fflush(nullptr);
  child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::alarm(seconds);
    ::_exit(writeAll(ends[1], work()) ? 0 : 1);
  }
  if (child < 0)
    made = cannotMake("process");
  ::close(ends[1]);
  output = ends[0];
}

Expected<std::string> Process::wait() {
  std::string text = readAll(output);
  ::close(output);
  if (!made.ok())
    return made;
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
    return Status::error("not done after " + std::to_string(seconds) + " s");
  if (WIFSIGNALED(state))
    return Status::error(std::string("ended by a signal: ") +
                         ::strsignal(WTERMSIG(state)));
  // What it runs may end the process before there is a text.
  if (WEXITSTATUS(state) != 0 || text.empty())
    return Status::error("ended with exit code " +
                         std::to_string(WEXITSTATUS(state)));
  return text;
}
