// What LMDB alone needs for the works on indexes. An entry's key is the indexed value, in an order of bytes,
// and the key of its item; it has no record. The files of entries are made beforehand.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>

#include "tests/bench/index_works.h"
#include "tests/bench/lmdb_environment.h"
#include "tests/bench/must.h"
#include "tests/bench/sides.h"

namespace quire::bench {
namespace {

constexpr size_t kValueBytes = 8;

std::string ordered_bytes(uint64_t number) {
  std::string bytes(kValueBytes, '\0');
  for (size_t i = 0; i < kValueBytes; ++i)
    bytes[i] = static_cast<char>(number >> (8 * (kValueBytes - 1 - i)));
  return bytes;
}
std::string ordered_bytes(double number) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(number);
  return ordered_bytes((bits & kSign) != 0 ? ~bits : bits | kSign);
}

// The text between `opening` and the next of `ends`.
std::string_view member_of(std::string_view line, std::string_view opening, std::string_view ends) {
  const size_t start = line.find(opening) + opening.size();
  return line.substr(start, line.find_first_of(ends, start) - start);
}
template <typename Number>
Number number_of(std::string_view line, std::string_view opening) {
  const std::string_view text = member_of(line, opening, ",}");
  Number number{};
  must(std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc(), "no number");
  return number;
}

std::string item_key_of(std::string_view line) {
  const ReadingKeyView key = key_of_line(line);
  return lmdb_item_key(key.device_id, key.id);
}
std::string seq_entry_of(std::string_view line) {
  return ordered_bytes(number_of<uint64_t>(line, R"("seq":)")) + item_key_of(line);
}
std::string value_entry_of(std::string_view line) {
  return ordered_bytes(number_of<double>(line, R"("metricValue":)")) + item_key_of(line);
}
std::string city_entry_of(std::string_view line) {
  return std::string(member_of(line, R"("city":")", "\"")) + '\0' + item_key_of(line);
}

void put(MDB_txn* transaction, MDB_dbi table, std::string_view key_text, std::string_view text,
         unsigned flags = 0) {
  MDB_val key = value_of(key_text), value = value_of(text);
  lmdb_must(mdb_put(transaction, table, &key, &value, flags));
}

// A file of the entries of all readings, and the items' beside it.
class IndexedItems {
 public:
  IndexedItems(const Fixture& fixture, std::string (*entry_of)(std::string_view))
      : path_(fixture.folder + "/entries.lmdb"), entry_environment_(make(fixture, entry_of)) {
    item_environment_ = open_environment(fixture.lmdb_file(), MDB_RDONLY);
    entries_ = begin_lmdb(entry_environment_.get(), MDB_RDONLY);
    items_ = begin_lmdb(item_environment_.get(), MDB_RDONLY);
    entry_table_ = open_table(entries_.get());
    item_table_ = open_table(items_.get());
  }
  ~IndexedItems() {
    entries_.reset();
    entry_environment_.reset();
    std::filesystem::remove(path_);
    std::filesystem::remove(path_ + "-lock");
  }
  IndexedItems(const IndexedItems&) = delete;
  IndexedItems& operator=(const IndexedItems&) = delete;

  Cursor cursor() const { return open_cursor(entries_.get(), entry_table_); }
  std::string_view item(std::string_view entry) const {
    MDB_val key = value_of(entry.substr(kValueBytes)), value;
    lmdb_must(mdb_get(items_.get(), item_table_, &key, &value));
    return view_of(value);
  }

 private:
  Environment make(const Fixture& fixture, std::string (*entry_of)(std::string_view)) {
    std::filesystem::remove(path_);
    std::vector<std::string> entries;
    for_lines(fixture.readings.path(), UINT64_MAX,
              [&](std::string_view line) { entries.push_back(entry_of(line)); });
    std::ranges::sort(entries);
    Environment environment = open_environment(path_, MDB_NOSYNC);
    LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
    const MDB_dbi table = open_table(transaction.get());
    for (const std::string& entry : entries) put(transaction.get(), table, entry, "", MDB_APPEND);
    commit_lmdb(std::move(transaction));
    return environment;
  }

