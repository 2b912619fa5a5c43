//===- Roles.h - finding data arguments by their uses -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_ROLES_H
#define VEELINE_LIB_IMPORT_ROLES_H

#include "Uses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace veeline {

/// What the products of a model say about an argument.
enum class Role { Unknown, Data, Weight };

/// Tells weights from data in a model whose weights are arguments, where
/// dimensions alone do not. Linear in the ops that arguments reach by views,
/// and in those of the model.
class RoleFinder {
public:
  explicit RoleFinder(mlir::func::FuncOp model);

  /// Whether some argument is certainly a weight. Its leading dimension is not
  /// that of data, and a value that depends on data is multiplied from the left
  /// with it, or with a value made of it. `batch` is 0 if the result has none.
  bool hasWeights(int64_t batch) const;

  /// Finds weights and data among the arguments whose leading dimension is
  /// `batch`. Weights are looked up, or are right operands of products whose
  /// left operand depends on data.
  void findWeights(int64_t batch);

  /// For a model that returns its own scalar loss, which has no dimension of
  /// samples. Returns the batch: the leading dimension of left operands of
  /// products with other arguments. Fails with a diagnostic if the uses do not
  /// tell.
  mlir::FailureOr<int64_t> findBatch(llvm::ArrayRef<std::string> names);

  Role getRole(unsigned argument) const { return roles[argument]; }

private:
  bool isSettled(unsigned argument) const;
  bool isOpen(unsigned argument) const;
  bool isRight(unsigned argument) const;
  bool isLeft(unsigned argument) const;
  bool isAsLongAs(unsigned argument, int64_t batch) const;
  bool isTimeMajor(unsigned argument, int64_t batch) const;
  bool isOfSamples(unsigned argument, int64_t batch) const;
  bool isTableOfRows(unsigned argument) const;
  bool isRightOf(unsigned argument,
                 const llvm::DenseSet<mlir::Value> &dependent) const;
  llvm::SmallVector<unsigned> findData(int64_t batch) const;
  llvm::SmallVector<unsigned> findSeeds() const;
  mlir::LogicalResult decide(unsigned argument, int64_t batch,
                             llvm::StringRef name);
  mlir::InFlightDiagnostic refuse() const;

  /// Handles of ops have no const accessors.
  mutable mlir::func::FuncOp model;
  llvm::SmallVector<Uses> uses;
  llvm::SmallVector<Role> roles;
  /// The argument that each operand of a product is a view of.
  llvm::DenseMap<mlir::OpOperand *, unsigned> viewed;
};

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ROLES_H
