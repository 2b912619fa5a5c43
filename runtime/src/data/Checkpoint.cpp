//===- Checkpoint.cpp - folders of checkpoints ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint.h"

#include "SafeTensors.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

using namespace veeline;
using namespace veeline::data;
namespace fs = std::filesystem;

static constexpr std::string_view folderPrefix = "step-";
static constexpr std::string_view piecePrefix = "rank-";

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

std::string data::checkpointPath(const std::string &directory, int64_t step) {
  char name[32];
  std::snprintf(name, sizeof(name), "/step-%08ld", long(step));
  return directory + name;
}

std::string data::pieceName(int32_t rank) {
  return std::string(piecePrefix) + std::to_string(rank) + ".safetensors";
}

/// Returns the step of a folder of this name; none if the name is not that of a
/// checkpoint.
static std::optional<int64_t> stepOf(const std::string &name) {
  int64_t step = 0;
  if (!name.starts_with(folderPrefix))
    return std::nullopt;
  const char *end = name.data() + name.size();
  auto [rest, error] =
      std::from_chars(name.data() + folderPrefix.size(), end, step);
  bool isNumber = error == std::errc() && rest == end && step >= 1;
  return isNumber ? std::optional(step) : std::nullopt;
}

/// Also true where the file system cannot say: reading the index then tells
/// why.
static bool mayHaveIndex(const std::string &folder) {
  std::error_code error;
  return fs::exists(folder + "/" + checkpointIndexName, error) || error;
}

static bool meansAbsence(const std::error_code &error) {
  return error == std::errc::no_such_file_or_directory ||
         error == std::errc::not_a_directory;
}

/// Returns the steps of all folders, with or without an index.
static Expected<std::vector<int64_t>>
listFolders(const std::string &directory) {
  std::vector<int64_t> steps;
  std::error_code error;
  fs::directory_iterator it(directory, error), end;
  for (; !error && it != end; it.increment(error))
    if (auto step = stepOf(it->path().filename().string()))
      steps.push_back(*step);
  if (error && !meansAbsence(error))
    return Status::error("cannot read the folder '" + directory +
                         "': " + error.message());
  std::sort(steps.begin(), steps.end());
  return steps;
}

Expected<std::vector<int64_t>>
data::listCheckpoints(const std::string &directory) {
  VEELINE_TRY_VALUE(std::vector<int64_t> steps, listFolders(directory));
  std::erase_if(steps, [&](int64_t step) {
    return !mayHaveIndex(checkpointPath(directory, step));
  });
  return steps;
}

/// Deletes the files of a checkpoint, and no other file.
static void deleteFolder(const std::string &folder) {
  std::error_code error;
  bool hadIndex = fs::remove(folder + "/" + checkpointIndexName, error);
  // Makes the removal of the index durable before any piece is removed. So
  // after a crash, the folder has no index, or one whose pieces are all there.
  Status synced = syncDirectory(folder);
  if (error || (hadIndex && !synced.ok()))
    return;
  std::vector<fs::path> pieces;
  fs::directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    // The names of temporary files are longer, but begin alike.
    if (name.starts_with(piecePrefix) || name.starts_with(checkpointIndexName))
      pieces.push_back(it->path());
  }
  for (const fs::path &piece : pieces)
    fs::remove(piece, error);
  fs::remove(folder, error);
}

Status data::deleteIncomplete(const std::string &directory) {
  VEELINE_TRY_VALUE(std::vector<int64_t> steps, listFolders(directory));
  for (int64_t step : steps)
    if (std::string folder = checkpointPath(directory, step);
        !mayHaveIndex(folder))
      deleteFolder(folder);
  return Status::success();
}

void data::deleteCheckpoint(const std::string &directory, int64_t step) {
  deleteFolder(checkpointPath(directory, step));
}

Expected<std::string> data::moveDamaged(const std::string &directory,
                                        int64_t step) {
  std::string from = checkpointPath(directory, step);
  VEELINE_TRY_VALUE(std::string to,
                    moveAside(from, directory + "/damaged-" +
                                        from.substr(directory.size() + 1)));
  VEELINE_TRY(syncDirectory(directory));
  return to;
}

