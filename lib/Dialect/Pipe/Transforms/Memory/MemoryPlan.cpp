//===- MemoryPlan.cpp - the layout of a rank's arena ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Converts rows to an array of arrays of three numbers.
template <typename Row>
static ArrayAttr getRowsAttr(Builder &builder, ArrayRef<Row> rows,
                             int64_t Row::*key) {
  SmallVector<Attribute> attributes;
  for (const Row &row : rows)
    attributes.push_back(
        builder.getDenseI64ArrayAttr({row.*key, row.offset, row.bytes}));
  return builder.getArrayAttr(attributes);
}

static DictionaryAttr toAttribute(Builder &builder,
                                  const MemoryPlan::Device &device) {
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(builder.getNamedAttr(name, value));
  };
  add("inputs",
      getRowsAttr(builder, ArrayRef(device.inputs), &MemoryPlan::Input::input));
  add("constants", getRowsAttr(builder, ArrayRef(device.constants),
                               &MemoryPlan::Constant::constant));
  add("library", builder.getDenseI64ArrayAttr(
                     {device.libraryOffset, device.libraryBytes}));
  add("settings", builder.getI64IntegerAttr(device.settingsOffset));
  add("norms",
      builder.getDenseI64ArrayAttr({device.normsOffset, device.normParts}));
  if (device.numSettings > 1)
    add("settings_count", builder.getI64IntegerAttr(device.numSettings));
  if (device.clipOffset >= 0)
    add("clip", builder.getI64IntegerAttr(device.clipOffset));
  if (device.normParts > 0)
    add("optimizer", builder.getStringAttr(name(device.optimizer)));
  if (device.errorFeedback)
    add("error_feedback", builder.getUnitAttr());
  if (device.resultBytes > 0)
    add("results", builder.getDenseI64ArrayAttr(
                       {device.resultsOffset, device.resultBytes}));
  if (!device.inputsBefore.empty())
    add("inputs_before", getRowsAttr(builder, ArrayRef(device.inputsBefore),
                                     &MemoryPlan::Input::input));
  if (device.settingsBeforeOffset >= 0)
    add("settings_before",
        builder.getI64IntegerAttr(device.settingsBeforeOffset));
  if (device.streams > 1)
    add("streams",
        builder.getDenseI64ArrayAttr({device.streams, device.events}));
  return builder.getDictionaryAttr(entries);
}

/// Converts roundings to rows of a parameter, an offset and a type.
static ArrayAttr getRoundedAttr(Builder &builder,
                                ArrayRef<MemoryPlan::Rounded> rounded) {
  SmallVector<Attribute> rows;
  for (const MemoryPlan::Rounded &entry : rounded)
    rows.push_back(
        builder.getArrayAttr({builder.getI64IntegerAttr(entry.param),
                              builder.getI64IntegerAttr(entry.offset),
                              TypeAttr::get(entry.element)}));
  return builder.getArrayAttr(rows);
}

/// If any row has older values, adds a list of them for each row.
template <typename Row>
static void addVersions(Builder &builder, StringRef name, ArrayRef<Row> rows,
                        SmallVectorImpl<NamedAttribute> &entries) {
  if (llvm::none_of(rows, [](const Row &row) { return !row.versions.empty(); }))
    return;
  SmallVector<Attribute> lists;
  for (const Row &row : rows)
    lists.push_back(builder.getDenseI64ArrayAttr(row.versions));
  entries.push_back(builder.getNamedAttr(name, builder.getArrayAttr(lists)));
}

