#include "engine/advisor/partition_survey.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "sql/functions/date_time.h"
#include "sql/value/comparison.h"
#include "sql/value/json.h"

namespace quire::engine {
namespace {

constexpr size_t kKeptWrites = 20'000;
constexpr size_t kSpans = 20;
// Fewer tell nothing: some partition always has the most.
constexpr size_t kLeastWritesOfSpan = 10;

bool is_dated(const sql::Value& component) {
  return component.is_string() && sql::parse_date_time(component.as_string()).has_value();
}

}  // namespace

std::string partition_key_json(std::span<const sql::Value> components) {
  std::string json;
  for (const sql::Value& component : components) {
    if (!json.empty()) json += ',';
    if (component.is_undefined())
      json += "null";
    else
      sql::write_json(component, json);
  }
  return components.size() > 1 ? "[" + json + "]" : json;
}

PartitionSurvey::PartitionSurvey(const std::vector<std::vector<std::string>>& paths,
                                 sql::DictionaryNumber dictionary) {
  for (const std::vector<std::string>& path : paths) {
    std::vector<sql::ResolvedKey>& keys = paths_.emplace_back();
    for (const std::string& name : path) keys.push_back(sql::resolve_key(name, dictionary));
  }
  key_.resize(paths_.size());
}

std::span<const sql::Value> PartitionSurvey::key_of(const sql::Value& item) {
  for (size_t i = 0; i < paths_.size(); ++i) {
    sql::Value value = item;
    for (const sql::ResolvedKey& key : paths_[i]) value = value.member(key);
    key_[i] = value;
  }
  return key_;
}

void PartitionSurvey::add(const sql::Value& item, uint64_t bytes, int64_t written) {
  if (!has_key()) return;
  const std::span<const sql::Value> key = key_of(item);
  const bool goes_on = open_.items > 0 && std::ranges::equal(key, current_, sql::deep_equal);
  if (!goes_on) {
    end_partition();
    current_.assign(key.begin(), key.end());
    ++number_;
  }
  ++open_.items;
  open_.bytes += bytes;
  const auto is_missing = [](const sql::Value& value) { return value.is_undefined() || value.is_null(); };
  if (std::ranges::any_of(key, is_missing)) ++items_without_key_;
  keep_write({written, number_});
}

void PartitionSurvey::end_partition() {
  if (open_.items == 0) return;
  items_.add(open_.items);
  bytes_.add(open_.bytes);
  // A second component tells writes of one time apart.
  if (current_.size() == 1 && is_dated(current_[0])) ++dated_;
  const auto place =
      std::ranges::find_if(largest_, [&](const Partition& other) { return other.bytes < open_.bytes; });
  if (place != largest_.end() || largest_.size() < kLargest) {
    open_.key = partition_key_json(current_);
    largest_.insert(place, open_);
    if (largest_.size() > kLargest) largest_.pop_back();
  }
  open_ = {};
}

void PartitionSurvey::keep_write(const Write& write) {
  ++writes_seen_;
  if (writes_.size() < kKeptWrites) {
    writes_.push_back(write);
    return;
  }
  const uint64_t place = std::uniform_int_distribution<uint64_t>(0, writes_seen_ - 1)(random_);
  if (place < kKeptWrites) writes_[place] = write;
}

double PartitionSurvey::busiest_share() const {
  if (writes_.size() < kSpans * kLeastWritesOfSpan) return 0;
  std::vector<Write> writes = writes_;
  std::ranges::stable_sort(writes, {}, &Write::at);
  double sum = 0;
  for (size_t span = 0; span < kSpans; ++span) {
    const size_t from = span * writes.size() / kSpans;
    const size_t to = (span + 1) * writes.size() / kSpans;
    // Two spans within one second are one import: which of its items came first is not known.
    if (from > 0 && writes[from].at == writes[from - 1].at && writes[from].at == writes[to - 1].at) return 0;
    std::unordered_map<uint64_t, size_t> counts;
    size_t most = 0;
    for (size_t i = from; i < to; ++i) most = std::max(most, ++counts[writes[i].partition]);
    sum += static_cast<double>(most) / static_cast<double>(to - from);
  }
  return sum / static_cast<double>(kSpans);
}

}  // namespace quire::engine
