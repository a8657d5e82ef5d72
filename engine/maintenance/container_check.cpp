#include "engine/maintenance/container_check.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "engine/container/feed_cursor.h"
#include "engine/file/file_cursor.h"
#include "sql/value/document.h"

namespace quire::engine {
namespace {

constexpr std::string_view kRestore = "restore the file from a backup";
constexpr std::string_view kRestoreItem = "write the item anew, or restore the file from a backup";
constexpr std::string_view kRefill = "make the container anew: .export it, drop it, and .import it";

}  // namespace

ContainerCheck::ContainerCheck(const Transaction& snapshot, ContainerStore& store, LongWork& work,
                               CheckReport& report)
    : snapshot_(snapshot),
      store_(store),
      work_(work),
      report_(report),
      indexes_(snapshot, store, work, report) {}

void ContainerCheck::add(std::string where, std::string what, std::string repair) {
  report_.add({store_.definition().name, std::move(where), std::move(what), std::move(repair)});
}

Result<void> ContainerCheck::noted(Result<void> step, std::string_view where) {
  if (step || step.error().code != ErrorCode::corrupt) return step;
  add(std::string(where), std::move(step.error().message), std::string(kRestore));
  return {};
}

Result<void> ContainerCheck::run() {
  const uint64_t findings_before = report_.finding_count();
  QUIRE_TRY(noted(check_names(), "the property names"));
  auto counters = store_.statistics(snapshot_);
  has_counters_ = counters.has_value();
  if (has_counters_) counters_ = *counters;
  if (!counters && counters.error().code == ErrorCode::container_not_found)
    counters = fail(ErrorCode::corrupt, "the counters are missing");
  if (!counters) QUIRE_TRY(noted(std::unexpected(std::move(counters.error())), "the counters"));
  QUIRE_TRY(noted(indexes_.begin(), "the indexes"));
  QUIRE_TRY(noted(check_items(), "the items"));
  QUIRE_TRY(noted(indexes_.finish(), "the indexes"));
  QUIRE_TRY(check_counters());
  // The feed is compared with items: what is wrong with them has been said.
  if (report_.finding_count() == findings_before) QUIRE_TRY(noted(check_feed(), "the change feed"));
  report_.items += counted_.items;
  return {};
}

// ---- Names

Result<void> ContainerCheck::check_names() {
  QUIRE_TRY(store_.refresh(snapshot_));
  const sql::KeyDictionary& dictionary = store_.dictionary();
  // In memory there may be more: those of a transaction that is not committed, or that came later.
  QUIRE_ASSIGN(const uint64_t count, snapshot_.count(store_.tables_.keys));
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot_, store_.tables_.keys));
  for (size_t number = 0;; ++number) {
    QUIRE_ASSIGN(const bool is_there, cursor.next());
    if (!is_there) {
      if (number < count)
        add("the property names", fmt::format("the names from number {} on are missing", number),
            std::string(kRestore));
      return {};
    }
    const Bytes name = cursor.record();
    const std::string wanted_key{static_cast<char>(number >> 8), static_cast<char>(number)};
    const bool is_right = cursor.key() == wanted_key && number < dictionary.size() &&
                          dictionary.name(static_cast<sql::KeyNumber>(number)) == name &&
                          simdjson::validate_utf8(name.data(), name.size());
    if (!is_right) {
      add(fmt::format("the property name of number {}", number), "its row is damaged", std::string(kRestore));
      return {};
    }
  }
}

// ---- Items

Result<void> ContainerCheck::check_items() {
  QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot_, store_.items_table()));
  for (;;) {
    QUIRE_ASSIGN(const bool is_there, cursor.next());
    if (!is_there) return {};
    QUIRE_TRY(check_item(cursor.key(), cursor.record()));
    QUIRE_TRY(work_.advance(1));
  }
}

std::string ContainerCheck::item_text(Bytes key) const {
  return fmt::format("item '{}'", printable(id_of_key(key, store_.components())));
}

