//===- BlasLt.cpp - cuBLASLt, without a GPU -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes products by plain loops, in an order of sums that depends on
// layouts, epilogues and algorithms. Refuses what the real library could not
// take.
//
//===----------------------------------------------------------------------===//

#include "BlasLtApi.h"
#include "Elements.h"
#include "StandIn.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

using namespace veeline;
using standin::Element;
namespace api = veeline::cuda::api;

static constexpr int invalidValue = 7, internalError = 14, notSupported = 15;

/// Taken of each device by the kernel of a shape.
static constexpr int64_t kernelBytes = 8192;

/// Set in epilogues with a matrix beside the result.
static constexpr int32_t auxBit = 128;

namespace {
struct Desc {
  int computeType = 0, scaleType = 0;
  int32_t transA = api::operationN, transB = api::operationN;
  int32_t epilogue = api::epilogueDefault, biasType = api::real32F;
  const void *bias = nullptr;
  char *aux = nullptr;
  int64_t auxLeadingDimension = 0, auxBatchStride = 0;

  bool hasBias() const { return epilogue & api::epilogueBias; }
  bool hasAux() const { return epilogue & auxBit; }
};
struct Layout {
  int type = 0;
  int64_t rows = 0, columns = 0, leadingDimension = 0;
  int32_t batch = 1;
  int64_t batchStride = 0;
};
/// The kernels that it has loaded, by rows, columns and depth.
struct Handle {
  std::set<std::array<int64_t, 3>> kernels;
};
struct Preference {
  uint64_t workspaceBytes = 0;
  uint32_t alignment = 256;
  uint32_t reductions = 7;
};
} // namespace

#define ENTER(name)                                                            \
  if (int code = standin::enterCall(name))                                     \
  return code

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static Element elementOf(int type) {
  switch (type) {
  case api::real64F:
    return Element::f64;
  case api::real32F:
    return Element::f32;
  case api::real16F:
    return Element::f16;
  case api::real16BF:
    return Element::bf16;
  default:
    return Element::none;
  }
}

static int64_t sizeOf(int type) { return standin::bytesOf(elementOf(type)); }

static double elementAt(int type, const char *place) {
  return standin::elementAt(elementOf(type), place);
}

