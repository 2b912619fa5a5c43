/*===- runtime.h - the C ABI between compiled steps and the runtime -------===//
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * The signature of a compiled step, and the functions that it calls. A step is
 * straight-line code: it computes nothing about the schedule and allocates
 * nothing. It refers to messages, matrix products, convolutions, kernels,
 * operations and parameters by constant indices into tables, which are in the
 * artifact's metadata.
 *
 * On a GPU the arena is device memory, which a step never accesses itself. All
 * functions below then act in the order of the rank's compute stream. Only
 * those that say so wait for the device.
 *
 * None of these functions returns a status. A fault, such as a lost peer or an
 * error of a library, is recorded in the rank with its message, and every later
 * call of that rank returns at once. So the step runs to its end without
 * accessing memory of other ranks, and its caller then reads the status.
 *
 *===----------------------------------------------------------------------===*/

#ifndef VEELINE_RUNTIME_H
#define VEELINE_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VEELINE_API __attribute__((visibility("default")))

/* One rank of a running program. */
typedef struct veeline_rank veeline_rank;

/* The step of a rank, exported by a stage's object under the name in the
 * metadata. `arena` is the rank's one allocation, aligned to 64 bytes. `batch`
 * has one pointer for each batch argument of the program, then one for each
 * constant buffer. A batch argument contains the m microbatches one after the
 * other. A pointer is null if the rank does not use it. The runtime owns the
 * memory that the pointers refer to. */
typedef void (*veeline_step_fn)(veeline_rank *rank, char *arena,
                                const void *const *batch);

/* --- Messages ---------------------------------------------------------------
 *
 * A channel carries one edge in one direction: activations forward or gradients
 * backward, one message for each microbatch, in ascending order. With shared
 * memory no message is copied: the receiver posts a slot for the message, and
 * the sender computes directly into it. */

/* Receiver: posts `slot`. It belongs to the sender of `channel` until the
 * matching wait returns. Never blocks. */
VEELINE_API void veeline_recv_post(veeline_rank *rank, int32_t channel,
                                   void *slot);

/* Receiver: blocks until the oldest message of `channel` that was not waited
 * for yet is in the slot that was posted for it. */
VEELINE_API void veeline_recv_wait(veeline_rank *rank, int32_t channel);

/* Sender: blocks until a slot is posted for the next message of `channel`, and
 * returns it. After a fault it returns memory of the message's size that is
 * never read. */
VEELINE_API void *veeline_send_acquire(veeline_rank *rank, int32_t channel);

/* Sender: states that the acquired slot is filled. */
VEELINE_API void veeline_send_commit(veeline_rank *rank, int32_t channel);

/* Sender: fills the acquired slot with the message of this microbatch (0 if it
 * has none) from elsewhere in the arena, and commits it. If messages are sent
 * in parts, each part is sent while the next one is copied. */
VEELINE_API void veeline_send_copy(veeline_rank *rank, int32_t channel,
                                   int32_t microbatch, void *slot,
                                   const void *value);

/* Sender: sends the message of `microbatch` (0 if it has none) from `value`,
 * which must stay unchanged until the next post, send or reduction of this
 * rank's compute stream, or the end of the step. With shared memory, this
 * acquires a slot and copies into it. */
VEELINE_API void veeline_send(veeline_rank *rank, int32_t channel,
                              int32_t microbatch, const void *value);

/* Posts, sends and reductions between these two calls are one unit. Groups do
 * not nest and contain no computation. Does nothing with shared memory. */
VEELINE_API void veeline_group_begin(veeline_rank *rank);
VEELINE_API void veeline_group_end(veeline_rank *rank);

/* --- Compute streams ---------------------------------------------------------
 *
 * For GPUs. Each stream runs what is issued to it in order; several streams run
 * side by side. A step begins with stream 0. The host has only that one, and
 * these functions do nothing there. */

/* Issues all that follows to compute stream `stream`, including the posts,
 * sends and waits of messages, whose values belong to the stream. */
VEELINE_API void veeline_stream(veeline_rank *rank, int32_t stream);

/* Records all that was issued to the current stream so far as event `event`. */
VEELINE_API void veeline_event_record(veeline_rank *rank, int32_t event);

