// Queries of scripts, a page at a time.
//
// A page ends with a continuation where there is more. Of a query whose rows are its items one by one, it is
// the id of the last item, so that a script may change and delete what it has read and go on. Of any other
// query it is the number of rows that were given; as long as nothing is written it goes on where it stands.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/container/request_charge.h"
#include "engine/query/query_cache.h"
#include "engine/script/partition_access.h"
#include "engine/script/partition_source.h"
#include "sql/bind/binder.h"  // contains_aggregate
#include "sql/run/execution.h"
#include "sql/value/comparison.h"
#include "sql/value/member_reader.h"
#include "sql/value/value_builder.h"

namespace quire::engine {
namespace {

constexpr std::string_view kAfterId = "i:";
constexpr std::string_view kAfterRows = "n:";

struct QueryText {
  std::string_view sql = "SELECT * FROM c";
  sql::Value parameters;  // an array of {name, value}, or undefined
};

Result<QueryText> read_query(const sql::Value& query) {
  if (query.is_undefined()) return QueryText{};
  if (query.is_string()) return QueryText{.sql = query.as_string(), .parameters = {}};
  QueryText text{.sql = {}, .parameters = query.member("parameters")};
  sql::Value statement = query.member("query");
  if (!statement.is_string()) statement = query.member("filterQuery");
  if (!statement.is_string())
    return fail(ErrorCode::invalid_argument, "a query is SQL, or {query: SQL, parameters: [...]}");
  text.sql = statement.as_string();
  return text;
}

// What is given for a parameter, by its name with or without @: the last of several.
std::optional<sql::Value> value_of_parameter(const sql::Value& parameters, std::string_view name) {
  std::optional<sql::Value> value;
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    const sql::Value parameter = parameters.element(i);
    const sql::Value given = parameter.member("name");
    if (!given.is_string()) continue;
    std::string_view text = given.as_string();
    if (text.starts_with('@')) text.remove_prefix(1);
    if (text == name) value = parameter.member("value");
  }
  return value;
}

// Rows are the items that pass, in whatever order: no ORDER BY, no grouping, nothing that counts rows.
bool gives_items_one_by_one(const sql::Statement& statement) {
  const sql::Query& query = *statement.query;
  return !query.distinct && query.top == nullptr && query.from.size() == 1 && !query.from[0].iterates &&
         query.from[0].collection == sql::CollectionKind::path && query.group_by.empty() &&
         query.having == nullptr && query.order_by.empty() && query.offset == nullptr &&
         query.set_operation == sql::SetOperation::none &&
         std::ranges::none_of(query.items, [](const sql::SelectItem& item) {
           return sql::contains_aggregate(*item.expression);
         });
}

// A position is one in the only scan of the items: another one, of a subquery, has to see all of them.
bool scans_items_once(const sql::Plan& plan) {
  return std::ranges::count_if(plan.item_slots, [](const std::string& name) { return !name.empty(); }) == 1;
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t number = 0;
  const auto end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

}  // namespace

struct PartitionAccess::Page {
  QueryText query;
  int64_t size = 0;
  uint64_t skip = 0;     // rows that earlier pages gave
  std::string after_id;  // likewise, by the last item
  PageRows& rows;
  int64_t given = 0;                  // to these
  std::string last_id, continuation;  // out
};

// Partitions that differ eightfold may be read by other plans.
uint8_t PartitionAccess::size_class(PartitionSource& source) const {
  sql::Collection* const shown = source.collection(store_->definition().name);
  if (shown == nullptr) return 0;
  const double items = static_cast<double>(shown->item_count()) * shown->shown_share();
  return static_cast<uint8_t>(std::bit_width(static_cast<uint64_t>(items)) / 3);
}

// A query that runs. It may stand behind a page, so that the next one need not pass over all rows before.
struct PartitionAccess::OpenQuery {
  OpenQuery(PartitionAccess& access, const Page& page, bool is_positioned)
      : text(page.query),
        position{.after_id = page.after_id, .last_id = {}},
        base(access.containers_, access.store_, access.openings_, access.transaction_),
        source(base, *access.store_, access.partition_key_, is_positioned ? &position : nullptr,
               access.deadline_) {
    base.use_functions(access.functions_);
  }

  // What it was asked with ends with the call; from here on it has its own.
  void keep_text() {
    sql.assign(text.sql);
    text = {.sql = sql, .parameters = sql::copy_value(text.parameters, arena)};
  }
  bool goes_on_with(const Page& page) const noexcept {
    return row == page.skip && text.sql == page.query.sql &&
           sql::deep_equal(text.parameters, page.query.parameters);
  }

