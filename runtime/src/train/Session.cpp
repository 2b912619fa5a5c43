//===- Session.cpp - a program with parameters and data -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "BlockedSignals.h"
#include "Checksum.h"
#include "Deadline.h"
#include "Interrupt.h"
#include "Random.h"
#include "Suggest.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <tuple>

using namespace veeline;
using namespace veeline::train;
using artifact::Parameter;
using artifact::RankParam;

int64_t train::byteSizeOf(const Parameter &param) {
  return artifact::numElements(param.shape) * artifact::byteSize(param.type);
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Run>> Run::open(const Options &options) {
  Expected<std::unique_ptr<Run>> run = load(options);
  if (run.ok())
    if (Status status = (*run)->openNetwork(); !status.ok())
      return status;
  return run;
}

Expected<std::unique_ptr<Run>> Run::load(const Options &options) {
  Expected<artifact::Artifact> artifact =
      artifact::readArtifact(options.artifact);
  if (!artifact.ok())
    return artifact.status();
  auto run = std::make_unique<Run>();
  run->options = options;
  run->artifact = std::move(*artifact);
  const artifact::Program *program =
      run->metadata().findProgram(options.program);
  if (program && program->microbatches)
    return Status::error("program '" + program->name + "' of '" +
                         options.artifact + "' runs " +
                         std::to_string(program->microbatches) + " of " +
                         std::to_string(run->metadata().microbatches) +
                         " microbatches: it is there for --verify and "
                         "--compare-sequential");
  if (Status status = artifact::checkCpu(run->metadata()); !status.ok())
    return Status::error("cannot run '" + options.artifact +
                         "': " + status.message());
  if (Status status = run->findPlace(); !status.ok())
    return status;
  if (Status status = run->placeRanks(); !status.ok())
    return status;
  Expected<std::unique_ptr<data::Inputs>> inputs =
      data::Inputs::open(run->metadata(), options.inputs, run->replicas());
  if (!inputs.ok())
    return inputs.status();
  run->inputs = std::move(*inputs);
  if (options.epochs > 0) {
    int64_t steps = run->inputs->stepsPerEpoch();
    if (steps == 0)
      return Status::error("--epochs counts the samples of arrays, and there "
                           "are none; say --steps");
    run->options.steps = options.epochs * steps;
  }
  if (Status status = run->openInit(); !status.ok())
    return status;
  return run;
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

/// Which program runs is found out later: it may not exist.
int32_t Run::replicas() const {
  const artifact::Program *program = metadata().findProgram(options.program);
  return program ? program->replicas : 1;
}

/// Of all that an artifact holds.
static uint64_t checksumOf(const artifact::Artifact &artifact) {
  Crc64 content;
  content.add(artifact::toJson(artifact.metadata));
  for (const std::string &object : artifact.objects)
    content.add(object);
  for (std::string_view values : artifact.values)
    content.add(values);
  return content.value();
}

/// Before ranks are placed, which changes the metadata.
Status Run::findPlace() {
  Expected<std::optional<net::Place>> found = net::findPlace();
  if (!found.ok())
    return found.status();
  place = std::move(*found);
  if (!place)
    return Status::success();
  artifactChecksum = checksumOf(artifact);
  if (place->launcher != "RANK")
    endWithLauncher();
  return Status::success();
}

/// Gives programs the ranks of all replicas.
Status Run::placeRanks() {
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

/// The shortest text that reads back as `value`.
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

bool Run::usesMpi() const {
  return options.transport == "mpi" ||
         (options.transport == "auto" && place->launcher == "mpirun");
}

/// What would give other bits, an endless wait, or a fault where there is none,
/// where it is not the same for all processes.
std::string Run::commonOptions() const {
  std::string text;
  addLine(text, "artifact",
          metadata().model + "-" + std::to_string(artifactChecksum));
  addLine(text, "--program", options.program);
  for (const std::string &line : inputs->describe())
    text += line + "\n";
  addLine(text, "--rank-order", options.rankOrder);
  addLine(text, "--transport", std::string(usesMpi() ? "mpi" : "tcp"));
  addLine(text, "--timeout", options.timeoutSeconds);
  addLine(text, "--stall-timeout", options.stallSeconds);
  addLine(text, "--steps", options.steps);
  addLine(text, "--seed", options.inputs.seed);
  addLine(text, "--shuffle", options.inputs.shuffle);
  addLine(text, "--drop-last", options.inputs.dropLast);
  addLine(text, "--init",
          options.init.empty() ? std::string("no")
                               : describeContent(initFile.bytes()));
  // MPI sends more with it; builds with checks always do.
  addLine(text, "--check-messages", checksEnabled || options.checkMessages);
  addLine(text, "--save", !options.save.empty());
  addLine(text, "--timeline", !options.timeline.empty());
  addLine(text, "--timeline-steps", options.timelineSteps);
  addLine(text, "--profile", !options.profile.empty());
  addLine(text, "--lr", options.optimizer.learningRate);
  addLine(text, "--min-lr", options.minLearningRate.value_or(-1));
  addLine(text, "--warmup", options.warmupSteps);
  addLine(text, "--beta1", options.optimizer.beta1);
  addLine(text, "--beta2", options.optimizer.beta2);
  addLine(text, "--epsilon", options.optimizer.epsilon);
  addLine(text, "--weight-decay", options.optimizer.weightDecay);
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
  if (Status status = checkTransport(options, place); !status.ok())
    return status;
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

/// MPI, initialised, where it is the transport; it must agree with what the
/// launcher says of this process.
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
  return (3 * ops + 1) * static_cast<size_t>(steps);
}

/// What processes give each other: values of parameters, the results of a step,
/// events of a timeline.
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
    bytes =
        std::max(bytes, static_cast<size_t>(artifact::numElements(param.shape) *
                                            artifact::byteSize(param.type)));
  return std::max(bytes, sizeof(host::Event) *
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
    Expected<const net::MpiLibrary *> opened = openMpi(options, *place);
    if (!opened.ok())
      return opened.status();
    mpi = *opened;
    if (!std::getenv("MASTER_PORT"))
      meeting.sharePort = [this, mpi](uint16_t &port) {
        net::Deadline deadline(options.timeoutSeconds, place->rank,
                               "share the port of rank 0 by MPI");
        const char *error = mpi->broadcast(&port, sizeof(port));
        return error ? Status::error(error) : Status::success();
      };
  }
  Expected<std::unique_ptr<net::Mesh>> mesh = net::Mesh::create(meeting, mpi);
  if (!mesh.ok())
    return mesh.status();
  network = std::move(*mesh);
  return Status::success();
}

/// Checks that the file given by --init has every parameter.
Status Run::openInit() {
  const std::string &path = options.init;
  if (path.empty())
    return Status::success();
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  initFile = std::move(*file);
  Expected<data::NamedTensors> tensors =
      data::parseSafeTensors(initFile.bytes());
  if (!tensors.ok())
    return Status::error("cannot read '" + path + "': " + tensors.message());
  initTensors = std::move(*tensors);
  for (const Parameter &param : metadata().params) {
    const data::Tensor *tensor = data::findTensor(initTensors, param.name);
    if (!tensor)
      return Status::error("'" + path + "' has no parameter '" + param.name +
                           "'");
    if (tensor->type != param.type || tensor->shape != param.shape)
      return Status::error("'" + path + "': '" + param.name + "' is " +
                           data::describe(tensor->type, tensor->shape) +
                           ", the model's parameter is " +
                           data::describe(param.type, param.shape));
  }
  return Status::success();
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

std::vector<char> Run::initialValue(size_t index) const {
  const Parameter &param = metadata().params[index];
  if (const data::Tensor *tensor = data::findTensor(initTensors, param.name))
    return {tensor->bytes.begin(), tensor->bytes.end()};
  std::vector<char> bytes(static_cast<size_t>(byteSizeOf(param)));
  if (const std::optional<artifact::StoredValues> &stored = param.init.stored)
    data::widenFloats({stored->type, param.shape,
                       artifact.values[static_cast<size_t>(stored->section)]},
                      param.type, bytes.data());
  else
    data::initialize(param, options.inputs.seed, bytes.data());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Session: parameters
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<Session>>
Session::create(Run &run, const std::string &programName,
                const host::HostOptions &options) {
  std::unique_ptr<Session> session(new Session(run));
  Expected<const artifact::Program *> found = run.findProgram(programName);
  if (!found.ok())
    return found.status();
  session->description = *found;
  if (Status status = session->load(options); !status.ok())
    return Status::error("cannot load '" + run.options.artifact +
                         "': " + status.message());
  session->firstMicrobatch =
      session->stepMicrobatches() * session->loaded->firstReplica();
  if (Status status = session->initialize(); !status.ok())
    return status;
  return session;
}

void Run::say(const std::string &remark) {
  if (remark.empty() || remark == said || !isFirst())
    return;
  said = remark;
  std::fprintf(stderr, "veeline: remark: %s\n", remark.c_str());
}

/// On the target that the artifact is for.
Status Session::load(const host::HostOptions &options) {
  if (run.metadata().target == "cuda") {
    cuda::CudaOptions cudaOptions = run.options.cuda;
    cudaOptions.network = options.network;
    cudaOptions.timelineEvents = options.timelineEvents;
    cudaOptions.poison = options.poison;
    cudaOptions.traceTensors = options.traceTensors;
    cudaOptions.checkMessages = options.checkMessages;
    cudaOptions.timeoutSeconds = run.options.timeoutSeconds;
    cudaOptions.stallSeconds = run.options.stallSeconds;
    cudaOptions.localRank = run.localRank();
    Expected<std::unique_ptr<cuda::CudaExecutor>> created =
        cuda::CudaExecutor::create(run.artifact, *description, cudaOptions);
    if (!created.ok())
      return created.status();
    onDevice = created->get();
    run.say((*created)->remark());
    loaded = std::move(*created);
    return Status::success();
  }
  Expected<std::unique_ptr<host::HostExecutor>> created =
      host::HostExecutor::create(run.artifact, *description, options);
  if (!created.ok())
    return created.status();
  onHost = created->get();
  loaded = std::move(*created);
  return Status::success();
}

int64_t Session::bytesOf(size_t param) const {
  return byteSizeOf(run.metadata().params[param]);
}

Status Session::initialize() {
  const artifact::Metadata &metadata = run.metadata();
  for (size_t i = 0; i < metadata.params.size(); ++i)
    if (Status status = setValue(i, run.initialValue(i)); !status.ok())
      return status;
  int64_t slots = artifact::stateSlots(metadata.optimizer);
  for (size_t rank = 0; rank < description->ranks.size(); ++rank)
    for (const RankParam &entry : description->ranks[rank].params) {
      if (entry.stateOffset < 0)
        continue;
      std::vector<char> zeros(
          static_cast<size_t>(bytesOf(entry.param) * slots));
      if (Status status =
              loaded->write(static_cast<int32_t>(rank), entry.stateOffset,
                            zeros.data(), static_cast<int64_t>(zeros.size()));
          !status.ok())
        return status;
    }
  for (int half = 0; half < 2; ++half) {
    for (size_t i = 0; i < metadata.batches.size(); ++i) {
      batches[half].emplace_back(run.inputs->batchBytes(i) * numMicrobatches());
      inputs[half].push_back(batches[half].back().data());
    }
    for (size_t i = 0; i < metadata.buffers.size(); ++i)
      inputs[half].push_back(run.inputs->buffer(i));
    if (metadata.lengths.empty())
      continue;
    lengths[half].resize(static_cast<size_t>(numMicrobatches()));
    inputs[half].push_back(lengths[half].data());
  }
  return Status::success();
}

int64_t Session::batchBytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < run.metadata().batches.size(); ++i)
    bytes += 2 * run.inputs->batchBytes(i) * numMicrobatches();
  return bytes;
}

int64_t Session::bufferBytes() const {
  int64_t bytes = 0;
  for (const artifact::Buffer &buffer : run.metadata().buffers)
    bytes +=
        artifact::numElements(buffer.shape) * artifact::byteSize(buffer.type);
  return bytes;
}

Status Session::setValue(size_t index, const std::vector<char> &bytes) {
  for (size_t rank = 0; rank < description->ranks.size(); ++rank)
    for (const RankParam &entry : description->ranks[rank].params)
      if (static_cast<size_t>(entry.param) == index)
        if (Status status =
                loaded->write(static_cast<int32_t>(rank), entry.valueOffset,
                              bytes.data(), static_cast<int64_t>(bytes.size()));
            !status.ok())
          return status;
  return Status::success();
}

void Session::copyFromArena(int32_t rank, int64_t offset,
                            std::vector<char> &bytes) const {
  Status status = loaded->read(rank, offset, bytes.data(),
                               static_cast<int64_t>(bytes.size()));
  if (readFailure.ok())
    readFailure = status;
}

/// The ranks that update the parameter, by place.
std::vector<int32_t> Session::homesOf(size_t param) const {
  for (int32_t stage = 0; stage < description->stages; ++stage) {
    std::vector<int32_t> ranks = description->ranksOf(stage);
    for (const RankParam &entry :
         description->ranks[static_cast<size_t>(ranks[0])].params)
      if (static_cast<size_t>(entry.param) == param && entry.isHome)
        return ranks;
  }
  return {};
}

std::vector<char> Session::value(size_t index, size_t copy) const {
  std::vector<char> bytes(static_cast<size_t>(bytesOf(index)));
  std::vector<int32_t> homes = homesOf(index);
  if (copy >= homes.size() || !loaded->isLocal(homes[copy]))
    return bytes;
  for (const RankParam &entry :
       description->ranks[static_cast<size_t>(homes[copy])].params)
    if (static_cast<size_t>(entry.param) == index && entry.isHome)
      copyFromArena(homes[copy], entry.valueOffset, bytes);
  return bytes;
}

std::vector<Session::Gradient>
Session::collectGradients(bool ofAllRanks) const {
  std::vector<Gradient> all;
  for (int32_t stage = 0; stage < description->stages; ++stage) {
    std::vector<int32_t> ranks = description->ranksOf(stage);
    ranks.resize(ofAllRanks ? ranks.size() : 1);
    for (int32_t rank : ranks)
      for (const RankParam &entry :
           description->ranks[static_cast<size_t>(rank)].params)
        for (const artifact::Accumulator &gradient : entry.gradients)
          all.push_back({static_cast<size_t>(entry.param), gradient.chunk, rank,
                         gradient.offset});
  }
  std::sort(all.begin(), all.end(), [](const Gradient &a, const Gradient &b) {
    return std::tuple(a.param, a.chunk, a.rank) <
           std::tuple(b.param, b.chunk, b.rank);
  });
  return all;
}

std::vector<char> Session::read(const Gradient &gradient) const {
  std::vector<char> bytes(static_cast<size_t>(bytesOf(gradient.param)));
  copyFromArena(gradient.rank, gradient.offset, bytes);
  return bytes;
}

/// In the first process `bytes` gets the value; the others give what they have.
Status Session::gatherValue(size_t param, char *bytes) const {
  std::vector<int32_t> homes = homesOf(param);
  int32_t home = homes.empty() ? -1 : homes[0];
  std::string mine;
  if (home < 0 || loaded->isLocal(home)) {
    std::vector<char> content = value(param);
    if (Status status = readStatus(); !status.ok())
      return status;
    mine.assign(content.begin(), content.end());
  }
  if (run.network) {
    auto all = run.network->gather(std::move(mine));
    if (!all.ok())
      return all.status();
    if (!run.isFirst())
      return Status::success();
    mine = std::move((*all)[static_cast<size_t>(std::max(home, 0))]);
  }
  std::copy(mine.begin(), mine.end(), bytes);
  return Status::success();
}

Status Session::save(const std::string &path, int64_t steps) const {
  if (!run.isFirst()) {
    for (size_t i = 0; i < run.metadata().params.size(); ++i)
      if (Status status = gatherValue(i, nullptr); !status.ok())
        return status;
    return Status::success();
  }
  std::vector<data::SafeTensorsEntry> entries;
  for (const Parameter &param : run.metadata().params)
    entries.push_back({param.name, param.type, param.shape});
  return data::writeSafeTensors(
      path, entries,
      {{"model", run.metadata().model}, {"steps", std::to_string(steps)}},
      [&](size_t i, char *bytes) { return gatherValue(i, bytes); });
}

Expected<std::vector<std::vector<host::Event>>>
Session::timeline(int32_t steps) const {
  std::vector<std::vector<host::Event>> ranks = loaded->timeline(steps);
  if (!run.network)
    return ranks;
  static_assert(std::is_trivially_copyable_v<host::Event>);
  const std::vector<host::Event> &own = ranks.front();
  auto all = run.network->gather(
      std::string(reinterpret_cast<const char *>(own.data()),
                  own.size() * sizeof(host::Event)));
  if (!all.ok())
    return all.status();
  ranks.clear();
  for (const std::string &bytes : *all) {
    std::vector<host::Event> &events =
        ranks.emplace_back(bytes.size() / sizeof(host::Event));
    std::memcpy(events.data(), bytes.data(),
                events.size() * sizeof(host::Event));
  }
  return ranks;
}

/// What a process tells the first one of its GPU.
static std::array<int64_t *, 10> numbersOf(cuda::DeviceUse &use) {
  return {&use.context,   &use.arenas,    &use.code, &use.libraries,
          &use.messages,  &use.graphs,    &use.rest, &use.most,
          &use.highWater, &use.strayLines};
}

Expected<std::vector<cuda::DeviceUse>> Session::deviceMemory() const {
  std::vector<cuda::DeviceUse> ranks(description->ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (loaded->isLocal(static_cast<int32_t>(rank))) {
      auto use = onDevice->memoryOf(static_cast<int32_t>(rank));
      if (!use.ok())
        return use.status();
      ranks[rank] = std::move(*use);
    }
  if (!run.network)
    return ranks;
  cuda::DeviceUse &own = ranks[static_cast<size_t>(run.network->rank())];
  std::string text;
  for (const int64_t *number : numbersOf(own))
    text += std::to_string(*number) + " ";
  auto all = run.network->gather(text + own.device);
  if (!all.ok())
    return all.status();
  for (size_t rank = 0; rank < all->size(); ++rank) {
    std::istringstream reader((*all)[rank]);
    cuda::DeviceUse &use = ranks[rank];
    for (int64_t *number : numbersOf(use))
      reader >> *number;
    use.firstRank = static_cast<int32_t>(rank);
    std::getline(reader >> std::ws, use.device);
  }
  return ranks;
}

Status Session::writeFlightRecord(const std::string &prefix,
                                  const std::string &failure) const {
  std::vector<std::vector<host::Event>> events = loaded->timeline(flightSteps);
  Status first = Status::success();
  for (int32_t rank = 0, next = 0; next < static_cast<int32_t>(events.size());
       ++rank) {
    if (!loaded->isLocal(rank))
      continue;
    // Lanes of a trace are ranks: those of others stay empty.
    std::vector<std::vector<host::Event>> lanes(description->ranks.size());
    lanes[rank] = events[next++];
    std::string text = host::toText(*description, rank, lanes[rank]);
    if (std::string place = loaded->stoppedAt(rank); !place.empty())
      text += place + "\n";
    text += failure + "\n";
    std::string name = flightRecordName(prefix, rank);
    for (const Status &status :
         {writeFileAtomically(name + ".txt", text),
          writeFileAtomically(
              name + ".trace.json",
              host::toChromeTrace(run.metadata(), *description, lanes))})
      if (first.ok() && !status.ok())
        first = status;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Session: steps
//===----------------------------------------------------------------------===//

void Session::prepareInputs(int64_t step) {
  for (size_t i = 0; i < batches[step % 2].size(); ++i)
    run.inputs->fill(i, step, firstMicrobatch, numMicrobatches(),
                     batches[step % 2][i].data());
  if (!lengths[step % 2].empty())
    run.inputs->fillLengths(step, firstMicrobatch, numMicrobatches(),
                            lengths[step % 2].data());
  preparedStep = step;
}

void Session::setFirstMicrobatch(int64_t first) {
  firstMicrobatch = first;
  preparedStep = 0;
}

Status Session::step(int64_t step, StepResult &result) {
  if (preparedStep != step)
    prepareInputs(step);
  if (Status status = loaded->begin(inputs[step % 2].data(),
                                    settingsOfStep(run.options, step));
      !status.ok())
    return status;
  if (step < run.options.steps)
    prepareInputs(step + 1);
  return loaded->finish(result);
}
