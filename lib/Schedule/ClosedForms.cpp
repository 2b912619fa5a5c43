//===- ClosedForms.cpp - published formulas for schedules -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/ClosedForms.h"

#include <algorithm>
#include <cmath>

using namespace veeline::schedule;

const char *veeline::schedule::toString(FormKind kind) {
  switch (kind) {
  case FormKind::Exact:
    return "=";
  case FormKind::AtMost:
    return "<=";
  case FormKind::Approximate:
    return "~";
  }
  return "?";
}

namespace {
constexpr std::string_view gpipe = "Huang et al. 2019, arXiv:1811.06965";
constexpr std::string_view pipeDream = "Harlap et al. 2018, arXiv:1806.03377";
constexpr std::string_view flush = "Narayanan et al. 2021, arXiv:2006.09503";
constexpr std::string_view megatron = "Narayanan et al. 2021, arXiv:2104.04473";
constexpr std::string_view eager = "Zhuang et al. 2022, arXiv:2211.05322";
constexpr std::string_view breadthFirst = "Lamy-Poirier 2022, arXiv:2211.05953";
constexpr std::string_view hanayo = "Liu et al. 2023, arXiv:2308.15762";
constexpr std::string_view zeroBubble = "Qi et al. 2024, arXiv:2401.10241";
constexpr std::string_view controllable = "Qi et al. 2024, arXiv:2405.15362";
constexpr std::string_view dualPipe = "DeepSeek-AI 2024, arXiv:2412.19437";
constexpr std::string_view counting = "counted: one message for each crossing";

/// The kinds of placements whose messages differ.
enum class Path { Linear, Interleaved, Wave, Any };

/// The sizes and costs of one schedule, as doubles to compute with.
struct Input {
  int stages, chunksPerStage, microbatches;
  double p, v, m, f, b, w;

  double work() const { return m * (f + b + w); }
};

struct Entry {
  std::string_view name;
  Path path;
  void (*fill)(const Input &, ClosedForms &);
};
} // namespace

static Form exact(double value, std::string_view formula,
                  std::string_view source) {
  return {value, FormKind::Exact, formula, source};
}
static Form approximate(double value, std::string_view formula,
                        std::string_view source) {
  return {value, FormKind::Approximate, formula, source};
}

/// The share of waiting in waiting and work together; 0 if nothing waits.
static double share(double bubble, double work) {
  return bubble > 0 ? bubble / (bubble + work) : 0;
}

/// Sets the activations as a function of the stage.
template <typename Count>
static void setActivations(const Input &in, ClosedForms &forms, Count count,
                           FormKind kind, std::string_view formula,
                           std::string_view source) {
  for (int stage = 0; stage < in.stages; ++stage)
    forms.activationsOfStage.push_back(count(stage));
  forms.activations = {*std::max_element(forms.activationsOfStage.begin(),
                                         forms.activationsOfStage.end()),
                       kind, formula, source};
}

static void fillSequential(const Input &in, ClosedForms &forms) {
  forms.bubble = exact(1 - 1 / in.p, "1 - 1/p", gpipe);
  setActivations(
      in, forms, [](int) { return 1; }, FormKind::Exact, "1", gpipe);
}

static void fillFlush(const Input &in, ClosedForms &forms,
                      std::string_view source) {
  forms.bubble = exact((in.p - 1) / (in.m + in.p - 1), "(p-1)/(m+p-1)", source);
  forms.bubbleToWork = exact((in.p - 1) / in.m, "(p-1)/m", megatron);
}

static void fillGPipe(const Input &in, ClosedForms &forms) {
  fillFlush(in, forms, gpipe);
  setActivations(
      in, forms, [&](int) { return in.m; }, FormKind::Exact, "m", gpipe);
}

static void fillOneForwardOneBackward(const Input &in, ClosedForms &forms) {
  fillFlush(in, forms, flush);
  setActivations(
      in, forms, [&](int stage) { return std::min(in.p - stage, in.m); },
      FormKind::Exact, "min(p-s, m)", flush);
}

static void fillEager(const Input &in, ClosedForms &forms) {
  if (in.b + in.w >= in.f)
    fillFlush(in, forms, eager);
  setActivations(
      in, forms,
      [&](int stage) { return std::min(2 * (in.p - stage) - 1, in.m); },
      FormKind::AtMost, "min(2(p-s)-1, m)", eager);
}

/// Stage s runs 2(p-s-1) + (v-1)g forwards to warm up, and one more before its
/// first backward.
static void setInterleavedActivations(const Input &in, double group,
                                      std::string_view formula,
                                      ClosedForms &forms) {
  setActivations(
      in, forms,
      [&](int stage) {
        double chunks = 2 * (in.p - stage - 1) + (in.v - 1) * group + 1;
        return std::min(chunks, in.v * in.m) / in.v;
      },
      FormKind::Exact, formula, megatron);
}

