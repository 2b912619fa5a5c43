//===- ArtifactRulesTest.cpp - artifacts that break a rule ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"

#include <functional>
#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::artifact;

TEST(Artifact, ValidateFindsEachBrokenRule) {
  using Break = std::function<void(Artifact &)>;
  /// Its first operation is an update of the step before.
  auto makeLate = [](Rank &rank) -> Rank & {
    Op update;
    update.kind = OpKind::update;
    update.param = 0;
    update.late = true;
    rank.ops = {update};
    rank.firstStepSymbol = rank.lateSymbol = "late";
    return rank;
  };
  auto program = [](Artifact &a) -> Program & {
    return a.metadata.programs[0];
  };
  /// Its loss is weighted, by no program.
  auto weight = [](Artifact &a) {
    a.metadata.results.push_back({"tokens", DataType::f32});
    a.metadata.lossWeight = 1;
    Batch batch;
    batch.name = "loss_weight";
    batch.lossWeight = true;
    a.metadata.batches.push_back(batch);
  };
  auto convolution = [&](Artifact &a) -> Convolution & {
    return program(a).ranks[0].convolutions[0];
  };
  const std::pair<const char *, Break> cases[] = {
      {"parameter 'b': there are two",
       [](Artifact &a) { a.metadata.params[0].name = "b"; }},
      {"stored for other parameters than",
       [](Artifact &a) { a.metadata.params[1].init.stored.reset(); }},
      {"stored for other parameters than",
       [](Artifact &a) {
         a.metadata.params[1].init.kind = Initializer::Kind::zeros;
       }},
      {"no floats, or wider ones",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::i16;
       }},
      {"no floats, or wider ones",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::f64;
       }},
      {"section of its values does not exist",
       [](Artifact &a) { a.metadata.params[1].init.stored->section = 1; }},
      {"has not their size",
       [](Artifact &a) {
         a.metadata.params[1].init.stored->type = DataType::f32;
       }},
      {"extent of its shape is below 1",
       [](Artifact &a) {
         a.metadata.params[0].shape = {4, 0};
       }},
      {"too many elements",
       [](Artifact &a) {
         a.metadata.batches[0].shape = {1L << 40, 1L << 40};
       }},
      {"neither f32 nor f64",
       [](Artifact &a) { a.metadata.params[0].type = DataType::i32; }},
      {"only integers are tokens",
       [](Artifact &a) {
         a.metadata.batches[0].type = DataType::f32;
         a.metadata.batches[0].range.reset();
         a.metadata.batches[0].tokens = true;
       }},
      {"the result that weights the loss does not exist",
       [](Artifact &a) { a.metadata.lossWeight = 1; }},
      {"it weights the loss, and is no scalar of f32 or f64",
       [](Artifact &a) { a.metadata.batches[0].lossWeight = true; }},
      {"has not one weight for each microbatch",
       [](Artifact &a) {
         a.metadata.results.push_back({"tokens", DataType::f32});
         a.metadata.lossWeight = 1;
       }},
      {"not exactly one program weighs microbatches",
       [&](Artifact &a) { weight(a); }},
      {"it weighs microbatches, and is no program of one rank",
       [&](Artifact &a) {
         weight(a);
         program(a).weighs = true;
       }},
      {"a program trains, but the first result is no loss",
       [&](Artifact &a) {
         a.metadata.results[0].name = "score";
       }},
      {"it has not a shape for each length",
       [](Artifact &a) {
         for (auto &each : a.metadata.programs)
           each.forwardOnly = true;
         a.metadata.results.push_back({"y", DataType::i32, true, {2, 3}});
         a.metadata.lengths = {4};
       }},
      {"it is a tensor, but a program trains",
       [](Artifact &a) {
         a.metadata.results.push_back({"y", DataType::i32, true, {2, 3}});
       }},
      {"its elements are no data",
       [](Artifact &a) {
         a.metadata.results.push_back({"y", DataType::bf16, true, {2, 3}});
       }},
      {"it is no scalar of f32 or f64",
       [](Artifact &a) { a.metadata.results[0].shape = {1}; }},
      {"its outputs are not in ascending order",
       [&](Artifact &a) { program(a).ranks[0].outputs = {{1, 0}}; }},
      {"range of valid values is empty",
       [](Artifact &a) { a.metadata.batches[0].range = std::pair(3L, 3L); }},
      {"there is no loss", [](Artifact &a) { a.metadata.results.clear(); }},
      {"not ascending numbers", [](Artifact &a) { a.metadata.lengths = {2, 2}; }},
      {"dimension of its length does not exist",
       [](Artifact &a) { a.metadata.batches[0].lengthDim = 2; }},
      {"extent is not the bound",
       [](Artifact &a) {
         a.metadata.lengths = {2, 5};
         a.metadata.batches[0].lengthDim = 1;
       }},
      {"not one shape for each length",
       [&](Artifact &a) { varyLengths(a, {{4, 4}}); }},
      {"larger than the largest",
       [&](Artifact &a) { varyLengths(a, {{4, 5}, {4, 4}}); }},
      {"channel 0: an extent of its shape is below 1",
       [&](Artifact &a) { varyLengths(a, {{4, 0}, {4, 4}}); }},
      {"channel 0: it has microbatches, but messages of one length",
       [&](Artifact &a) { program(a).channels[0].microbatches = {0}; }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches.pop_back();
       }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches[0] = a.metadata.microbatches;
       }},
      {"channel 0: it has not one microbatch of the step for each message",
       [&](Artifact &a) {
         varyLengths(a, {{2, 4}, {4, 4}});
         program(a).channels[0].microbatches = {1, 1};
       }},
      {"not as many ranks", [&](Artifact &a) { program(a).stages = 3; }},
      {"does not connect two ranks",
       [&](Artifact &a) { program(a).channels[0].toRank = 2; }},
      {"channel 0: its shape has not the bytes of a message",
       [&](Artifact &a) { program(a).channels[0].shape = {4, 3}; }},
      {"channel 0: its messages have no parts, or more than 1024",
       [&](Artifact &a) { program(a).channels[0].parts = 0; }},
      {"channel 0: its messages have no parts, or more than 1024",
       [&](Artifact &a) { program(a).channels[0].parts = 1025; }},
      {"channel 0: a message has fewer elements than parts",
       [&](Artifact &a) { program(a).channels[0].parts = 17; }},
      {"channel 0: a message has fewer elements than parts",
       [&](Artifact &a) {
         varyLengths(a, {{2}, {4, 4}});
         program(a).channels[0].parts = 3;
       }},
      {"channel 0: its messages have too many parts in a step",
       [&](Artifact &a) {
         program(a).channels[0].messagesPerStep = 1 << 25;
         program(a).channels[0].parts = 16;
       }},
      {"channel 0: an extent of its shape is below 1",
       [&](Artifact &a) { program(a).channels[0].shape = {-4, -4}; }},
      {"rank 1: its object", [&](Artifact &a) { a.objects.pop_back(); }},
      {"outside of the arena",
       [&](Artifact &a) { program(a).ranks[0].regions[0].offset = 1000; }},
      {"no range of ops",
       [&](Artifact &a) { program(a).ranks[0].regions[1].lastOp = 1; }},
      {"no range of ops",
       [&](Artifact &a) {
         program(a).ranks[0].ops.push_back(program(a).ranks[0].ops[0]);
         program(a).ranks[0].regions[1].firstOp = 1;
       }},
      {"rank 0: a first step and what is late have names where ops are late",
       [&](Artifact &a) { program(a).ranks[0].lateSymbol = "late"; }},
      {"rank 0: a first step and what is late have names where ops are late",
       [&](Artifact &a) { makeLate(program(a).ranks[0]).firstStepSymbol = ""; }},
      {"rank 0: ops are late, but updates depend on all gradients of the step",
       [&](Artifact &a) {
         makeLate(program(a).ranks[0]);
         program(a).clipSync = ClipSync::barrier;
       }},
      {"rank 0: it does not validate the updates of the step before once",
       [&](Artifact &a) { program(a).clipSync = ClipSync::optimistic; }},
      {"rank 0: it does not validate the updates of the step before once",
       [&](Artifact &a) {
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::validate;
         op.param = -1;
       }},
      {"it scales the loss, and is no scalar of f32 or f64",
       [&](Artifact &a) {
         a.metadata.buffers.push_back({"s", {1}, DataType::f32, {}, true});
       }},
      {"several buffers scale the loss",
       [&](Artifact &a) {
         a.metadata.buffers.push_back({"s", {}, DataType::f32, {}, true});
         a.metadata.buffers.push_back({"t", {}, DataType::f64, {}, true});
       }},
      {"any where steps wait for updates",
       [&](Artifact &a) { program(a).channels[0].lateMessages = 1; }},
      {"it has not from 0 to all messages of the step before",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).channels[0].lateMessages = 1000;
       }},
      {"parameters have older values, but steps wait for updates",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].versionOffsets = {0};
       }},
      {"an older value lies outside of the arena",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).ranks[0].params[0].versionOffsets = {int64_t(1) << 40};
       }},
      {"it waits for no update, but has several chunks or ranks a stage, or",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         program(a).clipSync = ClipSync::barrier;
       }},
      {"each microbatch has updates, but the sequential program runs several",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::stashed;
         a.metadata.microbatches = 2;
         a.metadata.programs.push_back(program(a));
         a.metadata.programs[1].name = "sequential";
         a.metadata.programs[1].asynchronous = Asynchronous::none;
       }},
      {"op 0: it is late, but neither BW, message, update nor reduction",
       [&](Artifact &a) {
         program(a).asynchronous = Asynchronous::doubleBuffered;
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::forward;
         op.param = -1;
       }},
      {"rank 0: what its updates work in is not where it should be",
       [&](Artifact &a) { program(a).ranks[0].updateWorkspace = 1; }},
      {"op 0: it is late, but neither W, update nor reduction",
       [&](Artifact &a) {
         Op &op = makeLate(program(a).ranks[0]).ops[0];
         op.kind = OpKind::forward;
         op.param = -1;
       }},
      {"value lies outside",
       [&](Artifact &a) { program(a).ranks[0].params[0].valueOffset = 2; }},
      {"state is not where",
       [&](Artifact &a) { program(a).ranks[0].params[0].stateOffset = -1; }},
      {"a gradient lies outside",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].gradients[0].offset = 1020;
       }},
      {"parameter 'a': not exactly one stage",
       [&](Artifact &a) {
         program(a).ranks[0].params[0].isHome = false;
         program(a).ranks[0].params[0].stateOffset = -1;
       }},
      {"one stride per dimension",
       [&](Artifact &a) { program(a).ranks[0].gemms[0].batch.clear(); }},
      {"0 in the result",
       [&](Artifact &a) { program(a).ranks[0].gemms[0].cStrides[0] = 0; }},
      {"1 to 3 dimensions",
       [&](Artifact &a) { convolution(a).xSizes.clear(); }},
      {"one element per dimension",
       [&](Artifact &a) { convolution(a).padding.clear(); }},
      {"one positive stride per dimension",
       [&](Artifact &a) { convolution(a).wStrides[3] = 0; }},
      {"stride or dilation is below 1",
       [&](Artifact &a) { convolution(a).dilations[0] = 0; }},
      {"a window is too large",
       [&](Artifact &a) { convolution(a).strides[0] = int64_t(1) << 62; }},
      {"sizes do not fit", [&](Artifact &a) { convolution(a).xSizes[0] = 6; }},
      {"only messages name a channel",
       [&](Artifact &a) { program(a).ranks[0].ops[0].channel = -1; }},
      {"microbatch does not exist",
       [&](Artifact &a) { program(a).ranks[0].ops[0].microbatch = 2; }},
      {"number of replicas", [&](Artifact &a) { program(a).replicas = 0; }},
      {"number of microbatches",
       [&](Artifact &a) { program(a).microbatches = 9; }},
      {"a stage has not 1 to 65536 ranks",
       [&](Artifact &a) { widen(a).stageReplicas = {0, 3}; }},
      {"one number of ranks for each stage",
       [&](Artifact &a) { widen(a).stageReplicas = {3}; }},
      {"not as many ranks as its stages",
       [&](Artifact &a) { widen(a).stageReplicas = {1, 1}; }},
      {"not the parameters and gradients of its stage",
       [&](Artifact &a) { widen(a).ranks[1].params.clear(); }},
      {"only all-reduces name a reduction",
       [&](Artifact &a) { program(a).ranks[0].ops[0].reduction = 0; }},
      {"there is one replica only",
       [&](Artifact &a) { program(a).ranks[0].reductions = {{}}; }},
      {"a reduction is waited for before it is posted",
       [&](Artifact &a) {
         (void)addReduction(a);
         Op &wait = program(a).ranks[0].ops.emplace_back();
         wait.kind = OpKind::allGatherWait;
         wait.reduction = 0;
       }},
      {"its chunk does not exist",
       [&](Artifact &a) { addReduction(a).chunk = 9; }},
      {"a piece has no elements",
       [&](Artifact &a) { addReduction(a).pieces[0].numElements = 0; }},
      {"a piece lies outside",
       [&](Artifact &a) { addReduction(a).pieces[0].offset = 1020; }},
      {"the buffer of a piece",
       [&](Artifact &a) { addReduction(a).pieces[0].stride = 4; }},
      {"the buffer of a piece",
       [&](Artifact &a) { addReduction(a).pieces[0].bufferOffset = 1000; }},
      // The places of 131071 others take 2^64 + 516092 bytes.
      {"the buffer of a piece",
       [&](Artifact &a) {
         widen(a).ranks[0].arenaBytes = 1 << 20;
         addReduction(a).pieces[0].stride = 0x8000'4000'2004;
         program(a).replicas = 65536;
       }},
      {"its replicas have 2^31 ranks or channels, or more",
       [&](Artifact &a) {
         program(a).replicas = 65536;
         program(a).channels.resize(32768, program(a).channels[0]);
       }},
      {"live bytes",
       [&](Artifact &a) { program(a).ranks[0].peakLiveBytes = 1025; }}};
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeArtifact();
    ASSERT_TRUE(validate(artifact).ok());
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << status.message();
  }
}
