//===- ContractParams.h - arguments that declare what they are --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_IMPORT_CONTRACTPARAMS_H
#define VEELINE_LIB_IMPORT_CONTRACTPARAMS_H

#include "Names.h"

namespace veeline {

/// Applies the user's choices to a model that follows the input contract:
/// arguments in `buffers` become buffers, and parameters in `frozen` are not
/// trained. Fails with a diagnostic at the model if an entry chooses nothing or
/// freezes no parameter.
mlir::LogicalResult importContract(mlir::func::FuncOp model,
                                   const ArgumentList &frozen,
                                   const ArgumentList &buffers);

} // namespace veeline

#endif // VEELINE_LIB_IMPORT_CONTRACTPARAMS_H
