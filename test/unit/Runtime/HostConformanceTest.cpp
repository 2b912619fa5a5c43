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
