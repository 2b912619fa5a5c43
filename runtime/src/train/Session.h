//===- Session.h - a program with parameters and data -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_SESSION_H
#define VEELINE_RUNTIME_TRAIN_SESSION_H

#include "Checkpoint.h"
#include "CudaExecutor.h"
#include "HostExecutor.h"
#include "Mesh.h"
#include "NameMap.h"
#include "Options.h"
#include "Progress.h"
#include "SafeTensors.h"
#include "TensorFiles.h"
#include "veeline/Base/File.h"

#include <limits>
#include <set>

namespace veeline::train {

class LossWeights;

int64_t byteSizeOf(const artifact::Parameter &param);

/// The name of the program of an artifact that only runs forwards.
inline constexpr const char *evaluationProgram = "evaluation";

/// The maximal number of steps in a flight record.
inline constexpr int32_t flightSteps = 2;
/// The names of its files, without the extensions of the text and the trace.
inline std::string flightRecordName(const std::string &prefix, int32_t rank) {
  return prefix + ".rank" + std::to_string(rank);
}
/// The number of steps that --profile measures, which are the last ones.
inline constexpr int32_t profileSteps = 21;

/// The maximal number of events of a rank in this many steps: each op, up to
/// two waits in it, as in that of a reduction, and the wait at the end of each
/// step.
size_t timelineCapacity(const artifact::Program &program, int64_t steps);

/// Checks the transport. `place` is what the launcher says, if there is one.
Status checkTransport(const Options &options,
                      const std::optional<net::Place> &place);

/// Opens what --resume gives, or for --continue the last good checkpoint up to
/// step `last`; adds what is wrong with later ones to `damages`.
Expected<std::unique_ptr<data::Checkpoint>>
openToResume(const Options &options, int64_t last,
             std::vector<data::Damage> &damages);

/// How a session is loaded, on any target.
struct SessionOptions : host::HostOptions {
  /// The data that its steps read, and the number of steps, if they are not
  /// those of the run. In this case, it gets its parameters only by
  /// `copyParameters`.
  data::Inputs *inputs = nullptr;
  int64_t steps = 0;
  /// If given, called when other sessions have to be loaded before this one is
  /// complete. Processes with GPUs need this.
  std::function<Status()> loadOthers;
};

/// What all sessions of a run share: the artifact, the data, and the initial
/// values of the parameters.
class Run {
public:
  static Expected<std::unique_ptr<Run>> open(const Options &options);
  /// Opens a run without meeting other processes.
  static Expected<std::unique_ptr<Run>> load(const Options &options);

  const artifact::Metadata &metadata() const { return artifact.metadata; }
  /// An error names the programs that exist.
  Expected<const artifact::Program *>
  findProgram(const std::string &name) const;
  /// The number d of replicas of the program that is run, and the number of
  /// microbatches of a step of all replicas.
  int32_t replicas() const;
  int32_t microbatches() const { return metadata().microbatches * replicas(); }
  WorkOfStep workOfStep() const;
  /// The maximal number for the program that is run.
  int64_t stepsInFlight() const { return options.stepsInFlight; }
  /// The shapes of the optimiser's state for parameter `index`.
  std::vector<std::vector<int64_t>> stateShapesOf(size_t index) const {
    if (metadata().params[index].frozen)
      return {};
    return stateShapes(metadata().optimizer, metadata().errorFeedback,
                       metadata().params[index].shape);
  }
  /// How the file of --init has parameter `index`, also of a run that this one
  /// goes on from; none where there was no such file.
  std::optional<data::ParamInFile> inFile(size_t index) const;
  /// The initial value of parameter `index`, in its type.
  std::vector<char> initialValue(size_t index) const;

  /// Whether this process writes results, because it is alone or rank 0.
  bool isFirst() const { return !network || network->rank() == 0; }

  /// The number of this process on its machine, if the launcher says so.
  std::optional<int32_t> localRank() const {
    return place ? place->localRank : std::nullopt;
  }
  /// Gives the user a remark, in the first process, and each remark only once.
  void say(const std::string &remark);

