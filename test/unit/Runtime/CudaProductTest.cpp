//===- CudaProductTest.cpp - matrix products over the stand-in ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

using namespace veeline;
using artifact::DataType;
using artifact::Epilogue;
using artifact::Gemm;

namespace api = veeline::cuda::api;

static double gelu(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(CudaProduct, PlansOfProducts) {
  auto messageOf = [](const Gemm &gemm) {
    Expected<cuda::GemmPlan> plan = cuda::planGemm(gemm);
    return plan.ok() ? "" : plan.message();
  };
  Gemm gemm{DataType::f32, {}, 4, 5, 6, {6, 1}, {5, 1}, {5, 1}};
  EXPECT_EQ(messageOf(gemm), "");
  gemm.epilogue = Epilogue::bias;
  EXPECT_EQ(messageOf(gemm), "");
  gemm.cStrides = {1, 4};
  EXPECT_NE(messageOf(gemm).find("its result is not stored by rows"),
            std::string::npos);
  gemm.epilogue = Epilogue::none;
  EXPECT_EQ(messageOf(gemm), "");
  gemm.epilogue = Epilogue::geluAux;
  EXPECT_NE(messageOf(gemm).find("strides that are multiples of 8"),
            std::string::npos);
  gemm.cStrides = {1, 8};
  EXPECT_EQ(messageOf(gemm), "");
  gemm.batch = {2};
  gemm.aStrides = {24, 6, 1};
  gemm.bStrides = {30, 5, 1};
  gemm.cStrides = {44, 1, 8};
  EXPECT_NE(messageOf(gemm).find("strides that are multiples of 8"),
            std::string::npos);
  // Dimensions that no one stride describes are loops.
  gemm.batch = {2, 2, 2};
  gemm.aStrides = {100, 60, 24, 6, 1};
  gemm.bStrides = {130, 80, 30, 5, 1};
  gemm.cStrides = {240, 100, 48, 1, 8};
  EXPECT_NE(messageOf(gemm).find("strides that are multiples of 8"),
            std::string::npos);
  gemm.cStrides = {240, 104, 48, 1, 8};
  EXPECT_EQ(messageOf(gemm), "");
  gemm = {DataType::f32, {}, 4, 5, 6, {6, 1}, {5, 1}, {5, 1}};
  gemm.aStrides = {12, 2};
  EXPECT_NE(messageOf(gemm).find("no unit stride"), std::string::npos);
  // Heads inside of rows: two dimensions that one stride cannot describe.
  gemm = {DataType::f32,    {2, 5},           12, 12, 16, {960, 16, 80, 1},
          {960, 16, 1, 80}, {720, 144, 12, 1}};
  Expected<cuda::GemmPlan> plan = cuda::planGemm(gemm);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->batch, 5);
  ASSERT_EQ(plan->loops.size(), 1u);
  EXPECT_EQ(plan->loops[0].extent, 2);
  // Dimensions that one stride describes, around an extent of 1.
  gemm = {
      DataType::f32,    {3, 1, 4},          8, 10, 6, {192, 7, 48, 1 * 6, 1},
      {0, 0, 0, 10, 1}, {320, 9, 80, 10, 1}};
  plan = cuda::planGemm(gemm);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->batch, 12);
  EXPECT_TRUE(plan->loops.empty());
}

static void multiplyOnce(veeline_rank *rank, char *arena, const void *const *) {
  veeline_gemm(rank, 0, arena, arena + 1024, arena + 2048, nullptr);
}

/// Returns the bytes of `values`, and rounds `values` to these.
static std::string toElements(DataType type, std::vector<double> &values) {
  int64_t width = artifact::byteSize(type);
  std::string bytes(values.size() * static_cast<size_t>(width), 0);
  char *place = bytes.data();
  for (double &value : values) {
    standin::store(test::elementOf(type), place, value);
    value = standin::elementAt(test::elementOf(type), place);
    place += width;
  }
  return bytes;
}

static double elementAt(DataType type, const char *place) {
  return standin::elementAt(test::elementOf(type), place);
}

