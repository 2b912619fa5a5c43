//===- CudaAttentionTest.cpp - attention by cuDNN, and without ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graphs of AttentionDnn.cpp, run node by node by the stand-in, beside a
// definition in f64; what is there and what is not; what cuDNN refuses.
//
//===----------------------------------------------------------------------===//

#include "AttentionDnn.h"
#include "CudaBackend.h"
#include "HalfFloats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <random>

using namespace veeline;
using artifact::Attention;
using artifact::AttentionKind;
using artifact::DataType;

using List = std::vector<int64_t>;
using Numbers = std::vector<double>;

static uint16_t toHalf(DataType type, double number) {
  auto single = static_cast<float>(number);
  uint16_t bits;
  if (type == DataType::f16) {
    auto half = static_cast<_Float16>(single);
    std::memcpy(&bits, &half, sizeof(bits));
    return bits;
  }
  uint32_t wide;
  std::memcpy(&wide, &single, sizeof(wide));
  return static_cast<uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
}

static double load(DataType type, const char *place) {
  if (type == DataType::f32) {
    float single;
    std::memcpy(&single, place, sizeof(single));
    return single;
  }
  uint16_t bits;
  std::memcpy(&bits, place, sizeof(bits));
  return type == DataType::f16 ? fromF16(bits) : fromBf16(bits);
}

static void store(DataType type, char *place, double number) {
  if (type == DataType::f32) {
    auto single = static_cast<float>(number);
    std::memcpy(place, &single, sizeof(single));
    return;
  }
  uint16_t bits = toHalf(type, number);
  std::memcpy(place, &bits, sizeof(bits));
}

//===----------------------------------------------------------------------===//
// A forward attention and its derivative
//===----------------------------------------------------------------------===//

namespace {
/// An operand in the arena, of four dimensions.
struct Operand {
  DataType type = DataType::f32;
  List sizes, strides;
  int64_t offset = 0;

  int64_t place(const List &index) const {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i)
      at += sizes[i] == 1 ? 0 : index[i] * strides[i];
    return offset + at * artifact::byteSize(type);
  }
  int64_t bytes() const {
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i)
      last += (sizes[i] - 1) * strides[i];
    return (last + 1) * artifact::byteSize(type);
  }
};

enum Which {
  query,
  key,
  value,
  mask,
  output,
  lse,
  outputGrad,
  queryGrad,
  keyGrad,
  valueGrad,
  numOperands
};

struct Problem {
  Attention forward, backward;
  std::array<Operand, numOperands> operands;
  int64_t scratchOffset = 0, arenaBytes = 0;

  bool hasMask() const { return !forward.maskStrides.empty(); }
};
} // namespace

static bool advance(List &index, const List &limits) {
  for (size_t i = index.size(); i-- > 0; index[i] = 0)
    if (++index[i] < limits[i])
      return true;
  return false;
}

