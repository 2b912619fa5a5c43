//===- TempDir.h - a directory for one test ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_TEMPDIR_H
#define VEELINE_TEST_UNIT_RUNTIME_TEMPDIR_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace veeline::test {

/// A new directory, which is deleted at the end with everything in it.
class TempDir {
public:
  TempDir() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "veeline-test-XXXXXX");
    directory = ::mkdtemp(pattern.data());
  }
  TempDir(const TempDir &) = delete;
  TempDir &operator=(const TempDir &) = delete;
  ~TempDir() { std::filesystem::remove_all(directory); }

  std::string path(const std::string &name) const {
    return (directory / name).string();
  }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(directory / name, std::ios::binary) << bytes;
    return path(name);
  }

  std::string read(const std::string &name) const {
    std::ifstream file(directory / name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  /// The number of files. Used to find temporary files that were left behind.
  size_t size() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(directory),
                      std::filesystem::directory_iterator()));
  }

private:
  std::filesystem::path directory;
};

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_TEMPDIR_H
