//===- MuonUpdate.cpp - Muon's update of a matrix on a GPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of runtime/src/host/{Update,NewtonSchulz}.cpp, with products of
// the GPU's library, which add up in an order of their own.
//
//===----------------------------------------------------------------------===//

#include "ClipKernels.h"
#include "StepWriter.h"
#include "UpdateKernels.h"

#include "Memory/MuonProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// x = a x + y of memrefs of `count` elements of `type`; `name` tells functions
/// of this kind apart.
func::FuncOp StepWriter::getSumKernel(StringRef name, Type type, int64_t count,
                                      double ofX, double ofY) {
  std::string full;
  llvm::raw_string_ostream(full)
      << "pipe_muon_" << name << '_' << count << '_' << type;
  auto memref = MemRefType::get(count, type);
  return getElementwise(
      full, {memref, memref},
      [&](OpBuilder &b, Location l, ValueRange values) -> Value {
        auto times = [&](double factor, Value value) -> Value {
          if (factor == 1)
            return value;
          Value number = arith::ConstantOp::create(
              b, l, cast<TypedAttr>(b.getFloatAttr(type, factor)));
          return arith::MulFOp::create(b, l, number, value);
        };
        return arith::AddFOp::create(b, l, times(ofX, values[1]),
                                     times(ofY, values[0]));
      });
}

/// One step from x to the next one.
void StepWriter::lowerMuonStep(ShapedType matrix) {
  MuonPlaces places(matrix);
  MuonProducts products(matrix);
  auto at = [&](int64_t offset) {
    return atArena(plan.updateWorkspace + offset);
  };
  auto multiply = [&](DictionaryAttr product, int64_t a, int64_t b, int64_t c) {
    callRuntime("veeline_gemm",
                {rank, constant(getProductNumber(module, product), 32), at(a),
                 at(b), at(c), LLVM::ZeroOp::create(builder, loc, ptr)},
                {});
  };
  Type type = matrix.getElementType();
  int64_t small = std::min(matrix.getDimSize(0), matrix.getDimSize(1));
  multiply(products.gram, places.x, places.x, places.gram);
  multiply(products.square, places.gram, places.gram, places.square);
  callFunction(builder, getSumKernel("gram", type, small * small, muonB, muonC),
               /*rank=*/{}, {at(places.square), at(places.gram)});
  if (products.isWide)
    multiply(products.apply, places.gram, places.x, places.applied);
  else
    multiply(products.apply, places.x, places.gram, places.applied);
  callFunction(builder,
               getSumKernel("x", type, matrix.getNumElements(), muonA, 1),
               /*rank=*/{}, {at(places.applied), at(places.x)});
}

/// `settings` are what updates read first.
void StepWriter::lowerMuonOnDevice(UpdateOp update,
                                   const MemoryPlan::Param &entry,
                                   const UpdateShape &shape,
                                   ArrayRef<Value> settings) {
  auto matrix = cast<ShapedType>(update.getResult().getType());
  MuonPlaces places(matrix);
  auto at = [&](int64_t offset) {
    return atArena(plan.updateWorkspace + offset);
  };
  SmallVector<Value> arguments(settings);
  for (Value gradient : update.getGradients())
    arguments.push_back(getAddress(gradient));
  arguments.append({atArena(entry.state), at(places.x)});
  callFunction(builder, getMuonMomentumKernel(moduleSymbols, shape),
               /*rank=*/{}, arguments);
  int64_t parts = getNormParts(shape.numElements);
  callFunction(builder, getSquaresKernel(moduleSymbols, shape), /*rank=*/{},
               {at(places.x), at(places.parts)});
  callFunction(builder, getAddPartsKernel(moduleSymbols, parts), /*rank=*/{},
               {at(places.parts), at(places.sum)});
  callFunction(builder, getNormalizeKernel(moduleSymbols, shape), /*rank=*/{},
               {at(places.sum), at(places.x)});
  for (int i = 0; i < muonSteps; ++i)
    lowerMuonStep(matrix);
  int64_t longest = std::max(matrix.getDimSize(0), matrix.getDimSize(1));
  arguments.assign(settings.begin(), settings.end());
  arguments.append({at(places.x), atArena(entry.value)});
  callFunction(builder, getMuonStepKernel(moduleSymbols, shape, longest),
               /*rank=*/{}, arguments);
}
