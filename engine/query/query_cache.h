// Queries and changes of items, prepared once for their text: a procedure asks the same from call to call, a
// program from request to request, with other parameters, and to prepare a short query takes longer than to
// run it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/container/container.h"
#include "engine/query/snapshot_source.h"
#include "sql/error.h"
#include "sql/run/execution.h"

namespace quire::engine {

// What plans are judged by as items come and go: how many the source shows of each container that a plan
// rests on, 0 where there is none.
std::vector<uint64_t> item_counts(const SnapshotSource::Lookups& basis, sql::Source& source);
// Another plan may be the better one once there are twice as many, or half, save of a few.
bool are_about_as_many(std::span<const uint64_t> before, std::span<const uint64_t> now) noexcept;

// Of one database. Thread-safe.
class QueryCache {
 public:
  // Longer texts are prepared each time: what is kept is bounded by this and by how many there are.
  static constexpr size_t kMost = 64, kMostBytes = 4096;

  struct Request {
    std::string_view sql;
    const ContainerStore* scope = nullptr;  // what FROM's first identifier stands for; null: names are names
    bool is_strict = false;
    bool is_positioned = false;  // the source shows items in the order of their ids, and no indexes
    uint8_t size_class = 0;      // of a part of the container that the source shows: as plans differ by it
    sql::MemberNames member_names = {};  // what has parameters in brackets is not kept
  };

  // The statement over what `source` shows of `base`: the kept one, while the containers are what its plan
  // rests on, and have about as many items. What prepare_query() fails with, and failures of storage.
  Result<std::shared_ptr<const sql::PreparedQuery>> prepare(const Request& request, SnapshotSource& base,
                                                            sql::Source& source);

 private:
  // What the plan of a text differs by.
  struct Key {
    std::string sql;
    std::optional<ContainerNumber> scope;
    bool is_strict;
    bool is_positioned;
    uint8_t size_class;
  };
  struct Entry {
    Key key;
    SnapshotSource::Lookups basis;      // what the plan rests on
    std::vector<uint64_t> item_counts;  // what it was chosen by, of each of them
    std::shared_ptr<const sql::PreparedQuery> query;
  };
  struct Place {
    uint64_t hash;
    std::shared_ptr<const Entry> entry;
  };

  static bool is_of(const Key& key, const Request& request) noexcept;
  static bool holds(const Entry& entry, SnapshotSource& base, sql::Source& source);
  // The entry of the request, as the first; null if there is none.
  std::shared_ptr<const Entry> find(const Request& request, uint64_t hash);
  void erase(const Entry& entry);
  // Whether the text was asked for before, and has not been kept.
  bool is_asked_again(uint64_t hash);
  void keep(uint64_t hash, Entry entry);

  std::mutex mutex_;           // guards the two below
  std::vector<Place> places_;  // the last used first
  // By hash: what was asked and is not kept. A text has to come twice, so that those with other values in
  // them each time take no room from others.
  std::array<uint64_t, 256> asked_{};
};

}  // namespace quire::engine
