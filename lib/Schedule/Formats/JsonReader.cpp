//===- JsonReader.cpp - reads what Json.cpp writes ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

#include "veeline/Base/Text.h"

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <set>

using namespace veeline::schedule;
using Json = nlohmann::json;

//===----------------------------------------------------------------------===//
// Positions of values
//===----------------------------------------------------------------------===//

static Place placeOf(std::string_view text, std::size_t offset) {
  std::string_view before = text.substr(0, offset);
  std::size_t lastLine = before.rfind('\n');
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(lastLine == before.npos ? offset
                                                   : offset - lastLine - 1) +
              1};
}

namespace {
/// Finds the positions of values in text that is known to be JSON. The parser
/// of the JSON library does not report them.
class Locator {
public:
  explicit Locator(std::string_view text) : text(text) {}

  /// Goes from the begin of the text to the value of `path`, or to that of its
  /// second member of this name.
  Place find(const Json::json_pointer &path, bool second = false) {
    skipBlanks();
    std::vector<std::string> steps;
    for (Json::json_pointer rest = path; !rest.empty();
         rest = rest.parent_pointer())
      steps.push_back(rest.back());
    for (std::size_t left = steps.size(); left > 0; --left)
      enter(steps[left - 1], second && left == 1);
    return placeOf(text, at);
  }

private:
  char peek() const { return at < text.size() ? text[at] : '\0'; }
  void skipBlanks() {
    while (at < text.size() &&
           std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos)
      ++at;
  }
  std::string_view skipString() {
    std::size_t begin = at++;
    while (peek() != '"' && at < text.size())
      at += peek() == '\\' ? 2 : 1;
    ++at;
    return text.substr(begin + 1, at - begin - 2);
  }
  void skipValue() {
    int depth = 0;
    do {
      skipBlanks();
      char c = peek();
      if (c == '"') {
        skipString();
      } else {
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        ++at;
      }
      // A number or a word extends to the next separator.
      if (depth == 0)
        at = std::min(text.find_first_of(",]} \t\r\n", at), text.size());
    } while (depth > 0 && at < text.size());
  }
  /// Goes from the begin of an array or object to that of one of its values.
  void enter(const std::string &step, bool second) {
    bool isObject = peek() == '{';
    ++at;
    for (std::size_t index = 0; at < text.size(); ++index) {
      skipBlanks();
      std::string_view key;
      if (isObject) {
        key = skipString();
        skipBlanks();
        ++at; // The colon.
        skipBlanks();
      }
      if (isObject ? key == step : std::to_string(index) == step) {
        if (!second)
          return;
        second = false;
      }
      skipValue();
      skipBlanks();
      ++at; // The comma.
    }
  }

  std::string_view text;
  std::size_t at = 0;
};

//===----------------------------------------------------------------------===//
// Text that is rejected
//===----------------------------------------------------------------------===//

/// Finds errors at which the JSON library would throw, or which it would
/// ignore: invalid JSON, numbers out of the range of double, and duplicate
/// members.
class Scanner final : public nlohmann::json_sax<Json> {
public:
  Scanner(std::string_view text, const std::string &file)
      : text(text), file(file) {}

  /// Returns the first error, if any.
  std::optional<Error> scan() {
    Json::sax_parse(text, this);
    return failure;
  }

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t &) override {
    return value();
  }
  bool string(string_t &) override { return value(); }
  bool binary(binary_t &) override { return value(); }
  bool start_object(std::size_t) override { return begin(/*isObject=*/true); }
  bool start_array(std::size_t) override { return begin(/*isObject=*/false); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(string_t &name) override;
  bool parse_error(std::size_t read, const std::string &token,
                   const nlohmann::detail::exception &exception) override;

private:
  /// An object or array that is still open.
  struct Level {
    bool isObject;
    std::set<std::string> keys = {};
    /// The current member, or the number of elements so far.
    std::string key = {};
    std::size_t count = 0;
  };

  bool value() {
    if (!levels.empty())
      ++levels.back().count;
    return true;
  }
  bool begin(bool isObject) {
    value();
    levels.push_back({isObject});
    return true;
  }
  bool end() {
    levels.pop_back();
    return true;
  }

  std::string_view text;
  const std::string &file;
  std::vector<Level> levels;
  std::optional<Error> failure;
};
} // namespace

bool Scanner::key(string_t &name) {
  Level &level = levels.back();
  level.key = name;
  if (level.keys.insert(name).second)
    return true;
  Json::json_pointer path;
  for (const Level &outer : levels)
    path = outer.isObject ? path / outer.key : path / (outer.count - 1);
  failure = errorIn(file, Locator(text).find(path, /*second=*/true),
                    path.to_string() + ": this member stands twice");
  return false;
}

