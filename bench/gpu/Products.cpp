//===- Products.cpp - matrix products, and the library called directly ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "GemmLt.h"
#include "Parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <sstream>

using namespace veeline;
using namespace veeline::bench;
using artifact::ComputeType;
using artifact::DataType;
using artifact::Gemm;
using gpu::ElementKind;
namespace api = veeline::cuda::api;

static constexpr size_t workspaceBytes = size_t(32) << 20;
static constexpr int numAlgorithms = 8;
static constexpr int numSamples = 64;

//===----------------------------------------------------------------------===//
// A product
//===----------------------------------------------------------------------===//

namespace {
struct Product {
  int64_t batch = 1, m = 0, k = 0, n = 0;
  DataType type = DataType::f32;
  ElementKind kind = ElementKind::f32;
  ComputeType compute = ComputeType::f32;

  int64_t bytes(int64_t rows, int64_t columns) const {
    return batch * rows * columns * gpu::bytesOf(kind);
  }
};
} // namespace

/// Takes a size and the character that ends it.
static bool take(std::istream &stream, int64_t &size, char end) {
  char found = 0;
  return stream >> size >> found && size > 0 && found == end;
}

static Expected<Product> parse(const std::string &text) {
  Product product;
  std::istringstream stream(text);
  bool isBatched = text.find('*') != std::string::npos;
  std::string type;
  if ((isBatched && !take(stream, product.batch, '*')) ||
      !take(stream, product.m, 'x') || !take(stream, product.k, 'x') ||
      !take(stream, product.n, ':') || !(stream >> type))
    return Status::error("'" + text +
                         "' is no product: expected MxKxN:TYPE or "
                         "BATCH*MxKxN:TYPE");
  if (type == "tf32") {
    product.compute = ComputeType::tf32;
  } else if (type == "bf16") {
    product.type = DataType::bf16;
    product.kind = ElementKind::bf16;
  } else if (type == "f16") {
    product.type = DataType::f16;
    product.kind = ElementKind::f16;
  } else if (type != "f32") {
    return Status::error("'" + text +
                         "': expected the type f32, tf32, bf16 or f16");
  }
  return product;
}

/// The product as in the table of compiled code: row-major, at multiples of 256
/// bytes.
static Gemm describe(const Product &product) {
  Gemm gemm;
  gemm.type = gemm.cType = product.type;
  gemm.compute = product.compute;
  gemm.m = product.m;
  gemm.k = product.k;
  gemm.n = product.n;
  gemm.aStrides = {product.k, 1};
  gemm.bStrides = gemm.cStrides = {product.n, 1};
  gemm.alignment = 256;
  if (product.batch > 1) {
    gemm.batch = {product.batch};
    gemm.aStrides.insert(gemm.aStrides.begin(), product.m * product.k);
    gemm.bStrides.insert(gemm.bStrides.begin(), product.k * product.n);
    gemm.cStrides.insert(gemm.cStrides.begin(), product.m * product.n);
  }
  return gemm;
}

//===----------------------------------------------------------------------===//
// The library, called directly
//===----------------------------------------------------------------------===//

namespace {
/// Computes c^T = b^T a^T, since the library's matrices are column-major.
class DirectProduct {
public:
  DirectProduct(const cuda::BlasLt &blas, const Product &product)
      : blas(blas), product(product),
        types(*cuda::findProductTypes(describe(product))) {}
  ~DirectProduct();

  Status prepare();
  size_t numChoices() const { return choices.size(); }
  Status run(size_t choice, api::DevicePointer a, api::DevicePointer b,
             api::DevicePointer c, api::DevicePointer workspace,
             api::Stream stream);

private:
  Status makeLayout(int64_t rows, int64_t columns, api::MatrixLayout &layout);
  Status choose();

  const cuda::BlasLt &blas;
  const Product &product;
  const cuda::ProductTypes &types;
  api::BlasHandle handle = nullptr;
  api::MatmulDesc desc = nullptr;
  api::MatrixLayout first = nullptr, second = nullptr, result = nullptr;
  std::vector<api::MatmulHeuristic> choices;
};
} // namespace

DirectProduct::~DirectProduct() {
  for (api::MatrixLayout layout : {first, second, result})
    if (layout)
      (void)blas.cublasLtMatrixLayoutDestroy(layout);
  if (desc)
    (void)blas.cublasLtMatmulDescDestroy(desc);
  if (handle)
    (void)blas.cublasLtDestroy(handle);
}

