//===- Nccl.cpp - the functions of NCCL, between stand-ins of GPUs --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has communicators that do not block, and no others. What a call begins is not
// over when it returns, and the caller has to ask ncclCommGetAsyncError: a
// group has a thread, which puts it into its streams some time later.
//
//===----------------------------------------------------------------------===//

#include "Communicator.h"
#include "NcclApi.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace veeline;
using namespace veeline::standin;
namespace api = veeline::cuda::api;

static constexpr int unhandledCudaError = 1, systemError = 2, internalError = 3,
                     invalidArgument = 4, invalidUsage = 5;

/// What a communicator takes of its device.
static constexpr int64_t communicatorBytes = 1 << 20;
static constexpr int numTypes = 10;

namespace {
/// What ncclUniqueId holds: a file that the process has open.
struct Id {
  char magic[16];
  int32_t process, file;
};

struct Library {
  std::mutex mutex;
  std::map<Communicator *, std::shared_ptr<Communicator>> communicators;
  std::map<int, Communicator *> ownFiles; ///< Of ids, until all have joined.
};

/// Transfers of the calling thread between begin and end of a group.
struct Group {
  int depth = 0;
  std::vector<std::pair<Communicator *, Unit>> units;
};
} // namespace

static Library &library() {
  // Never destroyed, as the engine.
  static auto *all = new Library();
  return *all;
}

static thread_local Group group;

#define ENTER(name)                                                            \
  if (int code = standin::enterCall(name))                                     \
    return code;                                                               \
  std::lock_guard<std::mutex> lock(library().mutex)

static std::shared_ptr<Communicator> find(api::Comm handle) {
  auto &all = library().communicators;
  auto known = all.find(reinterpret_cast<Communicator *>(handle));
  return known == all.end() ? nullptr : known->second;
}

static void forget(const std::shared_ptr<Communicator> &communicator) {
  library().communicators.erase(communicator.get());
  standin::removeHandle(communicatorBytes);
}

/// Work of a group for a stream.
using Issued = std::pair<api::Stream, SharedWork>;

/// Lets a few polls take place before the communicator says that it is done.
static void keepBusy(Communicator &communicator) { communicator.polls = 2; }

/// Whether a group can be issued. With VEELINE_STANDIN_CONNECT=together, its
/// peers have to be about to issue their ends.
static bool haveMet(const Communicator &communicator) {
  const char *text = std::getenv("VEELINE_STANDIN_CONNECT");
  if (!text || std::strcmp(text, "together") != 0)
    return true;
  bool all = true;
  for (const Unit &unit : communicator.pending)
    all = communicator.meet(unit) && all;
  return all;
}

/// Connects ranks as NCCL does, when a group first has a message between them.
/// Two ranks that are as far apart in one direction of the ring as in the
/// other, such as any two of two, tell each other of both directions in one
/// message. Its size depends on the directions that the group connects, so that
/// both must connect the same.
static void connect(Communicator &communicator) {
  std::set<int> sends, receives;
  for (const Unit &unit : communicator.pending) {
    if (standin::isCapturing(unit.stream))
      continue;
    for (const Collective &collective : unit.collectives)
      communicator.known.insert(collective.kind);
    for (const Transfer &transfer : unit.transfers) {
      bool isNew = transfer.isSend
                       ? communicator.sendsTo.insert(transfer.peer).second
                       : communicator.receivesFrom.insert(transfer.peer).second;
      if (isNew)
        (transfer.isSend ? sends : receives).insert(transfer.peer);
    }
  }
  auto say = [&](int peer, bool isSend, bool isBoth) {
    bool isOpposite =
        (peer - communicator.rank) * 2 % communicator.numRanks == 0;
    if (peer != communicator.rank && isOpposite &&
        !communicator.connect(peer, isSend,
                              isBoth ? Connection::both : Connection::alone))
      communicator.fail(internalError,
                        "rank " + std::to_string(peer) +
                            " connects one direction where this one connects "
                            "both, or the other way round");
  };
  for (int peer : sends)
    say(peer, true, receives.count(peer));
  for (int peer : receives)
    say(peer, false, sends.count(peer));
}

