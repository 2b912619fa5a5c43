/*===- two_ranks.c - a model compiled by hand -----------------------------===//
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

/* What the compiler would write for
 *
 *   chunk 0: e = table[tokens]
 *   chunk 1: loss = mean((e * w - labels / 256)^2)
 *
 * as a pipeline of two ranks, on one rank, and without chunks. two_ranks.py
 * writes the metadata; offsets and op numbers here and there are the same.
 *
 * Defects to order: -DWRONG_GRADIENT adds gradients of the last microbatch
 * twice on rank 0, -DSTRAY_WRITE writes between two regions, -DSLOW=N makes
 * a step take N microseconds, -DDEADLOCK waits for a message that nobody sends,
 * -DREFERENCE_SCALE=x scales the gradients of the reference, -DLENGTHS has
 * each rank take the lengths of microbatches from its data without a word to
 * the other, -DLARGE_LOSS reports losses of f64 whose sum is infinite.
 */

#include "veeline/runtime.h"

#include <string.h>
#include <unistd.h>

enum { MICROBATCHES = 4, TOKENS = 32, ROWS = 2, WIDTH = 16, TABLE = 256 };

/* Offsets in the arenas, as in two_ranks.py. */
enum {
  VALUE = 0,
  STATE = 1024,
  GRADIENT = 3072,
  MESSAGES = 4096,
  RANK1_WORK = 4608,
  SEQUENTIAL_W = 4096,
  SEQUENTIAL_MESSAGES = 8192,
  SEQUENTIAL_WORK = 8448
};

/* Entries of the tables of matrix products. */
enum { GEMM_H, GEMM_DW, GEMM_DE };

static void chunk0_forward(const int32_t *tokens, const float *table,
                           float *e) {
  for (int i = 0; i < TOKENS; ++i)
    e[i] = table[tokens[i]];
}

static void chunk0_backward(const int32_t *tokens, const float *de,
                            float *gradient) {
  for (int i = 0; i < TOKENS; ++i)
    gradient[tokens[i]] += de[i];
}

/* work: h [2x16], dw [16x16], scratch. */
static void chunk1_forward(veeline_rank *rank, const float *e, const float *w,
                           const int32_t *labels, float *work, float *loss) {
  float *h = work;
  veeline_gemm(rank, GEMM_H, e, w, h, work + TOKENS + TABLE);
  float sum = 0;
  for (int i = 0; i < TOKENS; ++i) {
    float d = h[i] - (float)labels[i] / 256;
    sum += d * d;
  }
  *loss = sum / TOKENS;
}

static void chunk1_backward(veeline_rank *rank, const float *e, const float *w,
                            const int32_t *labels, float *work, float *gradient,
                            float *de) {
  float *h = work, *dw = work + TOKENS, *scratch = dw + TABLE;
  veeline_gemm(rank, GEMM_H, e, w, h, scratch);
  for (int i = 0; i < TOKENS; ++i)
    h[i] = 2 * (h[i] - (float)labels[i] / 256) / TOKENS;
  veeline_gemm(rank, GEMM_DW, e, h, dw, scratch);
  for (int i = 0; i < TABLE; ++i)
    gradient[i] += dw[i];
  veeline_gemm(rank, GEMM_DE, h, w, de, scratch);
}

static float *at(char *arena, int offset) { return (float *)(arena + offset); }

static const int32_t *slice(const void *batch, int microbatch) {
  return (const int32_t *)batch + microbatch * TOKENS;
}

static void update(veeline_rank *rank, int param, char *arena, int base) {
  const void *gradients[] = {arena + base + GRADIENT};
  veeline_update(rank, param, arena + base + VALUE, arena + base + STATE,
                 gradients, 1);
}

static void begin(veeline_rank *rank) {
#ifdef LENGTHS
  for (int i = 0; i < MICROBATCHES; ++i)
    veeline_length_of_data(rank, i);
#endif
}

VEELINE_API void rank0_step(veeline_rank *rank, char *arena,
                            const void *const *batch) {
  int op = 0;
#ifdef SLOW
  // A signal ends a sleep, and no computation.
  for (int left = SLOW; left > 0; left -= 10000)
    usleep(left < 10000 ? left : 10000);
#endif
  begin(rank);
#ifdef STRAY_WRITE
  arena[MESSAGES + 4 * 128 + 7] = 1;
#endif
  memset(arena + GRADIENT, 0, 1024);
  for (int i = 0; i < MICROBATCHES; ++i)
    veeline_recv_post(rank, 1, arena + MESSAGES + 128 * i);
  for (int i = 0; i < MICROBATCHES; ++i) {
    float *e = veeline_send_acquire(rank, 0);
    veeline_op_begin(rank, op);
    chunk0_forward(slice(batch[0], i), at(arena, VALUE), e);
    veeline_op_end(rank, op++);
    veeline_op_begin(rank, op);
    veeline_send_commit(rank, 0);
    veeline_op_end(rank, op++);
  }
  for (int i = 0; i < MICROBATCHES; ++i) {
    veeline_op_begin(rank, op);
    veeline_recv_wait(rank, 1);
    veeline_op_end(rank, op++);
    veeline_op_begin(rank, op);
    chunk0_backward(slice(batch[0], i), at(arena, MESSAGES + 128 * i),
                    at(arena, GRADIENT));
    veeline_op_end(rank, op++);
  }
#ifdef WRONG_GRADIENT
  chunk0_backward(slice(batch[0], MICROBATCHES - 1),
                  at(arena, MESSAGES + 128 * (MICROBATCHES - 1)),
                  at(arena, GRADIENT));
#endif
  veeline_op_begin(rank, op);
  update(rank, 0, arena, 0);
  veeline_op_end(rank, op);
}

