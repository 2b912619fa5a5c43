//===- NcclCalls.h - calls of NCCL that a rank issues -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_NCCLCALLS_H
#define VEELINE_RUNTIME_CUDA_NCCLCALLS_H

#include "Communicators.h"

#include <vector>

namespace veeline::cuda {

class CudaRank;

/// One call of NCCL. All but sends and receives are made by all members of the
/// communicator, in place, and sums are of f32 or f64.
struct NcclCall {
  enum Kind {
    send,
    receive,
    allReduce,
    reduceScatter,
    reduce,
    allGather,
    broadcast
  };

  Kind kind = send;
  api::DevicePointer place = 0; ///< Of the shares of all members, if divided.
  int64_t elements = 0; ///< Of one share for reduceScatter and allGather.
  artifact::DataType type = artifact::DataType::f32;
  int32_t communicator = 0;
  /// A rank of the program: the other end, or the root of reduce and broadcast.
  int32_t peer = -1;

  bool isMessage() const { return kind == send || kind == receive; }
};

/// Issues calls as one group. The group is always closed, and the first error
/// returned.
Status issueGroup(const Communicators &communicators, api::Stream stream,
                  const std::vector<NcclCall> &calls);

//===----------------------------------------------------------------------===//
// Sums and gathers
//===----------------------------------------------------------------------===//

// A reduction is issued in three parts: calls of one group, kernels, and calls
// of another group. Each part may be empty. With Sums::ordered, members first
// send each other what they contribute to shares, kernels add it in the order
// of members, and the sums are sent back, unless they are scattered. With
// Sums::nccl, NCCL adds, and there is a second group only where members need
// elements of each other's scattered sums.

void addFirstCalls(const CudaRank &rank, const artifact::Reduction &reduction,
                   std::vector<NcclCall> &calls);
bool launchSums(CudaRank &rank, const artifact::Reduction &reduction,
                api::Stream stream);
void addLastCalls(const CudaRank &rank, const artifact::Reduction &reduction,
                  std::vector<NcclCall> &calls);

/// Checks that the communicators of the rank's reductions are those of its
/// stage, which NCCL needs in order to add.
Status checkSums(const Communicators &communicators, const CudaRank &rank);

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_NCCLCALLS_H
