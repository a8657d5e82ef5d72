// The entries that an index has for the items of a container, from a snapshot, sorted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/container/container.h"
#include "engine/file/environment.h"
#include "engine/file/file_cursor.h"
#include "engine/index/entry_extractor.h"
#include "sql/error.h"

namespace quire::engine {

// All of an index, or those of as many items as there is memory for.
struct CollectedEntries {
  EntryList entries;
  uint64_t items = 0;                              // that they are of
  std::optional<sql::IndexStatistics> statistics;  // what queries are planned by, where these are all
};

// A friend of ContainerStore: reads its records. Belongs to one thread at a time; several may collect from
// the same container.
class EntryCollector {
 public:
  // Called now and then, with how many items were passed since; false: nobody wants the entries any more.
  using GoOn = std::function<Result<bool>(uint64_t items)>;
  enum class End : uint8_t {
    of_items,    // these were the last
    of_memory,   // there are more
    not_wanted,  // `go_on` said so
    not_current  // somebody wrote to the container
  };

  // `items`: how many the container has, as far as that is known. `lsn`: of its last write.
  EntryCollector(Environment& environment, ContainerStore& store, uint64_t items, Lsn lsn, size_t list_bytes)
      : environment_(environment), store_(store), items_(items), lsn_(lsn), list_bytes_(list_bytes) {}

  // Of the items behind `position`, empty for all; it is moved to the last one. `collected` keeps its memory.
  Result<End> collect(const Index& index, const GoOn& go_on, std::string& position,
                      CollectedEntries& collected);

 private:
  static constexpr size_t kItemsTogether = 32;
  static constexpr size_t kUsualEntryBytes = 80;  // of EntryList::memory()
  struct Item {
    Bytes key;
    sql::Value root;
  };
  using Items = std::array<Item, kItemsTogether>;

  Result<std::optional<ReadTransaction>> snapshot_of_items() const;
  Result<std::optional<End>> collect_from(const ReadTransaction& snapshot, const Index& index,
                                          EntryExtractor& extractor, const GoOn& go_on, std::string& position,
                                          CollectedEntries& collected) const;
  Result<size_t> read(FileCursor& cursor, const EntryExtractor& extractor, bool& is_there,
                      Items& items) const;
  sql::IndexStatistics summary_of(const EntryList& list, const Index& index) const;

  Environment& environment_;
  ContainerStore& store_;
  uint64_t items_;
  Lsn lsn_;
  size_t list_bytes_;
  EntryList::SortRoom sort_room_;
};

}  // namespace quire::engine
