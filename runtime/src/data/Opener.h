//===- Opener.h - opening the data of a model's arguments -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_OPENER_H
#define VEELINE_RUNTIME_DATA_OPENER_H

#include "Inputs.h"
#include "Lengths.h"
#include "Source.h"
#include "Spec.h"
#include "Tensor.h"
#include "TokenSource.h"

namespace veeline::data {

/// The range of integers that `type` represents without gaps. For i64, it lacks
/// the largest integer.
std::pair<int64_t, int64_t> limitsOf(artifact::DataType type);

/// The mapped files that sources point into. Each file is mapped once.
class Files {
public:
  Files() = default;
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;

  Expected<std::string_view> open(const std::string &path) {
    auto known = files.find(path);
    if (known == files.end()) {
      VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
      known = files.emplace(path, std::move(file)).first;
    }
    return known->second.bytes();
  }

private:
  std::map<std::string, MappedFile> files;
};

/// Makes the sources and buffers of a model.
class Opener {
public:
  Opener(const artifact::Metadata &metadata, int64_t microbatches,
         const InputOptions &options, Files &files)
      : metadata(metadata), microbatches(microbatches), options(options),
        files(files) {}

  Status parse();
  Status parseIfTaken(const std::vector<std::string> &names);
  Status checkName(const Spec &spec, const std::string &text,
                   const std::vector<std::string> &names) const;
  Status checkSpelling(const Spec &spec) const;
  std::vector<Spec> takeSpecs() { return std::move(specs); }
  Expected<std::unique_ptr<Source>> openBatch(const artifact::Batch &batch);
  Expected<AlignedBytes> openBuffer(const artifact::Buffer &buffer);
  Status noteSamples(const artifact::Batch &batch, int64_t perMicrobatch,
                     int64_t rows);
  Expected<std::unique_ptr<Lengths>> openLengths();

private:
  std::vector<std::string> argumentNames() const;
  Expected<const Spec *> findSpec(const std::string &argument,
                                  const char *kind) const;
  Expected<Tensor> openArray(const Spec &spec, artifact::DataType type,
                             const char *kind) const;
  Expected<std::unique_ptr<Source>> openText(const Spec &spec,
                                             const artifact::Batch &batch);
  Expected<std::unique_ptr<Source>> openTokens(const Spec &spec,
                                               const artifact::Batch &batch);
  Expected<std::pair<int64_t, int64_t>>
  rangeOf(const Spec &spec, const artifact::Batch &batch) const;
  Expected<TokenWindows> openTokenFiles(const Spec &spec,
                                        const artifact::Batch &batch);
  Expected<std::unique_ptr<Source>> openRows(const Spec &spec,
                                             const artifact::Batch &batch);
  template <typename Input>
  Expected<std::unique_ptr<Source>>
  openRandom(const Spec &spec, const Input &input, int64_t microbatches) const;
  Status checkText(const Spec &spec, const artifact::Batch &batch,
                   std::string_view text) const;
  Status checkRowCount(const Spec &spec, int64_t perMicrobatch, int64_t rows);
  int64_t reachIn(const std::string &file, bool withShift = true) const;
  std::string_view partOfText(std::string_view text) const;
  Status takePart(const std::string &file, int64_t perMicrobatch,
                  Tensor &tensor) const;

  const artifact::Metadata &metadata;
  const int64_t microbatches; ///< Of a step.
  const InputOptions &options;
  Files &files;
  std::vector<Spec> specs;
  /// The last array of samples that was opened, if any. All such arrays have
  /// samples for the same number of steps.
  const Spec *firstRows = nullptr;
  int64_t numRows = 0, rowsPerStep = 0;
  /// The samples of arguments whose length varies: those in a microbatch, and
  /// those in the arrays (0 if there are none).
  int64_t lengthSamples = 0, lengthRows = 0;
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_OPENER_H
