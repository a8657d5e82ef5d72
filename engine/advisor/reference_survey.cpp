#include "engine/advisor/reference_survey.h"

#include <algorithm>

namespace quire::engine {
namespace {

constexpr size_t kMostPaths = 64;
constexpr size_t kMostValues = 100'000;
constexpr size_t kMostValuesOfPath = 20'000;
// Enough to see whether they are ids at all.
constexpr size_t kMostValuesOfUnnamed = 2000;
constexpr size_t kLongestId = 255;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What an id could be: no prose.
bool may_be_id(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId &&
         text.find_first_of(" \n\t/\\?#") == std::string_view::npos;
}

}  // namespace

void ReferenceSurvey::scalar(const WalkedItem& item, const PathFacts& path, const sql::Value& value) {
  const bool is_named = !stem_of_reference(path.name).empty();
  std::string text;
  if (value.is_string())
    text = value.as_string();
  else if (value.kind() == sql::Kind::integer && is_named)
    text = std::to_string(value.as_integer());
  if (path.path == "/id" || !may_be_id(text) || time_of(value)) return;
  auto found = paths_.find(path.path);
  if (found == paths_.end()) {
    if (paths_.size() == kMostPaths) return;
    auto made = std::make_unique<ReferencePath>();
    made->path = path.path;
    made->name = path.name;
    made->is_in_array = path.is_within_array;
    made->is_named = is_named;
    made->is_digits = true;
    found = paths_.emplace(path.path, std::move(made)).first;
  }
  ReferencePath& reference = *found->second;
  reference.is_digits &= std::ranges::all_of(text, is_digit);
  ++reference.uses;
  if (text == item.name.id) ++reference.own_ids;
  const auto known = reference.values.find(text);
  if (known == reference.values.end()) {
    const size_t most = is_named ? kMostValuesOfPath : kMostValuesOfUnnamed;
    if (values_ == kMostValues || reference.values.size() >= most) return;
    ++values_;
    reference.values.emplace(text, ReferredValue{text, 1, item.number, item.name, 0});
  } else if (known->second.last_item != item.number) {
    ++known->second.uses;
    known->second.last_item = item.number;
  }
}

void ReferenceSurvey::begin_resolving(size_t containers) {
  for (const auto& [path, reference] : paths_) {
    reference->resolutions.resize(containers);
    for (auto& [text, value] : reference->values) by_id_[value.text].push_back({reference.get(), &value});
  }
}

void ReferenceSurvey::meet(size_t container, std::string_view id, uint64_t bytes) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  for (const Referrer& referrer : found->second) {
    const uint64_t bit = uint64_t{1} << container;
    if ((referrer.value->found_in & bit) != 0) continue;
    referrer.value->found_in |= bit;
    Resolution& resolution = referrer.path->resolutions[container];
    ++resolution.values;
    resolution.target_bytes += static_cast<double>(bytes);
  }
}

std::vector<const ReferencePath*> ReferenceSurvey::paths() const {
  std::vector<const ReferencePath*> paths;
  for (const auto& [path, reference] : paths_) paths.push_back(reference.get());
  return paths;
}

}  // namespace quire::engine
