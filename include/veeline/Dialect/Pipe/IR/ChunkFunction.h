//===- ChunkFunction.h - what a chunk's functions take and give -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that belong to a chunk describe themselves: every argument and
// result carries a `#pipe.role`. This is the one place that reads and writes
// them.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H
#define VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On a bufferized function: how many of its arguments are out-parameters.
inline constexpr llvm::StringLiteral numResultsAttrName = "pipe.num_results";
/// On a bufferized function: the bytes of its workspace, and the largest sum
/// of bytes that are live in it at once.
inline constexpr llvm::StringLiteral workspaceBytesAttrName =
    "pipe.workspace_bytes";
inline constexpr llvm::StringLiteral workspacePeakAttrName =
    "pipe.workspace_peak_live_bytes";

/// The role of an argument or result, or null where it has none.
RoleAttr getArgRole(mlir::func::FuncOp func, unsigned index);
RoleAttr getResultRole(mlir::func::FuncOp func, unsigned index);

void setArgRole(mlir::func::FuncOp func, unsigned index, RoleKind kind,
                unsigned roleIndex);
void setResultRole(mlir::func::FuncOp func, unsigned index, RoleKind kind,
                   unsigned roleIndex);

/// The functions that `--pipe-differentiate`, `--pipe-split-recomputation` and
/// `--pipe-split-backward` make of a chunk.
enum class ChunkFunctionKind {
  Forward,
  Backward,
  BackwardInput,
  BackwardWeight,
  Recomputation
};
inline constexpr unsigned numChunkFunctionKinds = 5;

/// One tensor that a chunk's function takes or gives.
struct ChunkValue {
  RoleKind kind;
  unsigned index;
  mlir::RankedTensorType type;
  bool operator==(const ChunkValue &other) const {
    return kind == other.kind && index == other.index;
  }
};

/// What a function of a chunk takes and gives, in order.
struct ChunkSignature {
  llvm::SmallVector<ChunkValue> arguments;
  llvm::SmallVector<ChunkValue> results;
};

/// Reads the roles of `func`. Fails with a diagnostic at the function where an
/// argument or result has none, or where two have the same one.
mlir::FailureOr<ChunkSignature> getChunkSignature(mlir::func::FuncOp func);

/// True for the operand of `chunk` that is a parameter, a batch argument or a
/// buffer: it is implied by the chunk and never an SSA value of a program.
bool isImplied(ChunkOp chunk, const ChunkValue &value);

/// The arguments (or results) of a function of `chunk` that are SSA values of a
/// program, in order: all but implied operands and parameter gradients.
llvm::SmallVector<ChunkValue> getCarried(ChunkOp chunk,
                                         llvm::ArrayRef<ChunkValue> values);

/// The attribute of `chunk` that names its function of `kind`, or null.
mlir::FlatSymbolRefAttr getFunctionName(ChunkOp chunk, ChunkFunctionKind kind);

/// The function itself, or null where the chunk has none.
mlir::func::FuncOp getFunction(mlir::SymbolTableCollection &symbols,
                               ChunkOp chunk, ChunkFunctionKind kind);

/// The functions of `module` that compute gradients, by chunk: the fused
/// backward, its two halves and the recomputation, those that there are. A
/// function of several chunks is listed for the first of them only.
llvm::SmallVector<llvm::SmallVector<mlir::func::FuncOp>>
getBackwardFunctions(mlir::ModuleOp module);

/// `forward`, `backward`, `backward_input`, `backward_weight`, `recomputation`.
llvm::StringRef getName(ChunkFunctionKind kind);

/// `location`, marked as that of the computation with this number in a chunk.
/// The mark stays on its clones in the chunk's functions, and on what becomes
/// of these. So ops are known to be the same computation where nothing else
/// shows it.
mlir::Location markComputation(mlir::Location location, int64_t number);

/// The location of part `part` of an op at `location` that becomes several
/// computations. Where the op has a number, up to `maxParts` numbers from there
/// on are those of its parts.
constexpr int64_t maxParts = 8;
mlir::Location markPart(mlir::Location location, int64_t part);

/// The number of the computation that `location` is of, if it has one.
std::optional<int64_t> getComputation(mlir::Location location);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H