//===----------------------------------------------------------------------===//
// Checkpoint
//===----------------------------------------------------------------------===//

/// Checks the bytes of a piece before it is mapped: there, those that cannot be
/// read end the process.
static Status checkBytes(const std::string &path,
                         const CheckpointPiece &piece) {
  int64_t bytes = 0;
  Crc64 crc;
  VEELINE_TRY(readInParts(path, [&](std::string_view part) {
    bytes += static_cast<int64_t>(part.size());
    crc.add(part);
  }));
  if (bytes != piece.bytes)
    return Status::error("'" + piece.file + "' has " + std::to_string(bytes) +
                         " bytes, and the index says " +
                         std::to_string(piece.bytes) +
                         ": it is truncated or replaced");
  std::string found = formatChecksum(crc.value());
  return found == piece.checksum
             ? Status::success()
             : Status::error("'" + piece.file +
                             "' is damaged: its checksum is " + found +
                             ", and the index says " + piece.checksum);
}

Status Checkpoint::openPiece(const CheckpointPiece &piece) {
  std::string path = folder + "/" + piece.file;
  VEELINE_TRY(checkBytes(path, piece));
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  Expected<NamedTensors> tensors = parseSafeTensors(file.bytes());
  if (!tensors.ok())
    return Status::error("'" + piece.file +
                         "' cannot be read: " + tensors.message());
  for (auto &[name, tensor] : *tensors)
    entries.emplace(name, Entry{tensor.type, tensor.shape, {tensor.bytes}});
  files.push_back(std::move(file));
  return Status::success();
}

/// The shapes of the optimiser's state of a parameter.
static std::vector<std::vector<int64_t>>
stateShapesOf(const CheckpointIndex &index, const CheckpointParam &param) {
  if (param.frozen)
    return {};
  return stateShapes(index.optimizer, index.errorFeedback, param.shape);
}

/// Makes one entry of each state whose shares are in several pieces. Fails if
/// the parts do not fit together.
Status Checkpoint::joinParts() {
  std::map<std::string, std::map<int64_t, Tensor>> parts;
  for (const auto &[name, entry] : entries)
    if (auto part = parsePartEntry(name))
      parts[part->first].emplace(
          part->second, Tensor{entry.type, entry.shape, entry.parts[0]});
  for (const CheckpointParam &param : contents.params) {
    size_t slots = stateShapesOf(contents, param).size();
    for (size_t slot = 0; slot < slots; ++slot) {
      std::string name = stateEntry(param.name, static_cast<int64_t>(slot));
      if (auto found = parts.find(name); found != parts.end())
        VEELINE_TRY(joinParts(name, param, found->second));
    }
  }
  return Status::success();
}

/// `parts` are by the numbers of their first elements.
Status Checkpoint::joinParts(const std::string &name,
                             const CheckpointParam &param,
                             const std::map<int64_t, Tensor> &parts) {
  int64_t next = 0;
  for (const auto &[first, tensor] : parts) {
    if (tensor.type != param.type || tensor.shape.size() != 1 || first != next)
      return Status::error("'" + partEntry(name, first) + "', " +
                           data::describe(tensor.type, tensor.shape) +
                           ", does not follow the elements before number " +
                           std::to_string(next) + " of " +
                           data::describe(param.type, param.shape));
    next += tensor.shape[0];
  }
  if (tensorBytes(param.type, param.shape) !=
      next * artifact::byteSize(param.type))
    return Status::error("the pieces have " + std::to_string(next) +
                         " elements of '" + name + "', and the index says " +
                         data::describe(param.type, param.shape));
  Entry whole{param.type, param.shape, {}};
  for (const auto &[first, tensor] : parts)
    whole.parts.push_back(tensor.bytes);
  entries.emplace(name, std::move(whole));
  return Status::success();
}

