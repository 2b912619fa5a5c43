//===- MpiLibrary.cpp - messages by MPI -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiLibrary.h"

#include <climits>
#include <mpi.h>

using veeline::net::MpiLibrary;

static const char *check(int code) {
  static thread_local char text[MPI_MAX_ERROR_STRING + 1];
  if (code == MPI_SUCCESS)
    return nullptr;
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
    return "an unknown error of MPI";
  text[length] = 0;
  return text;
}

static const char *initialize(int32_t *rank, int32_t *numRanks) {
  int provided = 0;
  if (const char *error = check(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided)))
    return error;
  if (provided < MPI_THREAD_SERIALIZED)
    return "this MPI lets only one thread call it";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  return check(MPI_Comm_size(MPI_COMM_WORLD, numRanks));
}

static const char *broadcast(void *data, int32_t bytes) {
  return check(MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
}

/// The type of a message of `bytes` bytes. Counts of MPI are ints, so a type is
/// created for messages of more than INT_MAX bytes. Each is still one message.
static MPI_Datatype typeOf(int64_t bytes) {
  constexpr int64_t block = INT_MAX;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype blocks = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &blocks);
  int lengths[] = {static_cast<int>(bytes / block),
                   static_cast<int>(bytes % block)};
  MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / block * block)};
  MPI_Datatype types[] = {blocks, MPI_BYTE};
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&blocks);
  return type;
}

template <typename Function, typename Data>
static const char *start(Function function, Data *data, int64_t bytes,
                         int32_t peer, int32_t tag, void **request) {
  auto *started = new MPI_Request;
  *request = static_cast<void *>(started);
  if (bytes <= INT_MAX)
    return check(function(data, static_cast<int>(bytes), MPI_BYTE, peer, tag,
                          MPI_COMM_WORLD, started));
  MPI_Datatype type = typeOf(bytes);
  const char *error =
      check(function(data, 1, type, peer, tag, MPI_COMM_WORLD, started));
  MPI_Type_free(&type); // The type is freed once the operation is done.
  return error;
}

static const char *send(const void *data, int64_t bytes, int32_t to,
                        int32_t tag, void **request) {
  return start(MPI_Isend, data, bytes, to, tag, request);
}

static const char *receive(void *data, int64_t bytes, int32_t from, int32_t tag,
                           void **request) {
  return start(MPI_Irecv, data, bytes, from, tag, request);
}

static const char *test(void *request, bool *done, int64_t *bytes) {
  auto *started = static_cast<MPI_Request *>(request);
  int flag = 0;
  MPI_Status status;
  const char *error = check(MPI_Test(started, &flag, &status));
  *done = flag != 0;
  if (!*done)
    return error;
  delete started;
  if (error || !bytes)
    return error;
  MPI_Count count = 0;
  error = check(MPI_Get_elements_x(&status, MPI_BYTE, &count));
  *bytes = count;
  return error;
}

static const char *progress() {
  int flag = 0;
  return check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag,
                          MPI_STATUS_IGNORE));
}

static const char *finalize() { return check(MPI_Finalize()); }

extern "C" __attribute__((visibility("default"))) const MpiLibrary *
veeline_mpi_library() {
  static const MpiLibrary library = {initialize, broadcast, send,    receive,
                                     test,       progress,  finalize};
  return &library;
}
