//===- PtxTest.cpp - what PTX does on a CPU -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are those that the PTX ISA gives, not those of another
// emulation.
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"
#include "PtxValues.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace veeline::gpu;

namespace {

/// A kernel of one argument, the buffer %out, whose body has %lane and the
/// address %mine of the thread's `bytes`.
std::string makeKernel(const std::string &body, int bytes = 4,
                       const std::string &variables = "") {
  return "//\n.version 8.6\n.target sm_90\n.address_size 64\n\n"
         ".visible .entry k(\n\t.param .u64 .ptr .align 16 k_param_0\n)\n"
         ".maxntid 1024, 1, 1\n{\n"
         "\t.reg .pred \t%p<9>;\n\t.reg .b16 \t%rs<9>;\n"
         "\t.reg .b32 \t%r<19>;\n\t.reg .b64 \t%rd<9>;\n" +
         variables +
         "\tld.param.b64 \t%rd7, [k_param_0];\n"
         "\tcvta.to.global.u64 \t%rd6, %rd7;\n"
         "\tmov.u32 \t%r18, %tid.x;\n"
         "\tmul.wide.u32 \t%rd5, %r18, " +
         std::to_string(bytes) + ";\n\tadd.s64 \t%rd8, %rd6, %rd5;\n" + body +
         "\tret;\n}\n";
}

/// What a run leaves in the buffer, which begins with ones in all bits, or what
/// is wrong.
struct Outcome {
  std::vector<uint32_t> words;
  std::string error, garbage;
};

Outcome run(const std::string &text, int64_t blockSize,
            Order order = Order::warps, bool isChecked = true,
            bool isWritable = true, int64_t sharedBytes = 0) {
  Outcome outcome;
  PtxModule module(text);
  const PtxKernel *kernel = module.get("k", outcome.error);
  if (!kernel)
    return outcome;
  outcome.words.assign(2048, ~0u);
  void *buffer = outcome.words.data();
  const void *param = static_cast<const void *>(&buffer);
  RunOptions options;
  options.order = order;
  if (isChecked)
    options.ranges = {{"the buffer", buffer, 8192, 4, isWritable}};
  Launch launch;
  launch.blockSize = blockSize;
  launch.sharedBytes = sharedBytes;
  launch.params = &param;
  outcome.error = runThreads(*kernel, launch, options, &outcome.garbage);
  return outcome;
}

/// The result of one instruction with 32 bits in %r0.
uint32_t compute(const std::string &body) {
  Outcome outcome =
      run(makeKernel("\t" + body + "\n\tst.global.b32 \t[%rd8], %r0;\n"), 1);
  EXPECT_EQ(outcome.error, "") << body;
  return outcome.words.empty() ? 0 : outcome.words[0];
}

float computeFloat(const std::string &body) {
  return std::bit_cast<float>(compute(body));
}

uint64_t computeLong(const std::string &body) {
  Outcome outcome = run(
      makeKernel("\t" + body + "\n\tst.global.b64 \t[%rd8], %rd0;\n", 8), 1);
  EXPECT_EQ(outcome.error, "") << body;
  return outcome.words.empty()
             ? 0
             : outcome.words[0] | uint64_t(outcome.words[1]) << 32;
}

std::string describeError(const std::string &body) {
  PtxModule module(makeKernel(body));
  std::string message;
  EXPECT_EQ(module.get("k", message), nullptr);
  return message;
}

/// Registers that `action` leaves of `begin` to `end`: four, of which it
/// computes the first one from the others.
std::vector<uint64_t> perform(Action action, std::vector<uint64_t> registers,
                              int32_t begin, int32_t end) {
  Instruction instruction;
  for (uint32_t i = 0; i < 4; ++i)
    instruction.operands[i] = i * warpSize;
  Warp warp = {registers.data(), nullptr, false};
  action(warp, instruction, begin, end);
  return registers;
}

} // namespace

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

