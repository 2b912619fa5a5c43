//===- Ending.cpp - the end of a failed run -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ending.h"

#include "Interrupt.h"
#include "veeline/Base/File.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

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

/// Does not use stdio, because another thread may be in it and stay there.
[[noreturn]] static void exitWith(const std::string &text) {
  std::string line = "veeline: error: " + text + "\n";
  if (!isTold.exchange(true))
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  deleteTemporaryFiles();
  ::_exit(1);
}

void train::leaveAbandonedWork(int code) {
  if (!cuda::hasAbandonedWork())
    return;
  std::fflush(stdout);
  deleteTemporaryFiles();
  ::_exit(code);
}

/// Returns what the loop would print. Names the step if the loop waits for one.
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
