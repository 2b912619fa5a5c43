//===- Checkpoint.h - folders of checkpoints --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder DIR has a folder DIR/step-00000010 for each checkpoint.
// docs/checkpoints.md describes its content. A checkpoint is complete if its
// index exists.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_CHECKPOINT_H
#define VEELINE_RUNTIME_DATA_CHECKPOINT_H

#include "CheckpointIndex.h"
#include "NameMap.h"
#include "Tensor.h"
#include "veeline/Base/File.h"

#include <deque>
#include <map>
#include <unordered_map>

namespace veeline::data {

inline constexpr const char *checkpointIndexName = "index.json";

/// DIR/step-00000010.
std::string checkpointPath(const std::string &directory, int64_t step);
/// "rank-3.safetensors".
std::string pieceName(int32_t rank);

/// The steps of the checkpoints in `directory`, ascending; none if it cannot be
/// read.
std::vector<int64_t> listCheckpoints(const std::string &directory);
/// Deletes the checkpoints in `directory` that have no index, and so are not
/// whole.
void deleteIncomplete(const std::string &directory);
/// Deletes a checkpoint, its index first: whenever that ends, what is left is
/// whole or none.
void deleteCheckpoint(const std::string &directory, int64_t step);

/// A checkpoint whose pieces are there, whole and undamaged.
class Checkpoint {
public:
  /// `path` is a checkpoint, or a folder of which the last one is taken. If
  /// that one is no good, the error says what is wrong with which piece, and
  /// which the last good one is.
  static Expected<std::unique_ptr<Checkpoint>> open(const std::string &path);

  const std::string &path() const { return folder; }
  const CheckpointIndex &index() const { return contents; }
  /// None where there is no such parameter.
  const CheckpointParam *findParam(const std::string &name) const;
  /// An entry of some piece; `name` as `valueEntry` and so on say.
  std::string_view entry(const std::string &name) const;
  /// Describes all of it, to be compared with that on another machine.
  std::string describe() const { return contents.checksum; }

private:
  static Expected<std::unique_ptr<Checkpoint>> read(const std::string &folder);
  Status openPiece(const CheckpointPiece &piece);
  Status joinParts();
  Status joinParts(const std::string &name, const CheckpointParam &param,
                   const std::map<int64_t, Tensor> &parts);
  Status checkEntries() const;

  std::string folder;
  CheckpointIndex contents;
  std::vector<MappedFile> files;
  std::deque<std::vector<char>> joined; ///< Of states in parts.
  std::unordered_map<std::string, Tensor> entries;
};

/// How parameters are written.
struct ExportOptions {
  /// With the names, order of dimensions and types of the model, instead of
  /// those of the file of --init.
  bool asModel = false;
  /// Instead of the names and orders of either.
  std::optional<NameMap> names = std::nullopt;
  /// Instead of the types of either; a float.
  std::optional<artifact::DataType> type = std::nullopt;
};

/// Writes the parameters of a checkpoint as one .safetensors file.
Status exportParameters(const Checkpoint &checkpoint, const std::string &path,
                        const ExportOptions &options = ExportOptions());

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_CHECKPOINT_H