  Options options;
  artifact::Artifact artifact;
  std::unique_ptr<data::Inputs> inputs;
  /// The data that are evaluated during training, and the number of steps for
  /// that; null: nothing is evaluated.
  std::unique_ptr<data::Inputs> evaluated;
  int64_t evaluatedSteps = 0;
  /// The processes that a launcher has started; null if this is the only one.
  std::unique_ptr<net::Mesh> network;
  /// The checkpoint from which this run continues; null if it starts anew.
  std::unique_ptr<data::Checkpoint> resumed;
  /// What is wrong with later checkpoints, which were passed over; the last one
  /// first.
  std::vector<data::Damage> damages;
  /// The last step before this run.
  int64_t stepsBefore() const { return resumed ? resumed->index().step : 0; }
  /// Whether no step is left.
  bool isOver() const { return stepsBefore() >= options.steps; }
  /// Whether the evaluation after the last step before this run was
  /// interrupted, and this run makes up for it.
  bool owesEvaluation() const {
    return resumed && resumed->index().owesEvaluation &&
           options.evaluation.every > 0;
  }
  /// The content of CheckpointIndex::options for this run.
  std::vector<std::string> optionsOfCheckpoint() const;
  /// Checks that the ranks of the program that is run can evaluate. `option` is
  /// the option that requests it, `howToCompile` the one that compiles it so.
  Status checkEvaluates(const std::string &option,
                        const std::string &howToCompile) const;
  /// The number of updates that the optimiser would have made after `step`
  /// steps if all of them had counted.
  int64_t updatesAfter(int64_t step) const;
  /// Weights microbatches for all sessions that train. Null before there is
  /// one, and if losses are not weighted.
  std::shared_ptr<LossWeights> lossWeights;

private:
  Status checkPurpose(const artifact::Program *program) const;
  Status openData();
  Status openEvaluated();
  Status openInit();
  Status checkInit(const artifact::Parameter &param) const;
  Status openCheckpoint(int64_t last = std::numeric_limits<int64_t>::max());
  Status planSteps();
  void tellOfCheckpoint();
  void tellOfDevices();
  std::string describeCheckpoint() const;
  void addDamages(size_t rank, const std::string &described);
  Status agreeOnCheckpoint();
  Status checkSame(const std::vector<std::string> &described) const;
  Status checkCheckpoint() const;
  std::string differencesFromCheckpoint() const;
  Status findPlace();
  Status placeRanks();
  /// Checks that `program`, if there is one, supports what the options request.
  Status checkClipping(const artifact::Program *program) const;
  std::string clipSyncOptions() const;
  Status prepareErrorFeedback();
  Status prepareLossScale(const artifact::Program *program);
  Status checkRule(const artifact::Program *program) const;
  Status openNetwork();
  Status connect();
  bool usesMpi() const;
  std::string commonOptions() const;
  std::string optionsOfBits() const;

  std::set<std::string> said; ///< The remarks so far.
  /// The place among the processes of a launcher; none if there is only one.
  std::optional<net::Place> place;
  uint64_t artifactChecksum = 0; ///< Set if there is a place.
  data::TensorFiles initFiles;
  data::NameMap initNames; ///< The names of parameters in `initFiles`.
};

/// The number of further steps whose data the system reads in the background,
/// beyond the step whose data are being read.
inline constexpr int64_t stepsReadAhead = 4;

/// A program that runs steps on the data of a Run. While steps compute, the
/// data of the next one are read.
class Session {
public:
  /// Loads the program and writes the parameters' initial values. At most
  /// `stepsInFlight` steps will be in flight, or fewer if the target requires
  /// that.
  static Expected<std::unique_ptr<Session>>
  create(Run &run, const std::string &programName,
         const SessionOptions &options = {}, int64_t stepsInFlight = 1);

  /// Copies the values that the ranks of `other`, a program of the same run,
  /// have; each rank copies from the same rank. Called between steps of both.
  Status copyParameters(const Session &other);

