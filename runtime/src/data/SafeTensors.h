//===- SafeTensors.h - named arrays in one file -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file consists of 8 bytes with the length of the header, the header as JSON,
// and the arrays. Offsets in the header are relative to its end.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SAFETENSORS_H
#define VEELINE_RUNTIME_DATA_SAFETENSORS_H

#include "Tensor.h"
#include "veeline/Base/Checksum.h"

#include <functional>

namespace veeline::data {

/// Tensors in the order of the file's header.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Parses a whole .safetensors file. The arrays point into `file`. Entries of
/// unsupported element types are left out. Messages do not name the file.
Expected<NamedTensors> parseSafeTensors(std::string_view file);

/// Null if there is no such entry.
const Tensor *findTensor(const NamedTensors &tensors, std::string_view name);

/// An entry to write.
struct SafeTensorsEntry {
  std::string name;
  artifact::DataType type;
  std::vector<int64_t> shape;
};

/// What comes before the bytes of the entries, in their order. `notes` become
/// the metadata of the file.
std::string safeTensorsHeader(
    const std::vector<SafeTensorsEntry> &entries,
    const std::vector<std::pair<std::string, std::string>> &notes);

/// The size of a file in bytes, and its checksum.
struct FileSum {
  int64_t bytes = 0;
  Crc64 checksum;
};

/// Writes a file atomically. `read` writes entry i to `bytes` and is called in
/// order. `notes` are as above. If `sum` is given, adds what it writes to it.
Status
writeSafeTensors(const std::string &path,
                 const std::vector<SafeTensorsEntry> &entries,
                 const std::vector<std::pair<std::string, std::string>> &notes,
                 const std::function<Status(size_t i, char *bytes)> &read,
                 FileSum *sum = nullptr);

/// The metadata of a file of parameters. Libraries of Hugging Face read only
/// files that say which framework's tensors they have; "pt" are plain ones.
inline std::vector<std::pair<std::string, std::string>>
notesOfParameters(const std::string &model, int64_t steps) {
  return {{"format", "pt"}, {"model", model}, {"steps", std::to_string(steps)}};
}

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SAFETENSORS_H
