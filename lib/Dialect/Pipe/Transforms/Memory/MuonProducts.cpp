//===- MuonProducts.cpp - Muon's updates on a GPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/MuonProducts.h"

#include "mlir/IR/Builders.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

static constexpr int64_t alignment = getArenaAlignment(KernelTarget::Cuda);

static int64_t getSmallSide(ShapedType matrix) {
  return std::min(matrix.getDimSize(0), matrix.getDimSize(1));
}

MuonPlaces::MuonPlaces(ShapedType matrix, int64_t workspace, int64_t state)
    : bytes(0) {
  auto reserve = [&](int64_t size) {
    int64_t place = workspace + bytes;
    bytes += llvm::alignTo(size, alignment);
    return place;
  };
  int64_t all = getByteSize(matrix), small = getSmallSide(matrix);
  int64_t square = small * small * (matrix.getElementTypeBitWidth() / 8);
  x = all % alignment == 0 ? state + all : reserve(all);
  gram = reserve(square);
  this->square = reserve(square);
  applied = reserve(all);
  parts = reserve(normParts(matrix.getNumElements()) *
                  static_cast<int64_t>(sizeof(double)));
  sum = reserve(sizeof(double));
}

/// An entry of the table of products, as GemmDesc (veeline/Conversion/Gemm.h)
/// reads it. All strides are in elements.
static DictionaryAttr getProduct(Type type, int64_t m, int64_t n, int64_t k,
                                 ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Builder builder(type.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  };
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("dtype", TypeAttr::get(type)), list("batch", {}),
       number("m", m), number("n", n), number("k", k), list("a_strides", a),
       list("b_strides", b), list("c_strides", {n, 1}),
       number("scratch_bytes", 0), number("alignment", alignment)});
}

MuonProducts::MuonProducts(ShapedType matrix) {
  Type type = matrix.getElementType();
  int64_t rows = matrix.getDimSize(0), columns = matrix.getDimSize(1);
  int64_t small = getSmallSide(matrix), large = std::max(rows, columns);
  isWide = rows <= columns;
  int64_t x[] = {columns, 1}, transposed[] = {1, columns};
  int64_t symmetric[] = {small, 1};
  // A tall matrix is multiplied as its transpose.
  gram = isWide ? getProduct(type, small, small, large, x, transposed)
                : getProduct(type, small, small, large, transposed, x);
  square = getProduct(type, small, small, small, symmetric, symmetric);
  apply = isWide ? getProduct(type, small, large, small, symmetric, x)
                 : getProduct(type, large, small, small, x, symmetric);
}

void veeline::pipe::addProducts(ModuleOp module, ShapedType matrix) {
  SmallVector<Attribute> table;
  if (auto list = module->getAttrOfType<ArrayAttr>(gemmsAttrName))
    llvm::append_range(table, list);
  MuonProducts products(matrix);
  for (DictionaryAttr product :
       {products.gram, products.square, products.apply})
    if (!llvm::is_contained(table, product))
      table.push_back(product);
  module->setAttr(gemmsAttrName, Builder(module).getArrayAttr(table));
}

std::optional<int64_t> veeline::pipe::getProductNumber(ModuleOp module,
                                                       DictionaryAttr product) {
  auto list = module->getAttrOfType<ArrayAttr>(gemmsAttrName);
  if (!list || !llvm::is_contained(list, product))
    return std::nullopt;
  return llvm::find(list, product) - list.begin();
}
