//===- MachineTable.h - measured speeds of a machine ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The measurements that `veeline doctor --calibrate` makes once for a machine.
// Models without a profile take their times from them.
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

/// A measured rate at one size. The class determines what sizes and rates
/// count.
struct MeasuredRate {
  double size = 0;
  /// The rate of one core alone, and of each core if `MachineTable::together`
  /// cores work at once.
  double perNanosecond = 0;
  double together = 0;
};

struct MachineTable {
  /// The least reuse distance, in bytes, of the data that measured loops and
  /// calls move. It models a step, in which data are not read right after they
  /// were written.
  static constexpr uint64_t coldBytes = 8 << 20;

  /// The `getCpuName` of the machine that was measured.
  std::string cpu;
  int64_t cores = 1;
  /// The number of cores that worked at once when rates of several cores were
  /// measured.
  int64_t together = 1;
  /// The date of the measurement, as 2026-01-31.
  std::string date;
  /// The number of ranks that keep cores busy, at most one on a core.
  int64_t ranks = 1;
  /// The overhead of a library call beyond its arithmetic.
  double callNanoseconds = 0;
  /// The time from the arrival of a message to the wake-up of the rank that
  /// sleeps until then.
  double wakeNanoseconds = 0;
  /// By class, in ascending order of sizes.
  std::map<std::string, std::vector<MeasuredRate>> rates;

  /// Adds a rate of class `name`, the same for one core and for several. `size`
  /// must be larger than those added before.
  void add(const std::string &name, double size, double rate) {
    rates[name].push_back({size, rate, rate});
  }

  /// Reads a file. The error does not contain the path.
  static llvm::Expected<MachineTable> read(llvm::StringRef path);
  /// The same for a file's content.
  static llvm::Expected<MachineTable> parse(llvm::StringRef text);
  std::string toJson() const;

  /// The rate of class `name`, one of getMachineClasses, at `size`, on each of
  /// the cores that `ranks` keep busy. Between two measured sizes the rate is
  /// interpolated over the logarithm of the size. Outside of them it is that of
  /// the nearest size.
  double getRate(llvm::StringRef name, double size) const;
};

/// The classes of every table. For each, this is what sizes and rates count:
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
/// For convolutions, LAYOUT is the position of channels, `last` or `first`;
/// CLASS is `image` (up to 4 channels), `pointwise`, `window` or `strided`;
/// KIND is `forward`, `data` or `weights`.
const std::vector<std::string> &getMachineClasses();

/// The name of this machine's CPU, with LLVM's name of its kind.
std::string getCpuName();

/// The default path of a table: veeline/machine.json in $XDG_CACHE_HOME or
/// ~/.cache. Empty if neither directory is an absolute path.
std::string getDefaultMachinePath();

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINETABLE_H
