// A file that is written beside its place and moved there at the end, so that a failure leaves what was
// there; packed by gzip or zstd where its name says so. Or standard output. What is no regular file, such as
// a pipe or a device, is written to where it is; where a link leads, the file there is replaced, not the
// link.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace quire::shell {

class PackedFile {
 public:
  explicit PackedFile(const std::string& path);
  ~PackedFile();
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  bool is_open() const { return file_ != nullptr; }
  bool is_standard_output() const { return file_ == stdout; }
  // Both are false on failure, as errno says.
  bool write(std::string_view text);
  bool finish();

  class Packer;

 private:
  std::FILE* open();

  std::string path_;
  std::string partial_path_;  // empty: none
  std::FILE* file_;
  std::unique_ptr<Packer> packer_;
};

}  // namespace quire::shell
