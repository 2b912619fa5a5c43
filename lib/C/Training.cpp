//===- Training.cpp - an artifact that a program trains, in C -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline-c/Training.h"

#include "Support.h"
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

/// Makes the functions that compiled steps call visible to them, where this
/// library was loaded for somebody alone, as interpreters do.
static Status exportRuntime() {
  Dl_info own;
  if (!::dladdr(reinterpret_cast<const void *>(&veelineTrainingOptionsGet),
                &own) ||
      !::dlopen(own.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
    return Status::error("the library of veeline-c/Training.h does not find "
                         "itself; link it as a shared library");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

VeelineTrainingOptions veelineTrainingOptionsGet(void) {
  // Texts apart, the numbers of TrainingOptions.
  TrainingOptions defaults;
  VeelineTrainingOptions options = {};
  options.program = "pipeline";
  options.otherData = "fed";
  options.init = "";
  options.moduleDirectory = "";
  options.seed = defaults.seed;
  options.learningRate = defaults.learningRate;
  options.weightDecay = defaults.weightDecay;
  options.beta1 = defaults.beta1;
  options.beta2 = defaults.beta2;
  options.epsilon = defaults.epsilon;
  return options;
}

static TrainingOptions toOptions(const VeelineTrainingOptions &given) {
  TrainingOptions options;
  if (given.program)
    options.program = given.program;
  options.data.assign(given.data, given.data + given.numData);
  options.otherData = given.otherData ? given.otherData : "fed";
  options.seed = given.seed;
  options.init = given.init ? given.init : "";
  options.learningRate = given.learningRate;
  options.weightDecay = given.weightDecay;
  options.beta1 = given.beta1;
  options.beta2 = given.beta2;
  options.epsilon = given.epsilon;
  options.moduleDirectory = given.moduleDirectory ? given.moduleDirectory : "";
  return options;
}

/// Opens by `open`, which takes the options.
template <typename Open>
static VeelineStatus openBy(Open open, const VeelineTrainingOptions *given,
                            VeelineTraining *training) {
  return guarded([&] {
    if (!training)
      return failure(VeelineInvalid, "'training' is null");
    TrainingOptions options =
        toOptions(given ? *given : veelineTrainingOptionsGet());
    for (const char *known : {"fed", "random", "random:fixed"})
      if (options.otherData == known) {
        if (Status status = exportRuntime(); !status.ok())
          return toStatus(status);
        Expected<std::unique_ptr<Training>> opened = open(options);
        if (!opened.ok())
          return toStatus(opened.status());
        training->ptr = opened->release();
        return success();
      }
    return failure(VeelineInvalid,
                   "otherData is 'fed', 'random' or 'random:fixed', not '" +
                       options.otherData + "'");
  });
}

VeelineStatus veelineTrainingOpen(const char *path,
                                  const VeelineTrainingOptions *options,
                                  VeelineTraining *training) {
  auto open = [&](const TrainingOptions &of) {
    return Training::open(path ? path : "", of);
  };
  return openBy(open, options, training);
}

VeelineStatus veelineTrainingOpenInMemory(const void *artifact, size_t length,
                                          const VeelineTrainingOptions *options,
                                          VeelineTraining *training) {
  auto open = [&](const TrainingOptions &of) {
    return Training::openInMemory({static_cast<const char *>(artifact), length},
                                  of);
  };
  return openBy(open, options, training);
}

void veelineTrainingDestroy(VeelineTraining training) {
  delete static_cast<Training *>(training.ptr);
}

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// Null for a kind that there is not.
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

VeelineStatus veelineTrainingFeed(VeelineTraining training, const char *name,
                                  const void *values, size_t bytes) {
  return guarded([&] {
    if (!name || !values)
      return failure(VeelineInvalid, "the name or the values are null");
    return toStatus(
        unwrap(training).feed(name, {static_cast<const char *>(values), bytes}),
        VeelineInvalid);
  });
}

VeelineStatus veelineTrainingStep(VeelineTraining training, double *loss) {
  return guarded([&] {
    Training &own = unwrap(training);
    if (Status status = own.checkFed(); !status.ok())
      return toStatus(status, VeelineInvalid);
    Expected<double> mean = own.step();
    if (!mean.ok())
      return toStatus(mean.status());
    if (loss)
      *loss = *mean;
    return success();
  });
}

void veelineTrainingSetLearningRate(VeelineTraining training, double rate) {
  unwrap(training).setLearningRate(rate);
}

int64_t veelineTrainingNumSteps(VeelineTraining training) {
  return unwrap(training).steps();
}

double veelineTrainingGradientNorm(VeelineTraining training) {
  return unwrap(training).gradientNorm();
}

VeelineStatus veelineTrainingGetResult(VeelineTraining training, size_t index,
                                       double *values, size_t capacity) {
  return guarded([&] {
    std::vector<double> found = unwrap(training).resultOf(index);
    if (found.empty())
      return failure(VeelineInvalid,
                     "there is no result " + std::to_string(index) +
                         " of a step: the model has " +
                         std::to_string(unwrap(training).results().size()) +
                         ", and " + std::to_string(unwrap(training).steps()) +
                         " steps have run");
    if (capacity < found.size())
      return failure(VeelineInvalid,
                     "the array has room for " + std::to_string(capacity) +
                         " values, " + std::to_string(found.size()) +
                         " are written");
    std::copy(found.begin(), found.end(), values);
    return success();
  });
}

VeelineStatus veelineTrainingGetParameter(VeelineTraining training,
                                          size_t index, void *values,
                                          size_t bytes) {
  return guarded([&] {
    return toStatus(unwrap(training).getParameter(
        index, static_cast<char *>(values), bytes));
  });
}

VeelineStatus veelineTrainingSetParameter(VeelineTraining training,
                                          size_t index, const void *values,
                                          size_t bytes) {
  return guarded([&] {
    return toStatus(unwrap(training).setParameter(
        index, static_cast<const char *>(values), bytes));
  });
}

VeelineStatus veelineTrainingSave(VeelineTraining training, const char *path) {
  return guarded(
      [&] { return toStatus(unwrap(training).save(path ? path : "")); });
}
