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

/// The scale of the loss, for an artifact that supports it. All numbers are
/// powers of two.
struct LossScaleOptions {
  std::string given; ///< The option by which the user has set any of this.
  /// The scale of all steps; none: it is dynamic.
  std::optional<double> fixed;
  double first = 65536, least = 1; ///< For a dynamic scale.
  /// The number of steps without an overflow after which the scale is doubled.
  int64_t window = 2000;
};

/// The evaluation of a model during training.
struct EvaluationOptions {
  int64_t every = 0; ///< Steps of training between evaluations; 0: none.
  /// The data of an evaluation. The seed and dropLast are those of training. An
  /// argument without a source here has that of training if it is a buffer, or
  /// if the evaluation uses the part that is held out.
  data::InputOptions inputs;
  int64_t steps = 0;   ///< Of an evaluation; 0: all samples once.
  std::string metrics; ///< A CSV file with a line for each evaluation.
};

/// The options of a run. Paths are empty if nothing was requested.
struct Options {
  std::string artifact;
  /// The content of the artifact, if it is in memory. `artifact` is then its
  /// name in messages. The content is copied when it is read.
  std::optional<std::string_view> content = std::nullopt;
  std::string program = "pipeline";
  int64_t steps = 1;
  /// Given instead of steps: how often all samples are used; 0: not given.
  int64_t epochs = 0;

  data::InputOptions inputs; ///< Its seed is also that of the parameters.
  std::string init;          ///< A .safetensors file with all parameters.
  std::string initNames;     ///< A file that NameMap reads, for `init`.
  /// A run that resumes has its parameters from the checkpoint, so that the
  /// file may be gone.
  bool takesInit() const { return !init.empty() && resume.empty(); }

  /// Peak rate, betas, epsilon and weight decay. `step` is unused. `ofParams`
  /// is the result of `groups` for the artifact's parameters.
  StepSettings optimizer;
  ParamGroups groups;
  RateOptions rates;
  /// Whether to print the learning rate of each step instead of training.
  bool printsRates = false;
  /// For artifacts with error feedback. If it is not given, that of
  /// StepSettings applies.
  std::optional<double> errorFeedback;
  LossScaleOptions lossScale;
  /// Whether the artifact multiplies its loss, so that the loss scale has an
  /// effect.
  bool scalesLoss = false;

  EvaluationOptions evaluation;
  /// Whether this is `veeline eval`, in which no step updates anything. `steps`
  /// is 0 for all samples once, and `metrics` has a line for each microbatch.
  bool evaluates = false;
  bool printsPerplexity = false;
  /// The file to which `veeline eval` writes results that are tensors: a .npy
  /// file if there is one such result, or a .safetensors file.
  std::string outputs;

  std::string save;
  /// The folder of checkpoints. There is one after each `checkpointEvery` steps
  /// and one at the end; with 0, only the latter.
  std::string checkpoint;
  int64_t checkpointEvery = 0;
  int64_t checkpointsKept = 0; ///< The last ones; 0: all.
  /// A checkpoint from which to continue, or a folder, whose last checkpoint is
  /// used.
  std::string resume;
  std::string metrics;
  std::string tensorboard; ///< A folder, for a file of curves.
  std::string timeline;
  int32_t timelineSteps = 4; ///< The last ones.
  std::string profile;
  /// The prefix of files that are written only after a fault.
  std::string flightRecorder;
  int64_t logEvery = 10; ///< Steps per line, if the output is no terminal.
  /// The maximal number of steps that are begun and not finished. With 1, a
  /// step begins when all ranks have ended the previous one. A target may have
  /// a lower limit.
  int64_t stepsInFlight = 2;

  /// The time for which other processes may be silent before they count as
  /// failed.
  double timeoutSeconds = 30;
  /// The time that a rank may take without a move; see net::Stall.
  double stallSeconds = 3600;
  /// The order of the ranks of a program with replicas; see withAllReplicas.
  std::string rankOrder = "stages-first";
  /// "tcp", "mpi", or "auto", which uses MPI if mpirun is the launcher.
  std::string transport = "auto";
  /// The folder of our libraries that are loaded on demand.
  std::string libraryDirectory;

  /// For an artifact for a GPU: the folder of its libraries, and the GPUs to
  /// use.
  cuda::CudaOptions cuda;

  /// Receives remarks for the user. If it is not given, remarks go to standard
  /// error.
  std::function<void(const std::string &)> hearRemark;

  /// Whether `resume` is the last checkpoint of `checkpoint`, if there is one.
  /// Then it is not an error if training has ended with it.
  bool continues = false;
  bool logsJson = false; ///< On standard output, instead of text.
  bool quiet = false;    ///< Progress and results of training are not printed.
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