static void store(int type, char *place, double number) {
  standin::store(elementOf(type), place, number);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// An operand, in memory that the stand-in can access.
struct Operand {
  Layout layout;
  char *data = nullptr;
  bool isTransposed = false;

  int64_t rows() const { return isTransposed ? layout.columns : layout.rows; }
  int64_t columns() const {
    return isTransposed ? layout.rows : layout.columns;
  }
  char *at(int64_t batch, int64_t i, int64_t j) const {
    if (isTransposed)
      std::swap(i, j);
    return data + sizeOf(layout.type) * (batch * layout.batchStride +
                                         j * layout.leadingDimension + i);
  }
  /// The span of memory that it reaches into.
  int64_t bytes() const {
    return sizeOf(layout.type) *
           ((layout.batch - 1) * layout.batchStride +
            (layout.columns - 1) * layout.leadingDimension + layout.rows);
  }
};

/// GELU(x) = x s(2 u(x)), with the logistic function s and
/// u(x) = sqrt(2 / pi) (x + 0.044715 x^3).
double weightOfGelu(double x) {
  return 1 / (1 + std::exp(-2 * std::sqrt(2 / M_PI) *
                           (x + 0.044715 * std::pow(x, 3))));
}

/// GELU'(x) = s + 2 x s (1 - s) u'(x).
double slopeOfGelu(double x) {
  double s = weightOfGelu(x);
  return s +
         2 * x * s * (1 - s) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

struct Product {
  Desc desc;
  double alpha = 1, beta = 0;
  Operand a, b, d, aux;
  const char *bias = nullptr;
  /// What the algorithm was chosen for.
  uint64_t alignment = 0, workspaceBytes = 0, reductions = 0;
  uint64_t proposal = 0; ///< Which one it was.
  /// Of the call.
  uint64_t number = 0;

  /// Depends on everything that heuristics choose an algorithm by.
  standin::SumOrder order() const {
    standin::SumOrder order(
        elementOf(a.layout.type),
        {desc.computeType, desc.transA, desc.transB, desc.epilogue,
         static_cast<int64_t>(alignment), static_cast<int64_t>(workspaceBytes),
         static_cast<int64_t>(reductions), static_cast<int64_t>(proposal)});
    for (const Operand *operand : {&a, &b, &d}) {
      order.add(operand->layout.type);
      order.add(operand->layout.leadingDimension);
      order.add(operand->layout.batch);
      order.add(operand->layout.batchStride);
    }
    // Parts are added to the result in the order in which they are ready.
    if (reductions & api::reductionInPlace)
      order.add(static_cast<int64_t>(number));
    return order;
  }

  double epilogue(double sum, int64_t batch, int64_t row,
                  int64_t column) const {
    if (desc.hasBias())
      sum += elementAt(desc.biasType, bias + sizeOf(desc.biasType) * row);
    char *beside = desc.hasAux() ? aux.at(batch, row, column) : nullptr;
    if (desc.epilogue == api::epilogueDgelu)
      return sum * slopeOfGelu(elementAt(aux.layout.type, beside));
    if (beside)
      store(aux.layout.type, beside, sum);
    return desc.epilogue & api::epilogueGelu ? sum * weightOfGelu(sum) : sum;
  }

  double operandAt(const Operand &operand, int64_t batch, int64_t i,
                   int64_t j) const {
    double value = elementAt(operand.layout.type, operand.at(batch, i, j));
    return desc.computeType == api::compute32FFastTF32
               ? standin::roundToTf32(value)
               : value;
  }

  void run() const {
    const standin::SumOrder sums = order();
    for (int64_t batch = 0; batch < d.layout.batch; ++batch)
      for (int64_t j = 0; j < d.layout.columns; ++j)
        for (int64_t i = 0; i < d.layout.rows; ++i) {
          double sum = sums.begin();
          for (int64_t k = 0; k < a.columns(); ++k)
            sum = sums.plus(sum, operandAt(a, batch, i, k) *
                                     operandAt(b, batch, k, j));
          sum = sums.end(sum) * alpha;
          char *place = d.at(batch, i, j);
          // A sum is rounded to f32 before `beta` adds to it, except in f64.
          if (desc.scaleType == api::real32F)
            sum = static_cast<float>(sum);
          if (beta != 0)
            sum += beta * elementAt(d.layout.type, place);
          store(d.layout.type, place, epilogue(sum, batch, i, j));
        }
  }
};
} // namespace

/// The matrix beside the result. It has the result's type and sizes, and
/// strides of its own.
static Layout layoutOfAux(const Desc &desc, const Layout &d) {
  Layout layout = d;
  layout.leadingDimension = desc.auxLeadingDimension;
  layout.batchStride = desc.auxBatchStride;
  return layout;
}

static uint64_t alignmentOf(const void *place) {
  auto address = reinterpret_cast<uintptr_t>(place);
  return std::min<uint64_t>(address & (~address + 1), 256);
}

/// How many proposals for a product it makes.
static constexpr int numProposals = 3;

/// How many of them do not work, the first ones, by chance: the same for equal
/// products, in all processes.
static int countRefused(const Desc &desc, const Layout &a, const Layout &d) {
  const char *text = std::getenv("VEELINE_STANDIN_REFUSE");
  if (!text)
    return 0;
  bool isPlain = desc.epilogue == api::epilogueDefault;
  if (std::string_view(text) == "all")
    return isPlain ? numProposals - 1 : numProposals;
  uint64_t hash = std::strtoull(text, nullptr, 10);
  for (int64_t number : {int64_t(desc.epilogue), int64_t(d.type), d.rows,
                         d.columns, a.rows, a.columns})
    hash = (hash ^ static_cast<uint64_t>(number)) * 0x9E3779B97F4A7C15 +
           (hash >> 29);
  return isPlain ? static_cast<int>((hash >> 33) % numProposals)
                 : static_cast<int>(hash >> 63) * numProposals;
}

/// Refuses unknown epilogues, and pointers and strides of epilogues that
/// cuBLASLt does not take.
static int checkEpilogue(const Desc &desc, const Layout &d) {
  switch (desc.epilogue) {
  case api::epilogueDefault:
  case api::epilogueBias:
  case api::epilogueGelu:
  case api::epilogueGeluBias:
  case api::epilogueGeluAux:
  case api::epilogueGeluAuxBias:
  case api::epilogueDgelu:
    break;
  default:
    return notSupported;
  }
  if (desc.hasBias() && (!desc.bias || desc.biasType != d.type))
    return invalidValue;
  if (!desc.hasAux())
    return 0;
  Layout aux = layoutOfAux(desc, d);
  bool isDense = aux.leadingDimension >= d.rows &&
                 aux.leadingDimension % 8 == 0 && aux.batchStride % 8 == 0;
  // Every product of a batch has one of its own.
  bool isApart = d.batch == 1 || aux.batchStride >= aux.leadingDimension;
  return desc.aux && isDense && isApart ? 0 : invalidValue;
}

/// Refuses what cuBLASLt would: types, and matrices that do not fit each other.
static int check(const Desc &desc, const Layout &a, const Layout &b,
                 const Layout &d) {
  if (int code = checkEpilogue(desc, d))
    return code;
  bool isDouble = desc.computeType == api::compute64F;
  bool knowsTypes =
      a.type == b.type && sizeOf(a.type) && sizeOf(d.type) &&
      isDouble == (a.type == api::real64F) &&
      isDouble == (d.type == api::real64F) &&
      desc.scaleType == (isDouble ? api::real64F : api::real32F) &&
      (d.type == a.type || d.type == api::real32F) &&
      (desc.computeType != api::compute32FFastTF32 || a.type == api::real32F);
  if (!knowsTypes)
    return notSupported;
  Operand left{a, nullptr, desc.transA == api::operationT};
  Operand right{b, nullptr, desc.transB == api::operationT};
  for (const Layout *layout : {&a, &b, &d})
    if (layout->leadingDimension < layout->rows || layout->batch != d.batch)
      return invalidValue;
  return left.rows() == d.rows && right.columns() == d.columns &&
                 left.columns() == right.rows()
             ? 0
             : invalidValue;
}

static double scalarOf(const Desc &desc, const void *value) {
  return elementAt(desc.scaleType, static_cast<const char *>(value));
}

static bool isAligned(const void *place, uint64_t alignment) {
  return reinterpret_cast<uintptr_t>(place) % alignment == 0;
}

/// Finds bias and aux. False if they are not as aligned as those that the
/// algorithm was chosen with.
static bool findBeside(Product &product, const api::MatmulAlgo &algo) {
  const Desc &desc = product.desc;
  if (algo.data[5] != static_cast<uint64_t>(desc.epilogue))
    return false;
  if (desc.hasBias()) {
    product.bias =
        standin::find(desc.bias, sizeOf(desc.biasType) * product.d.layout.rows);
    if (!product.bias || alignmentOf(desc.bias) < algo.data[3])
      return false;
  }
  if (!desc.hasAux())
    return true;
  product.aux = {layoutOfAux(desc, product.d.layout), nullptr, false};
  product.aux.data = standin::find(desc.aux, product.aux.bytes());
  return product.aux.data && alignmentOf(desc.aux) >= algo.data[4];
}

template <typename T>
static int setField(T &field, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return invalidValue;
  std::memcpy(static_cast<void *>(&field), value, bytes);
  return 0;
}

extern "C" {

VEELINE_STANDIN size_t cublasLtGetVersion() {
  return static_cast<size_t>(
      standin::setting("VEELINE_STANDIN_CUBLASLT", 130100));
}

VEELINE_STANDIN const char *cublasLtGetStatusName(int status) {
#define ERROR(text, code)                                                      \
  if (status == code)                                                          \
    return #text;
#include "BlasErrors.inc"
#undef ERROR
  return nullptr;
}

VEELINE_STANDIN const char *cublasLtGetStatusString(int) {
  return "the stand-in was told to say so";
}

VEELINE_STANDIN int cublasLtCreate(api::BlasHandle *handle) {
  ENTER("cublasLtCreate");
  *handle = reinterpret_cast<api::BlasHandle>(new Handle());
  return 0;
}

VEELINE_STANDIN int cublasLtDestroy(api::BlasHandle handle) {
  ENTER("cublasLtDestroy");
  auto *known = reinterpret_cast<Handle *>(handle);
  standin::unloadCode(static_cast<int64_t>(known->kernels.size()) *
                      kernelBytes);
  delete known;
  return 0;
}

VEELINE_STANDIN int cublasLtMatmulDescCreate(api::MatmulDesc *handle,
                                             int computeType, int scaleType) {
  ENTER("cublasLtMatmulDescCreate");
  auto *desc = new Desc();
  desc->computeType = computeType;
  desc->scaleType = scaleType;
  *handle = reinterpret_cast<api::MatmulDesc>(desc);
  return 0;
}

VEELINE_STANDIN int cublasLtMatmulDescDestroy(api::MatmulDesc handle) {
  ENTER("cublasLtMatmulDescDestroy");
  delete reinterpret_cast<Desc *>(handle);
  return 0;
}

VEELINE_STANDIN int cublasLtMatmulDescSetAttribute(api::MatmulDesc handle,
                                                   int attribute,
                                                   const void *value,
                                                   size_t bytes) {
  ENTER("cublasLtMatmulDescSetAttribute");
  Desc &desc = *reinterpret_cast<Desc *>(handle);
  switch (attribute) {
  case api::descTransA:
    return setField(desc.transA, value, bytes);
  case api::descTransB:
    return setField(desc.transB, value, bytes);
  case api::descEpilogue:
    return setField(desc.epilogue, value, bytes);
  case api::descBiasPointer:
    return setField(desc.bias, value, bytes);
  case api::descBiasType:
    return setField(desc.biasType, value, bytes);
  case api::descAuxPointer:
    return setField(desc.aux, value, bytes);
  case api::descAuxLd:
    return setField(desc.auxLeadingDimension, value, bytes);
  case api::descAuxBatchStride:
    return setField(desc.auxBatchStride, value, bytes);
  default:
    return notSupported;
  }
}

VEELINE_STANDIN int cublasLtMatrixLayoutCreate(api::MatrixLayout *handle,
                                               int type, uint64_t rows,
                                               uint64_t columns,
                                               int64_t leadingDimension) {
  ENTER("cublasLtMatrixLayoutCreate");
  auto *layout = new Layout();
  layout->type = type;
  layout->rows = static_cast<int64_t>(rows);
  layout->columns = static_cast<int64_t>(columns);
  layout->leadingDimension = leadingDimension;
  *handle = reinterpret_cast<api::MatrixLayout>(layout);
  return 0;
}

VEELINE_STANDIN int cublasLtMatrixLayoutDestroy(api::MatrixLayout handle) {
  ENTER("cublasLtMatrixLayoutDestroy");
  delete reinterpret_cast<Layout *>(handle);
  return 0;
}

VEELINE_STANDIN int cublasLtMatrixLayoutSetAttribute(api::MatrixLayout handle,
                                                     int attribute,
                                                     const void *value,
                                                     size_t bytes) {
  ENTER("cublasLtMatrixLayoutSetAttribute");
  Layout &layout = *reinterpret_cast<Layout *>(handle);
  if (attribute == api::layoutBatchCount)
    return setField(layout.batch, value, bytes);
  if (attribute == api::layoutBatchOffset)
    return setField(layout.batchStride, value, bytes);
  return notSupported;
}

VEELINE_STANDIN int
cublasLtMatmulPreferenceCreate(api::MatmulPreference *handle) {
  ENTER("cublasLtMatmulPreferenceCreate");
  *handle = reinterpret_cast<api::MatmulPreference>(new Preference());
  return 0;
}

VEELINE_STANDIN int
cublasLtMatmulPreferenceDestroy(api::MatmulPreference handle) {
  ENTER("cublasLtMatmulPreferenceDestroy");
  delete reinterpret_cast<Preference *>(handle);
  return 0;
}

VEELINE_STANDIN int
cublasLtMatmulPreferenceSetAttribute(api::MatmulPreference handle,
                                     int attribute, const void *value,
                                     size_t bytes) {
  ENTER("cublasLtMatmulPreferenceSetAttribute");
  Preference &preference = *reinterpret_cast<Preference *>(handle);
  if (attribute == api::preferWorkspaceBytes)
    return setField(preference.workspaceBytes, value, bytes);
  if (attribute == api::preferReductions)
    return setField(preference.reductions, value, bytes);
  if (attribute >= api::preferAlignmentA && attribute <= api::preferAlignmentD)
    return setField(preference.alignment, value, bytes);
  return notSupported;
}

/// The algorithms that it proposes say what they were chosen for.
VEELINE_STANDIN int cublasLtMatmulAlgoGetHeuristic(
    api::BlasHandle, api::MatmulDesc desc, api::MatrixLayout a,
    api::MatrixLayout b, api::MatrixLayout, api::MatrixLayout d,
    api::MatmulPreference preferenceHandle, int requested,
    api::MatmulHeuristic *results, int *found) {
  ENTER("cublasLtMatmulAlgoGetHeuristic");
  *found = 0;
  const auto &preference =
      *reinterpret_cast<const Preference *>(preferenceHandle);
  const Desc &product = *reinterpret_cast<Desc *>(desc);
  if (int code =
          check(product, *reinterpret_cast<Layout *>(a),
                *reinterpret_cast<Layout *>(b), *reinterpret_cast<Layout *>(d)))
    return code;
  if (requested < 1)
    return invalidValue;
  int numRefused = countRefused(product, *reinterpret_cast<Layout *>(a),
                                *reinterpret_cast<Layout *>(d));
  // It says so in any of three ways.
  if (numRefused == numProposals && product.hasBias() != product.hasAux())
    return product.hasBias() ? notSupported : api::success;
  *found = std::min(requested, numProposals);
  for (int i = 0; i < *found; ++i) {
    results[i] = {};
    results[i].algo.data[0] = preference.alignment;
    results[i].algo.data[1] = preference.workspaceBytes;
    results[i].algo.data[2] = preference.reductions;
    results[i].algo.data[3] = alignmentOf(product.bias);
    results[i].algo.data[4] = alignmentOf(product.aux);
    results[i].algo.data[5] = static_cast<uint64_t>(product.epilogue);
    results[i].algo.data[6] = static_cast<uint64_t>(i);
    results[i].workspaceBytes = preference.workspaceBytes / 2;
    results[i].status = i < numRefused ? notSupported : api::success;
  }
  return 0;
}

VEELINE_STANDIN int cublasLtMatmul(api::BlasHandle handle, api::MatmulDesc desc,
                                   const void *alpha, const void *a,
                                   api::MatrixLayout aLayout, const void *b,
                                   api::MatrixLayout bLayout, const void *beta,
                                   const void *c, api::MatrixLayout, void *d,
                                   api::MatrixLayout dLayout,
                                   const api::MatmulAlgo *algo, void *workspace,
                                   size_t workspaceBytes, api::Stream stream) {
  ENTER("cublasLtMatmul");
  Product product;
  product.desc = *reinterpret_cast<Desc *>(desc);
  product.alpha = scalarOf(product.desc, alpha);
  product.beta = scalarOf(product.desc, beta);
  product.a = {*reinterpret_cast<Layout *>(aLayout), nullptr,
               product.desc.transA == api::operationT};
  product.b = {*reinterpret_cast<Layout *>(bLayout), nullptr,
               product.desc.transB == api::operationT};
  product.d = {*reinterpret_cast<Layout *>(dLayout), nullptr, false};
  if (int code = check(product.desc, product.a.layout, product.b.layout,
                       product.d.layout))
    return code;
  product.alignment = algo->data[0];
  product.workspaceBytes = algo->data[1];
  product.reductions = algo->data[2];
  product.proposal = algo->data[6];
  bool fits =
      c == d && isAligned(a, product.alignment) &&
      isAligned(b, product.alignment) && isAligned(d, product.alignment) &&
      workspaceBytes >= product.workspaceBytes / 2 &&
      (workspaceBytes == 0 ||
       (isAligned(workspace, 16) &&
        standin::find(workspace, static_cast<int64_t>(workspaceBytes))));
  product.a.data = standin::find(a, product.a.bytes());
  product.b.data = standin::find(b, product.b.bytes());
  product.d.data = standin::find(d, product.d.bytes());
  if (!fits || !product.a.data || !product.b.data || !product.d.data ||
      !findBeside(product, *algo))
    return invalidValue;
  auto &known = *reinterpret_cast<Handle *>(handle);
  std::array<int64_t, 3> shape = {product.d.rows(), product.d.columns(),
                                  product.a.columns()};
  if (!known.kernels.count(shape) && standin::loadCode(kernelBytes) != 0)
    return internalError;
  known.kernels.insert(shape);
  // A call keeps its number in the workspace while it runs: another one that
  // gets the same workspace meanwhile spoils it.
  static std::atomic<uint64_t> numCalls;
  product.number = ++numCalls;
  const uint64_t number = product.number;
  char *place = workspaceBytes < sizeof(number)
                    ? nullptr
                    : standin::find(workspace, sizeof(number));
  if (place)
    standin::enqueue(stream,
                     [=] { std::memcpy(place, &number, sizeof(number)); });
  standin::enqueue(stream, [=] {
    if (place && std::memcmp(place, &number, sizeof(number)) != 0)
      std::memset(product.d.data, 0xff, static_cast<size_t>(product.d.bytes()));
    else
      product.run();
  });
  return 0;
}

} // extern "C"
