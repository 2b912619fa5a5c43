//===- PartitionTest.cpp - what is kept against all that could be ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the choice on random small graphs of ops with every possible one.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Autodiff/Partition.h"
#include "../Rounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

namespace {

/// A block of random ops on tensors of random sizes; the last ones run later.
class RandomGraph {
public:
  RandomGraph(MLIRContext &context, unsigned seed);

  /// The values to keep if the ops that `again` marks run again. No value: one
  /// of them cannot be kept.
  std::optional<llvm::SetVector<Value>>
  getKept(llvm::function_ref<bool(Operation *)> again);

  PartitionRequest
  request(llvm::function_ref<bool(Operation *)> runsLater,
          llvm::function_ref<std::optional<int64_t>(Value)> price,
          llvm::function_ref<std::optional<int64_t>(Operation *)> recompute) {
    return {targets, runsLater, price, recompute};
  }

  OwningOpRef<func::FuncOp> func;
  SmallVector<Operation *> early;
  DenseSet<Operation *> later;
  SmallVector<Value> targets;
  std::mt19937 generator;

private:
  Value addOp(OpBuilder &builder, ArrayRef<Value> values);
};

/// Adds an elementwise op, a view or a padding.
Value RandomGraph::addOp(OpBuilder &builder, ArrayRef<Value> values) {
  Location loc = builder.getUnknownLoc();
  Value a = values[generator() % values.size()];
  SmallVector<Value> alike = llvm::filter_to_vector(
      values, [&](Value v) { return v.getType() == a.getType(); });
  Value b = alike[generator() % alike.size()];
  auto type = cast<RankedTensorType>(a.getType());
  switch (generator() % 4) {
  case 0:
    return math::ExpOp::create(builder, loc, a);
  case 1:
    return arith::AddFOp::create(builder, loc, a, b);
  case 2:
    if (type.getRank() == 2)
      return tensor::CollapseShapeOp::create(
          builder, loc, a, ArrayRef<ReassociationIndices>{{0, 1}});
    [[fallthrough]];
  default: {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0.0));
    return tensor::PadOp::create(
        builder, loc,
        type.clone(llvm::map_to_vector(
            type.getShape(), [](int64_t extent) { return extent + 1; })),
        a, SmallVector<OpFoldResult>(type.getRank(), builder.getIndexAttr(0)),
        SmallVector<OpFoldResult>(type.getRank(), builder.getIndexAttr(1)),
        zero);
  }
  }
}

RandomGraph::RandomGraph(MLIRContext &context, unsigned seed)
    : generator(seed) {
  OpBuilder builder(&context);
  Type type = RankedTensorType::get({2, 3}, builder.getF32Type());
  func = func::FuncOp::create(builder.getUnknownLoc(), "f",
                              builder.getFunctionType({type, type}, {}));
  Block *block = func->addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> values(block->getArguments());
  unsigned numEarly = 3 + generator() % 8, numLater = 1 + generator() % 3;
  for (unsigned i = 0; i != numEarly; ++i)
    values.push_back(addOp(builder, values));
  Operation *lastEarly = &block->back();
  for (unsigned i = 0; i != numLater; ++i) {
    values.push_back(addOp(builder, values));
    targets.push_back(values.back());
  }
  bool isEarly = true;
  for (Operation &op : *block) {
    if (isEarly)
      early.push_back(&op);
    else
      later.insert(&op);
    isEarly &= &op != lastEarly;
  }
}

std::optional<llvm::SetVector<Value>>
RandomGraph::getKept(llvm::function_ref<bool(Operation *)> again) {
  llvm::SetVector<Value> kept, demanded;
  for (Value target : targets)
    demanded.insert(target);
  for (size_t i = 0; i != demanded.size(); ++i) {
    Operation *op = demanded[i].getDefiningOp();
    if (op && (later.contains(op) || again(op))) {
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (operand.getParentBlock() == op->getBlock())
            demanded.insert(operand);
      });
      continue;
    }
    if (!isKeepable(demanded[i]))
      return std::nullopt;
    kept.insert(demanded[i]);
  }
  return kept;
}

class PartitionTest : public ::testing::Test {
protected:
  PartitionTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
  }
  MLIRContext context;
};

/// The cost of a choice: the values that are kept, and the early ops that run
/// again.
int64_t getCost(const PartitionRequest &request, ArrayRef<Value> kept,
                llvm::function_ref<bool(Operation *)> again,
                ArrayRef<Operation *> early) {
  int64_t cost = 0;
  for (Value value : kept)
    cost += request.price(value).value();
  for (Operation *op : early)
    if (again(op))
      cost += request.recomputePrice(op).value();
  return cost;
}