/// Rows next to each other in the order of `order`, with gaps of `gap`.
static List makeStrides(const List &sizes, const std::array<int, 3> &order,
                        int64_t gap) {
  List strides(3);
  int64_t stride = sizes[3] + gap;
  for (int dim : order) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// Puts an operand of rows behind what is there.
static void place(Problem &problem, Which which, DataType type,
                  const List &sizes, const List &strides) {
  Operand &operand = problem.operands[which];
  operand = {type, sizes, strides, problem.arenaBytes};
  operand.strides.push_back(1);
  problem.arenaBytes += (operand.bytes() + 255) / 256 * 256;
}

/// Gives both entries strides and places.
static void layOut(Problem &problem, std::mt19937 &random, bool isDense) {
  Attention &a = problem.forward;
  List rows = {a.batch, a.heads, a.queries, a.depth};
  List outputs = {a.batch, a.heads, a.queries, a.valueDepth};
  List keys = {a.batch, a.keyHeads, a.keys, a.depth};
  List values = {a.batch, a.keyHeads, a.keys, a.valueDepth};
  auto next = [&](Which which, const List &sizes, List &strides) {
    std::array<int, 3> order = {2, 1, 0};
    if (!isDense)
      std::shuffle(order.begin(), order.end(), random);
    strides = makeStrides(sizes, order,
                          isDense ? 0 : 8 * static_cast<int64_t>(random() % 3));
    place(problem, which, a.type, sizes, strides);
  };
  next(query, rows, a.queryStrides);
  next(key, keys, a.keyStrides);
  next(value, values, a.valueStrides);
  next(output, outputs, a.outputStrides);
  place(problem, lse, DataType::f32, {a.batch, a.heads, a.queries, 1},
        {a.heads * a.queries, a.queries, 1});
  if (problem.hasMask()) {
    List sizes = {a.batch, a.heads, a.queries, a.keys};
    for (size_t i = 0; i < 3; ++i)
      if (a.maskStrides[i] == 0)
        sizes[i] = 1;
    List strides = makeStrides(
        {sizes[0], sizes[1], sizes[2], (a.keys + 7) / 8 * 8}, {2, 1, 0}, 0);
    for (size_t i = 0; i < 3; ++i)
      a.maskStrides[i] = sizes[i] == 1 ? 0 : strides[i];
    place(problem, mask, a.maskType, sizes, strides);
  }
  Attention &b = problem.backward = a;
  b.kind = AttentionKind::backward;
  next(outputGrad, outputs, b.outputGradStrides);
  next(queryGrad, rows, b.queryGradStrides);
  next(keyGrad, keys, b.keyGradStrides);
  next(valueGrad, values, b.valueGradStrides);
  b.scratchBytes = cuda::attentionScratchBytes(b);
  problem.scratchOffset = problem.arenaBytes;
  problem.arenaBytes += (b.scratchBytes + 255) / 256 * 256;
}

static Problem makeProblem(bool deterministic = true) {
  Problem problem;
  Attention &a = problem.forward;
  a.batch = 2;
  a.heads = 4;
  a.keyHeads = 2;
  a.queries = 5;
  a.keys = 7;
  a.depth = 16;
  a.valueDepth = 8;
  a.scale = 0.25;
  a.causal = true;
  a.deterministic = deterministic;
  std::mt19937 random(1);
  layOut(problem, random, /*isDense=*/true);
  return problem;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// What the step works on, and where.
static const Problem *current;
static char *arena;
static Numbers *given; ///< Numbers of inputs, in the order of operands.
/// As the step finds them.
static int32_t isThere[2];
/// Whether it calls those that are not there, too.
static bool callsAll;

/// Where the arena really is.
static char *memory() { return standin::find(arena, current->arenaBytes); }

static void writeInputs() {
  size_t next = 0;
  for (Which which : {query, key, value, mask, outputGrad}) {
    const Operand &operand = current->operands[which];
    if (operand.sizes.empty())
      continue;
    List index(4);
    do
      store(operand.type, memory() + operand.place(index), (*given)[next++]);
    while (advance(index, operand.sizes));
  }
}

static void attend(veeline_rank *rank, char *newArena, const void *const *) {
  arena = newArena;
  writeInputs();
  auto at = [](Which which) -> void * {
    const Operand &operand = current->operands[which];
    return operand.sizes.empty() ? nullptr : arena + operand.offset;
  };
  void *scratch = arena + current->scratchOffset;
  for (int32_t i = 0; i < 2; ++i)
    isThere[i] = veeline_has_attention(rank, i);
  if (isThere[0] || callsAll)
    veeline_attention(rank, 0, at(query), at(key), at(value), at(mask),
                      at(output), at(lse), scratch);
  if (isThere[1] || callsAll)
    veeline_attention_backward(
        rank, 1, at(query), at(key), at(value), at(mask), at(output), at(lse),
        at(outputGrad), at(queryGrad), at(keyGrad), at(valueGrad), scratch);
}

namespace {
/// One rank with both entries.
class Program {
public:
  explicit Program(const Problem &problem, int64_t libraryBytes = 1 << 20)
      : problem(problem), fixture({attend}, problem.arenaBytes) {
    artifact::Rank &rank = fixture.rank(0);
    rank.attentions = {problem.forward, problem.backward};
    test::makeForGpu(fixture.whole());
    rank.libraryOffset = (rank.arenaBytes + 255) / 256 * 256;
    rank.libraryBytes = libraryBytes;
    rank.arenaBytes = rank.libraryOffset + rank.libraryBytes;
    options = test::standIns();
    options.steps = {attend};
    callsAll = false;
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    for (Which which : {query, key, value, mask, outputGrad}) {
      const Operand &operand = problem.operands[which];
      int64_t count = operand.sizes.empty() ? 0 : 1;
      for (int64_t size : operand.sizes)
        count *= size;
      for (int64_t i = 0; i < count; ++i) {
        char bytes[4];
        store(operand.type, bytes, normal(random));
        inputs.push_back(load(operand.type, bytes));
      }
    }
  }

  artifact::Rank &rank() { return fixture.rank(0); }
  cuda::CudaOptions options;
  std::string remark;
  Problem problem;
  Numbers inputs;
  /// What operands hold after each step.
  std::vector<std::array<Numbers, numOperands>> results;

  /// The error of loading and three steps, or nothing.
  std::string run() {
    current = &problem;
    given = &inputs;
    results.clear();
    return test::runThreeSteps(fixture.whole(), options, remark,
                               [this] { readResults(); });
  }

private:
  void readResults() {
    results.emplace_back();
    for (int which = 0; which < numOperands; ++which) {
      const Operand &operand = problem.operands[which];
      if (operand.sizes.empty())
        continue;
      List index(4);
      do
        results.back()[which].push_back(
            load(operand.type, memory() + operand.place(index)));
      while (advance(index, operand.sizes));
    }
  }

  cts::Fixture fixture;
};

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

/// Reads and writes tensors of four dimensions by index.
struct Dense {
  List sizes;
  Numbers numbers;

  explicit Dense(const List &sizes)
      : sizes(sizes), numbers(static_cast<size_t>(sizes[0] * sizes[1] *
                                                  sizes[2] * sizes[3])) {}
  double &operator()(int64_t b, int64_t h, int64_t i, int64_t d) {
    auto at = [&](int64_t index, int dim) {
      return sizes[dim] == 1 ? 0 : index;
    };
    return numbers[((at(b, 0) * sizes[1] + at(h, 1)) * sizes[2] + at(i, 2)) *
                       sizes[3] +
                   at(d, 3)];
  }
};

class Definition {
public:
  explicit Definition(const Program &program);
  const Numbers &of(Which which) const { return tensors[which].numbers; }

private:
  void addRow(int64_t b, int64_t h, int64_t i);

  Attention a;
  std::vector<Dense> tensors;
};
} // namespace

Definition::Definition(const Program &program) : a(program.problem.forward) {
  for (const Operand &operand : program.problem.operands)
    tensors.emplace_back(operand.sizes.empty() ? List{0, 0, 0, 0}
                                               : operand.sizes);
  size_t next = 0;
  for (Which which : {query, key, value, mask, outputGrad})
    for (double &number : tensors[which].numbers)
      number = program.inputs[next++];
  for (int64_t b = 0; b < a.batch; ++b)
    for (int64_t h = 0; h < a.heads; ++h)
      for (int64_t i = 0; i < a.queries; ++i)
        addRow(b, h, i);
}

void Definition::addRow(int64_t b, int64_t h, int64_t i) {
  int64_t kh = h / (a.heads / a.keyHeads);
  auto t = [&](Which which) -> Dense & { return tensors[which]; };
  Numbers scores(a.keys), weightGrads(a.keys);
  double sum = 0, delta = 0;
  int64_t visible = a.causal ? std::min(i + 1, a.keys) : a.keys;
  for (int64_t j = 0; j < visible; ++j) {
    for (int64_t d = 0; d < a.depth; ++d)
      scores[j] += a.scale * t(query)(b, h, i, d) * t(key)(b, kh, j, d);
    if (!a.maskStrides.empty())
      scores[j] += t(mask)(b, h, i, j);
    sum += std::exp(scores[j]);
  }
  t(lse)(b, h, i, 0) = std::log(sum);
  for (int64_t j = 0; j < visible; ++j) {
    double weight = scores[j] = std::exp(scores[j]) / sum;
    for (int64_t d = 0; d < a.valueDepth; ++d) {
      t(output)(b, h, i, d) += weight * t(value)(b, kh, j, d);
      t(valueGrad)(b, kh, j, d) += weight * t(outputGrad)(b, h, i, d);
      weightGrads[j] += t(outputGrad)(b, h, i, d) * t(value)(b, kh, j, d);
    }
    delta += weight * weightGrads[j];
  }
  for (int64_t j = 0; j < visible; ++j) {
    double grad = a.scale * scores[j] * (weightGrads[j] - delta);
    for (int64_t d = 0; d < a.depth; ++d) {
      t(queryGrad)(b, h, i, d) += grad * t(key)(b, kh, j, d);
      t(keyGrad)(b, kh, j, d) += grad * t(query)(b, h, i, d);
    }
  }
}

/// Within `tolerance` of the largest number. Some gradients are all zeros, of
/// terms that are not.
static void expectNear(const Numbers &found, const Numbers &expected,
                       double tolerance, const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 1, farthest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    double distance = std::fabs(found[i] - expected[i]);
    farthest = distance >= 0 ? std::max(farthest, distance) : INFINITY;
  }
  EXPECT_LE(farthest, tolerance * largest) << what;
}

static void expectRight(Program &program, const std::string &what) {
  ASSERT_EQ(program.run(), "") << what;
  ASSERT_EQ(isThere[0] + isThere[1], 2) << what;
  Definition definition(program);
  double tolerance =
      program.problem.forward.type == DataType::f16 ? 4e-3 : 3e-2;
  // Stand-ins of atomic sums round parts of them.
  bool isExact = program.problem.forward.deterministic;
  static const char *names[] = {"output", "lse", "query's", "key's", "value's"};
  const Which all[] = {output, lse, queryGrad, keyGrad, valueGrad};
  for (const auto &step : program.results)
    for (size_t i = 0; i < std::size(all); ++i)
      expectNear(step[all[i]], definition.of(all[i]),
                 all[i] == lse && isExact ? 1e-5 : tolerance,
                 what + ", " + names[i]);
}

static void expectMessage(Program &program, const std::string &expected) {
  std::string message = program.run();
  EXPECT_NE(message.find(expected), std::string::npos)
      << "expected: " << expected << "\nfound:    " << message;
  EXPECT_EQ(standin::countLive(), 0) << "after: " << message;
}

/// 1 for the forward one and 2 for the derivative.
static int whichAreThere(Program &program) {
  EXPECT_EQ(program.run(), "");
  return isThere[0] + 2 * isThere[1];
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

TEST(CudaAttention, AsDefined) {
  for (bool deterministic : {true, false}) {
    Program program(makeProblem(deterministic));
    expectRight(program, deterministic ? "deterministic" : "in any order");
    EXPECT_EQ(program.remark, "");
    EXPECT_EQ(standin::countLive(), 0);
  }
}

/// Causal or not, with masks along any dimensions, shared keys, lengths of
/// their own, rows apart in any order.
TEST(CudaAttention, RandomShapes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    auto upTo = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random() % most);
    };
    Problem problem;
    Attention &a = problem.forward;
    a.type = random() % 2 ? DataType::f16 : DataType::bf16;
    a.batch = upTo(3);
    a.keyHeads = upTo(3);
    a.heads = a.keyHeads * upTo(3);
    a.queries = upTo(12);
    a.keys = upTo(12);
    a.depth = 8 * upTo(3);
    a.valueDepth = 8 * upTo(3);
    a.scale = 1 / std::sqrt(static_cast<double>(a.depth));
    a.causal = random() % 2;
    a.deterministic = random() % 2;
    a.maskType = random() % 2 ? DataType::f32 : a.type;
    if (random() % 2)
      for (int i = 0; i < 3; ++i)
        a.maskStrides.push_back(static_cast<int64_t>(random() % 2));
    layOut(problem, random, /*isDense=*/seed % 4 == 0);
    Program program(problem);
    expectRight(program, "seed " + std::to_string(seed));
  }
}

