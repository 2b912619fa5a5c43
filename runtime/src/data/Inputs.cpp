//===- Inputs.cpp - batches and buffers from files ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "Opener.h"
#include "veeline/Base/Checksum.h"
#include "veeline/Base/Numbers.h"

#include <algorithm>
#include <iterator>

using namespace veeline;
using namespace veeline::data;
using artifact::Batch;
using artifact::Buffer;
using artifact::Metadata;

Status data::checkFiles(const InputOptions &options) {
  std::vector<std::string> files;
  for (const std::string &text : options.specs) {
    VEELINE_TRY_VALUE(Spec spec, parseSpec(text, options.option("data")));
    std::ranges::copy(spec.files(), std::back_inserter(files));
  }
  files.push_back(options.lengths);
  for (const std::string &file : files)
    if (!file.empty())
      if (auto opened = MappedFile::open(file); !opened.ok())
        return opened.status();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

struct Inputs::Storage {
  const std::string &describeFile(const std::string &path);
  std::string describeTokens(const Spec &spec);
  std::string describe(const Spec &spec);

  Files files;
  std::map<std::string, std::string> descriptions; ///< Of files.
  std::vector<Spec> specs;
  std::string lengths; ///< The name of a file, or empty.
};

Inputs::Inputs(const Metadata &metadata, int64_t microbatches)
    : metadata(metadata), microbatches(microbatches),
      storage(std::make_unique<Storage>()) {}
Inputs::~Inputs() = default;

Expected<std::unique_ptr<Inputs>> Inputs::open(const Metadata &metadata,
                                               const InputOptions &options,
                                               int32_t replicas) {
  int64_t microbatches = int64_t(metadata.microbatches) * replicas;
  std::unique_ptr<Inputs> inputs(new Inputs(metadata, microbatches));
  Opener opener(metadata, microbatches, options, inputs->storage->files);
  VEELINE_TRY(opener.parse());
  for (const Batch &batch : metadata.batches) {
    if (batch.lossWeight) {
      inputs->sources.emplace_back();
      continue;
    }
    VEELINE_TRY_VALUE(std::unique_ptr<Source> source, opener.openBatch(batch));
    if (auto *fed = dynamic_cast<FedSource *>(source.get()))
      inputs->fedBatches[inputs->sources.size()] = fed;
    inputs->sources.push_back(std::move(source));
  }
  VEELINE_TRY_VALUE(inputs->lengths, opener.openLengths());
  inputs->storage->lengths = options.lengths;
  for (const Buffer &buffer : metadata.buffers) {
    if (buffer.lossScale) {
      inputs->buffers.emplace_back();
      continue;
    }
    VEELINE_TRY_VALUE(AlignedBytes bytes, opener.openBuffer(buffer));
    inputs->buffers.push_back(std::move(bytes));
  }
  // This is done last, because sources are opened from the specs.
  inputs->storage->specs = opener.takeSpecs();
  for (const Spec &spec : inputs->storage->specs)
    for (size_t i = 0; i < metadata.buffers.size(); ++i)
      if (spec.kind == Spec::Kind::fed &&
          metadata.buffers[i].name == spec.argument)
        inputs->fedBuffers[i] = false;
  return inputs;
}

/// Describes the content of a file. Each file is read once for that, and the
/// result is kept for all checkpoints.
const std::string &Inputs::Storage::describeFile(const std::string &path) {
  auto [known, isNew] = descriptions.try_emplace(path);
  // The file is already open, so this cannot fail.
  if (isNew)
    known->second = describeContent(*files.open(path));
  return known->second;
}

std::string Inputs::Storage::describeTokens(const Spec &spec) {
  std::string text;
  for (const TokenFileSpec &file : spec.tokenFiles) {
    text += (text.empty() ? "" : ", ") + describeFile(file.path);
    if (file.type)
      text += ":" + std::string(name(*file.type));
    if (file.weight)
      text += ":weight=" + exactNumber(*file.weight);
  }
  return text + data::describe(spec.view);
}

std::string Inputs::Storage::describe(const Spec &spec) {
  std::string text = spec.argument + "=";
  switch (spec.kind) {
  case Spec::Kind::random:
    return text + (spec.isFixed ? "random:fixed" : "random");
  case Spec::Kind::fed:
    return text + "fed";
  case Spec::Kind::text:
    text += "text:";
    break;
  case Spec::Kind::tokens:
    text += "tokens:";
    break;
  case Spec::Kind::npy:
  case Spec::Kind::safeTensors:
    break;
  }
  text += spec.kind == Spec::Kind::tokens ? describeTokens(spec)
                                          : describeFile(spec.file);
  if (!spec.entry.empty())
    text += ":" + spec.entry;
  if (spec.shift != 0)
    text += ":shift=" + std::to_string(spec.shift);
  return text;
}

std::vector<std::string> Inputs::describe() const {
  std::vector<std::string> lines;
  for (const Spec &spec : storage->specs)
    lines.push_back("--data " + storage->describe(spec));
  // Their order has no meaning.
  std::sort(lines.begin(), lines.end());
  if (!storage->lengths.empty())
    lines.push_back("--lengths " + storage->describeFile(storage->lengths));
  return lines;
}

std::vector<std::pair<std::string, Source *>> Inputs::allSources() const {
  std::vector<std::pair<std::string, Source *>> all;
  all.reserve(sources.size() + 1);
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i])
      all.emplace_back(metadata.batches[i].name, sources[i].get());
  if (lengths && lengths->source())
    all.emplace_back("--lengths", lengths->source());
  return all;
}

