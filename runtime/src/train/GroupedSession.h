//===- GroupedSession.h - replicas one after the other ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H
#define VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H

#include "Session.h"

namespace veeline::train {

/// A program without replicas that runs the steps of a run with d of them: d
/// groups of m microbatches, one after the other, whose gradients are added in
/// the order of the groups. What replicas have to equal bit for bit. Where d is
/// 1 it is the session alone.
class GroupedSession {
public:
  static Expected<std::unique_ptr<GroupedSession>>
  create(Run &run, const std::string &programName);

  /// As of Session.
  Status step(int64_t step, StepResult &result);
  std::vector<char> value(size_t index) const;
  Status setValue(size_t index, const std::vector<char> &bytes);
  std::vector<Session::Gradient> gradients() const {
    return session->gradients();
  }
  /// Entry `index` of `gradients`, over all groups.
  std::vector<char> gradient(size_t index) const;
  const artifact::Program &program() const { return session->program(); }

private:
  explicit GroupedSession(Run &run) : run(run) {}

  Status addGroup(int64_t step, int32_t group, StepResult &result);
  void update(int64_t step);

  Run &run;
  std::unique_ptr<Session> session;
  /// By parameter; only where there are several groups.
  std::vector<std::vector<char>> values, states;
  /// As `gradients`.
  std::vector<std::vector<char>> sums;
};

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H
