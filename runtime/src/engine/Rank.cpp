//===- Rank.cpp - the common part of ranks on all targets -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rank.h"

#include "ElementAccess.h"
#include "veeline/Base/Check.h"

#include <algorithm>

using namespace veeline;

const artifact::Channel &veeline_rank::channelOf(int32_t channel) const {
  VEELINE_CHECK(channel >= 0 && static_cast<size_t>(channel) < channels.size(),
                "a message of a channel that the program does not have");
  return program->channels[static_cast<size_t>(firstChannel + channel)];
}

const artifact::Channel &veeline_rank::checkedReceiver(int32_t channel) const {
  const artifact::Channel &description = channelOf(channel);
  VEELINE_CHECK(description.toRank == index,
                "a channel is received from by a rank it does not lead to");
  return description;
}

const artifact::Channel &veeline_rank::checkedSender(int32_t channel) const {
  const artifact::Channel &description = channelOf(channel);
  VEELINE_CHECK(description.fromRank == index,
                "a channel is sent to by a rank it does not start from");
  return description;
}

void veeline_rank::checkReduction(int32_t reduction) const {
  VEELINE_CHECK(reduction >= 0 &&
                    static_cast<size_t>(reduction) < reductions.size(),
                "gradients are added up that are not in the rank's table");
}

void veeline_rank::checkReport(int32_t result, int32_t microbatch) const {
  VEELINE_CHECK(result >= 0 && microbatch >= 0 &&
                    static_cast<size_t>(result) < resultTypes->size() &&
                    microbatch < microbatches,
                "a result is reported that the model does not have");
}

double veeline_rank::readResult(int32_t result, const void *place,
                                const StepSettings &ofStep) const {
  bool isDouble = (*resultTypes)[static_cast<size_t>(result)].type ==
                  artifact::DataType::f64;
  double number = isDouble ? artifact::loadElement<double>(place, 0)
                           : artifact::loadElement<float>(place, 0);
  return result == 0 ? number / ofStep.lossScale : number;
}

void veeline_rank::listShares(const artifact::Metadata &metadata) {
  int32_t member = program->memberOf(static_cast<size_t>(index));
  for (const artifact::RankParam &entry : description->params) {
    const artifact::Parameter &param =
        metadata.params[static_cast<size_t>(entry.param)];
    int64_t elements = artifact::numElements(param.shape);
    shares.push_back(
        shareOf(entry, elements, member, artifact::byteSize(param.type)));
  }
}

veeline_rank::Share veeline_rank::shareOf(const artifact::RankParam &entry,
                                          int64_t elements, int32_t member,
                                          int64_t size) {
  Share share;
  share.elements = share.reduced = {0, elements};
  share.normParts = {0, normParts(elements)};
  Division division = entry.division(elements);
  if (entry.shards > 1)
    share.elements = division.updated(member);
  share.offset = share.elements.first * size;
  if (!entry.scattered)
    return share;
  share.reduced = division.reduced(member);
  share.normParts = division.ownNormParts(member);
  int64_t first = division.firstNormPart(member);
  share.normOffset = first * (elements / normParts(elements)) * size;
  share.normsBefore = share.normParts.first - first;
  return share;
}

void veeline_rank::listLateUpdates() {
  for (const artifact::Op &op : description->ops)
    for (size_t i = 0; i < description->params.size(); ++i)
      if (op.late && op.kind == artifact::OpKind::update &&
          op.param == description->params[i].param)
        lateUpdates.push_back(i);
  std::sort(lateUpdates.begin(), lateUpdates.end());
  // If updates follow each microbatch, several of them may be late.
  lateUpdates.erase(std::unique(lateUpdates.begin(), lateUpdates.end()),
                    lateUpdates.end());
}

static const char *const clipsOnDevice =
    "a GPU's step clips gradients, which only code for a CPU does";

void veeline_rank::updateMicrobatch(int32_t, int32_t, void *, void *,
                                    const void *const *, int32_t) {
  fail("a GPU's step updates after each microbatch, which only code for a CPU "
       "does");
}

double veeline_rank::squaredNormOf(int32_t, const void *const *, int32_t) {
  fail(clipsOnDevice);
  return 0;
}

double veeline_rank::decideClip(const double *, int32_t) {
  fail(clipsOnDevice);
  return 1;
}

void veeline_rank::updateClipped(int32_t, void *, void *, const void *const *,
                                 int32_t, double) {
  fail(clipsOnDevice);
}

bool veeline_rank::validate() {
  fail(clipsOnDevice);
  return true;
}

void veeline_rank::updateOptimistic(int32_t, void *, void *,
                                    const void *const *, int32_t, void *) {
  fail(clipsOnDevice);
}

void veeline_rank::agreeOnLength(int32_t microbatch, int64_t length,
                                 const char *source) {
  VEELINE_CHECK(microbatch >= 0 &&
                    static_cast<size_t>(microbatch) < versions.size(),
                "a length of a microbatch that the program does not have");
  std::string says = "microbatch " + std::to_string(microbatch) +
                     " has length " + std::to_string(length) + " by " + source;
  auto it = std::lower_bound(lengths->begin(), lengths->end(), length);
  if (it == lengths->end())
    return fail(says + ", but the bound of the artifact is " +
                std::to_string(lengths->back()) +
                "; compile with a greater --length-bound");
  if (*it != length)
    return fail(says +
                ", which the artifact was not compiled for; the "
                "nearest one is " +
                std::to_string(*it));
  int32_t version = static_cast<int32_t>(it - lengths->begin());
  int32_t &known = versions[microbatch];
  if (known >= 0 && known != version)
    return fail(says + ", but " + std::to_string((*lengths)[known]) +
                " by what the rank knew before; all ranks have to read "
                "the same lengths");
  known = version;
}
