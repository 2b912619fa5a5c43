//===- CudnnGraph.cpp - graphs of cuDNN's, without a GPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Descriptors, and the rules for them. Of the engines that heuristics propose,
// only one can be run and has the same bits in every run; see StandIn.h.
//
//===----------------------------------------------------------------------===//

#include "CudnnInterpreter.h"
#include "StandIn.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

using namespace veeline;
using namespace veeline::standin::dnn;
namespace api = veeline::cuda::api;
namespace attribute = veeline::cuda::api::attribute;
namespace attribute_type = veeline::cuda::api::attribute_type;
namespace backend = veeline::cuda::api::backend;

#define ENTER(name)                                                            \
  if (int code = standin::enterCall(name))                                     \
  return code

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
struct Descriptor;
using Shared = std::shared_ptr<Descriptor>;

struct Attribute {
  int64_t count = 0;
  std::string bytes;
  std::vector<Shared> descriptors;
};

/// What an engine is like.
enum class Engine { nondeterministic, unsupported, uncompilable, large, plain };

struct Descriptor {
  int type;
  bool isFinalized = false;
  std::map<int, Attribute> attributes;

  // What its attributes say, once it is finalized.
  Tensor tensor;
  Node node;
  Graph graph;
  bool knowsDevice = false;
  std::vector<Engine> engines;
  Engine engine = Engine::plain;

  bool has(int name) const { return attributes.count(name) != 0; }
  template <typename T> T get(int name, T otherwise = {}) const {
    auto it = attributes.find(name);
    if (it != attributes.end())
      std::memcpy(static_cast<void *>(&otherwise), it->second.bytes.data(),
                  sizeof(T));
    return otherwise;
  }
  List list(int name) const {
    auto it = attributes.find(name);
    List values(it == attributes.end() ? 0 : it->second.count);
    if (!values.empty())
      std::memcpy(values.data(), it->second.bytes.data(), values.size() * 8);
    return values;
  }
  const Descriptor &at(int name) const {
    return *attributes.at(name).descriptors.front();
  }
  std::optional<Tensor> tensorAt(int name) const {
    return has(name) ? std::optional(at(name).tensor) : std::nullopt;
  }
  int finalize();
};

struct Rule {
  int descriptor, name, type;
  int64_t most; ///< Of elements.
  bool isRequired;
};
} // namespace

/// The attributes that can be set in descriptors.
static const Rule rules[] = {
    {backend::tensor, attribute::tensorType, attribute_type::dataType, 1, true},
    {backend::tensor, attribute::tensorSizes, attribute_type::int64, 8, true},
    {backend::tensor, attribute::tensorStrides, attribute_type::int64, 8, true},
    {backend::tensor, attribute::tensorId, attribute_type::int64, 1, true},
    {backend::tensor, attribute::tensorAlignment, attribute_type::int64, 1,
     true},
    {backend::tensor, attribute::tensorIsVirtual, attribute_type::boolean, 1,
     false},
    {backend::tensor, attribute::tensorIsByValue, attribute_type::boolean, 1,
     false},
    {backend::pointwise, attribute::pointwiseMode,
     attribute_type::pointwiseMode, 1, true},
    {backend::pointwise, attribute::pointwiseCompute, attribute_type::dataType,
     1, true},
    {backend::pointwise, attribute::pointwiseAxis, attribute_type::int64, 1,
     false},
    {backend::matmul, attribute::matmulCompute, attribute_type::dataType, 1,
     true},
    {backend::reduction, attribute::reductionOperator,
     attribute_type::reductionOperator, 1, true},
    {backend::reduction, attribute::reductionCompute, attribute_type::dataType,
     1, true},
    {backend::pointwiseOperation, attribute::pointwiseDesc,
     attribute_type::descriptor, 1, true},
    {backend::pointwiseOperation, attribute::pointwiseX,
     attribute_type::descriptor, 1, true},
    {backend::pointwiseOperation, attribute::pointwiseB,
     attribute_type::descriptor, 1, false},
    {backend::pointwiseOperation, attribute::pointwiseT,
     attribute_type::descriptor, 1, false},
    {backend::pointwiseOperation, attribute::pointwiseY,
     attribute_type::descriptor, 1, true},
    {backend::matmulOperation, attribute::matmulDesc,
     attribute_type::descriptor, 1, true},
    {backend::matmulOperation, attribute::matmulA, attribute_type::descriptor,
     1, true},
    {backend::matmulOperation, attribute::matmulB, attribute_type::descriptor,
     1, true},
    {backend::matmulOperation, attribute::matmulC, attribute_type::descriptor,
     1, true},
    {backend::reductionOperation, attribute::reductionDesc,
     attribute_type::descriptor, 1, true},
    {backend::reductionOperation, attribute::reductionX,
     attribute_type::descriptor, 1, true},
    {backend::reductionOperation, attribute::reductionY,
     attribute_type::descriptor, 1, true},
    {backend::reshapeOperation, attribute::reshapeX, attribute_type::descriptor,
     1, true},
    {backend::reshapeOperation, attribute::reshapeY, attribute_type::descriptor,
     1, true},
    {backend::graph, attribute::graphOperations, attribute_type::descriptor,
     1000, true},
    {backend::graph, attribute::graphHandle, attribute_type::handle, 1, false},
    {backend::heuristics, attribute::heuristicsGraph,
     attribute_type::descriptor, 1, true},
    {backend::heuristics, attribute::heuristicsMode,
     attribute_type::heuristicsMode, 1, true},
    {backend::plan, attribute::planConfig, attribute_type::descriptor, 1, true},
    {backend::plan, attribute::planHandle, attribute_type::handle, 1, true},
    {backend::variantPack, attribute::packIds, attribute_type::int64, 1000,
     true},
    {backend::variantPack, attribute::packPointers, attribute_type::pointer,
     1000, true},
    {backend::variantPack, attribute::packWorkspace, attribute_type::pointer, 1,
     false},
    // Attributes of these are only read: nobody sets one, or finalizes them.
    {backend::engine, -1, -1, 0, true},
    {backend::engineConfig, -1, -1, 0, true},
};

