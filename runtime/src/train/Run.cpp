//===- Run.cpp - an artifact, its data and this process's place -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "BlockedSignals.h"
#include "Deadline.h"
#include "Interrupt.h"
#include "Random.h"
#include "veeline/Base/Checksum.h"
#include "veeline/Base/Numbers.h"
#include "veeline/Base/Suggest.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace veeline;
using namespace veeline::train;
using artifact::Parameter;

Expected<std::unique_ptr<Run>> Run::open(const Options &options) {
  Expected<std::unique_ptr<Run>> run = load(options);
  if (!run.ok())
    return run;
  VEELINE_TRY((*run)->openNetwork());
  Status agreed = (*run)->agreeOnCheckpoint();
  if (!agreed.ok()) {
    (*run)->network->announce(agreed.message());
    return agreed;
  }
  (*run)->tellOfCheckpoint();
  (*run)->tellOfDevices();
  return run;
}

void Run::tellOfDevices() {
  if (!options.cuda.devices.empty() && metadata().target != "cuda")
    say("--device names GPUs, and '" + options.artifact +
        "' runs on CPUs: compile it with --target cuda for GPUs");
}

Status Run::checkClipping(const artifact::Program *program) const {
  const StepSettings &settings = options.optimizer;
  if (!settings.needsNorm() || !program ||
      program->clipSync != artifact::ClipSync::none)
    return Status::success();
  bool isLimited = std::isfinite(settings.clipNorm);
  std::string text = isLimited ? "--clip-norm" : "--skip-nonfinite";
  text += isLimited && settings.skipNonFinite ? " and --skip-nonfinite need"
                                              : " needs";
  if (program->asynchronous != artifact::Asynchronous::none)
    return Status::error(text +
                         " the norm of all gradients, for which no step "
                         "of schedule '" +
                         program->schedule +
                         "' waits; '1f1b' has the same order, and waits where "
                         "it is compiled with --clip-sync");
  return Status::error(text +
                       " the norm of all gradients, of which updates in '" +
                       options.artifact + "' know nothing; compile it with " +
                       clipSyncOptions());
}

/// Rejects the other programs of an asynchronous artifact, which are there to
/// check it. They have no older parameters, and would train by another rule.
Status Run::checkRule(const artifact::Program *program) const {
  bool waits = program && !program->forwardOnly &&
               program->asynchronous == artifact::Asynchronous::none;
  for (const artifact::Program &other : metadata().programs)
    if (waits && other.asynchronous != artifact::Asynchronous::none)
      return Status::error("program '" + program->name + "' of '" +
                           options.artifact + "' waits for updates, as '" +
                           other.name +
                           "' does not: it is there for --verify and "
                           "--compare-sequential");
  return Status::success();
}

/// Checks that the program does what is requested: it trains, or it evaluates.
Status Run::checkPurpose(const artifact::Program *program) const {
  std::string artifact = "'" + options.artifact + "'";
  if (options.evaluates)
    return program ? Status::success()
                   : Status::error(
                         artifact +
                         " is for training, and has no program that only "
                         "evaluates; compile it with --evaluation, or with "
                         "--forward-only if it is not to be trained");
  if (std::ranges::all_of(metadata().programs, &artifact::Program::forwardOnly))
    return Status::error(
        artifact + " was compiled with --forward-only, and can only be "
                   "evaluated, by veeline eval; to train the model, compile "
                   "it without");
  return program && program->forwardOnly
             ? Status::error("program '" + program->name + "' of " + artifact +
                             " runs forwards alone, and trains nothing; "
                             "veeline eval runs it")
             : Status::success();
}

/// Opens the data of the steps, and the data that training evaluates.
Status Run::openData() {
  const data::InputOptions &given = options.inputs;
  VEELINE_TRY_VALUE(inputs, data::Inputs::open(metadata(), given, replicas()));
  if (options.evaluates && options.steps == 0) {
    options.steps = inputs->lastStepOf(1);
    if (options.steps == 0)
      return Status::error("random data have no end; say how many --steps to "
                           "evaluate");
  }
  return options.evaluation.every > 0 ? openEvaluated() : Status::success();
}

