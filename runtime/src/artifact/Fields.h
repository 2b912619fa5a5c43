//===- Fields.h - the members of an artifact's structs ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each struct of the metadata has a function `visitFields` that visits its
// members with their names. The writer and the reader of JSON both use it.
// `Self` is the struct, const or not.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_FIELDS_H
#define VEELINE_RUNTIME_ARTIFACT_FIELDS_H

#include "veeline/artifact.h"

#include <type_traits>

namespace veeline::artifact {

/// Marks a member that older files lack. It then keeps its default.
struct MayBeMissing {};

/// True where Self is Struct, const or not.
template <typename Self, typename Struct>
concept Is = std::is_same_v<std::remove_const_t<Self>, Struct>;

template <typename Visitor, Is<StoredValues> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("section", self.section);
  visit("type", self.type);
}

template <typename Visitor, Is<Initializer> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("kind", self.kind);
  visit("first", self.first);
  visit("second", self.second);
  visit("stored", self.stored);
}

template <typename Visitor, Is<Parameter> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("shape", self.shape);
  visit("type", self.type);
  visit("init", self.init);
  visit("frozen", self.frozen, MayBeMissing());
}

template <typename Visitor, Is<Batch> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("shape", self.shape);
  visit("type", self.type);
  visit("range", self.range);
  visit("length_dim", self.lengthDim);
  visit("tokens", self.tokens, MayBeMissing());
  visit("loss_weight", self.lossWeight, MayBeMissing());
}

template <typename Visitor, Is<Buffer> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("shape", self.shape);
  visit("type", self.type);
  visit("range", self.range);
  visit("loss_scale", self.lossScale, MayBeMissing());
}

template <typename Visitor, Is<Result> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("type", self.type);
  visit("is_tensor", self.isTensor, MayBeMissing());
  visit("shape", self.shape, MayBeMissing());
  visit("shapes", self.shapes, MayBeMissing());
}

template <typename Visitor, Is<Gemm> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("type", self.type);
  visit("batch", self.batch);
  visit("m", self.m);
  visit("n", self.n);
  visit("k", self.k);
  visit("a_strides", self.aStrides);
  visit("b_strides", self.bStrides);
  visit("c_strides", self.cStrides);
  visit("scratch_bytes", self.scratchBytes);
  visit("c_type", self.cType);
  visit("compute", self.compute);
  visit("alignment", self.alignment);
  visit("accumulate", self.accumulate);
  visit("epilogue", self.epilogue);
}

template <typename Visitor, Is<Convolution> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("kind", self.kind);
  visit("batch", self.batch);
  visit("groups", self.groups);
  visit("inputs", self.inputs);
  visit("outputs", self.outputs);
  visit("x_sizes", self.xSizes);
  visit("y_sizes", self.ySizes);
  visit("w_sizes", self.wSizes);
  visit("strides", self.strides);
  visit("dilations", self.dilations);
  visit("padding", self.padding);
  visit("x_strides", self.xStrides);
  visit("w_strides", self.wStrides);
  visit("y_strides", self.yStrides);
  visit("scratch_bytes", self.scratchBytes);
  visit("type", self.type);
  visit("compute", self.compute);
}

template <typename Visitor, Is<Attention> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("kind", self.kind);
  visit("type", self.type);
  visit("batch", self.batch);
  visit("heads", self.heads);
  visit("key_heads", self.keyHeads);
  visit("queries", self.queries);
  visit("keys", self.keys);
  visit("depth", self.depth);
  visit("value_depth", self.valueDepth);
  visit("scale", self.scale);
  visit("causal", self.causal);
  visit("deterministic", self.deterministic);
  visit("query_strides", self.queryStrides);
  visit("key_strides", self.keyStrides);
  visit("value_strides", self.valueStrides);
  visit("output_strides", self.outputStrides);
  visit("output_grad_strides", self.outputGradStrides);
  visit("query_grad_strides", self.queryGradStrides);
  visit("key_grad_strides", self.keyGradStrides);
  visit("value_grad_strides", self.valueGradStrides);
  visit("mask_type", self.maskType);
  visit("mask_strides", self.maskStrides);
  visit("scratch_bytes", self.scratchBytes);
}

