//===- MemoryPlan.h - where everything of a rank lives ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On an op of a program: the byte offset in the arena of each of its results,
/// -1 for a result without memory of its own: one that is computed straight
/// into the receiver's, or that stands for a parameter or an accumulator.
inline constexpr llvm::StringLiteral offsetsAttrName = "pipe.offsets";
/// On a work op: the byte offset of its workspace.
inline constexpr llvm::StringLiteral workspaceOffsetAttrName =
    "pipe.workspace_offset";
/// On a work op: the bytes of its workspace.
inline constexpr llvm::StringLiteral workspaceSizeAttrName =
    "pipe.workspace_size";

/// On a work op, for a GPU: for each argument of its function the byte offset
/// of its copy, -1 for one that is used where it is.
inline constexpr llvm::StringLiteral sliceOffsetsAttrName =
    "pipe.slice_offsets";

/// On the declaration of a chunk function for a GPU, while bodies are not
/// there: whether the body calls the library, and which globals it reads.
inline constexpr llvm::StringLiteral callsLibraryAttrName =
    "pipe.calls_library";
inline constexpr llvm::StringLiteral readsGlobalsAttrName =
    "pipe.reads_globals";

/// Whether a bufferized chunk function, or the one that a declaration stands
/// for, calls a library of products, convolutions or attention.
bool callsLibrary(mlir::func::FuncOp function);
/// The globals that it reads, as symbols, each once.
llvm::SmallVector<mlir::Attribute> getGlobals(mlir::func::FuncOp function);

/// Bytes of the settings of an optimiser on a GPU, for one parameter.
inline constexpr int64_t gpuSettingsBytes = 256;
/// Its numbers, each as a float and as a double.
inline constexpr int64_t gpuSettingsNumbers = 16;
/// A veeline_clipping of the runtime: the limits, then what came of them. The
/// settings that updates take follow it.
inline constexpr int64_t gpuClipLimits = 0, gpuClipOutcome = 256,
                         gpuClipSettings = 512;

/// What lives in an arena throughout, and how large it is. The attribute
/// `memory` of a program.
struct MemoryPlan {
  struct Param {
    int64_t param;
    int64_t value;
    /// The optimiser's state, or -1 where this rank does not update it or there
    /// is none.
    int64_t state;
    int64_t stateBytes;
    bool isHome;
    /// Where an optimistic update keeps the value, then the state; or -1.
    int64_t kept = -1;
    /// Of an asynchronous pipeline: older values.
    llvm::SmallVector<int64_t> versions = {};
  };
  struct Accumulator {
    int64_t param;
    int64_t chunk;
    int64_t offset;
  };
  /// A parameter in a narrower type.
  struct Rounded {
    int64_t param;
    mlir::Type element;
    int64_t offset;
    llvm::SmallVector<int64_t> versions = {}; ///< Of older values.
  };
  /// Accumulators without a gap between them, which are added up over the ranks
  /// of a stage as one.
  struct ReducedPiece {
    /// The reduction that it is part of (see `getReductions`).
    int64_t reduction;
    /// The first parameter of the piece; the others have its element type.
    int64_t param;
    int64_t offset;
    int64_t numElements;
    /// Where the contributions of each other rank lie, `stride` bytes apart.
    /// Rank k of d adds up the elements from n*k/d on.
    int64_t buffer;
    int64_t stride;
  };
  /// A batch argument with all its microbatches, or a buffer.
  struct Input {
    /// Batch arguments are counted before buffers.
    int64_t input;
    int64_t offset;
    int64_t bytes;
  };
  /// Room for a result of the model that is a tensor, of all microbatches.
  struct Output {
    int64_t result;
    int64_t offset;
    int64_t bytes;
  };
  struct Constant {
    /// The position in the module's list of constants.
    int64_t constant;
    int64_t offset;
    int64_t bytes;
  };
  /// What a GPU needs of its own.
  struct Device {
    llvm::SmallVector<Input> inputs; ///< Ascending.
    /// Copies of those that late work reads, of the step before. Ascending.
    llvm::SmallVector<Input> inputsBefore;
    llvm::SmallVector<Constant> constants; ///< Ascending.
    /// The workspace of the libraries, -1 where no function calls one. Each
    /// compute stream has an equal part of it.
    int64_t libraryOffset = -1;
    int64_t libraryBytes = 0;
    /// Where parameters are updated: the optimiser's settings, and `normParts`
    /// parts of a norm for each entry of `params`. Else -1.
    int64_t settingsOffset = -1;
    /// How many settings there are for each parameter: one for each of the
    /// updates of a microbatch, or, where gradients are clipped, a second one
    /// for when the step before changed nothing. The first ones of all entries
    /// of `params` are together, then the second ones.
    int64_t numSettings = 1;
    /// What gradients are clipped by, else -1.
    int64_t clipOffset = -1;
    /// Those of the step before, for late updates; else -1.
    int64_t settingsBeforeOffset = -1;
    int64_t normsOffset = -1;
    int64_t normParts = 0;
    Optimizer optimizer = Optimizer::adamw;
    bool errorFeedback = false; ///< The state ends with the update before.
    /// Where the rank reports results of the model: 8 bytes for each result and
    /// microbatch. Else -1.
    int64_t resultsOffset = -1;
    int64_t resultBytes = 0;
    /// The compute streams and events that the plan is for (StreamOrder.h).
    int64_t streams = 1;
    int64_t events = 0;

    /// The bytes of the norms of `numParams` parameters.
    int64_t getNormBytes(size_t numParams) const {
      return normParts * static_cast<int64_t>(numParams * sizeof(double));
    }
  };

  /// The bytes of one settings for each parameter, and of all.
  int64_t getSettingsStride() const {
    return std::max<int64_t>(1, params.size()) * gpuSettingsBytes;
  }
  int64_t getSettingsBytes() const {
    return device->numSettings * getSettingsStride();
  }
  int64_t getClipBytes() const { return gpuClipSettings + getSettingsStride(); }

  int64_t arenaBytes = 0;
  /// Of what the rank offloads, in the host's memory, where the offsets of
  /// pipe.offload lie.
  int64_t hostBytes = 0;
  /// Where Muon updates work, or -1.
  int64_t updateWorkspace = -1;
  int64_t updateWorkspaceBytes = 0;
  /// The largest sum of live bytes at any op.
  int64_t peakLiveBytes = 0;
  /// Ascending by parameter.
  llvm::SmallVector<Param> params;
  /// Ascending by (parameter, chunk); where several ranks add them up by
  /// (chunk, parameter).
  llvm::SmallVector<Accumulator> accumulators;
  /// In order of the functions that take them.
  llvm::SmallVector<Rounded> rounded;
  /// Ascending by reduction.
  llvm::SmallVector<ReducedPiece> reduced;
  /// Of the results that this rank computes. Ascending.
  llvm::SmallVector<Output> outputs;
  /// None where the plan is for a CPU.
  std::optional<Device> device;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Fails where `program` has no plan, with a diagnostic that says so.
  static mlir::FailureOr<MemoryPlan> get(ProgramOp program);

  /// None where this rank has no such parameter or accumulator.
  const Param *findParam(int64_t param) const;
  std::optional<int64_t> findAccumulator(int64_t param, int64_t chunk) const;
  const Rounded *findRounded(int64_t param, mlir::Type element) const;
};

/// Whether a result of the model is a tensor that the runtime reads after a
/// step, and no number that it is told.
bool isOutput(mlir::Type result);

/// The number of parts in which a GPU adds up the norm of a gradient: a divisor
/// of `numElements`, so that parts have one size.
int64_t getNormParts(int64_t numElements);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H
