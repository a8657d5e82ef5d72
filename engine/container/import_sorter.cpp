#include "engine/container/import_sorter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace quire::engine {
namespace {

// What precedes a key, in the buffer and in a run. In a run the documents' offsets follow from their sizes.
struct KeyHeader {
  uint64_t number;
  uint64_t document_offset;
  uint32_t document_size;
  uint32_t line;
  uint32_t key_size;
  uint32_t unused = 0;
};
static_assert(sizeof(KeyHeader) == 32);

// The first bytes of a key as a number that sorts as they do.
uint64_t prefix_of(Bytes key) {
  uint64_t number = 0;
  std::memcpy(&number, key.data(), std::min(key.size(), sizeof number));
  return std::endian::native == std::endian::little ? __builtin_bswap64(number) : number;
}

KeyHeader header_at(const char* at) {
  KeyHeader header;
  std::memcpy(&header, at, sizeof header);
  return header;
}

SortedItem item_of(const KeyHeader& header, Bytes key) {
  return {key, {}, header.number, header.line, {header.document_offset, header.document_size}};
}

void append_key(const KeyHeader& header, Bytes key, std::string& out) {
  out.append(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(key);
}

// Room for `more` bytes: doubling as a string does, but not past `limit` unless it must.
void make_room(std::string& bytes, size_t more, size_t limit) {
  const size_t needed = bytes.size() + more;
  if (needed > bytes.capacity()) bytes.reserve(std::max(needed, std::min(limit, bytes.capacity() * 2)));
}

}  // namespace

struct ImportSorter::Buffer {
  struct Entry {
    uint64_t prefix;
    size_t offset;  // of the header in `keys`
  };
  std::string keys;
  std::string documents;
  std::vector<Entry> entries;
  bool is_sorted = false;

  size_t used() const { return keys.size() + documents.size() + entries.size() * sizeof(Entry); }

  SortedItem item(const Entry& entry) const {
    const KeyHeader header = header_at(keys.data() + entry.offset);
    return item_of(header, {keys.data() + entry.offset + sizeof header, header.key_size});
  }
  Bytes document(const DocumentPlace& place) const {
    return Bytes(documents).substr(place.offset, place.size);
  }

  void sort() {
    if (std::exchange(is_sorted, true)) return;
    std::ranges::sort(entries, [this](const Entry& a, const Entry& b) {
      if (a.prefix != b.prefix) return a.prefix < b.prefix;
      const int order = item(a).key.compare(item(b).key);
      return order != 0 ? order < 0 : a.offset < b.offset;
    });
  }
  void clear() {
    keys.clear();
    documents.clear();
    entries.clear();
    is_sorted = false;
  }
};

// The stretches of the file with the keys and the documents, one behind the other.
struct ImportSorter::Run {
  uint64_t keys = 0;
  uint64_t documents = 0;
  uint64_t end = 0;
};

// Reads a run from its front.
class ImportSorter::RunCursor {
 public:
  RunCursor(const SpillFile& file, const Run& run, Pass pass, size_t block)
      : keys_(file, run.keys, run.documents, std::max(block / 8, kLeastBlock)),
        documents_(file, run.documents, run.end, std::max(block, kLeastBlock)),
        pass_(pass) {}

  // Goes to the next item; false at the end.
  Result<bool> next() {
    if (keys_.at_end()) return false;
    QUIRE_ASSIGN(const std::string_view header_bytes, keys_.read(sizeof(KeyHeader)));
    const KeyHeader header = header_at(header_bytes.data());
    QUIRE_ASSIGN(const std::string_view key, keys_.read(header.key_size));
    item_ = item_of(header, key);
    if (pass_ == Pass::items) {
      QUIRE_ASSIGN(item_.document, documents_.read(header.document_size));
    }
    return true;
  }
  const SortedItem& item() const { return item_; }

  // The heap's order: the greater key further back.
  static bool is_after(const RunCursor* a, const RunCursor* b) {
    const int order = a->item_.key.compare(b->item_.key);
    return order != 0 ? order > 0 : a->item_.number > b->item_.number;
  }

