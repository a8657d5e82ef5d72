#include "engine/script/partition_access.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/container/effective_partition_key.h"
#include "engine/container/patch.h"
#include "engine/container/request_charge.h"
#include "engine/query/item_condition.h"

namespace quire::engine {

Result<void> PartitionAccess::check_partition(const sql::Value& item) const {
  if (!item.is_object()) return {};
  const PartitionKey key = store_->partition_key_of(item);
  for (size_t i = 0; i < partition_key_.size(); ++i)
    if (!same_partition_key_value(key.values[i], partition_key_[i]))
      return fail(
          ErrorCode::forbidden,
          fmt::format("the item's partition key is {}, but the script runs in partition {} and works on "
                      "the items of that one alone",
                      partition_key_text(key), partition_key_text(partition_key_)));
  return {};
}

// ---- Items

void PartitionAccess::remember(const Item& item) {
  ids_.insert_or_assign(item.header().rid, store_->id_of(item.root).as_string());
}

sql::Value PartitionAccess::whole(const Item& item, sql::Arena& arena) {
  remember(item);
  std::array<sql::Value, sql::kSystemPropertyCount> properties;
  store_->system_properties(item.root, properties, arena);
  return sql::whole_item(item.root, properties, arena);
}

void PartitionAccess::write_json(const Item& item, std::string& out) {
  remember(item);
  store_->write_item_json(item.root, out);
}

Result<ItemOutcome> PartitionAccess::write(Write kind, const sql::Value& item, std::string_view if_match,
                                           bool needs_id) {
  QUIRE_TRY(check_partition(item));
  if (needs_id && item.member("id").is_undefined())
    return fail(ErrorCode::invalid_id, "the item has no id, and disableAutomaticIdGeneration is set");
  QUIRE_TRY(begin_write());
  const WriteOptions options{.if_match = if_match, .triggers = triggers_};
  switch (kind) {
    case Write::create:
      return store_->create(transaction_, item, options);
    case Write::upsert:
      return store_->upsert(transaction_, item, options);
    case Write::replace:
      return store_->replace(transaction_, item, options);
  }
  std::unreachable();
}

Result<Item> PartitionAccess::replace(std::string_view id, const sql::Value& item,
                                      std::string_view if_match) {
  QUIRE_TRY(check_partition(item));
  QUIRE_TRY(begin_write());
  const WriteOptions options{.if_match = if_match, .triggers = triggers_, .replaced_id = id};
  QUIRE_ASSIGN(const ItemOutcome outcome, store_->replace(transaction_, item, options));
  // Links to it, which do not change, lead to its new id.
  remember(outcome.item);
  return outcome.item;
}

Result<Item> PartitionAccess::patch(std::string_view id, const sql::Value& body, std::string_view if_match,
                                    sql::Arena& arena) {
  QUIRE_ASSIGN(const PatchBody parts, read_patch_body(body));
  QUIRE_ASSIGN(const Patch operations, Patch::read(parts.operations, store_->definition(), arena));
  QUIRE_TRY(begin_write());
  ItemCondition condition;
  if (!parts.condition.empty())
    condition = [&](const sql::Value& root) {
      auto holds = holds_for(containers_, store_, transaction_, parts.condition, root, query_options());
      if (!holds && holds.error().code == ErrorCode::timeout) holds = std::unexpected(past_time());
      return holds;
    };
  QUIRE_ASSIGN(const ItemOutcome outcome,
               store_->patch(transaction_, partition_key_, id, operations, condition,
                             {.if_match = if_match, .triggers = triggers_}));
  return outcome.item;
}

Result<void> PartitionAccess::remove(std::string_view id, std::string_view if_match) {
  QUIRE_TRY(begin_write());
  return store_->erase(transaction_, partition_key_, id, if_match, triggers_);
}

Result<std::optional<Item>> PartitionAccess::read(std::string_view id, std::string_view if_none_match) {
  QUIRE_ASSIGN(std::optional<Item> item, store_->read(transaction_, partition_key_, id));
  transaction_.charge(read_charge(item ? json_bytes_of_document(document_of(item->record).size()) : 0));
  if (!item)
    return fail(ErrorCode::not_found, fmt::format("partition {} of container '{}' has no item '{}'",
                                                  partition_key_text(partition_key_),
                                                  store_->definition().name, shortened(id, kLongestShownId)));
  if (!if_none_match.empty()) {
    const Etag etag = make_etag(store_->resource_names().etag_salt, item->header().lsn);
    if (if_none_match == "*" || if_none_match == etag.view()) item.reset();
  }
  return item;
}

// ---- Links

namespace {

constexpr std::string_view kDocuments = "/docs/";

std::string_view without_slashes(std::string_view link) {
  if (link.starts_with('/')) link.remove_prefix(1);
  if (link.ends_with('/')) link.remove_suffix(1);
  return link;
}

}  // namespace

// An alt link may name the database as it likes: there is one.
Result<void> PartitionAccess::check_collection_link(std::string_view link) const {
  const std::string_view given = without_slashes(link);
  if (given == without_slashes(self_link_)) return {};
  const size_t name = given.find("/colls/");
  if (given.starts_with("dbs/") && name != std::string_view::npos &&
      given.substr(name + 7) == store_->definition().name)
    return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("'{}' is no link to container '{}'; getSelfLink() gives one", shortened(link),
                          store_->definition().name));
}

