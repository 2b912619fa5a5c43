//===- HostUnits.cpp - the host code of steps -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/HostUnits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Pipelines/Pipelines.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <optional>

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

/// A unit with this many ops gets no more functions. The size is a compromise:
/// several units can be compiled in parallel, and the passes take longer to run
/// than to set up.
static constexpr int64_t maxOps = 1000;

/// A function that is defined in a module.
struct HostUnits::Node {
  func::FuncOp func;
  Source *source;
  SmallVector<Node *> callees;
  /// The numbers of the steps that reach it, in ascending order.
  SmallVector<unsigned> steps;
  unsigned unit = 0;
  bool isStep = false;
  bool isCalledFromElsewhere = false;
};

/// A module, with the names of its functions.
struct HostUnits::Source {
  ModuleOp module;
  unsigned number;
  std::vector<Step> steps;
  llvm::StringMap<Operation *> symbols;
  /// The functions that are defined, in the order of the module.
  std::vector<Node> nodes;
  /// The functions by name. A kernel that equals one of an earlier module
  /// refers to that module's node.
  llvm::StringMap<Node *> definitions;

  /// The name of a function in its object. It is unique, because objects of
  /// several modules are linked together.
  std::string getName(Node &node) const {
    StringRef name = node.func.getSymName();
    return !number || node.isStep ? name.str()
                                  : (name + "$" + Twine(number)).str();
  }
};

/// Functions of a module that are compiled together, or one function of a step.
struct HostUnits::Unit {
  SmallVector<Node *> nodes;
  /// The steps that reach any of these functions.
  llvm::SmallSetVector<unsigned, 4> steps;
  int64_t numOps = 0;
  bool isStep = false;
  bool isCached = false;
  HostObject object;
};

HostUnits::HostUnits() = default;
HostUnits::~HostUnits() = default;

size_t HostUnits::getNumUnits() const { return units.size(); }

size_t HostUnits::getNumCached() const {
  return llvm::count_if(units, [](const Unit &unit) { return unit.isCached; });
}

void HostUnits::add(ModuleOp module, ArrayRef<Step> steps) {
  sources.push_back(
      {module, unsigned(sources.size()), steps.vec(), {}, {}, {}});
}

/// The names of the symbols that `func` refers to.
static llvm::SmallSetVector<StringRef, 8> getReferences(func::FuncOp func) {
  llvm::SmallSetVector<StringRef, 8> names;
  if (auto uses = SymbolTable::getSymbolUses(&func.getBody()))
    for (SymbolTable::SymbolUse use : *uses)
      names.insert(use.getSymbolRef().getRootReference().getValue());
  return names;
}

/// The text of `func`, without its name.
static std::string getText(func::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  func->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  return text.substr(text.find('('));
}

void HostUnits::findCalls() {
  std::map<std::string, Node *> kernels;
  for (Source &source : sources) {
    for (auto symbol : source.module.getOps<SymbolOpInterface>()) {
      source.symbols[symbol.getName()] = symbol;
      auto func = dyn_cast<func::FuncOp>(*symbol);
      if (func && !func.isExternal())
        source.nodes.push_back({func, &source, {}, {}});
    }
    llvm::StringSet<> steps;
    for (const Step &step : source.steps)
      steps.insert_range(step);
    // Only kernels, which refer to nothing, can be shared between modules. Code
    // that calls the runtime passes it numbers in its own module's tables.
    bool isShared = sources.size() > 1;
    for (Node &node : source.nodes) {
      node.isStep = steps.contains(node.func.getSymName());
      Node *definition = &node;
      if (isShared && !node.isStep && getReferences(node.func).empty())
        definition =
            kernels.try_emplace(getText(node.func), &node).first->second;
      source.definitions[node.func.getSymName()] = definition;
    }
    for (Node &node : source.nodes)
      for (StringRef name : getReferences(node.func))
        if (Node *callee = source.definitions.lookup(name))
          node.callees.push_back(callee);
  }
}

