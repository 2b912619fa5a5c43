//===- MemoryPlan.cpp - where everything of a rank lives ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace veeline::pipe;

DictionaryAttr MemoryPlan::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<Attribute> paramRows, accumulatorRows, reducedRows;
  for (const Param &param : params)
    paramRows.push_back(
        builder.getDenseI64ArrayAttr({param.param, param.value, param.state,
                                      param.stateBytes, param.isHome ? 1 : 0}));
  for (const Accumulator &accumulator : accumulators)
    accumulatorRows.push_back(builder.getDenseI64ArrayAttr(
        {accumulator.param, accumulator.chunk, accumulator.offset}));
  for (const ReducedPiece &piece : reduced)
    reducedRows.push_back(builder.getDenseI64ArrayAttr(
        {piece.reduction, piece.param, piece.offset, piece.numElements,
         piece.buffer, piece.stride}));
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  SmallVector<NamedAttribute> entries = {
      number("arena_bytes", arenaBytes),
      number("peak_live_bytes", peakLiveBytes),
      builder.getNamedAttr("params", builder.getArrayAttr(paramRows)),
      builder.getNamedAttr("accumulators",
                           builder.getArrayAttr(accumulatorRows))};
  if (!reduced.empty())
    entries.push_back(
        builder.getNamedAttr("reduced", builder.getArrayAttr(reducedRows)));
  return builder.getDictionaryAttr(entries);
}

/// The rows of an array of arrays of `width` numbers; fails on anything else.
static FailureOr<SmallVector<ArrayRef<int64_t>>>
getRows(DictionaryAttr dict, StringRef name, size_t width) {
  auto array = dict.getAs<ArrayAttr>(name);
  if (!array)
    return failure();
  SmallVector<ArrayRef<int64_t>> rows;
  for (Attribute attr : array) {
    auto row = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!row || row.size() != static_cast<int64_t>(width))
      return failure();
    rows.push_back(row.asArrayRef());
  }
  return rows;
}

FailureOr<MemoryPlan> MemoryPlan::get(ProgramOp program) {
  DictionaryAttr dict = program.getMemoryAttr();
  if (!dict)
    return program.emitOpError(
        "has no plan of its memory; run --pipe-plan-memory first");
  MemoryPlan plan;
  bool valid = true;
  auto read = [&](StringRef name, int64_t &value) {
    auto attr = dict.getAs<IntegerAttr>(name);
    valid &= static_cast<bool>(attr);
    if (attr)
      value = attr.getInt();
  };
  read("arena_bytes", plan.arenaBytes);
  read("peak_live_bytes", plan.peakLiveBytes);
  auto params = getRows(dict, "params", 5);
  auto accumulators = getRows(dict, "accumulators", 3);
  auto reduced = dict.contains("reduced") ? getRows(dict, "reduced", 6)
                                          : SmallVector<ArrayRef<int64_t>>();
  if (!valid || failed(params) || failed(accumulators) || failed(reduced))
    return program.emitOpError("has a damaged plan of its memory; run "
                               "--pipe-plan-memory again");
  for (ArrayRef<int64_t> row : *params)
    plan.params.push_back({row[0], row[1], row[2], row[3], row[4] != 0});
  for (ArrayRef<int64_t> row : *accumulators)
    plan.accumulators.push_back({row[0], row[1], row[2]});
  for (ArrayRef<int64_t> row : *reduced)
    plan.reduced.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
  return plan;
}

const MemoryPlan::Param *MemoryPlan::findParam(int64_t param) const {
  for (const Param &entry : params)
    if (entry.param == param)
      return &entry;
  return nullptr;
}

std::optional<int64_t> MemoryPlan::findAccumulator(int64_t param,
                                                   int64_t chunk) const {
  for (const Accumulator &entry : accumulators)
    if (entry.param == param && entry.chunk == chunk)
      return entry.offset;
  return std::nullopt;
}
