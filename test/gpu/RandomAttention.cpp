//===- RandomAttention.cpp - random kernels of attention ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomKernels.h"

#include "CheckKernels.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

namespace {

/// The text of an operand, which is a part of a buffer.
struct Operand {
  std::string argument, view, name, type;
};

/// Writes one kernel function.
class AttentionWriter {
public:
  explicit AttentionWriter(uint64_t seed) : engine(seed) {}

  std::string write(const std::string &name);

private:
  int64_t draw(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int64_t one) { return draw(1, one) == 1; }
  int64_t drawLength();
  int64_t drawDepth();
  void drawSizes();
  void addOperand(const std::string &name, ArrayRef<int64_t> shape,
                  const std::string &element);
  std::string addMask();
  std::string names(size_t begin, size_t end) const;
  std::string types(size_t begin, size_t end) const;

  std::mt19937_64 engine;
  std::string element;
  SmallVector<int64_t> batch, keyBatch;
  int64_t queries = 1, keys = 1, depth = 1, valueDepth = 1;
  std::vector<Operand> operands;
};

} // namespace

/// A length near the size of tiles or its multiples, half of the time not
/// equal.
int64_t AttentionWriter::drawLength() {
  static const int64_t sizes[] = {1, 16, 32, 64, 96, 128, 192};
  int64_t size = sizes[draw(0, std::size(sizes) - 1)];
  return chance(2) ? size : std::max<int64_t>(1, size + draw(-9, 9));
}

int64_t AttentionWriter::drawDepth() {
  static const int64_t sizes[] = {8, 16, 32, 40, 64, 80, 128};
  return chance(3) ? draw(1, 128) : sizes[draw(0, std::size(sizes) - 1)];
}

void AttentionWriter::drawSizes() {
  static const char *const elements[] = {"bf16", "f16", "f32"};
  element = elements[draw(0, 2)];
  for (int64_t i = draw(0, 3); i > 0; --i)
    batch.push_back(draw(1, 2));
  keyBatch = batch;
  if (!batch.empty() && chance(3))
    batch.back() *= draw(2, 3);
  queries = drawLength();
  keys = chance(2) ? queries : drawLength();
  depth = drawDepth();
  valueDepth = chance(2) ? depth : drawDepth();
  // Limits the time that the twin takes.
  constexpr int64_t most = 2 << 20;
  if (std::accumulate(batch.begin(), batch.end(), queries * keys,
                      std::multiplies<>()) *
          (depth + valueDepth) >
      most) {
    batch.assign(batch.size(), 1);
    keyBatch = batch;
  }
}

static std::string joinNumbers(ArrayRef<int64_t> values, StringRef separator) {
  return llvm::join(
      llvm::map_to_vector(values,
                          [](int64_t value) { return std::to_string(value); }),
      separator);
}

/// Adds an operand that is a buffer or a part of one: with gaps, or with the
/// rows outside of the last dimension of the batch.
void AttentionWriter::addOperand(const std::string &name,
                                 ArrayRef<int64_t> shape,
                                 const std::string &type) {
  Operand operand;
  SmallVector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (shape.size() > 2 && chance(2))
    std::swap(order[shape.size() - 3], order[shape.size() - 2]);
  SmallVector<int64_t> strides(shape.size(), 1);
  int64_t size = 1;
  static const int64_t gaps[] = {0, 0, 0, 8, 4, 1};
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t dim = order[i];
    strides[dim] = size;
    size *= shape[dim];
    if (i + 1 == shape.size())
      size += gaps[draw(0, std::size(gaps) - 1)];
  }
  int64_t offset = gaps[draw(0, std::size(gaps) - 1)];
  operand.argument = "%buffer_" + name + ": memref<" +
                     std::to_string(size + offset) + "x" + type +
                     "> {llvm.noalias}";
  operand.name = "%" + name;
  operand.type = "memref<" +
                 (shape.empty() ? "" : joinNumbers(shape, "x") + "x") + type +
                 ", strided<[" + joinNumbers(strides, ", ") +
                 "], offset: " + std::to_string(offset) + ">>";
  operand.view = "  " + operand.name + " = memref.reinterpret_cast %buffer_" +
                 name + " to offset: [" + std::to_string(offset) +
                 "], sizes: [" + joinNumbers(shape, ", ") + "], strides: [" +
                 joinNumbers(strides, ", ") + "] : memref<" +
                 std::to_string(size + offset) + "x" + type + "> to " +
                 operand.type + "\n";
  operands.push_back(std::move(operand));
}