/// Products of every row of the table, with an error of a few roundings: of the
/// operands in tf32, else of the sum.
TEST(CudaProduct, ProductsOfEveryType) {
  constexpr int64_t m = 5, n = 7, k = 6;
  for (const cuda::ProductTypes &types : cuda::allProductTypes()) {
    bool isTf32 = types.compute == artifact::ComputeType::tf32;
    SCOPED_TRACE(std::string(artifact::name(types.type)) + " to " +
                 std::string(artifact::name(types.cType)) +
                 (isTf32 ? " in tf32" : ""));
    Gemm gemm{types.type, {}, m, n, k, {k, 1}, {1, k}, {n, 1}};
    gemm.cType = types.cType;
    gemm.compute = types.compute;
    gemm.alignment = static_cast<int32_t>(artifact::byteSize(types.type));
    cts::Fixture fixture({multiplyOnce}, 8192);
    fixture.rank(0).gemms = {gemm};
    fixture.rank(0).libraryOffset = 4096;
    fixture.rank(0).libraryBytes = 1024;
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    std::vector<double> a(m * k), b(k * n);
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = std::sin(1.0 + static_cast<double>(i));
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = std::cos(2.0 * static_cast<double>(i));
    std::string aBytes = toElements(types.type, a);
    std::string bBytes = toElements(types.type, b);
    auto sizeOf = [](const std::string &bytes) {
      return static_cast<int64_t>(bytes.size());
    };
    Executor &executor = fixture.executor();
    ASSERT_TRUE(executor.write(0, 0, aBytes.data(), sizeOf(aBytes)).ok());
    ASSERT_TRUE(executor.write(0, 1024, bBytes.data(), sizeOf(bBytes)).ok());
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    int64_t width = artifact::byteSize(types.cType);
    std::string result(static_cast<size_t>(m * n * width), 0);
    ASSERT_TRUE(executor.read(0, 2048, result.data(), sizeOf(result)).ok());
    double rounding = isTf32                          ? 0x1p-11
                      : types.cType == DataType::bf16 ? 0x1p-9
                      : types.cType == DataType::f16  ? 0x1p-12
                      : types.cType == DataType::f32  ? 0x1p-25
                                                      : 0x1p-52;
    double farthest = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += a[i * k + p] * b[j * k + p];
          size += std::abs(a[i * k + p] * b[j * k + p]);
        }
        double found = elementAt(types.cType, &result[(i * n + j) * width]);
        farthest = std::max(farthest, std::abs(found - sum) / size);
      }
    EXPECT_LT(farthest, 3 * rounding);
    // f32 itself would be nearer.
    if (isTf32) {
      EXPECT_GT(farthest, 0x1p-16);
    }
  }
}

/// An artifact can have the products of the table, and no others.
TEST(CudaProduct, NoOtherProducts) {
  auto typesOf = [](const auto &product) {
    return std::tuple(product.type, product.cType, product.compute);
  };
  for (int number = 0; number < 9 * 9 * 3; ++number) {
    Gemm gemm{
        static_cast<DataType>(number % 9), {}, 4, 5, 6, {6, 1}, {5, 1}, {5, 1}};
    gemm.cType = static_cast<DataType>(number / 9 % 9);
    gemm.compute = static_cast<artifact::ComputeType>(number / 81);
    gemm.alignment = 8;
    cts::Fixture fixture({multiplyOnce}, 8192);
    test::makeForGpu(fixture.whole());
    fixture.rank(0).gemms = {gemm};
    fixture.rank(0).libraryOffset = 4096;
    fixture.rank(0).libraryBytes = 1024;
    auto table = cuda::allProductTypes();
    bool isThere = std::any_of(table.begin(), table.end(), [&](auto &types) {
      return typesOf(types) == typesOf(gemm);
    });
    EXPECT_EQ(artifact::validate(fixture.whole()).ok(), isThere) << number;
  }
}

