//===- PipeBytecode.cpp - attributes of pipe in MLIR bytecode -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By default, bytecode contains attributes as text. Text has only the key of a
// resource, so its bytes would be lost. Therefore the dialect writes its
// attributes itself.
//
//===----------------------------------------------------------------------===//

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline::pipe;

namespace {
enum class Code : uint64_t { Init = 0, Param = 1 };

struct PipeBytecode : BytecodeDialectInterface {
  explicit PipeBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attr,
                               DialectBytecodeWriter &writer) const override;
  Attribute readAttribute(DialectBytecodeReader &reader) const override;

private:
  InitAttr readInit(DialectBytecodeReader &reader) const;
};
} // namespace

static void writeInit(InitAttr init, DialectBytecodeWriter &writer) {
  writer.writeVarInt(static_cast<uint64_t>(init.getKind()));
  writer.writeAPFloatWithKnownSemantics(init.getA());
  writer.writeAPFloatWithKnownSemantics(init.getB());
  writer.writeOptionalAttribute(init.getElements());
}

LogicalResult
PipeBytecode::writeAttribute(Attribute attr,
                             DialectBytecodeWriter &writer) const {
  if (auto init = dyn_cast<InitAttr>(attr)) {
    writer.writeVarInt(static_cast<uint64_t>(Code::Init));
    writeInit(init, writer);
    return success();
  }
  auto param = dyn_cast<ParamAttr>(attr);
  if (!param)
    return failure(); // The attribute is written as text.
  writer.writeVarInt(static_cast<uint64_t>(Code::Param));
  writer.writeAttribute(param.getName());
  writeInit(param.getInit(), writer);
  return success();
}

InitAttr PipeBytecode::readInit(DialectBytecodeReader &reader) const {
  uint64_t number = 0;
  if (failed(reader.readVarInt(number)))
    return {};
  std::optional<InitKind> kind =
      number <= std::numeric_limits<uint32_t>::max()
          ? symbolizeInitKind(static_cast<uint32_t>(number))
          : std::nullopt;
  if (!kind) {
    reader.emitError("unknown initialiser ") << number;
    return {};
  }
  auto a = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
  auto b = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
  ElementsAttr elements;
  if (failed(a) || failed(b) || failed(reader.readOptionalAttribute(elements)))
    return {};
  return InitAttr::getChecked([&] { return reader.emitError(); }, getContext(),
                              *kind, *a, *b, elements);
}

Attribute PipeBytecode::readAttribute(DialectBytecodeReader &reader) const {
  uint64_t code = 0;
  if (failed(reader.readVarInt(code)))
    return {};
  if (code == static_cast<uint64_t>(Code::Init))
    return readInit(reader);
  if (code != static_cast<uint64_t>(Code::Param)) {
    reader.emitError("unknown attribute of pipe: ") << code;
    return {};
  }
  StringAttr name;
  if (failed(reader.readAttribute(name)))
    return {};
  InitAttr init = readInit(reader);
  return init ? ParamAttr::get(getContext(), name, init) : Attribute();
}

void PipeDialect::registerBytecode() { addInterfaces<PipeBytecode>(); }
