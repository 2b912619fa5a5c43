//===- Partition.cpp - --pipe-partition -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkExtraction.h"
#include "JointExtraction.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Analysis/Cuts.h"
#include "veeline/Analysis/Fingerprint.h"
#include "veeline/Analysis/Profile.h"
#include "veeline/Autodiff/Loops.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPEPARTITION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

FailureOr<Placement> veeline::pipe::getPlacement(Location location,
                                                 StringRef name,
                                                 int64_t chunksPerStage) {
  if (name.empty())
    return chunksPerStage == 1   ? Placement::Linear
           : chunksPerStage == 2 ? Placement::V
                                 : Placement::Interleaved;
  if (std::optional<Placement> placement = symbolizePlacement(name))
    return *placement;
  SmallVector<StringRef> known;
  for (unsigned i = 0; i <= getMaxEnumValForPlacement(); ++i)
    known.push_back(stringifyPlacement(*symbolizePlacement(i)));
  StringRef nearest = *llvm::min_element(known, [&](StringRef a, StringRef b) {
    return a.edit_distance(name) < b.edit_distance(name);
  });
  InFlightDiagnostic diagnostic = emitError(location)
                                  << "unknown placement '" << name
                                  << "'; did you mean '" << nearest
                                  << "'? Known placements are ";
  llvm::interleaveComma(known, diagnostic);
  return diagnostic;
}

FailureOr<std::optional<ClipSync>> veeline::pipe::getClipSync(Location location,
                                                              StringRef name) {
  if (name == "none")
    return std::optional<ClipSync>();
  if (std::optional<ClipSync> sync = symbolizeClipSync(name))
    return sync;
  InFlightDiagnostic diagnostic =
      emitError(location) << "unknown clip-sync '" << name << "'; it is none";
  for (unsigned i = 0; i <= getMaxEnumValForClipSync(); ++i)
    diagnostic << " or " << stringifyClipSync(*symbolizeClipSync(i));
  return diagnostic;
}

/// The maximal number of ranks of a stage.
static constexpr int64_t maxWidth = 4096;

static LogicalResult verifyWidths(func::FuncOp model,
                                  const PartitionOptions &options) {
  ArrayRef<int64_t> widths = options.stageReplicas;
  int64_t p = options.stages;
  if (!widths.empty() && static_cast<int64_t>(widths.size()) != p)
    return model.emitError() << "stage-replicas has " << widths.size()
                             << (widths.size() == 1 ? " number" : " numbers")
                             << ", expected one for each of " << p
                             << (p == 1 ? " stage" : " stages");
  for (auto [stage, width] : llvm::enumerate(widths))
    if (width < 1 || width > maxWidth)
      return model.emitError() << "stage-replicas gives stage " << stage << ' '
                               << width << " ranks, expected 1 to " << maxWidth;
  return success();
}

static LogicalResult verifyShape(func::FuncOp model,
                                 const PartitionOptions &options) {
  int64_t p = options.stages, v = options.chunksPerStage;
  Placement placement = options.placement;
  if (p < 1)
    return model.emitError() << "expected at least 1 stage, found " << p;
  if (v < 1)
    return model.emitError()
           << "expected at least 1 chunk a stage, found " << v;
  if (placement == Placement::Linear && v != 1)
    return model.emitError()
           << "placement 'linear' has 1 chunk a stage, found " << v;
  if (placement == Placement::V && v != 2)
    return model.emitError()
           << "placement 'v' has 2 chunks a stage, found " << v;
  return verifyWidths(model, options);
}

/// Describes options in the form "4 stages of 2 chunks each".
static std::string describe(const PartitionOptions &options) {
  int64_t p = options.stages, v = options.chunksPerStage;
  return (Twine(p) + (p == 1 ? " stage of " : " stages of ") + Twine(v) +
          (v == 1 ? " chunk each" : " chunks each"))
      .str();
}