/// A sum may be in parts, which are added in order; never to the result itself.
TEST(CudaProduct, HowPartsOfSumsAreAdded) {
  Expected<cuda::BlasLt> blas = cuda::BlasLt::load(VEELINE_STANDIN_CUBLASLT);
  ASSERT_TRUE(blas.ok()) << blas.message();
  static auto *setPreference = blas->cublasLtMatmulPreferenceSetAttribute;
  static uint32_t allowed = 0;
  blas->cublasLtMatmulPreferenceSetAttribute =
      [](api::MatmulPreference preference, int attribute, const void *value,
         size_t bytes) {
        if (attribute == api::preferReductions)
          std::memcpy(&allowed, value, sizeof(allowed));
        return setPreference(preference, attribute, value, bytes);
      };
  cuda::GemmTable table;
  Status status = table.prepare(
      *blas, {{DataType::f32, {}, 8, 8, 4096, {4096, 1}, {8, 1}, {8, 1}}},
      1024);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(allowed, api::reductionComputeType | api::reductionOutputType);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

static constexpr int64_t aAt = 0, bAt = 2048, cAt = 4096, auxAt = 8192,
                         biasAt = 12288, libraryAt = 16384;

/// Calls entry 0 with what its epilogue takes.
template <Epilogue epilogue>
static void multiplyWith(veeline_rank *rank, char *arena, const void *const *) {
  char *a = arena + aAt, *b = arena + bAt, *c = arena + cAt;
  const char *bias = hasBias(epilogue) ? arena + biasAt : nullptr;
  if (hasAux(epilogue))
    veeline_gemm_aux(rank, 0, a, b, c, bias, arena + auxAt, nullptr);
  else if (bias)
    veeline_gemm_bias(rank, 0, a, b, c, bias, nullptr);
  else
    veeline_gemm(rank, 0, a, b, c, nullptr);
}

static veeline_step_fn stepWith(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::none:
    return multiplyWith<Epilogue::none>;
  case Epilogue::bias:
    return multiplyWith<Epilogue::bias>;
  case Epilogue::geluAux:
    return multiplyWith<Epilogue::geluAux>;
  case Epilogue::biasGeluAux:
    return multiplyWith<Epilogue::biasGeluAux>;
  case Epilogue::dgelu:
    return multiplyWith<Epilogue::dgelu>;
  }
  return nullptr;
}

/// By a central difference, independent of the formulas in other files.
static double slopeOfGelu(double x) {
  constexpr double h = 0x1p-17;
  return (gelu(x + h) - gelu(x - h)) / (2 * h);
}

namespace {
/// Two products of 5 x 6 and 6 x 8 elements, with rows of 16 in c and aux.
class Epilogues {
public:
  static constexpr int64_t batch = 2, m = 5, n = 8, k = 6, row = 16,
                           between = 96;

  Epilogues(const cuda::ProductTypes &types, Epilogue epilogue,
            bool accumulates = false)
      : types(types), epilogue(epilogue), fixture({stepWith(epilogue)}, 20480) {
    gemm = {types.type,    {batch},          m, n, k, {m * k, k, 1},
            {k * n, 1, k}, {between, row, 1}};
    gemm.cType = types.cType;
    gemm.compute = types.compute;
    gemm.alignment = 4;
    gemm.epilogue = epilogue;
    gemm.accumulate = accumulates;
    // As far as the operands of each product go.
    if (hasAux(epilogue))
      gemm.alignment = 16;
    fixture.rank(0).gemms = {gemm};
    fixture.rank(0).libraryOffset = libraryAt;
    fixture.rank(0).libraryBytes = 1024;
  }

  void run() {
    ASSERT_NO_FATAL_FAILURE(fixture.create());
    ASSERT_NO_FATAL_FAILURE(write(a, types.type, batch * m * k, aAt, 1));
    ASSERT_NO_FATAL_FAILURE(write(b, types.type, batch * k * n, bAt, 2));
    ASSERT_NO_FATAL_FAILURE(write(bias, types.cType, n, biasAt, 3));
    ASSERT_NO_FATAL_FAILURE(write(c, types.cType, batch * between, cAt, 4));
    ASSERT_NO_FATAL_FAILURE(write(aux, types.cType, batch * between, auxAt, 5));
    Status status = fixture.step();
    ASSERT_TRUE(status.ok()) << status.message();
    read(newC, cAt);
    read(newAux, auxAt);
  }

