//===- veeline-pack.cpp - an artifact from its parts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes an artifact of metadata in JSON and objects from another compiler. For
// tests of the runtime, and for steps written by hand.
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "veeline/Base/File.h"

#include <cstdio>
#include <cstring>

using namespace veeline;

static int fail(const std::string &message) {
  std::fprintf(stderr, "veeline-pack: error: %s\n", message.c_str());
  return 1;
}

static Expected<std::string> readFile(const char *path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  return std::string(file->bytes());
}

static constexpr char usage[] =
    "usage: veeline-pack [--image FILE] METADATA.json OUTPUT OBJECT.so ...\n"
    "Make an artifact from metadata and from what another compiler made\n";

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0)
    return std::fputs(usage, stdout) < 0;
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0)
    return std::puts("veeline-pack " VEELINE_VERSION) < 0;
  bool hasImage = argc > 2 && std::strcmp(argv[1], "--image") == 0;
  const char *image = hasImage ? argv[2] : nullptr;
  if (hasImage) {
    argv += 2;
    argc -= 2;
  }
  if (argc < 3) {
    std::fputs(usage, stderr);
    return 2;
  }
  Expected<MappedFile> text = MappedFile::open(argv[1]);
  if (!text.ok())
    return fail(text.message());
  Expected<artifact::Metadata> metadata = artifact::fromJson(text->bytes());
  if (!metadata.ok())
    return fail(std::string("'") + argv[1] + "': " + metadata.message());
  artifact::Artifact artifact;
  artifact.metadata = std::move(*metadata);
  for (int i = 3; i < argc; ++i) {
    Expected<std::string> object = readFile(argv[i]);
    if (!object.ok())
      return fail(object.message());
    artifact.objects.push_back(std::move(*object));
  }
  if (image) {
    Expected<std::string> bytes = readFile(image);
    if (!bytes.ok())
      return fail(bytes.message());
    artifact.image = std::move(*bytes);
  }
  Status written = artifact::writeArtifact(argv[2], artifact);
  return written.ok() ? 0 : fail(written.message());
}