  sql::Arena arena;
  std::string sql;
  QueryText text;
  PagePosition position;
  SnapshotSource base;
  PartitionSource source;
  std::shared_ptr<const sql::PreparedQuery> query;
  bool is_one_by_one = false;
  std::vector<sql::Value> values;
  std::unique_ptr<bool[]> is_bound;
  std::unique_ptr<sql::Execution> execution;
  uint64_t row = 0;                    // how many were given or passed over
  std::optional<sql::Value> next_row;  // that one, where it was looked at
  uint64_t items_charged = 0;
};

PartitionAccess::PartitionAccess(OpenContainers& containers, std::shared_ptr<ContainerStore> store,
                                 WriteTransaction& transaction, uint64_t openings,
                                 std::span<const sql::Value> partition_key, const FunctionSource& functions,
                                 ScriptLog& log, bool runs_triggers)
    : triggers_{.pre = {},
                .post = {},
                .runs_always = runs_triggers,
                .log = &log,
                .time_limit = functions.limits.statement},
      functions_(functions),
      containers_(containers),
      store_(std::move(store)),
      transaction_(transaction),
      openings_(openings),
      partition_key_(partition_key),
      self_link_(container_link(store_->resource_names())),
      alt_link_("dbs/quire/colls/" + store_->definition().name) {}
PartitionAccess::~PartitionAccess() = default;

// A query that stands behind a page has to be run again. Triggers stay those that there are when the call
// writes for the first time: nobody else writes meanwhile, and the call writes items alone.
Result<void> PartitionAccess::begin_write() {
  open_query_.reset();
  if (knows_triggers_) return {};
  QUIRE_ASSIGN(triggers_.runs_always, store_->is_triggered(transaction_, triggers_));
  knows_triggers_ = true;
  return {};
}

// Of what is asked within the call: it has the memory of a statement, and the time that the call has left.
sql::ExecutionOptions PartitionAccess::query_options() const {
  sql::ExecutionOptions options{.parameters = {},
                                .is_bound = {},
                                .memory = std::make_shared<sql::MemoryBudget>(functions_.limits.query_memory),
                                .interrupts = functions_.interrupts,
                                .interrupts_at_start = interrupts_at_start_};
  if (deadline_ == Deadline::max()) return options;
  const auto left = deadline_ - std::chrono::steady_clock::now();
  options.time_limit =
      std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{1});
  return options;
}

// Of what did not end within that time.
Error PartitionAccess::past_time() const {
  const sql::TimeLimit& statement = functions_.limits.statement;
  return statement.is_over() ? statement.error_in("a query of the script") : past_script_time();
}

// A row is an item or some of its properties, its link, or an object of such (`SELECT c FROM c`).
void PartitionAccess::remember(const sql::Value& row) {
  if (remember_link(row) || !row.is_object()) return;
  sql::MemberWalk walk(row);
  for (sql::Member member; walk.next(member);)
    if (member.value.is_object() || member.value.is_string()) remember_link(member.value);
}

// Whether it names an item.
bool PartitionAccess::remember_link(const sql::Value& row) {
  if (row.is_string()) {
    const auto number = number_in_link(row.as_string());
    if (number) ids_.try_emplace(*number);
    return number.has_value();
  }
  const sql::Value rid = row.member("_rid"), link = row.member("_self");
  std::optional<uint64_t> number;
  if (rid.is_string()) number = item_number_of(store_->resource_names(), rid.as_string());
  if (!number && link.is_string()) number = number_in_link(link.as_string());
  if (!number) return false;
  const sql::Value id = row.member("id");
  if (id.is_string())
    ids_.insert_or_assign(*number, id.as_string());
  else
    ids_.try_emplace(*number);
  return true;
}

Result<void> PartitionAccess::prepare(OpenQuery& open, bool is_positioned) {
  const sql::MemberNames member_names = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto value = value_of_parameter(open.text.parameters, name);
    return value && value->is_string() ? std::optional(value->as_string()) : std::nullopt;
  };
  QUIRE_ASSIGN(open.query, containers_.queries().prepare({.sql = open.text.sql,
                                                          .scope = store_.get(),
                                                          .is_positioned = is_positioned,
                                                          .size_class = size_class(open.source),
                                                          .member_names = member_names},
                                                         open.base, open.source));
  const sql::Statement& statement = open.query->statement();
  if (statement.kind != sql::StatementKind::query)
    return fail(ErrorCode::invalid_argument,
                "a script queries with SELECT; it writes with createDocument and its like");
  open.is_one_by_one = gives_items_one_by_one(statement) && scans_items_once(open.query->plan());
  if (is_positioned && !open.is_one_by_one)
    return fail(ErrorCode::invalid_argument, "the continuation is that of another query");
  return {};
}

