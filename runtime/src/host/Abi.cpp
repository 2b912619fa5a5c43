//===- Abi.cpp - the functions that compiled steps call -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rank.h"

#include <cstring>

using namespace veeline;

void veeline_rank::fail(const std::string &message) {
  failed = true;
  std::string where = "rank " + std::to_string(index);
  if (currentOp >= 0)
    where += ", op " + std::to_string(currentOp);
  fault->raise(where + ": " + message);
}

extern "C" {

void veeline_recv_post(veeline_rank *rank, int32_t channel, void *slot) {
  if (!rank->failed)
    rank->channels[channel]->post(*rank, slot);
}

void veeline_recv_wait(veeline_rank *rank, int32_t channel) {
  if (!rank->failed)
    rank->channels[channel]->wait(*rank);
}

void *veeline_send_acquire(veeline_rank *rank, int32_t channel) {
  void *slot = rank->failed ? nullptr : rank->channels[channel]->acquire(*rank);
  return slot ? slot : rank->discard.data();
}

void veeline_send_commit(veeline_rank *rank, int32_t channel) {
  if (!rank->failed)
    rank->channels[channel]->commit(*rank);
}

void veeline_gemm(veeline_rank *rank, int32_t gemm, const void *a,
                  const void *b, void *c, void *scratch) {
  if (rank->failed)
    return;
  if (Status status = rank->gemms.run(gemm, a, b, c, scratch); !status.ok())
    rank->fail(status.message());
}

void veeline_update(veeline_rank *rank, int32_t param, void *value, void *state,
                    const void *const *gradients, int32_t num_gradients) {
  if (!rank->failed)
    host::updateParam(rank->updates[param], *rank->settings, rank->microbatches,
                      value, state, gradients, num_gradients);
}

void veeline_report(veeline_rank *rank, int32_t result, int32_t microbatch,
                    const void *value) {
  if (rank->failed)
    return;
  double &place = rank->results[result * rank->microbatches + microbatch];
  if ((*rank->resultTypes)[result].type == artifact::DataType::f64) {
    std::memcpy(&place, value, sizeof(double));
    return;
  }
  float single;
  std::memcpy(&single, value, sizeof(float));
  place = single;
}

void veeline_op_begin(veeline_rank *rank, int32_t op) {
  rank->currentOp = op;
  if (rank->timeline)
    rank->timeline->beginOp();
}

void veeline_op_end(veeline_rank *rank, int32_t op) {
  rank->currentOp = -1;
  if (rank->timeline)
    rank->timeline->endOp(op);
}

} // extern "C"
