// The queries that a database has run since it was opened, by shape: their text with ? for each literal. Kept
// in memory, bounded, and cheap enough to be always on: a statement finds its shape once, the texts that were
// prepared last without being read again; a run adds to three counters.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sql/plan/plan.h"

namespace quire::engine {

// What a query asks of one container.
struct ContainerUse {
  std::string container;
  bool has_conditions = false;
  bool names_partition_key = false;
  bool reads_whole_items = false;
  std::vector<std::string> properties;  // at the top of an item, that it reads; each once
};

struct QueryFacts {
  std::string text;
  std::vector<ContainerUse> uses;
  std::string index_advice;  // the index that would help, as a statement; empty: none
  double index_weight = 0;
};
QueryFacts facts_of(const sql::Plan& plan);

struct QueryShape {
  QueryFacts facts;
  uint64_t runs = 0;
  uint64_t items_read = 0;
  uint64_t rows = 0;
  double charge = 0;  // request units
};

// Thread-safe.
class Workload {
 public:
  class Entry {
   public:
    // The charge is in request units, of which thousandths are counted.
    void add_run(uint64_t items_read, uint64_t rows, double charge) noexcept {
      runs_.fetch_add(1, std::memory_order_relaxed);
      items_read_.fetch_add(items_read, std::memory_order_relaxed);
      rows_.fetch_add(rows, std::memory_order_relaxed);
      charge_.fetch_add(static_cast<uint64_t>(charge * kPerUnit), std::memory_order_relaxed);
    }

   private:
    friend class Workload;
    static constexpr double kPerUnit = 1000;
    QueryFacts facts_;      // guarded by the Workload's mutex
    bool is_known_ = true;  // likewise: it has not made way
    std::atomic<uint64_t> runs_ = 0;
    std::atomic<uint64_t> items_read_ = 0;
    std::atomic<uint64_t> rows_ = 0;
    std::atomic<uint64_t> charge_ = 0;
  };

  static constexpr size_t kMostShapes = 256;

  // The shape's entry, with these facts from now on. Shared with statements, which count on when their shape
  // has had to make way for others. The shape with the fewest runs makes way.
  std::shared_ptr<Entry> enter(QueryFacts facts);

  // The entry of a statement that was entered lately with the same text and the same `basis`, a number that
  // stands for all else that its facts rest on; null if that is not known.
  std::shared_ptr<Entry> recall(std::string_view text, uint64_t basis) const;
  void remember(std::string_view text, uint64_t basis, std::shared_ptr<Entry> entry);
  // Those that read a container, the most run first.
  std::vector<QueryShape> shapes_of(std::string_view container) const;

 private:
  struct Recent {
    std::string text;
    uint64_t basis = 0;
    std::shared_ptr<Entry> entry;
  };
  static constexpr size_t kRecent = 64;
  static constexpr size_t kLongestRecentText = 2000;
  static size_t place_of(std::string_view text) noexcept;

  std::array<Recent, kRecent> recent_;  // by the hash of their texts
  mutable std::mutex mutex_;            // guards all members
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
};

}  // namespace quire::engine
