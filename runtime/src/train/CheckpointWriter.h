//===- CheckpointWriter.h - the thread that writes checkpoints --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that writes copies of the state of this process's ranks. A file
// system may never answer, and then the thread cannot be ended. So it owns all
// that it uses, and may outlive the run.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_CHECKPOINTWRITER_H
#define VEELINE_RUNTIME_TRAIN_CHECKPOINTWRITER_H

#include "Checkpoint.h"
#include "SafeTensors.h"
#include "veeline/Base/FolderLock.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace veeline::train {

class CheckpointWriter {
public:
  /// The copy of a rank's state.
  struct Piece {
    int32_t rank = 0;
    std::vector<data::SafeTensorsEntry> entries;
    std::vector<size_t> offsets; ///< Of entries, in the copy.
    std::vector<char> copy;
  };
  /// What one process tells of a checkpoint.
  struct Report {
    int64_t step = 0;
    std::optional<data::CheckpointPiece> piece;
    std::string failure; ///< Empty: it has written its piece, if it has one.
  };
  /// What the thread has to do.
  struct Job {
    enum class Kind {
      all,   ///< Write all pieces and the index.
      piece, ///< Write the piece of this process, and report that.
      index, ///< Write the index.
      drop   ///< Delete what others have written, because of `failure`.
    };
    Kind kind;
    data::CheckpointIndex index;
    std::string failure;
  };
  /// What has been written.
  struct Written {
    int64_t lastGood = 0; ///< A step; 0: none.
    int64_t count = 0, bytesOfLast = 0, nanoseconds = 0;
    /// Of the newest checkpoint that failed: its step, and why.
    int64_t failedStep = 0;
    std::string failure;
  };
  /// What the thread is at.
  struct Place {
    int64_t step = 0;
    std::string path; ///< A file or a folder.
    /// Changes when the file system has answered.
    uint64_t moves = 0;
  };

  /// Where it writes.
  struct Target {
    std::string directory;
    FolderLock lock; ///< Of the directory; in the first process.
    /// Files that have rows of all steps before a checkpoint, and may not lack
    /// them after a crash. Empty names are none.
    std::vector<std::string> rows;
  };

  /// Starts the thread. `kept` is how many checkpoints stay; 0: all. `lastGood`
  /// is the step of the last one in the directory, or 0.
  static Expected<std::shared_ptr<CheckpointWriter>>
  start(Target target, std::string model, int64_t kept, int64_t lastGood,
        std::vector<Piece> pieces);

  /// Of this process's ranks. May be used while nothing is left to do.
  std::vector<Piece> &copies() { return pieces; }
  void enqueue(Job job);
  /// Whether nothing is left to do, after `time` at most.
  bool waitUntilIdle(std::chrono::milliseconds time);
  Place place();
  /// Ends the thread, once nothing is left to do.
  void end();
  /// Lets the thread end when it can.
  void abandon();

  /// Of the last checkpoints, where ranks are processes.
  std::vector<Report> reports();
  /// What the user has to know since the last call.
  std::vector<std::string> takeRemarks();
  /// Drops the last remark.
  void dropRemark();
  Written written();

private:
  CheckpointWriter(Target target, std::string model, int64_t kept,
                   std::vector<Piece> pieces)
      : target(std::move(target)), directory(this->target.directory),
        model(std::move(model)), kept(kept), pieces(std::move(pieces)) {}
  void run();
  void runJob(const Job &job);
  Status act(const Job &job);
  void beAt(int64_t step, std::string path);
  Status writePiece(const Piece &piece, int64_t step,
                    std::vector<data::CheckpointPiece> &written);
  Status writePieces(int64_t step, std::vector<data::CheckpointPiece> &written);
  Status writeAll(data::CheckpointIndex index);
  void reportPieces(int64_t step);
  Expected<int64_t> writeIndexFile(const data::CheckpointIndex &index);
  Status writeIndex(const data::CheckpointIndex &index);
  void deleteOld(int64_t step);
  void noteFailure(int64_t step, const std::string &why);

  const Target target;
  const std::string &directory;
  const std::string model;
  const int64_t kept;
  std::vector<Piece> pieces;
  std::thread thread;
  std::atomic<uint64_t> moves{0};

  std::mutex mutex; ///< Guards what follows.
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool isEnding = false;
  int64_t numUnfinished = 0; ///< Of jobs.
  int64_t placeStep = 0;
  std::string placePath;
  std::deque<Report> lastReports;
  std::vector<std::string> remarks;
  Written all;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_CHECKPOINTWRITER_H
