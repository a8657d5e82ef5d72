#include "engine/container/import_sorter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace quire::engine {
namespace {

// What precedes an item's key and document, in the buffer and in a run.
struct ItemHeader {
  uint64_t line;
  uint32_t document_size;
  uint32_t key_size;
};

// The first bytes of a key as a number that sorts as they do.
uint64_t prefix_of(Bytes key) {
  char bytes[8] = {};
  std::memcpy(bytes, key.data(), std::min<size_t>(key.size(), sizeof bytes));
  uint64_t number;
  std::memcpy(&number, bytes, sizeof number);
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

SortedItem item_at(const char* at) {
  ItemHeader header;
  std::memcpy(&header, at, sizeof header);
  const char* key = at + sizeof header;
  return {{key, header.key_size}, {key + header.key_size, header.document_size}, header.line};
}

Error io_error(std::string_view what) {
  const ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::no_space : ErrorCode::io;
  return {code, "the import's temporary file cannot be " + std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

struct ImportSorter::Entry {
  uint64_t prefix;
  size_t offset;  // in the buffer
};

// A stretch of the file, read a block at a time.
struct ImportSorter::Run {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t at = 0;  // of the file: what has not been read yet
  std::vector<char> block;
  size_t next = 0;  // in the block
  SortedItem item;
  uint64_t number = 0;

  // The heap's order: the greater key further back.
  static bool is_after(const Run* a, const Run* b) {
    const int order = a->item.key.compare(b->item.key);
    return order != 0 ? order > 0 : a->number > b->number;
  }
};

ImportSorter::ImportSorter(std::string folder, size_t memory) : folder_(std::move(folder)), memory_(memory) {}

ImportSorter::~ImportSorter() {
  static_cast<void>(end_spill());
  if (file_ >= 0) ::close(file_);
}

Result<void> ImportSorter::add(Bytes key, Bytes document, uint64_t line) {
  const size_t size = sizeof(ItemHeader) + key.size() + document.size();
  if (filling_.used > 0 && filling_.used + size + (filling_.entries.size() + 1) * sizeof(Entry) > memory_ / 2)
    QUIRE_TRY(begin_spill());
  Buffer& buffer = filling_;
  if (buffer.bytes.size() < buffer.used + size)
    buffer.bytes.resize(std::max(buffer.used + size, std::min(memory_ / 2, buffer.bytes.size() * 2)));
  const ItemHeader header{line, static_cast<uint32_t>(document.size()), static_cast<uint32_t>(key.size())};
  char* at = buffer.bytes.data() + buffer.used;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, key.data(), key.size());
  if (!document.empty()) std::memcpy(at + sizeof header + key.size(), document.data(), document.size());
  buffer.entries.push_back({prefix_of(key), buffer.used});
  buffer.used += size;
  ++items_;
  return {};
}

void ImportSorter::Buffer::sort() {
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = item_at(bytes.data() + a.offset).key.compare(item_at(bytes.data() + b.offset).key);
    return order != 0 ? order < 0 : a.offset < b.offset;
  });
}

void ImportSorter::Buffer::clear() {
  used = 0;
  entries.clear();
}

Result<void> ImportSorter::begin_spill() {
  QUIRE_TRY(end_spill());
  std::swap(filling_, spilling_);
  filling_.clear();
  spill_ = std::async(std::launch::async, [this] { return write_run(spilling_); });
  return {};
}

Result<void> ImportSorter::end_spill() {
  if (!spill_.valid()) return {};
  return spill_.get();
}

Result<void> ImportSorter::write_run(Buffer& buffer) {
  if (file_ < 0) {
    file_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) {
      std::string name = folder_ + "/quire-import-XXXXXX";
      file_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (file_ >= 0) ::unlink(name.c_str());
    }
    if (file_ < 0) return std::unexpected(io_error("made"));
  }
  buffer.sort();
  Run run;
  run.begin = file_size_;
  run.number = runs_.size();
  std::vector<char> block;
  constexpr size_t kBlock = size_t{1} << 20;
  block.reserve(kBlock * 2);
  const auto write_block = [&]() -> Result<void> {
    for (size_t done = 0; done < block.size();) {
      const ssize_t count = ::pwrite(file_, block.data() + done, block.size() - done, static_cast<off_t>(file_size_));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::unexpected(io_error("written"));
      done += static_cast<size_t>(count);
      file_size_ += static_cast<uint64_t>(count);
    }
    block.clear();
    return {};
  };
  for (const Entry& entry : buffer.entries) {
    const char* at = buffer.bytes.data() + entry.offset;
    const SortedItem item = item_at(at);
    block.insert(block.end(), at, item.document.data() + item.document.size());
    if (block.size() >= kBlock) QUIRE_TRY(write_block());
  }
  QUIRE_TRY(write_block());
  run.end = file_size_;
  runs_.push_back(std::move(run));
  return {};
}

