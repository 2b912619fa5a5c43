/*===- Training.h - an artifact that a program trains, in C -------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* Of libveeline-c-training, which uses neither LLVM nor MLIR: the program    *|
|* has the loop over the data, and gives and takes everything in memory. The  *|
|* same as runtime/include/veeline/training.h, which libveeline-c-training    *|
|* has a copy of: a program uses one of them. Support.h has the rules of      *|
|* ownership and threads; docs/runtime.md the options. veelineTrainingOpen    *|
|* copies what it is given, and a VeelineTraining is its caller's to destroy. *|
|* Where a launcher has started a process for each rank, all of them call     *|
|* what steps, evaluates, saves and writes checkpoints, in the same order.    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VEELINE_C_TRAINING_H
#define VEELINE_C_TRAINING_H

#include "veeline-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A program of an artifact with its parameters and data. */
typedef struct VeelineTraining {
  void *ptr;
} VeelineTraining;

/** The names of the options of training, one after the other; NULL after the
    last one. They are those of `veeline train`, but those about its loop over
    steps and its output. Options that may be given several times, as "data",
    stand once for each. Arguments that have no "data" are fed by the program,
    unless "synthetic" is given. Without "steps" there is no last step. */
VEELINE_C_EXPORTED const char *veelineTrainingOptionAt(size_t index);

/** Reads the artifact at `path`, a file that must not be written to before the
    handle is destroyed, and starts its ranks as threads, or meets the processes
    of a launcher. With the option "resume" it goes on from a checkpoint.
   Errors: VeelineInvalid of options that have no meaning or contradict each
   other, VeelineFailed of files, of what the artifact cannot do, and this
   machine. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingOpen(const char *path, const VeelineOption *options,
                    size_t numOptions, VeelineTraining *training);
/** The same of the `length` bytes of an artifact in memory. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingOpenInMemory(
    const void *artifact, size_t length, const VeelineOption *options,
    size_t numOptions, VeelineTraining *training);
/** Ends the ranks once checkpoints are written, and frees all that they have.
 */
VEELINE_C_EXPORTED void veelineTrainingDestroy(VeelineTraining training);

/** A parameter, an argument or a result. All pointers are the training's. */
typedef struct VeelineTensorInfo {
  const char *name;
  /** "f32", "f64", "i8", "i16", "i32", "i64"; "i1", a byte that is 0 or 1. */
  const char *type;
  /** For an argument, the shape of one microbatch. */
  const int64_t *shape;
  size_t rank;
  /** The size of such a tensor, row-major and dense. */
  size_t bytes;
} VeelineTensorInfo;

typedef enum VeelineTensorKind {
  VeelineTensorParameter = 0,
  /** An argument with other values in each microbatch. */
  VeelineTensorBatch = 1,
  /** An argument with the same values in all of them. */
  VeelineTensorBuffer = 2,
  /** The loss is the first one; others are metrics. */
  VeelineTensorResult = 3
} VeelineTensorKind;

VEELINE_C_EXPORTED size_t veelineTrainingNumTensors(VeelineTraining training,
                                                    VeelineTensorKind kind);
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingGetTensorInfo(VeelineTraining training, VeelineTensorKind kind,
                             size_t index, VeelineTensorInfo *info);
/** The number of microbatches in a step, on all replicas. */
VEELINE_C_EXPORTED int32_t
veelineTrainingNumMicrobatches(VeelineTraining training);

/** Copies `bytes` bytes of `values`, row-major. For a batch argument they are
    the values of all microbatches of the next step, one after the other; for a
    buffer they hold for all steps from now on. Errors: an argument that does
    not exist or is not fed, a wrong number of bytes, values that the model does
    not accept. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingFeed(VeelineTraining training,
                                                     const char *name,
                                                     const void *values,
                                                     size_t bytes);

/** Runs the next step, and writes its mean loss to `loss` unless that is NULL.
    With the options "checkpoint" and "every", a checkpoint is copied after some
    steps, and written while others run. Where an argument was not fed, or the
    last one of "steps" has run, that is VeelineInvalid, and no step runs. After
    any other error no further step runs. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingStep(VeelineTraining training,
                                                     double *loss);
/** The peak of the learning rate, from the next step on. Errors: no finite
    number of 0 or more, and rates that come from a file. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingSetLearningRate(VeelineTraining training, double rate);

/** How many steps have run, those before "resume" among them. */
VEELINE_C_EXPORTED int64_t veelineTrainingNumSteps(VeelineTraining training);

/** What is known of a step that has run. */
typedef struct VeelineStepInfo {
  double learningRate;
  /** Of the averaged gradients of all parameters. */
  double gradientNorm;
  /** What updates multiplied gradients by; 0: they were skipped. */
  double clipFactor;
  /** What the loss was multiplied by. */
  double lossScale;
} VeelineStepInfo;

/** Of the last step of this handle; before the first one 0, 0, 1 and 1. */
VEELINE_C_EXPORTED VeelineStepInfo
veelineTrainingLastStep(VeelineTraining training);
/** Writes result `index` of each microbatch of the last step to `values`, which
    has room for `capacity` of them. Errors: no step has run, there is no such
    result, too little room. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingGetResult(
    VeelineTraining training, size_t index, double *values, size_t capacity);

/** Copies the value of parameter `index` out of the ranks, or into all of them;
    `bytes` is what its VeelineTensorInfo says. Errors: there is no such
    parameter, other bytes, ranks that are other processes. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingGetParameter(
    VeelineTraining training, size_t index, void *values, size_t bytes);
VEELINE_C_EXPORTED VeelineStatus veelineTrainingSetParameter(
    VeelineTraining training, size_t index, const void *values, size_t bytes);

/** Copies values of a batch argument of the next evaluation, as
    veelineTrainingFeed does; buffers are those of training. Errors: as there,
    and an artifact that was compiled without --evaluation. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingFeedEvaluation(VeelineTraining training, const char *name,
                              const void *values, size_t bytes);
/** Runs the model's forwards alone, in as many microbatches as a step has, on
    the parameters as they are, and writes the mean loss to `loss` unless that
   is NULL. Steps know nothing of it. Errors as of veelineTrainingStep. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingStepEvaluation(VeelineTraining training, double *loss);
/** As veelineTrainingGetResult, of the last evaluation. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingGetEvaluatedResult(
    VeelineTraining training, size_t index, double *values, size_t capacity);

/** Writes a checkpoint of the state after the last step to the folder of the
    option "checkpoint", unless there is one, and returns once all are written.
    Errors: no such option, no step that has run, the last one could not be
    written. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingCheckpoint(VeelineTraining training);
/** Gives away what the user should know and was not told before, a line each:
    of checkpoints that could not be written, of options that are others than
    those of the run that is resumed, ... Empty: nothing. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingTakeRemarks(VeelineTraining training, VeelineString *remarks);

/** Writes all parameters as a .safetensors file, atomically. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingSave(VeelineTraining training,
                                                     const char *path);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_TRAINING_H */
