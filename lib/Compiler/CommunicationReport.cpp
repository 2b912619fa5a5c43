//===- CommunicationReport.cpp - how far ahead receives are posted --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::compiler;

namespace {

/// The positions of the F, B and W of one rank among its ops.
class WorkTable {
public:
  explicit WorkTable(const artifact::Rank &rank) : rank(rank) {
    for (auto [i, op] : llvm::enumerate(rank.ops))
      if (op.chunk >= 0)
        places.push_back(i);
  }

  /// The number of F, B and W before op `place`.
  int64_t countBefore(int64_t place) const {
    return llvm::lower_bound(places, place) - places.begin();
  }
  std::string getName(int64_t work) const {
    if (work >= static_cast<int64_t>(places.size()))
      return "end";
    const artifact::Op &op = rank.ops[places[work]];
    return std::string(artifact::name(op.kind)) + std::to_string(op.chunk) +
           "." + std::to_string(op.microbatch);
  }
  /// The predicted begin of F, B or W number `work`, in microseconds. For a
  /// number after the last, the end of the last.
  double getTime(int64_t work) const {
    if (places.empty())
      return 0;
    if (work < static_cast<int64_t>(places.size()))
      return std::max(0.0, rank.ops[places[work]].predictedBegin);
    return std::max(0.0, rank.ops[places.back()].predictedEnd);
  }

private:
  const artifact::Rank &rank;
  std::vector<int64_t> places;
};

struct Receive {
  std::string name;
  int64_t parts, postedBefore, waitedBefore;
  double microseconds;
};

} // namespace

/// The messages that a rank receives, in the order of the waits. A rank
/// receives only one direction of an edge, so edge and microbatch identify the
/// region of a message.
static std::vector<Receive> collectReceives(const artifact::Program &program,
                                            const artifact::Rank &rank) {
  llvm::StringMap<int64_t> posted;
  for (const artifact::Region &region : rank.regions)
    if (region.kind == artifact::RegionKind::message)
      posted[region.name] = region.firstOp;
  WorkTable work(rank);
  std::vector<Receive> receives;
  for (auto [i, op] : llvm::enumerate(rank.ops)) {
    if (op.kind != artifact::OpKind::recv)
      continue;
    const artifact::Channel &channel = program.channels[op.channel];
    std::string place = "edge " + std::to_string(channel.edge) + " m" +
                        std::to_string(std::max(op.microbatch, 0));
    bool isShape = channel.kind == artifact::ChannelKind::shape;
    auto it = posted.find((isShape ? "shape of " : "message of ") + place);
    int64_t before = work.countBefore(it == posted.end() ? i : it->second);
    int64_t waited = work.countBefore(i);
    bool isGradient = channel.kind == artifact::ChannelKind::gradient;
    bool isNorms = channel.kind == artifact::ChannelKind::norms;
    receives.push_back({place + (isShape      ? " shape"
                                 : isNorms    ? " norms"
                                 : isGradient ? " gradient"
                                              : " activation"),
                        channel.parts, before, waited,
                        work.getTime(waited) - work.getTime(before)});
  }
  return receives;
}

void veeline::compiler::printCommunication(llvm::raw_ostream &os,
                                           const artifact::Program &program) {
  for (const artifact::Channel &channel : program.channels)
    if (channel.streamOf(false) != channel.stream) {
      os << "sends on stream " << channel.stream << ", receives on stream "
         << channel.receiveStream
         << ": right where a GPU has room for two of NCCL's operations\n";
      break;
    }
  os << "rank  message                 parts  posted before  waited before  "
        "ops ahead  ms ahead (predicted)\n";
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    WorkTable work(rank);
    for (const Receive &receive : collectReceives(program, rank))
      os << llvm::format(
          "%4zu  %-23s %5lld  %-14s %-14s %9lld %22.3f\n", i,
          receive.name.c_str(), static_cast<long long>(receive.parts),
          work.getName(receive.postedBefore).c_str(),
          work.getName(receive.waitedBefore).c_str(),
          static_cast<long long>(receive.waitedBefore - receive.postedBefore),
          receive.microseconds / 1e3);
  }
}

llvm::json::Array
veeline::compiler::getCommunicationAsJson(const artifact::Program &program) {
  llvm::json::Array receives;
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    WorkTable work(rank);
    for (const Receive &receive : collectReceives(program, rank))
      receives.push_back(llvm::json::Object{
          {"rank", i},
          {"message", receive.name},
          {"parts", receive.parts},
          {"posted_before", work.getName(receive.postedBefore)},
          {"waited_before", work.getName(receive.waitedBefore)},
          {"ops_ahead", receive.waitedBefore - receive.postedBefore},
          {"predicted_microseconds_ahead", receive.microseconds}});
  }
  return receives;
}
