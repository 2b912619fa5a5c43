//===- TestFiles.cpp - files of MLIR, compiled once -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestFiles.h"

#include "gtest/gtest.h"

using namespace veeline::test;

namespace {

/// Frees compiled code before LLVM destroys its static objects.
class Files : public ::testing::Environment {
public:
  void TearDown() override { files.clear(); }

  GradientCheck *get(const std::string &path) {
    auto [it, isNew] = files.try_emplace(path);
    if (isNew)
      it->second = GradientCheck::load(path);
    return it->second.get();
  }

private:
  std::map<std::string, std::unique_ptr<GradientCheck>> files;
};

Files *const files =
    static_cast<Files *>(::testing::AddGlobalTestEnvironment(new Files()));

} // namespace

GradientCheck *veeline::test::getFile(const std::string &path) {
  return files->get(path);
}
