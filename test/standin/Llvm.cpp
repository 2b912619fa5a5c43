//===- Llvm.cpp - another version of LLVM ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// In the place of the function of libLLVM's C interface.
extern "C" __attribute__((visibility("default"))) void
LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = 21;
  *minor = 1;
  *patch = 3;
}
