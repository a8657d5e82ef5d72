#include "tests/histories/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

namespace quire::tests {
namespace {

constexpr size_t kLists = static_cast<size_t>(kPartitions * kListsOfPartition);

// The state of all lists as so many elements of what each has in the end.
using Lengths = std::array<size_t, kLists>;

class Judge {
 public:
  Judge(std::span<const TransactionRecord> records, std::span<const ListVersion> versions)
      : versions_(versions) {
    for (const TransactionRecord& record : records) records_.emplace(record.number, &record);
  }

  std::string judge() {
    std::string fault = order();
    if (fault.empty()) fault = look_at_writers();
    if (fault.empty()) fault = look_at_what_is_missing();
    if (fault.empty()) fault = look_at_readers();
    return fault;
  }

 private:
  static std::string name(const TransactionRecord& record) {
    return fmt::format("transaction {} ({})", record.number, record.kind);
  }

  // The order of the writing transactions, by the LSNs of what they wrote.
  std::string order() {
    std::array<List, kLists> lists;
    for (const ListVersion& version : versions_) {
      List& list = lists[static_cast<size_t>(version.list)];
      if (version.values.size() < list.size() ||
          !std::equal(list.begin(), list.end(), version.values.begin()))
        return fmt::format("at LSN {} list {} is no continuation of what it was", version.lsn, version.list);
      for (size_t i = list.size(); i < version.values.size(); ++i) {
        const int64_t writer = transaction_of(version.values[i]);
        if (order_.empty() || order_.back() != writer) {
          if (!places_.emplace(writer, order_.size()).second)
            return fmt::format("at LSN {} transaction {} is torn: others wrote in between", version.lsn,
                               writer);
          order_.push_back(writer);
        }
      }
      list = version.values;
    }
    final_ = std::move(lists);
    return "";
  }

  // Plays the writing transactions one after the other.
  std::string look_at_writers() {
    Lengths lengths{};
    states_.push_back(lengths);
    Moment latest_begin = 0;
    for (const int64_t number : order_) {
      const auto found = records_.find(number);
      if (found == records_.end()) return fmt::format("nobody began transaction {}", number);
      const TransactionRecord& record = *found->second;
      if (record.outcome == Outcome::undone) return name(record) + " was undone, and is there";
      if (record.outcome == Outcome::done && record.ended < latest_begin)
        return name(record) + " comes after one that began when it had ended";
      latest_begin = std::max(latest_begin, record.begun);
      for (const Operation& operation : record.operations) {
        const auto list = static_cast<size_t>(operation.list);
        if (operation.appends) {
          if (lengths[list] >= final_[list].size() || final_[list][lengths[list]] != operation.value)
            return fmt::format("{}: what it appended to list {} is not in its place", name(record),
                               operation.list);
          ++lengths[list];
        } else if (record.outcome == Outcome::done && !is_beginning(operation.seen, list, lengths[list])) {
          return fmt::format("{}: in list {} it saw {} elements of {}, or others", name(record),
                             operation.list, operation.seen.size(), lengths[list]);
        }
      }
      states_.push_back(lengths);
    }
    return "";
  }

  bool is_beginning(const List& seen, size_t list, size_t length) const {
    return seen.size() == length && length <= final_[list].size() &&
           std::equal(seen.begin(), seen.end(), final_[list].begin());
  }

  std::string look_at_what_is_missing() const {
    for (const auto& [number, record] : records_)
      if (record->outcome == Outcome::done && record->writes() && !places_.contains(number))
        return name(*record) + " was told that it is done, and is not there";
    return "";
  }

  // A transaction that only reads saw one of the states between the writers that had ended when it began and
  // those that began when it had ended.
  std::string look_at_readers() const {
    std::vector<std::pair<Moment, size_t>> by_end, by_begin;
    for (size_t place = 0; place < order_.size(); ++place) {
      const TransactionRecord& record = *records_.at(order_[place]);
      if (record.outcome == Outcome::done) by_end.emplace_back(record.ended, place + 1);
      by_begin.emplace_back(record.begun, place);
    }
    const std::vector<size_t> most_by_end =
        running(by_end, [](size_t a, size_t b) { return std::max(a, b); });
    std::ranges::sort(by_begin, std::greater<>());
    std::vector<size_t> least_by_begin;
    for (size_t least = order_.size(); const auto& [moment, place] : by_begin)
      least_by_begin.push_back(least = std::min(least, place));
    for (const auto& [number, record] : records_) {
      if (record->outcome != Outcome::done || record->writes()) continue;
      const auto ended = static_cast<size_t>(
          std::ranges::lower_bound(by_end, std::pair(record->begun, size_t{0})) - by_end.begin());
      const size_t least = ended == 0 ? 0 : most_by_end[ended - 1];
      const auto later = static_cast<size_t>(
          std::ranges::lower_bound(by_begin, std::pair(record->ended, SIZE_MAX), std::greater<>()) -
          by_begin.begin());
      const size_t most = later == 0 ? order_.size() : least_by_begin[later - 1];
      if (!sees_one_state(*record, least, most))
        return fmt::format("{} saw no state between places {} and {}", name(*record), least, most);
    }
    return "";
  }

  // Sorts by moment; the most, so far, of the places.
  template <typename Choose>
  static std::vector<size_t> running(std::vector<std::pair<Moment, size_t>>& places, const Choose& choose) {
    std::ranges::sort(places);
    std::vector<size_t> chosen;
    for (size_t most = 0; const auto& [moment, place] : places) chosen.push_back(most = choose(most, place));
    return chosen;
  }

  bool sees_one_state(const TransactionRecord& record, size_t least, size_t most) const {
    for (size_t place = least; place <= most; ++place)
      if (std::ranges::all_of(record.operations, [&](const Operation& operation) {
            const auto list = static_cast<size_t>(operation.list);
            return is_beginning(operation.seen, list, states_[place][list]);
          }))
        return true;
    return false;
  }

  std::span<const ListVersion> versions_;
  std::map<int64_t, const TransactionRecord*> records_;
  std::vector<int64_t> order_;                  // of the writing transactions
  std::unordered_map<int64_t, size_t> places_;  // of them in it
  std::array<List, kLists> final_;
  std::vector<Lengths> states_;  // before the first, after each
};

}  // namespace

std::string fault_of_history(std::span<const TransactionRecord> records,
                             std::span<const ListVersion> versions) {
  return Judge(records, versions).judge();
}

}  // namespace quire::tests