  /// Begins step `step`, which ascends from 1. Fewer than `maxStepsInFlight`
  /// steps may be begun and not finished.
  Status begin(int64_t step, const StepSettings &settings);
  /// Waits for the oldest of these steps.
  Status finish(StepResult &result);
  int64_t maxStepsInFlight() const { return stepsInFlight; }
  /// Runs step `step` alone.
  Status step(int64_t step, const StepSettings &settings, StepResult &result);
  /// The step that a failure is about.
  int64_t failedStep() const { return loaded->failedStep(); }
  /// Ends steps that are begun and not finished with a fault, whose reason is
  /// `why`.
  void abandonSteps(const std::string &why) { loaded->abandonSteps(why); }

  /// For a program that runs fewer microbatches than the run: the next steps
  /// run microbatches from `first` on.
  void setFirstMicrobatch(int64_t first);

  /// The value of parameter `index` at its home, in this process. If several
  /// ranks update it, `copy` chooses one, in the order of Program::ranksOf.
  std::vector<char> value(size_t index, size_t copy = 0) const;
  /// The number of ranks that update it.
  size_t numCopies(size_t index) const { return homesOf(index).size(); }
  /// Writes the value to all ranks that have the parameter.
  Status setValue(size_t index, const std::vector<char> &bytes);

  /// An accumulator, after a step.
  struct Gradient {
    size_t param;
    int32_t chunk, rank;
    int64_t offset;
  };
  /// The accumulators, by parameter, then by chunk: those of the first rank of
  /// each stage, or those of all ranks, by rank.
  std::vector<Gradient> gradients() const { return collectGradients(false); }
  std::vector<Gradient> allGradients() const { return collectGradients(true); }
  std::vector<char> read(const Gradient &gradient) const;

  /// A tensor of the state between steps, or the part of it that a rank holds,
  /// and its place on the rank. If several ranks have the same tensor, it is
  /// that of the first one.
  struct StateTensor {
    std::string name; ///< The name of an entry in a checkpoint.
    size_t param;
    int32_t rank;
    int64_t offset;
    std::vector<int64_t> shape;
  };
  /// The state of all ranks: parameters, the optimiser's state, and older
  /// values.
  std::vector<StateTensor> stateTensors() const;
  /// The number of older values of a parameter that steps use.
  int32_t numOlderValues(size_t param) const;
  /// Copies the tensor from its rank, which is in this process, between steps.
  Status readState(const StateTensor &tensor, char *bytes) const;
  bool isLocal(int32_t rank) const { return loaded->isLocal(rank); }

  /// Writes result `result`, a tensor, of all microbatches of the last step to
  /// `bytes`, in the first process; the other processes send what their ranks
  /// have. All processes must call this, while no step is under way.
  Status gatherOutput(size_t result, char *bytes) const;

  /// Writes all parameters as a .safetensors file, atomically. Of several
  /// processes, the first one writes, and all must call it.
  Status save(const std::string &path, int64_t steps) const;
  /// The events of the last steps of all ranks, in the first process. All
  /// processes must call it.
  Expected<std::vector<std::vector<engine::Event>>>
  timeline(int32_t steps) const;

  /// Writes what each rank of this process did last before the fault that
  /// `failure` describes, to PREFIX.rankN.txt and PREFIX.rankN.trace.json.
  Status writeFlightRecord(const std::string &prefix,
                           const std::string &failure) const;

  const artifact::Program &program() const { return *description; }
  /// The number of microbatches that one replica of the program runs in a step.
  int64_t stepMicrobatches() const {
    return description->microbatchesOf(run.metadata().microbatches);
  }
  /// Available on any target.
  const engine::LoadedProgram &loadedProgram() const { return *loaded; }
  /// Available only on the host.
  const host::HostExecutor &executor() const { return *onHost; }
  bool isOnDevice() const { return onDevice != nullptr; }
  /// Whether this is the first process.
  bool isFirst() const { return run.isFirst(); }
  /// How each rank uses the memory of its GPU, in the first process. Available
  /// only on GPUs. All processes must call it.
  Expected<std::vector<cuda::DeviceUse>> deviceMemory() const;
  /// The first failure to read an arena so far. Callers can read several values
  /// and check once.
  Status readStatus() const { return readFailure; }

