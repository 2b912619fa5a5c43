//===- Opener.cpp - opening the data of a model's arguments ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Opener.h"

#include "Npy.h"
#include "SafeTensors.h"
#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace veeline;
using namespace veeline::data;
using artifact::Batch;
using artifact::Buffer;
using artifact::DataType;

std::vector<std::string> Opener::argumentNames() const {
  std::vector<std::string> names;
  names.reserve(metadata.batches.size() + metadata.buffers.size());
  for (const Batch &batch : metadata.batches)
    if (!batch.lossWeight)
      names.push_back(batch.name);
  for (const Buffer &buffer : metadata.buffers)
    if (!buffer.lossScale)
      names.push_back(buffer.name);
  return names;
}

/// Checks that the model has the argument of `spec`, which the user wrote as
/// `text`, and that no other spec is for the same argument.
Status Opener::checkName(const Spec &spec, const std::string &text,
                         const std::vector<std::string> &names) const {
  const std::string &name = spec.argument;
  std::error_code error;
  for (const std::string &other : names)
    if (size_t end = text.find("," + other + "=");
        end != std::string::npos && !std::filesystem::exists(spec.file, error))
      return Status::error(options.option("data") + " " + text +
                           ": give the option once for each argument, as " +
                           options.option("data") + " " + text.substr(0, end));
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::vector<std::string> withoutData = names;
    std::erase_if(withoutData, [&](const std::string &known) {
      return std::ranges::any_of(options.specs, [&](const std::string &spec) {
        return spec.starts_with(known + "=");
      });
    });
    return Status::error(options.option("data") + " " + text +
                         ": the model has no argument '" + name + "', it has " +
                         joinNames(names) + suggestion(name, withoutData));
  }
  if (std::any_of(specs.begin(), specs.end(),
                  [&](const Spec &other) { return other.argument == name; }))
    return Status::error(options.option("data") + " " + text + ": '" + name +
                         "' is given twice");
  return Status::success();
}

/// Checks that the same files are always written in the same way. Sources share
/// windows only if they are written alike, so with other names or weights they
/// would get windows that do not match.
Status Opener::checkSpelling(const Spec &spec) const {
  auto isSame = [](const std::string &a, const std::string &b) {
    std::error_code error;
    return a == b || std::filesystem::equivalent(a, b, error);
  };
  for (const Spec &other : specs)
    if (spec.isWindow() && other.kind == spec.kind && other.file != spec.file &&
        std::ranges::equal(spec.files(), other.files(), isSame))
      return Status::error("'" + other.file + "' and '" + spec.file +
                           "' are the same files: write them alike for '" +
                           other.argument + "' and '" + spec.argument +
                           "', so that these have the same windows");
  return Status::success();
}

/// Sources of arguments that the model may lack.
Status Opener::parseIfTaken(const std::vector<std::string> &names) {
  std::vector<std::string> asked;
  bool isTaken = options.specsIfTaken.empty();
  for (const std::string &text : options.specsIfTaken) {
    VEELINE_TRY_VALUE(Spec spec, parseSpec(text, options.option("data")));
    const std::string &name = asked.emplace_back(spec.argument);
    if (std::find(names.begin(), names.end(), name) == names.end())
      continue;
    isTaken = true;
    if (std::any_of(specs.begin(), specs.end(),
                    [&](const Spec &other) { return other.argument == name; }))
      continue;
    VEELINE_TRY(checkSpelling(spec));
    specs.push_back(std::move(spec));
  }
  if (isTaken)
    return Status::success();
  return Status::error("--documents: the model has none of the arguments " +
                       joinNames(asked) + ", it has " + joinNames(names));
}

Status Opener::parse() {
  std::vector<std::string> names = argumentNames();
  for (const std::string &text : options.specs) {
    VEELINE_TRY_VALUE(Spec spec, parseSpec(text, options.option("data")));
    VEELINE_TRY(checkName(spec, text, names));
    VEELINE_TRY(checkSpelling(spec));
    specs.push_back(std::move(spec));
  }
  VEELINE_TRY(parseIfTaken(names));
  if (options.otherwise.empty())
    return Status::success();
  for (const std::string &name : names) {
    bool isGiven =
        std::any_of(specs.begin(), specs.end(),
                    [&](const Spec &spec) { return spec.argument == name; });
    if (isGiven)
      continue;
    Spec spec;
    spec.argument = name;
    spec.kind = Spec::Kind::fed;
    if (options.otherwise != "fed") {
      VEELINE_TRY_VALUE(spec, parseSpec(name + "=" + options.otherwise,
                                        options.option("data")));
    }
    specs.push_back(std::move(spec));
  }
  return Status::success();
}

