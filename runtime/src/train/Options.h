//===- Options.h - the options of `veeline train` ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_OPTIONS_H
#define VEELINE_RUNTIME_TRAIN_OPTIONS_H

#include "CudaOptions.h"
#include "Executor.h"
#include "Inputs.h"
#include "LearningRate.h"
#include "ParamGroups.h"

#include <functional>

namespace veeline::train {

/// What the loss is multiplied by, in an artifact that is made for it. All
/// numbers are powers of two.
struct LossScaleOptions {
  std::string given; ///< The option with which the user says something of it.
  /// The same in all steps; none: dynamic.
  std::optional<double> fixed;
  double first = 65536, least = 1; ///< Of a dynamic one.
  /// How many steps without an overflow double it.
  int64_t window = 2000;
};

/// What is evaluated while a model is trained.
struct EvaluationOptions {
  int64_t every = 0; ///< Steps of training between evaluations; 0: none.
  /// Its seed and dropLast are those of the training's data. Of arguments that
  /// have no source here, buffers have the training's.
  data::InputOptions inputs;
  int64_t steps = 0;   ///< Of an evaluation; 0: all samples once.
  std::string metrics; ///< A CSV file with a line for each evaluation.
};

/// Paths are empty if nothing was asked for.
struct Options {
  std::string artifact;
  /// The artifact's content, where it is in memory; `artifact` is then what
  /// messages call it. It is copied when it is read.
  std::optional<std::string_view> content = std::nullopt;
  std::string program = "pipeline";
  int64_t steps = 1;
  /// Instead of steps: how often all samples are used; 0: not given.
  int64_t epochs = 0;

  data::InputOptions inputs; ///< Its seed is also that of the parameters.
  std::string init;          ///< A .safetensors file with all parameters.
  std::string initNames;     ///< A file that NameMap reads, for `init`.

  /// Peak rate, betas, epsilon, weight decay; `step` is unused. `ofParams` is
  /// what `groups` says of the artifact's parameters.
  StepSettings optimizer;
  ParamGroups groups;
  RateOptions rates;
  /// Instead of training: print the learning rate of each step.
  bool printsRates = false;
  /// Of artifacts that know the update before; StepSettings' where not given.
  std::optional<double> errorFeedback;
  LossScaleOptions lossScale;
  /// Whether the artifact multiplies its loss, so that this has an effect.
  bool scalesLoss = false;

  EvaluationOptions evaluation;
  /// `veeline eval`: no step updates anything. `steps` is 0 for all samples
  /// once, and `metrics` has a line for each microbatch.
  bool evaluates = false;
  bool printsPerplexity = false;
  /// Where `veeline eval` writes results that are tensors: a .npy file of the
  /// only one, or a .safetensors file.
  std::string outputs;

  std::string save;
  /// Where checkpoints go, one after each `checkpointEvery` steps and one at
  /// the end; 0: only that one.
  std::string checkpoint;
  int64_t checkpointEvery = 0;
  int64_t checkpointsKept = 0; ///< The last ones; 0: all.
  /// A checkpoint to go on from, or the folder of which the last one is taken.
  std::string resume;
  std::string metrics;
  std::string tensorboard; ///< A folder, for a file of curves.
  std::string timeline;
  int32_t timelineSteps = 4; ///< The last ones.
  std::string profile;
  /// The prefix of files that are written only after a fault.
  std::string flightRecorder;
  int64_t logEvery = 10; ///< Steps per line, if the output is no terminal.
  /// How many steps may be begun and not finished; 1: a step begins when all
  /// ranks have ended the one before. A target may have a smaller bound.
  int64_t stepsInFlight = 2;

  /// How long other processes may be silent before they count as failed.
  double timeoutSeconds = 30;
  /// How long a rank may go without a move; see net::Stall.
  double stallSeconds = 3600;
  /// Which rank is where, of a program with replicas: see withAllReplicas.
  std::string rankOrder = "stages-first";
  /// "tcp", "mpi", or "auto": by MPI if mpirun is the launcher.
  std::string transport = "auto";
  /// Where our libraries are that are loaded on demand.
  std::string libraryDirectory;

  /// Of an artifact for a GPU: where its libraries are, and which GPUs to use.
  cuda::CudaOptions cuda;

  /// Takes remarks for the user; none: they go to standard error.
  std::function<void(const std::string &)> hearRemark;

  /// `resume` is the last checkpoint of `checkpoint`, if there is one. Then it
  /// is no error if training has ended with it.
  bool continues = false;
  bool logsJson = false; ///< On standard output, instead of text.
  bool traceTensors = false;
  bool checkMessages = false;
  bool verify = false;
  bool compareSequential = false;
  bool checkMemory = false;
};

/// The settings of step `step` in [1, steps]. StepPlan adds what earlier steps
/// decide.
StepSettings settingsOfStep(const Options &options, int64_t step);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_OPTIONS_H
