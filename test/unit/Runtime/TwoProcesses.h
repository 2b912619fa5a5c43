//===- TwoProcesses.h - two processes' ends in one process ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two meshes that are connected through the loopback stand for two processes.
// These may differ where those of a launcher never do.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_TWOPROCESSES_H
#define VEELINE_TEST_UNIT_RUNTIME_TWOPROCESSES_H

#include "HostExecutor.h"
#include "Mesh.h"

#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace veeline::net {

inline constexpr int64_t messageBytes = 64;
inline constexpr int32_t numMessages = 2;
/// The bytes of a message of each length.
inline constexpr std::array<int64_t, 2> lengthBytes = {40, messageBytes};
/// Microbatch i has lengths[i].
inline constexpr std::array<int64_t, numMessages> lengths = {1, 2};

// Steps of rank 0 and of rank 1.
void sendAll(veeline_rank *rank, char *arena, const void *const *inputs);
/// The same, out of memory of its own.
void sendCopies(veeline_rank *rank, char *arena, const void *const *inputs);
void receiveAll(veeline_rank *rank, char *arena, const void *const *inputs);
void sendVarying(veeline_rank *rank, char *arena, const void *const *inputs);
/// Posts before it knows how long messages are, or after.
template <bool knowsLengths>
void receiveVarying(veeline_rank *rank, char *arena, const void *const *inputs);

/// A program of two ranks; messages go from rank 0 to rank 1, by channel 0.
artifact::Artifact makeArtifact();

struct Process {
  artifact::Artifact artifact = makeArtifact();
  artifact::Program &program() { return artifact.metadata.programs[0]; }

  std::vector<veeline_step_fn> steps = {sendAll, receiveAll};
  const MpiLibrary *mpi = nullptr;
  uint64_t maxExchangeBytes = 1 << 20;
  bool checkMessages = true;
  /// In place of a step, where given.
  std::function<Status(Mesh &)> instead;
};

/// How each of two processes ended: "", or its error.
using Ends = std::array<std::string, 2>;

/// Runs the step of `process`, both ranks on threads where there is no mesh.
Status runStep(Process &process, Mesh *mesh);
Ends runBoth(Process first, Process second);

/// The sender's table of operations has another microbatch first.
void damageMicrobatch(Process &sender);
void splitMessages(Process &process, int32_t parts);
/// Sets a sender and a receiver of messages of two lengths.
void varyLengths(Process &process);

testing::AssertionResult has(const std::string &text, const std::string &part);

} // namespace veeline::net

#endif // VEELINE_TEST_UNIT_RUNTIME_TWOPROCESSES_H
