// All that a plan may ask of storage. The engine implements it over LMDB (engine/query), tests over vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/error.h"
#include "sql/value/arena.h"
#include "sql/value/value.h"

namespace quire::sql {

// A property that the database sets, kept outside the document's bytes.
enum class SystemProperty : uint8_t { rid, self, etag, attachments, ts };
inline constexpr std::string_view kSystemPropertyNames[] = {"_rid", "_self", "_etag", "_attachments", "_ts"};
inline constexpr size_t kSystemPropertyCount = 5;

// A step of an indexed path: a property, or each element of an array ("[]").
struct IndexStep {
  std::string name;
  bool is_element = false;
  friend bool operator==(const IndexStep&, const IndexStep&) = default;
};

struct IndexPart {
  std::vector<IndexStep> path;
  bool is_descending = false;
  friend bool operator==(const IndexPart&, const IndexPart&) = default;
};

// Which values an index has entries for. An index over a path with "[]" has an entry for each value that the
// path reaches in an item (equal ones of one item: one entry); any other has at most one entry an item.
enum class IndexHolds : uint8_t {
  every_item,  // one entry each: undefined where a path is missing, arrays and objects too
  defined,     // no entry where the path leads to nothing; arrays and objects have entries
  scalars,     // null, booleans, numbers and strings alone
};

// An index that a plan may use. Its entries stand in the order of the encoded values of its parts, one part
// behind the other (sql/value/key_encoding.h), and entries with equal values in the order of the items' keys.
struct IndexDescription {
  uint32_t number = 0;
  std::string name;  // as the user knows it, for EXPLAIN
  std::vector<IndexPart> parts;
  IndexHolds holds = IndexHolds::every_item;
  bool is_unique = false;
  // Only items for which this is true have entries: the condition of CREATE INDEX ... WHERE, as print()
  // gives it with the item's alias written c. Empty: all.
  std::string condition;
  uint64_t entries = 0;
  // Not 0 where entries have values, or keys of items, that are too long for a key: among those that agree in
  // their first bytes the order is not theirs. Such an index cannot stand in for a sort.
  uint64_t cut_entries = 0;

  bool is_multi_valued() const noexcept {
    return parts.size() == 1 && std::ranges::any_of(parts[0].path, &IndexStep::is_element);
  }
};

// What ANALYZE or the making of an index found out about it; estimates.
struct IndexStatistics {
  uint64_t entries = 0;
  // By number of leading parts: how many different values they have together. Empty: not known.
  std::vector<double> distinct;
  // Encoded values at equal distances, in order, perhaps cut: each stands for an equal share of the entries.
  // Null: not known. Shared, since who plans a statement only looks at them.
  std::shared_ptr<const std::vector<std::string>> bounds;
};

// Encoded keys from `from` on, before `to`; an empty `to` is the end of the index. May be cut anywhere:
// a `from` of one part's value begins with all entries that have it.
struct KeyRange {
  std::string_view from;
  std::string_view to;
};

// Entries of one index within any of the ranges, which are in order and do not overlap.
struct IndexProbe {
  uint32_t index = 0;
  std::span<const KeyRange> ranges;
};

// A partition, or an item of it.
struct AccessKey {
  std::span<const Value> partition_key;
  std::string_view id;
};

// How a plan reaches the items of a collection.
struct Access {
  enum class Kind : uint8_t {
    scan,        // all, in the order of their keys
    partition,   // those of a partition, or under the prefix of a hierarchical key; likewise
    point,       // one
    partitions,  // those of several partitions (`keys`), each item once, in the order of their keys
    points,      // several; likewise
    index,       // those that entries of one index lead to, in the order of the entries
    any_index,   // those that any of several probes leads to, each item once, in the order of their keys
    all_index,   // those that each of several probes leads to; likewise
  } kind = Kind::scan;
  // partition: the full partition key or a prefix of a hierarchical one; point: the full key. With an index,
  // if not empty: items of other partitions are left out.
  // Undefined components stand for a missing path.
  std::span<const Value> partition_key;
  std::string_view id;  // point
  // scan of a container without partition key, partition with a full one: only ids from `id_from` on and,
  // unless it is empty, before `id_to`. Others may come all the same.
  std::string_view id_from, id_to;
  bool is_in_id_order = false;      // the items come in the order of their ids; as a rule they do so anyway
  std::span<const AccessKey> keys;  // partitions, points
  std::span<const IndexProbe> probes;  // index: one; the others: one or more
  // scan: only the items from one of the places that Collection::divide() has told on, and before another
  // one; empty: from the first item on, and to the last.
  std::string_view place_from, place_to;
  // any_index, all_index: what the keys of items that are found are taken from, as long as the cursor
  // lives; null: there is no limit.
  MemoryBudget* memory = nullptr;
  // any_index: of entries of a probe with the same values, only the first that leads to a wanted item counts.
  bool first_of_equal = false;
  // any_index, all_index: asked now and then while they are found, of which there may be millions; why it
  // must end.
  const std::function<Result<void>()>* may_go_on = nullptr;
  // index: from the last values to the first; entries with equal values still in the order of the items'
  // keys. In the order of ids: from the last to the first.
  bool is_reverse = false;

