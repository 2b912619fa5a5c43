//===- Engine.cpp - memory, streams and events of a stand-in --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace veeline;
using namespace veeline::standin;

static std::string environment(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value ? value : otherwise;
}

static constexpr int captureUnsupported = 900, illegalState = 401;
static constexpr size_t garbageBytes = size_t(1) << 20;
static constexpr char garbageByte = '\xcb';

/// Ends the process, so that a test sees that it asks for something wrong.
[[noreturn]] static void fail(const std::string &message) {
  std::fprintf(stderr, "CUDA stand-in: %s\n", message.c_str());
  std::abort();
}

static int64_t toNumber(const std::string &text) {
  char *end = nullptr;
  errno = 0;
  int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (errno || text.empty() || *end)
    fail("'" + text + "' is no number");
  return number;
}

int64_t standin::setting(const char *name, int64_t otherwise) {
  const char *value = std::getenv(name);
  return value ? toNumber(value) : otherwise;
}

Engine &Engine::get() {
  // Never destroyed: others may use it while the process ends.
  static Engine *engine = new Engine();
  return *engine;
}

//===----------------------------------------------------------------------===//
// What it is
//===----------------------------------------------------------------------===//

void Engine::configure() {
  numDevices = static_cast<int>(setting("VEELINE_STANDIN_DEVICES", 1));
  driverVersion = static_cast<int>(setting("VEELINE_STANDIN_DRIVER", 13000));
  chip = static_cast<int>(
      toNumber(environment("VEELINE_STANDIN_CHIP", "sm_90").substr(3)));
  deviceBytes = setting("VEELINE_STANDIN_MEMORY", int64_t(1) << 33);
  capturesNoFills = environment("VEELINE_STANDIN_FILLS", "") == "device";
  if (isInitialized)
    return;
  isInitialized = true;
  setOrder(environment("VEELINE_STANDIN_ORDER", "late"));
  std::string failure = environment("VEELINE_STANDIN_FAIL", "");
  size_t first = failure.find(':'), last = failure.rfind(':');
  if (first != std::string::npos && first != last)
    failCall(failure.substr(0, first),
             toNumber(failure.substr(first + 1, last - first - 1)),
             static_cast<int>(toNumber(failure.substr(last + 1))));
  std::string hanging = environment("VEELINE_STANDIN_ENDLESS", "");
  std::string most = environment("VEELINE_STANDIN_QUEUE", "");
  if (size_t colon = hanging.find(':'); colon != std::string::npos)
    neverEnd(hanging.substr(0, colon), toNumber(hanging.substr(colon + 1)),
             most.empty() ? SIZE_MAX : static_cast<size_t>(toNumber(most)));
  reportFile = environment("VEELINE_STANDIN_REPORT", "");
  if (!reportFile.empty())
    std::atexit([] { get().report(); });
  loadKernels();
}

void Engine::setOrder(const std::string &text) {
  if (text == "fifo") {
    order = fifo;
  } else if (text == "late") {
    order = late;
  } else if (text == "slow") {
    order = slow;
  } else if (text.starts_with("random:")) {
    order = random;
    generator.seed(static_cast<uint32_t>(toNumber(text.substr(7))));
  } else {
    fail("there is no order '" + text + "'");
  }
}

void Engine::loadKernels() {
  std::string list = environment("VEELINE_STANDIN_KERNELS", "");
  while (!list.empty()) {
    size_t end = std::min(list.find(':'), list.size());
    std::string file = list.substr(0, end);
    list.erase(0, end + 1);
    void *library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      fail(std::string("no library of kernels: ") + ::dlerror());
    libraries.push_back(library);
  }
}

int Engine::beginLoading(bool isOfLibrary) const {
  if (isCapturing())
    return captureUnsupported;
  return numHandles > 0 && !isOfLibrary ? illegalState : 0;
}

int Engine::load(Function &function) const {
  if (function.isLoaded)
    return 0;
  int code = beginLoading(/*isOfLibrary=*/false);
  function.isLoaded = code == 0;
  return code;
}

