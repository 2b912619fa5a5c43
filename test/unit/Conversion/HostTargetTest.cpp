//===- HostTargetTest.cpp - from the LLVM dialect to loaded code ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/HostTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace veeline;

namespace {

class HostTarget : public testing::Test {
protected:
  HostTarget() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerHostTarget(registry);
    registry.insert<LLVM::LLVMDialect>();
    context.appendDialectRegistry(registry);
  }

  OwningOpRef<ModuleOp> parse(const char *source) {
    auto module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    return module;
  }

  template <typename T> std::string getError(llvm::Expected<T> result) {
    EXPECT_FALSE(static_cast<bool>(result));
    return result ? "" : toString(result.takeError());
  }

  MLIRContext context;
};

const char *product = R"(
llvm.func @product_sum(%a: f32, %b: f32, %c: f32) -> f32 {
  %0 = llvm.fmul %a, %b : f32
  %1 = llvm.fadd %0, %c : f32
  llvm.return %1 : f32
})";

bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HostTarget, CompilesLinksLoadsAndCalls) {
  auto module = parse(product);
  auto object = compileToObject(*module, {});
  ASSERT_TRUE(static_cast<bool>(object)) << toString(object.takeError());
  EXPECT_FALSE(object->cpu.empty());
  EXPECT_NE(object->cpu, "native");
  EXPECT_FALSE(object->features.empty());
  auto bytes = linkSharedObject(&*object, {});
  ASSERT_TRUE(static_cast<bool>(bytes)) << toString(bytes.takeError());
  auto loaded = LoadedObject::load(*bytes);
  ASSERT_TRUE(static_cast<bool>(loaded)) << toString(loaded.takeError());
  auto address = loaded->lookup("product_sum");
  ASSERT_TRUE(static_cast<bool>(address)) << toString(address.takeError());
  auto function = reinterpret_cast<float (*)(float, float, float)>(*address);
  // (1 + 2^-12)^2 - 1 in two roundings: the 2^-24 is lost.
  float x = 1.0f + 0x1p-12f;
  EXPECT_EQ(function(x, x, -1.0f), 0x1p-11f);
  EXPECT_TRUE(
      contains(getError(loaded->lookup("nothing")), "no symbol 'nothing'"));
}

TEST_F(HostTarget, NeverContracts) {
  auto module = parse(product);
  for (const char *cpu : {"native", "x86-64-v3", "znver4"}) {
    HostTargetOptions options;
    options.cpu = cpu;
    auto text = compileToAssembly(*module, options);
    ASSERT_TRUE(static_cast<bool>(text)) << toString(text.takeError());
    EXPECT_FALSE(contains(*text, "vfmadd")) << cpu;
    EXPECT_TRUE(contains(*text, "mulss")) << cpu;
  }
}

TEST_F(HostTarget, NamesWhatTheCodeNeeds) {
  auto module = parse(product);
  HostTargetOptions options;
  options.cpu = "x86-64";
  auto baseline = compileToObject(*module, options);
  ASSERT_TRUE(static_cast<bool>(baseline)) << toString(baseline.takeError());
  options.cpu = "x86-64-v4";
  auto wide = compileToObject(*module, options);
  ASSERT_TRUE(static_cast<bool>(wide)) << toString(wide.takeError());
  auto has = [](const HostObject &object, const char *feature) {
    return std::find(object.features.begin(), object.features.end(), feature) !=
           object.features.end();
  };
  EXPECT_TRUE(has(*baseline, "sse2"));
  EXPECT_FALSE(has(*baseline, "avx"));
  EXPECT_TRUE(has(*wide, "avx512f"));
  EXPECT_TRUE(std::is_sorted(wide->features.begin(), wide->features.end()));
}

TEST_F(HostTarget, RefusesAnUnknownProcessor) {
  auto module = parse(product);
  HostTargetOptions options;
  options.cpu = "abacus";
  std::string error = getError(compileToObject(*module, options));
  EXPECT_TRUE(contains(error, "unknown CPU 'abacus'")) << error;
  EXPECT_TRUE(contains(error, "native")) << error;
}

TEST_F(HostTarget, RefusesAnythingButTheLLVMDialect) {
  auto module = parse(R"(
llvm.func @f(%a: i64) {
  %0 = builtin.unrealized_conversion_cast %a : i64 to index
  llvm.return
})");
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  std::string error = getError(compileToObject(*module, {}));
  EXPECT_TRUE(contains(error, "must be in the LLVM dialect alone")) << error;
}

TEST_F(HostTarget, ReportsAMissingAndAFailingLinker) {
  auto module = parse(product);
  auto object = compileToObject(*module, {});
  ASSERT_TRUE(static_cast<bool>(object)) << toString(object.takeError());
  HostTargetOptions options;
  options.linker = "/nowhere/ld";
  std::string error = getError(linkSharedObject(&*object, options));
  EXPECT_TRUE(contains(error, "'/nowhere/ld' cannot be executed")) << error;
  object->bytes.resize(object->bytes.size() / 2);
  error = getError(linkSharedObject(&*object, {}));
  EXPECT_TRUE(contains(error, "failed (status")) << error;
}

TEST_F(HostTarget, ChecksProcessorAndLinkerBeforeCompiling) {
  EXPECT_FALSE(checkHostTarget({}));
  HostTargetOptions options;
  options.linker = "/nowhere/ld";
  std::string error = llvm::toString(checkHostTarget(options));
  EXPECT_TRUE(contains(error, "'/nowhere/ld' cannot be executed")) << error;
  options = {};
  options.cpu = "abacus";
  error = llvm::toString(checkHostTarget(options));
  EXPECT_TRUE(contains(error, "unknown CPU 'abacus'")) << error;
}

TEST_F(HostTarget, RefusesADamagedSharedObject) {
  std::vector<char> bytes(100, 'x');
  std::string error = getError(LoadedObject::load(bytes));
  EXPECT_TRUE(contains(error, "cannot load the shared object")) << error;
}

TEST_F(HostTarget, ReportsATemporaryDirectoryThatCannotBeWritten) {
  setenv("TMPDIR", "/nowhere", 1);
  std::string error = getError(LoadedObject::load({}));
  unsetenv("TMPDIR");
  EXPECT_TRUE(contains(error, "cannot")) << error;
}

} // namespace
