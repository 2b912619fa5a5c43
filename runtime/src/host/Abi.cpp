//===- Abi.cpp - the functions that compiled steps call -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rank.h"

#include "veeline/Support/Check.h"

#include <algorithm>
#include <cstring>

using namespace veeline;

void veeline_rank::fail(const std::string &message) {
  failed = true;
  std::string where = "rank " + std::to_string(index);
  if (int32_t op = currentOp; op >= 0)
    where += ", op " + std::to_string(op);
  fault->raise(where + ": " + message);
}

//===----------------------------------------------------------------------===//
// What compiled code must get right
//===----------------------------------------------------------------------===//

static const artifact::Channel &channelOf(const veeline_rank &rank,
                                          int32_t index) {
  VEELINE_CHECK(index >= 0 && static_cast<size_t>(index) < rank.channels.size(),
                "a message of a channel that the program does not have");
  return rank.program->channels[static_cast<size_t>(rank.firstChannel + index)];
}

static void checkReceiver(const veeline_rank &rank, int32_t channel) {
  VEELINE_CHECK(channelOf(rank, channel).toRank == rank.index,
                "a channel is received from by a rank it does not lead to");
}

static void checkSender(const veeline_rank &rank, int32_t channel) {
  VEELINE_CHECK(channelOf(rank, channel).fromRank == rank.index,
                "a channel is sent to by a rank it does not start from");
}

static void checkReduction(const veeline_rank &rank, int32_t index) {
  VEELINE_CHECK(index >= 0 &&
                    static_cast<size_t>(index) < rank.reductions.size(),
                "gradients are added up that are not in the rank's table");
}

static void checkCall(const veeline_rank &rank,
                      const veeline::host::CallTable &table, int32_t index,
                      const void *scratch) {
  VEELINE_CHECK(index >= 0 && static_cast<size_t>(index) < table.size(),
                "a matrix product or convolution that is not in the rank's "
                "table");
  int64_t bytes = table.plannedScratch(index);
  VEELINE_CHECK(bytes == 0 || !table.usesGivenScratch(index) ||
                    rank.owns(scratch, bytes),
                "the scratch of a matrix product or convolution is not in the "
                "arena");
}

/// Runs entry `index` of one of the rank's tables.
static void runCall(veeline_rank *rank, veeline::host::CallTable &table,
                    int32_t index, const void *a, const void *b, void *c,
                    void *scratch) {
  if (rank->failed)
    return;
  checkCall(*rank, table, index, scratch);
  rank->progress();
  int64_t begin = rank->timeline ? host::nanoseconds() : 0;
  if (Status status = table.run(index, a, b, c, scratch); !status.ok())
    rank->fail(status.message());
  if (rank->timeline)
    rank->timeline->addCall(begin, host::nanoseconds());
}

static void checkUpdate(const veeline_rank &rank, int32_t index,
                        const void *value, const void *state,
                        const void *const *gradients, int32_t numGradients) {
  VEELINE_CHECK(index >= 0 && static_cast<size_t>(index) < rank.updates.size(),
                "an update of a parameter that the rank does not have");
  const host::ParamUpdate &update = rank.updates[index];
  int64_t bytes = update.numElements * artifact::byteSize(update.type);
  VEELINE_CHECK(rank.owns(value, bytes),
                "the parameter to update is not in the arena");
  int64_t stateBytes = bytes * artifact::stateSlots(update.optimizer);
  VEELINE_CHECK(stateBytes == 0 || rank.owns(state, stateBytes),
                "the state of an optimiser is not in the arena");
  for (int32_t i = 0; i < numGradients; ++i)
    VEELINE_CHECK(rank.owns(gradients[i], bytes),
                  "a gradient is not in the arena");
}

/// Takes what `source` says for the length of a microbatch.
static void agreeOnLength(veeline_rank *rank, int32_t microbatch,
                          int64_t length, const char *source) {
  VEELINE_CHECK(microbatch >= 0 &&
                    static_cast<size_t>(microbatch) < rank->versions.size(),
                "a length of a microbatch that the program does not have");
  const std::vector<int64_t> &lengths = *rank->lengths;
  std::string says = "microbatch " + std::to_string(microbatch) +
                     " has length " + std::to_string(length) + " by " + source;
  auto it = std::lower_bound(lengths.begin(), lengths.end(), length);
  if (it == lengths.end())
    return rank->fail(says + ", but the bound of the artifact is " +
                      std::to_string(lengths.back()) +
                      "; compile with a greater --length-bound");
  if (*it != length)
    return rank->fail(says +
                      ", which the artifact was not compiled for; the "
                      "nearest one is " +
                      std::to_string(*it));
  int32_t version = static_cast<int32_t>(it - lengths.begin());
  int32_t &known = rank->versions[microbatch];
  if (known >= 0 && known != version)
    return rank->fail(says + ", but " + std::to_string(lengths[known]) +
                      " by what the rank knew before; all ranks have to read "
                      "the same lengths");
  known = version;
}

