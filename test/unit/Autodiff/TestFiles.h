//===- TestFiles.h - files of MLIR, compiled once ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_AUTODIFF_TESTFILES_H
#define VEELINE_TEST_UNIT_AUTODIFF_TESTFILES_H

#include "GradientCheck.h"

namespace veeline::test {

/// The file at `path`, or null if it does not compile. Each file is read and
/// compiled once for all tests.
GradientCheck *getFile(const std::string &path);

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_AUTODIFF_TESTFILES_H
