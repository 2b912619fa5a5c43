//===- Interrupt.h - handling of Ctrl-C -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_INTERRUPT_H
#define VEELINE_RUNTIME_TRAIN_INTERRUPT_H

namespace veeline::engine {
class LoadedProgram;
} // namespace veeline::engine

namespace veeline::train {

/// From here on the first SIGINT or SIGTERM is remembered; the second deletes
/// temporary files and ends the process at once. So does SIGBUS, with the name
/// of the file that was truncated while it was read.
void catchInterrupts();

/// From here on this process ends when the process that has started it does: a
/// launcher that is killed cannot end its processes. It ends at once, with
/// nothing written, as after any other fault.
void endWithLauncher();

/// The signal that came, or 0.
int interruptSignal();

/// While it lives, SIGTERM makes this process print what it does and waits for.
/// mpirun sends that signal to those that are left when one process has failed.
class PlaceTeller {
public:
  /// `executor` is null if there is one process: then nothing is printed.
  explicit PlaceTeller(const engine::LoadedProgram *executor);
  ~PlaceTeller();
  PlaceTeller(const PlaceTeller &) = delete;
  PlaceTeller &operator=(const PlaceTeller &) = delete;
};

/// As if this process had caught the signal that another one has.
void shareInterrupt(int signal);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_INTERRUPT_H
