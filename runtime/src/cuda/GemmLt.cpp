//===- GemmLt.cpp - matrix products of a rank on a GPU --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmLt.h"

#include <algorithm>
#include <array>

using namespace veeline;
using namespace veeline::cuda;
using artifact::ComputeType;
using artifact::DataType;
using artifact::Epilogue;
using artifact::Gemm;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Products of small floats are summed in f32. The result has either width.
static constexpr ProductTypes productTypes[] = {
    {DataType::f32, DataType::f32, ComputeType::f32, api::real32F, api::real32F,
     api::compute32F, api::real32F},
    {DataType::f32, DataType::f32, ComputeType::tf32, api::real32F,
     api::real32F, api::compute32FFastTF32, api::real32F},
    {DataType::f64, DataType::f64, ComputeType::f64, api::real64F, api::real64F,
     api::compute64F, api::real64F},
    {DataType::bf16, DataType::bf16, ComputeType::f32, api::real16BF,
     api::real16BF, api::compute32F, api::real32F},
    {DataType::bf16, DataType::f32, ComputeType::f32, api::real16BF,
     api::real32F, api::compute32F, api::real32F},
    {DataType::f16, DataType::f16, ComputeType::f32, api::real16F, api::real16F,
     api::compute32F, api::real32F},
    {DataType::f16, DataType::f32, ComputeType::f32, api::real16F, api::real32F,
     api::compute32F, api::real32F}};

std::span<const ProductTypes> cuda::allProductTypes() { return productTypes; }

const ProductTypes *cuda::findProductTypes(const Gemm &gemm) {
  const auto *it =
      std::find_if(std::begin(productTypes), std::end(productTypes),
                   [&](const ProductTypes &row) {
                     return row.type == gemm.type && row.cType == gemm.cType &&
                            row.compute == gemm.compute;
                   });
  return it == std::end(productTypes) ? nullptr : it;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// A matrix in memory: contiguous along rows, or along columns.
struct Storage {
  bool isByRows = true;
  int64_t leadingDimension = 0;
};
} // namespace

/// How a matrix with these strides is stored. None unless it has a unit stride
/// and does not overlap. The stride of a dimension of one element does not
/// matter.
static std::optional<Storage> storageOf(int64_t rows, int64_t columns,
                                        int64_t rowStride,
                                        int64_t columnStride) {
  if ((columnStride == 1 || columns == 1) &&
      (rows == 1 || rowStride >= columns))
    return Storage{true, rows == 1 ? columns : rowStride};
  if ((rowStride == 1 || rows == 1) && (columns == 1 || columnStride >= rows))
    return Storage{false, columns == 1 ? rows : columnStride};
  return std::nullopt;
}

/// The matrix `rows` x `columns`, or its transpose, as an operand.
static GemmPlan::Matrix operandOf(const Storage &storage, int64_t rows,
                                  int64_t columns, bool isTransposed) {
  GemmPlan::Matrix matrix;
  // A matrix that is stored by rows is the transpose of a column-major one.
  matrix.rows = static_cast<uint64_t>(storage.isByRows ? columns : rows);
  matrix.columns = static_cast<uint64_t>(storage.isByRows ? rows : columns);
  matrix.leadingDimension = storage.leadingDimension;
  matrix.operation =
      storage.isByRows == isTransposed ? api::operationN : api::operationT;
  return matrix;
}

/// Merges batch dimensions from the innermost on, as long as each operand has
/// one stride for them. The others become loops.
static void planBatch(const Gemm &gemm, GemmPlan &plan, int64_t (&strides)[3]) {
  int64_t batch = 1;
  bool isOpen = true;
  for (size_t i = gemm.batch.size(); i-- != 0;) {
    int64_t extent = gemm.batch[i];
    if (extent == 1)
      continue;
    const int64_t own[] = {gemm.aStrides[i], gemm.bStrides[i],
                           gemm.cStrides[i]};
    bool joins = isOpen && batch * extent <= INT32_MAX;
    for (int k = 0; k < 3; ++k)
      joins = joins && (batch == 1 || own[k] == strides[k] * batch);
    if (joins && batch == 1)
      std::copy(own, own + 3, strides);
    if (joins) {
      batch *= extent;
      continue;
    }
    isOpen = false;
    plan.loops.push_back({extent, own[0], own[1], own[2]});
  }
  plan.batch = static_cast<int32_t>(batch);
}

