//===- OldSyntax.cpp - explanations of outdated syntax --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Import/OldSyntax.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace veeline;

/// The first row that matches explains an error, so more specific rows come
/// first.
static constexpr OldSyntax table[] = {
    {"(^|[^a-z_.])func @|builtin\\.func", "func without its dialect",
     "func.func @name(...) -> ... { ... return ... }"},
    {"std\\.(constant|return|call)", "an op of the std dialect",
     "arith.constant, func.return and func.call"},
    {"std\\.[a-z]", "an op of the std dialect, which was split up",
     "arith., math., func., cf., tensor. and memref., as arith.addf"},
    {"= "
     "*(addf|subf|mulf|divf|cmpf|addi|subi|muli|cmpi|select|constant|maxf|minf|"
     "truncf|extf|sitofp|fptosi|index_cast)( |\")",
     "an op without its dialect",
     "arith.addf, arith.select, arith.constant and so on"},
    {"= *(exp|log|sqrt|rsqrt|tanh|powf|absf|sin|cos) ",
     "an op without its dialect", "math.exp, math.tanh and so on"},
    {"arith\\.(max|min)f", "arith.maxf and arith.minf",
     "arith.maximumf and arith.minimumf, which give NaN for NaN, as these did"},
    {"math\\.abs ", "math.abs", "math.absf or math.absi"},
    {"(^|[^a-z_.])subtensor", "subtensor and subtensor_insert",
     "tensor.extract_slice and tensor.insert_slice"},
    {"tensor\\.expand_shape.*: ", "tensor.expand_shape without output_shape",
     "tensor.expand_shape %x [[0, 1]] output_shape [2, 3] : tensor<6xf32> into "
     "tensor<2x3xf32>",
     "output_shape"},
    {"linalg\\.init_tensor", "linalg.init_tensor",
     "tensor.empty() : tensor<2x3xf32>"},
    {"linalg\\.pad_tensor", "linalg.pad_tensor",
     "tensor.pad %x low[...] high[...] { ... tensor.yield %zero : f32 }"},
    {"linalg\\.tensor_(reshape|expand_shape|collapse_shape)",
     "reshapes of the linalg dialect",
     "tensor.expand_shape and tensor.collapse_shape"},
    {"linalg\\.indexed_generic", "linalg.indexed_generic",
     "linalg.generic with linalg.index in its body"},
    {"linalg\\.fill *\\(", "linalg.fill(%value, %init)",
     "linalg.fill ins(%value : f32) outs(%init : tensor<2x3xf32>) -> "
     "tensor<2x3xf32>"},
    {"linalg\\.(batch_)?matmul_transpose_[ab]",
     "products with a transposed operand as ops of their own",
     "linalg.matmul or linalg.batch_matmul with indexing_maps = "
     "[affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
     "affine_map<(m, n, k) -> (m, n)>]"},
    {"linalg\\.(depthwise_)?conv_[123]d_input_",
     "convolutions named by all their operands",
     "linalg.conv_2d_nhwc_hwcf, linalg.depthwise_conv_2d_nhwc_hwcm and so on"},
    {"linalg\\.elemwise_(unary|binary)",
     "linalg.elemwise_unary and linalg.elemwise_binary",
     "linalg.exp, linalg.add and so on, or linalg.elementwise"},
    {"tensor\\.(un)?pack", "tensor.pack and tensor.unpack",
     "linalg.pack and linalg.unpack"},
    {"memref\\.(buffer_cast|tensor_load)|(^|[^a-z_.])tensor_load|tensor_to_"
     "memref",
     "conversions between tensors and buffers of the memref dialect",
     "a model on tensors; or bufferization.to_buffer and "
     "bufferization.to_tensor, which are no part of one"},
    {"bufferization\\.to_memref", "bufferization.to_memref",
     "a model on tensors; or bufferization.to_buffer, which is no part of one"},
    {"tosa\\.const.*[^a-z]value *=", "tosa.const with the attribute value",
     "\"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> "
     "tensor<1xf32>"},
    {"tosa\\.reshape.*new_shape", "tosa.reshape with the attribute new_shape",
     "%s = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> "
     "!tosa.shape<2>, then tosa.reshape %x, %s"},
    {"tosa\\.tile.*multiples", "tosa.tile with the attribute multiples",
     "a tosa.const_shape as the second operand: tosa.tile %x, %multiples"},
    {"tosa\\.slice.*(start|size) *=",
     "tosa.slice with the attributes start and size",
     "two tosa.const_shape as operands: tosa.slice %x, %start, %size"},
    {"tosa\\.mul.*shift *=", "tosa.mul with the attribute shift",
     "a third operand: %shift = \"tosa.const\"() <{values = dense<0> : "
     "tensor<1xi8>}> : () -> tensor<1xi8>, then tosa.mul %x, %y, %shift"},
    {"tosa\\.reluN", "tosa.reluN",
     "tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32}"},
    {"tosa\\.clamp.*(min_fp|max_fp|min_int|max_int)",
     "tosa.clamp with two limits for floats and two for integers",
     "tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32}"},
    {"tosa\\.transpose_conv2d.*out_shape",
     "tosa.transpose_conv2d with the attribute out_shape",
     "tosa.transpose_conv2d without it, with the zero points of input and "
     "weight as operands"},
    {"tosa\\.(conv[23]d|depthwise_conv2d|transpose_conv2d)",
     "TOSA convolutions without zero points as operands",
     "tosa.conv2d %x, %w, %bias, %input_zero_point, %weight_zero_point with "
     "acc_type, both zero points tensor<1xf32>",
     "conv[23]d\"?[ (]*%[^%]*%[^%]*%[^%]*%"},
    {"tosa\\.fully_connected", "tosa.fully_connected",
     "tosa.reshape and tosa.matmul, or tosa.conv2d with a kernel of 1 x 1"},
    {"tosa\\.(reduce_|concat|argmax|reverse).*axis *= *[0-9]+ *: *i64",
     "an axis of TOSA of type i64", "axis = 1 : i32"},
    {"tosa\\..*(kernel|pad|stride|dilation|out_pad) *= *\\[",
     "a list of TOSA as an array of attributes",
     "kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0> and so on"},
    {"tosa\\.matmul", "tosa.matmul without zero points as operands",
     "zero points, each a tensor<1xf32>, after the other operands: tosa.matmul "
     "%a, %b, %a_zero_point, %b_zero_point",
     "tosa\\.matmul\"?[ (]*%[^%]*%[^%]*%"},
    {"tosa\\.(negate|avg_pool2d)",
     "tosa.negate and tosa.avg_pool2d without zero points as operands",
     "those of input and output, each a tensor<1xf32>, after the input: "
     "tosa.negate %x, %input_zero_point, %output_zero_point",
     "tosa\\.(negate|avg_pool2d)\"?[ (]*%[^%]*%"},
    {"tosa\\.transpose", "tosa.transpose with the permutation as operand",
     "tosa.transpose %x {perms = array<i32: 1, 0>}", "perms"},
    {"tosa\\.reduce_prod[^u]", "tosa.reduce_prod", "tosa.reduce_product"},
    {"tosa\\.div[^a-z]", "tosa.div",
     "tosa.intdiv for integers; for floats tosa.reciprocal and tosa.mul"},
    {"tosa\\.pad", "tosa.pad with a tensor of paddings",
     "a tosa.const_shape of paddings and a tensor<1xf32> as operands: tosa.pad "
     "%x, %padding, %value",
     "!tosa\\.shape"},
    {"tosa\\.resize", "tosa.resize with attributes",
     "three tosa.const_shape as operands: tosa.resize %x, %scale, %offset, "
     "%border",
     "!tosa\\.shape"},
    {"(^|[^a-z_])opaque<", "an elided constant as opaque elements",
     "dense_resource<__elided__>, whose values are left out as well"},
    {"linalg\\.", "iterator types as texts",
     "iterator_types = [#linalg.iterator_type<parallel>] in the generic form "
     "of "
     "an op",
     "", "'iterator_types' failed"},
    {"[a-z_]+\\.", "an op with operand_segment_sizes",
     "operandSegmentSizes = array<i32: 1, 1>", "",
     "total size (0) specified in attribute 'operandSegmentSizes'"},
    {"tm_tensor\\.", "an op of the tm_tensor dialect of torch-mlir",
     "ops of linalg, scf or tensor that compute the same: torch-mlir lowers it "
     "to loops over buffers only"},
    {"(stablehlo|mhlo|chlo|vhlo)\\.", "an op of StableHLO or MHLO",
     "stablehlo-opt --stablehlo-legalize-to-linalg, which gives a model in "
     "linalg, arith, math and tensor, or put stablehlo-opt into PATH, and it "
     "is run for you"},
    {"!?torch\\.", "an op or type of the torch dialect",
     "torch-mlir-opt --torch-backend-to-linalg-on-tensors-backend-pipeline, "
     "which gives a model in linalg"},
    {"onnx\\.", "an op of the onnx dialect",
     "onnx-mlir-opt --shape-inference --convert-onnx-to-tosa, which gives a "
     "model in TOSA"},
    {"(tfl?|mhlo_tf)\\.[A-Za-z]", "an op of TensorFlow or TensorFlow Lite",
     "its conversion to TOSA: tf-opt --tfl-to-tosa-pipeline"},
    {"(iree_[a-z_]+|flow|stream|hal|util|vm)\\.", "an op of IREE",
     "the model before IREE compiled it: iree-compile --compile-to=input"},
};

ArrayRef<OldSyntax> veeline::getOldSyntax() { return table; }

/// The text of line `number`. Lines are numbered from 1.
static StringRef getLine(StringRef text, unsigned number) {
  for (unsigned i = 1; i < number; ++i)
    text = text.split('\n').second;
  return text.split('\n').first;
}

void veeline::explainOldSyntax(Diagnostic &diagnostic,
                               const llvm::SourceMgr &sources) {
  auto location = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !location ||
      sources.getNumBuffers() == 0)
    return;
  StringRef line =
      getLine(sources.getMemoryBuffer(sources.getMainFileID())->getBuffer(),
              location.getLine());
  std::string message = diagnostic.str();
  for (const OldSyntax &row : table) {
    if (!llvm::Regex(row.pattern).match(line) ||
        (!row.unless.empty() && llvm::Regex(row.unless).match(line)) ||
        !StringRef(message).contains(row.message))
      continue;
    diagnostic.attachNote(location)
        << "this looks like " << row.construct
        << ", which this version of MLIR does not read; write " << row.modern;
    return;
  }
}
