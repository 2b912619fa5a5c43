//===- HostUnitsTest.cpp - steps of several modules, each function once ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/HostUnits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "veeline/InitAll.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

namespace {

class HostUnitsTest : public testing::Test {
protected:
  HostUnitsTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<arith::ArithDialect, func::FuncDialect,
                    memref::MemRefDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &source) {
    auto module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    return module;
  }

  MLIRContext context;
};

/// A kernel that writes a number.
std::string kernel(const std::string &name, int number) {
  return "func.func private @" + name +
         "(%to: memref<f64>) attributes {llvm.linkage = "
         "#llvm.linkage<internal>, passthrough = [\"noinline\"]} {\n"
         "  %number = arith.constant " +
         std::to_string(number) +
         ".0 : f64\n  memref.store %number, %to[] : memref<f64>\n  return\n}\n";
}

std::string caller(const std::string &name,
                   const std::vector<std::string> &callees) {
  std::string text = "func.func @" + name + "(%to: memref<f64>) {\n";
  for (const std::string &callee : callees)
    text += "  func.call @" + callee + "(%to) : (memref<f64>) -> ()\n";
  return text + "  return\n}\n";
}

struct Symbols {
  std::set<std::string> exported, functions;
};

/// The symbols that a shared object defines.
Symbols getSymbols(const std::string &bytes) {
  Symbols result;
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(bytes, "object"));
  EXPECT_TRUE(static_cast<bool>(file));
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->get());
  auto take = [](auto symbols, std::set<std::string> &names) {
    for (llvm::object::ELFSymbolRef symbol : symbols)
      if (symbol.getELFType() == llvm::ELF::STT_FUNC)
        names.insert(llvm::cantFail(symbol.getName()).str());
  };
  take(elf->getDynamicSymbolIterators(), result.exported);
  take(elf->symbols(), result.functions);
  return result;
}

/// The bytes of code of a function.
uint64_t getSize(const std::string &bytes, llvm::StringRef name) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(bytes, "object"));
  EXPECT_TRUE(static_cast<bool>(file));
  for (llvm::object::ELFSymbolRef symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(file->get())->symbols())
    if (llvm::cantFail(symbol.getName()) == name)
      return symbol.getSize();
  return 0;
}

double run(const std::string &bytes, const std::string &step) {
  auto loaded =
      LoadedObject::load(llvm::ArrayRef<char>(bytes.data(), bytes.size()));
  EXPECT_TRUE(static_cast<bool>(loaded));
  auto address = llvm::cantFail(loaded->lookup(step));
  double result = 0;
  reinterpret_cast<void (*)(double *)>(address)(&result);
  return result;
}

using Names = std::set<std::string>;

// Both modules have functions with the same names that do different things, and
// equal kernels with different names.
TEST_F(HostUnitsTest, LinksEachStepOfWhatItReaches) {
  auto first =
      parse(kernel("one", 1) + kernel("two", 2) + kernel("unused", 9) +
            caller("chunk0", {"two", "one"}) + caller("chunk1", {"two"}) +
            caller("rank0", {"chunk0"}) + caller("rank1", {"chunk1"}) +
            caller("sequential", {"chunk1", "chunk0"}));
  auto second = parse(kernel("two", 3) + kernel("other", 2) +
                      caller("chunk0", {"other", "two"}) +
                      caller("reference", {"chunk0"}));
  HostUnits units;
  units.add(*first, {HostUnits::Step{"rank0"}, HostUnits::Step{"rank1"},
                     HostUnits::Step{"sequential"}});
  units.add(*second, {HostUnits::Step{"reference"}});
  auto code = units.compile({});
  ASSERT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
  EXPECT_NE(code->cpu, "native");
  EXPECT_FALSE(code->features.empty());
  ASSERT_EQ(code->objects.size(), 4u);

  Symbols rank0 = getSymbols(code->objects[0]);
  EXPECT_EQ(rank0.exported, Names({"rank0"}));
  EXPECT_EQ(rank0.functions, Names({"rank0", "chunk0", "one", "two"}));
  EXPECT_EQ(run(code->objects[0], "rank0"), 1);
  EXPECT_EQ(getSymbols(code->objects[1]).functions,
            Names({"rank1", "chunk1", "two"}));
  EXPECT_EQ(run(code->objects[1], "rank1"), 2);
  EXPECT_EQ(getSymbols(code->objects[2]).exported, Names({"sequential"}));
  EXPECT_EQ(run(code->objects[2], "sequential"), 1);

  Symbols reference = getSymbols(code->objects[3]);
  EXPECT_EQ(reference.exported, Names({"reference"}));
  EXPECT_EQ(reference.functions,
            Names({"reference", "chunk0$1", "two", "two$1"}));
  EXPECT_EQ(run(code->objects[3], "reference"), 3);
}

