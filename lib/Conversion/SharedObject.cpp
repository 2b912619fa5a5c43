//===- SharedObject.cpp - objects linked and loaded -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/HostTarget.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <sys/wait.h>
#include <utility>

using namespace veeline;

template <typename... Args>
static llvm::Error makeError(const char *format, const Args &...args) {
  return llvm::createStringError(std::errc::io_error, format, args...);
}

namespace {

/// A file that is removed with the value, or by a signal that ends the process.
class TemporaryFile {
public:
  TemporaryFile(TemporaryFile &&other)
      : name(std::exchange(other.name, std::string())) {}
  TemporaryFile &operator=(TemporaryFile &&other) = delete;
  ~TemporaryFile() {
    if (name.empty())
      return;
    llvm::sys::fs::remove(name);
    llvm::sys::DontRemoveFileOnSignal(name);
  }

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
  explicit TemporaryFile(std::string path) : name(std::move(path)) {
    llvm::sys::RemoveFileOnSignal(name);
  }
  std::string name;
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

//===----------------------------------------------------------------------===//
// Linkers that a signal handler must know
//===----------------------------------------------------------------------===//

/// Process ids, 0 where there is none. More at once than there are threads to
/// start them do not exist on machines of today; one more is only not stopped.
static std::atomic<pid_t> runningLinkers[512];
/// How many threads are between asking `stopping` and having told the id.
static std::atomic<int> startingLinkers;
static std::atomic<bool> stopping;

/// Puts `to` where `from` is.
static void replaceLinker(pid_t from, pid_t to) {
  for (std::atomic<pid_t> &slot : runningLinkers) {
    pid_t expected = from;
    if (slot.compare_exchange_strong(expected, to))
      return;
  }
}

void veeline::stopLinkers() {
  stopping = true;
  // Not for ever: the thread that starts one may be that of the signal.
  for (int i = 0; i != 100 && startingLinkers != 0; ++i) {
    timespec wait = {0, 10'000'000};
    nanosleep(&wait, nullptr);
  }
  for (std::atomic<pid_t> &slot : runningLinkers)
    if (pid_t linker = slot.load())
      kill(linker, SIGTERM);
  // Where another thread waits for it as well, one of both calls fails, once it
  // is gone.
  for (std::atomic<pid_t> &slot : runningLinkers)
    if (pid_t linker = slot.load())
      waitpid(linker, nullptr, 0);
}

/// The exit status of the linker, negative where it did not run to its end.
static int runLinker(llvm::ArrayRef<llvm::StringRef> arguments,
                     const std::string &output, std::string &failure) {
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), output,
                                                output};
  bool isMissing = false;
  ++startingLinkers;
  if (stopping) {
    --startingLinkers;
    failure = "interrupted";
    return -1;
  }
  llvm::sys::ProcessInfo linker =
      llvm::sys::ExecuteNoWait(arguments.front(), arguments, std::nullopt,
                               redirects, 0, &failure, &isMissing);
  if (!isMissing)
    replaceLinker(0, linker.Pid);
  --startingLinkers;
  if (isMissing)
    return -1;
  int status = llvm::sys::Wait(linker, /*SecondsToWait=*/std::nullopt, &failure)
                   .ReturnCode;
  replaceLinker(linker.Pid, 0);
  return status;
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
  std::string failure;
  int status = runLinker(arguments, messages->path(), failure);
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
