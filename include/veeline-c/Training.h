/*===- Training.h - training from a program, in C -----------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* This is the interface of libveeline-c-training, which uses neither LLVM    *|
|* nor MLIR. The program has the loop over the data, and passes everything in *|
|* memory. libveeline-c-training contains a copy of what                      *|
|* runtime/include/veeline/training.h declares for C++: use only one of them. *|
|* Support.h has the rules of ownership and threads; docs/runtime.md the      *|
|* options.                                                                   *|
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

/** The options of `veeline train` with the same names. A text may be NULL: it
    is then that of veelineTrainingOptionsGet. */
typedef struct VeelineTrainingOptions {
  const char *program;
  /** `numData` texts "NAME=SPEC", as --data takes them. */
  const char *const *data;
  size_t numData;
  /** The source of arguments that `data` does not name: "fed" (by
      veelineTrainingFeed), "random" or "random:fixed". */
  const char *otherData;
  /** The seed of random parameters and data. */
  uint64_t seed;
  /** A .safetensors file with all parameters; "": as the model says. */
  const char *init;
  double learningRate, weightDecay, beta1, beta2, epsilon;
  /** The folder of Veeline's modules; only MPI needs it. */
  const char *moduleDirectory;
} VeelineTrainingOptions;

/** Program "pipeline", everything fed. */
VEELINE_C_EXPORTED VeelineTrainingOptions veelineTrainingOptionsGet(void);

/** Reads the artifact at `path` and starts its ranks as threads, or meets the
    processes of a launcher. `options` may be NULL. The file is mapped: it must
    not be written to or truncated before the handle is destroyed. To replace
    it, write another file and rename it. Errors: what is wrong with a file, an
    option or this machine. */
VEELINE_C_EXPORTED VeelineStatus
veelineTrainingOpen(const char *path, const VeelineTrainingOptions *options,
                    VeelineTraining *training);
/** The same for the `length` bytes of an artifact in memory, which are
    copied. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingOpenInMemory(
    const void *artifact, size_t length, const VeelineTrainingOptions *options,
    VeelineTraining *training);
/** Ends the ranks, and frees all that they have. */
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
    If an argument was not fed, the result is VeelineInvalid, and no step runs.
    After any other error no further step runs. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingStep(VeelineTraining training,
                                                     double *loss);
/** Sets the learning rate from the next step on. */
VEELINE_C_EXPORTED void veelineTrainingSetLearningRate(VeelineTraining training,
                                                       double rate);

/** How many steps have run. */
VEELINE_C_EXPORTED int64_t veelineTrainingNumSteps(VeelineTraining training);
/** The norm of the averaged gradients of all parameters in the last step; 0
    before the first one. */
VEELINE_C_EXPORTED double veelineTrainingGradientNorm(VeelineTraining training);
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

/** Writes all parameters as a .safetensors file, atomically. */
VEELINE_C_EXPORTED VeelineStatus veelineTrainingSave(VeelineTraining training,
                                                     const char *path);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_TRAINING_H */
