//===- StepWriter.h - the step of one rank ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_STEPWRITER_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_STEPWRITER_H

#include "Memory/MuonProducts.h"
#include "Schedule/PipelineTables.h"
#include "UpdateKernels.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Schedule/Problem.h"

namespace veeline::pipe {

/// Writes the step of one rank.
class StepWriter {
public:
  StepWriter(PipelineTables &tables, const ChannelTable &channels,
             llvm::ArrayRef<PipelineOp> versions, ProgramOp program,
             MemoryPlan plan, KernelTarget target,
             mlir::SymbolTableCollection &symbols)
      : tables(tables), channels(channels), versions(versions),
        program(program), plan(std::move(plan)),
        isOnDevice(target == KernelTarget::Cuda), symbols(symbols),
        module(program->getParentOfType<mlir::ModuleOp>()),
        moduleSymbols(symbols.getSymbolTable(module)),
        typeConverter(program.getContext()), builder(program.getContext()),
        loc(program.getLoc()),
        ptr(mlir::LLVM::LLVMPointerType::get(program.getContext())) {
    for (PipelineOp version : versions)
      edgesAt.emplace_back(version);
  }

  mlir::LogicalResult run(StepPart which);

private:
  // Calls of the runtime.
  mlir::func::FuncOp declare(llvm::StringRef name,
                             llvm::ArrayRef<mlir::Type> arguments,
                             mlir::Type result);
  mlir::Value callRuntime(llvm::StringRef name,
                          llvm::ArrayRef<mlir::Value> arguments,
                          mlir::Type result);
  mlir::Value constant(int64_t value, unsigned bits);

  // Addresses.
  mlir::Value atArena(int64_t offset);
  mlir::Value atBatch(mlir::Value input, int64_t microbatch);
  mlir::Value getAddress(mlir::Value value);
  mlir::FailureOr<mlir::Value>
  getImplied(mlir::Operation *op, mlir::Value operand, int64_t microbatch);
  /// The older value of a parameter that a work op uses, or none if it uses the
  /// newest value.
  std::optional<int64_t> getOlderValue(mlir::Operation *op,
                                       int64_t param) const;
  mlir::FailureOr<mlir::Value> getRounded(mlir::Operation *op, ChunkOp chunk,
                                          const ChunkValue &value);
  mlir::Value asMemRef(mlir::OpBuilder &builder, mlir::Value address,
                       mlir::MemRefType type);
  void callFunction(mlir::OpBuilder &builder, mlir::func::FuncOp func,
                    mlir::Value rank, llvm::ArrayRef<mlir::Value> addresses);

