//===- ProcessesInThreads.h - processes in threads, with a GPU each -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_PROCESSESINTHREADS_H
#define VEELINE_TEST_UNIT_RUNTIME_PROCESSESINTHREADS_H

#include "CudaBackend.h"

#include "Channel.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace veeline::test {

/// Stands for the network between processes.
class Hub {
public:
  explicit Hub(int32_t numRanks) : given(static_cast<size_t>(numRanks)) {}

  /// Tells all processes except `from` about a failure.
  void fail(const std::string &text, int32_t from);
  bool hasFailed() {
    std::lock_guard<std::mutex> lock(mutex);
    return !failure.empty();
  }

private:
  friend class ThreadNetwork;
  std::mutex mutex;
  std::condition_variable changed;
  /// Values by rank, then by round.
  std::vector<std::vector<std::string>> given;
  std::vector<class ThreadNetwork *> networks;
  std::string failure;
};

class ThreadNetwork final : public engine::Network {
public:
  ThreadNetwork(Hub &hub, int32_t rank);
  ~ThreadNetwork() override;

  int32_t rank() const override { return number; }
  int32_t numRanks() const override {
    return static_cast<int32_t>(hub.given.size());
  }
  void beginProgram(int32_t) override {}
  std::unique_ptr<engine::Channel> connect(engine::Group &, int32_t,
                                           const artifact::Channel &) override {
    return nullptr;
  }
  std::unique_ptr<engine::Reduction> join(engine::Group &, int32_t, int32_t,
                                          const artifact::ReducedPiece &,
                                          const std::vector<int32_t> &,
                                          char *) override {
    return nullptr;
  }
  void disconnect() override {}
  Expected<std::vector<std::string>> exchange(std::string mine) override;
  Expected<std::vector<std::string>> gather(std::string mine) override {
    return exchange(std::move(mine));
  }
  void watch(engine::Observed &rank) override;
  void unwatch(engine::Observed &) override;
  void setLastResort(std::function<void(const char *)>) override {}
  const char *knownFailure() const override { return known.load(); }
  void announce(const std::string &text) override { hub.fail(text, number); }

  engine::Observed *observed() const { return watched.load(); }

private:
  friend class Hub;
  Hub &hub;
  const int32_t number;
  size_t round = 0;
  std::atomic<engine::Observed *> watched{nullptr};
  std::atomic<const char *> known{nullptr};
  std::string heard;
};

/// Runs the program of `fixture` as one process for each rank. Each process has
/// the GPU of its number.
class Processes {
public:
  explicit Processes(cts::Fixture &fixture) : fixture(fixture) {
    options = standIns();
  }

  /// The options of all ranks.
  cuda::CudaOptions options;
  /// Called by each rank before and after its steps.
  std::function<void(cuda::CudaExecutor &, int32_t rank)> before, after;
  /// Called while the processes run, to disturb them.
  std::function<void(Hub &)> meanwhile;

  /// Runs the processes. Returns what each rank ends with: an empty string or
  /// an error.
  std::vector<std::string> run(const artifact::Program &program, int64_t steps);
  StepResult result; ///< The result of the last step of rank 0.

  /// Runs until NCCL reports an error in the background of a step that is
  /// replayed, from the third one on.
  std::vector<std::string> failReplay(const artifact::Program &program);

private:
  Status runRank(ThreadNetwork &network, const artifact::Program &program,
                 int64_t steps);

  cts::Fixture &fixture;
};

/// The outcomes of two processes that have run all their steps.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): two empty strings.
inline const std::vector<std::string> allWell(2);

/// Sums two contributions, with the arguments of the compiler's kernel.
template <typename T>
void addTwo(const void *const *params, const uint32_t *, const uint32_t *) {
  for (int64_t i = 0; i < argument<int64_t>(params, 3); ++i)
    argument<T *>(params, 0)[i] =
        argument<const T *>(params, 1)[i] + argument<const T *>(params, 2)[i];
}

//===----------------------------------------------------------------------===//
// Messages of numbers
//===----------------------------------------------------------------------===//

/// More numbers than fit into the stand-in's memory for a pair of ranks.
inline constexpr int64_t numNumbers = 12000;
inline constexpr int64_t messageBytes = 4 * numNumbers;

/// The place of a message in an arena that contains nothing else.
inline char *placeOf(char *arena, int32_t number) {
  return arena + messageBytes * number;
}

/// Adds kernel 0: target[i] = source[i] * 2 + 1, for the numbers of a message.
void addStep(cts::Fixture &fixture);
void launchStep(veeline_rank *rank, char *target, const char *source);
/// The value of `number` after `times` runs of that kernel.
float expected(float number, int64_t times);

/// Fills the first place of the arena.
void fill(Executor &executor, int32_t rank, float number);
void expectAll(Executor &executor, int32_t rank, float number);

/// Tests on four GPUs. They must leave no resources behind.
class OnFourDevices : public testing::Test {
protected:
  void TearDown() override;

  Environment devices{"VEELINE_STANDIN_DEVICES", "4"};
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_PROCESSESINTHREADS_H
