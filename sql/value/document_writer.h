// Writes one binary document, value by value, in a single pass over its source. Used by JsonReader and by
// encode_value; the bytes are drawn in document_layout.h.
//
// The header of an array or object is known only when it ends, so its values are written first, behind as
// much room as the header took that last stood in such a place, and are moved where that was wrong. A
// document is rarely more than a few levels deep, which makes this the cheapest way.
//
// Documents of a container look alike. So the writer remembers which name followed which, and the parser
// looks at that one first: mostly one comparison of bytes takes a name, its quotes and its colon, and gives
// its number, and the dictionary's hash table rests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "sql/value/document.h"
#include "sql/value/document_layout.h"
#include "sql/value/key_dictionary.h"
#include "sql/value/short_bytes.h"

namespace quire::sql {

// Thrown where a document would outgrow kMostDocumentBytes; caught by the functions that own a writer.
struct DocumentTooLarge : std::bad_alloc {
  const char* what() const noexcept override { return "a document may take at most 1 GiB"; }
};

class DocumentWriter {
 public:
  // Offsets are 32 bit; the bound leaves room for a level's header.
  static constexpr size_t kMostDocumentBytes = size_t{1} << 30;

  DocumentWriter();
  DocumentWriter(const DocumentWriter&) = delete;
  DocumentWriter& operator=(const DocumentWriter&) = delete;

  // Begins a document. What an earlier one left unfinished is forgotten.
  void start(KeyDictionary& dictionary);
  // The whole document; valid until the next start.
  std::string_view bytes() const noexcept { return {buffer_.get(), size()}; }

  // Before each element of an array, and before each member of an object. The last of several members of one
  // name wins, standing where the first stood.
  void element() { entries_.push_back({offset_in_container(), 0}); }
  void key(std::string_view name);
  // The name that is likely next, as it stands in JSON: `"name":`. Empty where none is known.
  std::string_view likely_key() const noexcept {
    const std::string_view* const name = dictionary_->json_name(successors_[frame_->slot]);
    return name != nullptr ? *name : std::string_view();
  }
  // As key() with that name.
  void take_likely_key() { add_key(successors_[frame_->slot]); }

  // False, and nothing begun, past kMostNesting. An empty array or object is begun and ended as any other.
  [[nodiscard]] bool begin_array() { return begin(false); }
  [[nodiscard]] bool begin_object() { return begin(true); }
  void end() { frame_->is_object ? end_object() : end_array(); }

  void null() { put_tag(layout::kNull); }
  void boolean(bool value) { put_tag(value ? layout::kTrue : layout::kFalse); }
  void integer(int64_t value);
  // Integral doubles within 2^53 are written as the equal integer, decimals of few digits as such.
  void real(double value);
  void string(std::string_view text);

 private:
  // A member or element of an unfinished container: where it starts, from the container's start.
  struct Entry {
    uint32_t offset;
    KeyNumber key;
  };
  struct Frame {
    size_t start = 0;              // of the values in the buffer
    size_t room = 0;               // for the header, before them
    size_t first_entry = 0;        // in entries_
    uint32_t slot = 0;             // in successors_: predicts the next name
    uint32_t place = 0;            // in header_bytes_: predicts the room
    KeyNumber owner = kInlineKey;  // the name that this container stands under
    KeyNumber last_key = 0;
    KeyNumber most_key = 0;
    bool is_object = false;
    bool keys_rise = true;  // strictly, so none is there twice
    uint32_t inline_names = 0;
  };

  size_t size() const noexcept { return static_cast<size_t>(next_ - buffer_.get()); }
  uint32_t offset_in_container() const noexcept { return static_cast<uint32_t>(size() - frame_->start); }
  void reserve(size_t bytes) {
    if (static_cast<size_t>(limit_ - next_) < bytes) [[unlikely]]
      grow(bytes);
  }
  void grow(size_t bytes);
  void put_tag(uint8_t tag) {
    reserve(1);
    *next_++ = static_cast<char>(tag);
  }
  template <typename T>
  void put(uint8_t tag, T value) {
    reserve(1 + sizeof value);
    *next_ = static_cast<char>(tag);
    std::memcpy(next_ + 1, &value, sizeof value);
    next_ += 1 + sizeof value;
  }

