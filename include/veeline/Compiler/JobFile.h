//===- JobFile.h - a YAML file as a list of settings ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reader is in the compiler's library, where LLVM has a parser of YAML; the
// driver looks it up by name. Plain C++, no LLVM types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_JOBFILE_H
#define VEELINE_COMPILER_JOBFILE_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace veeline::compiler {

/// One key of a job file and what stands behind it.
struct JobEntry {
  enum class Kind { Scalar, List, Map };
  struct Value {
    std::string name; ///< Of an entry of a map.
    std::string text;
    int line;
  };
  std::string key;
  int line;
  Kind kind;
  std::vector<Value> values; ///< A scalar has one.
};

/// Reads the file at `path`: one mapping of keys to scalars, lists of scalars
/// or mappings of scalars, each key once. False where it is anything else, with
/// "path:line: what" in `error`.
bool readJobFile(const std::string &path, std::vector<JobEntry> &entries,
                 std::string &error);

/// The name and the type under which the library exports it.
inline constexpr char readJobFileSymbol[] = "veeline_read_job_file";
using ReadJobFile = bool(const std::string &path,
                         std::vector<JobEntry> &entries, std::string &error);

/// Sets `error` to why the model of a `veeline compile` command line cannot be
/// cut as it says, or to empty. Returns false after a message about the model
/// itself.
inline constexpr char checkPartitionSymbol[] = "veeline_check_partition";
using CheckPartition = bool(int argc, const char *const *argv,
                            std::string &error);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_JOBFILE_H
