//===- OneThread.h - how many threads oneDNN takes --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN computes with OpenMP, by g++'s library of it. Only two functions of
// that library are used here. They are declared here, so that any compiler will
// do.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_ONETHREAD_H
#define VEELINE_LIBRARY_ONETHREAD_H

extern "C" {
int omp_get_max_threads(void) noexcept;
void omp_set_num_threads(int threads) noexcept;
}

namespace veeline {

/// While it lives, oneDNN plans and computes with one thread where this thread
/// calls it.
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
