//===- MachineTable.cpp - measured speeds of a machine --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/MachineTable.h"
#include "veeline/Analysis/JsonFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace llvm;
using namespace veeline;

/// Larger numbers are not measurements, and sums of such times might overflow.
static constexpr double maxSize = 1e18, minRate = 1e-9, maxRate = 1e9;
/// A real table has some kilobytes.
static constexpr uint64_t maxBytes = 1 << 20;

const std::vector<std::string> &veeline::getMachineClasses() {
  static const std::vector<std::string> classes = [] {
    std::vector<std::string> names = {
        "product f32", "product f64", "row",    "outer",      "elementwise",
        "transposed",  "sum",         "window", "arithmetic", "function"};
    for (std::string layout : {"last", "first"})
      for (std::string kindOfWindow :
           {"image", "pointwise", "window", "strided", "depthwise"})
        for (std::string kind : {"forward", "data", "weights"})
          names.push_back(llvm::join_items(" ", layout, kindOfWindow, kind));
    return names;
  }();
  return classes;
}

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

/// The first "model name" of /proc/cpuinfo, or empty if there is none.
static std::string getModelName() {
  auto file = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!file)
    return "";
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    auto [key, value] = line.split(':');
    if (key.trim() == "model name")
      return value.trim().str();
  }
  return "";
}

std::string veeline::getCpuName() {
  std::string kind = sys::getHostCPUName().str(), name = getModelName();
  return name.empty() ? kind : name + " (" + kind + ")";
}

std::string veeline::getDefaultMachinePath() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  // The XDG specification says to ignore relative paths.
  if (cache && *cache == '/')
    return std::string(cache) + "/veeline/machine.json";
  const char *home = std::getenv("HOME");
  if (home && *home == '/')
    return std::string(home) + "/.cache/veeline/machine.json";
  return "";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static constexpr StringLiteral again =
    "; measure again with veeline doctor --calibrate";

static Error fail(const Twine &what) { return createStringError(what + again); }

static bool isRate(std::optional<double> value) {
  return isPositive(value, maxRate) && *value >= minRate;
}

/// Whether `text` is a date of the form 2026-01-31.
static bool isDate(StringRef text) {
  StringRef form = "0000-00-00";
  return text.size() == form.size() &&
         llvm::all_of(llvm::zip_equal(text, form), [](auto pair) {
           auto [c, expected] = pair;
           return expected == '0' ? isDigit(c) : c == expected;
         });
}

static Error readRates(const json::Object &rates, const std::string &name,
                       std::vector<MeasuredRate> &out) {
  const json::Value *entry = rates.get(name);
  const json::Array *points = entry ? entry->getAsArray() : nullptr;
  if (!points || points->empty())
    return fail("rates, '" + name +
                "': expected a list of [size, rate, rate together], found " +
                printJson(entry));
  for (const json::Value &value : *points) {
    const json::Array *numbers = value.getAsArray();
    std::optional<double> size, rate, together;
    if (numbers && numbers->size() == 3) {
      size = (*numbers)[0].getAsNumber();
      rate = (*numbers)[1].getAsNumber();
      together = (*numbers)[2].getAsNumber();
    }
    if (!isPositive(size, maxSize) || !isRate(rate) || !isRate(together))
      return fail("rates, '" + name +
                  "': expected [size, rate, rate together], a number above 0 "
                  "and two from 1e-9 to 1e9, found " +
                  printJson(&value));
    if (!out.empty() && *size <= out.back().size)
      return fail("rates, '" + name + "': expected sizes in ascending order, " +
                  "found " + printJson(&value) + " after a size of " +
                  printJson(&(*(*points)[out.size() - 1].getAsArray())[0]));
    out.push_back({*size, *rate, *together});
  }
  return Error::success();
}

