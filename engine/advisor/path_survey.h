// What the items of a sample hold, path by path: how often, of which types, how many bytes, how long the
// arrays are and how they grow, how many different values there are. A tree as deep as the items, whose
// growth is bounded: objects that are maps stop it, and an item is walked only so far.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/advisor/finding.h"
#include "engine/advisor/tally.h"
#include "sql/value/value.h"

namespace quire::engine {

// Equal for equal scalars and for arrays and objects that are written alike.
uint64_t hash_of(const sql::Value& value) noexcept;
// A point in time as ISO text, or Unix seconds or milliseconds; in seconds. Nothing for other values.
std::optional<int64_t> time_of(const sql::Value& value) noexcept;
// "books" of "book": whether two names are the same but for case and a plural's ending.
bool is_same_noun(std::string_view a, std::string_view b) noexcept;
// "person" of "personId", "person_id", "personIds"; empty if the name does not say that it is a reference.
std::string_view stem_of_reference(std::string_view name) noexcept;

// The item that is being walked.
struct WalkedItem {
  sql::Value root;
  uint64_t number = 0;  // within the sample, from 1
  uint64_t bytes = 0;
  int64_t rid = 0;                 // grows with the time of creation
  std::optional<int64_t> created;  // seconds, of a property that says so
  ItemName name;
};

// An array of one item.
struct LongArray {
  ItemName item;
  uint64_t length = 0;
  uint64_t bytes = 0;
  uint64_t item_bytes = 0;
  double per_day = 0;  // by the times of its elements, or the item's age; 0: not known
};

struct ArrayFacts {
  struct Point {
    int64_t age;  // a rank will do: later is younger
    uint32_t length;
  };
  Tally lengths;
  double bytes = 0;
  uint64_t timed = 0;   // arrays whose first and last element have a time
  uint64_t rising = 0;  // of these, those whose last is later than the first
  bool holds_objects = false;
  std::vector<LongArray> longest;  // the longest first
  std::vector<Point> by_creation;  // by the items' own times
  std::vector<Point> by_number;    // by the order in which the items were made
};

// How often each value occurs.
struct ValueCounts {
  std::unordered_map<uint64_t, uint32_t> counts;
  uint64_t count = 0;
};

struct PathFacts {
  std::string path;  // "/lines/[]/product"
  std::string name;  // the last step
  size_t depth = 0;
  bool is_within_array = false;
  uint64_t items = 0;  // that have it
  uint64_t values = 0;
  uint64_t kinds[8] = {};  // by sql::Kind
  uint64_t times = 0;      // values that are points in time
  Tally bytes;             // of strings, arrays and objects
  LongArray biggest;       // the item with the most bytes at this path
  std::unique_ptr<ArrayFacts> array;
  std::unique_ptr<ValueCounts> scalars;

  uint64_t kind_count(sql::Kind kind) const { return kinds[static_cast<size_t>(kind)]; }

  // The tree.
  std::map<std::string, std::unique_ptr<PathFacts>, std::less<>> members;
  std::unique_ptr<PathFacts> elements;
  uint64_t last_item = 0;
};

// Told of what a walk meets.
class PathVisitor {
 public:
  virtual ~PathVisitor() = default;
  // An object; `siblings` is the object that it is a member of, or undefined.
  virtual void object(const WalkedItem& item, const PathFacts& path, const sql::Value& object,
                      const sql::Value& siblings) = 0;
  virtual void scalar(const WalkedItem& item, const PathFacts& path, const sql::Value& value) = 0;
};

class PathSurvey {
 public:
  // The item's number counts up by one.
  void add(const WalkedItem& item, std::span<PathVisitor* const> visitors);

  const PathFacts& root() const noexcept { return root_; }
  // All paths but the root, parents before their children.
  std::vector<const PathFacts*> all() const;
  // The deepest nesting that was met, and where.
  size_t deepest() const noexcept { return deepest_; }
  const ItemName& deepest_item() const noexcept { return deepest_item_; }

 private:
  void walk(const sql::Value& value, PathFacts& facts, const sql::Value& siblings, size_t depth);
  void walk_array(const sql::Value& array, PathFacts& facts, size_t depth);
  void note_array(const sql::Value& array, PathFacts& facts);
  PathFacts* child(PathFacts& parent, std::string_view name);
  PathFacts* make(PathFacts& parent, std::string_view step, bool is_element);

  PathFacts root_;
  size_t paths_ = 0;
  size_t deepest_ = 0;
  ItemName deepest_item_;
  size_t counted_paths_ = 0;
  size_t points_ = 0;  // of all arrays
  // Of the item at hand.
  const WalkedItem* item_ = nullptr;
  std::span<PathVisitor* const> visitors_;
  size_t nodes_left_ = 0;
};

}  // namespace quire::engine
