//===- OffloadVerifier.cpp - verification of offloads ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OffloadVerifier.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::pipe;

namespace {
/// The ops of one chunk and microbatch, in the order in which they run.
struct Stations {
  OffloadOp offload;
  ReleaseOp release;
  ReloadOp reload;
  RestoreOp restore;
};

class OffloadVerifier {
public:
  explicit OffloadVerifier(ProgramOp program) : program(program) {}
  LogicalResult verify();

private:
  LogicalResult visit(OffloadOp op);
  LogicalResult visit(ReleaseOp op);
  LogicalResult visit(ReloadOp op);
  LogicalResult visit(RestoreOp op);
  LogicalResult visitReader(Operation *op, uint64_t chunk, uint64_t microbatch);
  template <typename OpT> Stations &stationsOf(OpT op) {
    return all[{op.getChunk(), op.getMicrobatch()}];
  }

  ProgramOp program;
  llvm::MapVector<std::pair<uint64_t, uint64_t>, Stations> all;
  /// The forwards that have run.
  llvm::DenseSet<std::pair<uint64_t, uint64_t>> forwards;
};
} // namespace

/// Reports that `op` does not follow `before`, or comes a second time.
static LogicalResult misplaced(Operation *op, Operation *again,
                               StringRef before) {
  if (!again)
    return op->emitOpError() << "of this chunk and microbatch has to follow a "
                             << before << ", and there is none before it";
  InFlightDiagnostic diagnostic =
      op->emitOpError("of this chunk and microbatch comes a second time");
  diagnostic.attachNote(again->getLoc()) << "the first one is here";
  return diagnostic;
}

/// Checks that `values` are `expected`, in this order. With `isOnlyUse`,
/// nothing but `op` may take them.
static LogicalResult verifyTaken(Operation *op, ValueRange values,
                                 ValueRange expected, Operation *from,
                                 bool isOnlyUse) {
  if (!llvm::equal(values, expected)) {
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "has to take the "
                                    << (isOnlyUse ? "results" : "operands")
                                    << " of the op before it, in their order";
    diagnostic.attachNote(from->getLoc()) << "that op is here";
    return diagnostic;
  }
  for (Value value : expected)
    for (Operation *user : value.getUsers())
      if (isOnlyUse && user != op) {
        InFlightDiagnostic diagnostic =
            user->emitOpError("takes a value that is on its way between the "
                              "memories of host and device; take the result "
                              "of the pipe.restore");
        diagnostic.attachNote(from->getLoc()) << "it leaves here";
        return diagnostic;
      }
  return success();
}

static LogicalResult verifyTypes(Operation *op) {
  if (op->getOperandTypes() == op->getResultTypes())
    return success();
  return op->emitOpError("gives its values at another place, so results have "
                         "the types of its operands");
}

LogicalResult OffloadVerifier::visit(OffloadOp op) {
  Stations &stations = stationsOf(op);
  if (stations.offload)
    return misplaced(op, stations.offload, "");
  stations.offload = op;
  if (!forwards.contains({op.getChunk(), op.getMicrobatch()}))
    return op.emitOpError("has to follow the pipe.forward of this chunk and "
                          "microbatch, and there is none before it");
  if (op.getValues().empty())
    return op.emitOpError("offloads nothing");
  return verifyTypes(op);
}

LogicalResult OffloadVerifier::visit(ReleaseOp op) {
  Stations &stations = stationsOf(op);
  if (!stations.offload || stations.release)
    return misplaced(op, stations.release, "pipe.offload");
  stations.release = op;
  return verifyTaken(op, op.getValues(), stations.offload.getValues(),
                     stations.offload, /*isOnlyUse=*/false);
}

LogicalResult OffloadVerifier::visit(ReloadOp op) {
  Stations &stations = stationsOf(op);
  if (!stations.release || stations.reload)
    return misplaced(op, stations.reload, "pipe.release");
  stations.reload = op;
  if (failed(verifyTypes(op)))
    return failure();
  return verifyTaken(op, op.getValues(), stations.offload.getCopies(),
                     stations.offload, /*isOnlyUse=*/true);
}

LogicalResult OffloadVerifier::visit(RestoreOp op) {
  Stations &stations = stationsOf(op);
  if (!stations.reload || stations.restore)
    return misplaced(op, stations.restore, "pipe.reload");
  stations.restore = op;
  if (failed(verifyTypes(op)))
    return failure();
  return verifyTaken(op, op.getValues(), stations.reload.getCopies(),
                     stations.reload, /*isOnlyUse=*/true);
}

/// Checks that the values that F has kept are on the device when the backward
/// of a chunk runs.
LogicalResult OffloadVerifier::visitReader(Operation *op, uint64_t chunk,
                                           uint64_t microbatch) {
  auto found = all.find({chunk, microbatch});
  if (isLate(op) || found == all.end() || found->second.restore)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError("stands before the pipe.restore of what its chunk has "
                      "offloaded of this microbatch");
  diagnostic.attachNote(found->second.offload.getLoc()) << "it leaves here";
  return diagnostic;
}

LogicalResult OffloadVerifier::verify() {
  for (Operation &op : program.getBody().front())
    if (failed(llvm::TypeSwitch<Operation *, LogicalResult>(&op)
                   .Case<OffloadOp, ReleaseOp, ReloadOp, RestoreOp>(
                       [&](auto op) { return visit(op); })
                   .Case([&](ForwardOp op) {
                     forwards.insert({op.getChunk(), op.getMicrobatch()});
                     return success();
                   })
                   .Case<RecomputationOp, BackwardOp, BackwardInputOp,
                         BackwardWeightOp>([&](auto op) {
                     return visitReader(op, op.getChunk(), op.getMicrobatch());
                   })
                   .Default([](Operation *) { return success(); })))
      return failure();
  for (auto &[key, stations] : all)
    if (!stations.restore)
      return stations.offload.emitOpError(
          "has no pipe.restore in this program, which ends with what it "
          "offloads in the host's memory");
  return success();
}

LogicalResult veeline::pipe::verifyOffloads(ProgramOp program) {
  return OffloadVerifier(program).verify();
}
