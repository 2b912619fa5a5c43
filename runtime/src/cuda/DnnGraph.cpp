//===- DnnGraph.cpp - building graphs for cuDNN ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DnnGraph.h"

#include "Strides.h"

#include <algorithm>
#include <array>

using namespace veeline;
using namespace veeline::cuda;
namespace attribute = veeline::cuda::api::attribute;
namespace attribute_type = veeline::cuda::api::attribute_type;
namespace backend = veeline::cuda::api::backend;

/// The alignment of all operands.
static constexpr int64_t operandAlignment = 16;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

DnnResult DnnDescriptor::create(const Cudnn &newDnn, int type) {
  dnn = &newDnn;
  return VEELINE_DNN_CALL(*dnn, cudnnBackendCreateDescriptor, type, &desc);
}

DnnResult DnnDescriptor::set(int name, int type, int64_t count,
                             const void *values) {
  return VEELINE_DNN_CALL(*dnn, cudnnBackendSetAttribute, desc, name, type,
                          count, values);
}

DnnResult DnnDescriptor::set(int name, const DnnDescriptor &value) {
  return set(name, attribute_type::descriptor, 1, &value.desc);
}

DnnResult DnnDescriptor::set(int name, const std::vector<int64_t> &values) {
  return set(name, attribute_type::int64, static_cast<int64_t>(values.size()),
             values.data());
}

DnnResult DnnDescriptor::setNumber(int name, int64_t value) {
  return set(name, attribute_type::int64, 1, &value);
}

DnnResult DnnDescriptor::setFlag(int name, bool value) {
  return set(name, attribute_type::boolean, 1, &value);
}

DnnResult DnnDescriptor::setEnum(int name, int type, int value) {
  return set(name, type, 1, &value);
}

DnnResult DnnDescriptor::get(int name, int type, int64_t most, int64_t &count,
                             void *values) const {
  return VEELINE_DNN_CALL(*dnn, cudnnBackendGetAttribute, desc, name, type,
                          most, &count, values);
}