static Expected<MachineTable> readTable(const json::Value &value) {
  const json::Object *file = value.getAsObject();
  if (!file || file->getString("format") != "veeline-machine")
    return fail("this is no table of veeline doctor --calibrate");
  if (file->getInteger("version") != 5)
    return fail("expected version 5 of the format, found " +
                printJson(file->get("version")));
  MachineTable table;
  table.cpu = file->getString("cpu").value_or("").str();
  table.date = file->getString("date").value_or("").str();
  std::optional<int64_t> cores = file->getInteger("cores");
  if (table.cpu.empty() || !cores || *cores < 1)
    return fail("expected 'cpu', a name, and 'cores', a number of 1 or more; "
                "found " +
                printJson(file->get("cpu")) + " and " +
                printJson(file->get("cores")));
  table.cores = *cores;
  std::optional<int64_t> together = file->getInteger("together");
  if (!together || *together < 1)
    return fail("expected 'together', a number of cores of 1 or more, found " +
                printJson(file->get("together")));
  table.together = *together;
  table.ranks = std::max<int64_t>(file->getInteger("ranks").value_or(1), 1);
  if (!isDate(table.date))
    return fail("expected 'date', as \"2026-01-31\", found " +
                printJson(file->get("date")));
  for (auto [name, time] : {std::pair("call_ns", &table.callNanoseconds),
                            std::pair("wake_ns", &table.wakeNanoseconds)}) {
    std::optional<double> value = file->getNumber(name);
    if (!isPositive(value, maxRate))
      return fail(Twine("expected '") + name + "', a number above 0, found " +
                  printJson(file->get(name)));
    *time = *value;
  }
  const json::Object *rates = file->getObject("rates");
  if (!rates)
    return fail("expected 'rates', an object, found " +
                printJson(file->get("rates")));
  for (const std::string &name : getMachineClasses())
    if (Error error = readRates(*rates, name, table.rates[name]))
      return std::move(error);
  return table;
}

Expected<MachineTable> MachineTable::parse(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  return value ? readTable(*value) : fail(toString(value.takeError()));
}

Expected<MachineTable> MachineTable::read(StringRef path) {
  Expected<json::Value> value = readJson(path, maxBytes);
  return value ? readTable(*value) : fail(toString(value.takeError()));
}

std::string MachineTable::toJson() const {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream, 2);
  json.object([&] {
    json.attribute("format", "veeline-machine");
    json.attribute("version", 5);
    json.attribute("cpu", cpu);
    json.attribute("cores", cores);
    json.attribute("together", together);
    if (ranks > 1)
      json.attribute("ranks", ranks);
    json.attribute("date", date);
    json.attribute("call_ns", callNanoseconds);
    json.attribute("wake_ns", wakeNanoseconds);
    json.attributeObject("rates", [&] {
      for (const auto &[name, points] : rates) {
        json.attributeBegin(name);
        // One line for each class.
        std::string line;
        for (const MeasuredRate &point : points)
          raw_string_ostream(line)
              << (line.empty() ? "" : ", ")
              << format("[%.0f, %.4g, %.4g]", point.size, point.perNanosecond,
                        point.together);
        json.rawValue("[" + line + "]");
        json.attributeEnd();
      }
    });
  });
  stream << '\n';
  return text;
}

/// Interpolates between one busy core and all of them by times, because rates
/// do not add up.
static double getRate(const MeasuredRate &point, double share) {
  return 1 / ((1 - share) / point.perNanosecond + share / point.together);
}

double MachineTable::getRate(StringRef name, double size) const {
  double others = double(std::min(ranks, cores) - 1);
  double share =
      together > 1 ? std::min(1.0, others / double(together - 1)) : 0;
  const std::vector<MeasuredRate> &points = rates.at(name.str());
  auto above = llvm::find_if(
      points, [&](const MeasuredRate &point) { return point.size >= size; });
  if (above == points.end())
    return ::getRate(points.back(), share);
  if (above == points.begin())
    return ::getRate(*above, share);
  const MeasuredRate &below = *std::prev(above);
  double slow = ::getRate(below, share), fast = ::getRate(*above, share);
  return slow + (fast - slow) * std::log(size / below.size) /
                    std::log(above->size / below.size);
}
