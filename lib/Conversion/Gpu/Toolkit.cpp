//===- Toolkit.cpp - the programs of a CUDA toolkit -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"

#include "Host/Subprocess.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace veeline;

std::string Toolkit::getProgram(llvm::StringRef name) const {
  return directory + "/bin/" + name.str();
}

std::string Toolkit::getLibdevice() const {
  return directory + "/nvvm/libdevice/libdevice.10.bc";
}

std::vector<std::string> Toolkit::listFiles() const {
  return {getProgram("ptxas"), getProgram("fatbinary"), getLibdevice()};
}

std::string Toolkit::getVersion() const {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// The version in "Cuda compilation tools, release 13.0, V13.0.88", or 0.
static unsigned parseVersion(llvm::StringRef text) {
  llvm::StringRef release = text.split("release ").second;
  unsigned major = 0, minor = 0;
  if (release.consumeInteger(10, major) || !release.consume_front(".") ||
      release.consumeInteger(10, minor))
    return 0;
  return major * 10 + minor;
}

/// Opens the toolkit in `directory`. `origin` says in errors who named the
/// directory.
llvm::Expected<Toolkit> Toolkit::open(std::string directory,
                                      llvm::StringRef origin) {
  Toolkit toolkit(std::move(directory));
  for (const char *name : {"ptxas", "fatbinary"})
    if (!llvm::sys::fs::can_execute(toolkit.getProgram(name)))
      return llvm::createStringError(
          "no CUDA toolkit in '%s', which %s names: '%s' cannot be "
          "executed",
          toolkit.directory.c_str(), origin.str().c_str(),
          toolkit.getProgram(name).c_str());
  std::string program = toolkit.getProgram("ptxas");
  llvm::Expected<std::string> text = runProcess({program, "--version"});
  if (!text)
    return text.takeError();
  toolkit.version = parseVersion(*text);
  if (!toolkit.version)
    return llvm::createStringError(
        "'%s --version' names no release; it says: %s", program.c_str(),
        text->c_str());
  return toolkit;
}

llvm::Expected<Toolkit> Toolkit::find(llvm::StringRef given) {
  if (!given.empty())
    return open(given.str(), "the option of the toolkit");
  // If the user names a directory, no other one is searched. A bad directory is
  // an error.
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"}) {
    std::optional<std::string> value = llvm::sys::Process::GetEnv(name);
    if (value && !value->empty())
      return open(*value, std::string("$") + name);
  }
  constexpr const char *usual = "/usr/local/cuda";
  if (llvm::sys::fs::can_execute(std::string(usual) + "/bin/ptxas"))
    return open(usual, "its usual place");
  if (auto path = llvm::sys::findProgramByName("ptxas")) {
    llvm::SmallString<128> real;
    if (!llvm::sys::fs::real_path(*path, real))
      return open(
          llvm::sys::path::parent_path(llvm::sys::path::parent_path(real))
              .str(),
          "ptxas on PATH");
  }
  return llvm::createStringError(
      "no CUDA toolkit found: CUDA_HOME and CUDA_PATH are not set, "
      "there is no %s/bin/ptxas, and no ptxas on PATH; install a "
      "toolkit, or say where it is",
      usual);
}

llvm::Error Toolkit::checkKnows(const GpuChip &chip) const {
  if (version >= chip.toolkitVersion)
    return llvm::Error::success();
  return llvm::createStringError(
      "%s needs a CUDA toolkit of version %u.%u or later, but the "
      "one in '%s' is %s",
      chip.name.data(), chip.toolkitVersion / 10, chip.toolkitVersion % 10,
      directory.c_str(), getVersion().c_str());
}

static llvm::Expected<std::string> readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError("cannot read %s: %s", path.c_str(),
                                   buffer.getError().message().c_str());
  return (*buffer)->getBuffer().str();
}

llvm::Expected<std::string> Toolkit::assemble(llvm::StringRef ptx,
                                              const GpuChip &chip,
                                              std::string &log) const {
  llvm::Expected<TemporaryFile> input =
      TemporaryFile::create("ptx", {ptx.data(), ptx.size()});
  if (!input)
    return input.takeError();
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  std::string arch = "-arch=" + chip.name.str();
  llvm::Expected<std::string> messages =
      runProcess({getProgram("ptxas"), "-v", "-O3", arch, input->path(), "-o",
                  output->path()});
  if (!messages)
    return messages.takeError();
  log = std::move(*messages);
  return readFile(output->path());
}

llvm::Expected<std::string> Toolkit::merge(llvm::ArrayRef<Part> parts) const {
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("fatbin");
  if (!output)
    return output.takeError();
  std::vector<TemporaryFile> inputs;
  std::vector<std::string> arguments = {getProgram("fatbinary"), "-64",
                                        "--create=" + output->path()};
  for (const Part &part : parts) {
    llvm::Expected<TemporaryFile> input = TemporaryFile::create(
        part.kind, {part.bytes.data(), part.bytes.size()});
    if (!input)
      return input.takeError();
    arguments.push_back("--image3=kind=" + part.kind.str() +
                        ",sm=" + part.chip.name.substr(3).str() +
                        ",file=" + input->path());
    inputs.push_back(std::move(*input));
  }
  std::vector<llvm::StringRef> pieces(arguments.begin(), arguments.end());
  if (llvm::Expected<std::string> messages = runProcess(pieces); !messages)
    return messages.takeError();
  return readFile(output->path());
}
