//===- bench-convolutions.cpp - convolutions beside the library -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times what compiled code calls for a convolution and its adjoints, on one
// thread, in alternation with oneDNN called directly. The direct calls have
// weights in the order that oneDNN asks for. They have x and y in the order of
// the model, or in oneDNN's own, with and without the copies that this takes.
// Our call starts from and ends with plain tensors, weights included.
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Convolution.h"

#include "veeline/Library/OneThread.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dnnl.hpp>
#include <memory>
#include <string_view>

using namespace veeline;
using artifact::Convolution;
using artifact::ConvolutionKind;
using dnnl::memory;

namespace {
struct Shape {
  const char *name;
  /// Channels are those of a group.
  int64_t groups, inputs, outputs, size, kernel, stride, padding, dilation = 1;
};

/// One way to call the library, and its operands.
class Direct {
public:
  Direct(const Convolution &c, bool channelsLast, bool chooses,
         const dnnl::engine &engine);
  /// Uses x and y of our operands, so that both calls find them alike.
  void share(ConvolutionKind kind, char *a, char *b, char *c) {
    auto [x, y] = namesOf(kind);
    bool isOfData = kind == ConvolutionKind::backwardData;
    bool isForward = kind == ConvolutionKind::forward;
    arguments.at(x).set_data_handle(isOfData ? c : a);
    arguments.at(y).set_data_handle(isForward ? c : isOfData ? a : b);
  }
  void run(dnnl::stream &stream) {
    primitive.execute(stream, arguments);
    stream.wait();
  }
  /// Copies x and y from the order of `other` or, where they are the result,
  /// to it.
  void copy(Direct &other, ConvolutionKind kind, dnnl::stream &stream) {
    const auto &[x, y] = namesOf(kind);
    bool givesX = kind == ConvolutionKind::backwardData;
    bool givesY = kind == ConvolutionKind::forward;
    for (auto [name, isResult] : {std::pair(x, givesX), std::pair(y, givesY)}) {
      memory &mine = arguments.at(name), &theirs = other.arguments.at(name);
      if (mine.get_desc() == theirs.get_desc())
        continue;
      memory &from = isResult ? mine : theirs, &to = isResult ? theirs : mine;
      dnnl::reorder(from, to).execute(stream, from, to);
    }
    stream.wait();
  }

private:
  static std::pair<int, int> namesOf(ConvolutionKind kind) {
    return {kind == ConvolutionKind::backwardData ? DNNL_ARG_DIFF_SRC
                                                  : DNNL_ARG_SRC,
            kind == ConvolutionKind::forward ? DNNL_ARG_DST
                                             : DNNL_ARG_DIFF_DST};
  }

  void bind(int name, const memory::desc &description,
            const dnnl::engine &engine) {
    memory buffer(description, engine);
    std::memset(buffer.get_data_handle(), 0, description.get_size());
    arguments.insert({name, buffer});
  }

  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

using Bytes = std::unique_ptr<char, decltype(&std::free)>;
} // namespace

static constexpr int64_t batch = 4;
static constexpr auto f32 = memory::data_type::f32;

Direct::Direct(const Convolution &c, bool channelsLast, bool chooses,
               const dnnl::engine &engine) {
  auto tag = chooses        ? memory::format_tag::any
             : channelsLast ? memory::format_tag::nhwc
                            : memory::format_tag::nchw;
  memory::desc x({c.batch, c.groups * c.inputs, c.xSizes[0], c.xSizes[1]}, f32,
                 tag);
  memory::desc y({c.batch, c.groups * c.outputs, c.ySizes[0], c.ySizes[1]}, f32,
                 tag);
  memory::dims extents{c.outputs, c.inputs, c.wSizes[0], c.wSizes[1]};
  if (c.groups > 1)
    extents.insert(extents.begin(), c.groups);
  memory::desc w(extents, f32, memory::format_tag::any);
  memory::dims dilations, after;
  for (size_t i = 0; i < 2; ++i) {
    dilations.push_back(c.dilations[i] - 1);
    after.push_back((c.ySizes[i] - 1) * c.strides[i] +
                    (c.wSizes[i] - 1) * c.dilations[i] + 1 - c.xSizes[i] -
                    c.padding[i]);
  }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, x, w, y, c.strides, dilations,
       c.padding, after},
      attributes, engine);
  if (c.kind == ConvolutionKind::forward) {
    primitive = dnnl::convolution_forward(forward);
    bind(DNNL_ARG_SRC, forward.src_desc(), engine);
    bind(DNNL_ARG_WEIGHTS, forward.weights_desc(), engine);
    bind(DNNL_ARG_DST, forward.dst_desc(), engine);
    bind(DNNL_ARG_SCRATCHPAD, forward.scratchpad_desc(), engine);
  } else if (c.kind == ConvolutionKind::backwardData) {
    dnnl::convolution_backward_data::primitive_desc backward(
        {direct, x, w, y, c.strides, dilations, c.padding, after}, attributes,
        engine, forward);
    primitive = dnnl::convolution_backward_data(backward);
    bind(DNNL_ARG_DIFF_SRC, backward.diff_src_desc(), engine);
    bind(DNNL_ARG_WEIGHTS, backward.weights_desc(), engine);
    bind(DNNL_ARG_DIFF_DST, backward.diff_dst_desc(), engine);
    bind(DNNL_ARG_SCRATCHPAD, backward.scratchpad_desc(), engine);
  } else {
    dnnl::convolution_backward_weights::primitive_desc backward(
        {direct, x, w, y, c.strides, dilations, c.padding, after}, attributes,
        engine, forward);
    primitive = dnnl::convolution_backward_weights(backward);
    bind(DNNL_ARG_SRC, backward.src_desc(), engine);
    bind(DNNL_ARG_DIFF_WEIGHTS, backward.diff_weights_desc(), engine);
    bind(DNNL_ARG_DIFF_DST, backward.diff_dst_desc(), engine);
    bind(DNNL_ARG_SCRATCHPAD, backward.scratchpad_desc(), engine);
  }
}

