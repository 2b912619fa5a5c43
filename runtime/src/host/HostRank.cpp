//===- HostRank.cpp - a rank with its arena on the host -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRank.h"

#include "Coefficients.h"

#include "veeline/Base/Check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace veeline;
using namespace veeline::engine;
using namespace veeline::host;

//===----------------------------------------------------------------------===//
// Checks of compiled code
//===----------------------------------------------------------------------===//

void HostRank::checkCall(const library::CallTable &table, int32_t index,
                         const void *scratch) const {
  VEELINE_CHECK(index >= 0 && static_cast<size_t>(index) < table.size(),
                "a matrix product or convolution that is not in the rank's "
                "table");
  [[maybe_unused]] int64_t bytes = table.plannedScratch(index);
  VEELINE_CHECK(bytes == 0 || !table.usesGivenScratch(index) ||
                    owns(scratch, bytes),
                "the scratch of a matrix product or convolution is not in the "
                "arena");
}

void HostRank::checkGradients(int32_t index, const void *const *gradients,
                              int32_t numGradients) const {
  VEELINE_CHECK(index >= 0 && static_cast<size_t>(index) < updates.size(),
                "an update of a parameter that the rank does not have");
  [[maybe_unused]] int64_t bytes =
      updates[index].numElements * artifact::byteSize(updates[index].type);
  for (int32_t i = 0; i < numGradients; ++i)
    VEELINE_CHECK(owns(gradients[i], bytes), "a gradient is not in the arena");
}

void HostRank::checkUpdate(int32_t index, const void *value, const void *state,
                           const void *const *gradients,
                           int32_t numGradients) const {
  checkGradients(index, gradients, numGradients);
  const ParamUpdate &update = updates[index];
  int64_t bytes = update.numElements * artifact::byteSize(update.type);
  VEELINE_CHECK(owns(value, bytes),
                "the parameter to update is not in the arena");
  [[maybe_unused]] int64_t stateBytes = update.stateBytes();
  VEELINE_CHECK(stateBytes == 0 || owns(state, stateBytes),
                "the state of an optimiser is not in the arena");
}

void HostRank::failUnless(const Status &status) {
  if (!status.ok())
    fail(status.message());
}

