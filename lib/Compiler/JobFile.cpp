//===- JobFile.cpp - a YAML file as a list of settings --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/JobFile.h"

#include "veeline/artifact.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

#include <map>

using namespace veeline;
using namespace veeline::compiler;
namespace yaml = llvm::yaml;

namespace {

/// Reads the settings of one document, and keeps the first error.
class JobReader {
public:
  JobReader(const std::string &path, std::vector<JobEntry> &entries,
            std::string &error)
      : path(path), entries(entries), error(error) {}

  bool read();

private:
  static void onDiagnostic(const llvm::SMDiagnostic &diagnostic, void *reader) {
    auto *self = static_cast<JobReader *>(reader);
    self->fail(diagnostic.getLineNo(), diagnostic.getMessage().str());
  }
  bool fail(int line, const std::string &what) {
    if (error.empty())
      error = path + ":" + std::to_string(line) + ": " + what;
    return false;
  }
  bool fail(yaml::Node &node, const std::string &what) {
    return fail(getLine(node), what);
  }
  int getLine(yaml::Node &node) {
    return sources.getLineAndColumn(node.getSourceRange().Start).first;
  }
  bool readDocument(yaml::Document &document);
  bool readEntry(yaml::KeyValueNode &pair);
  bool readKey(yaml::Node *node, const std::string &of, std::string &key);
  bool readValue(yaml::Node &node, JobEntry &entry, int line,
                 const std::string &name = "");
  bool readList(yaml::SequenceNode &list, JobEntry &entry);
  bool readMap(yaml::MappingNode &map, JobEntry &entry);
  bool checkPlain(yaml::Node &node, int line, const std::string &what);

  const std::string &path;
  std::vector<JobEntry> &entries;
  std::string &error;
  llvm::SourceMgr sources;
  std::map<std::string, int> lines;
};

} // namespace

/// Refuses anchors, aliases and tags. A list of settings does not need them.
bool JobReader::checkPlain(yaml::Node &node, int line,
                           const std::string &what) {
  if (llvm::isa<yaml::AliasNode>(node) || !node.getAnchor().empty())
    return fail(line, what + ": anchors and aliases are not read here; write "
                             "the value itself");
  if (!node.getRawTag().empty())
    return fail(line, what + ": tags are not read here, found '" +
                          node.getRawTag().str() + "'");
  return true;
}

/// Reads a key. `of` is the key of the map that contains it, or empty at the
/// top level.
bool JobReader::readKey(yaml::Node *node, const std::string &of,
                        std::string &key) {
  auto *scalar = llvm::dyn_cast_or_null<yaml::ScalarNode>(node);
  std::string where = of.empty() ? "" : of + ": ";
  if (!scalar)
    return node ? fail(*node, where + "expected a name in front of ':'")
                : false;
  llvm::SmallString<64> storage;
  key = scalar->getValue(storage).str();
  return checkPlain(*node, getLine(*node), where + key);
}

/// Reads a value. `line` is the line of its key, because aliases and missing
/// values have no position of their own.
bool JobReader::readValue(yaml::Node &node, JobEntry &entry, int line,
                          const std::string &name) {
  std::string what = entry.key + (name.empty() ? "" : ": " + name);
  if (!checkPlain(node, line, what))
    return false;
  if (llvm::isa<yaml::NullNode>(node))
    return fail(line, what + ": expected a value, found none");
  auto *scalar = llvm::dyn_cast<yaml::ScalarNode>(&node);
  if (!scalar)
    return fail(node, what + ": expected a value on one line");
  llvm::SmallString<64> storage;
  entry.values.push_back(
      {name, scalar->getValue(storage).str(), getLine(node)});
  return true;
}

bool JobReader::readList(yaml::SequenceNode &list, JobEntry &entry) {
  entry.kind = JobEntry::Kind::List;
  for (yaml::Node &node : list)
    if (!readValue(node, entry, entry.line))
      return false;
  return true;
}

bool JobReader::readMap(yaml::MappingNode &map, JobEntry &entry) {
  entry.kind = JobEntry::Kind::Map;
  std::map<std::string, int> names;
  for (yaml::KeyValueNode &pair : map) {
    std::string name;
    if (!readKey(pair.getKey(), entry.key, name))
      return false;
    int line = getLine(*pair.getKey());
    auto [first, isNew] = names.try_emplace(name, line);
    if (!isNew)
      return fail(line, entry.key + ": " + name +
                            ": stands twice; the first one is in line " +
                            std::to_string(first->second));
    if (!pair.getValue() || !readValue(*pair.getValue(), entry, line, name))
      return false;
  }
  return true;
}

bool JobReader::readEntry(yaml::KeyValueNode &pair) {
  JobEntry entry;
  if (!readKey(pair.getKey(), "", entry.key))
    return false;
  entry.line = getLine(*pair.getKey());
  entry.kind = JobEntry::Kind::Scalar;
  auto [first, isNew] = lines.try_emplace(entry.key, entry.line);
  if (!isNew)
    return fail(entry.line, entry.key +
                                ": stands twice; the first one is in line " +
                                std::to_string(first->second));
  yaml::Node *value = pair.getValue();
  if (!value || !checkPlain(*value, entry.line, entry.key))
    return false;
  bool isRead = true;
  if (auto *list = llvm::dyn_cast<yaml::SequenceNode>(value))
    isRead = readList(*list, entry);
  else if (auto *map = llvm::dyn_cast<yaml::MappingNode>(value))
    isRead = readMap(*map, entry);
  else
    isRead = readValue(*value, entry, entry.line);
  if (isRead && entry.values.empty())
    return fail(entry.line, entry.key + ": expected a value, found none");
  entries.push_back(std::move(entry));
  return isRead;
}

bool JobReader::readDocument(yaml::Document &document) {
  yaml::Node *root = document.getRoot();
  if (!root)
    return false;
  auto *map = llvm::dyn_cast<yaml::MappingNode>(root);
  if (!map)
    return fail(1, "expected lines 'key: value'");
  for (yaml::KeyValueNode &pair : *map)
    if (!readEntry(pair))
      return false;
  return true;
}

bool JobReader::read() {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    error = "cannot read '" + path + "': " + file.getError().message();
    return false;
  }
  bool isArtifact = artifact::isArtifact(path);
  if (isArtifact || llvm::StringRef(path).ends_with(".mlir")) {
    error = "'" + path + "' is no job but " +
            (isArtifact ? "an artifact: veeline train trains it"
                        : "a model: a job is a YAML file that names it, by the "
                          "key 'model'");
    return false;
  }
  sources.setDiagHandler(onDiagnostic, this);
  yaml::Stream stream((*file)->getMemBufferRef(), sources);
  auto document = stream.begin();
  bool isRead = document != stream.end() && readDocument(*document);
  if (isRead && ++document != stream.end() && !stream.failed())
    isRead = fail(1, "there is a second document behind '---'");
  if (isRead && !stream.failed())
    return true;
  return fail(1, "it is no YAML");
}

bool veeline::compiler::readJobFile(const std::string &path,
                                    std::vector<JobEntry> &entries,
                                    std::string &error) {
  return JobReader(path, entries, error).read();
}

extern "C" __attribute__((visibility("default"))) bool
veeline_read_job_file(const std::string &path, std::vector<JobEntry> &entries,
                      std::string &error) {
  return readJobFile(path, entries, error);
}
