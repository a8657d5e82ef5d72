#include "engine/container/policy_paths.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>

#include "engine/container/side_work.h"
#include "engine/file/file_cursor.h"
#include "engine/index/entry_extractor.h"

namespace quire::engine {

// A friend of ContainerStore: reads its records.
class PolicyPathSearch {
 public:
  PolicyPathSearch(Environment& environment, ContainerStore& store, LongWork& work)
      : environment_(environment), store_(store), work_(work) {}

  Result<std::optional<PolicyPaths>> run() {
    QUIRE_ASSIGN(const bool is_worth_it, begin());
    if (!is_worth_it) return std::nullopt;
    std::vector<std::future<Result<Paths>>> others;
    for (size_t part = 1; part <= starts_.size(); ++part)
      others.push_back(std::async(kBesideIfPossible, [this, part] { return find(part); }));
    QUIRE_TRY(add(find(0)));
    for (std::future<Result<Paths>>& other : others) QUIRE_TRY(add(other.get()));
    if (is_over_) return std::nullopt;
    return std::move(found_);
  }

 private:
  using Paths = std::vector<std::vector<sql::IndexStep>>;
  static constexpr size_t kMostThreads = 4;
  static constexpr uint64_t kFewItems = 10'000;

  Result<bool> begin() {
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_TRY(store_.refresh(snapshot));
    QUIRE_ASSIGN(set_, store_.indexes().set(snapshot));
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(snapshot));
    found_.index_version = set_->version;
    found_.last_lsn = statistics.last_lsn;
    const auto parts = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    for (const Bytes start : store_.divide(snapshot, parts)) starts_.emplace_back(start);
    return set_->is_policy_building && statistics.items >= kFewItems;
  }

  // Those that come in a part of the items, in the order in which they come. Part 0 is the calling thread's,
  // which alone can be told to end. Once it is over, what is found is of no use.
  Result<Paths> find(size_t part) {
    Paths paths;
    bool has_too_many = false;
    const EntryExtractor::Allot note = [&](std::span<const sql::IndexStep> path) {
      // An empty path is told of again and again, by items that may have any number of them.
      if (!path.empty() || !std::exchange(has_too_many, true)) paths.emplace_back(path.begin(), path.end());
      return Result<IndexNumber>(IndexNumber::none);
    };
    EntryExtractor extractor(*set_, store_.dictionary().number(), store_.indexes().scope_bytes());
    EntryList none;
    QUIRE_ASSIGN(const ReadTransaction snapshot, environment_.begin_read());
    QUIRE_ASSIGN(const ContainerStatistics statistics, store_.statistics(snapshot));
    if (statistics.last_lsn != found_.last_lsn) is_over_ = true;
    QUIRE_ASSIGN(FileCursor cursor, FileCursor::open(snapshot, store_.items_table()));
    const Bytes end = part < starts_.size() ? Bytes(starts_[part]) : Bytes();
    QUIRE_ASSIGN(bool is_there, cursor.seek(part == 0 ? Bytes() : Bytes(starts_[part - 1])));
    while (is_there && !is_over_.load(std::memory_order_relaxed)) {
      if (!end.empty() && cursor.key() >= end) break;
      const sql::Value root = store_.root_of(cursor.record());
      if (root.is_undefined()) return std::unexpected(store_.damaged(cursor.key()));
      QUIRE_TRY(extractor.add_covered(root, {}, IndexSelection::none, note, none));
      if (part == 0) QUIRE_TRY(work_.advance(0));
      QUIRE_ASSIGN(is_there, cursor.next());
    }
    return paths;
  }

  Result<void> add(const Result<Paths>& found) {
    if (!found) {
      is_over_ = true;  // for the others
      return std::unexpected(found.error());
    }
    for (const std::vector<sql::IndexStep>& path : *found)
      if (known_.insert(index_path_text(path)).second) found_.paths.push_back(path);
    return {};
  }

  Environment& environment_;
  ContainerStore& store_;
  LongWork& work_;
  std::shared_ptr<const IndexSet> set_;
  std::vector<std::string> starts_;  // of the threads' parts but the first
  PolicyPaths found_;
  std::unordered_set<std::string> known_;
  std::atomic<bool> is_over_ = false;
};

Result<std::optional<PolicyPaths>> find_policy_paths(Environment& environment, ContainerStore& store,
                                                     LongWork& work) {
  return PolicyPathSearch(environment, store, work).run();
}

}  // namespace quire::engine
