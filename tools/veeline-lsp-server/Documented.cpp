//===- Documented.cpp - a language server with documentation --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server answers a hover with an op's name and its generic form, and
// cannot add more. Its messages are JSON after a line "Content-Length: N" and
// an empty line.
//
//===----------------------------------------------------------------------===//

#include "Documented.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace veeline;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Documentation
//===----------------------------------------------------------------------===//

/// The pages that tablegen generates for ops. Each op begins with a heading of
/// three #, and its name in backquotes.
static constexpr llvm::StringLiteral pages =
#include "Pages.inc"
    ;

std::string lsp::documentationOf(llvm::StringRef op) {
  std::string heading = ("### `" + op + "` ").str();
  size_t begin = pages.find(heading);
  if (op.empty() || begin == llvm::StringRef::npos)
    return "";
  llvm::StringRef rest = pages.substr(begin).split('\n').second;
  // Leave out traits and tables of operands, which are not useful to readers of
  // IR.
  std::string text;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    bool isOver = line.starts_with("#") || line.starts_with("Traits: ") ||
                  line.starts_with("Interfaces: ") ||
                  line.starts_with("Effects: ");
    if (isOver)
      break;
    text += line.str() + "\n";
    rest = next;
  }
  return llvm::StringRef(text).trim().str() + "\n";
}

/// The op that a hover is about. The hover begins with its name in quotes.
static llvm::StringRef nameIn(llvm::StringRef hover) {
  return hover.consume_front("\"") ? hover.split('"').first : "";
}

/// Adds documentation after the op's name in an answer. Returns false if there
/// is none.
static bool document(json::Object &answer) {
  json::Object *result = answer.getObject("result");
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<llvm::StringRef> value =
      contents ? contents->getString("value") : std::nullopt;
  if (!value)
    return false;
  std::string text = lsp::documentationOf(nameIn(*value));
  if (text.empty())
    return false;
  auto [title, form] = value->split("\n\n");
  (*contents)["value"] = (title + "\n\n" + text + "\n" + form).str();
  return true;
}

/// Replaces the name and version of MLIR's server in the answer to the first
/// request. Returns false if this is another answer.
static bool rename(json::Object &answer) {
  json::Object *result = answer.getObject("result");
  json::Object *server = result ? result->getObject("serverInfo") : nullptr;
  if (!server)
    return false;
  (*server)["name"] = "veeline-lsp-server";
  (*server)["version"] = VEELINE_VERSION;
  return true;
}

static bool isGenericForm(const json::Value &note) {
  const json::Object *object = note.getAsObject();
  return object && object->getString("message").value_or("").starts_with(
                       "see current operation");
}

/// Leaves out the notes with the op in generic form, which verifiers add to
/// every error. The editor shows the op itself.
static bool dropGenericForms(json::Object &message) {
  if (message.getString("method") != "textDocument/publishDiagnostics")
    return false;
  json::Object *params = message.getObject("params");
  json::Array *errors = params ? params->getArray("diagnostics") : nullptr;
  if (!errors)
    return false;
  for (json::Value &error : *errors) {
    json::Object *object = error.getAsObject();
    json::Array *notes =
        object ? object->getArray("relatedInformation") : nullptr;
    if (!notes)
      continue;
    json::Array kept;
    for (json::Value &note : *notes)
      if (!isGenericForm(note))
        kept.push_back(std::move(note));
    *notes = std::move(kept);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// The content of the next message, or none at the end.
static std::optional<std::string> readMessage(std::FILE *from) {
  size_t length = 0;
  std::array<char, 256> line;
  while (std::fgets(line.data(), line.size(), from)) {
    llvm::StringRef header = llvm::StringRef(line.data()).trim();
    if (header.empty()) {
      std::string content(length, '\0');
      if (std::fread(content.data(), 1, length, from) != length)
        return std::nullopt;
      return content;
    }
    if (header.consume_front_insensitive("content-length:"))
      (void)header.trim().getAsInteger(10, length);
  }
  return std::nullopt;
}

static bool writeMessage(std::FILE *to, const std::string &content) {
  return std::fprintf(to, "Content-Length: %zu\r\n\r\n", content.size()) > 0 &&
         std::fwrite(content.data(), 1, content.size(), to) == content.size() &&
         std::fflush(to) == 0;
}

static std::optional<json::Object> parseObject(llvm::StringRef content) {
  llvm::Expected<json::Value> value = json::parse(content);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  return object ? std::optional(*object) : std::nullopt;
}

namespace {
/// Passes messages between an editor and a server.
class Relay {
public:
  Relay(std::FILE *toServer, std::FILE *fromServer)
      : toServer(toServer), fromServer(fromServer) {}

  /// Passes requests on until the editor ends its side.
  void relayRequests() {
    while (std::optional<std::string> content = readMessage(stdin)) {
      if (std::optional<json::Object> request = parseObject(*content))
        note(*request);
      if (!writeMessage(toServer, *content))
        break;
    }
    std::fclose(toServer);
  }

  /// Passes answers on until the server ends. Returns false if the editor ends
  /// before.
  bool relayAnswers() {
    while (std::optional<std::string> content = readMessage(fromServer)) {
      std::optional<json::Object> answer = parseObject(*content);
      if (answer && ((isOfHover(*answer) && document(*answer)) ||
                     rename(*answer) || dropGenericForms(*answer)))
        content = llvm::formatv("{0}", json::Value(std::move(*answer)));
      if (!writeMessage(stdout, *content))
        return false;
    }
    return true;
  }

private:
  /// The id of a message, a number or a string, as a string.
  static std::string idOf(const json::Object &message) {
    const json::Value *id = message.get("id");
    return id ? llvm::formatv("{0}", *id).str() : "";
  }

  void note(const json::Object &request) {
    std::lock_guard lock(mutex);
    if (request.getString("method") == "textDocument/hover")
      hovers.insert(idOf(request));
  }

  bool isOfHover(const json::Object &answer) {
    std::lock_guard lock(mutex);
    return !answer.get("method") && hovers.erase(idOf(answer)) > 0;
  }

  std::FILE *toServer, *fromServer;
  std::mutex mutex;
  std::set<std::string> hovers; ///< Requests that have not been answered yet.
};
} // namespace

static int fail(const char *what) {
  std::perror(what);
  return EXIT_FAILURE;
}

int lsp::runDocumented(const std::function<int()> &serve) {
  std::array<int, 2> requests, answers;
  if (::pipe(requests.data()) != 0 || ::pipe(answers.data()) != 0)
    return fail("veeline-lsp-server: pipe");
  pid_t child = ::fork();
  if (child < 0)
    return fail("veeline-lsp-server: fork");
  if (child == 0) {
    ::dup2(requests[0], STDIN_FILENO);
    ::dup2(answers[1], STDOUT_FILENO);
    for (int end : {requests[0], requests[1], answers[0], answers[1]})
      ::close(end);
    return serve();
  }
  ::close(requests[0]);
  ::close(answers[1]);
  // If the server ends, that is noticed when its answers end.
  std::signal(SIGPIPE, SIG_IGN);
  Relay relay(::fdopen(requests[1], "w"), ::fdopen(answers[0], "r"));
  std::thread([&] { relay.relayRequests(); }).detach();
  // The editor is gone, so nobody reads further answers of the server.
  if (!relay.relayAnswers())
    ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  // The thread may still wait for the editor, so exit without waiting for it.
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}