/// Compares the choice with all sets of ops that may run again.
void checkAgainstAll(RandomGraph &graph, const PartitionRequest &request) {
  Partition partition = choosePartition(request);
  DenseSet<Operation *> ops(partition.ops.begin(), partition.ops.end());
  for (Operation *op : ops)
    ASSERT_TRUE(graph.later.contains(op) || request.recomputePrice(op));
  int64_t found = getCost(
      request, partition.kept, [&](Operation *op) { return ops.contains(op); },
      graph.early);
  SmallVector<Operation *> candidates =
      llvm::filter_to_vector(graph.early, [&](Operation *op) {
        return request.recomputePrice(op).has_value();
      });
  ASSERT_LE(candidates.size(), 16u);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (unsigned mask = 0; mask != 1u << candidates.size(); ++mask) {
    DenseSet<Operation *> again;
    for (auto [i, op] : llvm::enumerate(candidates))
      if (mask >> i & 1)
        again.insert(op);
    auto isAgain = [&](Operation *op) { return again.contains(op); };
    auto kept = graph.getKept(isAgain);
    if (!kept || !llvm::all_of(*kept, [&](Value value) {
          return request.price(value).has_value();
        }))
      continue;
    least = std::min(
        least, getCost(request, kept->getArrayRef(), isAgain, graph.early));
  }
  ASSERT_EQ(found, least);
}

/// With further ones are graphs of too many choices to try all.
unsigned numGraphs() { return veeline::test::isLong() ? 300 : 100; }

TEST_F(PartitionTest, IsTheCheapestOfAll) {
  for (unsigned seed = 0; seed != numGraphs(); ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph graph(context, seed);
    // An op or value keeps its price.
    unsigned salt = graph.generator();
    DenseMap<void *, unsigned> draws;
    auto draw = [&](void *key) {
      return draws.try_emplace(key, graph.generator() % 7).first->second;
    };
    auto price = [&](Value value) -> std::optional<int64_t> {
      return draw(value.getAsOpaquePointer());
    };
    auto recompute = [&](Operation *op) -> std::optional<int64_t> {
      if (!isKeepable(op->getResult(0)))
        return 0;
      if (draw(op) == 6 && salt % 2)
        return std::nullopt;
      return draw(op);
    };
    checkAgainstAll(
        graph,
        graph.request([&](Operation *op) { return graph.later.contains(op); },
                      price, recompute));
  }
}

int64_t getBytes(ArrayRef<Value> values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getNumBytes(value.getType());
  return bytes;
}

/// Compares the choice at the prices of each policy with every other. Without
/// recomputation, it keeps as many bytes as the later ops read; with
/// recomputation, never more.
TEST_F(PartitionTest, KeepsNoMoreBytesThanThePlainSet) {
  auto price = [](Value value) -> std::optional<int64_t> {
    return getNumBytes(value.getType()) * pricePerByte;
  };
  int64_t plainBytes = 0, balancedBytes = 0, cheapBytes = 0;
  for (unsigned seed = 0; seed != numGraphs(); ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph graph(context, 1000 + seed);
    auto runsLater = [&](Operation *op) { return graph.later.contains(op); };
    auto bytes = [&](const Recompute &policy) {
      auto recompute = [&](Operation *op) {
        return getRecomputePrice(op, policy);
      };
      PartitionRequest request = graph.request(runsLater, price, recompute);
      checkAgainstAll(graph, request);
      return getBytes(choosePartition(request).kept);
    };
    auto plain = graph.getKept(
        [](Operation *op) { return !isKeepable(op->getResult(0)); });
    ASSERT_TRUE(plain);
    int64_t none = bytes({RecomputeKind::None});
    int64_t balanced = bytes({RecomputeKind::Balanced});
    int64_t cheap = bytes({RecomputeKind::Cheap});
    EXPECT_EQ(none, getBytes(plain->getArrayRef()));
    EXPECT_LE(balanced, none);
    EXPECT_LE(cheap, balanced);
    EXPECT_LE(bytes({RecomputeKind::Rate, 0.0}), cheap);
    plainBytes += none;
    balancedBytes += balanced;
    cheapBytes += cheap;
  }
  // Each policy saves something somewhere.
  EXPECT_LT(balancedBytes, plainBytes);
  EXPECT_LT(cheapBytes, balancedBytes);
}

} // namespace