/// Whether the user has specified the source of an argument.
static bool isGiven(const data::InputOptions &options,
                    const std::string &name) {
  return std::ranges::any_of(options.specs, [&](const std::string &spec) {
    return spec.starts_with(name + "=");
  });
}

Status Run::checkEvaluates(const std::string &option,
                           const std::string &howToCompile) const {
  const artifact::Program *program = metadata().findProgram(evaluationProgram);
  if (!program)
    return Status::error(option + ": '" + options.artifact +
                         "' has no program that evaluates; compile it with " +
                         howToCompile);
  const artifact::Program *trained = metadata().findProgram(options.program);
  if (trained && trained->ranks.size() != program->ranks.size())
    return Status::error(option +
                         " evaluates on the ranks of program 'pipeline', and "
                         "program '" +
                         trained->name + "' has others");
  return Status::success();
}

/// Opens the data that are evaluated during training.
Status Run::openEvaluated() {
  VEELINE_TRY(checkEvaluates("--eval-every", "--evaluation"));
  EvaluationOptions &evaluation = options.evaluation;
  data::InputOptions &given = evaluation.inputs;
  for (const std::string &spec : options.inputs.specs) {
    std::string name = spec.substr(0, spec.find('='));
    bool isBuffer = std::ranges::any_of(
        metadata().buffers,
        [&](const artifact::Buffer &buffer) { return buffer.name == name; });
    bool isSplit = given.part == data::InputOptions::Part::heldOut;
    if ((isBuffer || isSplit) && !isGiven(given, name))
      given.specs.push_back(spec);
  }
  auto opened = data::Inputs::open(metadata(), given, replicas());
  if (!opened.ok())
    return Status::error("data to evaluate: " + opened.message());
  evaluated = std::move(*opened);
  evaluatedSteps =
      evaluation.steps > 0 ? evaluation.steps : evaluated->lastStepOf(1);
  return evaluatedSteps > 0
             ? Status::success()
             : Status::error("random data have no end; say how many "
                             "--eval-steps to evaluate");
}

/// Checks that updates support the requested error feedback.
Status Run::prepareErrorFeedback() {
  if (!options.errorFeedback)
    return Status::success();
  if (!metadata().errorFeedback)
    return Status::error(
        "--error-feedback-factor needs the update before, of which "
        "updates in '" +
        options.artifact + "' know nothing; compile it with --error-feedback");
  options.optimizer.errorFeedback = *options.errorFeedback;
  return Status::success();
}

/// Checks that the artifact supports the requested loss scale. A dynamic one
/// skips steps whose gradients are not finite.
Status Run::prepareLossScale(const artifact::Program *program) {
  options.scalesLoss = metadata().scalesLoss();
  if (!options.scalesLoss)
    return options.lossScale.given.empty()
               ? Status::success()
               : Status::error(options.lossScale.given +
                               " is for artifacts compiled with "
                               "--loss-scaling; '" +
                               options.artifact + "' is not");
  if (options.lossScale.fixed || !program)
    return Status::success();
  options.optimizer.skipNonFinite = true;
  if (program->clipSync != artifact::ClipSync::none)
    return Status::success();
  std::string text = "the loss scale of '" + options.artifact +
                     "' cannot follow its gradients, since updates do not know "
                     "whether those of all ranks are finite; give one for all "
                     "steps, as --loss-scale 1024";
  bool canWait = program->asynchronous == artifact::Asynchronous::none;
  return Status::error(
      text + (canWait ? ", or compile with " + clipSyncOptions() : ""));
}

/// The options with which an artifact has to be compiled so that updates know
/// the norm of all gradients.
std::string Run::clipSyncOptions() const {
  return metadata().target == "cuda" ? "--clip-sync barrier"
                                     : "--clip-sync barrier or optimistic";
}

