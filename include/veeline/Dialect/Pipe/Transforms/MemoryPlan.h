//===- MemoryPlan.h - the layout of a rank's arena --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Base/Shards.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On an op of a program: the byte offset in the arena of each of its results.
/// It is -1 for a result without memory of its own, which is computed directly
/// into the receiver's memory, or stands for a parameter or an accumulator.
inline constexpr llvm::StringLiteral offsetsAttrName = "pipe.offsets";
/// On a work op: the byte offset of its workspace.
inline constexpr llvm::StringLiteral workspaceOffsetAttrName =
    "pipe.workspace_offset";
/// On a work op: the bytes of its workspace.
inline constexpr llvm::StringLiteral workspaceSizeAttrName =
    "pipe.workspace_size";

/// On a work op, for a GPU: for each argument of its function, the byte offset
/// of its copy; -1 if it is used in place.
inline constexpr llvm::StringLiteral sliceOffsetsAttrName =
    "pipe.slice_offsets";

/// On the declaration of a chunk function for a GPU, while its body is missing:
/// whether the body calls a library, and which globals it reads.
inline constexpr llvm::StringLiteral callsLibraryAttrName =
    "pipe.calls_library";
inline constexpr llvm::StringLiteral readsGlobalsAttrName =
    "pipe.reads_globals";

/// Whether a bufferized chunk function, or the function that a declaration
/// stands for, calls a library of products, convolutions or attention.
bool callsLibrary(mlir::func::FuncOp function);
/// The globals that such a function reads, as symbols, each once.
llvm::SmallVector<mlir::Attribute> getGlobals(mlir::func::FuncOp function);

/// The bytes of an optimiser's settings for one parameter, on a GPU.
inline constexpr int64_t gpuSettingsBytes = 256;
/// The numbers in such settings, each as a float and as a double.
inline constexpr int64_t gpuSettingsNumbers = 16;
/// The layout of a `veeline_clipping` of the runtime: the limits, then the
/// outcome. The settings that updates take follow it.
inline constexpr int64_t gpuClipLimits = 0, gpuClipOutcome = 256,
                         gpuClipSettings = 512;

/// The permanent parts of a rank's arena, and the arena's size. It is the
/// attribute `memory` of a program.
struct MemoryPlan {
  struct Param {
    int64_t param;
    int64_t value;
    /// The optimiser's state; -1 if there is none, or this rank does not update
    /// the parameter.
    int64_t state;
    int64_t stateBytes;
    bool isHome;
    /// Where an optimistic update keeps the old value, then the old state; or
    /// -1.
    int64_t kept = -1;
    /// In an asynchronous pipeline: older values.
    llvm::SmallVector<int64_t> versions = {};
    /// The member of the stage that makes the whole update, and has the state;
    /// -1 if each has its own, or a share.
    int64_t owner = -1;
  };
  struct Accumulator {
    int64_t param;
    int64_t chunk;
    int64_t offset;
  };
  /// A copy of a parameter in a narrower type.
  struct Rounded {
    int64_t param;
    mlir::Type element;
    int64_t offset;
    llvm::SmallVector<int64_t> versions = {}; ///< Copies of older values.
  };
  /// Contiguous accumulators, which are added up over the ranks of a stage as
  /// one.
  struct ReducedPiece {
    /// The reduction that it is part of (see `getReductions`).
    int64_t reduction;
    /// The first parameter of the piece; the others have its element type.
    int64_t param;
    int64_t offset;
    int64_t numElements;
    /// Where the contributions of the other ranks are, `stride` bytes apart.
    /// Rank k of d adds up the elements from n*k/d on, or where sums are
    /// scattered its `reducedElements`.
    int64_t buffer;
    int64_t stride;
  };
  /// A batch argument with all its microbatches, or a buffer of the model.
  struct Input {
    /// Batch arguments are numbered before buffers.
    int64_t input;
    int64_t offset;
    int64_t bytes;
  };
  /// Memory for a result of the model that is a tensor, for all microbatches.
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
  /// Parts that only a GPU needs.
  struct Device {
    llvm::SmallVector<Input> inputs; ///< Ascending.
    /// Copies of the previous step's inputs that late work reads. Ascending.
    llvm::SmallVector<Input> inputsBefore;
    llvm::SmallVector<Constant> constants; ///< Ascending.
    /// The workspace of the libraries; -1 if no function calls one. Each
    /// compute stream has an equal part of it.
    int64_t libraryOffset = -1;
    int64_t libraryBytes = 0;
    /// On a rank that updates parameters: the optimiser's settings; -1 on
    /// others. (`normsOffset` has `normParts` parts of a norm for each entry of
    /// `params`.)
    int64_t settingsOffset = -1;
    /// The number of settings for each parameter. Usually 1. If every
    /// microbatch updates, it is one for each microbatch. If gradients are
    /// clipped, the second one is for the case that the previous step changed
    /// nothing. The first settings of all entries of `params` come first, then
    /// all second ones.
    int64_t numSettings = 1;
    /// The clipping of gradients (`gpuClipLimits`); -1 if there is none.
    int64_t clipOffset = -1;
    /// The settings of the previous step, for late updates; -1 if there are
    /// none.
    int64_t settingsBeforeOffset = -1;
    int64_t normsOffset = -1;
    int64_t normParts = 0;
    Optimizer optimizer = Optimizer::adamw;
    bool errorFeedback = false; ///< The state ends with the previous update.
    /// Where the rank reports results of the model, 8 bytes for each result and
    /// microbatch; -1 if it reports none.
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

  /// The bytes of one setting for every parameter, and of all settings.
  int64_t getSettingsStride() const {
    return std::max<int64_t>(1, params.size()) * gpuSettingsBytes;
  }
  int64_t getSettingsBytes() const {
    return device->numSettings * getSettingsStride();
  }
  int64_t getClipBytes() const { return gpuClipSettings + getSettingsStride(); }

  int64_t arenaBytes = 0;
  /// The bytes of offloaded values in the host's memory. The offsets of
  /// pipe.offload are in this range.
  int64_t hostBytes = 0;
  /// The scratch memory of Muon updates, or -1.
  int64_t updateWorkspace = -1;
  int64_t updateWorkspaceBytes = 0;
  /// The largest sum of live bytes at any op.
  int64_t peakLiveBytes = 0;
  /// Ascending by parameter.
  llvm::SmallVector<Param> params;
  /// Ascending by (parameter, chunk); if several ranks add them up, by (chunk,
  /// parameter).
  llvm::SmallVector<Accumulator> accumulators;
  /// In the order of the functions that take them.
  llvm::SmallVector<Rounded> rounded;
  /// Ascending by reduction.
  llvm::SmallVector<ReducedPiece> reduced;
  /// The results that this rank computes. Ascending.
  llvm::SmallVector<Output> outputs;
  /// None in a plan for a CPU.
  std::optional<Device> device;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// The plan of `program`. Fails with a diagnostic if it has none.
  static mlir::FailureOr<MemoryPlan> get(ProgramOp program);

  /// These return null or none if this rank has no such parameter or
  /// accumulator.
  const Param *findParam(int64_t param) const;
  std::optional<int64_t> findAccumulator(int64_t param, int64_t chunk) const;
  const Rounded *findRounded(int64_t param, mlir::Type element) const;
};

/// Whether a result of the model is a tensor that the runtime reads after a
/// step. Other results are numbers that are reported to it.
bool isOutput(mlir::Type result);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_MEMORYPLAN_H
