//===- Train.h - the training loop ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_TRAIN_H
#define VEELINE_RUNTIME_TRAIN_TRAIN_H

#include "Options.h"

namespace veeline::train {

/// With `continues`, sets `resume`.
void resolveContinue(Options &options);

/// Runs `veeline train`: prints to stdout, and errors to stderr. Returns the
/// exit status: 0, 1 after an error, or 128 + n after signal n.
int run(const Options &options);

/// Finds errors that `run` would find before it trains: files that cannot be
/// read or, if this process writes results, written.
Status checkFiles(const Options &options, bool writesResults);
/// Finds options that do not fit the artifact.
Status check(const Options &options);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_TRAIN_H
