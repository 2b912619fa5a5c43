/*===- runtime.h - the C ABI between compiled steps and the runtime -------===//
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * What a compiled step calls, and what a step is. A step is straight-line
 * code: it computes nothing about the schedule, allocates nothing and looks
 * nothing up but array elements by the constant indices passed here. The
 * tables behind these indices (messages, matrix products, convolutions,
 * kernels, operations, parameters) are in the artifact's metadata.
 *
 * On a GPU the arena is the device's memory, which a step never touches itself;
 * everything below is then in the order of the rank's compute stream, and
 * nothing waits for the device but where it says so.
 *
 * None of these functions returns a status: a fault (a peer that is gone, a
 * library that fails) is recorded in the rank with its message, and every
 * later call of that rank returns at once, so that the step runs to its end
 * without touching memory of other ranks. The caller of the step reads the
 * status then.
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

/* The step of a rank, exported by a stage's object under the name that the
 * metadata gives. `arena` is the rank's one allocation, aligned to 64 bytes.
 * `batch` has one pointer per batch argument of the program, then one per
 * constant buffer; a batch argument holds the m microbatches one after the
 * other. Null where the rank does not use it. The runtime keeps what stands
 * behind these. */
typedef void (*veeline_step_fn)(veeline_rank *rank, char *arena,
                                const void *const *batch);

/* --- Messages ---------------------------------------------------------------
 *
 * A channel carries one edge in one direction: activations forward or
 * gradients backward, one message a microbatch, in ascending order. Where
 * memory is shared no message is copied: the receiver posts the place where
 * it wants the message, the sender computes straight into it. */

/* Receiver: from here on `slot` belongs to the sender of `channel`, until the
 * matching wait returns. Never blocks. */
VEELINE_API void veeline_recv_post(veeline_rank *rank, int32_t channel,
                                   void *slot);

/* Receiver: blocks until the oldest message of `channel` not yet waited for
 * stands in the slot that was posted for it. */
VEELINE_API void veeline_recv_wait(veeline_rank *rank, int32_t channel);

/* Sender: blocks until a slot is posted for the next message of `channel`,
 * and returns it. After a fault it returns a place of the message's size that
 * nobody reads. */
VEELINE_API void *veeline_send_acquire(veeline_rank *rank, int32_t channel);

/* Sender: the acquired slot is filled. */
VEELINE_API void veeline_send_commit(veeline_rank *rank, int32_t channel);

/* Sender: fills the acquired slot with the message of this microbatch (0: of
 * none) from elsewhere in the arena, and commits it. Where messages travel in
 * parts, each one leaves while the next is copied. */
VEELINE_API void veeline_send_copy(veeline_rank *rank, int32_t channel,
                                   int32_t microbatch, void *slot,
                                   const void *value);

/* Sender: the message of `microbatch` (0: of none) leaves from `value`, which
 * must stay until the next post, send or reduction of this rank's compute
 * stream, or the end of the step. Where memory is shared: acquires a place and
 * copies into it. */
VEELINE_API void veeline_send(veeline_rank *rank, int32_t channel,
                              int32_t microbatch, const void *value);

/* Posts, sends and reductions in between are one unit, which moves as a whole.
 * Do not nest; a group holds no computation. Nothing where memory is shared. */
VEELINE_API void veeline_group_begin(veeline_rank *rank);
VEELINE_API void veeline_group_end(veeline_rank *rank);

/* --- Compute streams ---------------------------------------------------------
 *
 * Of a GPU. What is issued to one is done in order, of several side by side. A
 * step begins with stream 0. Nothing on the host, which has one. */

/* What follows is issued to compute stream `stream`, messages posted, sent and
 * waited for as well: their values are its own. */
VEELINE_API void veeline_stream(veeline_rank *rank, int32_t stream);

/* From here on event `event` stands for all that the stream has so far. */
VEELINE_API void veeline_event_record(veeline_rank *rank, int32_t event);

/* The stream goes on once all is done that the event stands for now. */
VEELINE_API void veeline_event_wait(veeline_rank *rank, int32_t event);

/* --- Replicas ---------------------------------------------------------------
 *
 * The accumulators of entry `reduction` of the rank's table are complete: from
 * here on they are added up with those of the same stage in the other
 * replicas, in the order of the replicas and in place. Never blocks. */
VEELINE_API void veeline_reduce_post(veeline_rank *rank, int32_t reduction);

/* Blocks until the accumulators hold the sums. */
VEELINE_API void veeline_reduce_wait(veeline_rank *rank, int32_t reduction);

/* --- Lengths ----------------------------------------------------------------
 *
 * Of a model whose length varies. In each step the ranks agree on the length of
 * each microbatch before they run its first chunk. A length that is none of
 * those that the program has versions for, or that contradicts what the rank
 * knows already, is a fault. */

/* What the rank's own data say. */
VEELINE_API void veeline_length_of_data(veeline_rank *rank, int32_t microbatch);

/* What another rank says, an int64_t. */
VEELINE_API void veeline_length_received(veeline_rank *rank, int32_t microbatch,
                                         const void *length);

/* Writes the length that was agreed on, an int64_t. */
VEELINE_API void veeline_length(veeline_rank *rank, int32_t microbatch,
                                void *length);

/* Which version of the chunk functions is for this length. */
VEELINE_API int32_t veeline_version(veeline_rank *rank, int32_t microbatch);