 private:
  static constexpr size_t kLeastBlock = size_t{8} << 10;
  SpillReader keys_;
  SpillReader documents_;
  Pass pass_;
  SortedItem item_;
};

ImportSorter::ImportSorter(std::string folder, size_t memory)
    : buffer_memory_(memory / 2),
      file_(std::move(folder)),
      filling_(std::make_unique<Buffer>()),
      spilling_(std::make_unique<Buffer>()) {}

ImportSorter::~ImportSorter() {
  if (spill_.valid()) spill_.wait();
}

// ---- Filling

Result<void> ImportSorter::add(Bytes key, Bytes document, uint32_t line) {
  const size_t size = sizeof(KeyHeader) + key.size() + document.size() + sizeof(Buffer::Entry);
  if (!filling_->entries.empty() && filling_->used() + size > buffer_memory_) QUIRE_TRY(begin_spill());
  Buffer& buffer = *filling_;
  make_room(buffer.keys, sizeof(KeyHeader) + key.size(), buffer_memory_);
  make_room(buffer.documents, document.size(), buffer_memory_);
  buffer.entries.push_back({prefix_of(key), buffer.keys.size()});
  append_key({items_, buffer.documents.size(), static_cast<uint32_t>(document.size()), line,
              static_cast<uint32_t>(key.size())},
             key, buffer.keys);
  buffer.documents.append(document);
  ++items_;
  return {};
}

Result<void> ImportSorter::begin_spill() {
  QUIRE_TRY(end_spill());
  std::swap(filling_, spilling_);
  spill_ = std::async(std::launch::async, [this] { return write_run(*spilling_); });
  return {};
}

Result<void> ImportSorter::end_spill() {
  return spill_.valid() ? spill_.get() : Result<void>();
}

Result<void> ImportSorter::write_run(Buffer& buffer) {
  buffer.sort();
  Run run{.keys = file_.size()};
  SpillWriter writer(file_);
  run.documents = run.keys + buffer.keys.size();
  run.end = run.documents + buffer.documents.size();
  std::string bytes;
  uint64_t document_offset = run.documents;
  for (const Buffer::Entry& entry : buffer.entries) {
    KeyHeader header = header_at(buffer.keys.data() + entry.offset);
    header.document_offset = document_offset;
    document_offset += header.document_size;
    bytes.clear();
    append_key(header, {buffer.keys.data() + entry.offset + sizeof header, header.key_size}, bytes);
    QUIRE_TRY(writer.write(bytes));
  }
  for (const Buffer::Entry& entry : buffer.entries)
    QUIRE_TRY(writer.write(buffer.document(buffer.item(entry).place)));
  QUIRE_TRY(writer.finish());
  runs_.push_back(run);
  buffer.clear();
  return {};
}

// ---- Handing out

Result<void> ImportSorter::begin(Pass pass) {
  QUIRE_TRY(end_spill());
  pass_ = pass;
  if (!runs_.empty()) return begin_merge(pass);
  filling_->sort();
  next_entry_ = 0;
  return {};
}

Result<void> ImportSorter::begin_merge(Pass pass) {
  if (!filling_->entries.empty()) QUIRE_TRY(write_run(*filling_));
  filling_ = std::make_unique<Buffer>();  // gives back their memory
  spilling_ = std::make_unique<Buffer>();
  current_ = nullptr;
  heap_.clear();
  cursors_.clear();
  cursors_.reserve(runs_.size());  // heap_ points into it
  for (const Run& run : runs_) {
    RunCursor& cursor = cursors_.emplace_back(file_, run, pass, buffer_memory_ / runs_.size());
    QUIRE_ASSIGN(const bool has_item, cursor.next());
    if (has_item) heap_.push_back(&cursor);
  }
  std::ranges::make_heap(heap_, RunCursor::is_after);
  return {};
}

Result<const SortedItem*> ImportSorter::next() {
  if (runs_.empty()) {
    if (next_entry_ == filling_->entries.size()) return nullptr;
    item_ = filling_->item(filling_->entries[next_entry_++]);
    if (pass_ == Pass::items) item_.document = filling_->document(item_.place);
    return &item_;
  }
  if (current_ != nullptr) {
    QUIRE_ASSIGN(const bool has_item, current_->next());
    if (has_item) {
      heap_.push_back(current_);
      std::ranges::push_heap(heap_, RunCursor::is_after);
    }
    current_ = nullptr;
  }
  if (heap_.empty()) return nullptr;
  std::ranges::pop_heap(heap_, RunCursor::is_after);
  current_ = heap_.back();
  heap_.pop_back();
  return &current_->item();
}

Result<std::string> ImportSorter::document(const DocumentPlace& place) const {
  if (runs_.empty()) return std::string(filling_->document(place));
  std::string bytes(place.size, '\0');
  QUIRE_TRY(file_.read(place.offset, bytes));
  return bytes;
}

}  // namespace quire::engine
