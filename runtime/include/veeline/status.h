//===- status.h - errors as values -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What fallible functions of the runtime return. No exception crosses a
// library boundary, because the compiler links the artifact library and is
// built without them.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_STATUS_H
#define VEELINE_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace veeline {

/// Success, or one message for the user: where, what was expected, what was
/// found, what to do.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !text.has_value(); }
  /// The message; only of a failure.
  const std::string &message() const { return *text; }

private:
  std::optional<std::string> text;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value(std::move(value)) {}
  /// `status` is a failure.
  Expected(Status status) : failure(std::move(status)) {}

  bool ok() const { return value.has_value(); }
  const Status &status() const { return failure; }
  const std::string &message() const { return failure.message(); }

  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status failure = Status::success();
};

} // namespace veeline

/// Ends the function where `expression` is an error.
#define VEELINE_TRY(expression)                                                \
  do {                                                                         \
    if (::veeline::Status tried = (expression); !tried.ok())                   \
      return tried;                                                            \
  } while (false)

#define VEELINE_JOIN_NAMES(first, second) first##second
#define VEELINE_NAME_OF_LINE(name, line) VEELINE_JOIN_NAMES(name, line)

/// Ends the function where `expression`, an Expected, is an error. Otherwise
/// its value goes to `target`, a variable or the declaration of one. It is
/// several statements.
#define VEELINE_TRY_VALUE(target, ...)                                         \
  auto VEELINE_NAME_OF_LINE(tried, __LINE__) = (__VA_ARGS__);                  \
  if (!VEELINE_NAME_OF_LINE(tried, __LINE__).ok())                             \
    return VEELINE_NAME_OF_LINE(tried, __LINE__).status();                     \
  target = std::move(*VEELINE_NAME_OF_LINE(tried, __LINE__))

#endif // VEELINE_STATUS_H
