//===- PlaceValidations.cpp - placing the checks for void turns -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlaceValidations.h"

#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

namespace {
/// Moves the pipe.validate of each program up, until no op before it takes a
/// value that another rank computes after its own pipe.validate. In a void
/// turn, there is no such value, and an integer among them may be used as an
/// index. Linear in the number of ops for each move.
class ValidationMover {
public:
  ValidationMover(PipelineTables &tables, ArrayRef<ProgramOp> programs)
      : tables(tables) {
    for (ProgramOp program : programs)
      collect(program);
  }

  void run() {
    for (bool isMoving = true; isMoving;) {
      isMoving = false;
      for (auto [block, validation] : validations)
        isMoving |= moveBeforeVoid(validation);
    }
  }

private:
  /// Whether it is a forward, its chunk, and its microbatch.
  using Key = std::tuple<bool, int64_t, int64_t>;

  void collect(ProgramOp program) {
    for (Operation &op : program.getBody().front()) {
      if (auto validation = dyn_cast<ValidateOp>(op))
        validations[op.getBlock()] = validation;
      std::optional<schedule::Op> work = getScheduleOp(&op);
      if (work && work->kind != schedule::OpKind::BackwardWeight &&
          work->kind != schedule::OpKind::Recompute)
        producers[{work->kind == schedule::OpKind::Forward, work->chunk,
                   work->microbatch}] = &op;
    }
  }

  /// Whether the value is computed after the pipe.validate of its rank.
  bool isVoid(EdgeValueOp value) const {
    const Edge &edge = tables.edges[value.getEdge()];
    bool isForward = value.getDirection() == Direction::Activation;
    auto producer =
        producers.find({isForward, isForward ? edge.producer : edge.consumer,
                        value.getMicrobatch()});
    if (!edge.isValue() || producer == producers.end())
      return false;
    Operation *op = producer->second;
    return ValidateOp(validations.lookup(op->getBlock()))->isBeforeInBlock(op);
  }

  bool moveBeforeVoid(ValidateOp validation) const {
    for (Operation &op : *validation->getBlock()) {
      if (&op == validation)
        return false;
      auto value = dyn_cast<EdgeValueOp>(op);
      if (!value || !isVoid(value))
        continue;
      validation->moveBefore(value);
      return true;
    }
    return false;
  }

  PipelineTables &tables;
  llvm::MapVector<Block *, ValidateOp> validations;
  std::map<Key, Operation *> producers;
};
} // namespace

void veeline::pipe::placeValidations(PipelineTables &tables,
                                     ArrayRef<ProgramOp> programs) {
  ValidationMover(tables, programs).run();
}
