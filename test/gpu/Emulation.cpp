//===- Emulation.cpp - PTX run on a CPU -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"

#include "AccessCheck.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

using namespace veeline::gpu;

namespace {

enum class Waiting : uint8_t { ready, atBarrier, inWarp, left };

/// A copy that is under way.
struct Copy {
  char *target;
  const char *source;
  int64_t bytes, sourceBytes;
};

struct Thread {
  Waiting state = Waiting::ready;
  /// The instruction that it performs next, or waits at.
  int32_t place = 0;
};

/// The copies of a thread that have not arrived: those that are not committed
/// yet, and the groups of those that are.
struct Copies {
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
};

/// A kernel that runs on this thread.
class Machine final : public Device {
public:
  Machine(const PtxKernel &kernel, const Launch &launch,
          const RunOptions &options);

  std::string run();
  const std::string *garbage() const {
    return check ? &check->garbage() : nullptr;
  }

  bool access(int32_t lane, const void *address, int64_t bytes, Access kind,
              Space space, bool &isGarbage) override;
  void copyAsync(int32_t lane, char *target, const char *source, int64_t bytes,
                 int64_t sourceBytes) override;
  void commitCopies(int32_t lane) override;
  void waitForCopies(int32_t lane, int64_t numLeft) override;
  void fail(int32_t lane, const std::string &what) override;

private:
  bool isWrong() const { return !error.empty(); }
  std::vector<int64_t> order(int64_t count);
  void placeMemory();
  void beginBlock(int64_t number);
  void preloadAll(int64_t numWarps);
  void preloadBlock(int64_t numWarps);
  uint64_t getPreloaded(const Preloaded &value) const;
  void runBlock(int64_t number);
  bool runReady();
  bool runLanes(int64_t number, uint32_t lanes);
  uint32_t runGroup(uint32_t group, int32_t place, int32_t others);
  uint32_t wait(Flow flow, uint32_t lanes, int32_t place);
  bool meetInWarps();
  bool meetInWarp(int64_t first);
  void meetAtBarrier();
  void finish(int32_t lane, const Copy &copy);
  Copies &getCopies(int32_t lane) {
    copies.resize(threads.size());
    return copies[static_cast<size_t>(firstThread + lane)];
  }
  std::string describe(int64_t thread) const;
  void setPlaces(uint32_t lanes, int32_t place);
  Warp getWarp(int64_t number) {
    auto size = static_cast<int64_t>(kernel.numRegisters) * warpSize;
    return {registers.data() + number * size, this, check != nullptr};
  }

  const PtxKernel &kernel;
  const Launch &launch;
  const RunOptions &options;
  std::unique_ptr<AccessCheck> check;
  std::mt19937_64 engine;
  std::string error;

