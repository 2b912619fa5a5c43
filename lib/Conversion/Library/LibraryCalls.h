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

/// The calls of one function in a module, and the table of their entries, an
/// attribute of the module.
class LibraryCalls {
public:
  LibraryCalls(mlir::ModuleOp module, llvm::StringRef function,
               llvm::StringRef table);

  /// Inserts `function(rank, index of entry, a, b, c, scratch)`.
  void emit(mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value rank,
            mlir::DictionaryAttr entry, uint64_t scratchBytes,
            const NestAccess &a, const NestAccess &b, const NestAccess &c);
  /// The entry of `call` if it calls the function, or one of those with an
  /// epilogue; else null.
  mlir::DictionaryAttr getEntry(mlir::func::CallOp call) const;
  /// Replaces `call` by one that has `entry` and writes `target`. With a `bias`
  /// (`call` has none yet) it calls `function`_bias, with an `aux`
  /// `function`_aux.
  mlir::func::CallOp redirect(mlir::RewriterBase &rewriter,
                              mlir::func::CallOp call,
                              mlir::DictionaryAttr entry, mlir::Value target,
                              mlir::Value bias, mlir::Value aux = {},
                              bool readsAux = false);
  /// Inserts `name(rank, index of entry, operands..., scratch)`; an operand
  /// without a base is null.
  struct Operand {
    NestAccess access;
    bool readsOnly = true;
  };
  void emit(mlir::RewriterBase &rewriter, mlir::Location loc,
            llvm::StringRef name, mlir::Value rank, mlir::DictionaryAttr entry,
            uint64_t scratchBytes, llvm::ArrayRef<Operand> operands);
  /// Inserts `name(operands...)`, whose second operand becomes the index of
  /// entry; the others are pointers.
  void emitWith(mlir::RewriterBase &rewriter, mlir::Location loc,
                llvm::StringRef name, mlir::DictionaryAttr entry,
                llvm::SmallVector<mlir::Value> operands);
  /// Inserts `question(rank, index of entry)`, which returns an i32, and two
  /// branches: for an answer that is not 0, and for 0.
  mlir::scf::IfOp ask(mlir::RewriterBase &rewriter, mlir::Location loc,
                      mlir::Value rank, mlir::DictionaryAttr entry,
                      llvm::StringRef question);
  /// Writes the table.
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

/// Makes the base of `access` a buffer or, where its place in one is not
/// static, leaves the view. False where a call cannot start there.
bool findPlace(NestAccess &access);

/// True if elements lie without gaps in the order of dimensions. A library is
/// called on such operands alone: which implementation it chooses must not
/// depend on what is around the op.
bool isDense(mlir::MemRefType type);

/// Copies a buffer to another one of its shape. Floats are rounded or extended.
void copyElements(mlir::RewriterBase &rewriter, mlir::Location loc,
                  mlir::Value from, mlir::Value to);

/// A copy of `memref` in a dense buffer of its own, before `op`.
mlir::Value copyToBuffer(mlir::RewriterBase &rewriter, mlir::Operation *op,
                         mlir::Value memref);

/// `memref`, or a copy of it that is dense, before `op`.
mlir::Value copyUnlessDense(mlir::RewriterBase &rewriter, mlir::Operation *op,
                            mlir::Value memref);

/// Makes `op` write a dense temporary, and copies that to the result. `op`
/// overwrites its result.
void redirectToBuffer(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// The same where the result is not dense.
void makeResultDense(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// Removes the zeros that `op` adds to, since a call overwrites its result.
/// False where it adds to something else.
bool removeZeros(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// accumulator += value, elementwise; a sum of wider values is rounded once.
void addTo(mlir::RewriterBase &rewriter, mlir::Location loc,
           mlir::Value accumulator, mlir::Value value);

/// True where the result of a product of floats has fewer bits than its sum.
bool isSummedWider(mlir::linalg::GenericOp op);

/// Makes `op` write its sum, not rounded, to a temporary, and returns the op
/// that does.
mlir::linalg::GenericOp redirectToTemporary(mlir::RewriterBase &rewriter,
                                            mlir::linalg::GenericOp op);

/// Makes `op`, a product of small floats that stays a loop, add up in f32 and
/// round once.
void sumWider(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// The nest of `op` if all it does is to move elements.
std::optional<LoopNest> matchCopy(mlir::Operation *op);

/// Removes copies that nothing reads any more.
void removeDeadCopies(mlir::RewriterBase &rewriter,
                      mlir::func::FuncOp function);

/// True if one of `ops` stands between `begin` and `end`.
bool anyBetween(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *begin,
                mlir::Operation *end);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H
