// From an item to its entries. Explicit indexes look their paths up; what a policy covers is found by one
// walk over the item along a tree of the paths seen so far, in which each place in a document is found by a
// comparison or two, since items of a container are alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/index/index_entry.h"
#include "engine/index/index_set.h"
#include "sql/error.h"
#include "sql/run/item_condition.h"
#include "sql/value/resolved_key.h"
#include "sql/value/value.h"

namespace quire::engine {

// Which indexes are asked for. `none`: paths get their numbers, and that is all.
enum class IndexSelection : uint8_t { all, building, unique, none };

// Belongs to one thread at a time. Good for the set that it was made from, and for those that `allot` makes
// of it.
class EntryExtractor {
 public:
  // Gives a path that the policy covers, and that no item had before, its number; `none`: it gets none. An
  // empty path says that an item has paths past the bound: no path may get a number from then on, since this
  // one might be it.
  using Allot = std::function<Result<IndexNumber>(std::span<const sql::IndexStep>)>;

  // `dictionary`: of the items; must know every name of the set that it can know. `scope_bytes`: of an EPK.
  EntryExtractor(const IndexSet& set, sql::DictionaryNumber dictionary, size_t scope_bytes);

  // Whether an entry may be one of a unique index.
  bool has_unique() const noexcept { return has_unique_; }
  // Has the processor fetch what add_explicit() looks at, for an item that comes soon.
  void ask_ahead(const sql::Value& root) const noexcept;
  // Entries of explicit indexes, save that of expiry, whose entries do not come from the document.
  void add_explicit(const sql::Value& root, Bytes item_key, IndexSelection selection, EntryList& out);
  // Entries of what the policy covers.
  Result<void> add_covered(const sql::Value& root, Bytes item_key, IndexSelection selection,
                           const Allot& allot, EntryList& out);

 private:
  struct ResolvedStep {
    sql::ResolvedKey key;
    bool is_element;
  };
  struct ExplicitIndex {
    IndexNumber number;
    UniqueScope unique;
    sql::IndexHolds holds;
    bool is_multi_valued;
    bool is_building;
    std::vector<std::vector<ResolvedStep>> paths;
    std::vector<bool> is_descending;
    std::unique_ptr<sql::ItemCondition> condition;  // null: every item
    bool is_refused = false;                        // the condition cannot be asked: no item
  };
  // A place in a document that some item had a value at.
  struct Node {
    uint32_t parent = 0;
    std::string name;  // empty with is_element: [] (of the root: neither)
    bool is_element = false;
    bool is_decided = false;  // whether scalars here are indexed is known
    bool is_building = false;
    IndexNumber number = IndexNumber::none;
    std::vector<uint32_t> children;  // by the place where they were last met, the elements' node not among
    uint32_t elements = 0;
  };
  struct Walk {
    Bytes item_key;
    IndexSelection selection;
    const Allot& allot;
    EntryList& out;
  };

  void add_values(const ExplicitIndex& index, const sql::Value& value, size_t step, Bytes item_key,
                  EntryList& out);
  void add_single(const ExplicitIndex& index, const sql::Value& root, Bytes item_key, EntryList& out);
  Result<void> walk(const sql::Value& value, uint32_t node, const Walk& walk);
  Result<void> add_scalar(const sql::Value& value, uint32_t node, const Walk& walk);
  Result<void> decide(uint32_t node, const Allot& allot);
  uint32_t child(uint32_t node, std::string_view name, uint32_t place);
  uint32_t find_child(uint32_t node, std::string_view name);
  uint32_t element_child(uint32_t node);
  uint32_t add_node(uint32_t parent, std::string_view name, bool is_element);
  void add_path(const Index& index);
  std::vector<sql::IndexStep> path_of(uint32_t node) const;

  size_t scope_bytes_;
  bool is_policy_building_;
  bool has_unique_ = false;
  std::vector<std::string> names_;  // what resolved keys point to
  std::vector<ExplicitIndex> explicit_;
  const IndexingPolicy* policy_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, uint32_t> children_;  // parent and name
  std::string values_;
};

}  // namespace quire::engine
