//===- JointSumsTest.cpp - sums that several chunks add to ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Autodiff/JointSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace veeline::autodiff;

namespace {

/// A function that adds up its arguments.
class JointSumsTest : public testing::Test {
protected:
  JointSumsTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect>();
  }

  /// Takes tensors, and is empty.
  Block &makeBlock(size_t numArguments) {
    OpBuilder builder(&context);
    auto type = RankedTensorType::get({2}, builder.getF32Type());
    SmallVector<Type> types(numArguments, type);
    func = func::FuncOp::create(builder.getUnknownLoc(), "sum",
                                builder.getFunctionType(types, {}));
    Block *block = func->addEntryBlock();
    auto inBlock = OpBuilder::atBlockEnd(block);
    func::ReturnOp::create(inBlock, builder.getUnknownLoc());
    return *block;
  }

  static Value add(Value a, Value b) {
    OpBuilder builder(a.getParentBlock()->getTerminator());
    return arith::AddFOp::create(builder, builder.getUnknownLoc(), a, b);
  }

  static bool isNeverWhole(Value) { return false; }

  MLIRContext context;
  OwningOpRef<func::FuncOp> func;
};

unsigned getNumber(Value argument) {
  return cast<BlockArgument>(argument).getArgNumber();
}

TEST_F(JointSumsTest, TermsAreInOrderAndSumsOfOneChunkStayWhole) {
  Block &block = makeBlock(5);
  auto arguments = block.getArguments();
  Value left = add(arguments[0], arguments[1]);
  Value right = add(arguments[2], add(arguments[3], arguments[4]));
  Value sum = add(left, right);
  EXPECT_EQ(getTerms(sum, isNeverWhole), SmallVector<Value>(arguments));
  EXPECT_EQ(getTerms(sum, [&](Value value) { return value == right; }),
            SmallVector<Value>({arguments[0], arguments[1], right}));

  auto getChunk = [](Value term) -> unsigned { return getNumber(term) > 3; };
  SmallVector<Term> terms = getTermsByChunk(sum, isNeverWhole, getChunk);
  ASSERT_EQ(terms.size(), 4u);
  EXPECT_EQ(terms[0].value, left);
  EXPECT_EQ(terms[0].chunk, 0u);
  EXPECT_EQ(terms[3].value, arguments[4]);
  EXPECT_EQ(terms[3].chunk, 1u);
  Value inner = right.getDefiningOp()->getOperand(1);
  EXPECT_EQ(findSumsOfChunks(block, isNeverWhole, getChunk),
            DenseSet<Value>({inner, right, sum}));
}

TEST_F(JointSumsTest, SumsWithOtherUsesStayWhole) {
  Block &block = makeBlock(3);
  auto arguments = block.getArguments();
  Value inner = add(arguments[0], arguments[1]);
  Value sum = add(inner, arguments[2]);
  add(inner, inner);
  EXPECT_EQ(getTerms(sum, isNeverWhole),
            SmallVector<Value>({inner, arguments[2]}));
  auto getChunk = [&](Value term) -> unsigned { return term == arguments[0]; };
  EXPECT_EQ(findSumsOfChunks(block, isNeverWhole, getChunk),
            DenseSet<Value>({inner}));
}

// A sum can have as many terms as a model has ops.
TEST_F(JointSumsTest, SumsCanBeDeep) {
  constexpr size_t numTerms = 200'000;
  for (bool isLeft : {true, false}) {
    Block &block = makeBlock(numTerms);
    SmallVector<Value> arguments(block.getArguments());
    if (!isLeft)
      std::reverse(arguments.begin(), arguments.end());
    Value sum = arguments[0];
    for (Value argument : ArrayRef(arguments).drop_front())
      sum = isLeft ? add(sum, argument) : add(argument, sum);
    EXPECT_EQ(getTerms(sum, isNeverWhole).size(), numTerms);
    auto getChunk = [](Value term) -> unsigned {
      return getNumber(term) >= numTerms / 2;
    };
    SmallVector<Term> terms = getTermsByChunk(sum, isNeverWhole, getChunk);
    EXPECT_EQ(terms.size(), numTerms / 2 + 1);
    EXPECT_EQ(findSumsOfChunks(block, isNeverWhole, getChunk).size(),
              numTerms / 2);
    llvm::MapVector<unsigned, Value> sums = addUpByChunk(terms);
    EXPECT_EQ(sums.size(), 2u);
  }
}

} // namespace