Expected<const Spec *> Opener::findSpec(const std::string &argument,
                                        const char *kind) const {
  for (const Spec &spec : specs)
    if (spec.argument == argument)
      return &spec;
  return Status::error(std::string(kind) + " '" + argument +
                       "' has no data; give " + options.option("data") + " " +
                       argument + "=FILE.npy" +
                       " (or another source, see --help), or --synthetic fixed "
                       "for random data");
}

/// Opens the array of a .npy or .safetensors source, which has to have the
/// argument's type.
Expected<Tensor> Opener::openArray(const Spec &spec, DataType type,
                                   const char *kind) const {
  VEELINE_TRY_VALUE(std::string_view file, files.open(spec.file));
  auto failure = [&](const std::string &message) {
    return Status::error("cannot read '" + spec.file + "': " + message);
  };
  Tensor tensor;
  if (spec.kind == Spec::Kind::npy) {
    Expected<Tensor> parsed = parseNpy(file);
    if (!parsed.ok())
      return failure(parsed.message());
    tensor = *parsed;
  } else {
    Expected<NamedTensors> parsed = parseSafeTensors(file);
    if (!parsed.ok())
      return failure(parsed.message());
    const Tensor *entry = findTensor(*parsed, spec.entry);
    if (!entry)
      return failure("it has no entry '" + spec.entry + "'");
    tensor = *entry;
  }
  if (tensor.type != type)
    return Status::error("'" + spec.file + "' holds " +
                         describe(tensor.type, tensor.shape) + ", " + kind +
                         " '" + spec.argument + "' has elements of type " +
                         std::string(artifact::name(type)));
  return tensor;
}

Expected<AlignedBytes> Opener::openBuffer(const Buffer &buffer) {
  VEELINE_TRY_VALUE(const Spec *found, findSpec(buffer.name, "buffer"));
  const Spec &spec = *found;
  if (spec.isWindow())
    return Status::error(options.option("data") + " " + spec.argument + ": '" +
                         buffer.name + "' is a buffer, which is no text");
  AlignedBytes bytes(artifact::bytesOf(buffer.type, buffer.shape));
  if (spec.kind == Spec::Kind::fed)
    return bytes;
  if (spec.kind == Spec::Kind::random) {
    VEELINE_TRY_VALUE(auto source,
                      openRandom(spec, buffer, /*microbatches=*/1));
    VEELINE_TRY(
        source->fill(/*step=*/1, 0, source->samplesPerStep(), bytes.data()));
    return bytes;
  }
  VEELINE_TRY_VALUE(Tensor tensor, openArray(spec, buffer.type, "buffer"));
  if (tensor.shape != buffer.shape)
    return Status::error("'" + spec.file + "' holds " +
                         describe(tensor.type, tensor.shape) + ", buffer '" +
                         buffer.name + "' is " +
                         describe(buffer.type, buffer.shape));
  if (buffer.range)
    VEELINE_TRY(
        checkRange(tensor, *buffer.range,
                   "'" + spec.file + "', buffer '" + buffer.name + "'"));
  std::memcpy(bytes.data(), tensor.bytes.data(), tensor.bytes.size());
  return bytes;
}