template <typename Visitor, Is<Op> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("kind", self.kind);
  visit("chunk", self.chunk);
  visit("microbatch", self.microbatch);
  visit("channel", self.channel);
  visit("param", self.param);
  visit("reduction", self.reduction);
  visit("stream", self.stream);
  visit("late", self.late, MayBeMissing());
  visit("predicted_begin", self.predictedBegin);
  visit("predicted_end", self.predictedEnd);
}

template <typename Visitor, Is<Region> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("kind", self.kind);
  visit("offset", self.offset);
  visit("bytes", self.bytes);
  visit("first_op", self.firstOp);
  visit("last_op", self.lastOp);
}

template <typename Visitor, Is<HostCopy> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("offload", self.offload);
  visit("reload", self.reload);
  visit("released_before", self.releasedBefore);
  visit("microseconds", self.microseconds);
}

template <typename Visitor, Is<Accumulator> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("chunk", self.chunk);
  visit("offset", self.offset);
}

template <typename Visitor, Is<RankParam> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("param", self.param);
  visit("value_offset", self.valueOffset);
  visit("state_offset", self.stateOffset);
  visit("gradients", self.gradients);
  visit("is_home", self.isHome);
  visit("version_offsets", self.versionOffsets, MayBeMissing());
  visit("shards", self.shards, MayBeMissing());
  visit("scattered", self.scattered, MayBeMissing());
  visit("owner", self.owner, MayBeMissing());
}

template <typename Visitor, Is<ReducedPiece> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("type", self.type);
  visit("offset", self.offset);
  visit("num_elements", self.numElements);
  visit("buffer_offset", self.bufferOffset);
  visit("stride", self.stride);
  visit("sum_kernel", self.sumKernel);
  visit("gathers", self.gathers, MayBeMissing());
  visit("scatters", self.scatters, MayBeMissing());
  visit("owner", self.owner, MayBeMissing());
}

template <typename Visitor, Is<Reduction> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("chunk", self.chunk);
  visit("pieces", self.pieces);
  visit("stream", self.stream);
  visit("communicator", self.communicator);
}

template <typename Visitor, Is<Input> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("input", self.input);
  visit("offset", self.offset);
  visit("bytes", self.bytes);
}

template <typename Visitor, Is<Constant> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("section", self.section);
  visit("offset", self.offset);
  visit("bytes", self.bytes);
}

template <typename Visitor, Is<Output> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("result", self.result);
  visit("offset", self.offset);
}

template <typename Visitor, Is<Rank> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("step_symbol", self.stepSymbol);
  visit("first_step_symbol", self.firstStepSymbol, MayBeMissing());
  visit("late_symbol", self.lateSymbol, MayBeMissing());
  visit("object", self.object);
  visit("arena_bytes", self.arenaBytes);
  visit("host_bytes", self.hostBytes, MayBeMissing());
  visit("offloads", self.numOffloads, MayBeMissing());
  visit("host_copies", self.hostCopies, MayBeMissing());
  visit("host_regions", self.hostRegions, MayBeMissing());
  visit("peak_live_bytes", self.peakLiveBytes);
  visit("regions", self.regions);
  visit("params", self.params);
  visit("update_workspace", self.updateWorkspace, MayBeMissing());
  visit("gemms", self.gemms);
  visit("convolutions", self.convolutions);
  visit("reductions", self.reductions);
  visit("ops", self.ops);
  visit("outputs", self.outputs, MayBeMissing());
  visit("inputs", self.inputs);
  visit("inputs_before", self.inputsBefore, MayBeMissing());
  visit("constants", self.constants);
  visit("attentions", self.attentions);
  visit("compute_streams", self.computeStreams);
  visit("events", self.events);
  visit("library_offset", self.libraryOffset);
  visit("library_bytes", self.libraryBytes);
  visit("settings_offset", self.settingsOffset);
  visit("settings_count", self.numSettings, MayBeMissing());
  visit("clip_offset", self.clipOffset, MayBeMissing());
  visit("settings_before_offset", self.settingsBeforeOffset, MayBeMissing());
  visit("norms_offset", self.normsOffset);
  visit("norm_parts", self.normParts);
  visit("results_offset", self.resultsOffset, MayBeMissing());
  visit("reads_back", self.readsBack);
}