Expected<std::unique_ptr<Run>> Run::load(const Options &options) {
  auto run = std::make_unique<Run>();
  run->options = options;
  // This comes first, because a launcher may end while the artifact is read.
  VEELINE_TRY(run->findPlace());
  VEELINE_TRY_VALUE(run->artifact,
                    options.content
                        ? artifact::readArtifactFromMemory(*options.content)
                        : artifact::readArtifact(options.artifact));
  run->options.content.reset();
  const artifact::Program *program =
      run->metadata().findProgram(options.program);
  if (program && program->microbatches)
    return Status::error("program '" + program->name + "' of '" +
                         options.artifact + "' runs " +
                         std::to_string(program->microbatches) + " of " +
                         std::to_string(run->metadata().microbatches) +
                         " microbatches: it is there for --verify and "
                         "--compare-sequential");
  VEELINE_TRY(run->checkPurpose(program));
  VEELINE_TRY(run->checkRule(program));
  if (Status status = artifact::checkCpu(run->metadata()); !status.ok())
    return Status::error("cannot run '" + options.artifact +
                         "': " + status.message());
  VEELINE_TRY_VALUE(run->options.optimizer.ofParams,
                    ratesOfParams(options.groups, run->metadata()));
  VEELINE_TRY(run->prepareErrorFeedback());
  VEELINE_TRY(run->prepareLossScale(program));
  VEELINE_TRY(run->checkClipping(program));
  VEELINE_TRY(run->placeRanks());
  VEELINE_TRY(run->openData());
  VEELINE_TRY(run->openInit());
  if (options.evaluates) {
    VEELINE_TRY(run->openCheckpoint());
    return run;
  }
  if (options.rates.shape == RateShape::file) {
    VEELINE_TRY_VALUE(run->options.rates.points, readRates(options.rates.file));
  }
  VEELINE_TRY(run->openCheckpoint());
  VEELINE_TRY(run->planSteps());
  return run;
}

/// Once it is known where the data begin.
Status Run::planSteps() {
  if (options.epochs > 0) {
    int64_t steps = inputs->lastStepOf(options.epochs);
    if (steps == 0)
      return Status::error("--epochs counts the samples of arrays, and there "
                           "are none; say --steps");
    options.steps = steps;
  }
  VEELINE_TRY(checkRates(options.rates, options.steps));
  if (resumed && isOver() && !options.continues &&
      !(owesEvaluation() && stepsBefore() == options.steps))
    return Status::error(
        "'" + resumed->path() + "' is of step " +
        std::to_string(stepsBefore()) + ", and training ends with step " +
        std::to_string(options.steps) +
        "; --steps and --epochs count from the first step of all");
  return Status::success();
}

Expected<const artifact::Program *>
Run::findProgram(const std::string &name) const {
  if (const artifact::Program *program = metadata().findProgram(name))
    return program;
  std::vector<std::string> names;
  for (const artifact::Program &program : metadata().programs)
    names.push_back(program.name);
  return Status::error("'" + options.artifact + "' has no program '" + name +
                       "', it has " + joinNames(names) +
                       suggestion(name, names));
}

/// Returns 1 if the program does not exist, which is reported later.
int32_t Run::replicas() const {
  const artifact::Program *program = metadata().findProgram(options.program);
  return program ? program->replicas : 1;
}

/// Returns the checksum of the whole artifact.
static uint64_t checksumOf(const artifact::Artifact &artifact) {
  Crc64 content;
  content.add(artifact::toJson(artifact.metadata));
  for (const std::string &object : artifact.objects)
    content.add(object);
  content.add(artifact.image);
  for (std::string_view values : artifact.values)
    content.add(values);
  return content.value();
}

Status Run::findPlace() {
  VEELINE_TRY_VALUE(place, net::findPlace());
  if (place && place->launcher != "RANK")
    endWithLauncher();
  return Status::success();
}

