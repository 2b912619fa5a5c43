//===- Communicators.h - NCCL's communicators of a process ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_COMMUNICATORS_H
#define VEELINE_RUNTIME_CUDA_COMMUNICATORS_H

#include "CudaOptions.h"
#include "Nccl.h"

#include "Network.h"
#include "Pause.h"

#include "veeline/artifact.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>

namespace veeline::cuda {

/// The share of the timeout in which communicators must abort, and in which a
/// device must stop afterwards.
inline constexpr double abortShare = 0.125;

/// Ends a wait for other ranks after some time, or when the network has failed.
class Deadline {
public:
  Deadline(const engine::Network &network, double seconds)
      : network(network), seconds(seconds) {}
  bool isOver() const {
    return network.knownFailure() ||
           double(pause.nanoseconds()) > seconds * 1e9;
  }
  void wait() const { pause(); }
  /// The error after the deadline. `what` describes what has not happened.
  Status status(const std::string &what) const;

private:
  const engine::Network &network;
  const double seconds;
  Pause pause;
};

/// The NCCL communicators to which this process's rank belongs, by their
/// numbers in the program's tables. No call waits inside of NCCL, except in a
/// thread of its own, so each wait can be given up.
class Communicators {
public:
  /// Connects to the other processes, all of which call this. The device has to
  /// be current.
  static Expected<std::unique_ptr<Communicators>>
  connect(const Nccl &nccl, const artifact::Program &program,
          engine::Network &network, const CudaOptions &options);
  Communicators(const Communicators &) = delete;
  Communicators &operator=(const Communicators &) = delete;
  /// Aborts communicators that have not been closed.
  ~Communicators() { (void)abort(); }

  const Nccl &library() const { return nccl; }
  api::Comm handle(int32_t number) const { return all.at(number).comm; }
  /// The number of a rank of the program in the communicator.
  int peer(int32_t number, int32_t rank) const;
  /// This process's own number in the communicator.
  int self(int32_t number) const { return peer(number, ownRank); }
  /// The ranks of the program in it, ascending.
  const std::vector<int32_t> &members(int32_t number) const {
    return all.at(number).members;
  }

  /// Waits until NCCL has begun what was issued. Returns false if `isAborted`
  /// returns true before that.
  Expected<bool> settle(int32_t number,
                        const std::function<bool()> &isAborted) const;
  /// The first asynchronous error.
  Status check() const;

  /// Ends everything that is under way on the device, for good. No graph may
  /// use the communicators, because NCCL would wait for its end. Returns false
  /// if it takes longer than `abortShare` of the timeout; work is then
  /// abandoned.
  bool abort();
  /// Closes the communicators, which all processes do, within `seconds`.
  /// Nothing may be under way.
  Status close(double seconds);

private:
  struct Entry {
    /// The ranks of the program, in ascending order.
    std::vector<int32_t> members;
    api::Comm comm = nullptr;
  };

  Communicators(const Nccl &nccl, const CudaOptions &options, int32_t ownRank)
      : nccl(nccl), options(options), ownRank(ownRank) {}
  Status join(int32_t number, const api::UniqueId &id,
              engine::Network &network);

  const Nccl nccl;
  const CudaOptions options;
  const int32_t ownRank;
  std::map<int32_t, Entry> all;
};

/// The ranks of each communicator that the tables of a program name: those that
/// exchange messages, and those of stages that sum gradients.
std::map<int32_t, std::vector<int32_t>>
membersOfCommunicators(const artifact::Program &program);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_COMMUNICATORS_H