/// Whether the library supports a second matrix with the layout of c.
static bool canHaveAux(const GemmPlan &plan) {
  auto fits = [](int64_t stride) { return stride % 8 == 0; };
  return fits(plan.result.leadingDimension) && fits(plan.result.batchStride) &&
         std::all_of(plan.loops.begin(), plan.loops.end(),
                     [&](const GemmPlan::Loop &loop) { return fits(loop.c); });
}

Expected<GemmPlan> cuda::planGemm(const Gemm &gemm) {
  size_t last = gemm.batch.size();
  auto a =
      storageOf(gemm.m, gemm.k, gemm.aStrides[last], gemm.aStrides[last + 1]);
  auto b =
      storageOf(gemm.k, gemm.n, gemm.bStrides[last], gemm.bStrides[last + 1]);
  auto c =
      storageOf(gemm.m, gemm.n, gemm.cStrides[last], gemm.cStrides[last + 1]);
  if (!a || !b || !c)
    return Status::error("its operands have no unit stride, or overlap; code "
                         "for a GPU copies such ones first");
  GemmPlan plan;
  int64_t strides[3] = {};
  planBatch(gemm, plan, strides);
  plan.isSwapped = c->isByRows;
  GemmPlan::Matrix left = operandOf(*a, gemm.m, gemm.k, plan.isSwapped);
  GemmPlan::Matrix right = operandOf(*b, gemm.k, gemm.n, plan.isSwapped);
  left.batchStride = strides[0];
  right.batchStride = strides[1];
  plan.first = plan.isSwapped ? right : left;
  plan.second = plan.isSwapped ? left : right;
  plan.result = operandOf(*c, gemm.m, gemm.n, plan.isSwapped);
  plan.result.batchStride = strides[2];
  if (hasBias(gemm.epilogue) && !plan.isSwapped)
    return Status::error("it has a bias, and its result is not stored by rows");
  if (hasAux(gemm.epilogue) && !canHaveAux(plan))
    return Status::error("its epilogue has a matrix beside c, for which the "
                         "library takes strides that are multiples of 8");
  return plan;
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// How many algorithms cuBLASLt's heuristics are asked for.
static constexpr int mostProposals = 8;

static int32_t epilogueOf(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::none:
    return api::epilogueDefault;
  case Epilogue::bias:
    return api::epilogueBias;
  case Epilogue::geluAux:
    return api::epilogueGeluAux;
  case Epilogue::biasGeluAux:
    return api::epilogueGeluAuxBias;
  case Epilogue::dgelu:
    return api::epilogueDgelu;
  }
  return api::epilogueDefault;
}

GemmTable::~GemmTable() {
  for (Entry &entry : entries) {
    for (api::MatrixLayout layout : {entry.first, entry.second, entry.result})
      if (layout)
        (void)blas->cublasLtMatrixLayoutDestroy(layout);
    if (entry.desc)
      (void)blas->cublasLtMatmulDescDestroy(entry.desc);
  }
  if (handle)
    (void)blas->cublasLtDestroy(handle);
}

size_t GemmTable::countMissing() const {
  return static_cast<size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [](const Entry &entry) { return !entry.isThere; }));
}

Status GemmTable::prepare(const BlasLt &library, const std::vector<Gemm> &gemms,
                          int64_t libraryBytes) {
  blas = &library;
  VEELINE_TRY(VEELINE_CALL(*blas, cublasLtCreate, &handle));
  entries.reserve(gemms.size());
  for (const Gemm &gemm : gemms)
    if (Status status = prepare(gemm, libraryBytes, entries.emplace_back());
        !status.ok())
      return Status::error("matrix product " +
                           std::to_string(entries.size() - 1) + ": " +
                           status.message());
  return Status::success();
}

