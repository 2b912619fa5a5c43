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
  /// Dimension i is there what `order[i]` is here; empty: in the same order.
  std::vector<int64_t> order;

  /// What its shape is there, of a parameter of this shape.
  std::vector<int64_t> shapeOf(const std::vector<int64_t> &shape) const;
};

/// Whether `order` is empty, or has each of `rank` dimensions once.
bool isOrderOf(const std::vector<int64_t> &order, size_t rank);

/// Which names parameters have in a file. Without lines they have their own.
class NameMap {
public:
  /// The lines of the text file at `path`, with spaces between words: a
  /// parameter, its name in the file and, where dimensions are exchanged there,
  /// "transposed" (two) or "permuted=3,2,0,1" (NameInFile::order). One `*` in a
  /// parameter's name stands for any text, and for the same text in the other
  /// name. Of several lines the first one that fits counts. Lines that begin
  /// with `#` are remarks.
  static Expected<NameMap> open(const std::string &path);

  NameInFile of(const std::string &param) const;
  /// The file of all `params`, whose shapes are `shapes`, has no two tensors of
  /// one name, every line fits some parameter, and those that are permuted
  /// have so many dimensions; the error names the line.
  Status check(const std::vector<std::string> &params,
               const std::vector<std::vector<int64_t>> &shapes) const;
  /// To be compared with that of other processes.
  const std::string &describe() const { return description; }

private:
  struct Line {
    int64_t number;
    std::string param, name;
    std::vector<int64_t> order;
  };
  Status parseLine(int64_t number, std::string_view text);
  const Line *find(const std::string &param) const;
  Status failure(int64_t line, const std::string &what) const;

  std::string path, description = "no";
  std::vector<Line> lines;
};

/// Writes the elements of a tensor of this type and shape with its dimensions
/// in another order: dimension i of the target is dimension `order[i]`.
void permute(artifact::DataType type, const std::vector<int64_t> &shape,
             const std::vector<int64_t> &order, const char *source,
             char *target);
/// The order that undoes it.
std::vector<int64_t> inverse(const std::vector<int64_t> &order);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_NAMEMAP_H
