//===- GraphBuilder.h - grows a random graph of ops -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_GRAPHBUILDER_H
#define VEELINE_TEST_FUZZ_GRAPHBUILDER_H

#include "ModelWriter.h"

#include <functional>

namespace veeline::fuzz {

/// How an op over windows moves over its data.
struct Windows {
  Shape sizes, outputs;
  std::vector<int64_t> strides, dilations;
};

/// Adds random ops to a model. Their operands are earlier values: late ones are
/// likelier, so that graphs get deep; early ones are used again beyond marks.
class GraphBuilder {
public:
  GraphBuilder(uint64_t seed, std::string element, Random &random, Sizes sizes)
      : writer(seed, std::move(element)), random(random), sizes(sizes) {}

  /// The first inputs.
  void start();
  void addOp();
  void addMark();
  /// The loss of the last value and some others, and sometimes a metric.
  void addLoss();
  Model take() { return std::move(writer.model); }

private:
  // Values.
  int64_t randomSize(int64_t rank);
  Shape randomShape(int64_t minRank, int64_t maxRank);
  const Tensor &pick();
  /// A value that `fits`, or null.
  const Tensor *pickThat(const std::function<bool(const Tensor &)> &fits);
  Tensor pickOfRank(size_t low, size_t high);
  /// An existing value, or a new parameter, batch argument or buffer.
  Tensor valueOf(const Shape &shape);
  ValueId indicesOf(const Shape &shape);
  /// Adds `tensor` to the values that ops can use, scaled to order one.
  void keep(Tensor tensor);
  /// The dimensions by which loops over `output` index a value of `shape`, if
  /// it can be broadcast to it.
  std::optional<std::vector<std::string>> broadcastDims(const Shape &shape,
                                                        const Shape &output);

  // Elementwise ops.
  void addTensorOp();
  void addUnaryTensorOp();
  void addElementwise();
  void addCapture();
  void addBias();
  // Products.
  void addMatmul();
  void addBatchMatmul();
  void addVectorProduct();
  // Windows.
  Tensor surround(const Tensor &x, size_t first, size_t last);
  Windows chooseWindows(const Tensor &x, size_t first, size_t count);
  void convolve(Tensor x);
  void addConvolution();
  void addGroupedConvolution();
  void addPooling();
  // Loops.
  std::string mixState(const Tensor &state, std::string &value);
  std::string addRow(const Tensor &state, const Tensor &rows,
                     std::string &value);
  void addRecurrence();
  // Reductions and what is made of them.
  Tensor reduceRows(const Tensor &x, const std::string &opcode);
  Tensor zipRows(const Tensor &x, const Tensor &rows, const std::string &body,
                 double bound);
  Tensor onRows(const Tensor &rows, const std::string &body, double bound);
  void addReduction();
  void addSoftmax();
  void addLayerNorm();
  // Data movement.
  void addReshape();
  void addTranspose();
  void addBroadcast();
  void addSlice();
  void addInsertSlice();
  void addConcat();
  void addPad();
  void addGather();

  /// Whether one of `values` is `source` or computed from it.
  bool dependOn(const std::vector<Tensor> &values, ValueId source);
  Tensor meanSquare(const Tensor &x);
  Tensor crossEntropy(const Tensor &x);
  Tensor sumAll(const Tensor &x, const std::string &body, double bound);

  ModelWriter writer;
  Random &random;
  Sizes sizes;
  std::vector<Tensor> pool;
  Tensor first; ///< Depends on data and on a parameter.
  std::vector<std::pair<ValueId, Shape>> indices;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_GRAPHBUILDER_H
