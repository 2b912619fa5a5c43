//===- TwoProcesses.cpp - two processes' ends in one process --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TwoProcesses.h"

#include "HostRank.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <thread>

using namespace veeline;
using namespace veeline::net;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void net::sendAll(veeline_rank *rank, char *, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    std::memset(veeline_send_acquire(rank, 0), i + 1, messageBytes);
    veeline_send_commit(rank, 0);
    veeline_op_end(rank, i);
  }
}

void net::sendCopies(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    std::memset(arena, i + 1, messageBytes);
    veeline_send_copy(rank, 0, i, veeline_send_acquire(rank, 0), arena);
    veeline_op_end(rank, i);
  }
}

void net::receiveAll(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i)
    veeline_recv_post(rank, 0, arena + i * messageBytes);
  float sum = 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
    // What comes after a fault may be arriving now.
    if (rank->failed)
      return;
    const char *message = arena + i * messageBytes;
    auto right = std::count(message, message + messageBytes, i + 1);
    sum += right == messageBytes ? i + 1 : 100;
  }
  veeline_report(rank, 0, 0, &sum);
}

void net::sendVarying(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_op_begin(rank, i);
    veeline_length_of_data(rank, i);
    for (int32_t k = 0; k < messageBytes; ++k)
      arena[k] = static_cast<char>(i + k);
    veeline_send_copy(rank, 0, i, veeline_send_acquire(rank, 0), arena);
    veeline_op_end(rank, i);
  }
}

template <bool knowsLengths>
void net::receiveVarying(veeline_rank *rank, char *arena, const void *const *) {
  for (int32_t i = 0; i < numMessages; ++i) {
    if (knowsLengths)
      veeline_length_of_data(rank, i);
    veeline_recv_post(rank, 0, arena + i * messageBytes);
  }
  float sum = 0;
  for (int32_t i = 0; i < numMessages; ++i) {
    veeline_length_of_data(rank, i);
    veeline_op_begin(rank, i);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, i);
    bool isRight = true;
    for (int32_t k = 0; k < lengthBytes[lengths[i] - 1]; ++k)
      isRight &= arena[i * messageBytes + k] == static_cast<char>(i + k);
    sum += isRight ? i + 1 : 100;
  }
  veeline_report(rank, 0, 0, &sum);
}

template void net::receiveVarying<false>(veeline_rank *, char *,
                                         const void *const *);
template void net::receiveVarying<true>(veeline_rank *, char *,
                                        const void *const *);

//===----------------------------------------------------------------------===//
// Two processes
//===----------------------------------------------------------------------===//

artifact::Artifact net::makeArtifact() {
  artifact::Artifact artifact;
  artifact.metadata.results = {{"loss", artifact::DataType::f32}};
  artifact.metadata.microbatches = numMessages;
  artifact::Program program;
  program.name = "net";
  program.stages = 2;
  program.ranks.resize(2);
  for (artifact::Rank &rank : program.ranks) {
    rank.stepSymbol = "step";
    rank.arenaBytes = 4096;
  }
  for (int32_t edge = 0; edge < 2; ++edge)
    program.channels.push_back({artifact::ChannelKind::activation,
                                edge,
                                0,
                                1,
                                messageBytes,
                                numMessages,
                                artifact::DataType::i8,
                                {messageBytes}});
  for (int32_t i = 0; i < numMessages; ++i) {
    program.ranks[0].ops.push_back({artifact::OpKind::send, -1, i, 0, -1});
    program.ranks[1].ops.push_back({artifact::OpKind::recv, -1, i, 0, -1});
  }
  artifact.metadata.programs = {program};
  artifact.objects = {""};
  return artifact;
}

Status net::runStep(Process &process, Mesh *mesh) {
  host::HostOptions options;
  options.steps = process.steps;
  options.network = mesh;
  options.checkMessages = process.checkMessages;
  Expected<std::unique_ptr<host::HostExecutor>> executor =
      host::HostExecutor::create(process.artifact, process.program(), options);
  if (!executor.ok())
    return executor.status();
  if (process.instead)
    return mesh ? process.instead(*mesh)
                : Status::error("threads have no mesh");
  StepResult result;
  const void *inputs[] = {lengths.data()};
  VEELINE_TRY((*executor)->begin(inputs, {}));
  Status status = (*executor)->finish(result);
  if (status.ok() && result.results[0] != 3)
    return Status::error("what arrived is not what was sent");
  return status;
}

Ends net::runBoth(Process first, Process second) {
  Process *processes[] = {&first, &second};
  Ends ends;
  std::promise<uint16_t> port;
  std::shared_future<uint16_t> knownPort = port.get_future().share();
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      MeetingOptions options;
      options.place.rank = rank;
      options.place.numRanks = 2;
      options.timeoutSeconds = 20;
      options.maxExchangeBytes = processes[rank]->maxExchangeBytes;
      options.sharePort = [&](uint16_t &shared) {
        if (rank == 0)
          port.set_value(shared);
        shared = knownPort.get();
        return Status::success();
      };
      Expected<std::unique_ptr<Mesh>> mesh =
          Mesh::create(options, processes[rank]->mpi);
      Status status =
          mesh.ok() ? runStep(*processes[rank], mesh->get()) : mesh.status();
      ends[rank] = status.ok() ? "" : status.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

testing::AssertionResult net::has(const std::string &text,
                                  const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "'" << text << "' lacks '" << part << "'";
}

void net::damageMicrobatch(Process &sender) {
  std::swap(sender.program().ranks[0].ops[0].microbatch,
            sender.program().ranks[0].ops[1].microbatch);
}

void net::splitMessages(Process &process, int32_t parts) {
  for (artifact::Channel &channel : process.program().channels)
    channel.parts = parts;
}

void net::varyLengths(Process &process) {
  process.artifact.metadata.lengths = {1, 2};
  artifact::Channel &channel = process.program().channels[0];
  channel.lengthShapes = {{lengthBytes[0]}, {lengthBytes[1]}};
  channel.microbatches = {0, 1};
  process.steps = {sendVarying, receiveVarying<false>};
}
