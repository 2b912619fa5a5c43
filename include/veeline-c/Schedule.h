/*===- Schedule.h - schedules, in C -------------------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* This is the interface of libveeline-c-schedule, which uses neither LLVM    *|
|* nor MLIR. Support.h has the rules of ownership and threads;                *|
|* docs/scheduling.md has the terms.                                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VEELINE_C_SCHEDULE_H
#define VEELINE_C_SCHEDULE_H

#include "veeline-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* Names                                                                      *|
\*===----------------------------------------------------------------------===*/

VEELINE_C_EXPORTED size_t veelineNumSchedules(void);
/** Schedule `index` in the order of docs/schedules.md; NULL from
    veelineNumSchedules() on. The text lives forever. */
VEELINE_C_EXPORTED const char *veelineScheduleNameAt(size_t index);

/*===----------------------------------------------------------------------===*\
|* Problems                                                                   *|
\*===----------------------------------------------------------------------===*/

/** What is to be scheduled: stages, chunks, microbatches, costs, limits. */
typedef struct VeelineProblem {
  void *ptr;
} VeelineProblem;

/** One number for each of F, B and W. */
typedef struct VeelineCosts {
  double forward, backwardInput, backwardWeight;
} VeelineCosts;

/** A problem whose stages are all equal, as the options of `veeline schedule`
    describe it. */
typedef struct VeelineProblemOptions {
  /** The schedule, which determines which chunk is on which stage. */
  const char *schedule;
  int32_t stages;
  /** 0: the fewest that the schedule accepts. */
  int32_t chunksPerStage;
  int32_t microbatches;
  /** Time of a whole stage for one microbatch, in any one unit; its chunks
      share it evenly. */
  VeelineCosts cost;
  /** Time of a message between two stages. */
  double transfer;
  /** What F, B and W of a whole stage add to its memory, in activations (the
      memory of one microbatch on a whole stage). They add up to 0, with what R
      adds. */
  VeelineCosts activation;
  /** The limit of every stage, in activations; below 0: none. */
  double memoryLimit;
  /** The time of a copy of one activation to the host's memory, which is that
      of a copy back; below 0: nothing can be offloaded. */
  double offloadTime;
  /** Time of R of a whole stage, which recomputes ahead of the backward what
      the backward needs; below 0: there is no R. */
  double recompute;
  /** What R adds to the memory of a stage, in activations: counts only where
      there is an R, and is then part of the sum of `activation`. */
  double recomputeActivation;
} VeelineProblemOptions;

/** `schedule` with costs of 1, messages that take no time, no limit, nothing
   that can be offloaded, and nothing that is recomputed ahead. */
VEELINE_C_EXPORTED VeelineProblemOptions veelineProblemOptionsGet(
    const char *schedule, int32_t stages, int32_t microbatches);

/** Errors: unknown schedules, numbers out of range, a number of chunks that the
    schedule does not accept. */
VEELINE_C_EXPORTED VeelineStatus veelineProblemCreate(
    const VeelineProblemOptions *options, VeelineProblem *problem);
VEELINE_C_EXPORTED void veelineProblemDestroy(VeelineProblem problem);

VEELINE_C_EXPORTED int32_t veelineProblemNumStages(VeelineProblem problem);
VEELINE_C_EXPORTED int32_t
veelineProblemNumMicrobatches(VeelineProblem problem);
/** The number of chunks on all stages. Chunks are numbered in the order of the
    model. */
VEELINE_C_EXPORTED int32_t veelineProblemNumChunks(VeelineProblem problem);
/** -1 if there is no such chunk. */
VEELINE_C_EXPORTED int32_t veelineProblemStageOfChunk(VeelineProblem problem,
                                                      int32_t chunk);

/** What a chunk costs, and by how much each of its operations changes the
    memory of its stage. Memory may have any unit; in a new problem an
    activation is veelineActivationUnit units. */
typedef struct VeelineChunk {
  double forward, backwardInput, backwardWeight;
  /** How much less time a fused backward takes than B and W together. */
  double backwardShared;
  /** Positive for what the operation adds, negative for what it releases. */
  int64_t forwardMemory, backwardInputMemory, backwardWeightMemory;
  /** False for a chunk without a B, since nothing needs the gradient of its
      inputs: its whole backward is W, and the members of B are 0. */
  bool hasBackwardInput;
  /** How much of what F adds may wait for the backward in the host's memory,
      and the time of a copy there, which is that of a copy back. */
  int64_t offloadMemory;
  double offloadTime;
  /** Whether what the backward needs of the forward is computed again by an
      operation of its own ahead of it, what that takes, and what it adds. */
  bool hasRecompute;
  double recompute;
  int64_t recomputeMemory;
} VeelineChunk;

