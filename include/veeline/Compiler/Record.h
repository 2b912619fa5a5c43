//===- Record.h - what compiling made, and how long it took -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_RECORD_H
#define VEELINE_COMPILER_RECORD_H

#include "veeline/Base/ProgressLine.h"
#include "veeline/Compiler/Messages.h"

#include "veeline/artifact.h"

#include <chrono>
#include <string>
#include <vector>

namespace veeline::compiler {

/// A record of a compilation: its times and messages.
struct CompileRecord {
  struct Phase {
    std::string program, name;
    double seconds;
  };
  /// In order of time. A phase without a program is about all of them.
  std::vector<Phase> phases;
  double seconds = 0; ///< The total time.
  std::vector<Message> messages;
};

/// Adds the time from its construction to its destruction to `record`, if that
/// is not null. The phase is also what a terminal shows meanwhile.
class PhaseTimer {
public:
  PhaseTimer(CompileRecord *record, std::string program, std::string name)
      : record(record), program(std::move(program)), name(std::move(name)) {
    ProgressLine::setCurrent(
        "compiling: " + (this->program.empty() ? "" : this->program + ", ") +
        this->name);
  }
  ~PhaseTimer() {
    if (record)
      record->phases.push_back(
          {program, name,
           std::chrono::duration<double>(Clock::now() - begin).count()});
  }
  PhaseTimer(const PhaseTimer &) = delete;

private:
  using Clock = std::chrono::steady_clock;
  CompileRecord *record;
  std::string program, name;
  Clock::time_point begin = Clock::now();
};

/// The description of the artifact at `path`, which has `bytes` bytes, and its
/// record as JSON (docs/tools.md).
std::string toJson(const CompileRecord &record, const std::string &path,
                   uint64_t bytes, const artifact::Metadata &metadata);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_RECORD_H
