//===- Result.h - errors of the schedule library ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule library neither throws nor aborts on anything that a user can
// cause. Functions that can fail return an `Expected<T>` (a value or an
// `Error`) or a `Status` (success or an `Error`).
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_RESULT_H
#define VEELINE_SCHEDULE_RESULT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace veeline::schedule {

enum class OpKind : std::uint8_t {
  Forward,
  BackwardInput,
  BackwardWeight,
  /// B and W of a chunk as one operation.
  Backward,
  /// What a backward needs of its forward, computed again before it
  /// (Recompute.h).
  Recompute,
};

inline constexpr int numOpKinds = 5;

/// One operation of a schedule. `chunk` is the global number, in model order.
struct Op {
  OpKind kind;
  int chunk;
  int microbatch;
  /// Whether it belongs to the previous step, as a W or a fused Backward of a
  /// cyclic order may (Loop.h).
  bool late = false;

  friend bool operator==(const Op &, const Op &) = default;
};

/// "F", "B", "W", "BW" or "R".
const char *toString(OpKind kind);
/// "F of chunk 2, microbatch 0"; for messages.
std::string describe(const Op &op);

enum class ErrorKind {
  /// The problem is inconsistent (`check`), or an option is meaningless.
  InvalidProblem,
  /// No schedule of this name.
  UnknownSchedule,
  /// The schedule is not defined for this problem (its v, m or placement).
  NotApplicable,
  /// No order of this schedule fits the memory limit of a stage.
  OutOfMemory,
  /// An operation is missing.
  Missing,
  /// An operation occurs twice, or fused and split.
  Duplicate,
  /// An operation names a chunk or microbatch that the problem lacks, or a
  /// BackwardInput of a chunk that has none.
  UnknownOp,
  /// An operation is on a stage that does not hold its chunk.
  WrongStage,
  /// B or W of a chunk do not run in ascending microbatch order, or W before B,
  /// or R after its reader.
  WrongOrder,
  /// Stages wait for each other in a cycle.
  Deadlock,
  /// Two operations of an overlapped block cannot overlap.
  WrongBlock,
  /// A message occurs twice, never, or between the wrong operations.
  WrongMessage,
  /// An offload leaves or returns at an impossible step.
  WrongOffload,
};

/// What went wrong, where, and what to do. `message` is complete; the other
/// members have the same facts for programs.
// The analyzer loses the kind in the variant of Status and Expected.
// NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
struct Error {
  ErrorKind kind;
  std::string message;
  std::optional<int> stage = std::nullopt;
  /// Index into the order of `stage`.
  std::optional<int> step = std::nullopt;
  std::optional<Op> op = std::nullopt;
  /// For OutOfMemory: the least limit of `stage` that would suffice, in the
  /// memory unit of the problem.
  std::optional<std::int64_t> leastLimit = std::nullopt;
  /// For OutOfMemory from `generate`: the least limit of `stage` under which
  /// any schedule exists (Limits.h). It shows whether another schedule can
  /// help.
  std::optional<std::int64_t> leastOfAnySchedule = std::nullopt;
  /// A few lines of table around the offending step; empty if there is none.
  std::string neighbourhood = {};

  /// The message, followed by the neighbourhood on further lines.
  std::string str() const;
};

/// An error of the kind InvalidProblem.
inline Error invalid(std::string message) {
  return Error{ErrorKind::InvalidProblem, std::move(message)};
}

/// A value or an error.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }

  T &operator*() { return *std::get_if<0>(&storage); }
  const T &operator*() const { return *std::get_if<0>(&storage); }
  T *operator->() { return std::get_if<0>(&storage); }
  const T *operator->() const { return std::get_if<0>(&storage); }

  const Error &error() const { return *std::get_if<1>(&storage); }
  /// Moves the error out, to return it as an `Expected` of another type.
  Error takeError() { return std::move(*std::get_if<1>(&storage)); }

private:
  std::variant<T, Error> storage;
};

/// Success or an error; converts to true on success.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  Status(Error error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  const Error &error() const { return *std::get_if<1>(&storage); }
  Error takeError() { return std::move(*std::get_if<1>(&storage)); }

private:
  Status() = default;
  std::variant<std::monostate, Error> storage;
};

} // namespace veeline::schedule

#endif // VEELINE_SCHEDULE_RESULT_H
