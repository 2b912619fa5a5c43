//===- CheckpointWriter.cpp - the thread that writes checkpoints ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointWriter.h"

#include "BlockedSignals.h"
#include "veeline/Base/Clock.h"

#include <cstring>
#include <filesystem>
#include <new>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

using namespace veeline;
using namespace veeline::train;
namespace fs = std::filesystem;

/// So many reports of a process are told again and again: it meets the others
/// before each step, and may write two checkpoints in between.
static constexpr size_t numReports = 3;

//===----------------------------------------------------------------------===//
// For the training loop
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<CheckpointWriter>>
CheckpointWriter::start(Target target, std::string model, int64_t kept,
                        int64_t lastGood, std::vector<Piece> pieces) {
  std::shared_ptr<CheckpointWriter> made(new CheckpointWriter(
      std::move(target), std::move(model), kept, std::move(pieces)));
  made->all.lastGood = lastGood;
  BlockedSignals blocked;
  try {
    // The thread shares the ownership.
    made->thread = std::thread([made] { made->run(); });
  } catch (const std::system_error &error) {
    return Status::error(std::string("cannot start a thread: ") + error.what());
  }
  return made;
}

void CheckpointWriter::enqueue(Job job) {
  std::lock_guard lock(mutex);
  jobs.push_back(std::move(job));
  ++numUnfinished;
  changed.notify_all();
}

bool CheckpointWriter::waitUntilIdle(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, time, [&] { return numUnfinished == 0; });
}

CheckpointWriter::Place CheckpointWriter::place() {
  std::lock_guard lock(mutex);
  return {placeStep, placePath, moves.load()};
}

void CheckpointWriter::abandon() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
    // What is not begun stays undone.
    jobs.clear();
  }
  changed.notify_all();
  thread.detach();
}

void CheckpointWriter::end() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  thread.join();
}

std::vector<CheckpointWriter::Report> CheckpointWriter::reports() {
  std::lock_guard lock(mutex);
  return {lastReports.begin(), lastReports.end()};
}

std::vector<std::string> CheckpointWriter::takeRemarks() {
  std::lock_guard lock(mutex);
  return std::exchange(remarks, {});
}

void CheckpointWriter::dropRemark() {
  std::lock_guard lock(mutex);
  if (!remarks.empty())
    remarks.pop_back();
}

CheckpointWriter::Written CheckpointWriter::written() {
  std::lock_guard lock(mutex);
  return all;
}

//===----------------------------------------------------------------------===//
// On the thread
//===----------------------------------------------------------------------===//

void CheckpointWriter::run() {
  pthread_setname_np(pthread_self(), "veeline-saves");
  // Steps go first, where there are too few cores.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  countFileMoves(&moves);
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

/// From here on `path` is what the file system has to answer for.
void CheckpointWriter::beAt(int64_t step, std::string path) {
  moves.fetch_add(1);
  std::lock_guard lock(mutex);
  placeStep = step;
  placePath = std::move(path);
}

Status CheckpointWriter::act(const Job &job) {
  beAt(job.index.step, data::checkpointPath(directory, job.index.step));
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

void CheckpointWriter::runJob(const Job &job) {
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
  all.nanoseconds += nanoseconds() - begin;
}

Status
CheckpointWriter::writePiece(const Piece &piece, int64_t step,
                             std::vector<data::CheckpointPiece> &written) {
  std::string name = data::pieceName(piece.rank);
  std::string path = data::checkpointPath(directory, step) + "/" + name;
  beAt(step, path);
  data::FileSum sum;
  VEELINE_TRY(data::writeSafeTensors(
      path, piece.entries,
      {{"model", model},
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

Status
CheckpointWriter::writePieces(int64_t step,
                              std::vector<data::CheckpointPiece> &written) {
  VEELINE_TRY(makeDirectory(data::checkpointPath(directory, step)));
  for (const Piece &piece : pieces)
    VEELINE_TRY(writePiece(piece, step, written));
  return Status::success();
}

/// Where all ranks are in this process.
Status CheckpointWriter::writeAll(data::CheckpointIndex index) {
  Status status = writePieces(index.step, index.pieces);
  if (status.ok())
    return writeIndex(index);
  data::deleteCheckpoint(directory, index.step);
  return status;
}

/// Where ranks are in processes of their own.
void CheckpointWriter::reportPieces(int64_t step) {
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

/// Once the pieces are written, and their bytes on the disk. Returns how many
/// these are.
Expected<int64_t>
CheckpointWriter::writeIndexFile(const data::CheckpointIndex &index) {
  std::string folder = data::checkpointPath(directory, index.step);
  int64_t bytes = 0;
  for (const data::CheckpointPiece &piece : index.pieces) {
    beAt(index.step, folder + "/" + piece.file);
    std::error_code error;
    auto found = fs::file_size(folder + "/" + piece.file, error);
    if (error || static_cast<int64_t>(found) != piece.bytes)
      return Status::error("'" + folder + "' has no whole '" + piece.file +
                           "'; all processes have to find the same folder "
                           "there");
    bytes += piece.bytes;
  }
  beAt(index.step, directory);
  VEELINE_TRY(syncDirectory(directory));
  for (const std::string &file : target.rows)
    if (!file.empty()) {
      beAt(index.step, file);
      VEELINE_TRY(syncFile(file));
    }
  std::string path = folder + "/" + data::checkpointIndexName;
  beAt(index.step, path);
  VEELINE_TRY(writeFileAtomically(path, data::toText(index)));
  return bytes;
}

Status CheckpointWriter::writeIndex(const data::CheckpointIndex &index) {
  Expected<int64_t> bytes = writeIndexFile(index);
  if (!bytes.ok()) {
    data::deleteCheckpoint(directory, index.step);
    return bytes.status();
  }
  {
    std::lock_guard lock(mutex);
    all.lastGood = index.step;
    ++all.count;
    all.bytesOfLast = *bytes;
  }
  if (kept > 0)
    deleteOld(index.step);
  return Status::success();
}

/// Deletes all but the last `kept` checkpoints.
void CheckpointWriter::deleteOld(int64_t step) {
  beAt(step, directory);
  auto steps = data::listCheckpoints(directory);
  if (!steps.ok()) {
    std::lock_guard lock(mutex);
    remarks.push_back("old checkpoints are not deleted: " + steps.message());
    return;
  }
  for (size_t i = 0; i + static_cast<size_t>(kept) < steps->size(); ++i) {
    beAt(step, data::checkpointPath(directory, (*steps)[i]));
    data::deleteCheckpoint(directory, (*steps)[i]);
  }
}

/// Training goes on: it is worth more than a checkpoint, and the next one may
/// succeed.
void CheckpointWriter::noteFailure(int64_t step, const std::string &why) {
  std::lock_guard lock(mutex);
  all.failedStep = step;
  all.failure = "the checkpoint of step " + std::to_string(step) +
                " could not be written: " + why +
                (all.lastGood > 0
                     ? "; the last good one is '" +
                           data::checkpointPath(directory, all.lastGood) + "'"
                     : "");
  remarks.push_back(all.failure + "; training goes on");
}
