#include "engine/file/format_upgrades.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include "engine/file/lmdb_value.h"

namespace quire::engine {
namespace {

using ContainerStep = std::function<int(uint32_t container)>;

// Calls `step` with the number of each container of the catalog, whose rows have it behind 4 bytes.
int for_containers(MDB_txn* transaction, const ContainerStep& step) {
  MDB_dbi catalog;
  int code = mdb_dbi_open(transaction, std::string(kCatalogTable).c_str(), 0, &catalog);
  if (code != MDB_SUCCESS) return code;
  MDB_cursor* opened = nullptr;
  code = mdb_cursor_open(transaction, catalog, &opened);
  if (code != MDB_SUCCESS) return code;
  const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> cursor(opened, mdb_cursor_close);
  MDB_val key, record;
  while ((code = mdb_cursor_get(cursor.get(), &key, &record, MDB_NEXT)) == MDB_SUCCESS) {
    constexpr size_t kNumberAt = 4;
    uint32_t number = 0;
    if (record.mv_size < kNumberAt + sizeof number) continue;
    std::memcpy(&number, static_cast<const char*>(record.mv_data) + kNumberAt, sizeof number);
    code = step(number);
    if (code != MDB_SUCCESS) return code;
  }
  return code == MDB_NOTFOUND ? MDB_SUCCESS : code;
}

// Version 0, of trial builds, had no database number.
int add_database_number(MDB_txn* transaction, MDB_dbi meta) {
  uint32_t number = std::random_device{}();
  MDB_val key = lmdb_value(kDatabaseRow), record{sizeof number, &number};
  return mdb_put(transaction, meta, &key, &record, 0);
}

// Version 1 had containers without a table of index entries.
int add_index_tables(MDB_txn* transaction, MDB_dbi) {
  return for_containers(transaction, [&](uint32_t container) {
    MDB_dbi index;
    return mdb_dbi_open(transaction, fmt::format("c{}/index", container).c_str(), MDB_CREATE, &index);
  });
}

struct Counters {
  uint64_t items = 0;
  uint64_t document_bytes = 0;
  uint64_t last_lsn = 0;
};

int read_counters(MDB_txn* transaction, uint32_t container, Counters& counters) {
  MDB_dbi statistics;
  const int code = mdb_dbi_open(transaction, fmt::format("c{}/stats", container).c_str(), 0, &statistics);
  if (code != MDB_SUCCESS) return code;
  std::string name = "counters";
  MDB_val key{name.size(), name.data()}, record;
  if (mdb_get(transaction, statistics, &key, &record) == MDB_SUCCESS && record.mv_size >= sizeof counters)
    std::memcpy(&counters, record.mv_data, sizeof counters);
  return MDB_SUCCESS;
}

// Version 2 had no change feed. The items that are there become one range of it, which engine/container's
// feed_row.h draws: kind 3, time unknown, first LSN, how many there are, no keys.
int add_feed(MDB_txn* transaction, uint32_t container) {
  MDB_dbi feed;
  int code = mdb_dbi_open(transaction, fmt::format("c{}/feed", container).c_str(), MDB_CREATE, &feed);
  Counters counters;
  if (code == MDB_SUCCESS) code = read_counters(transaction, container, counters);
  if (code != MDB_SUCCESS || counters.items == 0) return code;
  constexpr uint64_t kFirstLsn = 1;
  char row[23] = {3, '\xFF', '\xFF', '\xFF', '\xFF'};
  std::memcpy(row + 5, &kFirstLsn, sizeof kFirstLsn);
  std::memcpy(row + 13, &counters.items, sizeof counters.items);
  uint64_t last = std::byteswap(counters.last_lsn);
  MDB_val key{sizeof last, &last}, record{sizeof row, row};
  return mdb_put(transaction, feed, &key, &record, 0);
}

int add_feeds(MDB_txn* transaction, MDB_dbi) {
  return for_containers(transaction, [&](uint32_t container) { return add_feed(transaction, container); });
}

// Version 3 had fewer forms of arrays and objects, version 7 no decimals and but one header of records; what
// they have is read as before.
int keep_documents(MDB_txn*, MDB_dbi) {
  return MDB_SUCCESS;
}

// Version 4 had no log of commits, and does not look for one after a crash.
int have_no_log(MDB_txn*, MDB_dbi) {
  return MDB_SUCCESS;
}

// Version 5 had nothing in its log that was not in LMDB's newest commit, too, and looks for no such thing.
int have_nothing_pending(MDB_txn*, MDB_dbi) {
  return MDB_SUCCESS;
}

// Version 6 had logs of one length, and reads no more than that of a longer one.
int have_a_short_log(MDB_txn*, MDB_dbi) {
  return MDB_SUCCESS;
}

// What a step from version `from` to the next has to change.
struct Upgrade {
  uint32_t from;
  int (*run)(MDB_txn* transaction, MDB_dbi meta);
};
constexpr Upgrade kUpgrades[] = {
    {0, add_database_number}, {1, add_index_tables},     {2, add_feeds},        {3, keep_documents},
    {4, have_no_log},         {5, have_nothing_pending}, {6, have_a_short_log}, {7, keep_documents},
};

}  // namespace

int upgrade_format(MDB_txn* transaction, MDB_dbi meta, uint32_t from) {
  for (const Upgrade& step : kUpgrades) {
    if (step.from < from) continue;
    if (const int code = step.run(transaction, meta); code != MDB_SUCCESS) return code;
  }
  return MDB_SUCCESS;
}

}  // namespace quire::engine