/// Gives programs the ranks of all replicas. The checksum is that of the file,
/// which has the ranks of one replica.
Status Run::placeRanks() {
  if (place)
    artifactChecksum = checksumOf(artifact);
  for (artifact::Program &program : artifact.metadata.programs) {
    bool isRun = program.name == options.program;
    Expected<artifact::Program> all = artifact::withAllReplicas(
        program, isRun ? options.rankOrder : "stages-first");
    if (!all.ok())
      return Status::error("--rank-order: " + all.message());
    program = std::move(*all);
  }
  return Status::success();
}

/// Adds the shortest text that reads back as `value`.
template <typename T>
static void addLine(std::string &text, const char *name, T value) {
  char number[32];
  auto [end, error] = std::to_chars(number, number + sizeof(number), value);
  text += std::string(name) + " " + std::string(number, end) + "\n";
}

static void addLine(std::string &text, const char *name, bool value) {
  text += std::string(name) + (value ? " yes\n" : " no\n");
}

static void addLine(std::string &text, const char *name,
                    const std::string &value) {
  text += std::string(name) + " " + value + "\n";
}

/// Returns a text such as "wsd 100", or "file" and the checksum of its rows.
static std::string describeRates(const RateOptions &rates) {
  std::string text(name(rates.shape));
  if (rates.shape == RateShape::wsd && rates.decaySteps > 0)
    text += " " + std::to_string(rates.decaySteps);
  if (rates.shape != RateShape::file)
    return text;
  Crc64 content;
  for (const RatePoint &point : rates.points)
    content.add(std::to_string(point.step) + "," + exactNumber(point.rate) +
                "\n");
  return text + " with checksum " + std::to_string(content.value());
}

bool Run::usesMpi() const {
  return options.transport == "mpi" ||
         (options.transport == "auto" && place->launcher == "mpirun");
}

/// Returns the options on which the bits of a step depend, besides the
/// parameters and the optimiser's state.
std::string Run::optionsOfBits() const {
  std::string text;
  for (const std::string &line : inputs->describe())
    text += line + "\n";
  addLine(text, "--seed", options.inputs.seed);
  addLine(text, "--shuffle", options.inputs.shuffle);
  addLine(text, "--drop-last", options.inputs.dropLast);
  if (options.inputs.heldOut > 0)
    addLine(text, "--held-out", options.inputs.heldOut);
  addLine(text, "--lr", options.optimizer.learningRate);
  addLine(text, "--min-lr", options.rates.least.value_or(-1));
  addLine(text, "--warmup", options.rates.warmupSteps);
  // Earlier versions always used a cosine, and their checkpoints do not say so.
  if (options.rates.shape != RateShape::cosine)
    addLine(text, "--lr-schedule", describeRates(options.rates));
  addLine(text, "--beta1", options.optimizer.beta1);
  addLine(text, "--muon-momentum", options.optimizer.muonMomentum);
  addLine(text, "--beta2", options.optimizer.beta2);
  addLine(text, "--epsilon", options.optimizer.epsilon);
  addLine(text, "--weight-decay", options.optimizer.weightDecay);
  if (!options.groups.scales.empty())
    addLine(text, "--lr-scale", describe(options.groups.scales));
  if (!options.groups.weightDecays.empty())
    addLine(text, "--weight-decay-of", describe(options.groups.weightDecays));
  addLine(text, "--error-feedback-factor", options.optimizer.errorFeedback);
  addLine(text, "--clip-norm", options.optimizer.clipNorm);
  addLine(text, "--clip-value", options.optimizer.clipValue);
  // A dynamic loss scale skips steps.
  addLine(text, "--loss-scale", options.lossScale.fixed.value_or(0));
  addLine(text, "--initial-loss-scale", options.lossScale.first);
  addLine(text, "--min-loss-scale", options.lossScale.least);
  addLine(text, "--loss-scale-window", options.lossScale.window);
  addLine(text, "--skip-nonfinite", options.optimizer.skipNonFinite);
  return text;
}

