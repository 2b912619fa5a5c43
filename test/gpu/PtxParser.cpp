//===- PtxParser.cpp - PTX to instructions --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

#include <algorithm>

using namespace veeline::gpu;

static Opcodes makeOpcodes() {
  Opcodes opcodes;
  addFloats(opcodes);
  addIntegers(opcodes);
  addConversions(opcodes);
  addMemory(opcodes);
  addWarp(opcodes);
  auto add = [&](const char *name, Flow flow, uint8_t numOperands) {
    Opcode opcode;
    opcode.flow = flow;
    opcode.numOperands = numOperands;
    opcodes[name] = opcode;
  };
  add("bra", Flow::branch, 0);
  add("bra.uni", Flow::branch, 0);
  add("ret", Flow::leave, 0);
  add("exit", Flow::leave, 0);
  add("bar.sync", Flow::barrier, 1);
  return opcodes;
}

const Opcode *veeline::gpu::findOpcode(std::string_view name) {
  static const Opcodes opcodes = makeOpcodes();
  auto found = opcodes.find(name);
  return found == opcodes.end() ? nullptr : &found->second;
}

bool veeline::gpu::hasCarry(std::string_view name) {
  return name.find(".cc") != std::string_view::npos ||
         name.starts_with("addc") || name.starts_with("subc") ||
         name.starts_with("madc");
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {

/// Reads a kernel, or a function at a place where a kernel calls it.
class BodyParser {
public:
  BodyParser(const PtxSource &source, size_t place, PtxKernel &kernel,
             int32_t depth)
      : source(source), text(std::string_view(source.text).substr(place)),
        line(static_cast<int32_t>(std::count(
            source.text.begin(),
            source.text.begin() + static_cast<int64_t>(place), '\n'))),
        kernel(kernel), depth(depth) {}

  /// Both return nothing, or what is wrong. A function's results and arguments
  /// are in memory of the thread, of which the caller gives addresses.
  std::string parseKernel();
  std::string parseFunction(const std::vector<uint32_t> &results,
                            const std::vector<uint32_t> &arguments);

private:
  bool fail(const std::string &what) {
    if (message.empty())
      message = "line " + std::to_string(line) + ": " + what;
    return false;
  }
  std::string_view nextLine() {
    ++line;
    return takeLine(text);
  }
  std::string parseBody();
  bool parseStatement(std::string_view statement);
  bool parseDirective(std::string_view statement);
  bool parseCall(std::string_view operands);
  std::optional<std::vector<uint32_t>>
  findAll(const std::vector<std::string_view> &names);
  uint32_t addValue(std::string_view name, Preloaded value);
  void addLocal(const Variable &variable);
  bool parseScope(std::string_view statements);
  void parseRegisters(std::string_view declaration);
  bool parseInstruction(std::string_view statement);
  bool parseOperand(std::string_view operand, Instruction &instruction);
  bool addOperand(uint32_t place, Instruction &instruction);
  bool parseAddress(std::string_view operand, Instruction &instruction);
  std::optional<uint32_t> findValue(std::string_view name);
  std::optional<Preloaded> describeValue(std::string_view name);
  std::optional<uint64_t> findShared(std::string_view name);
  uint32_t addRegisters(uint32_t count) {
    uint32_t first = kernel.numRegisters;
    kernel.numRegisters += count;
    return first * warpSize;
  }
  bool resolveBranches();

  const PtxSource &source;
  std::string_view text;
  int32_t line;
  PtxKernel &kernel;
  int32_t depth;
  std::string message;
  std::map<std::string, uint32_t, std::less<>> registers, values;
  std::map<std::string, int32_t, std::less<>> labels;
  std::vector<std::pair<size_t, std::string>> branches;
  /// Where a function returns.
  std::vector<size_t> returns;
  size_t numAddresses = 0;
};

} // namespace

/// Reads the parameters, and what is said of the launch.
std::string BodyParser::parseKernel() {
  for (std::string_view part = nextLine(); part != "{" && !text.empty();
       part = nextLine()) {
    kernel.numParams += part.starts_with(".param");
    if (!part.starts_with(".maxntid"))
      continue;
    part.remove_prefix(8);
    kernel.maxThreads = 1;
    for (std::string_view size : splitOperands(part))
      kernel.maxThreads *= parseWhole<int64_t>(size).value_or(1);
  }
  return parseBody();
}

std::string BodyParser::parseFunction(const std::vector<uint32_t> &results,
                                      const std::vector<uint32_t> &arguments) {
  size_t numParams = 0;
  for (std::string_view part = nextLine(); part != "{" && !text.empty();
       part = nextLine()) {
    if (part.starts_with(".func")) {
      part = trim(part.substr(5));
      for (std::string_view result : takeGroup(part))
        if (auto variable = parseVariable(result, ".param ");
            variable && !results.empty())
          values[variable->name] = results.front();
    } else if (auto variable = parseVariable(part, ".param ");
               variable && numParams < arguments.size()) {
      values[variable->name] = arguments[numParams++];
    }
  }
  return parseBody();
}

std::string BodyParser::parseBody() {
  std::string statement;
  while (message.empty() && !text.empty()) {
    std::string_view part = nextLine();
    if (part == "}" && statement.empty()) {
      for (size_t index : returns)
        kernel.code[index].target = static_cast<int32_t>(kernel.code.size());
      resolveBranches();
      return message;
    }
    if (statement.empty() && part.ends_with(":")) {
      labels.emplace(part.substr(0, part.size() - 1),
                     static_cast<int32_t>(kernel.code.size()));
      continue;
    }
    statement += std::string(statement.empty() ? "" : " ") + std::string(part);
    bool isScope = statement.starts_with("{");
    if (!part.ends_with(isScope ? "}" : ";"))
      continue;
    statement.pop_back();
    isScope ? parseScope(std::string_view(statement).substr(1))
            : parseStatement(statement);
    statement.clear();
  }
  fail("the body has no end");
  return message;
}

/// As in `{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }`.
bool BodyParser::parseScope(std::string_view statements) {
  while (!trim(statements).empty())
    if (!parseStatement(takeUntil(statements, ";")))
      return false;
  return true;
}

bool BodyParser::parseStatement(std::string_view statement) {
  return statement.starts_with(".") ? parseDirective(statement)
                                    : parseInstruction(statement);
}

bool BodyParser::parseDirective(std::string_view statement) {
  if (statement.starts_with(".reg ")) {
    parseRegisters(statement);
  } else if (auto variable = parseVariable(statement, ".shared ")) {
    kernel.shared.push_back(*variable);
  } else if (auto local = parseVariable(statement, ".local ")) {
    addLocal(*local);
  } else if (auto argument = parseVariable(statement, ".param ")) {
    addLocal(*argument);
  } else if (!statement.starts_with(".pragma")) {
    return fail("unknown directive '" + std::string(statement) + "'");
  }
  return true;
}

void BodyParser::addLocal(const Variable &variable) {
  constexpr int64_t alignment = 16;
  values.erase(variable.name);
  addValue(variable.name,
           {Preloaded::Kind::local, static_cast<uint64_t>(kernel.localBytes)});
  kernel.localBytes += (variable.bytes + alignment - 1) / alignment * alignment;
}

/// As in `.reg .b32 %r<12>`, which declares %r0 to %r11, or in `.reg .b32 a,
/// b`.
void BodyParser::parseRegisters(std::string_view declaration) {
  std::string_view rest = trim(declaration.substr(5));
  takeUntil(rest, whitespace);
  for (std::string_view group : splitOperands(rest)) {
    std::string name(takeUntil(group, "<"));
    if (auto count = parseWhole<uint32_t>(takeUntil(group, ">")))
      registers[name] = addRegisters(*count);
    else
      values[name] = addRegisters(1);
  }
}

std::optional<std::vector<uint32_t>>
BodyParser::findAll(const std::vector<std::string_view> &names) {
  std::vector<uint32_t> found;
  for (std::string_view name : names) {
    auto place = findValue(name);
    if (!place)
      return std::nullopt;
    found.push_back(*place);
  }
  return found;
}

/// As in `call.uni (result), function, (first, second)`. The function's body
/// comes here.
bool BodyParser::parseCall(std::string_view operands) {
  constexpr int32_t mostDepth = 8;
  auto results = findAll(takeGroup(operands));
  std::string_view name = takeUntil(operands, ",");
  operands = trim(operands);
  auto arguments = findAll(takeGroup(operands));
  auto function = source.functions.find(name);
  if (!results || !arguments || function == source.functions.end() ||
      depth == mostDepth)
    return fail("unknown call of '" + std::string(name) + "'");
  message = BodyParser(source, function->second, kernel, depth + 1)
                .parseFunction(*results, *arguments);
  return message.empty();
}

bool BodyParser::parseInstruction(std::string_view statement) {
  Instruction instruction;
  instruction.line = line;
  numAddresses = 0;
  if (statement.starts_with("@")) {
    statement.remove_prefix(1);
    std::string_view guard = takeUntil(statement, whitespace);
    instruction.isGuardNegated = guard.starts_with("!");
    auto place = findValue(guard.substr(instruction.isGuardNegated));
    if (!place)
      return fail("unknown register '" + std::string(guard) + "'");
    instruction.guard = static_cast<int32_t>(*place);
    statement = trim(statement);
  }
  std::string name(takeUntil(statement, whitespace));
  if (name.starts_with("call") && instruction.guard < 0)
    return parseCall(trim(statement));
  std::vector<std::string_view> operands = splitOperands(statement);
  if (name.starts_with("mov."))
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].starts_with("{"))
        name +=
            std::string(i ? ",{" : "{") +
            std::to_string(
                std::count(operands[i].begin(), operands[i].end(), ',') + 1) +
            "}";
  const Opcode *opcode = findOpcode(name);
  if (!opcode)
    return fail("'" + name + "' has no emulation: add one to test/gpu");
  instruction.flow = opcode->flow;
  instruction.action = opcode->action;
  if (opcode->sharedBytes)
    kernel.sharedElementBytes =
        std::min<int64_t>(kernel.sharedElementBytes, opcode->sharedBytes);
  if (opcode->flow == Flow::branch && operands.size() == 1) {
    branches.emplace_back(kernel.code.size(), operands.front());
    operands.clear();
  }
  if (opcode->flow == Flow::leave && depth) {
    instruction.flow = Flow::branch;
    returns.push_back(kernel.code.size());
  }
  for (std::string_view operand : operands)
    if (!parseOperand(operand, instruction))
      return false;
  if (hasCarry(name))
    addOperand(*findValue("_carry"), instruction);
  // Without a fourth operand, all bytes are copied.
  if (name.starts_with("cp.async.c") && instruction.numOperands == 3)
    addOperand(instruction.operands[2], instruction);
  if (instruction.numOperands != opcode->numOperands)
    return fail("'" + name + "' has " +
                std::to_string(instruction.numOperands) +
                " operands; expected " + std::to_string(opcode->numOperands));
  kernel.code.push_back(instruction);
  return true;
}

