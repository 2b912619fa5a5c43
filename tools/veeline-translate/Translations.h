//===- Translations.h - programs and schedules ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H
#define VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H

namespace veeline::translate {

/// --programs-to-csv, -comms-csv, -json, -timeline, -svg, -html, -text: the
/// schedule that the programs of a module follow, with the costs of its chunks.
void registerFromPrograms();

/// --csv-to-programs and --json-to-programs: a schedule as the programs of a
/// small model that has its chunks.
void registerToPrograms();

} // namespace veeline::translate

#endif // VEELINE_TOOLS_VEELINE_TRANSLATE_TRANSLATIONS_H