static bool isEnough(const PartitionOptions &options, int64_t numPieces) {
  int64_t p = options.stages, v = options.chunksPerStage;
  // The comparison avoids the product of p and v, which may overflow.
  return v <= numPieces && p <= numPieces / v;
}

static LogicalResult verifyEnoughPieces(func::FuncOp model,
                                        const PartitionOptions &options,
                                        int64_t numPieces) {
  if (isEnough(options, numPieces))
    return success();
  InFlightDiagnostic diagnostic =
      model.emitError() << "more chunks than pieces: " << describe(options)
                        << ", but the model has " << numPieces
                        << (numPieces == 1 ? " piece" : " pieces");
  if (numPieces == 0)
    return diagnostic << ": no op depends on both a parameter and a batch "
                         "argument";
  diagnostic << "; ask for fewer stages or chunks a stage";
  // Without marks, pieces are already as fine as they can be.
  if (!model.getOps<BoundaryOp>().empty())
    diagnostic << ", or mark more cuts with pipe.boundary";
  return diagnostic;
}

/// Checks a list of pieces for each chunk.
static LogicalResult verifyList(func::FuncOp model,
                                const PartitionOptions &options,
                                int64_t numPieces) {
  ArrayRef<int64_t> list = options.pieces;
  int64_t numChunks = options.stages * options.chunksPerStage;
  if (static_cast<int64_t>(list.size()) != numChunks)
    return model.emitError()
           << "the list of pieces has " << list.size()
           << (list.size() == 1 ? " entry" : " entries") << ", expected "
           << numChunks << ": " << describe(options);
  uint64_t sum = 0;
  for (auto [i, count] : llvm::enumerate(list)) {
    if (count < 1)
      return model.emitError() << "entry " << i << " of the list of pieces is "
                               << count << "; every chunk has at least 1 piece";
    sum = llvm::SaturatingAdd<uint64_t>(sum, count);
  }
  if (sum != static_cast<uint64_t>(numPieces))
    return model.emitError()
           << "the list of pieces adds up to " << sum << ", but the model has "
           << numPieces << (numPieces == 1 ? " piece" : " pieces")
           << " (veeline inspect --pieces lists them, --fine-pieces their "
              "parts)";
  return success();
}

/// The profile of the options, if there is one. Emits a diagnostic if it cannot
/// be read or is of another model.
static FailureOr<std::optional<Profile>>
readProfile(func::FuncOp model, const PartitionOptions &options) {
  if (options.profile.empty())
    return std::optional<Profile>();
  llvm::Expected<Profile> profile = Profile::read(options.profile);
  if (!profile)
    return model.emitError() << "profile '" << options.profile
                             << "': " << llvm::toString(profile.takeError());
  std::string fingerprint = getFingerprint(model);
  if (profile->getFingerprint() == fingerprint)
    return std::optional<Profile>(std::move(*profile));
  return model.emitError()
         << "profile '" << options.profile << "' is of another model: of '"
         << profile->getModel() << "' with fingerprint "
         << profile->getFingerprint() << ", but this is '" << model.getSymName()
         << "' with " << fingerprint
         << " (other sizes, types or frozen parameters make another model "
            "too); measure this one with veeline train --profile";
}

/// Checks that the profile has the pieces of the model: a profile may have been
/// edited.
static LogicalResult verifyPieces(func::FuncOp model,
                                  const PartitionOptions &options,
                                  const std::optional<Profile> &profile,
                                  int64_t numPieces) {
  if (!profile || profile->getNumPieces() == numPieces)
    return success();
  return model.emitError() << "profile '" << options.profile
                           << "' has times of " << profile->getNumPieces()
                           << " pieces, but the model has " << numPieces
                           << "; measure it with veeline train --profile";
}

static int64_t sumOf(ArrayRef<int64_t> counts) {
  uint64_t sum = 0;
  for (int64_t count : counts)
    sum = llvm::SaturatingAdd<uint64_t>(sum, std::max<int64_t>(count, 0));
  return std::min<uint64_t>(sum, INT64_MAX);
}

