//===- Figures.cpp - figures that others give for schedules ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Figures.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace veeline::schedule;

Problem Figures::problem(std::string_view name, int v) const {
  double scale = 2.0 / v;
  return makeProblem(name, p, v, m, scale * f, scale * b, scale * w, transfer);
}

static std::vector<std::string> splitLine(const std::string &line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');)
    cells.push_back(cell);
  return cells;
}

// Tables differ in the columns before that of p, and the last ones in what they
// are called.
std::vector<Figures> veeline::schedule::readFigures(const std::string &file,
                                                    std::string_view schedule) {
  std::ifstream stream(SCHEDULE_TEST_INPUTS "/" + file);
  std::string line;
  std::getline(stream, line);
  std::vector<std::string> header = splitLine(line);
  auto columnOf = [&](std::string_view name) {
    return std::find(header.begin(), header.end(), name) - header.begin();
  };
  const auto name = columnOf("schedule"), first = columnOf("p");
  std::vector<Figures> rows;
  while (std::getline(stream, line)) {
    std::vector<std::string> cells = splitLine(line);
    if (cells[name] != schedule)
      continue;
    auto number = [&](int column) { return std::stod(cells[first + column]); };
    rows.push_back({line, cells[name], cells[1], static_cast<int>(number(0)),
                    static_cast<int>(number(1)), number(2), number(3),
                    number(4), number(5), number(6), number(7), number(8)});
  }
  return rows;
}
