//===- Checkpointer.h - writing checkpoints during training -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two steps the state of this process's ranks is copied. A thread
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

/// Whether checkpoints can be written where `options` say. `resumed` is what
/// the run goes on from, or null.
Status checkCheckpointFolder(const Options &options,
                             const data::Checkpoint *resumed);

class Checkpointer {
public:
  /// After Session::create. Fails if the folder is no good.
  static Expected<std::unique_ptr<Checkpointer>> create(Run &run,
                                                        const Session &session);
  /// Waits until what was copied is written.
  ~Checkpointer();

  /// Whether there shall be one after this step. No step after it may begin
  /// before it is taken.
  bool isDue(int64_t step) const {
    return run.options.checkpointEvery > 0 &&
           step % run.options.checkpointEvery == 0;
  }
  /// Of the last one that was taken, or 0.
  int64_t lastTaken() const { return taken; }
  /// Copies the state after step `step`, while none is under way. `numSkipped`
  /// steps of this run have updated nothing.
  Status take(int64_t step, int64_t numSkipped, const StepPlan &plan);

  /// What this process tells the others: lines of text.
  std::string report();
  /// Takes what all processes tell, by rank.
  void hear(const std::vector<std::string> &reports);
  /// What the user has to know since the last call. What `finish` tells is not
  /// among them.
  std::vector<std::string> takeRemarks();
  /// Waits until the last checkpoint is written. All processes call it. Fails
  /// if it could not be written.
  Status finish();
  /// For the first process.
  CheckpointSummary summary() const;

private:
  /// The part of a rank of this process.
  struct Piece {
    int32_t rank;
    std::vector<Session::StateTensor> tensors;
    std::vector<data::SafeTensorsEntry> entries;
    std::vector<size_t> offsets; ///< Of tensors, in the copy.
    std::vector<char> copy;
  };
  /// What one process tells of a checkpoint.
  struct Report {
    int64_t step;
    std::optional<data::CheckpointPiece> piece;
    std::string failure; ///< Empty: it has written its piece, if it has one.
  };
  /// A checkpoint of which not all pieces are known to be written.
  struct Pending {
    data::CheckpointIndex index;
    std::map<size_t, Report> reports; ///< By process.
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
  int64_t waitedNanoseconds = 0;      ///< The training loop, for checkpoints.
  std::map<int64_t, Pending> pending; ///< By step; in the first process.
  std::thread thread;

  // Shared with the thread.
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool isEnding = false;
  int64_t numUnfinished = 0; ///< Of jobs.
  std::deque<Report> lastReports;
  std::vector<std::string> remarks;
  int64_t lastGood = 0, numWritten = 0;
  int64_t bytesOfLast = 0, writingNanoseconds = 0;
  /// Of the newest checkpoint that failed: its step, and why.
  int64_t failedStep = 0;
  std::string failure;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H
