//===- AlignedBytes.h - memory for tensors ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_ALIGNEDBYTES_H
#define VEELINE_RUNTIME_DATA_ALIGNEDBYTES_H

#include <cstdint>
#include <memory>
#include <new>

namespace veeline {

/// Memory aligned to 64 bytes, as compiled code expects of its inputs.
class AlignedBytes {
public:
  static constexpr std::align_val_t alignment{64};

  AlignedBytes() = default;
  explicit AlignedBytes(int64_t size)
      : bytes(static_cast<char *>(
            ::operator new(static_cast<size_t>(size), alignment))) {}

  char *data() const { return bytes.get(); }

private:
  struct Delete {
    void operator()(char *memory) const {
      ::operator delete(memory, alignment);
    }
  };
  std::unique_ptr<char, Delete> bytes;
};

} // namespace veeline

#endif // VEELINE_RUNTIME_DATA_ALIGNEDBYTES_H
