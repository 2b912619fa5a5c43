//===- Cases.cpp - published figures and peers' figures -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cases.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace veeline;
using namespace veeline::bench;

[[noreturn]] static void fail(const std::string &message) {
  std::fprintf(stderr, "bench-schedule: %s\n", message.c_str());
  std::exit(1);
}

static std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');)
    fields.push_back(field);
  return fields;
}

Csv Csv::read(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    fail("cannot read " + path);
  Csv csv;
  for (const std::string &name : split(line))
    csv.columns.emplace(name, csv.columns.size());
  while (std::getline(file, line)) {
    csv.rows.push_back(split(line));
    if (csv.rows.back().size() != csv.columns.size())
      // NOLINTNEXTLINE(performance-inefficient-string-concatenation): it ends.
      fail(path + ": a line has other columns than the header: " + line);
  }
  return csv;
}

const std::string &Csv::text(std::size_t row, const std::string &column) const {
  auto found = columns.find(column);
  if (found == columns.end())
    fail("there is no column '" + column + "'");
  return rows[row][found->second];
}

double Csv::number(std::size_t row, const std::string &column) const {
  return std::strtod(text(row, column).c_str(), nullptr);
}

std::string Case::name() const {
  char text[128];
  std::snprintf(text, sizeof text, "p=%d m=%d F=%g B=%g W=%g c=%g", stages,
                microbatches, forward, backwardInput, backwardWeight, transfer);
  return text;
}

schedule::Problem veeline::bench::problemOf(const Case &shape,
                                            schedule::PlacementKind kind, int v,
                                            double limit) {
  auto placement = schedule::Placement::get(kind, shape.stages, v);
  if (!placement)
    fail(placement.error().message);
  double scale = 2.0 / v;
  schedule::Chunk chunk;
  chunk.forward = shape.forward * scale;
  chunk.backwardInput = shape.backwardInput * scale;
  chunk.backwardWeight = shape.backwardWeight * scale;
  chunk.forwardMemory = schedule::activationUnit / v;
  chunk.backwardWeightMemory = -chunk.forwardMemory;
  schedule::Problem problem = schedule::uniformProblem(
      *placement, shape.microbatches, chunk, shape.transfer);
  problem.memoryUnit = {schedule::activationUnit, "activations"};
  if (limit > 0)
    problem.memoryLimits.assign(
        shape.stages,
        static_cast<std::int64_t>(limit * schedule::activationUnit));
  return problem;
}
