//===- Bells.cpp - the bells of a run's ranks -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bells.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace veeline;
using namespace veeline::net;

static constexpr char memoryName[] = "veeline-bell";

Bells::Memory *Bells::map(int file) {
  void *memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE,
                        MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Memory *>(memory);
}

Bells::Bells() {
  file = ::memfd_create(memoryName, MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, sizeof(Memory)) == 0)
    mine = map(file);
  if (!mine)
    return;
  std::random_device random;
  for (uint64_t &word : mine->token)
    word = uint64_t(random()) << 32 | random();
}

Bells::~Bells() {
  for (Memory *memory : found)
    ::munmap(memory, sizeof(Memory));
  if (mine)
    ::munmap(mine, sizeof(Memory));
  if (file >= 0)
    ::close(file);
}

std::string Bells::describe() const {
  if (!mine)
    return "";
  char text[80];
  std::snprintf(text, sizeof(text), "%d %d %" PRIx64 " %" PRIx64, ::getpid(),
                file, mine->token[0], mine->token[1]);
  return text;
}

/// Maps the described memory. Returns null if it is not there: the number may
/// belong to any other process on this host or in this container.
Bells::Memory *Bells::find(const std::string &description) {
  int process = 0, number = 0;
  uint64_t token[2];
  std::istringstream fields(description);
  if (!(fields >> process >> number >> std::hex >> token[0] >> token[1]))
    return nullptr;
  std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  // Opens only memory of the expected name, because opening anything else may
  // have side effects.
  std::string expected = std::string("/memfd:") + memoryName;
  std::array<char, 64> target = {};
  if (::readlink(path.c_str(), target.data(), target.size() - 1) < 0 ||
      std::strncmp(target.data(), expected.c_str(), expected.size()) != 0)
    return nullptr;
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  struct stat status = {};
  bool isLarge = ::fstat(file, &status) == 0 &&
                 status.st_size == static_cast<off_t>(sizeof(Memory));
  Memory *memory = isLarge ? map(file) : nullptr;
  ::close(file);
  if (memory && std::memcmp(memory->token, token, sizeof(token)) != 0) {
    ::munmap(memory, sizeof(Memory));
    return nullptr;
  }
  return memory;
}

void Bells::connect(int32_t self,
                    const std::vector<std::string> &descriptions) {
  for (const std::string &description : descriptions) {
    if (static_cast<int32_t>(bells.size()) == self) {
      bells.push_back(&own());
      continue;
    }
    Memory *memory = find(description);
    if (memory)
      found.push_back(memory);
    bells.push_back(memory ? &memory->bell : nullptr);
  }
}