Result<void> ContainerCheck::check_item(Bytes key, Bytes record) {
  ++counted_.items;
  if (!has_known_layout(record)) {
    add(item_text(key), "its record is cut off, or of a version that this Quire does not know",
        std::string(kRestoreItem));
    has_unreadable_ = true;
    return {};
  }
  counted_.document_bytes += document_of(record).size();
  check_header(key, record);
  const sql::Value root = check_document(key, record);
  if (root.is_undefined()) return {};
  check_key(key, root);
  return indexes_.add_item(root, key);
}

void ContainerCheck::check_header(Bytes key, Bytes record) {
  const RecordHeader header = read_header(record);
  if (!has_right_checksum(record)) {
    add(item_text(key), "its bytes do not have the checksum that was stored with them",
        std::string(kRestoreItem));
    return;
  }
  counted_.last_lsn = std::max(counted_.last_lsn, header.lsn);
  counted_.last_rid = std::max(counted_.last_rid, header.rid);
}

sql::Value ContainerCheck::check_document(Bytes key, Bytes record) {
  const Bytes document = document_of(record);
  if (auto valid = sql::validate_document(std::as_bytes(std::span(document)), store_.dictionary()); !valid) {
    add(item_text(key), std::move(valid.error().message), std::string(kRestoreItem));
    return {};
  }
  const sql::Value root = store_.root_of(record);
  if (root.is_undefined()) add(item_text(key), "it is no object", std::string(kRestoreItem));
  return root;
}

void ContainerCheck::check_key(Bytes key, const sql::Value& root) {
  const sql::Value id = store_.id_of(root);
  const PartitionKey partition_key = store_.partition_key_of(root);
  const auto paths = store_.definition().partition_key_paths;
  auto checked = check_item_id(id);
  if (checked) checked = check_partition_key(partition_key, paths);
  if (!checked) {
    add(item_text(key), std::move(checked.error().message), std::string(kRestoreItem));
    return;
  }
  if (ItemKey(partition_key, id.as_string(), store_.hash()).bytes() == key) return;
  add(item_text(key),
      fmt::format("it is stored under a key that is not that of its id '{}' and its partition key {}",
                  id.as_string(), partition_key_text(partition_key)),
      std::string(kRefill));
}

// ---- Counters

Result<void> ContainerCheck::check_counters() {
  if (!has_counters_) return {};
  const auto compare = [&](std::string_view what, uint64_t said, uint64_t found) {
    if (said != found)
      add("the counters", fmt::format("they say {} {}; there are {}", said, what, found),
          std::string(kRefill));
  };
  compare("items", counters_.items, counted_.items);
  // How long a record was that is cut off nobody knows.
  if (!has_unreadable_) compare("bytes of documents", counters_.document_bytes, counted_.document_bytes);
  if (counters_.last_lsn < counted_.last_lsn || counters_.last_rid < counted_.last_rid)
    add("the counters", "an item is newer than the last write that they know of", std::string(kRefill));
  return {};
}

// ---- The change feed

// Each row leads to items that have its LSN, or is damaged; an item has one LSN, so as many as there are
// means each of them once.
Result<void> ContainerCheck::check_feed() {
  FeedScope all;
  all.with_expired = true;
  QUIRE_ASSIGN(LatestCursor cursor, LatestCursor::open(store_, snapshot_, all, Lsn{}));
  FeedEntry entry;
  uint64_t items = 0;
  for (Lsn last{};; ++items) {
    QUIRE_ASSIGN(const bool is_there, cursor.next(entry));
    if (!is_there) break;
    QUIRE_TRY(work_.advance(0));
    if (entry.lsn <= last) return fail(ErrorCode::corrupt, "its changes are not in their order");
    last = entry.lsn;
  }
  if (items != counted_.items)
    add("the change feed", fmt::format("it tells of {} items; there are {}", items, counted_.items),
        std::string(kRefill));
  return {};
}

}  // namespace quire::engine
