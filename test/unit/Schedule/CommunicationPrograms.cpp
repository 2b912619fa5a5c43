//===- CommunicationPrograms.cpp - right programs and damaged ones --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationPrograms.h"

#include "RandomSchedules.h"
#include "veeline/Schedule/Widths.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Random;
using schedule::randomInt;

using Ops = std::vector<Op>;

//===----------------------------------------------------------------------===//
// Right programs
//===----------------------------------------------------------------------===//

/// Gives some stages several ranks, up to `maxRanks` together and as many as
/// there are microbatches.
static void widen(Random &random, schedule::Problem &problem, int maxRanks) {
  problem.widths.assign(problem.stages(), 1);
  for (int more = randomInt(random, 1, maxRanks - problem.stages()); more > 0;
       --more) {
    int &width = problem.widths[randomInt(random, 0, problem.stages() - 1)];
    width = std::min(width + 1, problem.microbatches);
  }
}

static std::optional<schedule::Problem>
namedProblem(Random &random, std::string_view name, int maxRanks,
             int maxMicrobatches, bool isWide) {
  int p = randomInt(random, 2, isWide ? maxRanks - 1 : maxRanks);
  schedule::Problem problem = schedule::randomProblem(
      random, name, p, randomInt(random, isWide ? 2 : 1, maxMicrobatches));
  problem.memoryLimits.clear();
  if (isWide && problem.placement.kind() == schedule::PlacementKind::List)
    return std::nullopt;
  if (isWide)
    widen(random, problem, maxRanks);
  return problem;
}

static std::optional<Pipeline> pipelineOf(const schedule::Problem &problem,
                                          const schedule::Schedule &schedule) {
  auto traffic = trafficOf(problem, schedule);
  if (!traffic || traffic->messages.empty())
    return std::nullopt;
  return Pipeline{std::move(*traffic), problem.widths};
}

static std::optional<Pipeline> namedPipeline(Random &random, int maxRanks,
                                             int maxMicrobatches, bool isWide) {
  auto generators = schedule::generators();
  const schedule::Generator &generator =
      generators[randomInt(random, 0, generators.size() - 1)];
  auto problem =
      namedProblem(random, generator.name, maxRanks, maxMicrobatches, isWide);
  if (!problem)
    return std::nullopt;
  auto schedule =
      schedule::generate(generator.name, *problem, schedule::quickly());
  if (!schedule)
    return std::nullopt;
  return pipelineOf(*problem, *schedule);
}

static std::optional<Pipeline> anyPipeline(Random &random, int maxRanks,
                                           int maxMicrobatches, bool isWide) {
  schedule::Problem problem = schedule::randomSmallProblem(random);
  problem.microbatches = std::min(problem.microbatches, maxMicrobatches);
  if (problem.stages() < 2 || problem.stages() > maxRanks - isWide ||
      problem.numChunks() > 2 * maxRanks)
    return std::nullopt;
  if (isWide)
    widen(random, problem, maxRanks);
  schedule::Schedule order = schedule::randomOrder(random, problem, false);
  return pipelineOf(problem, schedule::spreadOverRanks(problem, order));
}

/// Types that a transport which counts bytes, or elements, takes for each
/// other.
static const std::vector<Type> &types() {
  static const std::vector<Type> all{{"tensor<2x4xf32>", 32},
                                     {"tensor<8xf32>", 32},
                                     {"tensor<2x4xi32>", 32},
                                     {"tensor<2x4xf64>", 64},
                                     {"tensor<i64>", 8}};
  return all;
}
/// The last one is what says a shape.
static int numTypes() { return static_cast<int>(types().size()) - 1; }

