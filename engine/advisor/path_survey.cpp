#include "engine/advisor/path_survey.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>

#include "sql/functions/date_time.h"
#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

constexpr size_t kMostKnownPaths = 4000;
// An object with more different names than this is a map: its keys are data.
constexpr size_t kMostKnownMembers = 300;
constexpr size_t kMostNodes = 4096;  // of one item
// Of an array, so many elements at each end are walked.
constexpr uint32_t kWalkedAtEachEnd = 32;
constexpr size_t kMostCountedPaths = 64;
constexpr size_t kDeepestCounted = 2;
constexpr size_t kMostPoints = 1'000'000;  // of all arrays
constexpr size_t kLongestValue = 1024;
constexpr double kSecondsPerDay = 86'400;

std::string_view bytes_of(const sql::Value& value) {
  const auto bytes = value.encoded_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Bytes in the item, of what has a length.
uint64_t length_of(const sql::Value& value) {
  if (value.is_string()) return value.as_string().size();
  return value.is_encoded() ? value.encoded_bytes().size() : 0;
}

bool ends_with(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.ends_with(ending);
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// The time that an element says it is from: the first of its members that is one.
std::optional<int64_t> time_of_element(const sql::Value& element) {
  if (!element.is_object()) return std::nullopt;
  const sql::MemberReader members(element);
  constexpr uint32_t kLookedAt = 16;
  for (uint32_t i = 0; i < std::min(members.size(), kLookedAt); ++i)
    if (const auto time = time_of(members[i].value)) return time;
  return std::nullopt;
}

}  // namespace

uint64_t hash_of(const sql::Value& value) noexcept {
  if (value.is_string()) return std::hash<std::string_view>()(value.as_string());
  if (value.is_number()) return std::hash<double>()(value.as_double()) ^ 0x9E37'79B9'7F4A'7C15;
  if (value.is_encoded()) return std::hash<std::string_view>()(bytes_of(value)) + 1;
  return static_cast<uint64_t>(value.kind()) * 2 + (value.is_true() ? 1 : 0);
}

std::optional<int64_t> time_of(const sql::Value& value) noexcept {
  if (value.is_string()) {
    constexpr size_t kShortest = 10;  // YYYY-MM-DD
    constexpr size_t kLongest = 35;
    const std::string_view text = value.as_string();
    if (text.size() < kShortest || text.size() > kLongest) return std::nullopt;
    const auto ticks = sql::parse_date_time(text);
    return ticks ? std::optional(*ticks / sql::kTicksPerSecond) : std::nullopt;
  }
  if (value.kind() != sql::Kind::integer) return std::nullopt;
  // 2001 to 2096: smaller or greater numbers are more likely something else.
  constexpr int64_t kFirst = 1'000'000'000;
  constexpr int64_t kLast = 4'000'000'000;
  const int64_t number = value.as_integer();
  if (number >= kFirst && number <= kLast) return number;
  if (number >= kFirst * 1000 && number <= kLast * 1000) return number / 1000;
  return std::nullopt;
}

bool is_same_noun(std::string_view a, std::string_view b) noexcept {
  const auto singular = [](std::string_view name) {
    std::string word;
    for (const char c : name)
      if (c != '_' && c != '-') word += lower(c);
    if (word == "people") return std::string("person");
    if (word == "children") return std::string("child");
    if (ends_with(word, "ies")) return word.substr(0, word.size() - 3) + "y";
    for (const std::string_view ending : {"sses", "xes", "ches", "shes"})
      if (ends_with(word, ending)) return word.substr(0, word.size() - 2);
    if (ends_with(word, "s") && !ends_with(word, "ss")) word.pop_back();
    return word;
  };
  return singular(a) == singular(b);
}

std::string_view stem_of_reference(std::string_view name) noexcept {
  for (const std::string_view ending :
       {"Ids", "_ids", "-ids", "IDs", "Id", "_id", "-id", "ID", "Ref", "_ref"})
    if (ends_with(name, ending)) return name.substr(0, name.size() - ending.size());
  return {};
}

// ---- The walk

void PathSurvey::add(const WalkedItem& item, std::span<PathVisitor* const> visitors) {
  item_ = &item;
  visitors_ = visitors;
  nodes_left_ = kMostNodes;
  walk(item.root, root_, sql::Value(), 0);
}

PathFacts* PathSurvey::make(PathFacts& parent, std::string_view step, bool is_element) {
  if (paths_ == kMostKnownPaths) return nullptr;
  ++paths_;
  auto made = std::make_unique<PathFacts>();
  made->path = parent.path + "/" + std::string(step);
  made->name = is_element ? parent.name : std::string(step);
  made->depth = parent.depth + 1;
  made->is_within_array = is_element || parent.is_within_array;
  PathFacts* const facts = made.get();
  if (is_element)
    parent.elements = std::move(made);
  else
    parent.members.emplace(step, std::move(made));
  return facts;
}

PathFacts* PathSurvey::child(PathFacts& parent, std::string_view name) {
  if (const auto found = parent.members.find(name); found != parent.members.end()) return found->second.get();
  return parent.members.size() < kMostKnownMembers ? make(parent, name, false) : nullptr;
}

void PathSurvey::walk(const sql::Value& value, PathFacts& facts, const sql::Value& siblings, size_t depth) {
  if (nodes_left_ == 0) return;
  --nodes_left_;
  if (depth > deepest_) {
    deepest_ = depth;
    deepest_item_ = item_->name;
  }
  ++facts.values;
  ++facts.kinds[static_cast<size_t>(value.kind())];
  if (facts.last_item != item_->number) ++facts.items;
  facts.last_item = item_->number;
  if (const uint64_t length = length_of(value); length > 0 || value.is_string()) {
    facts.bytes.add(length);
    if (length > facts.biggest.bytes) facts.biggest = {item_->name, value.size(), length, item_->bytes, 0};
  }
  if (value.is_array()) return walk_array(value, facts, depth);
  if (!value.is_object()) {
    const bool is_counted = facts.depth <= kDeepestCounted && !facts.is_within_array &&
                            (value.is_string() || value.is_number()) && length_of(value) <= kLongestValue;
    if (is_counted && facts.scalars == nullptr && counted_paths_ < kMostCountedPaths) {
      ++counted_paths_;
      facts.scalars = std::make_unique<ValueCounts>();
    }
    if (is_counted && facts.scalars != nullptr) {
      ++facts.scalars->count;
      ++facts.scalars->counts[hash_of(value)];
    }
    if (time_of(value)) ++facts.times;
    for (PathVisitor* visitor : visitors_) visitor->scalar(*item_, facts, value);
    return;
  }
  for (PathVisitor* visitor : visitors_) visitor->object(*item_, facts, value, siblings);
  const sql::MemberReader members(value);
  for (uint32_t i = 0; i < members.size(); ++i) {
    const sql::Member member = members[i];
    if (PathFacts* const below = child(facts, member.name)) walk(member.value, *below, value, depth + 1);
  }
}

void PathSurvey::walk_array(const sql::Value& array, PathFacts& facts, size_t depth) {
  note_array(array, facts);
  const uint32_t size = array.size();
  if (size == 0) return;
  PathFacts* const below = facts.elements != nullptr ? facts.elements.get() : make(facts, "[]", true);
  if (below == nullptr) return;
  for (uint32_t i = 0; i < size; ++i) {
    if (i == kWalkedAtEachEnd && size > 2 * kWalkedAtEachEnd) i = size - kWalkedAtEachEnd;
    walk(array.element(i), *below, sql::Value(), depth + 1);
  }
}

void PathSurvey::note_array(const sql::Value& array, PathFacts& facts) {
  if (facts.is_within_array) return;
  if (facts.array == nullptr) facts.array = std::make_unique<ArrayFacts>();
  ArrayFacts& noted = *facts.array;
  const uint32_t length = array.size();
  noted.lengths.add(length);
  noted.bytes += static_cast<double>(length_of(array));
  LongArray found{item_->name, length, length_of(array), item_->bytes, 0};
  if (length > 1) {
    const sql::Value first = array.element(0);
    noted.holds_objects |= first.is_object();
    const auto begin = time_of_element(first);
    const auto end = time_of_element(array.element(length - 1));
    if (begin && end) {
      ++noted.timed;
      if (*end > *begin) {
        ++noted.rising;
        found.per_day = (length - 1) * kSecondsPerDay / static_cast<double>(*end - *begin);
      }
    }
  }
  if (found.per_day == 0 && item_->created) {
    const int64_t age = sql::now() / sql::kTicksPerSecond - *item_->created;
    if (age > 0) found.per_day = length * kSecondsPerDay / static_cast<double>(age);
  }
  if (points_ < kMostPoints) {
    ++points_;
    noted.by_number.push_back({item_->rid, length});
    if (item_->created) noted.by_creation.push_back({*item_->created, length});
  }
  const auto place =
      std::ranges::find_if(noted.longest, [&](const LongArray& other) { return other.length < length; });
  if (place == noted.longest.end() && noted.longest.size() >= kMostExamples) return;
  noted.longest.insert(place, std::move(found));
  if (noted.longest.size() > kMostExamples) noted.longest.pop_back();
}

std::vector<const PathFacts*> PathSurvey::all() const {
  std::vector<const PathFacts*> paths = {&root_};
  for (size_t i = 0; i < paths.size(); ++i) {
    const PathFacts* at = paths[i];
    for (const auto& [name, member] : at->members) paths.push_back(member.get());
    if (at->elements != nullptr) paths.push_back(at->elements.get());
  }
  paths.erase(paths.begin());
  return paths;
}

}  // namespace quire::engine
