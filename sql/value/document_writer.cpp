#include "sql/value/document_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>

namespace quire::sql {
namespace {

constexpr size_t kFirstBuffer = size_t{4} << 10;

std::span<const std::byte> as_bytes(const char* first, size_t size) {
  return {reinterpret_cast<const std::byte*>(first), size};
}

}  // namespace

DocumentWriter::DocumentWriter()
    : places_(std::make_unique_for_overwrite<Place[]>(kPlaces)), seen_in_(KeyDictionary::kMostNames) {
  grow(kFirstBuffer);
}

void DocumentWriter::start(KeyDictionary& dictionary) {
  dictionary_ = &dictionary;
  if (version_ != dictionary.version()) {
    version_ = dictionary.version();
    known_places_ = 0;
  }
  know_names(dictionary.size());
  next_ = buffer_.get();
  entries_.clear();
  frame_ = frames_.data();
  frame_->place = places_.get();
}

// Their places, and that of the root.
void DocumentWriter::know_names(size_t names) {
  for (; known_places_ <= names; ++known_places_) places_[known_places_] = {};
}

void DocumentWriter::grow(size_t bytes) {
  const size_t used = size();
  if (bytes > kMostDocumentBytes - used) throw DocumentTooLarge{};
  const size_t capacity = std::max(used + bytes, std::max(kFirstBuffer, 2 * used));
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (used != 0) std::memcpy(larger.get(), buffer_.get(), used);
  buffer_ = std::move(larger);
  next_ = buffer_.get() + used;
  limit_ = buffer_.get() + capacity;
}

void DocumentWriter::integer(int64_t value) {
  const auto fits = [value]<typename T>(T) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  };
  if (value >= 0 && value <= layout::kMostTagInteger)
    put_tag(static_cast<uint8_t>(value));
  else if (fits(int8_t{}))
    put(layout::kInteger1, static_cast<int8_t>(value));
  else if (fits(int16_t{}))
    put(layout::kInteger2, static_cast<int16_t>(value));
  else if (fits(int32_t{}))
    put(layout::kInteger4, static_cast<int32_t>(value));
  else
    put(layout::kInteger8, value);
}

void DocumentWriter::real(double value) {
  const Value number = Value::number(value);
  if (number.kind() == Kind::integer)
    integer(number.as_integer());
  else if (!decimal(value))
    put(layout::kReal, value);
}

namespace {

// Decimals are of fewer, whatever their places.
constexpr int32_t kMostDecimal = std::numeric_limits<int32_t>::max();
constexpr int32_t kMostWithPlaces = kMostDecimal / 10;

}  // namespace

// As decimal(double) finds them: the quotient that was rounded there is the one that made the value.
void DocumentWriter::decimal(double value, uint64_t digits, uint32_t places) {
  if (places > layout::kMostPlaces || digits >= uint64_t{10} * kMostWithPlaces || digits % 10 == 0)
    return real(value);
  const auto integer = static_cast<int32_t>(digits);
  put_decimal(value < 0 ? -integer : integer, static_cast<int>(places));
}

// Of 21.57 that is 2157 / 10^2. False if dividing does not give the number back.
bool DocumentWriter::decimal(double value) {
  const double magnitude = std::fabs(value);
  if (!(magnitude < kMostWithPlaces)) return false;
  // So few where there is no room for more that the product is exact enough to be rounded.
  constexpr double kLarge = 1e6;
  int places = magnitude < kLarge ? layout::kMostPlaces : layout::kMostPlaces / 2;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): a wrong one fails the test below; lround is a call
  auto digits = static_cast<uint64_t>(magnitude * layout::kPowersOfTen[places] + 0.5);
  for (; digits % 10 == 0 && places > 1; --places) digits /= 10;
  if (digits > kMostDecimal) return false;
  const auto integer = value < 0 ? -static_cast<int32_t>(digits) : static_cast<int32_t>(digits);
  if (integer / layout::kPowersOfTen[places] != value) return false;
  put_decimal(integer, places);
  return true;
}

void DocumentWriter::put_decimal(int32_t integer, int places) {
  const auto magnitude = static_cast<uint32_t>(integer < 0 ? ~integer : integer);
  const auto bytes = static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;  // one bit is for the sign
  reserve(1 + sizeof integer);
  *next_ = static_cast<char>(layout::decimal_tag(places, bytes));
  std::memcpy(next_ + 1, &integer, sizeof integer);
  next_ += 1 + bytes;
}

DocumentWriter::LikelyName DocumentWriter::number_of_unlikely(std::string_view name) {
  const Frame& frame = *frame_;
  const KeyNumber number = dictionary_->add(name);
  LikelyName likely{.number = number};
  likely.is_greater = entries_.size() == frame.first_entry || number > entries_.back().key;
  if (number == kInlineKey) return likely;
  know_names(dictionary_->size());
  const std::string_view json = *dictionary_->json_name(number);
  likely.json = json.data();
  likely.size = static_cast<uint32_t>(json.size());
  return *frame.likely = likely;
}

void DocumentWriter::end_array() {
  write_header(*frame_, layout::kArray);
  entries_.resize(frame_->first_entry);
  --frame_;
}

void DocumentWriter::end_object() {
  const Frame& frame = *frame_;
  if (!frame.keys_rise && has_duplicate_keys(frame)) [[unlikely]]
    remove_duplicates(frame);
  write_header(frame, layout::kObject | (frame.inline_names != 0 ? layout::kInlineBit : 0));
  entries_.resize(frame.first_entry);
  --frame_;
}