/// Has the shapes of some values sent ahead. A shape is there with its value or
/// before.
static void addShapes(Random &random, Traffic &traffic) {
  std::map<int, bool> varies;
  std::vector<Traffic::Message> all;
  for (const Traffic::Message &message : traffic.messages) {
    if (message.id.direction == Direction::Activation &&
        varies.try_emplace(message.id.edge, randomInt(random, 0, 3) != 0)
            .first->second) {
      Traffic::Message &shape = all.emplace_back(message);
      shape.id.direction = Direction::Shape;
      shape.type = numTypes();
      shape.sourceSteps = randomInt(
          random, std::max(1, message.sourceSteps - 1), message.sourceSteps);
      shape.isDirect = false;
    }
    all.push_back(message);
  }
  traffic.messages = std::move(all);
}

/// Adds the messages of a shared parameter from the ranks of a stage, which
/// take turns, to those of another. The microbatch is the number of the
/// receiving rank.
static void addForParam(Pipeline &pipeline, int edge, Direction direction,
                        int from, int to) {
  const std::vector<int> &widths = pipeline.widths;
  Traffic &traffic = pipeline.traffic;
  auto firstOf = [&](int stage) {
    return std::accumulate(widths.begin(), widths.begin() + stage, 0);
  };
  for (int i = 0; i < widths[to]; ++i) {
    int source = firstOf(from) + i % widths[from], target = firstOf(to) + i;
    // Gradients pass between the first two of the steps at the end, values
    // between the last two.
    int at = direction == Direction::Gradient ? 2 : 1;
    traffic.messages.push_back(
        {{edge, direction, i},
         edge % numTypes(),
         source,
         target,
         static_cast<int>(traffic.ranks[source].size()) - at,
         static_cast<int>(traffic.ranks[target].size()) - at});
  }
}

/// Adds parameters that two stages share: one of the stages gets the gradients
/// and gives the values back.
static void addParams(Random &random, Pipeline &pipeline) {
  constexpr double atEnd = std::numeric_limits<double>::infinity();
  for (std::vector<Traffic::Step> &steps : pipeline.traffic.ranks)
    steps.insert(steps.end(), 3, {atEnd, atEnd});
  int edge = 0;
  for (const Traffic::Message &message : pipeline.traffic.messages)
    edge = std::max(edge, message.id.edge + 1);
  int last = static_cast<int>(pipeline.widths.size()) - 1;
  for (int count = randomInt(random, 1, 2); count > 0; --count, ++edge) {
    int home = randomInt(random, 0, last),
        user = randomInt(random, 0, last - 1);
    user += user >= home;
    addForParam(pipeline, edge, Direction::Gradient, user, home);
    addForParam(pipeline, edge, Direction::Activation, home, user);
  }
  pipeline.hasParams = true;
}

Pipeline veeline::schedule::communication::randomPipeline(Random &random,
                                                          int maxRanks,
                                                          int maxMicrobatches) {
  bool isWide = randomInt(random, 0, 2) == 0;
  std::optional<Pipeline> pipeline;
  while (!pipeline)
    pipeline = randomInt(random, 0, 1)
                   ? namedPipeline(random, maxRanks, maxMicrobatches, isWide)
                   : anyPipeline(random, maxRanks, maxMicrobatches, isWide);
  pipeline->traffic.types = types();
  for (Traffic::Message &message : pipeline->traffic.messages) {
    message.type = message.id.edge % numTypes();
    message.isDirect = randomInt(random, 0, 1);
  }
  if (randomInt(random, 0, 2) == 0)
    addShapes(random, pipeline->traffic);
  if (isWide && randomInt(random, 0, 1))
    addParams(random, *pipeline);
  return std::move(*pipeline);
}

Strategy veeline::schedule::communication::randomStrategy(Random &random) {
  return static_cast<Strategy>(randomInt(random, 0, 4));
}

void veeline::schedule::communication::splitSome(Random &random,
                                                 Program &program) {
  std::map<std::pair<int, Direction>, int> parts;
  program = splitMessages(program, [&](const Op &op) {
              if (op.message.direction == Direction::Shape)
                return 1;
              auto [it, isNew] =
                  parts.try_emplace({op.message.edge, op.message.direction}, 1);
              if (isNew)
                it->second = randomInt(random, 1, 3);
              return it->second;
            }).program;
}

