//===- Page.cpp - timelines as an interactive page ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page itself is in View/. It shows one graph for each line that is added
// here.
//
//===----------------------------------------------------------------------===//

#include "veeline/Page/Page.h"

#include "View.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace veeline;
using namespace veeline::page;

/// The begin and the end of a line with a graph. The digit is the version of
/// the format, which Encode.cpp writes and View/data.js reads.
static constexpr std::string_view lineBegin =
    "<script type=\"application/json\" class=\"veeline-graph-1\">";
static constexpr std::string_view lineEnd = "</script>\n";
/// The begin of such a line in any version.
static constexpr std::string_view anyBegin =
    "<script type=\"application/json\" class=\"veeline-graph-";

/// The name of a graph, and of each of its times that has one. Empty if `graph`
/// is not a graph.
static std::vector<std::string> namesOf(std::string_view graph) {
  using Json = nlohmann::json;
  auto json = Json::parse(graph, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> names;
  auto add = [&](const Json &value) {
    auto name = value.is_object() ? value.find("name") : value.end();
    bool isNamed =
        value.is_object() && name != value.end() && name->is_string();
    if (isNamed)
      names.push_back(name->get<std::string>());
    return isNamed;
  };
  if (!add(json) || !json.contains("times") || !json["times"].is_array())
    return {};
  for (const Json &times : json["times"])
    if (!add(times))
      return {};
  return names;
}

std::string veeline::page::describe(const std::string &graph) {
  std::vector<std::string> names = namesOf(graph);
  std::string text;
  for (const std::string &name : std::span(names).subspan(1))
    if (!name.empty())
      text += (text.empty() ? "" : ", ") + name;
  return names.front() + (text.empty() ? "" : " (" + text + ")");
}

/// Formats names as "a", "a and b", or "a, b, c and more".
static std::string titleOf(std::span<const std::string> graphs) {
  std::vector<std::string> names;
  for (const std::string &graph : graphs)
    if (std::string name = namesOf(graph).front();
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  if (names.size() == 2)
    return names[0] + " and " + names[1];
  std::string title;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i)
    title += (i > 0 ? ", " : "") + names[i];
  return names.size() > 3 ? title + " and more" : title;
}

std::string veeline::page::toPage(std::span<const std::string> graphs) {
  std::string data;
  for (const std::string &graph : graphs)
    data.append(lineBegin).append(graph).append(lineEnd);
  std::string title = escapedText(titleOf(graphs));
  std::string page;
  std::string_view rest = pageTemplate;
  // Replaces "@NAME@". Texts that are inserted are not searched again.
  while (true) {
    std::size_t begin = rest.find('@');
    page += rest.substr(0, begin);
    if (begin == rest.npos)
      return page;
    std::size_t end = rest.find('@', begin + 1);
    std::string_view name = rest.substr(begin + 1, end - begin - 1);
    page += name == "TITLE"   ? std::string_view(title)
            : name == "STYLE" ? std::string_view(pageStyle)
            : name == "DATA"  ? std::string_view(data)
                              : std::string_view(pageScript);
    rest.remove_prefix(end + 1);
  }
}

Expected<std::vector<std::string>>
veeline::page::readPage(const std::string &path) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  std::string_view rest = file.bytes();
  if (rest.find(anyBegin) == rest.npos)
    return Status::error("'" + path +
                         "' is no timeline page; 'veeline schedule -o', "
                         "'veeline train --timeline' and 'veeline timeline' "
                         "write these, to files that end in .html");
  std::vector<std::string> graphs;
  for (std::size_t at; (at = rest.find(lineBegin)) != rest.npos;) {
    rest.remove_prefix(at + lineBegin.size());
    std::size_t end = rest.find(lineEnd);
    std::string_view graph = rest.substr(0, end);
    // A '<' might end the line in a browser before its end here.
    if (end == rest.npos || graph.find('<') != graph.npos ||
        namesOf(graph).empty())
      return Status::error("'" + path + "' is damaged: graph " +
                           std::to_string(graphs.size() + 1) +
                           " is not complete; write the page again");
    graphs.emplace_back(graph);
    rest.remove_prefix(end);
  }
  if (graphs.empty())
    return Status::error("'" + path +
                         "' was written by another version of Veeline; write "
                         "it again with this one");
  return graphs;
}

bool veeline::page::isPagePath(std::string_view path) {
  return path.ends_with(".html");
}
