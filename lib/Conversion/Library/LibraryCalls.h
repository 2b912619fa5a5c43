//===- LibraryCalls.h - calls of the runtime's library ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What matrix products, convolutions and attention have in common: a function
// of the runtime computes operands from others, as an entry of a table says,
// and overwrites what was there.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H
#define VEELINE_LIB_CONVERSION_LIBRARY_LIBRARYCALLS_H

#include "Kernels/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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
  /// The entry of `call`, one of those, or of the functions with an epilogue;
  /// null where it is none.
  mlir::DictionaryAttr getEntry(mlir::func::CallOp call) const;
  /// Replaces `call`, one of those, by one that has `target` as its result and
  /// `entry`. With a `bias` (where it has none yet) it calls `function`_bias,
  /// with an `aux` function`_aux`.
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
  /// Inserts `question(rank, index of entry)`, which returns an i32.
  mlir::Value ask(mlir::RewriterBase &rewriter, mlir::Location loc,
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

/// True for a part of a buffer without gaps, in the order of its dimensions. A
/// library is called on nothing else: which of its implementations computes
/// something must not depend on what is around the op.
bool isDense(mlir::MemRefType type);

/// `memref`, or a copy of it that is dense, before `op`.
mlir::Value copyUnlessDense(mlir::RewriterBase &rewriter, mlir::Operation *op,
                            mlir::Value memref);

/// Has the result of `op`, which overwrites it, in such a part, and copies it
/// from there.
void makeResultDense(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// A call overwrites its result: removes the zeros that `op` adds to. False
/// where something else is there.
bool removeZeros(mlir::RewriterBase &rewriter, mlir::linalg::GenericOp op);

/// accumulator += value, elementwise; a sum of wider values is rounded once.
void addTo(mlir::RewriterBase &rewriter, mlir::Location loc,
           mlir::Value accumulator, mlir::Value value);

/// True where the result of a product of floats has fewer bits than its sum.
bool isSummedWider(mlir::linalg::GenericOp op);

/// Gives the sum of `op` a temporary that is not rounded, and returns the op
/// that writes it.
mlir::linalg::GenericOp redirectToTemporary(mlir::RewriterBase &rewriter,
                                            mlir::linalg::GenericOp op);

/// Has `op`, a product of small floats that stays a loop, add up in f32 and
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
