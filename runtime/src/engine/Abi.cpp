//===- Abi.cpp - the functions that compiled steps call -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After a fault, every call returns at once. Otherwise the target of the rank
// implements it.
//
//===----------------------------------------------------------------------===//

#include "Rank.h"

using namespace veeline;

// This function is defined here so that every program with ranks is linked with
// the functions below: only the objects that the program loads refer to those.
void veeline_rank::fail(const std::string &message) {
  failed = true;
  std::string where = "rank " + std::to_string(index);
  if (int32_t op = currentOp; op >= 0)
    where += ", op " + std::to_string(op);
  fault->raise(where + ": " + message, step);
}

extern "C" {

void veeline_recv_post(veeline_rank *rank, int32_t channel, void *slot) {
  if (!rank->failed)
    rank->recvPost(channel, slot);
}

void veeline_recv_wait(veeline_rank *rank, int32_t channel) {
  if (!rank->failed)
    rank->recvWait(channel);
}

void *veeline_send_acquire(veeline_rank *rank, int32_t channel) {
  void *slot = rank->failed ? nullptr : rank->sendAcquire(channel);
  return slot ? slot : rank->discard.data();
}

void veeline_send_commit(veeline_rank *rank, int32_t channel) {
  if (!rank->failed)
    rank->sendCommit(channel);
}

void veeline_send_copy(veeline_rank *rank, int32_t channel, int32_t microbatch,
                       void *slot, const void *value) {
  if (!rank->failed)
    rank->sendCopy(channel, microbatch, slot, value);
}

void veeline_send(veeline_rank *rank, int32_t channel, int32_t microbatch,
                  const void *value) {
  if (!rank->failed)
    rank->send(channel, microbatch, value);
}

void veeline_group_begin(veeline_rank *rank) {
  if (!rank->failed)
    rank->groupBegin();
}

void veeline_group_end(veeline_rank *rank) {
  if (!rank->failed)
    rank->groupEnd();
}

void veeline_stream(veeline_rank *rank, int32_t stream) {
  if (!rank->failed)
    rank->setStream(stream);
}

void veeline_event_record(veeline_rank *rank, int32_t event) {
  if (!rank->failed)
    rank->recordEvent(event);
}

void veeline_event_wait(veeline_rank *rank, int32_t event) {
  if (!rank->failed)
    rank->waitForEvent(event);
}

void veeline_offload(veeline_rank *rank, int32_t part, int64_t offset,
                     const void *source, int64_t bytes) {
  if (!rank->failed)
    rank->offload(part, offset, source, bytes);
}

void veeline_release(veeline_rank *rank, int32_t part) {
  if (!rank->failed)
    rank->release(part);
}

void veeline_reload(veeline_rank *rank, int32_t part, void *target,
                    int64_t offset, int64_t bytes) {
  if (!rank->failed)
    rank->reload(part, target, offset, bytes);
}

void veeline_restore(veeline_rank *rank, int32_t part) {
  if (!rank->failed)
    rank->restore(part);
}

void veeline_reduce_post(veeline_rank *rank, int32_t reduction) {
  if (!rank->failed)
    rank->reducePost(reduction);
}

void veeline_reduce_wait(veeline_rank *rank, int32_t reduction) {
  if (!rank->failed)
    rank->reduceWait(reduction);
}

void veeline_length_of_data(veeline_rank *rank, int32_t microbatch) {
  if (!rank->failed)
    rank->agreeOnLength(microbatch, rank->dataLengths[microbatch], "its data");
}

void veeline_length_received(veeline_rank *rank, int32_t microbatch,
                             const void *length) {
  if (!rank->failed)
    rank->lengthReceived(microbatch, length);
}

void veeline_length(veeline_rank *rank, int32_t microbatch, void *length) {
  if (!rank->failed)
    rank->writeLength(microbatch, length);
}

int32_t veeline_version(veeline_rank *rank, int32_t microbatch) {
  return std::max(rank->versions[microbatch], 0);
}

void veeline_gemm(veeline_rank *rank, int32_t gemm, const void *a,
                  const void *b, void *c, void *scratch) {
  if (!rank->failed)
    rank->gemm(gemm, a, b, c, scratch);
}

void veeline_gemm_bias(veeline_rank *rank, int32_t gemm, const void *a,
                       const void *b, void *c, const void *bias,
                       void *scratch) {
  if (!rank->failed)
    rank->gemmEpilogue(gemm, a, b, c, bias, nullptr, scratch);
}

void veeline_gemm_aux(veeline_rank *rank, int32_t gemm, const void *a,
                      const void *b, void *c, const void *bias, void *aux,
                      void *scratch) {
  if (!rank->failed)
    rank->gemmEpilogue(gemm, a, b, c, bias, aux, scratch);
}

void veeline_convolution(veeline_rank *rank, int32_t convolution, const void *a,
                         const void *b, void *c, void *scratch) {
  if (!rank->failed)
    rank->convolution(convolution, a, b, c, scratch);
}

int32_t veeline_has_convolution(veeline_rank *rank, int32_t convolution) {
  return rank->failed || rank->hasConvolution(convolution);
}

// AttentionOperands does not distinguish operands from results, but the entries
// do.
static void *writable(const void *operand) {
  return const_cast<void *>(operand);
}

void veeline_attention(veeline_rank *rank, int32_t attention, const void *query,
                       const void *key, const void *value, const void *mask,
                       void *output, void *lse, void *scratch) {
  if (!rank->failed)
    rank->attention(attention, {writable(query), writable(key), writable(value),
                                writable(mask), output, lse, nullptr, nullptr,
                                nullptr, nullptr, scratch});
}

void veeline_attention_backward(veeline_rank *rank, int32_t attention,
                                const void *query, const void *key,
                                const void *value, const void *mask,
                                const void *output, const void *lse,
                                const void *output_grad, void *query_grad,
                                void *key_grad, void *value_grad,
                                void *scratch) {
  if (!rank->failed)
    rank->attention(attention, {writable(query), writable(key), writable(value),
                                writable(mask), writable(output), writable(lse),
                                writable(output_grad), query_grad, key_grad,
                                value_grad, scratch});
}

int32_t veeline_has_gemm(veeline_rank *rank, int32_t gemm) {
  return rank->failed || rank->hasGemm(gemm);
}

int32_t veeline_has_attention(veeline_rank *rank, int32_t attention) {
  return rank->failed || rank->hasAttention(attention);
}

void veeline_launch(veeline_rank *rank, int32_t kernel,
                    const uint64_t *arguments) {
  if (!rank->failed)
    rank->launch(kernel, arguments);
}

void veeline_copy(veeline_rank *rank, void *target, const void *source,
                  int64_t bytes) {
  if (!rank->failed)
    rank->copy(target, source, bytes);
}

void veeline_zero(veeline_rank *rank, void *target, int64_t bytes) {
  if (!rank->failed)
    rank->zero(target, bytes);
}

uint64_t veeline_load(veeline_rank *rank, const void *address, int32_t bytes) {
  return rank->failed ? 0 : rank->load(address, bytes);
}

const void *veeline_constant(veeline_rank *rank, int32_t constant) {
  return rank->failed ? nullptr : rank->constant(constant);
}

const void *veeline_settings(veeline_rank *rank) {
  return rank->failed ? nullptr : rank->settingsPlace();
}

void *veeline_norm(veeline_rank *rank, int32_t param) {
  return rank->failed ? nullptr : rank->norm(param);
}

int64_t veeline_shard(veeline_rank *rank, int32_t param) {
  return rank->failed ? 0 : rank->shares[static_cast<size_t>(param)].offset;
}

int64_t veeline_norm_shard(veeline_rank *rank, int32_t param) {
  return rank->failed ? 0 : rank->shares[static_cast<size_t>(param)].normOffset;
}

int32_t veeline_owns(veeline_rank *rank, int32_t param) {
  return !rank->failed &&
         rank->shares[static_cast<size_t>(param)].elements.count > 0;
}

void veeline_update(veeline_rank *rank, int32_t param, void *value, void *state,
                    const void *const *gradients, int32_t num_gradients) {
  if (!rank->failed)
    rank->update(param, value, state, gradients, num_gradients);
}

void veeline_update_microbatch(veeline_rank *rank, int32_t microbatch,
                               int32_t param, void *value, void *state,
                               const void *const *gradients,
                               int32_t num_gradients) {
  if (!rank->failed)
    rank->updateMicrobatch(microbatch, param, value, state, gradients,
                           num_gradients);
}

void veeline_squared_norm(veeline_rank *rank, int32_t param,
                          const void *const *gradients, int32_t num_gradients,
                          double *norm) {
  if (!rank->failed)
    *norm = rank->squaredNormOf(param, gradients, num_gradients);
}

void veeline_clip(veeline_rank *rank, const double *norms, int32_t num_norms,
                  double *factor) {
  if (!rank->failed)
    *factor = rank->decideClip(norms, num_norms);
}

int32_t veeline_validate(veeline_rank *rank) {
  return rank->failed || rank->validate();
}

void veeline_update_optimistic(veeline_rank *rank, int32_t param, void *value,
                               void *state, const void *const *gradients,
                               int32_t num_gradients, void *kept) {
  if (!rank->failed)
    rank->updateOptimistic(param, value, state, gradients, num_gradients, kept);
}

void veeline_update_clipped(veeline_rank *rank, int32_t param, void *value,
                            void *state, const void *const *gradients,
                            int32_t num_gradients, const double *factor) {
  if (!rank->failed)
    rank->updateClipped(param, value, state, gradients, num_gradients, *factor);
}

const void *const *veeline_late_begin(veeline_rank *rank) {
  if (!rank->failed)
    rank->changeStep();
  return rank->inputsBefore;
}

void veeline_late_end(veeline_rank *rank, int32_t last) {
  if (rank->failed)
    return;
  if (last)
    rank->lateEnd();
  rank->changeStep();
}

void veeline_report(veeline_rank *rank, int32_t result, int32_t microbatch,
                    const void *value) {
  if (!rank->failed)
    rank->report(result, microbatch, value);
}

void veeline_op_begin(veeline_rank *rank, int32_t op) {
  if (!rank->failed)
    rank->opBegin(op);
}

void veeline_op_end(veeline_rank *rank, int32_t op) {
  if (!rank->failed)
    rank->opEnd(op);
}

} // extern "C"