  /// What GELU is applied to or, for the derivative, the product.
  double sumAt(int64_t number, int64_t i, int64_t j) const {
    double sum = hasBias(epilogue) ? bias[j] : 0;
    if (gemm.accumulate)
      sum += c[number * between + i * row + j];
    for (int64_t p = 0; p < k; ++p)
      sum += a[(number * m + i) * k + p] * b[(number * n + j) * k + p];
    return sum;
  }

  const cuda::ProductTypes &types;
  Epilogue epilogue;
  Gemm gemm;
  cts::Fixture fixture;
  std::vector<double> a, b, bias, c, aux, newC, newAux;

private:
  void write(std::vector<double> &values, DataType type, int64_t count,
             int64_t offset, double seed) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(std::sin(seed + static_cast<double>(i * i)));
    std::string bytes = toElements(type, values);
    ASSERT_TRUE(
        fixture.executor()
            .write(0, offset, bytes.data(), static_cast<int64_t>(bytes.size()))
            .ok());
  }
  void read(std::vector<double> &values, int64_t offset) {
    int64_t width = artifact::byteSize(types.cType);
    std::string bytes(static_cast<size_t>(batch * between * width), 0);
    ASSERT_TRUE(
        fixture.executor()
            .read(0, offset, bytes.data(), static_cast<int64_t>(bytes.size()))
            .ok());
    for (int64_t i = 0; i < batch * between; ++i)
      values.push_back(elementAt(types.cType, &bytes[i * width]));
  }
};
} // namespace

static double roundingOf(const cuda::ProductTypes &types) {
  if (types.compute == artifact::ComputeType::tf32)
    return 0x1p-10;
  return types.cType == DataType::bf16  ? 0x1p-8
         : types.cType == DataType::f16 ? 0x1p-11
                                        : 0x1p-20;
}

/// Checks c and aux after a product with an epilogue. What is between rows has
/// to stay.
static void expectResults(const Epilogues &product) {
  using E = Epilogues;
  double allowed = 4 * roundingOf(product.types);
  bool storesAux = product.epilogue == Epilogue::geluAux ||
                   product.epilogue == Epilogue::biasGeluAux;
  for (int64_t at = 0; at < E::batch * E::between; ++at) {
    int64_t number = at / E::between, i = at % E::between / E::row,
            j = at % E::row;
    if (i >= E::m || j >= E::n) {
      ASSERT_EQ(product.newC[at], product.c[at]) << at;
      ASSERT_EQ(product.newAux[at], product.aux[at]) << at;
      continue;
    }
    double sum = product.sumAt(number, i, j);
    double expected = gelu(sum);
    if (product.epilogue == Epilogue::none ||
        product.epilogue == Epilogue::bias)
      expected = sum;
    if (product.epilogue == Epilogue::dgelu)
      expected = sum * slopeOfGelu(product.aux[at]);
    ASSERT_NEAR(product.newC[at], expected, allowed) << at;
    ASSERT_NEAR(product.newAux[at], storesAux ? sum : product.aux[at],
                storesAux ? allowed : 0)
        << at;
  }
}

static void checkEpilogue(const cuda::ProductTypes &types, Epilogue epilogue,
                          bool accumulates) {
  SCOPED_TRACE(std::string(artifact::name(types.type)) + " to " +
               std::string(artifact::name(types.cType)) + ", epilogue " +
               std::to_string(static_cast<int>(epilogue)) +
               (accumulates ? ", added to c" : ""));
  Epilogues product(types, epilogue, accumulates);
  if (types.type == DataType::f64 && epilogue != Epilogue::none) {
    test::makeForGpu(product.fixture.whole());
    Status status = artifact::validate(product.fixture.whole());
    EXPECT_NE(status.message().find("f64 has no epilogues"), std::string::npos)
        << status.message();
    return;
  }
  ASSERT_NO_FATAL_FAILURE(product.run());
  expectResults(product);
}

