//===- Report.h - descriptions of artifacts as text -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_REPORT_H
#define VEELINE_COMPILER_REPORT_H

#include "veeline/artifact.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace veeline::compiler {

/// Prints a summary of the artifact at `path`: the model, the chunks with their
/// costs, and the predicted time and memory of each rank.
void printSummary(llvm::raw_ostream &os, const std::string &path,
                  const artifact::Metadata &metadata);

/// Prints the source of the times of F, B and W, or of pieces: a named profile
/// or table, or default numbers. `sharedCores` is the number of cores that
/// ranks share in the predicted times of messages; empty: none are shared.
void printSource(llvm::raw_ostream &os, const std::string &profile,
                 const std::string &table, const std::string &tableDate,
                 const std::string &sharedCores, bool isOnDevice);

/// Prints the type, shape, initialiser and name of every parameter.
void printParameters(llvm::raw_ostream &os, const artifact::Metadata &metadata);

/// Prints the grid, block, memory and name of every GPU kernel.
void printKernels(llvm::raw_ostream &os, const artifact::DeviceCode &device);

/// Prints the order of every rank of `program`.
void printSchedule(llvm::raw_ostream &os, const artifact::Program &program);

/// Prints every message that a rank receives: before which F, B or W the
/// receive is posted, before which one it is waited for, and the distance of
/// the two.
void printCommunication(llvm::raw_ostream &os,
                        const artifact::Program &program);

/// Prints the memory of every rank of `program`: a table by kind, and a picture
/// of live memory over the predicted time of the step.
void printMemory(llvm::raw_ostream &os, const artifact::Program &program);

/// What the functions above print, as JSON (docs/tools.md).
llvm::json::Array getParametersAsJson(const artifact::Metadata &metadata);
llvm::json::Array getKernelsAsJson(const artifact::DeviceCode &device);
llvm::json::Array getScheduleAsJson(const artifact::Program &program);
llvm::json::Array getCommunicationAsJson(const artifact::Program &program);
llvm::json::Array getMemoryAsJson(const artifact::Program &program);

/// The picture of `printMemory` as SVG.
std::string drawMemory(const artifact::Program &program);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_REPORT_H
