//===- Checkpointer.cpp - writes checkpoints beside training --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpointer.h"

#include "BlockedSignals.h"
#include "Checkpoint.h"
#include "veeline/Base/Check.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace veeline;
using namespace veeline::train;
namespace fs = std::filesystem;

/// So many reports of a process are told again and again: it meets the others
/// before each step, and may write two checkpoints in between.
static constexpr size_t numReports = 3;

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// A later run must not take another run's checkpoint for its own.
static Status checkOtherCheckpoints(const Options &options,
                                    const data::Checkpoint *resumed) {
  const std::string &directory = options.checkpoint;
  std::vector<int64_t> steps = data::listCheckpoints(directory);
  if (steps.empty())
    return Status::success();
  std::string last = data::checkpointPath(directory, steps.back());
  std::error_code error;
  bool isSame = resumed && fs::equivalent(fs::path(resumed->path()) / "..",
                                          directory, error);
  if (!isSame)
    return Status::error("--checkpoint: '" + directory +
                         "' has checkpoints of another run, as '" + last +
                         "'; go on from it with --resume " + directory +
                         ", or choose another folder");
  if (steps.back() > resumed->index().step)
    return Status::error("--checkpoint: '" + last +
                         "' is later than what --resume goes on from, step " +
                         std::to_string(resumed->index().step) +
                         "; delete it or move it away, or choose another "
                         "folder");
  return Status::success();
}

Status train::checkCheckpointFolder(const Options &options,
                                    const data::Checkpoint *resumed) {
  if (options.checkpoint.empty())
    return Status::success();
  VEELINE_TRY(checkOtherCheckpoints(options, resumed));
  if (Status made = makeDirectory(options.checkpoint); !made.ok())
    return Status::error("--checkpoint: " + made.message());
  // Finds out now that nothing can be written there.
  return AtomicFile(options.checkpoint + "/" + data::checkpointIndexName)
      .open();
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Checkpointer::Checkpointer(Run &run, const Session &session)
    : run(run), session(session), directory(run.options.checkpoint) {}

/// The parameters of the model, and what the ranks of this process have.
void Checkpointer::listPieces() {
  for (size_t i = 0; i < run.metadata().params.size(); ++i) {
    const artifact::Parameter &param = run.metadata().params[i];
    params.push_back({param.name, param.type, param.shape,
                      session.numOlderValues(i), param.frozen, run.inFile(i)});
  }
  std::map<int32_t, Piece> byRank;
  for (const Session::StateTensor &tensor : session.stateTensors()) {
    if (!session.isLocal(tensor.rank))
      continue;
    const artifact::Parameter &param = run.metadata().params[tensor.param];
    Piece &piece = byRank[tensor.rank];
    piece.rank = tensor.rank;
    piece.offsets.push_back(piece.copy.size());
    piece.copy.resize(piece.copy.size() + static_cast<size_t>(artifact::bytesOf(
                                              param.type, tensor.shape)));
    piece.entries.push_back({tensor.name, param.type, tensor.shape});
    piece.tensors.push_back(tensor);
  }
  for (auto &[rank, piece] : byRank)
    pieces.push_back(std::move(piece));
}

Expected<std::unique_ptr<Checkpointer>>
Checkpointer::create(Run &run, const Session &session) {
  std::unique_ptr<Checkpointer> made(new Checkpointer(run, session));
  if (run.isFirst()) {
    VEELINE_TRY(checkCheckpointFolder(run.options, run.resumed.get()));
    data::deleteIncomplete(made->directory);
    if (auto steps = data::listCheckpoints(made->directory); !steps.empty())
      made->lastGood = steps.back();
  }
  made->listPieces();
  BlockedSignals blocked;
  try {
    made->thread = std::thread([made = made.get()] { made->runThread(); });
  } catch (const std::system_error &error) {
    return Status::error(std::string("cannot start a thread: ") + error.what());
  }
  return made;
}

Checkpointer::~Checkpointer() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

//===----------------------------------------------------------------------===//
// On the thread
//===----------------------------------------------------------------------===//

void Checkpointer::runThread() {
  pthread_setname_np(pthread_self(), "veeline-saves");
  // Steps go first, where there are too few cores.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return isEnding || !jobs.empty(); });
    if (jobs.empty())
      return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    runJob(job);
    lock.lock();
    --numUnfinished;
    changed.notify_all();
  }
}

void Checkpointer::enqueue(Job job) {
  std::lock_guard lock(mutex);
  jobs.push_back(std::move(job));
  ++numUnfinished;
  changed.notify_all();
}

Status Checkpointer::act(const Job &job) {
  switch (job.kind) {
  case Job::Kind::all:
    return writeAll(job.index);
  case Job::Kind::piece:
    reportPieces(job.index.step);
    return Status::success();
  case Job::Kind::index:
    return writeIndex(job.index);
  case Job::Kind::drop:
    data::deleteCheckpoint(directory, job.index.step);
    return Status::error(job.failure);
  }
  return Status::success();
}