/// Every row of the table with every epilogue, added to c or in its place; f64
/// has no epilogues.
TEST(CudaProduct, EveryEpilogueOfEveryType) {
  for (const cuda::ProductTypes &types : cuda::allProductTypes())
    for (int number = 0; number <= static_cast<int>(Epilogue::dgelu); ++number)
      for (bool accumulates : {false, true})
        ASSERT_NO_FATAL_FAILURE(
            checkEpilogue(types, static_cast<Epilogue>(number), accumulates));
}

TEST(CudaProduct, EpiloguesThatMissSomething) {
  const cuda::ProductTypes &types = cuda::allProductTypes()[0];
  auto messageOf = [&](Epilogue entry, Epilogue called) {
    Epilogues product(types, entry);
    cts::Fixture fixture({stepWith(called)}, 20480);
    fixture.rank(0) = product.fixture.rank(0);
    fixture.create();
    Status status = fixture.step();
    return status.ok() ? "" : status.message();
  };
  std::string product = "rank 0: matrix product 0 ";
  EXPECT_EQ(messageOf(Epilogue::bias, Epilogue::none),
            product + "has a bias, and is called without");
  EXPECT_EQ(messageOf(Epilogue::none, Epilogue::bias),
            product + "is called with a bias, and has none");
  EXPECT_EQ(messageOf(Epilogue::geluAux, Epilogue::none),
            product + "has a matrix beside c, and is called without");
  EXPECT_EQ(messageOf(Epilogue::bias, Epilogue::biasGeluAux),
            product + "is called with a matrix beside c, and has none");
  EXPECT_EQ(messageOf(Epilogue::dgelu, Epilogue::biasGeluAux),
            product + "is called with a bias, and has none");
  EXPECT_EQ(messageOf(Epilogue::biasGeluAux, Epilogue::dgelu),
            product + "has a bias, and is called without");
  EXPECT_EQ(messageOf(Epilogue::biasGeluAux, Epilogue::biasGeluAux), "");
}

/// Compiled code asks before it calls; a call all the same is a fault. For
/// products without an epilogue, only the last proposal works.
TEST(CudaProduct, EpiloguesWithoutAnAlgorithm) {
  const cuda::ProductTypes &types = cuda::allProductTypes()[0];
  auto messageOf = [&](Epilogue epilogue, bool accumulates = false) {
    Epilogues product(types, epilogue, accumulates);
    cts::Fixture fixture({stepWith(epilogue)}, 20480);
    fixture.rank(0) = product.fixture.rank(0);
    setenv("VEELINE_STANDIN_REFUSE", "all", 1);
    fixture.create();
    unsetenv("VEELINE_STANDIN_REFUSE");
    Status status = fixture.step();
    return status.ok() ? "" : status.message();
  };
  EXPECT_EQ(messageOf(Epilogue::none), "");
  EXPECT_EQ(messageOf(Epilogue::none, /*accumulates=*/true), "");
  for (Epilogue epilogue : {Epilogue::bias, Epilogue::geluAux,
                            Epilogue::biasGeluAux, Epilogue::dgelu})
    EXPECT_EQ(messageOf(epilogue),
              "rank 0: matrix product 0 is called, and cuBLASLt has no "
              "algorithm for its epilogue");
}

//===----------------------------------------------------------------------===//
// What the stand-in refuses
//===----------------------------------------------------------------------===//

namespace {
/// A product of 8 x 8 elements in f32 whose epilogue is described step by step.
class StandInEpilogue : public testing::Test {
protected:
  void SetUp() override {
    Expected<cuda::BlasLt> loaded =
        cuda::BlasLt::load(VEELINE_STANDIN_CUBLASLT);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    blas = *loaded;
    ASSERT_EQ(blas.cublasLtCreate(&handle), 0);
    ASSERT_EQ(
        blas.cublasLtMatmulDescCreate(&desc, api::compute32F, api::real32F), 0);
    ASSERT_EQ(blas.cublasLtMatrixLayoutCreate(&layout, api::real32F, 8, 8, 8),
              0);
    ASSERT_EQ(blas.cublasLtMatmulPreferenceCreate(&preference), 0);
  }
  void TearDown() override {
    blas.cublasLtMatmulPreferenceDestroy(preference);
    blas.cublasLtMatrixLayoutDestroy(layout);
    blas.cublasLtMatmulDescDestroy(desc);
    blas.cublasLtDestroy(handle);
  }

