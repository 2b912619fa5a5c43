/*===- device_ranks.c - a model for a GPU, compiled by hand ---------------===//
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

/* What the compiler would write for
 *
 *   chunk 0: e = x / 2
 *   chunk 1: loss = mean((w - e)^2)
 *
 * and SGD, as a pipeline of two ranks and on one rank. device_ranks.py writes
 * the metadata; offsets and numbers here and there are the same. With -DKERNELS
 * it is the library of kernels that the stand-in of the CUDA driver loads, with
 * -DENDLESS one of which does not end. With -DMISSING rank 0 does not send its
 * last message.
 */

#include "veeline/runtime.h"

#include <string.h>
#include <unistd.h>

enum { MICROBATCHES = 2, WIDTH = 64, BYTES = 4 * WIDTH };

#ifdef KERNELS

#define KERNEL(name, count)                                                    \
  const int64_t name##_info[] __asm__(#name ".info") = {WIDTH, 1, 1, 1,        \
                                                        count};                \
  void name(const void *const *params, const uint32_t grid[3],                 \
            const uint32_t block[3])
#define ARGUMENT(type, i) (*(type *const *)params[i])

KERNEL(half_of, 2) {
  float *out = ARGUMENT(float, 0);
  const float *in = ARGUMENT(float, 1);
#ifdef ENDLESS
  for (;;)
    pause();
#endif
  for (int i = 0; i < WIDTH; ++i)
    out[i] = in[i] / 2;
}

KERNEL(loss_of, 4) {
  float *loss = ARGUMENT(float, 0), *gradient = ARGUMENT(float, 1);
  const float *w = ARGUMENT(float, 2), *e = ARGUMENT(float, 3);
  *loss = 0;
  for (int i = 0; i < WIDTH; ++i) {
    float difference = w[i] - e[i];
    *loss += difference * difference / WIDTH;
    gradient[i] += 2 * difference;
  }
}

KERNEL(update_by_sgd, 4) {
  double *norm = ARGUMENT(double, 0);
  float *w = ARGUMENT(float, 1);
  const float *gradient = ARGUMENT(float, 2);
  const struct veeline_settings *settings =
      ARGUMENT(const struct veeline_settings, 3);
  *norm = 0;
  for (int i = 0; i < WIDTH; ++i) {
    float g = gradient[i] * settings->f32[0];
    *norm += (double)g * g;
    w[i] = w[i] * settings->f32[1] - settings->f32[3] * g;
  }
}

#else

enum { HALF, LOSS, UPDATE };

static void launch(veeline_rank *rank, int32_t kernel, const void *a,
                   const void *b, const void *c, const void *d) {
  const void *places[] = {a, b, c, d};
  uint64_t arguments[4];
  memcpy(arguments, places, sizeof(arguments));
  veeline_launch(rank, kernel, arguments);
}

static void forward_and_backward(veeline_rank *rank, char *w, char *gradient,
                                 char *loss, const char *e, int32_t number) {
  launch(rank, LOSS, loss, gradient, w, e);
  veeline_report(rank, 0, number, loss);
}

static void update(veeline_rank *rank, char *w, const char *gradient) {
  launch(rank, UPDATE, veeline_norm(rank, 0), w, gradient,
         veeline_settings(rank));
}

void rank0_step(veeline_rank *rank, char *arena, const void *const *batch) {
  for (int32_t i = 0; i < MICROBATCHES; ++i) {
    char *e = arena + 512 + BYTES * i;
    launch(rank, HALF, e, (const char *)batch[0] + BYTES * i, 0, 0);
#ifdef MISSING
    if (i + 1 == MICROBATCHES)
      return;
#endif
    veeline_group_begin(rank);
    veeline_send(rank, 0, i, e);
    veeline_group_end(rank);
  }
}

void rank1_step(veeline_rank *rank, char *arena, const void *const *batch) {
  char *w = arena, *gradient = arena + 256, *slot = arena + 512;
  veeline_zero(rank, gradient, BYTES);
  for (int32_t i = 0; i < MICROBATCHES; ++i) {
    veeline_recv_post(rank, 0, slot);
    veeline_recv_wait(rank, 0);
    forward_and_backward(rank, w, gradient, arena + 768, slot, i);
  }
  update(rank, w, gradient);
}

void sequential_step(veeline_rank *rank, char *arena,
                     const void *const *batch) {
  char *w = arena + 512, *gradient = arena + 768, *e = arena + 1024;
  veeline_zero(rank, gradient, BYTES);
  for (int32_t i = 0; i < MICROBATCHES; ++i) {
    launch(rank, HALF, e, (const char *)batch[0] + BYTES * i, 0, 0);
    forward_and_backward(rank, w, gradient, arena + 1280, e, i);
  }
  update(rank, w, gradient);
}

#endif
