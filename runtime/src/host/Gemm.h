//===- Gemm.h - matrix products of a rank ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_HOST_GEMM_H
#define VEELINE_RUNTIME_HOST_GEMM_H

#include "veeline/artifact.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace veeline::host {

/// One prepared product. Used by one thread at a time.
class PreparedGemm {
public:
  virtual ~PreparedGemm() = default;
  virtual Status run(const void *a, const void *b, void *c, void *scratch) = 0;
  virtual int64_t scratchBytes() const = 0;
  /// The library's implementation, for benchmarks and tests.
  virtual std::string implementation() const = 0;
};

/// f32: oneDNN. Strides that it has no fast implementation for are packed
/// first.
Expected<std::unique_ptr<PreparedGemm>>
prepareGemmF32(const artifact::Gemm &gemm);

/// f64, which oneDNN does not have: our own kernel. Sums over k in ascending
/// order, without contraction.
std::unique_ptr<PreparedGemm> prepareGemmF64(const artifact::Gemm &gemm);

Expected<std::unique_ptr<PreparedGemm>> prepareGemm(const artifact::Gemm &gemm);

/// A rank's table of products.
class GemmTable {
public:
  /// On the thread that will run them, with one OpenMP thread.
  Status prepare(const std::vector<artifact::Gemm> &gemms);
  Status run(int32_t index, const void *a, const void *b, void *c,
             void *scratch) {
    Entry &entry = entries[index];
    ++entry.runs;
    return entry.gemm->run(a, b, c,
                           entry.usesExtra ? extraScratch.data() : scratch);
  }
  size_t size() const { return entries.size(); }
  /// True where product `index` takes the scratch that it is called with.
  bool usesGivenScratch(int32_t index) const {
    return !entries[index].usesExtra;
  }
  /// Scratch outside of the arena, where this machine wants more than the
  /// compiler's did: 0 on the machine that compiled.
  int64_t extraScratchBytes() const {
    return static_cast<int64_t>(extraScratch.size());
  }
  /// How many products each of the library's implementations has computed.
  std::map<std::string, int64_t> runsByImplementation() const;

private:
  struct Entry {
    std::unique_ptr<PreparedGemm> gemm;
    bool usesExtra; ///< The artifact planned too little for this machine.
    int64_t runs = 0;
  };
  std::vector<Entry> entries;
  std::vector<char> extraScratch;
};

} // namespace veeline::host

#endif // VEELINE_RUNTIME_HOST_GEMM_H