TEST(Ptx, Floats) {
  // One rounding: 1 + 2^-24 + 2^-48 is above the tie.
  EXPECT_EQ(computeFloat("fma.rn.f32 %r0, 0f3F800001, 0f3F7FFFFF, 0f00000000;"),
            std::fma(0x1.000002p0f, 0x1.fffffep-1f, 0.0f));
  EXPECT_EQ(computeFloat("sub.rn.f32 %r0, 0f3F800000, 0f40000000;"), -1);
  EXPECT_EQ(computeFloat("div.rn.f32 %r0, 0f3F800000, 0f40400000;"), 1 / 3.0f);
  EXPECT_EQ(computeFloat("rcp.rn.f32 %r0, 0f40800000;"), 0.25f);
  // Only NaN's twin instruction hands it on.
  EXPECT_EQ(computeFloat("max.f32 %r0, 0f7FC00000, 0f40000000;"), 2);
  EXPECT_TRUE(
      std::isnan(computeFloat("max.NaN.f32 %r0, 0f7FC00000, 0f40000000;")));
  EXPECT_EQ(compute("max.f32 %r0, 0f80000000, 0f00000000;"), 0u);
  EXPECT_EQ(compute("min.f32 %r0, 0f00000000, 0f80000000;"), 0x80000000u);
  // The sign of the first, the rest of the second.
  EXPECT_EQ(computeFloat("copysign.f32 %r0, 0fBF800000, 0f40000000;"), -2);
  // Denormals stay, but for what says ftz.
  EXPECT_EQ(compute("add.rn.f32 %r0, 0f00000001, 0f00000001;"), 2u);
  EXPECT_EQ(compute("ex2.approx.ftz.f32 %r0, 0fC3010000;"), 0u);
  EXPECT_EQ(computeFloat("ex2.approx.ftz.f32 %r0, 0f40400000;"), 8);
  EXPECT_EQ(computeLong("add.rn.f64 %rd0, 0d3FF0000000000000, "
                        "0d3FF0000000000000;"),
            std::bit_cast<uint64_t>(2.0));
}

TEST(Ptx, HalfFloats) {
  // 2048 + 1 is a tie of f16, to even.
  EXPECT_EQ(compute("add.rn.f16x2 %r0, 0x68003C00, 0x3C000000;"), 0x68003c00u);
  // In bf16, 256 + 1 is a tie; 256 * 1 + 1.0078125 is above it.
  EXPECT_EQ(compute("fma.rn.bf16x2 %r0, 0x43804380, 0x3F803F80, 0x3F813F80;"),
            0x43814380u);
  EXPECT_EQ(compute("cvt.rn.bf16x2.f32 %r0, 0f3F800000, 0f40000000;"),
            0x3f804000u);
  EXPECT_EQ(compute("cvt.rn.f16x2.f32 %r0, 0f3F800000, 0f40000000;"),
            0x3c004000u);
  EXPECT_EQ(compute("neg.bf16x2 %r0, 0x3F80BF80;"), 0xbf803f80u);
  // Narrow numbers with an f32: only the sum is rounded.
  EXPECT_EQ(computeFloat("{ .reg .b16 h; mov.b16 h, 0x4000; } "
                         "\n\tsub.rn.f32.bf16 %r0, h, 0f3F800001;"),
            2 - 0x1.000002p0f);
  EXPECT_EQ(computeFloat("{ .reg .b16 h; mov.b16 h, 0x4000; } "
                         "\n\tadd.rn.f32.f16 %r0, h, 0f3F800001;"),
            2 + 0x1.000002p0f);
  EXPECT_EQ(computeFloat("{ .reg .b16 h; mov.b16 h, 0x4040; } "
                         "\n\tfma.rn.f32.bf16 %r0, h, h, 0f3F800000;"),
            10);
  // Halves away from zero.
  EXPECT_EQ(compute("cvt.rna.tf32.f32 %r0, 0f3F801000;"), 0x3f802000u);
}