  /// An upper bound of the time that steps have waited for data so far. It is
  /// the time of reading the data of steps that could already have begun.
  int64_t nanosecondsForData() const { return waitedForData; }

  /// The bytes of the batch arguments of all steps that are in memory,
  /// `stepsInMemory`, and those of the constant buffers.
  int64_t batchBytes() const;
  int64_t bufferBytes() const;
  /// The steps in flight, and the one whose data are being read.
  int64_t stepsInMemory() const { return maxStepsInFlight() + 1; }

private:
  /// The inputs of a step.
  struct Inputs {
    std::vector<AlignedBytes> batches;
    std::vector<int64_t> lengths; ///< Empty if they do not vary.
    AlignedBytes lossScale;       ///< Empty if the loss is not scaled.
    /// Pointers to the batch arguments, the buffers and the lengths.
    std::vector<const void *> pointers;
  };
  Inputs &inputsOf(int64_t step) {
    return inputs[static_cast<size_t>(step) % inputs.size()];
  }

  Session(Run &run, const SessionOptions &options)
      : run(run), inputData(options.inputs ? *options.inputs : *run.inputs),
        numSteps(options.inputs ? options.steps : run.options.steps),
        isFed(options.inputs != nullptr) {}

  Status load(const SessionOptions &options);
  Status initialize();
  Status initializeState();
  Status writeState(int32_t rank, int64_t offset, const std::string &entry,
                    int64_t begin, int64_t size);
  void addShares(const artifact::RankParam &entry,
                 const std::vector<int32_t> &ranks,
                 std::vector<StateTensor> &all) const;
  Status writeOlderValues(int32_t rank, const artifact::RankParam &entry);
  Status openLossWeights();
  Status prepareInputs(int64_t step);
  void readAhead(int64_t step);
  void readNext(int64_t step);
  Status fillLossWeights(int64_t step, const artifact::Batch &batch,
                         char *target);
  void writeLossScale(double scale, Inputs &target) const;
  int64_t bytesOf(size_t param) const;
  std::vector<int32_t> homesOf(size_t param) const;
  std::vector<Gradient> collectGradients(bool ofAllRanks) const;
  int64_t numMicrobatches() const {
    return stepMicrobatches() * loaded->numReplicas();
  }
  Status gatherValue(size_t param, char *bytes) const;
  void forEachOutput(size_t rank, size_t result,
                     const std::function<void(int64_t microbatch,
                                              int64_t offset)> &visit) const;
  int64_t bytesOfOutput(size_t result) const;
  void copyFromArena(int32_t rank, int64_t offset,
                     std::vector<char> &bytes) const;
  void copyFromArena(int32_t rank, int64_t offset, char *target,
                     int64_t bytes) const;
  const artifact::RankParam &entryOf(const Gradient &gradient) const;
  void readShares(const Gradient &gradient, const artifact::RankParam &entry,
                  std::vector<char> &bytes) const;

  Run &run;
  data::Inputs &inputData;
  const int64_t numSteps; ///< After the last one, no data are read.
  const bool isFed;       ///< Its parameters come from another session.
  const artifact::Program *description = nullptr;
  int64_t stepsInFlight = 1;
  std::vector<Inputs> inputs; ///< For `stepsInMemory` steps, used in turn.
  std::unique_ptr<engine::LoadedProgram> loaded; ///< Ends before its inputs.
  const host::HostExecutor *onHost = nullptr;    ///< `loaded`; null on a GPU.
  const cuda::CudaExecutor *onDevice = nullptr;  ///< `loaded`; null on a host.
  mutable Status readFailure = Status::success();
  int64_t firstMicrobatch = 0;
  int64_t preparedStep = 0;
  int64_t numUnderWay = 0; ///< Counts steps.
  int64_t waitedForData = 0;
  /// The system has been asked to read the data of steps up to this one.
  int64_t readAheadUntil = 0;
};

/// Writes the last --timeline-steps steps to --timeline, in the first process.
/// All processes call it.
Status writeTimeline(const Run &run, const Session &session);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_SESSION_H
