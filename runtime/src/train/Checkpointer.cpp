//===- Checkpointer.cpp - writing checkpoints during training -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpointer.h"

#include "Interrupt.h"
#include "veeline/Base/Check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

using namespace veeline;
using namespace veeline::train;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// Whether a checkpoint is one of those in `directory`.
static bool isIn(const std::string &directory,
                 const data::Checkpoint *checkpoint) {
  std::error_code error;
  return checkpoint &&
         fs::equivalent(fs::path(checkpoint->path()) / "..", directory, error);
}

/// Checks that the folder has no checkpoint that a later run would take for one
/// of this run.
static Status checkOtherCheckpoints(const Options &options,
                                    const data::Checkpoint *resumed) {
  const std::string &directory = options.checkpoint;
  auto steps = data::listCheckpoints(directory);
  if (!steps.ok())
    return Status::error("--checkpoint: " + steps.message());
  if (steps->empty())
    return Status::success();
  std::string last = data::checkpointPath(directory, steps->back());
  if (!isIn(directory, resumed))
    return Status::error("--checkpoint: '" + directory +
                         "' has checkpoints of another run, as '" + last +
                         "'; go on from it with --resume " + directory +
                         ", or choose another folder");
  // What --continue has passed over is damaged, and moved away.
  if (steps->back() > resumed->index().step && !options.continues)
    return Status::error("--checkpoint: '" + last +
                         "' is later than what --resume goes on from, step " +
                         std::to_string(resumed->index().step) +
                         "; delete it or move it away, or choose another "
                         "folder");
  return Status::success();
}

