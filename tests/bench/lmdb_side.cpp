// LMDB's side: the floor below Quire. Items are their JSON text under a key of the 16-byte hash of the device
// and the id; keys are made beforehand.
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "tests/bench/lmdb_environment.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

struct KeyedItem {
  std::string key;
  std::string_view json;
};

std::vector<KeyedItem> keyed_items(std::string_view text) {
  std::vector<KeyedItem> items;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const ReadingKeyView key = key_of_line(line);
    items.push_back({lmdb_item_key(key.device_id, key.id), line});
    text.remove_prefix(line.size() + 1);
  }
  return items;
}

std::string read_whole(const std::string& path) {
  std::string text(std::filesystem::file_size(path), '\0');
  must(std::fread(text.data(), 1, text.size(), open_file(path, "rb").get()) == text.size(),
       "cannot read " + path);
  return text;
}

// The table with the most entries of those whose names end in "/items".
MDB_dbi items_table(MDB_txn* transaction) {
  MDB_dbi names = 0;
  lmdb_must(mdb_dbi_open(transaction, nullptr, 0, &names));
  const Cursor cursor = open_cursor(transaction, names);
  MDB_dbi best = 0;
  size_t most = 0;
  MDB_val name, value;
  while (mdb_cursor_get(cursor.get(), &name, &value, MDB_NEXT) == MDB_SUCCESS) {
    MDB_dbi table = 0;
    MDB_stat statistics;
    if (!view_of(name).ends_with("/items")) continue;
    lmdb_must(mdb_dbi_open(transaction, std::string(view_of(name)).c_str(), 0, &table));
    lmdb_must(mdb_stat(transaction, table, &statistics));
    if (statistics.ms_entries < most) continue;
    best = table;
    most = statistics.ms_entries;
  }
  must(most > 0, "lmdb: no items in Quire's file");
  return best;
}

}  // namespace

Sample lmdb_import(const Fixture& fixture) {
  const std::string path = fixture.lmdb_file();
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-lock");
  const std::string text = read_whole(fixture.readings.path());
  std::vector<KeyedItem> items = keyed_items(text);
  const Environment environment = open_environment(path, 0);
  const double seconds = seconds_of([&] {
    std::ranges::sort(items, {}, &KeyedItem::key);
    LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
    const MDB_dbi table = open_table(transaction.get());
    for (const KeyedItem& item : items) {
      MDB_val key = value_of(item.key), value = value_of(item.json);
      lmdb_must(mdb_put(transaction.get(), table, &key, &value, MDB_APPEND));
    }
    commit_lmdb(std::move(transaction));
  });
  return {static_cast<double>(items.size()) / seconds, std::to_string(items.size())};
}

Sample lmdb_point_read(const Fixture& fixture) {
  std::vector<std::string> keys;
  for (const ReadingKey& probe : fixture.probes) keys.push_back(lmdb_item_key(probe.device_id, probe.id));
  const Environment environment = open_environment(fixture.lmdb_file(), MDB_RDONLY);
  const LmdbTransaction transaction = begin_lmdb(environment.get(), MDB_RDONLY);
  const MDB_dbi table = open_table(transaction.get());
  uint64_t braces = 0;
  const double rate = rate_of(keys.size(), [&] {
    for (const std::string& text : keys) {
      MDB_val key = value_of(text), value;
      lmdb_must(mdb_get(transaction.get(), table, &key, &value));
      braces += view_of(value).front() == '{' ? 1 : 0;
    }
  });
  must(braces % keys.size() == 0, "lmdb: an item is damaged");
  return {rate, {}};
}

Sample lmdb_walk_quire_file(const Fixture& fixture) {
  const Environment environment = open_environment(fixture.quire_file(), MDB_RDONLY);
  const LmdbTransaction transaction = begin_lmdb(environment.get(), MDB_RDONLY);
  const MDB_dbi table = items_table(transaction.get());
  uint64_t items = 0;
  uint64_t bytes = 0;
  const double rate = rate_of(fixture.readings.count(), [&] {
    const Cursor cursor = open_cursor(transaction.get(), table);
    MDB_val key, value;
    for (items = 0; mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT) == MDB_SUCCESS; ++items)
      bytes += value.mv_size;
  });
  must(items == fixture.readings.count() && bytes > 0, "lmdb: Quire's file lacks items");
  return {rate, {}};
}

Sample lmdb_file_size(const Fixture& fixture) {
  return {static_cast<double>(std::filesystem::file_size(fixture.lmdb_file())), {}};
}

}  // namespace quire::bench