enum { veelineActivationUnit = 720720 * 1000 };

VEELINE_C_EXPORTED VeelineStatus veelineProblemGetChunk(VeelineProblem problem,
                                                        int32_t chunk,
                                                        VeelineChunk *values);
/** The values are checked against each other only when the problem is used. */
VEELINE_C_EXPORTED VeelineStatus veelineProblemSetChunk(
    VeelineProblem problem, int32_t chunk, const VeelineChunk *values);

/** A value that chunk `from` makes and a later chunk `to` uses, and the times
   of its message and of its gradient's between two stages. */
typedef struct VeelineEdge {
  int32_t from, to;
  double forwardTransfer, backwardTransfer;
  /** False if the value has no gradient. */
  bool carriesGradient;
} VeelineEdge;

/** Replaces the edges, which are those of a chain in a new problem. */
VEELINE_C_EXPORTED VeelineStatus veelineProblemSetEdges(
    VeelineProblem problem, const VeelineEdge *edges, size_t count);
/** One limit for each stage, in the unit of the chunks' memory; `count` 0: no
    limit. */
VEELINE_C_EXPORTED VeelineStatus veelineProblemSetMemoryLimits(
    VeelineProblem problem, const int64_t *limits, size_t count);
/** How to print memory: `size` units are one `name`. */
VEELINE_C_EXPORTED VeelineStatus veelineProblemSetMemoryUnit(
    VeelineProblem problem, int64_t size, const char *name);

/*===----------------------------------------------------------------------===*\
|* Schedules                                                                  *|
\*===----------------------------------------------------------------------===*/

/** What each stage runs, in order, with a copy of the problem that it is for.
    It never changes. */
typedef struct VeelineSchedule {
  void *ptr;
} VeelineSchedule;

typedef enum VeelineObjective {
  /** The period for schedules that go from step to step without a barrier, and
      the makespan for others. */
  VeelineObjectiveDefault = 0,
  VeelineObjectiveMakespan = 1,
  VeelineObjectiveSpan = 2,
  VeelineObjectivePeriod = 3
} VeelineObjective;

typedef struct VeelineGenerateOptions {
  /** What to minimise if the schedule has a choice. */
  VeelineObjective objective;
  /** Pair forwards and backwards into overlapped blocks, if it can. */
  bool overlapBlocks;
  /** How long `auto` may search, and the seed of its choices. */
  double searchSeconds;
  uint64_t seed;
  /** Let memory that chunks can offload wait in the host's memory, as far as
      that costs no time, or memory limits demand (docs/offloading.md). */
  bool offload;
} VeelineGenerateOptions;

VEELINE_C_EXPORTED VeelineGenerateOptions veelineGenerateOptionsGet(void);

/** Makes and verifies the schedule of this name. `options` may be NULL: those
    of veelineGenerateOptionsGet. Errors: a problem that contradicts itself, an
    unknown name, a schedule that is not defined for the problem, a memory limit
    that no order of the schedule stays within. */
VEELINE_C_EXPORTED VeelineStatus veelineScheduleGenerate(
    VeelineProblem problem, const char *name,
    const VeelineGenerateOptions *options, VeelineSchedule *schedule);

/** Reads `length` bytes of `text`, a schedule as veelineScheduleToText writes
    it: `format` is "csv" or "json". `file` names it in messages. With a null
    `problem`, costs are those that the text has, or 1. Otherwise the problem
    has to have the chunks and microbatches of the text. The order is not
    verified. */
VEELINE_C_EXPORTED VeelineStatus veelineScheduleRead(
    const char *format, const char *text, size_t length, const char *file,
    VeelineProblem problem, VeelineSchedule *schedule);
VEELINE_C_EXPORTED void veelineScheduleDestroy(VeelineSchedule schedule);

VEELINE_C_EXPORTED const char *veelineScheduleName(VeelineSchedule schedule);
/** A copy of its problem, which the caller destroys. */
VEELINE_C_EXPORTED VeelineStatus
veelineScheduleCopyProblem(VeelineSchedule schedule, VeelineProblem *problem);

/** Warnings for the user, one sentence each. NULL after the last one. */
VEELINE_C_EXPORTED const char *veelineScheduleWarning(VeelineSchedule schedule,
                                                      size_t index);

typedef enum VeelineOpKind {
  VeelineOpForward = 0,
  VeelineOpBackwardInput = 1,
  VeelineOpBackwardWeight = 2,
  /** B and W of a chunk as one operation. */
  VeelineOpBackward = 3,
  /** What the backward of a chunk needs of its forward, computed again ahead of
      it. */
  VeelineOpRecompute = 4
} VeelineOpKind;