/// Sums of f32 in memory have another order in each run; without them bits stay
/// the same, as issued and in a graph.
TEST(CudaAttention, SameBits) {
  for (bool deterministic : {true, false}) {
    Program program(makeProblem(deterministic));
    ASSERT_EQ(program.run(), "");
    bool isSame =
        program.results[0][queryGrad] == program.results[1][queryGrad] &&
        program.results[1][queryGrad] == program.results[2][queryGrad];
    EXPECT_EQ(isSame, deterministic);
    if (deterministic) {
      EXPECT_EQ(program.results[0], program.results[1]);
      EXPECT_EQ(program.results[1], program.results[2]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Whether it is there
//===----------------------------------------------------------------------===//

TEST(CudaAttention, IssuedAndCaptured) {
  Program program(makeProblem());
  int64_t before = standin::countCalls("cudnnBackendExecute");
  EXPECT_EQ(whichAreThere(program), 3);
  EXPECT_EQ(standin::countCalls("cudnnBackendExecute") - before, 4);
}

TEST(CudaAttention, ByChoiceWithout) {
  Program program(makeProblem());
  program.options.cudnn = "none";
  EXPECT_EQ(whichAreThere(program), 0);
  EXPECT_EQ(program.remark, "");
  callsAll = true;
  expectMessage(program, "step: rank 0: attention 0 is called, and no library "
                         "computes it");
}

TEST(CudaAttention, NotInstalled) {
  if (void *installed = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL)) {
    ::dlclose(installed);
    GTEST_SKIP() << "cuDNN is installed";
  }
  Program program(makeProblem());
  program.options.cudnn.clear();
  EXPECT_EQ(whichAreThere(program), 0);
  EXPECT_EQ(program.remark.find(
                "attention is in kernels of the artifact: cannot load cuDNN"),
            0u)
      << program.remark;
}

TEST(CudaAttention, Engines) {
  auto there = [](const char *engines, bool deterministic) {
    test::Environment only("VEELINE_STANDIN_ENGINES", engines);
    Program program(makeProblem(deterministic));
    return whichAreThere(program);
  };
  for (const char *none : {"", "unsupported", "uncompilable", "large",
                           "unsupported, uncompilable, large"})
    for (bool deterministic : {true, false})
      EXPECT_EQ(there(none, deterministic), 0) << none;
  EXPECT_EQ(there("nondeterministic", /*deterministic=*/true), 0);
  EXPECT_EQ(there("nondeterministic", /*deterministic=*/false), 3);
  EXPECT_EQ(there("plain", /*deterministic=*/true), 3);
  EXPECT_EQ(there("plain", /*deterministic=*/false), 3);
}

/// What is said where a part is not there.
TEST(CudaAttention, Remark) {
  Program program(makeProblem(), /*libraryBytes=*/512);
  EXPECT_EQ(whichAreThere(program), 1);
  EXPECT_EQ(program.remark,
            "cuDNN has nothing for 1 of 2 attentions in the memory that "
            "libraries have, which are in kernels instead (compile with "
            "--no-deterministic for derivatives that take less)");
}

TEST(CudaAttention, TooLittleMemory) {
  Program without(makeProblem(), /*libraryBytes=*/256);
  EXPECT_EQ(whichAreThere(without), 0);
  // Gradients of scores: of 2 * 4 heads in tiles of 64 by 64.
  constexpr int64_t scores = 2 * 4 * 64 * 64 * 2;
  Program less(makeProblem(), 512 + scores - 256);
  EXPECT_EQ(whichAreThere(less), 1);
  Program enough(makeProblem(), 512 + scores);
  EXPECT_EQ(whichAreThere(enough), 3);
  // Or sums, in scratch.
  Problem problem = makeProblem(/*deterministic=*/false);
  EXPECT_EQ(problem.backward.scratchBytes, 256 + 2 * 4 * 5 * 16 * 4);
  Program sums(problem, /*libraryBytes=*/512);
  EXPECT_EQ(whichAreThere(sums), 3);
  sums.rank().attentions[1].scratchBytes -= 1;
  EXPECT_EQ(whichAreThere(sums), 1);
}

/// Some versions are known to be wrong.
TEST(CudaAttention, Versions) {
  auto there = [](const char *version, int64_t keys) {
    test::Environment other("VEELINE_STANDIN_CUDNN", version);
    Problem problem = makeProblem();
    problem.forward.keys = keys;
    problem.arenaBytes = 0;
    std::mt19937 random(1);
    layOut(problem, random, /*isDense=*/true);
    Program program(problem);
    return whichAreThere(program);
  };
  EXPECT_EQ(there("90800", 128), 0);
  EXPECT_EQ(there("91001", 128), 0);
  EXPECT_EQ(there("91002", 128), 3);
  EXPECT_EQ(there("91500", 7), 1);
  EXPECT_EQ(there("91501", 7), 3);
}

TEST(CudaAttention, ShapesThatItDoesNotTake) {
  Problem problem = makeProblem();
  problem.forward.queryStrides[2] = 20;
  problem.backward.queryStrides[2] = 20;
  Program odd(problem);
  EXPECT_EQ(whichAreThere(odd), 0);
}

TEST(CudaAttention, NotValid) {
  auto messageOf = [](auto change) {
    Problem problem = makeProblem();
    change(problem);
    Program program(problem);
    return program.run();
  };
  const std::string where = "not valid: program 'suite', rank 0, attention ";
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.type = DataType::f32; }),
            where + "0: its type is neither f16 nor bf16");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.keys = 0; }),
            where + "0: an extent is not in [1, 2^31)");
  EXPECT_EQ(messageOf([](Problem &p) { p.backward.keyHeads = 3; }),
            where + "1: its heads do not share those of keys evenly");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.keyStrides[1] = 0; }),
            where + "0: an operand has not three positive strides");
  EXPECT_EQ(messageOf([](Problem &p) { p.backward.keyGradStrides.clear(); }),
            where + "1: gradients have not three positive strides, in a "
                    "derivative alone");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.maskStrides = {1}; }),
            where + "0: its mask has not three strides");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.maskType = DataType::f16; }),
            where + "0: its mask is neither of f32 nor of its type");
  EXPECT_EQ(messageOf([](Problem &p) { p.forward.scratchBytes = -1; }),
            where + "0: its scratch is negative");
}