void HostRank::failOnHost(const std::string &what) {
  fail(what + ", which only code for a GPU has: the artifact's target is host");
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void HostRank::recvPost(int32_t channel, void *slot) {
  VEELINE_CHECK(owns(slot, checkedReceiver(channel).messageBytes),
                "the place for a message is not in the arena");
  channels[channel]->post(*this, slot);
}

void HostRank::recvWait(int32_t channel) {
  (void)checkedReceiver(channel);
  channels[channel]->wait(*this);
}

void *HostRank::sendAcquire(int32_t channel) {
  (void)checkedSender(channel);
  return channels[channel]->acquire(*this);
}

void HostRank::sendCommit(int32_t channel) {
  int32_t parts = checkedSender(channel).parts;
  for (int32_t part = 0; part < parts && !failed; ++part)
    channels[channel]->commit(*this);
}

void HostRank::sendCopy(int32_t channel, int32_t microbatch, void *slot,
                        const void *value) {
  const artifact::Channel &description = checkedSender(channel);
  int64_t bytes = microbatchBytes(description, microbatch);
  VEELINE_CHECK(owns(value, bytes), "a value to send is not in the arena");
  for (int32_t i = 0; i < description.parts && !failed; ++i) {
    Part part = partOf(description, bytes, i);
    std::memcpy(static_cast<char *>(slot) + part.offset,
                static_cast<const char *>(value) + part.offset,
                static_cast<size_t>(part.bytes));
    channels[channel]->commit(*this);
  }
}

void HostRank::send(int32_t channel, int32_t microbatch, const void *value) {
  if (void *slot = sendAcquire(channel))
    sendCopy(channel, microbatch, slot, value);
}

void HostRank::reducePost(int32_t reduction) {
  checkReduction(reduction);
  reductionsUnderWay += !reductions[reduction].empty();
  for (auto &piece : reductions[reduction])
    piece->post(*this);
}

void HostRank::reduceWait(int32_t reduction) {
  checkReduction(reduction);
  for (auto &piece : reductions[reduction])
    if (!failed)
      piece->wait(*this);
  reductionsUnderWay -= !reductions[reduction].empty();
}

void HostRank::lengthReceived(int32_t microbatch, const void *length) {
  int64_t value;
  std::memcpy(&value, length, sizeof(value));
  agreeOnLength(microbatch, value, "what another rank says");
}

void HostRank::writeLength(int32_t microbatch, void *length) {
  int64_t value = lengthOf(microbatch);
  std::memcpy(length, &value, sizeof(value));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Runs entry `index` of one of the rank's tables.
void HostRank::runCall(library::CallTable &table, int32_t index, const void *a,
                       const void *b, void *c, void *scratch) {
  checkCall(table, index, scratch);
  progress();
  int64_t begin = timeline ? nanoseconds() : 0;
  if (Status status = table.run(index, a, b, c, scratch); !status.ok())
    fail(status.message());
  if (timeline)
    timeline->addCall(begin, nanoseconds());
}

void HostRank::gemm(int32_t gemm, const void *a, const void *b, void *c,
                    void *scratch) {
  runCall(gemms, gemm, a, b, c, scratch);
}

void HostRank::gemmEpilogue(int32_t gemm, const void *, const void *, void *,
                            const void *, void *, void *) {
  failOnHost("matrix product " + std::to_string(gemm) + " has an epilogue");
}

void HostRank::convolution(int32_t convolution, const void *a, const void *b,
                           void *c, void *scratch) {
  runCall(convolutions, convolution, a, b, c, scratch);
}

void HostRank::attention(int32_t attention, const AttentionOperands &) {
  failOnHost("attention " + std::to_string(attention) + " is called");
}

void HostRank::launch(int32_t kernel, const uint64_t *) {
  failOnHost("kernel " + std::to_string(kernel) + " is launched");
}

void HostRank::copy(void *target, const void *source, int64_t bytes) {
  VEELINE_CHECK(owns(target, bytes), "a copy leads out of the arena");
  std::memcpy(target, source, static_cast<size_t>(bytes));
}

void HostRank::offload(int32_t part, int64_t offset, const void *source,
                       int64_t bytes) {
  VEELINE_CHECK(part >= 0 && part < description->numOffloads &&
                    owns(source, bytes) && offset >= 0 && bytes >= 0 &&
                    offset <= hostArena->size() - bytes,
                "what is offloaded is not in the arena, or has no place");
  std::memcpy(hostArena->data() + offset, source, static_cast<size_t>(bytes));
}

void HostRank::reload(int32_t part, void *target, int64_t offset,
                      int64_t bytes) {
  VEELINE_CHECK(part >= 0 && part < description->numOffloads &&
                    owns(target, bytes) && offset >= 0 && bytes >= 0 &&
                    offset <= hostArena->size() - bytes,
                "what was offloaded has no place, or comes back to none");
  std::memcpy(target, hostArena->data() + offset, static_cast<size_t>(bytes));
}

void HostRank::zero(void *target, int64_t bytes) {
  VEELINE_CHECK(owns(target, bytes), "what is zeroed is not in the arena");
  std::memset(target, 0, static_cast<size_t>(bytes));
}

uint64_t HostRank::load(const void *address, int32_t bytes) {
  VEELINE_CHECK(bytes >= 1 && bytes <= 8, "a load is not of 1 to 8 bytes");
  uint64_t value = 0;
  std::memcpy(&value, address, static_cast<size_t>(bytes));
  return value;
}

const void *HostRank::constant(int32_t constant) {
  failOnHost("constant " + std::to_string(constant) + " is asked for");
  return nullptr;
}

const void *HostRank::settingsPlace() {
  failOnHost("the place of the settings is asked for");
  return nullptr;
}

void *HostRank::norm(int32_t param) {
  failOnHost("the norm of parameter entry " + std::to_string(param) +
             " is asked for");
  return nullptr;
}

StepSettings HostRank::withoutSkipped(StepSettings ofStep) const {
  ofStep.step -= numSkipped;
  return ofStep;
}

void HostRank::update(int32_t param, void *value, void *state,
                      const void *const *gradients, int32_t numGradients) {
  checkUpdate(param, value, state, gradients, numGradients);
  StepSettings ofUpdate = withoutSkipped(*settings);
  failUnless(updateParam(updates[param], ofUpdate, allMicrobatches, value,
                         state, gradients, numGradients));
}

/// The norm of a step is the root of the mean of the squared norms of its
/// updates.
void HostRank::updateMicrobatch(int32_t microbatch, int32_t param, void *value,
                                void *state, const void *const *gradients,
                                int32_t numGradients) {
  checkUpdate(param, value, state, gradients, numGradients);
  ParamUpdate &update = updates[param];
  double before = microbatch == 0 ? 0 : update.squaredGradientNorm;
  StepSettings ofUpdate =
      withoutSkipped(ofMicrobatch(*settings, microbatch, microbatches));
  failUnless(updateParam(update, ofUpdate, allMicrobatches / microbatches,
                         value, state, gradients, numGradients));
  update.squaredGradientNorm =
      before + update.squaredGradientNorm / microbatches;
}

double HostRank::squaredNormOf(int32_t param, const void *const *gradients,
                               int32_t numGradients) {
  checkGradients(param, gradients, numGradients);
  ParamUpdate &update = updates[param];
  update.squaredGradientNorm = host::squaredNormOf(
      update, *settings, allMicrobatches, gradients, numGradients);
  return update.squaredGradientNorm;
}

double HostRank::decideClip(const double *norms, int32_t numNorms) {
  clip = clipOf(*settings, norms, numNorms);
  numSkipped += clip.skips;
  return clip.factor;
}

void HostRank::updateClipped(int32_t param, void *value, void *state,
                             const void *const *gradients, int32_t numGradients,
                             double factor) {
  checkUpdate(param, value, state, gradients, numGradients);
  if (clip.skips)
    return;
  StepSettings ofUpdate = withoutSkipped(*settings);
  failUnless(updateParam(updates[param], ofUpdate, allMicrobatches, value,
                         state, gradients, numGradients, &factor));
}

void HostRank::noteLateNorms() {
  for (size_t i : lateUpdates)
    noteNorm(i, squaredNormsBefore);
}

void HostRank::noteNorm(size_t param, double *numbers) const {
  const ParamUpdate &update = updates[param];
  numbers += normPlaces[param];
  if (update.ownParts)
    std::copy(update.squaresOfParts.begin(), update.squaresOfParts.end(),
              numbers);
  else
    *numbers = update.squaredGradientNorm;
}

/// Notes the norms after the last late update, instead of when updates are
/// validated. Before the validation, this rank may wait for a place to send to,
/// at a rank that waits for these norms.
void HostRank::countLateUpdate(int32_t param) {
  if (!std::binary_search(lateUpdates.begin(), lateUpdates.end(),
                          static_cast<size_t>(param)) ||
      ++numLateUpdated < lateUpdates.size())
    return;
  numLateUpdated = 0;
  noteLateNorms();
  whenNormsKnown();
}

bool HostRank::validate() {
  isVoid = false;
  redone = settings;
  if (!settings->needsNorm())
    return true;
  if (!awaitClip(clip)) {
    failed = true;
    return true;
  }
  isVoid = !clip.isNone();
  numSkipped += clip.skips;
  return !isVoid;
}

void HostRank::keep(int32_t param, void *value, void *state, void *kept,
                    bool isBack) const {
  const ParamUpdate &update = updates[param];
  int64_t bytes = update.numElements * artifact::byteSize(update.type);
  int64_t stateBytes = update.stateBytes();
  VEELINE_CHECK(owns(kept, bytes + stateBytes),
                "what an update keeps is not in the arena");
  auto move = [&](void *place, char *keptPlace, int64_t count) {
    if (isBack)
      std::memcpy(place, keptPlace, static_cast<size_t>(count));
    else
      std::memcpy(keptPlace, place, static_cast<size_t>(count));
  };
  move(value, static_cast<char *>(kept), bytes);
  if (stateBytes > 0)
    move(state, static_cast<char *>(kept) + bytes, stateBytes);
}

/// Whether what the rank has updated are numbers. If gradients are scattered,
/// its parts of the norm do not tell: another rank may have a part that ends in
/// this one's share.
static bool isFinite(const ParamUpdate &update, const void *value) {
  auto check = [&]<typename T>(T) {
    Shard updated = update.updated();
    const T *first = static_cast<const T *>(value) + updated.first;
    return std::all_of(first, first + updated.count,
                       [](T number) { return std::isfinite(number); });
  };
  if (!update.ownParts)
    return true;
  return update.type == artifact::DataType::f64 ? check(double())
                                                : check(float());
}

void HostRank::updateOptimistic(int32_t param, void *value, void *state,
                                const void *const *gradients,
                                int32_t numGradients, void *kept) {
  checkUpdate(param, value, state, gradients, numGradients);
  StepSettings ofUpdate = withoutSkipped(isVoid ? *redone : *settings);
  if (ofUpdate.needsNorm())
    keep(param, value, state, kept, /*isBack=*/isVoid);
  if (isVoid && clip.skips)
    return;
  ParamUpdate &update = updates[param];
  failUnless(updateParam(update, ofUpdate, allMicrobatches, value, state,
                         gradients, numGradients,
                         isVoid ? &clip.factor : nullptr));
  // This step will be skipped. Until that is known, forwards must not use
  // values that are not finite: they might select a row by one. So restore the
  // old value.
  if (!isVoid && ofUpdate.skipNonFinite &&
      (!std::isfinite(update.squaredGradientNorm) || !isFinite(update, value)))
    keep(param, value, state, kept, /*isBack=*/true);
  if (!isVoid)
    countLateUpdate(param);
}

void HostRank::report(int32_t result, int32_t microbatch, const void *value) {
  checkReport(result, microbatch);
  double &place = results[result * allMicrobatches + microbatch];
  place = readResult(result, value, *settings);
}

void HostRank::lateEnd() {
  // The step before is whole only after its updates have been repeated.
  if (isVoid)
    return;
  if (program->clipSync != artifact::ClipSync::optimistic)
    noteLateNorms();
  // If late work runs alone, the step is whole when this turn ends.
  if (settings != otherSettings)
    whenWhole();
}

void HostRank::opBegin(int32_t op) {
  VEELINE_CHECK(currentOp == -1, "an op begins inside of another");
  progress();
  currentOp.store(op, std::memory_order_relaxed);
  move();
  if (timeline)
    timeline->beginOp();
}

void HostRank::opEnd(int32_t op) {
  VEELINE_CHECK(currentOp == op, "an op ends that has not begun");
  lastOp.store(op, std::memory_order_relaxed);
  currentOp.store(-1, std::memory_order_relaxed);
  move();
  if (timeline)
    timeline->endOp(op, lengthOf(description->ops[op].microbatch));
}
