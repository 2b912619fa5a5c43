//===- Reshape.cpp - tensors with other dimensions ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reshape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace veeline::pipe;

Index veeline::pipe::flatten(const Access &access) {
  Index digits;
  for (const Index &index : access)
    llvm::append_range(digits, index);
  return digits;
}

Access veeline::pipe::separate(const Index &digits) {
  Access access;
  for (unsigned digit : digits)
    access.push_back({digit});
  return access;
}

static RankedTensorType getType(const ExpressionTracer &tracer,
                                const Access &access, Type element) {
  SmallVector<int64_t> shape;
  for (const Index &index : access)
    shape.push_back(tracer.getSize(index));
  return RankedTensorType::get(shape, element);
}

/// `access` with one dimension for each digit, and with its dimensions of one
/// element, which have no digits.
static Access split(const Access &access) {
  Access parts;
  for (const Index &index : access) {
    if (index.empty())
      parts.emplace_back();
    for (unsigned digit : index)
      parts.push_back({digit});
  }
  return parts;
}

/// For each dimension of `access`, its dimensions in `split(access)`.
static SmallVector<ReassociationIndices> getParts(const Access &access) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const Index &index : access) {
    ReassociationIndices &group = groups.emplace_back();
    for (size_t i = 0; i < std::max<size_t>(index.size(), 1); ++i)
      group.push_back(next++);
  }
  return groups;
}

/// Groups the dimensions of `access`: each dimension with a digit, and the
/// adjacent ones of one element.
static SmallVector<ReassociationIndices> getNeighbours(const Access &access) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices before;
  for (auto [dim, index] : llvm::enumerate(access)) {
    if (index.empty() && !groups.empty()) {
      groups.back().push_back(dim);
      continue;
    }
    before.push_back(dim);
    if (!index.empty())
      groups.push_back(std::exchange(before, {}));
  }
  return groups;
}

/// Reshapes by `OpT`, unless the rank stays the same.
template <typename OpT>
static Value regroup(OpBuilder &builder, Location loc,
                     const ExpressionTracer &tracer, Value tensor,
                     const Access &to, ArrayRef<ReassociationIndices> groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  RankedTensorType result = getType(tracer, to, type.getElementType());
  if (result.getRank() == type.getRank())
    return tensor;
  return OpT::create(builder, loc, result, tensor, groups);
}

Value veeline::pipe::createEmpty(OpBuilder &builder, Location loc,
                                 const ExpressionTracer &tracer,
                                 const Access &access, Type element, Value like,
                                 const Access &likeAccess) {
  SmallVector<OpFoldResult> sizes;
  for (const Index &index : access) {
    int64_t size = tracer.getSize(index);
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(builder.getIndexAttr(size));
      continue;
    }
    int64_t dim = llvm::find(likeAccess, index) - likeAccess.begin();
    sizes.push_back(tensor::DimOp::create(builder, loc, like, dim).getResult());
  }
  return tensor::EmptyOp::create(builder, loc, sizes, element);
}

Value veeline::pipe::reshape(OpBuilder &builder, Location loc,
                             const ExpressionTracer &tracer, Value tensor,
                             const Access &from, const Access &to) {
  if (from == to)
    return tensor;
  Access source = separate(flatten(from)), target = separate(flatten(to));
  auto expand = regroup<tensor::ExpandShapeOp>;
  auto collapse = regroup<tensor::CollapseShapeOp>;
  tensor = expand(builder, loc, tracer, tensor, split(from), getParts(from));
  tensor = collapse(builder, loc, tracer, tensor, source,
                    getNeighbours(split(from)));
  if (source != target) {
    SmallVector<int64_t> permutation;
    for (const Index &index : target)
      permutation.push_back(llvm::find(source, index) - source.begin());
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    Value empty =
        createEmpty(builder, loc, tracer, target, element, tensor, source);
    tensor =
        linalg::TransposeOp::create(builder, loc, tensor, empty, permutation)
            ->getResult(0);
  }
  tensor =
      expand(builder, loc, tracer, tensor, split(to), getNeighbours(split(to)));
  return collapse(builder, loc, tracer, tensor, to, getParts(to));
}
