// Writes one binary document, value by value, in a single pass over its source. Used by JsonReader and by
// encode_value; the bytes are drawn in document_layout.h.
//
// The header of an array or object is known only when it ends, so its values are written first, behind as
// much room as the header took that last stood in such a place, and are moved where that was wrong. A
// document is rarely more than a few levels deep, which makes this the cheapest way.
//
// Documents of a container look alike. So the writer remembers which name followed which, and looks at that
// one first: mostly one comparison of vectors takes a name, its quotes and its colon, and gives its number,
// and the dictionary's hash table rests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "sql/value/document.h"
#include "sql/value/document_header.h"
#include "sql/value/document_layout.h"
#include "sql/value/json_string.h"
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
  void element() { add_entry(0); }
  void key(std::string_view name);
  // In place of key(), where `json`, of which so many bytes may be read, begins with the likely name as JSON
  // has it and its colon. False, and nothing done, where it does not, or might not.
  [[nodiscard]] bool take_likely_key(const char* json, size_t readable);

  // False, and nothing begun, past kMostNesting. An empty array or object is begun and ended as any other.
  [[nodiscard]] bool begin_array() { return begin(layout::kArray); }
  [[nodiscard]] bool begin_object() { return begin(layout::kObject); }
  void end_array();
  void end_object();

  void null() { put_tag(layout::kNull); }
  void boolean(bool value) { put_tag(value ? layout::kTrue : layout::kFalse); }
  void integer(int64_t value);
  // Integral doubles within 2^53 are written as the equal integer, decimals of few digits as such.
  void real(double value);
  // Of `digits` over ten to the power of `places`, as the source has it.
  void decimal(bool is_negative, uint64_t digits, uint32_t places);
  void string(std::string_view text);
  // As string(), where none of the text's bytes is a backslash; false, and nothing done, where one is, or
  // stands close behind. So many bytes may be read from its first on.
  [[nodiscard]] bool take_string(std::string_view text, size_t readable);

 private:
  using Entry = document_header::Entry;
  struct Place;
  // A name, as it stands in JSON: with quotes and a colon.
  struct LikelyName {
    const char* json = nullptr;  // of whole steps of KeyDictionary::kJsonNameStep
    Place* place = nullptr;
    uint32_t size = UINT32_MAX;  // longer than any text where none is known
    uint32_t bits = 0;           // of its number, and kFalls where that is no greater than the one before
  };
  static constexpr uint32_t kFalls = uint32_t{1} << 16;
  // What was there when a name last was.
  struct Place {
    LikelyName next;   // behind it in its object
    LikelyName first;  // in the object that stood under it
    // How long the header of the array, or object, under it was, up to a bound.
    std::array<uint8_t, 2> header_bytes{};
  };
  struct Frame {
    size_t start = 0;          // of the values in the buffer
    size_t room = 0;           // for the header, before them
    Entry* entries = nullptr;  // the first
    LikelyName* likely = nullptr;
    Place* place = nullptr;  // of the name that this container stands under
    Place* inner = nullptr;  // of the one that the next container in it stands under
    uint32_t key_bits = 0;   // of all its keys; without kFalls these rise, so that none is there twice
    uint8_t tag = 0;         // of its small form
    uint32_t inline_names = 0;
  };

  size_t size() const noexcept { return static_cast<size_t>(next_ - buffer_.get()); }
  // Of the innermost container.
  std::span<const Entry> entries() const noexcept { return {frame_->entries, next_entry_}; }
  void add_entry(KeyNumber key) {
    if (next_entry_ == entries_limit_) [[unlikely]]
      grow_entries();
    *next_entry_++ = {static_cast<uint32_t>(size()), key};
  }
  void grow_entries();

  // So many bytes may be written behind what there is, wherever next_ is not past limit_: whatever most
  // values take.
  static constexpr size_t kMargin = 512;
  void reserve_margin() {
    if (next_ > limit_) [[unlikely]]
      grow(kMargin);
  }
  void reserve(size_t bytes) {
    if (static_cast<size_t>(limit_ + kMargin - next_) < bytes) [[unlikely]]
      grow(bytes);
  }
  void grow(size_t bytes);
  void put_tag(uint8_t tag) {
    reserve_margin();
    *next_++ = static_cast<char>(tag);
  }
  template <typename T>
  void put(uint8_t tag, T value) {
    reserve_margin();
    *next_ = static_cast<char>(tag);
    std::memcpy(next_ + 1, &value, sizeof value);
    next_ += 1 + sizeof value;
  }

  bool decimal(double value);
  void put_decimal(int32_t integer, int places);
  bool take_other_string(std::string_view text, size_t readable);
  void add_key(const LikelyName& name);
  bool begin(uint8_t tag);
  // Ends the innermost container: has its values stand right behind its header, and writes that.
  template <bool kIsObject>
  void end_container();
  // Has the values stand behind so long a header.
  void move_values(const Frame& frame, size_t header);
  LikelyName number_of_unlikely(std::string_view name);
  void know_names(size_t names);
  bool has_duplicate_keys(const Frame& frame);
  void remove_duplicates(const Frame& frame);
  std::string_view inline_name(const Entry& entry) const;

  // One for each number of a name, behind one for the root and for all names that stand inline.
  static constexpr size_t kPlaces = KeyDictionary::kMostNames + 1;
  static_assert(static_cast<KeyNumber>(kInlineKey + 1) == 0);
  Place* place_of(KeyNumber key) const noexcept { return &places_[static_cast<KeyNumber>(key + 1)]; }

  KeyDictionary* dictionary_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  char* next_ = nullptr;
  char* limit_ = nullptr;
  // Those of all unfinished containers, with document_header::kEntryStep more behind the limit.
  std::unique_ptr<Entry[]> entries_;
  Entry* next_entry_ = nullptr;
  Entry* entries_limit_ = nullptr;
  std::array<Frame, kMostNesting + 1> frames_;
  Frame* frame_ = frames_.data();  // the innermost; the first stands for the place of the root
  // What is known of the dictionary's names, while it is of this version.
  std::unique_ptr<Place[]> places_;
  size_t known_places_ = 0;
  uint64_t version_ = 0;
  static constexpr size_t kMostRoom = 0xFF;
  // For finding duplicates: the serial of the object that held a key number last.
  std::vector<uint32_t> seen_in_;
  uint32_t object_serial_ = 0;
};