TEST(Ptx, Integers) {
  EXPECT_EQ(compute("shl.b32 %r0, 1, 32;"), 0u);
  EXPECT_EQ(compute("shr.s32 %r0, -8, 40;"), ~0u);
  EXPECT_EQ(compute("shr.u32 %r0, -8, 1;"), 0x7ffffffcu);
  EXPECT_EQ(compute("bfe.u32 %r0, 0xABCD, 4, 8;"), 0xbcu);
  EXPECT_EQ(compute("bfe.s32 %r0, 0xABCD, 4, 8;"), 0xffffffbcu);
  EXPECT_EQ(compute("bfe.u32 %r0, 0xABCD, 40, 8;"), 0u);
  EXPECT_EQ(compute("popc.b32 %r0, 0xF0F;"), 8u);
  EXPECT_EQ(compute("mul.hi.u32 %r0, -1, 2;"), 1u);
  EXPECT_EQ(compute("mul.hi.s32 %r0, -1, 2;"), ~0u);
  EXPECT_EQ(compute("mad.lo.s32 %r0, 3, 4, 5;"), 17u);
  EXPECT_EQ(computeLong("mul.wide.s32 %rd0, -1, 2;"), uint64_t(-2));
  EXPECT_EQ(computeLong("mul.wide.u32 %rd0, -1, 2;"), 0x1fffffffeu);
  EXPECT_EQ(computeLong("cvt.s64.s32 %rd0, -3;"), uint64_t(-3));
  EXPECT_EQ(computeLong("cvt.u64.u32 %rd0, -3;"), 0xfffffffdu);
  EXPECT_EQ(computeLong("{ .reg .b32 tmp; mov.b64 {tmp, %r1}, 0x500000007; } "
                        "\n\tmov.b64 %rd0, {%r1, %r1};"),
            0x500000005u);
  EXPECT_EQ(compute("setp.lt.s32 %p1, -1, 0;\n\tselp.b32 %r0, 7, 8, %p1;"), 7u);
  EXPECT_EQ(compute("setp.lt.u32 %p1, -1, 0;\n\tselp.b32 %r0, 7, 8, %p1;"), 8u);
  EXPECT_EQ(compute("setp.neu.f32 %p1, 0f7FC00000, 0f7FC00000;\n"
                    "\tselp.b32 %r0, 7, 8, %p1;"),
            7u);
  EXPECT_EQ(compute("setp.ne.f32 %p1, 0f7FC00000, 0f7FC00000;\n"
                    "\tselp.b32 %r0, 7, 8, %p1;"),
            8u);
}

TEST(Ptx, UnknownText) {
  EXPECT_EQ(describeError("\tfoo.b32 \t%r0, %r1;\n"),
            "line 20: 'foo.b32' has no emulation: add one to test/gpu");
  EXPECT_EQ(describeError("\tadd.s32 \t%r0, %r1;\n"),
            "line 20: 'add.s32' has 2 operands; expected 3");
  EXPECT_EQ(describeError("\tadd.s32 \t%r0, %r1, %x1;\n"),
            "line 20: unknown operand '%x1'");
  EXPECT_EQ(describeError("\tld.global.b32 \t%r0, [nowhere];\n"),
            "line 20: unknown address '[nowhere]'");
  EXPECT_EQ(describeError("\tbra \t$L__BB0_9;\n"),
            "line 22: unknown label '$L__BB0_9'");
  EXPECT_EQ(describeError("\t.tex x;\n"),
            "line 20: unknown directive '.tex x'");
  PtxModule module("//\n");
  std::string message;
  EXPECT_EQ(module.get("k", message), nullptr);
  EXPECT_EQ(message, "the PTX has no kernel k");
}

TEST(Ptx, Carries) {
  EXPECT_EQ(compute("add.cc.u32 %r1, -1, 1;\n\taddc.u32 %r0, 5, 6;"), 12u);
  EXPECT_EQ(compute("sub.cc.u32 %r1, 0, 1;\n\tsubc.u32 %r0, 5, 3;"), 1u);
  EXPECT_EQ(compute("mad.lo.cc.u32 %r1, -1, 1, 1;\n"
                    "\tmadc.hi.u32 %r0, -1, -1, 0;"),
            0xffffffffu);
  EXPECT_EQ(compute("shf.l.wrap.b32 %r0, 0xF0000000, 1, 36;"), 0x1fu);
  EXPECT_EQ(compute("shf.r.clamp.b32 %r0, 1, 7, 99;"), 7u);
}

