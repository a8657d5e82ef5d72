// Bytes as calls of the API, beside a map of what the container should hold: each call has the outcome that
// the map foretells; in the end reads, a query, an index, the feed and CHECK agree with it.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "fuzz/require.h"
#include "quire/quire.hpp"

namespace {

using namespace quire;

using fuzz::require;

constexpr int kPartitions = 3, kIds = 4;

struct Item {
  int value = 0;
  std::string etag;
};
using Model = std::map<std::pair<int, std::string>, Item>;

class Player {
 public:
  Player(Database& database, std::span<const uint8_t> bytes)
      : database_(database), items_(database.container("c").value()), bytes_(bytes) {}

  void play() {
    while (!bytes_.empty()) step();
    transaction_.reset();
    model_ = committed_;
    look_at_items();
    look_at_queries();
    look_at_feed();
  }

 private:
  uint8_t take() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  void step() {
    const uint8_t what = take();
    const uint8_t where = take();
    partition_ = where % kPartitions;
    id_ = std::to_string(where / kPartitions % kIds);
    switch (what % 10) {
      case 0:
        return create();
      case 1:
        return upsert();
      case 2:
        return replace();
      case 3:
        return remove();
      case 4:
        return patch();
      case 5:
        return batch();
      case 6:
        return begin();
      case 7:
        return end(true);
      case 8:
        return end(false);
      default:
        return read();
    }
  }

  Model::iterator found() { return model_.find({partition_, id_}); }
  std::string json(int value) const {
    return "{\"p\":" + std::to_string(partition_) + ",\"id\":\"" + id_ + "\",\"v\":" + std::to_string(value) +
           "}";
  }
  Transaction* transaction() { return transaction_ ? &*transaction_ : nullptr; }
  void committed() {
    if (!transaction_) committed_ = model_;
  }
  void wrote(const Result<ItemInfo>& done, int value) {
    require(done.has_value());
    model_[{partition_, id_}] = {value, std::string(done->etag())};
    committed();
  }
  template <typename T>
  static void failed(const Result<T>& done, int code) {
    require(!done && done.error().code == code && !done.error().message.empty());
  }
  // The etag of the item, a stale one, or none; whether it is stale.
  std::pair<std::string, bool> condition(const Model::iterator& item) {
    const uint8_t byte = take();
    if (byte % 4 == 0) return {item->second.etag, false};
    if (byte % 4 == 1) return {"\"stale\"", true};
    return {"", false};
  }

  void create() {
    const int value = take();
    const auto done = items_.create(json(value), {.transaction = transaction()});
    if (found() == model_.end()) return wrote(done, value);
    failed(done, QUIRE_CONFLICT);
  }
  void upsert() {
    const int value = take();
    const bool is_new = found() == model_.end();
    const auto done = items_.upsert(json(value), {.transaction = transaction()});
    wrote(done, value);
    require(done->was_created() == is_new);
  }
  // The item, or another of its partition, which then has its id.
  void replace() {
    const int value = take();
    const uint8_t other = take();
    const std::string old_id = other % 2 == 0 ? id_ : std::to_string(other / 2 % kIds);
    const auto old = model_.find({partition_, old_id});
    WriteOptions options;
    options.transaction = transaction();
    if (other % 2 == 1) options.replaced_id = old_id;
    if (old == model_.end()) return failed(items_.replace(json(value), options), QUIRE_NOT_FOUND);
    const auto [etag, is_stale] = condition(old);
    options.if_match = etag;
    const auto done = items_.replace(json(value), options);
    if (is_stale) return failed(done, QUIRE_PRECONDITION_FAILED);
    if (old_id != id_) {
      if (found() != model_.end()) return failed(done, QUIRE_CONFLICT);
      model_.erase(old);
    }
    wrote(done, value);
  }
  void remove() {
    if (found() == model_.end())
      return failed(items_.remove(partition_, id_, {.transaction = transaction()}), QUIRE_NOT_FOUND);
    const auto [etag, is_stale] = condition(found());
    const auto done = items_.remove(partition_, id_, {.transaction = transaction(), .if_match = etag});
    if (is_stale) return failed(done, QUIRE_PRECONDITION_FAILED);
    require(done.has_value());
    model_.erase(found());
    committed();
  }
  void patch() {
    const auto done = items_.patch(partition_, id_, R"([{"op":"incr","path":"/v","value":1}])",
                                   {.transaction = transaction()});
    if (found() == model_.end()) return failed(done, QUIRE_NOT_FOUND);
    wrote(done, found()->second.value + 1);
  }

