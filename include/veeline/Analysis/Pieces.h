//===- Pieces.h - the smallest things that a cut can separate ---*- C++ -*-===//
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

/// Consecutive main ops of the model function, without marks; at least one.
struct Piece {
  llvm::SmallVector<mlir::Operation *> ops;
  /// Forward cost on one microbatch.
  OpCost cost;
  /// Bytes of the activations that cross the cut after this piece (0 for the
  /// last piece).
  uint64_t bytesAfter = 0;
};

/// The model function as a sequence of pieces in program order, which is a
/// topological one.
///
/// *Main* ops compute activations: they depend on parameters, if any is used,
/// and on batch arguments, or are contractions. All others (constants, masks,
/// positions, views of parameters) are *side* ops: they are repeated in every
/// chunk that uses them, never cut and never sent.
///
/// Where the function has `pipe.boundary` marks, pieces are what lies between
/// them; successive marks, one for each value that crosses, are one cut.
/// Without marks there is one candidate before the first contraction and one
/// between any two successive ones: the place where the fewest activations are
/// live (the last such place). Candidates that are local minima of that number
/// are cuts: the residual stream of a transformer is cut, the inside of an
/// attention block is not.
///
/// *Fine* pieces are for more chunks than that gives. Without marks they are
/// parts of those pieces, of as few ops as can be cut apart, and a few hundred
/// at most. What crosses a cut between them can be sent, and each has an op
/// through which a gradient flows from the loss to a parameter.
///
/// Linear in the number of ops and uses.
llvm::SmallVector<Piece> findPieces(mlir::func::FuncOp model,
                                    bool isFine = false);

/// How long each piece takes, in nanoseconds: by a machine's table, or by
/// default numbers where there is none.
std::vector<double> estimateNanoseconds(llvm::ArrayRef<Piece> pieces,
                                        const MachineTable *table);

/// Prints one line for each piece of `model`: its number (the unit of
/// `--partition`), main ops, forward MFLOPs, bytes moved, estimated
/// microseconds, bytes of the activations that cross a cut after it, and where
/// it begins; then the sums.
void printPieces(mlir::func::FuncOp model, llvm::raw_ostream &os, bool isFine,
                 const MachineTable *table);

/// The same as an array of JSON: of each piece `ops`, `flops`, `bytes_moved`,
/// `nanoseconds`, `bytes_crossing` and `begins_with`.
llvm::json::Array getPiecesAsJson(mlir::func::FuncOp model, bool isFine,
                                  const MachineTable *table);

} // namespace veeline

#endif // VEELINE_ANALYSIS_PIECES_H
