//===- Checksum.cpp - CRC-64 ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Checksum.h"

#include <array>
#include <cstdio>
#include <cstring>

using namespace veeline;

using Table = std::array<uint64_t, 256>;

/// Tables for slicing-by-8: table i has the CRC of each byte followed by i zero
/// bytes. Eight lookups then process eight bytes at once.
static constexpr std::array<Table, 8> makeTables() {
  constexpr uint64_t polynomial = 0xc96c5795d7870f42;
  std::array<Table, 8> tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (unsigned bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (unsigned i = 1; i < 8; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) {
      uint64_t previous = tables[i - 1][byte];
      tables[i][byte] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  return tables;
}

static constexpr std::array<Table, 8> tables = makeTables();

void Crc64::add(std::string_view bytes) {
  const char *data = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, data += 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= state;
    state = 0;
    for (unsigned i = 0; i < 8; ++i)
      state ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left; --left, ++data)
    state = (state >> 8) ^
            tables[0][(state ^ static_cast<unsigned char>(*data)) & 0xff];
}

static constexpr std::array<uint32_t, 256> makeCastagnoliTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value >> 1) ^ (value & 1 ? 0x82f63b78 : 0);
    table[byte] = value;
  }
  return table;
}

uint32_t veeline::crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = makeCastagnoliTable();
  uint32_t state = ~uint32_t(0);
  for (char byte : bytes)
    state =
        (state >> 8) ^ table[(state ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~state;
}

uint64_t veeline::checksumOfSample(std::string_view bytes) {
  constexpr size_t numBlocks = 1024, blockBytes = 64 << 10;
  Crc64 crc;
  if (bytes.size() <= mostBytesOfWholeChecksum) {
    crc.add(bytes);
    return crc.value();
  }
  size_t last = bytes.size() - blockBytes;
  for (size_t i = 0; i < numBlocks; ++i)
    // This order of operations does not overflow: `last * i` fits for files of
    // up to 2^54 bytes.
    crc.add(bytes.substr(last * i / (numBlocks - 1), blockBytes));
  return crc.value();
}

std::string veeline::describeContent(std::string_view bytes) {
  char text[64];
  std::snprintf(text, sizeof(text), "%zu bytes (checksum %016lx)", bytes.size(),
                static_cast<unsigned long>(checksumOfSample(bytes)));
  return text;
}
