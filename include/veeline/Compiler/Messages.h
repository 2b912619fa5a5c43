//===- Messages.h - what compiling says, to a program -----------*- C++ -*-===//
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
  /// Empty: it is about no file, as what is wrong with an option.
  std::string file;
  /// From 1; 0 without a file.
  int64_t line = 0, column = 0;
  std::string text;
  std::vector<Message> notes;
};

/// While it lives, what the compiler says on this thread goes to `handler`, in
/// the order in which it is said, and not to standard error, unless it `passes`
/// everything on.
class MessageCapture {
public:
  using Handler = std::function<void(const Message &)>;
  explicit MessageCapture(Handler handler, bool passes = false);
  ~MessageCapture();
  MessageCapture(const MessageCapture &) = delete;

  /// That of this thread, the innermost one; or null.
  static MessageCapture *get();
  /// Whether somebody else is to say it, too.
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
