// The properties that the database sets, computed from the record header before an item's document.
#pragma once

#include <cstdint>
#include <optional>
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

// Items of a container as JSON, with their system properties as last members. Their text is made once: from
// item to item a few digits of it change. Any thread may use it.
class ItemJson {
 public:
  explicit ItemJson(const ResourceNames& names);

  // Appends compact JSON of the item; `root` came from a record of the container.
  void write(const sql::Value& root, std::string& out) const;

 private:
  ResourceNames names_;
  std::string properties_;  // of item 0, without the end
  // Where digits of the item begin in it.
  size_t rid_ = 0, self_ = 0, etag_ = 0;
};

}  // namespace quire::engine
