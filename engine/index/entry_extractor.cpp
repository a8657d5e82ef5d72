#include "engine/index/entry_extractor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "sql/value/key_encoding.h"
#include "sql/value/member_reader.h"
#include "sql/value/prefetch.h"

namespace quire::engine {
namespace {

// Hostile items may have any number of paths: past this many no place is remembered, and none indexed.
constexpr size_t kMostNodes = 65'536;

bool is_wanted(IndexSelection selection, bool is_building, UniqueScope unique) {
  switch (selection) {
    case IndexSelection::all:
      return true;
    case IndexSelection::building:
      return is_building;
    case IndexSelection::unique:
      return unique != UniqueScope::none;
    case IndexSelection::none:
      return false;
  }
  return true;
}

Result<void> forget(const Result<IndexNumber>& number) {
  if (!number) return std::unexpected(number.error());
  return {};
}

bool is_scalar(const sql::Value& value) {
  return !value.is_array() && !value.is_object() && value.is_defined();
}

void encode(const sql::Value& value, bool is_descending, std::string& out) {
  if (is_descending)
    sql::encode_key_descending(value, out);
  else
    sql::encode_key(value, out);
}

}  // namespace

EntryExtractor::EntryExtractor(const IndexSet& set, sql::DictionaryNumber dictionary, size_t scope_bytes)
    : scope_bytes_(scope_bytes),
      is_policy_building_(set.is_policy_building),
      policy_(set.policy ? &*set.policy : nullptr) {
  size_t name_count = 0;
  for (const Index& index : set.indexes)
    for (const sql::IndexPart& part : index.parts) name_count += part.path.size();
  names_.reserve(name_count);  // views of them stay good
  nodes_.emplace_back().is_decided = true;
  for (const Index& index : set.indexes) {
    if (index.is_of_policy) {
      add_path(index);
      continue;
    }
    if (index.is_of_expiry) continue;
    ExplicitIndex& made = explicit_.emplace_back();
    made.number = index.number;
    made.unique = index.unique;
    has_unique_ = has_unique_ || index.unique != UniqueScope::none;
    made.holds = index.holds;
    made.is_multi_valued = index.is_multi_valued();
    made.is_building = index.is_building;
    if (!index.condition.empty()) {
      auto condition = sql::ItemCondition::make(index.condition, dictionary);
      if (!condition && condition.error().code == ErrorCode::out_of_memory) throw std::bad_alloc();
      made.is_refused = !condition;
      if (condition) made.condition = std::move(*condition);
    }
    for (const sql::IndexPart& part : index.parts) {
      made.is_descending.push_back(part.is_descending);
      auto& steps = made.paths.emplace_back();
      for (const sql::IndexStep& step : part.path) {
        const std::string& name = names_.emplace_back(step.name);
        steps.push_back({sql::resolve_key(name, dictionary), step.is_element});
      }
    }
  }
}

// ---- Explicit indexes

void EntryExtractor::ask_ahead(const sql::Value& root) const noexcept {
  constexpr size_t kLine = 64, kMostLines = 4;
  for (const ExplicitIndex& index : explicit_)
    for (const std::vector<ResolvedStep>& path : index.paths) {
      if (path.empty()) continue;
      const std::span<const std::byte> member = root.member_bytes(path[0].key);
      for (size_t at = 0; at < std::min(member.size(), kMostLines * kLine); at += kLine)
        sql::prefetch(member.data() + at);
    }
}

void EntryExtractor::add_explicit(const sql::Value& root, Bytes item_key, IndexSelection selection,
                                  EntryList& out) {
  for (const ExplicitIndex& index : explicit_) {
    if (!is_wanted(selection, index.is_building, index.unique) || index.is_refused) continue;
    if (index.condition != nullptr && !index.condition->is_true_for(root)) continue;
    if (index.is_multi_valued)
      add_values(index, root, 0, item_key, out);
    else
      add_single(index, root, item_key, out);
  }
}

void EntryExtractor::add_single(const ExplicitIndex& index, const sql::Value& root, Bytes item_key,
                                EntryList& out) {
  values_.clear();
  for (size_t part = 0; part < index.paths.size(); ++part) {
    sql::Value value = root;
    for (const ResolvedStep& step : index.paths[part]) value = value.member(step.key);
    // Cosmos: to a unique key a missing value is null.
    if (index.unique == UniqueScope::partition && value.is_undefined()) value = sql::Value::null();
    if (index.holds == sql::IndexHolds::defined && value.is_undefined()) return;
    if (index.holds == sql::IndexHolds::scalars && !is_scalar(value)) return;
    encode(value, index.is_descending[part], values_);
  }
  const std::string_view scope =
      index.unique == UniqueScope::partition ? item_key.substr(0, scope_bytes_) : std::string_view();
  out.add(index.number, scope, values_, item_key);
}

void EntryExtractor::add_values(const ExplicitIndex& index, const sql::Value& value, size_t step,
                                Bytes item_key, EntryList& out) {
  const std::vector<ResolvedStep>& steps = index.paths[0];
  if (step < steps.size()) {
    if (!steps[step].is_element) {
      const sql::Value member = value.member(steps[step].key);
      if (member.is_defined()) add_values(index, member, step + 1, item_key, out);
      return;
    }
    if (!value.is_array()) return;
    const sql::ElementReader elements(value);
    for (uint32_t i = 0; i < elements.size(); ++i) add_values(index, elements[i], step + 1, item_key, out);
    return;
  }
  if (value.is_undefined() || (index.holds == sql::IndexHolds::scalars && !is_scalar(value))) return;
  values_.clear();
  encode(value, index.is_descending[0], values_);
  out.add(index.number, {}, values_, item_key);
}

// ---- What the policy covers

Result<void> EntryExtractor::add_covered(const sql::Value& root, Bytes item_key, IndexSelection selection,
                                         const Allot& allot, EntryList& out) {
  if (policy_ == nullptr || selection == IndexSelection::unique) return {};
  return walk(root, 0, Walk{item_key, selection, allot, out});
}

Result<void> EntryExtractor::walk(const sql::Value& value, uint32_t node, const Walk& walk) {
  if (value.is_object()) {
    sql::MemberWalk members(value);
    sql::Member member;
    for (uint32_t i = 0; members.next(member); ++i) {
      if (member.value.is_undefined()) continue;
      const uint32_t at = child(node, member.name, i);
      if (at == 0) [[unlikely]]
        QUIRE_TRY(walk.allot({}));
      else
        QUIRE_TRY(this->walk(member.value, at, walk));
    }
    return {};
  }
  if (value.is_array()) {
    const uint32_t at = element_child(node);
    if (at == 0) return forget(walk.allot({}));
    const sql::ElementReader elements(value);
    for (uint32_t i = 0; i < elements.size(); ++i) QUIRE_TRY(this->walk(elements[i], at, walk));
    return {};
  }
  return value.is_defined() ? add_scalar(value, node, walk) : Result<void>();
}

Result<void> EntryExtractor::add_scalar(const sql::Value& value, uint32_t node, const Walk& walk) {
  if (!nodes_[node].is_decided) [[unlikely]]
    QUIRE_TRY(decide(node, walk.allot));
  const Node& at = nodes_[node];
  if (at.number == IndexNumber::none || !is_wanted(walk.selection, at.is_building, UniqueScope::none))
    return {};
  values_.clear();
  sql::encode_key(value, values_);
  walk.out.add(at.number, {}, values_, walk.item_key);
  return {};
}

Result<void> EntryExtractor::decide(uint32_t node, const Allot& allot) {
  const std::vector<sql::IndexStep> path = path_of(node);
  if (policy_->covers(path)) {
    QUIRE_ASSIGN(nodes_[node].number, allot(path));
    nodes_[node].is_building = is_policy_building_;
  }
  nodes_[node].is_decided = true;
  return {};
}

// ---- The tree of paths. 0, the root, stands for no node.

uint32_t EntryExtractor::child(uint32_t node, std::string_view name, uint32_t place) {
  const std::vector<uint32_t>& children = nodes_[node].children;
  if (place < children.size() && children[place] != 0) [[likely]] {
    const std::string& there = nodes_[children[place]].name;
    if (there.size() == name.size() && std::memcmp(there.data(), name.data(), name.size()) == 0) [[likely]]
      return children[place];
  }
  const uint32_t found = find_child(node, name);
  constexpr uint32_t kMostPlaces = 4096;
  if (found != 0 && place < kMostPlaces) {
    std::vector<uint32_t>& places = nodes_[node].children;
    if (places.size() <= place) places.resize(place + 1);
    places[place] = found;
  }
  return found;
}

uint32_t EntryExtractor::find_child(uint32_t node, std::string_view name) {
  std::string key(reinterpret_cast<const char*>(&node), sizeof node);
  key += name;
  if (const auto found = children_.find(key); found != children_.end()) return found->second;
  const uint32_t made = add_node(node, name, false);
  if (made != 0) children_.emplace(std::move(key), made);
  return made;
}

uint32_t EntryExtractor::element_child(uint32_t node) {
  if (nodes_[node].elements == 0) {
    const uint32_t made = add_node(node, {}, true);
    nodes_[node].elements = made;
  }
  return nodes_[node].elements;
}

uint32_t EntryExtractor::add_node(uint32_t parent, std::string_view name, bool is_element) {
  if (nodes_.size() >= kMostNodes) return 0;
  Node& made = nodes_.emplace_back();
  made.parent = parent;
  made.name = name;
  made.is_element = is_element;
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void EntryExtractor::add_path(const Index& index) {
  uint32_t node = 0;
  for (const sql::IndexStep& step : index.parts[0].path) {
    node = step.is_element ? element_child(node) : find_child(node, step.name);
    if (node == 0) return;
  }
  nodes_[node].number = index.number;
  nodes_[node].is_building = index.is_building;
  nodes_[node].is_decided = true;
}

std::vector<sql::IndexStep> EntryExtractor::path_of(uint32_t node) const {
  std::vector<sql::IndexStep> path;
  for (; node != 0; node = nodes_[node].parent) path.push_back({nodes_[node].name, nodes_[node].is_element});
  std::ranges::reverse(path);
  return path;
}

}  // namespace quire::engine
