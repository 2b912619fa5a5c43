//===- CudnnInterpreter.h - graphs of cuDNN's, on the host -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One operation after the other, as cuDNN's documentation defines it. Nothing
// here knows what a graph is for: a wrong one has wrong results.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_CUDNNINTERPRETER_H
#define VEELINE_TEST_STANDIN_CUDNNINTERPRETER_H

#include "CudnnHandle.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace veeline::standin::dnn {

using List = std::vector<int64_t>;

struct Tensor {
  int type = -1;
  List sizes, strides;
  int64_t id = 0, alignment = 0;
  bool isVirtual = false, isByValue = false;

  int64_t span() const;
  int64_t elementBytes() const;
  bool operator==(const Tensor &) const = default;
};

enum class NodeKind { pointwise, matmul, reduction, reshape };

/// An operation that computes y from x, and from b and t if there are any.
struct Node {
  NodeKind kind = NodeKind::pointwise;
  int mode = 0; ///< Of a pointwise operation or a reduction.
  int64_t axis = -1;
  Tensor x, y;
  std::optional<Tensor> b, t;
};

using Graph = std::vector<Node>;

/// 0, or the status with which the real library would refuse it.
int check(const Tensor &tensor);
int check(const Node &node);
int check(const Graph &graph);

/// Runs `graph` on the operands at `places`, by identifier. If `split` is not
/// 0, every product adds up its terms in two parts, from term `split` modulo
/// their number on, and rounds each part so that the split shows in the bits: a
/// real engine that adds atomically adds in any order.
void run(const Graph &graph, const std::map<int64_t, char *> &places,
         int64_t split);

} // namespace veeline::standin::dnn

#endif // VEELINE_TEST_STANDIN_CUDNNINTERPRETER_H
