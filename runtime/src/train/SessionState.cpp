//===- SessionState.cpp - the state between two steps ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state that a checkpoint has: parameters, the optimiser's state and, for
// asynchronous programs, the values before the last updates. It is organised by
// parameter and age, not by place, so that any program of the model can
// continue from it.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "veeline/Base/Shards.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::train;
using artifact::RankParam;

/// Returns the number of updates of a parameter that the next step of its rank
/// runs. Ops use the value before these updates. It is 0 on ranks that do not
/// update the parameter.
static int64_t lateUpdatesOf(const artifact::Rank &rank, int32_t param) {
  return std::count_if(
      rank.ops.begin(), rank.ops.end(), [&](const artifact::Op &op) {
        return op.late && op.kind == artifact::OpKind::update &&
               op.param == param;
      });
}

/// Returns the place of the value before the last `age` updates, from 1 on,
/// when a step and its late work are done. Before an update, ops that run
/// `late` updates later are given the value. Places are used in turn.
static int64_t placeOfAge(const RankParam &entry, int64_t late, int64_t age) {
  auto places = static_cast<int64_t>(entry.versionOffsets.size());
  int64_t place = ((late - age) % places + places) % places;
  return entry.versionOffsets[static_cast<size_t>(place)];
}

int32_t Session::numOlderValues(size_t param) const {
  std::vector<int32_t> homes = homesOf(param);
  if (homes.empty())
    return 0;
  const artifact::Rank &rank =
      description->ranks[static_cast<size_t>(homes[0])];
  for (const RankParam &entry : rank.params)
    if (static_cast<size_t>(entry.param) == param &&
        !entry.versionOffsets.empty())
      return static_cast<int32_t>(lateUpdatesOf(rank, entry.param));
  return 0;
}

/// Adds the tensors of a state of which each rank of a stage keeps a share, at
/// the same place.
void Session::addShares(const RankParam &entry,
                        const std::vector<int32_t> &ranks,
                        std::vector<StateTensor> &all) const {
  auto param = static_cast<size_t>(entry.param);
  const artifact::Parameter &whole = run.metadata().params[param];
  int64_t size = artifact::byteSize(whole.type);
  int64_t elements = artifact::numElements(whole.shape);
  for (size_t member = 0; member < ranks.size(); ++member) {
    auto number = static_cast<int64_t>(member);
    Shard own = entry.division(elements).own(number);
    Shard kept = entry.division(elements).updated(number);
    size_t slots = own.count > 0 ? run.stateShapesOf(param).size() : 0;
    for (size_t slot = 0; slot < slots; ++slot)
      all.push_back(
          {data::partEntry(
               data::stateEntry(whole.name, static_cast<int64_t>(slot)),
               own.first),
           param,
           ranks[member],
           entry.stateOffset + (static_cast<int64_t>(slot) * kept.count +
                                own.first - kept.first) *
                                   size,
           {own.count}});
  }
}

std::vector<Session::StateTensor> Session::stateTensors() const {
  std::vector<StateTensor> all;
  for (size_t param = 0; param < run.metadata().params.size(); ++param) {
    const std::string &name = run.metadata().params[param].name;
    std::vector<int32_t> homes = homesOf(param);
    if (homes.empty())
      continue;
    const artifact::Rank &rank =
        description->ranks[static_cast<size_t>(homes[0])];
    for (const RankParam &entry : rank.params) {
      if (static_cast<size_t>(entry.param) != param)
        continue;
      const artifact::Parameter &whole = run.metadata().params[param];
      auto addOf = [&](int32_t home, std::string tensor, int64_t offset,
                       const std::vector<int64_t> &shape) {
        all.push_back({std::move(tensor), param, home, offset, shape});
      };
      auto add = [&](std::string tensor, int64_t offset,
                     const std::vector<int64_t> &shape) {
        addOf(homes[0], std::move(tensor), offset, shape);
      };
      int32_t owner = homes[static_cast<size_t>(std::max(entry.owner, 0))];
      add(data::valueEntry(name), entry.valueOffset, whole.shape);
      int64_t offset = entry.stateOffset, slot = 0;
      if (entry.shards > 1 && entry.owner < 0)
        addShares(entry, homes, all);
      else
        for (const std::vector<int64_t> &shape : run.stateShapesOf(param)) {
          addOf(owner, data::stateEntry(name, slot++), offset, shape);
          offset += artifact::bytesOf(whole.type, shape);
        }
      int64_t late = numOlderValues(param);
      for (int64_t age = 1; age <= late; ++age)
        add(data::olderEntry(name, age), placeOfAge(entry, late, age),
            whole.shape);
    }
  }
  return all;
}