Result<std::string> PartitionAccess::id_of_link(std::string_view link) {
  if (link.starts_with(alt_link_) && link.substr(alt_link_.size()).starts_with(kDocuments))
    return std::string(without_slashes(link.substr(alt_link_.size() + kDocuments.size())));
  const size_t at = link.find(kDocuments);
  if (at == std::string_view::npos)
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' is no link to an item; use its _self, or getAltLink() + '/docs/' + id",
                            shortened(link)));
  const std::string_view collection = link.substr(0, at);
  QUIRE_TRY(check_collection_link(collection));
  const std::string_view name = without_slashes(link.substr(at + kDocuments.size()));
  // An alt link has the id, which may look like another item's resource id.
  if (without_slashes(collection) != without_slashes(self_link_)) return std::string(name);
  // Who wrote getSelfLink() + 'docs/' + id means an id, too.
  QUIRE_ASSIGN(std::string id, id_of_resource(name));
  return id.empty() ? std::string(name) : id;
}

// The number by which a self link names an item of this container.
std::optional<uint64_t> PartitionAccess::number_in_link(std::string_view link) const {
  if (!link.starts_with(self_link_)) return std::nullopt;
  link.remove_prefix(self_link_.size() - 1);  // which ends in a slash
  if (!link.starts_with(kDocuments)) return std::nullopt;
  return item_number_of(store_->resource_names(), without_slashes(link.substr(kDocuments.size())));
}

// The item's id, empty if the partition has no such item.
Result<std::string> PartitionAccess::id_of_resource(std::string_view resource_id) {
  const std::optional<uint64_t> number = item_number_of(store_->resource_names(), resource_id);
  if (!number) return std::string();
  std::string& id = ids_[*number];
  if (!id.empty()) {
    // It may have been deleted since, and another made under its id.
    // Nor need a row that has both be an item: a query names its columns as it likes.
    QUIRE_ASSIGN(const std::optional<Item> item, store_->read(transaction_, partition_key_, id));
    if (item && item->header().rid == *number) return id;
    id.clear();
  }
  QUIRE_TRY(find_ids());
  return id;
}

// One walk finds the ids of all links that were handed out: a walk for each would make it quadratic to follow
// those of a page.
Result<void> PartitionAccess::find_ids() {
  QUIRE_ASSIGN(ItemCursor items, store_->scan_partition(transaction_, partition_key_));
  sql::Value roots[64];
  for (size_t left = ids_.size(); left > 0;) {
    QUIRE_ASSIGN(const size_t count, items.next(roots));
    if (count == 0) return {};
    for (const sql::Value& root : std::span(roots).first(count)) {
      const auto known = ids_.find(header_of(root).rid);
      if (known == ids_.end()) continue;
      known->second = store_->id_of(root).as_string();
      --left;
    }
  }
  return {};
}

}  // namespace quire::engine
