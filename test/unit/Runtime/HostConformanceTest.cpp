//===- HostConformanceTest.cpp - the host backend in the suite ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "Suite.h"

using namespace veeline;

namespace {
class HostBackend final : public cts::Backend {
public:
  Expected<std::unique_ptr<Executor>>
  create(const artifact::Artifact &artifact,
         const std::vector<veeline_step_fn> &steps) override {
    host::HostOptions options;
    options.steps = steps;
    options.checkMessages = true;
    Expected<std::unique_ptr<host::HostExecutor>> created =
        host::HostExecutor::create(artifact, artifact.metadata.programs[0],
                                   options);
    if (!created.ok())
      return created.status();
    return std::unique_ptr<Executor>(std::move(*created));
  }
};
} // namespace

cts::Backend &cts::backend() {
  static HostBackend backend;
  return backend;
}

/// Each call that only code for a GPU makes is one fault that says so.
TEST(Host, CallsOfAGpu) {
  auto messageOf = [](veeline_step_fn step) {
    cts::Fixture fixture({step});
    fixture.create();
    Status status = fixture.step();
    return status.ok() ? "" : status.message();
  };
  std::string rest = ", which only code for a GPU has: the artifact's target "
                     "is host";
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              uint64_t arguments[1] = {};
              veeline_launch(rank, 3, arguments);
              veeline_launch(rank, 4, arguments);
            }),
            "rank 0: kernel 3 is launched" + rest);
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              veeline_gemm_bias(rank, 0, nullptr, nullptr, nullptr, nullptr,
                                nullptr);
            }),
            "rank 0: matrix product 0 has an epilogue" + rest);
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              veeline_gemm_aux(rank, 1, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
            }),
            "rank 0: matrix product 1 has an epilogue" + rest);
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              EXPECT_EQ(veeline_constant(rank, 1), nullptr);
              EXPECT_EQ(veeline_settings(rank), nullptr);
              EXPECT_EQ(veeline_load(rank, nullptr, 8), 0u);
            }),
            "rank 0: constant 1 is asked for" + rest);
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              EXPECT_EQ(veeline_settings(rank), nullptr);
            }),
            "rank 0: the place of the settings is asked for" + rest);
  EXPECT_EQ(messageOf([](veeline_rank *rank, char *, const void *const *) {
              EXPECT_EQ(veeline_norm(rank, 0), nullptr);
            }),
            "rank 0: the norm of parameter entry 0 is asked for" + rest);
}
