//===- GroupedSession.h - replicas that run one after the other -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H
#define VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H

#include "Session.h"

#include <deque>

namespace veeline::train {

/// A program on one rank that runs the steps of a run whose stages have several
/// ranks, because of replicas or within each replica. The run has to equal it
/// bit for bit.
///
/// It runs groups of microbatches one after the other, each from the parameters
/// with which the step began. A group is the m microbatches of a replica, or a
/// single one if the program is made for that. For each chunk, the gradients of
/// the groups of one rank are added in their order, then those of the ranks of
/// the stage, by replica and number in the stage. If there is one group, this
/// object is the session alone.
///
/// If the program that is run is asynchronous, the parameters that a step or a
/// microbatch uses are those of the rule in docs/asynchronous.md. If each
/// microbatch has an update, the groups are single microbatches.
class GroupedSession {
public:
  static Expected<std::unique_ptr<GroupedSession>>
  create(Run &run, const std::string &programName);

  /// Runs a step like Session. `clip` is that of the step with which this one
  /// is compared.
  Status step(int64_t step, const StepSettings &settings, const Clip &clip,
              StepResult &result);
  std::vector<char> value(size_t index) const;
  /// The next step uses this value, whatever the earlier values were.
  Status setValue(size_t index, const std::vector<char> &bytes);
  std::vector<Session::Gradient> gradients() const {
    return session->gradients();
  }
  /// Reads entry `index` of `gradients`, summed over all groups. If each
  /// microbatch has an update, it is that of the last update.
  std::vector<char> gradient(size_t index) const;
  /// The parameters that the next step uses, if all of its microbatches use the
  /// same.
  std::vector<char> usedValue(size_t index) const;
  const artifact::Program &program() const { return session->program(); }
  Status readStatus() const { return session->readStatus(); }

private:
  explicit GroupedSession(Run &run) : run(run) {}

  int32_t numGroups() const {
    return run.microbatches() /
           static_cast<int32_t>(session->stepMicrobatches());
  }
  size_t memberOf(int32_t group, int32_t chunk) const;
  /// The program that is run and tested.
  const artifact::Program &testedProgram() const {
    return *run.metadata().findProgram(run.options.program);
  }
  bool isStashed() const {
    return testedProgram().asynchronous == artifact::Asynchronous::stashed;
  }
  void findDelays();
  const std::vector<char> &versionOf(size_t param) const;
  Status addGroup(int64_t step, const StepSettings &settings, int32_t group,
                  StepResult &result);
  void addMembers();
  Expected<Clip> update(const StepSettings &settings, int32_t microbatches,
                        const Clip *ofDevice);
  Status stepStashed(int64_t step, const StepSettings &settings,
                     StepResult &result);

  Run &run;
  std::unique_ptr<Session> session;
  /// By parameter; empty if the session's own updates are right.
  std::vector<std::vector<char>> values, states;
  /// The values before each of the last updates, the latest first. For each
  /// parameter, `delays` has the number of updates for which its users do not
  /// wait.
  std::deque<std::vector<std::vector<char>>> before;
  std::vector<size_t> delays;
  /// By entry of `gradients`: for each rank of the chunk's stage, and over all.
  std::vector<std::vector<std::vector<char>>> parts;
  std::vector<std::vector<char>> sums;
  int64_t numSkipped = 0; ///< Steps without updates.
};

/// Checks that a GroupedSession would have the same bits as the program that is
/// run.
Status checkGroups(const Run &run);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_GROUPEDSESSION_H
