//===- SharedObject.cpp - objects linked and loaded -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/HostTarget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>
#include <utility>

using namespace veeline;

template <typename... Args>
static llvm::Error makeError(const char *format, const Args &...args) {
  return llvm::createStringError(std::errc::io_error, format, args...);
}

namespace {

/// A file that is removed with the value.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix,
                                              llvm::ArrayRef<char> bytes = {}) {
    llvm::SmallString<128> path;
    int descriptor;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile(
            "veeline", suffix, descriptor, path))
      return makeError("cannot create a temporary file: %s; set TMPDIR to a "
                       "directory that can be written",
                       code.message().c_str());
    TemporaryFile file(path.str().str());
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream.write(bytes.data(), bytes.size());
    stream.close();
    if (std::error_code code = stream.error()) {
      stream.clear_error();
      return makeError("cannot write %s: %s", file.path().c_str(),
                       code.message().c_str());
    }
    return file;
  }

  const std::string &path() const { return name; }

private:
  explicit TemporaryFile(std::string path)
      : name(std::move(path)),
        remover(std::make_unique<llvm::FileRemover>(name)) {}
  std::string name;
  std::unique_ptr<llvm::FileRemover> remover;
};

} // namespace

static llvm::Expected<std::string>
findLinker(const HostTargetOptions &options) {
  if (!options.linker.empty()) {
    if (llvm::sys::fs::can_execute(options.linker))
      return options.linker;
    return makeError("the linker '%s' cannot be executed",
                     options.linker.c_str());
  }
  const llvm::StringRef llvmDirectories[] = {"/usr/lib/llvm-22/bin"};
  for (const char *name : {"ld.lld-22", "ld.lld", "ld"}) {
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
    if (auto path = llvm::sys::findProgramByName(name, llvmDirectories))
      return *path;
  }
  return makeError("no linker found: looked for ld.lld-22, ld.lld and ld on "
                   "PATH; install the package 'lld-22' or 'binutils'");
}

static std::string readAll(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().rtrim().str() : std::string();
}

llvm::Expected<std::vector<char>>
veeline::linkSharedObject(llvm::ArrayRef<HostObject> objects,
                          const HostTargetOptions &options) {
  llvm::Expected<std::string> linker = findLinker(options);
  if (!linker)
    return linker.takeError();
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("so");
  if (!output)
    return output.takeError();
  llvm::Expected<TemporaryFile> messages = TemporaryFile::create("log");
  if (!messages)
    return messages.takeError();
  std::vector<TemporaryFile> inputs;
  std::vector<llvm::StringRef> arguments = {
      *linker,       "-shared", "-Bsymbolic",  "--gc-sections",    "-z",
      "now",         "-z",      "noexecstack", "--hash-style=gnu", "-o",
      output->path()};
  for (const HostObject &object : objects) {
    llvm::Expected<TemporaryFile> input =
        TemporaryFile::create("o", object.bytes);
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  for (const TemporaryFile &input : inputs)
    arguments.push_back(input.path());
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(), llvm::StringRef(messages->path()),
      llvm::StringRef(messages->path())};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                         redirects, 0, 0, &failure);
  if (status != 0)
    return makeError("%s failed (status %d): %s%s", linker->c_str(), status,
                     failure.c_str(), readAll(messages->path()).c_str());
  auto buffer = llvm::MemoryBuffer::getFile(output->path());
  if (!buffer)
    return makeError("cannot read what %s wrote: %s", linker->c_str(),
                     buffer.getError().message().c_str());
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}

llvm::Expected<LoadedObject> LoadedObject::load(llvm::ArrayRef<char> bytes) {
  llvm::Expected<TemporaryFile> file = TemporaryFile::create("so", bytes);
  if (!file)
    return file.takeError();
  void *handle = dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return makeError("cannot load the shared object: %s", dlerror());
  return LoadedObject(handle);
}

LoadedObject::LoadedObject(LoadedObject &&other)
    : handle(std::exchange(other.handle, nullptr)) {}

LoadedObject &LoadedObject::operator=(LoadedObject &&other) {
  std::swap(handle, other.handle);
  return *this;
}

LoadedObject::~LoadedObject() {
  if (handle)
    dlclose(handle);
}

llvm::Expected<void *> LoadedObject::lookup(llvm::StringRef symbol) const {
  std::string name = symbol.str();
  if (void *address = dlsym(handle, name.c_str()))
    return address;
  return makeError("the shared object has no symbol '%s'", name.c_str());
}
