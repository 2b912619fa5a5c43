//===- Calibration.h - measuring a machine ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_CALIBRATION_H
#define VEELINE_LIB_COMPILER_CALIBRATION_H

#include "veeline/Analysis/MachineTable.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdlib>
#include <functional>
#include <memory>

namespace veeline::compiler {

/// Memory of operands, aligned to a cache line.
using Buffer = std::unique_ptr<char, decltype(&std::free)>;

/// The elements are small floats that are not powers of two.
Buffer allocateFloats(int64_t bytes);

/// Provides operands of `bytes` bytes for repeated measurements. There are so
/// many of them that an operand has left the nearby caches when it is used
/// again.
class ColdOperands {
public:
  explicit ColdOperands(int64_t bytes);
  char *next() { return pool.get() + number++ % count * stride; }

private:
  int64_t stride, count, number = 0;
  Buffer pool;
};

/// Work that is run many times, with operands of its own.
using Work = std::function<void()>;

/// The number of cores that run the same work at once in a measurement. Like
/// the ranks of a pipeline, they share caches and memory.
int64_t countMeasuredCores();

/// The processor time of one run of the first of `works` on this thread, in
/// nanoseconds: the median of several runs. Meanwhile, each of the others runs
/// repeatedly on a thread of its own.
double measureNanoseconds(llvm::ArrayRef<Work> works);

/// Measures products and convolutions as compiled code calls them, on `cores`
/// cores at once.
llvm::Error measureLibrary(MachineTable &table, int64_t cores);

/// Compiles loops and measures them, on `cores` cores at once.
llvm::Error measureLoops(MachineTable &table, int64_t cores);

/// Measures how long a rank takes to wake for a message.
void measureMessages(MachineTable &table);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_CALIBRATION_H
