#include "sql/run/item_condition.h"

#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql/plan/index_condition.h"
#include "sql/run/operator.h"
#include "sql/value/arena.h"

namespace quire::sql {
namespace {

constexpr size_t kMemory = size_t{64} << 20;

// The item at hand, as a container of its own.
class ItemAtHand final : public Collection {
 public:
  explicit ItemAtHand(DictionaryNumber dictionary) : dictionary_(dictionary) {}
  void set(const Value& item) { item_ = item; }

  std::string_view name() const override { return "c"; }
  const std::vector<std::vector<std::string>>& partition_key_paths() const override { return paths_; }
  std::string_view definition_property(std::string_view) const override { return {}; }
  DictionaryNumber dictionary() const override { return dictionary_; }
  uint64_t item_count() const override { return 1; }
  Value system_property(const Value&, SystemProperty, Arena&) const override { return {}; }
  int64_t document_id(const Value&) const override { return 0; }
  Result<std::unique_ptr<Cursor>> open(const Access&) override { return std::make_unique<Once>(item_); }

 private:
  class Once final : public Cursor {
   public:
    explicit Once(const Value& item) : item_(item) {}
    Result<size_t> next(std::span<Value> items) override {
      if (!item_ || items.empty()) return size_t{0};
      items.front() = *std::exchange(item_, std::nullopt);
      return size_t{1};
    }

   private:
    std::optional<Value> item_;
  };

  DictionaryNumber dictionary_;
  std::vector<std::vector<std::string>> paths_;
  Value item_;
};

class SourceAtHand final : public Source {
 public:
  explicit SourceAtHand(Collection& collection) : collection_(collection) {}
  Collection* collection(std::string_view) override { return &collection_; }
  std::vector<std::string> collection_names() const override { return {"c"}; }

 private:
  Collection& collection_;
};

}  // namespace

struct ItemCondition::State {
  State(std::unique_ptr<IndexCondition> parsed, DictionaryNumber dictionary)
      : condition(std::move(parsed)),
        items(dictionary),
        source(items),
        run{.plan = condition->plan(),
            .source = source,
            .parameters = {},
            .is_bound = {},
            .memory = memory,
            .interrupts = nullptr,
            .interrupts_at_start = 0,
            .clock = {},
            .arena = Arena(&memory),
            .item_collections = std::vector<Collection*>(condition->plan().slot_count),
            .counters = std::vector<NodeCounters>(condition->plan().node_count),
            .items_read = 0,
            .measures_time = false,
            .error = std::nullopt} {
    run.item_collections[condition->slot()] = &items;
    pipeline.emplace(run, condition->plan().query, 1);
  }

  std::unique_ptr<IndexCondition> condition;
  ItemAtHand items;
  SourceAtHand source;
  MemoryBudget memory{kMemory};
  RunState run;
  std::optional<Pipeline> pipeline;
  bool is_fresh = true;
};

ItemCondition::ItemCondition(std::unique_ptr<State> state) : state_(std::move(state)) {}
ItemCondition::~ItemCondition() = default;

Result<std::unique_ptr<ItemCondition>> ItemCondition::make(std::string_view text,
                                                           DictionaryNumber dictionary) {
  QUIRE_ASSIGN(auto condition, IndexCondition::parse(text));
  auto state = std::make_unique<State>(std::move(condition), dictionary);
  if (state->run.error) return std::unexpected(std::move(*state->run.error));
  return std::unique_ptr<ItemCondition>(new ItemCondition(std::move(state)));
}

bool ItemCondition::is_true_for(const Value& item) try {
  State& state = *state_;
  state.items.set(item);
  state.run.error.reset();
  if (!std::exchange(state.is_fresh, false)) state.pipeline->rewind();
  const bool is_true = !state.pipeline->next().empty();
  return is_true && !state.run.error;
} catch (const MemoryLimitExceeded&) {
  return false;
}

}  // namespace quire::sql
