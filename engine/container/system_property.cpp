#include "engine/container/system_property.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "sql/value/json.h"

namespace quire::engine {
namespace {

constexpr std::string_view kAttachments = "attachments/";

// Eight digits at once: each gets a byte of a word, the first one the uppermost.
void put_eight_hex(uint32_t number, char* out) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t digits = number;
  digits = (digits << 16 | digits) & 0x0000FFFF0000FFFF;
  digits = (digits << 8 | digits) & 0x00FF00FF00FF00FF;
  digits = (digits << 4 | digits) & 0x0F0F0F0F0F0F0F0F;
  const uint64_t letters = (digits + 6 * kOnes) >> 4 & kOnes;
  digits += '0' * kOnes + ('a' - '0' - 10) * letters;
  digits = __builtin_bswap64(digits);
  std::memcpy(out, &digits, sizeof digits);
}
void put_hex(uint64_t number, char* out) {
  put_eight_hex(static_cast<uint32_t>(number >> 32), out);
  put_eight_hex(static_cast<uint32_t>(number), out + 8);
}

// Base64 as in Cosmos's resource ids: '-' stands for '/', so that a link can hold them.
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
constexpr size_t base64_size(size_t bytes) {
  return (bytes + 2) / 3 * 4;
}
void put_base64(const unsigned char* bytes, size_t size, char* out) {
  for (size_t at = 0; at < size; at += 3, out += 4) {
    const size_t left = size - at;
    const uint32_t second = left > 1 ? bytes[at + 1] : 0, third = left > 2 ? bytes[at + 2] : 0;
    const uint32_t group = static_cast<uint32_t>(bytes[at] << 16) | second << 8 | third;
    out[0] = kBase64[group >> 18];
    out[1] = kBase64[group >> 12 & 63];
    out[2] = left > 1 ? kBase64[group >> 6 & 63] : '=';
    out[3] = left > 2 ? kBase64[group & 63] : '=';
  }
}

// A resource id is the database's, then the container's, then the item's number, all big-endian.
constexpr size_t kDatabaseBytes = 4, kContainerBytes = 8, kItemBytes = 16;
using ResourceId = std::array<unsigned char, kItemBytes>;

ResourceId resource_id(const ResourceNames& names, uint64_t rid) {
  ResourceId id;
  const uint32_t database = __builtin_bswap32(names.database_number);
  const uint32_t container = __builtin_bswap32(static_cast<uint32_t>(names.container));
  const uint64_t item = __builtin_bswap64(rid);
  std::memcpy(id.data(), &database, 4);
  std::memcpy(id.data() + kDatabaseBytes, &container, 4);
  std::memcpy(id.data() + kContainerBytes, &item, 8);
  return id;
}

template <size_t Size>
struct Text {
  char text[Size];
  std::string_view view() const { return {text, Size}; }
};

constexpr size_t kRidSize = base64_size(kItemBytes);
Text<kRidSize> rid_text(const ResourceNames& names, uint64_t rid) {
  Text<kRidSize> text;
  put_base64(resource_id(names, rid).data(), kItemBytes, text.text);
  return text;
}

// "dbs/<database>/colls/<container>/docs/<item>/"
constexpr std::string_view kDatabases = "dbs/", kContainers = "/colls/", kItems = "/docs/", kEnd = "/";
constexpr size_t kSelfSize = kDatabases.size() + base64_size(kDatabaseBytes) + kContainers.size() +
                             base64_size(kContainerBytes) + kItems.size() + base64_size(kItemBytes) +
                             kEnd.size();

Text<kSelfSize> self_text(const ResourceNames& names, uint64_t rid) {
  const ResourceId id = resource_id(names, rid);
  Text<kSelfSize> self;
  char* at = self.text;
  const auto put = [&](std::string_view literal, size_t id_bytes) {
    std::memcpy(at, literal.data(), literal.size());
    put_base64(id.data(), id_bytes, at + literal.size());
    at += literal.size() + base64_size(id_bytes);
  };
  put(kDatabases, kDatabaseBytes);
  put(kContainers, kContainerBytes);
  put(kItems, kItemBytes);
  put(kEnd, 0);
  return self;
}

}  // namespace

Etag make_etag(uint64_t salt, Lsn lsn) noexcept {
  char digits[32];
  put_hex(salt, digits);
  put_hex(static_cast<uint64_t>(lsn), digits + 16);
  Etag etag;
  char* out = etag.text;
  const char* from = digits;
  *out++ = '"';
  const auto put = [&](size_t count, char behind) {
    std::memcpy(out, from, count);
    out[count] = behind;
    out += count + 1, from += count;
  };
  put(8, '-');
  put(4, '-');
  put(4, '-');
  put(4, '-');
  put(12, '"');
  return etag;
}

sql::Value system_property(const ResourceNames& names, const sql::Value& root, sql::SystemProperty property,
                           sql::Arena& arena) {
  const RecordHeader header = header_of(root);
  const auto string = [&](std::string_view text) { return sql::Value::string(arena.copy_string(text)); };
  switch (property) {
    case sql::SystemProperty::rid:
      return string(rid_text(names, header.rid).view());
    case sql::SystemProperty::self:
      return string(self_text(names, header.rid).view());
    case sql::SystemProperty::etag:
      return string(make_etag(names.etag_salt, header.lsn).view());
    case sql::SystemProperty::attachments:
      return sql::Value::string(kAttachments);
    case sql::SystemProperty::ts:
      return sql::Value::integer(header.timestamp);
  }
  return sql::Value::undefined();
}

