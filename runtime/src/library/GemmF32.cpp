//===- GemmF32.cpp - matrix products in f32, by oneDNN --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution.h"
#include "Strides.h"
#include "veeline/Library/Gemm.h"

#include "veeline/Base/Numbers.h"

#include <dnnl.hpp>

#include <utility>

using namespace veeline;
using namespace veeline::library;

//===----------------------------------------------------------------------===//
// Shapes that the library supports well
//===----------------------------------------------------------------------===//

namespace {
/// The product c = a * b, whose operands are views.
struct Product {
  View a, b, c;
};
} // namespace

static View makeView(const std::vector<int64_t> &batch, int64_t rows,
                     int64_t columns, const std::vector<int64_t> &strides) {
  View view{batch, strides};
  view.extents.push_back(rows);
  view.extents.push_back(columns);
  return view;
}

/// Merges adjacent batch dimensions if they are one dimension in all three
/// operands.
static void mergeBatch(Product &product) {
  View *views[] = {&product.a, &product.b, &product.c};
  for (size_t d = product.c.extents.size() - 2; d-- > 1;) {
    bool mergeable = true;
    for (View *view : views)
      mergeable &= view->strides[d - 1] == view->strides[d] * view->extents[d];
    if (!mergeable)
      continue;
    for (View *view : views) {
      view->extents[d - 1] *= view->extents[d];
      view->strides[d - 1] = view->strides[d];
      view->extents.erase(view->extents.begin() + d);
      view->strides.erase(view->strides.begin() + d);
    }
  }
}

static void transpose(View &view) {
  size_t last = view.extents.size() - 1;
  std::swap(view.extents[last - 1], view.extents[last]);
  std::swap(view.strides[last - 1], view.strides[last]);
}

static int64_t rowStride(const View &view) {
  return view.strides[view.strides.size() - 2];
}
static int64_t columnStride(const View &view) { return view.strides.back(); }

/// The library writes only row-major results. Instead of a column-major c, it
/// computes the transpose of c: the transpose of b times that of a.
static bool transposeIfColumnMajor(Product &product) {
  if (columnStride(product.c) == 1 || rowStride(product.c) != 1)
    return false;
  std::swap(product.a, product.b);
  transpose(product.a);
  transpose(product.b);
  transpose(product.c);
  return true;
}

/// Gives a broadcast batch dimension (stride 0) the extent 1, as the library
/// requires. This works in only one operand: if both broadcast it, b is
/// repeated.
static void expressBroadcasts(Product &product) {
  for (size_t d = 0; d + 2 < product.c.extents.size(); ++d) {
    if (product.a.strides[d] == 0)
      product.a.extents[d] = 1;
    else if (product.b.strides[d] == 0)
      product.b.extents[d] = 1;
  }
}

static bool repeatsElements(const View &view) {
  for (size_t d = 0; d < view.extents.size(); ++d)
    if (view.strides[d] == 0 && view.extents[d] != 1)
      return true;
  return false;
}

/// Gives dimensions of extent 1 the stride that they would have without gaps,
/// so that equal layouts compare equal.
static void normaliseUnitDimensions(View &view) {
  int64_t next = 1;
  for (size_t d = view.extents.size(); d-- > 0;) {
    if (view.extents[d] == 1)
      view.strides[d] = next;
    next = std::max(next, view.strides[d] * view.extents[d]);
  }
}

//===----------------------------------------------------------------------===//
// The prepared product
//===----------------------------------------------------------------------===//

/// Adds a dimension to make four, because the library supports more orders of
/// four dimensions.
static void prependUnitDimension(View &view) {
  view.extents.insert(view.extents.begin(), 1);
  view.strides.insert(view.strides.begin(), 1);
  normaliseUnitDimensions(view);
}

namespace {
/// Elements that are copied from one layout to another before or after the
/// product.
struct Packing {
  View original, packed;
  int64_t scratchOffset = 0;
};

/// What the library multiplies, and what is packed for that.
struct Plan {
  Product product;
  std::optional<Packing> packings[3];
  int64_t packBytes = 0;

  View &operand(int index) {
    return index == 0 ? product.a : index == 1 ? product.b : product.c;
  }

  void pack(int index) {
    if (packings[index])
      return;
    View &view = operand(index);
    packings[index] = Packing{view, view.packed(), packBytes};
    packBytes +=
        roundUp(view.numElements() * int64_t(sizeof(float)), scratchAlignment);
    view = packings[index]->packed;
  }

  void packWhatHasNoUnitStride() {
    for (int i = 0; i < 3; ++i) {
      bool rowMajor = columnStride(operand(i)) == 1;
      bool columnMajor = rowStride(operand(i)) == 1 && i != 2;
      if (!rowMajor && !columnMajor)
        pack(i);
    }
  }

  /// Packs the operands whose bits are set in `mask`.
  Plan variant(bool withUnitDimension, int mask) const {
    Plan plan = *this;
    for (int i = 0; i < 3; ++i) {
      if (withUnitDimension)
        prependUnitDimension(plan.operand(i));
      if (mask & 1 << i)
        plan.pack(i);
    }
    return plan;
  }
};

using Description = dnnl::matmul::primitive_desc;
} // namespace

static dnnl::memory::desc describeView(const View &view) {
  return {view.extents, dnnl::memory::data_type::f32, view.strides};
}

