//===- MatrixUnit.h - products of tiles -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_GPU_MATRIXUNIT_H
#define VEELINE_LIB_CONVERSION_GPU_MATRIXUNIT_H

#include "TileCode.h"

namespace veeline {

/// Multiplies tiles in a warp. Sums are in f32, over the depth in ascending
/// order: in steps of 16 (f16 and bf16) or 8 (tf32) on tensor cores, or one by
/// one (f32).
class MatrixUnit {
public:
  virtual ~MatrixUnit() = default;

  /// The unit for the element type of the tiles. With `tf32`, numbers of f32
  /// may be rounded to tf32 before they are multiplied.
  static std::unique_ptr<MatrixUnit> get(TileCode &tiles, bool tf32);

  /// The left operand of a product: the warp's 16 rows of a tile.
  struct Left {
    TileStage stage;
    /// The rows in registers, if they have been loaded.
    llvm::SmallVector<mlir::Value> registers;
  };
  /// Loads the rows once for several products, if the unit has registers for
  /// them.
  virtual void preload(Left &) {}

  /// Adds left times the transpose of right to `sums`: it multiplies rows of
  /// one tile with rows of the other.
  virtual void multiplyRows(Fragments &sums, const Left &left,
                            const TileStage &right) = 0;
  /// Adds left times right to `sums`. Left is in registers of the warp, and has
  /// as many columns as right has rows.
  virtual void multiply(Fragments &sums, llvm::ArrayRef<mlir::Value> left,
                        const TileStage &right) = 0;
  virtual bool hasTensorCores() const = 0;
  /// 2 to the power of `x`.
  virtual mlir::Value exp2(mlir::Value x) = 0;
};

/// Creates a unit that uses tensor cores.
std::unique_ptr<MatrixUnit> createTensorUnit(TileCode &tiles);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_GPU_MATRIXUNIT_H