/// Reads what `addVersions` has added.
template <typename Row>
static LogicalResult readVersions(DictionaryAttr dict, StringRef name,
                                  MutableArrayRef<Row> rows) {
  if (!dict.contains(name))
    return success();
  auto lists = dict.getAs<ArrayAttr>(name);
  if (!lists || lists.size() != rows.size())
    return failure();
  for (auto [row, attr] : llvm::zip_equal(rows, lists)) {
    auto list = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!list)
      return failure();
    row.versions.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  }
  return success();
}

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
  if (llvm::any_of(params, [](const Param &param) { return param.kept >= 0; }))
    entries.push_back(builder.getNamedAttr(
        "kept", builder.getDenseI64ArrayAttr(llvm::map_to_vector(
                    params, [](const Param &param) { return param.kept; }))));
  if (llvm::any_of(params, [](const Param &param) { return param.owner >= 0; }))
    entries.push_back(builder.getNamedAttr(
        "owners",
        builder.getDenseI64ArrayAttr(llvm::map_to_vector(
            params, [](const Param &param) { return param.owner; }))));
  if (hostBytes > 0)
    entries.push_back(number("host_bytes", hostBytes));
  if (updateWorkspace >= 0)
    entries.push_back(builder.getNamedAttr(
        "update_workspace",
        builder.getDenseI64ArrayAttr({updateWorkspace, updateWorkspaceBytes})));
  addVersions(builder, "versions", ArrayRef(params), entries);
  addVersions(builder, "rounded_versions", ArrayRef(rounded), entries);
  if (!reduced.empty())
    entries.push_back(
        builder.getNamedAttr("reduced", builder.getArrayAttr(reducedRows)));
  if (!rounded.empty())
    entries.push_back(
        builder.getNamedAttr("rounded", getRoundedAttr(builder, rounded)));
  if (!outputs.empty())
    entries.push_back(builder.getNamedAttr(
        "outputs", getRowsAttr(builder, ArrayRef(outputs), &Output::result)));
  if (device)
    entries.push_back(
        builder.getNamedAttr("device", ::toAttribute(builder, *device)));
  return builder.getDictionaryAttr(entries);
}

/// The rows of an array of arrays of `width` numbers. Fails for anything else.
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

static LogicalResult readRounded(DictionaryAttr dict,
                                 SmallVector<MemoryPlan::Rounded> &rounded) {
  if (!dict.contains("rounded"))
    return success();
  auto array = dict.getAs<ArrayAttr>("rounded");
  if (!array)
    return failure();
  for (Attribute attr : array) {
    auto row = dyn_cast<ArrayAttr>(attr);
    if (!row || row.size() != 3)
      return failure();
    auto param = dyn_cast<IntegerAttr>(row[0]);
    auto offset = dyn_cast<IntegerAttr>(row[1]);
    auto element = dyn_cast<TypeAttr>(row[2]);
    if (!param || !offset || !element)
      return failure();
    rounded.push_back({param.getInt(), element.getValue(), offset.getInt()});
  }
  return success();
}

/// Sets two numbers from entry `name`, if there is one.
static LogicalResult readPair(DictionaryAttr dict, StringRef name,
                              int64_t &first, int64_t &second) {
  if (!dict.contains(name))
    return success();
  auto pair = dict.getAs<DenseI64ArrayAttr>(name);
  if (!pair || pair.size() != 2)
    return failure();
  first = pair[0];
  second = pair[1];
  return success();
}

/// Reads a number that may be missing.
static LogicalResult readNumber(DictionaryAttr dict, StringRef name,
                                int64_t &number) {
  Attribute attr = dict.get(name);
  auto found = dyn_cast_if_present<IntegerAttr>(attr);
  if (found)
    number = found.getInt();
  return success(found || !attr);
}

