// The bytes of an import on their way from a file or standard input to the database: taken out of gzip or
// zstd, and from CSV or TSV into JSON lines. Each stage reads from the one before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "shell/json_text.h"
#include "shell/standard_input.h"

namespace quire::shell {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // How many bytes; 0 at the end; -1 on failure, which failure() then tells.
  virtual int64_t read(char* buffer, size_t capacity) = 0;
  const std::string& failure() const { return failure_; }

 protected:
  int64_t fail(std::string reason) {
    failure_ = std::move(reason);
    return -1;
  }

 private:
  std::string failure_;
};

// A file, of which it is known how much there is and how much has been read.
class FileSource : public ByteSource {
 public:
  explicit FileSource(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  uint64_t size() const;  // 0 where it is not known
  uint64_t position() const { return position_; }
  int64_t read(char* buffer, size_t capacity) override;

 private:
  int descriptor_;
  uint64_t position_ = 0;
};

constexpr uint64_t kAllLines = UINT64_MAX;
// Standard input or the script that is being read, all of it or only so many lines, of which none may be
// missing.
std::unique_ptr<ByteSource> read_input(StandardInput& input, uint64_t lines);

// What gzip or zstd has packed, told by its first bytes, unpacked; anything else as it is, but no bytes at
// all where the name of the file says that they are packed.
std::unique_ptr<ByteSource> unpacked(ByteSource& source, bool is_packed_by_name);

// Told on which line a record begins that is left out, and why; an empty one: such a record is a failure.
using LeftOut = std::function<void(uint64_t line, std::string_view why)>;
// Whether the records before a bad one are given first, as who keeps them wants.
enum class Failing { at_once, behind_good_records };
// A record is an object, with columns like "address.city" nested, and stands on the line that it begins on;
// see delimited_text.h for the cells.
std::unique_ptr<ByteSource> read_delimited(ByteSource& source, char separator, Failing failing,
                                           IsJson is_json, LeftOut left_out);

}  // namespace quire::shell