  bool has_id_range() const noexcept { return !id_from.empty() || !id_to.empty() || is_in_id_order; }
};

// Hands out the items of an access, in key order. Items are encoded objects and stay valid as long as the
// Source, except that a write through the same transaction ends all of them.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // Fills items from the front; how many, 0 at the end.
  virtual Result<size_t> next(std::span<Value> items) = 0;
  // How many are still to come at most, if that is known.
  virtual std::optional<uint64_t> most_left() const { return std::nullopt; }
  // Of one that Collection::open_beside() has given: goes past up to `most` items without looking at them;
  // how many, 0 at the end.
  virtual Result<uint64_t> skip(uint64_t /*most*/) { return uint64_t{0}; }
};

// Walks entries of one index, in the order of the access. Also hands out their items.
class IndexCursor : public Cursor {
 public:
  // The values of the next entries without a look at their items, one for each part of the index, an entry
  // behind the other; how many entries, 0 at the end. Strings stay valid as items do or live in `arena`.
  // Arrays and objects come from the item.
  virtual Result<size_t> next_values(std::span<Value> values, Arena& arena) = 0;
  // Goes past up to `most` entries without looking at what they hold; how many there were.
  virtual Result<uint64_t> count(uint64_t most) = 0;
  // For estimates: likewise, those of items that are not shown among them, and so without a look at any.
  virtual Result<uint64_t> count_entries(uint64_t most) { return count(most); }
  // Goes past entries that agree with the last one given in its first `parts` values: all that lie together.
  virtual Result<void> skip_equal(size_t /*parts*/) { return {}; }
  // Begins anew, as if its collection had opened it with `access` in the snapshot that there is now, which is
  // of the same commit. False: it cannot, and is of no more use.
  virtual Result<bool> reopen(const Access& /*access*/) { return false; }
};

