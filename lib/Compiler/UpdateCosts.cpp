//===- UpdateCosts.cpp - estimated times of updates -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UpdateCosts.h"

#include "veeline/Analysis/CostModel.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;
using namespace veeline::pipe;

UpdateCosts::UpdateCosts(PipelineOp pipeline, const MemoryPlan &plan)
    : pipeline(pipeline), plan(plan) {
  // An earlier pass has reported a bad table.
  if (auto read = getMachineTable(pipeline))
    table = std::move(*read);
  else
    consumeError(read.takeError());
  auto measured = pipeline->getAttrOfType<DenseF64ArrayAttr>(updatesAttrName);
  if (measured && measured.size() == 2 && measured[0] > 0)
    nanosecondsPerByte = measured[1] / measured[0];
}

/// The time to move bytes that are not in a cache. A line is read before it is
/// written.
double UpdateCosts::timeOf(const UpdateTraffic &traffic) const {
  auto bytes = static_cast<double>(traffic.read + traffic.written);
  if (nanosecondsPerByte)
    return *nanosecondsPerByte * bytes;
  if (table)
    return (bytes + traffic.written) / table->getRate("elementwise", bytes);
  return bytes / Machine().bytesPerNs;
}

/// The time of the Newton-Schulz iteration in runtime/src/host/NewtonSchulz.h.
/// In each step it computes the products x x', its square, and that times x.
double UpdateCosts::timeOfProducts(ShapedType matrix) const {
  double small = std::min(matrix.getDimSize(0), matrix.getDimSize(1));
  double large = std::max(matrix.getDimSize(0), matrix.getDimSize(1));
  double flops = 2 * small * small * (2 * large + small);
  bool isDouble = matrix.getElementType().isF64();
  return newtonSchulzSteps * flops /
         (table ? table->getRate(isDouble ? "product f64" : "product f32",
                                 flops / 3)
                : Machine().contractionFlopsPerNs);
}

double UpdateCosts::estimate(UpdateOp update) const {
  const MemoryPlan::Param *entry =
      llvm::find_if(plan.params, [&](const MemoryPlan::Param &param) {
        return param.param == static_cast<int64_t>(update.getParam());
      });
  // An entry can be missing only if the plan was edited. Other code reports
  // that.
  if (entry == plan.params.end())
    return 0;
  auto type = cast<ShapedType>(update.getResult().getType());
  auto bytes = static_cast<int64_t>(getByteSize(type));
  UpdateKind kind;
  kind.numGradients = static_cast<int64_t>(update.getGradients().size());
  kind.keepsState = entry->kept >= 0;
  kind.keepsVersion = !entry->versions.empty();
  auto program = cast<ProgramOp>(update->getParentOp());
  kind.shards = PipelineOp(pipeline).getShards(program.getStage());
  // Each rank owns as much as another.
  int64_t owners = entry->owner < 0 ? 1 : kind.shards;
  double time = timeOf(updateTraffic(bytes, entry->stateBytes / owners, kind));
  // Measured times include the products.
  bool hasProducts =
      plan.updateWorkspace >= 0 && type.getRank() == 2 &&
      !(plan.device && plan.device->optimizer == Optimizer::adafactor);
  if (!nanosecondsPerByte && hasProducts)
    time += timeOfProducts(type) / static_cast<double>(owners);
  return time;
}

double UpdateCosts::estimate(SquaredNormOp norm) const {
  Type type = norm.getGradients().front().getType();
  auto gradients = static_cast<int64_t>(norm.getGradients().size());
  return timeOf({gradients * static_cast<int64_t>(getByteSize(type)), 0});
}