static Convolution describe(const Shape &shape, bool channelsLast) {
  Convolution c;
  c.batch = batch;
  c.groups = shape.groups;
  c.inputs = shape.inputs;
  c.outputs = shape.outputs;
  int64_t reach = (shape.kernel - 1) * shape.dilation + 1;
  int64_t size = (shape.size + 2 * shape.padding - reach) / shape.stride + 1;
  c.xSizes.assign(2, shape.size);
  c.ySizes.assign(2, size);
  c.wSizes.assign(2, shape.kernel);
  c.strides.assign(2, shape.stride);
  c.dilations.assign(2, shape.dilation);
  c.padding.assign(2, shape.padding);
  auto arrange = [&](int64_t channels, int64_t extent) {
    int64_t all = c.groups * channels, area = extent * extent;
    return channelsLast ? std::vector<int64_t>{area * all, channels, 1,
                                               extent * all, all}
                        : std::vector<int64_t>{area * all, channels * area,
                                               area, extent, 1};
  };
  c.xStrides = arrange(c.inputs, shape.size);
  c.yStrides = arrange(c.outputs, size);
  int64_t k = shape.kernel, all = c.groups * c.outputs;
  if (channelsLast) // hwcf
    c.wStrides = {c.outputs, 1, all, k * c.inputs * all, c.inputs * all};
  else // fchw
    c.wStrides = {c.outputs * c.inputs * k * k, c.inputs * k * k, k * k, k, 1};
  return c;
}

static Bytes allocate(int64_t bytes) {
  auto size = static_cast<size_t>(bytes / 64 + 2) * 64;
  Bytes memory(static_cast<char *>(std::aligned_alloc(64, size)), &std::free);
  std::memset(memory.get(), 0, size);
  return memory;
}

/// Processor time: other processes do not count.
static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

template <typename Fn> static double secondsOf(Fn &&run) {
  double begin = now();
  run();
  return now() - begin;
}

static double flops(const Convolution &c) {
  return 2.0 * double(c.batch * c.groups * c.outputs * c.inputs) *
         double(c.ySizes[0] * c.ySizes[1] * c.wSizes[0] * c.wSizes[1]);
}

static const char *nameOf(ConvolutionKind kind) {
  return kind == ConvolutionKind::forward        ? "y"
         : kind == ConvolutionKind::backwardData ? "dx"
                                                 : "dw";
}

