// The plan: one tree of nodes from the bound query to what runs. build_plan() makes it as the query is
// written (EXPLAIN (LOGICAL)); rules then rewrite it in place: conditions move down to the first node that
// can decide them, equality between the sides of a join becomes its key, equality on the partition key
// becomes a partition scan or a point read, a sort under a
// limit keeps only the rows that can be returned (EXPLAIN (PHYSICAL)). sql/run turns each node into one
// operator.
//
// A row is a set of slots. The planner adds slots of its own after the binder's: one for the value of each
// query, and one for each group key and aggregate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/bind/bound.h"
#include "sql/plan/index_bounds.h"
#include "sql/source.h"

namespace quire::sql {

enum class PlanKind : uint8_t {
  one_row,     // a query without FROM, and the start of one whose first source is no container
  scan,        // the items of a container, by an access path
  expression,  // FROM c.a.b x: binds a value, drops rows where it is undefined
  elements,    // x IN c.arr: a row for each element
  subquery,    // (SELECT ...) x: a row for each row of a query, run anew for each input row
  join,     // JOIN container ON ..., or a query that runs once: the pairs of rows of two sides whose keys are
            // equal
  filter,   // keeps rows for which every condition is true
  by_key,   // of a correlated query: a filter by equalities with what stands around it, or by an OR of such,
            // which keeps its rows by their keys once it has run a few times
  group,    // GROUP BY and aggregates
  sort,     // ORDER BY; with top_k, only the first rows
  project,  // evaluates the query's value; drops rows where it is undefined
  distinct,  // drops values seen before
  limit,     // TOP, OFFSET LIMIT
  append,    // UNION ALL: the rows of `input`, then those of `other`
};

struct PlannedQuery;
class SlotSet;

// Entries of one index: what its leading parts must be, each but the last given by one bound of equality. The
// bounds of a part hold together.
struct PlannedProbe {
  IndexDescription index;
  std::vector<std::vector<IndexBound>> parts;
};

// What a component of a partition key, or the id, may be.
struct KeyChoices {
  std::vector<const BoundExpression*> values;
  bool are_elements = false;           // of the one value, an array
  std::optional<size_t> same_as = {};  // the value of that place before it: the partition key is /id

  bool may_be_several() const noexcept { return are_elements || values.size() > 1; }
  // How many there are; nothing where that is told when the query runs.
  std::optional<size_t> count() const noexcept {
    return are_elements ? known_size(*values[0]) : values.size();
  }
};

// What an item that is looked up by its key, or by an entry of an index, costs in items of a scan.
inline constexpr double kLookupCost = 6;
// The share of the items that a partition has, where nothing tells.
inline constexpr double kPartitionShare = 0.01;
// Past so many partitions, each of which has a cursor, a scan of all is no more work.
inline constexpr size_t kMostPartitions = 4096;

// What a scan gives where rows by key ask for all: the items, or those of the partition that it is confined
// to.
enum class GivesAll : uint8_t { never, of_partition, of_container };

// How a scan reaches its items. The expressions read no slot of their own query.
struct AccessPath {
  Access::Kind kind = Access::Kind::scan;
  // Of a way by an index, too: only its items of that partition are wanted.
  std::vector<const BoundExpression*> partition_key;
  const BoundExpression* id = nullptr;
  // Conditions that the partition key, or the choices for it, and the id decide: the filter has them no more.
  std::vector<const BoundExpression*> routing;
  // scan, partition: what the filter, which keeps it, says of the id; only these items are read.
  std::vector<IndexBound> id_bounds;
  // partitions, points: each component of the key, then the id, is one of these (IN).
  std::vector<KeyChoices> choices;
  // Or of each arm of an OR the components of a key, and the id, one key behind the other.
  std::vector<const BoundExpression*> arm_keys;
  size_t arm_key_size = 0;
  // partitions, points: so many components behind those of `partition_key`, the id last, are what a join asks
  // for (Frame::lookup_keys).
  size_t asked_components = 0;
  std::vector<PlannedProbe> probes;
  bool is_reverse = false;
  bool is_ordered = false;  // the rows come as ORDER BY wants them, or as a sort above wants its input
  // Conditions that the probes decide alone. They count where an index cannot serve what an operand turns out
  // to be, and all items are read instead.
  std::vector<const BoundExpression*> decided;
  // The items are not read: what is asked of them are parts of the index, by slot, or nothing at all.
  bool is_covering = false;
  bool reads_parts = false;
  // With equal values in so many leading parts an entry says nothing that the one before it has not said.
  size_t skipped_parts = 0;
  // Of entries with equal values only the first is followed, that is, the first of its items.
  bool first_of_equal = false;
  // Only items that have a partner in a join above are wanted: the join's keys are what is looked up.
  bool takes_join_keys = false;
  // Of a correlated query, where the row around decides what is read: rows by key above may ask for all.
  GivesAll gives_all = GivesAll::never;
  bool only_ends = false;  // MIN, MAX: the first and the last entry are enough
  std::vector<SlotNumber> part_slots;
  double estimated_rows = -1;  // -1: not known
};

// How many keys `choices` or `arm_keys` make, a list of which nothing is known counting as `listed`.
double count_keys(const AccessPath& access, double listed);

struct PlanNode {
  PlanKind kind;
  uint32_t number = 0;         // within the plan, for the counters of EXPLAIN ANALYZE
  double estimated_rows = -1;  // for EXPLAIN; -1: not known
  std::unique_ptr<PlanNode> input;

