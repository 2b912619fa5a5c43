//===- Checkpointer.h - writing checkpoints during training -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two steps the state of this process's ranks is copied. A thread
// (CheckpointWriter.h) writes the copy while training continues: first the
// pieces of all ranks, then the index. If ranks are processes, each reports its
// piece when processes synchronise before a step, and the first process writes
// the index.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H
#define VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H

#include "CheckpointWriter.h"
#include "Report.h"
#include "Session.h"
#include "StepPlan.h"

#include <functional>
#include <map>
#include <optional>

namespace veeline::train {

/// Checks that checkpoints can be written where `options` say, and locks that
/// folder. `resumed` is the checkpoint from which the run continues, or null.
/// `waits` is as in FolderLock.
Expected<FolderLock> lockCheckpointFolder(const Options &options,
                                          const data::Checkpoint *resumed,
                                          bool waits);

class Checkpointer {
public:
  /// Called after Session::create. Fails if the folder cannot be used.
  static Expected<std::unique_ptr<Checkpointer>> create(Run &run,
                                                        const Session &session);
  /// Waits until what was copied is written, or the file system does not
  /// answer.
  ~Checkpointer();

  /// Whether there shall be a checkpoint after this step. No step after it may
  /// begin before the checkpoint is taken.
  bool isDue(int64_t step) const {
    return run.options.checkpointEvery > 0 &&
           step % run.options.checkpointEvery == 0;
  }
  /// The step of the last checkpoint that was taken, or 0.
  int64_t lastTaken() const { return taken; }
  /// Copies the state after step `step`, while none is under way. `numSkipped`
  /// steps of this run have updated nothing. `owesEvaluation` is as in
  /// CheckpointIndex. Waits until the copy before is written. Fails if the file
  /// system does not answer for too long, or the state cannot be read.
  Status take(int64_t step, int64_t numSkipped, const StepPlan &plan,
              bool owesEvaluation);
  /// Notes in the checkpoint from which the run continues, if it is in the
  /// folder, that its evaluation is made up for.
  Status noteEvaluated() const;

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

  /// Sets what takes remarks of waits that are under way; none: nobody.
  void setRemarkNow(std::function<void(const std::string &)> take) {
    remarkNow = std::move(take);
  }
  /// The run has failed, or is told to end: what is under way has to get ahead.
  void hurry() { isHurried = true; }
  /// Whether the file system did not answer for too long when it was last
  /// waited for.
  bool isHung() const { return hungAt.has_value(); }
  /// Whether a file system may still be waited for by a thread, which keeps the
  /// process from a normal end.
  static bool hasAbandonedWork();

private:
  using Report = CheckpointWriter::Report;

  /// A checkpoint of which not all pieces are known to be written.
  struct Pending {
    data::CheckpointIndex index;
    std::map<size_t, Report> reports; ///< By process.
  };

  Checkpointer(Run &run, const Session &session);
  Status moveDamaged();
  std::vector<CheckpointWriter::Piece> listPieces();
  data::CheckpointIndex indexOf(int64_t step, int64_t numSkipped,
                                const StepPlan &plan) const;
  Status waitUntilIdle();
  std::pair<double, std::string> limit() const;
  Status hang(double seconds);
  void remarkOnHang(double seconds);
  void endPending(const Pending &pending);
  static std::optional<Report> parse(const std::string &line);

  Run &run;
  const Session &session;
  const std::string directory;
  std::vector<data::CheckpointParam> params;
  /// Of each piece.
  std::vector<std::vector<Session::StateTensor>> tensors;
  std::shared_ptr<CheckpointWriter> writer;
  int64_t taken = 0;
  /// For checkpoints, in the training loop.
  int64_t waitedNanoseconds = 0;
  std::map<int64_t, Pending> pending; ///< By step; in the first process.
  std::function<void(const std::string &)> remarkNow;
  /// Whether the run has failed, so that less patience is due.
  bool isHurried = false;
  /// Where the writer was when the file system did not answer for too long.
  std::optional<uint64_t> hungAt;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_CHECKPOINTER_H