/// A function with a table of constants, a stack and two results.
static const char *const function = R"(
.func  (.param .align 16 .b8 func_retval0[16]) twice
(
	.param .b64 twice_param_0
)
;
.global .align 8 .b8 table[16] = {0, 0, 0, 0, 0, 0, 0, 0, 7};
.func  (.param .align 16 .b8 func_retval0[16]) twice(
	.param .b64 twice_param_0
)
{
	.local .align 8 .b8 	__local_depot1[40];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .pred 	%p<2>;
	.reg .b64 	%rd<9>;

	mov.b64 	%SPL, __local_depot1;
	cvta.local.u64 	%SP, %SPL;
	ld.param.b64 	%rd1, [twice_param_0];
	st.b64 	[%SP+32], %rd1;
	setp.gt.u64 	%p1, %rd1, 4;
	@%p1 bra 	$L__BB1_2;
	st.param.b64 	[func_retval0], 0;
	st.param.b64 	[func_retval0+8], 1;
	ret;
$L__BB1_2:
	ld.local.b64 	%rd2, [%SPL+32];
	mov.b64 	%rd3, table;
	ld.global.b64 	%rd4, [%rd3+8];
	add.s64 	%rd5, %rd2, %rd4;
	st.param.b64 	[func_retval0], %rd5;
	st.param.b64 	[func_retval0+8], 2;
	ret;
}
)";

TEST(Ptx, Calls) {
  std::string call = R"(
	cvt.u64.u32 	%rd0, %r18;
	{ // callseq 0, 0
	.param .b64 	param0;
	.param .align 16 .b8 	retval0[16];
	st.param.b64 	[param0], %rd0;
	call.uni (retval0), twice, (param0);
	ld.param.b64 	%rd1, [retval0];
	ld.param.b64 	%rd2, [retval0+8];
	} // callseq 0
	{ .reg .u32 lo, hi; mov.b64 {lo, hi}, %rd2; }
	st.global.b32 	[%rd8], %rd1;
)";
  for (Order order : {Order::warps, Order::forward, Order::random}) {
    Outcome outcome = run(function + makeKernel(call + call), 9, order);
    ASSERT_EQ(outcome.error, "");
    for (uint32_t i = 0; i < 9; ++i)
      EXPECT_EQ(outcome.words[i], i > 4 ? i + 7 : 0) << i;
  }
  PtxModule module(makeKernel(call));
  std::string message;
  EXPECT_EQ(module.get("k", message), nullptr);
  EXPECT_EQ(message, "line 29: unknown call of 'twice'");
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// The lane whose number each lane gets.
static std::vector<uint32_t> shuffle(const std::string &what) {
  Outcome outcome = run(makeKernel("\tshfl.sync." + what +
                                   ", -1;\n"
                                   "\tst.global.b32 \t[%rd8], %r0;\n"),
                        32);
  EXPECT_EQ(outcome.error, "") << what;
  outcome.words.resize(32);
  return outcome.words;
}

TEST(Ptx, Shuffles) {
  EXPECT_EQ(shuffle("idx.b32 %r0, %r18, 5, 31")[31], 5u);
  EXPECT_EQ(shuffle("bfly.b32 %r0, %r18, 16, 31")[3], 19u);
  // Segments of 4 lanes: the mask has the bits of a lane that name its own.
  EXPECT_EQ(shuffle("idx.b32 %r0, %r18, 1, 7199")[30], 29u);
  // A clamp of 3 without a mask: lanes beyond it keep their own.
  EXPECT_EQ(shuffle("idx.b32 %r0, %r18, 1, 3")[30], 1u);
  EXPECT_EQ(shuffle("idx.b32 %r0, %r18, 5, 3")[30], 30u);
  EXPECT_EQ(shuffle("up.b32 %r0, %r18, 1, 0")[0], 0u);
  EXPECT_EQ(shuffle("up.b32 %r0, %r18, 1, 0")[9], 8u);
  EXPECT_EQ(shuffle("down.b32 %r0, %r18, 1, 31")[31], 31u);
  EXPECT_EQ(shuffle("down.b32 %r0, %r18, 1, 31")[9], 10u);
}