static const Rule *findRule(int descriptor, int name) {
  for (const Rule &rule : rules)
    if (rule.descriptor == descriptor && rule.name == name)
      return &rule;
  return nullptr;
}

static int64_t elementBytes(int type) {
  switch (type) {
  case attribute_type::boolean:
  case attribute_type::character:
    return 1;
  case attribute_type::handle:
  case attribute_type::int64:
  case attribute_type::pointer:
  case attribute_type::descriptor:
    return 8;
  default:
    return 4;
  }
}

static Shared &sharedAt(api::BackendDesc desc) {
  return *static_cast<Shared *>(desc);
}

//===----------------------------------------------------------------------===//
// Finalizing
//===----------------------------------------------------------------------===//

/// The operands of a graph that are in memory.
static std::map<int64_t, Tensor> listOperands(const Graph &graph) {
  std::map<int64_t, Tensor> operands;
  auto add = [&](const Tensor &tensor) {
    if (!tensor.isVirtual)
      operands.emplace(tensor.id, tensor);
  };
  for (const Node &node : graph) {
    add(node.x);
    add(node.y);
    if (node.b)
      add(*node.b);
    if (node.t)
      add(*node.t);
  }
  return operands;
}

/// Refuses operands that engines do not take. In products of 16-bit types, rows
/// have up to 128 elements next to each other, a multiple of 8, and lie apart
/// by multiples of 16 bytes.
static int checkOperands(const Graph &graph) {
  for (const Node &node : graph) {
    if (node.kind != NodeKind::matmul)
      continue;
    for (const Tensor *tensor : {&node.x, &*node.b, &node.y}) {
      if (tensor->isVirtual || tensor->elementBytes() != 2)
        continue;
      size_t rank = tensor->sizes.size();
      size_t row = tensor->strides[rank - 1] == 1 ? rank - 1 : rank - 2;
      if (tensor->sizes[row] > 128 || tensor->sizes[row] % 8 != 0)
        return unsupportedShape;
      for (size_t i = 0; i < rank; ++i)
        if (i == row ? tensor->strides[i] != 1 : tensor->strides[i] % 8 != 0)
          return unsupportedLayout;
    }
  }
  return 0;
}

/// Whether there are boolean operands. cuDNN writes kernels for them that its
/// compiler does not take.
static bool hasBooleans(const Graph &graph) {
  for (const auto &[id, tensor] : listOperands(graph))
    if (tensor.type == api::dnnBoolean)
      return true;
  return false;
}

/// Whether blocks add to a result that is in memory as f32.
static bool addsInMemory(const Graph &graph) {
  return std::any_of(graph.begin(), graph.end(), [](const Node &node) {
    return node.kind == NodeKind::matmul && !node.y.isVirtual &&
           node.y.type == api::dnnFloat;
  });
}

