//===- RandomRows.cpp - random kernels of wide rows -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomKernels.h"

#include "CheckKernels.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

using namespace mlir;
using namespace veeline;
using namespace veeline::gpu;

namespace {

/// An operand of an op: the elements of all rows (`row`), one row that all rows
/// have in common (`column`), or one number for each row (`number`).
struct Operand {
  enum Kind { row, column, number };

  std::string name, element;
  Kind kind;
  /// Of a number: the operand whose maximum it is, or -1.
  int64_t maximumOf = -1;
};

/// Writes a function of ops on rows that are too wide for a few registers of
/// each thread: sums, maxima and elementwise functions of rows, of earlier
/// results and of numbers of rows.
class RowsWriter {
public:
  explicit RowsWriter(uint64_t seed) : engine(seed) {}

  std::string write();

private:
  int64_t draw(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int64_t one) { return draw(1, one) == 1; }
  int64_t drawLength();
  std::string typeOf(const Operand &operand) const;
  size_t add(Operand::Kind kind, const std::string &element);
  size_t drawOf(Operand::Kind kind);
  bool has(Operand::Kind kind) const;
  std::string addOp(ArrayRef<size_t> inputs, size_t output,
                    const std::string &body);
  void addExpression(std::vector<size_t> &inputs, std::string &body,
                     bool isSum);
  void addReduction();
  void addMap();

  std::mt19937_64 engine;
  std::string element, sum, text;
  int64_t rows = 1, length = 1;
  std::vector<Operand> operands;
};

} // namespace

/// A length beyond those that always stay in registers, often not a multiple of
/// what a thread loads at once. In f64 it may also be a row for one warp, of
/// which a block has several.
int64_t RowsWriter::drawLength() {
  if (element == "f64" && chance(2))
    return draw(513, 1024);
  int64_t step = element == "f64" ? 2048 : 4096;
  int64_t size = step * draw(3, 15);
  switch (draw(0, 3)) {
  case 0:
    return size;
  case 1:
    return size - 4 * draw(1, step / 4 - 1);
  case 2:
    return size - draw(1, step - 1);
  default:
    return element == "f64" ? 512 * draw(9, 16) - draw(0, 1) * 2 : size + 8;
  }
}

std::string RowsWriter::typeOf(const Operand &operand) const {
  std::string shape;
  if (operand.kind != Operand::column)
    shape = std::to_string(rows) + "x";
  if (operand.kind != Operand::number)
    shape += std::to_string(length) + "x";
  return "memref<" + shape + operand.element + ">";
}

size_t RowsWriter::add(Operand::Kind kind, const std::string &type) {
  operands.push_back({"%a" + std::to_string(operands.size()), type, kind, -1});
  return operands.size() - 1;
}

bool RowsWriter::has(Operand::Kind kind) const {
  return llvm::any_of(
      operands, [&](const Operand &operand) { return operand.kind == kind; });
}

size_t RowsWriter::drawOf(Operand::Kind kind) {
  SmallVector<size_t> all;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.kind == kind)
      all.push_back(i);
  return all[static_cast<size_t>(
      draw(0, static_cast<int64_t>(all.size()) - 1))];
}

std::string RowsWriter::addOp(ArrayRef<size_t> inputs, size_t output,
                              const std::string &body) {
  static const char *const maps[] = {"#ij", "#j", "#i"};
  std::vector<std::string> used, names, types, arguments;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    used.push_back(maps[operands[input].kind]);
    names.push_back(operands[input].name);
    types.push_back(typeOf(operands[input]));
    arguments.push_back("%i" + std::to_string(i) + ": " +
                        operands[input].element);
  }
  const Operand &result = operands[output];
  bool reduces = result.kind == Operand::number;
  used.push_back(maps[result.kind]);
  arguments.push_back("%o: " + result.element);
  return "  linalg.generic {indexing_maps = [" + llvm::join(used, ", ") +
         "], iterator_types = [\"parallel\", \"" +
         (reduces ? "reduction" : "parallel") + "\"]}\n    ins(" +
         llvm::join(names, ", ") + " : " + llvm::join(types, ", ") + ") outs(" +
         result.name + " : " + typeOf(result) + ") {\n  ^bb0(" +
         llvm::join(arguments, ", ") + "):\n" + body + "  }\n";
}

/// Extends the block argument %i<i> of an op to %x<i> of type `to`.
static std::string extend(size_t i, const std::string &from,
                          const std::string &to) {
  if (from == to)
    return "    %x" + std::to_string(i) + " = arith.addf %i" +
           std::to_string(i) + ", %none : " + to + "\n";
  return "    %x" + std::to_string(i) + " = arith.extf %i" + std::to_string(i) +
         " : " + from + " to " + to + "\n";
}

/// Computes %v from some operands. The difference from a mean is only added up
/// (`isSum`): it has no digits left where a value is nearly the mean.
void RowsWriter::addExpression(std::vector<size_t> &inputs, std::string &body,
                               bool isSum) {
  inputs = {drawOf(Operand::row)};
  enum { plain, product, shifted, centred, powers } form = plain;
  std::vector<size_t> maxima;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand.maximumOf == static_cast<int64_t>(inputs[0]))
      maxima.push_back(i);
  switch (draw(0, 4)) {
  case 0:
    form = product;
    inputs.push_back(drawOf(Operand::row));
    break;
  case 1:
    form = shifted;
    inputs.push_back(drawOf(Operand::column));
    break;
  case 2:
  case 3:
    if (!maxima.empty()) {
      form = powers;
      inputs.push_back(maxima.front());
    } else if (isSum && has(Operand::number)) {
      form = centred;
      inputs.push_back(drawOf(Operand::number));
    }
    break;
  default:
    break;
  }
  for (auto [i, input] : llvm::enumerate(inputs))
    body += extend(i, operands[input].element, sum);
  auto op = [&](const char *result, const char *name, const char *arguments) {
    body += llvm::formatv("    {0} = {1} {2} : {3}\n", result, name, arguments,
                          sum);
  };
  switch (form) {
  case plain:
    return op("%v", "arith.mulf", "%x0, %half");
  case product:
    return op("%v", "arith.mulf", "%x0, %x1");
  case shifted:
    return op("%v", "arith.subf", "%x0, %x1");
  case centred:
    op("%m", "arith.mulf", "%x1, %inverse");
    op("%d", "arith.subf", "%x0, %m");
    return op("%v", "arith.mulf", "%d, %d");
  case powers:
    op("%d", "arith.subf", "%x0, %x1");
    return op("%v", "math.exp", "%d");
  }
}

