//===- OldSyntaxTest.cpp - one text for each row of old syntax ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Import/OldSyntax.h"
#include "../Runtime/TempDir.h"
#include "veeline/Compiler/Compiler.h"

#include <gtest/gtest.h>

#include <string>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

/// Lines within a function, or beginnings of one, in the order of the table.
/// Each is on line 2 of its file.
static const char *const texts[] = {
    "func @f(%x: tensor<2xf32>) -> tensor<2xf32> {",
    "%0 = std.constant 0.0 : f32",
    "%0 = std.addf %x, %x : tensor<6xf32>",
    "%0 = addf %x, %x : tensor<6xf32>",
    "%0 = exp %x : tensor<6xf32>",
    "%0 = arith.maxf %x, %x : tensor<6xf32>",
    "%0 = math.abs %x : tensor<6xf32>",
    "%0 = subtensor %x[0] [2] [1] : tensor<6xf32> to tensor<2xf32>",
    "%0 = tensor.expand_shape %x [[0, 1]] : tensor<6xf32> into tensor<2x3xf32>",
    "%0 = linalg.init_tensor [2, 3] : tensor<2x3xf32>",
    "%0 = linalg.pad_tensor %x low[0] high[1] {",
    "%0 = linalg.tensor_collapse_shape %x [] : tensor<1xf32> into tensor<f32>",
    "%0 = linalg.indexed_generic {} ins(%x : tensor<6xf32>)",
    "%0 = linalg.fill(%x, %x) : f32, tensor<6xf32> -> tensor<6xf32>",
    "%0 = linalg.matmul_transpose_b ins(%x, %x : tensor<6xf32>, tensor<6xf32>)",
    "%0 = linalg.conv_2d_input_nhwc_filter_hwcf ins(%x, %x : tensor<6xf32>)",
    "%0 = linalg.elemwise_unary ins(%x : tensor<6xf32>)",
    "%0 = tensor.pack %x inner_dims_pos = [0] inner_tiles = [2] into %x",
    "%0 = memref.tensor_load %m : memref<6xf32>",
    "%0 = bufferization.to_memref %x : memref<6xf32>",
    "%0 = \"tosa.const\"() {value = dense<0.0> : tensor<1xf32>} : () -> "
    "tensor<1xf32>",
    "%0 = tosa.reshape %x {new_shape = array<i64: 2, 3>} : (tensor<6xf32>) -> "
    "tensor<2x3xf32>",
    "%0 = tosa.tile %x {multiples = array<i64: 2>} : (tensor<6xf32>) -> "
    "tensor<12xf32>",
    "%0 = tosa.slice %x {start = array<i64: 0>, size = array<i64: 2>} : "
    "(tensor<6xf32>) -> tensor<2xf32>",
    "%0 = tosa.mul %x, %x {shift = 0 : i8} : (tensor<6xf32>, tensor<6xf32>) -> "
    "tensor<6xf32>",
    "%0 = \"tosa.reluN\"(%x) {max_fp = 6.0 : f32, max_int = 6 : i64} : "
    "(tensor<6xf32>) -> tensor<6xf32>",
    "%0 = tosa.clamp %x {min_fp = 0.0 : f32, max_fp = 6.0 : f32} : "
    "(tensor<6xf32>) -> tensor<6xf32>",
    "%0 = tosa.transpose_conv2d %y, %y, %x {out_pad = array<i64: 0, 0, 0, 0>, "
    "stride = array<i64: 1, 1>, out_shape = array<i64: 1, 1, 1, 1>} : "
    "(tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<6xf32>) -> "
    "tensor<1x1x1x6xf32>",
    "%0 = tosa.conv2d %y, %y, %x {dilation = array<i64: 1, 1>, pad = "
    "array<i64: "
    "0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, "
    "tensor<1x1x1x1xf32>, tensor<6xf32>) -> tensor<1x1x1x6xf32>",
    "%0 = tosa.fully_connected %x, %x, %x : (tensor<6xf32>, tensor<6xf32>, "
    "tensor<6xf32>) -> tensor<6xf32>",
    "%0 = \"tosa.reduce_sum\"(%x) {axis = 0 : i64} : (tensor<6xf32>) -> "
    "tensor<1xf32>",
    "%0 = \"tosa.max_pool2d\"(%y) {kernel = [1, 1], pad = [0, 0, 0, 0], stride "
    "= [1, 1]} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>",
    "%0 = tosa.matmul %z, %z : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> "
    "tensor<1x1x1xf32>",
    "%0 = tosa.avg_pool2d %y {kernel = array<i64: 1, 1>, pad = array<i64: 0, "
    "0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>) -> "
    "tensor<1x1x1x1xf32>",
    "%0 = tosa.transpose %z, %p : (tensor<1x1x1xf32>, tensor<3xi32>) -> "
    "tensor<1x1x1xf32>",
    "%0 = tosa.reduce_prod %x {axis = 0 : i32} : (tensor<6xf32>) -> "
    "tensor<1xf32>",
    "%0 = tosa.div %i, %i : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>",
    "%0 = tosa.pad %x, %p : (tensor<6xf32>, tensor<3xi32>) -> tensor<6xf32>",
    "%0 = tosa.resize %y {mode = \"BILINEAR\", scale = array<i64: 2, 1, 2, 1>} "
    ": (tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>",
    "%0 = arith.constant opaque<\"elided_large_const\", \"0xDEADBEEF\"> : "
    "tensor<6xf32>",
    "%0 = \"linalg.generic\"(%x, %x) ({ ^bb0(%a: f32, %b: f32): "
    "\"linalg.yield\"(%a) : (f32) -> () }) {indexing_maps = [affine_map<(i) -> "
    "(i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"], "
    "operandSegmentSizes = array<i32: 1, 1>} : (tensor<6xf32>, tensor<6xf32>) "
    "-> tensor<6xf32>",
    "%0 = \"linalg.generic\"(%x, %x) ({ ^bb0(%a: f32, %b: f32): "
    "\"linalg.yield\"(%a) : (f32) -> () }) {indexing_maps = [affine_map<(i) -> "
    "(i)>, affine_map<(i) -> (i)>], iterator_types = "
    "[#linalg.iterator_type<parallel>], operand_segment_sizes = dense<1> : "
    "vector<2xi32>} : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>",
    "%0 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<6xf32>) "
    "outs(%x : tensor<6xf32>) -> tensor<6xf32>",
    "%0 = stablehlo.add %x, %x : tensor<6xf32>",
    "%0 = torch.aten.tanh %x : !torch.vtensor<[6],f32>",
    "%0 = \"onnx.Add\"(%x, %x) : (tensor<6xf32>, tensor<6xf32>) -> "
    "tensor<6xf32>",
    "%0 = \"tfl.add\"(%x, %x) : (tensor<6xf32>, tensor<6xf32>) -> "
    "tensor<6xf32>",
    "%0 = flow.tensor.empty : tensor<6xf32>"};

