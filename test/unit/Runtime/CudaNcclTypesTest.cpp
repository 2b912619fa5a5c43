//===- CudaNcclTypesTest.cpp - what NCCL carries and adds up --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

using namespace veeline;
using artifact::DataType;
using test::addTwo;
using test::allWell;
using test::Processes;

using CudaNcclTypes = test::OnFourDevices;

namespace {
struct Row {
  DataType type;
  int number; ///< Of NCCL.
};
} // namespace

static const Row rows[] = {
#define VEELINE_ROW(ours, name, number) {DataType::ours, number},
    VEELINE_NCCL_TYPES(VEELINE_ROW)
#undef VEELINE_ROW
};

/// Bytes of an element of NCCL's type `number`, as nccl.h has them.
static int64_t bytesOfNccl(int number) {
  static constexpr int64_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[number];
}

/// An odd number of elements, whose bytes have all values, also those of NaNs.
static constexpr int64_t numTyped = 37;
static constexpr int64_t typedArena = 4096;

static unsigned char byteOf(int64_t i) {
  return static_cast<unsigned char>(i * 89 + i / 3 + 0x7f);
}

static void sendTyped(veeline_rank *rank, char *arena, const void *const *) {
  veeline_send(rank, 0, 0, arena);
}

static void receiveTyped(veeline_rank *rank, char *arena, const void *const *) {
  veeline_recv_post(rank, 0, arena + 256);
  veeline_recv_wait(rank, 0);
}

/// Each row of the table, with every bit and nothing besides, issued and from
/// graphs.
TEST_F(CudaNcclTypes, EveryTypeTravels) {
  ASSERT_TRUE(artifact::parseDataType("i64"));
  EXPECT_EQ(std::size(rows), static_cast<size_t>(DataType::i64) + 1);
  for (const Row &row : rows) {
    std::string name(artifact::name(row.type));
    int64_t bytes = numTyped * artifact::byteSize(row.type);
    auto type = cuda::ncclTypeOf(row.type);
    ASSERT_TRUE(type.ok()) << type.message();
    EXPECT_EQ(type->number, row.number);
    EXPECT_EQ(type->elements * bytesOfNccl(row.number),
              artifact::byteSize(row.type))
        << name;
    cts::Fixture fixture({sendTyped, receiveTyped}, typedArena);
    test::makeForGpu(fixture.whole());
    fixture.addChannel(0, 1, bytes, 1);
    fixture.program().channels[0].type = row.type;
    fixture.program().channels[0].shape = {numTyped};
    Processes processes(fixture);
    processes.options.steps = {sendTyped, receiveTyped};
    processes.before = [&](cuda::CudaExecutor &executor, int32_t rank) {
      std::vector<unsigned char> content(typedArena, 0x55);
      for (int64_t i = 0; i < bytes && rank == 0; ++i)
        content[static_cast<size_t>(i)] = byteOf(i);
      EXPECT_TRUE(executor.write(rank, 0, content.data(), typedArena).ok());
    };
    processes.after = [&](cuda::CudaExecutor &executor, int32_t rank) {
      std::vector<unsigned char> content(typedArena);
      ASSERT_TRUE(executor.read(rank, 0, content.data(), typedArena).ok());
      for (int64_t i = 0; i < typedArena && rank == 1; ++i)
        ASSERT_EQ(content[static_cast<size_t>(i)],
                  i >= 256 && i < 256 + bytes ? byteOf(i - 256) : 0x55)
            << name << ", byte " << i;
    };
    std::string call = "ncclSend of type " + std::to_string(row.number);
    int64_t sends = standin::countCalls(call);
    EXPECT_EQ(processes.run(fixture.program(), 3), allWell) << name;
    // Issued and captured; what is compared ahead of messages is of bytes.
    EXPECT_GE(standin::countCalls(call) - sends, 2) << name;
  }
}

static void addTyped(veeline_rank *rank, char *arena, const void *const *) {
  veeline_copy(rank, arena, arena + 1024, numTyped * 8);
  veeline_reduce_post(rank, 0);
  veeline_reduce_wait(rank, 0);
}

template <typename T> static T typedPart(int32_t rank, int64_t i) {
  return static_cast<T>(i + 1) / static_cast<T>(rank == 0 ? 3 : 7e5);
}

template <typename T> static void expectSums(DataType type) {
  cts::Fixture fixture({addTyped, addTyped}, typedArena);
  fixture.program().stages = 1;
  fixture.program().replicas = 2;
  fixture.program().ranks.resize(1);
  int32_t kernel =
      test::addKernel(fixture, "add-two-" + std::string(artifact::name(type)),
                      addTwo<T>, 4, {1, 1, 1}, {256, 1, 1});
  artifact::ReducedPiece piece{type, 0, numTyped, 2048, 512};
  piece.sumKernel = kernel;
  fixture.rank(0).reductions = {{0, {piece}, 1, 1}};
  auto all = artifact::withAllReplicas(fixture.program(), "stages-first");
  ASSERT_TRUE(all.ok()) << all.message();
  fixture.program() = *all;
  Processes processes(fixture);
  processes.options.steps = {addTyped, addTyped};
  constexpr auto bytes = static_cast<int64_t>(numTyped * sizeof(T));
  processes.before = [&](cuda::CudaExecutor &executor, int32_t rank) {
    std::vector<unsigned char> filler(typedArena, 0x55);
    EXPECT_TRUE(executor.write(rank, 0, filler.data(), typedArena).ok());
    std::vector<T> numbers(numTyped);
    for (int64_t i = 0; i < numTyped; ++i)
      numbers[static_cast<size_t>(i)] = typedPart<T>(rank, i);
    EXPECT_TRUE(executor.write(rank, 1024, numbers.data(), bytes).ok());
  };
  processes.after = [&](cuda::CudaExecutor &executor, int32_t rank) {
    std::vector<T> numbers(numTyped);
    EXPECT_TRUE(executor.read(rank, 0, numbers.data(), bytes).ok());
    for (int64_t i = 0; i < numTyped; ++i)
      ASSERT_EQ(numbers[static_cast<size_t>(i)],
                typedPart<T>(0, i) + typedPart<T>(1, i))
          << artifact::name(type) << " " << i << " of rank " << rank;
  };
  EXPECT_EQ(processes.run(fixture.program(), 3), allWell);
}

/// Accumulators have the types of parameters.
TEST_F(CudaNcclTypes, EveryTypeIsAddedUp) {
  expectSums<float>(DataType::f32);
  expectSums<double>(DataType::f64);
}

TEST_F(CudaNcclTypes, TypesWithoutARow) {
  // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): on purpose.
  constexpr auto unknown = static_cast<DataType>(99);
  const std::string what =
      "its elements are of type number 99, which NCCL is not known to carry; "
      "ranks that are threads of one process need no NCCL";
  EXPECT_EQ(cuda::ncclTypeOf(unknown).message(), what);
  cts::Fixture fixture({sendTyped, receiveTyped}, typedArena);
  test::makeForGpu(fixture.whole());
  fixture.addChannel(0, 1, 64, 1);
  fixture.program().channels[0].type = unknown;
  Processes processes(fixture);
  processes.options.steps = {sendTyped, receiveTyped};
  for (const std::string &message : processes.run(fixture.program(), 1))
    EXPECT_NE(message.find("channel 0: " + what), std::string::npos) << message;
}