  template <typename T> void set(int attribute, T value) {
    ASSERT_EQ(
        blas.cublasLtMatmulDescSetAttribute(
            desc, attribute, static_cast<const void *>(&value), sizeof(value)),
        0);
  }
  /// The status of the heuristics.
  int choose() {
    api::MatmulHeuristic chosen;
    int found = 0;
    return blas.cublasLtMatmulAlgoGetHeuristic(handle, desc, layout, layout,
                                               layout, layout, preference, 1,
                                               &chosen, &found);
  }

  static constexpr int invalidValue = 7, notSupported = 15;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there.
  const void *place = reinterpret_cast<const void *>(intptr_t(256));
  cuda::BlasLt blas = {};
  api::BlasHandle handle = nullptr;
  api::MatmulDesc desc = nullptr;
  api::MatrixLayout layout = nullptr;
  api::MatmulPreference preference = nullptr;
};
} // namespace

TEST_F(StandInEpilogue, AuxHasAPlaceAndRows) {
  set(api::descEpilogue, int32_t(api::epilogueGeluAux));
  EXPECT_EQ(choose(), invalidValue);
  set(api::descAuxPointer, place);
  EXPECT_EQ(choose(), invalidValue);
  for (int64_t wrong : {4, 12, 20}) {
    set(api::descAuxLd, wrong);
    EXPECT_EQ(choose(), invalidValue) << wrong;
  }
  set(api::descAuxLd, int64_t(16));
  EXPECT_EQ(choose(), 0);
  set(api::descAuxPointer, static_cast<const void *>(nullptr));
  EXPECT_EQ(choose(), invalidValue);
}

TEST_F(StandInEpilogue, AuxOfABatchIsApart) {
  set(api::descEpilogue, int32_t(api::epilogueDgelu));
  set(api::descAuxPointer, place);
  set(api::descAuxLd, int64_t(8));
  int32_t batch = 3;
  ASSERT_EQ(blas.cublasLtMatrixLayoutSetAttribute(layout, api::layoutBatchCount,
                                                  &batch, sizeof(batch)),
            0);
  EXPECT_EQ(choose(), invalidValue);
  set(api::descAuxBatchStride, int64_t(68));
  EXPECT_EQ(choose(), invalidValue);
  set(api::descAuxBatchStride, int64_t(64));
  EXPECT_EQ(choose(), 0);
}

TEST_F(StandInEpilogue, EpiloguesThatNobodyCallsFor) {
  set(api::descBiasPointer, place);
  set(api::descAuxPointer, place);
  set(api::descAuxLd, int64_t(128));
  for (int32_t epilogue :
       {api::epilogueDefault, api::epilogueBias, api::epilogueGelu,
        api::epilogueGeluBias, api::epilogueGeluAux, api::epilogueGeluAuxBias,
        api::epilogueDgelu}) {
    set(api::descEpilogue, epilogue);
    EXPECT_EQ(choose(), 0) << epilogue;
  }
  // ReLU, without and with a mask, derivatives with that of the bias.
  for (int32_t epilogue : {0, 2, 6, 130, 136, 208, 256, 512}) {
    set(api::descEpilogue, epilogue);
    EXPECT_EQ(choose(), notSupported) << epilogue;
  }
}

TEST_F(StandInEpilogue, BiasIsOfTheResultsType) {
  set(api::descEpilogue, int32_t(api::epilogueGeluAuxBias));
  set(api::descAuxPointer, place);
  set(api::descAuxLd, int64_t(8));
  EXPECT_EQ(choose(), invalidValue);
  set(api::descBiasPointer, place);
  EXPECT_EQ(choose(), 0);
  set(api::descBiasType, int32_t(api::real16F));
  EXPECT_EQ(choose(), invalidValue);
}
