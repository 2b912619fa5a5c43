//===- AdafactorUpdate.cpp - Adafactor's update on a GPU ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClipKernels.h"
#include "Memory/AdafactorPlaces.h"
#include "StepWriter.h"
#include "UpdateKernels.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// `settings` are the first arguments of updates: the settings and, if
/// gradients are clipped, the outcome of clipping.
void StepWriter::lowerAdafactorOnDevice(UpdateOp update,
                                        const MemoryPlan::Param &entry,
                                        const UpdateShape &ofUpdate,
                                        ArrayRef<Value> settings) {
  auto type = cast<ShapedType>(update.getResult().getType());
  AdafactorPlaces places(type, plan.updateWorkspace);
  AdafactorShape shape = {ofUpdate, places.rows, places.columns,
                          places.isMatrix};
  SmallVector<Value> gradients;
  for (Value gradient : update.getGradients())
    gradients.push_back(getAddress(gradient));
  Value state = atArena(entry.state), value = atArena(entry.value);
  Value ofRows = atArena(places.ofRows), parts = atArena(places.parts);
  Value total = atArena(places.total), ofValue = atArena(places.ofValue);
  Value ofDirection = atArena(places.ofDirection), rate = atArena(places.rate);
  auto call = [&](func::FuncOp kernel, bool takesGradients,
                  ArrayRef<Value> others) {
    SmallVector<Value> arguments(settings);
    if (takesGradients)
      llvm::append_range(arguments, gradients);
    llvm::append_range(arguments, others);
    callFunction(builder, kernel, /*rank=*/{}, arguments);
  };
  auto addUp = [&](int64_t count, Value from, Value sum) {
    callFunction(builder, getAddPartsKernel(moduleSymbols, count), /*rank=*/{},
                 {from, sum});
  };
  if (shape.isFactored) {
    Value ofColumns = atArena(places.ofColumns);
    for (bool isOfRows : {true, false}) {
      Value sums = isOfRows ? ofRows : ofColumns;
      call(getAdafactorSumsKernel(moduleSymbols, shape, isOfRows),
           /*takesGradients=*/true, sums);
      call(getAdafactorMeansKernel(moduleSymbols, shape, isOfRows),
           /*takesGradients=*/false, {sums, state});
    }
    call(getAdafactorTotalKernel(moduleSymbols, shape),
         /*takesGradients=*/false, {state, total});
  } else {
    call(getAdafactorMomentsKernel(moduleSymbols, shape),
         /*takesGradients=*/true, state);
  }
  callFunction(builder, getSquaresKernel(moduleSymbols, shape), /*rank=*/{},
               {value, parts});
  addUp(normParts(shape.numElements), parts, ofValue);
  call(getAdafactorLengthKernel(moduleSymbols, shape), /*takesGradients=*/true,
       {state, total, ofRows});
  addUp(shape.rows, ofRows, ofDirection);
  call(getAdafactorRateKernel(moduleSymbols, shape), /*takesGradients=*/false,
       {ofValue, ofDirection, rate});
  call(getAdafactorStepKernel(moduleSymbols, shape), /*takesGradients=*/true,
       {state, total, rate, value});
}
