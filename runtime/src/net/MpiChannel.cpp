//===- MpiChannel.cpp - messages by MPI -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiChannel.h"

#include "Waiting.h"

#include <dlfcn.h>

using namespace veeline;
using namespace veeline::net;

/// Messages of a channel on their way out; the next one waits for the oldest,
/// which it may: a send may block until its receive is posted.
static constexpr size_t maxPlaces = 4;

Expected<const MpiLibrary *> net::loadMpi(const std::string &directory) {
  // MPI loads parts of its own, which look for its symbols.
  std::string path = directory + "/libveeline_mpi.so";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void *symbol = library ? ::dlsym(library, mpiLibrarySymbol) : nullptr;
  if (!symbol)
    return Status::error(std::string("cannot load MPI: ") + ::dlerror() +
                         "; --transport tcp does without");
  return reinterpret_cast<GetMpiLibrary *>(symbol)();
}

bool MpiChannel::isDone(veeline_rank &rank, void *request) {
  bool done = false;
  if (const char *error = mpi.test(request, &done)) {
    rank.fail("channel " + std::to_string(index) + ": " + error);
    return true;
  }
  return done;
}

/// False after a fault.
bool MpiChannel::await(veeline_rank &rank, void *request) {
  bool isThere =
      sleepUntil(rank, isAborted, [&] { return isDone(rank, request); });
  if (!isThere && !rank.failed)
    group.noteStop(rank, index);
  return isThere;
}

void MpiChannel::post(veeline_rank &rank, void *slot) {
  void *request = nullptr;
  if (const char *error = mpi.receive(slot, description.messageBytes,
                                      description.fromRank, index, &request))
    return rank.fail("channel " + std::to_string(index) + ": " + error);
  posted.push_back(request);
}

void MpiChannel::wait(veeline_rank &rank) {
  if (posted.empty())
    return rank.fail("channel " + std::to_string(index) +
                     " is waited for, but nothing was posted");
  void *request = posted.front();
  posted.pop_front();
  if (!await(rank, request))
    rank.failed = true;
}

void MpiChannel::reclaimPlaces(veeline_rank &rank) {
  while (!sending.empty() && isDone(rank, sending.front().request)) {
    freePlaces.push_back(sending.front().place);
    sending.pop_front();
  }
}

void *MpiChannel::acquire(veeline_rank &rank) {
  reclaimPlaces(rank);
  if (freePlaces.empty() && sending.size() >= maxPlaces)
    finishOldest(rank);
  if (rank.failed)
    return nullptr;
  if (freePlaces.empty()) {
    places.push_back(std::make_unique<char[]>(
        static_cast<size_t>(description.messageBytes)));
    freePlaces.push_back(places.back().get());
  }
  acquired.push_back(freePlaces.back());
  freePlaces.pop_back();
  return acquired.back();
}

void MpiChannel::commit(veeline_rank &rank) {
  if (acquired.empty())
    return rank.fail("channel " + std::to_string(index) +
                     " is committed, but nothing was acquired");
  char *place = acquired.front();
  acquired.pop_front();
  void *request = nullptr;
  if (const char *error =
          mpi.send(place, rank.messageBytes(description, numCommitted++),
                   description.toRank, index, &request))
    return rank.fail("channel " + std::to_string(index) + ": " + error);
  sending.push_back({request, place});
}

void MpiChannel::finishOldest(veeline_rank &rank) {
  if (!await(rank, sending.front().request)) {
    rank.failed = true;
    return;
  }
  freePlaces.push_back(sending.front().place);
  sending.pop_front();
}

/// MPI moves nothing while nobody calls it.
void MpiChannel::flush(veeline_rank &rank) {
  while (!sending.empty() && !rank.failed)
    finishOldest(rank);
}

/// What is still under way after a fault keeps its place: MPI may read it.
MpiChannel::~MpiChannel() {
  for (Sending &message : sending)
    for (bool done = false; !done;) {
      if (isAborted.load(std::memory_order_acquire)) {
        for (std::unique_ptr<char[]> &place : places)
          (void)place.release();
        return;
      }
      if (mpi.test(message.request, &done))
        break;
    }
}
