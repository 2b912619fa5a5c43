//===- CudaLoading.cpp - loading a program for GPUs -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of CudaExecutor that runs once, before the first step.
//
//===----------------------------------------------------------------------===//

#include "CudaExecutor.h"

#include "FirstMessages.h"
#include "Placement.h"

using namespace veeline;
using namespace veeline::cuda;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

Status CudaExecutor::loadLibraries(const CudaOptions &options) {
  VEELINE_TRY_VALUE(driver, Driver::load(options.driver));
  VEELINE_TRY_VALUE(blas, BlasLt::load(options.blasLt));
  VEELINE_TRY(loadCudnn(options));
  if (!network)
    return Status::success();
  // Sums within NVSwitch, NCCL's default for more than two GPUs of one, are not
  // in the same order each time (NVIDIA/nccl#1497). No member of ncclConfig_t
  // turns them off. What the user has set counts.
  if (program.sums == Sums::nccl)
    (void)::setenv("NCCL_NVLS_ENABLE", "0", /*overwrite=*/0);
  VEELINE_TRY_VALUE(nccl, Nccl::load(options.nccl));
  return Status::success();
}

/// Loads cuDNN if the program has convolutions or attention. If the user names
/// no file, the program can run without cuDNN, so a failure is only noted.
Status CudaExecutor::loadCudnn(const CudaOptions &options) {
  bool hasConvolutions = false, hasAttentions = false;
  for (const artifact::Rank &rank : program.ranks) {
    hasConvolutions |= !rank.convolutions.empty();
    hasAttentions |= !rank.attentions.empty();
  }
  if ((!hasConvolutions && !hasAttentions) || options.cudnn == "none")
    return Status::success();
  Expected<Cudnn> newDnn = Cudnn::load(options.cudnn);
  if (newDnn.ok())
    dnn = *newDnn;
  else if (!options.cudnn.empty())
    return newDnn.status();
  else
    note = (!hasAttentions     ? "convolutions are matrix products: "
            : !hasConvolutions ? "attention is in kernels of the artifact: "
                               : "convolutions are matrix products and "
                                 "attention is in kernels of the artifact: ") +
           newDnn.message();
  return Status::success();
}