Status Session::readState(const StateTensor &tensor, char *bytes) const {
  return loaded->read(
      tensor.rank, tensor.offset, bytes,
      artifact::bytesOf(run.metadata().params[tensor.param].type,
                        tensor.shape));
}

/// If the checkpoint has too few older values, its oldest value is used, as at
/// the start of a run.
Status Session::writeOlderValues(int32_t rank, const RankParam &entry) {
  auto param = static_cast<size_t>(entry.param);
  const std::string &name = run.metadata().params[param].name;
  int64_t known = run.resumed->findParam(name)->olderValues;
  int64_t late = numOlderValues(param);
  auto places = static_cast<int64_t>(entry.versionOffsets.size());
  for (int64_t age = 1; age <= places; ++age) {
    int64_t found = std::min(age, known);
    std::string_view bytes = run.resumed->entry(
        found > 0 ? data::olderEntry(name, found) : data::valueEntry(name));
    VEELINE_TRY(loaded->write(rank, placeOfAge(entry, late, age), bytes.data(),
                              static_cast<int64_t>(bytes.size())));
  }
  return Status::success();
}

/// Writes `size` bytes of a state to `offset`: those from number `begin` on in
/// the checkpoint, or zeros where training begins.
Status Session::writeState(int32_t rank, int64_t offset,
                           const std::string &entry, int64_t begin,
                           int64_t size) {
  if (!run.resumed) {
    std::vector<char> zeros(static_cast<size_t>(size));
    return loaded->write(rank, offset, zeros.data(), size);
  }
  for (std::string_view bytes : run.resumed->range(entry, begin, size)) {
    auto count = static_cast<int64_t>(bytes.size());
    VEELINE_TRY(loaded->write(rank, offset, bytes.data(), count));
    offset += count;
  }
  return Status::success();
}

Status Session::initializeState() {
  if (run.resumed)
    loaded->setNumSkipped(run.updatesAfter(run.stepsBefore()) -
                          run.resumed->index().updates);
  for (size_t i = 0; i < description->ranks.size(); ++i)
    for (const RankParam &entry : description->ranks[i].params) {
      auto rank = static_cast<int32_t>(i);
      auto param = static_cast<size_t>(entry.param);
      if (run.resumed)
        VEELINE_TRY(writeOlderValues(rank, entry));
      const artifact::Parameter &whole = run.metadata().params[param];
      Shard kept = entry.division(artifact::numElements(whole.shape))
                       .updated(description->memberOf(i));
      // Where another rank has a state, this one has others.
      if (entry.stateOffset < 0 || (entry.owner >= 0 && kept.count == 0))
        continue;
      int64_t offset = entry.stateOffset, slot = 0;
      for (const std::vector<int64_t> &shape : run.stateShapesOf(param)) {
        int64_t size = artifact::bytesOf(whole.type, shape), begin = 0;
        if (entry.shards > 1 && entry.owner < 0) {
          size = kept.count * artifact::byteSize(whole.type);
          begin = kept.first * artifact::byteSize(whole.type);
        }
        VEELINE_TRY(writeState(rank, offset, data::stateEntry(whole.name, slot),
                               begin, size));
        offset += size;
        ++slot;
      }
    }
  return Status::success();
}