/// Where an all-reduce may stand: not inside of a group.
static bool isBetweenUnits(const Ops &ops, int at) {
  bool isEnd = at == 0 || at == static_cast<int>(ops.size());
  return isEnd || !ops[at].isTransfer() || ops[at].group < 0 ||
         ops[at - 1].group != ops[at].group;
}

static Op allReduce(const Ops &ops, int communicator, ReductionId reduction) {
  Op op;
  op.kind = OpKind::AllReduce;
  op.reduction = reduction;
  op.communicator = communicator;
  op.type = reduction.param % numTypes();
  for (const Op &other : ops)
    if (other.isMessage())
      op.stream = other.stream == receiveStream ? sendStream : other.stream;
  return op;
}

/// Adds an all-reduce on the stream of the rank's messages, or of its sends if
/// they have one of their own. It is waited for at the end of the step or, on
/// the stream of computations, also right there.
static void addAllReduce(Random &random, Ops &ops, int communicator,
                         ReductionId reduction) {
  Op op = allReduce(ops, communicator, reduction);
  if (op.stream != computeStream || randomInt(random, 0, 1)) {
    op.handle = 1000 + reduction.param;
    Op wait;
    wait.kind = OpKind::Wait;
    wait.handle = op.handle;
    ops.push_back(wait);
  }
  int last = static_cast<int>(ops.size()) - (op.handle >= 0 ? 1 : 0);
  int at = randomInt(random, 0, last);
  while (!isBetweenUnits(ops, at))
    ++at;
  ops.insert(ops.begin() + at, op);
}

/// The operation of a rank before which gradients are read.
static int readingOf(const Ops &ops, const Pipeline &pipeline, int rank) {
  int step = static_cast<int>(pipeline.traffic.ranks[rank].size()) - 3;
  int at = 0, size = static_cast<int>(ops.size());
  while (at < size && !(pipeline.hasParams && ops[at].step == step))
    ++at;
  return at;
}

/// Moves receives of parameters behind the last sum. Before it they would hold
/// it up, and what they wait for may come after that sum on another rank of the
/// stage.
static void receiveParamsAfter(Ops &ops, const Pipeline &pipeline, int rank,
                               int last) {
  int home = static_cast<int>(pipeline.traffic.ranks[rank].size()) - 2;
  auto isOfParam = [&](const Op &op) {
    return op.kind == OpKind::Receive &&
           std::ranges::any_of(
               pipeline.traffic.messages, [&](const Traffic::Message &message) {
                 return message.target == rank && message.targetSteps >= home &&
                        message.id.edge == op.message.edge &&
                        message.id.direction == op.message.direction;
               });
  };
  if (pipeline.hasParams)
    std::stable_partition(ops.begin(), ops.begin() + last + 1,
                          [&](const Op &op) { return !isOfParam(op); });
}

namespace {
/// Adds the sums of gradients of one stage's ranks. Each rank has a program of
/// its own, and all add up in one order.
class StageSums {
public:
  StageSums(Random &random, const Pipeline &pipeline, int communicator,
            Model model)
      : random(random), pipeline(pipeline), communicator(communicator),
        count(randomInt(random, 0, 2)),
        blocks(isNccl(model) || randomInt(random, 0, 1)),
        isGroup(blocks && count > 1 && randomInt(random, 0, 1)) {}