Expected<FolderLock>
train::lockCheckpointFolder(const Options &options,
                            const data::Checkpoint *resumed, bool waits) {
  if (options.checkpoint.empty())
    return FolderLock();
  if (Status made = makeDirectory(options.checkpoint); !made.ok())
    return Status::error("--checkpoint: " + made.message());
  Expected<std::optional<FolderLock>> lock =
      FolderLock::take(options.checkpoint, waits);
  if (!lock.ok())
    return Status::error("--checkpoint: " + lock.message());
  if (!*lock)
    return Status::error("--checkpoint: another run writes checkpoints to '" +
                         options.checkpoint +
                         "'; wait until it has ended, or choose another "
                         "folder");
  VEELINE_TRY(checkOtherCheckpoints(options, resumed));
  // Detects now, not later, that nothing can be written there.
  VEELINE_TRY(
      AtomicFile(options.checkpoint + "/" + data::checkpointIndexName).open());
  return std::move(**lock);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

Checkpointer::Checkpointer(Run &run, const Session &session)
    : run(run), session(session), directory(run.options.checkpoint) {}

/// The parameters of the model, and what the ranks of this process have.
std::vector<CheckpointWriter::Piece> Checkpointer::listPieces() {
  for (size_t i = 0; i < run.metadata().params.size(); ++i) {
    const artifact::Parameter &param = run.metadata().params[i];
    params.push_back({param.name, param.type, param.shape,
                      session.numOlderValues(i), param.frozen, run.inFile(i)});
  }
  std::map<int32_t, std::pair<CheckpointWriter::Piece,
                              std::vector<Session::StateTensor>>>
      byRank;
  for (const Session::StateTensor &tensor : session.stateTensors()) {
    if (!session.isLocal(tensor.rank))
      continue;
    const artifact::Parameter &param = run.metadata().params[tensor.param];
    auto &[piece, itsTensors] = byRank[tensor.rank];
    piece.rank = tensor.rank;
    piece.offsets.push_back(piece.copy.size());
    piece.copy.resize(piece.copy.size() + static_cast<size_t>(artifact::bytesOf(
                                              param.type, tensor.shape)));
    piece.entries.push_back({tensor.name, param.type, tensor.shape});
    itsTensors.push_back(tensor);
  }
  std::vector<CheckpointWriter::Piece> pieces;
  for (auto &[rank, piece] : byRank) {
    pieces.push_back(std::move(piece.first));
    tensors.push_back(std::move(piece.second));
  }
  return pieces;
}

/// Moves away what --continue has passed over: its place is needed.
Status Checkpointer::moveDamaged() {
  if (!run.options.continues || !run.resumed)
    return Status::success();
  VEELINE_TRY_VALUE(std::vector<int64_t> steps,
                    data::listCheckpoints(directory));
  std::string moved;
  for (int64_t step : steps) {
    if (step <= run.stepsBefore())
      continue;
    if (std::ranges::find(run.damages, step, &data::Damage::step) ==
        run.damages.end())
      return Status::error("--checkpoint: '" +
                           data::checkpointPath(directory, step) +
                           "' was not there when this run began, so another "
                           "run has written it; start again, to go on from it");
    VEELINE_TRY_VALUE(std::string where, data::moveDamaged(directory, step));
    moved += (moved.empty() ? "'" : ", '") + where + "'";
  }
  if (!moved.empty())
    run.say("what is damaged is now in " + moved +
            "; nothing needs it, so it may be deleted, unless it can be read "
            "again");
  return Status::success();
}

Expected<std::unique_ptr<Checkpointer>>
Checkpointer::create(Run &run, const Session &session) {
  std::unique_ptr<Checkpointer> made(new Checkpointer(run, session));
  int64_t lastGood = 0;
  FolderLock lock;
  if (run.isFirst()) {
    VEELINE_TRY_VALUE(lock, lockCheckpointFolder(run.options, run.resumed.get(),
                                                 /*waits=*/true));
    VEELINE_TRY(data::deleteIncomplete(made->directory));
    VEELINE_TRY(made->moveDamaged());
    VEELINE_TRY_VALUE(std::vector<int64_t> steps,
                      data::listCheckpoints(made->directory));
    lastGood = steps.empty() ? 0 : steps.back();
  }
  VEELINE_TRY_VALUE(made->writer,
                    CheckpointWriter::start(
                        {made->directory,
                         std::move(lock),
                         {run.options.metrics, run.options.evaluation.metrics}},
                        run.metadata().model, run.options.checkpointsKept,
                        lastGood, made->listPieces()));
  return made;
}

static std::atomic<bool> hasAbandoned{false};

bool Checkpointer::hasAbandonedWork() { return hasAbandoned.load(); }

Checkpointer::~Checkpointer() {
  if (!writer)
    return;
  if (waitUntilIdle().ok()) {
    writer->end();
    return;
  }
  hasAbandoned.store(true);
  writer->abandon();
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

using namespace std::chrono_literals;

/// How often a wait looks around.
static constexpr std::chrono::milliseconds lookTime = 50ms;
/// If it looks later than that, this process was stopped.
static constexpr double mostBetweenLooks = 2;

/// In tenths, rounded down.
static std::string inSeconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g s", std::floor(seconds * 10) / 10);
  return text;
}

/// For how many seconds the file system may fail to answer, and why.
std::pair<double, std::string> Checkpointer::limit() const {
  const Options &options = run.options;
  bool isShort = options.timeoutSeconds < options.stallSeconds;
  int signal = interruptSignal();
  if (!isShort || (!signal && !isHurried))
    return {options.stallSeconds, "--stall-timeout"};
  return {options.timeoutSeconds,
          signal ? "--timeout, after signal " + std::to_string(signal)
                 : "--timeout"};
}

/// Waits until nothing is left to write. Fails if the file system does not
/// answer for as long as `limit` says: each answer, such as the end of a write,
/// starts the clock anew. The network does not watch this.
Status Checkpointer::waitUntilIdle() {
  uint64_t moves = writer->place().moves;
  // It has been waited for.
  if (hungAt == moves && !writer->waitUntilIdle(0ms))
    return hang(limit().first);
  hungAt.reset();
  int64_t since = nanoseconds(), looked = since;
  bool hasRemarked = false;
  while (!writer->waitUntilIdle(lookTime)) {
    if (run.network)
      run.network->noteMove();
    int64_t now = nanoseconds();
    uint64_t movesNow = writer->place().moves;
    bool wasStopped = double(now - looked) / 1e9 > mostBetweenLooks;
    if (movesNow != std::exchange(moves, movesNow) || wasStopped)
      since = now;
    looked = now;
    double passed = double(now - since) / 1e9;
    if (passed >= limit().first) {
      hungAt = moves;
      return hang(passed);
    }
    if (!hasRemarked && passed >= run.options.timeoutSeconds) {
      hasRemarked = true;
      remarkOnHang(passed);
    }
  }
  return Status::success();
}

/// Before it is too much.
void Checkpointer::remarkOnHang(double seconds) {
  if (!remarkNow)
    return;
  CheckpointWriter::Place place = writer->place();
  remarkNow("training waits for the checkpoint of step " +
            std::to_string(place.step) + ": the file system of '" + place.path +
            "' has not answered for " + inSeconds(seconds) +
            "; the run ends after " + inSeconds(run.options.stallSeconds) +
            " (--stall-timeout)");
}

/// The error when the file system has not answered for so long.
Status Checkpointer::hang(double seconds) {
  CheckpointWriter::Place place = writer->place();
  std::string text = "the checkpoint of step " + std::to_string(place.step) +
                     " is not written: the file system of '" + place.path +
                     "' has not answered for " + inSeconds(seconds) + " (" +
                     limit().second + ")";
  if (int64_t lastGood = writer->written().lastGood; lastGood > 0)
    text += "; the last good one is '" +
            data::checkpointPath(directory, lastGood) + "'";
  return Status::error(text +
                       "; once the file system answers again, go on "
                       "with --resume " +
                       directory);
}

//===----------------------------------------------------------------------===//
// Between steps
//===----------------------------------------------------------------------===//

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
                          const StepPlan &plan, bool owesEvaluation) {
  int64_t begin = nanoseconds();
  // The copy is still being written where the disk is slower than training.
  VEELINE_TRY(waitUntilIdle());
  std::vector<CheckpointWriter::Piece> &pieces = writer->copies();
  for (size_t p = 0; p < pieces.size(); ++p)
    for (size_t i = 0; i < tensors[p].size(); ++i)
      VEELINE_TRY(session.readState(tensors[p][i], pieces[p].copy.data() +
                                                       pieces[p].offsets[i]));
  data::CheckpointIndex index = indexOf(step, numSkipped, plan);
  index.owesEvaluation = owesEvaluation;
  taken = step;
  if (run.isFirst() && run.network)
    pending[step].index = index;
  writer->enqueue({run.network ? CheckpointWriter::Job::Kind::piece
                               : CheckpointWriter::Job::Kind::all,
                   std::move(index), /*failure=*/""});
  waitedNanoseconds += nanoseconds() - begin;
  return Status::success();
}