Result<void> PartitionAccess::start(OpenQuery& open) {
  const std::span<const std::string> names = open.query->parameter_names();
  open.values.resize(names.size());
  open.is_bound = std::make_unique<bool[]>(names.size());
  for (size_t at = 0; at < names.size(); ++at) {
    const auto value = value_of_parameter(open.text.parameters, names[at]);
    open.is_bound[at] = value.has_value();
    if (value) open.values[at] = *value;
  }
  sql::ExecutionOptions options = query_options();
  options.parameters = open.values;
  options.is_bound = {open.is_bound.get(), names.size()};
  QUIRE_ASSIGN(open.execution, sql::Execution::start(*open.query, open.source, options));
  return {};
}

// The rows of a page; true where there is one behind them.
Result<bool> PartitionAccess::read_rows(OpenQuery& open, Page& page) {
  for (page.given = 0;; ++open.row) {
    if (!open.next_row) {
      auto value = open.execution->next();
      if (!value)
        return std::unexpected(value.error().code == ErrorCode::timeout ? past_time() : value.error());
      open.next_row = *value;
    }
    if (!open.next_row) return false;
    if (open.row >= page.skip) {
      if (page.given == page.size) return true;
      if (!sql::has_only_finite_numbers(*open.next_row))
        return fail(ErrorCode::not_json_result, "a row holds NaN or Infinity, which JSON has not");
      ++page.given;
      QUIRE_TRY(page.rows.add(*open.next_row));
      remember(*open.next_row);
      page.last_id = open.position.last_id;
    }
    open.next_row.reset();
  }
}

// True once the page is as it must be; false: the query has to be run again, item by item.
Result<bool> PartitionAccess::read_page(Page& page, bool is_positioned) {
  std::unique_ptr<OpenQuery> open = std::move(open_query_);
  if (open == nullptr || is_positioned || !open->goes_on_with(page)) {
    open = std::make_unique<OpenQuery>(*this, page, is_positioned);
    QUIRE_TRY(prepare(*open, is_positioned));
    // Each item is a row, so that the page is soon full, and would be read again to know where it ends.
    const bool ends_at_item = open->is_one_by_one && !is_positioned && page.size > 0;
    if (ends_at_item && open->query->statement().query->where == nullptr) return false;
    if (!open->is_one_by_one && page.size > 0) open->keep_text();
    QUIRE_TRY(start(*open));
  }
  page.rows.clear();
  QUIRE_ASSIGN(const bool has_more, read_rows(*open, page));
  if (has_more && open->is_one_by_one && !is_positioned) return false;
  const uint64_t items = open->execution->stats().items_read;
  transaction_.charge(
      query_charge(items - std::exchange(open->items_charged, items), static_cast<uint64_t>(page.given)));
  if (!has_more) return true;
  if (open->is_one_by_one) {
    page.continuation = std::string(kAfterId) + page.last_id;
  } else {
    page.continuation = fmt::format("{}{}", kAfterRows, open->row);
    open_query_ = std::move(open);
  }
  return true;
}

Result<std::string> PartitionAccess::feed(const sql::Value& query, int64_t size,
                                          std::string_view continuation, PageRows& rows) {
  Page page{.query = {},
            .size = size,
            .skip = 0,
            .after_id = {},
            .rows = rows,
            .given = 0,
            .last_id = {},
            .continuation = {}};
  QUIRE_ASSIGN(page.query, read_query(query));
  bool is_positioned = false;
  if (continuation.starts_with(kAfterId)) {
    page.after_id = continuation.substr(kAfterId.size());
    is_positioned = true;
  } else if (!continuation.empty()) {
    const auto given = continuation.starts_with(kAfterRows)
                           ? number_of(continuation.substr(kAfterRows.size()))
                           : std::nullopt;
    if (!given) return fail(ErrorCode::invalid_argument, "the continuation is none that a query gave");
    page.skip = *given;
  }
  QUIRE_ASSIGN(const bool is_read, read_page(page, is_positioned));
  if (!is_read) QUIRE_TRY(read_page(page, true));
  return std::move(page.continuation);
}

}  // namespace quire::engine
