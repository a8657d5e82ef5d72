#include "sql/run/first_of_part.h"

#include <algorithm>

#include "sql/run/operator.h"
#include "sql/run/row_order.h"

namespace quire::sql {

std::unique_ptr<FirstOfPart> FirstOfPart::make(const PlanNode& sort, EvaluatorFactory& factory) {
  constexpr uint64_t kMostWanted = 1000;
  const uint64_t wanted = first_rows_wanted(*sort.bound, factory.run());
  if (wanted == 0 || wanted > kMostWanted) return nullptr;
  auto first = std::make_unique<FirstOfPart>(factory.run().memory);
  first->most_ = wanted;
  for (const BoundOrderItem& item : sort.bound->order_by) {
    first->keys_.push_back(factory.make(*item.expression));
    first->is_stable_.push_back(first->keys_.back()->is_stable());
    first->descending_.push_back(item.descending);
  }
  if (sort.defined != nullptr) first->defined_ = factory.make(*sort.defined);
  first->row_.resize(first->keys_.size());
  return first;
}

void FirstOfPart::clear() {
  values_.clear();
  kept_keys_.clear();
  arrival_.clear();
  heap_.clear();
}

void FirstOfPart::take(Rows rows, Frame& frame, const Value* items, std::vector<Value>& kept) {
  if (rows.empty()) return;
  vectors_.clear();
  for (const auto& key : keys_) vectors_.push_back(key->evaluate(rows, frame));
  const Value always = Value::null();
  const Vector defined = defined_ != nullptr ? defined_->evaluate(rows, frame) : Vector::single(&always);
  if (frame.run.error) return;
  for (const RowNumber row : rows)
    if (defined[row].is_defined()) take_row(row, items[row], kept);
}

void FirstOfPart::take_row(RowNumber row, const Value& item, std::vector<Value>& kept) {
  const auto before = [this](uint32_t a, uint32_t b) { return is_before(a, b); };
  for (size_t i = 0; i < keys_.size(); ++i) row_[i] = vectors_[i][row];
  ++arrivals_;
  if (kept.size() == most_) {
    // A row that equals the last kept one came later, so it stays out.
    if (!(compare_keys(row_.data(), keys_of(heap_.front()), descending_) < 0)) return;
    std::pop_heap(heap_.begin(), heap_.end(), before);
    kept[heap_.back()] = item;
    store(heap_.back());
    std::push_heap(heap_.begin(), heap_.end(), before);
    kept_keys_.let_go(heap_.size(), [this](const auto& move) {
      for (size_t i = 0; i < values_.size(); ++i)
        if (!is_stable_[i % keys_.size()]) move(values_[i]);
    });
    return;
  }
  const auto place = static_cast<uint32_t>(kept.size());
  kept.push_back(item);
  values_.resize(values_.size() + keys_.size());
  arrival_.push_back(0);
  store(place);
  heap_.push_back(place);
  if (kept.size() == most_) std::make_heap(heap_.begin(), heap_.end(), before);
}

void FirstOfPart::store(uint32_t place) {
  Value* const to = values_.data() + place * keys_.size();
  for (size_t i = 0; i < keys_.size(); ++i) to[i] = is_stable_[i] ? row_[i] : kept_keys_.keep(row_[i]);
  arrival_[place] = arrivals_;
}

void FirstOfPart::put_in_order(std::vector<Value>& kept) {
  std::ranges::sort(heap_, {}, [this](uint32_t place) { return arrival_[place]; });
  ordered_.clear();
  for (const uint32_t place : heap_) ordered_.push_back(kept[place]);
  kept.swap(ordered_);
}

bool FirstOfPart::is_before(uint32_t a, uint32_t b) const {
  const auto order = compare_keys(keys_of(a), keys_of(b), descending_);
  return order != 0 ? order < 0 : arrival_[a] < arrival_[b];
}

}  // namespace quire::sql