static Run callKernel(Kernel kernel) {
  return
      [kernel](const void *const *params, const uint32_t *grid,
               const uint32_t *block, int64_t) { kernel(params, grid, block); };
}

/// Runs what the driver got, as a GPU would. What no GPU does ends the process.
static Run runPtx(std::shared_ptr<gpu::PtxModule> module,
                  const gpu::PtxKernel *kernel) {
  return [module = std::move(module),
          kernel](const void *const *params, const uint32_t *grid,
                  const uint32_t *block, int64_t sharedBytes) {
    gpu::Launch launch = {{grid[0], grid[1], grid[2]},
                          int64_t(block[0]) * block[1] * block[2],
                          sharedBytes,
                          params};
    gpu::RunOptions options;
    options.order = gpu::Order::warps;
    std::string wrong = gpu::runThreads(*kernel, launch, options);
    if (!wrong.empty())
      fail(kernel->name + ": " + wrong);
  };
}

Module::Module(const char *image) {
  if (std::string_view text = image; text.starts_with("//"))
    ptx = std::make_shared<gpu::PtxModule>(image);
}

std::optional<Function> Engine::findKernel(const Module &module,
                                           const std::string &name) {
  if (auto known = kernels.find(name); known != kernels.end())
    return known->second;
  Function function;
  function.name = name;
  for (void *library : libraries) {
    auto *kernel = reinterpret_cast<Kernel>(::dlsym(library, name.c_str()));
    auto *info = static_cast<const int64_t *>(
        ::dlsym(library, (name + ".info").c_str()));
    if (!kernel || !info)
      continue;
    function.run = callKernel(kernel);
    function.numArguments = static_cast<int32_t>(info[4]);
    return function;
  }
  if (!module.ptx || !module.ptx->has(name))
    return std::nullopt;
  std::string message;
  const gpu::PtxKernel *kernel = module.ptx->get(name, message);
  if (!kernel)
    fail(name + ": " + message);
  function.run = runPtx(module.ptx, kernel);
  function.numArguments = kernel->numParams;
  function.staticSharedBytes =
      static_cast<int32_t>(kernel->staticSharedBytes());
  return function;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

int Engine::enter(const std::string &function) {
  ++calls[function];
  ++numCalls;
  if (function != failing || --failingCall > 0)
    return 0;
  failing.clear();
  return failingCode;
}

void Engine::failCall(const std::string &function, int64_t nth, int code) {
  failing = function;
  failingCall = nth;
  failingCode = code;
}

void Engine::neverEnd(const std::string &kernel, int64_t nth, size_t queued) {
  endless = kernel;
  endlessRun = nth;
  mostQueued = queued;
}

bool Engine::isEndless(const std::string &kernel) {
  return kernel == endless && --endlessRun == 0;
}

int64_t Engine::countLive() const {
  int64_t retained = 0;
  for (auto [device, count] : contexts)
    retained += count;
  return static_cast<int64_t>(allocations.size() + pinned.size() +
                              streams.size() + events.size() + graphs.size() +
                              modules.size()) +
         retained + numHandles;
}

void Engine::report() const {
  FILE *file = std::fopen(reportFile.c_str(), "we");
  if (!file)
    return;
  for (const auto &[function, count] : calls)
    std::fprintf(file, "%s %lld\n", function.c_str(),
                 static_cast<long long>(count));
  std::fprintf(file, "live %lld\npeak %lld\n",
               static_cast<long long>(countLive()),
               static_cast<long long>(peakBytes));
  std::fclose(file);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A file full of what new memory has, which no program could expect. Pages of
/// it that nothing writes cost nothing.
static int openGarbage() {
  static const int file = [] {
    int created = ::memfd_create("veeline-standin", MFD_CLOEXEC);
    const std::vector<char> garbage(garbageBytes, garbageByte);
    if (created < 0 || ::write(created, garbage.data(), garbage.size()) !=
                           static_cast<ssize_t>(garbage.size()))
      fail("no memory for a device");
    return created;
  }();
  return file;
}

/// Takes addresses that nobody can access, and memory for the stand-in itself.
Allocation Engine::map(int64_t bytes, int device) const {
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.device = device;
  allocation.mappedBytes = (bytes + 4095) / 4096 * 4096;
  auto size = static_cast<size_t>(allocation.mappedBytes);
  const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *address = ::mmap(nullptr, size, PROT_NONE, anonymous, -1, 0);
  void *alias = ::mmap(nullptr, size, PROT_NONE, anonymous, -1, 0);
  if (address == MAP_FAILED || alias == MAP_FAILED)
    fail("no addresses for a device");
  allocation.address = static_cast<char *>(address);
  allocation.alias = static_cast<char *>(alias);
  for (size_t done = 0; done < size; done += garbageBytes)
    if (::mmap(allocation.alias + done, std::min(garbageBytes, size - done),
               PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, openGarbage(),
               0) == MAP_FAILED)
      fail("no memory for a device");
  return allocation;
}

Allocation *Engine::allocate(int64_t bytes, int device) {
  bytes += setting("VEELINE_STANDIN_MORE", 0);
  if (allocatedBytes(device) + bytes > deviceBytes)
    return nullptr;
  Allocation allocation = map(bytes, device);
  Allocation &kept = allocations[allocation.address] = allocation;
  peakBytes = std::max(peakBytes, allocatedBytes(device));
  return &kept;
}

bool Engine::release(const void *address) {
  auto it = allocations.find(static_cast<const char *>(address));
  if (it == allocations.end())
    return false;
  // Memory in use is freed after all work, as by the driver.
  finishAll();
  it = allocations.find(static_cast<const char *>(address));
  auto size = static_cast<size_t>(it->second.mappedBytes);
  ::munmap(it->second.address, size);
  ::munmap(it->second.alias, size);
  allocations.erase(it);
  return true;
}

const Allocation *Engine::allocationOf(const void *address) const {
  const auto *first = static_cast<const char *>(address);
  auto it = allocations.upper_bound(first);
  if (it == allocations.begin())
    return nullptr;
  const Allocation &allocation = (--it)->second;
  // Arguments of kernels that are numbers come here, too, and a difference of
  // negative ones from an address is more than a signed number holds.
  uint64_t offset = reinterpret_cast<uintptr_t>(address) -
                    reinterpret_cast<uintptr_t>(allocation.address);
  return offset <= static_cast<uint64_t>(allocation.bytes) ? &allocation
                                                           : nullptr;
}

char *Engine::find(const void *address, int64_t bytes) const {
  const Allocation *allocation = allocationOf(address);
  if (!allocation)
    return nullptr;
  int64_t offset = static_cast<const char *>(address) - allocation->address;
  bool isInside = bytes >= 0 && bytes <= allocation->bytes - offset;
  return isInside ? allocation->alias + offset : nullptr;
}

int64_t Engine::allocatedBytes(int device) const {
  int64_t bytes = 0;
  for (const auto &[address, allocation] : allocations)
    bytes += allocation.device == device ? allocation.bytes : 0;
  return bytes;
}

bool Engine::isPinned(const void *address, int64_t bytes) const {
  const auto *first = static_cast<const char *>(address);
  auto it = pinned.upper_bound(first);
  if (it == pinned.begin())
    return false;
  --it;
  int64_t offset = first - it->first;
  return offset <= it->second && bytes <= it->second - offset;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool Engine::isReady(const Stream &stream) {
  if (stream.ops.empty())
    return false;
  const Op &head = stream.ops.front();
  return !head.awaited || head.awaited->completed >= head.turn;
}

/// Runs the first op. False if it is not done: others may have to take part.
bool Engine::runHead(Stream &stream) {
  Op &head = stream.ops.front();
  if (head.shared && !head.progress)
    head.progress = head.shared();
  if (head.progress && !head.progress())
    return false;
  Op op = std::move(head);
  stream.ops.pop_front();
  if (op.work)
    op.work();
  if (op.recorded) {
    op.recorded->completed = std::max(op.recorded->completed, op.turn);
    op.recorded->time = std::chrono::steady_clock::now();
  }
  return true;
}

size_t Engine::choose(size_t choices) {
  return order == random ? generator() % choices
         : order == fifo ? 0
                         : choices - 1;
}

/// Runs an op of some stream. False if no stream could go on.
bool Engine::runAny() {
  std::vector<Stream *> ready;
  bool hasWork = false;
  for (Stream *stream : streams) {
    hasWork |= !stream->ops.empty();
    if (isReady(*stream))
      ready.push_back(stream);
  }
  if (hasWork && ready.empty())
    fail("streams wait for each other");
  // The choice must not depend on addresses.
  std::sort(ready.begin(), ready.end(), [](const Stream *a, const Stream *b) {
    return a->number < b->number;
  });
  while (!ready.empty()) {
    size_t chosen = choose(ready.size());
    if (runHead(*ready[chosen]))
      return true;
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return false;
}

/// Makes one step on the way to the end of `stream`. False if others have to
/// move first. What they need of this device may be in any of its streams.
bool Engine::step(Stream &stream) {
  if (order == random)
    return runAny();
  Stream *at = &stream;
  for (size_t hops = 0; !isReady(*at); ++hops) {
    if (hops > streams.size())
      fail("streams wait for each other");
    at = at->ops.front().awaited->stream;
  }
  return runHead(*at) || runAny();
}

void Engine::enqueue(Stream *stream, Op op) {
  if (stream->capture) {
    stream->capture->lists[stream].push_back(std::move(op));
    return;
  }
  while (stream->ops.size() >= mostQueued)
    if (!step(*stream))
      waitForOthers();
  stream->ops.push_back(std::move(op));
  if (order == fifo)
    (void)advance(stream);
}

bool Engine::advance(Stream *stream) {
  while (!stream->ops.empty())
    if (!step(*stream))
      return false;
  return true;
}

bool Engine::advance(const Event *event, uint64_t turn) {
  while (event->completed < turn)
    if (!step(*event->stream) || order == slow)
      return event->completed >= turn;
  return true;
}

/// Called with the lock, which others get meanwhile.
void Engine::waitForOthers() {
  mutex.unlock();
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  mutex.lock();
}

/// Goes on while the host is busy elsewhere, since others may wait for what
/// this device has to send. If nobody has called for some time, does all that
/// it can.
void Engine::goOnAlone() {
  for (int64_t seen = -1;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::lock_guard<std::mutex> lock(mutex);
    while (numHandles > 0 && seen == numCalls && runAny())
      ;
    seen = numCalls;
  }
}

void Engine::addHandle(int64_t bytes) {
  ++numHandles;
  reservedBytes += bytes;
  if (std::exchange(hasThread, true))
    return;
  std::thread([this] { goOnAlone(); }).detach();
}

void Engine::finish(Stream *stream) {
  while (!advance(stream))
    waitForOthers();
}

void Engine::finish(Event *event, uint64_t turn) {
  while (!advance(event, turn))
    waitForOthers();
}

void Engine::finishAll() {
  // Others may add streams meanwhile.
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (Stream *stream : streams)
      isDone = isDone && advance(stream);
    if (!isDone)
      waitForOthers();
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool Engine::isCapturing() const {
  return std::any_of(streams.begin(), streams.end(), [](Stream *stream) {
    return stream->capture && !stream->capture->isOver &&
           stream->capture->thread == std::this_thread::get_id();
  });
}

bool Capture::isJoined() const {
  // Goes back from the end of the origin, to earlier ops of a stream and to the
  // records of awaited events.
  std::map<Stream *, size_t> reached;
  std::vector<std::pair<Stream *, size_t>> open = {
      {origin, lists.count(origin) ? lists.at(origin).size() : 0}};
  while (!open.empty()) {
    auto [stream, end] = open.back();
    open.pop_back();
    size_t &known = reached[stream];
    for (size_t i = known; i < end; ++i) {
      const Op &op = lists.at(stream)[i];
      for (const auto &[other, ops] : lists)
        for (size_t k = 0; op.awaited && k < ops.size(); ++k)
          if (ops[k].recorded == op.awaited && ops[k].turn == op.turn)
            open.emplace_back(other, k + 1);
    }
    known = std::max(known, end);
  }
  for (const auto &[stream, ops] : lists)
    if (reached[stream] < ops.size())
      return false;
  return true;
}

GraphRun::GraphRun(Engine &engine, std::shared_ptr<const Graph> newGraph)
    : engine(engine), graph(std::move(newGraph)), at(graph->lists.size()),
      progress(graph->lists.size()) {
  for (const std::vector<Op> &ops : graph->lists)
    left += ops.size();
}

/// As Engine::runHead.
bool GraphRun::runHead(size_t list) {
  const Op &op = graph->lists[list][at[list]];
  if (op.shared && !progress[list])
    progress[list] = op.shared();
  if (progress[list] && !progress[list]())
    return false;
  progress[list] = nullptr;
  ++at[list];
  --left;
  if (op.work)
    op.work();
  if (op.recorded)
    completed.insert({op.recorded, op.turn});
  return true;
}

bool GraphRun::advanceOne() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < graph->lists[i].size())
      if (const Op &op = graph->lists[i][at[i]];
          !op.awaited || completed.count({op.awaited, op.turn}))
        ready.push_back(i);
  if (ready.empty())
    fail("a graph waits for itself");
  while (!ready.empty()) {
    size_t chosen = engine.choose(ready.size());
    if (runHead(ready[chosen]))
      return true;
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return false;
}

bool GraphRun::advance() {
  while (left > 0)
    if (!advanceOne())
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// For tests and other stand-ins
//===----------------------------------------------------------------------===//

namespace {
/// The engine, which nobody else uses while this is there.
class Locked {
public:
  Engine *operator->() const { return &Engine::get(); }

private:
  std::lock_guard<std::mutex> lock{Engine::get().mutex};
};
} // namespace

void standin::addKernel(const std::string &name, Kernel kernel,
                        int32_t numArguments) {
  Locked engine;
  Function &function = engine->kernels[name];
  function.name = name;
  function.run = callKernel(kernel);
  function.numArguments = numArguments;
}

void standin::failCall(const std::string &function, int64_t nth, int code) {
  Locked()->failCall(function, nth, code);
}

void standin::neverEnd(const std::string &name, int64_t nth, size_t queued) {
  Locked()->neverEnd(name, nth, queued);
}

void standin::setOrder(const std::string &order) { Locked()->setOrder(order); }

std::string standin::loadingMode() { return Locked()->loadingMode; }

int64_t standin::countCalls(const std::string &function) {
  return Locked()->calls[function];
}

int64_t standin::countLive() { return Locked()->countLive(); }

int64_t standin::takePeakBytes() {
  return std::exchange(Locked()->peakBytes, 0);
}

int standin::enterCall(const char *function) {
  return Locked()->enter(function);
}

char *standin::find(const void *address, int64_t bytes) {
  return Locked()->find(address, bytes);
}

void standin::enqueue(cuda::api::Stream stream, std::function<void()> work) {
  Locked engine;
  Op op;
  op.work = std::move(work);
  engine->enqueue(reinterpret_cast<Stream *>(stream), std::move(op));
}

void standin::enqueueShared(cuda::api::Stream stream, SharedWork work) {
  Locked engine;
  Op op;
  op.shared = std::move(work);
  engine->enqueue(reinterpret_cast<Stream *>(stream), std::move(op));
}

bool standin::isCapturing(cuda::api::Stream stream) {
  Locked engine;
  return reinterpret_cast<Stream *>(stream)->capture != nullptr;
}

int standin::loadCode(int64_t bytes) {
  Locked engine;
  if (int code = engine->beginLoading(/*isOfLibrary=*/true))
    return code;
  engine->reservedBytes += bytes;
  return 0;
}

void standin::unloadCode(int64_t bytes) { Locked()->reservedBytes -= bytes; }

void standin::addHandle(int64_t bytes) { Locked()->addHandle(bytes); }

void standin::removeHandle(int64_t bytes) {
  Locked engine;
  --engine->numHandles;
  engine->reservedBytes -= bytes;
}