Status GemmTable::prepare(const Gemm &gemm, int64_t libraryBytes,
                          Entry &entry) {
  VEELINE_TRY_VALUE(GemmPlan plan, planGemm(gemm));
  entry.types = findProductTypes(gemm);
  if (!entry.types)
    return Status::error("cuBLASLt has no product of " +
                         std::string(artifact::name(gemm.type)) +
                         " in this arithmetic with a result of " +
                         std::string(artifact::name(gemm.cType)));
  entry.plan = std::move(plan);
  entry.width = artifact::byteSize(gemm.type);
  entry.resultWidth = artifact::byteSize(gemm.cType);
  entry.accumulates = gemm.accumulate;
  entry.epilogue = gemm.epilogue;
  entry.workspaceBytes = static_cast<size_t>(
      gemm.scratchBytes > 0 ? gemm.scratchBytes : libraryBytes);
  VEELINE_TRY(describe(gemm, entry));
  return choose(gemm, entry);
}

Status GemmTable::makeLayout(const GemmPlan::Matrix &matrix, int32_t batch,
                             int type, api::MatrixLayout &layout) {
  VEELINE_TRY(VEELINE_CALL(*blas, cublasLtMatrixLayoutCreate, &layout, type,
                           matrix.rows, matrix.columns,
                           matrix.leadingDimension));
  if (batch == 1)
    return Status::success();
  VEELINE_TRY(VEELINE_CALL(*blas, cublasLtMatrixLayoutSetAttribute, layout,
                           api::layoutBatchCount, &batch, sizeof(batch)));
  return VEELINE_CALL(*blas, cublasLtMatrixLayoutSetAttribute, layout,
                      api::layoutBatchOffset, &matrix.batchStride,
                      sizeof(matrix.batchStride));
}

template <typename T>
Status GemmTable::set(const Entry &entry, int attribute, const T &value) {
  return VEELINE_CALL(*blas, cublasLtMatmulDescSetAttribute, entry.desc,
                      attribute, static_cast<const void *>(&value),
                      sizeof(value));
}

/// Describes the epilogue. Each call sets its own pointers. Here, the
/// heuristics only use their alignment.
Status GemmTable::describeEpilogue(const Gemm &gemm, Entry &entry) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there.
  auto *aligned = reinterpret_cast<const void *>(intptr_t(gemm.alignment));
  VEELINE_TRY(set(entry, api::descEpilogue, epilogueOf(gemm.epilogue)));
  if (artifact::hasBias(gemm.epilogue)) {
    VEELINE_TRY(set(entry, api::descBiasType, entry.types->result));
    VEELINE_TRY(set(entry, api::descBiasPointer, aligned));
  }
  if (!artifact::hasAux(gemm.epilogue))
    return Status::success();
  // The type of the aux matrix is not set: by default it is that of the result,
  // and the library supports no other.
  const GemmPlan::Matrix &result = entry.plan.result;
  VEELINE_TRY(set(entry, api::descAuxLd, result.leadingDimension));
  if (entry.plan.batch != 1)
    VEELINE_TRY(set(entry, api::descAuxBatchStride, result.batchStride));
  return set(entry, api::descAuxPointer, aligned);
}

Status GemmTable::describe(const Gemm &gemm, Entry &entry) {
  const ProductTypes &types = *entry.types;
  VEELINE_TRY(VEELINE_CALL(*blas, cublasLtMatmulDescCreate, &entry.desc,
                           types.arithmetic, types.factors));
  VEELINE_TRY(set(entry, api::descTransA, int32_t(entry.plan.first.operation)));
  VEELINE_TRY(
      set(entry, api::descTransB, int32_t(entry.plan.second.operation)));
  if (gemm.epilogue != Epilogue::none)
    VEELINE_TRY(describeEpilogue(gemm, entry));
  VEELINE_TRY(makeLayout(entry.plan.first, entry.plan.batch, types.operands,
                         entry.first));
  VEELINE_TRY(makeLayout(entry.plan.second, entry.plan.batch, types.operands,
                         entry.second));
  return makeLayout(entry.plan.result, entry.plan.batch, types.result,
                    entry.result);
}

