//===- SharedCommand.h - options of both train and eval ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_SHAREDCOMMAND_H
#define VEELINE_RUNTIME_TRAIN_SHAREDCOMMAND_H

#include "Options.h"

#include <optional>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::train {

/// The runtime's options, and the texts that the user writes for some of them.
struct SharedCommand {
  Options options;
  std::string ncclChannels;
  std::string text, tokens;
  std::optional<int64_t> documents; ///< The token that ends one.
  std::string synthetic;
};

/// Returns why `text` is not a count; empty if it is.
std::string checkCount(const std::string &text);

/// Adds the options about the data of a run, and the seed of random numbers.
void addDataOptions(CLI::App &app, SharedCommand &command);
/// Adds the options about a file with the last steps.
void addTimelineOptions(CLI::App &app, Options &options,
                        const std::string &group);
/// Adds the options about ranks that are processes, with a footer about the
/// environment.
void addProcessOptions(CLI::App &app, Options &options);
/// Adds the options about GPUs.
void addDeviceOptions(CLI::App &app, SharedCommand &command);

/// Adds --init-names to a command that has --init.
void addInitNames(CLI::App &app, Options &options);
/// Returns why `files` are not valid for --tokens and the like; empty if they
/// are.
std::string checkTokenFiles(const std::string &files);
/// Adds the sources of tokens and labels for a text or for files of tokens, if
/// they are given. `kind` is "text:" or "tokens:".
void addWindows(const std::string &kind, const std::string &files,
                std::vector<std::string> &specs);
/// Why --documents does not fit the other options, or empty.
std::string checkDocuments(const SharedCommand &command);
/// Adds the sources of what tells documents apart in files of tokens, if both
/// are given.
void addDocuments(const std::string &files, std::optional<int64_t> separator,
                  std::vector<std::string> &specs);
/// Turns options that stand for others into these.
void resolveShared(SharedCommand &command);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_SHAREDCOMMAND_H
