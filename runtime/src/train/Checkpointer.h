//===- Checkpointer.h - writing checkpoints during training -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two steps, the state of this process's ranks is copied. A thread
// writes the copy while training continues: first the pieces of all ranks, then
// the index. If ranks are processes, each reports its piece when processes
// synchronise before a step, and the first process writes the index.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H
#define VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H

#include "Report.h"
#include "Session.h"
#include "StepPlan.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace veeline::train {

/// Checks that checkpoints can be written where `options` say. `resumed` is the
/// checkpoint from which the run continues, or null.
Status checkCheckpointFolder(const Options &options,
                             const data::Checkpoint *resumed);

class Checkpointer {
public:
  /// Called after Session::create. Fails if the folder cannot be used.
  static Expected<std::unique_ptr<Checkpointer>> create(Run &run,
                                                        const Session &session);
  /// Waits until everything that was copied is written.
  ~Checkpointer();

  /// Whether there shall be a checkpoint after this step. No step after it may
  /// begin before the checkpoint is taken.
  bool isDue(int64_t step) const {
    return run.options.checkpointEvery > 0 &&
           step % run.options.checkpointEvery == 0;
  }
  /// The step of the last checkpoint that was taken, or 0.
  int64_t lastTaken() const { return taken; }
  /// Copies the state after step `step`, while no step is under way.
  /// `numSkipped` steps of this run have not updated anything.
  Status take(int64_t step, int64_t numSkipped, const StepPlan &plan);

  /// Returns the report of this process to the others: lines of text.
  std::string report();
  /// Takes the reports of all processes, by rank.
  void hear(const std::vector<std::string> &reports);
  /// Returns the remarks for the user since the last call. They do not include
  /// those of `finish`.
  std::vector<std::string> takeRemarks();
  /// Waits until the last checkpoint is written. All processes call it. Fails
  /// if the checkpoint could not be written.
  Status finish();
  /// For the first process.
  CheckpointSummary summary() const;

private:
  /// The part of a checkpoint that a rank of this process writes.
  struct Piece {
    int32_t rank;
    std::vector<Session::StateTensor> tensors;
    std::vector<data::SafeTensorsEntry> entries;
    std::vector<size_t> offsets; ///< The offsets of tensors in the copy.
    std::vector<char> copy;
  };
  /// The report of one process about a checkpoint.
  struct Report {
    int64_t step;
    std::optional<data::CheckpointPiece> piece;
    /// Empty: the process has written its piece, if it has one.
    std::string failure;
  };
  /// A checkpoint of which not all pieces are known to be written.
  struct Pending {
    data::CheckpointIndex index;
    std::map<size_t, Report> reports; ///< By process.
  };

  /// A job of the thread.
  struct Job {
    enum class Kind {
      all,   ///< Write all pieces and the index.
      piece, ///< Write the piece of this process, and report it.
      index, ///< Write the index.
      drop   ///< Delete what others have written, because of `failure`.
    };
    Kind kind;
    data::CheckpointIndex index;
    std::string failure;
  };

  Checkpointer(Run &run, const Session &session);
  void listPieces();
  data::CheckpointIndex indexOf(int64_t step, int64_t numSkipped,
                                const StepPlan &plan) const;
  void runThread();
  void enqueue(Job job);
  Status act(const Job &job);
  void runJob(const Job &job);
  void waitUntilIdle();
  Status writePiece(const Piece &piece, int64_t step,
                    std::vector<data::CheckpointPiece> &written) const;
  Status writePieces(int64_t step, std::vector<data::CheckpointPiece> &written);
  Status writeAll(data::CheckpointIndex index);
  void reportPieces(int64_t step);
  Status writeIndex(const data::CheckpointIndex &index);
  void endPending(const Pending &pending);
  void noteFailure(int64_t step, const std::string &why);
  static std::optional<Report> parse(const std::string &line);

  Run &run;
  const Session &session;
  const std::string directory;
  std::vector<data::CheckpointParam> params;
  std::vector<Piece> pieces;
  int64_t taken = 0;
  /// For checkpoints, in the training loop.
  int64_t waitedNanoseconds = 0;
  std::map<int64_t, Pending> pending; ///< By step; in the first process.
  std::thread thread;

  // The following members are shared with the thread.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool isEnding = false;
  int64_t numUnfinished = 0; ///< Counts jobs.
  std::deque<Report> lastReports;
  std::vector<std::string> remarks;
  int64_t lastGood = 0, numWritten = 0;
  int64_t bytesOfLast = 0, writingNanoseconds = 0;
  /// The step of the newest checkpoint that failed, and the reason.
  int64_t failedStep = 0;
  std::string failure;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H
