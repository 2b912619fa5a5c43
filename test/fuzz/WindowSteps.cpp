//===- WindowSteps.cpp - convolutions of random models --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include <algorithm>

using namespace veeline::fuzz;

/// `x` with a border of zeros around the dimensions from `first` to `last`.
Tensor GraphBuilder::surround(const Tensor &x, size_t first, size_t last) {
  Shape shape = x.shape;
  std::vector<int64_t> low(shape.size()), high(shape.size());
  std::string arguments;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i >= first && i <= last) {
      low[i] = random.below(3);
      high[i] = random.below(2);
      shape[i] += low[i] + high[i];
    }
    arguments += (i ? ", %i" : "%i") + std::to_string(i) + ": index";
  }
  std::string zero = writer.temp("arith.constant 0.0 : " + writer.element());
  return writer.define(
      shape, x.bound,
      "tensor.pad " + x.name() + " low" + listOf(low) + " high" + listOf(high) +
          " {\n  ^bb0(" + arguments + "):\n    tensor.yield " + zero + " : " +
          writer.element() + "\n  } : " + writer.typeOf(x.shape) + " to " +
          writer.typeOf(shape));
}

/// A named convolution of one or two dimensions, channels first or last, dense
/// or depthwise, often with zeros around its data.
void GraphBuilder::addConvolution() {
  Tensor x = pickOfRank(3, 4);
  size_t rank = x.shape.size(), numWindows = rank - 2;
  bool channelsLast = random.chance(0.5), isDepthwise = random.chance(0.3);
  size_t first = channelsLast ? 1 : 2, channel = channelsLast ? rank - 1 : 1;
  if (random.chance(0.5))
    x = surround(x, first, first + numWindows - 1);
  std::vector<int64_t> strides, dilations;
  Shape windows, outputs;
  double bound = x.bound;
  for (size_t i = 0; i < numWindows; ++i) {
    int64_t size = x.shape[first + i];
    windows.push_back(random.between(1, std::min<int64_t>(3, size)));
    bool widens = (windows[i] - 1) * 2 < size && random.chance(0.2);
    dilations.push_back(widens ? 2 : 1);
    strides.push_back(random.between(1, 2));
    outputs.push_back(
        (size - (windows[i] - 1) * dilations[i] - 1) / strides[i] + 1);
    bound *= static_cast<double>(windows[i]);
  }
  int64_t inputs = x.shape[channel];
  int64_t channels = isDepthwise ? inputs : random.between(1, 4);
  Shape weights = windows, shape = outputs;
  if (isDepthwise) {
    weights.insert(channelsLast ? weights.end() : weights.begin(), inputs);
  } else {
    bound *= static_cast<double>(inputs);
    Shape pair =
        channelsLast ? Shape{inputs, channels} : Shape{channels, inputs};
    weights.insert(channelsLast ? weights.end() : weights.begin(), pair.begin(),
                   pair.end());
  }
  shape.insert(channelsLast ? shape.end() : shape.begin(), channels);
  shape.insert(shape.begin(), x.shape[0]);
  Tensor w = valueOf(weights);
  std::string letters = numWindows == 2 ? "hw" : "w";
  std::string data = channelsLast ? letters + "c" : "c" + letters;
  std::string opcode = isDepthwise ? "linalg.depthwise_conv_" : "linalg.conv_";
  opcode += std::to_string(numWindows) + "d_n" + data + "_";
  if (isDepthwise)
    opcode += data;
  else
    opcode += channelsLast ? letters + "cf" : "fc" + letters;
  std::string type = "tensor<" + std::to_string(numWindows) + "xi64>";
  std::string output = writer.typeOf(shape);
  keep(writer.define(
      shape, bound * w.bound,
      opcode + " {strides = dense<" + listOf(strides) + "> : " + type +
          ", dilations = dense<" + listOf(dilations) + "> : " + type +
          "} ins(" + x.name() + ", " + w.name() + " : " +
          writer.typeOf(x.shape) + ", " + writer.typeOf(w.shape) + ") outs(" +
          writer.fill(shape, "0.0") + " : " + output + ") -> " + output));
}