/// The ratio of our time to the library's.
static double measure(const Shape &shape, bool channelsLast,
                      ConvolutionKind kind) {
  Convolution c = describe(shape, channelsLast);
  c.kind = kind;
  auto prepared = library::prepareConvolution(c);
  if (!prepared.ok()) {
    std::fprintf(stderr, "error: %s\n", prepared.message().c_str());
    std::exit(1);
  }
  int64_t bytes = 4 * c.batch * c.groups *
                  std::max({c.inputs * c.xSizes[0] * c.xSizes[1],
                            c.outputs * c.ySizes[0] * c.ySizes[1],
                            c.inputs * c.outputs * c.wSizes[0] * c.wSizes[1]});
  Bytes first = allocate(bytes), second = allocate(bytes),
        result = allocate(bytes),
        scratch = allocate((*prepared)->scratchBytes());
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  Direct asGiven(c, channelsLast, /*chooses=*/false, engine);
  Direct asChosen(c, channelsLast, /*chooses=*/true, engine);
  asGiven.share(kind, first.get(), second.get(), result.get());
  auto runOurs = [&] {
    (void)(*prepared)->run(first.get(), second.get(), result.get(),
                           scratch.get());
  };
  double ours = 1e9, given = 1e9, chosen = 1e9, copies = 1e9, total = 0;
  for (int i = 0; i < 200 && (i < 9 || total < 0.3); ++i) {
    ours = std::min(ours, secondsOf(runOurs));
    given = std::min(given, secondsOf([&] { asGiven.run(stream); }));
    chosen = std::min(chosen, secondsOf([&] { asChosen.run(stream); }));
    copies = std::min(copies,
                      secondsOf([&] { asChosen.copy(asGiven, kind, stream); }));
    total += ours + given + chosen + copies;
  }
  double library = std::min(given, chosen + copies);
  std::printf("%-26s %-4s %-2s %9.1f %9.1f %9.1f %9.1f %7.1f %6.2f %6.2f  %s\n",
              shape.name, channelsLast ? "nhwc" : "nchw", nameOf(kind),
              ours * 1e6, given * 1e6, chosen * 1e6, copies * 1e6,
              flops(c) / ours * 1e-9, ours / library,
              ours / std::min(given, chosen),
              (*prepared)->implementation().c_str());
  std::fflush(stdout);
  return ours / library;
}

static constexpr Shape shapes[] = {
    {"ResNet 7x7 stride 2", 1, 3, 64, 224, 7, 2, 3},
    {"ResNet 3x3, 64", 1, 64, 64, 56, 3, 1, 1},
    {"ResNet 3x3, 128", 1, 128, 128, 28, 3, 1, 1},
    {"ResNet 3x3, 256", 1, 256, 256, 14, 3, 1, 1},
    {"ResNet 3x3, 512", 1, 512, 512, 7, 3, 1, 1},
    {"ResNet 3x3 stride 2, 128", 1, 64, 128, 56, 3, 2, 1},
    {"ResNet 3x3 stride 2, 512", 1, 256, 512, 14, 3, 2, 1},
    {"ResNet 1x1, 64 to 256", 1, 64, 256, 56, 1, 1, 0},
    {"ResNet 1x1, 512 to 128", 1, 512, 128, 28, 1, 1, 0},
    {"ResNet 1x1, 512 to 2048", 1, 512, 2048, 7, 1, 1, 0},
    {"ResNet 1x1 stride 2", 1, 256, 512, 56, 1, 2, 0},
    {"MobileNet 3x3 stride 2", 1, 3, 32, 224, 3, 2, 1},
    {"MobileNet dw, 32", 32, 1, 1, 112, 3, 1, 1},
    {"MobileNet dw stride 2, 96", 96, 1, 1, 112, 3, 2, 1},
    {"MobileNet dw, 144", 144, 1, 1, 56, 3, 1, 1},
    {"MobileNet dw, 512", 512, 1, 1, 14, 3, 1, 1},
    {"MobileNet dw, 960", 960, 1, 1, 7, 3, 1, 1},
    {"MobileNet 1x1, 24 to 144", 1, 24, 144, 56, 1, 1, 0},
    {"MobileNet 1x1, 512", 1, 512, 512, 14, 1, 1, 0},
    {"groups 4x32, 3x3", 4, 32, 32, 28, 3, 1, 1},
    {"groups 8x16, 3x3", 8, 16, 16, 28, 3, 1, 1},
    {"groups 32x4, 3x3", 32, 4, 4, 56, 3, 1, 1},
    {"dilation 2, 64", 1, 64, 64, 28, 3, 1, 2, 2},
};

int main(int argc, char **argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: bench-convolutions [PART OF A NAME]\n");
    return 1;
  }
  OneThread oneThread;
  std::printf("microseconds of the processor: ours; the library in the model's "
              "order, in its own, "
              "and the copies of x and y for that;\nratios to the library with "
              "and without these copies\n"
              "%-26s %-4s %-2s %9s %9s %9s %9s %7s %6s %6s  %s\n",
              "shape", "", "", "ours", "given", "own", "copies", "GFLOP/s",
              "ratio", "bare", "implementation");
  double product = 0;
  int count = 0;
  for (bool channelsLast : {true, false})
    for (const Shape &shape : shapes) {
      if (argc == 2 &&
          std::string_view(shape.name).find(argv[1]) == std::string_view::npos)
        continue;
      for (ConvolutionKind kind :
           {ConvolutionKind::forward, ConvolutionKind::backwardData,
            ConvolutionKind::backwardWeights}) {
        product += std::log(measure(shape, channelsLast, kind));
        ++count;
      }
    }
  if (count)
    std::printf("geometric mean of the ratios: %.2f\n",
                std::exp(product / count));
  return 0;
}
