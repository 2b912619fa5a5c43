//===- MachineTable.h - measured speeds of a machine ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `veeline doctor --calibrate` measures once for a machine. Models without
// a profile take their times from it.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_MACHINETABLE_H
#define VEELINE_ANALYSIS_MACHINETABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace veeline {

/// A measured rate at one size. What sizes and rates are depends on the class.
struct MeasuredRate {
  double size = 0;
  /// Of one core alone, and of each of `MachineTable::together` cores.
  double perNanosecond = 0;
  double together = 0;
};

struct MachineTable {
  /// The least reuse distance, in bytes, of what loops and calls move while
  /// they are measured: in a step, what is read is not what was written a
  /// moment ago.
  static constexpr uint64_t coldBytes = 8 << 20;

  /// getCpuName of the machine that was measured.
  std::string cpu;
  int64_t cores = 1;
  /// How many cores worked at once where rates of several cores were measured.
  int64_t together = 1;
  /// When, as 2026-01-31.
  std::string date;
  /// How many ranks keep cores busy, at most one on a core.
  int64_t ranks = 1;
  /// The time of a library call beyond its arithmetic.
  double callNanoseconds = 0;
  /// The time from a message to the wake-up of the rank that sleeps until it
  /// comes.
  double wakeNanoseconds = 0;
  /// By class, in ascending order of sizes.
  std::map<std::string, std::vector<MeasuredRate>> rates;

  /// Adds a rate of class `name`, the same for one core and for all, at a
  /// larger size than those before.
  void add(const std::string &name, double size, double rate) {
    rates[name].push_back({size, rate, rate});
  }

  /// Reads a file. The error says what is wrong with it, without its path.
  static llvm::Expected<MachineTable> read(llvm::StringRef path);
  /// The same of a file's content.
  static llvm::Expected<MachineTable> parse(llvm::StringRef text);
  std::string toJson() const;

  /// The rate of `name`, one of getMachineClasses, at `size`, on each of the
  /// cores that `ranks` keep busy. Rates between two measured sizes are
  /// interpolated over the logarithm of the size; beyond them it is that of the
  /// nearest size.
  double getRate(llvm::StringRef name, double size) const;
};

/// The classes of every table, and what their sizes and their rates count:
///
///   product f32, product f64       FLOPs; FLOPs
///   row                            bytes of a matrix times a row; bytes
///   outer                          bytes of a column times a row; bytes
///   LAYOUT CLASS KIND              channels; FLOPs
///   LAYOUT depthwise KIND          bytes of both images; bytes
///   elementwise                    bytes read and written; bytes
///   transposed                     bytes read across rows; bytes
///   sum                            bytes read; bytes
///   window                         channels; elements of windows
///   arithmetic, function           (any size); operations
///
/// Of convolutions LAYOUT is where channels are, `last` or `first`, CLASS is
/// `image` (of up to 4 channels), `pointwise`, `window`, or `strided`, and KIND
/// `forward`, `data` or `weights`.
const std::vector<std::string> &getMachineClasses();

/// The name of the CPU that we run on, with LLVM's name of its kind.
std::string getCpuName();

/// The default path of a table: veeline/machine.json in $XDG_CACHE_HOME or
/// ~/.cache. Empty where neither variable is an absolute path.
std::string getDefaultMachinePath();

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINETABLE_H
