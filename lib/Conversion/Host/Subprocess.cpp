//===- Subprocess.cpp - linkers and assemblers as processes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subprocess.h"

#include "veeline/Conversion/HostTarget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/wait.h>
#include <tuple>
#include <utility>

using namespace veeline;

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

TemporaryFile::TemporaryFile(std::string path) : name(std::move(path)) {
  llvm::sys::RemoveFileOnSignal(name);
}

TemporaryFile::TemporaryFile(TemporaryFile &&other)
    : name(std::exchange(other.name, std::string())) {}

TemporaryFile::~TemporaryFile() {
  if (name.empty())
    return;
  // The file may be gone already.
  std::ignore = llvm::sys::fs::remove(name);
  llvm::sys::DontRemoveFileOnSignal(name);
}

llvm::Expected<TemporaryFile>
TemporaryFile::create(llvm::StringRef suffix, llvm::ArrayRef<char> bytes) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile(
          "veeline", suffix, descriptor, path))
    return llvm::createStringError(
        "cannot create a temporary file: %s; set TMPDIR to a "
        "directory that can be written",
        code.message().c_str());
  TemporaryFile file(path.str().str());
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream.write(bytes.data(), bytes.size());
  stream.close();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    return llvm::createStringError("cannot write %s: %s", file.path().c_str(),
                                   code.message().c_str());
  }
  return file;
}

//===----------------------------------------------------------------------===//
// Processes that a signal handler must know
//===----------------------------------------------------------------------===//

/// The ids of running processes, or 0. stopLinkers negates the ids of those
/// that it stops, and then only it waits for them. A thread may reap a process
/// only after it has replaced its positive id, so stopLinkers never signals an
/// id that has been reaped. Machines do not run more threads that start
/// processes than there are entries. A process without an entry is just not
/// stopped.
static std::atomic<pid_t> running[512];
/// The number of threads that have checked `stopping` but not yet stored a
/// process id.
static std::atomic<int> starting;
static std::atomic<bool> stopping;

/// Replaces `from` by `to` in the list. Returns false if `from` is not in the
/// list.
static bool replaceProcess(pid_t from, pid_t to) {
  for (std::atomic<pid_t> &slot : running) {
    pid_t expected = from;
    if (slot.compare_exchange_strong(expected, to))
      return true;
  }
  return false;
}

void veeline::stopLinkers() {
  stopping = true;
  // Wait for a limited time: a thread that is starting a process may make no
  // progress.
  for (int i = 0; i != 100 && starting != 0; ++i) {
    timespec wait = {0, 10'000'000};
    nanosleep(&wait, nullptr);
  }
  for (std::atomic<pid_t> &slot : running) {
    pid_t process = slot.load();
    if (process > 0 && slot.compare_exchange_strong(process, -process))
      kill(process, SIGKILL);
  }
  for (std::atomic<pid_t> &slot : running)
    if (pid_t process = slot.load(); process < 0)
      waitpid(-process, nullptr, 0);
}

namespace {
/// Blocks signals that end the compiler while this thread starts a process,
/// because their handler would not know about it yet. The process inherits the
/// blocked signals, so it has to be killed.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int number : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

/// Runs a program and returns its exit status. It is negative if the program
/// did not run to its end.
static int run(llvm::ArrayRef<llvm::StringRef> arguments,
               const std::string &output, std::string &failure) {
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), output,
                                                output};
  bool isMissing = false, isListed = false;
  llvm::sys::ProcessInfo process;
  {
    SignalsHeld held;
    ++starting;
    if (stopping) {
      --starting;
      failure = "interrupted";
      return -1;
    }
    process =
        llvm::sys::ExecuteNoWait(arguments.front(), arguments, std::nullopt,
                                 redirects, 0, &failure, &isMissing);
    if (!isMissing)
      isListed = replaceProcess(0, process.Pid);
    --starting;
  }
  if (isMissing)
    return -1;
  // WNOWAIT keeps the process id reserved: it cannot be reused before the
  // process is reaped.
  siginfo_t ended;
  while (waitid(P_PID, process.Pid, &ended, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR)
    ;
  if (isListed && !replaceProcess(process.Pid, 0)) {
    failure = "interrupted";
    return -1;
  }
  return llvm::sys::Wait(process, /*SecondsToWait=*/std::nullopt, &failure)
      .ReturnCode;
}

llvm::Expected<std::string>
veeline::runProcess(llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("log");
  if (!output)
    return output.takeError();
  std::string failure;
  int status = run(arguments, output->path(), failure);
  auto buffer = llvm::MemoryBuffer::getFile(output->path());
  std::string messages = buffer ? (*buffer)->getBuffer().rtrim().str() : "";
  if (status != 0)
    return llvm::createStringError("%s failed (status %d): %s%s",
                                   arguments.front().str().c_str(), status,
                                   failure.c_str(), messages.c_str());
  return messages;
}
