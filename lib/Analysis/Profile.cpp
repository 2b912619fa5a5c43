//===- Profile.cpp - measured times of a model's pieces -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Profile.h"

#include "veeline/Analysis/JsonFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <numeric>
#include <utility>

using namespace llvm;
using namespace veeline;

namespace veeline {
/// Reads what a compilation needs from the JSON, and keeps the first error.
class ProfileReader {
public:
  Expected<Profile> read(const json::Value &value);

private:
  bool fail(const Twine &what) {
    if (message.empty())
      message = what.str();
    return false;
  }
  bool readChunk(const json::Value &value, size_t number);
  bool readTime(const json::Object &chunk, StringRef kind, const Twine &where,
                Profile::Chunk &out, ArrayRef<int> scales);
  std::optional<double> readTransfer(const json::Object &edge, StringRef kind);
  bool readEdge(const json::Value &value, size_t number);
  bool readMovement(const json::Value &value, StringRef name,
                    std::optional<std::array<double, 2>> &out);

  Profile profile;
  double transferSum = 0, transferSamples = 0;
  std::string message;
};
} // namespace veeline

/// Larger numbers are not measurements: no op of a step takes hours, and no
/// estimate is so wrong. Sums of such numbers might overflow.
static constexpr double maxMicroseconds = 1e10, maxScale = 1e9;

/// Adds the time of one kind of work, if the chunk has it, and sets its
/// `scales`.
bool ProfileReader::readTime(const json::Object &chunk, StringRef kind,
                             const Twine &where, Profile::Chunk &out,
                             ArrayRef<int> scales) {
  const json::Value *member = chunk.get(kind);
  if (!member)
    return true;
  const json::Object *entry = member->getAsObject();
  std::optional<double> time = entry ? entry->getNumber("us") : std::nullopt;
  if (!time || !(*time >= 0 && *time <= maxMicroseconds))
    return fail(where + ", " + kind +
                ": expected a time 'us' from 0 to 1e10; found " +
                printJson(entry ? entry->get("us") : member));
  out.nanoseconds += *time * 1000;
  // Without an estimate there is nothing to correct.
  if (!entry->get("scale"))
    return true;
  std::optional<double> scale = entry->getNumber("scale");
  if (!isPositive(scale, maxScale) || *scale < 1 / maxScale)
    return fail(where + ", " + kind +
                ": expected a 'scale' from 1e-9 to 1e9; found " +
                printJson(entry->get("scale")));
  for (int i : scales)
    out.scale[i] = *scale;
  return true;
}

bool ProfileReader::readChunk(const json::Value &value, size_t number) {
  std::string where = "chunk " + std::to_string(number);
  const json::Object *chunk = value.getAsObject();
  std::optional<int64_t> pieces =
      chunk ? chunk->getInteger("pieces") : std::nullopt;
  if (!pieces || *pieces < 1 || *pieces > INT32_MAX)
    return fail(where + ": expected 'pieces', a number of 1 or more; found " +
                printJson(chunk ? chunk->get("pieces") : &value));
  Profile::Chunk result;
  result.pieces = *pieces;
  if (!readTime(*chunk, "F", where, result, {0}) ||
      !readTime(*chunk, "BW", where, result, {1, 2}) ||
      !readTime(*chunk, "B", where, result, {1}) ||
      !readTime(*chunk, "W", where, result, {2}) ||
      // Recomputation takes the scale of F.
      !readTime(*chunk, "R", where, result, {}))
    return false;
  profile.chunks.push_back(result);
  return true;
}

/// The time of a message, or none if no rank ever waited for one.
std::optional<double> ProfileReader::readTransfer(const json::Object &edge,
                                                  StringRef kind) {
  const json::Object *entry = edge.getObject(kind);
  std::optional<double> time = entry ? entry->getNumber("us") : std::nullopt;
  std::optional<double> samples =
      entry ? entry->getNumber("samples") : std::nullopt;
  if (!isPositive(time, maxMicroseconds) ||
      !isPositive(samples, double(INT64_MAX)))
    return std::nullopt;
  transferSum += *time * *samples * 1000;
  transferSamples += *samples;
  return *time * 1000;
}

bool ProfileReader::readEdge(const json::Value &value, size_t number) {
  const json::Object *edge = value.getAsObject();
  auto get = [&](StringRef name) {
    return edge ? edge->getInteger(name).value_or(-1) : -1;
  };
  int64_t from = get("from"), to = get("to"), bytes = get("bytes");
  if (from < 0 || from >= to ||
      to >= static_cast<int64_t>(profile.chunks.size()) || bytes < 0)
    return fail("edge " + std::to_string(number) +
                ": expected 'from' and 'to', one of the chunks and a later "
                "one, and its 'bytes'; found " +
                printJson(&value));
  auto getBegin = [&](int64_t chunk) {
    int64_t piece = 0;
    for (const Profile::Chunk &before :
         ArrayRef(profile.chunks).take_front(chunk))
      piece += before.pieces;
    return piece;
  };
  profile.edges.push_back({{getBegin(from + 1), getBegin(to), bytes},
                           readTransfer(*edge, "activation"),
                           readTransfer(*edge, "gradient")});
  return true;
}

