//===- OneThread.h - limiting oneDNN to one thread --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN uses OpenMP, by GCC's library of it. This header declares the two
// functions of that library that it needs, so that it works with any compiler.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_ONETHREAD_H
#define VEELINE_LIBRARY_ONETHREAD_H

extern "C" {
int omp_get_max_threads(void) noexcept;
void omp_set_num_threads(int threads) noexcept;
}

namespace veeline {

/// While it exists, calls of oneDNN on this thread plan and compute with one
/// thread.
class OneThread {
public:
  OneThread() : threads(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads); }
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  int threads;
};

} // namespace veeline

#endif // VEELINE_LIBRARY_ONETHREAD_H