std::string container_link(const ResourceNames& names) {
  const auto self = self_text(names, 0);
  return std::string(self.view().substr(0, self.view().find(kItems) + 1));
}

std::optional<uint64_t> item_number_of(const ResourceNames& names, std::string_view rid) {
  if (rid.size() != base64_size(kItemBytes)) return std::nullopt;
  uint64_t number = 0;
  // The item's number is the last 8 of 16 bytes: bits 64 to 127 of the 128 that the digits stand for.
  for (size_t i = 0; i < (kItemBytes * 8 + 5) / 6; ++i) {
    const size_t digit = kBase64.find(rid[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    const int bits = i + 1 == (kItemBytes * 8 + 5) / 6 ? 2 : 6;
    number = number << bits | digit >> (6 - bits);
  }
  if (rid_text(names, number).view() != rid) return std::nullopt;
  return number;
}

namespace {

// The base64 group with the first byte of an item's number: from there on digits are the item's own.
constexpr size_t kItemGroup = kContainerBytes / 3;
constexpr size_t kItemDigits = base64_size(kItemBytes) - 4 * kItemGroup;
// The LSN's digits in an etag without its quotes: xxxxxxxx-xxxx-xxxx-LLLL-LLLLLLLLLLLL.
constexpr size_t kLsnInEtag = 19, kLsnBeforeDash = 4;
constexpr size_t kLongestEnd = 32;  // the timestamp and the closing brace

}  // namespace

SystemPropertyTexts::SystemPropertyTexts(const ResourceNames& names) : names_(names) {
  const auto rid = rid_text(names, 0);
  const auto self = self_text(names, 0);
  const Etag etag = make_etag(names.etag_salt, Lsn{});
  const size_t in_self = self.view().find(kItems) + kItems.size() + 4 * kItemGroup;
  in_strings_ = {
      .rid = 4 * kItemGroup, .self = kRidSize + in_self, .etag = kRidSize + kSelfSize + 1 + kLsnInEtag};
  strings_.append(rid.view()).append(self.view()).append(etag.view());
  json_.append(R"(,"_rid":")");
  in_json_.rid = json_.size() + 4 * kItemGroup;
  json_.append(rid.view()).append(R"(","_self":")");
  in_json_.self = json_.size() + in_self;
  // The etag's own quotes are part of its text.
  json_.append(self.view()).append(R"(","_etag":"\")");
  in_json_.etag = json_.size() + kLsnInEtag;
  json_.append(etag.view().substr(1, etag.view().size() - 2)).append(R"(\"","_attachments":")");
  json_.append(kAttachments).append(R"(","_ts":)");
}

void SystemPropertyTexts::put_digits(const RecordHeader& header, const Places& places,
                                     char* text) const noexcept {
  put_base64(resource_id(names_, header.rid).data() + 3 * kItemGroup, kItemBytes - 3 * kItemGroup,
             text + places.rid);
  std::memcpy(text + places.self, text + places.rid, kItemDigits);
  char lsn[16];
  put_hex(static_cast<uint64_t>(header.lsn), lsn);
  std::memcpy(text + places.etag, lsn, kLsnBeforeDash);
  std::memcpy(text + places.etag + kLsnBeforeDash + 1, lsn + kLsnBeforeDash, sizeof lsn - kLsnBeforeDash);
}

void SystemPropertyTexts::write_item(const sql::Value& root, std::string& out) const {
  const RecordHeader header = header_of(root);
  sql::write_json(root, out);
  const size_t begin = out.size() - 1;  // of the closing brace; an item has at least an id before it
  out.resize_and_overwrite(begin + json_.size() + kLongestEnd, [&](char* text, size_t) {
    char* const to = text + begin;
    std::memcpy(to, json_.data(), json_.size());
    put_digits(header, in_json_, to);
    char* const end = to + json_.size();
    char* const at = std::to_chars(end, end + kLongestEnd, header.timestamp).ptr;
    *at = '}';
    return static_cast<size_t>(at + 1 - text);
  });
}

void SystemPropertyTexts::properties(const sql::Value& root,
                                     std::span<sql::Value, sql::kSystemPropertyCount> values,
                                     sql::Arena& arena) const {
  const RecordHeader header = header_of(root);
  const std::span<char> text = arena.copy_array(std::span<const char>(strings_));
  put_digits(header, in_strings_, text.data());
  const std::string_view strings(text.data(), text.size());
  using enum sql::SystemProperty;
  const auto put = [&](sql::SystemProperty property, const sql::Value& value) {
    values[static_cast<size_t>(property)] = value;
  };
  put(rid, sql::Value::string(strings.substr(0, kRidSize)));
  put(self, sql::Value::string(strings.substr(kRidSize, kSelfSize)));
  put(etag, sql::Value::string(strings.substr(kRidSize + kSelfSize)));
  put(attachments, sql::Value::string(kAttachments));
  put(ts, sql::Value::integer(header.timestamp));
}

}  // namespace quire::engine
