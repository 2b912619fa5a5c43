//===- Ending.cpp - the end of a failed run -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"

#include "BlockedSignals.h"
#include "Checkpointer.h"
#include "Interrupt.h"
#include "VerifyMemory.h"
#include "veeline/Base/File.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace veeline;
using namespace veeline::train;

namespace {
enum class Teller { nobody, loop, network };
} // namespace

using Clock = std::chrono::steady_clock;

/// The least time that the loop has to write and print. The checks of the
/// network's thread are parts of the timeout, so they may follow each other
/// quickly.
static constexpr std::chrono::seconds patience(2);

static std::atomic<Teller> teller{Teller::nobody};
static std::atomic<Clock::rep> loopBegan{0};
static std::atomic<bool> isTold{false};
static std::atomic<const Session *> watched{nullptr};

void train::beginEnding() {
  Teller nobody = Teller::nobody;
  // This is set before the network's thread can see that the loop has begun.
  if (teller.load() == nobody)
    loopBegan.store(Clock::now().time_since_epoch().count());
  if (teller.compare_exchange_strong(nobody, Teller::loop) ||
      nobody == Teller::loop)
    return;
  for (;;)
    ::pause();
}

void train::printError(const std::string &text) {
  isTold.store(true);
  std::fflush(stdout);
  std::fprintf(stderr, "veeline: error: %s\n", text.c_str());
}

Status train::outOfMemory(const Options &options, const Run *run) {
  std::string text = "there is not enough memory to " +
                     std::string(options.evaluates ? "evaluate"
                                 : options.verify  ? "verify"
                                                   : "train") +
                     " '" + options.artifact + "'";
  const artifact::Program *program =
      run ? run->metadata().findProgram(options.program) : nullptr;
  if (program) {
    int64_t bytes = options.verify
                        ? memoryOfVerify(*run).total()
                        : bytesOfProgram(*run, *program, run->stepsInFlight());
    text += ", which takes " + std::to_string(bytes) +
            " bytes beside those of data and libraries";
  }
  return Status::error(text + "; raise the limit of this process (ulimit -v), "
                              "run it on a larger machine, or compile with a "
                              "smaller --microbatch-size");
}

void train::printInterrupted(const Options &options) {
  std::string missing;
  for (auto [isAskedFor, name] :
       {std::pair(options.checkMemory, "--check-memory"),
        std::pair(options.compareSequential, "--compare-sequential")})
    if (isAskedFor && !options.verify)
      missing += std::string(missing.empty() ? "" : " and ") + name;
  std::fprintf(
      stderr, "veeline: interrupted; what was asked for is written%s\n",
      missing.empty() ? ""
                      : (", but nothing was compared for " + missing).c_str());
}

/// Does not use stdio: another thread may be in it, and stay there.
[[noreturn]] static void exitWith(const std::string &text, int code = 1) {
  std::string line = "veeline: error: " + text + "\n";
  if (!isTold.exchange(true))
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  deleteTemporaryFiles();
  ::_exit(code);
}

/// Ends the process after a moment, whatever other threads wait for.
static void endSoon(int code) {
  try {
    std::thread([code] {
      std::this_thread::sleep_for(patience);
      ::_exit(code);
    }).detach();
  } catch (const std::system_error &) {
    // Then it is up to the file system.
  }
}

void train::leaveAbandonedWork(int code) {
  if (Checkpointer::hasAbandonedWork())
    endSoon(code);
  else if (!cuda::hasAbandonedWork())
    return;
  std::fflush(stdout);
  deleteTemporaryFiles();
  ::_exit(code);
}

static std::atomic<uint64_t> movesOfLoop{0};

/// Until the loop has not written anything for so long.
static void waitUntilSilent(std::chrono::duration<double> limit) {
  Clock::time_point since = Clock::now();
  for (uint64_t moves = movesOfLoop; Clock::now() - since < limit;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (uint64_t now = movesOfLoop; now != std::exchange(moves, now))
      since = Clock::now();
  }
}

void train::endUnlessWriting(const Options &options, const std::string &why) {
  std::chrono::duration<double> limit(
      std::min(options.timeoutSeconds, options.stallSeconds));
  int code = exitCodeOfFailure();
  countFileMoves(&movesOfLoop);
  BlockedSignals blocked;
  try {
    std::thread([=] {
      waitUntilSilent(limit);
      endSoon(code);
      exitWith(why, code);
    }).detach();
  } catch (const std::system_error &) {
    // Then it is up to the file system.
  }
}

int train::exitCodeOfFailure() {
  return interruptSignal() ? 128 + interruptSignal() : 1;
}

/// What the loop would print; names the step if it waits for one.
static std::string describeEnd(const Session &session, const char *failure) {
  const engine::LoadedProgram &executor = session.loadedProgram();
  if (executor.pulse().state == engine::Pulse::elsewhere)
    return failure;
  ShortText place;
  executor.describePlace(place);
  std::string text = "step " + std::to_string(executor.currentStep()) + ": " +
                     std::string(failure);
  if (text.find(place.view()) == std::string::npos)
    text += "; " + std::string(place.view());
  return text;
}

/// Called on the network's thread.
static void endProcess(const Options &options, const char *failure,
                       int32_t calls) {
  Teller nobody = Teller::nobody;
  if (!teller.compare_exchange_strong(nobody, Teller::network)) {
    // The loop has begun to end the run, but a disk or a pipe may block it.
    Clock::duration begun(loopBegan.load());
    if (calls > 2 && Clock::now().time_since_epoch() - begun > patience)
      exitWith(failure);
    return;
  }
  std::string text = failure;
  const Session *session = watched.load();
  if (session)
    text = describeEnd(*session, failure);
  if (session && !options.flightRecorder.empty())
    if (Status status =
            session->writeFlightRecord(options.flightRecorder, text);
        !status.ok())
      text += "; " + status.message();
  exitWith(text);
}

void train::refuseToMeet(const Options &options, const std::string &why) {
  Expected<std::optional<net::Place>> found = net::findPlace();
  if (net::hasMet() || !found.ok())
    return;
  const std::optional<net::Place> &place = *found;
  if (!place)
    return;
  // If only MPI could tell where rank 0 is, mpirun ends the others.
  bool isByMpi = options.transport == "mpi" ||
                 (options.transport == "auto" && place->launcher == "mpirun");
  if (isByMpi && !std::getenv("MASTER_PORT"))
    return;
  net::MeetingOptions meeting;
  meeting.place = *place;
  if (const char *token = std::getenv("VEELINE_TOKEN"))
    meeting.token = token;
  meeting.timeoutSeconds = options.timeoutSeconds;
  meeting.isInterrupted = [] { return interruptSignal() != 0; };
  // The meeting expects one line.
  meeting.refusal = why;
  std::replace(meeting.refusal.begin(), meeting.refusal.end(), '\n', ' ');
  meeting.about = meeting.refusal;
  asio::io_context io;
  (void)net::meet(io, meeting);
}

LastResort::LastResort(Run &run) : run(run) {
  if (run.network)
    run.network->setLastResort(
        [options = run.options, calls = 0](const char *failure) mutable {
          endProcess(options, failure, ++calls);
        });
}

void LastResort::dismiss() {
  if (run.network)
    run.network->setLastResort(nullptr);
}

void LastResort::watch(const Session *session) { watched.store(session); }
