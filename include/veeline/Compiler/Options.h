//===- Options.h - the command lines of compile and inspect -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of `veeline compile`, `inspect` and `doctor`. Plain C++, no MLIR
// types, because the parser of command lines throws internally.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_OPTIONS_H
#define VEELINE_COMPILER_OPTIONS_H

#include "veeline/Base/CommandLine.h"
#include "veeline/Pipelines/ProgramOptions.h"
#include "veeline/inventory.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace veeline::compiler {

/// The options of importing a model file (see --pipe-import).
struct ImportCommand {
  std::string entry;
  /// What the last results of a function that computes its derivative are:
  /// "gradients" or "updates". Empty for other functions, and for those whose
  /// results say so.
  std::string joint;
  std::vector<std::string> params, freeze, buffer;
  std::string loss;
  /// None: the first result, or the only one of floats.
  std::optional<int64_t> result;
  int64_t microbatchSize = 1;
  std::string retype;
  /// Emit a remark for each argument, instead of one for each kind.
  bool verbose = false;
};

/// The source of times if there is no profile.
struct MachineTableOption {
  /// A file of veeline doctor --calibrate, or "none"; empty: the file in the
  /// user's cache.
  std::string path;
  /// When the table was made; not an option.
  std::string date;
  /// The number of cores for ranks: with a table of this CPU, those that this
  /// process may use; with another table, those of the table. Not an option.
  int64_t cores = 0;
};

/// `veeline compile`, checked as a whole. If the schedule is from a file, sizes
/// that the command line does not give are those of the file.
struct CompileCommand : ProgramOptions {
  std::string model;
  /// Default: the model's path with the extension `.vee`.
  std::string output;
  ImportCommand import;
  MachineTableOption machineTable;
  /// A transform script that replaces the first phases of compiling; empty:
  /// none.
  std::string script;
  /// The names of the options that the user gave; not an option.
  std::vector<std::string> given;
  /// Empty: period.
  std::string objective;
  /// How messages are sent and received.
  std::string communication = "overlap";
  /// The rules under which communication is verified: mpi, nccl or nccl-duplex;
  /// empty: those of the strategy.
  std::string rules;
  /// The target of programs: host or cuda.
  std::string target = "host";
  /// For cuda: the chips of native code; empty: the default ones.
  std::vector<std::string> gpuChips;
  /// For cuda: the compute streams of a rank: one, or chunk, which is one for
  /// each chunk.
  std::string computeStreams = "one";
  /// For cuda: the arithmetic of f32 products: f32 or tf32.
  std::string products = "f32";
  /// For cuda: who adds up gradients between processes: nccl, or ordered, which
  /// is the ranks in their order.
  std::string sums = "nccl";
  /// The bandwidth of a rank's links to the host's memory and back, as 25GB/s;
  /// empty: nothing is offloaded.
  std::string offload;
  /// What backwards recompute runs ahead of them.
  bool recomputeAhead = false;
  /// For cuda: the directory of a toolkit; empty: search for one.
  std::string cudaToolkit;
  std::string cpu = "native";
  /// The optimisation level, from 0 to 3.
  unsigned optimizationLevel = 3;
  /// Also compile the unpartitioned model, for `train --verify`.
  bool reference = true;
  /// `evaluation`: also compile the program that runs only forwards, for `eval`
  /// and `train --eval-every`. `forwardOnly`: compile that program alone.
  bool evaluation = false, forwardOnly = false;
  /// The directory for the IR of every phase; empty: not written.
  std::string dumpDirectory;
  /// The directory of the cache of machine code; empty: no cache.
  std::string cacheDirectory;
  bool quiet = false;
  bool json = false; ///< Print the summary as JSON.
};

/// The objective of the schedule.
inline std::string objectiveOf(const CompileCommand &command) {
  return command.objective.empty() ? "period" : command.objective;
}

/// `veeline inspect`.
struct InspectCommand {
  /// A model or an artifact; the content tells which.
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
  /// The length for which to print a model with a dynamic dimension; 0: none.
  int64_t lengthBound = 0;
  MachineTableOption machineTable;
  /// The SVG file to draw the memory to; empty: none.
  std::string memorySvg;
  /// The program that tables and pictures show; empty: the one that is trained,
  /// or the only one.
  std::string program;
};

/// `veeline doctor`.
struct DoctorCommand {
  bool calibrate = false;
  bool json = false;
  /// The path of the table, to read or to write; empty: the user's cache.
  std::string output;
  /// What to look for under other names than usual.
  LibraryFiles libraries;
  std::string cudaToolkit;
};

/// Either a command or, if help or a message about the arguments was printed,
/// the exit code of the process. It is 2 for wrong arguments.
template <typename CommandT> struct Parsed {
  std::optional<CommandT> command;
  int exitCode = 0;
};

/// The options of `veeline compile`.
std::vector<commandline::OptionName> listCompileOptions();

/// The options that an artifact records, in the order to print them: those that
/// change what is compiled, without rarely changed ones that have their
/// default.
std::vector<std::pair<std::string, std::string>>
describeOptions(const CompileCommand &command);

/// Parses `argv`, whose first element is the name of the command.
Parsed<CompileCommand> parseCompile(int argc, const char *const *argv);
/// The options for compiling in memory: all except --output, --quiet and
/// --json.
std::vector<std::string> listMemoryOptions();
/// Pairs of a name without dashes and a value; flags have no value.
using CompileOptionList =
    std::vector<std::pair<std::string, std::optional<std::string>>>;
/// Parses options of `listMemoryOptions`. Returns none and sets `error` if they
/// are wrong.
std::optional<CompileCommand>
parseCompileOptions(const CompileOptionList &options, std::string &error);
Parsed<InspectCommand> parseInspect(int argc, const char *const *argv);
Parsed<DoctorCommand> parseDoctor(int argc, const char *const *argv);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_OPTIONS_H