// Only what is new is compiled; a damaged file counts as missing, and is
// written again.
TEST_F(HostUnitsTest, TakesUnitsFromACache) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cache", directory));
  auto remove =
      llvm::scope_exit([&] { llvm::sys::fs::remove_directories(directory); });
  auto cache = CodeCache::open(directory);
  ASSERT_TRUE(static_cast<bool>(cache)) << toString(cache.takeError());

  std::string kernels = kernel("one", 1) + kernel("two", 2);
  std::string old = kernels + caller("rank0", {"two", "one"});
  // The kernels are a unit, and each step is one.
  auto compile = [&](const std::string &source, const CodeCache *cache,
                     unsigned level, size_t cached) {
    auto module = parse(source);
    HostUnits units;
    units.add(*module, {HostUnits::Step{"rank0"}});
    HostTargetOptions target;
    target.optimizationLevel = level;
    auto code = units.compile(target, cache);
    EXPECT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
    EXPECT_EQ(units.getNumUnits(), 2u);
    EXPECT_EQ(units.getNumCached(), cached);
    return code ? code->objects[0] : std::string();
  };
  std::string alone = compile(old, nullptr, 3, 0);
  EXPECT_EQ(compile(old, &*cache, 3, 0), alone);
  EXPECT_EQ(compile(old, &*cache, 3, 2), alone);
  // Another step of the same kernels; a step is not optimised at any level.
  EXPECT_EQ(
      run(compile(kernels + caller("rank0", {"one", "two"}), &*cache, 3, 1),
          "rank0"),
      2);
  compile(old, &*cache, 1, 1);
  // Another kernel of the same name.
  EXPECT_EQ(run(compile(kernel("one", 7) + kernel("two", 2) +
                            caller("rank0", {"two", "one"}),
                        &*cache, 3, 1),
                "rank0"),
            7);

  std::error_code problem;
  for (llvm::sys::fs::directory_iterator file(directory, problem), end;
       file != end && !problem; file.increment(problem)) {
    std::fstream stream(file->path(), std::ios::in | std::ios::out);
    stream.seekp(100);
    stream.put('x');
  }
  EXPECT_EQ(compile(old, &*cache, 3, 0), alone);
  EXPECT_EQ(compile(old, &*cache, 3, 2), alone);
  // A file under the key of another one.
  cache->add("one", "bytes");
  ASSERT_EQ(cache->find("one"), "bytes");
  std::string path = directory.str().str() + "/llvmcache-";
  ASSERT_FALSE(llvm::sys::fs::copy_file(path + "one", path + "two"));
  EXPECT_EQ(cache->find("two"), std::nullopt);
}

// A call of the runtime refers to a table of its module by number, so its
// caller is not shared.
TEST_F(HostUnitsTest, SharesNoCallsOfTheRuntime) {
  std::string text = "func.func private @outside(memref<f64>)\n" +
                     caller("chunk0", {"outside"});
  auto first = parse(text + caller("pipeline", {"chunk0"}));
  auto second = parse(text + caller("reference", {"chunk0"}));
  HostUnits units;
  units.add(*first, {HostUnits::Step{"pipeline"}});
  units.add(*second, {HostUnits::Step{"reference"}});
  auto code = units.compile({});
  ASSERT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
  EXPECT_EQ(getSymbols(code->objects[0]).functions,
            Names({"pipeline", "chunk0"}));
  EXPECT_EQ(getSymbols(code->objects[1]).functions,
            Names({"reference", "chunk0$1"}));
}