  /// Adds the sums of a rank: at the end of its microbatches or, if they hold
  /// up nothing, anywhere before.
  void add(Ops &ops, int rank) {
    int reading = readingOf(ops, pipeline, rank);
    std::vector<int> places;
    places.reserve(count);
    for (int i = 0; i < count; ++i)
      places.push_back(blocks ? reading : randomInt(random, 0, reading));
    std::sort(places.begin(), places.end());
    for (int param = count; param-- > 0;) {
      Op wait;
      wait.kind = OpKind::Wait;
      wait.handle = handleOf(param);
      ops.insert(ops.begin() + reading, wait);
    }
    for (int param = count; param-- > 0;) {
      int at = places[param];
      while (!isBetweenUnits(ops, at))
        ++at;
      ops.insert(ops.begin() + at, reduce(ops, param));
    }
    if (blocks && count > 0)
      receiveParamsAfter(ops, pipeline, rank, reading + count - 1);
  }

private:
  static int handleOf(int param) { return 1000 + param; }

  Op reduce(const Ops &ops, int param) const {
    Op op = allReduce(ops, communicator, {communicator - 1, param});
    op.handle = handleOf(param);
    op.group = isGroup ? 500 : -1;
    return op;
  }

  Random &random;
  const Pipeline &pipeline;
  int communicator;
  int count;
  /// Whether what is issued may hold up what follows.
  bool blocks;
  bool isGroup;
};
} // namespace