/// Lanes below 5 part from the others, and loops of different lengths follow.
static const char *const parting = R"(
	setp.lt.u32 	%p1, %r18, 5;
	mov.b32 	%r0, 100;
	@%p1 bra 	$L__BB0_2;
	add.s32 	%r0, %r0, 1;
	bra.uni 	$L__BB0_3;
$L__BB0_2:
	add.s32 	%r0, %r0, 2;
$L__BB0_3:
	mov.b32 	%r1, 0;
$L__BB0_4:
	add.s32 	%r0, %r0, 10;
	add.s32 	%r1, %r1, 1;
	setp.le.u32 	%p2, %r1, %r18;
	@%p2 bra 	$L__BB0_4;
	vote.sync.ballot.b32 	%r2, %p1, -1;
	@!%p1 add.s32 	%r0, %r0, %r2;
	st.global.b32 	[%rd8], %r0;
)";

TEST(Ptx, LanesPartAndMeet) {
  for (Order order :
       {Order::warps, Order::forward, Order::backward, Order::random}) {
    Outcome outcome = run(makeKernel(parting), 32, order);
    ASSERT_EQ(outcome.error, "");
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(outcome.words[lane],
                100 + (lane < 5 ? 2 : 1 + 31) + 10 * (lane + 1))
          << lane;
  }
}

TEST(Ptx, LanesThatDoNotMeet) {
  std::string body = "\tsetp.lt.u32 \t%p1, %r18, 5;\n"
                     "\t@%p1 shfl.sync.idx.b32 \t%r0, %r18, 0, 31, -1;\n";
  EXPECT_EQ(run(makeKernel(body), 32).error,
            "thread 5 of block (0, 0, 0) is not at the exchange at which "
            "others of its warp wait");
  EXPECT_EQ(run(makeKernel("\t@%p1 bar.sync \t0;\n"), 1).error, "");
  body = "\tsetp.lt.u32 \t%p1, %r18, 5;\n\t@%p1 bar.sync \t0;\n";
  EXPECT_EQ(run(makeKernel(body), 32).error,
            "thread 5 of block (0, 0, 0) has left, thread 0 waits at another "
            "one");
  body = "\tshfl.sync.idx.b32 \t%r0, %r18, 0, 31, 15;\n";
  EXPECT_EQ(run(makeKernel(body), 32).error,
            "thread 0 of block (0, 0, 0) names some lanes of its warp alone");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Ptx, Accesses) {
  EXPECT_EQ(run(makeKernel("\tld.global.v2.b32 \t{%r0, %r1}, [%rd8+4];\n"), 1,
                Order::warps, false)
                .error,
            "thread 0 of block (0, 0, 0) accesses 8 bytes at a place that is "
            "no multiple");
  EXPECT_EQ(
      run(makeKernel("\tst.global.b32 \t[%rd8+8192], %r18;\n"), 1).error,
      "thread 0 of block (0, 0, 0) writes element 2048 of the buffer, which "
      "has 2048 (4 bytes at once)");
  EXPECT_EQ(run(makeKernel("\tld.shared.b32 \t%r0, [%rd8];\n"), 1).error,
            "thread 0 of block (0, 0, 0) reads element 0 of the buffer, which "
            "is in another space of memory");
  EXPECT_EQ(run(makeKernel("\tld.global.nc.b32 \t%r0, [%rd8];\n"), 1).error,
            "thread 0 of block (0, 0, 0) reads element 0 of the buffer, which "
            "the kernel may write, as if nobody did");
  EXPECT_EQ(run(makeKernel("\tst.global.b32 \t[%rd8], %r18;\n"), 1,
                Order::warps, true, /*isWritable=*/false)
                .error,
            "thread 0 of block (0, 0, 0) writes element 0 of the buffer, which "
            "is only read");
}

