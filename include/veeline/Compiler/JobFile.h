//===- JobFile.h - a YAML file as a list of settings ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading of job files (docs/jobs.md). The reader is in the compiler's library,
// because it uses LLVM's YAML parser. The driver looks it up by name. Plain
// C++, no LLVM types.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_JOBFILE_H
#define VEELINE_COMPILER_JOBFILE_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace veeline::compiler {

/// One key of a job file and its value.
struct JobEntry {
  enum class Kind { Scalar, List, Map };
  struct Value {
    std::string name; ///< The key, in a map.
    std::string text;
    int line;
  };
  std::string key;
  int line;
  Kind kind;
  std::vector<Value> values; ///< One for a scalar.
};

/// Reads the file at `path`. It must be one mapping whose values are scalars,
/// lists of scalars or mappings of scalars, with each key once. Otherwise
/// returns false, with "path:line: what" in `error`.
bool readJobFile(const std::string &path, std::vector<JobEntry> &entries,
                 std::string &error);

/// The name under which the library exports it, and its type.
inline constexpr char readJobFileSymbol[] = "veeline_read_job_file";
using ReadJobFile = bool(const std::string &path,
                         std::vector<JobEntry> &entries, std::string &error);

/// Checks that the model of a `veeline compile` command line can be cut as the
/// options say. Sets `error` to the reason if not, else to empty. Returns false
/// after a message about the model itself.
inline constexpr char checkPartitionSymbol[] = "veeline_check_partition";
using CheckPartition = bool(int argc, const char *const *argv,
                            std::string &error);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_JOBFILE_H