inline DocumentWriter::HeaderForm DocumentWriter::header_form(const Frame& frame, uint8_t tag, size_t count,
                                                              size_t body) {
  HeaderForm form{.tag = tag, .key_bytes = frame.is_object ? size_t{2} : 0, .offset_bytes = 2, .size = 0};
  const auto size = [&](size_t count_bytes) {
    return 1 + count_bytes + form.key_bytes * count + form.offset_bytes * (count + 1);
  };
  if (count > layout::kMostSmallCount || size(1) + body > layout::kMostSmallBytes) {
    form.tag |= layout::kLargeBit;
    form.offset_bytes = 4;
    form.size = size(4);
    return form;
  }
  if (frame.is_object && frame.key_bits <= layout::kMostShortKey) {
    form.tag |= layout::kShortKeysBit;
    form.key_bytes = 1;
  }
  if (size(1) - (count + 1) + body <= layout::kMostNarrowBytes) {
    form.tag |= layout::kNarrowBit;
    form.offset_bytes = 1;
  }
  form.size = size(1);
  return form;
}

void DocumentWriter::write_header(const Frame& frame, uint8_t tag) {
  const Entry* entries = entries_.data() + frame.first_entry;
  const size_t count = entries_.size() - frame.first_entry;
  const size_t body = size() - frame.start;
  const HeaderForm form = header_form(frame, tag, count, body);
  reserve(form.size);
  char* at = buffer_.get() + frame.start - frame.room;
  if (form.size != frame.room) {
    std::memmove(at + form.size, at + frame.room, body);
    next_ = at + form.size + body;
    frame.place->header_bytes[frame.is_object] = static_cast<uint8_t>(std::min(form.size, kMostRoom));
  }

  // Little-endian: the first bytes of a number are the number in fewer bytes.
  const auto put_low = [](char* to, size_t number, size_t bytes) {
    std::memcpy(to, &number, bytes);
    return to + bytes;
  };
  *at++ = static_cast<char>(form.tag);
  const bool is_object = frame.is_object;
  const auto put_all = [&]<typename Key, typename Offset>(Key, Offset) {
    at = put_low(at, count, std::is_same_v<Offset, uint32_t> ? sizeof(uint32_t) : 1);
    char* offset = at + form.key_bytes * count;
    for (const Entry *entry = entries, *const end = entries + count; entry != end; ++entry) {
      if (is_object) at = put_low(at, entry->key, sizeof(Key));
      offset = put_low(offset, form.size + entry->offset, sizeof(Offset));
    }
    put_low(offset, form.size + body, sizeof(Offset));
  };
  if (form.offset_bytes == 4)
    put_all(uint16_t{}, uint32_t{});
  else if (form.offset_bytes == 2)
    form.key_bytes == 1 ? put_all(uint8_t{}, uint16_t{}) : put_all(uint16_t{}, uint16_t{});
  else
    form.key_bytes == 1 ? put_all(uint8_t{}, uint8_t{}) : put_all(uint16_t{}, uint8_t{});
}

std::string_view DocumentWriter::inline_name(const Frame& frame, const Entry& entry) const {
  const size_t at = frame.start + entry.offset;
  return decode_value(as_bytes(buffer_.get() + at, size() - at), 0).as_string();
}

bool DocumentWriter::has_duplicate_keys(const Frame& frame) {
  if (++object_serial_ == 0) {  // after 2^32 objects
    std::fill(seen_in_.begin(), seen_in_.end(), 0);
    object_serial_ = 1;
  }
  for (size_t i = frame.first_entry; i < entries_.size(); ++i) {
    const KeyNumber key = entries_[i].key;
    if (key == kInlineKey) continue;
    if (seen_in_[key] == object_serial_) return true;
    seen_in_[key] = object_serial_;
  }
  if (frame.inline_names < 2) return false;
  std::vector<std::string_view> names;
  names.reserve(frame.inline_names);
  for (size_t i = frame.first_entry; i < entries_.size(); ++i)
    if (entries_[i].key == kInlineKey) names.push_back(inline_name(frame, entries_[i]));
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// Rare, so it may allocate: the values are laid out anew, each name at its first place with its last value.
void DocumentWriter::remove_duplicates(const Frame& frame) {
  const size_t count = entries_.size() - frame.first_entry;
  const size_t body = size() - frame.start;
  const std::string values(buffer_.get() + frame.start, body);
  const std::vector<Entry> before(entries_.begin() + static_cast<ptrdiff_t>(frame.first_entry),
                                  entries_.end());
  // The place of each name among those kept, and the last member of that name.
  std::unordered_map<std::string_view, size_t> places;
  std::vector<size_t> kept;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name =
        before[i].key == kInlineKey ? inline_name(frame, before[i]) : dictionary_->name(before[i].key);
    const auto [place, is_new] = places.try_emplace(name, kept.size());
    if (is_new)
      kept.push_back(i);
    else
      kept[place->second] = i;
  }
  entries_.resize(frame.first_entry);
  next_ = buffer_.get() + frame.start;
  for (const size_t i : kept) {
    const size_t end = i + 1 < count ? before[i + 1].offset : body;
    const size_t length = end - before[i].offset;
    entries_.push_back({offset_in_container(), before[i].key});
    std::memcpy(next_, values.data() + before[i].offset, length);
    next_ += length;
  }
}

}  // namespace quire::sql
