/* What the tests of the C API check with. */

#ifndef VEELINE_TEST_C_CHECKS_H
#define VEELINE_TEST_C_CHECKS_H

#include "veeline-c/Support.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                     \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);              \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static inline void succeed(VeelineStatus status, int line) {
  if (status.code != VeelineOk) {
    fprintf(stderr, "line %d: %s\n", line, status.message);
    exit(1);
  }
  REQUIRE(!status.message);
}
#define SUCCEED(call) succeed(call, __LINE__)

static inline void printFailure(const char *what, VeelineStatus status) {
  printf("%s: %d: %s\n", what, (int)status.code,
         status.message ? status.message : "(null)");
  veelineStatusDestroy(status);
}

#endif
