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
  uint64_t header[2];
  static_assert(sizeof header == kHeaderBytes);
  if (log.size() < CommitLog::kLeastBytes) return std::nullopt;
  std::memcpy(header, log.data() + header_at(start.sequence), sizeof header);
  if (header[0] != start.sequence) return std::nullopt;
  return LogRecords(log, start.commit, header[1]);
}

Result<bool> LogRecords::for_each_change(
    const std::function<Result<void>(const LoggedChange& change)>& visit) const {
  std::string_view rest = log_.substr(kRecordsAt);
  uint64_t seed = seed_;
  for (uint64_t commit = commit_ + 1;; ++commit) {
    const auto header = parse_record(rest, commit, seed);
    if (!header) return true;
    std::string_view changes = rest.substr(kRecordHeader, header->change_bytes);
    while (!changes.empty()) {
      const auto change = take_change(changes);
      if (!change) return false;
      QUIRE_TRY(visit(*change));
    }
    seed = header->sum;
    rest.remove_prefix(std::min(rest.size(), record_bytes(header->change_bytes)));
  }
}

}  // namespace quire::engine
