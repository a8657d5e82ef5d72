// Times that work may not take longer than, and what is said to who asked for it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "sql/error.h"

namespace quire::sql {

// From its start on; zero: as long as it likes.
struct TimeLimit {
  std::chrono::milliseconds most{0};
  std::chrono::steady_clock::time_point end{};

  static TimeLimit from_now(std::chrono::milliseconds most) {
    if (most.count() == 0) return {};
    return {most, std::chrono::steady_clock::now() + most};
  }
  bool is_over() const { return most.count() != 0 && std::chrono::steady_clock::now() > end; }
  // Of a statement that has taken longer.
  Error error() const {
    return {ErrorCode::timeout, "the statement took longer than the " + std::to_string(most.count()) +
                                    " ms of PRAGMA statement_time"};
  }
  // Where `who` was at work for it.
  Error error_in(std::string_view who) const {
    Error reason = error();
    reason.message = std::string(who) + ": " + reason.message;
    return reason;
  }
};

inline Error statement_interrupted() {
  return {ErrorCode::interrupted, "the statement was interrupted"};
}

// `who` has held its snapshot for longer than that.
inline Error snapshot_too_old(std::string_view who, std::chrono::milliseconds most) {
  return {ErrorCode::snapshot_too_old,
          std::string(who) + " has held its snapshot for longer than the " + std::to_string(most.count()) +
              " ms of PRAGMA reader_age, and the file cannot reuse what it has freed meanwhile: the snapshot "
              "has ended"};
}

}  // namespace quire::sql
