//===- AttentionOps.td - attention and its derivatives -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_ATTENTIONOPS
#define VEELINE_DIALECT_PIPE_IR_ATTENTIONOPS

include "veeline/Dialect/Pipe/IR/PipeDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::veeline::pipe";
  let description = [{
    What `pipe.attention` and its two derivatives share: the operands and
    attributes that say what the scores are.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::Value", "getQuery">,
    InterfaceMethod<"", "::mlir::Value", "getKey">,
    InterfaceMethod<"", "::mlir::Value", "getValue">,
    InterfaceMethod<"The mask, or null.", "::mlir::Value", "getMask">,
    InterfaceMethod<"", "std::optional<::llvm::ArrayRef<int64_t>>", "getMaskDims">,
    InterfaceMethod<"", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"", "std::optional<::llvm::APFloat>", "getFill">,
    InterfaceMethod<"", "bool", "getCausal">
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::ShapedType getQueryType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getQuery().getType());
    }
    ::mlir::ShapedType getKeyType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getKey().getType());
    }
    ::mlir::ShapedType getValueType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getValue().getType());
    }
    /// Dimensions before those of queries, keys and depth.
    int64_t getNumBatchDims() { return getQueryType().getRank() - 2; }
    /// The extents of the scores, [batch..., queries, keys].
    ::llvm::SmallVector<int64_t> getScoreShape() {
      ::llvm::SmallVector<int64_t> shape(getQueryType().getShape());
      shape.back() = getKeyType().getDimSize(getNumBatchDims());
      return shape;
    }
    /// The type of scores, sums and `lse`: f64 where elements are f64, else
    /// f32.
    ::mlir::Type getAccumulatorType() {
      ::mlir::Type element = getQueryType().getElementType();
      return element.isF64() ? element
                             : ::mlir::Float32Type::get(element.getContext());
    }
    /// The score where the mask is false: `fill`, or minus infinity.
    double getFillOrDefault() {
      std::optional<::llvm::APFloat> fill = $_op.getFill();
      return fill ? fill->convertToDouble()
                  : -std::numeric_limits<double>::infinity();
    }
  }];
}

class Pipe_AttentionOp<string mnemonic, int numInits> : Op<Pipe_Dialect, mnemonic, [
    AttentionOpInterface, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  code attentionDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(
          getOperation(), getNumOperands() - }] # numInits # [{, }] # numInits # [{);
    }
  }];
  let extraClassDeclaration = attentionDeclaration;
  // Buffers are read, or overwritten as destinations; tensors have no effects.
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      for (::mlir::OpOperand &operand : getOperation()->getOpOperands()) {
        if (!::llvm::isa<::mlir::MemRefType>(operand.get().getType()))
          continue;
        if (isDpsInit(&operand))
          effects.emplace_back(::mlir::MemoryEffects::Write::get(), &operand);
        else
          effects.emplace_back(::mlir::MemoryEffects::Read::get(), &operand);
      }
    }
  }];
  let hasVerifier = 1;
}

defvar attentionAttributes = (ins
  F64Attr:$scale, UnitAttr:$causal, OptionalAttr<DenseI64ArrayAttr>:$mask_dims,
  OptionalAttr<F64Attr>:$fill);

defvar attentionInputs = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value);

defvar attentionDerivativeInputs = (ins
  AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, AnyShaped:$output_grad,
  AnyShaped:$lse, AnyShaped:$delta);

