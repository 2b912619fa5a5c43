//===- Checksum.h - CRC-64 --------------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_CHECKSUM_H
#define VEELINE_BASE_CHECKSUM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace veeline {

/// CRC-64/XZ (ECMA-182, reflected) of the bytes added so far. It detects any
/// burst of up to 64 damaged bits.
class Crc64 {
public:
  void add(std::string_view bytes);
  uint64_t value() const { return ~state; }

private:
  uint64_t state = ~uint64_t(0);
};

/// CRC-32C (Castagnoli, reflected), as in TensorFlow's record files.
uint32_t crc32c(std::string_view bytes);

inline constexpr size_t mostBytesOfWholeChecksum = size_t(64) << 20;

/// The CRC of all bytes if there are at most `mostBytesOfWholeChecksum`.
/// Otherwise the CRC of 1,024 evenly spaced blocks of 64 KiB, including the
/// first and the last block.
uint64_t checksumOfSample(std::string_view bytes);

/// Describes a file's content, to compare it with the file on another machine:
/// "123 bytes (checksum 0123456789abcdef)".
std::string describeContent(std::string_view bytes);

} // namespace veeline

#endif // VEELINE_BASE_CHECKSUM_H
