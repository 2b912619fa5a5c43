//===- LoopSteps.cpp - loops of random models -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "ScalarBody.h"

using namespace veeline::fuzz;

/// Returns the lines of an iteration that multiply `value`, the state, by a
/// square matrix.
std::string GraphBuilder::mixState(const Tensor &state, std::string &value) {
  Tensor w = valueOf({state.shape[1], state.shape[1]});
  std::string type = writer.typeOf(state.shape);
  std::string start = writer.fill(state.shape, "0.0");
  std::string line = "    %mixed = linalg.matmul ins(" + value + ", " +
                     w.name() + " : " + type + ", " + writer.typeOf(w.shape) +
                     ") outs(" + start + " : " + type + ") -> " + type + "\n";
  value = "%mixed";
  return line;
}

/// Returns the lines of an iteration that add a row of `rows` to `value`, or
/// multiply it by one.
std::string GraphBuilder::addRow(const Tensor &state, const Tensor &rows,
                                 std::string &value) {
  std::string offsets = "%i", sizes = "1", steps = "1";
  for (int64_t size : state.shape) {
    offsets += ", 0";
    sizes += ", " + std::to_string(size);
    steps += ", 1";
  }
  std::string type = writer.typeOf(state.shape);
  std::string opcode = random.chance(0.5) ? "arith.addf" : "arith.mulf";
  std::string lines =
      "    %row = tensor.extract_slice " + rows.name() + "[" + offsets + "] [" +
      sizes + "] [" + steps + "] : " + writer.typeOf(rows.shape) + " to " +
      type + "\n    %sum = " + opcode + " " + value + ", %row : " + type + "\n";
  value = "%sum";
  return lines;
}

/// Returns the lines of an iteration that insert its state into the stack of
/// all states.
static std::string stackState(const ModelWriter &writer, const Tensor &state,
                              const std::string &value, const Shape &stacked) {
  std::string offsets = "%i", sizes = "1", steps = "1";
  for (int64_t size : state.shape) {
    offsets += ", 0";
    sizes += ", " + std::to_string(size);
    steps += ", 1";
  }
  std::string type = writer.typeOf(stacked);
  return "    %stacked = tensor.insert_slice " + value + " into %stack[" +
         offsets + "] [" + sizes + "] [" + steps +
         "] : " + writer.typeOf(state.shape) + " into " + type + "\n";
}

/// A recurrence. Every iteration mixes the state, adds a row of data and
/// applies a nonlinear function. Mostly the loop is not unrolled; sometimes the
/// stack of all states is the result.
void GraphBuilder::addRecurrence() {
  Tensor state = pickOfRank(1, 2);
  int64_t trips = random.between(1, 5);
  std::string type = writer.typeOf(state.shape), value = "%state", lines;
  if (state.shape.size() == 2 && random.chance(0.5))
    lines += mixState(state, value);
  Shape stacked = state.shape;
  stacked.insert(stacked.begin(), trips);
  if (value == "%state" || random.chance(0.7))
    lines += addRow(state, valueOf(stacked), value);
  static const std::vector<std::string> bends = {"math.tanh", "math.sin",
                                                 "math.erf"};
  lines +=
      "    %next = " + random.oneOf(bends) + " " + value + " : " + type + "\n";
  bool givesAll = random.chance(0.4);
  if (givesAll)
    lines += stackState(writer, state, random.chance(0.5) ? "%next" : "%state",
                        stacked);
  auto index = [&](int64_t number) {
    return writer.temp("arith.constant " + std::to_string(number) + " : index");
  };
  std::string begin = index(0), end = index(trips), step = index(1);
  std::string loop = "scf.for %i = " + begin + " to " + end + " step " + step;
  std::string unroll = random.chance(0.8) ? "  } {pipe.unroll = false}" : "  }";
  if (!givesAll) {
    keep(writer.define(state.shape, std::max(1.0, state.bound),
                       loop + " iter_args(%state = " + state.name() + ") -> (" +
                           type + ") {\n" + lines +
                           "    scf.yield %next : " + type + "\n" + unroll));
    return;
  }
  std::string stackType = writer.typeOf(stacked);
  std::string types = type + ", " + stackType;
  std::string states = writer.temp(
      loop + " iter_args(%state = " + state.name() +
          ", %stack = " + writer.empty(stacked) + ") -> (" + types + ") {\n" +
          lines + "    scf.yield %next, %stacked : " + types + "\n" + unroll,
      /*numResults=*/2);
  keep(writer.define(stacked, std::max(1.0, state.bound),
                     "math.atan " + states + "#1 : " + stackType));
}
