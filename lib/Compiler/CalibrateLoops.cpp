//===- CalibrateLoops.cpp - measuring compiled loops ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Conversion/HostTarget.h"
#include "veeline/Conversion/Pipelines.h"
#include "veeline/Pipelines/Pipelines.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

namespace {
/// A compiled function of two tensors that returns one, and the work of one
/// run.
struct Loop {
  const char *name;     ///< The name of its class.
  std::string text;     ///< The text of the function, which is called f.
  int64_t operandBytes; ///< The size of the largest operand.
  double size, amount;
  /// Bytes moved in addition, at the rate of `elementwise`.
  double rowBytes = 0;
};
} // namespace

/// An elementwise loop. `body` computes %r from %a and %c.
static std::string makeMap(int64_t elements, StringRef body) {
  return llvm::formatv(R"(
func.func @f(%x: tensor<{0}xf32>, %b: tensor<{0}xf32>) -> tensor<{0}xf32> {{
  %e = tensor.empty() : tensor<{0}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %b : tensor<{0}xf32>, tensor<{0}xf32>) outs(%e : tensor<{0}xf32>) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    {1}
    linalg.yield %r : f32
  } -> tensor<{0}xf32>
  return %y : tensor<{0}xf32>
})",
                       elements, body);
}

/// Sums over samples for each channel, as in batch normalisation.
static std::string makeSum(int64_t rows, int64_t columns) {
  return llvm::formatv(R"(
func.func @f(%x: tensor<{0}x{1}xf32>, %b: tensor<{0}x{1}xf32>) -> tensor<{1}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{1}xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<{1}xf32>) -> tensor<{1}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x, %b : tensor<{0}x{1}xf32>, tensor<{0}x{1}xf32>) outs(%i : tensor<{1}xf32>) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %p = arith.addf %a, %c : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<{1}xf32>
  return %y : tensor<{1}xf32>
})",
                       rows, columns);
}

/// An elementwise loop that reads its first operand transposed.
static std::string makeTransposition(int64_t size) {
  return llvm::formatv(R"(
func.func @f(%x: tensor<{0}x{0}xf32>, %b: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
  %e = tensor.empty() : tensor<{0}x{0}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) outs(%e : tensor<{0}x{0}xf32>) {{
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<{0}x{0}xf32>
  return %y : tensor<{0}x{0}xf32>
})",
                       size);
}

/// Max pooling with windows of 2 x 2.
static std::string makePooling(int64_t size, int64_t channels) {
  return llvm::formatv(R"(
func.func @f(%x: tensor<1x{0}x{0}x{1}xf32>, %b: tensor<2x2xf32>) -> tensor<1x{2}x{2}x{1}xf32> {{
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x{2}x{2}x{1}xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x{2}x{2}x{1}xf32>) -> tensor<1x{2}x{2}x{1}xf32>
  %y = linalg.pooling_nhwc_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %b : tensor<1x{0}x{0}x{1}xf32>, tensor<2x2xf32>) outs(%i : tensor<1x{2}x{2}x{1}xf32>) -> tensor<1x{2}x{2}x{1}xf32>
  return %y : tensor<1x{2}x{2}x{1}xf32>
})",
                       size, channels, size / 2);
}

static std::string makeChain(int64_t length) {
  std::string body;
  std::string last = "%a";
  for (int64_t i = 1; i <= length; ++i) {
    std::string next = i == length ? "%r" : "%v" + std::to_string(i);
    body += llvm::formatv("{0} = arith.{1} {2}, %c : f32\n    ", next,
                          i % 2 ? "mulf" : "addf", last)
                .str();
    last = next;
  }
  return body;
}

static std::vector<Loop> listLoops() {
  std::vector<Loop> loops;
  for (int64_t elements : {4096, 65536, 1 << 19, 1 << 20, 1 << 21, 1 << 23}) {
    // Two reads and a write; a cache line is read before it is written.
    double bytes = 16.0 * double(elements);
    loops.push_back({"elementwise",
                     makeMap(elements, "%r = arith.addf %a, %c : f32"),
                     4 * elements, bytes, bytes});
  }
  for (int64_t rows : {64, 1024, 16384, 131072})
    loops.push_back({"sum", makeSum(rows, 64), 4 * rows * 64,
                     8.0 * double(rows * 64), 8.0 * double(rows * 64)});
  for (int64_t size : {24, 120, 504, 2000}) {
    double bytes = 4.0 * double(size * size);
    loops.push_back({"transposed", makeTransposition(size), 4 * size * size,
                     bytes, bytes, /*rowBytes=*/3 * bytes});
  }
  for (int64_t channels : {4, 12, 16, 64}) {
    constexpr int64_t size = 32;
    int64_t elements = size * size * channels;
    loops.push_back({"window", makePooling(size, channels), 4 * elements,
                     double(channels), double(elements)});
  }
  constexpr int64_t few = 8192, chain = 64;
  loops.push_back({"arithmetic", makeMap(few, makeChain(chain)), 4 * few, 1,
                   double(few * chain)});
  loops.push_back({"function", makeMap(few, "%r = math.exp %a : f32"), 4 * few,
                   1, double(few)});
  return loops;
}

static llvm::Expected<LoadedObject> compileLoop(MLIRContext &context,
                                                const std::string &text) {
  auto broken = [] {
    return llvm::createStringError("a loop that is measured does not compile");
  };
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return broken();
  if (failed(runPhase(*module, [](OpPassManager &passManager) {
        buildBufferizeChunksPipeline(passManager, {});
        buildHostCodePipeline(passManager);
      })))
    return broken();
  auto object = compileToObject(*module, {});
  if (!object)
    return object.takeError();
  auto bytes = linkSharedObject(&*object, {});
  if (!bytes)
    return bytes.takeError();
  return LoadedObject::load(*bytes);
}

static llvm::Error measureLoop(MLIRContext &context, const Loop &loop,
                               MachineTable &table, int64_t cores) {
  auto object = compileLoop(context, loop.text);
  if (!object)
    return object.takeError();
  auto address = object->lookup("f");
  if (!address)
    return address.takeError();
  // The parameters are the rank, which no loop uses, two operands, the result
  // and a workspace.
  using Function = void(void *, char *, char *, char *, char *);
  auto *function = reinterpret_cast<Function *>(*address);
  std::vector<Work> works;
  for (int64_t i = 0; i != cores; ++i) {
    auto operands = std::make_shared<ColdOperands>(loop.operandBytes);
    std::shared_ptr<char> workspace = allocateFloats(loop.operandBytes);
    works.push_back([=] {
      char *x = operands->next(), *b = operands->next(), *y = operands->next();
      function(nullptr, x, b, y, workspace.get());
    });
  }
  double time = measureNanoseconds(works);
  if (loop.rowBytes)
    time = std::max(time - loop.rowBytes /
                               table.getRate("elementwise", loop.rowBytes),
                    time / 4);
  table.add(loop.name, loop.size, loop.amount / time);
  return llvm::Error::success();
}

llvm::Error compiler::measureLoops(MachineTable &table, int64_t cores) {
  Model model;
  for (const Loop &loop : listLoops())
    if (llvm::Error error = measureLoop(model.getContext(), loop, table, cores))
      return error;
  return llvm::Error::success();
}
