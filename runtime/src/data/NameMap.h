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

/// The name and the layout that a parameter has in a file.
struct NameInFile {
  std::string name;
  /// Dimension i is there what `order[i]` is here; empty: in the same order.
  std::vector<int64_t> order;

  /// The shape that a parameter of this shape has in the file.
  std::vector<int64_t> shapeOf(const std::vector<int64_t> &shape) const;
};

/// Whether `order` is empty, or has each of `rank` dimensions once.
bool isOrderOf(const std::vector<int64_t> &order, size_t rank);

/// The names of parameters in a file. Without lines, they are the parameters'
/// own.
class NameMap {
public:
  /// Reads the lines of the text file at `path`. A line has a parameter, its
  /// name in the file and, if its dimensions have another order there,
  /// "transposed" (for two) or "permuted=3,2,0,1" (NameInFile::order),
  /// separated by spaces. One `*` in a parameter's name stands for any text,
  /// and for the same text in the other name. If several lines match, the first
  /// one applies. Lines that begin with `#` are comments.
  static Expected<NameMap> open(const std::string &path);

  NameInFile of(const std::string &param) const;
  /// Checks the map against all `params`, whose shapes are `shapes`: no two
  /// tensors of the file have the same name, every line matches a parameter,
  /// and the permuted ones have so many dimensions. The error names the line.
  Status check(const std::vector<std::string> &params,
               const std::vector<std::vector<int64_t>> &shapes) const;
  /// A text for comparison with the maps of other processes.
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

/// Writes the `elements` of a tensor of this type and shape with its dimensions
/// in another order: dimension i of the target is dimension `order[i]`.
void permute(artifact::DataType type, const std::vector<int64_t> &shape,
             const std::vector<int64_t> &order, std::string_view elements,
             char *target);
/// Returns the order that undoes `order`.
std::vector<int64_t> inverse(const std::vector<int64_t> &order);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_NAMEMAP_H
