//===- Emulation.cpp - kernels run on a CPU -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"

#include "AccessCheck.h"
#include "Fiber.h"
#include "Warp.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <numeric>
#include <random>

using namespace veeline::gpu;

//===----------------------------------------------------------------------===//
// Threads that wait for each other
//===----------------------------------------------------------------------===//

namespace {

enum class Waiting { ready, atBarrier, inWarp, left };

/// A copy that is under way.
struct Copy {
  char *target;
  const char *source;
  int64_t bytes, sourceBytes;
};

struct Thread {
  Waiting state = Waiting::ready;
  int32_t site = 0;
  WarpRequest request;
  /// The copies that are not committed yet, and the groups of those that are.
  std::vector<Copy> copies;
  std::deque<std::vector<Copy>> groups;
};

/// A kernel that runs on this thread.
class Machine {
public:
  Machine(const Kernel &kernel, const void *const *params,
          const RunOptions &options);

  std::string runThreads();
  std::string runTwin();

  // What the code of a kernel calls, on a fiber.
  void barrier(int32_t site);
  int32_t access(const void *address, int64_t bytes, int64_t alignment,
                 int32_t kind);
  WarpRequest meet(const WarpRequest &request, int32_t site);
  const void *checkRow(const void *row);
  void copyAsync(const Copy &copy);
  void commitCopies();
  void waitForCopies(int32_t numLeft);
  void runOne();
  void runAll();
  void callTwin();

  std::unique_ptr<AccessCheck> check;

private:
  std::vector<int64_t> order(int64_t count);
  void runBlock(int64_t number);
  void runExchanging();
  bool runReady();
  bool meetInWarps();
  void meetAtBarrier();
  void actTogether(int64_t warp);
  void finish(const Copy &copy);
  std::string describeThread() const;
  void fail(const std::string &what);
  bool isRight(const void *address, int64_t bytes, int64_t alignment,
               AccessKind kind, bool &isGarbage);
  void checkAccesses(bool findRaces);
  Fiber &getFiber(int64_t thread);

  const Kernel &kernel;
  const void *const *params;
  const RunOptions &options;
  std::mt19937_64 engine;
  std::string error;

  std::vector<Thread> threads;
  std::vector<int64_t> sequence;
  int64_t current = 0; // of the block's threads
  std::array<int64_t, 3> block = {};
  std::vector<char> memory;
  char *shared = nullptr;
  Fiber *running = nullptr;
};

} // namespace

static thread_local Machine *machine = nullptr;

static void enterThread(void *) {
  machine->runOne();
  Fiber::leave();
}

static void enterThreads(void *) {
  machine->runAll();
  Fiber::leave();
}

static void enterTwin(void *) {
  machine->callTwin();
  Fiber::leave();
}

VEELINE_ON_FIBER static uint64_t callShuffle(uint64_t value, int32_t offset,
                                             int32_t width, int32_t mode,
                                             int32_t site) {
  WarpRequest request;
  request.action = WarpAction::shuffle;
  request.value = value;
  request.offset = offset;
  request.width = width;
  request.mode = mode;
  return machine->meet(request, site).value;
}

VEELINE_ON_FIBER static void callLoadMatrices(uint32_t *registers,
                                              const void *row, int32_t count,
                                              int32_t isTransposed,
                                              int32_t site) {
  WarpRequest request;
  request.action = WarpAction::loadMatrices;
  request.registers = registers;
  request.row = row;
  request.count = count;
  request.isTransposed = isTransposed != 0;
  machine->meet(request, site);
}

VEELINE_ON_FIBER static void callMultiply(const uint32_t *a, const uint32_t *b,
                                          float *c, int32_t kind,
                                          int32_t site) {
  WarpRequest request;
  request.action = WarpAction::multiply;
  request.a = a;
  request.b = b;
  request.c = c;
  request.kind = static_cast<MatrixKind>(kind);
  machine->meet(request, site);
}

static constexpr DeviceFunctions deviceFunctions = {
    [](int32_t site) { machine->barrier(site); },
    callShuffle,
    [](const void *address, int64_t bytes, int64_t alignment, int32_t kind) {
      return machine->access(address, bytes, alignment, kind);
    },
    callLoadMatrices,
    callMultiply,
    [](void *target, const void *source, int64_t bytes, int64_t sourceBytes) {
      machine->copyAsync({static_cast<char *>(target),
                          static_cast<const char *>(source), bytes,
                          sourceBytes});
    },
    [] { machine->commitCopies(); },
    [](int32_t numLeft) { machine->waitForCopies(numLeft); }};

