#include "shell/import_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "shell/interrupt.h"

namespace quire::shell {
namespace {

constexpr size_t kPackedBytes = size_t{1} << 17;

class InputSource : public ByteSource {
 public:
  InputSource(StandardInput& input, uint64_t lines) : input_(input), lines_(lines), left_(lines) {}

  int64_t read(char* buffer, size_t capacity) override {
    const int64_t count = input_.read_lines(buffer, capacity, left_);
    if (count < 0) return fail(std::strerror(errno));
    if (count == 0 && capacity > 0 && !is_complete()) return cut_short();
    if (count > 0) ends_within_line_ = buffer[count - 1] != '\n';
    return count;
  }

 private:
  // The last line may lack its end.
  bool is_complete() const { return lines_ == kAllLines || left_ == 0 || (left_ == 1 && ends_within_line_); }
  int64_t cut_short() {
    const uint64_t read = lines_ - left_ + (ends_within_line_ ? 1 : 0);
    return fail(
        fmt::format("only {} of the {} lines of --lines came before the end of the input; the script is cut "
                    "short: make it "
                    "again, or give the number of lines that there are",
                    read, lines_));
  }

  StandardInput& input_;
  uint64_t lines_;  // to be read
  uint64_t left_;
  bool ends_within_line_ = false;
};

// Puts back the bytes that were looked at.
class PlainSource : public ByteSource {
 public:
  PlainSource(ByteSource& source, std::string begin) : source_(source), begin_(std::move(begin)) {}

  int64_t read(char* buffer, size_t capacity) override {
    if (at_ < begin_.size()) {
      const size_t count = begin_.copy(buffer, capacity, at_);
      at_ += count;
      return static_cast<int64_t>(count);
    }
    const int64_t count = source_.read(buffer, capacity);
    return count < 0 ? fail(source_.failure()) : count;
  }

 private:
  ByteSource& source_;
  std::string begin_;
  size_t at_ = 0;
};

// What nobody here can make sense of.
class StrangeSource : public ByteSource {
 public:
  explicit StrangeSource(std::string what) : what_(std::move(what)) {}
  int64_t read(char*, size_t) override { return fail(what_); }

 private:
  std::string what_;
};

// What is wrong with a file that begins so; empty if nothing is.
std::string_view strange_beginning(std::string_view begin) {
  constexpr std::string_view kUtf16 =
      "it is UTF-16, not UTF-8: iconv -f UTF-16 -t UTF-8 makes the one of the other";
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"\xFF\xFE", kUtf16},
      {"\xFE\xFF", kUtf16},
      {"BZh9", "it is packed by bzip2: bunzip2 unpacks it"},  // by as much as it can, as it does unasked
      {"\xFD"
       "7zX",
       "it is packed by xz: unxz unpacks it"},
      {"PK\x03\x04", "it is a zip file: unzip takes out what is in it"},
  };
  if (begin.starts_with(std::string_view("\0\0", 2))) return "it is no text: it begins with zeros";
  for (const auto& [mark, what] : kMarks)
    if (begin.starts_with(mark)) return what;
  // A zero in its first character stands in no JSON, CSV or TSV.
  return begin.substr(0, 2).contains('\0') ? kUtf16 : std::string_view();
}

// What gzip and zstd have in common: packed bytes in, a buffer at a time.
class PackedSource : public ByteSource {
 public:
  PackedSource(ByteSource& source, std::string begin)
      : source_(source, std::move(begin)), packed_(kPackedBytes) {}

 protected:
  // False at the end or on failure.
  bool fill() {
    const int64_t count = source_.read(packed_.data(), packed_.size());
    at_ = 0;
    end_ = count > 0 ? static_cast<size_t>(count) : 0;
    has_failed_ = count < 0;
    return count > 0;
  }
  int64_t ended_early(std::string_view format) {
    if (has_failed_) return fail(source_.failure());
    return fail("the " + std::string(format) + " data ends in the middle: the file is cut short");
  }