/// The number of fine pieces in each piece.
static SmallVector<int64_t> countParts(ArrayRef<Piece> pieces,
                                       ArrayRef<Piece> fine) {
  SmallVector<int64_t> parts;
  auto part = fine.begin();
  for (const Piece &piece : pieces) {
    parts.push_back(1);
    while ((part++)->ops.back() != piece.ops.back())
      ++parts.back();
  }
  return parts;
}

/// The pieces that chunks consist of. They are fine if there are more chunks
/// than pieces, or if the list or the profile counts fine pieces. In that case,
/// both are converted to count fine ones.
static SmallVector<Piece> choosePieces(func::FuncOp model,
                                       PartitionOptions &options,
                                       std::optional<Profile> &profile) {
  SmallVector<Piece> pieces = findPieces(model);
  int64_t numPieces = pieces.size();
  bool isListOfPieces = sumOf(options.pieces) == numPieces;
  bool isProfileOfPieces = profile && profile->getNumPieces() == numPieces;
  if (isEnough(options, numPieces) &&
      (isListOfPieces || options.pieces.empty()) &&
      (isProfileOfPieces || !profile))
    return pieces;
  SmallVector<Piece> fine = findPieces(model, /*isFine=*/true);
  int64_t numFine = fine.size();
  // A list that matches neither is assumed to count pieces, and refused later.
  if (isEnough(options, numPieces) && !options.pieces.empty() &&
      !isListOfPieces && sumOf(options.pieces) != numFine)
    return pieces;
  SmallVector<int64_t> parts = countParts(pieces, fine);
  if (isProfileOfPieces)
    profile->refine(parts);
  size_t next = 0;
  if (isListOfPieces &&
      llvm::all_of(options.pieces, [](int64_t count) { return count > 0; }))
    for (int64_t &count : options.pieces)
      count = sumOf(
          ArrayRef(parts).slice(std::exchange(next, next + count), count));
  return fine;
}

/// Sets the attributes of the chunks and of the pipeline with measured times.
static void setScales(PipelineOp pipeline, ArrayRef<int> counts,
                      ArrayRef<double> estimates,
                      const std::optional<Profile> &profile) {
  Builder builder(pipeline.getContext());
  SmallVector<int64_t> begins = {0};
  for (auto [chunk, count] : llvm::zip_equal(pipeline.getChunks(), counts)) {
    int64_t begin = begins.back();
    begins.push_back(begin + count);
    if (count > 1)
      chunk->setAttr(piecesAttrName, builder.getI64IntegerAttr(count));
    if (profile)
      chunk->setAttr(costScaleAttrName,
                     builder.getDenseF64ArrayAttr(
                         profile->getScale(begin, begin + count, estimates)));
  }
  if (!profile)
    return;
  std::vector<PieceEdge> edges;
  EdgeTable table(pipeline);
  for (const Edge &edge : table.getEdges())
    if (edge.isValue())
      edges.push_back({begins[edge.producer + 1], begins[edge.consumer],
                       static_cast<int64_t>(getByteSize(edge.type))});
  std::vector<double> transfers = profile->getTransfers(edges);
  if (!transfers.empty())
    pipeline->setAttr(transfersAttrName,
                      builder.getDenseF64ArrayAttr(transfers));
  if (auto reduction = profile->getAllReduce())
    pipeline->setAttr(allReduceAttrName,
                      builder.getDenseF64ArrayAttr(*reduction));
  if (auto updates = profile->getUpdates()) {
    pipeline->setAttr(updatesAttrName, builder.getDenseF64ArrayAttr(*updates));
    pipeline->setAttr(updatesOfAttrName,
                      builder.getStringAttr(profile->getOptimizer()));
  }
}