template <typename Visitor, Is<Channel> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("kind", self.kind);
  visit("edge", self.edge);
  visit("from_rank", self.fromRank);
  visit("to_rank", self.toRank);
  visit("message_bytes", self.messageBytes);
  visit("messages_per_step", self.messagesPerStep);
  visit("late_messages", self.lateMessages, MayBeMissing());
  visit("type", self.type);
  visit("shape", self.shape);
  visit("length_shapes", self.lengthShapes);
  visit("microbatches", self.microbatches);
  visit("parts", self.parts);
  visit("stream", self.stream);
  visit("communicator", self.communicator);
  visit("receive_stream", self.receiveStream);
}

template <typename Visitor, Is<Chunk> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("stage", self.stage);
  visit("forward_cost", self.forwardCost);
  visit("backward_input_cost", self.backwardInputCost);
  visit("backward_weight_cost", self.backwardWeightCost);
  visit("backward_shared_cost", self.backwardSharedCost);
  visit("forward_in_input", self.forwardInInput);
  visit("forward_in_weight", self.forwardInWeight);
  visit("forward_in_fused", self.forwardInFused);
  visit("input_in_weight", self.inputInWeight);
  visit("forward_scale", self.forwardScale);
  visit("backward_input_scale", self.backwardInputScale);
  visit("backward_weight_scale", self.backwardWeightScale);
  visit("pieces", self.pieces);
  visit("residual_bytes", self.residualBytes);
  visit("has_backward_input", self.hasBackwardInput);
  visit("forward_memory", self.forwardMemory);
  visit("backward_input_memory", self.backwardInputMemory);
  visit("backward_weight_memory", self.backwardWeightMemory);
  visit("has_recomputation", self.hasRecomputation, MayBeMissing());
  visit("recomputation_cost", self.recomputationCost, MayBeMissing());
  visit("recomputation_memory", self.recomputationMemory, MayBeMissing());
}

template <typename Visitor, Is<Edge> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("from", self.from);
  visit("to", self.to);
  visit("bytes", self.bytes);
  visit("forward_transfer", self.forwardTransfer);
  visit("backward_transfer", self.backwardTransfer);
  visit("carries_gradient", self.carriesGradient);
}

template <typename Visitor, Is<Program> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("schedule", self.schedule);
  visit("stages", self.stages);
  visit("chunks_per_stage", self.chunksPerStage);
  visit("replicas", self.replicas);
  visit("stage_replicas", self.stageReplicas);
  visit("clip_sync", self.clipSync, MayBeMissing());
  visit("asynchronous", self.asynchronous, MayBeMissing());
  visit("sums", self.sums, MayBeMissing());
  visit("forward_only", self.forwardOnly, MayBeMissing());
  visit("weighs", self.weighs, MayBeMissing());
  visit("microbatches", self.microbatches);
  visit("chunks", self.chunks);
  visit("edges", self.edges);
  visit("channels", self.channels);
  visit("ranks", self.ranks);
}

template <typename Visitor, Is<Kernel> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("grid", self.grid);
  visit("block", self.block);
  visit("shared_bytes", self.sharedBytes);
  visit("num_arguments", self.numArguments);
}

template <typename Visitor, Is<DeviceCode> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("chips", self.chips);
  visit("ptx", self.ptx);
  visit("toolkit", self.toolkit);
  visit("kernels", self.kernels);
}

template <typename Visitor, Is<Metadata> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("model", self.model);
  visit("fingerprint", self.fingerprint);
  visit("cpu", self.cpu);
  visit("cpu_features", self.cpuFeatures);
  visit("optimizer", self.optimizer);
  visit("error_feedback", self.errorFeedback, MayBeMissing());
  visit("microbatches", self.microbatches);
  visit("lengths", self.lengths);
  visit("options", self.options);
  visit("results", self.results);
  visit("loss_weight", self.lossWeight, MayBeMissing());
  visit("params", self.params);
  visit("batches", self.batches);
  visit("buffers", self.buffers);
  visit("programs", self.programs);
  visit("target", self.target);
  visit("device", self.device);
}

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_FIELDS_H
