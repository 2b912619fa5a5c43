//===- CudnnPlansTest.cpp - graphs of attention and the real cuDNN --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans graphs with the real cuDNN, where it is installed, for GPUs that are
// only described. cuDNN takes the graphs, has engines for them, and compiles
// their kernels, on a machine without a GPU and without a driver. Nothing of it
// can run there.
//
//===----------------------------------------------------------------------===//

#include "AttentionDnn.h"

#include "../Rounds.h"

#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace veeline;
using artifact::Attention;
using artifact::AttentionKind;
using artifact::DataType;

#ifdef __SANITIZE_ADDRESS__
// cuDNN loads libraries and unloads them with what they have allocated, which
// no suppression can name then.
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

namespace {
struct Chip {
  const char *name;
  int version, multiprocessors, sharedBytes;
};

class CudnnPlans : public testing::TestWithParam<Chip> {
protected:
  void SetUp() override {
    // Stays loaded, so that cuDNN finds it by its name.
    ASSERT_TRUE(::dlopen(VEELINE_DRIVER_STUB, RTLD_NOW | RTLD_GLOBAL))
        << ::dlerror();
    Expected<cuda::Cudnn> loaded = cuda::Cudnn::load(VEELINE_CUDNN);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    dnn = *loaded;
    if (dnn.version < 91600)
      GTEST_SKIP() << "this cuDNN is older than 9.16";
    describeChip();
  }

  void describeChip() {
    const Chip &chip = GetParam();
    std::string json =
        R"({"totalGlobalMem": 85029158912, "maxGridSize": [2147483647, 65535,
        65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
        "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
        "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
        "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
        "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
        "smClockRateKHz": 1410000, "memClockRateKHz": 1593000,
        "l2CacheSize": 41943040, "cudaDeviceId": 0, "driverVer": 13000,
        "deviceName": ")" +
        std::string(chip.name) +
        "\", \"deviceVer\": " + std::to_string(chip.version) +
        ", \"multiProcessorCount\": " + std::to_string(chip.multiprocessors) +
        ", \"maxSharedMemoryPerBlockOptin\": " +
        std::to_string(chip.sharedBytes) + "}";
    ASSERT_TRUE(
        properties.create(dnn, cuda::api::backend::deviceProperties).ok());
    ASSERT_TRUE(properties
                    .set(cuda::api::attribute::deviceJson,
                         cuda::api::attribute_type::character,
                         static_cast<int64_t>(json.size()), json.data())
                    .ok());
    ASSERT_TRUE(properties.finalize().ok());
  }

  /// The workspace of the plan; none where there is no plan.
  std::optional<int64_t> plan(const Attention &attention,
                              int64_t maxWorkspace = int64_t(32) << 20) {
    cuda::AttentionGraph graph(dnn, attention);
    Status status = graph.plan({nullptr, &properties}, maxWorkspace);
    EXPECT_TRUE(status.ok()) << status.message();
    return graph.isThere() ? std::optional(graph.workspaceBytes())
                           : std::nullopt;
  }

  /// Outside of the long suite each case is of one chip: what differs between
  /// chips is cuDNN's.
  static bool isTaken(const std::string &name) {
    return veeline::test::isLong() || GetParam().name == name;
  }

  cuda::Cudnn dnn;
  cuda::DnnDescriptor properties;
};
} // namespace

