// What a procedure may do: read, write and query the items of one partition, within one transaction.
// JavaScript and native procedures work through it alike; an item of another partition is forbidden to both.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/container/container.h"
#include "engine/query/open_containers.h"
#include "engine/query/snapshot_source.h"
#include "engine/script/partition_source.h"
#include "sql/error.h"
#include "sql/run/execution.h"
#include "sql/value/arena.h"

namespace quire::engine {

// Takes the rows of a page.
class PageRows {
 public:
  virtual ~PageRows() = default;
  // Good until the return.
  virtual Result<void> add(const sql::Value& row) = 0;
  // The page is read anew: what was added does not count.
  virtual void clear() = 0;
};

// Belongs to one call. `runs_triggers`: false within a trigger, whose writes run none. Items that it gives
// are good until the next call of a function that works on items.
class PartitionAccess {
 public:
  PartitionAccess(OpenContainers& containers, std::shared_ptr<ContainerStore> store,
                  WriteTransaction& transaction, uint64_t openings, std::span<const sql::Value> partition_key,
                  const FunctionSource& functions, ScriptLog& log, bool runs_triggers = true);
  ~PartitionAccess();

  enum class Write : uint8_t { create, upsert, replace };
  // forbidden for an item of another partition; what ContainerStore's functions fail with.
  Result<ItemOutcome> write(Write kind, const sql::Value& item, std::string_view if_match, bool needs_id);
  // In the place of the item `id`, which need not be the new one's.
  Result<Item> replace(std::string_view id, const sql::Value& item, std::string_view if_match);
  // `body`: operations, or {"condition", "operations"} (engine/container/patch.h). not_found; what
  // ContainerStore::patch() fails with.
  Result<Item> patch(std::string_view id, const sql::Value& body, std::string_view if_match,
                     sql::Arena& arena);
  Result<void> remove(std::string_view id, std::string_view if_match);
  // not_found. Nothing if the item's etag is `if_none_match`.
  Result<std::optional<Item>> read(std::string_view id, std::string_view if_none_match);

  // An item as scripts see it, with its system properties, what is not stored in `arena`; and as JSON,
  // appended. From then on its _rid and _self stand for it, for id_of_link().
  sql::Value whole(const Item& item, sql::Arena& arena);
  void write_json(const Item& item, std::string& out);

  // A page of rows; the continuation of the next, empty where there is none. `query`: SQL, or {"query":...,
  // "parameters":[{"name","value"}...]}, or undefined for all items. `size` < 0: all that is left.
  Result<std::string> feed(const sql::Value& query, int64_t size, std::string_view continuation,
                           PageRows& rows);

  // Queries, those of conditions too, do not read on past it.
  void set_deadline(Deadline deadline) noexcept { deadline_ = deadline; }

  // The links of the container, and the id that a link to an item stands for: a self link, an alt link, a
  // collection's link with "docs/" and the id. invalid_argument, not_found, forbidden for another
  // container's.
  const std::string& self_link() const noexcept { return self_link_; }
  const std::string& alt_link() const noexcept { return alt_link_; }
  Result<void> check_collection_link(std::string_view link) const;
  Result<std::string> id_of_link(std::string_view link);

  // forbidden unless the item is of this partition.
  Result<void> check_partition(const sql::Value& item) const;

  const ContainerStore& store() const noexcept { return *store_; }
  std::span<const sql::Value> partition_key() const noexcept { return partition_key_; }

 private:
  struct Page;
  struct OpenQuery;
  void remember(const sql::Value& row);
  bool remember_link(const sql::Value& row);
  void remember(const Item& item);
  std::optional<uint64_t> number_in_link(std::string_view link) const;
  Result<std::string> id_of_resource(std::string_view resource_id);
  Result<void> find_ids();
  uint8_t size_class(PartitionSource& source) const;
  Result<void> prepare(OpenQuery& open, bool is_positioned);
  Result<void> start(OpenQuery& open);
  Result<bool> read_rows(OpenQuery& open, Page& page);
  Result<bool> read_page(Page& page, bool is_positioned);
  // Before each write.
  Result<void> begin_write();
  sql::ExecutionOptions query_options() const;
  Error past_time() const;

  TriggerRequest triggers_;
  bool knows_triggers_ = false;  // whether any runs at every write
  Deadline deadline_ = Deadline::max();
  FunctionSource functions_;
  uint64_t interrupts_at_start_ = functions_.interrupts != nullptr ? functions_.interrupts->load() : 0;
  OpenContainers& containers_;
  std::shared_ptr<ContainerStore> store_;  // shared as everywhere with the database and its statements
  WriteTransaction& transaction_;
  uint64_t openings_;
  std::span<const sql::Value> partition_key_;
  std::string self_link_, alt_link_;
  // Of the items and links that were handed out: ids by the number in their _rid, since links name items so.
  // Empty where a row had the link alone.
  std::unordered_map<uint64_t, std::string> ids_;
  // What gave the last page, where it may be asked for more; null: nothing.
  std::unique_ptr<OpenQuery> open_query_;
};

}  // namespace quire::engine
