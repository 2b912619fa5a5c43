//===- Names.h - names of an artifact's enums -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_NAMES_H
#define VEELINE_RUNTIME_ARTIFACT_NAMES_H

#include "veeline/artifact.h"

#include <iterator>

namespace veeline::artifact {

/// The name of each enumerator, in the order of the enum.
template <typename Enum> struct EnumNames;
template <> struct EnumNames<Initializer::Kind> {
  static constexpr std::string_view names[] = {"zeros",  "ones",    "constant",
                                               "normal", "uniform", "values"};
};
template <> struct EnumNames<ConvolutionKind> {
  static constexpr std::string_view names[] = {"forward", "backward-data",
                                               "backward-weights"};
};
template <> struct EnumNames<AttentionKind> {
  static constexpr std::string_view names[] = {"forward", "backward"};
};
template <> struct EnumNames<OpKind> {
  static constexpr std::string_view names[] = {"F",          "BW",
                                               "B",          "W",
                                               "R",          "send",
                                               "recv",       "update",
                                               "all-reduce", "all-reduce-wait",
                                               "norm",       "validate",
                                               "all-gather", "all-gather-wait",
                                               "offload",    "reload"};
};
template <> struct EnumNames<RegionKind> {
  static constexpr std::string_view names[] = {
      "param",    "state",   "gradient",  "residual", "saved",
      "edge",     "message", "workspace", "other",    "input",
      "constant", "library", "settings",  "report"};
};
template <> struct EnumNames<ComputeType> {
  static constexpr std::string_view names[] = {"f32", "tf32", "f64"};
};
template <> struct EnumNames<Epilogue> {
  static constexpr std::string_view names[] = {"none", "bias", "gelu-aux",
                                               "bias-gelu-aux", "dgelu"};
};
template <> struct EnumNames<ClipSync> {
  static constexpr std::string_view names[] = {"none", "barrier", "optimistic"};
};
template <> struct EnumNames<Asynchronous> {
  static constexpr std::string_view names[] = {"none", "double-buffered",
                                               "stashed"};
};
template <> struct EnumNames<Sums> {
  static constexpr std::string_view names[] = {"ordered", "nccl"};
};
template <> struct EnumNames<ChannelKind> {
  static constexpr std::string_view names[] = {"activation",     "gradient",
                                               "param-gradient", "param-value",
                                               "shape",          "norms"};
};

template <typename Enum> std::string_view enumName(Enum value) {
  return EnumNames<Enum>::names[static_cast<size_t>(value)];
}

template <typename Enum> std::optional<Enum> parseEnum(std::string_view text) {
  for (size_t i = 0; i < std::size(EnumNames<Enum>::names); ++i)
    if (EnumNames<Enum>::names[i] == text)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_NAMES_H
