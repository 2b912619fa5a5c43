//===- SafeTensors.h - named arrays in one file ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format is 8 bytes with the length of the header, the header as JSON, and
// the arrays. Offsets in the header are relative to its end.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SAFETENSORS_H
#define VEELINE_RUNTIME_DATA_SAFETENSORS_H

#include "Tensor.h"
#include "veeline/Base/Checksum.h"

#include <functional>

namespace veeline::data {

/// In the order of the file's header.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The arrays of a whole .safetensors file; they point into `file`. Entries of
/// element types that we do not have are left out. Messages do not name the
/// file.
Expected<NamedTensors> parseSafeTensors(std::string_view file);

/// None where there is no such entry.
const Tensor *findTensor(const NamedTensors &tensors, std::string_view name);

/// An entry to write.
struct SafeTensorsEntry {
  std::string name;
  artifact::DataType type;
  std::vector<int64_t> shape;
};

/// How many bytes a file has, and their checksum.
struct FileSum {
  int64_t bytes = 0;
  Crc64 checksum;
};

/// Writes atomically. `read` writes entry i to `bytes`; it is called in order.
/// `notes` become the metadata of the file. Adds what it writes to `sum`, if
/// one is given.
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
