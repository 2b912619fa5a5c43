//===- Communicators.h - NCCL's communicators of a process -----*- C++ -*-===//
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

/// The share of the timeout in which communicators must abort, and then a
/// device must stop.
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
  /// The error once it is over; `what` has not happened.
  Status status(const std::string &what) const;

private:
  const engine::Network &network;
  const double seconds;
  Pause pause;
};

/// The NCCL communicators to which this process's rank belongs, by their
/// numbers in the program's tables. No call waits inside of NCCL, except in a
/// thread of its own, so that each wait can be given up.
class Communicators {
public:
  /// Connects to the other processes, which all call it. The device is current.
  static Expected<std::unique_ptr<Communicators>>
  connect(const Nccl &nccl, const artifact::Program &program,
          engine::Network &network, const CudaOptions &options);
  Communicators(const Communicators &) = delete;
  Communicators &operator=(const Communicators &) = delete;
  /// Aborts those that are not closed.
  ~Communicators() { (void)abort(); }

  const Nccl &library() const { return nccl; }
  api::Comm handle(int32_t number) const { return all.at(number).comm; }
  /// The number of a rank of the program within the communicator.
  int peer(int32_t number, int32_t rank) const;

  /// Waits until NCCL has begun what was issued; false if `isAborted` comes
  /// first.
  Expected<bool> settle(int32_t number,
                        const std::function<bool()> &isAborted) const;
  /// The first asynchronous error.
  Status check() const;

  /// Ends what is under way on the device, for good. No graph may use them:
  /// NCCL would wait for its end. False if that takes longer than `abortShare`
  /// of the timeout: then work is abandoned.
  bool abort();
  /// Takes leave of the others within `seconds`. Nothing is under way.
  Status close(double seconds);

private:
  struct Entry {
    std::vector<int32_t> members; ///< Ranks of the program, ascending.
    api::Comm comm = nullptr;
  };

  Communicators(const Nccl &nccl, const CudaOptions &options)
      : nccl(nccl), options(options) {}
  Status join(int32_t number, const api::UniqueId &id,
              engine::Network &network);

  const Nccl nccl;
  const CudaOptions options;
  std::map<int32_t, Entry> all;
};

/// The ranks of each communicator that the tables of a program name: those of
/// the messages and of the stages that add up gradients.
std::map<int32_t, std::vector<int32_t>>
membersOfCommunicators(const artifact::Program &program);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_COMMUNICATORS_H
