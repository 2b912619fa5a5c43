//===- Options.h - the command lines of compile and inspect -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain C++, no MLIR types: the parser of command lines throws internally.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_OPTIONS_H
#define VEELINE_COMPILER_OPTIONS_H

#include "veeline/Base/CommandLine.h"
#include "veeline/Pipelines/ProgramOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace veeline::compiler {

/// How a model file becomes a model (see --pipe-import).
struct ImportCommand {
  std::string entry;
  std::vector<std::string> params, freeze, buffer;
  std::string loss;
  /// None: the first result, or the only one of floats.
  std::optional<int64_t> result;
  int64_t microbatchSize = 1;
  std::string retype;
  /// A remark at each argument, not for each kind of them.
  bool verbose = false;
};

/// Where times come from without a profile.
struct MachineTableOption {
  /// A file of veeline doctor --calibrate, or "none"; empty: that of the user's
  /// cache.
  std::string path;
  /// When the table was made; not an option.
  std::string date;
  /// Cores for ranks. With a table of this CPU, those that this process may
  /// use; with another one, those of the table. Not an option.
  int64_t cores = 0;
};

/// `veeline compile`, checked as a whole. With a schedule from a file, sizes
/// that the command line does not give are those of the file.
struct CompileCommand : ProgramOptions {
  std::string model;
  /// Default: the model's path with the extension `.vee`.
  std::string output;
  ImportCommand import;
  MachineTableOption machineTable;
  /// A transform script that does the front of compiling; empty: none.
  std::string script;
  /// The names of the options that the user gave; not an option.
  std::vector<std::string> given;
  /// Empty: period, where steps that follow one another overlap, else makespan.
  std::string objective;
  /// How messages are sent and received.
  std::string communication = "overlap";
  /// The rules under which that is proved: mpi, nccl or nccl-duplex; empty: the
  /// strategy's own.
  std::string rules;
  /// What programs are lowered to: host or cuda.
  std::string target = "host";
  /// For cuda: the chips of native code; empty: the default ones.
  std::vector<std::string> gpuChips;
  /// For cuda: how many compute streams a rank has, one or chunk (for each).
  std::string computeStreams = "one";
  /// For cuda: the arithmetic of products of f32, f32 or tf32.
  std::string products = "f32";
  /// The bandwidth of a rank's links to the host's memory and back, as 25GB/s;
  /// empty: nothing is offloaded.
  std::string offload;
  /// What backwards recompute runs ahead of them.
  bool recomputeAhead = false;
  /// For cuda: the directory of a toolkit; empty: looked for.
  std::string cudaToolkit;
  std::string cpu = "native";
  /// How much the code is optimised, from 0 to 3.
  unsigned optimizationLevel = 3;
  /// Also compile the unpartitioned model, for `train --verify`.
  bool reference = true;
  /// Also compile the program that runs forwards alone, for `eval` and `train
  /// --eval-every`; or only that one.
  bool evaluation = false, forwardOnly = false;
  /// Where to write the IR of every phase; empty: nowhere.
  std::string dumpDirectory;
  /// Where machine code is kept for later; empty: nowhere.
  std::string cacheDirectory;
  bool quiet = false;
  bool json = false; ///< Print what was made as JSON.
};

/// What the schedule makes short.
inline std::string objectiveOf(const CompileCommand &command) {
  return command.objective.empty() ? "period" : command.objective;
}

/// `veeline inspect`.
struct InspectCommand {
  /// A model or an artifact; which, its content says.
  std::string file;
  bool isModel = false;
  bool finePieces = false;
  bool parameters = false;
  bool kernels = false;
  bool memory = false;
  bool schedule = false;
  bool communication = false;
  bool json = false;
  ImportCommand import;
  /// The length for which a model with a dynamic dimension is printed; 0: none.
  int64_t lengthBound = 0;
  MachineTableOption machineTable;
  /// Where to draw the memory, as SVG; empty: nowhere.
  std::string memorySvg;
  /// What tables and pictures are of; empty: what is trained, or the only one.
  std::string program;
};

/// `veeline doctor`.
struct DoctorCommand {
  bool calibrate = false;
  bool json = false;
  /// Where the table is, or is written; empty: the user's cache.
  std::string output;
};

/// Either a command, or the exit code with which to stop: help was printed, or
/// a message about the arguments (exit code 2).
template <typename CommandT> struct Parsed {
  std::optional<CommandT> command;
  int exitCode = 0;
};

/// The options of `veeline compile`.
std::vector<commandline::OptionName> listCompileOptions();

/// What an artifact records of its options: those that change what is compiled,
/// in the order to print. Defaults that are rarely changed are left out.
std::vector<std::pair<std::string, std::string>>
describeOptions(const CompileCommand &command);

/// Parse `argv`, whose first element is the name of the command.
Parsed<CompileCommand> parseCompile(int argc, const char *const *argv);
/// The names of those that a program has that compiles in memory: all but
/// --output, --quiet and --json.
std::vector<std::string> listMemoryOptions();
/// Names without dashes, and values; none of a flag.
using CompileOptionList =
    std::vector<std::pair<std::string, std::optional<std::string>>>;
/// Parses options of `listMemoryOptions`. None, and `error`, where they are
/// wrong.
std::optional<CompileCommand>
parseCompileOptions(const CompileOptionList &options, std::string &error);
Parsed<InspectCommand> parseInspect(int argc, const char *const *argv);
Parsed<DoctorCommand> parseDoctor(int argc, const char *const *argv);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_OPTIONS_H