Machine::Machine(const Kernel &kernel, const void *const *params,
                 const RunOptions &options)
    : kernel(kernel), params(params), options(options), engine(options.seed),
      threads(static_cast<size_t>(kernel.info.blockSize)) {
  constexpr size_t alignment = 256;
  size_t bytes = static_cast<size_t>(kernel.info.getSharedBytes());
  memory.resize(bytes + alignment);
  void *aligned = memory.data();
  size_t space = memory.size();
  shared = static_cast<char *>(std::align(alignment, bytes, aligned, space));
}

Fiber &Machine::getFiber(int64_t thread) {
  // Kept from one kernel to the next.
  static thread_local std::deque<Fiber> fibers;
  while (fibers.size() <= static_cast<size_t>(thread))
    fibers.emplace_back();
  return fibers[static_cast<size_t>(thread)];
}

void Machine::checkAccesses(bool findRaces) {
  if (options.ranges.empty())
    return;
  std::vector<BufferRange> buffers;
  for (size_t i = 0; i < kernel.info.shared.size(); ++i) {
    const SharedBuffer &buffer = kernel.info.shared[i];
    buffers.push_back({"shared buffer " + std::to_string(i),
                       shared + buffer.offset, buffer.bytes,
                       buffer.elementBytes, true});
  }
  check = std::make_unique<AccessCheck>(options.ranges, buffers, findRaces);
}

VEELINE_ON_FIBER void Machine::runOne() {
  kernel.thread(params, current, block.data(), shared);
  threads[static_cast<size_t>(current)].state = Waiting::left;
}

VEELINE_ON_FIBER void Machine::callTwin() {
  uint32_t none[3] = {1, 1, 1};
  kernel.twin(params, none, none);
}

std::string Machine::describeThread() const {
  return "thread " + std::to_string(current) + " of block (" +
         std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
         std::to_string(block[2]) + ") ";
}

/// Keeps the first error.
void Machine::fail(const std::string &what) {
  if (error.empty())
    error = what;
}

VEELINE_ON_FIBER void Machine::barrier(int32_t site) {
  Thread &thread = threads[static_cast<size_t>(current)];
  thread.state = Waiting::atBarrier;
  thread.site = site;
  Fiber::leave();
}

/// Waits for the other lanes of the warp; returns what the action has made of
/// the request.
VEELINE_ON_FIBER WarpRequest Machine::meet(const WarpRequest &request,
                                           int32_t site) {
  Thread &thread = threads[static_cast<size_t>(current)];
  thread.state = Waiting::inWarp;
  thread.site = site;
  thread.request = request;
  if (request.action == WarpAction::shuffle && request.width != warpSize)
    fail(describeThread() + "takes part in a shuffle of " +
         std::to_string(request.width) +
         " lanes, which PTX takes for the first of the warp");
  // Lanes beyond the last matrix point nowhere.
  if (request.action == WarpAction::loadMatrices)
    thread.request.row = current % warpSize < 8 * int64_t(request.count)
                             ? checkRow(request.row)
                             : nullptr;
  Fiber::leave();
  return thread.request;
}

bool Machine::isRight(const void *address, int64_t bytes, int64_t alignment,
                      AccessKind kind, bool &isGarbage) {
  std::string wrong =
      check->access(address, bytes, alignment, kind, current, isGarbage);
  if (!wrong.empty())
    fail((kernel.info.blockSize ? describeThread() : "the twin ") + wrong);
  return wrong.empty();
}

VEELINE_ON_FIBER int32_t Machine::access(const void *address, int64_t bytes,
                                         int64_t alignment, int32_t kind) {
  if (!check || !bytes || running->holds(address))
    return 0;
  bool isGarbage = false;
  if (isRight(address, bytes, alignment, static_cast<AccessKind>(kind),
              isGarbage))
    return isGarbage;
  // Never returns to the kernel, whose access would be of foreign memory.
  Fiber::leave();
  return 0;
}

/// Checks the read of a row of a matrix. Returns the row, or null if it is
/// undefined.
VEELINE_ON_FIBER const void *Machine::checkRow(const void *row) {
  constexpr int64_t rowBytes = 16;
  bool isGarbage =
      access(row, rowBytes, rowBytes, static_cast<int32_t>(AccessKind::read));
  return isGarbage ? nullptr : row;
}

/// Completes a copy. Its source is read only now: nobody may write it before.
VEELINE_ON_FIBER void Machine::finish(const Copy &copy) {
  bool isGarbage =
      copy.sourceBytes && access(copy.source, copy.sourceBytes, copy.bytes,
                                 static_cast<int32_t>(AccessKind::read));
  access(copy.target, copy.bytes, copy.bytes,
         static_cast<int32_t>(AccessKind::write));
  auto count = static_cast<size_t>(copy.sourceBytes);
  std::memset(copy.target, isGarbage ? 0xff : 0,
              static_cast<size_t>(copy.bytes));
  if (!isGarbage && count)
    std::memcpy(copy.target, copy.source, count);
}