/* Makes the current stream wait for what was last recorded as `event`. */
VEELINE_API void veeline_event_wait(veeline_rank *rank, int32_t event);

/* --- Offloading -------------------------------------------------------------
 *
 * Values that a rank does not need for a while are moved to the host's memory.
 * The rank's table gives the size of its part of that memory, and offsets are
 * relative to it. Copies to the host run one after the other, and so do copies
 * back; both overlap with computations. On a CPU, whose arena is already in the
 * host's memory, copies are executed at once.
 *
 * Parts are numbered from 0; the rank's table has their number. The values of a
 * part are offloaded one by one, then released together, then reloaded one by
 * one, and restored together, once a step. */

/* Begins to copy `bytes` at `source` to `offset` in the host's memory. Never
 * blocks. */
VEELINE_API void veeline_offload(veeline_rank *rank, int32_t part,
                                 int64_t offset, const void *source,
                                 int64_t bytes);

/* Orders all that follows after the copies of the part. Then the memory of its
 * values is free. */
VEELINE_API void veeline_release(veeline_rank *rank, int32_t part);

/* Begins to copy `bytes` at `offset` in the host's memory to `target`. Never
 * blocks. */
VEELINE_API void veeline_reload(veeline_rank *rank, int32_t part, void *target,
                                int64_t offset, int64_t bytes);

/* Orders all that follows after the copies back of the part. */
VEELINE_API void veeline_restore(veeline_rank *rank, int32_t part);

/* --- Replicas ---------------------------------------------------------------
 *
 * Posts entry `reduction` of the rank's table, whose accumulators are complete.
 * They are added up in place with those of the stage's other ranks in all
 * replicas, in the order of replicas, then of ranks. If the entry gathers
 * instead, its parameters contain the shards that this rank has updated, and
 * get those of the others. Never blocks. */
VEELINE_API void veeline_reduce_post(veeline_rank *rank, int32_t reduction);

/* Blocks until the accumulators contain the sums, or the parameters are
 * complete. */
VEELINE_API void veeline_reduce_wait(veeline_rank *rank, int32_t reduction);

/* --- Lengths ----------------------------------------------------------------
 *
 * For models whose length varies. In each step the ranks agree on the length of
 * each microbatch before they run its first chunk. It is a fault if the program
 * has no version for a length, or if a length contradicts one that the rank
 * already knows. */

/* Takes the length from the rank's own data. */
VEELINE_API void veeline_length_of_data(veeline_rank *rank, int32_t microbatch);

/* Takes the length that another rank sent, an int64_t. */
VEELINE_API void veeline_length_received(veeline_rank *rank, int32_t microbatch,
                                         const void *length);

/* Writes the agreed length, an int64_t, for another rank. */
VEELINE_API void veeline_length(veeline_rank *rank, int32_t microbatch,
                                void *length);

/* Returns the number of the version of the chunk functions for this length. */
VEELINE_API int32_t veeline_version(veeline_rank *rank, int32_t microbatch);

/* --- Work ----------------------------------------------------------------- */

/* Computes c = a * b for entry `gemm` of the rank's table of matrix products.
 * Overwrites c, or adds to it if the entry accumulates. `scratch` has the size
 * in the table. */
VEELINE_API void veeline_gemm(veeline_rank *rank, int32_t gemm, const void *a,
                              const void *b, void *c, void *scratch);

/* Computes c from a and b for entry `convolution` of the rank's table. a, b and
 * c are x, w and y for a forward convolution; y, w and x for the gradient of
 * the data; x, y and w for that of the weights. Overwrites c. `scratch` has the
 * size in the table. */
VEELINE_API void veeline_convolution(veeline_rank *rank, int32_t convolution,
                                     const void *a, const void *b, void *c,
                                     void *scratch);

/* Returns 1 if veeline_convolution computes the entry; 0 if no library does,
 * and compiled code must. The answer never changes. */
VEELINE_API int32_t veeline_has_convolution(veeline_rank *rank,
                                            int32_t convolution);

/* veeline_gemm with a bias as the entry's epilogue: adds the n elements at
 * `bias` to each row of the product. On a GPU only. */
