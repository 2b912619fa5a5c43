//===- KernelLibrary.h - kernels as functions of a CPU ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the host twins of a library that KernelCode.h has written. Needs no
// LLVM.
//
// Of a kernel NAME the library has
//   NAME       void(const void *const *params, const uint32_t grid[3],
//              const uint32_t block[3]): the host twin
//   NAME.info  int64_t[]: KernelInfo, as writeInfo has it
// where params[i] points to argument i, and
//   veeline_gpu_access  a pointer to an AccessFn, set by whoever loads the
//                       library
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELLIBRARY_H
#define VEELINE_TEST_GPU_KERNELLIBRARY_H

#include "Elements.h"
#include "Emulation.h"

#include <memory>
#include <optional>

namespace veeline::gpu {

/// What a twin calls before an access of memory, with 0 bytes if the access is
/// masked. Does not return if the access is wrong.
using AccessFn = void (*)(const void *address, int64_t bytes, int64_t alignment,
                          int32_t isWrite);

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
  /// Of dynamic shared memory.
  int64_t sharedBytes = 0;
  int64_t numParams = 0;
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
};

struct Kernel {
  using TwinFn = void (*)(const void *const *params, const uint32_t *grid,
                          const uint32_t *block);
  std::string name;
  TwinFn twin = nullptr;
  /// Null where the PTX is not at hand.
  const PtxKernel *threads = nullptr;
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

/// Runs the host twin. Its accesses are checked, but not for races.
std::string runTwin(const Kernel &kernel, const void *const *params,
                    const RunOptions &options = {});

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELLIBRARY_H
