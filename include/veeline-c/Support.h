/*===- Support.h - errors and text of the C API -------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* The rules of every function in veeline-c:                                  *|
|*                                                                            *|
|* - Nothing aborts, throws or prints. What can fail returns a VeelineStatus, *|
|*   and then has not touched what its other results point at.                *|
|* - A handle (a struct with one pointer) is made by a function that says so, *|
|*   and ended by the function ...Destroy of its type, once. A null handle is *|
|*   destroyed without effect. Elsewhere a handle is not null, unless the     *|
|*   function says otherwise.                                                 *|
|* - Texts and arrays that a function takes are the caller's, and are copied  *|
|*   before it returns, unless it says otherwise. Texts end with a zero byte, *|
|*   in UTF-8.                                                                *|
|* - A VeelineString, or a message, is given away: it is from malloc.         *|
|* - A `const char *` that a function returns belongs to the handle that it   *|
|*   was asked of, and lives as long.                                         *|
|* - Threads may use different handles at a time, and one handle as long as   *|
|*   none of them changes or destroys it. Functions that change a handle say  *|
|*   "Set", "Feed" or "Step" in their names.                                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef VEELINE_C_SUPPORT_H
#define VEELINE_C_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEELINE_C_EXPORTED __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum VeelineCode {
  VeelineOk = 0,
  /** An argument has no meaning, or arguments contradict each other. */
  VeelineInvalid = 1,
  VeelineUnknownSchedule = 2,
  /** The schedule is not defined for this problem. */
  VeelineNotApplicable = 3,
  /** No order of this schedule stays within the memory limit of a stage. */
  VeelineOverMemoryLimit = 4,
  /** A schedule does not solve its problem. */
  VeelineWrongSchedule = 5,
  /** A file, an artifact, a model or this machine is not as it has to be. */
  VeelineFailed = 6,
  /** This process has no memory left. */
  VeelineNoMemory = 7
} VeelineCode;

typedef struct VeelineStatus {
  VeelineCode code;
  /** Says what was expected, what was found and what to do. NULL of VeelineOk
      and VeelineNoMemory. */
  char *message;
} VeelineStatus;

/** Frees the message. */
static inline void veelineStatusDestroy(VeelineStatus status) {
  free(status.message);
}

typedef struct VeelineString {
  /** `length` bytes and a zero. */
  char *data;
  size_t length;
} VeelineString;

static inline void veelineStringDestroy(VeelineString text) { free(text.data); }

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_SUPPORT_H */