/// Returns the text of the op's mask; half of the time it has none.
std::string AttentionWriter::addMask() {
  if (chance(2))
    return {};
  SmallVector<int64_t> scores = batch, dims, shape;
  scores.append({queries, keys});
  for (auto [dim, size] : llvm::enumerate(scores))
    if (chance(2)) {
      dims.push_back(static_cast<int64_t>(dim));
      shape.push_back(size);
    }
  static const char *const elements[] = {"i1", "f32", "same"};
  std::string type = elements[draw(0, 2)];
  if (type == "same")
    type = element;
  addOperand("mask", shape, type);
  std::string text = " mask(%mask : " + operands.back().type + ") dims [" +
                     joinNumbers(dims, ", ") + "]";
  // A mask of i1 needs a fill: without one, a query that sees nothing gives
  // NaN.
  if (type == "i1")
    text += chance(2) ? " fill(-1.0e9)" : " fill(-4.0)";
  return text;
}

std::string AttentionWriter::names(size_t begin, size_t end) const {
  return llvm::join(
      llvm::map_to_vector(ArrayRef(operands).slice(begin, end - begin),
                          [](const Operand &operand) { return operand.name; }),
      ", ");
}

std::string AttentionWriter::types(size_t begin, size_t end) const {
  return llvm::join(
      llvm::map_to_vector(ArrayRef(operands).slice(begin, end - begin),
                          [](const Operand &operand) { return operand.type; }),
      ", ");
}

std::string AttentionWriter::write(const std::string &name) {
  drawSizes();
  auto shape = [](ArrayRef<int64_t> sizes, int64_t rows, int64_t columns) {
    SmallVector<int64_t> all(sizes);
    all.push_back(rows);
    if (columns)
      all.push_back(columns);
    return all;
  };
  static const char *const ops[] = {"attention", "attention_backward_q",
                                    "attention_backward_kv"};
  int64_t op = draw(0, 2);
  addOperand("q", shape(batch, queries, depth), element);
  addOperand("k", shape(keyBatch, keys, depth), element);
  addOperand("v", shape(keyBatch, keys, valueDepth), element);
  if (op) {
    addOperand("do", shape(batch, queries, valueDepth), element);
    addOperand("lse", shape(batch, queries, 0), "f32");
    addOperand("delta", shape(batch, queries, 0), "f32");
  }
  size_t numInputs = operands.size();
  std::string mask = addMask();
  size_t firstOutput = operands.size();
  if (op == 0) {
    addOperand("o", shape(batch, queries, valueDepth), element);
    addOperand("lse", shape(batch, queries, 0), "f32");
  } else if (op == 1) {
    addOperand("dq", shape(batch, queries, depth), element);
  } else {
    addOperand("dk", shape(keyBatch, keys, depth), element);
    addOperand("dv", shape(keyBatch, keys, valueDepth), element);
  }
  std::string text = "func.func private @" + name + "(";
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i ? ", " : "") + operands[i].argument;
  text += ") attributes {pipe.kernel} {\n";
  for (const Operand &operand : operands)
    text += operand.view;
  double scale = 1 / std::sqrt(static_cast<double>(depth));
  size_t end = operands.size();
  text += "  pipe." + std::string(ops[op]) + " scale(" + std::to_string(scale) +
          ")" + (chance(2) ? " causal" : "") + " ins(" + names(0, numInputs) +
          " : " + types(0, numInputs) + ")" + mask + " outs(" +
          names(firstOutput, end) + " : " + types(firstOutput, end) +
          ")\n  return\n}\n";
  return text;
}

/// The module of one kernel; null with diagnostics. Odd seeds allow tf32.
static OwningOpRef<ModuleOp> makeKernel(uint64_t seed, MLIRContext &context) {
  PassManager passManager(&context);
  PipeGpuKernelsOptions options;
  options.tf32 = seed % 2;
  passManager.addPass(createPipeGpuKernels(options));
  return makeModule(AttentionWriter(seed).write("kernel"), passManager);
}

bool veeline::gpu::checkRandomAttention(int64_t count, uint64_t seed) {
  int64_t numRight = 0;
  checkSeeds(count, seed, "--random-attention", makeKernel,
             [&](const Kernel &, bool isRight) { numRight += isRight; });
  llvm::outs() << numRight << " of " << count
               << " kernels of attention are right\n";
  return numRight == count;
}