Status Checkpointer::noteEvaluated() const {
  if (!run.isFirst() || !isIn(directory, run.resumed.get()))
    return Status::success();
  // What is evaluated is on the disk before the index says so.
  if (const std::string &rows = run.options.evaluation.metrics; !rows.empty())
    VEELINE_TRY(syncFile(rows));
  data::CheckpointIndex index = run.resumed->index();
  index.owesEvaluation = false;
  return writeFileAtomically(run.resumed->path() + "/" +
                                 data::checkpointIndexName,
                             data::toText(std::move(index)));
}

//===----------------------------------------------------------------------===//
// Between processes
//===----------------------------------------------------------------------===//

/// A line is "STEP ! WHY", "STEP FILE BYTES CHECKSUM", or "STEP" without a
/// piece.
std::string Checkpointer::report() {
  std::string text;
  for (const Report &report : writer->reports()) {
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

std::optional<CheckpointWriter::Report>
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

/// Called when all processes have written their pieces, or have failed to.
void Checkpointer::endPending(const Pending &pending) {
  data::CheckpointIndex index = pending.index;
  std::string failed;
  for (const auto &[rank, report] : pending.reports) {
    if (failed.empty() && !report.failure.empty())
      failed = "rank " + std::to_string(rank) + ": " + report.failure;
    if (report.piece)
      index.pieces.push_back(*report.piece);
  }
  using Kind = CheckpointWriter::Job::Kind;
  Kind kind = failed.empty() ? Kind::index : Kind::drop;
  writer->enqueue({kind, std::move(index), std::move(failed)});
}

//===----------------------------------------------------------------------===//
// What users read
//===----------------------------------------------------------------------===//

std::vector<std::string> Checkpointer::takeRemarks() {
  return writer->takeRemarks();
}

Status Checkpointer::finish() {
  VEELINE_TRY(waitUntilIdle());
  if (run.network) {
    VEELINE_TRY_VALUE(auto reports, run.network->exchange(report()));
    hear(reports);
    VEELINE_TRY(waitUntilIdle());
    // As all have written before they met.
    VEELINE_CHECK(pending.empty(), "a process has not told of its piece");
  }
  std::string mine;
  CheckpointWriter::Written written = writer->written();
  if (written.failedStep == taken && taken > 0) {
    mine = written.failure;
    writer->dropRemark();
  }
  if (run.network) {
    // The first process knows whether the checkpoint was written.
    VEELINE_TRY_VALUE(auto all, run.network->exchange(mine));
    mine = all[0];
  }
  return mine.empty() ? Status::success() : Status::error(mine);
}

CheckpointSummary Checkpointer::summary() const {
  CheckpointWriter::Written written = writer->written();
  double mean = written.count == 0
                    ? 0
                    : double(written.nanoseconds) / 1e9 / double(written.count);
  return {written.count,
          directory,
          written.lastGood,
          written.bytesOfLast,
          double(waitedNanoseconds) / 1e9,
          mean};
}