static FailureOr<SmallVector<int>>
chooseCounts(func::FuncOp model, ArrayRef<Piece> pieces, ArrayRef<double> times,
             const PartitionOptions &options) {
  int64_t numPieces = pieces.size();
  if (!options.pieces.empty()) {
    if (failed(verifyList(model, options, numPieces)))
      return failure();
    return SmallVector<int>(options.pieces.begin(), options.pieces.end());
  }
  std::vector<PieceWeight> weights;
  for (auto [piece, time] : llvm::zip_equal(pieces, times))
    weights.push_back({time, piece.bytesAfter});
  std::vector<int> stageOf;
  for (int64_t k = 0; k != options.stages * options.chunksPerStage; ++k)
    stageOf.push_back(getStageOf(options.placement, options.stages, k));
  std::vector<int> widths(options.stageReplicas.begin(),
                          options.stageReplicas.end());
  std::vector<int> counts = chooseCuts(weights, stageOf, widths);
  return SmallVector<int>(counts.begin(), counts.end());
}

static LogicalResult verifyUncalled(func::FuncOp model, ModuleOp module) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(model, module);
  if (!uses || uses->empty())
    return success();
  InFlightDiagnostic diagnostic =
      model.emitError("the model is referred to from elsewhere in the module, "
                      "and would no longer be a function");
  diagnostic.attachNote((*uses->begin()).getUser()->getLoc())
      << "referred to here";
  return diagnostic;
}

/// The machine's table, with the rates for all ranks working.
static FailureOr<std::optional<MachineTable>>
readTable(func::FuncOp model, const PartitionOptions &options) {
  // A profile is preferred to a table.
  auto table = readMachineTable(
      model, options.profile.empty() ? options.machineTable : "");
  if (failed(table) || !*table)
    return table;
  if (options.machineCores > 0)
    (*table)->cores = options.machineCores;
  (*table)->ranks =
      options.replicas * (options.stageReplicas.empty()
                              ? options.stages
                              : llvm::sum_of(options.stageReplicas));
  return table;
}

FailureOr<PipelineOp> veeline::pipe::partition(func::FuncOp model,
                                               const PartitionOptions &given) {
  PartitionOptions options = given;
  auto module = model->getParentOfType<ModuleOp>();
  // Read these first: later steps change the model, and with it its
  // fingerprint.
  auto profile = readProfile(model, options);
  auto table = readTable(model, options);
  auto joint = getJoint(model);
  if (failed(profile) || failed(table) || failed(joint) ||
      failed(autodiff::prepareModel(model)) ||
      failed(verifyModel(model, options.forwardOnly)) ||
      failed(verifyUncalled(model, module)) ||
      (!options.forwardOnly && !*joint && failed(verifyGradients(model))))
    return failure();
  if (failed(verifyShape(model, options)))
    return failure();
  SmallVector<Piece> pieces = choosePieces(model, options, *profile);
  int64_t numPieces = pieces.size();
  if (failed(verifyEnoughPieces(model, options, numPieces)) ||
      failed(verifyPieces(model, options, *profile, numPieces)))
    return failure();
  std::vector<double> estimates =
      estimateNanoseconds(pieces, *table ? &**table : nullptr);
  FailureOr<SmallVector<int>> counts = chooseCounts(
      model, pieces, *profile ? (*profile)->getTimes(estimates) : estimates,
      options);
  if (failed(counts))
    return failure();
  FailureOr<ExtractionPlan> plan = ExtractionPlan::make(model, pieces, *counts);
  if (failed(plan))
    return failure();
  std::optional<JointExtraction> backward;
  if (*joint && !options.forwardOnly) {
    auto extraction = JointExtraction::make(model, *joint, *plan);
    if (failed(extraction))
      return failure();
    backward = std::move(*extraction);
  }

  SymbolTable symbols(module);
  OpBuilder builder(model);
  auto pipeline = PipelineOp::create(
      builder, model.getLoc(), model.getSymName(), options.stages,
      options.chunksPerStage, options.placement, /*microbatches=*/{},
      /*replicas=*/1, /*stage_replicas=*/{}, /*shard_optimizer=*/false,
      /*nccl_sums=*/false, /*clip_sync=*/{}, /*asynchronous=*/{},
      /*schedule=*/{});
  if (llvm::any_of(options.stageReplicas,
                   [](int64_t width) { return width != 1; }))
    pipeline.setStageReplicas(options.stageReplicas);
  pipeline.setClipSync(options.clipSync);
  if (options.forwardOnly)
    pipeline->setAttr(forwardOnlyAttrName, builder.getUnitAttr());
  pipeline.getBody().emplaceBlock();
  plan->build(pipeline, symbols);
  setScales(pipeline, *counts, estimates, *profile);
  if (*table)
    pipeline->setAttr(machineTableAttrName,
                      builder.getStringAttr((*table)->toJson()));
  if (backward)
    backward->build(pipeline, symbols);
  if (*joint)
    symbols.erase(*joint);
  symbols.erase(model);
  symbols.insert(pipeline);
  return pipeline;
}

