//===- Identity.cpp - the identity of a message ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Identity.h"

#include "Names.h"
#include "Part.h"
#include "Rank.h"

using namespace veeline;
using namespace veeline::engine;

Identity engine::identityOf(const veeline_rank &rank, int32_t channel,
                            uint32_t number, int32_t part) {
  int32_t microbatch = -1;
  const std::vector<artifact::Op> &ops = rank.description->ops;
  if (int32_t current = rank.currentOp;
      current >= 0 && static_cast<size_t>(current) < ops.size()) {
    const artifact::Op &op = ops[static_cast<size_t>(current)];
    microbatch = op.microbatch;
    if (op.channel >= 0)
      channel = op.channel;
  }
  const artifact::Channel &description =
      rank.program->channels[static_cast<size_t>(channel)];
  int64_t bytes = rank.messageBytes(description, number);
  if (description.parts == 1 || part == wholeMessage)
    return {description.kind, description.edge, microbatch, wholeMessage,
            bytes};
  return {description.kind, description.edge, microbatch, part,
          partOf(description, bytes, part).bytes};
}

static std::string describe(const Identity &identity) {
  std::string text = std::string(artifact::enumName(identity.kind)) + " " +
                     std::to_string(identity.edge);
  if (identity.microbatch >= 0)
    text += " of microbatch " + std::to_string(identity.microbatch);
  if (identity.part != wholeMessage)
    text += ", part " + std::to_string(identity.part);
  return text + " with " + std::to_string(identity.bytes) + " bytes";
}

void engine::compareIdentities(veeline_rank &rank, int32_t channel,
                               const Identity &arrived,
                               const Identity &expected) {
  if (arrived == expected)
    return;
  rank.failOnChannel(channel, ": " + describe(arrived) + " arrived, expected " +
                                  describe(expected));
}

void engine::checkIdentity(veeline_rank &rank, int32_t channel, uint32_t number,
                           int32_t part, const Identity &arrived) {
  compareIdentities(rank, channel, arrived,
                    identityOf(rank, channel, number, part));
}

void engine::checkIdentities(veeline_rank &rank, int32_t channel,
                             uint32_t number, int32_t parts,
                             const Identity *arrived) {
  for (int32_t part = 0; part < parts && !rank.failed; ++part)
    checkIdentity(rank, channel, number, part, arrived[part]);
}
