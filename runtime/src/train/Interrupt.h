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

/// From now on, the first SIGINT or SIGTERM is remembered, and the second
/// deletes temporary files and ends the process at once. SIGBUS also ends it,
/// and prints the name of the file that was truncated while it was read.
void catchInterrupts();

/// From now on, this process ends when the process that has started it ends: a
/// launcher that is killed cannot end its processes. It ends at once and writes
/// nothing, as after any other fault.
void endWithLauncher();

/// The signal that came, or 0.
int interruptSignal();

/// During the lifetime of this object, SIGTERM makes this process print what it
/// does and waits for. mpirun sends that signal to the remaining processes when
/// one has failed.
class PlaceTeller {
public:
  /// `executor` is null if there is only one process. Then nothing is printed.
  explicit PlaceTeller(const engine::LoadedProgram *executor);
  ~PlaceTeller();
  PlaceTeller(const PlaceTeller &) = delete;
  PlaceTeller &operator=(const PlaceTeller &) = delete;
};

/// Acts as if this process had caught the signal that another one has caught.
void shareInterrupt(int signal);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_INTERRUPT_H