Expected<std::unique_ptr<Source>> Opener::openBatch(const Batch &batch) {
  VEELINE_TRY_VALUE(const Spec *spec, findSpec(batch.name, "batch argument"));
  if (spec->kind == Spec::Kind::fed)
    return std::unique_ptr<Source>(std::make_unique<FedSource>(
        artifact::bytesOf(batch.type, batch.shape), microbatches));
  if (spec->kind == Spec::Kind::random) {
    int64_t samples = batch.lengthDim > 0 ? batch.shape[0] : 1;
    VEELINE_TRY(noteSamples(batch, samples, 0));
    return openRandom(*spec, batch, microbatches);
  }
  if (!spec->isWindow())
    return openRows(*spec, batch);
  bool isText = spec->kind == Spec::Kind::text;
  if (batch.shape.empty())
    return Status::error(options.option("data") + " " + spec->argument +
                         (isText ? ": text gives windows of bytes"
                                 : ": files of tokens give windows") +
                         ", batch argument '" + batch.name + "' is a scalar");
  return isText ? openText(*spec, batch) : openTokens(*spec, batch);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// One past the largest byte that an integer type represents; 0 for other
/// types.
static int64_t limitOf(DataType type) {
  switch (type) {
  case DataType::i8:
    return 128;
  case DataType::i16:
  case DataType::i32:
  case DataType::i64:
    return 256; // All bytes fit.
  default:
    return 0;
  }
}

Status Opener::checkText(const Spec &spec, const Batch &batch,
                         std::string_view text) const {
  std::pair<int64_t, int64_t> range = {0, limitOf(batch.type)};
  if (range.second == 0)
    return Status::error(options.option("data") + " " + spec.argument +
                         ": text gives integers, "
                         "batch argument '" +
                         batch.name + "' has " +
                         std::string(artifact::name(batch.type)));
  if (batch.range)
    range = {std::max(range.first, batch.range->first),
             std::min(range.second, batch.range->second)};
  for (size_t i = 0; i < text.size(); ++i) {
    int64_t value = static_cast<unsigned char>(text[i]);
    if (value < range.first || value >= range.second)
      return Status::error("'" + spec.file + "': byte " + std::to_string(i) +
                           " is " + std::to_string(value) +
                           ", valid for batch argument '" + batch.name +
                           "' are " + std::to_string(range.first) + " to " +
                           std::to_string(range.second - 1));
  }
  return Status::success();
}

/// The longest window of all arguments that read `file`, with or without the
/// shift of the window.
int64_t Opener::reachIn(const std::string &file, bool withShift) const {
  int64_t reach = 0;
  for (const Spec &spec : specs)
    for (const Batch &batch : metadata.batches)
      if (spec.file == file && spec.isWindow() && spec.argument == batch.name &&
          !batch.shape.empty())
        reach =
            std::max(reach, (withShift ? spec.shift : 0) + batch.shape.back());
  return reach;
}

/// Returns the part of `text` that is read, training or held out. No window has
/// bytes of both parts.
std::string_view Opener::partOfText(std::string_view text) const {
  auto held =
      static_cast<size_t>(std::ceil(options.heldOut * double(text.size())));
  return options.part == InputOptions::Part::heldOut
             ? text.substr(text.size() - held)
             : text.substr(0, text.size() - held);
}

Expected<std::unique_ptr<Source>> Opener::openText(const Spec &spec,
                                                   const Batch &batch) {
  VEELINE_TRY_VALUE(std::string_view whole, files.open(spec.file));
  std::string_view text = partOfText(whole);
  int64_t places = static_cast<int64_t>(text.size()) - reachIn(spec.file) + 1;
  bool isSplit = text.size() != whole.size();
  if (places < 1)
    return Status::error(
        "'" + spec.file + "' has " + std::to_string(text.size()) + " bytes" +
        (isSplit ? " in this part of it (--held-out)" : "") +
        ", one window takes " + std::to_string(reachIn(spec.file)));
  VEELINE_TRY(checkText(spec, batch, text));
  int64_t perMicrobatch =
      artifact::numElements(batch.shape) / batch.shape.back();
  VEELINE_TRY(noteSamples(batch, perMicrobatch, 0));
  int64_t windows = perMicrobatch * microbatches;
  int64_t stride =
      options.inOrder ? reachIn(spec.file, /*withShift=*/false) : 0;
  auto source = std::make_unique<TextSource>(text, batch, spec.shift, places,
                                             windows, stride, options.seed);
  if (stride > 0 && source->windowsInOrder() < windows)
    return Status::error("'" + spec.file + "' has room for " +
                         std::to_string(source->windowsInOrder()) +
                         " of the windows of a step, which takes " +
                         std::to_string(windows));
  return std::unique_ptr<Source>(std::move(source));
}

//===----------------------------------------------------------------------===//
// Rows of arrays
//===----------------------------------------------------------------------===//

Status Opener::checkRowCount(const Spec &spec, int64_t perMicrobatch,
                             int64_t rows) {
  int64_t perStep = perMicrobatch * microbatches;
  std::string says =
      "'" + spec.file + "' has " + std::to_string(rows) +
      " samples, a step takes " + std::to_string(microbatches) +
      (microbatches == 1 ? " microbatch of " : " microbatches of ") +
      std::to_string(perMicrobatch);
  if (rows < perStep)
    return Status::error(says);
  if (rows % perStep != 0 && !options.dropLast)
    return Status::error(says +
                         ", which does not divide them; --drop-last "
                         "leaves out the last " +
                         std::to_string(rows % perStep));
  if (firstRows && rows / perStep != numRows / rowsPerStep)
    return Status::error("'" + spec.file + "' has " + std::to_string(rows) +
                         " samples, '" + firstRows->file + "' has " +
                         std::to_string(numRows) + ": enough for " +
                         std::to_string(rows / perStep) + " and " +
                         std::to_string(numRows / rowsPerStep) + " steps");
  if (firstRows && options.shuffle && perStep != rowsPerStep)
    return Status::error("--shuffle needs as many samples of '" + spec.file +
                         "' in a step as of '" + firstRows->file +
                         "'; they are " + std::to_string(perStep) + " and " +
                         std::to_string(rowsPerStep));
  // The order of an epoch contains all rows, including those that are left out.
  if (firstRows && options.shuffle && rows != numRows)
    return Status::error("--shuffle needs as many samples of '" + spec.file +
                         "' as of '" + firstRows->file + "'; they are " +
                         std::to_string(rows) + " and " +
                         std::to_string(numRows));
  firstRows = &spec;
  numRows = rows;
  rowsPerStep = perStep;
  return Status::success();
}

/// Reduces `tensor` to the part that is read, training or held out.
Status Opener::takePart(const std::string &file, int64_t perMicrobatch,
                        Tensor &tensor) const {
  if (options.heldOut == 0)
    return Status::success();
  int64_t rows = tensor.shape[0], perStep = perMicrobatch * microbatches;
  auto steps = static_cast<int64_t>(
      std::ceil(options.heldOut * double(rows) / double(perStep)));
  int64_t held = steps * perStep;
  if (held > rows - perStep)
    return Status::error(
        "--held-out: '" + file + "' has " + std::to_string(rows) +
        " samples, and " + std::to_string(held) +
        " of them would be held out, in whole steps of " +
        std::to_string(perStep) + "; no step would be left for training");
  bool isHeld = options.part == InputOptions::Part::heldOut;
  auto rowBytes =
      static_cast<size_t>(artifact::bytesOf(tensor.type, tensor.shape) / rows);
  tensor.shape[0] = isHeld ? held : rows - held;
  tensor.bytes = tensor.bytes.substr(
      isHeld ? static_cast<size_t>(rows - held) * rowBytes : 0,
      static_cast<size_t>(tensor.shape[0]) * rowBytes);
  return Status::success();
}

Expected<std::unique_ptr<Source>> Opener::openRows(const Spec &spec,
                                                   const Batch &batch) {
  VEELINE_TRY_VALUE(Tensor tensor,
                    openArray(spec, batch.type, "batch argument"));
  // The array has the samples of all microbatches one after the other. Or it
  // has one more dimension in front, which counts microbatches.
  std::vector<int64_t> joined = batch.shape, stacked = batch.shape;
  int64_t extent = tensor.shape.empty() ? 0 : tensor.shape[0];
  stacked.insert(stacked.begin(), extent);
  if (!joined.empty())
    joined[0] = extent;
  bool isStacked = tensor.shape == stacked;
  // If the length is the first dimension, it does not count samples.
  bool mayBeJoined = !joined.empty() && batch.lengthDim != 0;
  if (!isStacked && (!mayBeJoined || tensor.shape != joined))
    return Status::error("'" + spec.file + "' holds " +
                         describe(tensor.type, tensor.shape) +
                         ", batch argument '" + batch.name + "' is " +
                         describe(batch.type, batch.shape) + " a microbatch; " +
                         (!mayBeJoined ? "a file has one dimension, that of "
                                         "microbatches"
                                       : "only the first extent may differ"));
  int64_t perMicrobatch = isStacked ? 1 : batch.shape[0];
  VEELINE_TRY(takePart(spec.file, perMicrobatch, tensor));
  extent = tensor.shape[0];
  VEELINE_TRY(checkRowCount(spec, perMicrobatch, extent));
  VEELINE_TRY(noteSamples(batch, perMicrobatch, extent));
  if (batch.range)
    VEELINE_TRY(
        checkRange(tensor, *batch.range,
                   "'" + spec.file + "', batch argument '" + batch.name + "'"));
  return std::unique_ptr<Source>(std::make_unique<ArraySource>(
      tensor, perMicrobatch * microbatches, options.shuffle, options.seed));
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

static bool isFloat(DataType type) {
  return type == DataType::f32 || type == DataType::f64;
}

std::pair<int64_t, int64_t> data::limitsOf(DataType type) {
  if (type == DataType::i1)
    return {0, 2};
  if (isFloat(type)) {
    int64_t last = int64_t(1) << (type == DataType::f32 ? 24 : 53);
    return {-last, last + 1};
  }
  if (artifact::byteSize(type) == 8)
    return {INT64_MIN, INT64_MAX};
  int64_t half = int64_t(1) << (8 * artifact::byteSize(type) - 1);
  return {-half, half};
}

/// Opens a source of random values that the model accepts. If their range is
/// not known, integers are 0 and 1.
template <typename Input>
Expected<std::unique_ptr<Source>>
Opener::openRandom(const Spec &spec, const Input &input,
                   int64_t microbatches) const {
  if (input.type == DataType::bf16 || input.type == DataType::f16)
    return Status::error(options.option("data") + " " + spec.argument +
                         "=random gives f32, f64 and integers, '" + input.name +
                         "' has " + std::string(artifact::name(input.type)));
  std::optional<std::pair<int64_t, int64_t>> range = input.range;
  if (range) {
    auto [low, high] = limitsOf(input.type);
    range = {std::max(range->first, low), std::min(range->second, high)};
    if (range->first >= range->second)
      return Status::error("'" + input.name + "' takes no value that " +
                           std::string(artifact::name(input.type)) + " has");
  } else if (!isFloat(input.type)) {
    range = {0, 2};
  }
  return std::unique_ptr<Source>(std::make_unique<RandomSource>(
      input.name, input.type, artifact::numElements(input.shape) * microbatches,
      range, spec.isFixed, options.seed));
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Notes how many samples an argument whose length varies has. A length belongs
/// to a sample, so all such arguments have the same number of samples in a
/// microbatch.
Status Opener::noteSamples(const Batch &batch, int64_t perMicrobatch,
                           int64_t rows) {
  if (batch.lengthDim < 0)
    return Status::success();
  if (!options.lengths.empty() && lengthSamples != 0 &&
      lengthSamples != perMicrobatch)
    return Status::error(options.option("lengths") +
                         " has a length for each sample, but batch "
                         "argument '" +
                         batch.name + "' has " + std::to_string(perMicrobatch) +
                         " samples in a microbatch where another has " +
                         std::to_string(lengthSamples));
  lengthSamples = perMicrobatch;
  if (rows != 0)
    lengthRows = rows;
  return Status::success();
}

Expected<std::unique_ptr<Lengths>> Opener::openLengths() {
  const std::string &path = options.lengths;
  if (metadata.lengths.empty()) {
    if (path.empty())
      return std::unique_ptr<Lengths>();
    return Status::error(options.option("lengths") + " " + path +
                         ": all microbatches of the model have one length; "
                         "others need a model with a dynamic dimension, and "
                         "veeline compile --length-bound");
  }
  if (path.empty())
    return Lengths::greatest(metadata, microbatches);
  VEELINE_TRY_VALUE(std::string_view bytes, files.open(path));
  VEELINE_TRY_VALUE(Tensor lengths,
                    Lengths::parse(path, bytes, metadata.lengths.back()));
  int64_t samples = std::max<int64_t>(lengthSamples, 1);
  VEELINE_TRY(takePart(path, samples, lengths));
  auto opened =
      Lengths::open(metadata, microbatches, path, lengths, samples, lengthRows,
                    options.shuffle, options.dropLast, options.seed);
  if (opened.ok() || options.heldOut == 0)
    return opened;
  return Status::error(opened.message() +
                       ", without what is held out (--held-out) of either");
}
