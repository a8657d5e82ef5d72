#include "sql/value/document_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "sql/value/json_number.h"

namespace quire::sql {
namespace {

constexpr size_t kFirstBuffer = size_t{4} << 10;
constexpr ptrdiff_t kFirstEntries = 64;

std::span<const std::byte> as_bytes(const char* first, size_t size) {
  return {reinterpret_cast<const std::byte*>(first), size};
}

}  // namespace

DocumentWriter::DocumentWriter()
    : places_(std::make_unique_for_overwrite<Place[]>(kPlaces)), seen_in_(KeyDictionary::kMostNames) {
  grow(kFirstBuffer);
  grow_entries();
}

void DocumentWriter::start(KeyDictionary& dictionary) {
  dictionary_ = &dictionary;
  if (version_ != dictionary.version()) {
    version_ = dictionary.version();
    known_places_ = 0;
  }
  know_names(dictionary.size());
  next_ = buffer_.get();
  next_entry_ = entries_.get();
  frame_ = frames_.data();
  frame_->inner = places_.get();
}

// Their places, and that of the root.
void DocumentWriter::know_names(size_t names) {
  for (; known_places_ <= names; ++known_places_) places_[known_places_] = {};
}

void DocumentWriter::grow(size_t bytes) {
  const size_t used = size();
  if (bytes > kMostDocumentBytes - used) throw DocumentTooLarge{};
  const size_t capacity = std::max(used + bytes + kMargin, std::max(kFirstBuffer, 2 * used));
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (used != 0) std::memcpy(larger.get(), buffer_.get(), used);
  buffer_ = std::move(larger);
  next_ = buffer_.get() + used;
  limit_ = buffer_.get() + capacity - kMargin;
}

void DocumentWriter::grow_entries() {
  const auto used = next_entry_ - entries_.get();
  const auto capacity = std::max(kFirstEntries, 2 * used);
  auto larger = std::make_unique<Entry[]>(static_cast<size_t>(capacity) + document_header::kEntryStep);
  std::copy(entries_.get(), next_entry_, larger.get());
  for (Frame& frame : std::span(frames_).first(static_cast<size_t>(frame_ - frames_.data()) + 1).subspan(1))
    frame.entries = larger.get() + (frame.entries - entries_.get());
  entries_ = std::move(larger);
  next_entry_ = entries_.get() + used;
  entries_limit_ = entries_.get() + capacity;
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

[[gnu::noinline]] void DocumentWriter::real(double value) {
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
void DocumentWriter::decimal(bool is_negative, uint64_t digits, uint32_t places) {
  if (places > layout::kMostPlaces || digits >= uint64_t{10} * kMostWithPlaces || digits % 10 == 0)
    return real(decimal_value(is_negative, digits, places));
  put_decimal(with_sign(static_cast<int32_t>(digits), is_negative), static_cast<int>(places));
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
  reserve_margin();
  *next_ = static_cast<char>(layout::decimal_tag(places, bytes));
  std::memcpy(next_ + 1, &integer, sizeof integer);
  next_ += 1 + bytes;
}

void DocumentWriter::string(std::string_view text) {
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

bool DocumentWriter::take_other_string(std::string_view text, size_t readable) {
  if (contains_backslash(text, readable)) return false;
  string(text);
  return true;
}

DocumentWriter::LikelyName DocumentWriter::number_of_unlikely(std::string_view name) {
  const Frame& frame = *frame_;
  const KeyNumber number = dictionary_->add(name);
  const bool is_greater = next_entry_ == frame.entries || number > next_entry_[-1].key;
  LikelyName likely{.place = place_of(number), .bits = number | (is_greater ? 0 : kFalls)};
  if (number == kInlineKey) return likely;
  know_names(dictionary_->size());
  const std::string_view json = *dictionary_->json_name(number);
  likely.json = json.data();
  likely.size = static_cast<uint32_t>(json.size());
  return *frame.likely = likely;
}

namespace {

// As a rule no two keys of an object share their lowest bits.
bool may_share_a_key(std::span<const document_header::Entry> entries) {
  constexpr uint32_t kBits = 64;
  uint64_t seen = 0, twice = 0;
  for (const auto& entry : entries) {
    const uint64_t bit = uint64_t{1} << entry.key % kBits;
    twice |= seen & bit;
    seen |= bit;
  }
  return twice != 0;
}

}  // namespace

void DocumentWriter::end_array() {
  end_container<false>();
}

void DocumentWriter::end_object() {
  const Frame& frame = *frame_;
  if ((frame.key_bits & kFalls) != 0 && may_share_a_key(entries()) && has_duplicate_keys(frame)) [[unlikely]]
    remove_duplicates(frame);
  end_container<true>();
}

[[gnu::noinline]] void DocumentWriter::move_values(const Frame& frame, size_t header) {
  reserve(header + kMargin);
  char* const at = buffer_.get() + frame.start - frame.room;
  const size_t body = size() - frame.start;
  std::memmove(at + header, at + frame.room, body);
  next_ = at + header + body;
  const bool is_object = frame.tag != layout::kArray;
  frame.place->header_bytes[is_object] = static_cast<uint8_t>(std::min(header, kMostRoom));
}

template <bool kIsObject>
inline void DocumentWriter::end_container() {
  const Frame& frame = *frame_;
  const size_t count = entries().size();
  const size_t body = size() - frame.start;
  const document_header::Form form =
      document_header::form_of<kIsObject>(static_cast<KeyNumber>(frame.key_bits), count, body);
  if (form.size != frame.room) [[unlikely]]
    move_values(frame, form.size);
  else
    reserve_margin();
  char* const at = buffer_.get() + frame.start - frame.room;
  document_header::put<kIsObject>(at, frame.tag, form, {frame.entries, count}, frame.start, body);
  next_entry_ = frame.entries;
  --frame_;
}

std::string_view DocumentWriter::inline_name(const Entry& entry) const {
  return decode_value(as_bytes(buffer_.get() + entry.offset, size() - entry.offset), 0).as_string();
}

bool DocumentWriter::has_duplicate_keys(const Frame& frame) {
  if (++object_serial_ == 0) {  // after 2^32 objects
    std::fill(seen_in_.begin(), seen_in_.end(), 0);
    object_serial_ = 1;
  }
  for (const Entry& entry : entries()) {
    if (entry.key == kInlineKey) continue;
    if (seen_in_[entry.key] == object_serial_) return true;
    seen_in_[entry.key] = object_serial_;
  }
  if (frame.inline_names < 2) return false;
  std::vector<std::string_view> names;
  names.reserve(frame.inline_names);
  for (const Entry& entry : entries())
    if (entry.key == kInlineKey) names.push_back(inline_name(entry));
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

// Rare, so it may allocate: the values are laid out anew, each name at its first place with its last value.
void DocumentWriter::remove_duplicates(const Frame& frame) {
  const std::vector<Entry> before(frame.entries, next_entry_);
  const std::string values(buffer_.get() + frame.start, next_);
  // The place of each name among those kept, and the last member of that name.
  std::unordered_map<std::string_view, size_t> places;
  std::vector<size_t> kept;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto key = static_cast<KeyNumber>(before[i].key);
    const auto [place, is_new] =
        places.try_emplace(key == kInlineKey ? inline_name(before[i]) : dictionary_->name(key), kept.size());
    if (is_new)
      kept.push_back(i);
    else
      kept[place->second] = i;
  }
  next_entry_ = frame.entries;
  next_ = buffer_.get() + frame.start;
  for (const size_t i : kept) {
    const size_t begin = before[i].offset - frame.start;
    const size_t end = i + 1 < before.size() ? before[i + 1].offset - frame.start : values.size();
    add_entry(static_cast<KeyNumber>(before[i].key));
    std::memcpy(next_, values.data() + begin, end - begin);
    next_ += end - begin;
  }
}

}  // namespace quire::sql
