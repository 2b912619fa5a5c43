//===- MuonUpdate.cpp - Muon's update of a matrix on a GPU ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This uses the formulas of runtime/src/host/{Update,NewtonSchulz}.cpp.
// Products are those of the GPU's library, which has its own order of sums.
//
//===----------------------------------------------------------------------===//

#include "ClipKernels.h"
#include "StepWriter.h"
#include "UpdateKernels.h"
#include "veeline/Base/Optimizers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// The kernel x = a x + y of memrefs of `count` elements of `type`. `name`
/// distinguishes such functions.
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

bool StepWriter::isMuon(UpdateOp update) const {
  return isOnDevice && plan.updateWorkspace >= 0 &&
         plan.device->optimizer == Optimizer::muon &&
         cast<ShapedType>(update.getResult().getType()).getRank() == 2;
}

/// Checks that the module's table has the products that an update needs.
LogicalResult StepWriter::verifyProducts(UpdateOp update) {
  auto matrix = cast<ShapedType>(update.getResult().getType());
  if (!isMuon(update) || matrix.getNumElements() == 0)
    return success();
  MuonProducts products(matrix);
  for (DictionaryAttr product :
       {products.gram, products.square, products.apply})
    if (!getProductNumber(module, product))
      return update.emitOpError("takes products that '")
             << gemmsAttrName
             << "' does not have; run --pipe-plan-memory again";
  return success();
}

/// Emits one step of the iteration, from x to the next x.
void StepWriter::lowerMuonStep(ShapedType matrix, const MuonPlaces &places) {
  MuonProducts products(matrix);
  auto multiply = [&](DictionaryAttr product, int64_t a, int64_t b, int64_t c) {
    callRuntime("veeline_gemm",
                {rank, constant(*getProductNumber(module, product), 32),
                 atArena(a), atArena(b), atArena(c),
                 LLVM::ZeroOp::create(builder, loc, ptr)},
                {});
  };
  Type type = matrix.getElementType();
  int64_t small = std::min(matrix.getDimSize(0), matrix.getDimSize(1));
  multiply(products.gram, places.x, places.x, places.gram);
  multiply(products.square, places.gram, places.gram, places.square);
  callFunction(
      builder,
      getSumKernel("gram", type, small * small, newtonSchulzB, newtonSchulzC),
      /*rank=*/{}, {atArena(places.square), atArena(places.gram)});
  if (products.isWide)
    multiply(products.apply, places.gram, places.x, places.applied);
  else
    multiply(products.apply, places.x, places.gram, places.applied);
  callFunction(
      builder,
      getSumKernel("x", type, matrix.getNumElements(), newtonSchulzA, 1),
      /*rank=*/{}, {atArena(places.applied), atArena(places.x)});
}

/// `settings` are the first arguments of updates: the settings and, if
/// gradients are clipped, the outcome of clipping.
void StepWriter::lowerMuonOnDevice(UpdateOp update,
                                   const MemoryPlan::Param &entry,
                                   const UpdateShape &shape,
                                   ArrayRef<Value> settings) {
  auto matrix = cast<ShapedType>(update.getResult().getType());
  MuonPlaces places(matrix, plan.updateWorkspace, entry.state);
  Value x = atArena(places.x), parts = atArena(places.parts);
  Value sum = atArena(places.sum);
  SmallVector<Value> arguments(settings);
  for (Value gradient : update.getGradients())
    arguments.push_back(getAddress(gradient));
  arguments.append({atArena(entry.state), x});
  callFunction(builder, getMuonMomentumKernel(moduleSymbols, shape),
               /*rank=*/{}, arguments);
  int64_t count = normParts(shape.numElements);
  callFunction(builder, getSquaresKernel(moduleSymbols, shape), /*rank=*/{},
               {x, parts});
  callFunction(builder, getAddPartsKernel(moduleSymbols, count), /*rank=*/{},
               {parts, sum});
  callFunction(builder, getNormalizeKernel(moduleSymbols, shape), /*rank=*/{},
               {sum, x});
  for (int i = 0; i < newtonSchulzSteps; ++i)
    lowerMuonStep(matrix, places);
  int64_t longest = std::max(matrix.getDimSize(0), matrix.getDimSize(1));
  arguments.assign(settings.begin(), settings.end());
  arguments.append({x, atArena(entry.value)});
  if (shape.errorFeedback) {
    int64_t last =
        entry.stateBytes / shape.getStateSlots() * shape.getOwnSlots();
    arguments.push_back(
        atArena(entry.state + (hasSeparateSlots(shape) ? last : 0)));
  }
  callFunction(builder, getMuonStepKernel(moduleSymbols, shape, longest),
               /*rank=*/{}, arguments);
}