static void checkReport(const veeline_rank &rank, int32_t result,
                        int32_t microbatch) {
  VEELINE_CHECK(result >= 0 && microbatch >= 0 &&
                    static_cast<size_t>(result) < rank.resultTypes->size() &&
                    microbatch < rank.microbatches,
                "a result is reported that the model does not have");
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

extern "C" {

void veeline_recv_post(veeline_rank *rank, int32_t channel, void *slot) {
  if (rank->failed)
    return;
  checkReceiver(*rank, channel);
  VEELINE_CHECK(rank->owns(slot, channelOf(*rank, channel).messageBytes),
                "the place for a message is not in the arena");
  rank->channels[channel]->post(*rank, slot);
}

void veeline_recv_wait(veeline_rank *rank, int32_t channel) {
  if (rank->failed)
    return;
  checkReceiver(*rank, channel);
  rank->channels[channel]->wait(*rank);
}

void *veeline_send_acquire(veeline_rank *rank, int32_t channel) {
  void *slot = nullptr;
  if (!rank->failed) {
    checkSender(*rank, channel);
    slot = rank->channels[channel]->acquire(*rank);
  }
  return slot ? slot : rank->discard.data();
}

void veeline_send_commit(veeline_rank *rank, int32_t channel) {
  if (rank->failed)
    return;
  checkSender(*rank, channel);
  int32_t parts = channelOf(*rank, channel).parts;
  for (int32_t part = 0; part < parts && !rank->failed; ++part)
    rank->channels[channel]->commit(*rank);
}

void veeline_send_copy(veeline_rank *rank, int32_t channel, int32_t microbatch,
                       void *slot, const void *value) {
  if (rank->failed)
    return;
  checkSender(*rank, channel);
  const artifact::Channel &description = channelOf(*rank, channel);
  int64_t bytes = rank->microbatchBytes(description, microbatch);
  VEELINE_CHECK(rank->owns(value, bytes),
                "a value to send is not in the arena");
  for (int32_t i = 0; i < description.parts && !rank->failed; ++i) {
    host::Part part = host::partOf(description, bytes, i);
    std::memcpy(static_cast<char *>(slot) + part.offset,
                static_cast<const char *>(value) + part.offset,
                static_cast<size_t>(part.bytes));
    rank->channels[channel]->commit(*rank);
  }
}

void veeline_reduce_post(veeline_rank *rank, int32_t reduction) {
  if (rank->failed)
    return;
  checkReduction(*rank, reduction);
  ++rank->reductionsUnderWay;
  for (auto &piece : rank->reductions[reduction])
    piece->post(*rank);
}

void veeline_reduce_wait(veeline_rank *rank, int32_t reduction) {
  if (rank->failed)
    return;
  checkReduction(*rank, reduction);
  for (auto &piece : rank->reductions[reduction])
    if (!rank->failed)
      piece->wait(*rank);
  --rank->reductionsUnderWay;
}

void veeline_length_of_data(veeline_rank *rank, int32_t microbatch) {
  if (!rank->failed)
    agreeOnLength(rank, microbatch, rank->dataLengths[microbatch], "its data");
}

void veeline_length_received(veeline_rank *rank, int32_t microbatch,
                             const void *length) {
  if (rank->failed)
    return;
  int64_t value;
  std::memcpy(&value, length, sizeof(value));
  agreeOnLength(rank, microbatch, value, "what another rank says");
}

void veeline_length(veeline_rank *rank, int32_t microbatch, void *length) {
  if (rank->failed)
    return;
  int64_t value = rank->lengthOf(microbatch);
  std::memcpy(length, &value, sizeof(value));
}

int32_t veeline_version(veeline_rank *rank, int32_t microbatch) {
  return std::max(rank->versions[microbatch], 0);
}

void veeline_gemm(veeline_rank *rank, int32_t gemm, const void *a,
                  const void *b, void *c, void *scratch) {
  runCall(rank, rank->gemms, gemm, a, b, c, scratch);
}

void veeline_convolution(veeline_rank *rank, int32_t convolution, const void *a,
                         const void *b, void *c, void *scratch) {
  runCall(rank, rank->convolutions, convolution, a, b, c, scratch);
}

void veeline_update(veeline_rank *rank, int32_t param, void *value, void *state,
                    const void *const *gradients, int32_t num_gradients) {
  if (rank->failed)
    return;
  checkUpdate(*rank, param, value, state, gradients, num_gradients);
  host::updateParam(rank->updates[param], *rank->settings,
                    rank->allMicrobatches, value, state, gradients,
                    num_gradients);
}

void veeline_report(veeline_rank *rank, int32_t result, int32_t microbatch,
                    const void *value) {
  if (rank->failed)
    return;
  checkReport(*rank, result, microbatch);
  double &place = rank->results[result * rank->allMicrobatches + microbatch];
  if ((*rank->resultTypes)[result].type == artifact::DataType::f64) {
    std::memcpy(&place, value, sizeof(double));
    return;
  }
  float single;
  std::memcpy(&single, value, sizeof(float));
  place = single;
}

void veeline_op_begin(veeline_rank *rank, int32_t op) {
  if (rank->failed)
    return;
  VEELINE_CHECK(rank->currentOp == -1, "an op begins inside of another");
  rank->progress();
  rank->currentOp.store(op, std::memory_order_relaxed);
  rank->move();
  if (rank->timeline)
    rank->timeline->beginOp();
}

void veeline_op_end(veeline_rank *rank, int32_t op) {
  if (rank->failed)
    return;
  VEELINE_CHECK(rank->currentOp == op, "an op ends that has not begun");
  rank->lastOp.store(op, std::memory_order_relaxed);
  rank->currentOp.store(-1, std::memory_order_relaxed);
  rank->move();
  if (rank->timeline)
    rank->timeline->endOp(
        op, rank->lengthOf(rank->description->ops[op].microbatch));
}

} // extern "C"
