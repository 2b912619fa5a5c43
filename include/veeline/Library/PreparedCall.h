//===- PreparedCall.h - library calls of a rank -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_PREPAREDCALL_H
#define VEELINE_LIBRARY_PREPAREDCALL_H

#include "veeline/status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace veeline::library {

/// A library call that computes c from a and b. Used by one thread at a time.
class PreparedCall {
public:
  virtual ~PreparedCall() = default;
  virtual Status run(const void *a, const void *b, void *c, void *scratch) = 0;
  virtual int64_t scratchBytes() const = 0;
  /// The library's implementation, for benchmarks and tests.
  virtual std::string implementation() const = 0;
};

/// A rank's table of prepared matrix products, or of convolutions.
class CallTable {
public:
  /// `plannedScratch` is the size of the scratch memory that the artifact has
  /// for the call, in bytes.
  void add(std::unique_ptr<PreparedCall> call, int64_t plannedScratch);
  Status run(int32_t index, const void *a, const void *b, void *c,
             void *scratch) {
    Entry &entry = entries[index];
    ++entry.runs;
    return entry.call->run(a, b, c,
                           entry.usesExtra ? extraScratch.data() : scratch);
  }
  size_t size() const { return entries.size(); }
  /// True if call `index` uses the scratch memory that `run` passes.
  bool usesGivenScratch(int32_t index) const {
    return !entries[index].usesExtra;
  }
  /// The bytes of scratch memory that the artifact has for call `index`.
  int64_t plannedScratch(int32_t index) const {
    return entries[index].plannedScratch;
  }
  /// The bytes of scratch memory outside of the arena, for calls that need more
  /// here than on the machine that compiled; 0 on that machine.
  int64_t extraScratchBytes() const {
    return static_cast<int64_t>(extraScratch.size());
  }
  /// The number of runs of each of the library's implementations.
  std::map<std::string, int64_t> runsByImplementation() const;

private:
  struct Entry {
    std::unique_ptr<PreparedCall> call;
    int64_t plannedScratch;
    bool usesExtra; ///< The artifact planned too little for this machine.
    int64_t runs = 0;
  };
  std::vector<Entry> entries;
  std::vector<char> extraScratch;
};

} // namespace veeline::library

#endif // VEELINE_LIBRARY_PREPAREDCALL_H
