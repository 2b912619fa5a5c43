//===- Diagnostics.cpp - diagnostics of compile and inspect ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "veeline/Base/ProgressLine.h"

#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace veeline::compiler;

/// Passes a message without a file to the MessageCapture, if there is one.
/// Returns whether there is.
static bool wasCaptured(Severity severity, const Twine &text) {
  MessageCapture *capture = MessageCapture::get();
  if (!capture)
    return false;
  Message message;
  message.severity = severity;
  message.text = text.str();
  return !capture->handle(message);
}

mlir::LogicalResult veeline::compiler::printError(const Twine &message) {
  if (!wasCaptured(Severity::Error, message)) {
    auto pause = ProgressLine::pause();
    WithColor::error(errs(), "veeline") << message << '\n';
  }
  return mlir::failure();
}

void veeline::compiler::printWarning(const Twine &message) {
  if (!wasCaptured(Severity::Warning, message)) {
    auto pause = ProgressLine::pause();
    WithColor::warning(errs(), "veeline") << message << '\n';
  }
}

void veeline::compiler::printRemark(const Twine &message) {
  if (!wasCaptured(Severity::Remark, message)) {
    auto pause = ProgressLine::pause();
    WithColor::remark(errs(), "veeline") << message << '\n';
  }
}

namespace {
/// A part of a source line, and the column in it that a diagnostic points at.
struct Excerpt {
  std::string text;
  size_t column;
};
} // namespace

/// Shortens a function to its name, up to the parenthesis.
static Excerpt excerptFunction(StringRef line) {
  return {line.take_until([](char c) { return c == '('; }).str() + "(...",
          line.find("func.func")};
}

static Excerpt excerpt(StringRef line, size_t column) {
  constexpr size_t width = 120, before = 40;
  if (line.size() <= width)
    return {line.str(), column};
  if (line.substr(column).starts_with("func.func") && line.contains('('))
    return excerptFunction(line);
  size_t begin = column > before ? column - before : 0;
  std::string start = begin > 0 ? "..." : "";
  bool isCut = begin + width < line.size();
  return {start + line.substr(begin, width).str() + (isCut ? "..." : ""),
          column - begin + start.size()};
}

void veeline::compiler::printShort(const SMDiagnostic &diagnostic, void *) {
  auto pause = ProgressLine::pause();
  raw_ostream &out = errs();
  StringRef line = diagnostic.getLineContents();
  size_t column = std::max(diagnostic.getColumnNo(), 0);
  if (line.empty() || column >= line.size())
    return diagnostic.print(nullptr, out);
  WithColor(out, raw_ostream::SAVEDCOLOR, /*Bold=*/true)
      << diagnostic.getFilename() << ':' << diagnostic.getLineNo() << ':'
      << column + 1 << ": ";
  switch (diagnostic.getKind()) {
  case SourceMgr::DK_Error:
    WithColor::error(out);
    break;
  case SourceMgr::DK_Warning:
    WithColor::warning(out);
    break;
  case SourceMgr::DK_Note:
    WithColor::note(out);
    break;
  case SourceMgr::DK_Remark:
    WithColor::remark(out);
    break;
  }
  Excerpt part = excerpt(line, column);
  out << diagnostic.getMessage() << '\n' << part.text << '\n';
  // Keep tabs, so that the caret is below its column.
  for (char c : StringRef(part.text).take_front(part.column))
    out << (c == '\t' ? '\t' : ' ');
  WithColor(out, HighlightColor::Note) << "^\n";
}

RepeatedRemarks::RepeatedRemarks(mlir::MLIRContext *context, Mode mode)
    : context(context), mode(mode) {
  handler = std::make_unique<mlir::ScopedDiagnosticHandler>(
      context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Remark)
          return mlir::failure();
        // Compare only locations in files. Other parts of a location, such as
        // the number of a computation, would make equal places differ.
        mlir::Location place = diagnostic.getLocation();
        if (auto line = place->findInstanceOf<mlir::FileLineColLoc>())
          place = line;
        auto [number, isNew] =
            numbers.try_emplace(diagnostic.str(), remarks.size());
        if (isNew)
          remarks.push_back({std::move(diagnostic), {}});
        remarks[number->second].places.insert(place);
        return success();
      });
}

void RepeatedRemarks::say(Remark &remark) const {
  size_t others = remark.places.size() - 1;
  std::string text = remark.first.str();
  if (mode == Mode::Once && others > 0)
    remark.first << " (so at " << others << " more place"
                 << (others == 1 ? "" : "s") << "; --verbose: each)";
  context->getDiagEngine().emit(std::move(remark.first));
  if (mode == Mode::Each)
    for (mlir::Location place : remark.places.getArrayRef().drop_front())
      mlir::emitRemark(place) << text;
}

RepeatedRemarks::~RepeatedRemarks() {
  handler.reset();
  if (mode != Mode::Silent)
    for (Remark &remark : remarks)
      say(remark);
}
