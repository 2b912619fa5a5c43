//===- HostGradientTest.cpp - gradients through our own code generator ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles forward and backward functions for this machine and compares what
// they compute with upstream's lowerings, and the split backward with the fused
// one bit by bit, with and without fusion into kernels.
//
//===----------------------------------------------------------------------===//

#include "../Conversion/CompiledModule.h"
#include "../Rounds.h"
#include "../Runtime/TempDir.h"
#include "TestFiles.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace mlir;
using namespace veeline::test;

namespace {

/// The functions made of those of `file` with `names`, as a module.
std::string print(const GradientCheck &file,
                  const std::vector<std::string> &names) {
  OwningOpRef<ModuleOp> module;
  for (const std::string &name : names) {
    const GradientCheck::Function &functions = file.getFunction(name);
    OpBuilder builder(functions.forward->getContext());
    if (!module)
      module = ModuleOp::create(builder, builder.getUnknownLoc());
    for (func::FuncOp func : {functions.forward, functions.backward,
                              functions.input, functions.weight})
      if (func)
        module->push_back(func.clone());
  }
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// The distance of `a` from `b`, relative to `b` unless that is tiny: sums that
/// cancel keep the error of their terms.
double getDistance(const Array &a, const Array &b) {
  double distance = 0.0, norm = 0.0;
  for (int64_t i = 0; i != a.size(); ++i) {
    distance += std::pow(a.get(i) - b.get(i), 2);
    norm += b.get(i) * b.get(i);
  }
  return std::sqrt(distance) / std::max(std::sqrt(norm), 1e-3);
}

/// Runs @`name` of `file`, which `host` has compiled.
GradientCheck::Values run(GradientCheck &file, const std::string &name,
                          CompiledModule &host, bool split) {
  auto runner = [&](llvm::StringRef function, llvm::ArrayRef<Array *> taken,
                    llvm::MutableArrayRef<Array> given) {
    std::vector<void *> pointers;
    for (Array *array : taken)
      pointers.push_back(array->bytes.data());
    for (Array &array : given)
      pointers.push_back(array.bytes.data());
    host.call(function.str(), pointers);
  };
  return file.run(name, split, runner);
}

/// The functions of `file` with `names`, compiled by -O0 but in the long suite:
/// that has the same bits.
CompiledModule compileQuickly(const GradientCheck &file,
                              const std::vector<std::string> &names,
                              bool fuse) {
  CompileOptions options;
  options.fuse = fuse;
  options.optimizationLevel = isLong() ? 3 : 0;
  return CompiledModule(print(file, names), options);
}

CompiledModule compileAsUsersDo(const GradientCheck &file) {
  return CompiledModule(print(file, file.getFunctions()));
}

/// Checks @`name` of `file`, as it was compiled with and without fusion.
void check(GradientCheck &file, const std::string &name, CompiledModule &host,
           CompiledModule &plain) {
  GradientCheck::Values fused = run(file, name, host, /*split=*/false);
  GradientCheck::Values split = run(file, name, host, /*split=*/true);
  GradientCheck::Values plainFused = run(file, name, plain, /*split=*/false);
  GradientCheck::Values plainSplit = run(file, name, plain, /*split=*/true);
  GradientCheck::Values upstream = file.run(name, /*split=*/false);
  for (const auto &[role, array] : fused) {
    auto what = [&, &key = role] {
      return stringifyRoleKind(key.first).str() + " " +
             std::to_string(key.second) + " of @" + name;
    };
    EXPECT_TRUE(array.bytes == split.at(role).bytes) << what();
    EXPECT_TRUE(array.bytes == plainFused.at(role).bytes) << what();
    EXPECT_TRUE(array.bytes == plainSplit.at(role).bytes) << what();
    double tolerance = array.type.getElementType().isF64() ? 1e-12 : 1e-5;
    EXPECT_LE(getDistance(array, upstream.at(role)), tolerance) << what();
  }
}

/// Checks all functions of `file`, each way of compiling it being one module.
void check(GradientCheck &file, CompiledModule host) {
  CompiledModule plain =
      compileQuickly(file, file.getFunctions(), /*fuse=*/false);
  for (const std::string &name : file.getFunctions())
    check(file, name, host, plain);
}

/// Attention as `loops` that store no scores gives the same as products and a
/// softmax.
void checkLoops(GradientCheck &file, const std::string &name,
                CompiledModule &loops) {
  GradientCheck::Values looped = run(file, name, loops, /*split=*/true);
  for (const auto &[role, array] : file.run(name, /*split=*/false))
    EXPECT_LE(getDistance(looped.at(role), array), 1e-12)
        << stringifyRoleKind(role.first).str() << " " << role.second << " of @"
        << name;
}

class HostGradients : public ::testing::TestWithParam<const char *> {};

TEST_P(HostGradients, SplitIsFusedAndBothAreRight) {
  GradientCheck *file = getFile(GetParam());
  ASSERT_TRUE(file);
  check(*file, compileAsUsersDo(*file));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, HostGradients,
    ::testing::Values(INPUTS "/elementwise.mlir", INPUTS "/structured.mlir",
                      INPUTS "/tensor.mlir", INPUTS "/layers.mlir",
                      INPUTS "/transformer-layer.mlir", INPUTS "/control.mlir",
                      INPUTS "/attention.mlir"));

/// The others of the long suite have the layers of these.
std::vector<const char *> listModels() {
  std::vector<const char *> models = {
      MODELS "/mlp.mlir", MODELS "/gpt-f32.mlir", MODELS "/gpt-rotary.mlir"};
  if (isLong()) {
    models.push_back(MODELS "/gpt.mlir");
    models.push_back(MODELS "/gpt-tied.mlir");
  }
  return models;
}

INSTANTIATE_TEST_SUITE_P(Models, HostGradients,
                         ::testing::ValuesIn(listModels()));

TEST(HostAttention, LoopsAndProductsAgree) {
  GradientCheck *file = getFile(INPUTS "/attention.mlir");
  ASSERT_TRUE(file);
  CompileOptions options;
  options.keepAttention = true;
  CompiledModule loops(print(*file, file->getFunctions()), options);
  for (const std::string &name : file->getFunctions())
    checkLoops(*file, name, loops);
}

/// Checks any file: VEELINE_GRADIENT_FILE=model.mlir, with
/// --gtest_filter=*GivenFile.
TEST(HostGradients, GivenFile) {
  const char *path = std::getenv("VEELINE_GRADIENT_FILE");
  if (!path)
    GTEST_SKIP() << "VEELINE_GRADIENT_FILE names no file";
  GradientCheck *file = getFile(path);
  ASSERT_TRUE(file);
  check(*file, compileAsUsersDo(*file));
}

/// These compile as users do in the long suite only: LLVM would take a third of
/// the time to optimise loops that differ in strides and gaps.
TEST(HostGradients, Windows) {
  GradientCheck *file = getFile(INPUTS "/windows.mlir");
  ASSERT_TRUE(file);
  check(*file, compileQuickly(*file, file->getFunctions(), /*fuse=*/true));
}

/// Replaces `from` by `to` everywhere in a text.
void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// windows.mlir in f32.
GradientCheck *retypeWindows() {
  std::ifstream source(INPUTS "/windows.mlir");
  std::string text((std::istreambuf_iterator<char>(source)),
                   std::istreambuf_iterator<char>());
  replaceAll(text, "f64", "f32");
  replaceAll(text, "0xFFF0000000000000", "0xFF800000");
  replaceAll(text, "0x7FF0000000000000", "0x7F800000");
  TempDir directory;
  return getFile(directory.write("windows-f32.mlir", text));
}

/// In f32, convolutions stay whole and are calls of the library. In f64, each
/// is one product for each element of the window.
TEST(HostGradients, WholeConvolutions) {
  GradientCheck *wide = getFile(INPUTS "/windows.mlir");
  GradientCheck *narrow = retypeWindows();
  ASSERT_TRUE(wide && narrow);
  std::vector<std::string> names = narrow->getFunctions();
  llvm::erase_if(
      names, [](const std::string &name) { return name.find("pool") == 0; });
  CompiledModule plain = compileQuickly(*narrow, names, /*fuse=*/false);
  for (const std::string &name : names) {
    CompiledModule host(print(*narrow, {name}));
    check(*narrow, name, host, plain);
    // One forward, and both adjoints, which the fused and the split backward
    // share.
    EXPECT_EQ(host.convolutions().size(), 3u) << name;
    GradientCheck::Values expected = wide->run(name, /*split=*/false);
    for (const auto &[role, array] : run(*narrow, name, host, /*split=*/true)) {
      veeline::pipe::RoleKind kind = role.first;
      // Different values are kept.
      if (kind == veeline::pipe::RoleKind::Residual ||
          kind == veeline::pipe::RoleKind::Saved)
        continue;
      EXPECT_LE(getDistance(array, expected.at(role)), 1e-5)
          << stringifyRoleKind(kind).str() << ' ' << role.second << " of @"
          << name;
    }
  }
}

} // namespace
