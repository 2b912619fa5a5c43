//===- Calibration.h - what veeline doctor --calibrate measures -*- C++ -*-===//
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

/// Bytes for operands, on a cache line of their own.
using Buffer = std::unique_ptr<char, decltype(&std::free)>;

/// Filled with small floats that are no powers of two.
Buffer allocateFloats(int64_t bytes);

/// Operands of so many bytes in turn, which no cache close by has any more when
/// they come again.
class ColdOperands {
public:
  explicit ColdOperands(int64_t bytes);
  char *next() { return pool.get() + number++ % count * stride; }

private:
  int64_t stride, count, number = 0;
  Buffer pool;
};

/// Something that is run many times, with operands of its own.
using Work = std::function<void()>;

/// How many cores can do the same at a time while something is measured, as the
/// ranks of a pipeline do: they share caches and memory.
int64_t countMeasuredCores();

/// Processor time of one run of the first of `works` on this thread, the median
/// of several; meanwhile each of the others runs again and again on a thread of
/// its own.
double measureNanoseconds(llvm::ArrayRef<Work> works);

/// Measures products and convolutions as compiled code calls them, on so many
/// cores at a time.
llvm::Error measureLibrary(MachineTable &table, int64_t cores);

/// Compiles loops and measures them, on so many cores at a time.
llvm::Error measureLoops(MachineTable &table, int64_t cores);

/// Measures how long a rank takes to wake for a message.
void measureMessages(MachineTable &table);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_CALIBRATION_H