/// Chooses the first algorithm that works of those that cuBLASLt's heuristics
/// propose, which are the same each time. If there is none for a product
/// without an epilogue, that is an error.
Status GemmTable::choose(const Gemm &gemm, Entry &entry) {
  api::MatmulPreference preference = nullptr;
  VEELINE_TRY(VEELINE_CALL(*blas, cublasLtMatmulPreferenceCreate, &preference));
  Status status = Status::success();
  auto prefer = [&](int attribute, const auto &value) {
    if (status.ok())
      status = VEELINE_CALL(*blas, cublasLtMatmulPreferenceSetAttribute,
                            preference, attribute, &value, sizeof(value));
  };
  prefer(api::preferWorkspaceBytes, entry.workspaceBytes);
  for (int attribute : {api::preferAlignmentA, api::preferAlignmentB,
                        api::preferAlignmentC, api::preferAlignmentD})
    prefer(attribute, static_cast<uint32_t>(gemm.alignment));
  // Parts of a sum may be in the workspace, from which they are added in order.
  // They must not be added to c in the order in which they are ready.
  prefer(api::preferReductions,
         api::reductionComputeType | api::reductionOutputType);
  std::array<api::MatmulHeuristic, mostProposals> proposed = {};
  int found = 0;
  api::BlasStatus answer = api::blasSuccess;
  if (status.ok())
    answer = blas->cublasLtMatmulAlgoGetHeuristic(
        handle, entry.desc, entry.first, entry.second, entry.result,
        entry.result, preference, mostProposals, proposed.data(), &found);
  (void)blas->cublasLtMatmulPreferenceDestroy(preference);
  VEELINE_TRY(status);
  const auto *chosen =
      std::find_if(proposed.begin(), proposed.begin() + found,
                   [](auto &each) { return each.status == api::blasSuccess; });
  if (answer == api::blasSuccess && chosen == proposed.begin() + found)
    answer = found < 1 ? api::blasNotSupported : proposed[0].status;
  entry.isThere = answer != api::blasNotSupported;
  if (!entry.isThere)
    return gemm.epilogue != Epilogue::none
               ? Status::success()
               : Status::error("cuBLASLt has no algorithm for it");
  VEELINE_TRY(blas->check("cublasLtMatmulAlgoGetHeuristic", answer));
  entry.algo = chosen->algo;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Status GemmTable::runOne(const Entry &entry, const GemmOperands &operands,
                         void *workspace, api::Stream stream) {
  const auto &[a, b, c, bias, aux, scratch] = operands;
  if (artifact::hasBias(entry.epilogue))
    VEELINE_TRY(set(entry, api::descBiasPointer, bias));
  if (artifact::hasAux(entry.epilogue))
    VEELINE_TRY(set(entry, api::descAuxPointer, aux));
  const float singles[] = {1, entry.accumulates ? 1.0f : 0.0f};
  const double doubles[] = {1, entry.accumulates ? 1.0 : 0.0};
  bool isDouble = entry.types->factors == api::real64F;
  const void *alpha =
      isDouble ? static_cast<const void *>(&doubles[0]) : &singles[0];
  const void *beta =
      isDouble ? static_cast<const void *>(&doubles[1]) : &singles[1];
  return VEELINE_CALL(*blas, cublasLtMatmul, handle, entry.desc, alpha,
                      entry.plan.isSwapped ? b : a, entry.first,
                      entry.plan.isSwapped ? a : b, entry.second, beta, c,
                      entry.result, c, entry.result, &entry.algo, workspace,
                      entry.workspaceBytes, stream);
}

Status GemmTable::run(int32_t index, const GemmOperands &operands,
                      void *library, api::Stream stream) {
  const Entry &entry = entries[index];
  void *workspace = operands.scratch ? operands.scratch : library;
  int64_t count = 1;
  for (const GemmPlan::Loop &loop : entry.plan.loops)
    count *= loop.extent;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, aAt = 0, bAt = 0, cAt = 0;
    for (const GemmPlan::Loop &loop : entry.plan.loops) {
      int64_t i = rest % loop.extent;
      rest /= loop.extent;
      aAt += i * loop.a;
      bAt += i * loop.b;
      cAt += i * loop.c;
    }
    GemmOperands one = operands;
    one.a = static_cast<const char *>(operands.a) + aAt * entry.width;
    one.b = static_cast<const char *>(operands.b) + bAt * entry.width;
    one.c = static_cast<char *>(operands.c) + cAt * entry.resultWidth;
    if (operands.aux)
      one.aux = static_cast<char *>(operands.aux) + cAt * entry.resultWidth;
    VEELINE_TRY(runOne(entry, one, workspace, stream));
  }
  return Status::success();
}