  PlainSource source_;
  std::vector<char> packed_;
  size_t at_ = 0;
  size_t end_ = 0;
  bool has_failed_ = false;
};

class GzipSource : public PackedSource {
 public:
  GzipSource(ByteSource& source, std::string begin) : PackedSource(source, std::move(begin)) {
    constexpr int kGzip = 15 + 16;
    inflateInit2(&stream_, kGzip);
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  int64_t read(char* buffer, size_t capacity) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(capacity, UINT32_MAX));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (at_ == end_ && !fill()) {
        if (is_between_members_ && !has_failed_) return 0;
        return ended_early("gzip");
      }
      // A file may be several gzip members, one after the other, and zeros up to the end of a tape's block.
      if (is_between_members_) {
        while (at_ < end_ && packed_[at_] == '\0') ++at_;
        if (at_ == end_) continue;
        inflateReset(&stream_);
      }
      stream_.next_in = reinterpret_cast<Bytef*>(packed_.data() + at_);
      stream_.avail_in = static_cast<uInt>(end_ - at_);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      at_ = end_ - stream_.avail_in;
      is_between_members_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return fail("the gzip data is damaged");
    }
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool is_between_members_ = false;
};

class ZstdSource : public PackedSource {
 public:
  ZstdSource(ByteSource& source, std::string begin) : PackedSource(source, std::move(begin)) {}

  int64_t read(char* buffer, size_t capacity) override {
    ZSTD_outBuffer out{buffer, capacity, 0};
    while (out.pos == 0) {
      if (at_ == end_ && !fill()) {
        if (is_between_frames_ && !has_failed_) return 0;
        return ended_early("zstd");
      }
      ZSTD_inBuffer in{packed_.data(), end_, at_};
      const size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
      at_ = in.pos;
      if (ZSTD_isError(left) != 0)
        return fail(std::string("the zstd data is damaged: ") + ZSTD_getErrorName(left));
      is_between_frames_ = left == 0;
    }
    return static_cast<int64_t>(out.pos);
  }

 private:
  struct Release {
    void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Release> stream_{ZSTD_createDStream()};
  bool is_between_frames_ = false;
};

}  // namespace

FileSource::FileSource(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

FileSource::~FileSource() {
  if (is_open()) ::close(descriptor_);
}

uint64_t FileSource::size() const {
  struct stat status{};
  const bool is_known = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  return is_known ? static_cast<uint64_t>(status.st_size) : 0;
}

int64_t FileSource::read(char* buffer, size_t capacity) {
  const int64_t count = read_until_interrupted(descriptor_, buffer, capacity);
  if (count < 0) return fail(std::strerror(errno));
  position_ += static_cast<uint64_t>(count);
  return count;
}

std::unique_ptr<ByteSource> read_input(StandardInput& input, uint64_t lines) {
  return std::make_unique<InputSource>(input, lines);
}

std::unique_ptr<ByteSource> unpacked(ByteSource& source, bool is_packed_by_name) {
  constexpr std::string_view kGzip = "\x1F\x8B";
  constexpr std::string_view kZstd = "\x28\xB5\x2F\xFD";
  std::string begin;
  std::array<char, kZstd.size()> bytes{};
  while (begin.size() < kZstd.size()) {
    const int64_t count = source.read(bytes.data(), kZstd.size() - begin.size());
    if (count <= 0) break;  // a failure comes again where the data is read
    begin.append(bytes.data(), static_cast<size_t>(count));
  }
  if (begin.empty() && is_packed_by_name && source.failure().empty())
    return std::make_unique<StrangeSource>(
        "it is empty, and packed data of nothing is not: it was cut short");
  if (begin.starts_with(kGzip)) return std::make_unique<GzipSource>(source, std::move(begin));
  if (begin.starts_with(kZstd)) return std::make_unique<ZstdSource>(source, std::move(begin));
  if (const std::string_view strange = strange_beginning(begin); !strange.empty())
    return std::make_unique<StrangeSource>(std::string(strange));
  return std::make_unique<PlainSource>(source, std::move(begin));
}

}  // namespace quire::shell
