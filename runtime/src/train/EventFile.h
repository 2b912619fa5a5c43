//===- EventFile.h - event files for TensorBoard ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of TensorFlow's records, each with its length and masked CRC-32C. A
// record is a message tensorflow.Event of protocol buffers:
//
//   Event:   1 wall_time: double, 2 step: int64, 3 file_version: string,
//            5 summary: Summary, 7 session_log: SessionLog
//   Summary: 1 value: repeated Value; Value: 1 tag: string, 2 simple_value:
//            float
//   SessionLog: 1 status: START = 1
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_EVENTFILE_H
#define VEELINE_RUNTIME_TRAIN_EVENTFILE_H

#include "veeline/status.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace veeline::train {

class EventFile {
public:
  EventFile() = default;
  EventFile(const EventFile &) = delete;
  EventFile &operator=(const EventFile &) = delete;
  ~EventFile();

  /// Creates the folder if it does not exist, and in it a new file,
  /// events.out.tfevents.SECONDS.HOST.PROCESS. TensorBoard then leaves out what
  /// other files in the folder have for steps from `firstStep` on. With 1,
  /// nothing is left out.
  Status open(const std::string &directory, int64_t firstStep);
  bool isOpen() const { return file != nullptr; }

  /// Begins the points of a step.
  void begin(int64_t step);
  /// Adds a point to the curve `tag`.
  void add(std::string_view tag, double value);
  /// Writes the points. From the second step on, steps with the same number of
  /// points allocate nothing.
  Status end();
  Status close();

private:
  Status writeRecord();

  std::string path;
  std::FILE *file = nullptr;
  std::string event, summary, value; ///< Kept, so that no step allocates.
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_EVENTFILE_H