bool BodyParser::addOperand(uint32_t place, Instruction &instruction) {
  if (instruction.numOperands == Instruction::maxOperands)
    return fail("too many operands");
  instruction.operands[instruction.numOperands++] = place;
  return true;
}

/// As in [%rd1+-16].
bool BodyParser::parseAddress(std::string_view operand,
                              Instruction &instruction) {
  std::string_view rest = operand.substr(1, operand.size() - 2);
  std::string_view base = takeUntil(rest, "+");
  auto place = findValue(base);
  auto offset = rest.empty() ? std::optional<int32_t>(0)
                             : parseWhole<int32_t>(trim(rest));
  if (!place || !offset || numAddresses == instruction.offsets.size())
    return fail("unknown address '" + std::string(operand) + "'");
  instruction.offsets[numAddresses++] = *offset;
  return addOperand(*place, instruction);
}

bool BodyParser::parseOperand(std::string_view operand,
                              Instruction &instruction) {
  // As in %p1|%p2: two results.
  if (size_t bar = operand.find('|'); bar != std::string_view::npos)
    return parseOperand(operand.substr(0, bar), instruction) &&
           parseOperand(operand.substr(bar + 1), instruction);
  if (operand.starts_with("[") && operand.ends_with("]"))
    return parseAddress(operand, instruction);
  if (operand.starts_with("{") && operand.ends_with("}")) {
    for (std::string_view part :
         splitOperands(operand.substr(1, operand.size() - 2)))
      if (!parseOperand(part, instruction))
        return false;
    return true;
  }
  auto place = findValue(operand);
  return place ? addOperand(*place, instruction)
               : fail("unknown operand '" + std::string(operand) + "'");
}