bool Scanner::parse_error(std::size_t read, const std::string &token,
                          const nlohmann::detail::exception &exception) {
  // The library calls this "number overflow".
  bool isNumber = exception.id == 406;
  // A number ends where reading ended. Otherwise that was one byte too far.
  std::size_t back = isNumber ? token.size() : 1;
  std::size_t offset = std::min(read - std::min(read, back), text.size());
  failure = errorIn(file, placeOf(text, offset),
                    isNumber ? "the number " + token.substr(0, 40) +
                                   " is out of range; expected one that a "
                                   "double holds"
                             : "this is no JSON here");
  return false;
}

//===----------------------------------------------------------------------===//
// JsonReader
//===----------------------------------------------------------------------===//

namespace {
/// Reads members one after the other. The first error is kept, and values that
/// are read after it do not matter.
class JsonReader {
public:
  JsonReader(std::string_view text, const std::string &file)
      : text(text), file(file) {}

  Expected<ImportedSchedule> read();

private:
  using Pointer = Json::json_pointer;

  void fail(const Pointer &path, const std::string &message) {
    if (!failure)
      failure =
          errorIn(file, Locator(text).find(path),
                  (path.empty() ? "" : path.to_string() + ": ") + message);
  }
  /// Fails if an object has a member that is not listed.
  void checkMembers(const Pointer &path,
                    std::initializer_list<std::string_view> names);
  /// Returns the value at `path` if it has the right type.
  const Json *get(const Pointer &path, Json::value_t type, const char *what);
  void get(const Pointer &path, double &value);
  void get(const Pointer &path, std::int64_t &value);
  void get(const Pointer &path, int &value);
  void get(const Pointer &path, bool &value);
  void get(const Pointer &path, std::string &value);
  bool has(const Pointer &path) const { return root.contains(path); }

  void readHeader();
  void readOrder(OrderReader &reader);
  void readProblem(ImportedSchedule &result);
  void readOffloads(ImportedSchedule &result);
  void readPlacement(ImportedSchedule &result);
  Chunk readChunk(const Pointer &path);
  Edge readEdge(const Pointer &path);

  std::string_view text;
  const std::string &file;
  Json root;
  std::optional<Error> failure;
};
} // namespace

