//===- TwoProcesses.h - two processes in one process ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two meshes that are connected through the loopback device stand for two
// processes. These may differ in ways in which the processes of a launcher
// never do.
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
/// The bytes of a message for each length.
inline constexpr std::array<int64_t, 2> lengthBytes = {40, messageBytes};
/// The length of each microbatch.
inline constexpr std::array<int64_t, numMessages> lengths = {1, 2};

// The step of rank 0, and of rank 1.
void sendAll(veeline_rank *rank, char *arena, const void *const *inputs);
/// A step of rank 0 that sends from memory of its own.
void sendCopies(veeline_rank *rank, char *arena, const void *const *inputs);
void receiveAll(veeline_rank *rank, char *arena, const void *const *inputs);
void sendVarying(veeline_rank *rank, char *arena, const void *const *inputs);
/// A step of rank 1 that posts receives after it knows the lengths of messages,
/// or before.
template <bool knowsLengths>
void receiveVarying(veeline_rank *rank, char *arena, const void *const *inputs);

/// A program of two ranks. Messages go from rank 0 to rank 1 through channel 0.
artifact::Artifact makeArtifact();

struct Process {
  artifact::Artifact artifact = makeArtifact();
  artifact::Program &program() { return artifact.metadata.programs[0]; }

  std::vector<veeline_step_fn> steps = {sendAll, receiveAll};
  const MpiLibrary *mpi = nullptr;
  uint64_t maxExchangeBytes = 1 << 20;
  bool checkMessages = true;
  /// If set, runs in place of a step.
  std::function<Status(Mesh &)> instead;
};

/// For each of two processes, its error or "".
using Ends = std::array<std::string, 2>;

/// Runs the step of `process`. Without a mesh, runs both ranks on threads.
Status runStep(Process &process, Mesh *mesh);
Ends runBoth(Process first, Process second);

/// Gives the first operation of the sender another microbatch.
void damageMicrobatch(Process &sender);
void splitMessages(Process &process, int32_t parts);
/// Sets up a sender and a receiver of messages of two lengths.
void varyLengths(Process &process);

testing::AssertionResult has(const std::string &text, const std::string &part);

} // namespace veeline::net

#endif // VEELINE_TEST_UNIT_RUNTIME_TWOPROCESSES_H
