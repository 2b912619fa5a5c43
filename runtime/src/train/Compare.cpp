//===- Compare.cpp - comparing tensors ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include "ElementAccess.h"
#include "Tensor.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

using namespace veeline;
using namespace veeline::train;
using artifact::DataType;
using artifact::loadElement;
using artifact::Parameter;

static std::string withBits(float value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", double(value),
                std::bit_cast<uint32_t>(value));
  return text;
}

static std::string withBits(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.17g (0x%016lx)", value,
                static_cast<unsigned long>(std::bit_cast<uint64_t>(value)));
  return text;
}

template <typename T>
static std::string describeTyped(const Parameter &param,
                                 const std::vector<char> &a, const char *aName,
                                 const std::vector<char> &b,
                                 const char *bName) {
  size_t count = a.size() / sizeof(T), numDifferent = 0, first = 0;
  for (size_t i = count; i-- > 0;)
    if (std::memcmp(&a[i * sizeof(T)], &b[i * sizeof(T)], sizeof(T)) != 0) {
      ++numDifferent;
      first = i;
    }
  return "element " + std::to_string(first) + " (" +
         data::formatPosition(static_cast<int64_t>(first), param.shape) +
         ") is " + withBits(loadElement<T>(a.data(), first)) + " in " + aName +
         ", " + withBits(loadElement<T>(b.data(), first)) + " in " + bName +
         "; " + std::to_string(numDifferent) + " of " + std::to_string(count) +
         " elements differ";
}

std::string train::describeDifference(const Parameter &param,
                                      const std::vector<char> &a,
                                      const char *aName,
                                      const std::vector<char> &b,
                                      const char *bName) {
  if (a == b)
    return "";
  auto *describe = param.type == DataType::f64 ? describeTyped<double>
                                               : describeTyped<float>;
  return describe(param, a, aName, b, bName);
}

template <typename T>
static double distanceTyped(const std::vector<char> &a,
                            const std::vector<char> &b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size() / sizeof(T); ++i) {
    double x = loadElement<T>(a.data(), i), y = loadElement<T>(b.data(), i);
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  if (difference == 0)
    return 0;
  double distance = std::sqrt(difference) / std::sqrt(norm);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity()
                              : distance;
}

double train::relativeDistance(const Parameter &param,
                               const std::vector<char> &a,
                               const std::vector<char> &b) {
  return param.type == DataType::f64 ? distanceTyped<double>(a, b)
                                     : distanceTyped<float>(a, b);
}

template <typename T>
static void addTyped(std::vector<char> &a, const std::vector<char> &b) {
  for (size_t i = 0; i < a.size() / sizeof(T); ++i)
    artifact::storeElement<T>(
        a.data(), i, loadElement<T>(a.data(), i) + loadElement<T>(b.data(), i));
}

void train::addTensor(const Parameter &param, std::vector<char> &a,
                      const std::vector<char> &b) {
  param.type == DataType::f64 ? addTyped<double>(a, b) : addTyped<float>(a, b);
}