static void setInterleavedBubble(const Input &in, ClosedForms &forms) {
  forms.bubble =
      exact((in.p - 1) / (in.v * in.m + in.p - 1), "(p-1)/(vm+p-1)", megatron);
  forms.bubbleToWork =
      exact((in.p - 1) / (in.v * in.m), "(1/v)(p-1)/m", megatron);
}

/// The remainder m mod p joins the last group, so the bubble stays the same. If
/// m < p, every change of chunk waits for p-m more.
static void fillInterleaved(const Input &in, ClosedForms &forms) {
  int rest = in.microbatches % in.stages;
  bool isFew = in.microbatches < in.stages;
  if (isFew)
    forms.bubble =
        exact(1 - in.v * in.m / (in.v * in.p + in.m - 1), "1-vm/(vp+m-1), m<p",
              "counted for groups that are smaller than p");
  else
    setInterleavedBubble(in, forms);
  if (rest == 0)
    setInterleavedActivations(in, in.p, "min(2(p-s-1)+(v-1)p+1, vm)/v", forms);
  else
    setInterleavedActivations(
        in, isFew ? in.m : in.p + rest,
        isFew ? "min(2(p-s-1)+(v-1)g+1, vm)/v, last group g=m"
              : "min(2(p-s-1)+(v-1)g+1, vm)/v, last group g=p+m mod p",
        forms);
}

static void fillRemainder(const Input &in, ClosedForms &forms) {
  if (in.microbatches % in.stages == 0)
    setInterleavedBubble(in, forms);
  setInterleavedActivations(in, in.p, "min(2(p-s-1)+(v-1)p+1, vm)/v", forms);
}

static void fillBreadthFirst(const Input &in, ClosedForms &forms) {
  if (in.m >= in.p) {
    forms.bubble = exact((in.p - 1) / (in.v * in.m + in.p - 1),
                         "(p-1)/(vm+p-1)", breadthFirst);
    forms.bubbleToWork =
        exact((in.p - 1) / (in.v * in.m), "(p-1)/(vm)", breadthFirst);
  }
  setActivations(
      in, forms, [&](int) { return in.m; }, FormKind::Exact, "m", breadthFirst);
}

static void fillHanayo(const Input &in, ClosedForms &forms) {
  setActivations(
      in, forms, [&](int) { return std::min(in.p, in.m); }, FormKind::AtMost,
      "min(p, m)", hanayo);
}

static void fillZeroBubbleH1(const Input &in, ClosedForms &forms) {
  if (in.m >= in.p && in.w <= std::min(in.f, in.b)) {
    double bubble = (in.p - 1) * (in.f + in.b - in.w);
    forms.bubble = exact(share(bubble, in.work()),
                         "X/(m(F+B+W)+X), X=(p-1)(F+B-W)", zeroBubble);
    if (in.work() > 0)
      forms.bubbleToWork =
          exact(bubble / in.work(), "(p-1)(F+B-W)/(m(F+B+W))", zeroBubble);
  }
  setActivations(
      in, forms, [&](int) { return in.p; }, FormKind::AtMost, "p", zeroBubble);
}

static void fillZeroBubbleH2(const Input &in, ClosedForms &forms) {
  if (in.m >= 2 * in.p - 1 && in.w <= std::min(in.f, in.b))
    forms.bubbleOfSpan =
        exact(share((in.p - 1) * (in.f + in.b - 2 * in.w), in.work()),
              "X/(m(F+B+W)+X), X=(p-1)(F+B-2W)", zeroBubble);
  setActivations(
      in, forms, [&](int) { return 2 * in.p - 1; }, FormKind::AtMost, "2p-1",
      zeroBubble);
}

static bool isEven(const Input &in) { return in.f == in.b && in.b == in.w; }

static void fillZeroBubble1P(const Input &in, ClosedForms &forms) {
  if (isEven(in) && in.m >= in.p)
    forms.bubble = exact((in.p - 1) / (3 * in.m + in.p - 1),
                         "(p-1)/(3m+p-1), F=B=W", zeroBubble);
  setActivations(
      in, forms, [&](int) { return in.p; }, FormKind::AtMost, "p", zeroBubble);
}

static void fillZeroBubble2P(const Input &in, ClosedForms &forms) {
  if (isEven(in) && in.m >= 2 * in.p - 1)
    forms.bubbleOfSpan = approximate(0, "0 where F=B=W", zeroBubble);
  setActivations(
      in, forms, [&](int) { return 2 * in.p; }, FormKind::AtMost, "2p",
      zeroBubble);
}

static void fillZeroBubbleV(const Input &in, ClosedForms &forms) {
  if (isEven(in) && in.m >= 2 * in.p)
    forms.bubbleOfSpan = approximate(0, "0 where F=B=W", zeroBubble);
  setActivations(
      in, forms, [&](int) { return in.p; }, FormKind::AtMost, "p", zeroBubble);
}

static void fillVHalf(const Input &in, ClosedForms &forms) {
  setActivations(
      in, forms, [&](int) { return std::floor((in.p + 2) / 2); },
      FormKind::AtMost, "floor((p+2)/2)", controllable);
}

