//===- CudnnInterpreter.cpp - graphs of cuDNN's, on the host --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudnnInterpreter.h"
#include "Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace veeline;
using namespace veeline::standin::dnn;
namespace api = veeline::cuda::api;

static constexpr size_t maxRank = 8;

int64_t Tensor::span() const {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

static bool isHalf(int type) {
  return type == api::dnnHalf || type == api::dnnBfloat16;
}

int64_t Tensor::elementBytes() const {
  return type == api::dnnBoolean ? 1 : isHalf(type) ? 2 : 4;
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

static bool isPowerOfTwo(int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

int standin::dnn::check(const Tensor &tensor) {
  bool isKnown = isHalf(tensor.type) || tensor.type == api::dnnFloat ||
                 tensor.type == api::dnnInt32 || tensor.type == api::dnnBoolean;
  if (!isKnown)
    return unsupportedType;
  if (tensor.sizes.empty() || tensor.sizes.size() > maxRank ||
      tensor.strides.size() != tensor.sizes.size())
    return badShape;
  auto isPositive = [](int64_t number) { return number >= 1; };
  if (!std::all_of(tensor.sizes.begin(), tensor.sizes.end(), isPositive) ||
      !std::all_of(tensor.strides.begin(), tensor.strides.end(), isPositive) ||
      !isPowerOfTwo(tensor.alignment) ||
      (tensor.isVirtual && tensor.isByValue) ||
      (tensor.isByValue && tensor.span() != 1))
    return badParam;
  return 0;
}

/// Whether `small` has the sizes of `large`, or 1.
static bool isBroadcast(const List &small, const List &large) {
  if (small.size() != large.size())
    return false;
  for (size_t i = 0; i < small.size(); ++i)
    if (small[i] != large[i] && small[i] != 1)
      return false;
  return true;
}

static int checkPointwise(const Node &node) {
  bool isSelect = node.mode == api::pointwiseSelect;
  bool isIndex = node.mode == api::pointwiseIndex;
  bool isCompare = node.mode == api::pointwiseCompareGe;
  bool isBinary = isSelect || isCompare || node.mode == api::pointwiseAdd ||
                  node.mode == api::pointwiseMul ||
                  node.mode == api::pointwiseDiv ||
                  node.mode == api::pointwiseSub;
  bool isUnary = isIndex || node.mode == api::pointwiseExp ||
                 node.mode == api::pointwiseLog ||
                 node.mode == api::pointwiseIdentity;
  if (!isBinary && !isUnary)
    return unsupportedPattern;
  if (isBinary != node.b.has_value() || isSelect != node.t.has_value() ||
      isIndex != (node.axis >= 0) ||
      node.axis >= static_cast<int64_t>(node.x.sizes.size()))
    return badParam;
  for (const Tensor *operand :
       {&node.x, node.b ? &*node.b : nullptr, node.t ? &*node.t : nullptr})
    if (operand && !isBroadcast(operand->sizes, node.y.sizes))
      return badShape;
  if (isSelect && node.t->type != api::dnnBoolean)
    return unsupportedType;
  return isCompare == (node.y.type == api::dnnBoolean) ? 0 : unsupportedType;
}

/// [batch..., m, k] * [batch..., k, n]; several entries of one batch may share
/// an entry of the other.
static int checkMatmul(const Node &node) {
  const List &a = node.x.sizes, &b = node.b->sizes, &c = node.y.sizes;
  size_t rank = a.size();
  if (rank < 3 || b.size() != rank || c.size() != rank ||
      a[rank - 1] != b[rank - 2] || a[rank - 2] != c[rank - 2] ||
      b[rank - 1] != c[rank - 1])
    return badShape;
  for (size_t i = 0; i + 2 < rank; ++i)
    if (c[i] != std::max(a[i], b[i]) || c[i] % a[i] != 0 || c[i] % b[i] != 0)
      return badShape;
  return 0;
}

static int checkReduction(const Node &node) {
  const List &from = node.x.sizes, &to = node.y.sizes;
  if (from.size() != to.size())
    return badShape;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] % to[i] != 0)
      return badShape;
  return node.mode == api::reduceAdd || node.mode == api::reduceMax
             ? 0
             : unsupportedPattern;
}

int standin::dnn::check(const Node &node) {
  switch (node.kind) {
  case NodeKind::pointwise:
    return checkPointwise(node);
  case NodeKind::matmul:
    return checkMatmul(node);
  case NodeKind::reduction:
    return checkReduction(node);
  case NodeKind::reshape:
    break;
  }
  int64_t from = 1, to = 1;
  for (int64_t size : node.x.sizes)
    from *= size;
  for (int64_t size : node.y.sizes)
    to *= size;
  return from == to && node.x.span() == node.y.span() && node.y.isVirtual
             ? 0
             : badShape;
}

/// Each identifier is one tensor. It is written at most once, and before it is
/// read; a virtual one must be written.
int standin::dnn::check(const Graph &graph) {
  std::map<int64_t, Tensor> tensors;
  std::set<int64_t> written, read;
  for (const Node &node : graph) {
    std::vector<Tensor> all = {node.x};
    if (node.b)
      all.push_back(*node.b);
    if (node.t)
      all.push_back(*node.t);
    for (const Tensor &operand : all) {
      if (operand.isVirtual && !written.count(operand.id))
        return badParam;
      read.insert(operand.id);
    }
    all.push_back(node.y);
    for (const Tensor &tensor : all)
      if (!(tensors.try_emplace(tensor.id, tensor).first->second == tensor))
        return duplicatedEntries;
    if (node.y.isByValue || read.count(node.y.id) ||
        !written.insert(node.y.id).second)
      return badParam;
  }
  return graph.empty() ? badParam : 0;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static standin::Element elementOf(int type) {
  return type == api::dnnHalf       ? standin::Element::f16
         : type == api::dnnBfloat16 ? standin::Element::bf16
                                    : standin::Element::f32;
}

static float load(int type, const char *place) {
  return type == api::dnnBoolean
             ? static_cast<float>(*place != 0)
             : static_cast<float>(standin::elementAt(elementOf(type), place));
}

static void store(int type, char *place, float value) {
  standin::store(elementOf(type), place, value);
}

static float roundTo(int type, float value) {
  // What a comparison gives is stored as bytes, and computed with as it is.
  if (type == api::dnnBoolean)
    return value;
  char place[sizeof(float)];
  store(type, place, value);
  return load(type, place);
}

static bool advance(List &index, const List &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

/// The offset of `index` in a tensor, which is broadcast along dimensions of
/// size 1.
static int64_t placeOf(const List &index, const Tensor &tensor) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i)
    sum += tensor.sizes[i] == 1 ? 0 : index[i] * tensor.strides[i];
  return sum;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// The values of a tensor, by offset.
using Values = std::vector<float>;

class Interpreter {
public:
  Interpreter(const std::map<int64_t, char *> &places, int64_t split)
      : places(places), split(split) {}

  void run(const Node &node);

private:
  const Values &read(const Tensor &tensor);
  void pointwise(const Node &node, Values &result);
  void matmul(const Node &node, Values &result);
  void reduce(const Node &node, Values &result);
  void write(const Tensor &tensor, const Values &values);

  const std::map<int64_t, char *> &places;
  int64_t split;
  std::map<int64_t, Values> values;
};
} // namespace

const Values &Interpreter::read(const Tensor &tensor) {
  auto [it, isNew] = values.try_emplace(tensor.id);
  if (!isNew)
    return it->second;
  it->second.assign(static_cast<size_t>(tensor.span()), 0);
  const char *place = places.at(tensor.id);
  List index(tensor.sizes.size());
  do {
    int64_t at = placeOf(index, tensor);
    it->second[at] = load(tensor.type, place + at * tensor.elementBytes());
  } while (advance(index, tensor.sizes));
  return it->second;
}

static float apply(int mode, float x, float b, bool t) {
  switch (mode) {
  case api::pointwiseAdd:
    return x + b;
  case api::pointwiseMul:
    return x * b;
  case api::pointwiseDiv:
    return x / b;
  case api::pointwiseSub:
    return x - b;
  case api::pointwiseExp:
    return std::exp(x);
  case api::pointwiseLog:
    return std::log(x);
  case api::pointwiseCompareGe:
    return x >= b;
  case api::pointwiseSelect:
    return t ? x : b;
  default:
    return x;
  }
}

void Interpreter::pointwise(const Node &node, Values &result) {
  const Values &x = read(node.x);
  const Values *b = node.b ? &read(*node.b) : nullptr;
  const Values *t = node.t ? &read(*node.t) : nullptr;
  List index(node.y.sizes.size());
  do {
    float value = node.mode == api::pointwiseIndex
                      ? static_cast<float>(index[node.axis])
                      : apply(node.mode, x[placeOf(index, node.x)],
                              b ? (*b)[placeOf(index, *node.b)] : 0,
                              t && (*t)[placeOf(index, *node.t)] != 0);
    result[placeOf(index, node.y)] = value;
  } while (advance(index, node.y.sizes));
}

/// The index in an operand, whose batch may have fewer entries, for `index` in
/// the product.
static List shared(const List &index, const List &sizes, const List &product) {
  List own = index;
  for (size_t i = 0; i + 2 < index.size(); ++i)
    own[i] = index[i] / (product[i] / sizes[i]);
  return own;
}

/// Tensor cores take operands of one type: an operand in f32 is rounded to the
/// type of the other one.
void Interpreter::matmul(const Node &node, Values &result) {
  const Values &a = read(node.x), &b = read(*node.b);
  size_t rank = node.y.sizes.size();
  int64_t depth = node.x.sizes[rank - 1];
  int type = isHalf(node.x.type) ? node.x.type : node.b->type;
  List index(rank);
  do {
    List ofA = shared(index, node.x.sizes, node.y.sizes);
    List ofB = shared(index, node.b->sizes, node.y.sizes);
    float parts[2] = {};
    for (int64_t k = 0; k < depth; ++k) {
      ofA[rank - 1] = ofB[rank - 2] = k;
      parts[k < split % depth] += roundTo(type, a[placeOf(ofA, node.x)]) *
                                  roundTo(type, b[placeOf(ofB, *node.b)]);
    }
    if (split)
      for (float &part : parts)
        part = roundTo(type, part);
    result[placeOf(index, node.y)] = parts[0] + parts[1];
  } while (advance(index, node.y.sizes));
}

void Interpreter::reduce(const Node &node, Values &result) {
  const Values &x = read(node.x);
  bool isSum = node.mode == api::reduceAdd;
  std::fill(result.begin(), result.end(),
            isSum ? 0 : -std::numeric_limits<float>::infinity());
  List index(node.x.sizes.size());
  do {
    List to = index;
    for (size_t i = 0; i < index.size(); ++i)
      to[i] = index[i] / (node.x.sizes[i] / node.y.sizes[i]);
    float &place = result[placeOf(to, node.y)];
    float value = x[placeOf(index, node.x)];
    place = isSum ? place + value : std::max(place, value);
  } while (advance(index, node.x.sizes));
}

void Interpreter::write(const Tensor &tensor, const Values &found) {
  char *place = places.at(tensor.id);
  List index(tensor.sizes.size());
  do {
    int64_t at = placeOf(index, tensor);
    store(tensor.type, place + at * tensor.elementBytes(), found[at]);
  } while (advance(index, tensor.sizes));
}

void Interpreter::run(const Node &node) {
  Values result(static_cast<size_t>(node.y.span()));
  switch (node.kind) {
  case NodeKind::pointwise:
    pointwise(node, result);
    break;
  case NodeKind::matmul:
    matmul(node, result);
    break;
  case NodeKind::reduction:
    reduce(node, result);
    break;
  case NodeKind::reshape:
    result = read(node.x);
    break;
  }
  for (float &value : result)
    value = roundTo(node.y.type, value);
  if (!node.y.isVirtual)
    write(node.y, result);
  values[node.y.id] = std::move(result);
}

void standin::dnn::run(const Graph &graph,
                       const std::map<int64_t, char *> &places, int64_t split) {
  Interpreter interpreter(places, split);
  for (const Node &node : graph)
    interpreter.run(node);
}
