//===- EventFile.cpp - event files for TensorBoard ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EventFile.h"

#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <unistd.h>
#include <utility>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Protocol buffers
//===----------------------------------------------------------------------===//

/// The types of fields on the wire.
enum class Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// The least significant seven bits come first.
static void addVarint(std::string &message, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

static void addKey(std::string &message, unsigned field, Wire wire) {
  addVarint(message, (field << 3) | static_cast<unsigned>(wire));
}

template <typename T> static void addFixed(std::string &message, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    message += static_cast<char>(value >> (8 * i));
}

static void addDouble(std::string &message, unsigned field, double value) {
  addKey(message, field, Wire::fixed64);
  addFixed(message, std::bit_cast<uint64_t>(value));
}

static void addBytes(std::string &message, unsigned field,
                     std::string_view bytes) {
  addKey(message, field, Wire::bytes);
  addVarint(message, bytes.size());
  message += bytes;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// A checksum as it is stored. It is masked, so that data that contain
/// checksums also have good ones.
static uint32_t maskedChecksum(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return std::rotr(crc, 15) + 0xa282ead8;
}

Status EventFile::writeRecord() {
  // The length and the checksums take 16 bytes.
  value.clear();
  addFixed(value, uint64_t(event.size()));
  addFixed(value, maskedChecksum(value));
  size_t numWritten = std::fwrite(value.data(), 1, value.size(), file);
  numWritten += std::fwrite(event.data(), 1, event.size(), file);
  size_t numBytes = value.size() + event.size() + sizeof(uint32_t);
  value.clear();
  addFixed(value, maskedChecksum(event));
  numWritten += std::fwrite(value.data(), 1, value.size(), file);
  if (numWritten == numBytes && std::fflush(file) == 0)
    return Status::success();
  return Status::error("cannot write '" + path + "': " + std::strerror(errno));
}

static double secondsNow() {
  std::chrono::duration<double> now =
      std::chrono::system_clock::now().time_since_epoch();
  return now.count();
}

EventFile::~EventFile() { (void)close(); }

/// The fields of an event.
enum EventField : unsigned {
  wallTime = 1,
  stepOfEvent = 2,
  fileVersion = 3,
  summaryOfEvent = 5,
  sessionLog = 7
};

Status EventFile::open(const std::string &directory, int64_t firstStep) {
  VEELINE_TRY(makeDirectory(directory));
  char host[256] = "";
  (void)::gethostname(host, sizeof(host) - 1);
  double now = secondsNow();
  path = directory + "/events.out.tfevents." + std::to_string(int64_t(now)) +
         "." + host + "." + std::to_string(::getpid());
  // Never overwrites a file of another run.
  file = std::fopen(path.c_str(), "wxe");
  if (!file)
    return Status::error("cannot write '" + path +
                         "': " + std::strerror(errno));
  event.clear();
  addDouble(event, wallTime, now);
  addBytes(event, fileVersion, "brain.Event:2");
  VEELINE_TRY(writeRecord());
  if (firstStep <= 1)
    return Status::success();
  begin(firstStep);
  std::string start;
  addKey(start, 1, Wire::varint);
  addVarint(start, 1);
  addBytes(event, sessionLog, start);
  return writeRecord();
}

void EventFile::begin(int64_t step) {
  event.clear();
  summary.clear();
  addDouble(event, wallTime, secondsNow());
  addKey(event, stepOfEvent, Wire::varint);
  addVarint(event, static_cast<uint64_t>(step));
}

void EventFile::add(std::string_view tag, double number) {
  value.clear();
  addBytes(value, 1, tag);
  addKey(value, 2, Wire::fixed32);
  addFixed(value, std::bit_cast<uint32_t>(static_cast<float>(number)));
  addBytes(summary, 1, value);
}

Status EventFile::end() {
  addBytes(event, summaryOfEvent, summary);
  return writeRecord();
}

Status EventFile::close() {
  if (!file || std::fclose(std::exchange(file, nullptr)) == 0)
    return Status::success();
  return Status::error("cannot write '" + path + "': " + std::strerror(errno));
}
