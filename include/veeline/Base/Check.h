//===- Check.h - internal checks of the debug builds ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// VEELINE_CHECK states an invariant that no input can violate. If it does not
// hold, the compiler or the runtime has a bug, and the process aborts with the
// place and the condition. It is evaluated if VEELINE_ENABLE_CHECKS is on (all
// presets except release). Errors of the user are diagnostics, in every build.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_CHECK_H
#define VEELINE_BASE_CHECK_H

#include <cstdio>
#include <cstdlib>

namespace veeline {

#ifdef VEELINE_ENABLE_CHECKS
inline constexpr bool checksEnabled = true;
#else
inline constexpr bool checksEnabled = false;
#endif

[[noreturn]] inline void reportFailedCheck(const char *file, int line,
                                           const char *condition,
                                           const char *message) {
  std::fprintf(stderr, "%s:%d: veeline check failed: %s (%s)\n", file, line,
               message, condition);
  std::abort();
}

} // namespace veeline

/// The condition is compiled in every build, and evaluated if checks are on.
#define VEELINE_CHECK(condition, message)                                      \
  do {                                                                         \
    if constexpr (::veeline::checksEnabled)                                    \
      if (!(condition))                                                        \
        ::veeline::reportFailedCheck(__FILE__, __LINE__, #condition, message); \
  } while (false)

#endif // VEELINE_BASE_CHECK_H
