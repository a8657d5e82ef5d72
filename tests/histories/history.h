// What transactions did and saw, as they wrote it down while they ran. Each item is a list of numbers; a
// transaction appends numbers that no other appends, and reads lists.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace quire::tests {

inline constexpr int kPartitions = 2;
inline constexpr int kListsOfPartition = 5;

// Numbers lists of all partitions.
using ListNumber = int;
inline ListNumber list_number(int partition, int list) {
  return partition * kListsOfPartition + list;
}
inline int partition_of(ListNumber list) {
  return list / kListsOfPartition;
}
inline std::string id_of(ListNumber list) {
  return "k" + std::to_string(list % kListsOfPartition);
}

using List = std::vector<int64_t>;

struct Operation {
  ListNumber list = 0;
  bool appends = false;  // else reads
  int64_t value = 0;     // appended
  List seen = {};        // read
};

enum class Outcome : uint8_t {
  done,
  undone,  // by a rollback, or an error
  unknown  // it was killed
};

using Moment = int64_t;  // nanoseconds of the clock that all processes share
inline Moment moment_now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

struct TransactionRecord {
  int64_t number = 0;
  std::string kind;
  Moment begun = 0;
  Moment ended = 0;
  Outcome outcome = Outcome::unknown;
  std::vector<Operation> operations;

  bool writes() const;
};

// A transaction appends kMostAppends numbers at most: from them on, its own number times this.
inline constexpr int64_t kMostAppends = 8;
inline int64_t transaction_of(int64_t value) {
  return value / kMostAppends;
}

// A thread's own file of what it does. A line goes to the system before the call returns, so that a kill
// loses none but the one that is being written.
class HistoryWriter {
 public:
  explicit HistoryWriter(const std::string& path);
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;
  void begins(const TransactionRecord& record);
  void ends(const TransactionRecord& record);

 private:
  void write_line(const std::string& line);
  int descriptor_;
};

// Of all files of a folder.
std::vector<TransactionRecord> read_histories(const std::string& folder);

// A list as text of JSON: "[1,2]"; and back, from where it begins.
List parse_list(const std::string& json, size_t at = 0);

}  // namespace quire::tests
