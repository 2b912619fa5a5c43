//===- ChunkFunction.h - the functions of a chunk ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a chunk describe themselves: every argument and result has a
// `#pipe.role`. All code that reads or writes roles uses this header.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H
#define VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On a bufferized function: the number of its out-parameters.
inline constexpr llvm::StringLiteral numResultsAttrName = "pipe.num_results";
/// On a bufferized function: the bytes of its workspace, and the largest number
/// of bytes that are live in it at once.
inline constexpr llvm::StringLiteral workspaceBytesAttrName =
    "pipe.workspace_bytes";
inline constexpr llvm::StringLiteral workspacePeakAttrName =
    "pipe.workspace_peak_live_bytes";

/// The role of an argument or result, or null if it has none.
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

/// An argument or result of a chunk's function.
struct ChunkValue {
  RoleKind kind;
  unsigned index;
  mlir::RankedTensorType type;
  bool operator==(const ChunkValue &other) const {
    return kind == other.kind && index == other.index;
  }
};

/// The arguments and results of a function of a chunk, in order.
struct ChunkSignature {
  llvm::SmallVector<ChunkValue> arguments;
  llvm::SmallVector<ChunkValue> results;
};

/// Reads the roles of `func`. Fails with a diagnostic at the function if an
/// argument or result has no role, or if two have the same one.
mlir::FailureOr<ChunkSignature> getChunkSignature(mlir::func::FuncOp func);

/// True if `value` is an operand of `chunk` that is a parameter, a batch
/// argument or a buffer. The chunk implies it; it is never an SSA value of a
/// program.
bool isImplied(ChunkOp chunk, const ChunkValue &value);

/// The arguments (or results) of a function of `chunk` that are SSA values of a
/// program, in order: all except implied operands and parameter gradients.
llvm::SmallVector<ChunkValue> getCarried(ChunkOp chunk,
                                         llvm::ArrayRef<ChunkValue> values);

/// The attribute of `chunk` that names its function of `kind`, or null.
mlir::FlatSymbolRefAttr getFunctionName(ChunkOp chunk, ChunkFunctionKind kind);

/// The function itself, or null if the chunk has none.
mlir::func::FuncOp getFunction(mlir::SymbolTableCollection &symbols,
                               ChunkOp chunk, ChunkFunctionKind kind);

/// The existing functions of `module` that compute gradients, by chunk: the
/// fused backward, its two halves and the recomputation. A function of several
/// chunks is listed only for the first of them.
llvm::SmallVector<llvm::SmallVector<mlir::func::FuncOp>>
getBackwardFunctions(mlir::ModuleOp module);

/// `forward`, `backward`, `backward_input`, `backward_weight`, `recomputation`.
llvm::StringRef getName(ChunkFunctionKind kind);

/// Marks `location` with the number of a computation in a chunk. Clones in the
/// chunk's functions, and ops that they are lowered to, keep the mark. So ops
/// of different functions can be recognised as the same computation.
mlir::Location markComputation(mlir::Location location, int64_t number);

/// The location of part `part` of an op at `location` that is lowered to
/// several computations. If the op has number n, its parts have the numbers n
/// to n + `maxParts` - 1.
constexpr int64_t maxParts = 8;
mlir::Location markPart(mlir::Location location, int64_t part);

/// The number of the computation of `location`, if it is marked.
std::optional<int64_t> getComputation(mlir::Location location);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_CHUNKFUNCTION_H
