// The properties that the database sets, computed from the record header before an item's document.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/container/record.h"
#include "sql/source.h"
#include "sql/value/arena.h"

namespace quire::engine {

// "\"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\"" with its quotes: the container's salt, then the LSN, so each
// write of an item changes it, and items of different containers do not share one.
struct Etag {
  char text[38];
  std::string_view view() const noexcept { return {text, sizeof text}; }
};
Etag make_etag(uint64_t salt, Lsn lsn) noexcept;

// What system properties need to know about a container.
struct ResourceNames {
  uint32_t database_number = 0;
  ContainerNumber container{};
  uint64_t etag_salt = 0;
};

// `root` came from a record of the container. Strings live in `arena`.
sql::Value system_property(const ResourceNames& names, const sql::Value& root, sql::SystemProperty property,
                           sql::Arena& arena);

// "dbs/<database>/colls/<container>/", with which the _self of each of its items begins.
std::string container_link(const ResourceNames& names);
// The number of the item whose _rid is `rid`; nothing if that is no _rid of the container.
std::optional<uint64_t> item_number_of(const ResourceNames& names, std::string_view rid);

// The system properties of a container's items. Their text is made once: from item to item a few digits of it
// change. Any thread may use it.
class SystemPropertyTexts {
 public:
  explicit SystemPropertyTexts(const ResourceNames& names);

  // Appends compact JSON of an item with its system properties as last members; `root` came from a record of
  // the container.
  void write_item(const sql::Value& root, std::string& out) const;
  // All of such an item, in the order of SystemProperty; strings live in `arena`.
  void properties(const sql::Value& root, std::span<sql::Value, sql::kSystemPropertyCount> values,
                  sql::Arena& arena) const;

 private:
  // Where digits of the item begin in a text.
  struct Places {
    size_t rid, self, etag;
  };
  void put_digits(const RecordHeader& header, const Places& places, char* text) const noexcept;

  ResourceNames names_;
  // Of item 0: the members in JSON without the end; the strings one behind the other.
  std::string json_, strings_;
  Places in_json_{}, in_strings_{};
};

}  // namespace quire::engine