//===----------------------------------------------------------------------===//
// What it refuses
//===----------------------------------------------------------------------===//

/// Wherever it says, while a program is loaded, that it has nothing for what it
/// is asked, kernels do it.
TEST(CudaAttention, Unsupported) {
  Program program(makeProblem());
  // The last ones are for the operands of two calls, issued and captured.
  for (auto [call, ofOperands] : {std::pair("cudnnBackendFinalize", 1),
                                  std::pair("cudnnBackendCreateDescriptor", 1),
                                  std::pair("cudnnBackendSetAttribute", 3),
                                  std::pair("cudnnBackendGetAttribute", 0)}) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(whichAreThere(program), 3);
    int64_t count = standin::countCalls(call) - before - 4 * ofOperands;
    ASSERT_GT(count, 10) << call;
    int64_t withoutOne = 0;
    for (int64_t nth = 1; nth <= count; ++nth) {
      standin::failCall(call, nth, 3001);
      int there = whichAreThere(program);
      EXPECT_TRUE(there != 0) << call << " " << nth;
      withoutOne += there != 3;
      standin::failCall("", 0, 0);
    }
    // Of an engine, the next one is taken.
    EXPECT_TRUE(ofOperands == 0 || withoutOne > 50) << call;
    EXPECT_EQ(standin::countLive(), 0) << call;
  }
}

