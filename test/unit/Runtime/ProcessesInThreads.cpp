//===- ProcessesInThreads.cpp - processes of a GPU each, as threads -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include <chrono>

using namespace veeline;
using namespace veeline::test;

void Hub::fail(const std::string &text, int32_t from) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure.empty())
    return;
  failure =
      from < 0 ? text : "rank " + std::to_string(from) + " has failed: " + text;
  for (ThreadNetwork *network : networks) {
    if (!network || network->number == from)
      continue;
    network->heard = failure;
    network->known.store(network->heard.c_str());
    if (engine::Observed *watched = network->watched.load())
      watched->raise(failure);
  }
  changed.notify_all();
}

ThreadNetwork::ThreadNetwork(Hub &hub, int32_t rank) : hub(hub), number(rank) {
  std::lock_guard<std::mutex> lock(hub.mutex);
  hub.networks.push_back(this);
}

ThreadNetwork::~ThreadNetwork() {
  std::lock_guard<std::mutex> lock(hub.mutex);
  for (ThreadNetwork *&network : hub.networks)
    if (network == this)
      network = nullptr;
}

Expected<std::vector<std::string>> ThreadNetwork::exchange(std::string mine) {
  std::unique_lock<std::mutex> lock(hub.mutex);
  hub.given[static_cast<size_t>(number)].push_back(std::move(mine));
  hub.changed.notify_all();
  size_t current = round++;
  auto isThere = [&] {
    for (const auto &rounds : hub.given)
      if (rounds.size() <= current)
        return false;
    return true;
  };
  hub.changed.wait(lock, [&] { return isThere() || !hub.failure.empty(); });
  if (!isThere())
    return Status::error(hub.failure);
  std::vector<std::string> all;
  for (const auto &rounds : hub.given)
    all.push_back(rounds[current]);
  return all;
}

void ThreadNetwork::watch(engine::Observed &rank) {
  std::lock_guard<std::mutex> lock(hub.mutex);
  watched.store(&rank);
  if (known.load())
    rank.raise(known.load());
}

/// Whoever tells of a failure may be using the watcher, which ends after this.
void ThreadNetwork::unwatch(engine::Observed &) {
  std::lock_guard<std::mutex> lock(hub.mutex);
  watched.store(nullptr);
}

Status Processes::runRank(ThreadNetwork &network,
                          const artifact::Program &program, int64_t steps) {
  cuda::CudaOptions own = options;
  own.network = &network;
  if (!own.localRank)
    own.localRank = network.rank();
  auto created = cuda::CudaExecutor::create(fixture.whole(), program, own);
  if (!created.ok())
    return created.status();
  if (before)
    before(**created, network.rank());
  char context = 0;
  std::vector<int64_t> lengths(
      static_cast<size_t>(fixture.metadata().microbatches), 1);
  const void *inputs[] = {&context, lengths.data()};
  for (int64_t step = 0; step < steps; ++step) {
    StepResult stepResult;
    Status status = (*created)->begin(inputs, {});
    if (status.ok())
      status = (*created)->finish(stepResult);
    if (!status.ok())
      return Status::error("step: " + status.message());
    if (network.rank() == 0)
      result = stepResult;
  }
  if (after)
    after(**created, network.rank());
  return Status::success();
}

std::vector<std::string> Processes::run(const artifact::Program &program,
                                        int64_t steps) {
  auto numRanks = static_cast<int32_t>(program.ranks.size());
  Hub hub(numRanks);
  std::vector<std::unique_ptr<ThreadNetwork>> networks;
  for (int32_t rank = 0; rank < numRanks; ++rank)
    networks.push_back(std::make_unique<ThreadNetwork>(hub, rank));
  std::vector<std::string> messages(static_cast<size_t>(numRanks));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < numRanks; ++rank)
    threads.emplace_back([&, rank] {
      ThreadNetwork &network = *networks[static_cast<size_t>(rank)];
      Status status = runRank(network, program, steps);
      if (status.ok())
        return;
      network.announce(status.message());
      messages[static_cast<size_t>(rank)] = status.message();
    });
  if (meanwhile)
    meanwhile(hub);
  for (std::thread &thread : threads)
    thread.join();
  return messages;
}

std::vector<std::string>
Processes::failReplay(const artifact::Program &program) {
  int64_t before = standin::countCalls("cuGraphLaunch");
  auto numRanks = static_cast<int64_t>(program.ranks.size());
  meanwhile = [=](Hub &hub) {
    // Each launches what it has captured, and then twice more.
    while (standin::countCalls("cuGraphLaunch") < before + 3 * numRanks &&
           !hub.hasFailed())
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    // While a graph runs, nobody else asks.
    standin::failCall("asyncError", 1, 6);
  };
  return run(program, 100'000);
}

//===----------------------------------------------------------------------===//
// Messages of numbers
//===----------------------------------------------------------------------===//

static void step(const void *const *params, const uint32_t *,
                 const uint32_t *) {
  auto *target = argument<float *>(params, 0);
  const auto *source = argument<const float *>(params, 1);
  for (int64_t i = 0; i < numNumbers; ++i)
    target[i] = source[i] * 2 + 1;
}

void test::addStep(cts::Fixture &fixture) {
  addKernel(fixture, "step", step, 2);
}

void test::launchStep(veeline_rank *rank, char *target, const char *source) {
  const uint64_t arguments[] = {toArgument(target), toArgument(source)};
  veeline_launch(rank, 0, arguments);
}

float test::expected(float number, int64_t times) {
  for (int64_t i = 0; i < times; ++i)
    number = number * 2 + 1;
  return number;
}

void test::fill(Executor &executor, int32_t rank, float number) {
  std::vector<float> numbers(numNumbers, number);
  EXPECT_TRUE(executor.write(rank, 0, numbers.data(), messageBytes).ok());
}

void test::expectAll(Executor &executor, int32_t rank, float number) {
  std::vector<float> numbers(numNumbers);
  EXPECT_TRUE(executor.read(rank, 0, numbers.data(), messageBytes).ok());
  for (int64_t i = 0; i < numNumbers; ++i)
    ASSERT_EQ(numbers[i], number) << "number " << i << " of rank " << rank;
}

void OnFourDevices::TearDown() {
  standin::setOrder("late");
  standin::failCall("", 0, 0);
  EXPECT_EQ(standin::countLive(), 0);
}
