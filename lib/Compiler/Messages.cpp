//===- Messages.cpp - messages of compiling, for a program ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Messages.h"

#include "Diagnostics.h"

#include "mlir/IR/Location.h"

using namespace veeline::compiler;

static thread_local MessageCapture *innermost = nullptr;

MessageCapture::MessageCapture(Handler handler, bool passes)
    : handler(std::move(handler)), passes(passes), outer(innermost) {
  innermost = this;
}
MessageCapture::~MessageCapture() { innermost = outer; }
MessageCapture *MessageCapture::get() { return innermost; }

static Severity toSeverity(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Severity::Error;
  case mlir::DiagnosticSeverity::Warning:
    return Severity::Warning;
  case mlir::DiagnosticSeverity::Remark:
    return Severity::Remark;
  case mlir::DiagnosticSeverity::Note:
    break;
  }
  return Severity::Note;
}

Message veeline::compiler::toMessage(const mlir::Diagnostic &diagnostic) {
  Message message;
  message.severity = toSeverity(diagnostic.getSeverity());
  message.text = diagnostic.str();
  mlir::Location where = diagnostic.getLocation();
  if (auto place = where->findInstanceOf<mlir::FileLineColLoc>()) {
    message.file = place.getFilename().str();
    message.line = place.getLine();
    message.column = place.getColumn();
  }
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back(toMessage(note));
  return message;
}