  std::string path_;
  Environment entry_environment_, item_environment_;
  LmdbTransaction entries_, items_;
  MDB_dbi entry_table_ = 0, item_table_ = 0;
};

struct InsertedReading {
  std::string line, key, seq, value, city;
};

}  // namespace

Sample lmdb_index_point(const Fixture& fixture) {
  const IndexedItems indexed(fixture, seq_entry_of);
  uint64_t braces = 0;
  const double rate = rate_of(kProbes, [&] {
    const Cursor cursor = indexed.cursor();
    for (uint64_t i = 0; i < kProbes; ++i) {
      const std::string from = ordered_bytes(i * kProbeStep % fixture.readings.count());
      MDB_val key = value_of(from), value;
      lmdb_must(mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE));
      braces += indexed.item(view_of(key)).front() == '{' ? 1 : 0;
    }
  });
  must(braces % kProbes == 0, "lmdb: an item is damaged");
  return {rate, {}};
}

Sample lmdb_index_range(const Fixture& fixture) {
  const IndexedItems indexed(fixture, value_entry_of);
  uint64_t rows = 0, bytes = 0;
  std::vector<std::string_view> found;
  const auto run = [&] {
    bytes = 0;
    found.clear();
    const Cursor cursor = indexed.cursor();
    const std::string from = ordered_bytes(kRangeFrom), to = ordered_bytes(kRangeTo);
    MDB_val key = value_of(from), value;
    int code = mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE);
    for (; code == MDB_SUCCESS && view_of(key) < to;
         code = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT))
      found.push_back(view_of(key));
    // In the order of the items, which lie in fewer pages then.
    std::ranges::sort(found, {}, [](std::string_view entry) { return entry.substr(kValueBytes); });
    for (const std::string_view entry : found) bytes += indexed.item(entry).size();
    rows = found.size();
  };
  run();
  const double rate = rate_of(rows, run);
  return {rate, fmt::format("{} {}", rows, bytes)};
}

Sample lmdb_insert_indexed(const Fixture& fixture) {
  std::vector<InsertedReading> readings;
  for_lines(fixture.readings.path(), kInserted, [&](std::string_view line) {
    readings.push_back({std::string(line), item_key_of(line), seq_entry_of(line), value_entry_of(line),
                        city_entry_of(line)});
  });
  const std::string path = fixture.folder + "/inserted.lmdb";
  std::filesystem::remove(path);
  const Environment environment = open_environment(path, 0);
  LmdbTransaction transaction = begin_lmdb(environment.get(), 0);
  MDB_dbi items = 0, seq = 0, value = 0, city = 0;
  lmdb_must(mdb_dbi_open(transaction.get(), "items", MDB_CREATE, &items));
  lmdb_must(mdb_dbi_open(transaction.get(), "seq", MDB_CREATE, &seq));
  lmdb_must(mdb_dbi_open(transaction.get(), "value", MDB_CREATE, &value));
  lmdb_must(mdb_dbi_open(transaction.get(), "city", MDB_CREATE, &city));
  commit_lmdb(std::move(transaction));
  const double seconds = seconds_of([&] {
    for (size_t from = 0; from < readings.size(); from += kBatch) {
      LmdbTransaction batch = begin_lmdb(environment.get(), 0);
      for (size_t i = from; i < std::min<size_t>(from + kBatch, readings.size()); ++i) {
        put(batch.get(), items, readings[i].key, readings[i].line);
        put(batch.get(), seq, readings[i].seq, "");
        put(batch.get(), value, readings[i].value, "");
        put(batch.get(), city, readings[i].city, "");
      }
      commit_lmdb(std::move(batch));
    }
  });
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-lock");
  return {static_cast<double>(readings.size()) / seconds, std::to_string(readings.size())};
}

}  // namespace quire::bench