def AttentionOp : Pipe_AttentionOp<"attention", 2> {
  let summary = "Attention: softmax(scale * Q * K^T + mask) * V";
  let description = [{
    `query` is [batch..., queries, depth], `key` [batch..., keys, depth], `value` [batch..., keys, value depth], all of one element
    type: f16, bf16, f32 or f64. There are any number of batch dimensions, and they agree, but for the
    last one: there `query` may have a multiple g of what `key` and `value` have, and its entry h then uses
    entry h / g of theirs (grouped queries). With b for an index of the batch, and all arithmetic in f32 (f64 where elements are f64):

    * s[b, i, j] = scale * sum over d of query[b, i, d] * key[b, j, d];
    * with a mask of floats: s[b, i, j] + mask[...]. With a mask of i1: s[b, i, j] where it is
      true, and `fill` elsewhere (minus infinity where no `fill` is given);
    * with `causal`: minus infinity where j > i, whatever the mask says;
    * lse[b, i] = log(sum over j of exp(s[b, i, j])), the first result but one;
    * p[b, i, j] = exp(s[b, i, j] - lse[b, i]);
    * output[b, i, d] = sum over j of p[b, i, j] * value[b, j, d].

    `dims` of a mask says which dimensions of the scores, [batch..., queries, keys], its own are, in ascending order; it is the
    same along all others. A query for which all scores are minus infinity has NaNs.

    The op overwrites its two destinations. As a buffer, an operand may have any
    strides but in its last dimension, whose elements are next to each other; a mask may have any strides. Buffers of
    destinations overlap with no other. A kernel may round p to the type of the elements before it is multiplied.

    Example:
    ```mlir
    %o, %lse = pipe.attention scale(0.125) causal
        ins(%q, %k, %v : tensor<2x8x256x64xbf16>, tensor<2x4x256x64xbf16>, tensor<2x4x256x64xbf16>)
        mask(%visible : tensor<2x256xi1>) dims [0, 3] fill(-1.0e9)
        outs(%o0, %lse0 : tensor<2x8x256x64xbf16>, tensor<2x8x256xf32>)
        -> tensor<2x8x256x64xbf16>, tensor<2x8x256xf32>
    ```
  }];
  let arguments = !con(attentionInputs, (ins Optional<AnyShaped>:$mask,
      AnyShaped:$output, AnyShaped:$lse), attentionAttributes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `scale` `(` $scale `)` (`causal` $causal^)?
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    (`mask` `(` $mask^ `:` type($mask) `)` `dims` $mask_dims (`fill` `(` $fill^ `)`)?)?
    `outs` `(` $output `,` $lse `:` type($output) `,` type($lse) `)`
    attr-dict (`->` type($results)^)?
  }];
}

def AttentionBackwardQOp : Pipe_AttentionOp<"attention_backward_q", 1> {
  let summary = "The gradient of attention's queries";
  let description = [{
    From what `pipe.attention` took, the gradient `output_grad` of its output, its `lse`, and `delta`[b, i], which is the
    sum over d of output_grad[b, i, d] * output[b, i, d] in the type of `lse`, less the gradient of `lse` where it has one. With s and p as there:

    * dp[b, i, j] = sum over d of output_grad[b, i, d] * value[b, j, d];
    * ds[b, i, j] = p[b, i, j] * (dp[b, i, j] - delta[b, i]), and 0 where the mask is false or j > i with `causal`;
    * query_grad[b, i, d] = scale * sum over j of ds[b, i, j] * key[b, j, d].

    Everything else is as for `pipe.attention`. Nothing of a size [queries, keys] has to be stored.

    Example:
    ```mlir
    %dq = pipe.attention_backward_q scale(0.125) causal
        ins(%q, %k, %v, %do, %lse, %delta : tensor<8x256x64xf32>, tensor<8x256x64xf32>,
            tensor<8x256x64xf32>, tensor<8x256x64xf32>, tensor<8x256xf32>, tensor<8x256xf32>)
        outs(%dq0 : tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
    ```
  }];
  let arguments = !con(attentionDerivativeInputs, (ins Optional<AnyShaped>:$mask,
      AnyShaped:$query_grad), attentionAttributes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `scale` `(` $scale `)` (`causal` $causal^)?
    `ins` `(` $query `,` $key `,` $value `,` $output_grad `,` $lse `,` $delta `:`
        type($query) `,` type($key) `,` type($value) `,` type($output_grad) `,` type($lse) `,` type($delta) `)`
    (`mask` `(` $mask^ `:` type($mask) `)` `dims` $mask_dims (`fill` `(` $fill^ `)`)?)?
    `outs` `(` $query_grad `:` type($query_grad) `)`
    attr-dict (`->` type($results)^)?
  }];
}