void HostUnits::markReachable() {
  unsigned step = 0;
  for (Source &source : sources)
    for (const Step &functions : source.steps) {
      SmallVector<Node *> work;
      for (const std::string &name : functions)
        work.push_back(source.definitions.lookup(name));
      while (!work.empty()) {
        Node *node = work.pop_back_val();
        if (!node->steps.empty() && node->steps.back() == step)
          continue;
        node->steps.push_back(step);
        llvm::append_range(work, node->callees);
      }
      ++step;
    }
}

static int64_t countOps(func::FuncOp func) {
  int64_t count = 0;
  func.walk([&](Operation *) { ++count; });
  return count;
}

void HostUnits::divide() {
  for (Source &source : sources) {
    std::optional<unsigned> open;
    for (Node &node : source.nodes) {
      if (node.steps.empty())
        continue;
      bool isNew = node.isStep || !open || units[*open].numOps >= maxOps;
      node.unit = isNew ? units.size() : *open;
      if (isNew)
        units.emplace_back().isStep = node.isStep;
      if (!node.isStep)
        open = node.unit;
      Unit &unit = units[node.unit];
      unit.nodes.push_back(&node);
      unit.steps.insert_range(node.steps);
      unit.numOps += countOps(node.func);
    }
  }
  for (Source &source : sources)
    for (Node &node : source.nodes)
      if (!node.steps.empty())
        for (Node *callee : node.callees)
          callee->isCalledFromElsewhere |= callee->unit != node.unit;
}

/// Adds the function of `node`, and renames its references as in its object.
void HostUnits::addFunction(Node &node, OpBuilder &builder) {
  const Source &source = *node.source;
  auto func = cast<func::FuncOp>(builder.clone(*node.func));
  func.setSymName(source.getName(node));
  if (node.isCalledFromElsewhere) {
    func.setPublic();
    func->removeAttr("llvm.linkage");
  }
  AttrTypeReplacer names;
  names.addReplacement([&](FlatSymbolRefAttr name) -> std::optional<Attribute> {
    Node *callee = source.definitions.lookup(name.getValue());
    if (!callee)
      return std::nullopt;
    return FlatSymbolRefAttr::get(builder.getContext(),
                                  callee->source->getName(*callee));
  });
  names.recursivelyReplaceElementsIn(func);
}

/// Declares `func` under the name `name`.
static void addDeclaration(func::FuncOp func, StringRef name,
                           OpBuilder &builder) {
  auto declaration =
      cast<func::FuncOp>(builder.insert(func->cloneWithoutRegions()));
  declaration.setSymName(name);
  declaration.setPrivate();
  declaration->removeAttr("llvm.linkage");
}

/// Creates a module with the functions of `unit`, and declarations of the
/// functions that they call.
OwningOpRef<ModuleOp> HostUnits::extract(Unit &unit) {
  ModuleOp module = unit.nodes.front()->source->module;
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  (*result)->setAttrs(module->getAttrs());
  auto builder = OpBuilder::atBlockEnd(result->getBody());
  for (Node *node : unit.nodes)
    addFunction(*node, builder);
  SymbolTable added(*result);
  for (Node *node : unit.nodes)
    for (StringRef local : getReferences(node->func)) {
      Operation *symbol = node->source->symbols.lookup(local);
      Node *callee = node->source->definitions.lookup(local);
      std::string name =
          callee ? callee->source->getName(*callee) : local.str();
      if (added.lookup(name))
        continue;
      if (auto func = dyn_cast<func::FuncOp>(symbol))
        addDeclaration(func, name, builder);
      else
        builder.clone(*symbol);
      added.insert(&result->getBody()->back());
    }
  return result;
}

/// The cache key of the object that `object` describes and `module` defines.
static std::string getKey(const CodeCache &cache, ModuleOp module,
                          const HostObject &object, unsigned level) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().assumeVerified());
  return cache.getKey({"host object", object.triple, object.cpu,
                       llvm::join(object.features, ","), std::to_string(level),
                       text});
}