/// Whatever a step captures, an eager one has to have connected.
static void checkCapture(Communicator &communicator, const Unit &unit) {
  for (const Transfer &transfer : unit.transfers) {
    const std::set<int> &known =
        transfer.isSend ? communicator.sendsTo : communicator.receivesFrom;
    if (!known.count(transfer.peer))
      communicator.fail(unhandledCudaError,
                        "rank " + std::to_string(transfer.peer) +
                            " is connected while a stream is captured");
  }
  for (const Collective &collective : unit.collectives)
    if (!communicator.known.count(collective.kind))
      communicator.fail(unhandledCudaError,
                        std::string("ranks are connected for ") +
                            nameOf(collective.kind) +
                            " while a stream is captured");
}

/// Takes the messages of a group, for `enqueue`.
static std::vector<Issued>
take(const std::shared_ptr<Communicator> &communicator) {
  std::vector<Issued> issued;
  connect(*communicator);
  for (Unit &unit : communicator->pending) {
    bool isCaptured = standin::isCapturing(unit.stream);
    uint64_t ticket = isCaptured ? 0 : ++communicator->numIssued;
    if (isCaptured)
      checkCapture(*communicator, unit);
    api::Stream stream = unit.stream;
    issued.push_back(
        {stream, [communicator, unit = std::move(unit), ticket]() mutable {
           return carryOut(communicator, unit, ticket);
         }});
  }
  communicator->pending.clear();
  return issued;
}

/// Closes the file of the communicator's id: nobody else will use it.
static void closeFile(const Communicator &communicator) {
  for (auto &[file, owner] : library().ownFiles)
    if (owner == &communicator) {
      ::close(file);
      library().ownFiles.erase(file);
      return;
    }
}

/// Whether all members have joined. If they cannot, this is an error of the
/// communicator, and also true.
static bool isConnected(Communicator &communicator) {
  if (communicator.hasConnected)
    return true;
  int look = communicator.look();
  if (look < 0)
    communicator.fail(invalidUsage, "duplicate GPU: two ranks have one");
  communicator.hasConnected = look > 0;
  if (look != 0)
    closeFile(communicator);
  return look != 0;
}

//===----------------------------------------------------------------------===//
// Threads of groups
//===----------------------------------------------------------------------===//

namespace {
/// When a group's thread goes on.
struct Moment {
  std::chrono::microseconds delay{0};
  bool isAsked = false; ///< And not before a poll would have liked to.
};
} // namespace

/// Of the next group, as VEELINE_STANDIN_GROUPS has it.
static Moment chooseMoment() {
  const char *text = std::getenv("VEELINE_STANDIN_GROUPS");
  std::string order = text ? text : "random:0";
  if (order == "late")
    return {std::chrono::microseconds(0), true};
  static std::mt19937 random(static_cast<unsigned>(
      std::strtoul(order.c_str() + order.find(':') + 1, nullptr, 10)));
  return {std::chrono::microseconds(random() % 100), random() % 2 == 0};
}

/// Whether a group can go into its streams: NCCL connects all of its
/// communicators before it issues anything. Those that have failed take no
/// part.
static bool canIssue(const std::vector<Communicator *> &members, bool isAsked) {
  bool can = true, isOver = true, hasAsked = false;
  for (Communicator *member : members) {
    if (member->isAborted.load() || member->failure.load() != 0)
      continue;
    isOver = false;
    hasAsked |= member->polls == 0;
    can = isConnected(*member) && haveMet(*member) && can;
  }
  return isOver || (can && (hasAsked || !isAsked));
}

/// What the thread of a group does. Nobody gives back a communicator that has a
/// thread.
static void runGroup(const std::vector<Communicator *> &members,
                     Moment moment) {
  std::this_thread::sleep_for(moment.delay);
  std::unique_lock<std::mutex> lock(library().mutex);
  while (!canIssue(members, moment.isAsked)) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    lock.lock();
  }
  std::vector<Issued> issued;
  for (Communicator *member : members)
    if (!member->isAborted.load() && member->failure.load() == 0)
      for (Issued &work : take(find(reinterpret_cast<api::Comm>(member))))
        issued.push_back(std::move(work));
  // Streams may have no room for more, which nobody else waits for.
  lock.unlock();
  for (auto &[stream, work] : issued)
    standin::enqueueShared(stream, std::move(work));
  issued.clear();
  lock.lock();
  for (Communicator *member : members)
    member->hasThread = false;
}

/// Begins to issue what is pending on `members`.
static int startThread(std::vector<Communicator *> members) {
  for (Communicator *member : members)
    member->hasThread = true;
  try {
    std::thread([members, moment = chooseMoment()] {
      runGroup(members, moment);
    }).detach();
  } catch (const std::system_error &) {
    for (Communicator *member : members)
      member->hasThread = false;
    return systemError;
  }
  return api::ncclInProgress;
}