static std::string explain(const std::string &line) {
  bool isFunction = line.compare(0, 6, "func @") == 0;
  std::string begin = isFunction
                          ? "// A model.\n"
                          : "func.func @f(%x: tensor<6xf32>, %y: "
                            "tensor<1x1x1x1xf32>, %z: tensor<1x1x1xf32>, %p: "
                            "tensor<3xi32>, %i: tensor<6xi32>) {\n";
  test::TempDir directory;
  std::string path =
      directory.write("old.mlir", begin + line + "\nreturn\n}\n");
  testing::internal::CaptureStderr();
  Model model;
  bool isParsed = succeeded(model.load(path));
  std::string message = testing::internal::GetCapturedStderr();
  return isParsed ? "it is parsed" : message;
}

TEST(OldSyntax, EachRowExplainsItsText) {
  ASSERT_EQ(std::size(texts), getOldSyntax().size());
  for (size_t i = 0; i < std::size(texts); ++i) {
    const OldSyntax &row = getOldSyntax()[i];
    std::string message = explain(texts[i]);
    std::string note = ":2:";
    EXPECT_NE(message.find(note), std::string::npos) << message;
    EXPECT_NE(message.find(" error: "), std::string::npos) << message;
    EXPECT_NE(
        message.find("this looks like " + row.construct.str() +
                     ", which this version of MLIR does not read; write " +
                     row.modern.str()),
        std::string::npos)
        << texts[i] << "\n"
        << message;
  }
}

/// Lines of the modern form, in which something else is wrong.
TEST(OldSyntax, ModernFormsAreNotCalledOld) {
  for (const char *line :
       {"%0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 4] : "
        "tensor<6xf32> into tensor<2x4xf32>",
        "%0 = tosa.conv2d %y, %y, %x, %x, %x {dilation = array<i64: 1, 1>, pad "
        "= array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
        "(tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<6xf32>, "
        "tensor<6xf32>, tensor<6xf32>) -> tensor<1x1x1x6xf32>",
        "%0 = \"tosa.matmul\"(%z, %z, %z, %z) : (tensor<1x1x1xf32>, "
        "tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<6xf32>) -> "
        "tensor<1x1x1xf32>",
        "%0 = tosa.negate %x, %x, %y : (tensor<6xf32>, tensor<6xf32>) -> "
        "tensor<6xf32>",
        "%0 = tosa.transpose %z {perms = array<i32: 1, 0>} : "
        "(tensor<1x1x1xf32>) -> tensor<6xf32>",
        "%0 = tosa.pad %x, %s, %x : (tensor<6xf32>, !tosa.shape<2>, "
        "tensor<6xf32>) -> tensor<6xf32>",
        "%0 = tosa.resize %y, %s, %s, %s : (tensor<1x1x1x1xf32>, "
        "!tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<6xf32>"}) {
    std::string message = explain(line);
    EXPECT_NE(message.find("error"), std::string::npos) << line << message;
    EXPECT_EQ(message.find("this looks like"), std::string::npos) << message;
  }
}

TEST(OldSyntax, OtherErrorsAreLeftAlone) {
  std::string message = explain("%0 = math.tanh %x : tensor<5xf32>");
  EXPECT_NE(message.find(" error: "), std::string::npos) << message;
  EXPECT_EQ(message.find("this looks like"), std::string::npos) << message;
}
