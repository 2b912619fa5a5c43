//===- Ptx.h - kernels as PTX says them -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the PTX that LLVM writes for our kernels into instructions that
// Emulation.h runs. What an instruction means is in Ptx*.cpp and
// Warp.cpp, as the PTX ISA (version 9.0, chapter 9) says it.
// Needs no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_PTX_H
#define VEELINE_TEST_GPU_PTX_H

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace veeline::gpu {

inline constexpr int32_t warpSize = 32;

struct Instruction;

/// What instructions do to memory, and what lanes wait for.
class Device {
public:
  virtual ~Device() = default;

  /// Of `generic`, the address says the space.
  enum class Space : uint8_t { generic, global, readOnly, shared, local };
  enum class Access : uint8_t { read, write, atomic };
  /// Called before an access of lane `lane`. Returns false if it must not
  /// happen; the lane goes no further then. Sets `isGarbage` if it reads
  /// undefined data.
  virtual bool access(int32_t lane, const void *address, int64_t bytes,
                      Access kind, Space space, bool &isGarbage) = 0;
  /// cp.async: copies `sourceBytes`, and zeros up to `bytes`.
  virtual void copyAsync(int32_t lane, char *target, const char *source,
                         int64_t bytes, int64_t sourceBytes) = 0;
  virtual void commitCopies(int32_t lane) = 0;
  /// Waits until all but the last `numLeft` groups have arrived.
  virtual void waitForCopies(int32_t lane, int64_t numLeft) = 0;
  /// The kernel does what PTX does not define.
  virtual void fail(int32_t lane, const std::string &what) = 0;
};

/// The registers of a warp: of each one, `warpSize` numbers of 64 bits, one for
/// each lane. Narrower values are in the low bits. Constants, addresses of
/// variables and special registers are registers, too.
struct Warp {
  uint64_t *registers;
  Device *device;
  /// Accesses of memory are those of the device.
  bool isChecked;
};

/// Performs an instruction for lanes `begin` to `end`, without the latter.
using Action = void (*)(Warp &warp, const Instruction &instruction,
                        int32_t begin, int32_t end);

/// How a lane goes on.
enum class Flow : uint8_t {
  next,
  branch,  ///< At instruction `target`.
  leave,   ///< It has finished.
  barrier, ///< It waits for all threads of the block.
  together ///< It waits for all lanes of the warp, which then act as one.
};

/// What the name of an instruction means.
struct Opcode {
  Flow flow = Flow::next;
  /// The number of operands; those in braces count one by one.
  uint8_t numOperands = 0;
  /// The bytes that it accesses at once in shared memory, or 0.
  uint8_t sharedBytes = 0;
  Action action = nullptr;
};

struct Instruction {
  static constexpr size_t maxOperands = 14;

  Flow flow = Flow::next;
  bool isGuardNegated = false;
  uint8_t numOperands = 0;
  /// The predicate register without which it does nothing; -1: none.
  int32_t guard = -1;
  /// Where the instruction that a branch leads to is.
  int32_t target = 0;
  /// The line in the text.
  int32_t line = 0;
  Action action = nullptr;
  /// What is added to each of at most two addresses.
  std::array<int32_t, 2> offsets = {};
  /// The first lane's place in Warp::registers.
  std::array<uint32_t, maxOperands> operands = {};
};

/// A value that is in a register before a kernel begins.
struct Preloaded {
  enum class Kind : uint8_t {
    number,
    thread,    ///< %tid.x
    block,     ///< %ctaid, of dimension `number`
    blockSize, ///< %ntid, of dimension `number`
    gridSize,  ///< %nctaid, of dimension `number`
    parameter, ///< The address of parameter `number`
    shared,    ///< The address of shared variable `number`
    local,     ///< The address of byte `number` of the thread's own memory
  };
  Kind kind = Kind::number;
  uint64_t number = 0;
  uint32_t place = 0; ///< In Warp::registers, of the first lane.
};

struct Variable {
  std::string name;
  int64_t bytes = 0; ///< -1: as many as the launch says.
  int64_t alignment = 1;
};

/// Memory that a kernel may use.
struct BufferRange {
  std::string name;
  const void *begin = nullptr;
  int64_t bytes = 0, elementBytes = 1;
  bool isWritable = true;
};

struct PtxKernel {
  std::string name;
  int32_t numParams = 0;
  /// All of its threads, as .maxntid says; 0: it does not say.
  int64_t maxThreads = 0;
  std::vector<Variable> shared;
  /// Of shared memory, without what the launch says.
  int64_t staticSharedBytes() const;
  /// The smallest access of shared memory, in bytes.
  int64_t sharedElementBytes = 16;
  /// Of each thread.
  int64_t localBytes = 0;
  std::vector<BufferRange> constants;
  std::vector<Instruction> code;
  std::vector<Preloaded> preloaded;
  uint32_t numRegisters = 0;
};

/// What a module has beside its kernels.
struct PtxSource {
  std::string text;
  /// Where kernels, and functions that they call, begin.
  std::map<std::string, size_t, std::less<>> kernels, functions;
  std::vector<Variable> shared;
  /// Tables of constants.
  std::map<std::string, std::vector<uint64_t>, std::less<>> constants;
};

/// Reads a kernel. What it calls becomes a part of it. Returns what is wrong,
/// with the line, or nothing.
std::string parseKernel(const PtxSource &source, PtxKernel &kernel);

/// The kernels of a text. Each is read when it is asked for first.
class PtxModule {
public:
  explicit PtxModule(std::string text);

  std::vector<std::string> names() const;
  bool has(const std::string &name) const {
    return source.kernels.contains(name);
  }
  /// Null, with a message that has the line, where there is none of this name
  /// or it has an instruction that is not known here. Lives as long as the
  /// module.
  const PtxKernel *get(const std::string &name, std::string &message);

private:
  PtxSource source;
  std::map<std::string, std::unique_ptr<PtxKernel>> kernels;
};

/// Instructions by their names.
using Opcodes = std::map<std::string, Opcode, std::less<>>;

void addFloats(Opcodes &opcodes);
void addIntegers(Opcodes &opcodes);
void addConversions(Opcodes &opcodes);
void addMemory(Opcodes &opcodes);
void addWarp(Opcodes &opcodes);

/// Null where there is none. Of `mov`, the name has the number of operands of a
/// group in braces: `mov.b32 {a, b}, c` is "mov.b32{2}".
const Opcode *findOpcode(std::string_view name);
/// Whether an instruction reads the carry flag, or writes it. That is a
/// register, and its last operand.
bool hasCarry(std::string_view name);

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

template <typename T> T fromBits(uint64_t bits) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  if constexpr (std::is_same_v<T, bool>)
    return bits & 1;
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T> uint64_t toBits(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T>
T getRegister(const Warp &warp, uint32_t place, int32_t lane) {
  return fromBits<T>(warp.registers[place + uint32_t(lane)]);
}

template <typename T>
void setRegister(const Warp &warp, uint32_t place, int32_t lane, T value) {
  warp.registers[place + uint32_t(lane)] = toBits(value);
}

/// The address in an operand, which is the `which`-th address of the
/// instruction.
inline char *getAddress(const Warp &warp, const Instruction &instruction,
                        size_t operand, size_t which, int32_t lane) {
  auto base = getRegister<uint64_t>(warp, instruction.operands[operand], lane);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): registers hold numbers.
  return reinterpret_cast<char *>(
      base + uint64_t(int64_t(instruction.offsets[which])));
}

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_PTX_H
