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

/// What the products of a model reveal about an argument.
enum class Role { Unknown, Data, Weight };

/// Distinguishes weights from data if both are arguments and their dimensions
/// do not tell. Linear in the ops that arguments reach by views, and in those
/// of the model.
class RoleFinder {
public:
  explicit RoleFinder(mlir::func::FuncOp model);

  /// Whether some argument is certainly a weight: its leading dimension is not
  /// that of data, and it, or a value computed from it, is the right factor of
  /// a product whose left factor depends on data. `batch` is 0 if the result
  /// has none.
  bool hasWeights(int64_t batch) const;

  /// Finds weights and data among the arguments whose leading dimension is
  /// `batch`. A weight is a table of which rows are looked up, or the right
  /// factor of a product whose left factor depends on data.
  void findWeights(int64_t batch);

  /// Finds the batch of a model that returns its own scalar loss, which has no
  /// dimension of samples. It is the leading dimension of left factors in
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

  /// Mutable, because handles of ops have no const accessors.
  mutable mlir::func::FuncOp model;
  llvm::SmallVector<Uses> uses;
  llvm::SmallVector<Role> roles;
  /// For each operand of a product, the argument that it is a view of.
  llvm::DenseMap<mlir::OpOperand *, unsigned> viewed;
};

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_ROLES_H