  const BoundSource* source = nullptr;             // scan, expression, elements, subquery
  bool only_counts = false;                        // scan: how many items there are is all that is asked
  AccessPath access;                               // scan
  const PlannedQuery* query = nullptr;             // subquery
  std::vector<const BoundExpression*> conditions;  // filter
  bool may_fan_out = false;            // filter: several threads may share the scan below and the conditions
  const BoundQuery* bound = nullptr;   // group, sort, project, limit: whose clauses
  const PlanNode* first_of = nullptr;  // of such a filter: the sort above that keeps the first rows alone
  bool top_k = false;                  // sort: stop at the limit of `bound`
  size_t ordered_keys = 0;  // sort: the rows come in the order of so many of its keys, the first ones
  const BoundExpression* defined = nullptr;  // sort with top_k: rows where it is undefined do not count
  const PlannedQuery* other = nullptr;       // append
  // join: the side that is read first and kept, by key. Without keys every row meets every row.
  std::unique_ptr<PlannedQuery> right;
  // join: what the right side gives is the same for all rows around the query.
  bool keeps_right = false;
  // Of a join's sides; by_key: of what stands around the query, and of the rows.
  std::vector<const BoundExpression*> left_keys;
  std::vector<const BoundExpression*> right_keys;
  bool is_any_key = false;  // by_key: a row needs one of these, not all
  // join: the right side is not read whole, but for each batch of the left one: only what has one of the
  // batch's values of `asked_keys`.
  bool is_lookup = false;
  // join: the node number of a scan below on the left side that reads only what has one of the right side's
  // values of `asked_keys`.
  std::optional<uint32_t> narrowed_scan;
  // join without keys: the right side is read for each row of the left one, of whose slots its conditions,
  // and what bounds its index, read `row_slots`.
  bool is_by_row = false;
  std::vector<SlotNumber> row_slots;
  // Keys of a join, by number, in the order of the components that a scan looks them up by: leading parts of
  // an index, or what is left of the partition key and the id.
  std::vector<size_t> asked_keys;
  // join, subquery: LEFT JOIN. A row without a partner stays, with undefined in the slots of the other side;
  // `conditions` of a join then hold the rest of ON.
  bool keeps_unmatched = false;
  // elements, subquery, join, by_key, sort: the slots from below that something above reads, so which a row
  // must carry; for a join, those of `right` as well.
  std::vector<SlotNumber> carried;
  std::vector<SlotNumber> right_carried;
};

// A query (the statement's own, or a subquery) with its tree.
struct PlannedQuery {
  const BoundQuery* bound = nullptr;
  std::unique_ptr<PlanNode> root;
  SlotNumber value_slot = 0;
  SlotNumber first_group_key_slot = 0;
  SlotNumber first_aggregate_slot = 0;
  // What it reads of the rows around it, where its result is a function of these values and worth keeping by
  // them. Of use where the query stands in an expression.
  std::vector<const BoundExpression*> outer_paths;
};

// What the values of parameters decide (plan_choice.h): whether to go by this index.
struct PlanChoice {
  std::string collection;
  PlannedProbe probe;
  double most_entries;  // with more of them another way is less work
  bool expects_few;     // what the plan is made for
};

struct Plan {
  std::unique_ptr<BoundStatement> statement;
  PlannedQuery query;
  std::unique_ptr<PlannedQuery> returning;  // of a statement that changes items
  std::unordered_map<const BoundQuery*, std::unique_ptr<PlannedQuery>> subqueries;
  SlotNumber slot_count = 0;
  uint32_t node_count = 0;
  // By slot: the container whose items it holds, or empty.
  std::vector<std::string> item_slots;
  // What ways by indexes rest on, as items change: see index_needs_hold(). An order that takes the place of a
  // sort needs the values of all entries whole; who asks for all items, an entry of each.
  struct IndexNeed {
    std::string collection;
    uint32_t index;
    bool needs_whole_values;
    bool needs_every_item;
  };
  std::vector<IndexNeed> index_needs;
  // Paths that a covering scan gives in slots of their own.
  std::unordered_map<const BoundExpression*, SlotNumber> covered;
  // The index that would help most, as a statement, and what it would cost. Empty: none.
  std::string advice;
  double advice_weight = 0;
  // Given to optimize(): what it is to expect of the choice; nothing: what estimates say.
  std::optional<bool> expects_few = {};
  std::optional<PlanChoice> choice = {};  // of the statement's own query
  bool has_new_join_order = false;  // in some query the sources meet in another order than the written one
};

// Whether the collections are still such that the plan gives its rows, in the order it was made for.
bool index_needs_hold(const Plan& plan, Source& source);

// The plan as written, then as it will run.
Result<std::unique_ptr<Plan>> build_plan(std::unique_ptr<BoundStatement> statement);
void optimize(Plan& plan, Source& source);

// Conditions on what rows are grouped by, or on all that DISTINCT compares, are asked of the rows before
// that.
void push_below_groups(BoundStatement& statement);
// A LEFT JOIN whose rows without a partner are dropped further on becomes an inner join.
void find_demanded_partners(BoundStatement& statement);

// The sources of a query in the order in which they are joined. `conditions`: what an inner join or WHERE
// demands.
std::vector<const BoundSource*> find_join_order(const BoundQuery& query,
                                                std::span<const BoundExpression* const> conditions,
                                                SlotNumber slot_count);

// Adds what conditions that are an OR demand whichever of its arms is true, of what WHERE and ON of inner
// joins demand; or else of ON of `joined`, a LEFT JOIN of the query.
void add_implied_conditions(const BoundQuery& query, const BoundSource* joined, SlotNumber slot_count,
                            Arena& arena, std::vector<const BoundExpression*>& conditions);

// Rules of optimize(), in the order in which they run; each in a file of its own.
void push_down_conditions(Plan& plan, PlannedQuery& query);
void choose_join_keys(const Plan& plan, PlannedQuery& query);
void choose_access_path(Plan& plan, PlannedQuery& query, Source& source);
// Of the scan at the bottom of a tree. What says which items these are may not read `own_slots`.
void choose_access_path_in(const PlannedQuery& query, const SlotSet& own_slots,
                           std::unique_ptr<PlanNode>& root, Source& source);
void choose_index(Plan& plan, PlannedQuery& query, Source& source);
// Of the scan at the bottom of a tree. What bounds the entries may not read `own_slots`.
void choose_index_in(Plan& plan, const PlannedQuery& query, const SlotSet& own_slots,
                     std::unique_ptr<PlanNode>& root, Source& source);
void follow_first_of_equal(Plan& plan, PlannedQuery& query, Source& source);
void choose_id_range(const Plan& plan, PlannedQuery& query, Source& source);
// Notes the index that would help most, if some scan reads all items though a condition bounds a path.
void advise_index(Plan& plan, PlannedQuery& query, Source& source);
void join_by_index(const Plan& plan, PlannedQuery& query, Source& source);
void join_by_row(Plan& plan, PlannedQuery& query, Source& source);
void read_ends_of_index(Plan& plan, PlannedQuery& query, Source& source);
// The path that all of the query's rows come to the least or the greatest value of: SELECT MIN(c.x),
// MAX(c.x).
std::optional<std::vector<IndexStep>> path_of_extremes(const BoundQuery& query, SlotNumber slot);
void cover_by_index(Plan& plan, PlannedQuery& query);
// Whether the entries of an index hold all that the query asks of the items of its only scan, but for the
// conditions that the ranges of the index decide. That each item has one entry in the ranges is the caller's
// to see to: an index over elements has several of one item.
bool is_covered(Plan& plan, const PlannedQuery& query, PlanNode& scan, const IndexDescription& index,
                std::span<const BoundExpression* const> decided = {});
// Whether the rows may come in any order: all go into one row of aggregates that come to the same.
bool ignores_order(const BoundQuery& query);
// Whether rows that are equal to others change nothing: DISTINCT, or aggregates of different values.
bool ignores_repeats(const BoundQuery& query);
void limit_sorts(PlannedQuery& query);
// What a correlated query reads alike for all rows around it is kept.
void keep_by_key(Plan& plan, PlannedQuery& query);
// Of a correlated query: what its result may be kept by.
void find_outer_paths(const Plan& plan, PlannedQuery& query);
// Whether it lets a sort keep no more rows than are wanted.
bool may_keep_first(const BoundQuery& query);
// Whether no row of a query is dropped since this is undefined.
bool is_always_defined(const BoundExpression& value, const BoundQuery& query);
// Whether a limit ends what the bottom of the plan reads: nothing between takes all rows before it gives one.
bool may_stop_early(const PlannedQuery& query);
// Whether each row is given as soon as its item is read: nothing puts rows in order or together.
bool gives_rows_at_once(const PlannedQuery& query);
// Finds the filter whose work several threads may share.
void fan_out(Plan& plan, PlannedQuery& query, Source& source);
void find_carried_slots(PlannedQuery& query, SlotNumber slot_count);

// What a node did, for EXPLAIN ANALYZE.
struct NodeCounters {
  uint64_t rows = 0;          // rows it gave
  uint64_t items_read = 0;    // items it took from storage
  uint64_t entries_read = 0;  // index entries
  uint64_t nanoseconds = 0;   // in it and below; measured for EXPLAIN ANALYZE alone
};

// The tree as indented lines, a node each, conditions in the words of the query. With counters if given (by
// node number).
std::vector<std::string> print_plan(const Plan& plan, std::span<const NodeCounters> counters = {});
// The same as JSON: {"operation", "rows", ..., "inputs": [...]}; with `advice`, if there is any.
std::string print_plan_json(const Plan& plan, std::span<const NodeCounters> counters = {});

}  // namespace quire::sql