/// Reads an entry of bytes and the time to move them.
bool ProfileReader::readMovement(const json::Value &value, StringRef name,
                                 std::optional<std::array<double, 2>> &out) {
  const json::Object *entry = value.getAsObject();
  std::optional<double> bytes =
      entry ? entry->getNumber("bytes") : std::nullopt;
  std::optional<double> time = entry ? entry->getNumber("us") : std::nullopt;
  if (!isPositive(bytes, double(INT64_MAX)) ||
      !isPositive(time, maxMicroseconds))
    return fail(name.str() +
                ": expected its 'bytes' and a time 'us' above 0; found " +
                printJson(&value));
  out = {*bytes, *time * 1000};
  return true;
}

Expected<Profile> ProfileReader::read(const json::Value &value) {
  const json::Object *file = value.getAsObject();
  if (!file || file->getString("format") != "veeline-profile")
    return createStringError("this is no profile of veeline train --profile");
  if (file->getInteger("version") != 2)
    return createStringError("expected version 2 of the format, found " +
                             printJson(file->get("version")) +
                             "; measure again with veeline train --profile");
  profile.model = file->getString("model").value_or("").str();
  profile.fingerprint = file->getString("fingerprint").value_or("").str();
  const json::Array *chunks = file->getArray("chunks");
  if (!chunks || chunks->empty())
    return createStringError("it has no chunks");
  for (auto [number, chunk] : enumerate(*chunks))
    if (!readChunk(chunk, number))
      return createStringError(message);
  if (const json::Array *edges = file->getArray("edges"))
    for (auto [number, edge] : enumerate(*edges))
      if (!readEdge(edge, number))
        return createStringError(message);
  for (auto [name, out] : {std::pair("all_reduce", &profile.allReduce),
                           std::pair("updates", &profile.updates)})
    if (const json::Value *value = file->get(name);
        value && !readMovement(*value, name, *out))
      return createStringError(message);
  if (const json::Object *updates = file->getObject("updates"))
    profile.optimizer = updates->getString("optimizer").value_or("").str();
  if (transferSamples > 0)
    profile.meanTransfer = transferSum / transferSamples;
  return std::move(profile);
}

/// No profile is larger than this, however many chunks there are.
static constexpr uint64_t maxProfileBytes = 64 << 20;

Expected<Profile> Profile::read(StringRef path) {
  Expected<json::Value> value = readJson(path, maxProfileBytes);
  if (!value)
    return value.takeError();
  return ProfileReader().read(*value);
}

int64_t Profile::getNumPieces() const {
  int64_t count = 0;
  for (const Chunk &chunk : chunks)
    count += chunk.pieces;
  return count;
}

void Profile::refine(ArrayRef<int64_t> parts) {
  std::vector<int64_t> begins = {0};
  for (int64_t count : parts)
    begins.push_back(begins.back() + count);
  int64_t piece = 0;
  for (Chunk &chunk : chunks) {
    int64_t begin = std::exchange(piece, piece + chunk.pieces);
    chunk.pieces = begins[piece] - begins[begin];
  }
  for (Edge &edge : edges) {
    edge.pieces.from = begins[edge.pieces.from];
    edge.pieces.to = begins[edge.pieces.to];
  }
}

std::vector<double> Profile::getTimes(ArrayRef<double> estimates) const {
  std::vector<double> times;
  for (const Chunk &chunk : chunks) {
    ArrayRef<double> own = estimates.slice(times.size(), chunk.pieces);
    double sum = std::accumulate(own.begin(), own.end(), 0.0);
    for (double estimate : own)
      times.push_back(chunk.nanoseconds *
                      (sum > 0 ? estimate / sum : 1.0 / own.size()));
  }
  return times;
}

CostScale Profile::getScale(int64_t begin, int64_t end,
                            ArrayRef<double> estimates) const {
  CostScale sums = {0, 0, 0};
  double weights = 0;
  int64_t piece = 0;
  for (const Chunk &chunk : chunks)
    for (int64_t last = piece + chunk.pieces; piece != last; ++piece) {
      if (piece < begin || piece >= end)
        continue;
      // A piece with an estimate of 0 gets a small weight, too.
      double weight = std::max(estimates[piece], 1.0);
      weights += weight;
      for (auto [sum, scale] : zip_equal(sums, chunk.scale))
        sum += weight * scale;
    }
  for (double &sum : sums)
    sum /= weights;
  return sums;
}

std::vector<double> Profile::getTransfers(ArrayRef<PieceEdge> wanted) const {
  std::vector<double> times;
  if (!meanTransfer)
    return times;
  std::vector<bool> isTaken(edges.size(), false);
  for (const PieceEdge &pieces : wanted) {
    Edge found;
    // Several edges may join the same pieces.
    for (auto [edge, taken] : zip_equal(edges, isTaken))
      if (!taken && edge.pieces == pieces) {
        found = edge;
        taken = true;
        break;
      }
    times.push_back(found.activation.value_or(*meanTransfer));
    times.push_back(found.gradient.value_or(*meanTransfer));
  }
  return times;
}