/// The number of a shared variable, which is added if the module has it.
std::optional<uint64_t> BodyParser::findShared(std::string_view name) {
  auto hasName = [&](const Variable &variable) {
    return variable.name == name;
  };
  auto found =
      std::find_if(kernel.shared.begin(), kernel.shared.end(), hasName);
  if (found != kernel.shared.end())
    return static_cast<uint64_t>(found - kernel.shared.begin());
  auto other =
      std::find_if(source.shared.begin(), source.shared.end(), hasName);
  if (other == source.shared.end())
    return std::nullopt;
  kernel.shared.push_back(*other);
  return kernel.shared.size() - 1;
}

/// A value that is no register of the text.
std::optional<Preloaded> BodyParser::describeValue(std::string_view name) {
  using Kind = Preloaded::Kind;
  if (name == "%tid.x")
    return Preloaded{Kind::thread, 0, 0};
  static constexpr std::pair<std::string_view, Kind> sizes[] = {
      {"%ctaid.", Kind::block},
      {"%ntid.", Kind::blockSize},
      {"%nctaid.", Kind::gridSize}};
  for (auto [prefix, kind] : sizes)
    if (name.starts_with(prefix) && name.size() == prefix.size() + 1 &&
        name.back() >= 'x' && name.back() <= 'z')
      return Preloaded{kind, static_cast<uint64_t>(name.back() - 'x'), 0};
  std::string parameter = kernel.name + "_param_";
  if (name.starts_with(parameter)) {
    auto number = parseWhole<uint64_t>(name.substr(parameter.size()));
    if (!number || *number >= static_cast<uint64_t>(kernel.numParams))
      return std::nullopt;
    return Preloaded{Kind::parameter, *number, 0};
  }
  if (auto shared = findShared(name))
    return Preloaded{Kind::shared, *shared, 0};
  if (auto table = source.constants.find(name);
      table != source.constants.end()) {
    const std::vector<uint64_t> &words = table->second;
    kernel.constants.push_back({std::string(name), words.data(),
                                static_cast<int64_t>(8 * words.size()), 1,
                                false});
    return Preloaded{Kind::number, reinterpret_cast<uintptr_t>(words.data()),
                     0};
  }
  if (auto number = parseNumber(name))
    return Preloaded{Kind::number, *number, 0};
  return std::nullopt;
}