/// Returns the options that all processes must have in common. A difference
/// would lead to other bits, an endless wait, or a fault without a cause.
std::string Run::commonOptions() const {
  std::string text;
  addLine(text, "artifact",
          metadata().model + "-" + std::to_string(artifactChecksum));
  addLine(text, "--program", options.program);
  addLine(text, "--rank-order", options.rankOrder);
  addLine(text, "--transport", std::string(usesMpi() ? "mpi" : "tcp"));
  addLine(text, "--timeout", options.timeoutSeconds);
  addLine(text, "--stall-timeout", options.stallSeconds);
  addLine(text, "--steps", options.steps);
  // Processes meet at the ends of steps in the same order. With traces, some
  // programs run one step at a time.
  addLine(text, "--steps-in-flight", options.stepsInFlight);
  addLine(text, "--trace-tensors", options.traceTensors);
  // NCCL wants both ends of a message in a graph, or neither; with these
  // options, steps are no graphs or do not overlap.
  if (metadata().target == "cuda") {
    addLine(text, "--eager", options.cuda.isEager);
    addLine(text, "--flight-recorder", !options.flightRecorder.empty());
    addLine(text, "--check-memory", options.checkMemory);
  }
  text += optionsOfBits();
  addLine(text, "--init",
          options.takesInit() ? initFiles.describe() : std::string("no"));
  addLine(text, "--init-names", initNames.describe());
  // With --continue they agree once they have met.
  addLine(text, "--continue", options.continues);
  if (!options.continues)
    addLine(text, "--resume",
            resumed ? resumed->describe() : std::string("no"));
  addLine(text, "--checkpoint", !options.checkpoint.empty());
  addLine(text, "--every", options.checkpointEvery);
  addLine(text, "--keep", options.checkpointsKept);
  // With this option, MPI sends more. Builds with checks always have it.
  addLine(text, "--check-messages", checksEnabled || options.checkMessages);
  addLine(text, "--eval-every", options.evaluation.every);
  if (evaluated) {
    addLine(text, "--eval-steps", evaluatedSteps);
    // "--data" becomes "--eval-data".
    for (const std::string &line : evaluated->describe())
      text += "--eval-" + line.substr(2) + "\n";
  }
  addLine(text, "--save", !options.save.empty());
  addLine(text, "--outputs", !options.outputs.empty());
  addLine(text, "--timeline", !options.timeline.empty());
  addLine(text, "--timeline-steps", options.timelineSteps);
  addLine(text, "--profile", !options.profile.empty());
  return text;
}

Status train::checkTransport(const Options &options,
                             const std::optional<net::Place> &place) {
  if (place || options.transport == "auto")
    return Status::success();
  return Status::error("--transport " + options.transport +
                       " says how processes send messages, but no launcher "
                       "has started several: ranks are threads here; start "
                       "one process for each rank, or leave it out");
}

Status Run::openNetwork() {
  const artifact::Program *program = metadata().findProgram(options.program);
  VEELINE_TRY(checkTransport(options, place));
  if (!place || !program)
    return Status::success();
  const std::string &launcher = place->launcher;
  int32_t found = place->numRanks;
  if (program->ranks.size() != static_cast<size_t>(found))
    return Status::error(launcher + " has started " + std::to_string(found) +
                         " processes, but program '" + program->name +
                         "' of '" + options.artifact + "' has " +
                         std::to_string(program->ranks.size()) +
                         (program->ranks.size() == 1 ? " rank" : " ranks") +
                         "; start one process for each");
  for (auto [isGiven, name] :
       {std::pair(options.verify, "--verify"),
        std::pair(options.compareSequential, "--compare-sequential"),
        std::pair(options.checkMemory && metadata().target == "host",
                  "--check-memory")})
    if (isGiven)
      return Status::error(std::string(name) +
                           " looks at all ranks in one process, but " +
                           launcher + " has started " + std::to_string(found) +
                           "; run it without");
  return connect();
}