llvm::Error HostUnits::compileUnit(Unit &unit, HostTargetOptions target,
                                   const CodeCache *cache) {
  // A step consists of calls. Optimising it takes longer than optimising all
  // functions that it calls, and the time grows faster than the number of
  // calls.
  if (unit.isStep)
    target.optimizationLevel = 0;
  OwningOpRef<ModuleOp> extracted = extract(unit);
  std::string key;
  if (cache) {
    auto described = describeHostObject(target);
    if (!described)
      return described.takeError();
    key = getKey(*cache, *extracted, *described, target.optimizationLevel);
    if (std::optional<std::string> bytes = cache->find(key)) {
      unit.object = std::move(*described);
      unit.object.bytes.assign(bytes->begin(), bytes->end());
      unit.isCached = true;
      return llvm::Error::success();
    }
  }
  if (failed(runPhase(*extracted, buildHostPipeline)))
    return llvm::createStringError("");
  llvm::StringSet<> steps;
  for (Node *node : unit.nodes)
    if (node->isStep)
      steps.insert(node->source->getName(*node));
  // A shared object exports only its step.
  for (auto func : extracted->getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal() && func.getLinkage() == LLVM::Linkage::External &&
        !steps.contains(func.getName()))
      func.setVisibility_(LLVM::Visibility::Hidden);
  auto object = compileToObject(*extracted, target);
  if (!object)
    return object.takeError();
  unit.object = std::move(*object);
  if (cache)
    cache->add(key, {unit.object.bytes.data(), unit.object.bytes.size()});
  return llvm::Error::success();
}

/// Calls `body` with 0 to `count` - 1 in parallel. Returns one error, because a
/// failure usually concerns all calls.
static llvm::Error forEach(MLIRContext *context, size_t count,
                           llvm::function_ref<llvm::Error(size_t)> body) {
  std::vector<std::string> messages(count);
  LogicalResult result =
      failableParallelForEachN(context, 0, count, [&](size_t i) {
        llvm::Error problem = body(i);
        if (!problem)
          return success();
        messages[i] = toString(std::move(problem));
        return failure();
      });
  if (succeeded(result))
    return llvm::Error::success();
  for (const std::string &message : messages)
    if (!message.empty())
      return llvm::createStringError(message);
  return llvm::createStringError("");
}

/// Loads the dialects of the host pipeline. A context must not load dialects
/// while several threads use it.
static void loadHostDialects(MLIRContext &context) {
  PassManager passManager(&context);
  buildHostPipeline(passManager);
  DialectRegistry dialects;
  passManager.getDependentDialects(dialects);
  context.appendDialectRegistry(dialects);
  for (StringRef name : dialects.getDialectNames())
    context.getOrLoadDialect(name);
}

llvm::Expected<StepCode> HostUnits::link(const HostTargetOptions &target) {
  StepCode code;
  std::vector<SmallVector<const HostObject *>> parts;
  for (Unit &unit : units)
    for (unsigned step : unit.steps) {
      parts.resize(std::max<size_t>(parts.size(), step + 1));
      parts[step].push_back(&unit.object);
    }
  code.objects.resize(parts.size());
  auto linkStep = [&](size_t i) -> llvm::Error {
    auto linked = linkSharedObject(parts[i], target);
    if (linked)
      code.objects[i].assign(linked->begin(), linked->end());
    return linked.takeError();
  };
  MLIRContext *context = sources.front().module.getContext();
  if (llvm::Error problem = forEach(context, parts.size(), linkStep))
    return problem;
  code.cpu = units.front().object.cpu;
  code.features = units.front().object.features;
  return code;
}

llvm::Expected<StepCode> HostUnits::compile(const HostTargetOptions &target,
                                            const CodeCache *cache) {
  findCalls();
  markReachable();
  divide();
  MLIRContext *context = sources.front().module.getContext();
  loadHostDialects(*context);
  // The longest come first, so that no core has to wait for them at the end.
  auto bySize = llvm::to_vector(llvm::make_pointer_range(units));
  llvm::stable_sort(bySize,
                    [](Unit *a, Unit *b) { return a->numOps > b->numOps; });
  if (llvm::Error problem = forEach(context, units.size(), [&](size_t i) {
        return compileUnit(*bySize[i], target, cache);
      }))
    return problem;
  return link(target);
}