static void fillVMin(const Input &in, ClosedForms &forms) {
  setActivations(
      in, forms, [&](int) { return std::floor((in.p + 4) / 3); },
      FormKind::AtMost, "floor((p+4)/3)", controllable);
}

static void fillDualPipeV(const Input &in, ClosedForms &forms) {
  if (in.f == in.b && in.w <= in.f && in.m >= 2 * in.p)
    forms.bubble =
        exact(share((in.p - 1) * (2 * in.f - in.w) / 2, in.work()),
              "X/(m(F+B+W)+X), X=(p-1)(F+B-W)/2, F=B, no overlap", dualPipe);
  setActivations(
      in, forms, [&](int) { return in.p + 0.5; }, FormKind::AtMost, "p+1/2",
      dualPipe);
}

static void fillPipeDream(const Input &in, ClosedForms &forms) {
  setActivations(
      in, forms, [&](int stage) { return std::min(in.p - stage, in.m); },
      FormKind::AtMost, "min(p-s, m)", pipeDream);
}

static void fillNothing(const Input &, ClosedForms &) {}

static constexpr Entry entries[] = {
    {"sequential", Path::Any, fillSequential},
    {"gpipe", Path::Linear, fillGPipe},
    {"1f1b", Path::Linear, fillOneForwardOneBackward},
    {"eager-1f1b", Path::Linear, fillEager},
    {"interleaved-1f1b", Path::Interleaved, fillInterleaved},
    {"interleaved-1f1b-remainder", Path::Interleaved, fillRemainder},
    {"looped-bfs", Path::Interleaved, fillBreadthFirst},
    {"hanayo", Path::Wave, fillHanayo},
    {"zb-h1", Path::Linear, fillZeroBubbleH1},
    {"zb-h2", Path::Linear, fillZeroBubbleH2},
    {"zb-1p", Path::Linear, fillZeroBubble1P},
    {"zb-2p", Path::Linear, fillZeroBubble2P},
    {"interleaved-zb", Path::Interleaved, fillNothing},
    {"zb-v-reference", Path::Wave, fillZeroBubbleV},
    {"zb-v", Path::Wave, fillZeroBubbleV},
    {"zb-wave", Path::Wave, fillNothing},
    {"v-half", Path::Wave, fillVHalf},
    {"v-min", Path::Wave, fillVMin},
    {"dualpipe-v", Path::Wave, fillDualPipeV},
    {"pipedream", Path::Linear, fillPipeDream},
    {"pipedream-2bw", Path::Linear, fillPipeDream},
};

/// The messages of one microbatch: one from each chunk to the next, unless a
/// wave turns on a stage, and as many gradients back.
static Form messages(Path path, const Input &in) {
  if (in.stages == 1)
    return exact(0, "0", counting);
  if (in.chunksPerStage == 1)
    return exact(2 * (in.p - 1), "2(p-1)", counting);
  if (path == Path::Wave)
    return exact(2 * in.v * (in.p - 1), "2v(p-1)", counting);
  return exact(2 * (in.p * in.v - 1), "2(pv-1)", counting);
}

Expected<ClosedForms> veeline::schedule::closedForms(std::string_view name,
                                                     int p, int v, int m,
                                                     const OpValues &cost) {
  auto entry =
      std::find_if(std::begin(entries), std::end(entries),
                   [&](const Entry &other) { return other.name == name; });
  if (entry == std::end(entries))
    return Error{ErrorKind::UnknownSchedule,
                 "no closed forms are known for schedule '" +
                     std::string(name) + "'"};
  if (p < 1 || v < 1 || m < 1)
    return Error{ErrorKind::NotApplicable,
                 "closed forms need at least 1 stage, 1 chunk per stage and 1 "
                 "microbatch, not " +
                     std::to_string(p) + ", " + std::to_string(v) + " and " +
                     std::to_string(m)};
  bool fits = entry->path == Path::Linear ? v == 1
              : entry->path == Path::Wave ? v >= 2
                                          : true;
  if (!fits)
    return Error{ErrorKind::NotApplicable,
                 "schedule " + std::string(name) + " does not have " +
                     std::to_string(v) +
                     (v == 1 ? " chunk per stage" : " chunks per stage")};
  Input in{p,
           v,
           m,
           static_cast<double>(p),
           static_cast<double>(v),
           static_cast<double>(m),
           cost.forward,
           cost.backwardInput,
           cost.backwardWeight};
  ClosedForms forms{.bubble = std::nullopt,
                    .bubbleOfSpan = std::nullopt,
                    .bubbleToWork = std::nullopt,
                    .activations = std::nullopt,
                    .activationsOfStage = {},
                    .messages = messages(entry->path, in)};
  entry->fill(in, forms);
  return forms;
}

double veeline::schedule::activationBytes(double count, double layers,
                                          double layerBytes) {
  return count * layers * layerBytes;
}

double veeline::schedule::recomputedActivationBytes(double count,
                                                    double boundaryBytes,
                                                    double alpha, double layers,
                                                    double layerBytes) {
  return count * boundaryBytes + alpha * layers * layerBytes;
}