typedef struct VeelineOp {
  VeelineOpKind kind;
  int32_t chunk;
  int32_t microbatch;
  /** It belongs to the step before (docs/loops.md). */
  bool late;
} VeelineOp;

/** The number of rows of the schedule: its stages, or their ranks. */
VEELINE_C_EXPORTED int32_t veelineScheduleNumRanks(VeelineSchedule schedule);
/** 0 if there is no such rank. */
VEELINE_C_EXPORTED size_t veelineScheduleNumOps(VeelineSchedule schedule,
                                                int32_t rank);
/** Writes all operations of a rank to `ops`, which has room for `capacity`. An
    error if that is too little. */
VEELINE_C_EXPORTED VeelineStatus veelineScheduleGetOps(VeelineSchedule schedule,
                                                       int32_t rank,
                                                       VeelineOp *ops,
                                                       size_t capacity);

/** What a chunk holds of a microbatch, and lets wait in the host's memory. */
typedef struct VeelineOffload {
  int32_t chunk;
  int32_t microbatch;
  /** Before this operation of the rank, the memory is free: the rank waits for
      the end of the copy, which has begun after F. */
  int32_t leaves;
  /** Before this operation, the memory is taken again, and the copy back
      begins. */
  int32_t returns;
} VeelineOffload;

/** 0 if the rank offloads nothing, or does not exist. */
VEELINE_C_EXPORTED size_t veelineScheduleNumOffloads(VeelineSchedule schedule,
                                                     int32_t rank);
/** Writes all offloads of a rank to `offloads`, which has room for `capacity`.
   An error if that is too little. */
VEELINE_C_EXPORTED VeelineStatus
veelineScheduleGetOffloads(VeelineSchedule schedule, int32_t rank,
                           VeelineOffload *offloads, size_t capacity);

/** Checks that it solves its problem: every operation once and in its place, no
    deadlock, no memory limit exceeded. The message shows the place. */
VEELINE_C_EXPORTED VeelineStatus
veelineScheduleVerify(VeelineSchedule schedule);

/** Verifies the schedule, and gives it as a file: "svg", "html" (pictures),
    "csv" (PyTorch's), "comms.csv" (the same with communication cells), "json"
    (ours, with the problem), "trace" (Chrome's), or "text" (of a terminal). */
VEELINE_C_EXPORTED VeelineStatus veelineScheduleToText(VeelineSchedule schedule,
                                                       const char *format,
                                                       VeelineString *text);

/*===----------------------------------------------------------------------===*\
|* Predictions                                                                *|
\*===----------------------------------------------------------------------===*/

/** Predicted times and memory, in the units of the problem. It never changes,
    and no longer needs the schedule. */
typedef struct VeelineSimulation {
  void *ptr;
} VeelineSimulation;

typedef struct VeelineSimulateOptions {
  /** Sends and receives block. */
  bool rendezvous;
  /** The link from one stage to another carries one message at a time. */
  bool contention;
} VeelineSimulateOptions;

/** `options` may be NULL: neither. Errors: an order that cannot run. */
VEELINE_C_EXPORTED VeelineStatus veelineScheduleSimulate(
    VeelineSchedule schedule, const VeelineSimulateOptions *options,
    VeelineSimulation *simulation);
VEELINE_C_EXPORTED void veelineSimulationDestroy(VeelineSimulation simulation);

typedef struct VeelinePrediction {
  /** The time from 0 to the end of the last operation. */
  double makespan;
  /** The longest time of a rank from its own first to its own last operation.
   */
  double span;
  /** The time from one step to the next if steps follow each other; 0 if it is
      not known. */
  double period;
  /** The share of each of these in which the worst rank waits. */
  double bubbleMakespan, bubbleSpan, bubbleSteady;
  int64_t peakMemory;
} VeelinePrediction;

VEELINE_C_EXPORTED VeelinePrediction
veelineSimulationGet(VeelineSimulation simulation);

typedef struct VeelineRankPrediction {
  double busy, firstStart, lastEnd;
  int64_t peakMemory;
} VeelineRankPrediction;

VEELINE_C_EXPORTED VeelineStatus
veelineSimulationGetRank(VeelineSimulation simulation, int32_t rank,
                         VeelineRankPrediction *prediction);

/** Writes when each operation of a rank begins and ends, and the rank's memory
    after it, in the order of veelineScheduleGetOps. Each array is NULL or has
    room for `capacity` values; an error if that is too little. */
VEELINE_C_EXPORTED VeelineStatus veelineSimulationGetTimes(
    VeelineSimulation simulation, int32_t rank, double *starts, double *ends,
    int64_t *memory, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_SCHEDULE_H */
