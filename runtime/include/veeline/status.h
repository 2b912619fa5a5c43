//===- status.h - errors as values ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result types of functions of the runtime that can fail. No exception
// crosses a library boundary, because the compiler, which links the artifact
// library, is built without exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_STATUS_H
#define VEELINE_STATUS_H

#include <optional>
#include <string>
#include <utility>

namespace veeline {

/// Success, or a message for the user. It says where the error is, what was
/// expected, what was found, and what to do.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !text.has_value(); }
  /// The message. Requires a failure.
  const std::string &message() const { return *text; }

private:
  std::optional<std::string> text;
};

/// A value, or the Status of a failure.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value(std::move(value)) {}
  /// Requires that `status` is a failure.
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

/// Returns from the function if `expression` is an error.
#define VEELINE_TRY(expression)                                                \
  do {                                                                         \
    if (::veeline::Status tried = (expression); !tried.ok())                   \
      return tried;                                                            \
  } while (false)

#define VEELINE_JOIN_NAMES(first, second) first##second
#define VEELINE_NAME_OF_LINE(name, line) VEELINE_JOIN_NAMES(name, line)

/// Returns from the function if the last argument, an Expected, is an error.
/// Otherwise assigns its value to `target`, a variable or the declaration of
/// one. The macro expands to several statements.
#define VEELINE_TRY_VALUE(target, ...)                                         \
  auto VEELINE_NAME_OF_LINE(tried, __LINE__) = (__VA_ARGS__);                  \
  if (!VEELINE_NAME_OF_LINE(tried, __LINE__).ok())                             \
    return VEELINE_NAME_OF_LINE(tried, __LINE__).status();                     \
  target = std::move(*VEELINE_NAME_OF_LINE(tried, __LINE__))

#endif // VEELINE_STATUS_H