void CudaExecutor::noteMissing() {
  size_t epilogues = 0, convolutions = 0, attentions = 0;
  size_t missingEpilogues = 0, missingConvolutions = 0, missingAttentions = 0;
  for (const CudaWorker *worker : local) {
    for (const artifact::Gemm &gemm : worker->rank.description->gemms)
      epilogues += gemm.epilogue != artifact::Epilogue::none;
    missingEpilogues += worker->rank.missingEpilogues();
    convolutions += worker->rank.description->convolutions.size();
    attentions += worker->rank.description->attentions.size();
    missingConvolutions += worker->rank.missingConvolutions();
    missingAttentions += worker->rank.missingAttentions();
  }
  if (missingEpilogues > 0)
    note +=
        (note.empty() ? "" : "; ") + std::string("cuBLASLt has nothing for ") +
        std::to_string(missingEpilogues) + " of " + std::to_string(epilogues) +
        " epilogues of products, which are in kernels instead";
  if (!dnn)
    return;
  bool isFirst = true;
  auto addNote = [&](size_t missing, size_t all, const std::string &what) {
    if (missing == 0)
      return;
    note += (note.empty() ? "" : "; ") +
            std::string(isFirst ? "cuDNN has nothing for " : "nor for ") +
            std::to_string(missing) + " of " + std::to_string(all) + what;
    isFirst = false;
  };
  addNote(missingConvolutions, convolutions,
          " convolutions, which are matrix products instead");
  addNote(missingAttentions, attentions,
          " attentions in the memory that libraries have, which are in kernels "
          "instead (compile with --no-deterministic for derivatives that take "
          "less)");
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Opens all devices and checks the code for them, before allocating anything.
Status CudaExecutor::openDevices(const CudaOptions &options) {
  if (network) {
    Expected<int32_t> ordinal = placeProcess(driver, options);
    return ordinal.ok() ? openDevice(network->rank(), *ordinal, options)
                        : ordinal.status();
  }
  if (!options.devices.empty() && options.devices.size() < program.ranks.size())
    return Status::error("there are " + std::to_string(program.ranks.size()) +
                         " ranks, and --device names GPUs for " +
                         std::to_string(options.devices.size()) + " of them");
  for (size_t rank = 0; rank < program.ranks.size(); ++rank)
    VEELINE_TRY(openDevice(static_cast<int32_t>(rank),
                           options.devices.empty() ? 0 : options.devices[rank],
                           options));
  return Status::success();
}

Status CudaExecutor::openDevice(int32_t rank, int32_t ordinal,
                                const CudaOptions &options) {
  OpenDevice &entry = devices[ordinal];
  if (!entry.device) {
    VEELINE_TRY_VALUE(std::shared_ptr<Device> opened,
                      Device::open(driver, ordinal));
    VEELINE_TRY(opened->setCode(artifact));
    if (options.poison) {
      opened->book().look(MemoryBook::context);
      opened->book().open(MemoryBook::rest);
    }
    entry.device = std::move(opened);
  }
  addWorker(rank).device = entry.device;
  return Status::success();
}

/// Called before anything else takes memory, so that the error can say how much
/// is missing.
Status CudaExecutor::allocateArenas(const OpenDevice &entry) {
  int64_t available = 0, total = 0;
  VEELINE_TRY(entry.device->makeCurrent());
  VEELINE_TRY(entry.device->freeBytes(available, total));
  MemoryBook::Scope measured(entry.device->book(), MemoryBook::arenas);
  for (CudaWorker *worker : local) {
    if (worker->device != entry.device)
      continue;
    CudaRank &rank = worker->rank;
    VEELINE_TRY(rank.allocateArena(
        entry.device,
        program.ranks[static_cast<size_t>(rank.index)].arenaBytes));
    if (!rank.memory().isThere())
      return tooLittle(*entry.device, available, total);
  }
  return Status::success();
}

/// The error for too little memory: what all ranks of the device need, and what
/// was free before.
Status CudaExecutor::tooLittle(const Device &device, int64_t available,
                               int64_t total) const {
  int64_t sum = 0;
  std::vector<std::string> ranks, parts;
  for (const CudaWorker *worker : local) {
    if (worker->device.get() != &device)
      continue;
    int64_t bytes =
        program.ranks[static_cast<size_t>(worker->rank.index)].arenaBytes;
    sum += bytes;
    ranks.push_back(std::to_string(worker->rank.index));
    parts.push_back(std::to_string(bytes));
  }
  auto join = [](const std::vector<std::string> &texts, const char *between) {
    std::string all;
    for (const std::string &text : texts)
      all += (all.empty() ? "" : between) + text;
    return all;
  };
  bool isOne = ranks.size() == 1;
  return Status::error(
      "it needs " + std::to_string(sum) + " bytes of " + device.name() +
      (isOne ? " for rank " : " for ranks ") + join(ranks, ", ") +
      (isOne ? "" : " (" + join(parts, " + ") + ")") + ", where " +
      std::to_string(available) + " of " + std::to_string(total) + " are free");
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

Status CudaExecutor::addChannels() {
  deviceChannels.resize(program.channels.size());
  channels.resize(program.channels.size());
  for (size_t i = 0; i < program.channels.size(); ++i) {
    const artifact::Channel &channel = program.channels[i];
    auto index = static_cast<int32_t>(i);
    bool isShape = channel.kind == artifact::ChannelKind::shape;
    if (!network && !isShape)
      VEELINE_TRY(addLocalChannel(index));
    else if (!network)
      channels[i] =
          std::make_unique<engine::ThreadChannel>(group, index, channel,
                                                  /*hasSpare=*/false);
    else if (isShape && leadsElsewhere(channel))
      channels[i] = network->connect(group, index, channel);
  }
  return Status::success();
}

Status CudaExecutor::addLocalChannel(int32_t index) {
  const artifact::Channel &channel = program.channels[index];
  const Device &from = *workers[channel.fromRank]->device;
  if (workers[channel.toRank]->device.get() != &from)
    return Status::error("ranks " + std::to_string(channel.fromRank) + " and " +
                         std::to_string(channel.toRank) +
                         " exchange messages, and are threads on two GPUs; "
                         "ranks of one process share one");
  deviceChannels[index] =
      std::make_unique<DeviceChannel>(group, index, channel);
  VEELINE_TRY(from.makeCurrent());
  return deviceChannels[index]->prepare(from);
}

Status CudaExecutor::prepareRank(CudaWorker &worker,
                                 const CudaOptions &options) {
  CudaRank &rank = worker.rank;
  describeRank(worker);
  rank.whenLateIssued = [this, &worker] { setWhole(worker, worker.numEnded); };
  // Only lengths are written there.
  rank.discard.resize(sizeof(int64_t));
  VEELINE_TRY(worker.device->makeCurrent());
  VEELINE_TRY(
      rank.prepare(artifact, blas, dnn ? &*dnn : nullptr, options.poison));
  VEELINE_TRY(keepTimes(worker, options));
  if (network)
    return Status::success();
  std::vector<DeviceChannel *> messages;
  messages.reserve(rank.channels.size());
  for (size_t i = 0; i < rank.channels.size(); ++i)
    messages.push_back(
        deviceChannels[static_cast<size_t>(rank.firstChannel) + i].get());
  auto newTransport =
      std::make_unique<LocalTransport>(std::move(messages), watch);
  VEELINE_TRY(newTransport->prepare(rank));
  worker.transport = newTransport.get();
  watch.add(rank, *newTransport);
  setTransport(rank, std::move(newTransport), options);
  return Status::success();
}

void CudaExecutor::setTransport(CudaRank &rank,
                                std::unique_ptr<Transport> newTransport,
                                const CudaOptions &options) {
  if (options.traceTensors)
    newTransport = std::make_unique<TracedTransport>(std::move(newTransport),
                                                     rank, artifact.metadata);
  rank.setTransport(std::move(newTransport));
}

/// Connects to the other processes, after everything that this one needs on its
/// GPU has been loaded.
Status CudaExecutor::connect(const CudaOptions &options) {
  CudaRank &rank = local.front()->rank;
  MemoryBook::Scope measured(local.front()->device->book(),
                             MemoryBook::messages);
  VEELINE_TRY_VALUE(communicators,
                    Communicators::connect(nccl, program, *network, options));
  VEELINE_TRY(exchangeFirstMessages(*communicators, rank, *network,
                                    options.timeoutSeconds));
  auto newTransport = std::make_unique<NcclTransport>(
      *communicators, options.timeoutSeconds, group.checksMessages(),
      [this] { prepareAbort(); });
  VEELINE_TRY(newTransport->prepare(rank));
  transport = newTransport.get();
  setTransport(rank, std::move(newTransport), options);
  return Status::success();
}

/// Creates the sum of a piece for the ranks of a stage, whose arenas are
/// allocated.
Expected<std::shared_ptr<DeviceReduction>>
CudaExecutor::makeReduction(int32_t stage, int32_t index, size_t piece) {
  std::vector<int32_t> members = program.ranksOf(stage);
  const artifact::Reduction &reduction =
      program.ranks[members[0]].reductions[index];
  const Device &device = *workers[members[0]]->device;
  std::vector<api::DevicePointer> accumulators;
  for (int32_t rank : members) {
    if (workers[rank]->device.get() != &device)
      return Status::error("ranks " + std::to_string(members[0]) + " and " +
                           std::to_string(rank) +
                           " add up gradients, and are threads on two GPUs; "
                           "ranks of one process share one");
    accumulators.push_back(
        workers[rank]->rank.memory().address() +
        static_cast<uint64_t>(reduction.pieces[piece].offset));
  }
  auto shared = std::make_shared<DeviceReduction>(
      group, group.indexOf(index), reduction.stream, reduction.pieces[piece],
      std::move(accumulators));
  VEELINE_TRY(device.makeCurrent());
  VEELINE_TRY(shared->prepare(device));
  return shared;
}

Status CudaExecutor::addReductions() {
  for (int32_t stage = 0; stage < program.stages; ++stage) {
    std::vector<int32_t> members = program.ranksOf(stage);
    const std::vector<artifact::Reduction> &table =
        program.ranks[members[0]].reductions;
    std::vector<std::vector<std::shared_ptr<DeviceReduction>>> reductions(
        table.size());
    for (size_t i = 0; i < table.size(); ++i)
      for (size_t piece = 0; piece < table[i].pieces.size(); ++piece) {
        VEELINE_TRY_VALUE(auto shared,
                          makeReduction(stage, static_cast<int32_t>(i), piece));
        reductions[i].push_back(std::move(shared));
      }
    for (size_t member = 0; member < members.size(); ++member)
      workers[members[member]]->transport->setReductions(reductions, member);
  }
  return Status::success();
}
