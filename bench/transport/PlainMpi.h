//===- PlainMpi.h - messages by MPI alone -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BENCH_TRANSPORT_PLAINMPI_H
#define VEELINE_BENCH_TRANSPORT_PLAINMPI_H

#include "Measurement.h"

#include "Arena.h"
#include "Mesh.h"
#include "Waiting.h"

namespace veeline::bench {

/// The same messages by nothing but MPI, in memory like a rank's.
class PlainMpi {
public:
  PlainMpi(const net::MpiLibrary &mpi, net::Mesh &mesh, bool pauses)
      : mpi(mpi), rank(mesh.rank()), pauses(pauses) {
    auto descriptions = mesh.exchange(bells.describe());
    if (!descriptions.ok())
      fail(descriptions.status());
    bells.connect(rank, *descriptions);
    if (Status status = memory.allocate(ahead * messageBytes); !status.ok())
      fail(status);
    std::memset(memory.data(), 1, static_cast<size_t>(memory.size()));
  }

  double pingPong() {
    int64_t begin = nanoseconds();
    for (int32_t i = 0; i < numRounds; ++i)
      for (int32_t from : {0, 1})
        finish(from == rank ? send(0) : receive(0));
    return double(nanoseconds() - begin) / (2 * numRounds);
  }

  void wait() {
    for (int32_t i = 0; i < numRounds; ++i) {
      Transfer stamp = receive(0);
      finish(send(1));
      Watch watch;
      finish(stamp);
      watch.end(memory.data());
    }
  }
  void computeAndSend() {
    for (int32_t i = 0; i < numRounds; ++i) {
      finish(receive(1));
      compute(memory.data());
      finish(send(0));
    }
  }

  /// Nanoseconds of a message; those of the receiver count.
  double stream() {
    meet();
    int64_t begin = nanoseconds();
    std::vector<Transfer> requests;
    for (int32_t i = 0; i < numRounds + ahead; ++i) {
      if (i >= ahead)
        finish(requests[static_cast<size_t>(i - ahead)]);
      if (i < numRounds)
        requests.push_back(rank == 0 ? send(i % ahead) : receive(i % ahead));
    }
    return double(nanoseconds() - begin) / numRounds;
  }

private:
  struct Transfer {
    void *request;
    bool isReceive;
  };
  void check(const char *error) {
    if (error)
      fail(Status::error(error));
  }
  void ring() {
    if (net::Bell *bell = pauses ? bells.of(1 - rank) : nullptr)
      bell->ring();
  }
  void meet() {
    for (int32_t from : {0, 1})
      finish(from == rank ? send(0, wordBytes) : receive(0, wordBytes));
  }
  Transfer send(int32_t slot, int64_t bytes = messageBytes) {
    void *request = nullptr;
    check(mpi.send(memory.data() + slot * messageBytes, bytes, 1 - rank, 1000,
                   &request));
    ring();
    return {request, false};
  }
  Transfer receive(int32_t slot, int64_t bytes = messageBytes) {
    void *request = nullptr;
    check(mpi.receive(memory.data() + slot * messageBytes, bytes, 1 - rank,
                      1000, &request));
    return {request, true};
  }
  void finish(Transfer transfer) {
    bool done = false;
    for (net::Pauses wait(bells);;) {
      if (pauses)
        wait.beforeLook();
      check(mpi.test(transfer.request, &done, nullptr));
      if (done && transfer.isReceive)
        ring();
      if (done)
        return;
      if (pauses)
        wait.pause();
    }
  }

  net::Bells bells;
  const net::MpiLibrary &mpi;
  engine::Arena memory;
  const int32_t rank;
  const bool pauses;
};

} // namespace veeline::bench

#endif // VEELINE_BENCH_TRANSPORT_PLAINMPI_H
