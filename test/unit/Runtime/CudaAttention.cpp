//===- CudaAttention.cpp - an attention on a GPU, for tests ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaAttention.h"
#include "AttentionDnn.h"

#include <algorithm>
#include <cmath>

using namespace veeline;
using namespace veeline::test;
using artifact::Attention;
using artifact::AttentionKind;
using artifact::DataType;

//===----------------------------------------------------------------------===//
// A forward attention and its derivative
//===----------------------------------------------------------------------===//

static bool advance(List &index, const List &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

/// Strides of rows that follow each other in the order of `order`, with gaps of
/// `gap` elements.
static List makeStrides(const List &sizes, const std::array<int, 3> &order,
                        int64_t gap) {
  List strides(3);
  int64_t stride = sizes[3] + gap;
  for (int dim : order) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// Puts an operand of rows behind the operands that are there.
static void place(Problem &problem, Which which, DataType type,
                  const List &sizes, const List &strides) {
  Operand &operand = problem.operands[which];
  operand = {type, sizes, strides, problem.arenaBytes};
  operand.strides.push_back(1);
  problem.arenaBytes += (operand.bytes() + 255) / 256 * 256;
}

void test::layOut(Problem &problem, std::mt19937 &random, bool isDense) {
  Attention &a = problem.forward;
  List rows = {a.batch, a.heads, a.queries, a.depth};
  List outputs = {a.batch, a.heads, a.queries, a.valueDepth};
  List keys = {a.batch, a.keyHeads, a.keys, a.depth};
  List values = {a.batch, a.keyHeads, a.keys, a.valueDepth};
  auto next = [&](Which which, const List &sizes, List &strides) {
    std::array<int, 3> order = {2, 1, 0};
    if (!isDense)
      std::shuffle(order.begin(), order.end(), random);
    strides = makeStrides(sizes, order,
                          isDense ? 0 : 8 * static_cast<int64_t>(random() % 3));
    place(problem, which, a.type, sizes, strides);
  };
  next(query, rows, a.queryStrides);
  next(key, keys, a.keyStrides);
  next(value, values, a.valueStrides);
  next(output, outputs, a.outputStrides);
  place(problem, lse, DataType::f32, {a.batch, a.heads, a.queries, 1},
        {a.heads * a.queries, a.queries, 1});
  if (problem.hasMask()) {
    List sizes = {a.batch, a.heads, a.queries, a.keys};
    for (size_t i = 0; i < 3; ++i)
      if (a.maskStrides[i] == 0)
        sizes[i] = 1;
    List strides = makeStrides(
        {sizes[0], sizes[1], sizes[2], (a.keys + 7) / 8 * 8}, {2, 1, 0}, 0);
    for (size_t i = 0; i < 3; ++i)
      a.maskStrides[i] = sizes[i] == 1 ? 0 : strides[i];
    place(problem, mask, a.maskType, sizes, strides);
  }
  Attention &b = problem.backward = a;
  b.kind = AttentionKind::backward;
  next(outputGrad, outputs, b.outputGradStrides);
  next(queryGrad, rows, b.queryGradStrides);
  next(keyGrad, keys, b.keyGradStrides);
  next(valueGrad, values, b.valueGradStrides);
  b.scratchBytes = cuda::attentionScratchBytes(b);
  problem.scratchOffset = problem.arenaBytes;
  problem.arenaBytes += (b.scratchBytes + 255) / 256 * 256;
}

Problem test::makeProblem(bool deterministic) {
  Problem problem;
  Attention &a = problem.forward;
  a.batch = 2;
  a.heads = 4;
  a.keyHeads = 2;
  a.queries = 5;
  a.keys = 7;
  a.depth = 16;
  a.valueDepth = 8;
  a.scale = 0.25;
  a.causal = true;
  a.deterministic = deterministic;
  std::mt19937 random(1);
  layOut(problem, random, /*isDense=*/true);
  return problem;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The program whose step runs.
static Program *current;

static void step(veeline_rank *rank, char *arena, const void *const *) {
  current->attend(rank, arena);
}

Program::Program(const Problem &problem, int64_t libraryBytes)
    : problem(problem), fixture({step}, problem.arenaBytes) {
  artifact::Rank &rank = fixture.rank(0);
  rank.attentions = {problem.forward, problem.backward};
  test::makeForGpu(fixture.whole());
  rank.libraryOffset = (rank.arenaBytes + 255) / 256 * 256;
  rank.libraryBytes = libraryBytes;
  rank.arenaBytes = rank.libraryOffset + rank.libraryBytes;
  options = test::standIns();
  options.steps = {step};
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (Which which : {query, key, value, mask, outputGrad}) {
    const Operand &operand = problem.operands[which];
    int64_t count = operand.sizes.empty() ? 0 : 1;
    for (int64_t size : operand.sizes)
      count *= size;
    for (int64_t i = 0; i < count; ++i) {
      char bytes[4];
      standin::store(elementOf(operand.type), bytes, normal(random));
      inputs.push_back(standin::elementAt(elementOf(operand.type), bytes));
    }
  }
}

std::string Program::run() {
  current = this;
  results.clear();
  return runThreeSteps(fixture.whole(), options, remark,
                       [this] { readResults(); });
}

void Program::writeInputs() {
  size_t next = 0;
  for (Which which : {query, key, value, mask, outputGrad}) {
    const Operand &operand = problem.operands[which];
    if (operand.sizes.empty())
      continue;
    List index(4);
    do
      standin::store(elementOf(operand.type), memory() + operand.place(index),
                     inputs[next++]);
    while (advance(index, operand.sizes));
  }
}

void Program::attend(veeline_rank *rank, char *newArena) {
  arena = newArena;
  writeInputs();
  auto at = [this](Which which) -> void * {
    const Operand &operand = problem.operands[which];
    return operand.sizes.empty() ? nullptr : arena + operand.offset;
  };
  void *scratch = arena + problem.scratchOffset;
  for (int32_t i = 0; i < 2; ++i)
    isThere[i] = veeline_has_attention(rank, i);
  if (isThere[0] || callsAll)
    veeline_attention(rank, 0, at(query), at(key), at(value), at(mask),
                      at(output), at(lse), scratch);
  if (isThere[1] || callsAll)
    veeline_attention_backward(
        rank, 1, at(query), at(key), at(value), at(mask), at(output), at(lse),
        at(outputGrad), at(queryGrad), at(keyGrad), at(valueGrad), scratch);
}

void Program::readResults() {
  results.emplace_back();
  for (int which = 0; which < numOperands; ++which) {
    const Operand &operand = problem.operands[which];
    if (operand.sizes.empty())
      continue;
    List index(4);
    do
      results.back()[which].push_back(standin::elementAt(
          elementOf(operand.type), memory() + operand.place(index)));
    while (advance(index, operand.sizes));
  }
}

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

Definition::Dense::Dense(const List &sizes)
    : sizes(sizes),
      numbers(static_cast<size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3])) {}

double &Definition::Dense::operator()(int64_t b, int64_t h, int64_t i,
                                      int64_t d) {
  auto at = [&](int64_t index, int dim) { return sizes[dim] == 1 ? 0 : index; };
  return numbers[((at(b, 0) * sizes[1] + at(h, 1)) * sizes[2] + at(i, 2)) *
                     sizes[3] +
                 at(d, 3)];
}

Definition::Definition(const Program &program) : a(program.problem.forward) {
  for (const Operand &operand : program.problem.operands)
    tensors.emplace_back(operand.sizes.empty() ? List{0, 0, 0, 0}
                                               : operand.sizes);
  size_t next = 0;
  for (Which which : {query, key, value, mask, outputGrad})
    for (double &number : tensors[which].numbers)
      number = program.inputs[next++];
  for (int64_t b = 0; b < a.batch; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t i = 0; i < a.queries; ++i)
        addRow(b, h, i);
}

void Definition::addRow(int64_t b, int64_t h, int64_t i) {
  int64_t kh = h / (a.heads / a.keyHeads);
  auto t = [&](Which which) -> Dense & { return tensors[which]; };
  Numbers scores(a.keys), weightGrads(a.keys);
  double sum = 0, delta = 0;
  int64_t visible = a.causal ? std::min(i + 1, a.keys) : a.keys;
  for (int64_t j = 0; j < visible; ++j) {
    for (int64_t d = 0; d < a.depth; ++d)
      scores[j] += a.scale * t(query)(b, h, i, d) * t(key)(b, kh, j, d);
    if (!a.maskStrides.empty())
      scores[j] += t(mask)(b, h, i, j);
    sum += std::exp(scores[j]);
  }
  t(lse)(b, h, i, 0) = std::log(sum);
  for (int64_t j = 0; j < visible; ++j) {
    double weight = scores[j] = std::exp(scores[j]) / sum;
    for (int64_t d = 0; d < a.valueDepth; ++d) {
      t(output)(b, h, i, d) += weight * t(value)(b, kh, j, d);
      t(valueGrad)(b, kh, j, d) += weight * t(outputGrad)(b, h, i, d);
      weightGrads[j] += t(outputGrad)(b, h, i, d) * t(value)(b, kh, j, d);
    }
    delta += weight * weightGrads[j];
  }
  for (int64_t j = 0; j < visible; ++j) {
    double grad = a.scale * scores[j] * (weightGrads[j] - delta);
    for (int64_t d = 0; d < a.depth; ++d) {
      t(queryGrad)(b, h, i, d) += grad * t(key)(b, kh, j, d);
      t(keyGrad)(b, kh, j, d) += grad * t(query)(b, h, i, d);
    }
  }
}
