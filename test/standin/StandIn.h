//===- StandIn.h - a GPU of this machine's memory --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests and the other stand-ins ask the stand-in of the CUDA driver for.
// The stand-in is loaded in place of libcuda.so.1 and has the same functions:
// - Streams do nothing before somebody waits for them, and then as little, or
//   in as odd an order, as events allow.
// - The host cannot read addresses of a device.
// - An image takes 64 KiB of each GPU, and each of its functions 4 KiB when it
//   is first asked for; cuBLASLt takes 8 KiB at the first call of each shape.
// - The code of a kernel is loaded by cuFuncLoad, or else by its first launch.
// - Nothing is loaded while a stream is captured, and no kernel once NCCL is at
//   work: loading could wait for a message, and keep NCCL from moving it.
//
// Environment variables configure it when cuInit is called, with defaults after
// the semicolons:
//   VEELINE_STANDIN_DEVICES  the number of GPUs; 1
//   VEELINE_STANDIN_CHIP     the chip of all of them; sm_90
//   VEELINE_STANDIN_DRIVER   the version of CUDA that it supports; 13000
//   VEELINE_STANDIN_MEMORY   bytes of each GPU; 2^33
//   VEELINE_STANDIN_MORE     bytes of an allocation beside those asked for; 0
//   VEELINE_STANDIN_ORDER    fifo, late, slow (as late, and a query of an event
//                            does one thing at most) or random:SEED; late
//   VEELINE_STANDIN_FILLS    device: while a stream is captured, a memset of
//   the
//                            host's memory is refused
//   VEELINE_STANDIN_NCCL     the version of NCCL; 22809
//   VEELINE_STANDIN_CUDNN    the version of cuDNN; 91900
//   VEELINE_STANDIN_CUBLASLT the version of cuBLASLt; 130100
//   VEELINE_STANDIN_REFUSE   SEED: cuBLASLt has no algorithm for half of the
//                            products with epilogues, by chance, and the first
//                            ones that it proposes for others do not work; all:
//                            for none of them, and only the last one works
//   VEELINE_STANDIN_ENGINES  what cuDNN's heuristics propose for a graph, of
//                            nondeterministic, unsupported, uncompilable, large
//                            and plain; all
//   VEELINE_STANDIN_UNITS    the number of units of NCCL, which are groups of
//                            messages, that a device runs at once, each on
//                            another stream; 1
//   VEELINE_STANDIN_CONNECT  together: on a communicator, the first send to
//                            another rank or receive from it waits in the host
//                            until that rank is about to do its part
//   VEELINE_STANDIN_GROUPS   when the thread of a group of NCCL puts it into
//   its
//                            streams: late (once a communicator of the group
//                            has been asked), or random:SEED (so for half of
//                            them, and others up to 100 us later, asked or
//                            not); random:0
//   VEELINE_STANDIN_FAIL     FUNCTION:N:CODE: its n-th call, from 1, returns
//                            that; asyncError: the n-th time that a
//                            communicator of NCCL would say that all is well
//   VEELINE_STANDIN_ENDLESS  KERNEL:N: its n-th run, from 1, never ends
//   VEELINE_STANDIN_QUEUE    with an endless kernel, the number of ops in a
//                            stream from which on more have to wait; any number
//   VEELINE_STANDIN_KERNELS  libraries of kernels, separated by colons: of each
//                            the function NAME and the numbers NAME.info, whose
//                            fifth one is the number of arguments. Other
//                            kernels are run by the PTX of their image
//   VEELINE_STANDIN_REPORT   a file for the calls and what was not freed
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_STANDIN_STANDIN_H
#define VEELINE_TEST_STANDIN_STANDIN_H

#include "CudaApi.h"

#include <cstdint>
#include <functional>
#include <string>

#define VEELINE_STANDIN __attribute__((visibility("default")))

namespace veeline::standin {

/// A kernel as a function of the host: params[i] points to argument i.
using Kernel = void (*)(const void *const *params, const uint32_t grid[3],
                        const uint32_t block[3]);

/// The number in the environment variable `name`; `otherwise` where it is not
/// set.
VEELINE_STANDIN int64_t setting(const char *name, int64_t otherwise);

/// Kernels of this name are `kernel`, in every image.
VEELINE_STANDIN void addKernel(const std::string &name, Kernel kernel,
                               int32_t numArguments);

/// The `nth` call of `function` from now on returns `code`; an empty function:
/// none does.
VEELINE_STANDIN void failCall(const std::string &function, int64_t nth,
                              int code);

/// The `nth` run of kernel `name` from now on never ends, and who gives a
/// stream more than `queued` ops waits. With no name, a run that did not end
/// does.
VEELINE_STANDIN void neverEnd(const std::string &name, int64_t nth,
                              size_t queued);
/// As VEELINE_STANDIN_ORDER.
VEELINE_STANDIN void setOrder(const std::string &order);

/// What CUDA_MODULE_LOADING was when cuInit was called last; empty: not set.
VEELINE_STANDIN std::string loadingMode();
/// How often `function` was called.
VEELINE_STANDIN int64_t countCalls(const std::string &function);
/// The number of allocations, streams, events, graphs, modules, retained
/// contexts and handles of libraries.
VEELINE_STANDIN int64_t countLive();
/// The most bytes that a device had allocated since it was asked last.
VEELINE_STANDIN int64_t takePeakBytes();

/// Counts a call of another stand-in. Returns the code with which it has to
/// fail, or 0.
VEELINE_STANDIN int enterCall(const char *function);
/// Where the `bytes` of the device at `address` really are; null where there
/// are none.
VEELINE_STANDIN char *find(const void *address, int64_t bytes);
/// Runs `work` when the stream comes to it.
VEELINE_STANDIN void enqueue(cuda::api::Stream stream,
                             std::function<void()> work);

/// True once it is done; called again and again, and never waits itself.
using Progress = std::function<bool()>;
/// Begins work that others than this process take part in.
using SharedWork = std::function<Progress()>;
/// Begins `work` when the stream comes to it, in a graph in each of its runs.
VEELINE_STANDIN void enqueueShared(cuda::api::Stream stream, SharedWork work);
VEELINE_STANDIN bool isCapturing(cuda::api::Stream stream);
/// The device whose context is current, from 0; -1: none.
VEELINE_STANDIN int currentDevice();
/// Called before a library loads what one of its calls needs, which takes
/// `bytes` of each device. Returns 0 or the error of the driver.
VEELINE_STANDIN int loadCode(int64_t bytes);
VEELINE_STANDIN void unloadCode(int64_t bytes);
/// Adds a handle of a library, which takes `bytes` of each device until it is
/// removed.
VEELINE_STANDIN void addHandle(int64_t bytes);
VEELINE_STANDIN void removeHandle(int64_t bytes);

} // namespace veeline::standin

#endif // VEELINE_TEST_STANDIN_STANDIN_H
