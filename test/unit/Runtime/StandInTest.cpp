//===- StandInTest.cpp - the stand-in is as mean as a GPU can be ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <bit>
#include <cstring>

using namespace veeline;
using namespace veeline::cuda;

namespace api = veeline::cuda::api;

namespace {
/// A device with memory that is full of twos, and two streams.
class StandIn : public testing::Test {
protected:
  void SetUp() override {
    Expected<Driver> loaded = Driver::load(VEELINE_STANDIN_CUDA);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    driver = *loaded;
    Expected<std::shared_ptr<Device>> opened = Device::open(driver, 0);
    ASSERT_TRUE(opened.ok()) << opened.message();
    device = *opened;
    ASSERT_TRUE(memory.allocate(*device, 4096).ok());
    ASSERT_TRUE(first.create(*device).ok());
    ASSERT_TRUE(second.create(*device).ok());
    ASSERT_TRUE(event.create(*device).ok());
    fill(2);
    ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
  }

  /// In the first stream.
  void fill(unsigned char value) {
    ASSERT_EQ(
        driver.cuMemsetD8Async(memory.address(), value, 4096, first.get()), 0);
  }
  /// By the second stream.
  int readByte() {
    unsigned char byte = 0;
    EXPECT_EQ(driver.cuMemcpyDtoHAsync_v2(&byte, memory.address() + 77, 1,
                                          second.get()),
              0);
    return byte;
  }

  test::OrderGuard guard;
  Driver driver = {};
  std::shared_ptr<Device> device;
  DeviceMemory memory;
  Stream first, second;
  Event event;
};
using StandInDeathTest = StandIn;
} // namespace

/// What nobody waits for has not happened.
TEST_F(StandIn, StreamsRunAsLateAsTheyMay) {
  fill(3);
  EXPECT_EQ(readByte(), 2);
  ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
  EXPECT_EQ(readByte(), 3);
}

TEST_F(StandIn, EventsTieStreams) {
  for (const char *order : {"fifo", "late", "random:1", "random:2"}) {
    standin::setOrder(order);
    for (int i = 0; i < 20; ++i) {
      fill(static_cast<unsigned char>(i));
      ASSERT_EQ(driver.cuEventRecord(event.get(), first.get()), 0);
      // The wait is for the state at the call.
      ASSERT_EQ(driver.cuStreamWaitEvent(second.get(), event.get(), 0), 0);
      int seen = readByte();
      ASSERT_EQ(seen, i) << order;
    }
  }
}

/// There is a time once a stream has come to both events, and none for events
/// that were made without times.
TEST_F(StandIn, EventsHaveTimes) {
  api::Event begin = nullptr, end = nullptr;
  ASSERT_EQ(driver.cuEventCreate(&begin, 0), 0);
  ASSERT_EQ(driver.cuEventCreate(&end, 0), 0);
  float milliseconds = -1;
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, begin, end), 400);
  ASSERT_EQ(driver.cuEventRecord(begin, first.get()), 0);
  fill(3);
  ASSERT_EQ(driver.cuEventRecord(end, first.get()), 0);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, begin, end),
            api::notReady);
  ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
  ASSERT_EQ(driver.cuEventElapsedTime(&milliseconds, begin, end), 0);
  EXPECT_GT(milliseconds, 0);
  ASSERT_EQ(driver.cuEventRecord(event.get(), first.get()), 0);
  ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, begin, event.get()), 400);
  EXPECT_EQ(driver.cuEventDestroy_v2(begin), 0);
  EXPECT_EQ(driver.cuEventDestroy_v2(end), 0);
}

/// Some order or other shows that a wait is missing.
TEST_F(StandIn, RandomOrdersDiffer) {
  int early = 0, late = 0;
  for (int seed = 0; seed < 32; ++seed) {
    standin::setOrder("random:" + std::to_string(seed));
    fill(2);
    ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
    fill(5);
    (readByte() == 5 ? early : late) += 1;
    ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
  }
  EXPECT_GT(early, 0);
  EXPECT_GT(late, 0);
}

/// Pinned memory is read when the stream comes to it, other memory at the call.
TEST_F(StandIn, CopiesFromTheHost) {
  PinnedMemory pinned;
  ASSERT_TRUE(pinned.allocate(*device, 64).ok());
  std::vector<char> plain(64, 7);
  std::memset(pinned.data(), 7, 64);
  for (const char *source : {static_cast<const char *>(pinned.data()),
                             static_cast<const char *>(plain.data())}) {
    ASSERT_EQ(driver.cuMemcpyHtoDAsync_v2(memory.address() + 77, source, 1,
                                          second.get()),
              0);
    const_cast<char *>(source)[0] = 9;
    EXPECT_EQ(readByte(), source == pinned.data() ? 9 : 7);
  }
}

