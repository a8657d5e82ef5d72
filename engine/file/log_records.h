// The records of a log, read: for who makes its commits again (log_replay.h) and for who saves what a damaged
// file still holds (page_salvage.h). Their bytes are drawn in commit_log.h. Nothing is taken on trust.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/file/anchor.h"
#include "engine/file/table.h"
#include "sql/error.h"

namespace quire::engine {

// Where the records begin to count.
struct LogStart {
  uint64_t sequence = 0;  // as it must stand in the log
  uint64_t commit = 0;    // the one before the first record's

  static LogStart behind(const AnchorRecord& anchor) noexcept {
    return {anchor.sequence, anchor.transaction()};
  }
  // What was pending behind one of LMDB's commits, of durability `relaxed`.
  static LogStart behind_commit(uint64_t commit) noexcept;
};

struct LoggedChange {
  std::string_view table;
  Bytes key;
  std::optional<Bytes> record;  // nothing: the key was erased
};

class LogRecords {
 public:
  // Nothing if the log is another one's. `log` is the value of its row, and outlives this.
  static std::optional<LogRecords> find(std::string_view log, const LogStart& start) noexcept;

  // The changes of all records, in order; false, and no more of them, where a record is not what a log has.
  Result<bool> for_each_change(const std::function<Result<void>(const LoggedChange& change)>& visit) const;

 private:
  LogRecords() = default;
  struct Part {
    std::string_view records;  // and what lies behind them
    uint64_t commit = 0;       // the one before the first
    uint64_t seed = 0;
    uint64_t follows = 0;  // the sum of the record that this goes on behind
  };

  static std::optional<Part> half(std::string_view log, uint64_t sequence) noexcept;
  static std::optional<Part> of_before_halves(std::string_view log, const LogStart& start) noexcept;
  // The sum of the last record; nothing if one is not what a log has.
  static Result<std::optional<uint64_t>> for_each_change(
      const Part& part, const std::function<Result<void>(const LoggedChange& change)>& visit);

  Part first_;
  std::optional<Part> next_;
};

}  // namespace quire::engine