VEELINE_ON_FIBER void Machine::copyAsync(const Copy &copy) {
  bool isEarly = options.order == Order::backward ||
                 (options.order == Order::random && engine() % 2);
  if (isEarly)
    finish(copy);
  else
    threads[static_cast<size_t>(current)].copies.push_back(copy);
}

VEELINE_ON_FIBER void Machine::commitCopies() {
  Thread &thread = threads[static_cast<size_t>(current)];
  thread.groups.push_back(std::move(thread.copies));
  thread.copies.clear();
}

VEELINE_ON_FIBER void Machine::waitForCopies(int32_t numLeft) {
  Thread &thread = threads[static_cast<size_t>(current)];
  while (thread.groups.size() > static_cast<size_t>(numLeft)) {
    for (const Copy &copy : thread.groups.front())
      finish(copy);
    thread.groups.pop_front();
  }
}

//===----------------------------------------------------------------------===//
// One block
//===----------------------------------------------------------------------===//

std::vector<int64_t> Machine::order(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  if (options.order == Order::backward)
    std::reverse(numbers.begin(), numbers.end());
  if (options.order == Order::random)
    for (size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[engine() % i]);
  return numbers;
}

/// Threads that never wait share a fiber.
VEELINE_ON_FIBER void Machine::runAll() {
  for (int64_t thread : sequence) {
    current = thread;
    runOne();
  }
}

/// Runs every ready thread until it waits. False if there was none, or after an
/// error.
bool Machine::runReady() {
  bool any = false;
  for (int64_t thread : order(kernel.info.blockSize)) {
    if (threads[static_cast<size_t>(thread)].state != Waiting::ready)
      continue;
    any = true;
    current = thread;
    running = &getFiber(thread);
    running->enter();
    if (!error.empty())
      return false;
  }
  return any;
}

/// Performs the action at which all lanes of a warp wait.
void Machine::actTogether(int64_t warp) {
  WarpRequest *lanes[warpSize];
  Thread *first = &threads[static_cast<size_t>(warp)];
  for (int64_t lane = 0; lane < warpSize; ++lane) {
    lanes[lane] = &first[lane].request;
    first[lane].state = Waiting::ready;
  }
  act(lanes);
}

/// Performs the actions at which warps wait. False if no warp does, or after an
/// error.
bool Machine::meetInWarps() {
  bool any = false;
  for (int64_t warp = 0; warp < kernel.info.blockSize; warp += warpSize) {
    int64_t end = std::min(warp + warpSize, kernel.info.blockSize);
    auto begin = threads.begin() + warp;
    auto isThere = [&](const Thread &thread) {
      return thread.state == Waiting::inWarp && thread.site == begin->site;
    };
    auto all = threads.begin() + end;
    bool isAnyThere = std::any_of(begin, all, [](const Thread &thread) {
      return thread.state == Waiting::inWarp;
    });
    if (!isAnyThere)
      continue;
    auto missing = std::find_if_not(begin, all, isThere);
    if (missing != all || end - warp < warpSize) {
      current = missing - threads.begin();
      fail(describeThread() + "is not at the exchange at which others of its "
                              "warp wait");
      return false;
    }
    actTogether(warp);
    any = true;
  }
  return any;
}

void Machine::meetAtBarrier() {
  for (const Thread &thread : threads)
    if (thread.state != threads[0].state ||
        (thread.state == Waiting::atBarrier &&
         thread.site != threads[0].site)) {
      current = &thread - threads.data();
      fail(describeThread() +
           (thread.state == Waiting::left ? "has left" : "waits at a barrier") +
           ", thread 0 " +
           (threads[0].state == Waiting::left ? "has left"
                                              : "waits at another one"));
      return;
    }
  if (threads[0].state == Waiting::left)
    return;
  for (Thread &thread : threads)
    thread.state = Waiting::ready;
  if (check)
    check->passBarrier();
}

void Machine::runExchanging() {
  for (int64_t i = 0; i < kernel.info.blockSize; ++i) {
    threads[static_cast<size_t>(i)] = {};
    getFiber(i).start(enterThread, nullptr);
  }
  while (error.empty() && runReady())
    if (error.empty() && !meetInWarps() && error.empty())
      meetAtBarrier();
}

void Machine::runBlock(int64_t number) {
  const auto &grid = kernel.info.grid;
  block = {number % grid[0], number / grid[0] % grid[1],
           number / grid[0] / grid[1]};
  std::memset(memory.data(), 0xff, memory.size());
  if (check)
    check->beginBlock();
  if (kernel.info.exchanges)
    return runExchanging();
  // Allocates outside of the fiber, which may never end.
  sequence = order(kernel.info.blockSize);
  running = &getFiber(0);
  running->start(enterThreads, nullptr);
  running->enter();
}