  bool decimal(double value);
  void add_key(KeyNumber number);
  bool begin(bool is_object);
  void end_array();
  void end_object();
  // How the header of a container is laid out: the shortest that holds its keys and offsets.
  struct HeaderForm {
    uint8_t tag;
    size_t key_bytes;  // of each
    size_t offset_bytes;
    size_t size;
  };
  static HeaderForm header_form(const Frame& frame, uint8_t tag, size_t count, size_t body);
  // Has the values of the innermost container stand right behind its header, and writes that.
  void write_header(const Frame& frame, uint8_t tag);
  KeyNumber number_of_unlikely(std::string_view name, uint32_t slot);
  bool has_duplicate_keys(const Frame& frame);
  void remove_duplicates(const Frame& frame);
  std::string_view inline_name(const Frame& frame, const Entry& entry) const;

  // successors_[k]: the name that last followed name k in an object. From kFirstUnder on: the name that last
  // came first in an object standing under name k. One more place each for inline names and the root.
  static constexpr uint32_t kNames = KeyDictionary::kMostNames + 1;
  static constexpr uint32_t kFirstUnder = kNames;
  static uint32_t place_of(KeyNumber key) noexcept { return key < kNames - 1 ? key : kNames - 1; }

  KeyDictionary* dictionary_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  char* next_ = nullptr;
  char* limit_ = nullptr;
  std::vector<Entry> entries_;
  std::array<Frame, kMostNesting + 1> frames_;
  Frame* frame_ = frames_.data();  // the innermost; the first stands for the place of the root
  std::array<KeyNumber, size_t{2} * kNames> successors_{};
  // Of the array, or object, that last stood under name k: how long its header was, up to a bound.
  static constexpr size_t kMostRoom = 0xFF;
  std::array<std::array<uint8_t, kNames>, 2> header_bytes_{};
  // For finding duplicates: the serial of the object that held a key number last.
  std::vector<uint32_t> seen_in_;
  uint32_t object_serial_ = 0;
};

// --- What the parsers' loops inline ---

inline void DocumentWriter::string(std::string_view text) {
  const size_t length = text.size();
  if (length > kMostDocumentBytes) throw DocumentTooLarge{};
  reserve(length + 5);
  if (length <= layout::kMostShortString) {
    *next_++ = static_cast<char>(layout::kShortString + length);
  } else if (length <= 0xFF) {
    next_[0] = static_cast<char>(layout::kString1);
    next_[1] = static_cast<char>(length);
    next_ += 2;
  } else {
    const bool is_short = length <= 0xFFFF;
    const size_t bytes = is_short ? 2 : 4;
    *next_ = static_cast<char>(is_short ? layout::kString2 : layout::kString4);
    const auto length32 = static_cast<uint32_t>(length);
    std::memcpy(next_ + 1, &length32, bytes);
    next_ += 1 + bytes;
  }
  copy_bytes(next_, text.data(), length);
  next_ += length;
}

inline void DocumentWriter::key(std::string_view name) {
  const uint32_t slot = frame_->slot;
  KeyNumber number = successors_[slot];
  const std::string_view likely = dictionary_->name(number);
  // A number that is not taken has no name, which must not pass for the empty one.
  if (likely.size() != name.size() || likely.data() == nullptr ||
      !equal_bytes(likely.data(), name.data(), name.size())) [[unlikely]]
    number = number_of_unlikely(name, slot);
  add_key(number);
  if (number == kInlineKey) [[unlikely]] {
    ++frame_->inline_names;
    string(name);
  }
}

inline void DocumentWriter::add_key(KeyNumber number) {
  Frame& frame = *frame_;
  if (number <= frame.last_key && entries_.size() > frame.first_entry) frame.keys_rise = false;
  frame.last_key = number;
  frame.most_key = std::max(frame.most_key, number);
  frame.slot = place_of(number);
  entries_.push_back({offset_in_container(), number});
}

inline bool DocumentWriter::begin(bool is_object) {
  if (frame_ == &frames_.back()) return false;
  const Frame& outer = *frame_;
  const KeyNumber owner = outer.is_object ? outer.last_key : outer.owner;
  const uint32_t place = place_of(owner);
  const size_t room = header_bytes_[is_object][place];
  reserve(room);
  next_ += room;
  *++frame_ = {.start = size(),
               .room = room,
               .first_entry = entries_.size(),
               .slot = kFirstUnder + place,
               .place = place,
               .owner = owner,
               .is_object = is_object};
  return true;
}

}  // namespace quire::sql