  // Lowering of ops.
  mlir::LogicalResult verifyOlderValues();
  mlir::LogicalResult verifyNormOrder();
  void beginLate();
  void endLate();
  mlir::LogicalResult beginAfter(mlir::Operation *op);
  void clearAccumulators(llvm::function_ref<bool(int64_t)> isCleared);
  void clearNorms();
  void clear(llvm::ArrayRef<std::pair<int64_t, int64_t>> ranges);
  mlir::LogicalResult lowerOps();
  mlir::func::FuncOp getRoundFunction(mlir::MemRefType source,
                                      mlir::MemRefType target);
  mlir::LogicalResult
  roundParameters(llvm::function_ref<bool(int64_t)> isRounded);
  void roundTo(const MemoryPlan::Rounded &entry, int64_t source,
               int64_t target);
  void roundOlderValues();
  void keepValue(const MemoryPlan::Param &entry,
                 std::optional<uint64_t> microbatch);
  bool isOfPart(mlir::Operation *op) const;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> findGroups();
  mlir::LogicalResult verifyPlaced(mlir::Operation *op);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerWork(mlir::Operation *op);
  bool beginsSums(mlir::Operation *op) const;
  mlir::FailureOr<mlir::Value> getArgument(mlir::Operation *op, ChunkOp chunk,
                                           const ChunkValue &value,
                                           const Carried &carried);
  mlir::LogicalResult verifyLengthKnown(mlir::Operation *op,
                                        const schedule::Op &work);
  mlir::FailureOr<mlir::Value> getResult(mlir::Operation *op, ChunkOp chunk,
                                         const ChunkValue &value,
                                         const Carried &carried);
  void acquireDirectSends(mlir::Operation *op);
  void reportResults(mlir::Operation *op);
  void keepOutput(int64_t result, int64_t microbatch, mlir::Value value,
                  mlir::Type type);
  void tellLength(mlir::Value received);
  void lowerLength(LengthOp length);
  void callVersion(int64_t microbatch, llvm::StringRef name,
                   llvm::ArrayRef<mlir::func::FuncOp> functions,
                   llvm::ArrayRef<mlir::Value> addresses);
  mlir::RankedTensorType getTypeAt(mlir::Value value, size_t version);
  void lowerSend(SendOp send);
  void lowerRecv(RecvOp recv);
  void lowerWait(WaitOp wait);
  void waitForReduction(int64_t number);
  void lowerAllReduce(AllReduceOp sum);
  void lowerAllGather(AllGatherOp gather);
  /// The number of an offload, for any of its four ops.
  template <typename OpTy> mlir::Value getOffloadNumber(OpTy op);
  void lowerOffload(OffloadOp offload);
  void lowerRelease(ReleaseOp release);
  void lowerReload(ReloadOp reload);
  void lowerRestore(RestoreOp restore);
  void postReduction(mlir::Operation *op);
  bool isSharded() const;
  mlir::Value atShard(const MemoryPlan::Param &entry, mlir::Value place);
  mlir::Value atShare(const MemoryPlan::Param &entry, mlir::Value place,
                      llvm::StringRef function);
  void lowerAdd(AddOp add);
  mlir::Value makeGradientList(mlir::ValueRange gradients);
  mlir::LogicalResult lowerSquaredNorm(SquaredNormOp op);
  void lowerGatherNorms(GatherNormsOp op);
  void lowerClip(ClipOp op);
  void lowerValidate(ValidateOp validate);
  /// Whether `op` is run again if updates were wrong and no step follows.
  bool isRedone(mlir::Operation *op) const;
  bool isOptimistic() const;
  mlir::LogicalResult lowerRedone();
  mlir::LogicalResult lowerUpdate(UpdateOp update);
  mlir::LogicalResult lowerAssign(AssignOp assign);
  void copy(mlir::Value target, mlir::Value source, mlir::Type type);
  void lowerUpdateOnHost(UpdateOp update, const MemoryPlan::Param &entry);
  void lowerUpdateOnDevice(UpdateOp update, const MemoryPlan::Param &entry);
  UpdateShape getUpdateShape(const MemoryPlan::Param &entry,
                             size_t numGradients);
  int64_t getSettingsOf(const MemoryPlan::Param &entry) const;
  mlir::Value getSettings(const MemoryPlan::Param &entry,
                          std::optional<uint64_t> microbatch);
  void lowerOwnUpdate(UpdateOp update, const MemoryPlan::Param &entry,
                      UpdateShape shape,
                      llvm::SmallVector<mlir::Value> arguments);
  void ifOwned(const MemoryPlan::Param &entry, llvm::function_ref<void()> body);
  mlir::Value lowerNormOnDevice(mlir::ValueRange gradients,
                                const MemoryPlan::Param &entry,
                                mlir::Value settings, bool areScattered);
  void addParts(SquaredNormOp op, const MemoryPlan::Param &entry);
  void lowerGatherNormsOnDevice(GatherNormsOp op);
  mlir::func::FuncOp getSumKernel(llvm::StringRef name, mlir::Type type,
                                  int64_t count, double ofX, double ofY);
  bool isMuon(UpdateOp update) const;
  mlir::LogicalResult verifyProducts(UpdateOp update);
  void lowerMuonStep(mlir::ShapedType matrix, const MuonPlaces &places);
  void lowerMuonOnDevice(UpdateOp update, const MemoryPlan::Param &entry,
                         const UpdateShape &shape,
                         llvm::ArrayRef<mlir::Value> settings);
  void lowerAdafactorOnDevice(UpdateOp update, const MemoryPlan::Param &entry,
                              const UpdateShape &shape,
                              llvm::ArrayRef<mlir::Value> settings);
  void lowerClipOnDevice(ClipOp op);
  void listSums();
  void setStream(int64_t stream);
  void forkStreams();
  void beginOnStream(mlir::Operation *op);
  void endOnStream(mlir::Operation *op);
  mlir::Value atSlice(mlir::Operation *op, unsigned argument,
                      mlir::Value source, int64_t bytes);
  mlir::Value onStack(mlir::Type type);
  /// The function `name`, on memrefs of one shape. `compute` gets an element of
  /// each input, and returns that of the last memref.
  mlir::func::FuncOp getElementwise(
      llvm::StringRef name, llvm::ArrayRef<mlir::Type> types,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                     mlir::ValueRange)>
          compute);
  mlir::func::FuncOp getAddFunction(mlir::MemRefType type);
  template <typename BodyT> void bracket(mlir::Operation *op, BodyT body);
  /// Emits the code of `body`, which must not use a new address in the arena. A
  /// void turn skips it.
  template <typename BodyT> void unlessVoid(BodyT body);

