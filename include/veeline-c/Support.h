/*===- Support.h - errors and text of the C API -------------------*- C -*-===*\
|*                                                                            *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|* The rules of every function in veeline-c:                                  *|
|*                                                                            *|
|* - No function aborts, throws or prints. A function that can fail returns a *|
|*   VeelineStatus; if it fails, it has not written its other results.        *|
|* - A handle is a struct with one pointer. The function that makes one says  *|
|*   so; destroy it once, with the function ...Destroy of its type. To        *|
|*   destroy a null handle has no effect. All other functions need a handle   *|
|*   that is not null, unless they say otherwise.                             *|
|* - Any other pointer that a function needs and that is null is an error,    *|
|*   VeelineInvalid. An array of no elements may be null.                     *|
|* - Texts and arrays that a function takes belong to the caller, and are     *|
|*   copied before it returns, unless it says otherwise. Texts are UTF-8 and  *|
|*   end with a zero byte.                                                    *|
|* - The caller has to free a VeelineString, or a message: it is from malloc. *|
|* - A `const char *` that a function returns belongs to the handle that was  *|
|*   passed, and lives as long.                                               *|
|* - Threads may use different handles at the same time. They may use one     *|
|*   handle at the same time if none of them changes or destroys it.          *|
|*   Functions that change a handle have "Set", "Feed", "Step", "Take" or     *|
|*   "Checkpoint" in their names.                                             *|
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
  /** Something is wrong with a file, an artifact, a model or this machine. */
  VeelineFailed = 6,
  /** This process has no memory left. */
  VeelineNoMemory = 7
} VeelineCode;

typedef struct VeelineStatus {
  VeelineCode code;
  /** Says what was expected, what was found and what to do. NULL for
      VeelineOk and VeelineNoMemory. */
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

/** An option of a command of `veeline`: its name without dashes, "stages", and
    its value, or NULL of a flag, "evaluation". */
typedef struct VeelineOption {
  const char *name;
  const char *value;
} VeelineOption;

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_C_SUPPORT_H */