TEST_F(StandIn, GraphsOfSeveralStreams) {
  Event joined;
  ASSERT_TRUE(joined.create(*device).ok());
  auto capture = [&](bool joins, api::Graph *graph) {
    EXPECT_EQ(
        driver.cuStreamBeginCapture_v2(first.get(), api::captureThreadLocal),
        0);
    fill(4);
    EXPECT_EQ(driver.cuEventRecord(event.get(), first.get()), 0);
    EXPECT_EQ(driver.cuStreamWaitEvent(second.get(), event.get(), 0), 0);
    // Streams that are captured cannot be waited for.
    EXPECT_EQ(driver.cuStreamSynchronize(second.get()), 900);
    EXPECT_EQ(driver.cuMemsetD8Async(memory.address() + 77, 6, 1, second.get()),
              0);
    EXPECT_EQ(driver.cuEventRecord(joined.get(), second.get()), 0);
    if (joins) {
      EXPECT_EQ(driver.cuStreamWaitEvent(first.get(), joined.get(), 0), 0);
    }
    return driver.cuStreamEndCapture(first.get(), graph);
  };
  api::Graph graph = nullptr;
  EXPECT_EQ(capture(false, &graph), 904);
  ASSERT_EQ(capture(true, &graph), 0);
  EXPECT_EQ(readByte(), 2) << "capturing did something";
  EXPECT_EQ(driver.cuStreamWaitEvent(first.get(), event.get(), 0), 907);
  api::GraphExec executable = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  for (int i = 0; i < 3; ++i) {
    fill(1);
    ASSERT_EQ(driver.cuGraphLaunch(executable, first.get()), 0);
    ASSERT_EQ(driver.cuStreamSynchronize(first.get()), 0);
    EXPECT_EQ(readByte(), 6);
  }
  EXPECT_EQ(driver.cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(driver.cuGraphDestroy(graph), 0);
  // A capture cannot wait for an event outside of it.
  Event outside;
  ASSERT_TRUE(outside.create(*device).ok());
  ASSERT_EQ(driver.cuEventRecord(outside.get(), second.get()), 0);
  ASSERT_EQ(
      driver.cuStreamBeginCapture_v2(first.get(), api::captureThreadLocal), 0);
  EXPECT_EQ(driver.cuStreamWaitEvent(first.get(), outside.get(), 0), 905);
  api::Result result = 0;
  std::thread([&] {
    (void)device->makeCurrent().ok();
    result = driver.cuStreamEndCapture(first.get(), &graph);
  }).join();
  EXPECT_EQ(result, 908);
  EXPECT_EQ(driver.cuStreamEndCapture(first.get(), &graph), 0);
  EXPECT_EQ(driver.cuGraphDestroy(graph), 0);
}

/// Code is loaded before a capture, or not at all.
TEST_F(StandIn, NothingIsLoadedWhileCapturing) {
  standin::addKernel(
      "idle", [](const void *const *, const uint32_t *, const uint32_t *) {},
      0);
  api::Module module = nullptr, other = nullptr;
  api::Function function = nullptr;
  auto load = [&](api::Module &place) {
    return driver.cuModuleLoadDataEx(&place, "image", 0, nullptr, nullptr);
  };
  ASSERT_EQ(load(module), 0);
  ASSERT_EQ(driver.cuModuleGetFunction(&function, module, "idle"), 0);
  ASSERT_EQ(
      driver.cuStreamBeginCapture_v2(first.get(), api::captureThreadLocal), 0);
  EXPECT_EQ(load(other), 900);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "idle"), 900);
  EXPECT_EQ(
      driver.cuFuncSetAttribute(function, api::maxDynamicSharedBytes, 1 << 16),
      900);
  auto launch = [&] {
    return driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, first.get(),
                                 nullptr, nullptr);
  };
  EXPECT_EQ(launch(), 900);
  EXPECT_EQ(driver.cuFuncLoad(function), 900);
  api::Graph graph = nullptr;
  EXPECT_EQ(driver.cuStreamEndCapture(first.get(), &graph), 0);
  EXPECT_EQ(driver.cuGraphDestroy(graph), 0);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "idle"), 0);
  EXPECT_EQ(driver.cuFuncLoad(function), 0);
  ASSERT_EQ(
      driver.cuStreamBeginCapture_v2(first.get(), api::captureThreadLocal), 0);
  EXPECT_EQ(launch(), 0);
  EXPECT_EQ(driver.cuStreamEndCapture(first.get(), &graph), 0);
  EXPECT_EQ(driver.cuGraphDestroy(graph), 0);
  EXPECT_EQ(driver.cuModuleUnload(module), 0);
}

TEST_F(StandIn, AllocationsHaveSizes) {
  api::DevicePointer begin = 0;
  size_t bytes = 0;
  EXPECT_EQ(
      driver.cuMemGetAddressRange_v2(&begin, &bytes, memory.address() + 4095),
      0);
  EXPECT_EQ(begin, memory.address());
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(driver.cuMemGetAddressRange_v2(&begin, &bytes, 1), 1);
}

/// Kernels have numbers for arguments, too, which stay as they are.
TEST_F(StandIn, NumbersAreNoAddresses) {
  for (double number : {-0.475, 0.475, -1e-300, -1e300})
    EXPECT_EQ(standin::find(std::bit_cast<const void *>(number), 0), nullptr)
        << number;
}