/// Checks that each parameter has all of its entries.
Status Checkpoint::checkEntries() const {
  for (const CheckpointParam &param : contents.params) {
    std::vector<std::string> names{valueEntry(param.name)};
    std::vector<std::vector<int64_t>> shapes = stateShapesOf(contents, param);
    for (size_t slot = 0; slot < shapes.size(); ++slot)
      names.push_back(stateEntry(param.name, static_cast<int64_t>(slot)));
    // Stops at the first missing entry, because the number in the file may be
    // anything.
    for (int64_t age = 1; age <= param.olderValues; ++age) {
      names.push_back(olderEntry(param.name, age));
      if (!entries.contains(names.back()))
        break;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string &name = names[i];
      bool isState = i >= 1 && i <= shapes.size();
      const std::vector<int64_t> &shape = isState ? shapes[i - 1] : param.shape;
      auto it = entries.find(name);
      if (it == entries.end())
        return Status::error("no piece has '" + name + "'");
      const Entry &entry = it->second;
      if (entry.type != param.type || entry.shape != shape)
        return Status::error(
            "'" + name + "' is " + data::describe(entry.type, entry.shape) +
            ", and the index says " + data::describe(param.type, shape));
    }
  }
  return Status::success();
}

Expected<std::unique_ptr<Checkpoint>>
Checkpoint::read(const std::string &folder) {
  auto checkpoint = std::make_unique<Checkpoint>();
  checkpoint->folder = folder;
  std::string text;
  VEELINE_TRY(readInParts(folder + "/" + checkpointIndexName,
                          [&](std::string_view part) { text += part; }));
  Expected<CheckpointIndex> index = parseCheckpointIndex(text);
  if (!index.ok())
    return Status::error("'" + std::string(checkpointIndexName) +
                         "' cannot be read: " + index.message());
  checkpoint->contents = std::move(*index);
  for (const CheckpointPiece &piece : checkpoint->contents.pieces)
    VEELINE_TRY(checkpoint->openPiece(piece));
  VEELINE_TRY(checkpoint->joinParts());
  VEELINE_TRY(checkpoint->checkEntries());
  return checkpoint;
}

/// Splits the path of a checkpoint into the folder around it and the step.
/// Returns none if its name is not that of a checkpoint.
static std::optional<std::pair<std::string, int64_t>>
splitPath(const std::string &path) {
  fs::path whole = fs::path(path).lexically_normal();
  if (!whole.has_filename())
    whole = whole.parent_path();
  auto step = stepOf(whole.filename().string());
  if (!step)
    return std::nullopt;
  std::string parent = whole.parent_path().string();
  return std::pair(parent.empty() ? "." : parent, *step);
}

Expected<std::unique_ptr<Checkpoint>>
Checkpoint::open(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return Status::error(
        fs::exists(path, error)
            ? "'" + path + "' is a file, and not a folder of checkpoints"
            : "there is no folder '" + path + "'");
  auto split = splitPath(path);
  std::string directory = split ? split->first : path;
  VEELINE_TRY_VALUE(std::vector<int64_t> steps, listCheckpoints(directory));
  if (split)
    std::erase_if(steps, [&](int64_t step) { return step >= split->second; });
  bool takesLast = !split && !mayHaveIndex(path);
  if (takesLast) {
    if (steps.empty()) {
      // The folder of a run has a folder of checkpoints.
      std::string inside = (fs::path(path) / "checkpoints").string();
      auto others = fs::is_directory(inside, error) ? listCheckpoints(inside)
                                                    : std::vector<int64_t>();
      return Status::error("'" + path +
                           "' has no checkpoint: no folder like "
                           "'step-00000010' with an '" +
                           checkpointIndexName + "' is in it" +
                           (others.ok() && !others->empty()
                                ? "; '" + inside + "' has some"
                                : ""));
    }
    directory = path;
  }
  std::string folder =
      takesLast ? checkpointPath(directory, steps.back()) : path;
  if (takesLast)
    steps.pop_back();
  Expected<std::unique_ptr<Checkpoint>> checkpoint = read(folder);
  if (checkpoint.ok())
    return checkpoint;
  std::string text = "checkpoint '" + folder + "': " + checkpoint.message();
  if (!mayHaveIndex(folder))
    text = "checkpoint '" + folder + "' is not whole: it has no '" +
           checkpointIndexName + "', which is written last";
  for (; !steps.empty(); steps.pop_back()) {
    std::string before = checkpointPath(directory, steps.back());
    if (!read(before).ok())
      continue;
    text += "; the last good one is '" + before + "'";
    return Status::error(text);
  }
  return Status::error(text + "; there is no good one before it");
}

