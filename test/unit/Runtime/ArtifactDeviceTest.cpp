//===- ArtifactDeviceTest.cpp - artifacts for hosts and GPUs --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"
#include "TempDir.h"

#include <functional>
#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::artifact;
using veeline::test::TempDir;

TEST(Artifact, RoundTripForAGpu) {
  TempDir directory;
  Artifact artifact = makeDeviceArtifact();
  std::string path = directory.path("model.vee");
  Status written = writeArtifact(path, artifact);
  ASSERT_TRUE(written.ok()) << written.message();
  Expected<Artifact> read = readArtifact(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->objects, artifact.objects);
  EXPECT_EQ(read->image, artifact.image);
  EXPECT_EQ(read->values, artifact.values);
  EXPECT_EQ(toJson(read->metadata), toJson(artifact.metadata));
  EXPECT_EQ(read->metadata.target, "cuda");
  ASSERT_TRUE(read->metadata.device);
  const Kernel &kernel = read->metadata.device->kernels[0];
  EXPECT_EQ(kernel.block, (std::array<int32_t, 3>{32, 8, 1}));
  EXPECT_EQ(kernel.sharedBytes, 49152);
  const Rank &rank = read->metadata.programs[0].ranks[1];
  EXPECT_EQ(rank.inputs[1].offset, 1280);
  EXPECT_EQ(rank.constants[0].section, 1);
  ASSERT_EQ(rank.attentions.size(), 1u);
  EXPECT_EQ(rank.attentions[0].kind, AttentionKind::backward);
  EXPECT_EQ(rank.attentions[0].scale, 0.1);
  EXPECT_FALSE(rank.attentions[0].deterministic);
  EXPECT_EQ(rank.attentions[0].maskStrides, (std::vector<int64_t>{0, 64, 8}));
  EXPECT_EQ(rank.normParts, 4);
  EXPECT_TRUE(rank.readsBack);
  EXPECT_EQ(rank.computeStreams, 2);
  EXPECT_EQ(rank.events, 3);
  EXPECT_EQ(rank.ops[0].stream, 1);
  EXPECT_EQ(rank.gemms[0].epilogue, Epilogue::biasGeluAux);
  EXPECT_EQ(read->metadata.programs[0].channels[0].communicator, 1);
  EXPECT_EQ(read->metadata.programs[0].channels[0].streamOf(true), 2);
  EXPECT_EQ(read->metadata.programs[0].channels[0].streamOf(false), 3);
}

TEST(Artifact, ValidateFindsEachBrokenRuleOfTheHost) {
  using Break = std::function<void(Artifact &)>;
  auto rank = [](Artifact &a) -> Rank & {
    return a.metadata.programs[0].ranks[1];
  };
  auto gemm = [](Artifact &a) -> Gemm & {
    return a.metadata.programs[0].ranks[1].gemms[0];
  };
  auto convolution = [](Artifact &a) -> Convolution & {
    return a.metadata.programs[0].ranks[1].convolutions[0];
  };
  std::string ofGpu =
      "rank 1: it has inputs, constants, attentions, compute streams, a "
      "library's workspace, settings, norms or results of a GPU";
  std::string ofHost = "rank 1, matrix product 0: its result, arithmetic, "
                       "alignment, accumulation or epilogue is not what the "
                       "host has";
  const std::pair<std::string, Break> cases[] = {
      {"the target is 'gpu', which is neither host nor cuda",
       [](Artifact &a) { a.metadata.target = "gpu"; }},
      {"the target is cuda, and it has no code",
       [](Artifact &a) { a.metadata.target = "cuda"; }},
      {"the target is host, and it has code for a GPU",
       [](Artifact &a) { a.metadata.device.emplace(); }},
      {"image: there is one, and the target is host",
       [](Artifact &a) { a.image = "code"; }},
      {"its type is neither f32 nor f64",
       [&](Artifact &a) { gemm(a).type = DataType::bf16; }},
      {"its type is no float",
       [&](Artifact &a) { gemm(a).type = DataType::i32; }},
      {ofHost, [&](Artifact &a) { gemm(a).cType = DataType::f64; }},
      {ofHost, [&](Artifact &a) { gemm(a).compute = ComputeType::tf32; }},
      {ofHost, [&](Artifact &a) { gemm(a).alignment = 16; }},
      {ofHost, [&](Artifact &a) { gemm(a).accumulate = true; }},
      {ofHost, [&](Artifact &a) { gemm(a).epilogue = Epilogue::bias; }},
      {"rank 1, convolution 0: its type or arithmetic is not f32, which the "
       "host has",
       [&](Artifact &a) { convolution(a).type = DataType::bf16; }},
      {"convolution 0: its type or arithmetic is not f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::tf32; }},
      {"channel 0: it has a stream or a communicator of a GPU",
       [](Artifact &a) { a.metadata.programs[0].channels[0].stream = 0; }},
      {"channel 0: it has a stream of a GPU for its receiver",
       [](Artifact &a) {
         a.metadata.programs[0].channels[0].receiveStream = 2;
       }},
      {"reduction 0: it has a stream or a communicator of a GPU",
       [](Artifact &a) { addReduction(a).communicator = 1; }},
      {"reduction 0: a piece is added up by the kernel of a GPU",
       [](Artifact &a) { addReduction(a).pieces[0].sumKernel = 0; }},
      {"NCCL adds up gradients of a host",
       [](Artifact &a) { a.metadata.programs[0].sums = veeline::Sums::nccl; }},
      {"region 'value': it is of a kind that only a GPU has",
       [&](Artifact &a) { rank(a).regions[0].kind = RegionKind::library; }},
      {ofGpu,
       [&](Artifact &a) {
         rank(a).inputs = {{0, 0, 64}};
       }},
      {ofGpu,
       [&](Artifact &a) {
         rank(a).constants = {{0, 0, 8}};
       }},
      {ofGpu, [&](Artifact &a) { rank(a).attentions.emplace_back(); }},
      {ofGpu, [&](Artifact &a) { rank(a).libraryOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).libraryBytes = 64; }},
      {ofGpu, [&](Artifact &a) { rank(a).computeStreams = 2; }},
      {ofGpu, [&](Artifact &a) { rank(a).events = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).ops[0].stream = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).settingsOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).normsOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).normParts = 1; }},
      {ofGpu, [&](Artifact &a) { rank(a).resultsOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).settingsBeforeOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).numSettings = 2; }},
      {ofGpu, [&](Artifact &a) { rank(a).clipOffset = 0; }},
      {ofGpu, [&](Artifact &a) { rank(a).inputsBefore = {{0, 0, 8}}; }},
      {ofGpu, [&](Artifact &a) { rank(a).readsBack = true; }}};
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeArtifact();
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << status.message();
  }
}

