//===- PrintPieces.cpp - the pieces of a model as a table -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/MachineCost.h"
#include "veeline/Analysis/Pieces.h"

#include "mlir/IR/Location.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace veeline;

static constexpr char rowFormat[] =
    "{0,6} {1,5} {2,12} {3,14} {4,12} {5,14}  {6}\n";

/// Describes an op as `file:line`, without directories, and its name.
static std::string describe(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  auto place = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (!place)
    return text;
  StringRef file = place.getFilename().strref();
  return llvm::formatv("{0}:{1}: {2}", file.substr(file.rfind('/') + 1),
                       place.getLine(), text);
}

/// The bytes touched between two runs of a microbatch's forward, as a multiple
/// of the forward's own: the backward between them moves about twice as much.
static constexpr uint64_t footprintsOfCycle = 3;

std::vector<double> veeline::estimateNanoseconds(ArrayRef<Piece> pieces,
                                                 const MachineTable *table) {
  std::vector<double> times;
  if (!table) {
    for (const Piece &piece : pieces)
      times.push_back(estimateNanoseconds(piece.cost));
    return times;
  }
  if (pieces.empty())
    return times;
  Block &block = *pieces.front().ops.front()->getBlock();
  MachineCost cost(*table, footprintsOfCycle * getFootprint(block));
  for (const Piece &piece : pieces) {
    double &time = times.emplace_back(0);
    for (Operation *op : piece.ops)
      time += cost.estimate(op);
  }
  return times;
}

static void printRow(llvm::raw_ostream &os, StringRef name, size_t numOps,
                     const OpCost &cost, double nanoseconds,
                     uint64_t bytesAfter, StringRef begin) {
  double megaflops = (cost.contractionFlops + cost.otherFlops) / 1e6;
  os << llvm::formatv(
      rowFormat, name, numOps, llvm::formatv("{0:f3}", megaflops), cost.bytes,
      llvm::formatv("{0:f1}", nanoseconds / 1e3), bytesAfter, begin);
}

void veeline::printPieces(func::FuncOp model, llvm::raw_ostream &os,
                          bool isFine, const MachineTable *table) {
  SmallVector<Piece> pieces = findPieces(model, isFine);
  os << llvm::formatv(rowFormat, "piece", "ops", "MFLOP", "bytes moved", "us",
                      "bytes crossing", "begins with");
  OpCost total;
  double totalTime = 0;
  size_t numOps = 0;
  std::vector<double> times = estimateNanoseconds(pieces, table);
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    double time = times[i];
    printRow(os, std::to_string(i), piece.ops.size(), piece.cost, time,
             piece.bytesAfter, describe(piece.ops.front()));
    total += piece.cost;
    totalTime += time;
    numOps += piece.ops.size();
  }
  printRow(os, "all", numOps, total, totalTime, 0, "");
}

llvm::json::Array veeline::getPiecesAsJson(func::FuncOp model, bool isFine,
                                           const MachineTable *table) {
  SmallVector<Piece> pieces = findPieces(model, isFine);
  llvm::json::Array array;
  for (auto [piece, time] :
       llvm::zip_equal(pieces, estimateNanoseconds(pieces, table)))
    array.push_back(llvm::json::Object{
        {"ops", piece.ops.size()},
        {"flops", piece.cost.contractionFlops + piece.cost.otherFlops},
        {"bytes_moved", piece.cost.bytes},
        {"nanoseconds", time},
        {"bytes_crossing", piece.bytesAfter},
        {"begins_with", describe(piece.ops.front())}});
  return array;
}
