//===- CheckpointIndex.h - the index of a checkpoint ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index is a JSON file that lists the parts of a checkpoint. It is written
// after all other files (docs/checkpoints.md).
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_CHECKPOINTINDEX_H
#define VEELINE_RUNTIME_DATA_CHECKPOINTINDEX_H

#include "veeline/artifact.h"

#include <optional>

namespace veeline::data {

/// A file that one rank has written.
struct CheckpointPiece {
  std::string file; ///< In the folder of the index.
  int64_t bytes = 0;
  std::string checksum; ///< CRC-64, 16 hexadecimal digits.
};

/// A parameter as the file of --init had it, in which export writes it.
struct ParamInFile {
  std::string name;
  artifact::DataType type = artifact::DataType::f32; ///< A float.
  std::vector<int64_t> order;                        ///< As of NameInFile.
};

struct CheckpointParam {
  std::string name;
  artifact::DataType type = artifact::DataType::f32; ///< f32 or f64.
  std::vector<int64_t> shape;
  /// The number of older values that are stored, which asynchronous schedules
  /// need.
  int32_t olderValues = 0;
  bool frozen = false; ///< Not trained: the optimiser has no state of it.
  /// None where training began without a file.
  std::optional<ParamInFile> inFile = std::nullopt;

  /// The name in a file with the layout of that of --init.
  const std::string &nameInFile() const { return inFile ? inFile->name : name; }
};

/// What a source of data reads next: sample `sample`, counted from 0 in its
/// epoch. A text has one epoch, which is endless.
struct DataPosition {
  std::string argument; ///< "--lengths" for the lengths of samples.
  int64_t epoch = 0;
  int64_t sample = 0;
};

/// A step whose result has not yet affected the loss scale.
struct ScaledStep {
  double lossScale = 1;
  bool overflows = false;
};

/// The state of a dynamic loss scale between two steps.
struct LossScaleState {
  double lossScale = 1;
  int64_t stepsInWindow = 0;
  std::vector<ScaledStep> lastSteps; ///< The latest is last.
};

struct CheckpointIndex {
  /// The version that is written, and the oldest one that is read: version 1
  /// has no frozen parameters, and knows nothing of files of --init; up to
  /// version 2, no evaluation is owed.
  static constexpr int64_t formatVersion = 3, oldestFormatVersion = 1;

  int64_t version = formatVersion;
  std::string model;
  Optimizer optimizer = Optimizer::sgd;
  bool errorFeedback = false;
  int64_t step = 0;    ///< The last one that is finished.
  int64_t updates = 0; ///< Updates of the optimiser.
  /// Whether the evaluation after this step was interrupted.
  bool owesEvaluation = false;
  LossScaleState lossScale;
  std::vector<DataPosition> data;
  /// The other options on which the bits of the next step depend, as "NAME
  /// VALUE".
  std::vector<std::string> options;
  std::vector<CheckpointParam> params;
  std::vector<CheckpointPiece> pieces;
  /// The checksum of the text in which this member is empty.
  std::string checksum;
};

/// Returns the text of the file, with its checksum.
std::string toText(CheckpointIndex index);
/// Parses an index. Fails if a member is missing, unknown or wrong, or if the
/// checksum does not match. Messages do not name the file.
Expected<CheckpointIndex> parseCheckpointIndex(std::string_view text);

/// Formats a checksum as 16 hexadecimal digits.
std::string formatChecksum(uint64_t checksum);

/// The names of entries in pieces: the value of a parameter, slot `slot` of the
/// optimiser's state, and the value before the last `age` updates.
std::string valueEntry(const std::string &param);
std::string stateEntry(const std::string &param, int64_t slot);
std::string olderEntry(const std::string &param, int64_t age);
/// Returns "part.32/state.0/NAME", the name of the elements of an entry that
/// one rank holds alone: a tensor of one dimension that starts at element
/// `first`.
std::string partEntry(const std::string &entry, int64_t first);
/// The inverse of `partEntry`: returns the entry and the number. None if `name`
/// is not that of a part.
std::optional<std::pair<std::string, int64_t>>
parsePartEntry(std::string_view name);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_CHECKPOINTINDEX_H