VEELINE_API void veeline_gemm_bias(veeline_rank *rank, int32_t gemm,
                                   const void *a, const void *b, void *c,
                                   const void *bias, void *scratch);

/* veeline_gemm with a GELU epilogue. `aux` is a matrix of c's type and strides
 * for the argument of GELU: stored there, or read by the derivative. `bias` is
 * null if the entry has none. On a GPU only. */
VEELINE_API void veeline_gemm_aux(veeline_rank *rank, int32_t gemm,
                                  const void *a, const void *b, void *c,
                                  const void *bias, void *aux, void *scratch);

/* Returns 1 if the functions above compute the entry with its epilogue; 0 if
 * the library does not support that, and compiled code must call the product
 * alone. The answer never changes. */
VEELINE_API int32_t veeline_has_gemm(veeline_rank *rank, int32_t gemm);

/* Compute entry `attention` of the rank's table. A forward entry computes
 * `output` and `lse`. A backward entry computes the gradients of query, key and
 * value from the operands and results of the forward one and the gradient of
 * its output. `mask` is null if the entry has none. Both overwrite their
 * results. `scratch` has the size in the table. On a GPU only. */
VEELINE_API void veeline_attention(veeline_rank *rank, int32_t attention,
                                   const void *query, const void *key,
                                   const void *value, const void *mask,
                                   void *output, void *lse, void *scratch);
VEELINE_API void veeline_attention_backward(
    veeline_rank *rank, int32_t attention, const void *query, const void *key,
    const void *value, const void *mask, const void *output, const void *lse,
    const void *output_grad, void *query_grad, void *key_grad, void *value_grad,
    void *scratch);

/* Returns 1 if these compute the entry; 0 if no library does, and kernels must.
 * The answer never changes. */
VEELINE_API int32_t veeline_has_attention(veeline_rank *rank,
                                          int32_t attention);

/* Launches kernel `kernel` of the artifact's table. arguments[i] holds
 * parameter i: an address, or a scalar in its low bytes. They are copied before
 * the call returns. On a GPU only. */
VEELINE_API void veeline_launch(veeline_rank *rank, int32_t kernel,
                                const uint64_t *arguments);

/* Copies within the arena, or into it from an input. Source and target do not
 * overlap. */
VEELINE_API void veeline_copy(veeline_rank *rank, void *target,
                              const void *source, int64_t bytes);
VEELINE_API void veeline_zero(veeline_rank *rank, void *target, int64_t bytes);

/* Blocks until all earlier work is done, and returns the 1 to 8 bytes at
 * `address`, zero-extended. For branches on computed values. */
VEELINE_API uint64_t veeline_load(veeline_rank *rank, const void *address,
                                  int32_t bytes);

/* The optimiser's numbers in a step for one parameter, on a GPU, in both types:
 * [0] gradientScale, [1] keep, [2] lossDecay (adam), [3] rate, [4] beta1 (for a
 * matrix with muon, its momentum), [5] 1 - beta1, [6] beta2, [7] 1 - beta2, [8]
 * secondMomentScale, [9] epsilon, [10] gradientRate (nadamw), [11] clipValue,
 * [12] greatestLimited, [13] 0, [14] decay and [15] correction (error
 * feedback). The settings of consecutive entries of the rank's table of
 * parameters are 256 bytes apart. */
struct veeline_settings {
  float f32[16];
  double f64[16];
};

/* The data for clipping gradients on a GPU by the norm of all of them. Its two
 * parts are 256 bytes apart. The settings that updates read follow it. */
struct veeline_clipping {
  /* Written before a step: the limit of the norm, and 1 if a step with a norm
   * that is not finite changes nothing, else 0. */
  double limit, skips_nonfinite;
  char gap_before_outcome[240];
  /* Written in a step: the norm, the factor of gradients, and 1 if the step
   * changes nothing, else 0. */
  double norm, factor, skips;
  char gap_at_end[232];
};

/* The addresses of constant `constant` of the rank's table, of the settings,
 * and of the parts of the norm of table entry `param`. On a GPU only; null
 * after a fault. */
VEELINE_API const void *veeline_constant(veeline_rank *rank, int32_t constant);
VEELINE_API const void *veeline_settings(veeline_rank *rank);
VEELINE_API void *veeline_norm(veeline_rank *rank, int32_t param);