Expected<std::unique_ptr<Checkpoint>>
Checkpoint::openLastGood(const std::string &directory, int64_t last,
                         std::vector<Damage> &damages) {
  VEELINE_TRY_VALUE(std::vector<int64_t> steps, listCheckpoints(directory));
  std::erase_if(steps, [&](int64_t step) { return step > last; });
  std::string text;
  for (; !steps.empty(); steps.pop_back()) {
    std::string folder = checkpointPath(directory, steps.back());
    Expected<std::unique_ptr<Checkpoint>> checkpoint = read(folder);
    if (checkpoint.ok())
      return checkpoint;
    damages.push_back({steps.back(), checkpoint.message()});
    text += "; '" + folder + "': " + checkpoint.message();
  }
  return Status::error("no checkpoint in '" + directory + "' is good" + text +
                       "; bring a good one back, or move them away to begin "
                       "anew");
}

const CheckpointParam *Checkpoint::findParam(const std::string &name) const {
  for (const CheckpointParam &param : contents.params)
    if (param.name == name)
      return &param;
  return nullptr;
}

std::string_view Checkpoint::entry(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? std::string_view() : it->second.parts[0];
}

std::vector<std::string_view>
Checkpoint::range(const std::string &name, int64_t begin, int64_t size) const {
  std::vector<std::string_view> found;
  auto it = entries.find(name);
  if (it == entries.end())
    return found;
  for (std::string_view part : it->second.parts) {
    auto bytes = static_cast<int64_t>(part.size());
    int64_t first = std::clamp(begin, int64_t(0), bytes);
    int64_t end = std::clamp(begin + size, first, bytes);
    if (first < end)
      found.push_back(part.substr(static_cast<size_t>(first),
                                  static_cast<size_t>(end - first)));
    begin -= bytes;
  }
  return found;
}

void Checkpoint::freeTensors() {
  entries.clear();
  files.clear();
}

/// How a parameter is written.
static ParamInFile formOf(const CheckpointParam &param,
                          const ExportOptions &options) {
  ParamInFile form{param.name, param.type, {}};
  if (param.inFile && !options.asModel)
    form = *param.inFile;
  if (options.names) {
    NameInFile found = options.names->of(param.name);
    form.name = found.name;
    form.order = found.order;
  }
  form.type = options.type.value_or(form.type);
  return form;
}

/// Writes a value, in the type of the parameter, as `form` says.
static void writeAs(const ParamInFile &form, const CheckpointParam &param,
                    std::string_view value, char *bytes) {
  Tensor tensor{param.type, param.shape, value};
  std::vector<char> permuted(form.order.empty() ? 0 : value.size());
  if (!form.order.empty()) {
    permute(param.type, param.shape, form.order, value, permuted.data());
    tensor.bytes = {permuted.data(), permuted.size()};
  }
  convertFloats(tensor, form.type, bytes);
}

Status data::exportParameters(const Checkpoint &checkpoint,
                              const std::string &path,
                              const ExportOptions &options) {
  const CheckpointIndex &index = checkpoint.index();
  std::vector<std::string> params;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<ParamInFile> forms;
  std::vector<SafeTensorsEntry> entries;
  for (const CheckpointParam &param : index.params) {
    params.push_back(param.name);
    shapes.push_back(param.shape);
    const ParamInFile &form = forms.emplace_back(formOf(param, options));
    entries.push_back({form.name, form.type,
                       NameInFile{form.name, form.order}.shapeOf(param.shape)});
  }
  if (options.names)
    VEELINE_TRY(options.names->check(params, shapes));
  return writeSafeTensors(
      path, entries, notesOfParameters(index.model, index.step),
      [&](size_t i, char *bytes) {
        const CheckpointParam &param = index.params[i];
        writeAs(forms[i], param, checkpoint.entry(valueEntry(param.name)),
                bytes);
        return Status::success();
      });
}