void RowsWriter::addReduction() {
  std::vector<size_t> inputs;
  std::string body;
  bool isMaximum = chance(3);
  if (isMaximum) {
    inputs = {drawOf(Operand::row)};
    body = extend(0, operands[inputs[0]].element, sum) +
           "    %r = arith.maximumf %o, %x0 : " + sum + "\n";
  } else {
    addExpression(inputs, body, /*isSum=*/true);
    // Adds absolute values: a sum that cancels has no digits left.
    body += "    %p = math.absf %v : " + sum +
            "\n    %r = arith.addf %o, %p : " + sum + "\n";
  }
  body += "    linalg.yield %r : " + sum + "\n";
  size_t output = add(Operand::number, sum);
  const Operand &result = operands[output];
  text += "  linalg.fill ins(" + std::string(isMaximum ? "%lowest" : "%zero") +
          " : " + sum + ") outs(" + result.name + " : " + typeOf(result) +
          ")\n";
  text += addOp(inputs, output, body);
  if (isMaximum)
    operands[output].maximumOf = static_cast<int64_t>(inputs[0]);
}

void RowsWriter::addMap() {
  std::vector<size_t> inputs;
  std::string body;
  addExpression(inputs, body, /*isSum=*/false);
  // Now and then the op writes in place.
  bool isInPlace = operands[inputs[0]].element == sum && chance(3);
  if (isInPlace)
    for (Operand &operand : operands)
      if (operand.maximumOf == static_cast<int64_t>(inputs[0]))
        operand.maximumOf = -1;
  bool isNarrow = !isInPlace && chance(2);
  size_t output =
      isInPlace ? inputs[0] : add(Operand::row, isNarrow ? element : sum);
  std::string value = "%v";
  if (operands[output].element != sum) {
    body += "    %t = arith.truncf %v : " + sum + " to " +
            operands[output].element + "\n";
    value = "%t";
  }
  body += "    linalg.yield " + value + " : " + operands[output].element + "\n";
  text += addOp(inputs, output, body);
}

std::string RowsWriter::write() {
  static const char *const elements[] = {"f32", "bf16", "f16", "f64"};
  element = elements[draw(0, 3)];
  sum = element == "f64" ? "f64" : "f32";
  length = drawLength();
  rows = draw(1, length <= 1024 ? 20 : 2);
  for (int64_t i = draw(1, 2); i > 0; --i)
    add(Operand::row, i == 1 ? element : sum);
  add(Operand::column, chance(2) ? sum : element);
  addReduction();
  for (int64_t i = draw(1, 4); i > 0; --i)
    if (chance(3))
      addMap();
    else
      addReduction();
  std::vector<std::string> arguments;
  for (const Operand &operand : operands)
    arguments.push_back(operand.name + ": " + typeOf(operand));
  return llvm::formatv(
      "#ij = affine_map<(i, j) -> (i, j)>\n"
      "#i = affine_map<(i, j) -> (i)>\n"
      "#j = affine_map<(i, j) -> (j)>\n"
      "func.func @rows(%rank: !llvm.ptr, {0}) attributes {{pipe.num_results = "
      "{1} : i64} {{\n"
      "  %zero = arith.constant 0.0 : {2}\n"
      "  %none = arith.constant -0.0 : {2}\n"
      "  %half = arith.constant 0.5 : {2}\n"
      "  %inverse = arith.constant 1.52587890625e-05 : {2}\n"
      "  %lowest = arith.constant {3} : {2}\n{4}  return\n}\n",
      llvm::join(arguments, ", "), operands.size(), sum,
      sum == "f64" ? "0xFFF0000000000000" : "0xFF800000", text);
}

/// The module of some kernels; null with diagnostics.
static OwningOpRef<ModuleOp> makeKernels(uint64_t seed, MLIRContext &context) {
  PassManager passManager(&context);
  PipeOutlineKernelsOptions options;
  options.target = KernelTarget::Cuda;
  passManager.addPass(createPipeOutlineKernels(options));
  passManager.addPass(createPipeGpuKernels());
  return makeModule(RowsWriter(seed).write(), passManager);
}

bool veeline::gpu::checkRandomRows(int64_t count, uint64_t seed) {
  int64_t numKernels = 0, numRows = 0, numWrong = 0;
  int64_t numModules =
      checkSeeds(count, seed, "--random-rows", makeKernels,
                 [&](const Kernel &kernel, bool isRight) {
                   ++numKernels;
                   numRows += StringRef(kernel.name).starts_with("row");
                   numWrong += !isRight;
                 });
  llvm::outs() << numModules << " of " << count << " functions, " << numKernels
               << " kernels, " << numRows << " of rows, " << numWrong
               << " wrong\n";
  return numModules == count && !numWrong;
}