/// Threads of two warps exchange their numbers by shared memory.
static std::string exchange(const std::string &barrier) {
  return makeKernel("\tmov.b64 \t%rd1, sh;\n"
                    "\tmul.wide.u32 \t%rd2, %r18, 4;\n"
                    "\tadd.s64 \t%rd3, %rd1, %rd2;\n"
                    "\tsub.s64 \t%rd4, %rd1, %rd2;\n"
                    "\tst.shared.b32 \t[%rd3], %r18;\n" +
                        barrier +
                        "\tld.shared.b32 \t%r0, [%rd4+252];\n"
                        "\tst.global.b32 \t[%rd8], %r0;\n",
                    4, "\t.shared .align 16 .b8 sh[256];\n");
}

TEST(Ptx, SharedMemory) {
  for (Order order :
       {Order::warps, Order::forward, Order::backward, Order::random}) {
    Outcome outcome = run(exchange("\tbar.sync \t0;\n"), 64, order);
    ASSERT_EQ(outcome.error, "");
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(outcome.words[i], 63 - i);
    EXPECT_EQ(outcome.garbage, "");
    outcome = run(exchange(""), 64, order);
    EXPECT_NE(outcome.garbage, "");
  }
}

TEST(Ptx, DynamicSharedMemory) {
  std::string text = exchange("\tbar.sync \t0;\n");
  text.erase(text.find("\t.shared"), 33);
  text.insert(text.find(".visible"), ".extern .shared .align 16 .b8 sh[];\n");
  EXPECT_EQ(run(text, 64, Order::warps, true, true, 256).error, "");
  EXPECT_EQ(run(text, 64, Order::warps, true, true, 128).error,
            "thread 32 of block (0, 0, 0) writes element 32 of shared buffer "
            "0, which has 32 (4 bytes at once)");
}

/// 16 bytes of the buffer are copied to shared memory and stored behind them.
static std::string
copyAsync(const std::string &wait,
          const std::string &copy = "cp.async.cg.shared.global [%rd1], [%rd6], "
                                    "16, 8;") {
  return makeKernel("\tmov.b64 \t%rd1, sh;\n"
                    "\tst.global.b32 \t[%rd6], 5;\n"
                    "\tst.global.b32 \t[%rd6+4], 6;\n"
                    "\tst.shared.b32 \t[%rd1], 9;\n\t" +
                        copy + "\n\tcp.async.commit_group;\n" + wait +
                        "\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];\n"
                        "\tst.global.v4.b32 \t[%rd6+16], {%r1, %r2, %r3, "
                        "%r4};\n",
                    4, "\t.shared .align 16 .b8 sh[16];\n");
}

