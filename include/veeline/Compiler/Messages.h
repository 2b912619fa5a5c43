//===- Messages.h - messages of compiling, for a program --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_MESSAGES_H
#define VEELINE_COMPILER_MESSAGES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace veeline::compiler {

enum class Severity { Error, Warning, Remark, Note };

/// An error, a warning or a remark about a place in a model.
struct Message {
  Severity severity = Severity::Error;
  /// Empty if the message is about no file, such as an error in an option.
  std::string file;
  /// From 1; 0 without a file.
  int64_t line = 0, column = 0;
  std::string text;
  std::vector<Message> notes;
};

/// While it exists, the compiler's messages on this thread go to `handler`, in
/// order. They are also printed to standard error if `passes` is true.
class MessageCapture {
public:
  using Handler = std::function<void(const Message &)>;
  explicit MessageCapture(Handler handler, bool passes = false);
  ~MessageCapture();
  MessageCapture(const MessageCapture &) = delete;

  /// The innermost capture of this thread, or null.
  static MessageCapture *get();
  /// Handles a message. Returns whether the caller should print it, too.
  bool handle(const Message &message) const {
    handler(message);
    return passes;
  }

private:
  Handler handler;
  bool passes;
  MessageCapture *outer;
};

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_MESSAGES_H