std::string Machine::runThreads() {
  checkAccesses(true);
  const auto &grid = kernel.info.grid;
  for (int64_t number : order(grid[0] * grid[1] * grid[2])) {
    runBlock(number);
    if (!error.empty())
      break;
  }
  return error;
}

std::string Machine::runTwin() {
  checkAccesses(false);
  // The stack is large: the twin keeps rows on it.
  Fiber fiber(size_t(1) << 26);
  running = &fiber;
  fiber.start(enterTwin, nullptr);
  fiber.enter();
  running = nullptr;
  return error;
}

std::string veeline::gpu::runThreads(const Kernel &kernel,
                                     const void *const *params,
                                     const RunOptions &options,
                                     std::string *garbage) {
  Machine own(kernel, params, options);
  machine = &own;
  std::string wrong = own.runThreads();
  if (garbage && own.check)
    *garbage = own.check->garbage();
  return wrong;
}

std::string veeline::gpu::runTwin(const Kernel &kernel,
                                  const void *const *params,
                                  const RunOptions &options) {
  Kernel twin = kernel;
  twin.info = {};
  Machine own(twin, params, options);
  machine = &own;
  return own.runTwin();
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

std::unique_ptr<KernelLibrary> KernelLibrary::open(const std::string &path,
                                                   std::string &message) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    message = dlerror();
    return nullptr;
  }
  std::unique_ptr<KernelLibrary> library(new KernelLibrary(handle));
  auto **functions = static_cast<const DeviceFunctions **>(
      dlsym(handle, "veeline_gpu_functions"));
  if (!functions) {
    message =
        path + ": no library of kernels: veeline_gpu_functions is missing";
    return nullptr;
  }
  *functions = &deviceFunctions;
  return library;
}

KernelLibrary::~KernelLibrary() { dlclose(handle); }

/// Flags of a parameter in NAME.info.
static constexpr int64_t bufferFlag = 1, readFlag = 2, writtenFlag = 4;

static int64_t flagsOf(const KernelParam &param) {
  return (param.isBuffer ? bufferFlag : 0) | (param.isRead ? readFlag : 0) |
         (param.isWritten ? writtenFlag : 0);
}

std::vector<int64_t> veeline::gpu::writeInfo(const KernelInfo &info) {
  std::vector<int64_t> words = {info.blockSize,
                                info.grid[0],
                                info.grid[1],
                                info.grid[2],
                                info.numParams,
                                info.exchanges,
                                static_cast<int64_t>(info.shared.size())};
  auto add = [&](std::initializer_list<int64_t> more) {
    words.insert(words.end(), more);
  };
  for (const SharedBuffer &buffer : info.shared)
    add({buffer.offset, buffer.bytes, buffer.elementBytes});
  for (const KernelParam &param : info.params)
    add({param.kind ? static_cast<int64_t>(*param.kind) : -1, param.count,
         flagsOf(param), std::bit_cast<int64_t>(param.shift),
         std::bit_cast<int64_t>(param.positiveShift)});
  add({info.addsFloats, info.numAdded, std::bit_cast<int64_t>(info.unit),
       info.indexedSize, info.callsDoubleFunctions});
  return words;
}

static KernelInfo readInfo(const int64_t *words) {
  KernelInfo info;
  auto next = [&] { return *words++; };
  info.blockSize = next();
  for (int64_t &size : info.grid)
    size = next();
  info.numParams = next();
  info.exchanges = next() != 0;
  info.shared.resize(static_cast<size_t>(next()));
  for (SharedBuffer &buffer : info.shared) {
    buffer.offset = next();
    buffer.bytes = next();
    buffer.elementBytes = next();
  }
  info.params.resize(static_cast<size_t>(info.numParams));
  for (KernelParam &param : info.params) {
    int64_t kind = next();
    if (kind >= 0)
      param.kind = static_cast<ElementKind>(kind);
    param.count = next();
    int64_t flags = next();
    param.isBuffer = flags & bufferFlag;
    param.isRead = flags & readFlag;
    param.isWritten = flags & writtenFlag;
    param.shift = std::bit_cast<double>(next());
    param.positiveShift = std::bit_cast<double>(next());
  }
  info.addsFloats = next() != 0;
  info.numAdded = next();
  info.unit = std::bit_cast<double>(next());
  info.indexedSize = next();
  info.callsDoubleFunctions = next() != 0;
  return info;
}

bool KernelLibrary::find(const std::string &name, Kernel &kernel) const {
  auto *info =
      static_cast<const int64_t *>(dlsym(handle, (name + ".info").c_str()));
  if (!info)
    return false;
  kernel.name = name;
  kernel.info = readInfo(info);
  kernel.twin = reinterpret_cast<Kernel::TwinFn>(dlsym(handle, name.c_str()));
  kernel.thread = reinterpret_cast<Kernel::ThreadFn>(
      dlsym(handle, (name + ".thread").c_str()));
  return kernel.twin && kernel.thread;
}
