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

#include "veeline/artifact.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>

namespace veeline::cuda {

/// What part of the timeout communicators have to abort, and then a device to
/// stop.
inline constexpr double abortShare = 0.125;

/// A communicator for each number in the tables of a program to which a rank
/// belongs. No call waits inside of NCCL, or a thread of its own does, so that
/// each wait can be given up.
class Communicators {
public:
  /// Meets the other processes; every process calls it. The device is current.
  static Expected<std::unique_ptr<Communicators>>
  connect(const Nccl &nccl, const artifact::Program &program,
          engine::Network &network, const CudaOptions &options);
  Communicators(const Communicators &) = delete;
  Communicators &operator=(const Communicators &) = delete;
  /// Aborts those that are not closed.
  ~Communicators() { (void)abort(); }

  const Nccl &library() const { return nccl; }
  api::Comm handle(int32_t number) const { return all.at(number).comm; }
  /// What the communicator calls a rank of the program.
  int peer(int32_t number, int32_t rank) const;

  /// Waits until what was begun is; false where `isAborted` comes first.
  Expected<bool> settle(int32_t number,
                        const std::function<bool()> &isAborted) const;
  /// The first error that has come since.
  Status check() const;

  /// Ends what is under way on the device, for good. No graph has anything of
  /// them: NCCL would wait until that is gone. False where it does not come to
  /// an end within `abortShare` of the timeout: then work is abandoned.
  bool abort();
  /// Where all is over: takes leave of the others, within `seconds`.
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