static Description describe(const Product &product,
                            const dnnl::engine &engine) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {{describeView(product.a), describeView(product.b),
           describeView(product.c)},
          attributes,
          engine};
}

/// The reference implementation supports any strides, but is a thousand times
/// slower.
static bool isSlow(const Description &description) {
  return std::string_view(description.impl_info_str()).starts_with("ref");
}

/// Implementations by the library's older matrix products allocate memory for
/// packing in each call, even if the user provides scratch memory.
static bool allocatesScratch(const Description &description) {
  return std::string_view(description.impl_info_str()).starts_with("gemm");
}

/// The variant of `plan` that the library's newer implementation supports and
/// that packs the least. None if the CPU is too old. That implementation uses
/// our scratch memory. It needs dense rows and, with fewer than four
/// dimensions, the usual order of dimensions.
static std::optional<Plan>
findPlanWithoutAllocations(const Plan &plan, const dnnl::engine &engine) {
  constexpr int everything = 7;
  std::optional<Plan> best;
  bool canPrepend = plan.product.c.extents.size() == 3;
  for (int mask = everything; mask >= 0; --mask)
    for (bool withUnitDimension : {false, true}) {
      if (withUnitDimension && !canPrepend)
        continue;
      Plan candidate = plan.variant(withUnitDimension, mask);
      Description description = describe(candidate.product, engine);
      if (allocatesScratch(description) || isSlow(description)) {
        if (mask == everything)
          return std::nullopt;
        continue;
      }
      if (!best || candidate.packBytes < best->packBytes)
        best = std::move(candidate);
    }
  return best;
}

static Plan makePlan(Product product, const dnnl::engine &engine) {
  Plan plan{std::move(product), {}, 0};
  for (int i = 0; i < 2; ++i)
    if (repeatsElements(plan.operand(i)))
      plan.pack(i);
  if (isSlow(describe(plan.product, engine)))
    plan.packWhatHasNoUnitStride();
  if (allocatesScratch(describe(plan.product, engine)))
    if (std::optional<Plan> better = findPlanWithoutAllocations(plan, engine))
      plan = std::move(*better);
  return plan;
}

namespace {
class GemmF32 final : public PreparedCall {
public:
  GemmF32(Product product, bool swapped)
      : swapped(swapped), engine(dnnl::engine::kind::cpu, 0), stream(engine),
        plan(makePlan(std::move(product), engine)) {
    Description description = describe(plan.product, engine);
    libraryScratch =
        static_cast<int64_t>(description.scratchpad_desc().get_size());
    name = description.impl_info_str();
    execution =
        Execution(dnnl::matmul(description), engine,
                  {{DNNL_ARG_SRC, description.src_desc()},
                   {DNNL_ARG_WEIGHTS, description.weights_desc()},
                   {DNNL_ARG_DST, description.dst_desc()},
                   {DNNL_ARG_SCRATCHPAD, description.scratchpad_desc()}});
  }

  Status run(const void *a, const void *b, void *c, void *scratch) override {
    if (swapped)
      std::swap(a, b);
    const void *operands[] = {a, b};
    char *place = static_cast<char *>(scratch);
    for (int i = 0; i < 2; ++i)
      if (plan.packings[i])
        operands[i] = pack(*plan.packings[i], operands[i], place);
    void *result =
        plan.packings[2] ? place + plan.packings[2]->scratchOffset : c;
    if (dnnl_status_t status = execution.run(
            stream, {operands[0], operands[1], result, place + plan.packBytes}))
      return Status::error("oneDNN's matmul failed with status " +
                           std::to_string(status));
    if (plan.packings[2])
      copyView(static_cast<const float *>(result), plan.packings[2]->packed,
               static_cast<float *>(c), plan.packings[2]->original);
    return Status::success();
  }

  int64_t scratchBytes() const override {
    return libraryScratch + plan.packBytes;
  }
  std::string implementation() const override {
    return (plan.packBytes ? "packed:" : "") + name;
  }

private:
  static const void *pack(const Packing &packing, const void *source,
                          char *scratch) {
    float *target = reinterpret_cast<float *>(scratch + packing.scratchOffset);
    copyView(static_cast<const float *>(source), packing.original, target,
             packing.packed);
    return target;
  }

  const bool swapped;
  dnnl::engine engine;
  dnnl::stream stream;
  Plan plan;
  Execution execution;
  int64_t libraryScratch = 0;
  std::string name;
};
} // namespace

Expected<std::unique_ptr<PreparedCall>>
library::prepareGemmF32(const artifact::Gemm &gemm) {
  Product product{makeView(gemm.batch, gemm.m, gemm.k, gemm.aStrides),
                  makeView(gemm.batch, gemm.k, gemm.n, gemm.bStrides),
                  makeView(gemm.batch, gemm.m, gemm.n, gemm.cStrides)};
  mergeBatch(product);
  expressBroadcasts(product);
  for (View *view : {&product.a, &product.b, &product.c})
    normaliseUnitDimensions(*view);
  bool swapped = transposeIfColumnMajor(product);
  try {
    return std::unique_ptr<PreparedCall>(
        std::make_unique<GemmF32>(std::move(product), swapped));
  } catch (const dnnl::error &error) {
    return Status::error("oneDNN cannot multiply [" + std::to_string(gemm.m) +
                         "x" + std::to_string(gemm.k) + "] by [" +
                         std::to_string(gemm.k) + "x" + std::to_string(gemm.n) +
                         "]: " + error.what());
  }
}
