//===- AttentionKernels.cpp - kernels of attention ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"
#include "TileCode.h"
#include "veeline/Conversion/Attention.h"

#include "llvm/ADT/Twine.h"

#include <limits>

using namespace mlir;
using namespace veeline;

/// The maximal depth, limited by shared memory and registers.
static constexpr int64_t maxDepth = 128;

static std::optional<std::string> whyNotType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32())
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text)
      << "its elements are " << type << ", kernels have f16, bf16 and f32";
  return text;
}

/// True if the kernel would need more blocks than a launch can have.
static bool hasTooManyBlocks(pipe::AttentionOpInterface op) {
  SmallVector<int64_t> scores = op.getScoreShape();
  int64_t rows = std::max(scores[scores.size() - 2], scores.back());
  int64_t blocks = llvm::product_of(ArrayRef(scores).drop_back(2)) *
                   llvm::divideCeil(rows, TileCode::blockRows);
  return blocks > std::numeric_limits<int32_t>::max();
}

std::optional<std::string>
veeline::whyNoAttentionKernel(pipe::AttentionOpInterface op) {
  for (Type type : op->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      if (!shaped.hasStaticShape())
        return "its shape is not static";
      if (shaped.getNumElements() == 0)
        return "it has no elements";
    }
  if (auto why = whyNotType(op.getQueryType().getElementType()))
    return why;
  int64_t depth = std::max(op.getQueryType().getShape().back(),
                           op.getValueType().getShape().back());
  if (depth > maxDepth)
    return ("its rows have " + llvm::Twine(depth) + " elements, kernels have " +
            llvm::Twine(maxDepth))
        .str();
  if (hasTooManyBlocks(op))
    return "it takes more blocks than a launch can have";
  return std::nullopt;
}

pipe::AttentionOpInterface veeline::findAttention(Block &block) {
  auto ops = block.getOps<pipe::AttentionOpInterface>();
  return ops.empty() ? pipe::AttentionOpInterface() : *ops.begin();
}

FailureOr<std::string> veeline::emitAttention(ThreadCode &code,
                                              pipe::AttentionOpInterface op,
                                              bool tf32) {
  if (std::optional<std::string> why = whyNoAttentionKernel(op))
    return op.emitError("attention has no kernel, since ")
           << *why << ": run --pipe-decompose-attention=target=cuda first";
  FailureOr<AttentionProblem> problem = AttentionProblem::read(op);
  if (failed(problem))
    return failure();
  problem->tf32 = tf32 && problem->elementType().isF32();
  std::string name = problem->tf32 ? "attention_tf32" : "attention";
  int64_t rows = problem->queries;
  if (isa<pipe::AttentionOp>(problem->op)) {
    emitAttentionForward(code, *problem);
  } else if (isa<pipe::AttentionBackwardQOp>(problem->op)) {
    name += "_backward_q";
    emitAttentionBackwardQ(code, *problem);
  } else {
    name += "_backward_kv";
    rows = problem->keys;
    emitAttentionBackwardKV(code, *problem);
  }
  op.erase();
  return name + "_" + std::to_string(rows) + "x" +
         std::to_string(problem->depth);
}
