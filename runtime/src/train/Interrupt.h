//===- Interrupt.h - Ctrl-C ------------------------------------*- C++ -*-===//
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
/// temporary files and ends the process at once.
void catchInterrupts();

/// From here on the end of the process that has started this one ends it at
/// once, with nothing written, as any other fault: a launcher that is killed
/// cannot end its processes.
void endWithLauncher();

/// The signal that came, or 0.
int interruptSignal();

/// While it lives, SIGTERM, by which mpirun ends who is left when one process
/// has failed, makes this process say what it does and waits for.
class PlaceTeller {
public:
  /// `executor` is one of several processes', or null: there is nothing to say.
  explicit PlaceTeller(const engine::LoadedProgram *executor);
  ~PlaceTeller();
  PlaceTeller(const PlaceTeller &) = delete;
  PlaceTeller &operator=(const PlaceTeller &) = delete;
};

/// As if this process had caught the signal that another one has.
void shareInterrupt(int signal);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_INTERRUPT_H
