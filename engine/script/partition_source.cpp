#include "engine/script/partition_source.h"

#include <algorithm>

#include "engine/container/effective_partition_key.h"

namespace quire::engine {
namespace {

class NoItems final : public sql::Cursor {
 public:
  Result<size_t> next(std::span<sql::Value>) override { return 0; }
};

// The items past a position, one at a time.
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

// The items, as long as there is time.
class TimedItems final : public sql::Cursor {
 public:
  TimedItems(std::unique_ptr<sql::Cursor> items, Deadline deadline)
      : items_(std::move(items)), deadline_(deadline) {}

  Result<size_t> next(std::span<sql::Value> items) override {
    if (std::chrono::steady_clock::now() > deadline_)
      return fail(ErrorCode::timeout, "a query of the script went on past the time that the script may take");
    return items_->next(items);
  }

 private:
  std::unique_ptr<sql::Cursor> items_;
  Deadline deadline_;
};

}  // namespace

class PartitionCollection final : public sql::Collection {
 public:
  PartitionCollection(sql::Collection& base, const ContainerStore& store,
                      std::span<const sql::Value> partition_key, PagePosition* position, Deadline deadline)
      : base_(base), store_(store), partition_key_(partition_key), position_(position), deadline_(deadline) {}

  std::string_view name() const override { return base_.name(); }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override {
    return base_.partition_key_paths();
  }
  std::string_view definition_property(std::string_view name) const override {
    return base_.definition_property(name);
  }
  sql::DictionaryNumber dictionary() const override { return base_.dictionary(); }
  uint64_t item_count() const override { return base_.item_count(); }
  std::span<const sql::IndexDescription> indexes() const override {
    return position_ != nullptr ? std::span<const sql::IndexDescription>() : base_.indexes();
  }
  Result<sql::IndexStatistics> index_statistics(uint32_t index) override {
    return base_.index_statistics(index);
  }
  sql::Value system_property(const sql::Value& item, sql::SystemProperty property,
                             sql::Arena& arena) const override {
    return base_.system_property(item, property, arena);
  }
  int64_t document_id(const sql::Value& item) const override { return base_.document_id(item); }

  Result<std::unique_ptr<sql::Cursor>> open(const sql::Access& access) override {
    QUIRE_ASSIGN(auto found, open_within(access));
    std::unique_ptr<sql::Cursor> items = std::make_unique<TimedItems>(std::move(found), deadline_);
    if (position_ == nullptr) return items;
    return std::make_unique<PagedItems>(std::move(items), store_, *position_);
  }

  Result<std::unique_ptr<sql::IndexCursor>> open_index(const sql::Access& access) override {
    // A plan takes this way only where it knows an index, and with an index of another partition it reads
    // nothing.
    sql::Access within = access;
    within.partition_key = partition_key_;
    if (!is_ours(access.partition_key)) within.probes = {};
    return base_.open_index(within);
  }

 private:
  // A key, or the beginning of one, that this partition has.
  bool is_ours(std::span<const sql::Value> key) const {
    return key.size() <= partition_key_.size() &&
           std::equal(key.begin(), key.end(), partition_key_.begin(), same_partition_key_value);
  }

  Result<std::unique_ptr<sql::Cursor>> open_within(const sql::Access& access) {
    if (partition_key_.empty()) return base_.open(access);
    using enum sql::Access::Kind;
    sql::Access within = access;
    std::vector<sql::AccessKey> keys;
    switch (access.kind) {
      case scan:
      case partition:
        if (!is_ours(access.partition_key)) return std::make_unique<NoItems>();
        within.kind = partition;
        break;
      case partitions:
        if (std::ranges::none_of(access.keys,
                                 [&](const sql::AccessKey& key) { return is_ours(key.partition_key); }))
          return std::make_unique<NoItems>();
        within.kind = partition;
        break;
      case points:
        for (const sql::AccessKey& key : access.keys)
          if (is_ours(key.partition_key)) keys.push_back(key);
        within.keys = keys;
        return base_.open(within);
      case point:
      case index:
      case any_index:
      case all_index:
        if (!is_ours(access.partition_key)) return std::make_unique<NoItems>();
        break;
    }
    within.partition_key = partition_key_;
    return base_.open(within);
  }

  sql::Collection& base_;
  const ContainerStore& store_;
  std::span<const sql::Value> partition_key_;
  PagePosition* position_;
  Deadline deadline_;
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
