//===- AttentionRules.h - derivatives of attention --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_AUTODIFF_ATTENTIONRULES_H
#define VEELINE_LIB_AUTODIFF_ATTENTIONRULES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace veeline::autodiff {

void registerAttentionRules(mlir::DialectRegistry &registry);

} // namespace veeline::autodiff

#endif // VEELINE_LIB_AUTODIFF_ATTENTIONRULES_H
