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

#include <map>
#include <unordered_map>

namespace veeline::data {

inline constexpr const char *checkpointIndexName = "index.json";

/// Returns "DIR/step-00000010".
std::string checkpointPath(const std::string &directory, int64_t step);
/// Returns "rank-3.safetensors".
std::string pieceName(int32_t rank);

/// Returns the steps of the checkpoints in `directory`, in ascending order;
/// none if there is no such folder. Those of which the file system cannot say
/// whether they have an index are among them.
Expected<std::vector<int64_t>> listCheckpoints(const std::string &directory);
/// Deletes the checkpoints in `directory` that are incomplete, because they
/// certainly have no index.
Status deleteIncomplete(const std::string &directory);
/// Deletes a checkpoint, its index first. If that is interrupted, the
/// checkpoint is either complete or has no index.
void deleteCheckpoint(const std::string &directory, int64_t step);

/// Moves a checkpoint away, to DIR/damaged-step-00000010, so that it no longer
/// counts. Returns where it is.
Expected<std::string> moveDamaged(const std::string &directory, int64_t step);

/// What is wrong with a checkpoint.
struct Damage {
  int64_t step = 0;
  std::string what; ///< Names the piece.
};

/// A checkpoint whose pieces are there, whole and undamaged.
class Checkpoint {
public:
  /// Opens `path`, a checkpoint or a folder, of which it takes the last
  /// checkpoint. If that checkpoint is damaged, the error says what is wrong
  /// with which piece, and which checkpoint is the last undamaged one.
  static Expected<std::unique_ptr<Checkpoint>> open(const std::string &path);
  /// The last good checkpoint in `directory` up to step `last`. Adds what is
  /// wrong with later ones to `damages`, the last one first. That none is good
  /// is an error.
  static Expected<std::unique_ptr<Checkpoint>>
  openLastGood(const std::string &directory, int64_t last,
               std::vector<Damage> &damages);

  const std::string &path() const { return folder; }
  const CheckpointIndex &index() const { return contents; }
  /// Null if there is no such parameter.
  const CheckpointParam *findParam(const std::string &name) const;
  /// Returns the bytes of an entry, from whichever piece has it. `name` is as
  /// `valueEntry` and its neighbours return it. Of a state of which ranks have
  /// written shares, it is the first.
  std::string_view entry(const std::string &name) const;
  /// Returns `size` bytes of an entry, from number `begin` on: one view, or one
  /// for each share of a state.
  std::vector<std::string_view> range(const std::string &name, int64_t begin,
                                      int64_t size) const;
  /// Frees the tensors. What remains is the index.
  void freeTensors();
  /// Describes the whole content, for comparison with a checkpoint on another
  /// machine.
  std::string describe() const { return contents.checksum; }

private:
  static Expected<std::unique_ptr<Checkpoint>> read(const std::string &folder);
  Status openPiece(const CheckpointPiece &piece);
  Status joinParts();
  Status joinParts(const std::string &name, const CheckpointParam &param,
                   const std::map<int64_t, Tensor> &parts);
  Status checkEntries() const;

  /// A tensor, whole or in the shares of ranks.
  struct Entry {
    artifact::DataType type;
    std::vector<int64_t> shape;
    std::vector<std::string_view> parts;
  };

  std::string folder;
  CheckpointIndex contents;
  std::vector<MappedFile> files;
  std::unordered_map<std::string, Entry> entries;
};

/// The way in which parameters are written.
struct ExportOptions {
  /// Uses the names, order of dimensions and types of the model, instead of
  /// those of the file of --init.
  bool asModel = false;
  /// Replaces the names and orders of either.
  std::optional<NameMap> names = std::nullopt;
  /// Replaces the types of either; a float.
  std::optional<artifact::DataType> type = std::nullopt;
};

/// Writes the parameters of a checkpoint as one .safetensors file.
Status exportParameters(const Checkpoint &checkpoint, const std::string &path,
                        const ExportOptions &options = ExportOptions());

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_CHECKPOINT_H
