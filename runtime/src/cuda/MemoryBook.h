//===- MemoryBook.h - accounts of a GPU's memory ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_MEMORYBOOK_H
#define VEELINE_RUNTIME_CUDA_MEMORYBOOK_H

#include "veeline/status.h"

#include <array>
#include <cstdint>
#include <mutex>

namespace veeline::cuda {

class Device;

/// Attributes memory of a GPU to its uses, by the free memory that the driver
/// reports before and after. While the book is closed, Scopes do nothing, so
/// that steps are not delayed.
class MemoryBook {
public:
  enum Part {
    context, ///< Includes other programs.
    arenas,
    kernels,
    libraries,
    messages,
    graphs,
    rest,
    numParts
  };

  explicit MemoryBook(const Device &device) : device(device) {}

  // Call these functions between steps.
  /// Makes Scopes measure from now on. Memory that is taken between Scopes
  /// counts as `part`.
  void open(Part part) {
    isOpen = true;
    between = part;
  }
  void close() { isOpen = false; }
  /// Counts memory that was taken since the last measurement as `part`.
  void look(Part part);

  /// Counts memory that is taken during its lifetime as `part`. Other Scopes of
  /// the book wait meanwhile.
  class Scope {
  public:
    Scope(MemoryBook &book, Part part);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    MemoryBook &book;
    const Part part;
    std::unique_lock<std::mutex> lock;
  };

  int64_t bytes(Part part) const { return parts[part]; }
  /// The highest use of all measurements.
  int64_t most() const { return largest; }
  /// The first error of a measurement.
  const Status &status() const { return error; }

private:
  void lookLocked(Part part);

  const Device &device;
  bool isOpen = false;
  Part between = rest;
  std::mutex mutex;
  std::array<int64_t, numParts> parts = {};
  int64_t last = 0, largest = 0;
  Status error = Status::success();
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_MEMORYBOOK_H
