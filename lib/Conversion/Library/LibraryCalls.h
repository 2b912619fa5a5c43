//===- LibraryCalls.h - calls of the runtime's library ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common parts of matrix products, convolutions and attention: a function of
// the runtime computes some operands from others, as an entry of a table
// describes. It overwrites its results.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H

#include "Kernels/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace veeline {

/// The calls of one runtime function in a module, and the table of their
/// entries, which is an attribute of the module.
class LibraryCalls {
public:
  LibraryCalls(mlir::ModuleOp module, llvm::StringRef function,
               llvm::StringRef table);

  /// Inserts `function(rank, index of entry, a, b, c, scratch)`.
  void emit(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rank,
            mlir::DictionaryAttr entry, uint64_t scratchBytes,
            const NestAccess &a, const NestAccess &b, const NestAccess &c);
  /// The entry of `call` if that is a call of the function or of a variant with
  /// an epilogue, else null.
  mlir::DictionaryAttr getEntry(mlir::func::CallOp call) const;
  /// Replaces `call` by a call with `entry` that writes `target`. With a `bias`
  /// (`call` must have none), it calls `function`_bias; with an `aux`,
  /// `function`_aux.
  mlir::func::CallOp redirect(mlir::RewriterBase &rewriter,
                              mlir::func::CallOp call,
                              mlir::DictionaryAttr entry, mlir::Value target,
                              mlir::Value bias, mlir::Value aux = {},
                              bool readsAux = false);
  /// Inserts `name(rank, index of entry, operands..., scratch)`. An operand
  /// without a base is passed as null.
  struct Operand {
    NestAccess access;
    bool readsOnly = true;
  };
  void emit(mlir::RewriterBase &rewriter, mlir::Location loc,
            llvm::StringRef name, mlir::Value rank, mlir::DictionaryAttr entry,
            uint64_t scratchBytes, llvm::ArrayRef<Operand> operands);
  /// Inserts `name(operands...)`. The second operand becomes the index of the
  /// entry; the others are pointers.
  void emitWith(mlir::RewriterBase &rewriter, mlir::Location loc,
                llvm::StringRef name, mlir::DictionaryAttr entry,
                llvm::SmallVector<mlir::Value> operands);
  /// Inserts `question(rank, index of entry)`, which returns an i32, and a
  /// branch on whether the answer is not 0.
  mlir::scf::IfOp ask(mlir::RewriterBase &rewriter, mlir::Location loc,
                      mlir::Value rank, mlir::DictionaryAttr entry,
                      llvm::StringRef question);
  /// Writes the table to the module.
  void finish();

private:
  int64_t getIndex(mlir::Attribute entry) {
    auto [it, isNew] = indices.try_emplace(entry, entries.size());
    if (isNew)
      entries.push_back(entry);
    return it->second;
  }
  void declare(llvm::StringRef name, unsigned numPointers,
               mlir::TypeRange results = {});

  mlir::ModuleOp module;
  llvm::StringRef function, table;
  llvm::SmallVector<mlir::Attribute> entries;
  llvm::DenseMap<mlir::Attribute, int64_t> indices;
};

/// Makes the base of `access` a buffer. If its place in a buffer is not static,
/// the base stays a view. Returns false if a call cannot start there.
bool findPlace(NestAccess &access);

/// True if elements are adjacent in the order of dimensions. Libraries are
/// called only on such operands, because the implementation that a library
/// chooses must not depend on what surrounds the op.
bool isDense(mlir::MemRefType type);

/// Copies a buffer to another one of the same shape. Floats are rounded or
/// extended.
void copyElements(mlir::RewriterBase &rewriter, mlir::Location loc,
                  mlir::Value from, mlir::Value to);

/// Copies `memref` to a dense buffer of its own, before `op`.
mlir::Value copyToBuffer(mlir::RewriterBase &rewriter, mlir::Operation *op,
                         mlir::Value memref);

/// `memref` if it is dense, else a dense copy of it, before `op`.
mlir::Value copyUnlessDense(mlir::RewriterBase &rewriter, mlir::Operation *op,
                            mlir::Value memref);

/// Makes `op`, which overwrites its result, write a dense temporary, and copies
/// that to the result.
void redirectToBuffer(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Calls redirectToBuffer if the result of `op` is not dense.
void makeResultDense(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Removes the fill with zeros that `op` adds to, because a call overwrites its
/// result. Returns false if `op` adds to something else.
bool removeZeros(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Emits accumulator += value, elementwise. If values are wider, the sum is
/// rounded once.
void addTo(mlir::RewriterBase &rewriter, mlir::Location loc,
           mlir::Value accumulator, mlir::Value value);

/// True if the result of a product of floats has fewer bits than its sum.
bool isSummedWider(mlir::linalg::GenericOp op);

/// Makes `op` write its sum, not rounded, to a temporary. Returns the op that
/// does so.
mlir::linalg::GenericOp redirectToTemporary(mlir::RewriterBase &rewriter,
                                            mlir::linalg::GenericOp op);

/// Makes `op`, a product of small floats that becomes a loop, sum in f32 and
/// round once.
void sumWider(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// The nest of `op` if it only moves elements.
std::optional<LoopNest> matchCopy(mlir::Operation *op);

/// Removes copies that nothing reads any more.
void removeDeadCopies(mlir::RewriterBase &rewriter,
                      mlir::func::FuncOp function);

/// True if one of `ops` is between `begin` and `end`.
bool anyBetween(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *begin,
                mlir::Operation *end);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H