void Checkpointer::runJob(const Job &job) {
  int64_t begin = nanoseconds();
  Status status = Status::success();
  try {
    status = act(job);
  } catch (const std::bad_alloc &) {
    status = Status::error("there is not enough memory");
  }
  if (!status.ok())
    noteFailure(job.index.step, status.message());
  std::lock_guard lock(mutex);
  writingNanoseconds += nanoseconds() - begin;
}

Status
Checkpointer::writePiece(const Piece &piece, int64_t step,
                         std::vector<data::CheckpointPiece> &written) const {
  std::string name = data::pieceName(piece.rank);
  data::FileSum sum;
  VEELINE_TRY(data::writeSafeTensors(
      data::checkpointPath(directory, step) + "/" + name, piece.entries,
      {{"model", run.metadata().model},
       {"step", std::to_string(step)},
       {"rank", std::to_string(piece.rank)}},
      [&](size_t i, char *bytes) {
        size_t end = i + 1 < piece.offsets.size() ? piece.offsets[i + 1]
                                                  : piece.copy.size();
        std::memcpy(bytes, piece.copy.data() + piece.offsets[i],
                    end - piece.offsets[i]);
        return Status::success();
      },
      &sum));
  written.push_back(
      {name, sum.bytes, data::formatChecksum(sum.checksum.value())});
  return Status::success();
}

Status Checkpointer::writePieces(int64_t step,
                                 std::vector<data::CheckpointPiece> &written) {
  VEELINE_TRY(makeDirectory(data::checkpointPath(directory, step)));
  for (const Piece &piece : pieces)
    VEELINE_TRY(writePiece(piece, step, written));
  return Status::success();
}

/// Where all ranks are in this process.
Status Checkpointer::writeAll(data::CheckpointIndex index) {
  Status status = writePieces(index.step, index.pieces);
  if (status.ok())
    return writeIndex(index);
  data::deleteCheckpoint(directory, index.step);
  return status;
}

/// Where ranks are in processes of their own.
void Checkpointer::reportPieces(int64_t step) {
  std::vector<data::CheckpointPiece> written;
  Status status = Status::success();
  try {
    status = writePieces(step, written);
  } catch (const std::bad_alloc &) {
    status = Status::error("there is not enough memory");
  }
  Report report{step, std::nullopt, status.ok() ? "" : status.message()};
  if (!written.empty())
    report.piece = written.front();
  std::lock_guard lock(mutex);
  lastReports.push_back(std::move(report));
  if (lastReports.size() > numReports)
    lastReports.pop_front();
}

/// The pieces are written, and their bytes on the disk.
Status Checkpointer::writeIndex(const data::CheckpointIndex &index) {
  std::string folder = data::checkpointPath(directory, index.step);
  int64_t bytes = 0;
  auto write = [&]() -> Status {
    for (const data::CheckpointPiece &piece : index.pieces) {
      std::error_code error;
      auto found = fs::file_size(folder + "/" + piece.file, error);
      if (error || static_cast<int64_t>(found) != piece.bytes)
        return Status::error("'" + folder + "' has no whole '" + piece.file +
                             "'; all processes have to find the same folder "
                             "there");
      bytes += piece.bytes;
    }
    VEELINE_TRY(syncDirectory(directory));
    return writeFileAtomically(folder + "/" + data::checkpointIndexName,
                               data::toText(index));
  };
  if (Status status = write(); !status.ok()) {
    data::deleteCheckpoint(directory, index.step);
    return status;
  }
  {
    std::lock_guard lock(mutex);
    lastGood = index.step;
    ++numWritten;
    bytesOfLast = bytes;
  }
  if (int64_t kept = run.options.checkpointsKept; kept > 0) {
    std::vector<int64_t> steps = data::listCheckpoints(directory);
    for (size_t i = 0; i + static_cast<size_t>(kept) < steps.size(); ++i)
      data::deleteCheckpoint(directory, steps[i]);
  }
  return Status::success();
}

/// Training goes on: it is worth more than a checkpoint, and the next one may
/// succeed.
void Checkpointer::noteFailure(int64_t step, const std::string &why) {
  std::lock_guard lock(mutex);
  failedStep = step;
  failure = "the checkpoint of step " + std::to_string(step) +
            " could not be written: " + why +
            (lastGood > 0 ? "; the last good one is '" +
                                data::checkpointPath(directory, lastGood) + "'"
                          : "");
  remarks.push_back(failure + "; training goes on");
}

//===----------------------------------------------------------------------===//
// Between steps
//===----------------------------------------------------------------------===//

void Checkpointer::waitUntilIdle() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return numUnfinished == 0; });
}