int64_t Inputs::lastStepOf(int64_t epochs) const {
  // All arrays have the same number of steps, but texts may differ.
  int64_t last = 0;
  for (const std::unique_ptr<Source> &source : sources)
    if (int64_t step = source ? source->lastStepOf(epochs) : 0; step > 0)
      last = last > 0 ? std::min(last, step) : step;
  return last;
}

std::vector<DataPosition> Inputs::positionsOf(int64_t step) const {
  std::vector<DataPosition> positions;
  for (const auto &[name, source] : allSources())
    if (std::optional<Position> position = source->positionOf(step))
      positions.push_back({name, position->epoch, position->sample});
  return positions;
}

void Inputs::setPositions(int64_t step,
                          const std::vector<DataPosition> &positions) {
  for (const auto &[name, source] : allSources())
    for (const DataPosition &position : positions)
      if (position.argument == name)
        source->setPosition(step, {position.epoch, position.sample});
}

Status Inputs::fill(size_t index, int64_t step, int64_t first, int64_t count,
                    char *target) {
  Source &source = *sources[index];
  int64_t samples = source.samplesPerStep() / microbatches;
  VEELINE_TRY(source.fill(step, first * samples, count * samples, target));
  if (lengths)
    lengths->pack(metadata.batches[index], step, first, count, target);
  return Status::success();
}

void Inputs::readAhead(int64_t step, int64_t first, int64_t count) {
  for (const std::unique_ptr<Source> &source : sources) {
    if (!source)
      continue;
    int64_t samples = source->samplesPerStep() / microbatches;
    source->readAhead(step, first * samples, count * samples);
  }
}

bool Inputs::readsTokens() const {
  return std::ranges::any_of(storage->specs, [](const Spec &spec) {
    return spec.kind == Spec::Kind::tokens;
  });
}

void Inputs::fillLengths(int64_t step, int64_t first, int64_t count,
                         int64_t *target) {
  std::copy_n(lengths->ofStep(step).begin() + first, count, target);
}

int64_t Inputs::batchBytes(size_t index) const {
  const Batch &batch = metadata.batches[index];
  return artifact::bytesOf(batch.type, batch.shape);
}