/// Cuts the versions of `model` for other lengths like `pipeline`, which
/// belongs to `model`.
static LogicalResult partitionVersions(PipelineOp pipeline,
                                       ArrayRef<int64_t> lengths,
                                       ArrayRef<func::FuncOp> models,
                                       PartitionOptions options) {
  if (!std::exchange(options.profile, "").empty())
    options.machineTable.clear();
  options.pieces = llvm::map_to_vector(
      pipeline.getChunks(), [](ChunkOp chunk) { return getNumPieces(chunk); });
  // Warnings have been printed for the longest version.
  ScopedDiagnosticHandler once(
      pipeline.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
      });
  SmallVector<PipelineOp> versions;
  for (func::FuncOp model : models) {
    FailureOr<PipelineOp> version = partition(model, options);
    if (failed(version))
      return failure();
    versions.push_back(*version);
  }
  setVersions(pipeline, lengths, versions);
  return success();
}

/// The versions that --pipe-bind-lengths has made of `model`.
static FailureOr<SmallVector<func::FuncOp>>
findVersions(func::FuncOp model, ArrayRef<int64_t> lengths) {
  SmallVector<func::FuncOp> versions;
  auto names = model->getAttrOfType<ArrayAttr>(versionsAttrName);
  for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>()) {
    auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
    auto version =
        symbol
            ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(model, symbol)
            : func::FuncOp();
    if (version)
      versions.push_back(version);
  }
  if (versions.size() + 1 == lengths.size())
    return versions;
  return model.emitError() << "has " << lengths.size()
                           << " lengths, but its attribute '"
                           << versionsAttrName << "' names " << versions.size()
                           << " functions; expected one for each length but "
                              "the last (--pipe-bind-lengths)";
}

namespace {
struct PipePartition : veeline::pipe::impl::PipePartitionBase<PipePartition> {
  using PipePartitionBase::PipePartitionBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = findModel(getOperation(), entry);
    if (failed(model))
      return signalPassFailure();
    FailureOr<Placement> chosen =
        getPlacement(model->getLoc(), placement, chunksPerStage);
    FailureOr<std::optional<ClipSync>> sync =
        getClipSync(model->getLoc(), clipSync);
    if (failed(chosen) || failed(sync))
      return signalPassFailure();
    PartitionOptions options{stages,
                             chunksPerStage,
                             *chosen,
                             llvm::to_vector(pieces),
                             profile,
                             machineTable,
                             machineCores,
                             replicas,
                             llvm::to_vector(stageReplicas),
                             *sync,
                             forwardOnly};
    SmallVector<int64_t> lengths(getLengths(*model));
    FailureOr<SmallVector<func::FuncOp>> versions =
        lengths.empty() ? SmallVector<func::FuncOp>()
                        : findVersions(*model, lengths);
    if (failed(versions))
      return signalPassFailure();
    FailureOr<PipelineOp> pipeline = partition(*model, options);
    if (failed(pipeline) ||
        (!lengths.empty() &&
         failed(partitionVersions(*pipeline, lengths, *versions, options))))
      signalPassFailure();
  }
};
} // namespace
