#include "tests/crash/tape_marks.h"

#include <cstring>
#include <string_view>

#include "engine/file/anchor.h"
#include "engine/file/commit_log.h"

namespace quire::tests {

std::optional<uint64_t> anchored_commit(const TapeEntry& call) {
  constexpr std::string_view kAnchor = "QANCHOR1";
  constexpr size_t kMetaAt = 40;
  engine::AnchorRecord record;
  if (call.kind != TapeEntry::Kind::wrote || !call.text.starts_with(kAnchor) ||
      call.text.size() < kMetaAt + record.meta.size())
    return std::nullopt;
  std::memcpy(record.meta.data(), call.text.data() + kMetaAt, record.meta.size());
  return record.transaction();
}

std::optional<uint64_t> commit_before_log(const TapeEntry& call) {
  using namespace engine::log_layout;
  Header header;
  if (call.kind != TapeEntry::Kind::wrote || call.text.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, call.text.data(), sizeof header);
  if (header.sequence != (kBehindCommit | kOfHalf | header.commit)) return std::nullopt;
  return header.commit;
}

}  // namespace quire::tests
