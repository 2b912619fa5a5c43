//===- Command.cpp - a program in a process of its own --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command.h"

#include "Process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::fuzz;

std::string Command::text() const {
  std::string text;
  for (const auto &[name, value] : environment)
    text += name + "=" + value + " ";
  text += program.substr(program.rfind('/') + 1);
  for (const std::string &argument : arguments)
    text += " " + argument;
  return text;
}

/// Replaces this process. An alarm stays set in the program.
[[noreturn]] static void execute(const Command &command,
                                 const std::string &directory) {
  for (const auto &[name, value] : command.environment)
    ::setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
  std::vector<char *> words = {const_cast<char *>(command.program.c_str())};
  for (const std::string &argument : command.arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  if (::chdir(directory.c_str()) == 0)
    ::execv(command.program.c_str(), words.data());
  std::fprintf(stderr, "cannot run '%s': %s\n", command.program.c_str(),
               std::strerror(errno));
  std::fflush(stderr);
  ::_exit(127);
}

CommandResult veeline::fuzz::runCommand(const Command &command,
                                        const std::string &directory,
                                        unsigned seconds) {
  int ends[2];
  if (::pipe(ends) != 0)
    return {0, std::string("no pipe: ") + std::strerror(errno), ""};
  std::fflush(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    ::alarm(seconds);
    execute(command, directory);
  }
  ::close(ends[1]);
  CommandResult result;
  result.output = readAll(ends[0]);
  ::close(ends[0]);
  if (child < 0) {
    result.death = "no process could be made";
    return result;
  }
  int state = 0;
  while (::waitpid(child, &state, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(state))
    result.death =
        WTERMSIG(state) == SIGALRM
            ? "not done after " + std::to_string(seconds) + " s"
            : std::string("ended by a signal: ") + ::strsignal(WTERMSIG(state));
  else
    result.exitCode = WEXITSTATUS(state);
  return result;
}