VEELINE_API void rank1_step(veeline_rank *rank, char *arena,
                            const void *const *batch) {
  int op = 0;
  float *w = at(arena, VALUE), *work = at(arena, RANK1_WORK), loss;
  begin(rank);
  memset(arena + GRADIENT, 0, 1024);
  for (int i = 0; i < MICROBATCHES; ++i)
    veeline_recv_post(rank, 0, arena + MESSAGES + 128 * i);
  for (int i = 0; i < MICROBATCHES; ++i) {
    float *e = at(arena, MESSAGES + 128 * i);
    veeline_op_begin(rank, op);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, op++);
    veeline_op_begin(rank, op);
    chunk1_forward(rank, e, w, slice(batch[1], i), work, &loss);
    veeline_op_end(rank, op++);
#ifdef LARGE_LOSS
    double large = 1e308;
    veeline_report(rank, 0, i, &large);
#else
    veeline_report(rank, 0, i, &loss);
#endif
#ifdef DEADLOCK
    // A step that ends with a place acquired would break our own checks first.
    _Alignas(64) float unsent[TOKENS];
    float *de = i < MICROBATCHES - 1 ? veeline_send_acquire(rank, 1) : unsent;
#else
    float *de = veeline_send_acquire(rank, 1);
#endif
    veeline_op_begin(rank, op);
    chunk1_backward(rank, e, w, slice(batch[1], i), work, at(arena, GRADIENT),
                    de);
    veeline_op_end(rank, op++);
    veeline_op_begin(rank, op);
#ifdef DEADLOCK
    if (i < MICROBATCHES - 1)
#endif
      veeline_send_commit(rank, 1);
    veeline_op_end(rank, op++);
  }
  veeline_op_begin(rank, op);
  update(rank, 0, arena, 0);
  veeline_op_end(rank, op);
}

VEELINE_API void sequential_step(veeline_rank *rank, char *arena,
                                 const void *const *batch) {
  float *table = at(arena, VALUE), *w = at(arena, SEQUENTIAL_W + VALUE);
  float *e = at(arena, SEQUENTIAL_MESSAGES), *de = e + TOKENS, loss;
  float *work = at(arena, SEQUENTIAL_WORK);
  memset(arena + GRADIENT, 0, 1024);
  memset(arena + SEQUENTIAL_W + GRADIENT, 0, 1024);
  for (int i = 0; i < MICROBATCHES; ++i) {
    chunk0_forward(slice(batch[0], i), table, e);
    chunk1_forward(rank, e, w, slice(batch[1], i), work, &loss);
    veeline_report(rank, 0, i, &loss);
    chunk1_backward(rank, e, w, slice(batch[1], i), work,
                    at(arena, SEQUENTIAL_W + GRADIENT), de);
    chunk0_backward(slice(batch[0], i), de, at(arena, GRADIENT));
  }
  update(rank, 0, arena, 0);
  update(rank, 1, arena, SEQUENTIAL_W);
}

/* Plain loops that sum in another order. */
static double reference_gradients(const int32_t *tokens, const int32_t *labels,
                                  const float *table, const float *w,
                                  double *dtable, double *dw) {
  double sum = 0;
  for (int r = ROWS - 1; r >= 0; --r)
    for (int j = WIDTH - 1; j >= 0; --j) {
      double h = 0;
      for (int k = WIDTH - 1; k >= 0; --k)
        h += (double)table[tokens[r * WIDTH + k]] * w[k * WIDTH + j];
      double d = h - labels[r * WIDTH + j] / 256.0;
      sum += d * d;
      for (int k = 0; k < WIDTH; ++k) {
        dw[k * WIDTH + j] += 2 * d / TOKENS * table[tokens[r * WIDTH + k]];
        dtable[tokens[r * WIDTH + k]] += 2 * d / TOKENS * w[k * WIDTH + j];
      }
    }
  return sum / TOKENS;
}

#ifndef REFERENCE_SCALE
#define REFERENCE_SCALE 1
#endif

VEELINE_API void reference_step(veeline_rank *rank, char *arena,
                                const void *const *batch) {
  double dtable[TABLE] = {0}, dw[TABLE] = {0};
  for (int i = MICROBATCHES - 1; i >= 0; --i) {
    float loss = (float)reference_gradients(
        slice(batch[0], i), slice(batch[1], i), at(arena, VALUE),
        at(arena, SEQUENTIAL_W + VALUE), dtable, dw);
    veeline_report(rank, 0, i, &loss);
  }
  for (int i = 0; i < TABLE; ++i) {
    at(arena, GRADIENT)[i] = (float)(dtable[i] * REFERENCE_SCALE);
    at(arena, SEQUENTIAL_W + GRADIENT)[i] = (float)dw[i];
  }
  update(rank, 0, arena, 0);
  update(rank, 1, arena, SEQUENTIAL_W);
}
