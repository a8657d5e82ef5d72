#include "engine/advisor/copy_survey.h"

#include <algorithm>
#include <cctype>

#include "sql/value/json.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

constexpr size_t kMostPaths = 64;
constexpr size_t kMostGroups = 50'000;
constexpr size_t kMostProperties = 16;
constexpr uint32_t kMostMembers = 64;  // of an object that is looked at for identities
constexpr size_t kLongestShown = 80;

double share(uint64_t part, uint64_t other) {
  return part + other == 0 ? 0 : static_cast<double>(part) / static_cast<double>(part + other);
}

bool is_identity(const sql::Value& value) {
  return (value.is_string() && !value.as_string().empty()) || value.kind() == sql::Kind::integer;
}

std::string shown(const sql::Value& value) {
  if (value.is_undefined()) return "null";
  std::string json;
  sql::write_json(value, json);
  if (json.size() <= kLongestShown) return json;
  std::string text;
  sql::write_json_string(value.is_string() ? shortened(value.as_string(), kLongestShown) : "(long)", text);
  return text;
}

// The name of the member that says what the object is a copy of; empty if there is none. What stands first in
// the list is the surer sign.
std::string_view identity_of(const sql::Value& object, const std::string& name) {
  for (const std::string_view known : {"id", "_id", "uuid", "key", "sku", "isbn"})
    if (is_identity(object.member(known))) return known;
  const sql::MemberReader members(object);
  std::string_view reference;
  for (uint32_t i = 0; i < std::min(members.size(), kMostMembers); ++i) {
    const sql::Member member = members[i];
    const std::string_view stem = stem_of_reference(member.name);
    if (stem.empty() || !is_identity(member.value)) continue;
    if (is_same_noun(stem, name)) return member.name;
    if (reference.empty()) reference = member.name;
  }
  if (!reference.empty()) return reference;
  for (const std::string_view known : {"email", "name"})
    if (is_identity(object.member(known))) return known;
  return {};
}

}  // namespace

double CopiedProperty::agreement() const {
  return share(same, different);
}
double CopiedProperty::chance() const {
  return compared_by_chance == 0
             ? 1
             : static_cast<double>(same_by_chance) / static_cast<double>(compared_by_chance);
}

// The first copy of an identity.
struct CopySurvey::Group {
  uint64_t hashes[kMostProperties] = {};
  uint32_t properties = 0;  // how many the path had then: later ones are not known of it
  uint32_t differing = 0;   // a bit for each property
  bool is_copied = false;
  uint64_t item_number = 0;
  ItemName item;
};

struct CopySurvey::Path {
  CopiedPath facts;
  std::unordered_map<uint64_t, Group> groups;
  uint64_t last_hashes[kMostProperties] = {};  // of the copy before
  uint32_t last_properties = 0;
  uint64_t last_identity = 0;
};

CopySurvey::CopySurvey() = default;
CopySurvey::~CopySurvey() = default;
CopySurvey::CopySurvey(CopySurvey&&) noexcept = default;
CopySurvey& CopySurvey::operator=(CopySurvey&&) noexcept = default;

CopySurvey::Path* CopySurvey::find(const std::string& path, std::string_view identity, bool is_flat) {
  std::string key = path + (is_flat ? "\n" : "") + "\n" + std::string(identity);
  const auto found = paths_.find(key);
  if (found != paths_.end()) return found->second.get();
  if (paths_.size() == kMostPaths) return nullptr;
  auto made = std::make_unique<Path>();
  made->facts.path = path;
  made->facts.identity = identity;
  made->facts.is_flat = is_flat;
  return paths_.emplace(std::move(key), std::move(made)).first->second.get();
}

void CopySurvey::object(const WalkedItem& item, const PathFacts& path, const sql::Value& object,
                        const sql::Value& siblings) {
  flat_copies(item, path, object);
  if (path.depth == 0) return;
  const std::string_view identity = identity_of(object, path.name);
  if (!identity.empty()) {
    if (Path* const copied = find(path.path, identity, false))
      compare(item, *copied, object.member(identity), object);
    return;
  }
  // The identity stands beside it: {"customerId": "c1", "customer": {...}}.
  const sql::Value beside = siblings.member(path.name + "Id");
  if (!is_identity(beside)) return;
  if (Path* const copied = find(path.path, "../" + path.name + "Id", false))
    compare(item, *copied, beside, object);
}