void JsonReader::checkMembers(const Pointer &path,
                              std::initializer_list<std::string_view> names) {
  const Json &object = root[path];
  std::string known;
  for (std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  for (const auto &[key, value] : object.items())
    if (std::find(names.begin(), names.end(), key) == names.end())
      fail(path / key, "unknown member; known are " + known);
}

const Json *JsonReader::get(const Pointer &path, Json::value_t type,
                            const char *what) {
  if (!has(path)) {
    fail(path.parent_pointer(),
         "has no member '" + path.back() + "', which is " + what);
    return nullptr;
  }
  const Json &value = root[path];
  if (value.type() == type)
    return &value;
  fail(path, std::string("expected ") + what + ", found " +
                 value.dump(-1, ' ', true, Json::error_handler_t::replace)
                     .substr(0, 40));
  return nullptr;
}

void JsonReader::get(const Pointer &path, double &value) {
  if (has(path) && root[path].is_number())
    value = root[path].get<double>();
  else
    get(path, Json::value_t::number_float, "a number");
}

void JsonReader::get(const Pointer &path, std::int64_t &value) {
  if (has(path) && root[path].is_number_integer() &&
      !(root[path].is_number_unsigned() &&
        root[path].get<std::uint64_t>() > INT64_MAX))
    value = root[path].get<std::int64_t>();
  else
    get(path, Json::value_t::null, "an integer of 64 bits");
}

void JsonReader::get(const Pointer &path, int &value) {
  std::int64_t wide = value;
  get(path, wide);
  if (wide < INT_MIN || wide > INT_MAX)
    fail(path, "is out of range");
  else
    value = static_cast<int>(wide);
}

void JsonReader::get(const Pointer &path, bool &value) {
  if (const Json *found = get(path, Json::value_t::boolean, "true or false"))
    value = found->get<bool>();
}

void JsonReader::get(const Pointer &path, std::string &value) {
  if (const Json *found = get(path, Json::value_t::string, "a string"))
    value = found->get<std::string>();
}

void JsonReader::readHeader() {
  checkMembers(Pointer(),
               {"format", "version", "name", "stages", "stage_replicas",
                "microbatches", "placement", "chunks", "edges", "tied",
                "memory_limits", "memory_unit", "overlap", "order", "offloads",
                "prediction"});
  std::string format = "veeline-schedule";
  std::int64_t version = 1;
  if (has(Pointer("/format")))
    get(Pointer("/format"), format);
  if (has(Pointer("/version")))
    get(Pointer("/version"), version);
  if (format != "veeline-schedule")
    fail(Pointer("/format"), "expected \"veeline-schedule\"");
  if (version != 1)
    fail(Pointer("/version"), "this program reads version 1");
}

void JsonReader::readOrder(OrderReader &reader) {
  Pointer path("/order");
  const Json *rows =
      get(path, Json::value_t::array, "a list with the cells of each stage");
  for (std::size_t row = 0; rows && row < rows->size(); ++row) {
    const Json *cells =
        get(path / row, Json::value_t::array, "a list of cells");
    reader.beginRow();
    for (std::size_t i = 0; cells && i < cells->size() && !failure; ++i) {
      const Json &cell = (*cells)[i];
      if (!cell.is_string())
        return fail(path / row / i, "expected a cell, a string");
      if (Status status = reader.addCell(cell.get_ref<const std::string &>());
          !status)
        return fail(path / row / i, status.error().message);
    }
  }
}

/// Checks that what the file says about the order fits the order.
void JsonReader::readPlacement(ImportedSchedule &result) {
  if (has(Pointer("/stages"))) {
    int stages = 0;
    get(Pointer("/stages"), stages);
    if (stages != result.placement.stages())
      fail(Pointer("/stages"),
           "the order has " +
               veeline::counted(result.placement.stages(), "stage"));
  }
  if (has(Pointer("/microbatches"))) {
    int microbatches = 0;
    get(Pointer("/microbatches"), microbatches);
    if (microbatches != result.microbatches)
      fail(Pointer("/microbatches"),
           "the order has " +
               veeline::counted(result.microbatches, "microbatch"));
  }
  if (Pointer path("/stage_replicas"); has(path)) {
    const Json *list =
        get(path, Json::value_t::array, "a list with the ranks of each stage");
    std::vector<int> found = result.widths;
    if (found.empty())
      found.assign(result.placement.stages(), 1);
    if (list && *list != Json(found))
      fail(path,
           "the order has rows for as many ranks as " + Json(found).dump());
  }
  Pointer path("/placement");
  if (!has(path))
    return;
  const Json *list =
      get(path, Json::value_t::array, "a list with the stage of each chunk");
  std::vector<int> wanted;
  wanted.reserve(result.placement.chunks());
  for (int chunk = 0; chunk < result.placement.chunks(); ++chunk)
    wanted.push_back(result.placement.stageOf(chunk));
  if (list && *list != Json(wanted))
    fail(path, "the order places its chunks as " + Json(wanted).dump());
}

Chunk JsonReader::readChunk(const Pointer &path) {
  Chunk chunk;
  if (!get(path, Json::value_t::object, "an object"))
    return chunk;
  checkMembers(path,
               {"forward", "backward_input", "backward_weight",
                "backward_shared", "has_backward_input", "forward_memory",
                "backward_input_memory", "backward_weight_memory", "recompute",
                "recompute_memory", "offload_memory", "offload_time"});
  get(path / "forward", chunk.forward);
  get(path / "backward_input", chunk.backwardInput);
  get(path / "backward_weight", chunk.backwardWeight);
  if (has(path / "backward_shared"))
    get(path / "backward_shared", chunk.backwardShared);
  get(path / "has_backward_input", chunk.hasBackwardInput);
  get(path / "forward_memory", chunk.forwardMemory);
  get(path / "backward_input_memory", chunk.backwardInputMemory);
  get(path / "backward_weight_memory", chunk.backwardWeightMemory);
  chunk.hasRecompute = has(path / "recompute");
  if (chunk.hasRecompute)
    get(path / "recompute", chunk.recompute);
  if (has(path / "recompute_memory"))
    get(path / "recompute_memory", chunk.recomputeMemory);
  if (has(path / "offload_memory"))
    get(path / "offload_memory", chunk.offloadMemory);
  if (has(path / "offload_time"))
    get(path / "offload_time", chunk.offloadTime);
  return chunk;
}

Edge JsonReader::readEdge(const Pointer &path) {
  Edge edge{0, 0};
  if (!get(path, Json::value_t::object, "an object"))
    return edge;
  checkMembers(path, {"from", "to", "forward_transfer", "backward_transfer",
                      "carries_gradient"});
  get(path / "from", edge.from);
  get(path / "to", edge.to);
  get(path / "forward_transfer", edge.forwardTransfer);
  get(path / "backward_transfer", edge.backwardTransfer);
  get(path / "carries_gradient", edge.carriesGradient);
  return edge;
}

/// Reads the costs for which the order was made. A file without chunks has
/// none.
void JsonReader::readProblem(ImportedSchedule &result) {
  if (!has(Pointer("/chunks"))) {
    for (const char *name :
         {"edges", "tied", "memory_limits", "memory_unit", "overlap"})
      if (Pointer path = Pointer() / name; has(path))
        fail(path, "needs chunks: it belongs to the costs that the file then "
                   "has to give");
    return;
  }
  auto length = [&](const Pointer &path) -> std::size_t {
    const Json *list = get(path, Json::value_t::array, "a list");
    return list && !failure ? list->size() : 0;
  };
  Problem problem{result.placement, result.microbatches, {}, {}};
  problem.widths = result.widths;
  for (std::size_t i = 0, e = length(Pointer("/chunks")); i < e && !failure;
       ++i)
    problem.chunks.push_back(readChunk(Pointer("/chunks") / i));
  for (std::size_t i = 0, e = length(Pointer("/edges")); i < e && !failure; ++i)
    problem.edges.push_back(readEdge(Pointer("/edges") / i));
  if (Pointer path("/tied"); has(path))
    for (std::size_t i = 0, e = length(path); i < e && !failure; ++i) {
      std::vector<int> &chunks = problem.tied.emplace_back();
      for (std::size_t j = 0, n = length(path / i); j < n && !failure; ++j)
        get(path / i / j, chunks.emplace_back());
    }
  if (Pointer path("/memory_limits"); has(path))
    for (std::size_t i = 0, e = length(path); i < e && !failure; ++i)
      get(path / i, problem.memoryLimits.emplace_back());
  if (Pointer path("/memory_unit"); has(path)) {
    checkMembers(path, {"size", "name"});
    get(path / "size", problem.memoryUnit.size);
    get(path / "name", problem.memoryUnit.name);
    if (problem.memoryUnit.size < 1)
      fail(path / "size", "is at least 1");
  }
  if (Pointer path("/overlap"); has(path))
    get(path, problem.overlap);
  result.problem = std::move(problem);
}

/// `verify` checks the rules.
void JsonReader::readOffloads(ImportedSchedule &result) {
  Pointer path("/offloads");
  if (!has(path))
    return;
  const Json *ranks =
      get(path, Json::value_t::array, "a list with the offloads of each rank");
  if (ranks && ranks->size() != result.schedule.stages.size())
    return fail(path,
                "the order has rows for " +
                    veeline::counted(result.schedule.stages.size(), "rank") +
                    ", and this for " + std::to_string(ranks->size()));
  if (ranks && !result.problem)
    return fail(path, "needs chunks: how much they offload belongs to the "
                      "costs that the file then has to give");
  for (std::size_t rank = 0; ranks && rank < ranks->size(); ++rank) {
    std::vector<Offload> &offloads = result.schedule.offloads.emplace_back();
    const Json *list =
        get(path / rank, Json::value_t::array, "a list of offloads");
    for (std::size_t i = 0; list && i < list->size() && !failure; ++i) {
      Pointer one = path / rank / i;
      if (const Json *numbers = get(one, Json::value_t::array, "a list");
          numbers && numbers->size() != 4)
        return fail(one, "expected [chunk, microbatch, step where it leaves, "
                         "step where it returns]");
      Offload &offload = offloads.emplace_back();
      get(one / 0, offload.chunk);
      get(one / 1, offload.microbatch);
      get(one / 2, offload.leaves);
      get(one / 3, offload.returns);
      auto isWithin = [&](int value, std::size_t bound) {
        return value >= 0 && static_cast<std::size_t>(value) < bound;
      };
      std::size_t steps = result.schedule.stages[rank].size();
      if (!failure && !(isWithin(offload.chunk, result.placement.chunks()) &&
                        isWithin(offload.microbatch, result.microbatches) &&
                        isWithin(offload.leaves, steps) &&
                        isWithin(offload.returns, steps)))
        return fail(one, "there is no such chunk, microbatch or step");
    }
  }
  std::vector<std::vector<Offload>> &all = result.schedule.offloads;
  if (std::all_of(all.begin(), all.end(),
                  [](const auto &ofRank) { return ofRank.empty(); }))
    all.clear();
}

Expected<ImportedSchedule> JsonReader::read() {
  if (std::optional<Error> error = Scanner(text, file).scan())
    return *error;
  root = Json::parse(text);
  if (!root.is_object())
    return errorIn(file, Place(), "expected an object");
  readHeader();
  OrderReader reader(file);
  readOrder(reader);
  std::string name = "file:" + file;
  if (has(Pointer("/name")))
    get(Pointer("/name"), name);
  if (failure)
    return *failure;
  Expected<ImportedSchedule> result = reader.finish(std::move(name));
  if (!result)
    return result;
  readPlacement(*result);
  readProblem(*result);
  readOffloads(*result);
  if (failure)
    return *failure;
  if (result->problem)
    if (Status status = check(*result->problem); !status)
      return Error{ErrorKind::InvalidProblem,
                   file + ": " + status.error().message};
  return result;
}

Expected<ImportedSchedule>
veeline::schedule::readJson(std::string_view text, const std::string &file) {
  return JsonReader(text, file).read();
}