// A container as a query sees it.
class Collection {
 public:
  virtual ~Collection() = default;
  virtual std::string_view name() const = 0;
  // The paths of the partition key, each a list of property names; empty: none.
  virtual const std::vector<std::vector<std::string>>& partition_key_paths() const = 0;
  // Another property of the container's definition ("vectorEmbeddingPolicy") as JSON; empty: it has none.
  virtual std::string_view definition_property(std::string_view name) const = 0;
  // Of the encoded items, for resolve_key. Asked anew at each execution.
  virtual DictionaryNumber dictionary() const = 0;
  virtual Result<std::unique_ptr<Cursor>> open(const Access& access) = 0;
  // Whether open() minds the keys of an access. If not, it gives all items, and a plan has to look at each.
  virtual bool finds_by_key() const { return true; }
  // For estimates.
  virtual uint64_t item_count() const = 0;
  // For estimates: the share of the items that are those of a partition, or of those whose keys begin with
  // these scalars; nothing where that is not known.
  virtual std::optional<double> partition_share(std::span<const Value> /*partition_key*/) {
    return std::nullopt;
  }
  // Likewise: the share of the items, and of the entries of indexes, that open() shows.
  virtual double shown_share() { return 1; }
  // Places that part the items of a scan into about so many ranges of about the same size (up to twice as
  // many): each but the first begins at one. Good as long as items are. None: they cannot be parted.
  virtual std::vector<std::string_view> divide(size_t /*parts*/) { return {}; }
  // How many items open() would give of all, where that is known without a look at them; else nothing.
  virtual Result<std::optional<uint64_t>> count_items() { return std::nullopt; }
  // The same collection in the same snapshot, for another thread; what it hands out is good as long as what
  // this one does. nullptr: there is none to be had, as within a transaction.
  virtual std::unique_ptr<Collection> fork() { return nullptr; }
  // In a fork: a cursor over the items of another one, which the collection that was forked has opened with
  // that access by indexes, from the first item on; that other may be used meanwhile. nullptr: which items
  // those are cannot be told without a look at each.
  virtual Result<std::unique_ptr<Cursor>> open_beside(const Cursor& /*other*/, const Access& /*access*/) {
    return nullptr;
  }
  // The indexes that are complete in this snapshot. The same span as long as the collection.
  virtual std::span<const IndexDescription> indexes() const { return {}; }
  virtual Result<IndexStatistics> index_statistics(uint32_t /*index*/) { return IndexStatistics{}; }
  // Whether it minds a range and the order of ids in an Access.
  virtual bool has_id_order() const { return false; }
  // Of index, or any_index with one probe of an index that is not over elements.
  virtual Result<std::unique_ptr<IndexCursor>> open_index(const Access& /*access*/) { return nullptr; }
  // A system property of an item that a cursor of this collection handed out; strings live in `arena`.
  virtual Value system_property(const Value& item, SystemProperty property, Arena& arena) const = 0;
  // All of them, in the order of SystemProperty.
  virtual void system_properties(const Value& item, std::span<Value, kSystemPropertyCount> values,
                                 Arena& arena) const;
  // Appends compact JSON of such an item as a whole.
  virtual void write_item(const Value& item, std::string& out) const;
  // DOCUMENTID(): a number that no other item of the collection has, kept by a replace.
  virtual int64_t document_id(const Value& item) const = 0;
};

// An item as a whole: its own members, of which none is called like one, then the system properties. It is
// not copied: good as long as the item, and as the arena.
Value whole_item(const Value& item, const Collection& collection, Arena& arena);
Value whole_item(const Value& item, std::span<const Value, kSystemPropertyCount> properties, Arena& arena);

struct TimeLimit;

// A user-defined function, for one execution of a query.
class UserFunction {
 public:
  virtual ~UserFunction() = default;
  // The results of several calls: call i has the arguments from i * arity on. Strings and built values of the
  // results live in `arena`, or as long as the arguments. `time_limit` is the query's.
  virtual Result<void> call(size_t arity, std::span<const Value> arguments, std::span<Value> results,
                            Arena& arena, const TimeLimit& time_limit) = 0;
};

// What a statement runs over: one snapshot of the database.
class Source {
 public:
  virtual ~Source() = default;
  // nullptr if there is none. Owned by the source.
  virtual Collection* collection(std::string_view name) = 0;
  virtual std::vector<std::string> collection_names() const = 0;
  // udf.name, as the containers of the statement have it; nullptr if none of them does.
  virtual Result<std::unique_ptr<UserFunction>> user_function(std::string_view /*name*/) { return nullptr; }
};

}  // namespace quire::sql