// A module with more ops than fit a unit makes several units, whose functions
// call each other.
TEST_F(HostUnitsTest, DividesWhatIsLarge) {
  std::string text;
  std::vector<std::string> names;
  for (int i = 0; i != 1500; ++i) {
    names.push_back("kernel" + std::to_string(i));
    text += kernel(names.back(), i);
  }
  auto module = parse(text + caller("step", names));
  HostUnits units;
  units.add(*module, {HostUnits::Step{"step"}});
  auto code = units.compile({});
  ASSERT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
  EXPECT_EQ(getSymbols(code->objects[0]).exported, Names({"step"}));
  EXPECT_EQ(run(code->objects[0], "step"), 1499);
  // One unit of the step, and six of kernels.
  EXPECT_EQ(units.getNumUnits(), 7u);
}

// A function whose address is taken is renamed there, too.
TEST_F(HostUnitsTest, RenamesAddresses) {
  auto first = parse(kernel("one", 1) + caller("pipeline", {"one"}));
  auto second = parse(kernel("one", 2) + R"(
func.func @reference(%to: memref<f64>) {
  %one = func.constant @one : (memref<f64>) -> ()
  func.call_indirect %one(%to) : (memref<f64>) -> ()
  return
}
)");
  HostUnits units;
  units.add(*first, {HostUnits::Step{"pipeline"}});
  units.add(*second, {HostUnits::Step{"reference"}});
  auto code = units.compile({});
  ASSERT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
  EXPECT_EQ(run(code->objects[0], "pipeline"), 1);
  EXPECT_EQ(run(code->objects[1], "reference"), 2);
  EXPECT_EQ(getSymbols(code->objects[1]).functions,
            Names({"reference", "one$1"}));
}

// A step is one long row of calls, which no optimisation makes faster.
// Optimising it would take longer than compiling all that it calls.
TEST_F(HostUnitsTest, OptimisesWhatStepsCall) {
  std::string stores;
  for (int i = 0; i != 200; ++i)
    stores += "  memref.store %number, %to[] : memref<f64>\n";
  auto define = [&](const std::string &name, const std::string &rest) {
    return "func.func @" + name +
           "(%to: memref<f64>) {\n  %number = arith.constant 5.0 : f64\n" +
           stores + rest + "  return\n}\n";
  };
  auto module =
      parse(define("chunk", "") +
            define("step", "  func.call @chunk(%to) : (memref<f64>) -> ()\n"));
  HostUnits units;
  units.add(*module, {HostUnits::Step{"step"}});
  auto code = units.compile({});
  ASSERT_TRUE(static_cast<bool>(code)) << toString(code.takeError());
  EXPECT_LT(getSize(code->objects[0], "chunk"), 200u);
  EXPECT_GE(getSize(code->objects[0], "step"), 800u);
  EXPECT_EQ(run(code->objects[0], "step"), 5);
}

TEST_F(HostUnitsTest, SaysWhatIsWrongOnce) {
  auto module =
      parse(kernel("one", 1) + caller("a", {"one"}) + caller("b", {"one"}));
  HostUnits units;
  units.add(*module, {HostUnits::Step{"a"}, HostUnits::Step{"b"}});
  HostTargetOptions target;
  target.cpu = "abacus";
  auto code = units.compile(target);
  ASSERT_FALSE(static_cast<bool>(code));
  EXPECT_EQ(
      toString(code.takeError()),
      "unknown CPU 'abacus': use 'native' or a name that 'llc -mcpu=help' "
      "lists");
}

} // namespace
