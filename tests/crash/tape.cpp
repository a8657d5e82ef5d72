#include "tests/crash/tape.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "tests/file_bytes.h"

namespace quire::tests {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

void put_number(std::string& out, uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

class TapeReader {
 public:
  explicit TapeReader(std::string bytes) : bytes_(std::move(bytes)) {}
  bool at_end() const { return at_ >= bytes_.size(); }
  uint64_t number() {
    uint64_t number = 0;
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::string text() {
    const size_t size = number();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

}  // namespace

TapeRecorder::TapeRecorder(std::string folder, const std::string& tape_path) : folder_(std::move(folder)) {
  tape_ = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, tape_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  if (tape_ < 0) abort();
  observe_system_calls(this);
}

TapeRecorder::~TapeRecorder() {
  observe_system_calls(nullptr);
  flush();
  close(tape_);
}

void TapeRecorder::note(std::string_view name, uint64_t number, std::string_view text) {
  const std::unique_lock turn = turn_of_system_calls();
  put({TapeEntry::Kind::note, 0, number, std::string(name), std::string(text)});
}

std::string_view TapeRecorder::name_in_folder(std::string_view path) const {
  if (!path.starts_with(folder_) || path.size() <= folder_.size() || path.ends_with("-lock")) return {};
  return path.substr(folder_.size() + 1);
}

bool TapeRecorder::find(int descriptor, uint64_t& file) const {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  file = status.st_ino;
  return files_.contains(file);
}

void TapeRecorder::opened(std::string_view path, int descriptor, int flags) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return;
  const std::string_view name = name_in_folder(path);
  if (S_ISDIR(status.st_mode) && path == folder_) files_.insert(status.st_ino);
  if (name.empty() || !S_ISREG(status.st_mode) || (flags & O_TMPFILE) == O_TMPFILE) return;
  if (files_.insert(status.st_ino).second)
    put({TapeEntry::Kind::created, status.st_ino, 0, std::string(name), {}});
}

void TapeRecorder::wrote(int descriptor, off_t offset, std::string_view bytes, bool waits) {
  uint64_t file = 0;
  if (!find(descriptor, file)) return;
  waits = waits || (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0;
  put({waits ? TapeEntry::Kind::wrote_sync : TapeEntry::Kind::wrote,
       file,
       static_cast<uint64_t>(offset),
       {},
       std::string(bytes)});
}

void TapeRecorder::synced(int descriptor) {
  struct stat status;
  uint64_t file = 0;
  if (!find(descriptor, file) || fstat(descriptor, &status) != 0) return;
  put({S_ISDIR(status.st_mode) ? TapeEntry::Kind::folder_sync : TapeEntry::Kind::synced, file, 0, {}, {}});
}

void TapeRecorder::truncated(int descriptor, off_t length) {
  uint64_t file = 0;
  if (find(descriptor, file)) put({TapeEntry::Kind::truncated, file, static_cast<uint64_t>(length), {}, {}});
}

void TapeRecorder::renamed(std::string_view from, std::string_view to) {
  if (!name_in_folder(from).empty())
    put({TapeEntry::Kind::renamed, 0, 0, std::string(name_in_folder(from)), std::string(name_in_folder(to))});
}

void TapeRecorder::unlinked(std::string_view path) {
  if (!name_in_folder(path).empty())
    put({TapeEntry::Kind::unlinked, 0, 0, std::string(name_in_folder(path)), {}});
}

void TapeRecorder::put(const TapeEntry& entry) {
  put_number(buffer_, static_cast<uint64_t>(entry.kind));
  put_number(buffer_, entry.file);
  put_number(buffer_, entry.offset);
  put_text(buffer_, entry.name);
  put_text(buffer_, entry.text);
  if (buffer_.size() >= kFlushBytes) flush();
}

void TapeRecorder::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const long written = syscall(SYS_write, tape_, buffer_.data() + done, buffer_.size() - done);
    if (written <= 0) abort();
    done += static_cast<size_t>(written);
  }
  buffer_.clear();
}

std::vector<TapeEntry> read_tape(const std::string& path) {
  TapeReader reader(file_bytes(path));
  std::vector<TapeEntry> tape;
  while (!reader.at_end()) {
    TapeEntry entry{static_cast<TapeEntry::Kind>(reader.number()), reader.number(), reader.number(), {}, {}};
    entry.name = reader.text();
    entry.text = reader.text();
    tape.push_back(std::move(entry));
  }
  return tape;
}

}  // namespace quire::tests
