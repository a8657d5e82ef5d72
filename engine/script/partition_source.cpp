#include "engine/script/partition_source.h"

#include <algorithm>
#include <set>
#include <utility>

namespace quire::engine {
namespace {

// Items one at a time, in the order of their ids, as a position asks for them.
class PagedItems final : public sql::Cursor {
 public:
  PagedItems(std::unique_ptr<sql::Cursor> items, const ContainerStore& store, PagePosition& position)
      : items_(std::move(items)), store_(store), position_(position) {}

  Result<size_t> next(std::span<sql::Value> items) override {
    for (;;) {
      QUIRE_ASSIGN(const size_t count, items_->next(items.first(1)));
      if (count == 0) return 0;
      const std::string_view id = store_.id_of(items[0]).as_string();
      if (!position_.after_id.empty() && id <= position_.after_id) continue;
      position_.last_id = id;
      return 1;
    }
  }

 private:
  std::unique_ptr<sql::Cursor> items_;
  const ContainerStore& store_;
  PagePosition& position_;
};

// Those of a list of ids, behind one of them. The order of the items' keys, in which a collection gives them,
// is another where ids are too long for a key.
class ListedItems final : public sql::Cursor {
 public:
  ListedItems(sql::Collection& base, const sql::Access& access, std::string_view after_id)
      : base_(base), access_(access) {
    access_.kind = sql::Access::Kind::point;
    for (const sql::AccessKey& key : access.keys)
      if (key.id > after_id) ids_.emplace(key.id);
    access_.keys = {};
  }

  Result<size_t> next(std::span<sql::Value> items) override {
    while (!ids_.empty()) {
      const auto first = ids_.extract(ids_.begin());
      access_.id = first.value();
      QUIRE_ASSIGN(const auto point, base_.open(access_));
      QUIRE_ASSIGN(const size_t count, point->next(items.first(1)));
      if (count > 0) return count;
    }
    return 0;
  }

 private:
  sql::Collection& base_;
  sql::Access access_;
  std::set<std::string> ids_;
};

// The items, as long as there is time; few at first, since a page or a limit may be full with them.
class TimedItems final : public sql::Cursor {
 public:
  TimedItems(std::unique_ptr<sql::Cursor> items, Deadline deadline)
      : items_(std::move(items)), deadline_(deadline) {}

  Result<size_t> next(std::span<sql::Value> items) override {
    if (std::chrono::steady_clock::now() > deadline_) return std::unexpected(past_script_time());
    const size_t most = std::min(items.size(), most_);
    most_ = std::min(most_ * 2, kLargestBatch);
    return items_->next(items.first(most));
  }

 private:
  static constexpr size_t kFirstBatch = 16;
  static constexpr size_t kLargestBatch = 1024;

  std::unique_ptr<sql::Cursor> items_;
  Deadline deadline_;
  size_t most_ = kFirstBatch;
};

}  // namespace

class PartitionCollection final : public sql::Collection {
 public:
  PartitionCollection(sql::Collection& base, const ContainerStore& store,
                      std::span<const sql::Value> partition_key, PagePosition* position, Deadline deadline)
      : base_(base), store_(store), partition_key_(partition_key), position_(position), deadline_(deadline) {}

  std::string_view name() const override { return base_.name(); }
  // None: within its partition an item's primary key is its id.
  const std::vector<std::vector<std::string>>& partition_key_paths() const override { return no_paths_; }
  std::string_view definition_property(std::string_view name) const override {
    return base_.definition_property(name);
  }
  sql::DictionaryNumber dictionary() const override { return base_.dictionary(); }
  uint64_t item_count() const override { return base_.item_count(); }
  std::span<const sql::IndexDescription> indexes() const override {
    return position_ != nullptr ? std::span<const sql::IndexDescription>() : base_.indexes();
  }
  double shown_share() override {
    if (partition_key_.empty()) return 1;
    return base_.partition_share(partition_key_).value_or(1);
  }
  Result<sql::IndexStatistics> index_statistics(uint32_t index) override {
    return base_.index_statistics(index);
  }
  sql::Value system_property(const sql::Value& item, sql::SystemProperty property,
                             sql::Arena& arena) const override {
    return base_.system_property(item, property, arena);
  }
  int64_t document_id(const sql::Value& item) const override { return base_.document_id(item); }
  bool has_id_order() const override { return base_.has_id_order(); }

  Result<std::unique_ptr<sql::Cursor>> open(const sql::Access& access) override {
    QUIRE_ASSIGN(auto found, position_ != nullptr ? open_at_position(access) : open_within(access));
    return std::make_unique<TimedItems>(std::move(found), deadline_);
  }

  Result<std::unique_ptr<sql::IndexCursor>> open_index(const sql::Access& access) override {
    sql::Access within = access;
    within.partition_key = partition_key_;
    return base_.open_index(within);
  }

 private:
  // A scan, points or a way by indexes: a plan does not know of partitions.
  Result<std::unique_ptr<sql::Cursor>> open_within(sql::Access access) {
    if (access.kind == sql::Access::Kind::scan && !partition_key_.empty())
      access.kind = sql::Access::Kind::partition;
    std::vector<sql::AccessKey> keys(access.keys.begin(), access.keys.end());
    for (sql::AccessKey& key : keys) key.partition_key = partition_key_;
    access.keys = keys;
    access.partition_key = partition_key_;
    return base_.open(access);
  }

  // Without indexes, so that items can come by their ids.
  Result<std::unique_ptr<sql::Cursor>> open_at_position(sql::Access access) {
    std::unique_ptr<sql::Cursor> items;
    if (access.kind == sql::Access::Kind::points) {
      access.partition_key = partition_key_;
      items = std::make_unique<ListedItems>(base_, access, position_->after_id);
    } else {
      const std::string from = std::max(std::string(access.id_from), position_->after_id);
      access.id_from = from;
      access.is_in_id_order = true;
      QUIRE_ASSIGN(items, open_within(access));
    }
    return std::make_unique<PagedItems>(std::move(items), store_, *position_);
  }

  sql::Collection& base_;
  const ContainerStore& store_;
  std::span<const sql::Value> partition_key_;
  PagePosition* position_;
  Deadline deadline_;
  const std::vector<std::vector<std::string>> no_paths_;
};

PartitionSource::PartitionSource(SnapshotSource& base, ContainerStore& store,
                                 std::span<const sql::Value> partition_key, PagePosition* position,
                                 Deadline deadline)
    : base_(base), store_(store), partition_key_(partition_key), position_(position), deadline_(deadline) {}
PartitionSource::~PartitionSource() = default;

sql::Collection* PartitionSource::collection(std::string_view name) {
  if (name != store_.definition().name) return nullptr;
  if (collection_ == nullptr) {
    sql::Collection* const base = base_.collection(name);
    if (base == nullptr) return nullptr;
    collection_ = std::make_unique<PartitionCollection>(*base, store_, partition_key_, position_, deadline_);
  }
  return collection_.get();
}

std::vector<std::string> PartitionSource::collection_names() const {
  return {store_.definition().name};
}

}  // namespace quire::engine