/// Lacks the pieces.
data::CheckpointIndex Checkpointer::indexOf(int64_t step, int64_t numSkipped,
                                            const StepPlan &plan) const {
  data::CheckpointIndex index;
  index.model = run.metadata().model;
  index.optimizer = run.metadata().optimizer;
  index.errorFeedback = run.metadata().errorFeedback;
  index.step = step;
  index.updates = run.updatesAfter(step) - numSkipped;
  if (run.resumed)
    index.updates -=
        run.updatesAfter(run.stepsBefore()) - run.resumed->index().updates;
  index.lossScale = plan.stateAfter(step);
  index.data = run.inputs->positionsOf(step + 1);
  index.options = run.optionsOfCheckpoint();
  index.params = params;
  return index;
}

Status Checkpointer::take(int64_t step, int64_t numSkipped,
                          const StepPlan &plan) {
  int64_t begin = nanoseconds();
  // The copy is still being written where the disk is slower than training.
  waitUntilIdle();
  for (Piece &piece : pieces)
    for (size_t i = 0; i < piece.tensors.size(); ++i)
      VEELINE_TRY(session.readState(piece.tensors[i],
                                    piece.copy.data() + piece.offsets[i]));
  data::CheckpointIndex index = indexOf(step, numSkipped, plan);
  taken = step;
  if (run.isFirst() && run.network)
    pending[step].index = index;
  enqueue({run.network ? Job::Kind::piece : Job::Kind::all, std::move(index),
           /*failure=*/""});
  waitedNanoseconds += nanoseconds() - begin;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Between processes
//===----------------------------------------------------------------------===//

/// "STEP ! WHY", "STEP FILE BYTES CHECKSUM", or "STEP" without a piece.
std::string Checkpointer::report() {
  std::string text;
  std::lock_guard lock(mutex);
  for (const Report &report : lastReports) {
    text += std::to_string(report.step);
    if (!report.failure.empty()) {
      std::string line = report.failure;
      std::replace(line.begin(), line.end(), '\n', ' ');
      text += " ! " + line;
    } else if (report.piece) {
      text += " " + report.piece->file + " " +
              std::to_string(report.piece->bytes) + " " +
              report.piece->checksum;
    }
    text += "\n";
  }
  return text;
}

std::optional<Checkpointer::Report>
Checkpointer::parse(const std::string &line) {
  Report report{0, std::nullopt, ""};
  std::istringstream words(line);
  std::string word;
  if (!(words >> report.step))
    return std::nullopt;
  if (!(words >> word))
    return report;
  if (word == "!") {
    std::getline(words >> std::ws, report.failure);
    return report;
  }
  data::CheckpointPiece &piece = report.piece.emplace();
  piece.file = word;
  words >> piece.bytes >> piece.checksum;
  return report;
}

void Checkpointer::hear(const std::vector<std::string> &reports) {
  if (!run.isFirst())
    return;
  for (size_t rank = 0; rank < reports.size(); ++rank) {
    std::istringstream lines(reports[rank]);
    for (std::string line; std::getline(lines, line);)
      if (std::optional<Report> report = parse(line))
        if (auto it = pending.find(report->step); it != pending.end())
          it->second.reports.emplace(rank, std::move(*report));
  }
  while (!pending.empty() &&
         pending.begin()->second.reports.size() == reports.size()) {
    endPending(pending.begin()->second);
    pending.erase(pending.begin());
  }
}

/// All processes have written their pieces, or have not been able to.
void Checkpointer::endPending(const Pending &pending) {
  data::CheckpointIndex index = pending.index;
  std::string failed;
  for (const auto &[rank, report] : pending.reports) {
    if (failed.empty() && !report.failure.empty())
      failed = "rank " + std::to_string(rank) + ": " + report.failure;
    if (report.piece)
      index.pieces.push_back(*report.piece);
  }
  Job::Kind kind = failed.empty() ? Job::Kind::index : Job::Kind::drop;
  enqueue({kind, std::move(index), std::move(failed)});
}

//===----------------------------------------------------------------------===//
// What users read
//===----------------------------------------------------------------------===//

std::vector<std::string> Checkpointer::takeRemarks() {
  std::lock_guard lock(mutex);
  return std::exchange(remarks, {});
}

Status Checkpointer::finish() {
  waitUntilIdle();
  if (run.network) {
    VEELINE_TRY_VALUE(auto reports, run.network->exchange(report()));
    hear(reports);
    waitUntilIdle();
    // As all have written before they met.
    VEELINE_CHECK(pending.empty(), "a process has not told of its piece");
  }
  std::string mine;
  if (failedStep == taken && taken > 0) {
    mine = failure;
    if (!remarks.empty())
      remarks.pop_back();
  }
  if (run.network) {
    // The first process knows.
    VEELINE_TRY_VALUE(auto all, run.network->exchange(mine));
    mine = all[0];
  }
  return mine.empty() ? Status::success() : Status::error(mine);
}

CheckpointSummary Checkpointer::summary() const {
  double mean = numWritten == 0
                    ? 0
                    : double(writingNanoseconds) / 1e9 / double(numWritten);
  return {numWritten,
          directory,
          lastGood,
          bytesOfLast,
          double(waitedNanoseconds) / 1e9,
          mean};
}
