//===- Fiber.cpp - threads that one thread runs ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace veeline::gpu;

// Saves the registers and the stack pointer in `*from`, and continues at `to`.
// A block has up to 1024 threads, which switch at every exchange. swapcontext
// needs a system call for a switch; this takes nanoseconds.
extern "C" void veeline_fiber_switch(void **from, void *to);

#if defined(__x86_64__)
asm(R"(
.text
.globl veeline_fiber_switch
.hidden veeline_fiber_switch
.type veeline_fiber_switch, @function
veeline_fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size veeline_fiber_switch, .-veeline_fiber_switch
)");
/// The words at the end of a new stack, and which of them is the address where
/// the switch goes on. One word stays on the stack: a function begins with the
/// stack 8 bytes off a multiple of 16.
static constexpr size_t numWords = 8, entryWord = 6;
#elif defined(__aarch64__)
asm(R"(
.text
.globl veeline_fiber_switch
.hidden veeline_fiber_switch
.type veeline_fiber_switch, %function
veeline_fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size veeline_fiber_switch, .-veeline_fiber_switch
)");
static constexpr size_t numWords = 20, entryWord = 11;
#else
#error "fibers need a switch of stacks for this processor"
#endif

/// The fiber that runs on this thread.
static thread_local Fiber *current = nullptr;

Fiber::Fiber(size_t stackBytes) : stackBytes(stackBytes) {
  void *memory = mmap(nullptr, stackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("a fiber needs a stack");
    std::abort();
  }
  stack = static_cast<char *>(memory);
}

Fiber::~Fiber() { munmap(stack, stackBytes); }

VEELINE_ON_FIBER void Fiber::run() {
  Fiber *fiber = current;
  fiber->function(fiber->argument);
  std::abort();
}

void Fiber::start(void (*newFunction)(void *), void *newArgument) {
  function = newFunction;
  argument = newArgument;
  auto *words = reinterpret_cast<void **>(stack + stackBytes) - numWords;
  std::memset(static_cast<void *>(words), 0, numWords * sizeof(void *));
  words[entryWord] = reinterpret_cast<void *>(&Fiber::run);
  own = static_cast<void *>(words);
}

VEELINE_ON_FIBER void Fiber::enter() {
  current = this;
  veeline_fiber_switch(&other, own);
}

VEELINE_ON_FIBER void Fiber::leave() {
  Fiber *fiber = current;
  veeline_fiber_switch(&fiber->own, fiber->other);
}