TEST(Artifact, ValidateFindsEachBrokenRuleOfAGpu) {
  using Break = std::function<void(Artifact &)>;
  auto device = [](Artifact &a) -> DeviceCode & { return *a.metadata.device; };
  auto kernel = [](Artifact &a) -> Kernel & {
    return a.metadata.device->kernels[0];
  };
  auto rank = [](Artifact &a) -> Rank & {
    return a.metadata.programs[0].ranks[1];
  };
  auto gemm = [](Artifact &a) -> Gemm & {
    return a.metadata.programs[0].ranks[1].gemms[0];
  };
  auto convolution = [](Artifact &a) -> Convolution & {
    return a.metadata.programs[0].ranks[1].convolutions[0];
  };
  auto piece = [](Artifact &a) -> ReducedPiece & {
    ReducedPiece &piece = addReduction(a).pieces[0];
    piece.sumKernel = 1;
    return piece;
  };
  std::string where = "program 'pipeline', rank 1, ";
  auto makeLate = [&](Artifact &a) -> Rank & {
    Rank &late = rank(a);
    late.firstStepSymbol = "first";
    late.lateSymbol = "late";
    late.settingsBeforeOffset = late.settingsOffset;
    Op &update = late.ops.emplace_back();
    update.kind = OpKind::update;
    update.param = late.params[0].param;
    update.late = true;
    return late;
  };
  const std::pair<std::string, Break> cases[] = {
      {"the target is host, and it has code for a GPU",
       [](Artifact &a) { a.metadata.target = "host"; }},
      {"image: it is empty", [](Artifact &a) { a.image.clear(); }},
      {"'sm80' is no chip such as sm_80",
       [&](Artifact &a) { device(a).chips[0] = "sm80"; }},
      {"'sm_1' is no chip", [&](Artifact &a) { device(a).chips[0] = "sm_1"; }},
      {"'sm_90x' is no chip",
       [&](Artifact &a) { device(a).chips[0] = "sm_90x"; }},
      {"is there twice",
       [&](Artifact &a) { device(a).chips[1] = device(a).chips[0]; }},
      {"its PTX is for 'compute_80'",
       [&](Artifact &a) { device(a).ptx = "compute_80"; }},
      {"neither native code nor PTX",
       [&](Artifact &a) {
         device(a).chips.clear();
         device(a).ptx.clear();
       }},
      {"native code of no toolkit",
       [&](Artifact &a) { device(a).toolkit.clear(); }},
      {"its toolkit is '13', which is no version",
       [&](Artifact &a) { device(a).toolkit = "13"; }},
      {"rank 1, convolution 0: its type is not f32, bf16 or f16",
       [&](Artifact &a) { convolution(a).type = DataType::f64; }},
      {"convolution 0: it computes neither in f32 nor in tf32 of f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::tf32; }},
      {"convolution 0: it computes neither in f32 nor in tf32 of f32",
       [&](Artifact &a) { convolution(a).compute = ComputeType::f64; }},
      {"kernel 0: its name is empty",
       [&](Artifact &a) { kernel(a).name.clear(); }},
      {"kernel 1 'sum': there are two of this name",
       [&](Artifact &a) { kernel(a).name = "sum"; }},
      {"kernel 0 'row_512x128_0': its grid",
       [&](Artifact &a) { kernel(a).grid[0] = 0; }},
      {"its grid", [&](Artifact &a) { kernel(a).grid[2] = 65536; }},
      {"its block", [&](Artifact &a) { kernel(a).block[1] = 0; }},
      {"its block", [&](Artifact &a) { kernel(a).block = {1024, 2, 1}; }},
      {"its block", [&](Artifact &a) { kernel(a).block = {1, 1, 65}; }},
      {"its shared memory", [&](Artifact &a) { kernel(a).sharedBytes = -1; }},
      {"its shared memory",
       [&](Artifact &a) { kernel(a).sharedBytes = 232449; }},
      {"number of arguments",
       [&](Artifact &a) { kernel(a).numArguments = 513; }},
      {"channel 0: its stream is not in [0, 64)",
       [](Artifact &a) { a.metadata.programs[0].channels[0].stream = 64; }},
      {"channel 0: its communicator is not in [0, 1024)",
       [](Artifact &a) {
         a.metadata.programs[0].channels[0].communicator = -1;
       }},
      {"channel 0: its receiver's stream is not in [-1, 64)",
       [](Artifact &a) { a.metadata.programs[0].channels[0].receiveStream = -2; }},
      {"channel 0: its sender and its receiver are on streams 2 and 2, and two "
       "have to be different ones beside the computation",
       [](Artifact &a) { a.metadata.programs[0].channels[0].receiveStream = 2; }},
      {"are on streams 2 and 0, and two",
       [](Artifact &a) { a.metadata.programs[0].channels[0].receiveStream = 0; }},
      {"reduction 0: its stream is not in [0, 64)",
       [&](Artifact &a) {
         piece(a);
         a.metadata.programs[0].ranks[0].reductions[0].stream = -1;
       }},
      {"kernel that adds up a piece does not exist",
       [&](Artifact &a) { piece(a).sumKernel = -1; }},
      {"kernel that adds up a piece does not exist",
       [&](Artifact &a) { piece(a).sumKernel = 2; }},
      {"kernel 'row_512x128_0' cannot add up a piece: that takes blocks of 256 "
       "threads and 5 arguments",
       [&](Artifact &a) { piece(a).sumKernel = 0; }},
      {where + "matrix product 0: its result is neither of its type",
       [&](Artifact &a) { gemm(a).cType = DataType::f16; }},
      {"its type is no float",
       [&](Artifact &a) { gemm(a).type = DataType::i8; }},
      {"it computes neither in f32",
       [&](Artifact &a) { gemm(a).compute = ComputeType::tf32; }},
      {"it computes neither in f32",
       [&](Artifact &a) {
         gemm(a).type = gemm(a).cType = DataType::f64;
         gemm(a).epilogue = Epilogue::none;
       }},
      {"its alignment is no power of two",
       [&](Artifact &a) { gemm(a).alignment = 24; }},
      {"its alignment is no power of two",
       [&](Artifact &a) { gemm(a).alignment = 512; }},
      {"its epilogue has a matrix beside c, and its alignment is less than 16",
       [&](Artifact &a) {
         gemm(a).epilogue = Epilogue::geluAux;
         gemm(a).alignment = 8;
       }},
      {"f64 has no epilogues",
       [&](Artifact &a) {
         gemm(a).type = gemm(a).cType = DataType::f64;
         gemm(a).compute = ComputeType::f64;
       }},
      {where + "input 0: its batch argument or buffer does not exist",
       [&](Artifact &a) { rank(a).inputs[0].input = 2; }},
      {where + "input 1: inputs are not in ascending order",
       [&](Artifact &a) { rank(a).inputs[1] = rank(a).inputs[0]; }},
      {where + "input 0: it has 32 bytes, expected 64",
       [&](Artifact &a) { rank(a).inputs[0].bytes = 32; }},
      {"rank 0, input 0: it has 64 bytes, expected 32",
       [](Artifact &a) { a.metadata.programs[0].microbatches = 1; }},
      {where + "input 1: it lies outside of the arena",
       [&](Artifact &a) { rank(a).inputs[1].offset = 8192; }},
      {where + "input 1: it lies outside of the arena, or at no multiple",
       [&](Artifact &a) { rank(a).inputs[1].offset = 64; }},
      {where + "constant 0: the section of its values does not exist",
       [&](Artifact &a) { rank(a).constants[0].section = 2; }},
      {where + "constant 0: the section of its values has not its size",
       [&](Artifact &a) { rank(a).constants[0].bytes = 4; }},
      {where + "constant 0: it lies outside of the arena",
       [&](Artifact &a) { rank(a).constants[0].offset = -256; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryOffset = 100; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryBytes = 0; }},
      {"the library's workspace",
       [&](Artifact &a) { rank(a).libraryBytes = 1 << 20; }},
      {"rank 1: it has fewer than 1 compute stream",
       [&](Artifact &a) { rank(a).computeStreams = 0; }},
      {"rank 1: it has fewer than 1 compute stream, more than 4096, or a number "
               "of events that is not from 0 to 1048576",
       [&](Artifact &a) { rank(a).events = -1; }},
      {"rank 1: an operation is on a compute stream that it does not have",
       [&](Artifact &a) { rank(a).ops[0].stream = 2; }},
      {"rank 1: an operation is on a compute stream that it does not have",
       [&](Artifact &a) { rank(a).computeStreams = 1; }},
      {"rank 1: the library's workspace is not the same for each compute "
               "stream, or no multiple of 256",
       [&](Artifact &a) { rank(a).computeStreams = 3; }},
      {"rank 1: the library's workspace is not the same for each compute "
               "stream, or no multiple of 256",
       [&](Artifact &a) { rank(a).computeStreams = 8; }},
      {"the settings lie outside",
       [&](Artifact &a) { rank(a).settingsOffset = 8191; }},
      {"it has 2 settings, expected 1",
       [&](Artifact &a) { rank(a).numSettings = 2; }},
      {"it has 1 settings, expected 2",
       [](Artifact &a) {
         a.metadata.programs[0].clipSync = ClipSync::barrier;
       }},
      {"what clips gradients lies outside of the arena",
       [&](Artifact &a) { rank(a).clipOffset = 0; }},
      {"what clips gradients lies outside of the arena",
       [&](Artifact &a) {
         a.metadata.programs[0].clipSync = ClipSync::barrier;
         for (Rank &each : a.metadata.programs[0].ranks) {
           each.numSettings = 2;
           each.clipOffset = 8191;
         }
       }},
      {"only on the host are updates done before the norm",
       [](Artifact &a) {
         a.metadata.programs[0].clipSync = ClipSync::optimistic;
         for (Rank &each : a.metadata.programs[0].ranks) {
           Op &op = each.ops.emplace_back();
           op.kind = OpKind::validate;
           op.late = true;
           each.firstStepSymbol = "first";
           each.lateSymbol = "late";
         }
       }},
      {"a negative number of parts",
       [&](Artifact &a) { rank(a).normParts = -1; }},
      {"the norms lie outside", [&](Artifact &a) { rank(a).normParts = 0; }},
      {"the norms lie outside",
       [&](Artifact &a) { rank(a).normParts = 1 << 20; }},
      {"the results lie outside",
       [&](Artifact &a) { rank(a).resultsOffset = 8191; }},
      {"the settings of the step before lie outside",
       [&](Artifact &a) { makeLate(a).settingsBeforeOffset = 8191; }},
      {"it updates parameters late, without settings of the step before",
       [&](Artifact &a) { makeLate(a).settingsBeforeOffset = -1; }},
      {"input of the step before 0: it has 1 bytes, expected 64",
       [&](Artifact &a) {
         rank(a).inputsBefore = {{0, 1024, 1}};
       }},
      {"it has inputs or settings of the step before, and nothing of that is "
       "late",
       [&](Artifact &a) { rank(a).inputsBefore = {rank(a).inputs[0]}; }},
      {"it has an input of the step before alone",
       [&](Artifact &a) {
         rank(a).inputsBefore = {rank(a).inputs[0]};
         rank(a).inputs.erase(rank(a).inputs.begin());
       }},
      {"ops other than gathers are late on a rank with several compute streams",
       [&](Artifact &a) { makeLate(a); }}};
  Artifact whole = makeDeviceArtifact();
  ASSERT_TRUE(validate(whole).ok()) << validate(whole).message();
  piece(whole);
  ASSERT_TRUE(validate(whole).ok()) << validate(whole).message();
  for (const auto &[expected, edit] : cases) {
    Artifact artifact = makeDeviceArtifact();
    edit(artifact);
    Status status = validate(artifact);
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos)
        << expected << "\n"
        << status.message();
  }
}