/// Loads and initialises MPI, which must agree with what the launcher says
/// about this process.
static Expected<const net::MpiLibrary *> openMpi(const Options &options,
                                                 const net::Place &place) {
  Expected<const net::MpiLibrary *> mpi =
      net::loadMpi(options.libraryDirectory);
  if (!mpi.ok())
    return mpi;
  int32_t rank = 0, numRanks = 0;
  BlockedSignals blocked; // MPI has threads of its own.
  net::Deadline deadline(options.timeoutSeconds, place.rank, "start MPI");
  if (const char *error = (*mpi)->initialize(&rank, &numRanks))
    return Status::error(std::string("cannot start MPI: ") + error);
  if (rank != place.rank || numRanks != place.numRanks)
    return Status::error("for MPI this is rank " + std::to_string(rank) +
                         " of " + std::to_string(numRanks) + ", but for " +
                         place.launcher + " it is rank " +
                         std::to_string(place.rank) + " of " +
                         std::to_string(place.numRanks) +
                         "; start the processes with Open MPI's mpirun, or "
                         "send messages with --transport tcp");
  return mpi;
}

size_t train::timelineCapacity(const artifact::Program &program,
                               int64_t steps) {
  size_t ops = 1;
  for (const artifact::Rank &rank : program.ranks)
    ops = std::max(ops, rank.ops.size());
  // A void turn precedes one that begins anew.
  size_t turns = program.clipSync == artifact::ClipSync::optimistic ? 2 : 1;
  return (3 * ops + 1) * turns * static_cast<size_t>(steps);
}

/// The maximal number of bytes that a process gives in an exchange: the value
/// of a parameter, the results of a step, or the events of a timeline.
static uint64_t largestExchange(const artifact::Metadata &metadata,
                                const artifact::Program &program,
                                int64_t timelineSteps) {
  size_t bytes = net::maxTextBytes;
  size_t results = metadata.results.size() *
                       static_cast<size_t>(metadata.microbatches) *
                       static_cast<size_t>(program.replicas) +
                   metadata.params.size();
  bytes = std::max(bytes, results * sizeof(double));
  for (const artifact::Parameter &param : metadata.params)
    bytes = std::max(bytes, static_cast<size_t>(byteSizeOf(param)));
  return std::max(bytes, sizeof(engine::Event) *
                             timelineCapacity(program, timelineSteps));
}

Status Run::connect() {
  net::MeetingOptions meeting;
  meeting.place = *place;
  if (const char *token = std::getenv("VEELINE_TOKEN"))
    meeting.token = token;
  meeting.about = commonOptions();
  meeting.timeoutSeconds = options.timeoutSeconds;
  meeting.stallSeconds = options.stallSeconds;
  meeting.isInterrupted = [] { return interruptSignal() != 0; };
  meeting.maxExchangeBytes =
      largestExchange(metadata(), *metadata().findProgram(options.program),
                      std::max(options.timelineSteps, profileSteps));
  const net::MpiLibrary *mpi = nullptr;
  if (usesMpi()) {
    VEELINE_TRY_VALUE(mpi, openMpi(options, *place));
    if (!std::getenv("MASTER_PORT"))
      meeting.sharePort = [this, mpi](uint16_t &port) {
        net::Deadline deadline(options.timeoutSeconds, place->rank,
                               "share the port of rank 0 by MPI");
        const char *error = mpi->broadcast(&port, sizeof(port));
        return error ? Status::error(error) : Status::success();
      };
  }
  VEELINE_TRY_VALUE(network, net::Mesh::create(meeting, mpi));
  return Status::success();
}