/// Strides of [batch, length, heads, depth], as a projection leaves them.
/// Values have the depth of keys unless `valueDepth` says otherwise.
static Attention make(AttentionKind kind, DataType type, int64_t batch,
                      int64_t heads, int64_t keyHeads, int64_t queries,
                      int64_t keys, int64_t depth,
                      std::optional<int64_t> valueDepth = std::nullopt) {
  Attention a;
  a.kind = kind;
  a.type = type;
  a.batch = batch;
  a.heads = heads;
  a.keyHeads = keyHeads;
  a.queries = queries;
  a.keys = keys;
  a.depth = depth;
  a.valueDepth = valueDepth.value_or(depth);
  a.scale = 1 / std::sqrt(static_cast<double>(depth));
  auto stridesOf = [](int64_t length, int64_t heads, int64_t depth) {
    return std::vector{length * heads * depth, depth, heads * depth};
  };
  a.queryStrides = stridesOf(queries, heads, depth);
  a.keyStrides = stridesOf(keys, keyHeads, depth);
  a.valueStrides = stridesOf(keys, keyHeads, a.valueDepth);
  a.outputStrides = stridesOf(queries, heads, a.valueDepth);
  if (kind == AttentionKind::backward) {
    a.queryGradStrides = a.queryStrides;
    a.keyGradStrides = a.keyStrides;
    a.valueGradStrides = a.valueStrides;
    a.outputGradStrides = a.outputStrides;
  }
  return a;
}

static constexpr AttentionKind kinds[] = {AttentionKind::forward,
                                          AttentionKind::backward};

TEST_P(CudnnPlans, Causal) {
  if (!isTaken("A100"))
    return;
  for (AttentionKind kind : kinds) {
    Attention a = make(kind, DataType::bf16, 1, 12, 12, 1024, 1024, 64);
    a.causal = true;
    EXPECT_TRUE(plan(a)) << static_cast<int>(kind);
  }
}

/// Shared keys; lengths and depths that are no multiples of tiles; values of
/// the same depth and of another one.
TEST_P(CudnnPlans, Grouped) {
  if (!isTaken("H100"))
    return;
  for (AttentionKind kind : kinds)
    for (int64_t valueDepth : {72, 40}) {
      Attention a =
          make(kind, DataType::f16, 2, 8, 2, 100, 200, 72, valueDepth);
      EXPECT_TRUE(plan(a)) << static_cast<int>(kind) << " " << valueDepth;
    }
}

/// One mask for all, in f32; one for the keys of each sample.
TEST_P(CudnnPlans, Masks) {
  if (!isTaken("B200"))
    return;
  for (AttentionKind kind : kinds) {
    Attention a = make(kind, DataType::bf16, 2, 4, 4, 128, 128, 32);
    a.maskStrides = {0, 0, 128};
    EXPECT_TRUE(plan(a)) << static_cast<int>(kind);
    a.maskType = DataType::bf16;
    a.maskStrides = {128, 0, 0};
    a.causal = true;
    EXPECT_TRUE(plan(a)) << static_cast<int>(kind);
  }
}

/// A derivative with the same bits in every run needs a workspace that grows
/// with both lengths. Sums of f32 in memory do without it.
TEST_P(CudnnPlans, Workspace) {
  if (!isTaken("H100"))
    return;
  Attention a =
      make(AttentionKind::backward, DataType::bf16, 8, 12, 12, 1024, 1024, 64);
  a.causal = true;
  constexpr int64_t scores = int64_t(8) * 12 * 1024 * 1024 * 2;
  EXPECT_FALSE(plan(a));
  std::optional<int64_t> bytes = plan(a, /*maxWorkspace=*/2 * scores);
  ASSERT_TRUE(bytes);
  EXPECT_GE(*bytes, scores);
  EXPECT_LT(*bytes, scores + (int64_t(4) << 20));
  a.deterministic = false;
  bytes = plan(a);
  ASSERT_TRUE(bytes);
  EXPECT_LT(*bytes, scores / 4);
}

TEST_P(CudnnPlans, HasNothing) {
  for (AttentionKind kind : kinds) {
    Attention odd = make(kind, DataType::bf16, 2, 4, 4, 64, 64, 20);
    EXPECT_FALSE(plan(odd)) << static_cast<int>(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, CudnnPlans,
                         testing::Values(Chip{"A100", 800, 108, 166912},
                                         Chip{"H100", 900, 132, 232448},
                                         Chip{"B200", 1000, 148, 232448}),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
