//===- DifferentiableOpInterface.cpp - what an op's derivative is ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Autodiff/DifferentiableOpInterface.h"

veeline::autodiff::Adjoint::~Adjoint() = default;

#include "veeline/Autodiff/DifferentiableOpInterface.cpp.inc"