  std::vector<Thread> threads;
  std::vector<Copies> copies; // of each thread, once any has one
  std::vector<uint64_t> &registers;
  std::array<int64_t, 3> block = {};
  std::vector<char> memory;
  std::vector<char> local;    // of all threads of a block
  std::vector<char *> shared; // of each variable of the kernel
  int64_t firstThread = 0;    // of the warp that runs
  Warp warp = {};             // which that is
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Shared variables lie apart, so that a place beyond one is in no other, and
/// not at multiples of more than they say.
void Machine::placeMemory() {
  constexpr int64_t gap = 256;
  std::vector<int64_t> offsets, sizes;
  int64_t end = 0;
  for (const Variable &variable : kernel.shared) {
    int64_t step = 2 * variable.alignment;
    offsets.push_back((end + step - 1) / step * step + variable.alignment);
    sizes.push_back(variable.bytes < 0 ? launch.sharedBytes : variable.bytes);
    end = offsets.back() + sizes.back() + gap;
  }
  memory.resize(static_cast<size_t>(end + 2 * gap));
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  char *begin = memory.data() + (gap - address % gap);
  std::vector<BufferRange> ranges;
  for (size_t i = 0; i < offsets.size(); ++i) {
    shared.push_back(begin + offsets[i]);
    ranges.push_back({"shared buffer " + std::to_string(i), shared.back(),
                      sizes[i], kernel.sharedElementBytes, true});
  }
  // A block's last warp has all lanes.
  auto numThreads = static_cast<size_t>(launch.blockSize + warpSize);
  local.resize(numThreads * static_cast<size_t>(kernel.localBytes) + 16);
  if (options.ranges.empty())
    return;
  check = std::make_unique<AccessCheck>(true);
  for (const BufferRange &range : options.ranges)
    check->add(range, Space::global);
  for (const BufferRange &range : kernel.constants)
    check->add(range, Space::global);
  for (const BufferRange &range : ranges)
    check->add(range, Space::shared);
  check->add({"local memory", local.data(), static_cast<int64_t>(local.size()),
              1, true},
             Space::local);
}

bool Machine::access(int32_t lane, const void *address, int64_t bytes,
                     Access kind, Space space, bool &isGarbage) {
  std::string wrong = check->access(address, bytes, bytes, kind, space,
                                    firstThread + lane, isGarbage);
  if (!wrong.empty())
    fail(lane, wrong);
  return wrong.empty();
}

/// Completes a copy. Its source is read only now: nobody may write it before.
void Machine::finish(int32_t lane, const Copy &copy) {
  bool isGarbage = false, isIgnored = false;
  if (check && copy.sourceBytes &&
      !access(lane, copy.source, copy.sourceBytes, Access::read, Space::global,
              isGarbage))
    return;
  if (check && !access(lane, copy.target, copy.bytes, Access::write,
                       Space::shared, isIgnored))
    return;
  auto count = static_cast<size_t>(copy.sourceBytes);
  std::memset(copy.target, isGarbage ? 0xff : 0,
              static_cast<size_t>(copy.bytes));
  if (!isGarbage && count)
    std::memcpy(copy.target, copy.source, count);
}

void Machine::copyAsync(int32_t lane, char *target, const char *source,
                        int64_t bytes, int64_t sourceBytes) {
  auto misaligned = [&](const char *place) {
    return reinterpret_cast<uintptr_t>(place) % static_cast<uintptr_t>(bytes);
  };
  if (misaligned(target) || misaligned(source))
    return fail(lane, "copies " + std::to_string(bytes) +
                          " bytes from or to a place that is no multiple");
  bool isEarly = options.order == Order::backward ||
                 (options.order == Order::random && engine() % 2);
  Copy copy = {target, source, bytes, sourceBytes};
  if (isEarly)
    finish(lane, copy);
  else
    getCopies(lane).open.push_back(copy);
}

void Machine::commitCopies(int32_t lane) {
  Copies &own = getCopies(lane);
  own.groups.push_back(std::move(own.open));
  own.open.clear();
}

void Machine::waitForCopies(int32_t lane, int64_t numLeft) {
  Copies &own = getCopies(lane);
  while (static_cast<int64_t>(own.groups.size()) > numLeft) {
    for (const Copy &copy : own.groups.front())
      finish(lane, copy);
    own.groups.pop_front();
  }
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

std::string Machine::describe(int64_t thread) const {
  return "thread " + std::to_string(thread) + " of block (" +
         std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
         std::to_string(block[2]) + ") ";
}

/// Keeps the first error.
void Machine::fail(int32_t lane, const std::string &what) {
  if (error.empty())
    error = describe(firstThread + lane) + what;
}

static int32_t firstOf(uint32_t lanes) { return std::countr_zero(lanes); }

/// Performs an instruction for each run of neighbours of `lanes`.
static void perform(Warp &warp, const Instruction &instruction,
                    uint32_t lanes) {
  while (lanes) {
    int32_t begin = firstOf(lanes);
    int32_t end = begin + std::countr_one(lanes >> begin);
    instruction.action(warp, instruction, begin, end);
    lanes &= end == warpSize ? 0 : ~0u << end;
  }
}

/// Those of `lanes` for which the instruction does something.
static uint32_t findActive(const Warp &warp, const Instruction &instruction,
                           uint32_t lanes) {
  if (instruction.guard < 0)
    return lanes;
  uint32_t chosen = 0;
  auto guard = static_cast<uint32_t>(instruction.guard);
  if (lanes == ~0u)
    for (int32_t lane = 0; lane < warpSize; ++lane)
      chosen |= uint32_t(getRegister<bool>(warp, guard, lane)) << lane;
  else
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      chosen |=
          uint32_t(getRegister<bool>(
              warp, static_cast<uint32_t>(instruction.guard), firstOf(rest)))
          << firstOf(rest);
  return instruction.isGuardNegated ? lanes & ~chosen : chosen;
}

void Machine::setPlaces(uint32_t lanes, int32_t place) {
  for (; lanes; lanes &= lanes - 1)
    threads[static_cast<size_t>(firstThread + firstOf(lanes))].place = place;
}

/// Lets lanes wait at an instruction, or leave. Returns them.
uint32_t Machine::wait(Flow flow, uint32_t lanes, int32_t place) {
  setPlaces(lanes, place);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    threads[static_cast<size_t>(firstThread + firstOf(rest))].state =
        flow == Flow::leave     ? Waiting::left
        : flow == Flow::barrier ? Waiting::atBarrier
                                : Waiting::inWarp;
  return lanes;
}

/// Runs lanes that are at the same place until they part, or come to `others`,
/// where the next lanes of the warp are. Returns those that wait now.
uint32_t Machine::runGroup(uint32_t group, int32_t place, int32_t others) {
  uint32_t waiting = 0;
  while (group && place < others && !isWrong()) {
    const Instruction &instruction = kernel.code[static_cast<size_t>(place)];
    uint32_t active = findActive(warp, instruction, group);
    // A whole warp has no lanes to wait for.
    bool isTogether = instruction.flow == Flow::together && active == ~0u;
    if (instruction.flow == Flow::next || isTogether) {
      perform(warp, instruction, active);
    } else if (instruction.flow != Flow::branch) {
      waiting |= wait(instruction.flow, active, place);
      group &= ~active;
    } else if (active == group) {
      place = instruction.target;
      continue;
    } else if (active) {
      setPlaces(active, instruction.target);
      setPlaces(group & ~active, place + 1);
      return waiting;
    }
    ++place;
  }
  setPlaces(group, place);
  return waiting;
}

/// Runs lanes of a warp until each of them waits. Those that are behind go
/// first: so those that have parted meet again where their ways do.
bool Machine::runLanes(int64_t number, uint32_t lanes) {
  firstThread = number * warpSize;
  warp = getWarp(number);
  while (lanes && !isWrong()) {
    constexpr int32_t nowhere = std::numeric_limits<int32_t>::max();
    int32_t place = nowhere, others = nowhere;
    uint32_t group = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      int32_t lane = firstOf(rest);
      int32_t own = threads[static_cast<size_t>(firstThread + lane)].place;
      if (own < place) {
        others = place;
        place = own;
        group = 0;
      }
      if (own == place)
        group |= 1u << lane;
      else
        others = std::min(others, own);
    }
    lanes &= ~runGroup(group, place, others);
  }
  return !isWrong();
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

/// Runs every ready thread until it waits. False if there was none, or after an
/// error.
bool Machine::runReady() {
  bool any = false;
  auto isReady = [&](int64_t thread) {
    return threads[static_cast<size_t>(thread)].state == Waiting::ready;
  };
  if (options.order != Order::warps) {
    for (int64_t thread : order(launch.blockSize)) {
      if (!isReady(thread))
        continue;
      any = true;
      if (!runLanes(thread / warpSize, 1u << thread % warpSize))
        return false;
    }
    return any;
  }
  for (int64_t first = 0; first < launch.blockSize; first += warpSize) {
    uint32_t lanes = 0;
    int64_t count = std::min<int64_t>(warpSize, launch.blockSize - first);
    for (int64_t lane = 0; lane < count; ++lane)
      lanes |= uint32_t(isReady(first + lane)) << lane;
    any |= lanes != 0;
    if (!runLanes(first / warpSize, lanes))
      return false;
  }
  return any;
}

/// Lets the lanes of a warp act together if any of them waits for that. False
/// if none does, or after an error.
bool Machine::meetInWarp(int64_t first) {
  firstThread = first;
  warp = getWarp(first / warpSize);
  int64_t count = std::min<int64_t>(warpSize, launch.blockSize - first);
  auto begin = threads.begin() + first, end = begin + count;
  bool isAnyThere = std::any_of(begin, end, [](const Thread &thread) {
    return thread.state == Waiting::inWarp;
  });
  if (!isAnyThere)
    return false;
  auto missing = std::find_if_not(begin, end, [&](const Thread &thread) {
    return thread.state == Waiting::inWarp && thread.place == begin->place;
  });
  if (missing != end || count < warpSize) {
    fail(static_cast<int32_t>(missing - begin),
         "is not at the exchange at which others of its warp wait");
    return false;
  }
  const Instruction &instruction =
      kernel.code[static_cast<size_t>(begin->place)];
  instruction.action(warp, instruction, 0, warpSize);
  for (auto thread = begin; thread != end; ++thread) {
    thread->state = Waiting::ready;
    ++thread->place;
  }
  return !isWrong();
}

bool Machine::meetInWarps() {
  bool any = false;
  for (int64_t first = 0; first < launch.blockSize && !isWrong();
       first += warpSize)
    any |= meetInWarp(first);
  return any && !isWrong();
}

void Machine::meetAtBarrier() {
  const Thread &first = threads.front();
  for (const Thread &thread : threads)
    if (thread.state != first.state ||
        (thread.state == Waiting::atBarrier && thread.place != first.place)) {
      firstThread = &thread - threads.data();
      return fail(
          0,
          (thread.state == Waiting::left ? "has left" : "waits at a barrier") +
              std::string(", thread 0 ") +
              (first.state == Waiting::left ? "has left"
                                            : "waits at another one"));
    }
  if (first.state == Waiting::left)
    return;
  for (Thread &thread : threads) {
    thread.state = Waiting::ready;
    ++thread.place;
  }
  if (check)
    check->passBarrier();
}

/// A register of thread 0.
uint64_t Machine::getPreloaded(const Preloaded &value) const {
  size_t number = value.number;
  switch (value.kind) {
  case Preloaded::Kind::number:
    return value.number;
  case Preloaded::Kind::thread:
    return 0;
  case Preloaded::Kind::block:
    return static_cast<uint64_t>(block[number]);
  case Preloaded::Kind::blockSize:
    return number ? 1 : static_cast<uint64_t>(launch.blockSize);
  case Preloaded::Kind::gridSize:
    return static_cast<uint64_t>(launch.grid[number]);
  case Preloaded::Kind::parameter:
    return reinterpret_cast<uint64_t>(launch.params[number]);
  case Preloaded::Kind::local:
    return (reinterpret_cast<uint64_t>(local.data()) + 15) / 16 * 16 +
           value.number;
  case Preloaded::Kind::shared:
    return reinterpret_cast<uint64_t>(shared[number]);
  }
  return 0;
}

/// Sets the preloaded registers of all warps, which are the last ones.
void Machine::preloadAll(int64_t numWarps) {
  if (kernel.preloaded.empty())
    return;
  Warp first = getWarp(0);
  uint32_t begin = kernel.preloaded.front().place;
  size_t count = size_t(kernel.numRegisters) * warpSize - begin;
  for (const Preloaded &value : kernel.preloaded)
    std::fill_n(first.registers + value.place, warpSize, getPreloaded(value));
  for (int64_t i = 1; i < numWarps; ++i)
    std::copy_n(first.registers + begin, count, getWarp(i).registers + begin);
  for (const Preloaded &value : kernel.preloaded) {
    bool isNumber = value.kind == Preloaded::Kind::thread;
    if (!isNumber && value.kind != Preloaded::Kind::local)
      continue;
    int64_t step = isNumber ? 1 : kernel.localBytes;
    for (int64_t thread = 0; thread < numWarps * warpSize; ++thread)
      getWarp(thread / warpSize).registers[value.place + thread % warpSize] =
          getPreloaded(value) + static_cast<uint64_t>(thread * step);
  }
}

/// Sets the registers that differ between blocks.
void Machine::preloadBlock(int64_t numWarps) {
  for (const Preloaded &value : kernel.preloaded)
    for (int64_t i = 0; value.kind == Preloaded::Kind::block && i < numWarps;
         ++i)
      std::fill_n(getWarp(i).registers + value.place, warpSize,
                  getPreloaded(value));
}

/// Registers and shared memory are undefined when a block begins.
void Machine::beginBlock(int64_t number) {
  const auto &grid = launch.grid;
  block = {number % grid[0], number / grid[0] % grid[1],
           number / grid[0] / grid[1]};
  bool isFirst = threads.empty();
  int64_t numWarps = (launch.blockSize + warpSize - 1) / warpSize;
  size_t count = static_cast<size_t>(numWarps) * kernel.numRegisters * warpSize;
  if (registers.size() < count)
    registers.resize(count);
  if (check) {
    std::fill_n(registers.begin(), count, ~uint64_t(0));
    std::fill(memory.begin(), memory.end(), '\xff');
    check->beginBlock();
  }
  if (isFirst || check)
    preloadAll(numWarps);
  else
    preloadBlock(numWarps);
  threads.assign(static_cast<size_t>(launch.blockSize), {});
  copies.clear();
}

void Machine::runBlock(int64_t number) {
  beginBlock(number);
  while (!isWrong() && runReady())
    if (!isWrong() && !meetInWarps() && !isWrong())
      meetAtBarrier();
}

/// Kept from one kernel to the next, which saves their pages.
static std::vector<uint64_t> &getRegisterFile() {
  static thread_local std::vector<uint64_t> registers;
  return registers;
}

Machine::Machine(const PtxKernel &kernel, const Launch &launch,
                 const RunOptions &options)
    : kernel(kernel), launch(launch), options(options), engine(options.seed),
      registers(getRegisterFile()) {
  placeMemory();
}

std::string Machine::run() {
  if (launch.blockSize < 1 ||
      (kernel.maxThreads && launch.blockSize > kernel.maxThreads))
    return "a block of " + std::to_string(launch.blockSize) +
           " threads, where the kernel has at most " +
           std::to_string(kernel.maxThreads);
  const auto &grid = launch.grid;
  for (int64_t number : order(grid[0] * grid[1] * grid[2])) {
    runBlock(number);
    if (isWrong())
      break;
  }
  return error;
}

std::string veeline::gpu::runThreads(const PtxKernel &kernel,
                                     const Launch &launch,
                                     const RunOptions &options,
                                     std::string *garbage) {
  Machine machine(kernel, launch, options);
  std::string wrong = machine.run();
  if (garbage && machine.garbage())
    *garbage = *machine.garbage();
  return wrong;
}