// {"customerId": "c1", "customerName": "Ada"}
void CopySurvey::flat_copies(const WalkedItem& item, const PathFacts& path, const sql::Value& object) {
  const sql::MemberReader members(object);
  const uint32_t size = members.size();
  if (size > kMostMembers) return;
  for (uint32_t i = 0; i < size; ++i) {
    const sql::Member reference = members[i];
    const std::string_view stem = stem_of_reference(reference.name);
    if (stem.empty() || !is_identity(reference.value)) continue;
    sql::Member beside[kMostProperties];
    size_t count = 0;
    for (uint32_t other = 0; other < size && count < kMostProperties; ++other) {
      const sql::Member member = members[other];
      if (other == i || member.name.size() <= stem.size() || !member.name.starts_with(stem)) continue;
      const char next = member.name[stem.size()];
      const bool begins_word = next == '_' || next == '-' || (next >= 'A' && next <= 'Z');
      if (begins_word && !member.value.is_object() && !member.value.is_array()) beside[count++] = member;
    }
    if (count == 0) continue;
    if (Path* const copied = find(path.path, reference.name, true))
      compare(item, *copied, reference.value, sql::Value::object(std::span(beside, count)));
  }
}

void CopySurvey::compare(const WalkedItem& item, Path& path, const sql::Value& identity,
                         const sql::Value& object) {
  CopiedPath& facts = path.facts;
  ++facts.copies;
  uint64_t hashes[kMostProperties] = {};
  sql::Value values[kMostProperties];
  const uint64_t identity_hash = hash_of(identity);
  const sql::MemberReader members(object);
  for (uint32_t i = 0; i < std::min(members.size(), kMostMembers); ++i) {
    const sql::Member member = members[i];
    if (member.name == facts.identity) continue;
    auto place = std::ranges::find(facts.properties, member.name, &CopiedProperty::name);
    if (place == facts.properties.end()) {
      if (facts.properties.size() == kMostProperties) continue;
      facts.properties.emplace_back().name = member.name;
      place = facts.properties.end() - 1;
    }
    const auto number = static_cast<size_t>(place - facts.properties.begin());
    values[number] = member.value;
    hashes[number] = hash_of(member.value) | 1;  // 0: it has no such property
  }
  const auto known = static_cast<uint32_t>(facts.properties.size());
  if (facts.copies > 1 && path.last_identity != identity_hash)
    for (uint32_t i = 0; i < path.last_properties; ++i) {
      ++facts.properties[i].compared_by_chance;
      if (hashes[i] == path.last_hashes[i]) ++facts.properties[i].same_by_chance;
    }
  std::ranges::copy(hashes, path.last_hashes);
  path.last_properties = known;
  path.last_identity = identity_hash;

  auto found = path.groups.find(identity_hash);
  if (found == path.groups.end()) {
    if (groups_ == kMostGroups) return;
    ++groups_;
    ++facts.identities;
    Group& group = path.groups[identity_hash];
    std::ranges::copy(hashes, group.hashes);
    group.properties = known;
    group.item_number = item.number;
    group.item = item.name;
    return;
  }
  Group& group = found->second;
  if (group.item_number == item.number) return;
  if (!group.is_copied) ++facts.identities_copied;
  group.is_copied = true;
  for (uint32_t i = 0; i < group.properties; ++i) {
    CopiedProperty& property = facts.properties[i];
    if (hashes[i] == group.hashes[i]) {
      ++property.same;
      continue;
    }
    ++property.different;
    if ((group.differing >> i & 1) == 0) ++property.identities_that_differ;
    group.differing |= 1U << i;
    if (property.examples.size() < kMostExamples)
      property.examples.push_back(
          item.name.members()
              .json(facts.identity.starts_with("../") ? facts.identity.substr(3) : facts.identity,
                    shown(identity))
              .json(property.name, shown(values[i]))
              .json("differsFrom", group.item.members().object())
              .object());
  }
}

std::vector<const CopiedPath*> CopySurvey::paths() const {
  std::vector<const CopiedPath*> paths;
  for (const auto& [key, path] : paths_) paths.push_back(&path->facts);
  return paths;
}

}  // namespace quire::engine