/// The place of a register, a number or what else has a name; `_` is a register
/// that nobody reads, and `_carry` the carry flag.
std::optional<uint32_t> BodyParser::findValue(std::string_view name) {
  size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  auto group = registers.find(name.substr(0, digits));
  if (group != registers.end())
    if (auto number = parseWhole<uint32_t>(name.substr(digits)))
      return group->second + *number * warpSize;
  if (auto known = values.find(name); known != values.end())
    return known->second;
  if (name == "_" || name == "_carry")
    return values[std::string(name)] = addRegisters(1);
  auto value = describeValue(name);
  return value ? std::optional(addValue(name, *value)) : std::nullopt;
}

uint32_t BodyParser::addValue(std::string_view name, Preloaded value) {
  value.place = addRegisters(1);
  values.emplace(name, value.place);
  kernel.preloaded.push_back(value);
  return value.place;
}

bool BodyParser::resolveBranches() {
  for (const auto &[index, label] : branches) {
    auto found = labels.find(label);
    if (found == labels.end())
      return fail("unknown label '" + label + "'");
    kernel.code[index].target = found->second;
  }
  return true;
}

std::string veeline::gpu::parseKernel(const PtxSource &source,
                                      PtxKernel &kernel) {
  size_t place = source.kernels.find(kernel.name)->second;
  return BodyParser(source, place, kernel, 0).parseKernel();
}
