//===- Report.h - artifacts in words and tables -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_REPORT_H
#define VEELINE_COMPILER_REPORT_H

#include "veeline/artifact.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace veeline::compiler {

/// What the artifact at `path` is: the model, the chunks with their costs, and
/// for each rank its predicted time and its memory.
void printSummary(llvm::raw_ostream &os, const std::string &path,
                  const artifact::Metadata &metadata);

/// Prints where the times of F, B and W, or of pieces, come from: a named
/// profile or table, or default numbers. `sharedCores` is the number of cores
/// that ranks share, which messages are predicted for; empty: none are shared.
void printSource(llvm::raw_ostream &os, const std::string &profile,
                 const std::string &table, const std::string &tableDate,
                 const std::string &sharedCores, bool isOnDevice);

/// Every parameter: its type, its shape, how it starts, its name.
void printParameters(llvm::raw_ostream &os, const artifact::Metadata &metadata);

/// Every kernel of a GPU: its grid and block, its memory and its name.
void printKernels(llvm::raw_ostream &os, const artifact::DeviceCode &device);

/// The order of every rank of `program`.
void printSchedule(llvm::raw_ostream &os, const artifact::Program &program);

/// Every message that a rank receives: before which of its F, B and W the
/// receive is posted and waited for, and how far apart these are.
void printCommunication(llvm::raw_ostream &os,
                        const artifact::Program &program);

/// The memory of every rank of `program`, by kind: a table, and a picture of
/// what is live over the predicted time of the step.
void printMemory(llvm::raw_ostream &os, const artifact::Program &program);

/// The picture of `printMemory` as SVG.
std::string drawMemory(const artifact::Program &program);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_REPORT_H