/// The bytes of workspace. A product that reads f32 and does not add to memory
/// stores what it reads there, as halves, in tiles of 64 by 64.
static int64_t measure(const Descriptor &config) {
  if (config.engine == Engine::large)
    return int64_t(1) << 40;
  auto bytes = static_cast<int64_t>(workspaceBytes);
  for (const Node &node : config.graph) {
    if (node.kind != NodeKind::matmul || node.x.type != api::dnnFloat ||
        node.y.isVirtual || node.y.type == api::dnnFloat)
      continue;
    int64_t tiles = 2;
    for (size_t i = 0; i < node.x.sizes.size(); ++i)
      tiles *= i + 2 < node.x.sizes.size() ? node.x.sizes[i]
                                           : (node.x.sizes[i] + 63) / 64 * 64;
    bytes += tiles;
  }
  return bytes;
}

static std::vector<Engine> proposeEngines(int mode) {
  const char *only = std::getenv("VEELINE_STANDIN_ENGINES");
  std::vector<std::pair<std::string, Engine>> all;
  if (mode == api::heuristicsBest)
    all = {{"nondeterministic", Engine::nondeterministic},
           {"unsupported", Engine::unsupported},
           {"uncompilable", Engine::uncompilable},
           {"large", Engine::large}};
  else
    all = {{"plain", Engine::plain}};
  std::vector<Engine> engines;
  for (const auto &[name, engine] : all)
    if (!only || std::string(only).find(name) != std::string::npos)
      engines.push_back(engine);
  return engines;
}

static int finalizeTensor(Descriptor &desc) {
  desc.tensor = {desc.get<int>(attribute::tensorType),
                 desc.list(attribute::tensorSizes),
                 desc.list(attribute::tensorStrides),
                 desc.get<int64_t>(attribute::tensorId),
                 desc.get<int64_t>(attribute::tensorAlignment),
                 desc.get<bool>(attribute::tensorIsVirtual),
                 desc.get<bool>(attribute::tensorIsByValue)};
  return check(desc.tensor);
}

static int finalizeOperation(Descriptor &desc) {
  Node &node = desc.node;
  switch (desc.type) {
  case backend::pointwiseOperation: {
    const Descriptor &what = desc.at(attribute::pointwiseDesc);
    node = {NodeKind::pointwise,
            what.get<int>(attribute::pointwiseMode),
            what.get<int64_t>(attribute::pointwiseAxis, -1),
            desc.at(attribute::pointwiseX).tensor,
            desc.at(attribute::pointwiseY).tensor,
            desc.tensorAt(attribute::pointwiseB),
            desc.tensorAt(attribute::pointwiseT)};
    break;
  }
  case backend::matmulOperation:
    node = {NodeKind::matmul,
            0,
            -1,
            desc.at(attribute::matmulA).tensor,
            desc.at(attribute::matmulC).tensor,
            desc.tensorAt(attribute::matmulB),
            std::nullopt};
    break;
  case backend::reductionOperation:
    node = {NodeKind::reduction,
            desc.at(attribute::reductionDesc)
                .get<int>(attribute::reductionOperator),
            -1,
            desc.at(attribute::reductionX).tensor,
            desc.at(attribute::reductionY).tensor,
            std::nullopt,
            std::nullopt};
    break;
  default:
    node = {NodeKind::reshape,
            0,
            -1,
            desc.at(attribute::reshapeX).tensor,
            desc.at(attribute::reshapeY).tensor,
            std::nullopt,
            std::nullopt};
  }
  return check(node);
}

static int finalizeHeuristics(Descriptor &desc) {
  const Descriptor &graph = desc.at(attribute::heuristicsGraph);
  if (!graph.knowsDevice)
    return badParam;
  desc.graph = graph.graph;
  if (int code = checkOperands(desc.graph))
    return code;
  desc.engines = proposeEngines(desc.get<int>(attribute::heuristicsMode));
  return 0;
}

static int finalizePlan(Descriptor &desc) {
  const Descriptor &config = desc.at(attribute::planConfig);
  desc.graph = config.graph;
  desc.engine = config.engine;
  if (config.engine == Engine::uncompilable || hasBooleans(desc.graph))
    return api::dnnCompilationFailed;
  return 0;
}