/* The offset in bytes of the elements of table entry `param` that this rank
 * updates. */
VEELINE_API int64_t veeline_shard(veeline_rank *rank, int32_t param);

/* The same for the elements of its gradient whose norm this rank computes: all
 * of some of its parts. On a GPU only. */
VEELINE_API int64_t veeline_norm_shard(veeline_rank *rank, int32_t param);

/* Returns 1 if this rank updates elements of table entry `param`; 0 if another
 * one updates all of it. On a GPU only. */
VEELINE_API int32_t veeline_owns(veeline_rank *rank, int32_t param);

/* Updates entry `param` of the rank's table of parameters: adds the
 * `num_gradients` gradients in the order given, scales by 1/(d*m), and updates
 * `value` and the optimiser's `state` in place. If ranks divide updates among
 * each other, it updates only the elements of this rank's shard. `state` is
 * that of the shard; `value` and gradients are whole. */
VEELINE_API void veeline_update(veeline_rank *rank, int32_t param, void *value,
                                void *state, const void *const *gradients,
                                int32_t num_gradients);

/* As veeline_update, for the gradients of one microbatch: scales by 1/d. A step
 * calls it m times for each parameter. On a CPU only. */
VEELINE_API void veeline_update_microbatch(veeline_rank *rank,
                                           int32_t microbatch, int32_t param,
                                           void *value, void *state,
                                           const void *const *gradients,
                                           int32_t num_gradients);

/* Computes in `norm` the square of the norm of the sum of these gradients, for
 * which entry `param` is updated. On a CPU only, like the next four. */
VEELINE_API void veeline_squared_norm(veeline_rank *rank, int32_t param,
                                      const void *const *gradients,
                                      int32_t num_gradients, double *norm);

/* Computes in `factor` the number by which the updates of this step multiply
 * gradients, from the squares of the norms of all parameters. */
VEELINE_API void veeline_clip(veeline_rank *rank, const double *norms,
                              int32_t num_norms, double *factor);

/* Waits until the norm of all gradients of the previous step is known. Returns
 * 1 if its updates were right. Otherwise the turn is void, and the next updates
 * repeat them. */
VEELINE_API int32_t veeline_validate(veeline_rank *rank);

/* As veeline_update. Keeps the old value, then the old state, in `kept`. In a
 * void turn it restores them from there, and makes the correct update of the
 * previous step. */
VEELINE_API void veeline_update_optimistic(veeline_rank *rank, int32_t param,
                                           void *value, void *state,
                                           const void *const *gradients,
                                           int32_t num_gradients, void *kept);

/* As veeline_update, with gradients multiplied by `factor`. Changes nothing if
 * veeline_clip has decided to skip the step. */
VEELINE_API void veeline_update_clipped(veeline_rank *rank, int32_t param,
                                        void *value, void *state,
                                        const void *const *gradients,
                                        int32_t num_gradients,
                                        const double *factor);

/* --- The step before ---------------------------------------------------------
 *
 * Some work of a step may be late, that is, run by the next step. Calls from
 * late_begin to late_end belong to the previous step: they use its learning
 * rate and lengths, and their faults are its faults. late_begin returns that
 * step's `batch`. Neither blocks. `last` is 1 if no late work follows: then all
 * of the previous step has run, and its parameters are updated. A first step
 * does not call these. On a GPU late_begin also changes the result of
 * veeline_settings. */
VEELINE_API const void *const *veeline_late_begin(veeline_rank *rank);
VEELINE_API void veeline_late_end(veeline_rank *rank, int32_t last);

/* Reports a result of the model for one microbatch: a scalar of the result's
 * type. `result` is its index (0: the loss, else a metric). */
VEELINE_API void veeline_report(veeline_rank *rank, int32_t result,
                                int32_t microbatch, const void *value);

/* --- Timeline ----------------------------------------------------------------
 * Called before and after entry `op` of the rank's table of operations. Without
 * a timeline, each costs a load and a branch. */
VEELINE_API void veeline_op_begin(veeline_rank *rank, int32_t op);
VEELINE_API void veeline_op_end(veeline_rank *rank, int32_t op);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_RUNTIME_H */
