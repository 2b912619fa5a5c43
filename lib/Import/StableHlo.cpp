//===- StableHlo.cpp - models in StableHLO --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Import/StableHlo.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace veeline;

/// The first op of StableHLO or CHLO in `text`, or "".
static std::string findStableHlo(StringRef text) {
  static const llvm::Regex op(
      "(^[ \t]*|= *)\"?((stablehlo|chlo)\\.[a-z_0-9]+)[ \"({<%]");
  for (size_t at = text.find("hlo."); at != StringRef::npos;
       at = text.find("hlo.", at)) {
    size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
    StringRef line = text.slice(begin, end);
    // Most files are large because of their constants, in few lines.
    SmallVector<StringRef> parts;
    if (op.match(line.take_front(std::min<size_t>(line.find("//"), 512)),
                 &parts))
      return parts[2].str();
    at = end == StringRef::npos ? end : end + 1;
  }
  return "";
}

bool veeline::hasStableHlo(StringRef text) {
  return !findStableHlo(text).empty();
}

std::string veeline::findStableHloOpt() {
  const char *named = std::getenv(stableHloVariable);
  if (named && !*named)
    return "";
  llvm::ErrorOr<std::string> found =
      llvm::sys::findProgramByName(named ? named : "stablehlo-opt");
  if (found)
    return *found;
  // A name that cannot be run is an error later, and not passed over.
  if (named)
    return named;
  StringRef built = VEELINE_STABLEHLO_OPT;
  return llvm::sys::fs::can_execute(built) ? built.str() : "";
}

namespace {
/// A temporary file that is removed.
class ScratchFile {
public:
  explicit ScratchFile(StringRef suffix)
      : error(llvm::sys::fs::createTemporaryFile("veeline-stablehlo", suffix,
                                                 path)),
        remover(path) {}

  SmallString<128> path; // The error comes after it.
  std::error_code error;

private:
  llvm::FileRemover remover;
};
} // namespace

/// The first lines of what a program has written.
static std::string readStart(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  StringRef text = file ? (*file)->getBuffer().trim() : "";
  constexpr size_t mostBytes = 2000;
  return text.size() <= mostBytes ? text.str()
                                  : (text.take_front(mostBytes) + " ...").str();
}

/// The file that the program reads: that of the model or, if the model is only
/// in memory, a copy at `scratch`. Empty if that cannot be written.
static std::string placeModel(const llvm::MemoryBuffer &model,
                              StringRef scratch) {
  StringRef name = model.getBufferIdentifier();
  uint64_t size = 0;
  if (!llvm::sys::fs::file_size(name, size) && size == model.getBufferSize())
    return name.str();
  std::error_code error;
  llvm::raw_fd_ostream copy(scratch, error);
  if (error)
    return "";
  copy << model.getBuffer();
  copy.close();
  bool isWritten = !copy.has_error();
  copy.clear_error();
  return isWritten ? scratch.str() : "";
}

std::unique_ptr<llvm::MemoryBuffer>
veeline::lowerStableHlo(const std::string &program,
                        const llvm::MemoryBuffer &model, Location place) {
  ScratchFile copy("mlir"), output("mlir"), messages("txt");
  for (const ScratchFile *file : {&copy, &output, &messages})
    if (file->error) {
      emitError(place) << "cannot make a temporary file for what '" << program
                       << "' writes: " << file->error.message();
      return nullptr;
    }
  std::string input = placeModel(model, copy.path);
  if (input.empty()) {
    emitError(place) << "cannot write the model to '" << copy.path << "', for '"
                     << program << "'";
    return nullptr;
  }
  // The generic form changes least from one version of MLIR to the next.
  StringRef arguments[] = {
      program,
      input,
      "--chlo-legalize-to-stablehlo",
      "--stablehlo-convert-to-signless",
      "--stablehlo-legalize-to-linalg=enable-primitive-ops",
      "--mlir-print-debuginfo",
      "--mlir-print-op-generic"};
  std::string failure;
  int code = llvm::sys::ExecuteAndWait(
      program, arguments, /*Env=*/std::nullopt,
      {StringRef(), StringRef(output.path), StringRef(messages.path)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &failure);
  if (code != 0) {
    InFlightDiagnostic error = emitError(place)
                               << "'" << program
                               << "', which lowers StableHLO to linalg, ";
    // It could not be started, or a signal has ended it.
    if (code < 0)
      error << (code == -1 ? "cannot be run: " : "has crashed: ") << failure;
    else
      error << "ends with exit code " << code;
    if (std::string said = readStart(messages.path); !said.empty())
      error.attachNote() << "it says: " << said;
    return nullptr;
  }
  auto lowered = llvm::MemoryBuffer::getFile(output.path);
  if (!lowered) {
    emitError(place) << "cannot read what '" << program
                     << "' has written: " << lowered.getError().message();
    return nullptr;
  }
  // It leaves what it does not know.
  if (std::string left = findStableHlo((*lowered)->getBuffer());
      !left.empty()) {
    emitError(place) << "the model has a " << left << ", which '" << program
                     << "' does not lower to linalg; write the model without "
                        "it";
    return nullptr;
  }
  return llvm::MemoryBuffer::getMemBufferCopy(
      (*lowered)->getBuffer(),
      (model.getBufferIdentifier() + " in linalg").str());
}