int Descriptor::finalize() {
  for (const Rule &rule : rules)
    if (rule.descriptor == type && rule.isRequired && !has(rule.name))
      return badParam;
  switch (type) {
  case backend::tensor:
    return finalizeTensor(*this);
  case backend::pointwiseOperation:
  case backend::matmulOperation:
  case backend::reductionOperation:
  case backend::reshapeOperation:
    return finalizeOperation(*this);
  case backend::graph:
    knowsDevice = get<api::DnnHandle>(attribute::graphHandle) != nullptr;
    for (const Shared &each :
         attributes[attribute::graphOperations].descriptors)
      graph.push_back(each->node);
    return check(graph);
  case backend::heuristics:
    return finalizeHeuristics(*this);
  case backend::plan:
    return finalizePlan(*this);
  case backend::variantPack:
    return attributes[attribute::packIds].count ==
                   attributes[attribute::packPointers].count
               ? 0
               : badParam;
  default:
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

/// Without places (`requested` is 0), says how many configurations there may
/// be; else makes those that support the graph.
static int listConfigs(const Descriptor &heuristics, int64_t requested,
                       int64_t *count, void *values) {
  if (requested == 0) {
    *count = static_cast<int64_t>(heuristics.engines.size());
    return 0;
  }
  auto *places = static_cast<api::BackendDesc *>(values);
  int64_t found = 0;
  for (Engine engine : heuristics.engines) {
    if (engine == Engine::unsupported || found == requested)
      continue;
    Descriptor &config = *sharedAt(places[found++]);
    if (config.type != backend::engineConfig || config.isFinalized)
      return badParam;
    config.isFinalized = true;
    config.engine = engine;
    config.graph = heuristics.graph;
  }
  *count = found;
  return 0;
}

static int getEngine(const Descriptor &config, void *values) {
  Descriptor &engine = *sharedAt(*static_cast<api::BackendDesc *>(values));
  if (engine.type != backend::engine || engine.isFinalized)
    return badParam;
  engine.isFinalized = true;
  engine.engine = config.engine;
  return 0;
}

/// As with the real library, no note tells of sums in memory.
static int getNotes(const Descriptor &engine, int64_t requested, int64_t *count,
                    void *values) {
  List notes = {0};
  if (engine.engine == Engine::nondeterministic)
    notes.push_back(api::noteNondeterministic);
  *count = static_cast<int64_t>(notes.size());
  for (int64_t i = 0; i < std::min(requested, *count); ++i)
    static_cast<int *>(values)[i] = static_cast<int>(notes[i]);
  return 0;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Finds the memory of all operands. That of numbers by value is the host's.
static int findPlaces(const Graph &graph, const Descriptor &pack,
                      std::map<int64_t, char *> &places) {
  List ids = pack.list(attribute::packIds);
  List addresses = pack.list(attribute::packPointers);
  std::map<int64_t, void *> given;
  for (size_t i = 0; i < ids.size(); ++i)
    // NOLINTNEXTLINE(performance-no-int-to-ptr): pointers among the numbers.
    if (!given.emplace(ids[i], reinterpret_cast<void *>(addresses[i])).second)
      return duplicatedEntries;
  std::map<int64_t, Tensor> operands = listOperands(graph);
  if (given.size() != operands.size())
    return badParam;
  for (const auto &[id, tensor] : operands) {
    auto it = given.find(id);
    if (it == given.end() || !it->second)
      return nullPointer;
    if (tensor.isByValue) {
      places[id] = static_cast<char *>(it->second);
      continue;
    }
    if (reinterpret_cast<uintptr_t>(it->second) % tensor.alignment != 0)
      return misalignedPointer;
    places[id] =
        standin::find(it->second, tensor.span() * tensor.elementBytes());
    if (!places[id])
      return outOfBound;
  }
  return 0;
}

/// Copies numbers by value before the call returns.
static int execute(const Handle &handle, const Descriptor &plan,
                   const Descriptor &pack) {
  std::map<int64_t, char *> places;
  if (int code = findPlaces(plan.graph, pack, places))
    return code;
  int64_t bytes = measure(plan);
  char *workspace =
      standin::find(pack.get<void *>(attribute::packWorkspace), bytes);
  if (!workspace)
    return executionFailed;
  std::map<int64_t, std::string> numbers;
  for (const auto &[id, tensor] : listOperands(plan.graph))
    if (tensor.isByValue)
      numbers[id].assign(places[id],
                         static_cast<size_t>(tensor.elementBytes()));
  bool isAnyOrder =
      plan.engine == Engine::nondeterministic || addsInMemory(plan.graph);
  standin::enqueue(handle.stream, [=, graph = plan.graph]() mutable {
    static int64_t runs = 0;
    std::memset(workspace, 0xff, static_cast<size_t>(bytes));
    for (auto &[id, number] : numbers)
      places[id] = number.data();
    run(graph, places, isAnyOrder ? ++runs : 0);
  });
  return 0;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

extern "C" {

VEELINE_STANDIN int cudnnBackendCreateDescriptor(int type,
                                                 api::BackendDesc *desc) {
  ENTER("cudnnBackendCreateDescriptor");
  bool isKnown =
      std::any_of(std::begin(rules), std::end(rules),
                  [&](const Rule &rule) { return rule.descriptor == type; });
  if (!isKnown)
    return unsupportedPattern;
  auto made = std::make_shared<Descriptor>();
  made->type = type;
  *desc = new Shared(std::move(made));
  return 0;
}

VEELINE_STANDIN int cudnnBackendDestroyDescriptor(api::BackendDesc desc) {
  ENTER("cudnnBackendDestroyDescriptor");
  delete static_cast<Shared *>(desc);
  return 0;
}

VEELINE_STANDIN int cudnnBackendFinalize(api::BackendDesc desc) {
  ENTER("cudnnBackendFinalize");
  Descriptor &found = *sharedAt(desc);
  if (found.isFinalized)
    return badParam;
  int code = found.finalize();
  found.isFinalized = code == 0;
  return code;
}

VEELINE_STANDIN int cudnnBackendSetAttribute(api::BackendDesc desc, int name,
                                             int type, int64_t count,
                                             const void *values) {
  ENTER("cudnnBackendSetAttribute");
  Descriptor &found = *sharedAt(desc);
  const Rule *rule = findRule(found.type, name);
  if (!rule || found.isFinalized)
    return badParam;
  if (rule->type != type)
    return wrongAttributeType;
  if (count < 1 || count > rule->most)
    return outOfBound;
  if (!values)
    return nullPointer;
  Attribute given;
  given.count = count;
  given.bytes.assign(static_cast<const char *>(values),
                     static_cast<size_t>(count * elementBytes(type)));
  if (type == attribute_type::descriptor)
    for (int64_t i = 0; i < count; ++i) {
      given.descriptors.push_back(
          sharedAt(static_cast<const api::BackendDesc *>(values)[i]));
      if (!given.descriptors.back()->isFinalized)
        return notFinalized;
    }
  found.attributes[name] = std::move(given);
  return 0;
}

VEELINE_STANDIN int cudnnBackendGetAttribute(api::BackendDesc desc, int name,
                                             int type, int64_t requested,
                                             int64_t *count, void *values) {
  ENTER("cudnnBackendGetAttribute");
  const Descriptor &found = *sharedAt(desc);
  if (!found.isFinalized)
    return notFinalized;
  auto asks = [&](int ofDescriptor, int ofName, int ofType) {
    return found.type == ofDescriptor && name == ofName && type == ofType;
  };
  if (asks(backend::heuristics, attribute::heuristicsResults,
           attribute_type::descriptor))
    return listConfigs(found, requested, count, values);
  if (asks(backend::engine, attribute::engineNotes,
           attribute_type::numericalNote))
    return getNotes(found, requested, count, values);
  if (requested != 1)
    return badParam;
  *count = 1;
  if (asks(backend::engineConfig, attribute::configEngine,
           attribute_type::descriptor))
    return getEngine(found, values);
  if (!asks(backend::plan, attribute::planWorkspace, attribute_type::int64))
    return badParam;
  *static_cast<int64_t *>(values) = measure(found);
  return 0;
}

VEELINE_STANDIN int cudnnBackendExecute(api::DnnHandle handle,
                                        api::BackendDesc plan,
                                        api::BackendDesc pack) {
  ENTER("cudnnBackendExecute");
  const Descriptor &planned = *sharedAt(plan), &packed = *sharedAt(pack);
  if (!planned.isFinalized || !packed.isFinalized)
    return notFinalized;
  if (planned.type != backend::plan || packed.type != backend::variantPack)
    return badParam;
  return execute(*reinterpret_cast<Handle *>(handle), planned, packed);
}

} // extern "C"
