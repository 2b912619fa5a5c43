//===- Outputs.cpp - writing tensors that are results ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "Npy.h"
#include "SafeTensors.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Suggest.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::train;

Expected<Outputs> Outputs::open(const Run &run) {
  Outputs outputs(run);
  std::vector<std::string> names;
  const std::vector<artifact::Result> &results = run.metadata().results;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].isTensor) {
      outputs.tensors.push_back({i, Spool(run.options.outputs)});
      names.push_back(results[i].name);
    }
  const std::string &path = run.options.outputs;
  if (names.empty())
    return Status::error("--outputs: '" + run.options.artifact +
                         "' gives numbers alone; compile a model that returns "
                         "tensors, with --forward-only");
  bool isNpy = path.ends_with(".npy");
  if (!isNpy && !path.ends_with(".safetensors"))
    return Status::error("--outputs " + path +
                         ": outputs are written to a .npy or a .safetensors "
                         "file");
  if (isNpy && names.size() > 1)
    return Status::error("--outputs " + path +
                         ": a .npy file has one array, "
                         "and the model gives " +
                         joinNames(names) + "; write a .safetensors file");
  return outputs;
}

/// Appends a dense tensor of `shape`, from dimension `dim` on, filled up with
/// zeros to `bound`. Returns where what was read ends.
static const char *appendPadded(std::string &to, const char *from, int64_t size,
                                const std::vector<int64_t> &shape,
                                const std::vector<int64_t> &bound, size_t dim) {
  auto bytesFrom = [&](const std::vector<int64_t> &extents, size_t first) {
    int64_t bytes = size;
    for (size_t i = first; i < extents.size(); ++i)
      bytes *= extents[i];
    return static_cast<size_t>(bytes);
  };
  auto first = static_cast<int64_t>(dim);
  if (std::equal(shape.begin() + first, shape.end(), bound.begin() + first)) {
    size_t bytes = bytesFrom(shape, dim);
    to.append(from, bytes);
    return from + bytes;
  }
  for (int64_t i = 0; i < shape[dim]; ++i)
    from = appendPadded(to, from, size, shape, bound, dim + 1);
  to.append(static_cast<size_t>(bound[dim] - shape[dim]) *
                bytesFrom(bound, dim + 1),
            '\0');
  return from;
}

/// Returns microbatches of these lengths, for each of which `bytes` has room
/// for the bound, one after the other.
std::string Outputs::pack(Tensor &tensor, const std::vector<int64_t> &lengths,
                          std::string_view bytes) const {
  std::string packed;
  const artifact::Metadata &metadata = run.metadata();
  const artifact::Result &result = metadata.results[tensor.result];
  const char *from = bytes.data();
  for (int64_t length : lengths) {
    auto found = std::ranges::find(metadata.lengths, length);
    std::vector<int64_t> shape =
        result.shapes[static_cast<size_t>(found - metadata.lengths.begin())];
    std::vector<int64_t> bound = result.shape;
    if (!shape.empty())
      bound[0] = shape[0];
    appendPadded(packed, from, artifact::byteSize(result.type), shape, bound,
                 /*dim=*/0);
    tensor.rows += shape.empty() ? 1 : shape[0];
    from += artifact::bytesOf(result.type, result.shape);
  }
  return packed;
}

Status Outputs::add(const Session &session, int64_t step) {
  auto perStep = static_cast<size_t>(run.microbatches());
  bool varies = !run.metadata().lengths.empty();
  std::vector<int64_t> lengths(varies ? perStep : 0);
  if (varies)
    run.inputs->fillLengths(step, 0, run.microbatches(), lengths.data());
  std::string bytes;
  for (Tensor &tensor : tensors) {
    const artifact::Result &result = run.metadata().results[tensor.result];
    if (run.isFirst())
      bytes.resize(perStep * static_cast<size_t>(
                                 artifact::bytesOf(result.type, result.shape)));
    VEELINE_TRY(session.gatherOutput(tensor.result,
                                     run.isFirst() ? bytes.data() : nullptr));
    if (!run.isFirst())
      continue;
    if (varies)
      bytes = pack(tensor, lengths, bytes);
    else
      tensor.rows += static_cast<int64_t>(perStep) *
                     (result.shape.empty() ? 1 : result.shape[0]);
    VEELINE_TRY(tensor.spool.append(bytes));
  }
  return Status::success();
}

data::SafeTensorsEntry Outputs::entryOf(const Tensor &tensor) const {
  const artifact::Result &result = run.metadata().results[tensor.result];
  std::vector<int64_t> shape = result.shape;
  if (shape.empty())
    shape = {1};
  shape[0] = tensor.rows;
  return {result.name, result.type, shape};
}

Status Outputs::write() const {
  if (!run.isFirst())
    return Status::success();
  std::vector<data::SafeTensorsEntry> entries;
  for (const Tensor &tensor : tensors)
    entries.push_back(entryOf(tensor));
  const std::string &path = run.options.outputs;
  AtomicFile file(path);
  VEELINE_TRY(file.open());
  VEELINE_TRY(
      file.write(path.ends_with(".npy")
                     ? data::npyHeader(entries[0].type, entries[0].shape)
                     : data::safeTensorsHeader(
                           entries, {{"model", run.metadata().model}})));
  for (const Tensor &tensor : tensors)
    VEELINE_TRY(tensor.spool.copyTo(file));
  return file.commit();
}