/// Opens the files of --init, and checks that they have every parameter, in its
/// type or a narrower one.
Status Run::openInit() {
  if (!options.takesInit())
    return Status::success();
  VEELINE_TRY_VALUE(initFiles, data::TensorFiles::open(options.init));
  if (!options.initNames.empty()) {
    VEELINE_TRY_VALUE(initNames, data::NameMap::open(options.initNames));
  }
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> shapes;
  for (const Parameter &param : metadata().params) {
    names.push_back(param.name);
    shapes.push_back(param.shape);
  }
  VEELINE_TRY(initNames.check(names, shapes));
  for (const Parameter &param : metadata().params)
    VEELINE_TRY(checkInit(param));
  return Status::success();
}

/// Whether every float of type `from` is also a float of type `to`.
static bool isNarrower(artifact::DataType from, artifact::DataType to) {
  using artifact::DataType;
  return from == DataType::bf16 || from == DataType::f16 ||
         (from == DataType::f32 && to == DataType::f64);
}

Status Run::checkInit(const Parameter &param) const {
  data::NameInFile inFile = initNames.of(param.name);
  std::string file = "'" + options.init + "'";
  const data::Tensor *tensor = initFiles.find(inFile.name);
  if (!tensor)
    return Status::error(file + " has no parameter '" + inFile.name + "'" +
                         (inFile.name == param.name
                              ? ""
                              : ", which is '" + param.name + "' here"));
  std::vector<int64_t> expected = inFile.shapeOf(param.shape);
  bool fits =
      tensor->type == param.type || isNarrower(tensor->type, param.type);
  if (fits && tensor->shape == expected)
    return Status::success();
  return Status::error(file + ": '" + inFile.name + "' is " +
                       data::describe(tensor->type, tensor->shape) +
                       ", the model's parameter is " +
                       data::describe(param.type, expected) +
                       (inFile.order.empty()       ? ""
                        : inFile.order.size() == 2 ? ", transposed"
                                                   : ", permuted"));
}

void Run::say(const std::string &remark) {
  if (remark.empty() || !isFirst() || !said.insert(remark).second)
    return;
  if (options.hearRemark)
    options.hearRemark(remark);
  else
    std::fprintf(stderr, "veeline: remark: %s\n", remark.c_str());
}

WorkOfStep Run::workOfStep() const {
  const std::vector<artifact::Batch> &batches = metadata().batches;
  auto tokens = std::ranges::find_if(batches, [](const artifact::Batch &batch) {
    return batch.tokens && batch.shape.size() > 1;
  });
  return {artifact::countSamples(batches) * microbatches(),
          tokens == batches.end()
              ? 0
              : artifact::numElements(tokens->shape) * microbatches()};
}

std::optional<data::ParamInFile> Run::inFile(size_t index) const {
  const std::string &name = metadata().params[index].name;
  if (resumed)
    return resumed->findParam(name)->inFile;
  data::NameInFile found = initNames.of(name);
  const data::Tensor *tensor = initFiles.find(found.name);
  if (!tensor)
    return std::nullopt;
  return data::ParamInFile{found.name, tensor->type, found.order};
}

std::vector<char> Run::initialValue(size_t index) const {
  const Parameter &param = metadata().params[index];
  if (resumed) {
    std::string_view bytes = resumed->entry(data::valueEntry(param.name));
    return {bytes.begin(), bytes.end()};
  }
  std::vector<char> bytes(static_cast<size_t>(byteSizeOf(param)));
  data::NameInFile inFile = initNames.of(param.name);
  if (const data::Tensor *tensor = initFiles.find(inFile.name)) {
    data::widenFloats(*tensor, param.type, bytes.data());
    if (inFile.order.empty())
      return bytes;
    std::vector<char> permuted(bytes.size());
    data::permute(param.type, tensor->shape, data::inverse(inFile.order),
                  {bytes.data(), bytes.size()}, permuted.data());
    return permuted;
  }
  if (const std::optional<artifact::StoredValues> &stored = param.init.stored)
    data::widenFloats({stored->type, param.shape,
                       artifact.values[static_cast<size_t>(stored->section)]},
                      param.type, bytes.data());
  else
    data::initialize(param, options.inputs.seed, bytes.data());
  return bytes;
}
