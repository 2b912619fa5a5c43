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

/// The file of each tensor, as model.safetensors.index.json says. Messages do
/// not name it.
Expected<std::map<std::string, std::string>>
parseShardIndex(std::string_view text);

/// The tensors of a .safetensors file, or of those that an index beside them
/// (*.index.json) lists.
class TensorFiles {
public:
  static Expected<TensorFiles> open(const std::string &path);

  /// None where there is no such tensor.
  const Tensor *find(const std::string &name) const;
  /// The contents, to be compared with those on another machine.
  std::string describe() const;

private:
  Status add(const std::string &path,
             const std::map<std::string, std::string> *shards);

  std::vector<MappedFile> files;
  std::unordered_map<std::string, Tensor> tensors;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_TENSORFILES_H
