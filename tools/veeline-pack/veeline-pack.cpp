//===- veeline-pack.cpp - an artifact from its parts ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes an artifact from metadata in JSON and objects that another compiler
// made: for tests of the runtime, and for steps written by hand.
//
//===----------------------------------------------------------------------===//

#include "File.h"
#include "Json.h"

#include <cstdio>

using namespace veeline;

static int fail(const std::string &message) {
  std::fprintf(stderr, "veeline-pack: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: veeline-pack METADATA.json OUTPUT OBJECT.so "
                         "...\n");
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
    Expected<MappedFile> object = MappedFile::open(argv[i]);
    if (!object.ok())
      return fail(object.message());
    artifact.objects.emplace_back(object->bytes());
  }
  Status written = artifact::writeArtifact(argv[2], artifact);
  return written.ok() ? 0 : fail(written.message());
}