TEST(Ptx, CopiesThatArriveLate) {
  std::string wait = "\tcp.async.wait_group \t0;\n";
  for (Order order : {Order::warps, Order::backward}) {
    Outcome outcome = run(copyAsync(wait), 1, order);
    ASSERT_EQ(outcome.error, "");
    EXPECT_EQ(std::vector<uint32_t>(outcome.words.begin() + 4,
                                    outcome.words.begin() + 8),
              (std::vector<uint32_t>{5, 6, 0, 0}));
  }
  // Who does not wait has what was there, or by chance the copy.
  EXPECT_EQ(run(copyAsync(""), 1, Order::warps, false).words[4], 9u);
  EXPECT_EQ(run(copyAsync(""), 1, Order::backward, false).words[4], 5u);
  EXPECT_EQ(
      run(copyAsync(wait, "cp.async.cg.shared.global [%rd1], [%rd6], 8;"), 1)
          .error,
      "thread 0 of block (0, 0, 0) copies 8 of 8 bytes at once");
  EXPECT_EQ(
      run(copyAsync(wait, "cp.async.cg.shared.global [%rd1], [%rd6+4], 16;"), 1)
          .error,
      "thread 0 of block (0, 0, 0) copies 16 bytes from or to a place that is "
      "no multiple");
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Lane l has a row of its number in shared memory, in f16. The product of the
/// fragments that ldmatrix makes of it is that of the matrices.
TEST(Ptx, Fragments) {
  std::string body =
      "\tmov.b64 \t%rd1, sh;\n"
      "\tmul.wide.u32 \t%rd2, %r18, 16;\n"
      "\tadd.s64 \t%rd3, %rd1, %rd2;\n"
      // 1, 2, 4 and so on in the first column, zeros beside it.
      "\tand.b32 \t%r1, %r18, 7;\n"
      "\tshl.b32 \t%r2, %r1, 10;\n"
      "\tadd.s32 \t%r3, %r2, 15360;\n"
      "\tst.shared.v4.b32 \t[%rd3], {%r3, 0, 0, 0};\n"
      "\tbar.sync \t0;\n"
      "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, "
      "[%rd3];\n"
      "\tldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r8, %r9, %r10, "
      "%r11}, [%rd3];\n"
      "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n"
      "\t\t{%r12, %r13, %r14, %r15},\n\t\t{%r4, %r5, %r6, %r7},\n"
      "\t\t{%r4, %r5},\n\t\t{0f3F800000, 0f3F800000, 0f3F800000, "
      "0f3F800000};\n"
      "\tst.global.v4.b32 \t[%rd8], {%r12, %r13, %r14, %r15};\n"
      "\tst.global.b32 \t[%rd8+512], %r8;\n";
  Outcome outcome =
      run(makeKernel(body, 16, "\t.shared .align 16 .b8 sh[512];\n"), 32);
  ASSERT_EQ(outcome.error, "");
  // a[i][0] = a[i][8] = 2^(i mod 8), b[0][j] = b[8][j] = 2^j.
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float expected = 1 + 2 * std::ldexp(1.0f, int(row % 8 + column));
      EXPECT_EQ(std::bit_cast<float>(outcome.words[4 * lane + i]), expected)
          << lane << " " << i;
    }
  // Of the transposed fragment, lanes 0 to 3 have the column.
  EXPECT_EQ(outcome.words[128], 0x40003c00u);
  EXPECT_EQ(outcome.words[128 + 4 * 3], 0x58005400u);
  EXPECT_EQ(outcome.words[128 + 4 * 4], 0u);
}

/// What a processor with wide registers does is what any other does.
TEST(Ptx, LanesSideBySideAreThoseOneByOne) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<float> floats(-2, 2);
  std::vector<uint64_t> registers(size_t{4} * warpSize);
  for (uint64_t &value : registers)
    value = toBits(floats(engine));
  constexpr auto quotient = [](float a, float b, float) { return a / b; };
  constexpr auto isLess = [](float a, float b, float) { return a < b; };
  constexpr auto product = [](uint64_t a, uint64_t b, uint32_t) {
    return a * b;
  };
  for (auto [begin, end] : {std::pair(0, 32), {0, 1}, {5, 20}, {31, 32}}) {
    auto same = [&](Action any, Action chosen) {
      std::vector<uint64_t> expected = perform(any, registers, begin, end);
      EXPECT_EQ(perform(chosen, registers, begin, end), expected);
      for (int32_t lane = 0; lane < warpSize; ++lane)
        if (lane < begin || lane >= end)
          EXPECT_EQ(expected[size_t(lane)], registers[size_t(lane)]);
    };
    using F = float;
    same(veeline::gpu::compute<multiplyAdd<F>, F, F, F, F>,
         chooseCompute<multiplyAdd<F>, F, F, F, F>());
    same(veeline::gpu::compute<quotient, F, F, F, F>,
         chooseCompute<quotient, F, F, F, F>());
    same(veeline::gpu::compute<isLess, bool, F, F, F>,
         chooseCompute<isLess, bool, F, F, F>());
    same(veeline::gpu::compute<product, uint64_t, uint64_t, uint64_t, uint32_t>,
         chooseCompute<product, uint64_t, uint64_t, uint64_t, uint32_t>());
  }
}
