//===- Outputs.cpp - writing tensors that are results ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"

#include "Npy.h"
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
      outputs.tensors.push_back({i, {}});
      names.push_back(results[i].name);
    }
  const std::string &path = run.options.outputs;
  if (names.empty())
    return Status::error("--outputs: '" + run.options.artifact +
                         "' gives numbers alone; compile a model that returns "
                         "tensors beside its loss, with --forward-only");
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

Status Outputs::add(const Session &session) {
  auto perStep = static_cast<size_t>(run.microbatches());
  for (Tensor &tensor : tensors) {
    const artifact::Result &result = run.metadata().results[tensor.result];
    size_t bytes =
        static_cast<size_t>(artifact::bytesOf(result.type, result.shape)) *
        perStep;
    char *place = nullptr;
    if (run.isFirst()) {
      tensor.bytes.resize(tensor.bytes.size() + bytes);
      place = tensor.bytes.data() + tensor.bytes.size() - bytes;
    }
    VEELINE_TRY(session.gatherOutput(tensor.result, place));
  }
  microbatches += run.microbatches();
  return Status::success();
}

data::SafeTensorsEntry Outputs::entryOf(const Tensor &tensor) const {
  const artifact::Result &result = run.metadata().results[tensor.result];
  std::vector<int64_t> shape = result.shape;
  if (shape.empty())
    shape = {1};
  shape[0] *= microbatches;
  return {result.name, result.type, shape};
}

Status Outputs::write() const {
  if (!run.isFirst())
    return Status::success();
  const std::string &path = run.options.outputs;
  if (path.ends_with(".npy")) {
    data::SafeTensorsEntry entry = entryOf(tensors[0]);
    AtomicFile file(path);
    VEELINE_TRY(file.open());
    VEELINE_TRY(file.write(data::npyHeader(entry.type, entry.shape)));
    VEELINE_TRY(file.write(tensors[0].bytes));
    return file.commit();
  }
  std::vector<data::SafeTensorsEntry> entries;
  for (const Tensor &tensor : tensors)
    entries.push_back(entryOf(tensor));
  return data::writeSafeTensors(path, entries,
                                {{"model", run.metadata().model}},
                                [&](size_t i, char *bytes) {
                                  std::ranges::copy(tensors[i].bytes, bytes);
                                  return Status::success();
                                });
}
