//===- PtxMemory.cpp - PTX instructions on memory -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

#include <cstring>

using namespace veeline::gpu;
using Space = Device::Space;

[[gnu::noinline]] static void failAlignment(const Warp &warp, int32_t lane,
                                            size_t bytes) {
  warp.device->fail(lane, "accesses " + std::to_string(bytes) +
                              " bytes at a place that is no multiple");
}

static inline bool mayAccess(const Warp &warp, int32_t lane, const char *place,
                             size_t bytes, Device::Access kind, Space space,
                             bool &isGarbage) {
  if (warp.isChecked)
    return warp.device->access(lane, place, static_cast<int64_t>(bytes), kind,
                               space, isGarbage);
  if (reinterpret_cast<uintptr_t>(place) % bytes == 0) [[likely]]
    return true;
  failAlignment(warp, lane, bytes);
  return false;
}

/// Loads `count` elements of type T, each extended to the type of a register.
/// Undefined data have all bits set, which are NaNs.
template <typename T, typename Register, int count, Space space>
static void load(Warp &warp, const Instruction &instruction, int32_t begin,
                 int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    const char *place = getAddress(warp, instruction, count, 0, lane);
    bool isGarbage = false;
    if (!mayAccess(warp, lane, place, count * sizeof(T), Device::Access::read,
                   space, isGarbage))
      continue;
    T values[count];
    std::memcpy(values, place, sizeof(values));
    if (isGarbage)
      std::memset(values, 0xff, sizeof(values));
    for (int i = 0; i < count; ++i)
      setRegister<Register>(warp, instruction.operands[size_t(i)], lane,
                            Register(values[i]));
  }
}

template <typename T, int count, Space space>
static void store(Warp &warp, const Instruction &instruction, int32_t begin,
                  int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    char *place = getAddress(warp, instruction, 0, 0, lane);
    T values[count];
    for (int i = 0; i < count; ++i)
      values[i] =
          getRegister<T>(warp, instruction.operands[size_t(i) + 1], lane);
    bool isGarbage = false;
    if (mayAccess(warp, lane, place, sizeof(values), Device::Access::write,
                  space, isGarbage))
      std::memcpy(place, values, sizeof(values));
  }
}

/// Parameters are not the kernel's memory, and not checked.
template <typename T>
static void loadParameter(Warp &warp, const Instruction &instruction,
                          int32_t begin, int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    T value;
    std::memcpy(&value, getAddress(warp, instruction, 1, 0, lane), sizeof(T));
    setRegister<T>(warp, instruction.operands[0], lane, value);
  }
}

template <typename T>
static void storeParameter(Warp &warp, const Instruction &instruction,
                           int32_t begin, int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    auto value = getRegister<T>(warp, instruction.operands[1], lane);
    std::memcpy(getAddress(warp, instruction, 0, 0, lane), &value, sizeof(T));
  }
}

template <typename T, Space space>
static void addTo(Warp &warp, const Instruction &instruction, int32_t begin,
                  int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    char *place = getAddress(warp, instruction, 1, 0, lane);
    bool isGarbage = false;
    if (!mayAccess(warp, lane, place, sizeof(T), Device::Access::atomic, space,
                   isGarbage))
      continue;
    T old;
    std::memcpy(&old, place, sizeof(old));
    T sum = old + getRegister<T>(warp, instruction.operands[2], lane);
    std::memcpy(place, &sum, sizeof(sum));
    setRegister<T>(warp, instruction.operands[0], lane, old);
  }
}

/// `.cg` skips the first cache, which takes 16 bytes at once alone.
template <bool skipsCache>
static void copyAsync(Warp &warp, const Instruction &instruction, int32_t begin,
                      int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    auto bytes = getRegister<uint32_t>(warp, instruction.operands[2], lane);
    auto source = getRegister<uint32_t>(warp, instruction.operands[3], lane);
    bool isSize = bytes == 16 || (!skipsCache && (bytes == 4 || bytes == 8));
    if (!isSize || source > bytes)
      warp.device->fail(lane, "copies " + std::to_string(source) + " of " +
                                  std::to_string(bytes) + " bytes at once");
    else
      warp.device->copyAsync(lane, getAddress(warp, instruction, 0, 0, lane),
                             getAddress(warp, instruction, 1, 1, lane), bytes,
                             source);
  }
}

