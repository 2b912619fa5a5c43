//===- Translations.h - programs and schedules ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H
#define VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H

namespace veeline::translate {

/// Registers --programs-to-csv, -comms-csv, -json, -timeline, -svg, -html and
/// -text. They write the schedule of a module's programs, with the costs of its
/// chunks.
void registerFromPrograms();

/// Registers --csv-to-programs and --json-to-programs. They turn a schedule
/// into the programs of a small model with the schedule's chunks.
void registerToPrograms();

} // namespace veeline::translate

#endif // VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H
