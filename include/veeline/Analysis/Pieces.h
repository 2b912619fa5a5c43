//===- Pieces.h - the smallest parts that cuts can separate -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_PIECES_H
#define VEELINE_ANALYSIS_PIECES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Analysis/CostModel.h"
#include "llvm/Support/JSON.h"

namespace veeline {

struct MachineTable;

/// A piece: consecutive main ops of the model function, without marks; at least
/// one.
struct Piece {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Forward cost on one microbatch.
  OpCost cost;
  /// The bytes of the activations that cross the cut after this piece; 0 for
  /// the last piece.
  uint64_t bytesAfter = 0;
};

/// Divides the model function into a sequence of pieces, in program order,
/// which is a topological order.
///
/// *Main* ops compute activations. They depend on batch arguments and, if any
/// parameter is used, on parameters, or they are contractions. All others
/// (constants, masks, positions, views of parameters) are *side* ops. Each
/// chunk repeats the side ops that it uses; they are never cut and never sent.
///
/// With `pipe.boundary` marks, pieces are the parts between them. Successive
/// marks, one for each value that crosses, are one cut. Without marks there is
/// one candidate before the first contraction, and one between any two
/// successive contractions: the last place where the fewest activations are
/// live. Candidates that are local minima of that number are cuts. So the
/// residual stream of a transformer is cut, and the inside of an attention
/// block is not.
///
/// *Fine* pieces (`isFine`) are for more chunks than that. Without marks they
/// divide those pieces into parts with as few ops as possible, a few hundred
/// parts at most. Values that cross a cut between fine pieces can be sent. Each
/// fine piece has an op through which a gradient flows from the loss to a
/// parameter.
///
/// Linear in the number of ops and uses.
llvm::SmallVector<Piece> findPieces(mlir::func::FuncOp model,
                                    bool isFine = false);

/// The time of each piece in nanoseconds, by a machine's table or, if there is
/// none, by default numbers.
std::vector<double> estimateNanoseconds(llvm::ArrayRef<Piece> pieces,
                                        const MachineTable *table);

/// Prints a line for each piece of `model`, then the sums. A line has the
/// piece's number (the unit of `--partition`), main ops, forward MFLOPs, bytes
/// moved, estimated microseconds, the bytes of the activations that cross a cut
/// after it, and the place where it begins.
void printPieces(mlir::func::FuncOp model, llvm::raw_ostream &os, bool isFine,
                 const MachineTable *table);

/// The same as a JSON array. Each piece has `ops`, `flops`, `bytes_moved`,
/// `nanoseconds`, `bytes_crossing` and `begins_with`.
llvm::json::Array getPiecesAsJson(mlir::func::FuncOp model, bool isFine,
                                  const MachineTable *table);

} // namespace veeline

#endif // VEELINE_ANALYSIS_PIECES_H
