//===- Fingerprint.cpp - which model a measurement is of ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Fingerprint.h"

#include "mlir/IR/AsmState.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace veeline;

/// Constants of at most this many elements may be shapes or indices, so their
/// values count. Larger ones are weights or tables, whose values do not change
/// costs.
static constexpr int64_t maxElements = 16;

/// Where the value of an argument comes from: a parameter, trained or frozen, a
/// batch or a constant.
static char getOrigin(func::FuncOp model, unsigned argument) {
  if (model.getArgAttr(argument, pipe::PipeDialect::paramAttrName))
    return pipe::isTrainedParam(model, argument) ? 'p' : 'f';
  return model.getArgAttr(argument, pipe::PipeDialect::batchAttrName) ? 'b'
                                                                      : 'c';
}

std::string veeline::getFingerprint(func::FuncOp model) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [number, type] : llvm::enumerate(model.getArgumentTypes()))
    os << getOrigin(model, number) << type << '\n';
  OpPrintingFlags flags;
  flags.printGenericOpForm()
      .useLocalScope()
      .enableDebugInfo(false)
      .printNameLocAsPrefix(false)
      .elideLargeElementsAttrs(maxElements);
  // Values are numbered once, for all ops.
  AsmState state(model, flags);
  for (Operation &op : model.getBody().front()) {
    op.print(os, state);
    os << '\n';
  }
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}
