// What operators and evaluators share while a statement runs: one RunState for the whole, one Frame for each
// query in it (the statement's own and each subquery's).
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sql/error.h"
#include "sql/plan/plan.h"
#include "sql/run/time_limit.h"
#include "sql/run/vector.h"
#include "sql/run/worker_pool.h"
#include "sql/source.h"
#include "sql/value/arena.h"

namespace quire::sql {

struct RunState {
  const Plan& plan;
  Source& source;
  std::span<const Value> parameters;  // undefined where not bound
  std::span<const bool> is_bound;
  bool omits_system_properties = false;
  // The project whose rows are items, which it gives as they are stored; null: none does.
  const PlanNode* stored_items = nullptr;
  bool reads_text = false;  // the rows are read as JSON
  // By row of the batch at hand: its JSON, where threads have written it ahead. There may be fewer than rows.
  std::span<const std::string_view> texts = {};
  MemoryBudget& memory;
  const std::atomic<uint64_t>* interrupts;  // may be null
  uint64_t interrupts_at_start = 0;
  StatementClock clock;
  // Values that live as long as the execution.
  Arena arena;
  // By slot: the collection whose items it holds, or null.
  std::vector<Collection*> item_collections;
  std::vector<NodeCounters> counters;
  // By number of a scan that reads what has one of a join's keys: these keys, a component behind the other.
  // Nothing: they are too many.
  std::unordered_map<uint32_t, std::span<const Value>> join_keys = {};
  uint64_t items_read = 0;
  bool measures_time = false;
  WorkerPool* workers = nullptr;  // there where `threads` are more than one
  size_t threads = 1;
  TimeLimit time_limit = {};
  TimeLimit snapshot_limit = {};  // how old the snapshot may become
  // Cleared by whatever is made from the values of parameters, and so is of no use with others.
  bool is_restartable = true;
  // Parameters whose arrays have so few elements in this run that no table is made of them.
  std::vector<uint32_t> short_arrays = {};
  // The first failure; whoever sees it set stops.
  std::optional<Error> error;

  void set_error(Error failure) {
    if (!error) error = std::move(failure);
  }
  bool is_interrupted() const noexcept {
    return interrupts != nullptr && interrupts->load(std::memory_order_relaxed) != interrupts_at_start;
  }
  // Called once a batch by whatever makes batches.
  bool should_stop() {
    if (is_interrupted())
      set_error(statement_interrupted());
    else if (time_limit.is_over())
      set_error(time_limit.error());
    else if (snapshot_limit.is_over())
      set_error(snapshot_too_old("the statement", snapshot_limit.most));
    return error.has_value();
  }
};

// The rows of one query in flight. An operator that makes a batch points the slots it fills at its columns
// and rewinds the arena; operators above read them until they ask for the next batch.
struct Frame {
  Frame(RunState& run, size_t batch_capacity, bool gives_output = false)
      : run(run),
        gives_output(gives_output),
        arena(&run.memory),
        slots(run.plan.slot_count),
        is_stable(run.plan.slot_count, true),
        capacity(batch_capacity) {}

  RunState& run;
  // The values of its query are the statement's own, or parts of these: items as a whole may come without
  // system properties there, and nowhere else, or other rows would be found.
  const bool gives_output;
  Arena arena;                // computed values of the batch in flight
  std::vector<Vector> slots;  // outer slots stand here as single values
  // By slot: its values outlive the batch without retain(). Set while the operators are made, bottom up.
  std::vector<bool> is_stable;
  size_t capacity;  // rows a batch may hold
  // How many rows its query's reader takes at most.
  size_t rows_wanted = SIZE_MAX;
  // Of the right side of a lookup join: the keys to find rows for, a component behind the other.
  std::span<const Value> lookup_keys;
  // Of the same, or below rows by key: so much was looked up that all rows are to be read, as if no keys were
  // asked for.
  bool reads_all_partners = false;
};

// A copy of a value that was made in a batch's arena, to outlive the batch. What lies in storage is not
// copied.
Value retain(const Value& value, Arena& arena);

}  // namespace quire::sql
