//===- Engine.h - memory, streams and events of a stand-in -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_ENGINE_H
#define VEELINE_TEST_STANDIN_ENGINE_H

#include "Emulation.h"
#include "StandIn.h"

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace veeline::standin {

struct Stream;
struct Capture;

struct Event {
  uint64_t recorded = 0;  ///< Times that it was put into a stream.
  uint64_t completed = 0; ///< The last of these that the stream came to.
  Stream *stream = nullptr;
  Capture *capture = nullptr; ///< That it was last recorded in.
  bool isTimed = true;
  std::chrono::steady_clock::time_point time; ///< When it was completed.
};

/// One thing that a stream does: work, recording an event, or waiting for one.
struct Op {
  std::function<void()> work;
  /// Of work that others take part in: see enqueueShared.
  SharedWork shared;
  Progress progress = nullptr; ///< Of `shared`, once it has begun.
  Event *recorded = nullptr;
  Event *awaited = nullptr;
  uint64_t turn = 0; ///< Of the event.
};

struct Stream {
  std::deque<Op> ops;
  Capture *capture = nullptr; ///< That its ops go into, instead.
  uint64_t number = 0;        ///< In order of creation.
};

/// What streams were told to do while they were captured.
struct Graph {
  std::vector<std::vector<Op>> lists; ///< By stream.
};

class Engine;

/// A graph that is run, in any order that its events allow.
class GraphRun {
public:
  GraphRun(Engine &engine, std::shared_ptr<const Graph> graph);
  /// As far as it can; true at the end.
  bool advance();

private:
  bool advanceOne();
  bool runHead(size_t list);

  Engine &engine;
  const std::shared_ptr<const Graph> graph;
  std::vector<size_t> at; ///< By list.
  std::vector<Progress> progress;
  std::set<std::pair<Event *, uint64_t>> completed;
  size_t left = 0;
};

struct Capture {
  Stream *origin = nullptr;
  std::thread::id thread;
  std::map<Stream *, std::vector<Op>> lists;
  bool isOver = false;
  bool isInvalid = false;

  /// Whether all of it comes before the origin's end.
  bool isJoined() const;
};

/// Memory of a device. Callers get `address`, which nobody can access; the
/// stand-in accesses the same memory at `alias`.
struct Allocation {
  char *address = nullptr;
  char *alias = nullptr;
  int64_t bytes = 0;
  int64_t mappedBytes = 0;
  int device = 0;
};

/// A kernel with what its launch has: as Kernel, and the bytes of dynamic
/// shared memory.
using Run =
    std::function<void(const void *const *params, const uint32_t grid[3],
                       const uint32_t block[3], int64_t sharedBytes)>;

struct Function {
  std::string name;
  Run run;
  int32_t numArguments = 0;
  int32_t staticSharedBytes = 0;
  int32_t mostSharedBytes = 48 * 1024; ///< Of both kinds.
  bool isLoaded = false;
};

/// What modules and functions take of each device.
inline constexpr int64_t moduleBytes = 1 << 16, functionBytes = 1 << 12;

struct Module {
  explicit Module(const char *image);

  std::map<std::string, Function> functions;
  /// Null for an image without PTX. Kept by the functions' runs, which may come
  /// after the module.
  std::shared_ptr<gpu::PtxModule> ptx;

  int64_t bytes() const {
    return moduleBytes + static_cast<int64_t>(functions.size()) * functionBytes;
  }
};

/// The state of the stand-in. Callers of its functions hold its one lock.
class Engine {
public:
  static Engine &get();

  std::mutex mutex;

  // --- What it is.
  void configure();
  int numDevices = 1, driverVersion = 13000, chip = 90;
  int64_t deviceBytes = int64_t(1) << 33;
  bool isInitialized = false;
  std::string loadingMode;
  /// Memsets of the host's memory are refused while a stream is captured.
  bool capturesNoFills = false;
  void setOrder(const std::string &text);

  // --- Calls.
  /// Counts a call. Returns the code with which it has to fail, or 0.
  int enter(const std::string &function);
  void failCall(const std::string &function, int64_t nth, int code);
  std::map<std::string, int64_t> calls;

  // --- Memory.
  Allocation *allocate(int64_t bytes, int device);
  bool release(const void *address);
  char *find(const void *address, int64_t bytes) const;
  /// The allocation that `address` is in, or null.
  const Allocation *allocationOf(const void *address) const;
  int64_t allocatedBytes(int device) const;
  bool isPinned(const void *address, int64_t bytes) const;
  std::map<const char *, Allocation> allocations;
  std::map<const char *, int64_t> pinned; ///< Bytes by address.
  int64_t peakBytes = 0;

  /// Beside what is in `allocations`: what libraries have taken.
  int64_t reservedBytes = 0;
  int64_t numHandles = 0; ///< Of libraries, which have to give them back.
  void addHandle(int64_t bytes);

  // --- Streams.
  void enqueue(Stream *stream, Op op);
  /// Runs a stream, or all, to the end, or until the event is completed. While
  /// others have to act first, waits without the lock.
  void finish(Stream *stream);
  void finish(Event *event, uint64_t turn);
  void finishAll();
  /// Runs `stream` as far as it goes by itself. True if that is to the end.
  bool advance(Stream *stream);
  /// The same up to an event.
  bool advance(const Event *event, uint64_t turn);
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::vector<std::unique_ptr<Capture>> captures;
  /// Whether this thread captures a stream. What is not allowed then, other
  /// threads may do (cudaStreamCaptureModeThreadLocal).
  bool isCapturing() const;
  std::map<const void *, std::shared_ptr<const Graph>> graphs;
  enum Order { fifo, late, slow, random } order = late;
  /// Chooses one of `choices` that could run next, by `order`.
  size_t choose(size_t choices);
  /// Whether this run of a kernel is the one that never ends.
  bool isEndless(const std::string &kernel);
  void neverEnd(const std::string &kernel, int64_t nth, size_t queued);
  bool mayEnd(const std::string &kernel) const { return kernel != endless; }

  // --- Code.
  /// Called before a library, or the caller, loads something. Returns the error
  /// of that, or 0.
  int beginLoading(bool isOfLibrary) const;
  /// Loads the code of a kernel, unless it is loaded. Returns the same.
  int load(Function &function) const;
  /// The kernel that is known by this name, of a library of kernels, or of the
  /// module's PTX; none where there is none.
  std::optional<Function> findKernel(const Module &module,
                                     const std::string &name);
  std::map<std::string, Function> kernels;
  std::set<Module *> modules;
  std::map<int, int64_t> contexts; ///< How often each is retained.

  int64_t countLive() const;
  void report() const;

private:
  static bool isReady(const Stream &stream);
  static bool runHead(Stream &stream);
  bool step(Stream &stream);
  bool runAny();
  void waitForOthers();
  void goOnAlone();
  void loadKernels();
  Allocation map(int64_t bytes, int device) const;

  int64_t numCalls = 0;
  bool hasThread = false; ///< Which runs goOnAlone().
  std::mt19937 generator{1};
  std::string endless;
  int64_t endlessRun = 0;
  size_t mostQueued = SIZE_MAX;
  std::string failing;
  int64_t failingCall = 0;
  int failingCode = 0;
  std::vector<void *> libraries;
  std::string reportFile;
};

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_ENGINE_H