#define ERROR(name, code) {#name, code},
static const test::ErrorCode errors[] = {
#include "DnnErrors.inc"
};
#undef ERROR

TEST(CudaAttention, EveryCode) {
  Program program(makeProblem());
  for (const test::ErrorCode &error : errors)
    for (const char *call :
         {"cudnnBackendCreateDescriptor", "cudnnBackendSetAttribute",
          "cudnnBackendGetAttribute", "cudnnBackendExecute"}) {
      bool isInStep = std::string(call) == "cudnnBackendExecute";
      standin::failCall(call, 1, error.code);
      // Steps have chosen, and cannot take the other way any more.
      if (cuda::isUnsupported(error.code) && !isInStep) {
        EXPECT_EQ(program.run(), "") << call << ": " << error.name;
        continue;
      }
      expectMessage(program, std::string(call) + ": " + error.name + " (" +
                                 std::to_string(error.code) + ")");
      if (!isInStep) {
        standin::failCall(call, 1, error.code);
        expectMessage(program, "; --cudnn none does without cuDNN");
      }
    }
}

/// Each call fails at each of its times.
TEST(CudaAttention, EveryCall) {
#define NAME(type, name, parameters) #name,
  const std::string calls[] = {VEELINE_CUDNN_GRAPH_FUNCTIONS(NAME)};
#undef NAME
  Program program(makeProblem());
  for (const std::string &call : calls) {
    int64_t before = standin::countCalls(call);
    ASSERT_EQ(program.run(), "") << call;
    int64_t count = standin::countCalls(call) - before;
    EXPECT_GT(count, 0) << call;
    if (call.find("Destroy") != std::string::npos)
      continue;
    for (int64_t nth = 1; nth <= count;
         nth += std::max<int64_t>(count / 40, 1)) {
      standin::failCall(call, nth, 4000);
      expectMessage(program, call + ": CUDNN_STATUS_INTERNAL_ERROR (4000)");
      standin::failCall("", 0, 0);
    }
  }
}