static void commitCopies(Warp &warp, const Instruction &, int32_t begin,
                         int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane)
    warp.device->commitCopies(lane);
}

static void waitForCopies(Warp &warp, const Instruction &instruction,
                          int32_t begin, int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane)
    warp.device->waitForCopies(
        lane, getRegister<int64_t>(warp, instruction.operands[0], lane));
}

namespace {

class Adder {
public:
  explicit Adder(Opcodes &opcodes) : opcodes(opcodes) {}

  void add(const std::string &name, size_t numOperands, Action action,
           size_t sharedBytes = 0) {
    Opcode opcode;
    opcode.numOperands = static_cast<uint8_t>(numOperands);
    opcode.action = action;
    opcode.sharedBytes = static_cast<uint8_t>(sharedBytes);
    opcodes[name] = opcode;
  }

  /// Loads and stores of one type, of one to four elements.
  template <typename T, typename Register, Space space>
  void addSpace(const std::string &name, const std::string &type) {
    bool mayShare = space == Space::shared || space == Space::generic;
    size_t bytes = mayShare ? sizeof(T) : 0;
    addAccess<T, Register, 1, space>(name, "." + type, bytes);
    addAccess<T, Register, 2, space>(name, ".v2." + type, bytes);
    addAccess<T, Register, 4, space>(name, ".v4." + type, bytes);
  }

  template <typename T, typename Register>
  void addType(const std::string &type) {
    addSpace<T, Register, Space::generic>("", type);
    addSpace<T, Register, Space::global>(".global", type);
    addSpace<T, Register, Space::readOnly>(".global.nc", type);
    addSpace<T, Register, Space::shared>(".shared", type);
    addSpace<T, Register, Space::local>(".local", type);
    add("ld.param." + type, 2, loadParameter<T>);
    add("st.param." + type, 2, storeParameter<T>);
  }

  template <typename T> void addAtomic(const std::string &type) {
    add("atom.add." + type, 3, addTo<T, Space::generic>);
    add("atom.global.add." + type, 3, addTo<T, Space::global>);
  }

private:
  template <typename T, typename Register, int count, Space space>
  void addAccess(const std::string &name, const std::string &type,
                 size_t bytes) {
    if constexpr (count * sizeof(T) <= 16) {
      add("ld" + name + type, count + 1, load<T, Register, count, space>,
          count * bytes);
      if constexpr (space != Space::readOnly)
        add("st" + name + type, count + 1, store<T, count, space>,
            count * bytes);
    }
  }

  Opcodes &opcodes;
};

} // namespace

void veeline::gpu::addMemory(Opcodes &opcodes) {
  Adder adder(opcodes);
  for (const char *kind : {"b", "u"}) {
    std::string name = kind;
    adder.addType<uint8_t, uint64_t>(name + "8");
    adder.addType<uint16_t, uint64_t>(name + "16");
    adder.addType<uint32_t, uint64_t>(name + "32");
    adder.addType<uint64_t, uint64_t>(name + "64");
  }
  adder.addType<int8_t, int64_t>("s8");
  adder.addType<int16_t, int64_t>("s16");
  adder.addType<int32_t, int64_t>("s32");
  adder.addAtomic<float>("f32");
  adder.addAtomic<double>("f64");
  adder.addAtomic<uint32_t>("u32");
  adder.addAtomic<uint64_t>("u64");
  adder.add("cp.async.ca.shared.global", 4, copyAsync<false>, 4);
  adder.add("cp.async.cg.shared.global", 4, copyAsync<true>, 16);
  adder.add("cp.async.commit_group", 0, commitCopies);
  adder.add("cp.async.wait_group", 1, waitForCopies);
}