Result<void> ImportSorter::rewind() {
  QUIRE_TRY(end_spill());
  if (runs_.empty()) {
    if (next_entry_ == 0) filling_.sort();
    next_entry_ = 0;
    return {};
  }
  if (filling_.used > 0) {
    QUIRE_TRY(begin_spill());
    QUIRE_TRY(end_spill());
  }
  filling_ = {};
  spilling_ = {};
  heap_.clear();
  current_ = nullptr;
  for (Run& run : runs_) {
    run.at = run.begin;
    run.block.clear();
    run.next = 0;
    QUIRE_TRY(advance(run));
    heap_.push_back(&run);
  }
  std::make_heap(heap_.begin(), heap_.end(), Run::is_after);
  return {};
}

Result<const SortedItem*> ImportSorter::next() {
  if (runs_.empty()) {
    if (next_entry_ == filling_.entries.size()) return nullptr;
    item_ = item_at(filling_.bytes.data() + filling_.entries[next_entry_++].offset);
    return &item_;
  }
  if (current_ != nullptr) {
    QUIRE_TRY(advance(*current_));
    if (current_->item.key.data() != nullptr) {
      heap_.push_back(current_);
      std::push_heap(heap_.begin(), heap_.end(), Run::is_after);
    }
    current_ = nullptr;
  }
  if (heap_.empty()) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), Run::is_after);
  current_ = heap_.back();
  heap_.pop_back();
  return &current_->item;
}

// Moves a run to its next item; one without a key at its end.
Result<void> ImportSorter::advance(Run& run) {
  const auto available = [&] { return run.block.size() - run.next; };
  const auto read_to = [&](size_t wanted) -> Result<void> {
    if (available() >= wanted) return {};
    // All runs together hold about half of the memory.
    const size_t share = std::max(memory_ / 2 / runs_.size(), size_t{64} << 10);
    run.block.erase(run.block.begin(), run.block.begin() + static_cast<ptrdiff_t>(run.next));
    run.next = 0;
    const size_t had = run.block.size();
    const size_t more = static_cast<size_t>(std::min<uint64_t>(std::max(share, wanted - had), run.end - run.at));
    run.block.resize(had + more);
    for (size_t done = 0; done < more;) {
      const ssize_t count =
          ::pread(file_, run.block.data() + had + done, more - done, static_cast<off_t>(run.at));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::unexpected(io_error("read"));
      done += static_cast<size_t>(count);
      run.at += static_cast<uint64_t>(count);
    }
    return {};
  };
  run.item = {};
  if (available() == 0 && run.at == run.end) return {};
  QUIRE_TRY(read_to(sizeof(ItemHeader)));
  ItemHeader header;
  std::memcpy(&header, run.block.data() + run.next, sizeof header);
  const size_t size = sizeof header + header.key_size + header.document_size;
  QUIRE_TRY(read_to(size));
  run.item = item_at(run.block.data() + run.next);
  run.next += size;
  return {};
}

}  // namespace quire::engine