extern "C" {

VEELINE_STANDIN int ncclGetVersion(int *version) {
  *version = static_cast<int>(setting("VEELINE_STANDIN_NCCL", 22809));
  return standin::enterCall("ncclGetVersion");
}

VEELINE_STANDIN const char *ncclGetErrorString(int) {
  return "the stand-in was told to say so";
}

VEELINE_STANDIN const char *ncclGetLastError(api::Comm handle) {
  static thread_local std::string text;
  std::lock_guard<std::mutex> lock(library().mutex);
  std::shared_ptr<Communicator> communicator = find(handle);
  text = communicator ? communicator->whatFailed() : "";
  return text.c_str();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int ncclGetUniqueId(api::UniqueId *unique) {
  ENTER("ncclGetUniqueId");
  Id id = {"veeline standin", ::getpid(),
           ::memfd_create("veeline-standin-nccl", MFD_CLOEXEC)};
  if (id.file < 0)
    return systemError;
  library().ownFiles[id.file] = nullptr;
  std::memset(unique, 0, sizeof(*unique));
  std::memcpy(unique->internal, &id, sizeof(id));
  return api::ncclSuccess;
}

/// Opens the file of an id, which the caller closes; -1: it is no id.
static int openId(const api::UniqueId &unique) {
  Id id;
  std::memcpy(&id, unique.internal, sizeof(id));
  if (std::memcmp(id.magic, "veeline standin", sizeof(id.magic)) != 0)
    return -1;
  std::string path =
      "/proc/" + std::to_string(id.process) + "/fd/" + std::to_string(id.file);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

VEELINE_STANDIN int ncclCommInitRankConfig(api::Comm *handle, int numRanks,
                                           api::UniqueId unique, int rank,
                                           api::NcclConfig *config) {
  ENTER("ncclCommInitRankConfig");
  auto isChannels = [](int count) {
    return count == INT_MIN || (count >= 1 && count <= 64);
  };
  if (rank < 0 || rank >= numRanks || config->magic != 0xcafebeef ||
      config->blocking != 0 || !isChannels(config->minCtas) ||
      !isChannels(config->maxCtas) || standin::currentDevice() < 0)
    return invalidArgument;
  int file = openId(unique);
  if (file < 0)
    return systemError;
  auto communicator =
      std::make_shared<Communicator>(rank, numRanks, standin::currentDevice());
  bool hasJoined = communicator->join(file);
  ::close(file);
  if (!hasJoined)
    return systemError;
  Id id;
  std::memcpy(&id, unique.internal, sizeof(id));
  if (auto own = library().ownFiles.find(id.file);
      id.process == ::getpid() && own != library().ownFiles.end())
    own->second = communicator.get();
  keepBusy(*communicator);
  library().communicators[communicator.get()] = communicator;
  standin::addHandle(communicatorBytes);
  *handle = reinterpret_cast<api::Comm>(communicator.get());
  return api::ncclInProgress;
}

VEELINE_STANDIN int ncclCommGetAsyncError(api::Comm handle, int *state) {
  ENTER("ncclCommGetAsyncError");
  std::shared_ptr<Communicator> communicator = find(handle);
  if (!communicator)
    return invalidArgument;
  *state = api::ncclInProgress;
  if (communicator->failure.load() == 0) {
    if (communicator->polls > 0) {
      --communicator->polls;
      return api::ncclSuccess;
    }
    if (communicator->hasThread || !isConnected(*communicator))
      return api::ncclSuccess;
    if (int code = standin::enterCall("asyncError"))
      communicator->fail(code, "it came later");
  }
  *state = communicator->failure.load();
  return api::ncclSuccess;
}

VEELINE_STANDIN int ncclCommFinalize(api::Comm handle) {
  ENTER("ncclCommFinalize");
  std::shared_ptr<Communicator> communicator = find(handle);
  if (!communicator || communicator->isFinalized)
    return invalidArgument;
  if (communicator->isBusy())
    return invalidUsage;
  communicator->isFinalized = true;
  keepBusy(*communicator);
  return api::ncclInProgress;
}

VEELINE_STANDIN int ncclCommDestroy(api::Comm handle) {
  ENTER("ncclCommDestroy");
  std::shared_ptr<Communicator> communicator = find(handle);
  if (!communicator)
    return invalidArgument;
  if (!communicator->isFinalized || communicator->isBusy())
    return invalidUsage;
  // NCCL would wait for ever: until graphs that have its messages are gone.
  if (communicator.use_count() > 2)
    return invalidUsage;
  forget(communicator);
  return api::ncclSuccess;
}

/// Whether the communicator could be given back. No graph or stream may have
/// its messages, and no other communicator may have messages under way on its
/// device, which only the abort of that one would end.
static bool canBeForgotten(const std::shared_ptr<Communicator> &communicator) {
  if (communicator.use_count() > 2 || communicator->hasThread)
    return false;
  for (auto &[key, other] : library().communicators)
    if (other->device == communicator->device && !other->isAborted.load() &&
        other->numUnderWay.load() > 0)
      return false;
  return true;
}

VEELINE_STANDIN int ncclCommAbort(api::Comm handle) {
  if (int code = standin::enterCall("ncclCommAbort"))
    return code;
  std::unique_lock<std::mutex> lock(library().mutex);
  std::shared_ptr<Communicator> communicator = find(handle);
  if (!communicator || communicator->isAborted.exchange(true))
    return invalidArgument;
  closeFile(*communicator);
  // May wait for ever, as NCCL does.
  while (!canBeForgotten(communicator)) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    lock.lock();
  }
  forget(communicator);
  return api::ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

VEELINE_STANDIN int ncclGroupStart() {
  ENTER("ncclGroupStart");
  ++group.depth;
  return api::ncclSuccess;
}

VEELINE_STANDIN int ncclGroupEnd() {
  int code = standin::enterCall("ncclGroupEnd");
  std::lock_guard<std::mutex> lock(library().mutex);
  if (group.depth == 0)
    return invalidUsage;
  if (--group.depth > 0)
    return code;
  auto units = std::move(group.units);
  group.units.clear();
  if (code != 0)
    return code;
  std::vector<Communicator *> members;
  for (auto &[key, unit] : units) {
    std::shared_ptr<Communicator> communicator =
        find(reinterpret_cast<api::Comm>(key));
    if (!communicator)
      return invalidArgument;
    communicator->pending.push_back(std::move(unit));
    keepBusy(*communicator);
    if (std::find(members.begin(), members.end(), key) == members.end())
      members.push_back(key);
  }
  return members.empty() ? int(api::ncclSuccess)
                         : startThread(std::move(members));
}

/// The communicator, if a call of the current group may use it now. Outside of
/// groups a call would be a group of its own: nobody does that here.
static int findForGroup(api::Comm handle,
                        std::shared_ptr<Communicator> &communicator) {
  communicator = find(handle);
  if (!communicator)
    return invalidArgument;
  return group.depth == 0 || communicator->isBusy() || communicator->isFinalized
             ? invalidUsage
             : api::ncclSuccess;
}

/// What the group does on this communicator and stream.
static Unit &unitOf(Communicator &communicator, api::Stream stream) {
  for (auto &[known, unit] : group.units)
    if (known == &communicator && unit.stream == stream)
      return unit;
  return group.units.emplace_back(&communicator, Unit{stream, {}}).second;
}

static char *findElements(const void *place, uint64_t count, int type) {
  return standin::find(place, static_cast<int64_t>(count * sizeOf(type)));
}

static int add(api::Comm handle, api::Stream stream, Transfer transfer,
               const void *place) {
  std::shared_ptr<Communicator> communicator;
  if (int code = findForGroup(handle, communicator))
    return code;
  if (transfer.peer < 0 || transfer.peer >= communicator->numRanks ||
      transfer.type < 0 || transfer.type >= numTypes || transfer.count == 0)
    return invalidArgument;
  transfer.place = findElements(place, transfer.count, transfer.type);
  if (!transfer.place)
    return invalidArgument;
  unitOf(*communicator, stream).transfers.push_back(transfer);
  return api::ncclSuccess;
}

VEELINE_STANDIN int ncclSend(const void *place, size_t count, int type,
                             int peer, api::Comm handle, api::Stream stream) {
  ENTER("ncclSend");
  (void)standin::enterCall(
      ("ncclSend of type " + std::to_string(type)).c_str());
  return add(handle, stream, {true, nullptr, count, type, peer}, place);
}

VEELINE_STANDIN int ncclRecv(void *place, size_t count, int type, int peer,
                             api::Comm handle, api::Stream stream) {
  ENTER("ncclRecv");
  return add(handle, stream, {false, nullptr, count, type, peer}, place);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
struct Range {
  const char *begin, *end;
  bool meets(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

static Range sendRange(const Collective &it, int numRanks) {
  return {it.send, it.send + it.sendElements(numRanks) * sizeOf(it.type)};
}

static Range receiveRange(const Collective &it, int numRanks) {
  return {it.receive,
          it.receive + it.receiveElements(numRanks) * sizeOf(it.type)};
}

/// A call may work in place, where NCCL says what that is. Otherwise its
/// buffers must not meet.
static bool isInPlaceOrApart(const Collective &it,
                             const Communicator &communicator) {
  uint64_t share =
      static_cast<uint64_t>(communicator.rank) * it.count * sizeOf(it.type);
  const char *sends = it.send, *receives = it.receive;
  if (it.kind == CollectiveKind::reduceScatter)
    sends += share;
  if (it.kind == CollectiveKind::allGather)
    receives += share;
  return sends == receives ||
         !sendRange(it, communicator.numRanks)
              .meets(receiveRange(it, communicator.numRanks));
}

/// Calls of a group run side by side: none may write what another one uses.
static bool isRace(const Collective &one, const Collective &other,
                   int numRanks) {
  Range received = receiveRange(one, numRanks);
  return received.meets(sendRange(other, numRanks)) ||
         received.meets(receiveRange(other, numRanks)) ||
         sendRange(one, numRanks).meets(receiveRange(other, numRanks));
}

static int add(api::Comm handle, api::Stream stream, Collective collective,
               const void *send, void *receive) {
  std::shared_ptr<Communicator> communicator;
  if (int code = findForGroup(handle, communicator))
    return code;
  int numRanks = communicator->numRanks;
  bool isFloat = collective.type == 7 || collective.type == 8;
  if (collective.type < 0 || collective.type >= numTypes ||
      (collective.adds() && !isFloat) || collective.count == 0 ||
      collective.root < 0 || collective.root >= numRanks)
    return invalidArgument;
  collective.send =
      findElements(send, collective.sendElements(numRanks), collective.type);
  collective.receive = findElements(
      receive, collective.receiveElements(numRanks), collective.type);
  if (!collective.send || !collective.receive ||
      !isInPlaceOrApart(collective, *communicator))
    return invalidArgument;
  Unit &unit = unitOf(*communicator, stream);
  for (const Collective &other : unit.collectives)
    if (isRace(collective, other, numRanks))
      return invalidUsage;
  unit.collectives.push_back(collective);
  return api::ncclSuccess;
}

/// ncclSum; the only operation that is needed.
static constexpr int sumOperation = 0;

VEELINE_STANDIN int ncclAllReduce(const void *send, void *receive, size_t count,
                                  int type, int operation, api::Comm handle,
                                  api::Stream stream) {
  ENTER("ncclAllReduce");
  if (operation != sumOperation)
    return invalidArgument;
  return add(handle, stream,
             {CollectiveKind::allReduce, nullptr, nullptr, count, type}, send,
             receive);
}

VEELINE_STANDIN int ncclReduceScatter(const void *send, void *receive,
                                      size_t count, int type, int operation,
                                      api::Comm handle, api::Stream stream) {
  ENTER("ncclReduceScatter");
  if (operation != sumOperation)
    return invalidArgument;
  return add(handle, stream,
             {CollectiveKind::reduceScatter, nullptr, nullptr, count, type},
             send, receive);
}

VEELINE_STANDIN int ncclReduce(const void *send, void *receive, size_t count,
                               int type, int operation, int root,
                               api::Comm handle, api::Stream stream) {
  ENTER("ncclReduce");
  if (operation != sumOperation)
    return invalidArgument;
  return add(handle, stream,
             {CollectiveKind::reduce, nullptr, nullptr, count, type, root},
             send, receive);
}

VEELINE_STANDIN int ncclAllGather(const void *send, void *receive, size_t count,
                                  int type, api::Comm handle,
                                  api::Stream stream) {
  ENTER("ncclAllGather");
  return add(handle, stream,
             {CollectiveKind::allGather, nullptr, nullptr, count, type}, send,
             receive);
}

VEELINE_STANDIN int ncclBroadcast(const void *send, void *receive, size_t count,
                                  int type, int root, api::Comm handle,
                                  api::Stream stream) {
  ENTER("ncclBroadcast");
  return add(handle, stream,
             {CollectiveKind::broadcast, nullptr, nullptr, count, type, root},
             send, receive);
}

} // extern "C"
