//===- Emulation.h - kernels run on a CPU -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the kernels of a library that KernelCode.h has written: as host twins,
// or as the threads of a GPU, each of them a fiber. Needs no LLVM.
//
// Of a kernel NAME the library has
//   NAME          void(const void *const *params, const uint32_t grid[3],
//                 const uint32_t block[3]): the host twin
//   NAME.thread   void(const void *const *params, int64_t thread,
//                 const int64_t block[3], void *shared): what one thread does
//   NAME.info     int64_t[]: KernelInfo, as writeInfo has it
// where params[i] points to argument i, and
//   veeline_gpu_functions   a pointer to DeviceFunctions, which who loads the
//                           library sets
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_EMULATION_H
#define VEELINE_TEST_GPU_EMULATION_H

#include "Elements.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace veeline::gpu {

inline constexpr int64_t warpSize = 32;
/// Beyond those of gpu::ShuffleMode.
inline constexpr int32_t ballotMode = 4;

/// The types of a product of matrices; sums are in f32.
enum class MatrixKind : int32_t { f16, bf16, tf32 };

/// What the code of a thread calls. `site` says where in the kernel: all
/// threads of a block meet at a barrier, those of a warp at the others.
struct DeviceFunctions {
  void (*barrier)(int32_t site);
  /// The value of another lane; mode as gpu::ShuffleMode counts. Or the bits of
  /// all lanes (`ballotMode`).
  uint64_t (*shuffle)(uint64_t value, int32_t offset, int32_t width,
                      int32_t mode, int32_t site);
  /// Before an access of memory, which has no bytes where it is masked. Not 0
  /// if what is read has no meaning.
  int32_t (*access)(const void *address, int64_t bytes, int64_t alignment,
                    int32_t kind);
  /// ldmatrix: `count` registers of the lane, of matrices whose rows lanes
  /// point to.
  void (*loadMatrices)(uint32_t *registers, const void *row, int32_t count,
                       int32_t isTransposed, int32_t site);
  /// mma.sync of a MatrixKind: c += a b.
  void (*multiply)(const uint32_t *a, const uint32_t *b, float *c, int32_t kind,
                   int32_t site);
  /// cp.async of `sourceBytes` and zeros up to `bytes`, which are there when
  /// the thread has waited for their group, or at any time before.
  void (*copyAsync)(void *target, const void *source, int64_t bytes,
                    int64_t sourceBytes);
  void (*commitCopies)();
  /// Until all but the last `numLeft` groups are there.
  void (*waitForCopies)(int32_t numLeft);
};

enum class AccessKind : int32_t { read, write, atomic };

/// A buffer that the threads of a block share, within the memory of all.
struct SharedBuffer {
  int64_t offset, bytes, elementBytes;
};

/// What an argument is.
struct KernelParam {
  /// None where there are no data of its type here.
  std::optional<ElementKind> kind;
  /// -1 where it is said at run time.
  int64_t count = 1;
  bool isBuffer = false, isRead = false, isWritten = false;
  /// What is added to random floats, and to those that are all positive. With
  /// it, others must not be large.
  double shift = 0, positiveShift = 0;
  /// Not of a library: what an integer is to be in every run.
  std::optional<int64_t> value;
};

struct KernelInfo {
  int64_t blockSize = 0;
  std::array<int64_t, 3> grid = {};
  int64_t numParams = 0;
  /// Threads wait for each other.
  bool exchanges = false;
  std::vector<SharedBuffer> shared;
  std::vector<KernelParam> params;
  /// The order of additions is part of the result; the most that a sum adds.
  bool addsFloats = false;
  int64_t numAdded = 1;
  /// What a rounding of the narrowest sums and products changes, as a part.
  double unit = 0;
  /// Functions of f64 are called, which are libdevice's on a GPU.
  bool callsDoubleFunctions = false;
  /// Integers of buffers that are smaller may be indices.
  int64_t indexedSize = 1;

  int64_t getSharedBytes() const {
    return shared.empty() ? 0 : shared.back().offset + shared.back().bytes;
  }
};

struct Kernel {
  using TwinFn = void (*)(const void *const *params, const uint32_t *grid,
                          const uint32_t *block);
  using ThreadFn = void (*)(const void *const *params, int64_t thread,
                            const int64_t *block, void *shared);
  std::string name;
  TwinFn twin = nullptr;
  ThreadFn thread = nullptr;
  KernelInfo info;
};

/// The numbers that NAME.info has.
std::vector<int64_t> writeInfo(const KernelInfo &info);

/// A loaded shared object of kernels.
class KernelLibrary {
public:
  /// Null, with a message, where it cannot be loaded.
  static std::unique_ptr<KernelLibrary> open(const std::string &path,
                                             std::string &message);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;

  /// False where there is no kernel of this name.
  bool find(const std::string &name, Kernel &kernel) const;

private:
  explicit KernelLibrary(void *handle) : handle(handle) {}
  void *handle;
};

/// In which order the threads of a block run between two points where they wait
/// for each other, and blocks one after the other. Copies are there as late as
/// they may be (forward), at once (backward), or one or the other.
enum class Order { forward, backward, random };

/// Memory that a kernel may use.
struct BufferRange {
  std::string name;
  const void *begin = nullptr;
  int64_t bytes = 0, elementBytes = 1;
  bool isWritable = true;
};

struct RunOptions {
  Order order = Order::forward;
  uint64_t seed = 0;
  /// Where accesses are checked: every byte that the kernel may use, aligned as
  /// it says. What a thread reads that another one writes without a barrier in
  /// between is no number. Without ranges nothing is checked.
  std::vector<BufferRange> ranges;
};

/// Runs all threads. Returns what is wrong with them, else nothing: threads
/// that do not wait at the same point, and what options.ranges say. Says in
/// `garbage` where a thread has read what has no meaning, as it may.
std::string runThreads(const Kernel &kernel, const void *const *params,
                       const RunOptions &options = {},
                       std::string *garbage = nullptr);

/// Runs the host twin, whose accesses are checked but for races.
std::string runTwin(const Kernel &kernel, const void *const *params,
                    const RunOptions &options = {});

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_EMULATION_H