static FailureOr<MemoryPlan::Device> readDevice(DictionaryAttr dict) {
  if (!dict)
    return failure();
  MemoryPlan::Device device;
  auto inputs = getRows(dict, "inputs", 3);
  auto constants = getRows(dict, "constants", 3);
  auto library = dict.getAs<DenseI64ArrayAttr>("library");
  auto settings = dict.getAs<IntegerAttr>("settings");
  auto norms = dict.getAs<DenseI64ArrayAttr>("norms");
  if (failed(inputs) || failed(constants) || !library || library.size() != 2 ||
      !settings || !norms || norms.size() != 2)
    return failure();
  for (ArrayRef<int64_t> row : *inputs)
    device.inputs.push_back({row[0], row[1], row[2]});
  if (dict.contains("inputs_before")) {
    auto before = getRows(dict, "inputs_before", 3);
    if (failed(before))
      return failure();
    for (ArrayRef<int64_t> row : *before)
      device.inputsBefore.push_back({row[0], row[1], row[2]});
  }
  if (failed(
          readNumber(dict, "settings_before", device.settingsBeforeOffset)) ||
      failed(readNumber(dict, "settings_count", device.numSettings)) ||
      failed(readNumber(dict, "clip", device.clipOffset)))
    return failure();
  for (ArrayRef<int64_t> row : *constants)
    device.constants.push_back({row[0], row[1], row[2]});
  device.libraryOffset = library[0];
  device.libraryBytes = library[1];
  device.settingsOffset = settings.getInt();
  device.normsOffset = norms[0];
  device.normParts = norms[1];
  if (auto text = dict.getAs<StringAttr>("optimizer")) {
    std::optional<Optimizer> optimizer = parseOptimizer(text.getValue());
    if (!optimizer)
      return failure();
    device.optimizer = *optimizer;
  }
  device.errorFeedback = dict.contains("error_feedback");
  if (failed(readPair(dict, "results", device.resultsOffset,
                      device.resultBytes)) ||
      failed(readPair(dict, "streams", device.streams, device.events)))
    return failure();
  return device;
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
  auto outputs = dict.contains("outputs") ? getRows(dict, "outputs", 3)
                                          : SmallVector<ArrayRef<int64_t>>();
  valid &= succeeded(outputs);
  if (succeeded(outputs))
    for (ArrayRef<int64_t> row : *outputs)
      plan.outputs.push_back({row[0], row[1], row[2]});
  valid &= succeeded(readNumber(dict, "host_bytes", plan.hostBytes));
  if (dict.contains("device")) {
    FailureOr<Device> device = readDevice(dict.getAs<DictionaryAttr>("device"));
    valid &= succeeded(device);
    if (succeeded(device))
      plan.device = std::move(*device);
  }
  if (dict.contains("update_workspace")) {
    auto workspace = dict.getAs<DenseI64ArrayAttr>("update_workspace");
    valid &= workspace && workspace.size() == 2;
    if (valid) {
      plan.updateWorkspace = workspace[0];
      plan.updateWorkspaceBytes = workspace[1];
    }
  }
  auto kept = dict.getAs<DenseI64ArrayAttr>("kept");
  auto owners = dict.getAs<DenseI64ArrayAttr>("owners");
  for (DenseI64ArrayAttr list : {kept, owners})
    if (list && succeeded(params))
      valid &= static_cast<size_t>(list.size()) == params->size();
  if (succeeded(params))
    for (ArrayRef<int64_t> row : *params)
      plan.params.push_back({row[0], row[1], row[2], row[3], row[4] != 0});
  if (!valid || failed(params) || failed(accumulators) || failed(reduced) ||
      failed(readRounded(dict, plan.rounded)) ||
      failed(readVersions(dict, "versions", MutableArrayRef(plan.params))) ||
      failed(readVersions(dict, "rounded_versions",
                          MutableArrayRef(plan.rounded))))
    return program.emitOpError("has a damaged plan of its memory; run "
                               "--pipe-plan-memory again");
  if (kept)
    for (auto [param, offset] : llvm::zip_equal(plan.params, kept.asArrayRef()))
      param.kept = offset;
  if (owners)
    for (auto [param, owner] :
         llvm::zip_equal(plan.params, owners.asArrayRef()))
      param.owner = owner;
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

const MemoryPlan::Rounded *MemoryPlan::findRounded(int64_t param,
                                                   Type element) const {
  for (const Rounded &entry : rounded)
    if (entry.param == param && entry.element == element)
      return &entry;
  return nullptr;
}

bool veeline::pipe::isOutput(Type result) {
  auto tensor = cast<ShapedType>(result);
  return tensor.getRank() > 0 ||
         !(tensor.getElementType().isF32() || tensor.getElementType().isF64());
}