def AttentionBackwardKVOp : Pipe_AttentionOp<"attention_backward_kv", 2> {
  let summary = "The gradients of attention's keys and values";
  let description = [{
    From the same as `pipe.attention_backward_q`. With s, p and ds as there:

    * key_grad[b, j, d] = scale * sum over i of ds[b, i, j] * query[b, i, d];
    * value_grad[b, j, d] = sum over i of p[b, i, j] * output_grad[b, i, d],

    both summed over the g entries of `query` that use this entry of `key` and `value`.

    Example:
    ```mlir
    %dk, %dv = pipe.attention_backward_kv scale(0.125) causal
        ins(%q, %k, %v, %do, %lse, %delta : tensor<8x256x64xf32>, tensor<8x256x64xf32>,
            tensor<8x256x64xf32>, tensor<8x256x64xf32>, tensor<8x256xf32>, tensor<8x256xf32>)
        outs(%dk0, %dv0 : tensor<8x256x64xf32>, tensor<8x256x64xf32>)
        -> tensor<8x256x64xf32>, tensor<8x256x64xf32>
    ```
  }];
  let arguments = !con(attentionDerivativeInputs, (ins Optional<AnyShaped>:$mask,
      AnyShaped:$key_grad, AnyShaped:$value_grad), attentionAttributes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `scale` `(` $scale `)` (`causal` $causal^)?
    `ins` `(` $query `,` $key `,` $value `,` $output_grad `,` $lse `,` $delta `:`
        type($query) `,` type($key) `,` type($value) `,` type($output_grad) `,` type($lse) `,` type($delta) `)`
    (`mask` `(` $mask^ `:` type($mask) `)` `dims` $mask_dims (`fill` `(` $fill^ `)`)?)?
    `outs` `(` $key_grad `,` $value_grad `:` type($key_grad) `,` type($value_grad) `)`
    attr-dict (`->` type($results)^)?
  }];
}

def AttentionBackwardOp : Pipe_AttentionOp<"attention_backward", 3> {
  let summary = "The gradients of attention's queries, keys and values";
  let description = [{
    Both `pipe.attention_backward_q` and `pipe.attention_backward_kv`, with `delta`[b, i] the sum over d of
    output_grad[b, i, d] * `output`[b, i, d]: what libraries compute in one call, from the output.

    Example:
    ```mlir
    %dq, %dk, %dv = pipe.attention_backward scale(0.125) causal
        ins(%q, %k, %v, %o, %do, %lse : tensor<8x256x64xbf16>, tensor<8x256x64xbf16>,
            tensor<8x256x64xbf16>, tensor<8x256x64xbf16>, tensor<8x256x64xbf16>, tensor<8x256xf32>)
        outs(%dq0, %dk0, %dv0 : tensor<8x256x64xbf16>, tensor<8x256x64xbf16>, tensor<8x256x64xbf16>)
        -> tensor<8x256x64xbf16>, tensor<8x256x64xbf16>, tensor<8x256x64xbf16>
    ```
  }];
  let arguments = !con(attentionInputs, (ins AnyShaped:$output, AnyShaped:$output_grad, AnyShaped:$lse,
      Optional<AnyShaped>:$mask, AnyShaped:$query_grad, AnyShaped:$key_grad, AnyShaped:$value_grad),
      attentionAttributes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `scale` `(` $scale `)` (`causal` $causal^)?
    `ins` `(` $query `,` $key `,` $value `,` $output `,` $output_grad `,` $lse `:`
        type($query) `,` type($key) `,` type($value) `,` type($output) `,` type($output_grad) `,` type($lse) `)`
    (`mask` `(` $mask^ `:` type($mask) `)` `dims` $mask_dims (`fill` `(` $fill^ `)`)?)?
    `outs` `(` $query_grad `,` $key_grad `,` $value_grad `:` type($query_grad) `,` type($key_grad) `,`
        type($value_grad) `)`
    attr-dict (`->` type($results)^)?
  }];
}

#endif // VEELINE_DIALECT_PIPE_IR_ATTENTIONOPS