/* --- Work ----------------------------------------------------------------- */

/* c = a * b for the entry `gemm` of the object's table of matrix products.
 * Every call overwrites c. `scratch` has the bytes that the table says. */
VEELINE_API void veeline_gemm(veeline_rank *rank, int32_t gemm, const void *a,
                              const void *b, void *c, void *scratch);

/* c from a and b for the entry `convolution` of the object's table: a, b and c
 * are x, w and y for a forward convolution; y, w and x for the gradient of the
 * data; x, y and w for that of the weights. Every call overwrites c. `scratch`
 * has the bytes that the table says. */
VEELINE_API void veeline_convolution(veeline_rank *rank, int32_t convolution,
                                     const void *a, const void *b, void *c,
                                     void *scratch);

/* 1 where veeline_convolution computes the entry; 0 where no library does, and
 * code must do so itself. The same all the time. */
VEELINE_API int32_t veeline_has_convolution(veeline_rank *rank,
                                            int32_t convolution);

/* The same with the entry's epilogue: adds the n elements at `bias` to each row
 * of the product, where it has one. On a GPU alone. */
VEELINE_API void veeline_gemm_bias(veeline_rank *rank, int32_t gemm,
                                   const void *a, const void *b, void *c,
                                   const void *bias, void *scratch);

/* The same with an epilogue that has a matrix beside c, of c's type and
 * strides, at `aux`: what GELU is applied to, which it stores there or, for
 * the derivative, reads there. `bias` is null where the entry has none. On a
 * GPU alone. */
VEELINE_API void veeline_gemm_aux(veeline_rank *rank, int32_t gemm,
                                  const void *a, const void *b, void *c,
                                  const void *bias, void *aux, void *scratch);

/* `output` and `lse` from the others for the entry `attention` of the object's
 * table, a forward one; `mask` is null where the entry has none. Next the
 * gradients for a backward one, from what the forward one took and gave and the
 * gradient of its output. Every call overwrites its results. `scratch` has the
 * bytes that the table says. On a GPU alone. */
VEELINE_API void veeline_attention(veeline_rank *rank, int32_t attention,
                                   const void *query, const void *key,
                                   const void *value, const void *mask,
                                   void *output, void *lse, void *scratch);
VEELINE_API void veeline_attention_backward(
    veeline_rank *rank, int32_t attention, const void *query, const void *key,
    const void *value, const void *mask, const void *output, const void *lse,
    const void *output_grad, void *query_grad, void *key_grad, void *value_grad,
    void *scratch);

/* 1 where these compute the entry; 0 where no library does, and kernels must.
 * The same all the time. */
VEELINE_API int32_t veeline_has_attention(veeline_rank *rank,
                                          int32_t attention);

/* Kernel `kernel` of the artifact's table; arguments[i] holds parameter i: an
 * address, or a scalar in its low bytes. They are copied before the call
 * returns. On a GPU alone. */
VEELINE_API void veeline_launch(veeline_rank *rank, int32_t kernel,
                                const uint64_t *arguments);

/* Copies within the arena, or into it from an input; the two do not overlap. */
VEELINE_API void veeline_copy(veeline_rank *rank, void *target,
                              const void *source, int64_t bytes);
VEELINE_API void veeline_zero(veeline_rank *rank, void *target, int64_t bytes);

/* Blocks until all before it is done, and returns the 1 to 8 bytes at
 * `address`, zero-extended: for branches on computed values. */
VEELINE_API uint64_t veeline_load(veeline_rank *rank, const void *address,
                                  int32_t bytes);

/* The optimiser's numbers of a step, on a GPU, for both types: 0
 * gradientScale, 1 keep, 2 keepDecayed, 3 rate, 4 beta1, 5 1 - beta1, 6 beta2,
 * 7 1 - beta2, 8 secondMomentScale, 9 epsilon. */
struct veeline_settings {
  float f32[10];
  double f64[10];
};

/* Where constant `constant` of the rank's table, the settings, and the parts of
 * the norm of table entry `param` are. On a GPU alone; null after a fault. */
VEELINE_API const void *veeline_constant(veeline_rank *rank, int32_t constant);
VEELINE_API const void *veeline_settings(veeline_rank *rank);
VEELINE_API void *veeline_norm(veeline_rank *rank, int32_t param);

/* One optimiser update of entry `param` of the rank's table of parameters:
 * adds the `num_gradients` gradients in the order given, scales by 1/(d*m),
 * updates `value` and the optimiser's `state` in place. */
VEELINE_API void veeline_update(veeline_rank *rank, int32_t param, void *value,
                                void *state, const void *const *gradients,
                                int32_t num_gradients);

/* The loss of one microbatch, as computed: one scalar of the program's type.
 * `result` is the index of the model's result (0: the loss, else a metric). */
VEELINE_API void veeline_report(veeline_rank *rank, int32_t result,
                                int32_t microbatch, const void *value);

/* --- Timeline ----------------------------------------------------------------
 * Brackets around entry `op` of the rank's table of operations. They cost a
 * load and a branch each while no timeline is asked for. */
VEELINE_API void veeline_op_begin(veeline_rank *rank, int32_t op);
VEELINE_API void veeline_op_end(veeline_rank *rank, int32_t op);

#ifdef __cplusplus
}
#endif

#endif /* VEELINE_RUNTIME_H */
