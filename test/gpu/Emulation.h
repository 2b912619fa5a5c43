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
//   veeline_gpu_functions   a pointer to DeviceFunctions, set by whoever
//                           loads the library
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
/// A mode beyond those of gpu::ShuffleMode.
inline constexpr int32_t ballotMode = 4;

/// The types of a product of matrices; sums are in f32.
enum class MatrixKind : int32_t { f16, bf16, tf32 };

/// What the code of a thread calls. `site` identifies the op in the kernel: all
/// threads of a block meet at a barrier, those of a warp at the other sites.
struct DeviceFunctions {
  void (*barrier)(int32_t site);
  /// Returns the value of another lane, by a mode of gpu::ShuffleMode, or bit 0
  /// of the values of all lanes (`ballotMode`).
  uint64_t (*shuffle)(uint64_t value, int32_t offset, int32_t width,
                      int32_t mode, int32_t site);
  /// Called before an access of memory, with 0 bytes if the access is masked.
  /// Returns not 0 if it reads undefined data.
  int32_t (*access)(const void *address, int64_t bytes, int64_t alignment,
                    int32_t kind);
  /// ldmatrix: loads `count` registers of the lane, from matrices whose rows
  /// the lanes point to.
  void (*loadMatrices)(uint32_t *registers, const void *row, int32_t count,
                       int32_t isTransposed, int32_t site);
  /// mma.sync of a MatrixKind: c += a b.
  void (*multiply)(const uint32_t *a, const uint32_t *b, float *c, int32_t kind,
                   int32_t site);
  /// cp.async: copies `sourceBytes`, and zeros up to `bytes`. They arrive when
  /// the thread has waited for their group, or at any time before.
  void (*copyAsync)(void *target, const void *source, int64_t bytes,
                    int64_t sourceBytes);
  void (*commitCopies)();
  /// Waits until all but the last `numLeft` groups have arrived.
  void (*waitForCopies)(int32_t numLeft);
};

enum class AccessKind : int32_t { read, write, atomic };

/// A buffer that the threads of a block share; `offset` is within the memory of
/// all of them.
struct SharedBuffer {
  int64_t offset, bytes, elementBytes;
};

/// An argument of a kernel, and the data that it takes.
struct KernelParam {
  /// The type of its elements; none if ElementKind lacks it.
  std::optional<ElementKind> kind;
  /// The number of elements; -1 if only the run time says it.
  int64_t count = 1;
  bool isBuffer = false, isRead = false, isWritten = false;
  /// What is added to random floats: `positiveShift` if all of them are
  /// positive, else `shift`. With a shift, the other floats of the kernel must
  /// not be large.
  double shift = 0, positiveShift = 0;
  /// The value of an integer in every run. A library does not have it; who runs
  /// the kernel may set it.
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
  /// Whether the result depends on the order of additions, and the most numbers
  /// that a sum adds.
  bool addsFloats = false;
  int64_t numAdded = 1;
  /// The largest relative error of a rounding of the narrowest sums and
  /// products.
  double unit = 0;
  /// Calls functions of f64, which are libdevice's on a GPU.
  bool callsDoubleFunctions = false;
  /// Integers in buffers may be indices if they are below this.
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

/// The order of blocks, and of the threads of a block between two points where
/// they wait for each other. Asynchronous copies arrive as late as they may
/// (forward), at once (backward), or one or the other (random).
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
  /// The memory that the kernel may use. Accesses are checked: they have to be
  /// within it, and as aligned as they say. A read of what another thread
  /// writes without a barrier in between gives NaN, or all bits set. Without
  /// ranges, nothing is checked.
  std::vector<BufferRange> ranges;
};

/// Runs all threads. Returns what is wrong with them, or nothing: threads that
/// do not wait at the same point, and accesses that options.ranges do not
/// allow. Sets `garbage` to the first read of undefined data, which is no
/// error.
std::string runThreads(const Kernel &kernel, const void *const *params,
                       const RunOptions &options = {},
                       std::string *garbage = nullptr);

/// Runs the host twin. Its accesses are checked, but not for races.
std::string runTwin(const Kernel &kernel, const void *const *params,
                    const RunOptions &options = {});

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_EMULATION_H
