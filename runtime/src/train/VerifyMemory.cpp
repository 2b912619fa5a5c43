//===- VerifyMemory.cpp - memory needed for verification ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyMemory.h"

#include "JsonLine.h"

#include "veeline/Base/ProcessLimits.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <string_view>

using namespace veeline;
using namespace veeline::train;
using artifact::Parameter;
using artifact::Program;

int64_t VerifyMemory::total() const {
  int64_t bytes = copies;
  for (const Loaded &loaded : programs)
    bytes += loaded.bytes;
  return bytes;
}

/// The number of microbatches that a replica of `program` runs in a step.
static int64_t stepMicrobatches(const Run &run, const Program &program) {
  return program.microbatchesOf(run.metadata().microbatches);
}

int64_t train::bytesOfProgram(const Run &run, const Program &program,
                              int64_t stepsInFlight) {
  int64_t arenas = 0, batches = 0, message = 1, spares = 0;
  for (const artifact::Rank &rank : program.ranks)
    arenas += rank.arenaBytes + rank.hostBytes;
  for (size_t i = 0; i < run.metadata().batches.size(); ++i)
    batches += run.inputs->batchBytes(i);
  for (const artifact::Channel &channel : program.channels) {
    message = std::max(message, channel.messageBytes);
    if (stepsInFlight > 1 && run.metadata().target == "host" &&
        channel.kind == artifact::ChannelKind::activation)
      spares += channel.messageBytes;
  }
  return arenas + spares +
         (stepsInFlight + 1) * batches * stepMicrobatches(run, program) *
             program.replicas +
         message * static_cast<int64_t>(program.ranks.size());
}

/// Returns the memory of a GroupedSession besides `program`: new parameters and
/// state, and the gradients of each rank of a chunk's stage and their sum.
static int64_t bytesOfGroups(const Run &run, const Program &program) {
  if (run.microbatches() == stepMicrobatches(run, program))
    return 0;
  const artifact::Metadata &metadata = run.metadata();
  const Program &tested = *metadata.findProgram(run.options.program);
  int64_t bytes = 0;
  for (const Parameter &param : metadata.params)
    bytes +=
        byteSizeOf(param) +
        stateElements(metadata.optimizer, metadata.errorFeedback, param.shape) *
            artifact::byteSize(param.type);
  for (const artifact::Rank &rank : program.ranks)
    for (const artifact::RankParam &entry : rank.params)
      for (const artifact::Accumulator &gradient : entry.gradients) {
        int32_t width =
            tested.stageReplicas.empty()
                ? 1
                : tested.widthOf(
                      tested.chunks[static_cast<size_t>(gradient.chunk)].stage);
        bytes += byteSizeOf(metadata.params[static_cast<size_t>(entry.param)]) *
                 (width * tested.replicas + 1);
      }
  return bytes;
}

/// Returns the memory of those programs of `names` that the artifact has. The
/// first one has `stepsInFlight` steps in flight, the others one.
static VerifyMemory
memoryOfPrograms(const Run &run, int64_t stepsInFlight,
                 std::initializer_list<std::string_view> names) {
  VerifyMemory memory;
  for (std::string_view name : names) {
    const Program *program = run.metadata().findProgram(std::string(name));
    if (!program)
      continue;
    int64_t inFlight = memory.programs.empty() ? stepsInFlight : 1;
    memory.programs.push_back(
        {std::string(name), bytesOfProgram(run, *program, inFlight)});
    if (memory.programs.size() > 1)
      memory.copies += bytesOfGroups(run, *program);
  }
  return memory;
}

static int64_t largestParameter(const artifact::Metadata &metadata) {
  int64_t largest = 0;
  for (const Parameter &param : metadata.params)
    largest = std::max(largest, byteSizeOf(param));
  return largest;
}

VerifyMemory train::memoryOfVerify(const Run &run) {
  const artifact::Metadata &metadata = run.metadata();
  VerifyMemory memory =
      memoryOfPrograms(run, /*stepsInFlight=*/1,
                       {run.options.program, "sequential", "reference"});
  int64_t all = 0, largest = largestParameter(metadata);
  for (const Parameter &param : metadata.params)
    all += byteSizeOf(param);
  // These are the parameters with which a step began, for the reference; and
  // for a gradient, its two sums over chunks and the next summand.
  bool hasReference = metadata.findProgram("reference") != nullptr;
  memory.copies += (hasReference ? all : 0) + (hasReference ? 3 : 2) * largest;
  return memory;
}

VerifyMemory train::memoryOfComparison(const Run &run) {
  VerifyMemory memory = memoryOfPrograms(run, run.stepsInFlight(),
                                         {run.options.program, "sequential"});
  // One parameter of both programs.
  memory.copies += 2 * largestParameter(run.metadata());
  return memory;
}

static void print(const VerifyMemory &memory, const std::string &what,
                  bool isOnDevice) {
  std::string parts;
  for (const VerifyMemory::Loaded &loaded : memory.programs)
    parts += std::to_string(loaded.bytes) + " for '" + loaded.program + "', ";
  std::printf("%s %ld bytes: %s%ld for copies that are compared; %.1f "
              "times those of training%s\n",
              what.c_str(), long(memory.total()), parts.c_str(),
              long(memory.copies),
              double(memory.total()) / double(memory.programs[0].bytes),
              isOnDevice ? ", arenas on GPUs" : "");
  // The output is flushed, so that it is seen even if the system ends the
  // process.
  std::fflush(stdout);
}

static void printJson(const VerifyMemory &memory) {
  JsonLine line(256);
  line.begin("memory_needed");
  line.add("bytes", memory.total());
  line.add("bytes_of_copies", memory.copies);
  line.beginObject("bytes_of_programs");
  for (const VerifyMemory::Loaded &loaded : memory.programs)
    line.add(loaded.program, loaded.bytes);
  line.endObject();
  line.print();
  std::fflush(stdout);
}

static std::string whatToDo(const VerifyMemory &memory) {
  const VerifyMemory::Loaded &last = memory.programs.back();
  if (last.program == "reference")
    return "compile with --no-reference, which takes " +
           std::to_string(last.bytes) +
           " bytes less, or with a smaller --microbatch-size";
  return "compile with a smaller --microbatch-size or fewer --microbatches";
}

/// Prints the memory that `option` needs, and fails if less is free.
static Status check(const Run &run, const VerifyMemory &memory,
                    const std::string &what, const std::string &option) {
  bool isOnDevice = run.metadata().target == "cuda";
  if (run.options.logsJson)
    printJson(memory);
  else
    print(memory, what, isOnDevice);
  std::optional<int64_t> free = getFreeMemory();
  // The free memory of GPUs becomes known when arenas are allocated.
  if (isOnDevice || !free || memory.total() <= *free)
    return Status::success();
  return Status::error(option + " needs " + std::to_string(memory.total()) +
                       " bytes, but this process can get " +
                       std::to_string(*free) +
                       ", of memory and swap; run it on a larger machine, or " +
                       whatToDo(memory));
}

// If there is no such program, loading it reports that.

Status train::checkMemoryOfVerify(const Run &run) {
  if (!run.metadata().findProgram(run.options.program))
    return Status::success();
  return check(run, memoryOfVerify(run), "verification needs", "--verify");
}

Status train::checkMemoryOfComparison(const Run &run) {
  if (!run.metadata().findProgram(run.options.program))
    return Status::success();
  return check(run, memoryOfComparison(run),
               "'" + run.options.program + "' and 'sequential' together need",
               "--compare-sequential");
}
