//===- library_calls.h - descriptions of library calls ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The descriptions of matrix products, convolutions and attentions, which a
// step calls by number. Each is an entry of a table of its rank in the artifact
// (artifact.h). This header also has the element types of tensors in artifacts.
//
// Offsets and sizes are bytes, strides are elements, indices count from 0.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_CALLS_H
#define VEELINE_LIBRARY_CALLS_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace veeline::artifact {

enum class DataType { f32, f64, bf16, f16, i1, i8, i16, i32, i64 };

/// "f32", "i64", ...
std::string_view name(DataType type);
/// Bytes of one element in memory.
int64_t byteSize(DataType type);
/// The inverse of name(); none if `text` names no type.
std::optional<DataType> parseDataType(std::string_view text);

/// The product of the extents of `shape`; 1 for a scalar.
int64_t numElements(const std::vector<int64_t> &shape);
/// The bytes of a tensor without gaps.
int64_t bytesOf(DataType type, const std::vector<int64_t> &shape);

/// The type in which a matrix product or a convolution multiplies. Sums are in
/// f32, or in f64 for f64.
enum class ComputeType {
  f32,
  tf32, ///< Rounds f32 operands to 10 bits of the fraction.
  f64
};

/// The default ComputeType for operands of this type.
ComputeType computeTypeOf(DataType type);

/// The function that a matrix product applies to its result before it stores
/// it.
enum class Epilogue {
  none,
  bias, ///< Adds one number for each column.
  /// Stores the result in aux, then applies the tanh approximation of GELU.
  geluAux,
  biasGeluAux, ///< Likewise, after adding a bias.
  dgelu        ///< Multiplies by the derivative of GELU at aux.
};

/// Whether veeline_gemm_bias or veeline_gemm_aux takes a bias.
constexpr bool hasBias(Epilogue epilogue) {
  return epilogue == Epilogue::bias || epilogue == Epilogue::biasGeluAux;
}
/// Whether the call is veeline_gemm_aux. aux is a matrix of c's type and
/// strides.
constexpr bool hasAux(Epilogue epilogue) {
  return epilogue >= Epilogue::geluAux;
}

/// One entry of a rank's table of matrix products: c = a * b over all batch
/// indices. `a` is [batch..., m, k], `b` is [batch..., k, n], and `c` is
/// [batch..., m, n]. Each has one stride for each dimension, in that order. So
/// a transpose needs only other strides, and a broadcast batch dimension of a
/// or b has stride 0.
struct Gemm {
  DataType type = DataType::f32; ///< Of a and b: f32, f64, or bf16 and f16.
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  std::vector<int64_t> aStrides, bStrides, cStrides;
  int64_t scratchBytes = 0; ///< What veeline_gemm gets; see gemm.h.

  // The host supports only f32 and f64. There, cType and compute follow from
  // the type, and the rest has its defaults.
  DataType cType = DataType::f32;
  ComputeType compute = ComputeType::f32;
  /// The alignment of all operands in bytes, including bias and aux; a power of
  /// two.
  int32_t alignment = 4;
  bool accumulate = false; ///< Compute c += a * b.
  Epilogue epilogue = Epilogue::none;
};

enum class ConvolutionKind {
  forward,        ///< y from x and w.
  backwardData,   ///< x (its gradient) from y and w.
  backwardWeights ///< w (its gradient) from x and y.
};

/// One entry of a rank's table of convolutions:
///
///   y[n, g, f, o...] = sum over c and k of w[g, f, c, k...] *
///       x[n, g, c, (o * stride + k * dilation - padding)...]
///
/// with x zero outside of its extents, or one of the two adjoints. Lists have
/// one element for each spatial dimension. Strides of x and y are those of n,
/// g, the channel and the spatial dimensions; strides of w are those of g, f, c
/// and the spatial dimensions. In x and y the channels of all groups have the
/// same stride.
struct Convolution {
  ConvolutionKind kind = ConvolutionKind::forward;
  int64_t batch = 0, groups = 0, inputs = 0, outputs = 0;
  std::vector<int64_t> xSizes, ySizes, wSizes;
  std::vector<int64_t> strides, dilations, padding;
  std::vector<int64_t> xStrides, wStrides, yStrides;
  int64_t scratchBytes = 0; ///< What veeline_convolution gets.

  // The host has the defaults.
  DataType type = DataType::f32; ///< Of x, w and y: f32, bf16 or f16.
  ComputeType compute = ComputeType::f32;
};

enum class AttentionKind {
  forward, ///< output and lse.
  backward ///< The gradients of query, key and value.
};

/// One entry of a rank's table of attentions, on a GPU only. For sample b,
/// query head h and its key head h' = h / (heads / keyHeads):
///
///   s[b, h, i, j] = scale * sum over d of query[b, h, i, d] * key[b, h', j, d]
///                   + mask[b, h, i, j], and minus infinity where `causal` and
///                   j > i
///   lse[b, h, i] = log(sum over j of exp(s[b, h, i, j]))
///   output[b, h, i, d] = sum over j of exp(s[b, h, i, j] - lse[b, h, i])
///                                      * value[b, h', j, d]
///
/// or the derivatives. Strides are those of sample, head and row; the elements
/// of a row are contiguous. lse is in f32 and has no gaps.
struct Attention {
  AttentionKind kind = AttentionKind::forward;
  DataType type = DataType::bf16; ///< f16 or bf16; sums are of f32.
  int64_t batch = 0, heads = 0, keyHeads = 0, queries = 0, keys = 0;
  int64_t depth = 0, valueDepth = 0;
  double scale = 1;
  bool causal = false;
  /// Whether results must be the same in every run.
  bool deterministic = true;
  std::vector<int64_t> queryStrides, keyStrides, valueStrides, outputStrides;
  /// The strides of gradients; empty in a forward attention.
  std::vector<int64_t> outputGradStrides, queryGradStrides, keyGradStrides,
      valueGradStrides;
  DataType maskType = DataType::f32; ///< f32, or the type.
  /// The stride is 0 if the mask is the same along the dimension. Empty without
  /// a mask.
  std::vector<int64_t> maskStrides;
  int64_t scratchBytes = 0; ///< What veeline_attention_backward gets.
};

} // namespace veeline::artifact

#endif // VEELINE_LIBRARY_CALLS_H
