#include "engine/advisor/shape_survey.h"

#include <algorithm>

#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

constexpr size_t kMostProperties = 200;
constexpr size_t kMostTypes = 20;
constexpr size_t kMostCandidates = 32;
constexpr size_t kLongestType = 64;
constexpr double kNearlyAll = 0.95;
constexpr double kNearlyNone = 0.05;
// Shares of a few items say little.
constexpr uint64_t kLeastItems = 4;

constexpr std::string_view kUsualNames[] = {"type",        "_type",        "kind",         "docType",
                                            "doc_type",    "documentType", "entity",       "entityType",
                                            "entity_type", "itemType",     "recordType",   "class",
                                            "model",       "schema",       "discriminator"};

bool is_usual(std::string_view name) {
  return std::ranges::find(kUsualNames, name) != std::end(kUsualNames);
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void ShapeSurvey::add(const WalkedItem& item) {
  ++items_;
  const sql::MemberReader members(item.root);
  std::vector<size_t> present;
  std::vector<std::pair<size_t, std::string_view>> types;
  for (uint32_t i = 0; i < members.size(); ++i) {
    const sql::Member member = members[i];
    auto found = number_of_.find(member.name);
    if (found == number_of_.end()) {
      if (properties_.size() == kMostProperties) continue;
      found = number_of_.emplace(member.name, properties_.size()).first;
      properties_.emplace_back(member.name);
      items_with_.push_back(0);
    }
    ++items_with_[found->second];
    present.push_back(found->second);
    if (member.name != "id" && member.value.is_string() && member.value.as_string().size() <= kLongestType)
      types.emplace_back(found->second, member.value.as_string());
  }
  for (const auto& [property, value] : types) {
    if (!candidates_.contains(property) && candidates_.size() == kMostCandidates) continue;
    Candidate& candidate = candidates_[property];
    if (candidate.has_too_many) continue;
    ++candidate.items;
    if (!candidate.values.contains(value) && candidate.values.size() == kMostTypes) {
      candidate.has_too_many = true;
      candidate.values.clear();
      continue;
    }
    auto [place, is_new] = candidate.values.try_emplace(std::string(value));
    ++place->second.items;
    place->second.beside.resize(properties_.size());
    for (const size_t other : present) ++place->second.beside[other];
  }
}

Discriminator ShapeSurvey::judge(size_t property, const Candidate& candidate) const {
  Discriminator judged{.property = properties_[property], .explained = 0, .types = {}};
  for (size_t other = 0; other < properties_.size(); ++other) {
    const double overall = share(items_with_[other], items_);
    if (other == property || overall < kNearlyNone || overall > kNearlyAll) continue;
    const bool is_told = std::ranges::all_of(candidate.values, [&](const auto& row) {
      const uint64_t beside = other < row.second.beside.size() ? row.second.beside[other] : 0;
      const double here = share(beside, row.second.items);
      return here >= kNearlyAll || here <= kNearlyNone;
    });
    if (is_told) ++judged.explained;
  }
  for (const auto& [value, row] : candidate.values) {
    TypeOfItem& type = judged.types.emplace_back(TypeOfItem{value, row.items, {}});
    for (size_t other = 0; other < row.beside.size(); ++other)
      if (const double here = share(row.beside[other], row.items); here > kNearlyNone)
        type.properties.emplace_back(properties_[other], here);
    std::ranges::stable_sort(type.properties, std::ranges::greater(),
                             &std::pair<std::string, double>::second);
  }
  std::ranges::stable_sort(judged.types, std::ranges::greater(), &TypeOfItem::items);
  return judged;
}

std::optional<Discriminator> ShapeSurvey::discriminator() const {
  std::optional<Discriminator> best;
  if (items_ < kLeastItems) return best;
  for (const auto& [property, candidate] : candidates_) {
    const bool tells_apart = !candidate.has_too_many && candidate.values.size() >= 2 &&
                             share(candidate.items, items_) >= kNearlyAll &&
                             candidate.values.size() * 2 <= items_;
    if (!tells_apart) continue;
    Discriminator judged = judge(property, candidate);
    // A name that says so needs less evidence.
    const size_t needed = is_usual(judged.property) ? 1 : 2;
    if (judged.explained < needed) continue;
    const auto rank = [](const Discriminator& d) { return std::pair(is_usual(d.property), d.explained); };
    if (!best || rank(judged) > rank(*best)) best = std::move(judged);
  }
  return best;
}

}  // namespace quire::engine