TEST_F(StandIn, RefusesWhatIsOutside) {
  EXPECT_EQ(driver.cuMemsetD8Async(memory.address() + 4000, 0, 97, first.get()),
            1);
  EXPECT_EQ(driver.cuMemcpyDtoDAsync_v2(
                memory.address(), memory.address() + 4096, 1, first.get()),
            1);
  EXPECT_EQ(driver.cuMemFree_v2(memory.address() + 1), 1);
  EXPECT_EQ(driver.cuStreamSynchronize(nullptr), 400);
}

TEST_F(StandIn, LaunchesWhatAChipHas) {
  standin::addKernel(
      "nothing", [](const void *const *, const uint32_t *, const uint32_t *) {},
      0);
  cuda::api::Module module = nullptr;
  cuda::api::Function kernel = nullptr;
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, "image", 0, nullptr, nullptr),
            0);
  ASSERT_EQ(driver.cuModuleGetFunction(&kernel, module, "nothing"), 0);
  auto launch = [&](std::array<unsigned, 3> grid,
                    std::array<unsigned, 3> block) {
    return driver.cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0],
                                 block[1], block[2], 0, first.get(), nullptr,
                                 nullptr);
  };
  EXPECT_EQ(launch({2147483647, 65535, 65535}, {32, 1, 32}), 0);
  EXPECT_EQ(launch({2147483648, 1, 1}, {32, 1, 1}), 1);
  EXPECT_EQ(launch({1, 65536, 1}, {32, 1, 1}), 1);
  EXPECT_EQ(launch({1, 1, 65536}, {32, 1, 1}), 1);
  // The numbers of blocks and threads are 2^32.
  EXPECT_EQ(launch({65536, 65536, 1}, {32, 1, 1}), 1);
  EXPECT_EQ(launch({1, 1, 1}, {65536, 65536, 1}), 1);
  EXPECT_EQ(launch({1, 1, 0}, {32, 1, 1}), 1);
  EXPECT_EQ(launch({1, 1, 1}, {1, 1, 128}), 1);
  EXPECT_EQ(launch({1, 1, 1}, {64, 17, 1}), 1);
  auto setShared = [&](int bytes) {
    return driver.cuFuncSetAttribute(kernel, cuda::api::maxDynamicSharedBytes,
                                     bytes);
  };
  EXPECT_EQ(setShared(227 << 10), 0);
  EXPECT_EQ(setShared((227 << 10) + 1), 1);
  EXPECT_EQ(setShared(-1), 1);
  EXPECT_EQ(driver.cuModuleUnload(module), 0);
}

/// A kernel in PTX with `numParams` arguments of 8 bytes, and 40 KiB of static
/// shared memory.
static std::string makePtx(int numParams) {
  std::string params;
  for (int i = 0; i < numParams; ++i)
    params += (i ? ",\n" : "") + ("\t.param .u64 k_param_" + std::to_string(i));
  return "//\n.version 8.6\n.target sm_90\n.address_size 64\n\n"
         ".visible .entry k(\n" +
         params +
         "\n)\n.maxntid 32, 1, 1\n{\n"
         "\t.shared .align 16 .b8 buffer[40960];\n\tret;\n}\n";
}

TEST_F(StandIn, SharedMemoryOfBothKinds) {
  api::Module module = nullptr;
  api::Function kernel = nullptr;
  ASSERT_EQ(driver.cuModuleLoadDataEx(&module, makePtx(0).c_str(), 0, nullptr,
                                      nullptr),
            0);
  ASSERT_EQ(driver.cuModuleGetFunction(&kernel, module, "k"), 0);
  auto launch = [&](unsigned dynamicBytes) {
    return driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, dynamicBytes,
                                 first.get(), nullptr, nullptr);
  };
  EXPECT_EQ(launch(8 << 10), 0);
  EXPECT_EQ(launch((8 << 10) + 1), 1);
  auto setShared = [&](int bytes) {
    return driver.cuFuncSetAttribute(kernel, api::maxDynamicSharedBytes, bytes);
  };
  EXPECT_EQ(setShared((187 << 10) + 1), 1);
  EXPECT_EQ(setShared(187 << 10), 0);
  EXPECT_EQ(launch(187 << 10), 0);
  EXPECT_EQ(driver.cuModuleUnload(module), 0);
}

TEST_F(StandIn, KernelsHave4096BytesOfArguments) {
  for (int numParams : {512, 513}) {
    api::Module module = nullptr;
    api::Function kernel = nullptr;
    ASSERT_EQ(driver.cuModuleLoadDataEx(&module, makePtx(numParams).c_str(), 0,
                                        nullptr, nullptr),
              0);
    EXPECT_EQ(driver.cuModuleGetFunction(&kernel, module, "k"),
              numParams > 512 ? 218 : 0);
    EXPECT_EQ(driver.cuModuleUnload(module), 0);
  }
}

TEST_F(StandIn, ContextsBelongToThreads) {
  api::Result result = 0;
  std::thread([&] { result = driver.cuStreamSynchronize(first.get()); }).join();
  EXPECT_EQ(result, 201);
}

TEST_F(StandInDeathTest, TheHostCannotTouchMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(*memory.data() = 1, "");
  EXPECT_DEATH(std::exit(*memory.data()), "");
}
