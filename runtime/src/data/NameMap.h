//===- NameMap.h - mapping names of parameters ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_NAMEMAP_H
#define VEELINE_RUNTIME_DATA_NAMEMAP_H

#include "Tensor.h"

#include <string>
#include <vector>

namespace veeline::data {

/// A parameter as a file has it.
struct NameInFile {
  std::string name;
  bool isTransposed = false; ///< Its two dimensions are exchanged.

  /// What its shape is there, of a parameter of this shape.
  std::vector<int64_t> shapeOf(std::vector<int64_t> shape) const;
};

/// Which names parameters have in a file. Without lines they have their own.
class NameMap {
public:
  /// The lines of the text file at `path`: a parameter, its name in the file,
  /// and "transposed" where its two dimensions are exchanged, separated by
  /// spaces. One `*` in a parameter's name stands for any text, and for the
  /// same text in the other name. Of several lines the first one that fits
  /// counts. Lines that begin with `#` are remarks.
  static Expected<NameMap> open(const std::string &path);

  NameInFile of(const std::string &param) const;
  /// The file of all `params`, whose shapes are `shapes`, has no two tensors of
  /// one name, every line fits some parameter, and those that are transposed
  /// have two dimensions; the error names the line.
  Status check(const std::vector<std::string> &params,
               const std::vector<std::vector<int64_t>> &shapes) const;
  /// To be compared with that of other processes.
  const std::string &describe() const { return description; }

private:
  struct Line {
    int64_t number;
    std::string param, name;
    bool isTransposed;
  };
  Status parseLine(int64_t number, std::string_view text);
  const Line *find(const std::string &param) const;
  Status failure(int64_t line, const std::string &what) const;

  std::string path, description = "no";
  std::vector<Line> lines;
};

/// Writes the elements of a matrix, in `type`, with its dimensions exchanged.
void transpose(artifact::DataType type, const std::vector<int64_t> &shape,
               const char *source, char *target);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_NAMEMAP_H
