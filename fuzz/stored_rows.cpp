// Any bytes as the rows that Quire keeps beside documents: those of the catalog, the counters, the feed, the
// indexes. Each reader takes them or says that they are damaged.
#include <cstdint>
#include <string_view>

#include "engine/catalog/catalog.h"
#include "engine/catalog/script_catalog.h"
#include "engine/container/feed_row.h"
#include "engine/container/feed_token.h"
#include "engine/container/record.h"
#include "engine/container/statistics.h"
#include "engine/index/index_entry.h"
#include "fuzz/require.h"

namespace {

using namespace quire::engine;
using quire::fuzz::require;

void read_definitions(Bytes key, Bytes record) {
  // What was read can be written, and is the same then.
  if (const auto entry = Catalog::read_row(key, record); entry && *entry) {
    const auto again = ContainerDefinition::from_json((*entry)->definition.to_json());
    require(again && *again == (*entry)->definition);
  }
  if (const auto row = ScriptCatalog::read_row(key, record); row && *row) (*row)->script.to_json();
}

void read_feed(Bytes record) {
  const auto row = read_feed_row(record);
  if (!row) return;
  std::string again;
  switch (row->kind) {
    case FeedRowKind::item:
    case FeedRowKind::ordered_range:
    case FeedRowKind::unordered_range:
      write_feed_row(*row, again);
      require(again == record);
      return;
    case FeedRowKind::created:
    case FeedRowKind::replaced:
    case FeedRowKind::deleted:
    case FeedRowKind::expired:
      write_version_head(*row, again);
      require(again.append(row->record) == record);
  }
}

}  // namespace

// A byte that says how long the key is, the key, the record.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Bytes text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Bytes key = text.substr(0, data[0]), record = text.substr(key.size());
  read_definitions(key, record);
  read_feed(record);
  parse_statistics(record);
  if (has_known_layout(record) && has_right_checksum(record)) read_header(record);
  return 0;
}
