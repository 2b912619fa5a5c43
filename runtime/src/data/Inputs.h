//===- Inputs.h - batches and buffers from files ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_INPUTS_H
#define VEELINE_RUNTIME_DATA_INPUTS_H

#include "AlignedBytes.h"
#include "CheckpointIndex.h"
#include "veeline/artifact.h"

#include <map>
#include <memory>

namespace veeline::data {

struct InputOptions {
  /// "NAME=SPEC" each, where SPEC is
  ///   text:FILE            windows of the file's bytes, at random places, or
  ///                        one after the other (inOrder)
  ///   text:FILE:shift=K    the same windows, K bytes later
  ///   tokens:FILES         windows of the tokens of files, see TokenFile.h
  ///   tokens:FILES:shift=K:documents=T
  ///                        K tokens later; where T ends a document
  ///   FILE.npy             samples, or a buffer
  ///   FILE.safetensors:ENTRY
  ///   random               random values, new ones in each step
  ///   random:fixed         the same in all steps
  std::vector<std::string> specs;
  uint64_t seed = 0;
  bool shuffle = false;  ///< Samples have another order in each epoch.
  bool dropLast = false; ///< Leave out samples that do not fill a step.
  /// The source of arguments that have none in `specs`: "random",
  /// "random:fixed", or "fed" (by Inputs::feed). If it is empty, such arguments
  /// are an error.
  std::string otherwise = {};
  /// A .npy file with the length of each sample, for a model whose length
  /// varies. If it is empty, all samples have the greatest length.
  std::string lengths = {};
  /// The share of the data that is held out of training: the last samples of
  /// arrays, in whole steps; the last bytes of texts; and the last tokens of
  /// each file.
  double heldOut = 0;
  /// Which part of the data is read.
  enum class Part { training, heldOut } part = Part::training;
  /// Whether windows of texts and of files of tokens are read once, in order
  /// and without overlap.
  bool inOrder = false;
  /// The prefix of the options about data, for messages; "--eval-" for data
  /// that training evaluates.
  std::string prefix = "--";
  /// As `specs`, which come first, of arguments that the model may lack, but
  /// not all of them.
  std::vector<std::string> specsIfTaken = {};

  std::string option(const char *name) const { return prefix + name; }
};

/// Checks everything that does not depend on a model: the syntax of `options`,
/// and that the files can be read.
Status checkFiles(const InputOptions &options);

/// Where one batch argument comes from.
class Source;
class FedSource;
class Lengths;

/// All arguments of a model. Values are checked when files are opened, except
/// for those of large files of tokens, which are checked as they are read. What
/// is read depends only on the seed and the step.
class Inputs {
public:
  /// Opens the data. A step has m microbatches for each of `replicas`.
  static Expected<std::unique_ptr<Inputs>>
  open(const artifact::Metadata &metadata, const InputOptions &options,
       int32_t replicas = 1);
  ~Inputs();

  /// Writes `count` microbatches of step `step` (from 1) of batch argument
  /// `index` to `target`, from microbatch `first` on. Steps have to ascend. The
  /// argument must not weight the loss. Fails at a value that the model does
  /// not accept.
  Status fill(size_t index, int64_t step, int64_t first, int64_t count,
              char *target);
  /// Asks the system to read in the background what `fill` will read of all
  /// arguments.
  void readAhead(int64_t step, int64_t first, int64_t count);
  /// Whether there are files of tokens, which may be larger than memory.
  bool readsTokens() const;

  /// Whether the program provides the values of any argument by `feed`. The
  /// values of a step are then not known before it.
  bool isFed() const { return !fedBatches.empty() || !fedBuffers.empty(); }
  /// Sets the values of batch argument `name` in the next step: row-major, the
  /// microbatches of all replicas one after the other. For a buffer, sets the
  /// values in all steps from now on. Fails if `name` is not fed, or if the
  /// size or the values do not fit.
  Status feed(const std::string &name, std::string_view bytes);
  /// Whether buffer `index` already has values.
  bool hasBuffer(size_t index) const {
    auto fed = fedBuffers.find(index);
    return fed == fedBuffers.end() || fed->second;
  }
  /// Checks that all arguments that are fed have values for the next step.
  Status checkFed() const;
  /// Begins the step that `checkFed` has checked. After that, batch arguments
  /// need new values.
  void takeFed();

  /// Writes the lengths of these microbatches if the model's length varies.
  void fillLengths(int64_t step, int64_t first, int64_t count, int64_t *target);

  /// The step that ends epoch `epochs` of the arrays, and of texts that are
  /// read in order; 0 if there are none.
  int64_t lastStepOf(int64_t epochs) const;

  /// The positions at which step `step` starts to read, for the sources where
  /// they do not follow from the step alone.
  std::vector<DataPosition> positionsOf(int64_t step) const;
  /// Sets the positions at which step `step` starts to read. Arguments that are
  /// not in `positions` keep theirs.
  void setPositions(int64_t step, const std::vector<DataPosition> &positions);

  /// Describes the sources, as "--data NAME=SOURCE" and "--lengths SOURCE".
  /// Descriptions are equal if the same values are read: a file is described by
  /// its size and checksum, because its name differs between machines.
  std::vector<std::string> describe() const;

  /// The size of argument `index` in one microbatch.
  int64_t batchBytes(size_t index) const;
  /// The values of buffer `index`, which must not scale the loss.
  const char *buffer(size_t index) const { return buffers[index].data(); }

private:
  /// The sources of batch arguments and of lengths, with their names.
  std::vector<std::pair<std::string, Source *>> allSources() const;
  Inputs(const artifact::Metadata &metadata, int64_t microbatches);

  struct Storage; ///< What sources point to.
  const artifact::Metadata &metadata;
  const int64_t microbatches; ///< Of a step.
  std::unique_ptr<Storage> storage;
  std::vector<std::unique_ptr<Source>> sources;
  std::unique_ptr<Lengths> lengths; ///< Null if they do not vary.
  std::vector<AlignedBytes> buffers;
  std::map<size_t, FedSource *> fedBatches;
  std::map<size_t, bool> fedBuffers; ///< Whether they have values.
};

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_INPUTS_H