DnnResult DnnDescriptor::finalize() {
  return VEELINE_DNN_CALL(*dnn, cudnnBackendFinalize, desc);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Keeps the first failure. If cuDNN does not support one call, it does not
/// support the graph.
bool DnnGraph::require(const DnnResult &result) {
  if (!isGoing() || result.ok())
    return isGoing();
  isRefused = result.isUnsupported();
  if (!isRefused)
    error = dnn.check(result);
  return false;
}

DnnDescriptor *DnnGraph::create(int type) {
  if (!isGoing())
    return nullptr;
  auto desc = std::make_unique<DnnDescriptor>();
  if (!require(desc->create(dnn, type)))
    return nullptr;
  return kept.emplace_back(std::move(desc)).get();
}

void DnnGraph::finalize(DnnDescriptor &desc) {
  if (isGoing())
    (void)require(desc.finalize());
}

DnnGraph::Tensor DnnGraph::addTensor(int64_t id, int type, const Sizes &sizes,
                                     const Sizes &strides, bool isVirtual,
                                     bool isByValue) {
  DnnDescriptor *desc = create(backend::tensor);
  if (!desc)
    return {nullptr, sizes, strides};
  if (require(desc->setEnum(attribute::tensorType, attribute_type::dataType,
                            type)) &&
      require(desc->set(attribute::tensorSizes, sizes)) &&
      require(desc->set(attribute::tensorStrides, strides)) &&
      require(desc->setNumber(attribute::tensorId, id)) &&
      require(desc->setNumber(attribute::tensorAlignment, operandAlignment)) &&
      require(desc->setFlag(attribute::tensorIsVirtual, isVirtual)))
    (void)require(desc->setFlag(attribute::tensorIsByValue, isByValue));
  finalize(*desc);
  return {desc->get(), sizes, strides};
}

DnnGraph::Tensor DnnGraph::addOperand(int64_t id, int type, const Sizes &sizes,
                                      const Sizes &strides) {
  return addTensor(id, type, sizes, strides, /*isVirtual=*/false,
                   /*isByValue=*/false);
}

DnnGraph::Tensor DnnGraph::addNumber(int64_t id) {
  Sizes ones(4, 1);
  return addTensor(id, api::dnnFloat, ones, ones, /*isVirtual=*/false,
                   /*isByValue=*/true);
}

DnnGraph::Tensor DnnGraph::addVirtual(int type, const Sizes &sizes) {
  return addTensor(nextVirtual++, type, sizes, library::denseStrides(sizes),
                   /*isVirtual=*/true, /*isByValue=*/false);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void DnnGraph::addOperation(
    int type,
    std::initializer_list<std::pair<int, api::BackendDesc>> operands) {
  DnnDescriptor *desc = create(type);
  if (!desc)
    return;
  for (const auto &[name, operand] : operands)
    if (operand)
      (void)require(desc->set(name, attribute_type::descriptor, 1, &operand));
  finalize(*desc);
  operations.push_back(desc->get());
}

void DnnGraph::addPointwise(int mode, int compute, int64_t axis,
                            const Tensor &x, const Tensor *b, const Tensor *t,
                            const Tensor &y) {
  DnnDescriptor *desc = create(backend::pointwise);
  if (!desc)
    return;
  if (require(desc->setEnum(attribute::pointwiseMode,
                            attribute_type::pointwiseMode, mode)) &&
      require(desc->setEnum(attribute::pointwiseCompute,
                            attribute_type::dataType, compute)) &&
      axis >= 0)
    (void)require(desc->setNumber(attribute::pointwiseAxis, axis));
  finalize(*desc);
  addOperation(backend::pointwiseOperation,
               {{attribute::pointwiseDesc, desc->get()},
                {attribute::pointwiseX, x.desc},
                {attribute::pointwiseB, b ? b->desc : nullptr},
                {attribute::pointwiseT, t ? t->desc : nullptr},
                {attribute::pointwiseY, y.desc}});
}

DnnGraph::Tensor DnnGraph::pointwise(int mode, const Tensor &x, const Tensor *b,
                                     int type) {
  Tensor result = addVirtual(type, x.sizes);
  pointwiseTo(result, mode, x, b);
  return result;
}

void DnnGraph::pointwiseTo(const Tensor &result, int mode, const Tensor &x,
                           const Tensor *b) {
  addPointwise(mode, api::dnnFloat, -1, x, b, nullptr, result);
}

DnnGraph::Tensor DnnGraph::multiply(const Tensor &a, const Tensor &b) {
  return pointwise(api::pointwiseMul, a, &b);
}

DnnGraph::Tensor DnnGraph::index(const Tensor &x, int64_t axis) {
  Tensor result = addVirtual(api::dnnInt32, x.sizes);
  addPointwise(api::pointwiseIndex, api::dnnInt32, axis, x, nullptr, nullptr,
               result);
  return result;
}

DnnGraph::Tensor DnnGraph::isAtLeast(const Tensor &a, const Tensor &b) {
  Tensor result = addVirtual(api::dnnBoolean, a.sizes);
  addPointwise(api::pointwiseCompareGe, api::dnnBoolean, -1, a, &b, nullptr,
               result);
  return result;
}

DnnGraph::Tensor DnnGraph::select(const Tensor &x, const Tensor &other,
                                  const Tensor &condition) {
  Tensor result = addVirtual(api::dnnFloat, x.sizes);
  addPointwise(api::pointwiseSelect, api::dnnFloat, -1, x, &other, &condition,
               result);
  return result;
}

DnnGraph::Tensor DnnGraph::reduce(int op, const Tensor &x, const Sizes &sizes) {
  Tensor result = addVirtual(api::dnnFloat, sizes);
  reduceTo(result, op, x);
  return result;
}

void DnnGraph::reduceTo(const Tensor &result, int op, const Tensor &x) {
  DnnDescriptor *desc = create(backend::reduction);
  if (!desc)
    return;
  if (require(desc->setEnum(attribute::reductionOperator,
                            attribute_type::reductionOperator, op)))
    (void)require(desc->setEnum(attribute::reductionCompute,
                                attribute_type::dataType, api::dnnFloat));
  finalize(*desc);
  addOperation(backend::reductionOperation,
               {{attribute::reductionDesc, desc->get()},
                {attribute::reductionX, x.desc},
                {attribute::reductionY, result.desc}});
}

/// The result is a view of the same memory.
DnnGraph::Tensor DnnGraph::transpose(const Tensor &x, int type) {
  Tensor result = x;
  std::swap(result.sizes[2], result.sizes[3]);
  std::swap(result.strides[2], result.strides[3]);
  result = addTensor(nextVirtual++, type, result.sizes, result.strides,
                     /*isVirtual=*/true, /*isByValue=*/false);
  addOperation(backend::reshapeOperation, {{attribute::reshapeX, x.desc},
                                           {attribute::reshapeY, result.desc}});
  return result;
}

DnnGraph::Tensor DnnGraph::matmul(const Tensor &a, const Tensor &b, int type) {
  Tensor result =
      addVirtual(type, {a.sizes[0], a.sizes[1], a.sizes[2], b.sizes[3]});
  matmulTo(result, a, b);
  return result;
}

void DnnGraph::matmulTo(const Tensor &result, const Tensor &a,
                        const Tensor &b) {
  DnnDescriptor *desc = create(backend::matmul);
  if (!desc)
    return;
  (void)require(desc->setEnum(attribute::matmulCompute,
                              attribute_type::dataType, api::dnnFloat));
  finalize(*desc);
  addOperation(backend::matmulOperation, {{attribute::matmulDesc, desc->get()},
                                          {attribute::matmulA, a.desc},
                                          {attribute::matmulB, b.desc},
                                          {attribute::matmulC, result.desc}});
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The proposals of the heuristics of `mode`, the best first.
DnnResult DnnGraph::propose(const DnnTarget &target, const DnnDescriptor &graph,
                            int mode, std::vector<DnnDescriptor> &configs) {
  DnnDescriptor heuristics;
  VEELINE_DNN_TRY(heuristics.create(dnn, backend::heuristics));
  VEELINE_DNN_TRY(heuristics.set(attribute::heuristicsGraph, graph));
  VEELINE_DNN_TRY(heuristics.setEnum(attribute::heuristicsMode,
                                     attribute_type::heuristicsMode, mode));
  if (target.properties)
    VEELINE_DNN_TRY(
        heuristics.set(attribute::heuristicsDevice, *target.properties));
  VEELINE_DNN_TRY(heuristics.finalize());
  int64_t count = 0, found = 0;
  VEELINE_DNN_TRY(heuristics.get(attribute::heuristicsResults,
                                 attribute_type::descriptor, 0, count,
                                 nullptr));
  std::vector<DnnDescriptor> all;
  std::vector<api::BackendDesc> places;
  for (int64_t i = 0; i < count; ++i) {
    VEELINE_DNN_TRY(all.emplace_back().create(dnn, backend::engineConfig));
    places.push_back(all.back().get());
  }
  // The second call may return fewer of them.
  if (count > 0)
    VEELINE_DNN_TRY(heuristics.get(attribute::heuristicsResults,
                                   attribute_type::descriptor, count, found,
                                   static_cast<void *>(places.data())));
  all.resize(static_cast<size_t>(std::clamp(found, int64_t(0), count)));
  configs = std::move(all);
  return {};
}

DnnResult DnnGraph::isDeterministic(const DnnDescriptor &config, bool &answer) {
  DnnDescriptor engine;
  VEELINE_DNN_TRY(engine.create(dnn, backend::engine));
  api::BackendDesc place = engine.get();
  int64_t count = 0;
  VEELINE_DNN_TRY(config.get(attribute::configEngine,
                             attribute_type::descriptor, 1, count,
                             static_cast<void *>(&place)));
  std::array<int, api::maxNotes> notes = {};
  VEELINE_DNN_TRY(engine.get(attribute::engineNotes,
                             attribute_type::numericalNote, api::maxNotes,
                             count, notes.data()));
  answer = std::find(notes.begin(), notes.begin() + count,
                     api::noteNondeterministic) == notes.begin() + count;
  return {};
}

/// Makes a plan. Leaves `result` empty if the engine is not deterministic but
/// has to be, does not compile, or needs too much memory.
DnnResult DnnGraph::tryConfig(const DnnTarget &target,
                              const DnnDescriptor &config, bool deterministic,
                              int64_t maxWorkspace, DnnPlan &result) {
  bool isTaken = true;
  if (deterministic)
    VEELINE_DNN_TRY(isDeterministic(config, isTaken));
  if (!isTaken)
    return {};
  DnnPlan plan;
  VEELINE_DNN_TRY(plan.desc.create(dnn, backend::plan));
  VEELINE_DNN_TRY(plan.desc.set(attribute::planConfig, config));
  VEELINE_DNN_TRY(target.properties
                      ? plan.desc.set(attribute::planDevice, *target.properties)
                      : plan.desc.set(attribute::planHandle,
                                      attribute_type::handle, 1,
                                      &target.handle));
  DnnResult made = plan.desc.finalize();
  if (made.status == api::dnnCompilationFailed)
    return {};
  VEELINE_DNN_TRY(made);
  int64_t count = 0;
  VEELINE_DNN_TRY(plan.desc.get(attribute::planWorkspace, attribute_type::int64,
                                1, count, &plan.workspaceBytes));
  if (plan.workspaceBytes <= maxWorkspace)
    result = std::move(plan);
  return {};
}

Status DnnGraph::plan(const DnnTarget &target, bool deterministic,
                      int64_t maxWorkspace, DnnPlan &result) {
  DnnDescriptor *graph = create(backend::graph);
  if (graph) {
    (void)require(
        graph->set(attribute::graphOperations, attribute_type::descriptor,
                   static_cast<int64_t>(operations.size()), operations.data()));
    if (target.handle)
      (void)require(graph->set(attribute::graphHandle, attribute_type::handle,
                               1, &target.handle));
    finalize(*graph);
  }
  if (!isGoing())
    return error;
  for (int mode : {api::heuristicsBest, api::heuristicsFallback}) {
    std::vector<DnnDescriptor> configs;
    DnnResult asked = propose(target, *graph, mode, configs);
    if (!asked.isUnsupported())
      VEELINE_TRY(dnn.check(asked));
    for (const DnnDescriptor &config : configs) {
      asked = tryConfig(target, config, deterministic, maxWorkspace, result);
      if (!asked.isUnsupported())
        VEELINE_TRY(dnn.check(asked));
      if (result.desc)
        return Status::success();
    }
  }
  return Status::success();
}
