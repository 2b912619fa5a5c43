//===- MachineTable.h - measured speeds of a machine ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `veeline doctor --calibrate` has measured once, for the times of models
// that have no profile.
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

/// How fast something was at one size: what a size is depends on the class.
struct MeasuredRate {
  double size = 0;
  /// While one core works, and on each of `together` cores that do.
  double perNanosecond = 0;
  double together = 0;
};

struct MachineTable {
  /// As many bytes at least go by between two uses of what loops and calls move
  /// while they are measured: in a step, what is read is not what was written a
  /// moment ago.
  static constexpr uint64_t coldBytes = 8 << 20;

  /// As getCpuName of the machine that was measured.
  std::string cpu;
  int64_t cores = 1;
  /// How many worked at once where rates of several cores were measured.
  int64_t together = 1;
  /// When, as 2026-01-31.
  std::string date;
  /// Ranks whose times are asked for, at most one on a core.
  int64_t ranks = 1;
  /// What a call of the library takes beyond its arithmetic.
  double callNanoseconds = 0;
  /// From a message to the rank that slept until it came.
  double wakeNanoseconds = 0;
  /// By the names of classes, in the order of their sizes.
  std::map<std::string, std::vector<MeasuredRate>> rates;

  /// Adds what was measured of `name` at a larger size than before, of one core
  /// and of all.
  void add(const std::string &name, double size, double rate) {
    rates[name].push_back({size, rate, rate});
  }

  /// Reads a file. The error says what is wrong with it, without its path.
  static llvm::Expected<MachineTable> read(llvm::StringRef path);
  /// The same of a file's content.
  static llvm::Expected<MachineTable> parse(llvm::StringRef text);
  std::string toJson() const;

  /// How fast `name`, one of getMachineClasses, is at `size` on each of the
  /// cores that `ranks` keep busy: between two sizes that were measured by the
  /// logarithm of the size, beyond them as at the nearest.
  double getRate(llvm::StringRef name, double size) const;
};

/// Classes that every table has, and what their sizes and rates are of:
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

/// The CPU that we run on: its name, and LLVM's of its kind.
std::string getCpuName();

/// Where a table lies that nobody named: veeline/machine.json in
/// $XDG_CACHE_HOME or ~/.cache. Empty where there is neither variable.
std::string getDefaultMachinePath();

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINETABLE_H
