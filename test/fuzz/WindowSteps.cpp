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

Windows GraphBuilder::chooseWindows(const Tensor &x, size_t first,
                                    size_t count) {
  Windows chosen;
  for (size_t i = 0; i < count; ++i) {
    int64_t size = x.shape[first + i];
    int64_t window = random.between(1, std::min<int64_t>(3, size));
    int64_t dilation = (window - 1) * 2 < size && random.chance(0.2) ? 2 : 1;
    int64_t stride = random.between(1, 2);
    chosen.sizes.push_back(window);
    chosen.dilations.push_back(dilation);
    chosen.strides.push_back(stride);
    chosen.outputs.push_back((size - (window - 1) * dilation - 1) / stride + 1);
  }
  return chosen;
}

/// The text of an op over windows.
static std::string windowText(const ModelWriter &writer,
                              const std::string &opcode, const Windows &windows,
                              const Tensor &x, const std::string &window,
                              const std::string &windowType,
                              const std::string &init, const Shape &shape) {
  std::string list = "tensor<" + std::to_string(windows.sizes.size()) + "xi64>";
  std::string output = writer.typeOf(shape);
  return opcode + " {strides = dense<" + listOf(windows.strides) +
         "> : " + list + ", dilations = dense<" + listOf(windows.dilations) +
         "> : " + list + "} ins(" + x.name() + ", " + window + " : " +
         writer.typeOf(x.shape) + ", " + windowType + ") outs(" + init + " : " +
         output + ") -> " + output;
}

/// Sometimes adds two in a row, with nothing but zero padding between them.
void GraphBuilder::addConvolution() {
  convolve(pickOfRank(3, 4));
  if (random.chance(0.3))
    convolve(pool.back());
}

/// A named convolution of one or two dimensions, channels first or last, dense
/// or depthwise, often with zeros around its data.
void GraphBuilder::convolve(Tensor x) {
  size_t rank = x.shape.size(), numWindows = rank - 2;
  bool channelsLast = random.chance(0.5), isDepthwise = random.chance(0.3);
  // With channels last, there is a form whose weights have output channels
  // first.
  bool outputsFirst = channelsLast && numWindows == 2 && random.chance(0.3);
  size_t first = channelsLast ? 1 : 2, channel = channelsLast ? rank - 1 : 1;
  if (random.chance(0.5))
    x = surround(x, first, first + numWindows - 1);
  Windows windows = chooseWindows(x, first, numWindows);
  double bound = x.bound * static_cast<double>(numElements(windows.sizes));
  int64_t inputs = x.shape[channel];
  int64_t channels = isDepthwise ? inputs : random.between(1, 4);
  Shape weights = windows.sizes, shape = windows.outputs;
  if (isDepthwise) {
    weights.insert(channelsLast ? weights.end() : weights.begin(), inputs);
  } else if (outputsFirst) {
    bound *= static_cast<double>(inputs);
    weights.insert(weights.begin(), channels);
    weights.push_back(inputs);
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
    opcode += !channelsLast  ? "fc" + letters
              : outputsFirst ? "f" + letters + "c"
                             : letters + "cf";
  keep(writer.define(shape, bound * w.bound,
                     windowText(writer, opcode, windows, x, w.name(),
                                writer.typeOf(w.shape),
                                writer.fill(shape, "0.0"), shape)));
}

/// Convolutions with groups, in the forms that torch and TFLite export: the
/// channels of a tensor of rank 4 are divided into groups for the convolution.
void GraphBuilder::addGroupedConvolution() {
  Tensor x = pickOfRank(4, 4);
  bool channelsLast = random.chance(0.4);
  size_t first = channelsLast ? 1 : 2, channel = channelsLast ? 3 : 1;
  if (random.chance(0.5))
    x = surround(x, first, first + 1);
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i <= x.shape[channel]; ++i)
    if (x.shape[channel] % i == 0)
      divisors.push_back(i);
  int64_t groups = random.oneOf(divisors), inputs = x.shape[channel] / groups;
  int64_t outputs = random.between(1, 3);
  Windows windows = chooseWindows(x, first, 2);
  auto divide = [&](Shape shape, int64_t second) {
    shape[channel] = groups;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(channel) + 1,
                 second);
    return shape;
  };
  std::string folded =
      channelsLast ? "[[0], [1], [2], [3, 4]]" : "[[0], [1, 2], [3], [4]]";
  Shape divided = divide(x.shape, inputs);
  Tensor image = writer.define(divided, x.bound,
                               "tensor.expand_shape " + x.name() + " " +
                                   folded + " output_shape " + listOf(divided) +
                                   " : " + writer.typeOf(x.shape) + " into " +
                                   writer.typeOf(divided));
  bool groupsFirst = channelsLast || random.chance(0.5);
  Shape weights = channelsLast  ? Shape{groups, outputs, 0, 0, inputs}
                  : groupsFirst ? Shape{groups, outputs, inputs, 0, 0}
                                : Shape{outputs, groups, inputs, 0, 0};
  std::copy(windows.sizes.begin(), windows.sizes.end(),
            weights.begin() + (channelsLast ? 2 : 3));
  Tensor w = valueOf(weights);
  Shape whole = {x.shape[0], windows.outputs[0], windows.outputs[1]};
  whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(channel),
               groups * outputs);
  Shape shape = divide(whole, outputs);
  std::string opcode = channelsLast  ? "linalg.conv_2d_nhwgc_gfhwc"
                       : groupsFirst ? "linalg.conv_2d_ngchw_gfchw"
                                     : "linalg.conv_2d_ngchw_fgchw";
  double bound = x.bound * w.bound *
                 static_cast<double>(numElements(windows.sizes) * inputs);
  Tensor result = writer.define(shape, bound,
                                windowText(writer, opcode, windows, image,
                                           w.name(), writer.typeOf(w.shape),
                                           writer.fill(shape, "0.0"), shape));
  keep(writer.define(whole, bound,
                     "tensor.collapse_shape " + result.name() + " " + folded +
                         " : " + writer.typeOf(shape) + " into " +
                         writer.typeOf(whole)));
}

/// Sums and maxima over windows, channels first or last.
void GraphBuilder::addPooling() {
  Tensor x = pickOfRank(3, 4);
  size_t numWindows = x.shape.size() - 2;
  bool channelsLast = random.chance(0.5), isSum = random.chance(0.5);
  size_t first = channelsLast ? 1 : 2;
  if (isSum && random.chance(0.4))
    x = surround(x, first, first + numWindows - 1);
  Windows windows = chooseWindows(x, first, numWindows);
  Shape shape = x.shape;
  std::copy(windows.outputs.begin(), windows.outputs.end(),
            shape.begin() + static_cast<std::ptrdiff_t>(first));
  std::string letters = numWindows == 2 ? "hw" : "w";
  std::string opcode = "linalg.pooling_n" +
                       (channelsLast ? letters + "c" : "c" + letters) +
                       (isSum ? "_sum" : "_max");
  double bound =
      x.bound * static_cast<double>(isSum ? numElements(windows.sizes) : 1);
  std::string window = writer.empty(windows.sizes);
  std::string init =
      writer.fill(shape, isSum ? "0.0" : writer.infinity(/*negative=*/true));
  keep(writer.define(shape, bound,
                     windowText(writer, opcode, windows, x, window,
                                writer.typeOf(windows.sizes), init, shape)));
}