Status DirectProduct::makeLayout(int64_t rows, int64_t columns,
                                 api::MatrixLayout &layout) {
  VEELINE_TRY(VEELINE_CALL(blas, cublasLtMatrixLayoutCreate, &layout,
                           types.operands, static_cast<uint64_t>(rows),
                           static_cast<uint64_t>(columns), rows));
  auto count = static_cast<int32_t>(product.batch);
  int64_t stride = rows * columns;
  if (count == 1)
    return Status::success();
  VEELINE_TRY(VEELINE_CALL(blas, cublasLtMatrixLayoutSetAttribute, layout,
                           api::layoutBatchCount, &count, sizeof(count)));
  return VEELINE_CALL(blas, cublasLtMatrixLayoutSetAttribute, layout,
                      api::layoutBatchOffset, &stride, sizeof(stride));
}

Status DirectProduct::choose() {
  api::MatmulPreference preference = nullptr;
  VEELINE_TRY(VEELINE_CALL(blas, cublasLtMatmulPreferenceCreate, &preference));
  Status status = VEELINE_CALL(blas, cublasLtMatmulPreferenceSetAttribute,
                               preference, api::preferWorkspaceBytes,
                               &workspaceBytes, sizeof(workspaceBytes));
  choices.resize(numAlgorithms);
  int found = 0;
  if (status.ok())
    status = VEELINE_CALL(blas, cublasLtMatmulAlgoGetHeuristic, handle, desc,
                          first, second, result, result, preference,
                          numAlgorithms, choices.data(), &found);
  (void)blas.cublasLtMatmulPreferenceDestroy(preference);
  VEELINE_TRY(status);
  choices.resize(static_cast<size_t>(std::max(found, 0)));
  return choices.empty() ? Status::error("cuBLASLt has no algorithm for it")
                         : Status::success();
}

Status DirectProduct::prepare() {
  VEELINE_TRY(VEELINE_CALL(blas, cublasLtCreate, &handle));
  VEELINE_TRY(VEELINE_CALL(blas, cublasLtMatmulDescCreate, &desc,
                           types.arithmetic, types.factors));
  VEELINE_TRY(makeLayout(product.n, product.k, first));
  VEELINE_TRY(makeLayout(product.k, product.m, second));
  VEELINE_TRY(makeLayout(product.n, product.m, result));
  return choose();
}

static const void *pointer(api::DevicePointer place) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the GPU.
  return reinterpret_cast<const void *>(place);
}

Status DirectProduct::run(size_t choice, api::DevicePointer a,
                          api::DevicePointer b, api::DevicePointer c,
                          api::DevicePointer workspace, api::Stream stream) {
  const float one = 1, zero = 0;
  return VEELINE_CALL(
      blas, cublasLtMatmul, handle, desc, &one, pointer(b), first, pointer(a),
      second, &zero, pointer(c), result, const_cast<void *>(pointer(c)), result,
      &choices[choice].algo, const_cast<void *>(pointer(workspace)),
      workspaceBytes, stream);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a product, on the host and on the GPU.
class Measurement {
public:
  Measurement(Gpu &gpu, const cuda::BlasLt &blas, const Product &product)
      : gpu(gpu), blas(blas), product(product), direct(blas, product),
        a(product.kind, product.batch * product.m * product.k, 64),
        b(product.kind, product.batch * product.k * product.n, 64) {}

  Status run(const std::string &name);

private:
  Status prepare();
  Status runOurs();
  Status checkSamples();
  Status checkSample(const gpu::Buffer &c, int64_t batch, int64_t i,
                     int64_t j) const;
  Expected<double> measureDirect(double &best);
  void report(const std::string &name, double ours, double first,
              double best) const;

  Gpu &gpu;
  const cuda::BlasLt &blas;
  const Product &product;
  cuda::GemmTable table;
  DirectProduct direct;
  gpu::Buffer a, b;
  cuda::DeviceMemory onGpu[4]; ///< a, b, c, workspace.
};
} // namespace

static void fill(gpu::Buffer &buffer, uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (int64_t i = 0; i < buffer.count(); ++i)
    buffer.set(i, static_cast<double>(engine() >> 11) * 0x1p-52 - 1);
}

Status Measurement::prepare() {
  fill(a, 1);
  fill(b, 2);
  const int64_t sizes[] = {a.bytes(), b.bytes(),
                           product.bytes(product.m, product.n),
                           static_cast<int64_t>(workspaceBytes)};
  for (int i = 0; i < 4; ++i)
    VEELINE_TRY(onGpu[i].allocate(gpu.device(), sizes[i]));
  VEELINE_TRY(gpu.upload(onGpu[0].address(), a.data(), a.bytes()));
  VEELINE_TRY(gpu.upload(onGpu[1].address(), b.data(), b.bytes()));
  VEELINE_TRY(table.prepare(blas, {describe(product)},
                            static_cast<int64_t>(workspaceBytes)));
  return direct.prepare();
}