  PipelineTables &tables;
  const ChannelTable &channels;
  /// The pipeline's version for each length. Empty if there is only one length.
  llvm::ArrayRef<PipelineOp> versions;
  std::vector<EdgeTable> edgesAt;
  ProgramOp program;
  MemoryPlan plan;
  bool isOnDevice;
  mlir::SymbolTableCollection &symbols;
  mlir::ModuleOp module;
  mlir::SymbolTable &moduleSymbols;
  mlir::LLVMTypeConverter typeConverter;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type ptr;
  StepPart part = StepPart::Whole;
  mlir::Value rank, arena, batch;
  /// Addresses in the arena by offset, and memrefs by block, address and type.
  /// A step is one block, and uses each of them many times.
  llvm::DenseMap<int64_t, mlir::Value> places;
  llvm::DenseMap<std::tuple<mlir::Block *, mlir::Value, mlir::Type>,
                 mlir::Value>
      memrefs;
  int64_t currentStream = 0;
  /// The late updates and assignments of each parameter, and the number of late
  /// ops that are still to come.
  llvm::DenseMap<int64_t, llvm::SmallVector<mlir::Operation *>> lateUpdates;
  int64_t numLate = 0;
  /// The batch of this step while late ops are lowered.
  mlir::Value batchOfStep;
  /// After a pipe.validate: whether the last step's updates were right. Null if
  /// the turn cannot be void.
  mlir::Value isRight;
  llvm::DenseMap<mlir::Operation *, int64_t> timelineNumbers;
  /// The reduction that an op posts, if it is its last all-reduce, or waits
  /// for, if it is its first wait.
  llvm::DenseMap<mlir::Operation *, int64_t> reductionNumbers;
  /// The number of each offload, by chunk and microbatch.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t> offloadNumbers;
  /// The microbatches whose length has been determined.
  llvm::DenseSet<int64_t> knownLengths;
  /// The addresses of values that are not at a fixed place of the arena.
  llvm::DenseMap<mlir::Value, mlir::Value> addresses;
};

template <typename BodyT>
void StepWriter::bracket(mlir::Operation *op, BodyT body) {
  mlir::Value number = constant(timelineNumbers.lookup(op), 32);
  callRuntime("veeline_op_begin", {rank, number}, {});
  body();
  callRuntime("veeline_op_end", {rank, number}, {});
}

template <typename BodyT> void StepWriter::unlessVoid(BodyT body) {
  if (!isRight)
    return body();
  auto branch = mlir::scf::IfOp::create(builder, loc, isRight,
                                        /*withElseRegion=*/false);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_STEP_STEPWRITER_H
