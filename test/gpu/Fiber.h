//===- Fiber.h - threads that one thread runs -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_FIBER_H
#define VEELINE_TEST_GPU_FIBER_H

#include <cstddef>

/// For functions that run on a fiber: sanitizers know one stack per thread.
#define VEELINE_ON_FIBER                                                       \
  __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

namespace veeline::gpu {

/// A function with a stack of its own, which runs until it switches back. It
/// can be started anew before it has finished.
class Fiber {
public:
  explicit Fiber(size_t stackBytes = 1 << 16);
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Makes enter() call `function(argument)` next. The function must not
  /// return, but end in a last call of leave().
  void start(void (*function)(void *), void *argument);
  /// Runs it until it leaves.
  void enter();
  /// Switches from the fiber that runs back to who entered it.
  static void leave();

  bool holds(const void *address) const {
    const char *at = static_cast<const char *>(address);
    return at >= stack && at < stack + stackBytes;
  }

private:
  static void run();

  size_t stackBytes;
  char *stack;
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
  /// The stack pointers of the fiber and of who entered it, while they wait.
  void *own = nullptr, *other = nullptr;
};

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_FIBER_H