// --- What the parsers' loops inline ---

inline bool DocumentWriter::take_string(std::string_view text, size_t readable) {
#if defined(__SSE2__)
  // Whole steps are copied, so that no branch hangs on a length of a few bytes more or less.
  constexpr size_t kStep = 16, kMost = 0xFF;
  static_assert(2 + kMost + kStep <= kMargin);
  const size_t length = text.size();
  if (length <= kMost && readable >= length + kStep) [[likely]] {
    reserve_margin();
    char* const tag = next_;
    const bool is_short = length <= layout::kMostShortString;
    tag[0] = static_cast<char>(is_short ? layout::kShortString + length : layout::kString1);
    tag[1] = static_cast<char>(length);
    char* const to = tag + (is_short ? 1 : 2);
    __m128i backslashes = _mm_setzero_si128();
    size_t at = 0;
    do {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), bytes);
      backslashes = _mm_or_si128(backslashes, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
      at += kStep;
    } while (at < length);
    if (_mm_movemask_epi8(backslashes) != 0) [[unlikely]]
      return false;
    next_ = to + length;
    return true;
  }
#endif
  return take_other_string(text, readable);
}

inline bool DocumentWriter::take_likely_key(const char* json, size_t readable) {
  const LikelyName& likely = *frame_->likely;
  const size_t size = likely.size;
#if defined(__SSE2__)
  constexpr size_t kStep = KeyDictionary::kJsonNameStep;
  if (size <= kStep && readable >= kStep) [[likely]] {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(json));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(likely.json));
    const auto equal = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
    if ((~equal & ((1U << size) - 1)) != 0) [[unlikely]]
      return false;
    add_key(likely);
    return true;
  }
#endif
  if (size > readable || !equal_bytes(likely.json, json, size)) return false;
  add_key(likely);
  return true;
}

inline void DocumentWriter::key(std::string_view name) {
  LikelyName likely = *frame_->likely;
  if (likely.json == nullptr || dictionary_->name(static_cast<KeyNumber>(likely.bits)) != name)
    likely = number_of_unlikely(name);
  add_key(likely);
  if (static_cast<KeyNumber>(likely.bits) == kInlineKey) [[unlikely]] {
    ++frame_->inline_names;
    frame_->tag |= layout::kInlineBit;
    string(name);
  }
}

inline void DocumentWriter::add_key(const LikelyName& name) {
  Frame& frame = *frame_;
  const uint32_t bits = name.bits;
  frame.key_bits |= bits;
  frame.inner = name.place;
  add_entry(static_cast<KeyNumber>(bits));
  frame.likely = &frame.inner->next;
}

inline bool DocumentWriter::begin(uint8_t tag) {
  if (frame_ == &frames_.back()) return false;
  Place* const place = frame_->inner;
  const size_t room = place->header_bytes[tag == layout::kObject];
  static_assert(kMostRoom <= kMargin);
  reserve_margin();
  next_ += room;
  // The elements of an array stand where it does.
  *++frame_ = {.start = size(),
               .room = room,
               .entries = next_entry_,
               .likely = &place->first,
               .place = place,
               .inner = place,
               .tag = tag};
  return true;
}

}  // namespace quire::sql
