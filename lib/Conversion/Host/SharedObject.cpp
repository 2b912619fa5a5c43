//===- SharedObject.cpp - linking and loading shared objects --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subprocess.h"
#include "veeline/Conversion/HostTarget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>
#include <utility>

using namespace veeline;

llvm::Expected<std::string>
veeline::findLinker(const HostTargetOptions &options) {
  if (!options.linker.empty()) {
    if (llvm::sys::fs::can_execute(options.linker))
      return options.linker;
    return llvm::createStringError("the linker '%s' cannot be executed",
                                   options.linker.c_str());
  }
  const llvm::StringRef llvmDirectories[] = {"/usr/lib/llvm-22/bin"};
  // GNU ld comes first: it starts in a fifth of the time that lld takes to load
  // libLLVM.
  for (const char *name : {"ld", "ld.lld-22", "ld.lld"}) {
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
    if (auto path = llvm::sys::findProgramByName(name, llvmDirectories))
      return *path;
  }
  return llvm::createStringError(
      "no linker found: looked for ld, ld.lld-22 and ld.lld on "
      "PATH; install the package 'binutils' or 'lld-22'");
}

llvm::Expected<std::vector<char>>
veeline::linkSharedObject(llvm::ArrayRef<const HostObject *> objects,
                          const HostTargetOptions &options) {
  llvm::Expected<std::string> linker = findLinker(options);
  if (!linker)
    return linker.takeError();
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("so");
  if (!output)
    return output.takeError();
  std::vector<TemporaryFile> inputs;
  // Without padding between segments: it would be larger than the code of most
  // steps.
  std::vector<llvm::StringRef> arguments = {*linker,
                                            "-shared",
                                            "-Bsymbolic",
                                            "--gc-sections",
                                            "-z",
                                            "now",
                                            "-z",
                                            "noexecstack",
                                            "-z",
                                            "noseparate-code",
                                            "--hash-style=gnu",
                                            "-o",
                                            output->path()};
  for (const HostObject *object : objects) {
    llvm::Expected<TemporaryFile> input =
        TemporaryFile::create("o", object->bytes);
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  for (const TemporaryFile &input : inputs)
    arguments.push_back(input.path());
  llvm::Expected<std::string> messages = runProcess(arguments);
  if (!messages)
    return messages.takeError();
  auto buffer = llvm::MemoryBuffer::getFile(output->path());
  if (!buffer)
    return llvm::createStringError("cannot read what %s wrote: %s",
                                   linker->c_str(),
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
    return llvm::createStringError("cannot load the shared object: %s",
                                   dlerror());
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
  return llvm::createStringError("the shared object has no symbol '%s'",
                                 name.c_str());
}
