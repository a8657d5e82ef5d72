// What of Quire's own stands in a write on the tape: the places from which it is known what a power cut may
// undo. By the layouts in engine/file/anchor.h and engine/file/commit_log.h.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/crash/tape.h"

namespace quire::tests {

// The commit that an anchor stands for, if the call writes its record; that of the last one where there is
// none any more.
std::optional<uint64_t> anchored_commit(const TapeEntry& call);
// The commit behind which the records of a log without a sync follow, if the call writes its header.
std::optional<uint64_t> commit_before_log(const TapeEntry& call);

}  // namespace quire::tests
