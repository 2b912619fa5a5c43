//===- Training.cpp - an artifact that a program trains, in C -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline-c/Training.h"

#include "Support.h"
#include "veeline/Base/Text.h"
#include "veeline/training.h"

#include <algorithm>
#include <dlfcn.h>

using namespace veeline;
using namespace veeline::c;

static Training &unwrap(VeelineTraining training) {
  return *static_cast<Training *>(training.ptr);
}

static VeelineStatus toStatus(const Status &status,
                              VeelineCode code = VeelineFailed) {
  return status.ok() ? success() : failure(code, status.message());
}

/// The path of this library, or an empty string.
static std::string ownPath() {
  Dl_info own;
  return ::dladdr(reinterpret_cast<const void *>(&veelineTrainingOptionAt),
                  &own)
             ? own.dli_fname
             : "";
}

/// Makes the runtime's functions visible to compiled steps, which call them.
/// This is needed if this library was loaded with local symbols, as
/// interpreters do.
static Status exportRuntime(const std::string &path) {
  if (path.empty() ||
      !::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
    return Status::error("the library of veeline-c/Training.h does not find "
                         "itself; link it as a shared library");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

const char *veelineTrainingOptionAt(size_t index) {
  static const std::vector<std::string> names = Training::optionNames();
  return index < names.size() ? names[index].c_str() : nullptr;
}

/// Opens a training by `open`. That takes the options, and a flag to set if it
/// is the options that are wrong.
template <typename Open>
static VeelineStatus openBy(Open open, const VeelineOption *given,
                            size_t numGiven, VeelineTraining *training) {
  return guarded([&] {
    VEELINE_NEEDS(
        {{"options", asArray(given, numGiven)}, {"training", training}});
    TrainingOptions options;
    for (size_t i = 0; i < numGiven; ++i) {
      if (!given[i].name)
        return failure(VeelineInvalid,
                       "the name of option " + std::to_string(i) + " is null");
      options.values.emplace_back(given[i].name, std::nullopt);
      if (given[i].value)
        options.values.back().second = given[i].value;
    }
    std::string path = ownPath();
    options.moduleDirectory = path.substr(0, path.rfind('/') + 1) + "veeline";
    if (Status status = exportRuntime(path); !status.ok())
      return toStatus(status);
    bool isMisfit = false;
    Expected<std::unique_ptr<Training>> opened = open(options, &isMisfit);
    if (!opened.ok())
      return toStatus(opened.status(),
                      isMisfit ? VeelineInvalid : VeelineFailed);
    training->ptr = opened->release();
    return success();
  });
}

VeelineStatus veelineTrainingOpen(const char *path,
                                  const VeelineOption *options,
                                  size_t numOptions,
                                  VeelineTraining *training) {
  auto open = [&](const TrainingOptions &of, bool *isMisfit) {
    return Training::open(path, of, isMisfit);
  };
  VEELINE_NEEDS({{"path", path}});
  return openBy(open, options, numOptions, training);
}

VeelineStatus veelineTrainingOpenInMemory(const void *artifact, size_t length,
                                          const VeelineOption *options,
                                          size_t numOptions,
                                          VeelineTraining *training) {
  auto open = [&](const TrainingOptions &of, bool *isMisfit) {
    return Training::openInMemory({static_cast<const char *>(artifact), length},
                                  of, isMisfit);
  };
  VEELINE_NEEDS({{"artifact", asArray(artifact, length)}});
  return openBy(open, options, numOptions, training);
}

void veelineTrainingDestroy(VeelineTraining training) {
  delete static_cast<Training *>(training.ptr);
}

//===----------------------------------------------------------------------===//
// Parameters, inputs and results
//===----------------------------------------------------------------------===//

/// Null if there is no such kind.
static const std::vector<TensorInfo> *tensorsOf(const Training &training,
                                                VeelineTensorKind kind) {
  switch (kind) {
  case VeelineTensorParameter:
    return &training.parameters();
  case VeelineTensorBatch:
    return &training.batches();
  case VeelineTensorBuffer:
    return &training.buffers();
  case VeelineTensorResult:
    return &training.results();
  }
  return nullptr;
}

size_t veelineTrainingNumTensors(VeelineTraining training,
                                 VeelineTensorKind kind) {
  const std::vector<TensorInfo> *all = tensorsOf(unwrap(training), kind);
  return all ? all->size() : 0;
}

VeelineStatus veelineTrainingGetTensorInfo(VeelineTraining training,
                                           VeelineTensorKind kind, size_t index,
                                           VeelineTensorInfo *info) {
  return guarded([&] {
    VEELINE_NEEDS({{"info", info}});
    size_t count = veelineTrainingNumTensors(training, kind);
    if (index >= count)
      return failure(VeelineInvalid,
                     "there is no tensor " + std::to_string(index) +
                         " of this kind; there are " + std::to_string(count));
    const TensorInfo &found = (*tensorsOf(unwrap(training), kind))[index];
    *info = {found.name.c_str(), found.type.c_str(), found.shape.data(),
             found.shape.size(), static_cast<size_t>(found.bytes)};
    return success();
  });
}

int32_t veelineTrainingNumMicrobatches(VeelineTraining training) {
  return unwrap(training).microbatches();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Copies `values` into the tensor `name` by `take`.
template <typename Take>
static VeelineStatus feed(Take take, const char *name, const void *values,
                          size_t bytes) {
  return guarded([&] {
    VEELINE_NEEDS({{"name", name}, {"values", asArray(values, bytes)}});
    return toStatus(take(name, {static_cast<const char *>(values), bytes}),
                    VeelineInvalid);
  });
}

/// Runs a step of `training` and returns its loss, if `check` allows a step.
static VeelineStatus step(VeelineTraining training,
                          Status (Training::*check)() const,
                          Expected<double> (Training::*run)(), double *loss) {
  return guarded([&] {
    Training &own = unwrap(training);
    if (Status status = (own.*check)(); !status.ok())
      return toStatus(status, VeelineInvalid);
    Expected<double> mean = (own.*run)();
    if (!mean.ok())
      return toStatus(mean.status());
    if (loss)
      *loss = *mean;
    return success();
  });
}

/// Copies results of microbatches to `values`. `what` describes them in errors.
static VeelineStatus copyResults(VeelineTraining training, size_t index,
                                 const std::vector<double> &found,
                                 const std::string &what, double *values,
                                 size_t capacity) {
  if (found.empty())
    return failure(VeelineInvalid,
                   "there is no result " + std::to_string(index) + " of " +
                       what + ": the model has " +
                       counted(unwrap(training).results().size(), "result") +
                       ", and " + what + " has to run first");
  if (capacity < found.size())
    return failure(VeelineInvalid,
                   "the array has room for " + counted(capacity, "value") +
                       ", " + std::to_string(found.size()) + " are written");
  std::copy(found.begin(), found.end(), values);
  return success();
}

VeelineStatus veelineTrainingFeed(VeelineTraining training, const char *name,
                                  const void *values, size_t bytes) {
  auto take = [&](const char *argument, std::string_view content) {
    return unwrap(training).feed(argument, content);
  };
  return feed(take, name, values, bytes);
}

VeelineStatus veelineTrainingStep(VeelineTraining training, double *loss) {
  return step(training, &Training::checkNext, &Training::step, loss);
}

VeelineStatus veelineTrainingSetLearningRate(VeelineTraining training,
                                             double rate) {
  return guarded([&] {
    return toStatus(unwrap(training).setLearningRate(rate), VeelineInvalid);
  });
}

int64_t veelineTrainingNumSteps(VeelineTraining training) {
  return unwrap(training).steps();
}

VeelineStepInfo veelineTrainingLastStep(VeelineTraining training) {
  StepInfo info = unwrap(training).lastStep();
  return {info.learningRate, info.gradientNorm, info.clipFactor,
          info.lossScale};
}

VeelineStatus veelineTrainingGetResult(VeelineTraining training, size_t index,
                                       double *values, size_t capacity) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", asArray(values, capacity)}});
    return copyResults(training, index, unwrap(training).resultOf(index),
                       "a step", values, capacity);
  });
}

