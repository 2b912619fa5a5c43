//===- StepLengths.cpp - lengths of microbatches in a step ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

#include <numeric>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

LogicalResult StepWriter::verifyLengthKnown(Operation *op,
                                            const schedule::Op &work) {
  if (versions.empty() || work.late || knownLengths.contains(work.microbatch))
    return success();
  return op->emitOpError() << "runs before the length of microbatch "
                           << work.microbatch
                           << " is agreed on by a pipe.length; run "
                              "--pipe-insert-communication first";
}

/// Reports a length to the runtime as soon as it is received: waits for values
/// of its microbatch may come before the pipe.length.
void StepWriter::tellLength(Value received) {
  for (Operation *user : received.getUsers()) {
    auto length = dyn_cast<LengthOp>(user);
    if (!length)
      continue;
    Value microbatch = constant(length.getMicrobatch(), 32);
    if (length.getData())
      callRuntime("veeline_length_of_data", {rank, microbatch}, {});
    callRuntime("veeline_length_received",
                {rank, microbatch, getAddress(received)}, {});
  }
}

/// Reports the length of the data to the runtime, unless `tellLength` has done
/// so. Stores the length where it is sent from.
void StepWriter::lowerLength(LengthOp length) {
  knownLengths.insert(length.getMicrobatch());
  if (isOnDevice)
    addresses[length.getLength()] = onStack(length.getLength().getType());
  Value microbatch = constant(length.getMicrobatch(), 32);
  if (length.getData() && length.getReceived().empty())
    callRuntime("veeline_length_of_data", {rank, microbatch}, {});
  if (!length.getLength().use_empty())
    callRuntime("veeline_length",
                {rank, microbatch, getAddress(length.getLength())}, {});
}

/// Calls the function for the length of the microbatch. For that, creates a
/// function `<name>_of_version` that selects one of `functions`.
void StepWriter::callVersion(int64_t microbatch, StringRef name,
                             ArrayRef<func::FuncOp> functions,
                             ArrayRef<Value> addresses) {
  Value version =
      callRuntime("veeline_version", {rank, constant(microbatch, 32)},
                  builder.getI32Type());
  SmallVector<Value> arguments = {rank, version};
  llvm::append_range(arguments, addresses);
  std::string dispatcherName = (name + "_of_version").str();
  auto dispatcher = moduleSymbols.lookup<func::FuncOp>(dispatcherName);
  if (!dispatcher) {
    SmallVector<Type> types = llvm::map_to_vector(
        arguments, [](Value value) { return value.getType(); });
    dispatcher = declare(dispatcherName, types, {});
    Block *entry = dispatcher.addEntryBlock();
    OpBuilder body = OpBuilder::atBlockBegin(entry);
    Value index = arith::IndexCastOp::create(body, loc, body.getIndexType(),
                                             entry->getArgument(1));
    SmallVector<int64_t> cases(functions.size() - 1);
    std::iota(cases.begin(), cases.end(), 0);
    auto choice = scf::IndexSwitchOp::create(body, loc, TypeRange(), index,
                                             cases, cases.size());
    SmallVector<Value> passed(entry->getArguments().drop_front(2));
    func::FuncOp first = functions.front();
    bool takesRank = isa<LLVM::LLVMPointerType>(first.getArgumentTypes()[0]);
    for (auto [i, function] : llvm::enumerate(functions)) {
      Region &region = i == cases.size() ? choice.getDefaultRegion()
                                         : choice.getCaseRegions()[i];
      OpBuilder inCase = OpBuilder::atBlockBegin(&region.emplaceBlock());
      callFunction(inCase, function,
                   takesRank ? entry->getArgument(0) : Value(), passed);
      scf::YieldOp::create(inCase, loc);
    }
    func::ReturnOp::create(body, loc);
  }
  func::CallOp::create(builder, loc, dispatcher, arguments);
}

/// The type of a value of the program in a version.
RankedTensorType StepWriter::getTypeAt(Value value, size_t version) {
  value = getSource(value);
  if (auto add = value.getDefiningOp<AddOp>())
    return getTypeAt(add.getLhs(), version);
  if (auto wait = value.getDefiningOp<WaitOp>()) {
    RecvOp recv = getReceive(wait);
    return edgesAt[version][recv.getEdge()].type;
  }
  auto result = cast<OpResult>(value);
  schedule::Op work = *getScheduleOp(result.getOwner());
  PipelineOp pipeline = versions[version];
  ChunkOp chunk = pipeline.getChunks()[work.chunk];
  FailureOr<ChunkSignature> signature = getChunkSignature(
      getFunction(symbols, chunk, getFunctionKind(work.kind)));
  return getCarried(chunk, signature->results)[result.getResultNumber()].type;
}