  // Puts this item and, perhaps, deletes it again: the second may fail, and then nothing has happened.
  void batch() {
    const int value = take();
    const uint8_t how = take();
    Batch batch;
    batch.upsert(json(value));
    if (how % 2 == 1) batch.remove(id_);
    if (how % 3 == 0) batch.remove("nobody");
    const BatchResult done = items_.execute(partition_, batch, transaction());
    require(done.succeeded() == (how % 3 != 0));
    if (!done.succeeded()) return;
    if (how % 2 == 1)
      model_.erase({partition_, id_});
    else
      model_[{partition_, id_}] = {value, std::string(done.operations[0].info.etag())};
    committed();
  }

  void begin() {
    if (transaction_) return failed(database_.begin_transaction(), QUIRE_MISUSE);
    auto begun = database_.begin_transaction();
    require(begun.has_value());
    transaction_.emplace(std::move(*begun));
  }
  void end(bool commits) {
    if (!transaction_) return;
    if (commits) require(transaction_->commit().has_value());
    transaction_.reset();
    if (commits)
      committed_ = model_;
    else
      model_ = committed_;
  }

  void read() {
    const auto done = items_.read(partition_, id_, {}, transaction());
    if (found() == model_.end()) return failed(done, QUIRE_NOT_FOUND);
    require(done && done->info.etag() == found()->second.etag);
  }

  // ---- In the end

  void look_at_items() {
    for (partition_ = 0; partition_ < kPartitions; ++partition_)
      for (int id = 0; id < kIds; ++id) {
        id_ = std::to_string(id);
        read();
      }
  }
  int64_t count_of(const std::string& sql) {
    auto statement = database_.prepare(sql);
    require(statement && statement->step().value());
    return statement->row().as_integer();
  }
  void look_at_queries() {
    int64_t large = 0, sum = 0;
    for (const auto& [key, item] : model_) {
      large += item.value >= 100 ? 1 : 0;
      sum += item.value;
    }
    require(count_of("SELECT VALUE COUNT(1) FROM c WHERE c.v >= 100") == large);
    require(model_.empty() || count_of("SELECT VALUE SUM(c.v) FROM c") == sum);
    const auto faults = database_.check("c");
    require(faults && *faults == "[]");
  }
  void look_at_feed() {
    auto feed = items_.feed();
    require(feed.has_value());
    std::set<std::pair<int64_t, std::string>> seen;
    for (uint64_t last = 0;;) {
      const auto change = feed->next();
      require(change.has_value());
      if (!*change) break;
      require((*change)->lsn() >= last);
      last = (*change)->lsn();
      const Value item = (*change)->current();
      const bool is_new = seen.emplace(item["p"].as_integer(), std::string(item["id"].as_string())).second;
      require(is_new);
    }
    require(seen.size() == model_.size());
    for (const auto& [key, item] : model_) require(seen.contains({key.first, key.second}));
  }

  Database& database_;
  Container items_;
  std::span<const uint8_t> bytes_;
  Model model_, committed_;
  std::optional<Transaction> transaction_;
  int partition_ = 0;
  std::string id_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto database = Database::open(":memory:");
  require(database.has_value());
  require(
      database
          ->create_container(
              R"({"id":"c","partitionKey":{"paths":["/p"]},"indexes":[{"name":"v","paths":[{"path":"/v"}]}]})")
          .has_value());
  Player(*database, {data, size}).play();
  require(database->drop_container("c").has_value());
  return 0;
}
