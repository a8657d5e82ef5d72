// What is kept has a small share of the statement's memory. Once that is full, it is let go of, and what
// comes is kept: where rows lie together by what the query reads, that is all it takes. Nothing is kept any
// more where others need the memory, or where keys hardly repeat and to look for them is no small part of the
// work.
#include "sql/run/kept_results.h"

#include <bit>

namespace quire::sql {
namespace {

constexpr size_t kShareOfMemory = 64;  // a 64th
// So much of the memory is left to others, or they have all: a quarter. Rows by key take half at most.
constexpr size_t kLeftToOthers = 4;
// In rows, each counted at each node that gives it: what it takes to look for a result in vain and to keep
// it, and what a run takes besides its rows.
constexpr uint64_t kCostOfMiss = 16, kCostOfRun = 8;
// So many runs tell what one takes.
constexpr uint64_t kRunsToJudge = 256;
// Whether keys repeat shows when so many were new, for each row of a run: the longer runs are, the longer it
// takes until looking in vain is some of the work.
constexpr uint64_t kTrial = 128;
// What is longer takes longer to look up, and hardly repeats.
constexpr size_t kLongestKey = 256;

template <typename Number>
void append_number(Number number, std::string& key) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text(std::string_view text, std::string& key) {
  append_number(static_cast<uint32_t>(text.size()), key);
  key.append(text.substr(0, kLongestKey + 1));
}

// False: of arrays and objects that a query made, which lie in pieces.
bool append_value(const Value& value, std::string& key) {
  key += static_cast<char>(value.kind());
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::null:
      return true;
    case Kind::boolean:
      key += value.as_boolean() ? '1' : '0';
      return true;
    case Kind::integer:
      append_number(value.as_integer(), key);
      return true;
    case Kind::real:
      append_number(std::bit_cast<uint64_t>(value.as_real()), key);
      return true;
    case Kind::string:
      append_text(value.as_string(), key);
      return true;
    case Kind::array:
    case Kind::object: {
      if (!value.is_encoded()) return false;
      const std::span<const std::byte> bytes = value.encoded_bytes();
      append_number(value.dictionary(), key);
      append_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, key);
      return true;
    }
  }
  return false;
}

}  // namespace

KeptResults::KeptResults(const PlannedQuery& query, EvaluatorFactory& outer) : share_(&outer.run().memory) {
  EvaluatorFactory factory(outer.frame(), outer.query());
  for (const BoundExpression* path : query.outer_paths) paths_.push_back(factory.make(*path));
  for (const PlanNode* node = query.root.get(); node != nullptr; node = node->input.get())
    nodes_.push_back(node->number);
}

void KeptResults::begin_batch(Rows rows, Frame& frame) {
  if (!is_on()) return;
  if (!is_worth_it(frame.run) || !has_room(frame.run.memory)) return give_up();
  if (!store_ || is_full_) store_.emplace(share_.bytes());
  is_full_ = false;
  key_values_.clear();
  for (const auto& path : paths_) key_values_.push_back(path->evaluate(rows, frame));
}

// By the latest runs, since the first ones may read what later ones find.
bool KeptResults::is_worth_it(const RunState& run) {
  const uint64_t runs = misses_ - judged_misses_;
  if (runs < kRunsToJudge) return true;
  uint64_t rows = 0;
  for (const uint32_t node : nodes_) rows += run.counters[node].rows;
  const uint64_t cost = kCostOfRun + (rows - judged_rows_) / runs;
  judged_misses_ = misses_;
  judged_rows_ = rows;
  return misses_ < kTrial * cost || hits_ * cost >= misses_ * kCostOfMiss;
}

bool KeptResults::has_room(const MemoryBudget& memory) {
  if (share_.bytes() == 0 && !share_.try_take(memory.limit() / kShareOfMemory)) return false;
  return memory.left() >= memory.limit() / kLeftToOthers;
}

bool KeptResults::write_key(RowNumber row) {
  key_.clear();
  for (const Vector& values : key_values_)
    if (!append_value(values[row], key_) || key_.size() > kLongestKey) return false;
  return true;
}

const Value* KeptResults::look_up(RowNumber row) {
  missed_.reset();
  if (is_full_) return nullptr;
  if (!write_key(row)) {
    ++misses_;
    return nullptr;
  }
  try {
    const Value key = Value::string(key_);
    const TupleTable::Inserted found = store_->keys.insert({&key, 1});
    if (!found.is_new) {
      ++hits_;
      return &store_->results[found.number];
    }
    ++misses_;
    store_->keys.tuple(found.number)[0] = retain(key, store_->arena);
    store_->results.push_back(Value());
    missed_ = found.number;
  } catch (const MemoryLimitExceeded&) {
    is_full_ = true;
  }
  return nullptr;
}

void KeptResults::store(const Value& result) {
  try {
    store_->results[*missed_] = retain(result, store_->arena);
  } catch (const MemoryLimitExceeded&) {
    is_full_ = true;
  }
}

void KeptResults::give_up() {
  paths_.clear();
  missed_.reset();
  store_.reset();
  share_.give_back(share_.bytes());
}

}  // namespace quire::sql