Status Measurement::runOurs() {
  return table.run(0, {onGpu[0].data(), onGpu[1].data(), onGpu[2].data()},
                   onGpu[3].data(), gpu.stream());
}

Status Measurement::checkSample(const gpu::Buffer &c, int64_t batch, int64_t i,
                                int64_t j) const {
  double sum = 0, size = 0;
  for (int64_t l = 0; l < product.k; ++l) {
    double term = a.get((batch * product.m + i) * product.k + l) *
                  b.get((batch * product.k + l) * product.n + j);
    sum += term;
    size += std::abs(term);
  }
  double found = c.get((batch * product.m + i) * product.n + j);
  double part = product.compute == ComputeType::tf32 ? 0x1p-9 : 0x1p-18;
  double allowed =
      part * size + 2 * gpu::epsilonOf(product.kind) * std::abs(sum);
  if (std::abs(found - sum) <= allowed)
    return Status::success();
  char text[160];
  std::snprintf(text, sizeof(text),
                "element [%ld, %ld] of product %ld is %.9g, expected %.9g "
                "within %.3g",
                i, j, batch, found, sum, allowed);
  return Status::error(text);
}

/// Checks some elements of the result.
Status Measurement::checkSamples() {
  gpu::Buffer c(product.kind, product.batch * product.m * product.n, 64);
  VEELINE_TRY(gpu.set(onGpu[2].address(), 0xff, c.bytes()));
  VEELINE_TRY(runOurs());
  VEELINE_TRY(gpu.download(c.data(), onGpu[2].address(), c.bytes()));
  std::mt19937_64 engine(3);
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(bound));
  };
  for (int i = 0; i < numSamples; ++i) {
    int64_t batch = below(product.batch), row = below(product.m);
    VEELINE_TRY(checkSample(c, batch, row, below(product.n)));
  }
  return Status::success();
}

/// The time with the first algorithm of the heuristics. Sets `best` to the time
/// with the best of several.
Expected<double> Measurement::measureDirect(double &best) {
  double first = 0;
  for (size_t i = 0; i < direct.numChoices(); ++i) {
    Expected<double> taken = gpu.measure([&] {
      return direct.run(i, onGpu[0].address(), onGpu[1].address(),
                        onGpu[2].address(), onGpu[3].address(), gpu.stream());
    });
    if (!taken.ok())
      return taken;
    first = i == 0 ? *taken : first;
    best = i == 0 ? *taken : std::min(best, *taken);
  }
  return first;
}

void Measurement::report(const std::string &name, double ours, double first,
                         double best) const {
  double operations = 2.0 * static_cast<double>(product.batch) *
                      static_cast<double>(product.m) *
                      static_cast<double>(product.k) *
                      static_cast<double>(product.n);
  char note[160];
  std::snprintf(note, sizeof(note),
                "%.1f us, %.2f TFLOP/s; directly %.1f us, the best of %zu "
                "algorithms %.1f us",
                ours, operations / ours / 1e6, first, direct.numChoices(),
                best);
  printRow(name, ours / first, "of its time directly", note);
}

Status Measurement::run(const std::string &name) {
  VEELINE_TRY(prepare());
  VEELINE_TRY(checkSamples());
  Expected<double> ours = gpu.measure([&] { return runOurs(); });
  if (!ours.ok())
    return ours.status();
  double best = 0;
  Expected<double> first = measureDirect(best);
  if (!first.ok())
    return first.status();
  report(name, *ours, *first, best);
  return Status::success();
}

Status bench::measureProducts(const GpuOptions &options,
                              const std::vector<std::string> &products) {
  Expected<std::unique_ptr<Gpu>> gpu = Gpu::open(options);
  if (!gpu.ok())
    return gpu.status();
  Expected<cuda::BlasLt> blas = cuda::BlasLt::load(options.blasLt);
  if (!blas.ok())
    return blas.status();
  for (const std::string &text : products) {
    Expected<Product> product = parse(text);
    if (!product.ok())
      return product.status();
    Status status = Measurement(**gpu, *blas, *product).run(text);
    if (!status.ok())
      printFailure(text, status.message());
  }
  return Status::success();
}