VeelineStatus veelineTrainingFeedEvaluation(VeelineTraining training,
                                            const char *name,
                                            const void *values, size_t bytes) {
  auto take = [&](const char *argument, std::string_view content) {
    return unwrap(training).feedEvaluation(argument, content);
  };
  return feed(take, name, values, bytes);
}

VeelineStatus veelineTrainingStepEvaluation(VeelineTraining training,
                                            double *loss) {
  return step(training, &Training::checkEvaluation, &Training::evaluate, loss);
}

VeelineStatus veelineTrainingGetEvaluatedResult(VeelineTraining training,
                                                size_t index, double *values,
                                                size_t capacity) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", asArray(values, capacity)}});
    return copyResults(training, index,
                       unwrap(training).evaluatedResultOf(index),
                       "an evaluation", values, capacity);
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

VeelineStatus veelineTrainingCheckpoint(VeelineTraining training) {
  return guarded([&] { return toStatus(unwrap(training).checkpoint()); });
}

VeelineStatus veelineTrainingTakeRemarks(VeelineTraining training,
                                         VeelineString *remarks) {
  return guarded([&] {
    VEELINE_NEEDS({{"remarks", remarks}});
    std::string text;
    for (const std::string &remark : unwrap(training).takeRemarks())
      text += remark + "\n";
    return give(text, remarks);
  });
}

VeelineStatus veelineTrainingGetParameter(VeelineTraining training,
                                          size_t index, void *values,
                                          size_t bytes) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", asArray(values, bytes)}});
    return toStatus(unwrap(training).getParameter(
        index, static_cast<char *>(values), bytes));
  });
}

VeelineStatus veelineTrainingSetParameter(VeelineTraining training,
                                          size_t index, const void *values,
                                          size_t bytes) {
  return guarded([&] {
    VEELINE_NEEDS({{"values", asArray(values, bytes)}});
    return toStatus(unwrap(training).setParameter(
        index, static_cast<const char *>(values), bytes));
  });
}

VeelineStatus veelineTrainingSave(VeelineTraining training, const char *path) {
  return guarded([&] {
    VEELINE_NEEDS({{"path", path}});
    return toStatus(unwrap(training).save(path));
  });
}
