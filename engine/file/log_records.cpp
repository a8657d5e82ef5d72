#include "engine/file/log_records.h"

#include <algorithm>
#include <cstring>

#include "engine/file/commit_log.h"

namespace quire::engine {

using namespace log_layout;

namespace {

// The change at the front of a record's changes, which is taken off; nothing if there is no whole one.
std::optional<LoggedChange> take_change(std::string_view& changes) noexcept {
  constexpr size_t kHead = 1 + 2 + 4;
  uint16_t key_bytes = 0;
  uint32_t record_bytes = 0;
  if (changes.size() < kHead) return std::nullopt;
  const auto name_bytes = static_cast<uint8_t>(changes[0]);
  std::memcpy(&key_bytes, changes.data() + 1, sizeof key_bytes);
  std::memcpy(&record_bytes, changes.data() + 3, sizeof record_bytes);
  const bool is_erased = record_bytes == kErased;
  if (is_erased) record_bytes = 0;
  changes.remove_prefix(kHead);
  if (changes.size() < size_t{name_bytes} + key_bytes + record_bytes) return std::nullopt;
  LoggedChange change{.table = changes.substr(0, name_bytes),
                      .key = changes.substr(name_bytes, key_bytes),
                      .record = std::nullopt};
  if (!is_erased) change.record = changes.substr(size_t{name_bytes} + key_bytes, record_bytes);
  changes.remove_prefix(size_t{name_bytes} + key_bytes + record_bytes);
  return change;
}

}  // namespace

LogStart LogStart::behind_commit(uint64_t commit) noexcept {
  return {kBehindCommit | commit, commit};
}

std::optional<LogRecords> LogRecords::find(std::string_view log, const LogStart& start) noexcept {
  if (log.size() < CommitLog::kLeastBytes) return std::nullopt;
  log = log.substr(0, CommitLog::kMostBytes);
  LogRecords found;
  if (const auto first = half(log, start.sequence); first && first->commit == start.commit) {
    found.first_ = *first;
    found.next_ = half(log, start.sequence + 1);
    return found;
  }
  const auto all = of_before_halves(log, start);
  if (!all) return std::nullopt;
  found.first_ = *all;
  return found;
}

std::optional<LogRecords::Part> LogRecords::half(std::string_view log, uint64_t sequence) noexcept {
  const std::string_view half = log.substr(half_at(sequence, log.size()), half_bytes(log.size()));
  Header header;
  std::memcpy(&header, half.data(), sizeof header);
  if (header.sequence != (sequence | kOfHalf)) return std::nullopt;
  return Part{half.substr(kRecordsAt), header.commit, header.random, header.follows};
}

std::optional<LogRecords::Part> LogRecords::of_before_halves(std::string_view log,
                                                             const LogStart& start) noexcept {
  constexpr size_t kBytes = 16, kRecords = 2 * kBytes;
  uint64_t header[2];
  static_assert(sizeof header == kBytes);
  const bool is_odd_anchor = (start.sequence & kBehindCommit) == 0 && start.sequence % 2 != 0;
  std::memcpy(header, log.data() + (is_odd_anchor ? kBytes : 0), sizeof header);
  if (header[0] != start.sequence) return std::nullopt;
  return Part{log.substr(kRecords), start.commit, header[1], 0};
}

Result<bool> LogRecords::for_each_change(
    const std::function<Result<void>(const LoggedChange& change)>& visit) const {
  QUIRE_ASSIGN(const auto last, for_each_change(first_, visit));
  // One that does not follow is older, or of the file that this one is a copy of.
  if (!last || !next_ || next_->follows != *last) return last.has_value();
  QUIRE_ASSIGN(const auto last_of_all, for_each_change(*next_, visit));
  return last_of_all.has_value();
}

Result<std::optional<uint64_t>> LogRecords::for_each_change(
    const Part& part, const std::function<Result<void>(const LoggedChange& change)>& visit) {
  std::string_view rest = part.records;
  uint64_t seed = part.seed;
  for (uint64_t commit = part.commit + 1;; ++commit) {
    const auto header = parse_record(rest, commit, seed);
    if (!header) return seed;
    std::string_view changes = rest.substr(kRecordHeader, header->change_bytes);
    while (!changes.empty()) {
      const auto change = take_change(changes);
      if (!change) return std::nullopt;
      QUIRE_TRY(visit(*change));
    }
    seed = header->sum;
    rest.remove_prefix(std::min(rest.size(), record_bytes(header->change_bytes)));
  }
}

}  // namespace quire::engine
