//===- TensorFiles.h - parameters in one file or several --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_TENSORFILES_H
#define VEELINE_RUNTIME_DATA_TENSORFILES_H

#include "Tensor.h"
#include "veeline/Base/File.h"

#include <map>
#include <unordered_map>

namespace veeline::data {

/// Returns the file of each tensor, as model.safetensors.index.json says.
/// Messages do not name the index.
Expected<std::map<std::string, std::string>>
parseShardIndex(std::string_view text);

/// The tensors of a .safetensors file, or of several that an index in the same
/// folder (*.index.json) lists.
class TensorFiles {
public:
  static Expected<TensorFiles> open(const std::string &path);

  /// Null if there is no such tensor.
  const Tensor *find(const std::string &name) const;
  /// Describes the contents, for comparison with files on another machine.
  std::string describe() const;

private:
  Status add(const std::string &path,
             const std::map<std::string, std::string> *shards);

  std::vector<MappedFile> files;
  std::unordered_map<std::string, Tensor> tensors;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_TENSORFILES_H