void veeline::schedule::communication::replicate(Random &random,
                                                 Program &program,
                                                 const Pipeline &pipeline,
                                                 int replicas, Model model) {
  int ranks = static_cast<int>(program.ranks.size());
  std::vector<int> widths = pipeline.widths;
  if (widths.empty())
    widths.assign(ranks, 1);
  int stages = static_cast<int>(widths.size());
  program.communicators.assign(1 + stages, {});
  for (int stage = 0, first = 0; stage < stages; first += widths[stage++]) {
    int communicator = 1 + stage;
    std::vector<int> &members = program.communicators[communicator];
    for (int replica = 0; replica < replicas; ++replica)
      for (int i = 0; i < widths[stage]; ++i)
        members.push_back(replica * ranks + first + i);
    if (widths[stage] > 1) {
      StageSums sums(random, pipeline, communicator, model);
      for (int i = 0; i < widths[stage]; ++i)
        sums.add(program.ranks[first + i], first + i);
    } else if (replicas > 1) {
      for (int param = randomInt(random, 0, 2); param-- > 0;)
        addAllReduce(random, program.ranks[first], communicator,
                     {stage, param});
    }
  }
  // At the end of the step, sums over all ranks there are.
  for (int param = std::max(0, randomInt(random, -2, 2)); param-- > 0;)
    for (Ops &ops : program.ranks)
      ops.push_back(allReduce(ops, 0, {stages, param}));
  for (int replica = 1; replica < replicas; ++replica)
    for (int rank = 0; rank < ranks; ++rank) {
      program.ranks.push_back(program.ranks[rank]);
      for (Op &op : program.ranks.back()) {
        op.peer += op.isMessage() ? replica * ranks : 0;
        op.message.replica = replica;
      }
    }
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// A random operation that `fits`, or nothing.
template <typename Predicate>
static std::optional<Position> anywhere(Random &random, const Program &program,
                                        Predicate fits) {
  std::vector<Position> places;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (std::size_t i = 0; i < program.ranks[rank].size(); ++i)
      if (fits(program.ranks[rank][i]))
        places.push_back({static_cast<int>(rank), static_cast<int>(i)});
  if (places.empty())
    return std::nullopt;
  return places[randomInt(random, 0, places.size() - 1)];
}

static bool isTransfer(const Op &op) { return op.isTransfer(); }
static bool isNoComputation(const Op &op) { return op.kind != OpKind::Compute; }

/// Removes what has the identity of `dropped`, on all ranks.
static void dropMessage(Program &program, const Op &dropped) {
  bool isReduction = dropped.kind == OpKind::AllReduce;
  for (Ops &ops : program.ranks) {
    std::vector<int> handles;
    std::erase_if(ops, [&](const Op &op) {
      bool isPart = isReduction
                        ? op.kind == OpKind::AllReduce &&
                              op.reduction == dropped.reduction
                        : (op.isMessage() || op.kind == OpKind::Ready) &&
                              op.message == dropped.message;
      if (isPart && op.isTransfer() && op.handle >= 0)
        handles.push_back(op.handle);
      return isPart;
    });
    std::erase_if(ops, [&](const Op &op) {
      return op.kind == OpKind::Wait &&
             std::count(handles.begin(), handles.end(), op.handle);
    });
  }
}

static void regroup(Random &random, Ops &ops, int at) {
  int last = at, size = static_cast<int>(ops.size());
  int most = at + randomInt(random, 0, 3);
  // A group is a run of transfers.
  while (last < most && last + 1 < size && ops[last + 1].isTransfer())
    ++last;
  int group = last == at ? -1 : randomInt(random, 0, 2) ? 1000 + at : 0;
  for (int i = at; i <= last; ++i)
    ops[i].group = group;
}

/// Moves the same messages on both sides, so that the program may stay right.
static void moveMessages(Random &random, Program &program, Position at) {
  int source = at.rank, target = program.ranks[at.rank][at.op].peer;
  // Other communicators than those that are listed have all ranks. Some may be
  // those of colours.
  int listed = static_cast<int>(program.communicators.size());
  int communicator = randomInt(random, 0, 2);
  communicator += communicator > 0 ? std::max(0, listed - 1) : 0;
  if (target < 0 || target >= static_cast<int>(program.ranks.size()))
    return;
  bool oneWay = randomInt(random, 0, 1);
  int stream = randomInt(random, -1, 2);
  for (auto [rank, peer] : {std::pair(source, target), {target, source}})
    for (Op &op : program.ranks[rank])
      if (op.isMessage() && op.peer == peer &&
          (!oneWay || (op.kind == OpKind::Send) == (rank == source))) {
        op.communicator = communicator;
        op.stream = stream < 0 ? op.stream : stream;
      }
}

static void exchange(Random &random, Ops &ops, int at) {
  std::vector<int> others;
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (ops[i].kind == ops[at].kind)
      others.push_back(i);
  Op &one = ops[at],
     &other =
         ops[others[randomInt(random, 0, static_cast<int>(others.size()) - 1)]];
  std::swap(one.message, other.message);
  std::swap(one.reduction, other.reduction);
  std::swap(one.peer, other.peer);
  std::swap(one.type, other.type);
}

/// Two all-reduces of one rank are issued in the other order.
static void swapReductions(Random &random, Ops &ops) {
  std::vector<Op *> all;
  for (Op &op : ops)
    if (op.kind == OpKind::AllReduce)
      all.push_back(&op);
  if (all.empty())
    return;
  int last = static_cast<int>(all.size()) - 1;
  Op &one = *all[randomInt(random, 0, last)];
  Op &other = *all[randomInt(random, 0, last)];
  std::swap(one.reduction, other.reduction);
  std::swap(one.communicator, other.communicator);
  std::swap(one.type, other.type);
}

/// An all-reduce of one rank is issued before what stood before it.
static void advanceReduction(Random &random, Ops &ops) {
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (ops[i].kind == OpKind::AllReduce)
      all.push_back(i);
  if (all.empty())
    return;
  int at = all[randomInt(random, 0, static_cast<int>(all.size()) - 1)];
  int to = randomInt(random, 0, at);
  std::rotate(ops.begin() + to, ops.begin() + at, ops.begin() + at + 1);
}

/// A communicator loses a rank, gets another one, or changes places with the
/// next.
static void changeMembers(Random &random, Program &program) {
  int size = static_cast<int>(program.communicators.size());
  if (size < 2)
    return;
  int communicator = randomInt(random, 1, size - 1);
  std::vector<int> &members = program.communicators[communicator];
  int rank = randomInt(random, 0, static_cast<int>(program.ranks.size()) - 1);
  switch (randomInt(random, 0, 3)) {
  case 0:
    if (!members.empty())
      members.erase(members.begin() + rank % members.size());
    break;
  case 1:
    if (std::count(members.begin(), members.end(), rank) == 0)
      members.push_back(rank);
    break;
  case 2:
    std::reverse(members.begin(), members.end());
    break;
  default:
    std::swap(
        members,
        program.communicators[communicator + 1 < size ? communicator + 1 : 1]);
  }
}

static void change(Random &random, Program &program, Op &op, Damage how) {
  int ranks = static_cast<int>(program.ranks.size());
  switch (how) {
  case Damage::MoveToStream:
    op.stream = randomInt(random, 0, 2);
    break;
  case Damage::MoveToCommunicator:
    op.communicator = randomInt(
        random, 0,
        std::max(1, static_cast<int>(program.communicators.size()) - 1));
    break;
  case Damage::ChangeType:
    op.type = randomInt(random, 0, static_cast<int>(program.types.size()));
    break;
  case Damage::ChangePeer:
    op.peer = randomInt(random, -1, ranks);
    break;
  case Damage::ChangeIdentity:
    op.message.microbatch += randomInt(random, 0, 1);
    op.message.edge += randomInt(random, 0, 1);
    op.message.part += randomInt(random, 0, 1);
    op.reduction.param += randomInt(random, 0, 1);
    break;
  case Damage::ChangeHandle:
    op.handle = randomInt(random, -1, 5);
    break;
  default:
    break;
  }
}

Damage veeline::schedule::communication::randomDamage(Random &random) {
  constexpr int all = static_cast<int>(Damage::ChangeHandle) + 1;
  constexpr std::array<Damage, 10> often{
      Damage::SwapNeighbours,  Damage::SwapNeighbours, Damage::Exchange,
      Damage::Regroup,         Damage::MoveMessages,   Damage::MoveMessages,
      Damage::MoveMessages,    Damage::DropMessage,    Damage::ChangeType,
      Damage::AdvanceReduction};
  if (randomInt(random, 0, 1))
    return often[randomInt(random, 0, often.size() - 1)];
  return static_cast<Damage>(randomInt(random, 0, all - 1));
}

void veeline::schedule::communication::damage(Random &random, Program &program,
                                              Damage how) {
  bool isAboutAll = how == Damage::SwapNeighbours || how == Damage::Swap;
  bool isAboutSome = how == Damage::Drop || how == Damage::Duplicate;
  auto at = anywhere(random, program,
                     isAboutAll    ? [](const Op &) { return true; }
                     : isAboutSome ? isNoComputation
                                   : isTransfer);
  if (!at)
    return;
  Ops &ops = program.ranks[at->rank];
  int last = static_cast<int>(ops.size()) - 1;
  switch (how) {
  case Damage::SwapNeighbours:
    std::swap(ops[at->op], ops[std::min(at->op + 1, last)]);
    break;
  case Damage::Swap:
    std::swap(ops[at->op], ops[randomInt(random, 0, last)]);
    break;
  case Damage::Exchange:
    exchange(random, ops, at->op);
    break;
  case Damage::Drop:
    ops.erase(ops.begin() + at->op);
    break;
  case Damage::DropMessage:
    dropMessage(program, Op(ops[at->op]));
    break;
  case Damage::Duplicate:
    ops.insert(ops.begin() + randomInt(random, 0, last), Op(ops[at->op]));
    break;
  case Damage::Regroup:
    regroup(random, ops, at->op);
    break;
  case Damage::MoveMessages:
    moveMessages(random, program, *at);
    break;
  case Damage::SwapReductions:
    swapReductions(random, ops);
    break;
  case Damage::AdvanceReduction:
    advanceReduction(random, ops);
    break;
  case Damage::ChangeMembers:
    changeMembers(random, program);
    break;
  default:
    change(random, program, ops[at->op], how);
  }
}
